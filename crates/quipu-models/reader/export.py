"""Writes reader.onnx, in int8, from the weights of train.py.

    python3 export.py --weights reader.safetensors

Also writes what the unquantised network gives for the texts of ../export/reference.txt to ../tests/fixtures/reader_words.json: each word's
two probabilities, with which a test compares those of src/learned_reader.rs. The graph begins behind the embedder's normalised word vectors (`embedding_norm` of ../assets/all-MiniLM-L6-v2/model.onnx), which are not written
again, and gives `scores` of shape [1, tokens, 2]. Layers are evened out and quantised as ../export/export_minilm.py does it.
"""
import argparse
import json
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper
from safetensors.numpy import load_file

# The scores that are used: keep and begin. The others only help training.
KEPT_COLUMNS = 2
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "export"))

import export_minilm as minilm  # noqa: E402
from messages import example, words
from network import END, START, names, source  # noqa: E402


def build(weights, config):
    graph = minilm.Graph()
    encoder = {theirs: weights[ours] for ours, theirs in names().items()}
    x = minilm.embed_tokens(graph, encoder, config, int8_table=True)
    for index in range(config["num_hidden_layers"]):
        x = minilm.encoder_layer(graph, x, encoder, index, config)
    minilm.dense(graph, x, weights["scores.weight"][:KEPT_COLUMNS].T, weights["scores.bias"][:KEPT_COLUMNS], "scores")
    inputs = [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "tokens"])]
    outputs = [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, "tokens", KEPT_COLUMNS])]
    whole = helper.make_graph(graph.nodes, "quipu-reader", inputs, outputs, graph.constants)
    return helper.make_model(whole, opset_imports=[helper.make_opsetid("", minilm.OPSET)], ir_version=9)


def without_words(model):
    """The graph from the normalised word vectors on."""
    with tempfile.TemporaryDirectory() as folder:
        whole, rest = pathlib.Path(folder) / "whole.onnx", pathlib.Path(folder) / "rest.onnx"
        onnx.save(onnx.shape_inference.infer_shapes(model), whole)
        onnx.utils.extract_model(str(whole), str(rest), ["embedding_norm"], ["scores"])
        model = onnx.load(rest)
    del model.graph.value_info[:]
    return model


def write_reference(model, path):
    session = onnxruntime.InferenceSession(model.SerializeToString())
    cases = []
    for text in (HERE.parent / "export/reference.txt").read_text(encoding="utf-8").splitlines():
        one = example(text, "", [], "")
        if len(one["ids"]) < 2:
            continue
        (scores,) = session.run(["scores"], {"input_ids": np.array([[START, *one["ids"], END]], np.int64)})
        probabilities = 1 / (1 + np.exp(-scores[0, 1:-1]))
        found = [[text[start:end], round(float(keep), 4), round(float(begin), 4)] for start, end, keep, begin in words(one, probabilities)]
        cases.append({"text": text, "words": found})
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", required=True)
    parser.add_argument("--out", default=str(HERE / "reader.onnx"))
    options = parser.parse_args()
    config = json.loads((source() / "config.json").read_text())
    model = build(load_file(options.weights), config)
    write_reference(model, HERE.parent / "tests/fixtures/reader_words.json")
    minilm.even_out(model, source())
    model = without_words(model)
    minilm.shrink_weights(model)
    minilm.write(minilm.quantise(model), pathlib.Path(options.out))


if __name__ == "__main__":
    main()
