//! Checks beyond the pattern: checksums, lengths, and whether a value can be a secret.

use std::ops::Range;

use super::rules::{Check, SecretRules};

/// Length in bytes of the part of a value that is checked. The whole value is redacted.
const VALUE_BYTES_MAX: usize = 512;
/// Digits of the longest card number.
const CARD_DIGITS_MAX: usize = 19;
/// Distance in bytes within which a preceding word can name the kind of a number.
const CONTEXT_BYTES: usize = 32;

/// Every secret that one rule finds.
pub(super) fn spans(rules: &SecretRules, rule: usize, text: &str) -> Vec<Range<usize>> {
    let (check, regex) = &rules.compiled[rule];
    let mut spans = Vec::new();
    let mut from = 0;
    while let Some(found) = regex.captures_at(text, from) {
        let Some(whole) = found.get(0) else { break };
        let group = found.iter().skip(1).flatten().next().unwrap_or(whole).range();
        match check {
            Check::Shape if !rules.is_placeholder(&text[group.clone()]) => spans.push(group),
            Check::Pem if longest_run(whole.as_str()) >= 20 => spans.push(group),
            Check::Phrase if is_phrase(rules, &text[group.clone()]) => spans.push(group),
            Check::Card => cards(rules, text, group, &mut spans),
            Check::Iban => spans.extend(iban(rules, text, group)),
            Check::Ssn if is_ssn(rules, text, &group, whole.start() < group.start) => spans.push(group),
            Check::Password | Check::Login | Check::Key | Check::LongKey | Check::Pin => {
                spans.extend(value(rules, *check, text, whole.range()));
            }
            _ => {}
        }
        from = spans.last().map_or(0, |last| last.end).max(whole.end());
    }
    spans
}

/// The value after the end of `before`, if it can be a secret.
fn value(rules: &SecretRules, check: Check, text: &str, before: Range<usize>) -> Option<Range<usize>> {
    let (span, quoted) = value_at(text, before.end)?;
    let value = &text[span.clone()];
    let rest = &text[span.end..];
    if value.is_empty() || rules.is_placeholder(value) || (!quoted && is_code(value, rest)) || is_place(value) {
        return None;
    }
    let letters = value.chars().filter(|c| c.is_alphabetic()).count();
    let digits = value.chars().filter(char::is_ascii_digit).count();
    let length = value.chars().count();
    let fits = match check {
        Check::Pin => (3..=8).contains(&length) && digits == length,
        Check::Login => {
            length >= 6
                && digits > 0
                && letters > 0
                && value.chars().any(char::is_lowercase)
                && !value.contains(['/', '('])
        }
        Check::Key => length >= 8 && is_mixed(value, 2.5),
        Check::LongKey => {
            length >= 16 && is_mixed(value, 3.0) && !rules.is_open_key(last_word(&text[..key_start(text, &before)]))
        }
        _ => length >= 4 && (letters < length || is_word_a_password(rules, value, rest)),
    };
    let cut = !quoted && value.len() + 8 >= VALUE_BYTES_MAX;
    let end = if cut { span.end + rest.find(ends_value).unwrap_or(rest.len()) } else { span.end };
    fits.then_some(span.start..end)
}

/// Start of the key word in a match: patterns may include one character before it.
fn key_start(text: &str, matched: &Range<usize>) -> usize {
    let skipped = text[matched.clone()].chars().next().filter(|c| !c.is_alphanumeric()).map_or(0, char::len_utf8);
    matched.start + skipped
}

/// A word of letters is a password unless it is one that commonly follows "password is" or the sentence continues after
/// it.
fn is_word_a_password(rules: &SecretRules, word: &str, rest: &str) -> bool {
    if rules.is_prose(word) || rest.starts_with([':', '=']) {
        return false;
    }
    let next = rest.trim_start_matches([' ', '\t']);
    let next_word = next.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let goes_on = next.len() < rest.len() && !next_word.is_empty();
    !goes_on || rules.is_connector(next_word)
}

/// The value at a position and whether it is quoted, without surrounding punctuation.
fn value_at(text: &str, at: usize) -> Option<(Range<usize>, bool)> {
    let rest = &text[at..];
    let escaped = rest.strip_prefix('\\').is_some_and(|rest| rest.starts_with(['"', '\'']));
    let open = rest[usize::from(escaped)..].chars().next()?;
    let close = match open {
        '"' | '\'' | '`' => Some(open),
        '“' => Some('”'),
        '‘' => Some('’'),
        '«' => Some('»'),
        _ => None,
    };
    if let Some(close) = close {
        let start = at + usize::from(escaped) + open.len_utf8();
        let line = bounded(&text[start..]).split('\n').next().unwrap_or_default();
        if let Some(end) = line.find(close) {
            let end = if escaped { line[..end].trim_end_matches('\\').len() } else { end };
            return Some((start..start + end, true));
        }
        return Some((bare(text, start), false));
    }
    Some((bare(text, at), false))
}

/// True for a character that ends an unquoted value.
fn ends_value(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | ',' | ';' | '”' | '’' | '»')
}

/// The unquoted value at a position.
fn bare(text: &str, at: usize) -> Range<usize> {
    let rest = bounded(&text[at..]);
    // A template such as `<password>` is read whole, so that it is recognised as one.
    let rest = rest.find(|c| c != '<' && ends_value(c)).map_or(rest, |end| &rest[..end]);
    let rest = if rest.starts_with('<') { rest } else { rest.split('<').next().unwrap_or_default() };
    let trimmed = rest.trim_end_matches(['.', ':', '?', ')', ']', '}', '*', '_', '\\', '|']);
    // Only stars are a mask, not the end of bold text.
    at..at + if trimmed.is_empty() { rest.len() } else { trimmed.len() }
}

fn bounded(text: &str) -> &str {
    if text.len() <= VALUE_BYTES_MAX {
        return text;
    }
    let mut end = VALUE_BYTES_MAX;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// True for an address, a path or a public key.
fn is_place(value: &str) -> bool {
    let starts = ["/", "./", "../", "~/", "http://", "https://", "file:", "ssh-", "ecdsa-", "arn:", ":", "=", "!"];
    starts.iter().any(|start| value.starts_with(start) && (value.len() > 1 || *start == "=" || *start == ":"))
}

/// True for a program expression instead of a value.
fn is_code(value: &str, rest: &str) -> bool {
    let names = value.chars().all(|c| c.is_ascii_alphabetic() || matches!(c, '_' | '.' | ':' | '&' | '*' | '-' | '>'));
    let word = value.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len() < value.len();
    let call = rest.starts_with('(')
        || rest.starts_with('[')
        || (rest.starts_with(['"', '\'']) && value.ends_with(['(', '[']));
    value.contains("()")
        || value.contains("::")
        || call
        || value.ends_with(['(', '[', '{'])
        || value
            .find('(')
            .is_some_and(|at| at > 0 && value[..at].chars().all(|c| c.is_ascii_alphanumeric() || "._".contains(c)))
        || (names && word && value.contains('.') && !value.ends_with('.'))
        || (names && value.contains('_') && has_code_word(value))
        || matches!(value.chars().next(), Some('{' | '[' | '('))
}

fn has_code_word(value: &str) -> bool {
    let words =
        ["pass", "pwd", "secret", "key", "token", "input", "value", "arg", "env", "config", "user", "self", "hash"];
    let lower = value.to_ascii_lowercase();
    words.iter().any(|word| lower.contains(word))
}

/// True for letters and digits, or a long value of both cases, with enough entropy.
fn is_mixed(value: &str, bits: f64) -> bool {
    if !value.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-./+=~:!#$%^&*@?".contains(&b)) {
        return false;
    }
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    let mixed = (has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic))
        || (value.len() >= 20 && has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase));
    mixed && entropy(value) >= bits
}

/// Shannon entropy in bits per byte.
fn entropy(value: &str) -> f64 {
    let mut counts = [0u32; 256];
    for byte in value.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let length = value.len() as f64;
    counts.iter().filter(|&&count| count > 0).map(|&count| f64::from(count) / length).map(|p| -p * p.log2()).sum()
}

/// Longest run of base64 characters.
fn longest_run(block: &str) -> usize {
    // The dashes of the frame are not base64, and the words in it are short.
    block.split(|c: char| !(c.is_ascii_alphanumeric() || "+/=".contains(c))).map(str::len).max().unwrap_or(0)
}

/// True unless the words form a sentence or are common in prose about passwords.
fn is_phrase(rules: &SecretRules, text: &str) -> bool {
    let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    words.clone().filter(|word| rules.is_prose(word)).count() <= 1
        && !words.into_iter().any(|word| rules.is_function_word(word))
}

fn last_word(text: &str) -> &str {
    let text = text.trim_end_matches(|c: char| !c.is_alphanumeric());
    let start = text
        .rfind(|c: char| !c.is_alphanumeric())
        .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    &text[start..]
}

/// The words shortly before a position.
fn words_before(text: &str, at: usize) -> impl Iterator<Item = &str> {
    let mut from = at.saturating_sub(CONTEXT_BYTES);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text[from..at].split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// A group of digits and its byte range.
struct Group<'t> {
    span: Range<usize>,
    digits: &'t str,
}

/// Finds card numbers in digits separated by spaces and dashes.
fn cards(rules: &SecretRules, text: &str, run: Range<usize>, spans: &mut Vec<Range<usize>>) {
    let glued = |c: char| c.is_alphanumeric() || matches!(c, '_' | '/' | '=');
    let before = text[..run.start].chars().next_back();
    let decimal =
        |mut chars: std::str::Chars<'_>| matches!(chars.next(), Some('.')) && matches!(chars.next(), Some('0'..='9'));
    let after = &text[run.end..];
    if before.is_some_and(|c| glued(c) && c != '=' || matches!(c, '+' | '.' | '-'))
        || after.chars().next().is_some_and(glued)
        || decimal(after.chars())
    {
        return;
    }
    let mut groups = Vec::new();
    let mut at = run.start;
    for digits in text[run.clone()].split([' ', '-']) {
        groups.push(Group { span: at..at + digits.len(), digits });
        at += digits.len() + 1;
    }
    let mut first = 0;
    while first < groups.len() {
        let ends = (first + 1..=groups.len().min(first + CARD_DIGITS_MAX)).rev();
        let card = ends.map(|end| &groups[first..end]).find(|window| is_card(rules, text, window));
        first += match card {
            Some(window) => {
                spans.push(window[0].span.start..window[window.len() - 1].span.end);
                window.len()
            }
            None => 1,
        };
    }
}

fn is_card(rules: &SecretRules, text: &str, groups: &[Group<'_>]) -> bool {
    let digits: String = groups.iter().map(|group| group.digits).collect();
    if !(13..=CARD_DIGITS_MAX).contains(&digits.len()) || !luhn(&digits) {
        return false;
    }
    let said = words_before(text, groups[0].span.start).any(|word| rules.is_card_word(word));
    let other = words_before(text, groups[0].span.start).any(|word| rules.is_number_word(word));
    let sizes: Vec<usize> = groups.iter().map(|group| group.digits.len()).collect();
    let grouped = matches!(sizes.as_slice(), [4, 4, 4, 1..=4] | [4, 4, 4, 4, 1..=3] | [4, 6, 4 | 5]);
    let usual = matches!(digits.len(), 15 | 16);
    issued(&digits) && (groups.len() == 1 || grouped || said) && (said || ((usual || grouped) && !other))
}

/// True for prefixes and lengths that card issuers use.
fn issued(digits: &str) -> bool {
    let prefix = |length: usize| digits[..length].parse::<u32>().unwrap_or(0);
    let (one, two, three, four) = (prefix(1), prefix(2), prefix(3), prefix(4));
    match digits.len() {
        13 => one == 4,
        14 => matches!(three, 300..=305) || matches!(two, 36 | 38 | 39),
        15 => matches!(two, 34 | 37),
        16 => {
            matches!(one, 4)
                || matches!(two, 50..=58 | 60 | 62 | 63 | 64 | 65 | 67 | 81)
                || matches!(four, 2200..=2204 | 2221..=2720 | 3528..=3589)
        }
        _ => matches!(one, 4) || matches!(two, 50 | 56..=58 | 60 | 62..=65 | 67 | 81),
    }
}

fn luhn(digits: &str) -> bool {
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, byte)| {
            let digit = u32::from(byte - b'0') * if place % 2 == 1 { 2 } else { 1 };
            digit / 10 + digit % 10
        })
        .sum();
    sum.is_multiple_of(10) && digits.bytes().any(|byte| byte != b'0')
}

/// The IBAN at the start of a match, which may include a further word.
fn iban(rules: &SecretRules, text: &str, matched: Range<usize>) -> Option<Range<usize>> {
    let country = text.get(matched.start..matched.start + 2)?.to_ascii_uppercase();
    let length = rules.iban_length(&country)?;
    let mut plain = String::with_capacity(length);
    let mut end = matched.start;
    for (at, byte) in text[matched.clone()].bytes().enumerate() {
        if plain.len() == length {
            break;
        }
        if byte.is_ascii_alphanumeric() {
            plain.push(char::from(byte.to_ascii_uppercase()));
            end = matched.start + at + 1;
        }
    }
    let goes_on = text[end..].chars().next().is_some_and(char::is_alphanumeric);
    let moved = plain[4.min(plain.len())..].bytes().chain(plain[..4.min(plain.len())].bytes());
    let rest = moved.fold(0u32, |rest, byte| match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        _ => (rest * 100 + u32::from(byte - b'A') + 10) % 97,
    });
    (plain.len() == length && !goes_on && rest == 1).then_some(matched.start..end)
}

fn is_ssn(rules: &SecretRules, text: &str, span: &Range<usize>, introduced: bool) -> bool {
    let digits: String = text[span.clone()].chars().filter(char::is_ascii_digit).collect();
    let glued = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '-' | '+' | '_' | '/'));
    let given_out = !matches!(&digits[..3], "000" | "666")
        && !digits.starts_with('9')
        && &digits[3..5] != "00"
        && &digits[5..] != "0000";
    let named = words_before(text, span.start).any(|word| rules.is_number_word(word));
    given_out
        && !glued(text[span.end..].chars().next())
        && (introduced || (!named && !glued(text[..span.start].chars().next_back())))
}
