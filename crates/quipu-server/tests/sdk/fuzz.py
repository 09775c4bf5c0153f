"""Tests with Schemathesis that `quipu serve` conforms to `/openapi.json`.

    python fuzz.py QUIPU [--seconds N] [--examples N] [--seed N]

Runs every phase and check on every route, and prints the number of cases. The server has memories, and requests use existing names
as often as others. Fails on any deviation, on a route that was never called with something that exists, and if a ledger is damaged
afterwards. The routes of the proxy have no upstream and refuse.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
from pathlib import Path

from existing import fill, with_existing

HERE = Path(__file__).parent


def tried(lines):
    """The number of cases and of routes, from the last lines of the output."""
    tested = next((int(line.split()[-1]) for line in lines if line.strip().startswith("Tested:")), 0)
    cases = next((int(line.split()[0]) for line in reversed(lines) if " generated, " in line), 0)
    return cases, tested


# There is no upstream, and MCP follows rules outside the description: mcp_check.py covers it.
NOWHERE = ["/mcp", "/v1/chat/completions", "/v1/embeddings", "/v1/messages", "/v1/messages/count_tokens", "/v1/models", "/v1/responses"]


# Statuses showing that a request was understood and concerned something that exists: it succeeded, or was refused
# because of the content of the memory.
REACHED = [409, 412, 422, 428]


def never_reached(report, page):
    """Routes that no request called with something that exists."""
    routes = {}
    for path, methods in page["paths"].items():
        pattern = re.compile(re.sub(r"\\{[^/]*\\}", "[^/]*", re.escape(path)) + "$")
        routes |= {(method.upper(), path): pattern for method in methods if path not in NOWHERE}
    # Where a path parameter could match another path, the longer path is meant.
    ordered = sorted(routes, key=lambda route: (route[1].count("{"), -len(route[1])))
    for entry in json.loads(report.read_text())["log"]["entries"]:
        status = entry["response"]["status"]
        if 200 <= status < 300 or status in REACHED:
            path = urllib.parse.urlsplit(entry["request"]["url"]).path
            found = next((r for r in ordered if r[0] == entry["request"]["method"] and routes[r].match(path)), None)
            if found in routes:
                ordered.remove(found)
    return [" ".join(route) for route in ordered]


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
            names = fill(addr)
            with urllib.request.urlopen(f"http://{addr}/openapi.json", timeout=60) as answer:
                page = with_existing(json.load(answer), names)
            described = Path(folder) / "openapi.json"
            described.write_text(json.dumps(page))
            command = [
                str(Path(sys.executable).parent / "schemathesis"), "--config-file", str(HERE / "schemathesis.toml"),
                "run", str(described), "--url", f"http://{addr}", "--phases", "examples,coverage,fuzzing,stateful",
                "--checks", "all", "--report", "har", "--report-dir", f"{folder}/reports", "--continue-on-failure", "--no-color", "--generation-database", "none",
                "--max-examples", str(asked.examples), "--seed", str(asked.seed), "--workers", "1",
                *(["--max-time", str(asked.seconds)] if asked.seconds else []),
            ]  # fmt: skip
            run = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True)
            cases, tested = tried(run.stdout.splitlines())
            if run.returncode != 0 or not cases or not tested:
                raise SystemExit(f"{run.stdout}\n{run.stderr}\nFAILED after {cases} cases")
            if missed := never_reached(next(Path(folder).glob("reports/*.json")), page):
                raise SystemExit(f"{run.stdout}\nFAILED: asked only about things that do not exist: {missed}")
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
