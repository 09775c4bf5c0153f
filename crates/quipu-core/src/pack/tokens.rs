//! How many tokens a text will cost a model, without its tokenizer.

/// Letters of a word that make one token, on average, in English text.
const LETTERS_PER_TOKEN: usize = 7;

/// True if a text costs at most so many tokens by the estimate. No more of it is read than tells.
pub(super) fn costs_at_most(text: &str, tokens_max: usize) -> bool {
    let mut tokens = 0;
    for_each_cost(text, |cost| {
        tokens += cost;
        tokens <= tokens_max
    });
    tokens <= tokens_max
}

/// An estimate: a word costs one token for each seven letters begun, a digit run one for each three, every other
/// visible character one, a letter outside ASCII one.
pub fn estimate_tokens(text: &str) -> usize {
    let mut tokens = 0;
    for_each_cost(text, |cost| {
        tokens += cost;
        true
    });
    tokens
}

/// Calls `each` with what the runs and characters of a text cost, as long as it says so.
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
