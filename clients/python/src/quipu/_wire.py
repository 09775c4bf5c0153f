"""Builds requests, decides on retries and parses event streams, for both clients. Performs no I/O."""

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
    #: True if the request changes nothing.
    reads: bool = False
    #: True if the response may be something other than JSON.
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
    """Builds a request. `parts` fill the `{}` of the path; values that are None are not sent."""
    for part in parts:
        if part in ("", ".", ".."):
            raise ValueError(f"{part!r} is not a valid path segment")
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
    """Limits on retries."""

    retries: int = 3
    #: The longest wait before a retry, in seconds. If `Retry-After` is longer, there is no retry.
    wait_max: float = 30.0

    def wait(self, tried: int, problem: Exception, request: Ask) -> float | None:
        """Seconds to wait after `tried` attempts, or None for no further attempt."""
        if tried > self.retries:
            return None
        if isinstance(problem, errors.Refusal):
            # A retryable refusal had no effect, so repeating any request is safe.
            if not problem.retryable:
                return None
            if problem.retry_after is not None:
                return problem.retry_after if problem.retry_after <= self.wait_max else None
        elif not request.is_repeatable:
            return None
        return float(min(0.25 * 2 ** (tried - 1), self.wait_max) * random.uniform(0.5, 1.0))


def check(status: int, content: bytes, headers: Mapping[str, str]) -> None:
    """Raises the matching exception unless the status is 2xx."""
    if 200 <= status < 300:
        return
    try:
        body = json.loads(content)
    except ValueError:
        body = None
    after = headers.get("retry-after", "")
    raise errors.refusal(status, body, float(after) if after.isdigit() else None)


class Events:
    """Parses server-sent events line by line."""

    def __init__(self) -> None:
        self._name = "message"
        self._data: list[str] = []

    def feed(self, line: str) -> Iterator[tuple[str, Any]]:
        """Yields the name and data of the event that this line completes, if any."""
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
