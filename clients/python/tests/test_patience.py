"""Tests of retries against a server with scripted failures."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest

from quipu import Patience, Quipu, errors

BUSY = {"error": {"type": "unavailable_error", "code": "busy", "message": "busy", "retryable": True}, "detail": "busy"}
BROKEN = {"error": {"type": "api_error", "code": "bug", "message": "a bug", "retryable": False}, "detail": "a bug"}


def failing(*answers: httpx.Response | Exception) -> tuple[Quipu, list[httpx.Request]]:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        given = answers[min(len(seen), len(answers)) - 1]
        if isinstance(given, Exception):
            raise given
        return given

    patience = Patience(retries=2, wait_max=1.0)
    return Quipu("http://quipu", patience=patience, transport=httpx.MockTransport(answer)), seen


def busy(after: str = "0") -> httpx.Response:
    return httpx.Response(503, json=BUSY, headers={"Retry-After": after})


def done() -> httpx.Response:
    return httpx.Response(200, json={})


@pytest.mark.parametrize(
    ("call", "answers", "sent"),
    [
        # The server reports that nothing happened: any request is retried.
        (lambda memory: memory.erase("ines", ["1"]), [busy(), done()], 2),
        (lambda memory: memory.core("ines"), [busy(), busy(), done()], 3),
        # The outcome is unknown: only repeatable requests are retried.
        (lambda memory: memory.add_entry("ines", "a", "b"), [httpx.ReadTimeout("late"), done()], 2),
        (lambda memory: memory.retrieve("Porto?"), [httpx.ReadError("cut"), done()], 2),
    ],
)
def test_it_is_sent_again(call: Callable[[Quipu], object], answers: list[httpx.Response], sent: int) -> None:
    memory, seen = failing(*answers)
    call(memory)
    assert len(seen) == sent
    assert len({request.headers.get("idempotency-key") for request in seen}) == 1, "one key for all attempts"


@pytest.mark.parametrize(
    ("call", "answer", "error", "sent"),
    [
        (lambda memory: memory.erase("ines", ["1"]), httpx.ReadTimeout("late"), errors.NotReached, 1),
        (lambda memory: memory.core("ines"), httpx.Response(500, json=BROKEN), errors.ServerFault, 1),
        (lambda memory: memory.core("ines"), httpx.Response(502, text="<html>"), errors.ServerFault, 1),
        (lambda memory: memory.core("ines"), busy("60"), errors.Unavailable, 1),
        (lambda memory: memory.core("ines"), busy(), errors.Unavailable, 3),
        (lambda memory: memory.core("ines"), httpx.ConnectError("gone"), errors.NotReached, 3),
    ],
)
def test_it_is_not_sent_again(
    call: Callable[[Quipu], object], answer: httpx.Response | Exception, error: type[Exception], sent: int
) -> None:
    memory, seen = failing(answer)
    with pytest.raises(error):
        call(memory)
    assert len(seen) == sent


def test_a_stream_goes_on_where_it_was() -> None:
    def lines(*seqs: int) -> httpx.Response:
        text = "".join(f'id: {seq}\nevent: event\ndata: {{"seq": {seq}}}\n\n' for seq in seqs)
        return httpx.Response(200, text=": alive\n\n" + text, headers={"Content-Type": "text/event-stream"})

    memory, seen = failing(lines(1, 2), httpx.ReadError("cut"), lines(3), httpx.Response(404, json={}))
    told = []
    with pytest.raises(errors.NotFound):
        for event in memory.live_events("ines"):
            told.append(event["seq"])
    assert told == [1, 2, 3]
    assert [request.headers["last-event-id"] for request in seen] == ["0", "2", "2", "3"]
