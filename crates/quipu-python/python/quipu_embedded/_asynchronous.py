"""The same memory for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from os import PathLike

from ._native import Memory
from .types import Context, Erasure, Fact, Kind, Provenance, Recall, Receipt, Role, Time, Version


class AsyncMemory:
    """A `Memory` whose calls run in threads, so that the event loop goes on meanwhile.

    A call that is cancelled still finishes in its thread.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    @classmethod
    async def open(cls, folder: str | PathLike[str], *, user: str = "me") -> AsyncMemory:
        """Opens the memory of a user, as `Memory` does."""
        return cls(await asyncio.to_thread(Memory, folder, user=user))

    @property
    def user(self) -> str:
        return self.memory.user

    def of_user(self, name: str) -> AsyncMemory:
        """Another user's memory in the same folder."""
        return AsyncMemory(self.memory.of_user(name))

    async def remember(
        self,
        text: str,
        *,
        role: Role = "user",
        name: str | None = None,
        session: str | None = None,
        said_at: Time | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt:
        return await asyncio.to_thread(
            self.memory.remember,
            text,
            role=role,
            name=name,
            session=session,
            said_at=said_at,
            idempotency_key=idempotency_key,
        )

    async def recall(
        self,
        question: str,
        *,
        limit: int = 8,
        session: str | None = None,
        kinds: Sequence[Kind] = (),
        at: Version | None = None,
        now: Time | None = None,
    ) -> Recall:
        return await asyncio.to_thread(
            self.memory.recall, question, limit=limit, session=session, kinds=kinds, at=at, now=now
        )

    async def context(
        self,
        request: str,
        *,
        max_tokens: int | None = None,
        session: str | None = None,
        at: Version | None = None,
        now: Time | None = None,
        cite: bool = False,
    ) -> Context:
        return await asyncio.to_thread(
            self.memory.context, request, max_tokens=max_tokens, session=session, at=at, now=now, cite=cite
        )

    async def facts(
        self,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        at: Version | None = None,
        valid_at: Time | None = None,
        all: bool = False,
    ) -> list[Fact]:
        return await asyncio.to_thread(
            self.memory.facts, subject=subject, predicate=predicate, at=at, valid_at=valid_at, all=all
        )

    async def why(self, item: str) -> Provenance:
        return await asyncio.to_thread(self.memory.why, item)

    async def revert(self, event: int, *, rationale: str | None = None) -> Receipt:
        return await asyncio.to_thread(self.memory.revert, event, rationale=rationale)

    async def erase(self, items: Sequence[str], reason: str) -> Erasure:
        return await asyncio.to_thread(self.memory.erase, items, reason)
