//! Tokenizers of language models, so that token budgets match what providers charge.

use std::sync::{Arc, Mutex, PoisonError};

use quipu_engine::ports::Tokenizer;
use rustc_hash::FxHashMap;
use tiktoken_rs::{CoreBPE, cl100k_base_singleton, o200k_base_singleton};

/// The number of words whose costs are cached, and the length of the longest of them in bytes: 2 MiB in all.
const WORDS_MAX: usize = 32_768;
const WORD_BYTES_MAX: usize = 24;

/// A byte-pair encoding published by OpenAI. Its table is part of the binary and is parsed on first use (0.1 s).
struct BytePairs {
    name: &'static str,
    encoding: fn() -> &'static CoreBPE,
    /// The cost of words, in tokens. The same words occur again and again, and merging their pairs is most of the work.
    costs: Mutex<FxHashMap<Box<str>, u32>>,
}

impl BytePairs {
    fn new(name: &'static str, encoding: fn() -> &'static CoreBPE) -> Self {
        Self { name, encoding, costs: Mutex::default() }
    }
}

/// The length of the longest part that is counted at once, in bytes. Counting backtracks over runs of white space, within a bound.
const PART_BYTES_MAX: usize = 16 << 10;

/// Cuts a text before each space that stands alone between two words. Both encodings split a text there themselves, so the
/// costs of the parts add up to the cost of the whole. What has no such space for [`PART_BYTES_MAX`] is cut there, which may
/// count a token more.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let bytes = rest.as_bytes();
        let most = rest.floor_char_boundary(PART_BYTES_MAX);
        let cut = (1..most.min(bytes.len().saturating_sub(1)))
            .find(|&at| bytes[at] == b' ' && bytes[at - 1].is_ascii_graphic() && bytes[at + 1].is_ascii_graphic());
        let (word, after) = rest.split_at(cut.unwrap_or(most));
        rest = after;
        (!word.is_empty()).then_some(word)
    })
}

impl Tokenizer for BytePairs {
    fn name(&self) -> &str {
        self.name
    }

    fn count(&self, text: &str) -> usize {
        let encoding = (self.encoding)();
        let mut costs = self.costs.lock().unwrap_or_else(PoisonError::into_inner);
        let mut cost = |word: &str| {
            if let Some(&cost) = costs.get(word) {
                return cost as usize;
            }
            let cost = encoding.count_ordinary(word);
            if word.len() <= WORD_BYTES_MAX {
                // Clearing a full cache is expensive but rare; keeping the order of use would cost on every call.
                if costs.len() >= WORDS_MAX {
                    costs.clear();
                }
                costs.insert(word.into(), cost as u32);
            }
            cost
        };
        words(text).map(&mut cost).sum()
    }
}

/// The built-in tokenizers: `o200k_base` (GPT-4o and later, and an approximation for other providers) and
/// `cl100k_base` (GPT-4, GPT-3.5).
pub fn tokenizers() -> Vec<Arc<dyn Tokenizer>> {
    vec![
        Arc::new(BytePairs::new("o200k_base", o200k_base_singleton)),
        Arc::new(BytePairs::new("cl100k_base", cl100k_base_singleton)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts of tiktoken (`len(encoding.encode(text, disallowed_special=()))`).
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
    fn the_cost_of_a_text_is_that_of_its_words_whether_cached_or_not() {
        let tokenizer = BytePairs::new("o200k_base", o200k_base_singleton);
        for text in [
            "- [fact_0r5k2m9c4t7wz · undated] The user likes Donaudampfschifffahrtsgesellschaftskapitäne.\n",
            "two  spaces,   three, a\ttab \t and \n a line\n\n  indented\r\nend ",
            " 12345 678 9 it's I'LL  'tis — “quoted” ?! a/b //\n x = {y: [1, 2]};",
            "日本語 の テキスト é e\u{301} \u{a0}nbsp\u{2003}em 👩‍👩‍👧 x",
        ] {
            let reference = o200k_base_singleton().count_ordinary(text);
            assert_eq!([tokenizer.count(text), tokenizer.count(text)], [reference, reference], "{text:?}");
        }
    }

    #[test]
    fn long_runs_are_counted_in_parts() {
        for tokenizer in tokenizers() {
            for run in [" ", "\t", "a", "é", "\n", " a"] {
                let count = tokenizer.count(&run.repeat((1 << 20) / run.len()));
                assert!(count > 1_000, "{}: {count} tokens of {run:?}", tokenizer.name());
            }
        }
    }

    #[test]
    fn the_cache_is_bounded() {
        let tokenizer = BytePairs::new("o200k_base", o200k_base_singleton);
        let word =
            |number: u32| number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect::<String>();
        let many: String = (0..40_000).map(|number| format!(" {}", word(number))).collect();
        assert_eq!(tokenizer.count(&many), o200k_base_singleton().count_ordinary(&many));
        let costs = tokenizer.costs.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(costs.len() <= WORDS_MAX && costs.keys().all(|word| word.len() <= WORD_BYTES_MAX));
    }

    /// Packs count the lines one by one.
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
