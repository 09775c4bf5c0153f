#!/usr/bin/env python3
"""Times the module beside the client over HTTP: the same turns and questions, one caller, durations in milliseconds.

    python3 crates/quipu-python/benches/beside_http.py target/release/quipu

Needs the packages `quipu-memory-embedded` and `quipu-memory-client` (docs/install.md). The turns are generated.
"""

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from quipu import Quipu
from quipu_embedded import Memory

TURNS = 1000
QUESTIONS = 200
PLACES = ["Porto", "Lisbon", "Turin", "Graz", "Lyon", "Ghent", "Bergen", "Cork"]
THINGS = ["bike", "guitar", "kettle", "tent", "camera", "boat", "lamp", "chair"]


def turn(number: int) -> str:
    return f"On walk {number} I saw a {THINGS[number % 8]} for {number} euros in {PLACES[number // 8 % 8]}."


def question(number: int) -> str:
    return f"Where did I see the {THINGS[number * 5 % 8]} for {number * 5} euros?"


def timed(name: str, times: int, call: Callable[[int], object]) -> None:
    spent = []
    for number in range(times):
        started = time.perf_counter()
        call(number)
        spent.append((time.perf_counter() - started) * 1000)
    p95 = statistics.quantiles(spent, n=20)[-1]
    print(f"{name:30} {times:6} times  p50 {statistics.median(spent):7.2f} ms  p95 {p95:7.2f} ms", flush=True)


def main() -> None:
    program = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory(f"{folder}/embedded")
        timed("embedded: remember", TURNS, lambda number: memory.remember(turn(number)))
        timed("embedded: recall", QUESTIONS, lambda number: memory.recall(question(number)))
        timed("embedded: context", QUESTIONS, lambda number: memory.context(question(number)))
        env = {**os.environ, "QUIPU_DATA_DIR": f"{folder}/served", "XDG_CONFIG_HOME": folder}
        command = [program, "serve", "--addr", "127.0.0.1:0"]
        with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, encoding="utf-8") as server:
            try:
                assert server.stdout
                listens = re.match(r"Quipu listens on (\S+)", server.stdout.readline())
                assert listens, "the server did not start"
                with Quipu(f"http://{listens[1]}") as client:

                    def remember(number: int) -> object:
                        return client.add_turns("me", [{"role": "user", "content": turn(number)}], wait="extracted")

                    timed("HTTP: remember", TURNS, remember)
                    timed("HTTP: recall", QUESTIONS, lambda number: client.retrieve(question(number), user_id="me"))
                    timed("HTTP: context", QUESTIONS, lambda number: client.context("me", question(number)))
            finally:
                server.terminate()


if __name__ == "__main__":
    main()
