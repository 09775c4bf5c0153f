"""Trains the reader, writes its weights, and prints what it finds.

    python3 train.py --weights reader.safetensors
    python3 train.py --weights reader.safetensors --measure look

Reads testdata/reader without the writers 21 to 25, testdata/news and testdata/remarks. Three epochs, fixed seeds, 20 minutes on one core with
bfloat16 instructions. See README.md.
"""
import argparse
import random
import time

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file

from messages import UNKNOWN, UNSEEN, batch, labelled, marked, people, pieces, scored
from network import ABOUT, KINDS, STANCES, Reader

EPOCHS, BATCH, ENCODER_RATE, HEAD_RATE, WARM_UP = 3, 32, 8e-5, 1e-3, 0.06
# Share of the classes of a span in the loss, and of batches that see what was said before.
CLASSES_WEIGHT, WITH_BEFORE = 0.15, 0.8
THRESHOLDS = (0.55, 0.6, 0.65, 0.7, 0.75, 0.8)


def batches(examples):
    """Batches of messages of similar length, in random order."""
    order, found = list(range(len(examples))), []
    random.shuffle(order)
    for at in range(0, len(order), BATCH * 16):
        part = sorted(order[at : at + BATCH * 16], key=lambda i: len(examples[i]["ids"]))
        found += [part[i : i + BATCH] for i in range(0, len(part), BATCH)]
    random.shuffle(found)
    return found


def loss_of(model, examples):
    ids, lengths, starts = batch(examples, random.random() < WITH_BEFORE)
    scores = model(ids, lengths)
    wanted, weights = torch.zeros(*ids.shape, 2), torch.zeros(ids.shape)
    spans, classes = [], []
    for row, (one, start) in enumerate(zip(examples, starts)):
        end = start + len(one["ids"])
        wanted[row, start:end] = torch.tensor(list(zip(one["keep"], one["begin"]))).reshape(-1, 2)
        weights[row, start:end] = torch.tensor(one["weights"])
        for a, b, of_span in one["spans"]:
            spans.append(scores[row, start + a : start + b, 2:].mean(0))
            classes.append(of_span)
    tags = F.binary_cross_entropy_with_logits(scores[..., :2], wanted, reduction="none").sum(-1)
    loss = (tags * weights).sum() / weights.sum()
    if spans:
        parts = torch.stack(spans).split([len(KINDS), len(ABOUT), len(STANCES)], dim=-1)
        for part, right in zip(parts, torch.tensor(classes).unbind(-1)):
            if (right != UNKNOWN).any():
                loss = loss + CLASSES_WEIGHT * F.cross_entropy(part, right, ignore_index=UNKNOWN)
    return loss


def train(examples):
    model = Reader()
    encoder = [p for name, p in model.named_parameters() if p.requires_grad and not name.startswith("scores")]
    groups = [{"params": encoder, "lr": ENCODER_RATE}, {"params": model.scores.parameters(), "lr": HEAD_RATE}]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)
    rates, step, started = [group["lr"] for group in groups], 0, time.time()
    steps = EPOCHS * len(batches(examples))
    for epoch in range(EPOCHS):
        model.train()
        for part in batches(examples):
            rate = min(1, step / (WARM_UP * steps + 1)) * max(0.02, 1 - step / steps)
            for group, full in zip(optimiser.param_groups, rates):
                group["lr"] = full * rate
            loss = loss_of(model, [examples[at] for at in part])
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            step += 1
            if step % 50 == 0:
                print(f"step {step} of {steps}, loss {loss.item():.3f}, {time.time() - started:.0f} s", flush=True)
    return model


def measure_people(model, half, show):
    """What is found of the people of tests/reading, by the words of their labels; without the rules."""
    rows = list(people(half))
    has = lambda groups, text: all(any(word.lower() in text.lower() for word in group) for group in groups)
    found, kept, lengths, wrong = [], [], [], []
    for (one, keep, may), scores in zip(rows, scored(model, [one for one, _, _ in rows])):
        parts = [(one["text"][a:b], probability) for a, b, probability in pieces(one, scores)]
        for text, probability in parts:
            right = any(has(groups, text) for groups in keep + may)
            found.append((probability, right))
            lengths.append((probability, len(text.split())))
            wrong += [] if right else [(probability, text)]
        kept += [max((probability for text, probability in parts if has(groups, text)), default=0) for groups in keep]
    for least in THRESHOLDS:
        right = [is_right for probability, is_right in found if probability >= least]
        share = sum(probability >= least for probability in kept) / len(kept)
        words = [count for probability, count in lengths if probability >= least]
        print(
            f"{half}, from {least}: {len(right)} pieces of {sum(words) / len(words):.1f} words, "
            f"{sum(right) / len(right):.3f} match a label; {share:.3f} of {len(kept)} are kept"
        )
    for probability, text in sorted(wrong, reverse=True) if show else []:
        print(f"{probability:.2f} {text!r}")


def measure_unseen(model):
    """Pieces of the unseen writers. One is right if half of its letters are quoted or it has three fifths of a quote."""
    rows = [one for one in labelled() if one["origin"] in UNSEEN]
    found, kept = [], []
    for one, scores in zip(rows, scored(model, rows)):
        quoted = {at for start, end, *_ in one["quotes"] for at in range(start, end)}
        parts = pieces(one, scores)
        for a, b, probability in parts:
            whole = any(min(b, end) - max(a, start) >= 0.6 * (end - start) for start, end, *_ in one["quotes"])
            found.append((probability, whole or sum(at in quoted for at in range(a, b)) * 2 >= b - a))
        for start, end, *_ in one["quotes"]:
            share = lambda part: (min(part[1], end) - max(part[0], start)) * 2 >= end - start
            kept.append(max((part[2] for part in parts if share(part)), default=0))
    for least in THRESHOLDS:
        right = [is_right for probability, is_right in found if probability >= least]
        share = sum(probability >= least for probability in kept) / len(kept)
        print(f"unseen, from {least}: {len(right)} pieces, {sum(right) / len(right):.3f} right; {share:.3f} of {len(kept)} quotes kept")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights", required=True)
    parser.add_argument("--measure", choices=["look", "held", "unseen"], help="only measure the weights")
    parser.add_argument("--show", action="store_true", help="print what matches no label; never of what is held out")
    options = parser.parse_args()
    torch.manual_seed(1)
    random.seed(1)
    torch.set_flush_denormal(True)
    if not options.measure:
        examples = [one for one in [*labelled(), *marked()] if one["origin"] not in UNSEEN]
        print(f"{len(examples)} messages")
        save_file({name: tensor.contiguous() for name, tensor in train(examples).state_dict().items()}, options.weights)
    model = Reader()
    model.load_state_dict(load_file(options.weights))
    if options.measure == "unseen":
        measure_unseen(model)
    else:
        half = options.measure or "look"
        measure_people(model, half, options.show and half == "look")


if __name__ == "__main__":
    main()
