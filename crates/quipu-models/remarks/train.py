"""Trains the judgement of remarks and writes weights.json beside this file.

    cargo build --release -p quipu-models --example remark_features
    python3 train.py target/release/examples/remark_features --precision 0.9

Needs numpy and scikit-learn. Reads testdata/remarks/*.jsonl (messages cut into pieces with marks by their writers) and the half of
crates/quipu-cli/tests/reading/look that is for looking at (messages with what a person would want kept). Nothing of the halves that
are kept back is read. Prints precision and recall of pieces, each person judged by weights trained on the others: of the people to look at,
of the messages cut as remarks.rs cuts them, and of the clauses as their writers cut them. The threshold is the least from which on the first
and the last are that precise.
"""
import argparse
import glob
import json
import pathlib
import subprocess

import numpy as np
from sklearn.linear_model import LogisticRegression

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SCALE = 6.0  # EMBEDDING_SCALE of remarks.rs
KEPT = {"fact", "change", "rule"}


def marked():
    """Messages of testdata/remarks: person, text, and the stretches that are worth keeping."""
    for path in sorted(glob.glob(str(ROOT / "testdata/remarks/*.jsonl"))):
        for line in open(path, encoding="utf-8"):
            row = json.loads(line)
            text, kept = "", []
            for piece, mark in row["s"]:
                text += piece
                kept.append((len(text) - len(piece), len(text), mark in KEPT))
            yield "remarks " + row["p"], text, lambda a, b, kept=kept: overlaps(kept, a, b)
            # As the writer cut it, too: many clauses are worth keeping that stand in a longer piece.
            for start, end, keep in kept:
                clause = text[start:end].strip()
                if clause != text.strip():
                    yield "clauses " + row["p"], clause, lambda a, b, keep=keep: keep


def overlaps(kept, a, b):
    """True if at least a third of the letters of a piece are worth keeping."""
    share = sum(max(0, min(b, end) - max(a, start)) for start, end, keep in kept if keep)
    return share * 3 >= (b - a)


def labelled():
    """Messages of the people of tests/reading/look; a piece is worth keeping if it has the words of a label."""
    for path in sorted(glob.glob(str(ROOT / "crates/quipu-cli/tests/reading/look/*.json"))):
        row = json.load(open(path, encoding="utf-8"))
        entries = {}
        for entry in row["keep"] + row["may"]:
            entries.setdefault(entry["message"], []).append(entry["words"])
        for session in row["sessions"]:
            for turn in session["turns"]:
                if turn["role"] != "user":
                    continue
                text, words = turn["text"], entries.get(turn["id"], [])

                def keeps(a, b, text=text, words=words):
                    piece = text[a:b].lower()
                    return any(all(any(word in piece for word in group) for group in groups) for groups in words)

                yield "look " + row["person"], text, keeps


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("features")
    parser.add_argument("--precision", type=float, default=0.9)
    parser.add_argument("--c", type=float, default=0.03)
    options = parser.parse_args()
    messages = list(marked()) + list(labelled())
    asked = "".join(json.dumps(text) + "\n" for _, text, _ in messages)
    told = subprocess.run([options.features], input=asked, capture_output=True, text=True, check=True).stdout.splitlines()
    rows, marks, people = [], [], []
    for (person, text, keeps), line in zip(messages, told, strict=True):
        raw = text.encode()
        for piece in json.loads(line):
            a, b = (len(raw[:at].decode()) for at in piece["at"])
            rows.append(np.concatenate([np.array(piece["vector"]) * SCALE, np.array(piece["form"])]))
            marks.append(bool(keeps(a, b)))
            people.append(person)
    x, y, who = np.stack(rows), np.array(marks), np.array(people)
    print(f"{len(messages)} messages, {len(y)} pieces, {y.mean():.3f} worth keeping, {len(set(people))} people")
    fit = lambda at: LogisticRegression(C=options.c, max_iter=5000).fit(x[at], y[at])
    probability = np.zeros(len(y))
    whose = np.array([person.split(" ")[1] for person in people])
    for person in sorted(set(whose)):
        probability[whose == person] = fit(whose != person).predict_proba(x[whose == person])[:, 1]
    threshold = 0.99
    kinds = [(kind, np.char.startswith(who, kind)) for kind in ("look", "remarks", "clauses")]
    for at in np.arange(0.5, 0.99, 0.02):
        chosen = probability >= at
        kept = lambda of: f"{y[chosen & of].mean():.3f}/{(chosen & y & of).sum() / max(1, (y & of).sum()):.3f}"
        line = " ".join(f"{kind} {kept(of)}" for kind, of in kinds if (chosen & of).any())
        right = min(y[chosen & of].mean() for kind, of in kinds if kind != "remarks" and (chosen & of).any())
        print(f"{at:.2f}: precision/recall {line}")
        if right >= options.precision and threshold == 0.99:
            threshold = float(at)
    last = fit(np.ones(len(y), bool))
    weights = last.coef_[0]
    vector = len(json.loads(next(line for line in told if line != "[]"))[0]["vector"])
    number = lambda values: [round(float(value), 4) for value in values]
    out = {
        "embedder": json.load(open(HERE / "weights.json"))["embedder"],
        "threshold": round(threshold, 3),
        "bias": round(float(last.intercept_[0]), 4),
        "embedding": number(weights[:vector]),
        "form": number(weights[vector:]),
    }
    (HERE / "weights.json").write_text(json.dumps(out) + "\n")
    print(f"threshold {threshold:.2f}")


if __name__ == "__main__":
    main()
