"""Pydantic AI: a capability that gives an agent the memory of a user. Needs `quipu-memory-client[pydantic-ai]`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    CachePoint,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextContent,
    TextPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.run import AgentRunResult
from pydantic_core import to_json

from ._conversation import Conversation, Turn, logger, pack
from ._sync import Quipu
from .types import Message

_TEXT = (str, TextContent, CachePoint)

#: A name, or how to find it in the dependencies of a run.
Name = str | Callable[[RunContext[Any]], str]


@dataclass
class QuipuMemory(AbstractCapability[Any]):
    """Adds what the memory has about the prompt to the instructions, and records prompt and answer after the run.

    `user_id` is the user whose memory it is, `session_id` the session of the conversation (default: the run's
    `conversation_id`); each is a string or a function of the `RunContext`. Only text is recorded: calls of tools,
    reasoning and images are left out, and an output that is no text is recorded as JSON. A run that fails is not
    recorded. The server removes secrets from texts.

    If the server fails, an error is logged and the run goes on without memory, unless `raise_errors`.
    """

    memory: Quipu
    user_id: Name

    _: KW_ONLY

    session_id: Name | None = None
    #: Size of the memory in the instructions. Defaults to that of the server.
    max_tokens: int | None = None
    raise_errors: bool = False

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """None: a connection cannot be written in a specification."""
        return None

    def get_instructions(self) -> Callable[[RunContext[Any]], Any]:
        """The memory about the prompt of the run, at each request to the model."""
        return self._instructions

    async def _instructions(self, ctx: RunContext[Any]) -> str | None:
        user = _name(self.user_id, ctx)
        return await asyncio.to_thread(
            lambda: pack(
                self.memory, user, _text(ctx.prompt), max_tokens=self.max_tokens, raise_errors=self.raise_errors
            )
            or None
        )

    async def after_run(self, ctx: RunContext[Any], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        """Records what was said in the run."""
        session = _name(self.session_id or ctx.conversation_id or "", ctx)
        conversation = Conversation(self.memory, _name(self.user_id, ctx), session, raise_errors=self.raise_errors)
        told = [message for said in result.new_messages() for message in _written(said)]
        if not isinstance(result.output, str):
            told.append({"role": "assistant", "content": to_json(result.output, fallback=str).decode()})
        await asyncio.to_thread(conversation.record, told)
        return result


def load_history(
    memory: Quipu, user_id: str, session_id: str, *, limit: int | None = None, raise_errors: bool = False
) -> list[ModelMessage]:
    """The last `limit` recorded messages of a conversation (default: all), for `message_history`.

    Users' messages and answers come back as they were said, with their times; calls of tools are not recorded. If the
    server fails, an error is logged and there is no history, unless `raise_errors`.
    """
    return Conversation(memory, user_id, session_id, raise_errors=raise_errors).read(_read, limit)


def clear_history(memory: Quipu, user_id: str, session_id: str) -> None:
    """Removes all messages of a conversation, and what was learned from them alone; `quipu revert` brings them back."""
    Conversation(memory, user_id, session_id).clear()


def _name(of: Name, ctx: RunContext[Any]) -> str:
    return of if isinstance(of, str) else of(ctx)


def _text(content: str | Sequence[UserContent] | None) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(part if isinstance(part, str) else part.content for part in content if isinstance(part, (str, TextContent)))


def _written(message: ModelMessage) -> list[Message]:
    if isinstance(message, ModelResponse):
        texts = [part.content for part in message.parts if isinstance(part, TextPart)]
        return [{"role": "assistant", "content": "\n".join(texts), "said_at": message.timestamp.isoformat()}]
    told: list[Message] = []
    for part in message.parts:
        if isinstance(part, UserPromptPart):
            if not isinstance(part.content, str) and not all(isinstance(one, _TEXT) for one in part.content):
                logger.warning("of a prompt with other content, only the text is recorded")
            told.append({"role": "user", "content": _text(part.content), "said_at": part.timestamp.isoformat()})
    return told


def _read(turn: Turn) -> ModelMessage | None:
    at = datetime.fromisoformat(turn.said_at.replace("Z", "+00:00")) if turn.said_at else None
    when: dict[str, Any] = {"timestamp": at} if at else {}
    if turn.role == "assistant":
        return ModelResponse([TextPart(turn.text)], **when)
    if turn.role == "user":
        return ModelRequest([UserPromptPart(turn.text, **when)])
    return ModelRequest([SystemPromptPart(turn.text, **when)]) if turn.role == "system" else None
