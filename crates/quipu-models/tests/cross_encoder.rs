//! Rerankers from a folder.
#![expect(clippy::expect_used, reason = "a failing step should stop the test")]

use std::fs;

use quipu_engine::ports::{EmbedError, Reranker};
use quipu_models::{CrossEncoder, threads_default};

/// A graph that counts the pairs of equal words in question and passage.
const COUNTS_EQUALS: &[u8] = include_bytes!("fixtures/tiny_reranker.onnx");
const EMBEDS: &[u8] = include_bytes!("fixtures/tiny.onnx");
const VOCABULARY: &str = "[UNK]\n[CLS]\n[SEP]\n[PAD]\n[MASK]\nwhere\nlive\nporto\ntea\nlike\n";

fn open(onnx: &[u8], tokens_max: usize) -> Result<CrossEncoder, EmbedError> {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = format!("{{\"max_seq_length\": {tokens_max}}}");
    for (name, bytes) in
        [("model.onnx", onnx), ("vocab.txt", VOCABULARY.as_bytes()), ("sentence_bert_config.json", settings.as_bytes())]
    {
        fs::write(folder.path().join(name), bytes).expect("written");
    }
    CrossEncoder::open(folder.path(), threads_default())
}

#[test]
fn question_and_passage_are_told_apart() {
    let model = open(COUNTS_EQUALS, 256).expect("opens");
    let passages = ["like tea", "live Porto", "live live live", ""];
    assert_eq!(model.score("Where live", &passages).expect("runs"), [0.0, 1.0, 3.0, 0.0]);
    assert_eq!(model.score("", &passages).expect("runs"), [0.0; 4]);
    assert_eq!(model.score("tea", &[]).expect("runs"), [0.0; 0]);
    assert!(model.model().starts_with("folder/"));
}

#[test]
fn what_is_too_long_is_cut_on_both_sides() {
    let model = open(COUNTS_EQUALS, 8).expect("opens");
    let long = "tea ".repeat(100);
    // Start, the first, end, the second, end: five words in eight tokens.
    assert_eq!(model.score("tea", &[&long]).expect("runs"), [4.0]);
    assert_eq!(model.score(&long, &["tea"]).expect("runs"), [4.0]);
    // Each text gets half of the room, which includes two special tokens.
    assert_eq!(model.score(&long, &[&long]).expect("runs"), [2.0 * 3.0]);
}

#[test]
fn a_model_that_embeds_is_no_reranker() {
    let refusal = open(EMBEDS, 256).err().expect("is refused").to_string();
    assert!(refusal.contains("not one number: not a cross-encoder"), "{refusal}");
}
