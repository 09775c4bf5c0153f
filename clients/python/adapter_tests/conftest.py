"""Fixtures of the tests of the adapters. Each adapter runs with the real library, a model from that library, and a real server."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Callable

import pytest

from quipu import Patience, Quipu


@pytest.fixture
def nobody() -> Quipu:
    """A client of a server that is down."""
    return Quipu("http://127.0.0.1:1", patience=Patience(retries=0))


@pytest.fixture
def errors_logged(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """The errors that the adapters have logged since the last call."""

    def taken() -> list[str]:
        found = [one.getMessage() for one in caplog.records if one.name == "quipu" and one.levelno >= logging.ERROR]
        caplog.clear()
        return found

    return taken


@pytest.fixture
def elsewhere(base_url: str) -> Callable[[str], str]:
    """Runs code in another process, with the client as `memory`, and returns what it prints."""

    def run(code: str) -> str:
        start = f"from quipu import Quipu\nmemory = Quipu({base_url!r}, timeout=120)\n"
        done = subprocess.run([sys.executable, "-c", start + code], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
