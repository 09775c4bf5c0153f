//! Tokenizers of language models, so that a pack's budget means what the model is charged for.

use std::sync::{Arc, Mutex, PoisonError};

use bpe_openai::Tokenizer as Pairs;
use quipu_engine::ports::Tokenizer;
use rustc_hash::FxHashMap;

/// How many pieces of text are remembered with what they cost, and how long they may be in bytes: 2 MiB in all.
const PIECES_MAX: usize = 32_768;
const PIECE_BYTES_MAX: usize = 24;

/// A byte-pair encoding published by OpenAI. Its tables come with the binary and are read when they are first needed.
struct BytePairs {
    name: &'static str,
    pairs: fn() -> &'static Pairs,
    /// What pieces of text cost: words come again and again, and merging their pairs is most of the work.
    pieces: Mutex<FxHashMap<Box<str>, u32>>,
}

impl BytePairs {
    fn new(name: &'static str, pairs: fn() -> &'static Pairs) -> Self {
        Self { name, pairs, pieces: Mutex::default() }
    }
}

impl Tokenizer for BytePairs {
    fn name(&self) -> &str {
        self.name
    }

    fn count(&self, text: &str) -> usize {
        let pairs = (self.pairs)();
        let text = pairs.normalize(text);
        let mut known = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        let mut cost = |piece: &str| {
            if let Some(&cost) = known.get(piece) {
                return cost as usize;
            }
            let cost = pairs.bpe.count(piece.as_bytes());
            if piece.len() <= PIECE_BYTES_MAX {
                // Starting anew is dear once in a long while; keeping the order of use would be dear each time.
                if known.len() >= PIECES_MAX {
                    known.clear();
                }
                known.insert(piece.into(), cost as u32);
            }
            cost
        };
        pairs.split(text.as_str()).map(&mut cost).sum()
    }
}

/// All there are: `o200k_base` (GPT-4o and later, and near enough to what others charge) and `cl100k_base` (GPT-4, GPT-3.5).
pub fn tokenizers() -> Vec<Arc<dyn Tokenizer>> {
    vec![
        Arc::new(BytePairs::new("o200k_base", bpe_openai::o200k_base)),
        Arc::new(BytePairs::new("cl100k_base", bpe_openai::cl100k_base)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts as tiktoken gives them (`len(encoding.encode(text, disallowed_special=()))`).
    #[test]
    fn counts_are_those_of_the_reference() {
        for (text, o200k, cl100k) in [
            ("", 0, 0),
            ("hello world", 2, 2),
            ("I moved to Porto in May 2024.", 10, 10),
            ("- [turn_0r5k2m9c4t7wz · 2026-03-05 · Ines · user] I'm allergic to peanuts\n", 36, 37),
            ("Größenwahn, naïveté, 日本語のテキスト", 16, 18),
            ("<|endoftext|>", 7, 7),
        ] {
            let counted: Vec<usize> = tokenizers().iter().map(|one| one.count(text)).collect();
            assert_eq!(counted, [o200k, cl100k], "{text:?}");
        }
    }

    #[test]
    fn what_is_remembered_counts_as_what_is_new_and_is_bounded() {
        let tokenizer = BytePairs::new("o200k_base", bpe_openai::o200k_base);
        let text = "- [fact_0r5k2m9c4t7wz · undated] The user likes Donaudampfschifffahrtsgesellschaftskapitäne.\n";
        let reference = bpe_openai::o200k_base().count(text);
        assert_eq!([tokenizer.count(text), tokenizer.count(text)], [reference, reference]);
        let word =
            |number: u32| number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect::<String>();
        let many: String = (0..40_000).map(|number| format!(" {}", word(number))).collect();
        assert_eq!(tokenizer.count(&many), bpe_openai::o200k_base().count(many.as_str()));
        let known = tokenizer.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(known.len() <= PIECES_MAX && known.keys().all(|piece| piece.len() <= PIECE_BYTES_MAX));
    }

    /// A pack counts its lines one by one.
    #[test]
    fn whole_lines_cost_what_they_cost_together() {
        let lines = [
            "<memory user=\"me\">\n",
            "## Facts\n",
            "- [fact_0r5k2m9c4t7wz · undated] User likes tea?!\n",
            "- [turn_1 · 2026] ends in blanks  \n",
            "- 日本語のテキスト。\n",
            "- `code();` /\n",
            "- \n",
            "Not shown: 12 more…\n",
            "</memory>\n",
        ];
        for tokenizer in tokenizers() {
            for one in lines {
                for other in lines {
                    let together = tokenizer.count(&format!("{one}{other}"));
                    assert_eq!(tokenizer.count(one) + tokenizer.count(other), together, "{one:?} {other:?}");
                }
            }
        }
    }
}
