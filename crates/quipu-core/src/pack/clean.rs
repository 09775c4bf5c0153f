//! Sanitises untrusted text of a memory for models and terminals.

/// Returns true for characters that change how the text around them is displayed: controls, bidirectional overrides,
/// invisible tags.
fn is_treacherous(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// One line of plain text for a model: no control, bidirectional or invisible characters, and no delimiter of the block
/// (`<memory`, `</memory`), nor a line that could pass for one of its headings.
pub fn neutralise(text: &str) -> String {
    // Fast path: most texts need no change.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'<') {
        return text.trim().to_owned();
    }
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => {
                if !plain.ends_with(' ') {
                    plain.push(' ');
                }
            }
            c if is_treacherous(c) => {}
            c => plain.push(c),
        }
    }
    // ASCII folding preserves byte positions; a model reads `</Memory` as the delimiter too.
    let lower = plain.to_ascii_lowercase();
    let mut safe = String::with_capacity(plain.len());
    let mut from = 0;
    for (at, _) in lower.match_indices('<') {
        let tail = lower[at + 1..].trim_start_matches(['/', ' ']);
        if tail.starts_with("memory") {
            safe.push_str(&plain[from..at]);
            safe.push('‹');
            from = at + 1;
        }
    }
    safe.push_str(&plain[from..]);
    safe.trim().to_owned()
}

/// Text for a terminal: control and bidirectional characters other than newline and tab are escaped.
pub fn escape_for_terminal(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\n' || c == '\t' || !is_treacherous(c) {
            shown.push(c);
        } else {
            shown.extend(c.escape_default());
        }
    }
    shown
}
