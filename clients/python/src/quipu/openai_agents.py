"""OpenAI Agents SDK: a session over Quipu. Needs `quipu-memory-client[openai-agents]`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, cast

from agents import SessionSettings, TResponseInputItem
from agents.run import CallModelData, ModelInputData

from ._conversation import Conversation, Turn, foreign, logger, pack, read_foreign
from ._sync import Quipu
from .types import Message

_LIBRARY = "openai-agents"
_ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}
#: Items that go with the messages when they are sent again. Their ids are left out, as they refer to items of reasoning.
_CALLS = ("function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output")


class QuipuSession:
    """The items of one conversation: `session_id` is the session, `user_id` the user whose memory learns from it.

    Messages are stored as their text and come back as `{"role", "content"}`. Calls of functions and their results are
    stored without their ids. Reasoning, calls of hosted tools, images and files are left out. The server removes
    secrets from texts.

    If the server fails, an error is logged and the run goes on without history, unless `raise_errors`. `pop_item` and
    `clear_session` always raise errors.
    """

    #: Tells the SDK to compare items without their ids.
    _ignore_ids_for_matching = True

    def __init__(
        self,
        memory: Quipu,
        user_id: str,
        session_id: str,
        *,
        session_settings: SessionSettings | None = None,
        raise_errors: bool = False,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self._conversation = Conversation(memory, user_id, session_id, raise_errors=raise_errors)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The last `limit` items, oldest first. Defaults to the limit of `session_settings`, or else to all."""
        if limit is None:
            limit = self.session_settings.limit
        return await asyncio.to_thread(self._conversation.read, _read, limit)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Records items."""
        made = [_written(cast(dict[str, Any], item)) for item in items]
        await asyncio.to_thread(self._conversation.record, [message for message in made if message is not None])

    async def pop_item(self) -> TResponseInputItem | None:
        """Removes the last item, and what was learned from it, and returns it; `quipu revert` brings it back."""
        return cast("TResponseInputItem | None", await asyncio.to_thread(self._conversation.pop, _read))

    async def clear_session(self) -> None:
        """Removes all items, and what was learned from them alone; `quipu revert` brings them back."""
        await asyncio.to_thread(self._conversation.clear)

    async def add_memory(self, data: CallModelData[Any]) -> ModelInputData:
        """Adds what the memory has about the user's last message to the instructions.

        For `RunConfig(call_model_input_filter=session.add_memory)`. The session does not store it.
        """
        sent = data.model_data
        of = self._conversation
        said = [item for item in cast(list[dict[str, Any]], sent.input) if item.get("role") == "user"]
        query = _text(said[-1].get("content")) if said else ""
        text = await asyncio.to_thread(pack, of.memory, of.user_id, query, raise_errors=of.raise_errors)
        parts = [part for part in (sent.instructions, text) if part]
        return ModelInputData(input=sent.input, instructions="\n\n".join(parts) or None)


def _text(content: str | Sequence[dict[str, Any]] | None) -> str:
    if isinstance(content, str):
        return content
    texts = [part.get("text") or part.get("refusal") for part in content or ()]
    return "\n".join(text for text in texts if text)


def _written(item: dict[str, Any]) -> Message | None:
    role = _ROLES.get(item.get("role", ""))
    if role is not None:
        content = item.get("content")
        if isinstance(content, list) and any("text" not in part and "refusal" not in part for part in content):
            logger.warning("of a message with other content, only the text is recorded")
        return {"role": cast(Any, role), "content": _text(content)}
    if item.get("type") in _CALLS:
        return foreign(_LIBRARY, {name: value for name, value in item.items() if name not in ("id", "status")})
    logger.debug("an item of type %s is not recorded", item.get("type"))
    return None


def _read(turn: Turn) -> Any:
    """The item of a message, or None if it is none."""
    if turn.role in _ROLES:
        return {"role": turn.role, "content": turn.text}
    return read_foreign(_LIBRARY, turn)
