#!/usr/bin/env python3
"""Makes the packages of what was built: wheels, npm packages and archive, into a folder.

    cargo build --release --locked -p quipu-cli -p quipu-python
    python3 packaging/build.py target/release/quipu dist --module target/release/libquipu_python.so

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
    parser = argparse.ArgumentParser(description="Makes the packages of what was built.")
    parser.add_argument("program", type=Path, help="the binary `quipu`")
    parser.add_argument("out", type=Path, help="folder for the packages; it is created")
    parser.add_argument("--module", type=Path, help="the library `quipu_python`, for the wheel with the extension module")
    parser.add_argument("--fast", action="store_true", help="compress little, for a check that throws the packages away")
    typed = parser.parse_args()
    try:
        platform, of_module = inspect(typed.program), typed.module and inspect(typed.module)
    except Unknown as error:
        raise SystemExit(f"packaging: {error}") from error
    level = 1 if typed.fast else 9
    typed.out.mkdir(parents=True, exist_ok=True)
    program, third_party = typed.program.read_bytes(), licences.third_party()
    packages = [
        wheel.write(typed.out, program, platform, third_party, level),
        npm.write_platform(typed.out, program, platform, third_party, level),
        npm.write_launcher(typed.out),
        archive.write(typed.out, typed.program.resolve(), platform, third_party, level),
    ]
    if of_module:
        terms = licences.third_party("quipu-python")
        packages.append(wheel.write_embedded(typed.out, typed.module.read_bytes(), of_module, terms, level))
    for path in packages:
        print(f"{path.stat().st_size / 1e6:7.1f} MB  {path}")


if __name__ == "__main__":
    main()
