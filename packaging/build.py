#!/usr/bin/env python3
"""Makes the packages of a program that was built: wheel, npm packages and archive, into a folder.

    cargo build --release --locked
    python3 packaging/build.py target/release/quipu dist

Needs Python 3.11 or later and cargo (for the licences of dependencies); downloads nothing. CI and the release run this file.
"""

import argparse
from pathlib import Path

import archive
import licences
import npm
import wheel
from binary import Unknown, inspect


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes the packages of a program that was built.")
    parser.add_argument("program", type=Path, help="the binary `quipu`")
    parser.add_argument("out", type=Path, help="folder for the packages; it is created")
    parser.add_argument("--fast", action="store_true", help="compress little, for a check that throws the packages away")
    typed = parser.parse_args()
    try:
        platform = inspect(typed.program)
    except Unknown as error:
        raise SystemExit(f"packaging: {error}") from error
    level = 1 if typed.fast else 9
    typed.out.mkdir(parents=True, exist_ok=True)
    program, third_party = typed.program.read_bytes(), licences.third_party()
    for path in (
        wheel.write(typed.out, program, platform, third_party, level),
        npm.write_platform(typed.out, program, platform, third_party, level),
        npm.write_launcher(typed.out),
        archive.write(typed.out, typed.program.resolve(), platform, third_party, level),
    ):
        print(f"{path.stat().st_size / 1e6:7.1f} MB  {path}")


if __name__ == "__main__":
    main()
