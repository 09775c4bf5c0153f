//! How many tokens a text will cost a model, without its tokenizer.

/// Letters of a word that make one token, on average, in English text.
const LETTERS_PER_TOKEN: usize = 7;

/// An estimate: a word costs one token for each seven letters begun, a digit run one for each three, every other
/// visible character one, a letter outside ASCII one.
pub fn estimate_tokens(text: &str) -> usize {
    let mut tokens = 0;
    let mut bytes = text.chars().peekable();
    while let Some(c) = bytes.next() {
        if c.is_ascii_alphanumeric() {
            let digits = c.is_ascii_digit();
            let mut length = 1;
            while bytes.next_if(|n| n.is_ascii_alphanumeric() && n.is_ascii_digit() == digits).is_some() {
                length += 1;
            }
            tokens += usize::div_ceil(length, if digits { 3 } else { LETTERS_PER_TOKEN });
        } else if c == '\n' || !c.is_whitespace() {
            tokens += 1;
        }
    }
    tokens
}
