"""What the adapters for other libraries share: a conversation of a user, stored as a session."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ._sync import Quipu
from .errors import NotFound, QuipuError
from .types import Message

#: Where adapters report a server that does not answer, and what they leave out.
logger = logging.getLogger("quipu")

T = TypeVar("T")

#: Messages the server accepts in one request.
_BATCH_MAX = 256


@dataclass(frozen=True)
class Turn:
    """A recorded message."""

    id: str
    role: str
    #: The name of the speaker, or else the role.
    speaker: str
    text: str
    #: RFC 3339.
    said_at: str | None


def attempt(call: Callable[[], T], otherwise: T, *, what: str, raise_errors: bool) -> T:
    """Returns what `call` returns. If the server fails or refuses, logs an error and returns `otherwise`, unless `raise_errors`."""
    try:
        return call()
    except QuipuError as error:
        if raise_errors:
            raise
        logger.error("%s, the conversation goes on without it: %s", what, error)
        return otherwise


def pack(memory: Quipu, user_id: str, query: str, *, max_tokens: int | None = None, raise_errors: bool = False) -> str:
    """The block of memory for a prompt that answers `query`; empty if there is nothing to say."""
    if not query.strip():
        return ""

    def ask() -> str:
        return memory.context(user_id, query, max_tokens=max_tokens)["text"]

    return attempt(ask, "", what=f"the memory of {user_id} could not be read", raise_errors=raise_errors)


def foreign(library: str, value: Any) -> Message:
    """A message that keeps a value of a library which has no role of its own, such as a call of a tool."""
    return {"role": "tool", "name": library, "content": json.dumps(value, ensure_ascii=False, default=str)}


def read_foreign(library: str, turn: Turn) -> Any:
    """The value of a message made by `foreign`; None for any other message."""
    if turn.role != "tool" or turn.speaker != library:
        return None
    try:
        return json.loads(turn.text)
    except ValueError:
        # The server removes secrets before it stores a text.
        logger.warning("%s is left out of the history: it is no JSON since a secret was removed from it", turn.id)
        return None


class Conversation:
    """The messages of a session, in the order in which they were recorded."""

    def __init__(self, memory: Quipu, user_id: str, session_id: str, *, raise_errors: bool = False) -> None:
        self.memory = memory
        self.user_id = user_id
        self.session_id = session_id
        self.raise_errors = raise_errors

    def record(self, messages: Sequence[Message]) -> None:
        """Records messages, except empty ones. A failure is logged, unless `raise_errors`."""
        told = [message for message in messages if message["content"].strip()]

        def send() -> None:
            for start in range(0, len(told), _BATCH_MAX):
                self.memory.add_turns(self.user_id, told[start : start + _BATCH_MAX], session_id=self.session_id)

        attempt(send, None, what=f"{self} could not be recorded", raise_errors=self.raise_errors)

    def read(self, decode: Callable[[Turn], T | None], limit: int | None = None) -> list[T]:
        """The last `limit` messages, oldest first, without those for which `decode` returns None.

        A failure is logged and returns no message, unless `raise_errors`.
        """

        def run() -> list[T]:
            found: list[T] = []
            for turn in self._newest_first() if limit is None or limit > 0 else ():
                made = decode(turn)
                if made is not None:
                    found.append(made)
                    if len(found) == limit:
                        break
            return found[::-1]

        return attempt(run, [], what=f"{self} could not be read", raise_errors=self.raise_errors)

    def pop(self, decode: Callable[[Turn], T | None]) -> T | None:
        """Reverts the last message, and what was learned from it. Errors are always raised."""
        for turn in self._newest_first():
            made = decode(turn)
            if made is None:
                continue
            event = self.memory.item(self.user_id, turn.id)["item"]["event_seq"]
            preview = self.memory.revert(self.user_id, events=[event], dry_run=True)
            turns = [one["id"] for one in preview["difference"]["items"] if one["id"].startswith("turn_")]
            if turns != [turn.id]:
                raise QuipuError(f"{turn.id} was recorded in one event with other messages, so it is not removed alone")
            self.memory.revert(self.user_id, events=[event], rationale="removed from the conversation")
            return made
        return None

    def clear(self) -> None:
        """Reverts all messages, and what was learned from them alone. Errors are always raised."""
        try:
            self.memory.session(self.user_id, self.session_id)
        except NotFound:
            return
        self.memory.revert(self.user_id, session=self.session_id, rationale="the conversation was cleared")

    def _newest_first(self) -> Iterator[Turn]:
        try:
            state = self.memory.session(self.user_id, self.session_id)
        except NotFound:
            return
        window = {one["id"]: one for one in state["raw_window"]}
        ids = [one for line in state["turn_log"] for one in line["sources"]]
        known = set(ids)
        ids += [one for one in window if one not in known]
        for one in reversed(ids):
            shown = window.get(one)
            try:
                held = shown or self.memory.item(self.user_id, one)["item"]
            except NotFound:  # It was erased in the meantime.
                continue
            speaker = held.get("speaker") or held.get("author") or held["role"]
            yield Turn(one, held["role"], speaker, held["text"], held["said_at"])

    def __str__(self) -> str:
        return f"session {self.session_id} of {self.user_id}"
