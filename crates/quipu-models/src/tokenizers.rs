//! Tokenizers of language models, so that a pack's budget means what the model is charged for.

use std::sync::Arc;

use bpe_openai::Tokenizer as Pairs;
use quipu_engine::ports::Tokenizer;

/// A byte-pair encoding published by OpenAI. Its tables come with the binary and are read when they are first needed.
struct BytePairs {
    name: &'static str,
    pairs: fn() -> &'static Pairs,
}

impl Tokenizer for BytePairs {
    fn name(&self) -> &str {
        self.name
    }

    fn count(&self, text: &str) -> usize {
        (self.pairs)().count(text)
    }
}

/// All there are: `o200k_base` (GPT-4o and later, and near enough to what others charge) and `cl100k_base` (GPT-4, GPT-3.5).
pub fn tokenizers() -> Vec<Arc<dyn Tokenizer>> {
    vec![
        Arc::new(BytePairs { name: "o200k_base", pairs: bpe_openai::o200k_base }),
        Arc::new(BytePairs { name: "cl100k_base", pairs: bpe_openai::cl100k_base }),
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
