"""LangGraph's long-term store over Quipu: `QuipuStore("http://127.0.0.1:7077")`. Needs `langgraph-checkpoint`."""

import asyncio
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)


class QuipuStore(BaseStore):
    """Stores values by namespace and key in the memory of one user, whose history keeps every version."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:7077",
        *,
        api_key: str | None = None,
        user_id: str | None = None,
        timeout: float = 30.0,
    ) -> None:
        self.url = url.rstrip("/")
        self.api_key = api_key
        self.user_id = user_id
        self.timeout = timeout

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Runs the operations in order. A failure raises `RuntimeError` with the server's message."""
        return [self._run(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Runs `batch` in a thread, so the event loop is not blocked."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _run(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            asked = {"namespace": ".".join(op.namespace), "key": op.key}
            found = self._ask("GET", "/store/items", asked)
            return None if found is None else Item(**_item(found))
        if isinstance(op, PutOp):
            asked = {"namespace": list(op.namespace), "key": op.key}
            if op.value is None:
                self._ask("DELETE", "/store/items", asked)
            else:
                self._ask("PUT", "/store/items", asked | {"value": op.value, "index": op.index})
            return None
        if isinstance(op, SearchOp):
            asked = {"namespace_prefix": list(op.namespace_prefix), "limit": op.limit, "offset": op.offset}
            asked |= {"filter": op.filter, "query": op.query}
            found = self._ask("POST", "/store/items/search", asked)["items"]
            return [SearchItem(**_item(one), score=one.get("score")) for one in found]
        if isinstance(op, ListNamespacesOp):
            asked = {"max_depth": op.max_depth, "limit": op.limit, "offset": op.offset}
            for condition in op.match_conditions or ():
                if condition.match_type in asked:
                    raise ValueError(f"only one {condition.match_type} at a time")
                asked[condition.match_type] = list(condition.path)
            return [tuple(one) for one in self._ask("POST", "/store/namespaces", asked)["namespaces"]]
        raise ValueError(f"there is no operation {type(op).__name__}")

    def _ask(self, method: str, path: str, asked: dict[str, Any]) -> Any:
        asked = {name: value for name, value in {**asked, "user_id": self.user_id}.items() if value is not None}
        headers, body = {"Content-Type": "application/json"}, None
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        if method == "GET":
            path = f"{path}?{urllib.parse.urlencode(asked)}"
        else:
            body = json.dumps(asked).encode()
        request = urllib.request.Request(self.url + path, body, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{error.code}: {json.load(error)['detail']}") from error


def _item(found: dict[str, Any]) -> dict[str, Any]:
    fields = ("value", "key", "created_at", "updated_at")
    return {"namespace": tuple(found["namespace"]), **{field: found[field] for field in fields}}
