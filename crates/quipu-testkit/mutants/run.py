#!/usr/bin/env python3
"""Plants each fault of this folder in a copy of the source, runs the test that its patch names, and says which test
catches it. Fails if one survives, or does not apply or build. Standard library only.

    run.py [--list] [--worktree FOLDER] [--log FILE] [NAME ...]
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[2]
# Most seconds for one test. A fault may also make a test wait for ever; then it is caught.
TEST_SECONDS_MAX = 1800


def read(patch):
    """What a patch breaks, and the arguments of `cargo test` that catch it."""
    head = patch.read_text().split("\n\n", 1)[0]
    found = dict(line.split(": ", 1) for line in head.splitlines())
    return found["Breaks"], found["Test"].removeprefix("cargo test ").split()


def run(arguments, folder, seconds=None):
    try:
        done = subprocess.run(
            arguments, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds, check=False
        )
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return None, ""


def apply(patch, folder, *flags):
    code, told = run(["git", "apply", *flags, str(patch)], folder)
    if code != 0:
        sys.exit(f"{patch.name} does not apply: {told}")


def outcome(patch, folder):
    """`caught`, `survived` or `broken`, and by which tests or why."""
    _, test = read(patch)
    split = test.index("--") if "--" in test else len(test)
    flags, filters = test[:split], test[split:]
    # Everything after the target is a filter, which a build does not take.
    target = [flag for flag in flags if flag.startswith("-") or flags[flags.index(flag) - 1] in ("-p", "--test")]
    code, told = run(["cargo", "test", *target, "--no-run"], folder)
    if code != 0:
        return "broken", "does not build:\n" + told[-3000:]
    code, told = run(["cargo", "test", *flags, *filters], folder, TEST_SECONDS_MAX)
    if code == 0:
        return "survived", " ".join(["cargo", "test", *test])
    failed = sorted(set(re.findall(r"^test (\S+) \.\.\. FAILED$", told, re.MULTILINE)))
    if code is None:
        return "caught", "it never ends"
    if not failed:
        return "broken", "no test failed, but:\n" + told[-3000:]
    return "caught", ", ".join(failed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="faults to plant; all by default")
    parser.add_argument("--list", action="store_true", help="only list them")
    parser.add_argument("--worktree", type=pathlib.Path, help="where the source is copied to; a temporary folder by default")
    parser.add_argument("--log", type=pathlib.Path, help="a file to which each result is added")
    options = parser.parse_args()
    patches = sorted(FOLDER.glob("*.patch"))
    unknown = set(options.names) - {patch.stem for patch in patches}
    if unknown:
        sys.exit(f"no such fault: {', '.join(sorted(unknown))}")
    if options.names:
        patches = sorted((patch for patch in patches if patch.stem in options.names), key=lambda patch: options.names.index(patch.stem))
    if options.list:
        for patch in patches:
            print(f"{patch.stem}: {read(patch)[0]}")
        return
    place = options.worktree or pathlib.Path(tempfile.mkdtemp(prefix="quipu-mutants-")) / "source"
    code, told = run(["git", "worktree", "add", "--detach", str(place), "HEAD"], ROOT)
    if code != 0:
        sys.exit(told)
    results = {"caught": 0, "survived": 0, "broken": 0}
    try:
        for patch in patches:
            apply(patch, place)
            kind, why = outcome(patch, place)
            apply(patch, place, "--reverse")
            results[kind] += 1
            line = f"{kind} {patch.stem}: {why}"
            print(line, flush=True)
            if options.log:
                with options.log.open("a") as log:
                    log.write(line + "\n")
    finally:
        run(["git", "worktree", "remove", "--force", str(place)], ROOT)
    print(f"{results['caught']} caught, {results['survived']} survived, {results['broken']} not judged")
    sys.exit(results["survived"] + results["broken"] > 0)


if __name__ == "__main__":
    main()
