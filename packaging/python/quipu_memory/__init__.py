"""Finds and runs the program `quipu` that this package carries."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

__all__ = ["find_program", "main"]


def find_program() -> Path:
    """The program of this installation.

    Raises `FileNotFoundError` if it is not there.
    """
    name = "quipu.exe" if sys.platform == "win32" else "quipu"
    # As a person installs it, with `--user`, and with `--target`.
    folders = [
        Path(sysconfig.get_path("scripts")),
        Path(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))),
        Path(__file__).resolve().parent.parent / "bin",
    ]
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    looked = ", ".join(map(str, folders))
    raise FileNotFoundError(f"the program {name} of quipu-memory is not in {looked}: install the package again")


def main() -> None:
    """Runs the program with the arguments of this process, in its place where the system can do that."""
    try:
        program = find_program()
    except FileNotFoundError as error:
        sys.exit(f"quipu-memory: {error}")
    arguments = [str(program), *sys.argv[1:]]
    if sys.platform != "win32":
        os.execv(program, arguments)
    with subprocess.Popen(arguments) as running:
        while True:
            try:
                sys.exit(running.wait())
            except KeyboardInterrupt:
                # The program gets Ctrl-C too, and ends in its own time.
                continue
