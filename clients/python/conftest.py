"""Fixtures that run the tests against a real server. `QUIPU` is the path of the binary."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from quipu import Quipu


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Runs a server with its data in a folder, and yields its address."""
    binary = os.environ.get("QUIPU")
    assert binary, "set QUIPU to the binary: `cargo build -p quipu-cli`, then QUIPU=$PWD/target/debug/quipu"
    settings = {name: value for name, value in os.environ.items() if not name.startswith("QUIPU_")}
    settings |= {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    command = [binary, "--data-dir", str(folder / "data"), "--json", "serve", "--addr", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=settings) as server:
        assert server.stdout
        try:
            yield "http://" + json.loads(server.stdout.readline())["addr"]
        finally:
            server.send_signal(signal.SIGINT)
            assert server.wait(timeout=60) == 0


@pytest.fixture
def serving() -> Callable[[Path], AbstractContextManager[str]]:
    """Runs another server, with its data in a folder."""
    return serve


@pytest.fixture(scope="session")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serve(tmp_path_factory.mktemp("quipu")) as address:
        yield address


@pytest.fixture
def memory(base_url: str) -> Iterator[Quipu]:
    # A debug build on a busy machine is slow.
    with Quipu(base_url, timeout=120) as client:
        yield client
