//! Detects refusals in prose.

/// Beginnings of refusals in lower case, one on each line.
const BEGINNINGS: &str = include_str!("../prompts/refusals.txt");
/// Number of characters at the beginning of a text that are examined.
const LOOKED_AT_CHARS: usize = 120;

/// Whether a text begins like a refusal.
pub(crate) fn is_refusal(text: &str) -> bool {
    let start: String = text.trim_start().chars().take(LOOKED_AT_CHARS).collect();
    let start = start.to_lowercase().replace(['\u{2019}', '\u{2018}'], "'");
    let mut lines = BEGINNINGS.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.any(|line| start.starts_with(line))
}

#[cfg(test)]
mod tests {
    use super::is_refusal;

    #[test]
    fn refusals_are_told_from_content() {
        for (text, refuses) in [
            ("I'm sorry, but I can't assist with that request.", true),
            ("  I\u{2019}m sorry, I can't help.", true),
            ("As an AI language model, I am unable to do this.", true),
            ("I cannot help with storing personal information.", true),
            ("Cannot eat gluten since March", false),
            ("Asked how to say sorry", false),
            ("", false),
        ] {
            assert_eq!(is_refusal(text), refuses, "{text:?}");
        }
    }
}
