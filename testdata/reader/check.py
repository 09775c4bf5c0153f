"""Checks the labelled messages of this folder and prints what is in them.

    python3 testdata/reader/check.py [--agreement]
"""

import collections
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
KINDS = {"fact", "preference", "rule", "limit", "person", "task", "event", "plan", "metric"}
STANCES = {"holds", "began", "ended", "was", "planned", "wished", "hearsay", "corrected", "confirmed", "done", "off"}


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def check(path):
    """Every message has its number, and every statement a quote that occurs in it. Returns the messages."""
    messages = lines(path)
    for number, message in enumerate(messages, 1):
        place = f"{path.name}, message {number}"
        assert message["n"] == number, place
        for one in message["keep"]:
            assert one["quote"] and one["quote"] in message["text"], f"{place}: {one['quote']!r}"
            assert one["kind"] in KINDS and one["stance"] in STANCES, f"{place}: {one['kind']} {one['stance']}"
            assert one.get("of", 1) <= number, f"{place}: of {one['of']}"
    return messages


def agreement():
    """How far two labellers agree: on whether a message says something to keep, and on which words."""
    both = one = neither = kept = found = 0
    for path in sorted((HERE / "second").glob("*.jsonl")):
        for first, second in zip(check(HERE / path.name), lines(path)):
            a, b = bool(first["keep"]), bool(second["keep"])
            both, one, neither = both + (a and b), one + (a != b), neither + (not a and not b)
            text = first["text"]
            spans = [(text.find(o["quote"]), text.find(o["quote"]) + len(o["quote"])) for o in second["keep"]]
            for o in first["keep"]:
                start = text.find(o["quote"])
                kept += 1
                found += any(start < end and begin < start + len(o["quote"]) for begin, end in spans)
    total = both + one + neither
    by_chance = ((2 * both + one) / (2 * total)) ** 2 + ((2 * neither + one) / (2 * total)) ** 2
    kappa = ((both + neither) / total - by_chance) / (1 - by_chance)
    print(f"{total} messages labelled twice: {(both + neither) / total:.3f} agree on whether there is something to keep (kappa {kappa:.2f});")
    print(f"{found / kept:.3f} of the statements of the first labeller overlap one of the second")


def main():
    messages = kept = 0
    kinds, stances = collections.Counter(), collections.Counter()
    statements = linked = unsure = 0
    for path in sorted(HERE.glob("*.jsonl")):
        for message in check(path):
            messages += 1
            kept += bool(message["keep"])
            for one in message["keep"]:
                statements += 1
                linked += "of" in one
                unsure += not one.get("sure", True)
                kinds[one["kind"]] += 1
                stances[one["stance"]] += 1
    print(f"{messages} messages, {kept} with something to keep, {statements} statements, {linked} about an earlier message, {unsure} unsure")
    print(*(f"{name} {count}" for name, count in kinds.most_common()), sep=", ")
    print(*(f"{name} {count}" for name, count in stances.most_common()), sep=", ")
    if "--agreement" in sys.argv:
        agreement()


main()
