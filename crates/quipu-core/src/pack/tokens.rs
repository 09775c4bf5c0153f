//! Estimates the number of tokens of a text without a tokenizer.

/// Average number of letters per token in English words.
const LETTERS_PER_TOKEN: usize = 7;

/// Returns true if the estimated cost of a text is at most `tokens_max`. Stops reading once it is exceeded.
pub(super) fn costs_at_most(text: &str, tokens_max: usize) -> bool {
    let mut tokens = 0;
    for_each_cost(text, |cost| {
        tokens += cost;
        tokens <= tokens_max
    });
    tokens <= tokens_max
}

/// Estimates the tokens of a text: one per seven letters of a word (rounded up), one per three digits (rounded up), one
/// for any other visible character or non-ASCII letter.
pub fn estimate_tokens(text: &str) -> usize {
    let mut tokens = 0;
    for_each_cost(text, |cost| {
        tokens += cost;
        true
    });
    tokens
}

/// Calls `each` with the cost of each run or character, until it returns false.
fn for_each_cost(text: &str, mut each: impl FnMut(usize) -> bool) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        at += 1;
        let cost = match byte {
            b'0'..=b'9' => {
                at += bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                (at - start).div_ceil(3)
            }
            b'a'..=b'z' | b'A'..=b'Z' => {
                at += bytes[at..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
                (at - start).div_ceil(LETTERS_PER_TOKEN)
            }
            b'\n' => 1,
            0..=0x7f => usize::from(!char::from(byte).is_whitespace()),
            _ => {
                let Some(c) = text[start..].chars().next() else { return };
                at = start + c.len_utf8();
                usize::from(!c.is_whitespace())
            }
        };
        if cost > 0 && !each(cost) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_letters_and_digits_cost_by_their_length() {
        for (text, expected) in [
            ("", 0),
            ("  \t ", 0),
            ("\n\n", 2),
            ("cat", 1),
            ("elephants", 2),
            ("w1234", 3),
            ("12345678", 3),
            ("don't!", 4),
            ("Größe\u{2003}…", 5),
            ("日本", 2),
        ] {
            assert_eq!(estimate_tokens(text), expected, "{text:?}");
            assert!(costs_at_most(text, expected) && (expected == 0 || !costs_at_most(text, expected - 1)), "{text:?}");
        }
    }
}
