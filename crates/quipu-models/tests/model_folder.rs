//! Models from a folder: the files that are read, and errors that name the file.
#![expect(clippy::expect_used, reason = "a failing step should stop the test")]

use std::fs;
use std::path::Path;

use quipu_engine::ports::embedder::{EmbedError, Embedder};
use quipu_models::{MiniLm, ModelFolder, threads_default};
use tempfile::TempDir;

const ASSETS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/all-MiniLM-L6-v2");

/// A folder with the built-in model's graph and vocabulary, and these files in addition.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["model.onnx", "vocab.txt"] {
        fs::copy(Path::new(ASSETS).join(name), folder.path().join(name)).expect("copied");
    }
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("inside the folder")).expect("made");
        fs::write(path, content).expect("written");
    }
    folder
}

fn open(folder: &TempDir) -> Result<ModelFolder, EmbedError> {
    ModelFolder::open(folder.path(), threads_default())
}

/// A `tokenizer.json` with the built-in vocabulary and this normalizer.
fn tokenizer_json(normalizer: &str) -> String {
    let lines = fs::read_to_string(Path::new(ASSETS).join("vocab.txt")).expect("the vocabulary");
    let vocab: Vec<String> =
        lines.lines().enumerate().map(|(id, piece)| format!("{}:{id}", serde_json::Value::from(piece))).collect();
    format!(
        r###"{{"normalizer":{normalizer},"pre_tokenizer":{{"type":"BertPreTokenizer"}},"model":{{"type":"WordPiece",
        "unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100,"vocab":{{{}}}}}}}"###,
        vocab.join(",")
    )
}

const UNCASED: &str =
    r#"{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true}"#;
const CASED: &str =
    r#"{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":false}"#;

#[test]
fn the_built_in_model_from_a_folder_gives_the_same_vectors() {
    let texts = ["My sister Ana moved to Porto.", "Crème brûlée, 東京!"];
    let wanted = MiniLm::new().embed(&texts).expect("runs");
    for files in [vec![], vec![("tokenizer.json", tokenizer_json(UNCASED))]] {
        let files: Vec<_> = files.iter().map(|(name, content)| (*name, content.as_str())).collect();
        let model = open(&folder(&files)).expect("opens");
        assert_eq!(model.embed(&texts).expect("runs"), wanted);
        assert_eq!((model.model().dimensions, model.model().tokens_max), (384, 256));
        assert_eq!(model.count_tokens("unaffable"), 5);
    }
}

#[test]
fn a_model_from_a_folder_may_read_any_language() {
    assert!(MiniLm::new().model().english_only);
    assert!(!open(&folder(&[])).expect("opens").model().english_only);
}

#[test]
fn the_id_follows_whatever_shapes_the_vectors() {
    let (plain, again) = (folder(&[]), folder(&[]));
    let id = |folder: &TempDir| open(folder).expect("opens").model().id.clone();
    assert_eq!(id(&plain), id(&again));
    assert_eq!(id(&plain).len(), "folder/".len() + 16);
    for (name, content) in [
        ("vocab.txt", "[UNK]\n[CLS]\n[SEP]\nhello\n"),
        ("sentence_bert_config.json", r#"{"max_seq_length": 128}"#),
        ("1_Pooling/config.json", r#"{"pooling_mode_cls_token": true}"#),
        ("tokenizer_config.json", r#"{"do_lower_case": false}"#),
    ] {
        assert_ne!(id(&plain), id(&folder(&[(name, content)])), "{name}");
    }
}

#[test]
fn settings_in_the_folder_are_followed() {
    let short = open(&folder(&[("sentence_bert_config.json", r#"{"max_seq_length": 8}"#)])).expect("opens");
    assert_eq!(short.model().tokens_max, 8);
    let vectors = short.embed(&["a b c d e f", "a b c d e f g h"]).expect("runs");
    assert_eq!(vectors[0], vectors[1]);

    let first = open(&folder(&[("1_Pooling/config.json", r#"{"pooling_mode_cls_token": true}"#)])).expect("opens");
    let mean = open(&folder(&[])).expect("opens");
    assert_ne!(first.embed(&["hello"]).expect("runs"), mean.embed(&["hello"]).expect("runs"));

    let cased_json = tokenizer_json(CASED);
    for cased in [("tokenizer.json", cased_json.as_str()), ("tokenizer_config.json", r#"{"do_lower_case": false}"#)] {
        let model = open(&folder(&[cased])).expect("opens");
        // No piece of the lower-case vocabulary begins with a capital.
        assert_eq!(model.embed(&["Hello"]).expect("runs"), model.embed(&["Goodbye"]).expect("runs"));
    }
}

/// A graph that takes a mask and segments, and pools by itself.
const TINY: &[u8] = include_bytes!("fixtures/tiny.onnx");

fn tiny(onnx: &[u8]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("model.onnx"), onnx).expect("written");
    fs::write(folder.path().join("vocab.txt"), "[UNK]\n[CLS]\n[SEP]\nhello\n").expect("written");
    folder
}

#[test]
fn graphs_with_other_inputs_and_pooling_of_their_own_run() {
    let model = open(&tiny(TINY)).expect("opens");
    assert_eq!(model.model().dimensions, 4);
    let third = (1.0_f32 / 3.0).sqrt();
    let vectors = model.embed(&["Hello", "hello, hello"]).expect("runs");
    // [CLS], hello and [SEP], one axis each; then a comma, which is unknown.
    for (value, wanted) in vectors[0].iter().zip([0.0, third, third, third]) {
        assert!((value - wanted).abs() < 1e-6, "{:?}", vectors[0]);
    }
    assert!(vectors[1].iter().all(|value| *value > 0.3), "{:?}", vectors[1]);
}

#[test]
fn a_graph_that_wants_something_else_is_refused() {
    let mut other = TINY.to_vec();
    while let Some(at) = other.windows(14).position(|bytes| bytes == b"token_type_ids") {
        other[at..at + 14].copy_from_slice(b"visual_feature");
    }
    let refusal = open(&tiny(&other)).err().expect("is refused");
    assert!(refusal.to_string().contains("unknown input `visual_feature`"), "{refusal}");
}

#[test]
fn a_folder_that_cannot_be_used_is_refused_by_name() {
    let check = |files: &[(&str, &str)], missing: &[&str], wanted: &str| {
        let folder = folder(files);
        for name in missing {
            fs::remove_file(folder.path().join(name)).expect("removed");
        }
        let refusal = open(&folder).err().expect("is refused");
        assert!(matches!(refusal, EmbedError::Model(_)));
        assert!(refusal.to_string().contains(wanted), "{refusal} lacks {wanted}");
    };
    check(&[], &["model.onnx"], "model.onnx is missing");
    check(&[], &["vocab.txt"], "tokenizer.json and vocab.txt are missing");
    check(&[("model.onnx", "not a graph")], &[], "ONNX");
    check(&[("vocab.txt", "<s>\n</s>\n")], &[], "no `[CLS]`");
    check(&[("tokenizer.json", "{")], &[], "tokenizer.json is not understood");
    check(&[("tokenizer.json", r#"{"model":{"type":"Unigram","vocab":[]}}"#)], &[], "is Unigram; only WordPiece");
    let other = tokenizer_json(r#"{"type":"Lowercase"}"#);
    check(&[("tokenizer.json", &other)], &[], "only BertNormalizer");
    check(&[("1_Pooling/config.json", r#"{"pooling_mode_max_tokens": true}"#)], &[], "1_Pooling/config.json");
    check(&[("sentence_bert_config.json", r#"{"max_seq_length": 2}"#)], &[], "leaves no room");
}
