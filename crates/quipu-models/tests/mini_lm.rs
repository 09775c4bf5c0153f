//! The built-in model: its files, its vectors, and their independence of batch and threads.
#![expect(clippy::expect_used, reason = "a failing step should stop the test")]

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use quipu_engine::ports::embedder::Embedder;
use quipu_models::MiniLm;
use serde::Deserialize;
use sha2::{Digest, Sha256};

#[derive(Deserialize)]
struct Reference {
    text: String,
    vector: Vec<f32>,
}

/// Fifty texts with the vectors of the f32 model.
fn references() -> Vec<Reference> {
    serde_json::from_str(include_str!("fixtures/f32_vectors.json")).expect("the fixture is JSON")
}

fn embedder() -> &'static MiniLm {
    static EMBEDDER: OnceLock<MiniLm> = OnceLock::new();
    EMBEDDER.get_or_init(|| with_threads(2))
}

fn with_threads(threads: usize) -> MiniLm {
    MiniLm::with_threads(NonZeroUsize::new(threads).expect("more than none"))
}

fn embed(texts: &[&str]) -> Vec<Vec<f32>> {
    embedder().embed(texts).expect("the model runs")
}

fn bits(vector: &[f32]) -> Vec<u32> {
    vector.iter().map(|x| x.to_bits()).collect()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

fn assets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/all-MiniLM-L6-v2")
}

#[test]
fn the_files_are_the_ones_whose_provenance_is_written_down() {
    let provenance = std::fs::read_to_string(assets().join("PROVENANCE.md")).expect("provenance is there");
    for name in ["model.onnx", "token_basis.f32", "vocab.txt"] {
        let digest = digest(&assets().join(name));
        assert!(provenance.contains(&digest), "{name} is {digest}");
    }
    let reader = Path::new(env!("CARGO_MANIFEST_DIR")).join("reader");
    let (readme, digest) = (std::fs::read_to_string(reader.join("README.md")), digest(&reader.join("reader.onnx")));
    assert!(readme.expect("it is there").contains(&digest), "reader.onnx is {digest}");
}

fn digest(file: &Path) -> String {
    let digest = Sha256::digest(std::fs::read(file).expect("the file is there"));
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn vectors_are_close_to_those_of_the_f32_model() {
    let references = references();
    let texts: Vec<&str> = references.iter().map(|reference| reference.text.as_str()).collect();
    let cosines: Vec<(f32, &str)> = embed(&texts)
        .iter()
        .zip(&references)
        .map(|(vector, reference)| (cosine(vector, &reference.vector), reference.text.as_str()))
        .collect();
    let mean = cosines.iter().map(|(cosine, _)| cosine).sum::<f32>() / cosines.len() as f32;
    assert!(mean >= 0.995, "mean {mean}");
    let far: Vec<_> = cosines.iter().filter(|(cosine, _)| *cosine < 0.985).collect();
    assert!(far.len() <= 1 && far.iter().all(|(cosine, _)| *cosine >= 0.98), "{far:?}");
}

#[test]
fn vectors_have_length_one_and_the_promised_dimensions() {
    for vector in embed(&["a", "My sister lives in Porto.", &"word ".repeat(500)]) {
        assert_eq!(vector.len(), embedder().model().dimensions);
        assert!((vector.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-5);
    }
}

#[test]
fn the_batch_does_not_change_a_vector() {
    let references = references();
    let texts: Vec<&str> = references.iter().map(|reference| reference.text.as_str()).collect();
    let together = embed(&texts);
    let backwards: Vec<&str> = texts.iter().rev().copied().collect();
    for (vector, wanted) in embed(&backwards).iter().rev().zip(&together) {
        assert_eq!(bits(vector), bits(wanted));
    }
    for (text, wanted) in texts.iter().zip(&together) {
        assert_eq!(bits(&embed(&[text])[0]), bits(wanted), "{text}");
    }
}

#[test]
fn the_number_of_threads_does_not_change_a_vector() {
    let references = references();
    let texts: Vec<&str> = references.iter().map(|reference| reference.text.as_str()).collect();
    let wanted = embed(&texts);
    for threads in [1, 3, 8] {
        let vectors = with_threads(threads).embed(&texts).expect("the model runs");
        for (vector, wanted) in vectors.iter().zip(&wanted) {
            assert_eq!(bits(vector), bits(wanted), "{threads} threads");
        }
    }
}

#[test]
fn callers_at_the_same_time_get_the_same_vectors() {
    let wanted = bits(&embed(&["We moved the meeting to Thursday."])[0]);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..10 {
                    assert_eq!(bits(&embed(&["We moved the meeting to Thursday."])[0]), wanted);
                }
            });
        }
    });
}

#[test]
fn no_texts_give_no_vectors() {
    assert!(embed(&[]).is_empty());
}

#[test]
fn odd_texts_have_vectors_too() {
    let megabyte_of_words = "The quick brown fox. ".repeat(50_000);
    let megabyte_without_spaces = "x".repeat(1_000_000);
    let megabyte_of_accents = "\u{301}".repeat(500_000);
    let texts = [
        "",
        " \n\t",
        "\0",
        "a\0b",
        "\u{1}\u{2}\u{7f}",
        "\u{200b}",
        "\u{fffd}",
        "[CLS] [SEP] [PAD]",
        &megabyte_of_words,
        &megabyte_without_spaces,
        &megabyte_of_accents,
    ];
    let vectors = embed(&texts);
    assert_eq!(vectors.len(), texts.len());
    assert!(vectors.iter().flatten().all(|x| x.is_finite()));
    // Texts without tokens of their own get the vector of the empty text.
    for same in [1, 2, 4, 5, 6, 10] {
        assert_eq!(bits(&vectors[same]), bits(&vectors[0]), "{same}");
    }
    assert_ne!(bits(&vectors[3]), bits(&vectors[0]));
}

#[test]
fn a_text_over_the_limit_is_cut_and_its_count_says_so() {
    let long = "walk ".repeat(400);
    let cut = "walk ".repeat(254);
    assert_eq!(embedder().count_tokens(&long), 402);
    assert_eq!(embedder().count_tokens(&cut), embedder().model().tokens_max);
    let vectors = embed(&[&long, &cut]);
    assert_eq!(bits(&vectors[0]), bits(&vectors[1]));
}

#[test]
fn tokens_are_counted_with_the_special_ones() {
    for (text, tokens) in [("", 2), ("hello", 3), ("unaffable", 5), ("don't", 5), ("[SEP]", 5)] {
        assert_eq!(embedder().count_tokens(text), tokens, "{text}");
    }
}

#[test]
fn tokens_come_with_their_words_and_mean_what_they_mean_in_their_place() {
    let texts =
        ["She unpacked her suitcase, naïvely.", "The river bank was muddy.", "He went to the bank for a loan.", ""];
    let made = embedder().embed_tokens(&texts).expect("the model runs");
    let vectors = embed(&texts);
    for ((text, made), vector) in texts.iter().zip(&made).zip(&vectors) {
        assert_eq!(bits(&made.vector), bits(vector), "{text}");
        assert_eq!(made.tokens.len(), embedder().count_tokens(text) - embedder().count_tokens(""), "{text}");
        assert!(made.tokens.iter().all(|token| token.vector.len() == 192));
    }
    let words: Vec<&str> = made[0].tokens.iter().map(|token| token.word.as_str()).collect();
    assert_eq!(words.first(), Some(&"she"));
    assert_eq!(words.iter().filter(|word| **word == "unpacked").count(), 3, "{words:?}");
    let token = |text: usize, word: &str| {
        made[text]
            .tokens
            .iter()
            .find(|token| token.word == word)
            .map(|token| token.vector.clone())
            .expect("it is there")
    };
    // The basis preserves the difference between the two meanings of "bank".
    let (river, money) = (token(1, "bank"), token(2, "bank"));
    assert!(cosine(&money, &token(2, "loan")) > cosine(&river, &token(2, "loan")));
}
