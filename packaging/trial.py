"""Tries a program as somebody who has just installed it: a memory, an MCP client, a server."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from common import version

WITHIN_SECONDS = 60
SAID = "My sister Ana lives in Lisbon."
ASKED = "Where does my sister live?"


class Failed(Exception):
    """What was installed does not work."""


def environment(home: Path, path: list[Path]) -> dict[str, str]:
    """Variables with an empty home and nothing of this process but what Windows needs to start programs.

    As in many small containers, there are no root certificates.
    """
    (home / "certs").mkdir(parents=True, exist_ok=True)
    (home / "certs.pem").touch()
    roots = {"SSL_CERT_FILE": str(home / "certs.pem"), "SSL_CERT_DIR": str(home / "certs")}
    kept = {name: os.environ[name] for name in ("SYSTEMROOT", "COMSPEC", "PATHEXT", "TEMP") if name in os.environ}
    folders = os.pathsep.join(map(str, path))
    return {**kept, **roots, "PATH": folders, "HOME": str(home), "USERPROFILE": str(home), "LANG": "C.UTF-8"}


def run(command: list[str | Path], env: dict[str, str], code: int = 0, **options) -> str:
    """The standard output of a command that ends with `code`."""
    ran = subprocess.run(
        list(map(str, command)),
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=5 * WITHIN_SECONDS,
        encoding="utf-8",
        **options,
    )
    if ran.returncode != code:
        shown = " ".join(map(str, command))
        raise Failed(f"{shown} ended with {ran.returncode}, not {code}\n{ran.stdout}\n{ran.stderr}")
    return ran.stdout


def try_program(program: list[str | Path], env: dict[str, str]) -> None:
    """Raises `Failed` unless the program works as its documentation says."""
    told = run([*program, "--version"], env).strip()
    _expect(told == f"quipu {version()}", f"the version is {told!r}")
    run([*program, "add", SAID], env, stdin=subprocess.DEVNULL)
    found = run([*program, "recall", ASKED], env)
    _expect("Lisbon" in found, f"recall found {found!r}")
    run([*program, "get", "turn_0000000000000"], env, code=3)
    _try_mcp(program, env)
    _try_server(program, env)


def _try_mcp(program: list[str | Path], env: dict[str, str]) -> None:
    client = {"name": "packaging-check", "version": "1"}
    asked = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": asked},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    typed = "".join(json.dumps(message) + "\n" for message in messages)
    lines = run([*program, "mcp"], env, input=typed).splitlines()
    answers = {answer.get("id"): answer.get("result", {}) for answer in map(json.loads, lines)}
    _expect(answers[1].get("serverInfo", {}).get("name") == "quipu", f"initialize was answered with {lines[0]!r}")
    names = [tool["name"] for tool in answers[2]["tools"]]
    _expect("search_memories" in names, f"the tools are {names}")


def _try_server(program: list[str | Path], env: dict[str, str]) -> None:
    """Also checks that a signal to the process that was started ends the server in order, with code 0."""
    command = [*map(str, program), "serve", "--addr", "127.0.0.1:0"]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, encoding="utf-8") as server:
        try:
            first = server.stdout.readline()
            listens = re.match(r"Quipu listens on (\S+)", first)
            _expect(listens is not None, f"the server begins with {first!r}")
            health = [*program, "health", "--server", f"http://{listens[1]}"]
            _expect("ready" in run(health, env), "the server is not ready")
            if sys.platform == "win32":
                return
            server.send_signal(signal.SIGTERM)
            server.stdout.read()
            code = server.wait(WITHIN_SECONDS)
            _expect(code == 0, f"the server ended with {code} after SIGTERM")
            run(health, env, code=5)
        finally:
            server.kill()


def _expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Failed(otherwise)
