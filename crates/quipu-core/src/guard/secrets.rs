//! Secrets are taken out before anything is stored: `[REDACTED:kind]` stands in their place.

mod check;
mod rules;

use std::borrow::Cow;
use std::ops::Range;

use rules::RULES;

/// What a marker begins with.
const MARKER: &str = "[REDACTED:";
/// Longest kind in a marker, in bytes; anything longer is not a marker.
const KIND_BYTES_MAX: usize = 32;
/// Redaction is repeated until nothing more is found, since what is next to a marker may now read differently.
const PASSES_MAX: usize = 8;

/// A text without the secrets that were recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<'t> {
    /// The text to keep. Borrowed when nothing was found.
    pub text: Cow<'t, str>,
    /// What was taken out, in the order of the text.
    pub found: Vec<Redaction>,
}

/// One secret that was taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redaction {
    /// What it was: `github_token`, `password`, `credit_card`, …
    pub kind: &'static str,
    /// Where its marker stands in the new text, in bytes.
    pub span: Range<usize>,
}

/// Replaces every secret that is recognised by `[REDACTED:kind]`.
///
/// Of an assignment, a sentence or a connection string only the value goes; the words around it stay. What is already
/// a marker stays, so redacting twice is redacting once. Placeholders (`<password>`, `****`, `${VAR}`) stay too.
///
/// Not guaranteed: a secret of unknown shape that nothing introduces is not recognised.
pub fn redact(text: &str) -> Redacted<'_> {
    let mut now = Cow::Borrowed(text);
    let mut found = Vec::new();
    for _ in 0..PASSES_MAX {
        let secrets = secrets_in(&now);
        if secrets.is_empty() {
            break;
        }
        let (next, moved) = replace(&now, &secrets, &found);
        now = Cow::Owned(next);
        found = moved;
    }
    Redacted { text: now, found }
}

/// A secret where it stands, with the place of its rule in the file: the smaller one names the kind.
#[derive(Debug, Clone)]
struct Secret {
    span: Range<usize>,
    rule: usize,
}

/// The secrets of a text: in order, apart from each other, none of them a marker.
fn secrets_in(text: &str) -> Vec<Secret> {
    let rules = &*RULES;
    let hits = rules.set.matches(text);
    if !hits.matched_any() {
        return Vec::new();
    }
    let markers = markers(text);
    let mut all = Vec::new();
    for rule in &hits {
        for span in check::spans(rules, rule, text) {
            if let Some(span) = outside(&markers, span) {
                all.push(Secret { span, rule });
            }
        }
    }
    all.sort_by_key(|secret| (secret.span.start, secret.rule));
    let mut apart: Vec<Secret> = Vec::with_capacity(all.len());
    for secret in all {
        match apart.last_mut() {
            Some(last) if secret.span.start < last.span.end => {
                last.span.end = last.span.end.max(secret.span.end);
                last.rule = last.rule.min(secret.rule);
            }
            _ => apart.push(secret),
        }
    }
    apart
}

/// Where markers stand.
fn markers(text: &str) -> Vec<Range<usize>> {
    let marker = |at: usize| {
        let kind = &text[at + MARKER.len()..];
        let length = kind.bytes().take(KIND_BYTES_MAX + 1).position(|b| !(b.is_ascii_lowercase() || b == b'_'))?;
        (length > 0 && kind.as_bytes()[length] == b']').then(|| at..at + MARKER.len() + length + 1)
    };
    text.match_indices(MARKER).filter_map(|(at, _)| marker(at)).collect()
}

/// The span, widened so that it cuts no marker; nothing if it holds nothing but a marker.
fn outside(markers: &[Range<usize>], mut span: Range<usize>) -> Option<Range<usize>> {
    let first = markers.partition_point(|marker| marker.end <= span.start);
    let mut covered = 0;
    for marker in &markers[first..] {
        if marker.start >= span.end {
            break;
        }
        span.start = span.start.min(marker.start);
        span.end = span.end.max(marker.end);
        covered += marker.len();
    }
    (span.len() > covered).then_some(span)
}

/// The text with markers in place of secrets, and where all markers made so far stand now.
fn replace(text: &str, secrets: &[Secret], before: &[Redaction]) -> (String, Vec<Redaction>) {
    let mut next = String::with_capacity(text.len());
    let mut moved = Vec::with_capacity(before.len() + secrets.len());
    let mut earlier = before.iter().peekable();
    let mut from = 0;
    for secret in secrets {
        while let Some(kept) = earlier.next_if(|kept| kept.span.end <= secret.span.start) {
            let start = next.len() + kept.span.start - from;
            moved.push(Redaction { kind: kept.kind, span: start..start + kept.span.len() });
        }
        // What the secret swallows is told as part of it.
        while earlier.next_if(|kept| kept.span.start < secret.span.end).is_some() {}
        next.push_str(&text[from..secret.span.start]);
        let kind = RULES.kind(secret.rule);
        let start = next.len();
        next.push_str(MARKER);
        next.push_str(kind);
        next.push(']');
        moved.push(Redaction { kind, span: start..next.len() });
        from = secret.span.end;
    }
    for kept in earlier {
        let start = next.len() + kept.span.start - from;
        moved.push(Redaction { kind: kept.kind, span: start..start + kept.span.len() });
    }
    next.push_str(&text[from..]);
    (next, moved)
}
