"""Writes what the crate's tests compare against: vectors of the f32 model, token ids of the reference tokenizer, and a
graph of four dimensions with the inputs that exports of other tools have, and one of a reranker that counts equal words.

    python reference_fixtures.py --out ../tests/fixtures --int8 ../assets/all-MiniLM-L6-v2/model.onnx

Also prints how close the int8 model comes to the f32 one, both run by onnxruntime.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from export_minilm import build, source_folder, tokenizer


def vector(session: onnxruntime.InferenceSession, ids: list[int]) -> np.ndarray:
    """The mean of the token vectors, at length 1."""
    mean = session.run(None, {"input_ids": np.array([ids], np.int64)})[0][0].mean(axis=0)
    return mean / np.linalg.norm(mean)


def hard_strings() -> list[str]:
    """Texts on which tokenizers tend to differ."""
    words = [
        "", " ", "\n\t\r ", "a", "A", "Hello, world!", "unaffable", "don't", "it's 5 o'clock", "re-entry", "e-mail",
        "foo_bar_baz", "snake_case CamelCase kebab-case", "C++ C# F#", "a.b.c", "...", "!!!", "?!?!", "--", "—", "a—b",
        "“quoted” ‘single’", "«guillemets»", "¿Qué? ¡Sí!", "50%", "$5.00", "€1.234,56", "£10", "¥500", "₿", "a+b=c",
        "x^2", "`code`", "a|b", "~tilde~", "<tag>", "</p>", "&amp;", "@user #tag", "user@example.com",
        "https://example.com/a/b?c=d&e=f#g", "C:\\path\\file.txt", "/usr/local/bin", "192.168.0.1", "2024-02-29T12:34:56Z",
        "+1 (555) 010-9999", "1,000,000", "3.14159", "1e-10", "0xDEADBEEF", "½ ¼ ¾", "x² y³", "①②③", "Ⅳ ⅷ", "№ 5",
        "[CLS]", "[SEP] [MASK]", "[UNK]", "[PAD][PAD]", "##ing", "## ing", "[unused1]",
    ]
    accents = [
        "café", "cafe\u0301", "naïve façade", "ÀÉÎÕÜ", "àéîõü", "Ångström", "A\u030angstro\u0308m", "İstanbul", "ıspanak", "ŁÓDŹ",
        "łódź", "Øresund", "straße", "STRASSE", "ẞ", "ﬁne ﬂuﬀ", "Ǆ ǅ ǆ", "ŉ", "Đorđe", "ñandú", "Žižek", "Škoda",
        "Þórr", "æther Æ", "œuvre Œ", "ő ű", "Ệ ệ", "Tiếng Việt", "a\u0300\u0301\u0302\u0303b", "\u0301", "\u0301abc", "e\u20dd", "a\u0489",
        "ΑΒΓ αβγ", "Ὀδυσσεύς", "ΣΊΣΥΦΟΣ", "ς σ", "Привет", "ёлка Ёлка", "й Й", "Київ", "ქართული", "Հայերեն", "ᲐᲑᲒ",
    ]
    scripts = [
        "中文", "我爱北京天安门", "漢字とかな", "カタカナ", "ｶﾀｶﾅ", "ガギグ", "か\u3099", "한국어", "안녕하세요", "ᄒ\u1161\u11ab", "中a文b",
        "abc中def", "㐀 䶵", "𠀀𠮷", "豈 更", "丽", "〇", "々", "「」、。", "！？", "ＡＢＣ１２３", "ภาษาไทย", "สวัสดี", "हिन्दी", "नमस्ते",
        "বাংলা", "தமிழ்", "తెలుగు", "ಕನ್ನಡ", "മലയാളം", "සිංහල", "မြန်မာ", "ខ្មែរ", "ລາວ", "བོད་", "አማርኛ", "עברית", "שָׁלוֹם", "العربية",
        "مَرْحَبًا", "فارسی ۱۲۳", "اردو", "١٢٣", "ᚠᚢᚦ", "𐍈", "ꦗꦮ", "𝐁𝐨𝐥𝐝 𝒮𝒸𝓇𝒾𝓅𝓉", "𝟘𝟙", "ᎣᏏᏲ", "ꮳꮃꭹ", "𞤀𞤁",
    ]
    signs = [
        "😀", "hello😀world", "👍🏽", "👨‍👩‍👧‍👦", "🇵🇪 🇩🇪", "❤️", "☎ ✂ ✈", "→ ← ⇒", "∀x∈ℝ ∃y", "∑∏∫", "≤≥≠", "♠♣♥♦", "█▓▒░", "│┌┐",
        "©®™", "°C °F", "µm μm", "Ω Ω", "K K", "†‡", "•·", "…", "‰", "′″", "§ ¶", "⁰¹²", "₀₁₂", "\ufffd", "a\ufffdb", "\ufffc",
    ]
    controls = [
        "a\u0000b", "\u0000", "a\u0001\u0002b", "a\u007fb", "a\u0085b", "a\u00a0b", "a\u00adb", "a\u1680b", "a\u180eb", "a\u2000b", "a\u200bb",
        "a\u200cb", "a\u200db", "a\u200eb", "a\u2028b", "a\u2029b", "a\u202eb", "a\u202fb", "a\u205fb", "a\u2060b", "a\u2066b", "a\u3000b",
        "a\ufeffb", "\ufeffabc", "a\u0009b", "a\u000bb", "a\u000cb", "a\u001fb", "a\r\nb", "a\ue000b", "a\U000e0041b", "a\U000f0000b", "a\ufdd0b",
        "a\u0378b", "\u0600\u06dd", "\u061c", "tab\there", "  lead and trail  ", "many     spaces",
    ]
    long = [
        "x" * 99, "x" * 100, "x" * 101, "x" * 500, "é" * 100, "é" * 101, "e\u0301" * 100, "ẞ" * 51, "a" * 100 + " b", "-" * 120,
        "中" * 300, "word " * 300, "the quick brown fox " * 70, "Donaudampfschifffahrtselektrizitätenhauptbetriebswerk",
        "pneumonoultramicroscopicsilicovolcanoconiosis", "antidisestablishmentarianism", "zzzzqqqqxxxx", "ab" * 50 + "😀",
        "supercalifragilisticexpialidocious!", "\u0301" * 200, "a" + "\u0301" * 200, "İ" * 60,
    ]
    return words + accents + scripts + signs + controls + long


def tiny_model() -> onnx.ModelProto:
    """Pools by itself; gives a wrong vector if a mask is not 1 or a segment is not 0."""
    words = np.eye(4, dtype=np.float32)  # of [UNK], [CLS], [SEP], hello
    segments = np.array([[0] * 4, [9] * 4], np.float32)
    constants = [("words", words), ("segments", segments), ("last", np.array([2])), ("tokens", np.array([1]))]
    nodes = [
        helper.make_node("Gather", ["words", "input_ids"], ["word"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["wide_mask"]),
        helper.make_node("Mul", ["word", "wide_mask"], ["kept"]),
        helper.make_node("Gather", ["segments", "token_type_ids"], ["segment"]),
        helper.make_node("Add", ["kept", "segment"], ["token"]),
        helper.make_node("ReduceMean", ["token", "tokens"], ["sentence_embedding"], keepdims=0),
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    outputs = [helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["texts", 4])]
    constants = [numpy_helper.from_array(value, name) for name, value in constants]
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    onnx.checker.check_model(model, full_check=True)
    return model


def write(path: Path, entries: list[dict]) -> None:
    lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries)
    path.write_text(f"[\n{lines}\n]\n")
    print(f"{len(entries)} entries in {path.name}")


def tiny_reranker() -> onnx.ModelProto:
    """Counts the pairs of equal tokens in question and passage, the special ones apart."""
    names = ["input_ids", "attention_mask", "token_type_ids"]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, [1, "length"]) for name in names]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 1])]
    constants = [
        numpy_helper.from_array(np.array([axis], np.int64), f"axis_{axis}") for axis in (1, 2)
    ] + [numpy_helper.from_array(np.array(4, np.int64), "special")]
    node = helper.make_node
    nodes = [
        node("Greater", ["input_ids", "special"], ["is_word"]),
        node("Cast", ["is_word"], ["word"], to=TensorProto.FLOAT),
        node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
        node("Mul", ["word", "second"], ["of_passage"]),
        node("Sub", ["word", "of_passage"], ["of_question"]),
        node("Unsqueeze", ["input_ids", "axis_1"], ["row"]),
        node("Unsqueeze", ["input_ids", "axis_2"], ["column"]),
        node("Equal", ["row", "column"], ["same"]),
        node("Cast", ["same"], ["equal"], to=TensorProto.FLOAT),
        node("Unsqueeze", ["of_passage", "axis_1"], ["passages"]),
        node("MatMul", ["passages", "equal"], ["found"]),
        node("Unsqueeze", ["of_question", "axis_2"], ["questions"]),
        node("MatMul", ["found", "questions"], ["sum"]),
        node("Squeeze", ["sum", "axis_2"], ["logits"]),
    ]
    graph = helper.make_graph(nodes, "tiny_reranker", inputs, outputs, constants)
    return helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 17)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder for the fixtures")
    parser.add_argument("--int8", type=Path, required=True, help="the model to compare with f32")
    args = parser.parse_args()

    folder = source_folder()
    encode = tokenizer(folder).encode
    args.out.mkdir(parents=True, exist_ok=True)
    write(args.out / "token_ids.json", [{"text": text, "ids": encode(text).ids} for text in hard_strings()])

    (args.out / "tiny.onnx").write_bytes(tiny_model().SerializeToString(deterministic=True))
    (args.out / "tiny_reranker.onnx").write_bytes(tiny_reranker().SerializeToString(deterministic=True))

    f32 = onnxruntime.InferenceSession(build(folder, int8_table=False).SerializeToString())
    int8 = onnxruntime.InferenceSession(args.int8.read_bytes())
    texts = (Path(__file__).parent / "reference.txt").read_text(encoding="utf-8").splitlines()
    vectors = [vector(f32, encode(text).ids) for text in texts]
    cosines = np.array([float(vector(int8, encode(text).ids) @ wanted) for text, wanted in zip(texts, vectors)])
    rounded = [[round(float(x), 5) for x in wanted] for wanted in vectors]
    write(args.out / "f32_vectors.json", [{"text": text, "vector": v} for text, v in zip(texts, rounded)])
    print(f"cosine of int8 to f32: mean {cosines.mean():.4f}, least {cosines.min():.4f} ({texts[int(cosines.argmin())]!r})")


if __name__ == "__main__":
    main()
