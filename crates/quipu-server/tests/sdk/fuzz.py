"""Schemathesis against `quipu serve`: what `/openapi.json` says is what the server does.

    python fuzz.py QUIPU [--seconds N] [--examples N] [--seed N]

Runs every phase and check there is on every route, and prints how many cases it tried. Fails on any difference, and on a server
that is not whole afterwards. The routes of the proxy are asked without an upstream: they refuse.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent


def tried(lines):
    """How many cases were tried on how many routes, of the last lines that were printed."""
    tested = next((int(line.split()[-1]) for line in lines if line.strip().startswith("Tested:")), 0)
    cases = next((int(line.split()[0]) for line in reversed(lines) if " generated, " in line), 0)
    return cases, tested


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("quipu")
    parser.add_argument("--seconds", type=int, default=0, help="at most so long; without it as long as it takes")
    parser.add_argument("--examples", type=int, default=50, help="cases of a route in a phase")
    parser.add_argument("--seed", type=int, default=7077)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = {name: value for name, value in os.environ.items() if not name.startswith("QUIPU_")}
        settings |= {"HOME": folder, "XDG_CONFIG_HOME": folder}
        command = [asked.quipu, "--data-dir", f"{folder}/data", "--json", "serve", "--addr", "127.0.0.1:0"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=settings)
        try:
            addr = json.loads(server.stdout.readline())["addr"]
            command = [
                str(Path(sys.executable).parent / "schemathesis"), "--config-file", str(HERE / "schemathesis.toml"),
                "run", f"http://{addr}/openapi.json", "--phases", "examples,coverage,fuzzing,stateful",
                "--checks", "all", "--continue-on-failure", "--no-color", "--generation-database", "none",
                "--max-examples", str(asked.examples), "--seed", str(asked.seed), "--workers", "1",
                *(["--max-time", str(asked.seconds)] if asked.seconds else []),
            ]  # fmt: skip
            run = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True)
            cases, tested = tried(run.stdout.splitlines())
            if run.returncode != 0 or not cases or not tested:
                raise SystemExit(f"{run.stdout}\n{run.stderr}\nFAILED after {cases} cases")
            alive = server.poll() is None
            server.send_signal(signal.SIGINT)
            if not alive or server.wait(timeout=60) != 0:
                raise SystemExit(f"FAILED: the server did not end in order: {server.returncode}")
        finally:
            server.kill()
            server.wait()
    print(f"{cases} cases on {tested} routes, every phase and check: no server error, no difference to /openapi.json")


if __name__ == "__main__":
    main()
