use quipu_engine::ports::embedder::{EmbedError, Embedded, Embedder, EmbeddingModel, Token};

use crate::encoder::network::unit;

const DIMENSIONS: usize = 256;
const WORD_WEIGHT: f32 = 1.0;
const NGRAM_WEIGHT: f32 = 0.4;
const NGRAM_CHARS: usize = 3;

/// An embedder for tests that hashes words and their trigrams. It needs no files and takes about a microsecond a text.
///
/// Texts that share words or spelling are close; synonyms are not. A token is a word.
pub struct HashedNgrams {
    model: EmbeddingModel,
}

impl HashedNgrams {
    /// Creates the embedder, which has no options.
    #[must_use]
    pub fn new() -> Self {
        let id = "hashed-ngrams/v1".to_owned();
        Self { model: EmbeddingModel { id, dimensions: DIMENSIONS, tokens_max: 256, english_only: false } }
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0; DIMENSIONS];
        for word in words(text).take(self.model.tokens_max) {
            let word = format!("<{}>", word.to_lowercase());
            add(&mut vector, word.bytes(), WORD_WEIGHT);
            let chars: Vec<char> = word.chars().collect();
            for ngram in chars.windows(NGRAM_CHARS) {
                add(&mut vector, ngram.iter().flat_map(|&c| u32::from(c).to_le_bytes()), NGRAM_WEIGHT);
            }
        }
        unit(vector).unwrap_or_else(|| {
            // Without words, or if their features cancel out, the direction is a hash of the text.
            let mut vector = vec![0.0; DIMENSIONS];
            add(&mut vector, text.bytes(), 1.0);
            vector
        })
    }
}

impl Default for HashedNgrams {
    fn default() -> Self {
        Self::new()
    }
}

impl Embedder for HashedNgrams {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }

    fn embed_tokens(&self, texts: &[&str]) -> Result<Vec<Embedded>, EmbedError> {
        let token = |word: &str| Token { word: word.to_lowercase(), vector: self.vector(word) };
        let embedded = |text: &&str| Embedded {
            vector: self.vector(text),
            tokens: words(text).take(self.model.tokens_max).map(token).collect(),
        };
        Ok(texts.iter().map(embedded).collect())
    }

    fn count_tokens(&self, text: &str) -> usize {
        words(text).count()
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Adds the weight to the component that the feature hashes to, with a sign from the hash.
fn add(vector: &mut [f32], feature: impl Iterator<Item = u8>, weight: f32) {
    // 64-bit FNV-1a, then a mixing step so that the low bits depend on all others.
    let hash =
        feature.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let sign = if hash & 1 == 0 { weight } else { -weight };
    vector[(hash >> 56) as usize % DIMENSIONS] += sign;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &str, b: &str) -> f32 {
        let embedder = HashedNgrams::new();
        let (a, b) = (embedder.vector(a), embedder.vector(b));
        a.iter().zip(&b).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn shared_words_bring_texts_together_and_spelling_helps() {
        let asked = "Where does my sister Ana live?";
        assert!(cosine(asked, "My sister Ana lives in Porto.") > 0.5);
        assert!(cosine(asked, "The deploy failed again.").abs() < 0.25);
        assert!(cosine("painting", "paintings") > cosine("painting", "sleeping"));
    }

    #[test]
    fn every_text_has_a_vector_of_length_one() {
        for text in ["", " ", "\0", "...", "a", "中文", &"x ".repeat(10_000)] {
            assert!((cosine(text, text) - 1.0).abs() < 1e-5, "{text:.20}");
        }
    }

    #[test]
    fn stored_vectors_stay_comparable() {
        let vector = HashedNgrams::new().vector("quipu");
        let bytes: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!(blake3::hash(&bytes).to_hex()[..16], *"6895126779b5575e");
    }
}
