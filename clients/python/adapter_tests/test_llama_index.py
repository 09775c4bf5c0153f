"""LlamaIndex's memory block."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, MessageRole, TextBlock
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms.mock import MockLLMWithChatMemoryOfLastCall
from llama_index.core.memory import Memory

from quipu import Quipu, errors
from quipu.llama_index import QuipuMemoryBlock

#: So small that a message leaves the short-term memory with every other one.
SMALL: dict[str, Any] = {"token_limit": 60, "token_flush_size": 10, "chat_history_token_ratio": 0.5}


def engine(client: Quipu, user_id: str, session_id: str, **limits: Any) -> tuple[SimpleChatEngine, Any]:
    block = QuipuMemoryBlock(memory=client, user_id=user_id)
    memory = Memory.from_defaults(session_id=session_id, memory_blocks=[block], **limits)
    llm = MockLLMWithChatMemoryOfLastCall(max_tokens=5)
    return SimpleChatEngine.from_defaults(llm=llm, memory=memory), llm


def recorded(memory: Quipu, user_id: str, session_id: str) -> list[tuple[str, str]]:
    return [(turn["role"], turn["text"]) for turn in memory.session(user_id, session_id)["raw_window"]]


def test_what_leaves_the_short_term_memory_is_found_later(memory: Quipu, elsewhere: Callable[[str], str]) -> None:
    chat, _ = engine(memory, "li-ines", "s1", **SMALL)
    texts = ["The code of my bike lock is 4471.", "I moved to Porto in May.", "My sister is called Ana.", "I like tea."]
    for text in texts:
        chat.chat(text)
    told = recorded(memory, "li-ines", "s1")
    assert told[0] == ("user", texts[0]) and told[1][0] == "assistant" and ("user", texts[1]) in told
    assert [text for role, text in told if role == "user"] == texts[: sum(role == "user" for role, _ in told)]
    later, llm = engine(memory, "li-ines", "s2")
    later.chat("What is the code of my bike lock?")
    sent = llm.last_chat_messages
    assert [message.role for message in sent] == [MessageRole.SYSTEM, MessageRole.USER]
    assert "<long_term_memory>" in sent[0].content and "4471" in sent[0].content
    ask = "import asyncio\nfrom llama_index.core.llms import ChatMessage\nfrom quipu.llama_index import QuipuMemoryBlock\n"
    ask += "block = QuipuMemoryBlock(memory=memory, user_id='li-ines')\n"
    ask += "print(asyncio.run(block.aget([ChatMessage('What is the code of my bike lock?')])))"
    assert "4471" in elsewhere(ask)


def test_users_are_apart(memory: Quipu) -> None:
    ask = [ChatMessage("Where do I live?")]

    async def life() -> None:
        one, other = (QuipuMemoryBlock(memory=memory, user_id=user, session_id="s") for user in ("li-a", "li-b"))
        await one.aput([ChatMessage("I live in Oslo.")])
        assert "Oslo" in await one.aget(ask) and "Oslo" not in await other.aget(ask)
        await other.aput([ChatMessage("I live in Rome.")])
        assert "Oslo" not in await other.aget(ask) and "Rome" not in await one.aget(ask)
        await one.aclear("s")
        await one.aclear("s")
        assert await one.aget(ask) == "" and "Rome" in await other.aget(ask)

    asyncio.run(life())


def test_only_text_is_recorded(memory: Quipu, caplog: pytest.LogCaptureFixture) -> None:
    messages = [
        ChatMessage("Be brief.", role="system"),
        ChatMessage([TextBlock(text="What is this?"), ImageBlock(url="https://example.com/a.png")]),
        ChatMessage("", role="assistant", additional_kwargs={"tool_calls": []}),
        ChatMessage('{"seen": "cat"}', role="tool"),
        ChatMessage("A cat.", role="assistant"),
    ]
    block = QuipuMemoryBlock(memory=memory, user_id="li-text", session_id="s")
    asyncio.run(block.aput(messages))
    told = [("system", "Be brief."), ("user", "What is this?"), ("assistant", "A cat.")]
    assert recorded(memory, "li-text", "s") == told and "only the text is recorded" in caplog.text


def test_the_size_of_the_memory_is_limited(memory: Quipu) -> None:
    async def life() -> None:
        block = QuipuMemoryBlock(memory=memory, user_id="li-size", max_tokens=120)
        await block.aput([ChatMessage(f"Room {n} of the house is painted in colour number {n * 7}.") for n in range(40)])
        small = await block.aget([ChatMessage("What are the colours of the rooms of the house?")])
        large = await QuipuMemoryBlock(memory=memory, user_id="li-size").aget([ChatMessage("What are the colours of the rooms?")])
        assert 0 < len(small) < len(large)

    asyncio.run(life())


def test_a_server_that_is_down_is_logged(nobody: Quipu, errors_logged: Callable[[], list[str]]) -> None:
    chat, llm = engine(nobody, "ines", "s", **SMALL)
    for n in range(4):
        chat.chat(f"Hello, this is message {n}, and it is of some length.")
    assert [message.role for message in llm.last_chat_messages][-1] == MessageRole.USER
    logged = errors_logged()
    assert any("could not be read" in one for one in logged) and any("not be recorded" in one for one in logged), logged
    strict = QuipuMemoryBlock(memory=nobody, user_id="ines", raise_errors=True)
    for raising in (
        lambda: strict.aget([ChatMessage("Hello")]),
        lambda: strict.aput([ChatMessage("Hello")]),
        lambda: QuipuMemoryBlock(memory=nobody, user_id="ines").aclear("s"),
    ):
        with pytest.raises(errors.NotReached):
            asyncio.run(raising())
