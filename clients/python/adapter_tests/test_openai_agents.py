"""The session for OpenAI's Agents SDK."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

import pytest
from agents import Agent, RunConfig, Runner, Session, SessionSettings, function_tool
from agents.run_internal.session_persistence import rewind_session_items
from agents.testing import ScriptedModel, assistant_message, function_call

from quipu import Quipu, errors
from quipu.openai_agents import QuipuSession

QUIET = RunConfig(tracing_disabled=True)


def said(items: Any) -> list[tuple[str, str]]:
    return [(item["role"], item["content"]) for item in items if "role" in item]


def run(model: ScriptedModel, text: str, session: QuipuSession, config: RunConfig = QUIET, **agent: Any) -> Any:
    asked = Agent(name="assistant", model=model, **agent)
    return asyncio.run(Runner.run(asked, text, session=session, run_config=config)).final_output


def test_an_agent_remembers_in_another_process(memory: Quipu, elsewhere: Callable[[str], str]) -> None:
    model = ScriptedModel([[assistant_message("A fine city.")], [assistant_message("In Porto.")]])
    session = QuipuSession(memory, "oa-ines", "s1")
    assert isinstance(session, Session)
    run(model, "I moved to Porto in May.", session)
    assert run(model, "Where do I live?", QuipuSession(memory, "oa-ines", "s1")) == "In Porto."
    told = [("user", "I moved to Porto in May."), ("assistant", "A fine city."), ("user", "Where do I live?")]
    assert model.last_call and said(model.last_call.input) == told
    read = "import asyncio\nfrom quipu.openai_agents import QuipuSession\n"
    read += "items = asyncio.run(QuipuSession(memory, 'oa-ines', 's1').get_items())\n"
    read += "print([(item['role'], item['content']) for item in items])"
    assert elsewhere(read).strip() == str([*told, ("assistant", "In Porto.")])
    assert any("Porto" in fact["text"] for fact in memory.facts("oa-ines")["items"])


def test_calls_of_functions_are_part_of_the_session(memory: Quipu) -> None:
    @function_tool
    def weather(city: str) -> str:
        """The weather of a city."""
        return f'rain in {city}, "17 °C"'

    steps = [[function_call("weather", {"city": "Porto"}, call_id="call_1")], [assistant_message("It rains.")]]
    model = ScriptedModel([*steps, [assistant_message("You asked for the weather.")]])
    session = QuipuSession(memory, "oa-tools", "s")
    run(model, "What is the weather in Porto?", session, tools=[weather])
    run(model, "What did I ask?", session, tools=[weather])
    assert model.last_call
    sent: list[Any] = list(model.last_call.input)
    kinds = [item.get("type") or item["role"] for item in sent]
    assert kinds == ["user", "function_call", "function_call_output", "assistant", "user"], sent
    assert (sent[1]["name"], sent[1]["call_id"], sent[1]["arguments"]) == ("weather", "call_1", '{"city":"Porto"}')
    assert sent[2]["call_id"] == "call_1" and sent[2]["output"] == 'rain in Porto, "17 °C"'
    assert not any("id" in item for item in sent)


def test_items_are_limited_removed_and_cleared(memory: Quipu) -> None:
    async def life() -> None:
        session = QuipuSession(memory, "oa-items", "s")
        await session.add_items([])
        assert await session.get_items() == [] and await session.pop_item() is None
        for n in range(10):
            await session.add_items([{"role": "user", "content": f"q{n}"}, {"role": "assistant", "content": f"a{n}"}])
        everything = [text for n in range(10) for text in (f"q{n}", f"a{n}")]
        assert [text for _, text in said(await session.get_items())] == everything
        assert said(await session.get_items(3)) == [("assistant", "a8"), ("user", "q9"), ("assistant", "a9")]
        limited = QuipuSession(memory, "oa-items", "s", session_settings=SessionSettings(limit=2))
        assert said(await limited.get_items()) == [("user", "q9"), ("assistant", "a9")]
        assert await session.pop_item() == {"role": "assistant", "content": "a9"}
        assert await session.pop_item() == {"role": "user", "content": "q9"}
        assert [text for _, text in said(await session.get_items())] == everything[:-2]
        await session.add_items([{"role": "user", "content": "My sister is called Ana."}])
        assert [fact["object"] for fact in memory.facts("oa-items")["items"]] == ["Ana"]
        await session.pop_item()
        assert memory.facts("oa-items")["items"] == []
        await session.clear_session()
        await session.clear_session()
        assert await session.get_items() == [] and await session.pop_item() is None
        await session.add_items([{"role": "user", "content": "again"}])
        assert said(await session.get_items()) == [("user", "again")]

    asyncio.run(life())


def test_what_is_stored_of_other_items(memory: Quipu, caplog: pytest.LogCaptureFixture) -> None:
    items: list[Any] = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "input_text", "text": "See"}, {"type": "input_image", "image_url": "x"}]},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": "SELECT 1"},
        {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "Seen."}]},
    ]

    async def life() -> list[Any]:
        session = QuipuSession(memory, "oa-other", "s")
        await session.add_items(items)
        return await session.get_items()

    found = asyncio.run(life())
    texts = [("system", "Be brief."), ("user", "See"), ("assistant", "Seen.")]
    assert said(found) == texts and found[2] == items[4] and len(found) == 4
    assert "only the text is recorded" in caplog.text


def test_the_sdk_takes_items_back(memory: Quipu) -> None:
    """Before a retry the SDK removes what it has just stored, and leaves the rest."""

    async def life() -> None:
        session = QuipuSession(memory, "oa-rewind", "s")
        await session.add_items([{"role": "user", "content": "first"}])
        retried: Any = [{"role": "user", "content": "second"}, {"role": "user", "content": "third"}]
        await session.add_items(retried)
        await rewind_session_items(session, retried)
        assert said(await session.get_items()) == [("user", "first")]

    asyncio.run(life())


def test_a_message_imported_with_others_is_not_removed_alone(memory: Quipu) -> None:
    told = json.dumps({"messages": [{"role": "user", "content": text} for text in ("one", "two")]})
    memory.import_file("oa-import", "openai", text=told, name="old.json", conversation="old")
    (imported,) = memory.sessions("oa-import")["items"]
    session = QuipuSession(memory, "oa-import", imported["session_id"])
    with pytest.raises(errors.QuipuError, match="with other messages"):
        asyncio.run(session.pop_item())
    assert len(asyncio.run(session.get_items())) == 2


def test_the_memory_of_other_sessions_is_in_the_instructions(memory: Quipu) -> None:
    memory.add_turns("oa-pack", [{"role": "user", "content": "The code of my bike lock is 4471."}], session_id="before")
    session = QuipuSession(memory, "oa-pack", "now")
    config = RunConfig(tracing_disabled=True, call_model_input_filter=session.add_memory)
    model = ScriptedModel([[assistant_message("4471.")]])
    run(model, "What is the code of my bike lock?", session, config, instructions="Be brief.")
    assert model.last_call and model.last_call.system_instructions
    assert model.last_call.system_instructions.startswith("Be brief.\n\n<memory")
    assert "4471" in model.last_call.system_instructions
    assert said(asyncio.run(session.get_items())) == [("user", "What is the code of my bike lock?"), ("assistant", "4471.")]
    other = QuipuSession(memory, "oa-pack2", "now")
    run(model := ScriptedModel([[assistant_message("No idea.")]]), "What is the code of my bike lock?", other)
    assert model.last_call and "4471" not in str(model.last_call)


def test_a_server_that_is_down_is_logged(nobody: Quipu, errors_logged: Callable[[], list[str]]) -> None:
    session = QuipuSession(nobody, "ines", "s")
    config = RunConfig(tracing_disabled=True, call_model_input_filter=session.add_memory)
    assert run(ScriptedModel([[assistant_message("Hello.")]]), "Hi", session, config) == "Hello."
    logged = errors_logged()
    assert any("could not be read" in one for one in logged) and any("not be recorded" in one for one in logged), logged
    strict = QuipuSession(nobody, "ines", "s", raise_errors=True)
    logging.getLogger("openai.agents").setLevel(logging.CRITICAL)
    for raising in (
        session.pop_item,
        session.clear_session,
        strict.get_items,
        lambda: strict.add_items([{"role": "user", "content": "Hi"}]),
    ):
        with pytest.raises(errors.NotReached):
            asyncio.run(raising())
