"""LangChain: a chat message history and a retriever over Quipu. Needs `quipu-memory-client[langchain]`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    message_to_dict,
    messages_from_dict,
)
from langchain_core.retrievers import BaseRetriever

from . import _conversation
from ._conversation import Conversation, Turn, attempt, foreign, logger, read_foreign
from ._sync import Quipu
from .types import Message

_LIBRARY = "langchain"
_ROLES: list[tuple[type[BaseMessage], Any]] = [
    (HumanMessage, "user"),
    (AIMessage, "assistant"),
    (SystemMessage, "system"),
]


class QuipuChatMessageHistory(BaseChatMessageHistory):
    """The messages of one conversation: `session_id` is the session, `user_id` the user whose memory learns from it.

    Calls of tools and their results are stored as they are. Of other messages the text is stored; images and other
    content are left out, with a warning. `messages` returns the last `limit` messages (default: all), each with its
    time in `response_metadata["said_at"]`. The server removes secrets from texts.

    If the server fails, an error is logged and the conversation goes on without history, unless `raise_errors`.
    `clear` always raises errors.
    """

    def __init__(
        self, memory: Quipu, user_id: str, session_id: str, *, limit: int | None = None, raise_errors: bool = False
    ) -> None:
        self._conversation = Conversation(memory, user_id, session_id, raise_errors=raise_errors)
        self._limit = limit

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """The recorded messages, oldest first."""
        return self._conversation.read(_read, self._limit)

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Records messages, all or none (in batches of 256)."""
        made = [_written(message) for message in messages]
        self._conversation.record([message for message in made if message is not None])

    def clear(self) -> None:
        """Removes all messages of the conversation, and what was learned from them alone; `quipu revert` brings them back."""
        self._conversation.clear()


def _written(message: BaseMessage) -> Message | None:
    if isinstance(message, ToolMessage) or (isinstance(message, AIMessage) and message.tool_calls):
        made = message_to_dict(message)
        kept = ("content", "name", "tool_calls", "tool_call_id", "status")
        data = {name: made["data"][name] for name in kept if made["data"].get(name)} | {"content": message.text}
        return foreign(_LIBRARY, {"type": made["type"], "data": data})
    role = next((role for kind, role in _ROLES if isinstance(message, kind)), None)
    if role is None:
        logger.warning("a message of type %s is not recorded", message.type)
        return None
    if isinstance(message.content, list) and any(
        isinstance(block, dict) and block.get("type") not in ("text", "thinking", "reasoning") for block in message.content
    ):
        logger.warning("of a message with other content, only the text is recorded")
    told: Message = {"role": role, "content": message.text}
    if message.name:
        told["name"] = message.name
    return told


def _read(turn: Turn) -> BaseMessage | None:
    if turn.role == "tool":
        made = read_foreign(_LIBRARY, turn)
        return None if made is None else messages_from_dict([made])[0].model_copy(update={"id": turn.id})
    kind = next((kind for kind, role in _ROLES if role == turn.role), None)
    if kind is None:
        return None
    name = None if turn.speaker == turn.role else turn.speaker
    return kind(content=turn.text, id=turn.id, name=name, response_metadata={"said_at": turn.said_at})


class QuipuRetriever(BaseRetriever):
    """Finds what answers a question in a user's memory: statements, messages, tasks and notes, best first."""

    memory: Quipu
    user_id: str
    #: Documents at most.
    k: int = 8
    raise_errors: bool = False

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        def ask() -> list[Document]:
            found = self.memory.retrieve(query, user_id=self.user_id, k=self.k)
            answers = [*found["profile"], *found["episodic"], *found["tasks"], *found["reflective"]]
            answers.sort(key=lambda answer: -answer["score"])
            return [_document(answer, found["decision"]["verdict"]) for answer in answers[: self.k]]

        what = f"the memory of {self.user_id} could not be searched"
        return attempt(ask, [], what=what, raise_errors=self.raise_errors)


def _document(answer: Any, verdict: str) -> Document:
    kept = ("kind", "speaker", "said_at", "session_id", "trust", "score", "confidence")
    metadata = {name: answer[name] for name in kept}
    #: `abstain` if the memory seems to have nothing about the question.
    return Document(id=answer["id"], page_content=answer["text"], metadata=metadata | {"verdict": verdict})


def memory_messages(memory: Quipu, user_id: str, query: str, *, raise_errors: bool = False) -> list[BaseMessage]:
    """The memory for a prompt that answers `query`, as a system message; no message if there is nothing to say."""
    text = _conversation.pack(memory, user_id, query, raise_errors=raise_errors)
    return [SystemMessage(text)] if text else []
