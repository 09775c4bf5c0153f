"""LangChain's chat message history and retriever."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory

from quipu import Quipu, errors
from quipu.langchain import QuipuChatMessageHistory, QuipuRetriever, memory_messages


def texts(history: QuipuChatMessageHistory) -> list[tuple[str, str]]:
    return [(message.type, str(message.content)) for message in history.messages]


def test_a_chain_remembers_in_another_process(memory: Quipu, elsewhere: Callable[[str], str]) -> None:
    model = FakeListChatModel(responses=["Porto is a fine city.", "In Porto."])
    seen: list[list[str]] = []
    watch = RunnableLambda(lambda prompt: (seen.append([str(one.content) for one in prompt.messages]), prompt)[1])
    prompt = ChatPromptTemplate([MessagesPlaceholder("history"), ("human", "{input}")])
    chain = RunnableWithMessageHistory(
        prompt | watch | model,
        lambda session_id: QuipuChatMessageHistory(memory, "lc-ines", session_id),
        input_messages_key="input",
        history_messages_key="history",
    )
    config = {"configurable": {"session_id": "s1"}}
    chain.invoke({"input": "I moved to Porto in May."}, config)
    assert chain.invoke({"input": "Where do I live?"}, config).content == "In Porto."
    assert seen[1] == ["I moved to Porto in May.", "Porto is a fine city.", "Where do I live?"]
    read = "from quipu.langchain import QuipuChatMessageHistory as History\n"
    read += "print([(m.type, m.content) for m in History(memory, 'lc-ines', 's1').messages])"
    expected = [("human", seen[1][0]), ("ai", seen[1][1]), ("human", "Where do I live?"), ("ai", "In Porto.")]
    assert elsewhere(read).strip() == str(expected)
    # The user's memory has learned from it, in any session.
    assert any("Porto" in fact["text"] for fact in memory.facts("lc-ines")["items"])


def test_users_and_sessions_are_apart(memory: Quipu) -> None:
    for user, session, text in [("lc-a", "s", "one"), ("lc-b", "s", "two"), ("lc-a", "t/ü ?", "three")]:
        QuipuChatMessageHistory(memory, user, session).add_user_message(text)
    assert texts(QuipuChatMessageHistory(memory, "lc-a", "s")) == [("human", "one")]
    assert texts(QuipuChatMessageHistory(memory, "lc-b", "s")) == [("human", "two")]
    assert texts(QuipuChatMessageHistory(memory, "lc-a", "t/ü ?")) == [("human", "three")]
    assert texts(QuipuChatMessageHistory(memory, "lc-nobody", "s")) == []


def test_a_long_history_keeps_its_order(memory: Quipu) -> None:
    history = QuipuChatMessageHistory(memory, "lc-long", "s")
    told = [kind(f"{name} {n} {'x ' * 250}") for n in range(15) for kind, name in ((HumanMessage, "q"), (AIMessage, "a"))]
    history.add_messages(told[:20])
    history.add_messages(told[20:])
    assert [message.content for message in history.messages] == [message.content for message in told]
    assert [type(message) for message in history.messages] == [type(message) for message in told]
    last = QuipuChatMessageHistory(memory, "lc-long", "s", limit=15).messages
    assert [message.content for message in last] == [message.content for message in told[-15:]]
    assert all(message.response_metadata["said_at"] and message.id for message in last)
    assert QuipuChatMessageHistory(memory, "lc-long", "s", limit=0).messages == []
    # More than the server takes in one request.
    many = QuipuChatMessageHistory(memory, "lc-many", "s")
    many.add_messages([SystemMessage(f"note {n}") for n in range(300)])
    assert [message.content for message in many.messages] == [f"note {n}" for n in range(300)]


def test_calls_of_tools_come_back_as_they_were(memory: Quipu, caplog: pytest.LogCaptureFixture) -> None:
    call = {"name": "weather", "args": {"city": "Porto", "days": 2}, "id": "call_1", "type": "tool_call"}
    told = [
        SystemMessage("Be brief."),
        HumanMessage("What is the weather?", name="Ana"),
        AIMessage("", tool_calls=[call]),
        ToolMessage("rain", tool_call_id="call_1", name="weather"),
        AIMessage("It rains."),
    ]
    history = QuipuChatMessageHistory(memory, "lc-tools", "s")
    history.add_messages(told)
    found = history.messages
    assert [(one.type, one.content, one.name) for one in found] == [(one.type, one.content, one.name) for one in told]
    assert isinstance(found[2], AIMessage) and found[2].tool_calls == [call]
    assert isinstance(found[3], ToolMessage) and found[3].tool_call_id == "call_1" and found[3].status == "success"
    image = {"type": "image", "url": "https://example.com/a.png"}
    history.add_message(HumanMessage([{"type": "text", "text": "What is this?"}, image]))
    assert history.messages[-1].content == "What is this?"
    assert "only the text is recorded" in caplog.text


def test_clear_removes_the_messages_and_what_was_learned_from_them(memory: Quipu) -> None:
    history, other = (QuipuChatMessageHistory(memory, "lc-clear", session) for session in ("s", "t"))
    history.add_user_message("My sister is called Ana.")
    other.add_user_message("I live in Oslo.")
    history.clear()
    history.clear()
    assert texts(history) == [] and texts(other) == [("human", "I live in Oslo.")]
    assert [fact["object"] for fact in memory.facts("lc-clear")["items"]] == ["Oslo"]
    history.add_ai_message("Hello again.")
    assert texts(history) == [("ai", "Hello again.")]


def test_the_retriever_finds_the_message_that_answers(memory: Quipu) -> None:
    history = QuipuChatMessageHistory(memory, "lc-find", "s")
    for text in ("The code of my bike lock is 4471.", "I had soup for lunch.", "The meeting is in room 12."):
        history.add_user_message(text)
        history.add_ai_message("All right.")
    found = QuipuRetriever(memory=memory, user_id="lc-find", k=3).invoke("What is the code of my bike lock?")
    assert "4471" in found[0].page_content and len(found) <= 3
    assert found[0].metadata["session_id"] == "s" and found[0].metadata["verdict"] in ("answer", "verify"), found[0]
    assert QuipuRetriever(memory=memory, user_id="lc-else").invoke("What is the code of my bike lock?") == []


def test_the_memory_is_a_system_message(memory: Quipu) -> None:
    QuipuChatMessageHistory(memory, "lc-pack", "before").add_user_message("I live in Porto.")
    seen = []
    watch = RunnableLambda(lambda prompt: (seen.extend(prompt.messages), prompt)[1])
    prompt = ChatPromptTemplate([MessagesPlaceholder("memory"), ("human", "{input}")])
    pack = RunnablePassthrough.assign(memory=lambda asked: memory_messages(memory, "lc-pack", asked["input"]))
    (pack | prompt | watch | FakeListChatModel(responses=["In Porto."])).invoke({"input": "Where do I live?"})
    assert [message.type for message in seen] == ["system", "human"] and "Porto" in seen[0].content
    assert memory_messages(memory, "lc-pack", "") == memory_messages(memory, "lc-empty", "Where?") == []


def test_the_asynchronous_methods_do_the_same(memory: Quipu) -> None:
    async def life() -> None:
        history = QuipuChatMessageHistory(memory, "lc-async", "s")
        await history.aadd_messages([HumanMessage("I live in Oslo.")])
        assert [message.content for message in await history.aget_messages()] == ["I live in Oslo."]
        assert "Oslo" in (await QuipuRetriever(memory=memory, user_id="lc-async").ainvoke("Where do I live?"))[0].page_content
        await history.aclear()
        assert await history.aget_messages() == []

    asyncio.run(life())


def test_a_server_that_is_down_is_logged(nobody: Quipu, errors_logged: Callable[[], list[str]]) -> None:
    history = QuipuChatMessageHistory(nobody, "ines", "s")
    history.add_user_message("Hello")
    assert len(errors_logged()) == 1 and history.messages == [] and len(errors_logged()) == 1
    assert QuipuRetriever(memory=nobody, user_id="ines").invoke("Where?") == [] and len(errors_logged()) == 1
    assert memory_messages(nobody, "ines", "Where?") == [] and len(errors_logged()) == 1
    for raising in (
        history.clear,
        lambda: QuipuChatMessageHistory(nobody, "ines", "s", raise_errors=True).messages,
        lambda: QuipuChatMessageHistory(nobody, "ines", "s", raise_errors=True).add_user_message("Hello"),
        lambda: QuipuRetriever(memory=nobody, user_id="ines", raise_errors=True).invoke("Where?"),
    ):
        with pytest.raises(errors.NotReached):
            raising()
