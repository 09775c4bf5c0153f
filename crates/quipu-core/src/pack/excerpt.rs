//! Selects the relevant sentences of a long text.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use super::term_table::TermTable;
use super::tokens::{costs_at_most, estimate_tokens};
use crate::episode;

/// Ellipsis for omitted text.
pub(super) const LEFT_OUT: &str = "…";

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The sentences, with `…` for omitted ones.
    pub text: String,
    /// Byte range from the first to the last of them.
    pub span: Range<usize>,
    /// True if nothing is omitted.
    pub whole: bool,
}

/// Selects sentences that overlap `near` or contain wanted terms, and their neighbours, up to about `tokens_max`
/// tokens.
///
/// A short text is returned whole. At least one sentence is returned; one that is too long is cut at a word.
pub fn excerpt(text: &str, near: &[Range<usize>], wanted: &BTreeSet<String>, tokens_max: usize) -> Excerpt {
    let mut table = TermTable::default();
    let mut wanted: Vec<u32> = wanted.iter().map(|term| table.number_of_term(term)).collect();
    wanted.sort_unstable();
    excerpts(text, near, (&mut table, &wanted), &[tokens_max]).pop().unwrap_or_else(|| whole(text))
}

/// Excerpts of several sizes, shortest first; ends early at one that is the whole text. The text is split into
/// sentences once for all sizes, and not at all if it is short enough.
pub fn excerpts(
    text: &str,
    near: &[Range<usize>],
    (table, wanted): (&mut TermTable, &[u32]),
    sizes: &[usize],
) -> Vec<Excerpt> {
    // Sentences never cost more than the whole text.
    if sizes.first().is_some_and(|&tokens_max| costs_at_most(text, tokens_max)) {
        return vec![whole(text)];
    }
    let pieces = pieces(text);
    let weights: Vec<usize> = pieces.iter().map(|piece| estimate_tokens(&text[piece.clone()])).collect();
    let all: usize = weights.iter().sum();
    let mut worth = None;
    let mut made = Vec::with_capacity(sizes.len());
    for &tokens_max in sizes {
        if pieces.is_empty() || all <= tokens_max {
            made.push(whole(text));
            break;
        }
        let worth = worth.get_or_insert_with(|| {
            let worth = |piece: &Range<usize>| {
                let is_near = near.iter().any(|near| near.start < piece.end && piece.start < near.end);
                let having = table.count_in(&text[piece.clone()], wanted);
                2 * having + 2 * usize::from(is_near)
            };
            pieces.iter().map(worth).collect::<Vec<_>>()
        });
        let chosen = chosen(&weights, worth, tokens_max);
        made.push(joined(text, &pieces, &chosen, tokens_max));
    }
    made
}

fn whole(text: &str) -> Excerpt {
    Excerpt { text: text.trim().to_owned(), span: 0..text.len(), whole: true }
}

/// For each sentence, whether it is selected.
fn chosen(weights: &[usize], worth: &[usize], tokens_max: usize) -> Vec<bool> {
    let first = (0..worth.len()).max_by_key(|&at| (worth[at], Reverse(at))).unwrap_or_default();
    let mut chosen = vec![false; worth.len()];
    chosen[first] = true;
    let mut left = tokens_max.saturating_sub(weights[first]);
    loop {
        // A neighbour of a selected sentence gains value; closer to the first one wins.
        let has = |at: usize| chosen.get(at).is_some_and(|chosen| *chosen);
        let beside = |at: usize| has(at + 1) || (at > 0 && has(at - 1));
        let open = (0..worth.len()).filter(|&at| !chosen[at] && weights[at] <= left);
        let worth = |at: usize| 2 * worth[at] + 3 * usize::from(beside(at));
        let order = |at: usize| (worth(at), Reverse(at.abs_diff(first)), at);
        let Some(next) = open.filter(|at| worth(*at) > 0).max_by_key(|&at| order(at)) else { break };
        left -= weights[next];
        chosen[next] = true;
    }
    chosen
}

fn joined(text: &str, pieces: &[Range<usize>], chosen: &[bool], tokens_max: usize) -> Excerpt {
    let places: Vec<usize> = (0..chosen.len()).filter(|&at| chosen[at]).collect();
    let (first, last) = (places.first().copied().unwrap_or_default(), places.last().copied().unwrap_or_default());
    let mut made = String::new();
    let mut before = None;
    for &at in &places {
        let gap = before.map_or(at > 0, |before: usize| at > before + 1);
        if before.is_some() {
            made.push(' ');
        }
        if gap {
            made.push_str(LEFT_OUT);
            made.push(' ');
        }
        made.push_str(&text[pieces[at].clone()]);
        before = Some(at);
    }
    let mut end = pieces[last].end;
    if let [only] = places[..]
        && estimate_tokens(&made) > tokens_max
    {
        made = cut_at_a_word(&made, tokens_max);
        end = (pieces[only].start + made.len()).min(end);
        end = text.floor_char_boundary(end);
        made.push_str(LEFT_OUT);
    } else if last + 1 < pieces.len() {
        made.push(' ');
        made.push_str(LEFT_OUT);
    }
    Excerpt { text: made, span: pieces[first].start..end, whole: false }
}

fn cut_at_a_word(text: &str, tokens_max: usize) -> String {
    let mut kept = String::new();
    let mut left = tokens_max;
    for word in text.split_inclusive(char::is_whitespace) {
        let cost = estimate_tokens(word);
        if cost > left {
            break;
        }
        left -= cost;
        kept.push_str(word);
    }
    if kept.is_empty() {
        // A single very long word is cut by characters.
        kept = text.chars().take(4 * tokens_max.max(1)).collect();
    }
    kept.truncate(kept.trim_end().len());
    kept
}

/// The sentences, including code and lists: a line without sentences counts as one.
fn pieces(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let inner = line.trim();
        if inner.is_empty() {
            continue;
        }
        let sentences = episode::sentences(line);
        match sentences.is_empty() {
            true => {
                let first = start + (line.len() - line.trim_start().len());
                found.push(first..first + inner.len());
            }
            false => found.extend(sentences.into_iter().map(|one| start + one.start..start + one.end)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::words::terms;
    use super::*;

    const LONG: &str = "We spent the whole morning at the market. The stalls were full. I bought three kinds of cheese. \
        My cousin Rui runs the fish stall. He told me that he closes it in June. Then it rained. We took the tram home. \
        In the evening we played cards until late.";

    fn found(near: &str, wanted: &str, tokens: usize) -> Excerpt {
        let near: Vec<Range<usize>> = LONG.find(near).map(|at| at..at + near.len()).into_iter().collect();
        excerpt(LONG, if near.first().is_some_and(Range::is_empty) { &[] } else { &near }, &terms(wanted), tokens)
    }

    #[test]
    fn the_sentence_that_answers_stands_with_its_neighbours() {
        let made = found("Rui runs", "", 30);
        assert!(made.text.contains("My cousin Rui runs the fish stall. He told me"), "{}", made.text);
        assert!(made.text.starts_with("… ") && made.text.ends_with(" …") && !made.whole, "{}", made.text);
        let made = found("", "cards evening", 24);
        assert!(made.text.contains("In the evening we played cards until late."), "{}", made.text);
        assert!(!made.text.ends_with('…'));
    }

    #[test]
    fn a_short_text_is_whole_and_an_endless_one_is_cut() {
        assert_eq!(excerpt(" a b ", &[], &BTreeSet::new(), 10).text, "a b");
        assert_eq!(excerpt("", &[], &BTreeSet::new(), 10).text, "");
        let made = excerpt(&"word ".repeat(500), &[], &BTreeSet::new(), 10);
        assert!(made.text.ends_with("word…") && estimate_tokens(&made.text) <= 12, "{}", made.text);
        let made = excerpt(&"ü".repeat(500), &[], &BTreeSet::new(), 10);
        assert!(made.text.chars().count() <= 41, "{}", made.text);
    }

    #[test]
    fn what_lies_apart_is_joined_by_a_mark() {
        let made = found("three kinds of cheese", "cards", 24);
        assert!(made.text.contains("cheese.") && made.text.contains("cards"), "{}", made.text);
        assert!(made.text.matches('…').count() >= 2, "{}", made.text);
    }
}
