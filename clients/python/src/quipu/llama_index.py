"""LlamaIndex: a memory block over Quipu. Needs `quipu-memory-client[llama-index]`."""

from __future__ import annotations

import asyncio
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock
from llama_index.core.bridge.pydantic import Field
from llama_index.core.memory import BaseMemoryBlock

from ._conversation import Conversation, logger, pack
from ._sync import Quipu
from .types import Message

_ROLES: dict[MessageRole, Any] = {
    MessageRole.USER: "user",
    MessageRole.ASSISTANT: "assistant",
    MessageRole.CHATBOT: "assistant",
    MessageRole.MODEL: "assistant",
    MessageRole.SYSTEM: "system",
    MessageRole.DEVELOPER: "system",
}


class QuipuMemoryBlock(BaseMemoryBlock[str]):
    """A long-term memory of a user, for `Memory.from_defaults(memory_blocks=[…])`.

    At each question it adds what the memory has about it, and records the messages that leave the short-term memory;
    the session of the `Memory` is the session. Only text is recorded: calls of tools, their results and images are left
    out. The server removes secrets from texts.

    If the server fails, an error is logged and the conversation goes on without memory, unless `raise_errors`.
    """

    name: str = Field(default="long_term_memory", description="The name of the memory block.")
    memory: Quipu = Field(description="The client.", exclude=True)
    user_id: str = Field(description="The user whose memory it is.")
    session_id: str = Field(default="llama-index", description="The session of messages that name none.")
    max_tokens: int | None = Field(default=None, description="Size of the memory. Defaults to that of the server.")
    raise_errors: bool = Field(default=False, description="Whether errors of the server are raised.")

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        said = [message for message in messages or () if message.role == MessageRole.USER]
        query = _text(said[-1]) if said else ""
        return await asyncio.to_thread(
            lambda: pack(
                self.memory, self.user_id, query, max_tokens=self.max_tokens, raise_errors=self.raise_errors
            )
        )

    async def _aput(self, messages: list[ChatMessage]) -> None:
        sessions: dict[str, list[Message]] = {}
        for message in messages:
            made = _written(message)
            if made is not None:
                sessions.setdefault(message.additional_kwargs.get("session_id", self.session_id), []).append(made)
        for session_id, told in sessions.items():
            conversation = Conversation(self.memory, self.user_id, session_id, raise_errors=self.raise_errors)
            await asyncio.to_thread(conversation.record, told)

    async def aclear(self, session_id: str) -> None:
        """Removes what was recorded of a session, and what was learned from it alone; `quipu revert` brings it back."""
        await asyncio.to_thread(Conversation(self.memory, self.user_id, session_id).clear)


def _text(message: ChatMessage) -> str:
    return "\n".join(block.text for block in message.blocks if isinstance(block, TextBlock))


def _written(message: ChatMessage) -> Message | None:
    role = _ROLES.get(message.role)
    if role is None:
        logger.debug("a message of role %s is not recorded", message.role)
        return None
    if any(block.block_type in ("image", "audio", "video", "document") for block in message.blocks):
        logger.warning("of a message with other content, only the text is recorded")
    return {"role": role, "content": _text(message)}
