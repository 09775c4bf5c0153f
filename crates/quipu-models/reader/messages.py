"""The messages the reader is trained and measured on, and the pieces it finds in them."""
import json
import pathlib
import re

import torch

from network import ABOUT, BEFORE_TOKENS, END, KINDS, STANCES, START, TEXT_TOKENS, tokenizer

ROOT = pathlib.Path(__file__).resolve().parents[3]
# Writers of testdata/reader whom no training sees.
UNSEEN = {"reader21", "reader22", "reader23", "reader24", "reader25"}
# The marks of testdata/news and testdata/remarks that say that a piece is worth keeping.
KEPT = {"fact", "change", "rule"}
UNKNOWN = -1
TOKENS = tokenizer()


def example(text, before, quotes, origin):
    """A message as tokens. A quote is (start, end, weight, kind, about, stance)."""
    encoded = TOKENS.encode(text, add_special_tokens=False)
    ids, places = encoded.ids[:TEXT_TOKENS], encoded.offsets[:TEXT_TOKENS]
    keep, begin, weights, spans = [0.0] * len(ids), [0.0] * len(ids), [1.0] * len(ids), []
    for start, end, weight, *classes in sorted(quotes):
        inside = [at for at, (a, b) in enumerate(places) if a < end and b > start]
        if not inside:
            continue
        for at in inside:
            keep[at], weights[at] = 1.0, weight
        begin[inside[0]] = 1.0
        spans.append((inside[0], inside[-1] + 1, classes))
    before = TOKENS.encode(before, add_special_tokens=False).ids[-BEFORE_TOKENS:] if before else []
    return {
        "text": text, "origin": origin, "quotes": quotes, "before": before, "ids": ids, "places": places,
        "keep": keep, "begin": begin, "weights": weights, "spans": spans,
    }


def labelled():
    """The messages of testdata/reader."""
    for path in sorted((ROOT / "testdata/reader").glob("[0-9]*.jsonl")):
        for line in open(path, encoding="utf-8"):
            row, quotes = json.loads(line), []
            for entry in row["keep"]:
                start = row["text"].find(entry["quote"])
                about = ABOUT.index(entry["about"]) if entry["about"] in ABOUT else ABOUT.index("other")
                classes = KINDS.index(entry["kind"]), about, STANCES.index(entry["stance"])
                quotes.append((start, start + len(entry["quote"]), 1.0 if entry.get("sure", True) else 0.3, *classes))
            yield example(row["text"], row["before"], quotes, "reader" + path.stem)


def marked():
    """The messages of testdata/news and testdata/remarks, whose writers marked pieces and nothing more."""
    for folder in ("news", "remarks"):
        for path in sorted((ROOT / "testdata" / folder).glob("[0-9]*.jsonl")):
            for line in open(path, encoding="utf-8"):
                text, quotes = "", []
                for piece, mark in json.loads(line)["s"]:
                    start = len(text) + len(piece) - len(piece.lstrip())
                    rule = (KINDS.index("rule"), ABOUT.index("assistant"), UNKNOWN) if mark == "rule" else (UNKNOWN,) * 3
                    if mark in KEPT:
                        quotes.append((start, len(text) + len(piece.rstrip()), 0.7, *rule))
                    text += piece
                yield example(text, "", quotes, folder + path.stem)


def people(half):
    """The people of crates/quipu-cli/tests/reading/`half`: messages with the words of what should and may be kept."""
    for path in sorted((ROOT / "crates/quipu-cli/tests/reading" / half).glob("*.json")):
        row = json.load(open(path, encoding="utf-8"))
        labels = {name: {} for name in ("keep", "may")}
        for name, of in labels.items():
            for entry in row[name]:
                of.setdefault(entry["message"], []).append(entry["words"])
        before = ""
        for turn in (turn for session in row["sessions"] for turn in session["turns"]):
            if turn["role"] == "user":
                message = example(turn["text"], before, [], row["person"])
                yield message, labels["keep"].get(turn["id"], []), labels["may"].get(turn["id"], [])
            before = "" if turn["role"] == "user" else turn["text"]


def batch(examples, with_before=True):
    """Token ids, lengths, and where each message begins."""
    rows = []
    for one in examples:
        lead = [START, *one["before"], END] if with_before and one["before"] else [START]
        rows.append(([*lead, *one["ids"], END], len(lead)))
    lengths = torch.tensor([len(ids) for ids, _ in rows])
    ids = torch.zeros(len(rows), int(lengths.max()), dtype=torch.long)
    for at, (row, _) in enumerate(rows):
        ids[at, : len(row)] = torch.tensor(row)
    return ids, lengths, [start for _, start in rows]


def scored(model, examples, with_before=True):
    """Probabilities of each example's tokens: of being kept, and of beginning a statement."""
    model.eval()
    order = sorted(range(len(examples)), key=lambda at: len(examples[at]["ids"]))
    found = [None] * len(examples)
    with torch.no_grad():
        for at in range(0, len(order), 64):
            part = order[at : at + 64]
            ids, lengths, starts = batch([examples[i] for i in part], with_before)
            scores = model(ids, lengths)[..., :2].sigmoid()
            for row, (i, start) in enumerate(zip(part, starts)):
                found[i] = scores[row, start : start + len(examples[i]["ids"])].tolist()
    return found


# As in src/learned_reader/pieces.rs, which says what each is for.
HIGH, LOW, BEGINS, SHORT, SHORT_IN_SENTENCE, WORDS_MIN, BYTES, GAP_MAX = 0.5, 0.1, 0.5, 4, 3, 4, range(12, 401), 8


def words(one, scores):
    """Start, end, probability of being kept and of beginning, of each word."""
    for found in re.finditer(r"\S+", one["text"]):
        inside = [s for (a, b), s in zip(one["places"], scores) if a >= found.start() and b <= found.end()]
        if inside:
            yield found.start(), found.end(), sum(s[0] for s in inside) / len(inside), max(s[1] for s in inside)


def pieces(one, scores):
    """Start, end and probability of each piece, as src/learned_reader/pieces.rs finds them."""
    text, all_words, sentences, sentence = one["text"], list(words(one, scores)), [], []
    gap = lambda at: text[all_words[at - 1][1] : all_words[at][0]] if at else ""
    breaks = lambda at: "\n" in gap(at) or len(gap(at).encode()) > GAP_MAX
    for at, (start, end, *_) in enumerate(all_words):
        if sentence and breaks(at):
            sentences.append(sentence)
            sentence = []
        sentence.append(at)
        if re.search(r"[.!?;][\"')]*$", text[start:end]):
            sentences.append(sentence)
            sentence = []
    joined = []
    for sentence in [*sentences, sentence]:
        for run in runs(all_words, sentence):
            sure = [all_words[at][2] for at in range(*run) if all_words[at][2] > HIGH]
            piece = [*run, sum(sure) / len(sure)]
            last = joined[-1] if joined else None
            length = lambda piece: piece[1] - piece[0]
            if last and last[1] == piece[0] and min(length(last), length(piece)) < SHORT and not breaks(piece[0]):
                a, b = length(last), length(piece)
                joined[-1] = [last[0], piece[1], (last[2] * a + piece[2] * b) / (a + b)]
            else:
                joined.append(piece)
    found = [(all_words[a][0], all_words[b - 1][1], probability) for a, b, probability in joined if b - a >= WORDS_MIN]
    return [piece for piece in found if len(text[piece[0] : piece[1]].encode()) in BYTES]


def runs(all_words, sentence):
    is_sure = lambda run: any(all_words[at][2] > HIGH for at in range(*run))
    found, run = [], None
    for at in sentence:
        _, _, keep, begin = all_words[at]
        if keep <= LOW:
            found, run = found + [run] * (run is not None), None
        elif run and begin > BEGINS and is_sure(run):
            found, run = found + [run], [at, at + 1]
        else:
            run = [run[0], at + 1] if run else [at, at + 1]
    merged = []
    for run in filter(is_sure, found + [run] * (run is not None)):
        if merged and merged[-1][1] == run[0] and min(merged[-1][1] - merged[-1][0], run[1] - run[0]) < SHORT_IN_SENTENCE:
            merged[-1][1] = run[1]
        else:
            merged.append(run)
    return merged
