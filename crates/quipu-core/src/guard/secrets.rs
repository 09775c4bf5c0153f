//! Replaces secrets by `[REDACTED:kind]` before anything is stored.

mod check;
mod rules;

use std::borrow::Cow;
use std::ops::Range;

use rules::RULES;

/// Start of a marker.
const MARKER: &str = "[REDACTED:";
/// Longest kind in a marker, in bytes; anything longer is not a marker.
const KIND_BYTES_MAX: usize = 32;
/// Redaction is repeated until nothing is found, since a new marker may change how its surroundings match.
const PASSES_MAX: usize = 8;

/// A text without its recognised secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<'t> {
    /// The redacted text; borrowed if nothing was found.
    pub text: Cow<'t, str>,
    /// The redactions, in text order.
    pub found: Vec<Redaction>,
}

/// One redacted secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redaction {
    /// Its kind: `github_token`, `password`, `credit_card`, …
    pub kind: &'static str,
    /// Byte range of its marker in the redacted text.
    pub span: Range<usize>,
}

/// Replaces every recognised secret by `[REDACTED:kind]`.
///
/// Of an assignment, a sentence or a connection string only the value is replaced. Markers are kept, so redaction is
/// idempotent. Placeholders (`<password>`, `****`, `${VAR}`) are kept too.
///
/// A secret of unknown shape without a label is not recognised.
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

/// A secret and the index of its rule; the smallest index determines the kind.
#[derive(Debug, Clone)]
struct Secret {
    span: Range<usize>,
    rule: usize,
}

/// The secrets of a text: in order, disjoint, and not markers.
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

/// The byte ranges of markers.
fn markers(text: &str) -> Vec<Range<usize>> {
    let marker = |at: usize| {
        let kind = &text[at + MARKER.len()..];
        let length = kind.bytes().take(KIND_BYTES_MAX + 1).position(|b| !(b.is_ascii_lowercase() || b == b'_'))?;
        (length > 0 && kind.as_bytes()[length] == b']').then(|| at..at + MARKER.len() + length + 1)
    };
    text.match_indices(MARKER).filter_map(|(at, _)| marker(at)).collect()
}

/// The span, widened to include partly covered markers; none if it contains only markers.
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

/// Inserts markers; returns the text and the new positions of all markers so far.
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
        // Redactions inside the secret become part of it.
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
