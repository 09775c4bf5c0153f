"""The module as a Python program uses it. Run against the installed wheel by packaging/check.py."""

import asyncio
import multiprocessing
import os
import sys
import threading
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from quipu_embedded import AsyncMemory, Invalid, Memory, NotFound, QuipuError, Refused, Unavailable

SAID = "I moved to Porto in May. My sister Ana lives in Lisbon."
ZONE = timezone(timedelta(hours=2))


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(tmp_path / "folder")


def test_what_is_said_can_be_recalled_and_is_in_the_context(memory: Memory) -> None:
    receipt = memory.remember(SAID, session="s1")
    assert receipt["seq"] == 1 and not receipt["replayed"] and len(receipt["hash"]) == 64

    found = memory.recall("Where does my sister live?")
    assert found["version"] >= receipt["seq"]
    assert "Lisbon" in found["hits"][0]["text"]
    assert found["decision"]["verdict"] == "answer"

    block = memory.context("Where do I live?", max_tokens=300)
    assert "Porto" in block["text"] and block["text"] == block["stable"] + block["changing"]
    assert 0 < block["tokens"] <= 300 and block["citations"]


def test_facts_show_where_they_come_from(memory: Memory) -> None:
    memory.remember(SAID)
    (fact,) = memory.facts(predicate="lives_in", subject="user")
    assert "Porto" in fact["text"]
    (source, quotation) = fact["quotes"][0]
    assert quotation in SAID and source in fact["source_ids"]
    provenance = memory.why(fact["id"])
    assert provenance["intact"] and provenance["item"]["id"] == fact["id"]


def test_a_revert_can_itself_be_reverted(memory: Memory) -> None:
    said = memory.remember("I live in Porto.")
    undone = memory.revert(said["seq"], rationale="it was a joke")
    assert memory.facts() == []
    memory.revert(undone["seq"])
    assert [fact["predicate"] for fact in memory.facts()] == ["lives_in"]


def test_what_is_erased_is_not_on_disk(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    memory = Memory(folder)
    receipt = memory.remember("My locker code is zanzibar.")
    done = memory.erase(receipt["items"], "asked for")
    assert done["erased"] and done["lag"] is None
    assert memory.recall("zanzibar")["hits"] == []
    del memory
    assert not [path for path in folder.rglob("*") if path.is_file() and b"zanzibar" in path.read_bytes()]


def test_users_see_nothing_of_each_other(memory: Memory) -> None:
    memory.remember(SAID)
    tom = memory.of_user("tom")
    assert (memory.user, tom.user) == ("me", "tom")
    assert tom.recall("Where does my sister live?")["hits"] == []
    assert repr(tom) == '<quipu_embedded.Memory of "tom">'


def test_times_are_datetimes_or_text(memory: Memory) -> None:
    memory.remember("I live in Porto.", said_at=datetime(2026, 5, 1, 0, 30, tzinfo=ZONE))
    before = memory.recall("Porto")["version"]
    memory.remember("I moved to Lisbon.", said_at="2026-06-01")
    hits = memory.recall("Where do I live?", kinds=["turn"], now="2026-07-01")["hits"]
    times = [hit["said_at"] for hit in hits]
    assert sorted(times, key=str) == ["2026-04-30T22:30:00Z", "2026-06-01T00:00:00Z"]
    then = memory.facts(predicate="lives_in", valid_at=datetime(2026, 5, 15, tzinfo=timezone.utc))
    assert ["Porto" in fact["text"] for fact in then] == [True]
    earlier = memory.facts(predicate="lives_in", at=before)
    assert ["Porto" in fact["text"] for fact in earlier] == [True]


@pytest.mark.parametrize("given", [datetime(2026, 5, 1), 12.5, "next blue moon"])
def test_a_time_that_cannot_be_read_is_refused_with_its_argument(memory: Memory, given: object) -> None:
    with pytest.raises(Invalid, match="said_at"):
        memory.remember("I live in Porto.", said_at=given)  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        memory.why("turn_0000000000000")


def test_errors_say_what_is_wrong(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="role.*variant"):
        memory.remember("hello", role="nobody")  # type: ignore[arg-type]
    with pytest.raises(Invalid):
        memory.remember("")
    with pytest.raises(Invalid, match="1 to 1000"):
        memory.recall("Where?", limit=10**6)
    with pytest.raises(Invalid):
        memory.erase(["nothing"], "asked for")
    with pytest.raises(Invalid, match="at: "):
        memory.recall("Where?", at="some day")
    with pytest.raises(Invalid):
        Memory(tmp_path / "folder", user="../x")
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(Unavailable):
        Memory(file / "folder").facts()
    with pytest.raises(TypeError):
        memory.remember(7)  # type: ignore[arg-type]
    assert issubclass(NotFound, QuipuError)


def test_a_repeated_request_has_no_second_effect(memory: Memory) -> None:
    first = memory.remember(SAID, idempotency_key="k1")
    again = memory.remember(SAID, idempotency_key="k1")
    assert (again["seq"], again["replayed"]) == (first["seq"], True)
    with pytest.raises(Refused):
        memory.remember("Something else.", idempotency_key="k1")


def test_threads_share_a_memory_and_the_interpreter_goes_on(memory: Memory) -> None:
    def write(number: int) -> None:
        for turn in range(10):
            memory.remember(f"Note {turn} of thread {number}.", session=f"s{number}")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    # If calls held the interpreter's lock, this loop would run once for each of them at most.
    turns = 0
    while any(thread.is_alive() for thread in threads):
        turns += 1
        time.sleep(0)
    for thread in threads:
        thread.join()
    assert turns > 400
    assert memory.recall("note", kinds=["turn"], limit=40)["version"] >= 40


def _writes(folder: str, number: int) -> None:
    memory = Memory(folder)
    for turn in range(10):
        memory.remember(f"Note {turn} of process {number}.")


def test_several_processes_share_a_folder(tmp_path: Path) -> None:
    folder = str(tmp_path / "folder")
    started = multiprocessing.get_context("spawn")
    others = [started.Process(target=_writes, args=(folder, number)) for number in range(2)]
    for other in others:
        other.start()
    _writes(folder, 2)
    for other in others:
        other.join(120)
        assert other.exitcode == 0
    assert len({hit["id"] for hit in Memory(folder).recall("note", kinds=["turn"], limit=30)["hits"]}) == 30


def test_asyncio(tmp_path: Path) -> None:
    async def program() -> None:
        memory = await AsyncMemory.open(tmp_path / "folder", user="ines")
        receipts = await asyncio.gather(*(memory.remember(f"My cat number {n} is called Tilly.") for n in range(5)))
        assert sorted(receipt["seq"] for receipt in receipts) == [1, 2, 3, 4, 5]
        assert (await memory.recall("What is my cat called?", limit=3))["hits"]
        assert (await memory.context("cat"))["text"]
        assert (memory.user, memory.of_user("tom").user) == ("ines", "tom")
        for fact in await memory.facts():
            assert (await memory.why(fact["id"]))["intact"]
        undone = await memory.revert(receipts[0]["seq"])
        assert (await memory.erase([str(receipts[1]["seq"])], "asked for"))["event_seq"] > undone["seq"]

    asyncio.run(program())


def test_the_readme_works(tmp_path: Path) -> None:
    text = (Path(__file__).resolve().parents[1] / "python/README.md").read_text()
    example = text.split("```python\n")[1].split("```")[0]
    before = os.getcwd()
    os.chdir(tmp_path)
    try:
        exec(compile(example, "README.md", "exec"), {})
    finally:
        os.chdir(before)
    assert "quipu_embedded" in sys.modules
