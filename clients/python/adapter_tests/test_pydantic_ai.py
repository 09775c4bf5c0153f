"""Pydantic AI's capability and history."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, ImageUrl, RunContext
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from quipu import Quipu, errors
from quipu.pydantic_ai import QuipuMemory, clear_history, load_history


@dataclass
class Visitor:
    name: str
    chat: str


class Place(BaseModel):
    city: str


class Script:
    """A model that gives these answers, and what it was asked."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.instructions: list[str] = []
        self.messages: list[list[ModelMessage]] = []
        self.model = FunctionModel(self._answer, stream_function=self._stream)

    def _next(self, messages: list[ModelMessage], info: AgentInfo) -> str:
        self.messages.append(list(messages))
        self.instructions.append(info.instructions or "")
        return self.answers.pop(0)

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse([TextPart(self._next(messages, info))])

    async def _stream(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        for word in self._next(messages, info).split(" "):
            yield word + " "


def texts(messages: list[ModelMessage]) -> list[tuple[str, str]]:
    return [(message.kind, str(getattr(part, "content", ""))) for message in messages for part in message.parts]


def test_an_agent_remembers_in_another_process(memory: Quipu, elsewhere: Callable[[str], str]) -> None:
    script = Script("A fine city.", "In Porto.", "In Porto, I said.")
    agent = Agent(script.model, instructions="Be brief.", capabilities=[QuipuMemory(memory, "pa-ines", session_id="s1")])
    agent.run_sync("I moved to Porto in May.")
    history = load_history(memory, "pa-ines", "s1")
    assert agent.run_sync("Where do I live?", message_history=history).output == "In Porto."
    told = [("request", "I moved to Porto in May."), ("response", "A fine city."), ("request", "Where do I live?")]
    assert texts(script.messages[1]) == told
    assert script.instructions[1].startswith("Be brief.") and "Porto" in script.instructions[1]
    read = "from quipu.pydantic_ai import load_history\n"
    read += "print([(m.kind, m.parts[0].content) for m in load_history(memory, 'pa-ines', 's1')])"
    assert elsewhere(read).strip() == str([*told, ("response", "In Porto.")])
    # Another conversation knows it from the memory.
    agent.run_sync("Where do I live?", capabilities=[])
    assert "Porto" in script.instructions[2] and texts(script.messages[2]) == [("request", "Where do I live?")]


def test_users_and_sessions_come_from_the_run(memory: Quipu) -> None:
    def user(ctx: RunContext[Visitor]) -> str:
        return f"pa-{ctx.deps.name}"

    script = Script("Noted.", "4471.", "No idea.")
    agent = Agent(script.model, deps_type=Visitor, capabilities=[QuipuMemory(memory, user, session_id=lambda ctx: ctx.deps.chat)])
    agent.run_sync("The code of my bike lock is 4471.", deps=Visitor("a", "s1"))
    agent.run_sync("What is the code of my bike lock?", deps=Visitor("a", "s2"))
    agent.run_sync("What is the code of my bike lock?", deps=Visitor("b", "s2"))
    assert "4471" in script.instructions[1] and "4471" not in script.instructions[2]
    assert texts(load_history(memory, "pa-b", "s2"))[1] == ("response", "No idea.")
    assert len(load_history(memory, "pa-a", "s1")) == 2
    # By default the session is the conversation of the run.
    plain = Agent(Script("Yes.").model, capabilities=[QuipuMemory(memory, "pa-conversation")])
    plain.run_sync("Is it on?", conversation_id="c-1")
    assert texts(load_history(memory, "pa-conversation", "c-1")) == [("request", "Is it on?"), ("response", "Yes.")]


def test_order_limit_times_and_clear(memory: Quipu) -> None:
    script = Script(*(f"a{n}" for n in range(9)))
    agent = Agent(script.model, capabilities=[QuipuMemory(memory, "pa-order", session_id="s")])
    for n in range(9):
        agent.run_sync(f"q{n}")
    found = load_history(memory, "pa-order", "s")
    assert [text for _, text in texts(found)] == [text for n in range(9) for text in (f"q{n}", f"a{n}")]
    assert [text for _, text in texts(load_history(memory, "pa-order", "s", limit=3))] == ["a7", "q8", "a8"]
    part = found[0].parts[0]
    assert isinstance(part, UserPromptPart) and isinstance(script.messages[0][0], ModelRequest)
    asked = script.messages[0][0].parts[0]
    assert isinstance(asked, UserPromptPart) and part.timestamp == asked.timestamp
    memory.add_turns("pa-order", [{"role": "user", "content": "I live in Oslo."}], session_id="t")
    clear_history(memory, "pa-order", "s")
    clear_history(memory, "pa-order", "s")
    assert load_history(memory, "pa-order", "s") == [] and len(load_history(memory, "pa-order", "t")) == 1


def test_a_time_with_any_number_of_digits_is_read(memory: Quipu) -> None:
    for n, digits in enumerate(("", ".5", ".25334", ".253349875")):
        at = f"2026-01-05T10:00:00{digits}Z"
        memory.add_turns("pa-times", [{"role": "user", "content": f"q{n}", "said_at": at}], session_id="s")
    parts = [message.parts[0] for message in load_history(memory, "pa-times", "s")]
    times = [part.timestamp.microsecond for part in parts if isinstance(part, UserPromptPart)]
    assert times == [0, 500_000, 253_340, 253_349]


def test_calls_of_tools_are_left_out(memory: Quipu, caplog: pytest.LogCaptureFixture) -> None:
    agent = Agent(TestModel(custom_output_text="It rains."), capabilities=[QuipuMemory(memory, "pa-tools", session_id="s")])

    @agent.tool_plain
    def weather(city: str) -> str:
        return f"rain in {city}"

    agent.run_sync(["Weather?", ImageUrl("https://example.com/a.png")])
    assert texts(load_history(memory, "pa-tools", "s")) == [("request", "Weather?"), ("response", "It rains.")]
    assert "only the text is recorded" in caplog.text
    place = Agent(TestModel(), output_type=Place, capabilities=[QuipuMemory(memory, "pa-place", session_id="s")])
    place.run_sync("Where do I live?")
    assert texts(load_history(memory, "pa-place", "s")) == [("request", "Where do I live?"), ("response", '{"city":"a"}')]


def test_a_streamed_answer_is_recorded(memory: Quipu) -> None:
    async def life() -> None:
        agent = Agent(Script("In Porto.").model, capabilities=[QuipuMemory(memory, "pa-stream", session_id="s")])
        async with agent.run_stream("Where do I live?") as result:
            assert await result.get_output() == "In Porto. "

    asyncio.run(life())
    assert texts(load_history(memory, "pa-stream", "s")) == [("request", "Where do I live?"), ("response", "In Porto. ")]


def test_a_server_that_is_down_is_logged(nobody: Quipu, errors_logged: Callable[[], list[str]]) -> None:
    def agent(**options: Any) -> Agent[None, str]:
        return Agent(Script("Hello.").model, capabilities=[QuipuMemory(nobody, "ines", session_id="s", **options)])

    assert agent().run_sync("Hi", message_history=load_history(nobody, "ines", "s")).output == "Hello."
    logged = errors_logged()
    assert len(logged) == 3 and "could not be read" in logged[1] and "not be recorded" in logged[2], logged
    for raising in (
        lambda: agent(raise_errors=True).run_sync("Hi"),
        lambda: load_history(nobody, "ines", "s", raise_errors=True),
        lambda: clear_history(nobody, "ines", "s"),
    ):
        with pytest.raises(errors.NotReached):
            raising()
