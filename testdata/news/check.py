"""Checks the messages of this folder and prints the figures of README.md.

    python3 testdata/news/check.py

Ends with an error where a message is not as README.md says. Needs nothing but Python.
"""
import collections
import json
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
KEPT = {"fact", "change", "rule"}
MARKS = KEPT | {"moment", "no"}
FUNCTION_WORDS = set(
    "a an the and or but so if as than then that this these those there here i im ive id ill my me mine we our us you your he she it its they them his her "
    "their is am are was were be been do does did done have has had get got of to in on at for with from by about into up out off down over back no not now "
    "just very can could will would should what when where who how why which all any some one two again still s t m re ve ll d".split()
)


def content_words(text):
    return {word for word in re.findall(r"[a-z0-9]+", text.lower().replace("'", "")) if word not in FUNCTION_WORDS}


def messages():
    """Every message by person and id, checked against those before it."""
    people = collections.defaultdict(dict)
    for path in sorted(HERE.glob("*.jsonl")):
        for number, line in enumerate(path.open(encoding="utf-8"), 1):
            row, at = json.loads(line), f"{path.name}:{number}"
            said = people[row["p"]]
            assert set(row) <= {"p", "id", "date", "s", "over", "near"}, f"{at}: unknown field"
            assert row["id"] == len(said) + 1, f"{at}: ids count from 1 for each person"
            assert not said or said[row["id"] - 1]["date"] <= row["date"], f"{at}: the date goes back"
            assert all(text.strip() and mark in MARKS for text, mark in row["s"]), f"{at}: an empty piece or an unknown mark"
            for index, earlier in row.get("over", []) + row.get("near", []):
                of, piece = map(int, earlier.split("."))
                assert index < len(row["s"]) and (of in said or of == row["id"]), f"{at}: no piece {earlier}"
                assert piece < len((said.get(of) or row)["s"]) and (of, piece) != (row["id"], index), f"{at}: no piece {earlier}"
            said[row["id"]] = row
    return people


def main():
    people = messages()
    rows = [row for said in people.values() for row in said.values()]
    pairs = [(row["s"][index][0], people[row["p"]], earlier) for row in rows for index, earlier in row.get("over", [])]
    piece = lambda said, at: said[int(at.split(".")[0])]["s"][int(at.split(".")[1])][0]
    apart = sum(not content_words(news) & content_words(piece(said, at)) for news, said, at in pairs)
    count = lambda field: sum(len(row.get(field, [])) for row in rows)
    print(f"{len(people)} people, {len(rows)} messages, {count('s')} pieces, {count('over')} over, {count('near')} near")
    print(f"pairs in over without a common word but function words: {apart / len(pairs):.3f}")

    same = kept_same = number = first = second = 0
    both, writer_only, second_only = 0, 0, 0
    for path in sorted((HERE / "second").glob("*.jsonl")):
        (person,) = [name for name in people if path.stem in name.lower()]
        again = {row["id"]: row for row in map(json.loads, path.open(encoding="utf-8"))}
        assert again.keys() == people[person].keys(), f"{path.name}: not the messages of {person}"
        for key, row in people[person].items():
            for (_, mark), other in zip(row["s"], again[key]["marks"], strict=True):
                assert other in MARKS, f"{path.name}: {other}"
                number += 1
                same += mark == other
                kept_same += (mark in KEPT) == (other in KEPT)
                first += mark in KEPT
                second += other in KEPT
            of = lambda marked: {earlier for _, earlier in marked.get("over", [])}
            both += len(of(row) & of(again[key]))
            writer_only += len(of(row) - of(again[key]))
            second_only += len(of(again[key]) - of(row))
    agreed, a, b = kept_same / number, first / number, second / number
    by_chance = a * b + (1 - a) * (1 - b)
    print(f"second labeller: {number} pieces, marks {same / number:.3f}, worth keeping {agreed:.3f}, kappa {(agreed - by_chance) / (1 - by_chance):.3f}")
    print(f"over: both {both}, the writer alone {writer_only}, the second labeller alone {second_only}")


if __name__ == "__main__":
    main()
