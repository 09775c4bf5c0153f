"""Tests against a real server: the quick start, and the types of responses."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import pytest
from typing_extensions import NotRequired, Required, get_type_hints, is_typeddict

from quipu import AsyncQuipu, Quipu, errors, types

HERE = Path(__file__).parent


def test_the_quick_start_runs_as_it_is_written(base_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = (HERE.parent / "README.md").read_text()
    code = re.search(r"## Quick start\n\n```python\n(.*?)```", text, re.DOTALL)
    assert code
    exec(code[1].replace("Quipu()", f"Quipu({base_url!r}, timeout=120)"), {})
    shown = capsys.readouterr().out
    assert "Porto" in shown and "lives in Porto" in shown, shown
    with Quipu(base_url) as memory:
        assert not list(memory.each(memory.facts, "ines", predicate="lives_in"))


def fits(value: Any, kind: Any, where: str) -> None:
    """Fails if a value does not match its declared type."""
    if is_typeddict(kind):
        assert isinstance(value, Mapping), where
        hints = get_type_hints(kind)
        missing = kind.__required_keys__ - value.keys()
        assert not missing, f"{where} has no {missing}"
        for name, hint in hints.items():
            if name in value:
                fits(value[name], hint, f"{where}.{name}")
        return
    origin = get_origin(kind)
    if origin in (NotRequired, Required):
        fits(value, get_args(kind)[0], where)
    elif origin is list:
        assert isinstance(value, list), where
        for at, one in enumerate(value):
            fits(one, get_args(kind)[0], f"{where}[{at}]")
    elif origin is Literal:
        assert value in get_args(kind), f"{where}: {value!r}"
    elif origin is dict:
        assert isinstance(value, dict), where
    elif origin is Union or str(origin) == "<class 'types.UnionType'>":
        # Every union is of one type and None.
        if value is not None:
            fits(value, next(one for one in get_args(kind) if one is not type(None)), where)
    elif kind is float:
        assert isinstance(value, (int, float)), where
    elif kind is not Any:
        assert isinstance(value, kind), f"{where}: {value!r}"


def test_answers_are_of_their_types(memory: Quipu) -> None:
    user = "ida"
    told = memory.add_turns(
        user,
        [{"role": "user", "content": "I live in Porto. I like tea."}, {"role": "assistant", "content": "Noted."}],
        session_id="s1",
        said_at="2026-01-05T10:00:00Z",
    )
    fits(told, types.Recorded, "add_turns")
    fits(memory.add_session_turns(user, "s1", [{"role": "user", "content": "And my cat is called Miso."}]), types.Recorded, "turns")
    fits(memory.add_entry(user, "work", "The deadline is near."), types.Recorded, "add_entry")
    written = memory.write(
        user_id=user,
        actor="user",
        facts=[{"predicate": "works_as", "object": "a baker", "confidence_base": 0.9, "qualifiers": {"since": "2020"}}],
        reflective=[{"text": "Short answers work best.", "origin": "human_feedback", "tags": ["style"]}],
        tasks=[{"title": "renew the passport", "kind": "task", "status": "active", "attempts": [{"approach": "by post"}]}],
        tenets=[{"kind": "value", "text": "Honesty before comfort."}],
    )
    fits(written, types.Written, "write")
    assert len(written["accepted"]) == 4, written
    found = memory.retrieve("Where do I live?", user_id=user, k=8, intent="recall", explain=True)
    fits(found, types.Retrieved, "retrieve")
    assert found["profile"] and found["episodic"], found
    pack = memory.context(user, "Where do I live?", max_tokens=400)
    fits(pack, types.Context, "context")
    assert memory.pack(user, pack["pack_id"])["text"] == pack["text"]
    fits(memory.context(user, "Hm?", session_id="s1"), types.Context, "context of a session")
    patched = memory.patch_core(user, [{"op": "add", "path": "/uncategorized", "value": {"tea": "green"}}], rationale="said so")
    fits(patched, types.Receipt, "patch_core")
    core = memory.core(user)
    fits(core, types.Core, "core")
    fits(memory.episodes(user, topics=["work"], k=3), types.Episodes, "episodes")
    for of in (memory.facts, memory.tasks, memory.notes, memory.tenets, memory.sessions, memory.conflicts, memory.review):
        fits(of(user), types.Page, of.__name__)
    fits(memory.events(user, limit=2), types.EventPage, "events")
    fits(memory.blame(user, "/uncategorized/tea"), types.Blamed, "blame")
    fact = memory.facts(user, predicate="works_as")["items"][0]
    fits(memory.change_item(user, fact["id"], pinned=True, rating=1), types.Changed, "change_item")
    assert memory.item(user, fact["id"])["id"] == fact["id"]
    assert memory.session(user, "s1")["session_id"] == "s1"
    fits(memory.close_fact(fact["id"], "2026-06-01T00:00:00Z", user_id=user), types.Receipt, "close_fact")
    assert memory.verify(user)["intact"] is True
    assert "core_patch" in memory.diff(user, "1")
    assert memory.compact(user_id=user, dry_run=True)["dry_run"] is True
    fits(memory.fork(user, "ida2"), types.Receipt, "fork")
    assert memory.pick(user, [told["seq"]], "ida3")["receipts"]
    assert memory.revert(user, events=[patched["seq"]], dry_run=True)["events"] == [patched["seq"]]
    receipt = memory.erase(user, [told["items"][0]], reason="asked for")
    assert receipt["erased"]
    with pytest.raises(errors.ConfirmationRequired) as announced:
        memory.delete_user("ida2")
    assert announced.value.preview["events"] > 0
    assert memory.delete_user("ida2", confirm=announced.value.confirm)["user_id"] == "ida2"
    key = memory.create_key("phone", ["read"], user_id=user)
    fits(memory.keys(), types.Keys, "keys")
    with Quipu(str(memory._http.base_url), api_key=key["key"]) as reader:
        assert reader.core(user)["user_id"] == user
        with pytest.raises(errors.PermissionDenied):
            reader.core("ida3")
    memory.revoke_key(key["id"])
    with Quipu(str(memory._http.base_url), api_key=key["key"]) as nobody, pytest.raises(errors.AuthenticationFailed):
        nobody.core(user)
    assert memory.ready()["ready"] is True and memory.version()["name"] == "quipu"


def test_a_review_is_decided(memory: Quipu) -> None:
    memory.write(user_id="rosa", facts=[{"predicate": "lives_in", "object": "Rome"}])
    waiting = memory.review("rosa")["items"][0]
    memory.decide("rosa", waiting["id"], "approve")
    with pytest.raises(errors.RuleBroken):
        memory.decide("rosa", waiting["id"], "decline")
    memory.decide("rosa", waiting["id"], "undo")
    memory.decide("rosa", waiting["id"], "edit", text="Porto")
    first = memory.facts("rosa")["items"][0]
    assert first["object"] == "Porto"
    memory.retract("rosa", first["id"], reason="a joke")
    notes = memory.write(user_id="rosa", actor="user", reflective=[{"text": "Tea helps."}, {"text": "Tea in the morning."}])
    memory.merge("rosa", notes["accepted"][1:], notes["accepted"][0])
    sleep = {"sleep_with_boris": "Having trouble staying asleep", "sleep_note_2": "Poor sleep", "sleep_note_3": "A sleep mask"}
    memory.patch_core("rosa", [{"op": "add", "path": "/uncategorized", "value": sleep}])
    assert memory.promote("rosa", "sleep", proposed_name="sleepHealth", dry_run=True)


def test_refusals_say_what_is_wrong(memory: Quipu) -> None:
    assert memory.core("nobody")["version"] == 0
    with pytest.raises(errors.NotFound) as nobody:
        memory.item("nobody", "fact_0000000000000")
    assert nobody.value.status == 404 and nobody.value.request_id
    with pytest.raises(errors.InvalidRequest) as wrong:
        memory.retrieve("x", user_id="nobody", as_of="someday")
    assert wrong.value.param == "as_of"
    memory.add_entry("otto", "work", "one")
    with pytest.raises(errors.PreconditionFailed):
        memory.add_entry("otto", "work", "two", if_version=0)
    with pytest.raises(errors.RuleBroken):
        memory.add_entry("otto", "work", "two", idempotency_key="same")
        memory.add_entry("otto", "work", "three", idempotency_key="same")
    again = memory.add_entry("otto", "work", "two", idempotency_key="same")
    assert again["replayed"] is True
    with pytest.raises(ValueError):
        memory.core("..")


def test_a_request_says_how_current_the_answer_must_be(memory: Quipu) -> None:
    written = memory.add_entry("olga", "work", "one")
    current = memory.requiring(min_version=written["seq"], max_staleness_ms=60_000)
    assert current.core("olga")["version"] >= written["seq"]
    with pytest.raises(errors.PreconditionFailed):
        memory.requiring(min_version=written["seq"] + 100).core("olga")
    # The client itself requires nothing.
    memory.core("olga")


def test_pages_and_events_are_gone_through(memory: Quipu) -> None:
    for number in range(5):
        memory.write(user_id="lea", actor="user", reflective=[{"text": f"Lesson number {number} is its own."}])
    notes = list(memory.each(memory.notes, "lea", limit=2))
    assert len(notes) == 5 and len({note["id"] for note in notes}) == 5
    seqs = [event["seq"] for event in memory.each_event("lea")]
    assert seqs == list(range(1, len(seqs) + 1)) and len(seqs) >= 5
    live = memory.live_events("lea", after=2)
    assert [next(live)["seq"] for _ in range(3)] == [3, 4, 5]
    live.close()


def test_the_same_with_asyncio(base_url: str) -> None:
    async def life() -> None:
        async with AsyncQuipu(base_url, timeout=120) as memory:
            await memory.add_turns("vera", [{"role": "user", "content": "I live in Oslo."}])
            context = await memory.context("vera", "Where do I live?")
            assert "Oslo" in context["text"]
            facts = [fact async for fact in memory.each(memory.facts, "vera")]
            assert facts[0]["object"] == "Oslo"
            async for event in memory.live_events("vera"):
                assert event["seq"] == 1
                break
            assert (await memory.core("nobody"))["version"] == 0
            with pytest.raises(errors.NotFound):
                await memory.item("nobody", "fact_0000000000000")

    asyncio.run(life())
