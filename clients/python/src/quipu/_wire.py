"""What both clients share: how a request is made up, whether it is sent again, and how a stream is read. No I/O."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from . import errors

USER_AGENT = "quipu-python/0.1.0"


@dataclass
class Ask:
    """A request."""

    method: str
    path: str
    query: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    #: True if it changes nothing.
    reads: bool = False
    #: True if the answer need not be JSON.
    as_text: bool = False

    @property
    def is_repeatable(self) -> bool:
        """True if sending it twice has the effect of sending it once."""
        return self.reads or "Idempotency-Key" in self.headers


def ask(
    method: str,
    path: str,
    /,
    *parts: str,
    query: Mapping[str, Any] | None = None,
    body: Mapping[str, Any] | None = None,
    reads: bool = False,
    as_text: bool = False,
    keyed: bool = False,
    idempotency_key: str | None = None,
    if_version: int | None = None,
) -> Ask:
    """A request; `{}` in the path stands for a part of it, and what is None is not sent."""
    for part in parts:
        if part in ("", ".", ".."):
            raise ValueError(f"{part!r} cannot be a part of a path")
    made = Ask(method, path.format(*(quote(part, safe="") for part in parts)), reads=reads or method == "GET", as_text=as_text)
    made.query = {name: _in_query(value) for name, value in (query or {}).items() if value is not None}
    if body is not None:
        made.body = {name: value for name, value in body.items() if value is not None}
    if keyed:
        made.headers["Idempotency-Key"] = idempotency_key or str(uuid.uuid4())
    if if_version is not None:
        made.headers["If-Match"] = f'"{if_version}"'
    return made


def _in_query(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(str(one) for one in value)
    return str(value)


@dataclass(frozen=True)
class Patience:
    """How often, and how long, a request is tried again."""

    retries: int = 3
    #: The longest wait before one of them, in seconds; a server that asks for more is not asked again.
    wait_max: float = 30.0

    def wait(self, tried: int, problem: Exception, request: Ask) -> float | None:
        """Seconds until the next try after `tried` of them; None if there is to be none."""
        if tried > self.retries:
            return None
        if isinstance(problem, errors.Refusal):
            # What the server did not do may be asked for again, whatever it is.
            if not problem.retryable:
                return None
            if problem.retry_after is not None:
                return problem.retry_after if problem.retry_after <= self.wait_max else None
        elif not request.is_repeatable:
            return None
        return float(min(0.25 * 2 ** (tried - 1), self.wait_max) * random.uniform(0.5, 1.0))


def check(status: int, content: bytes, headers: Mapping[str, str]) -> None:
    """Raises what an answer stands for, if it is not a good one."""
    if 200 <= status < 300:
        return
    try:
        body = json.loads(content)
    except ValueError:
        body = None
    after = headers.get("retry-after", "")
    raise errors.refusal(status, body, float(after) if after.isdigit() else None)


class Events:
    """Reads server-sent events, line by line."""

    def __init__(self) -> None:
        self._name = "message"
        self._data: list[str] = []

    def feed(self, line: str) -> Iterator[tuple[str, Any]]:
        """The event that ends with this line, if one does: its name, and what it holds."""
        if not line:
            if self._data:
                yield self._name, json.loads("\n".join(self._data))
            self._name, self._data = "message", []
            return
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._name = value
        elif name == "data":
            self._data.append(value)
