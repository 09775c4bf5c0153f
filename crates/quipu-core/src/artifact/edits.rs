//! Detects edits made by hand: compares a page as written with the page as it is now, line by line.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::markdown::unescape;
use super::page::fact_of_block;
use crate::Memory;
use crate::id::ItemId;
use crate::item::{Fact, ProposedEdit, Review, ReviewKind};
use crate::limit;

/// One edit on a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageEdit {
    /// The text of a statement was changed.
    Worded {
        /// The fact.
        fact: ItemId,
        /// The text as written by Quipu.
        was: String,
        /// The text now.
        now: String,
    },
    /// The score of a statement was changed.
    Scored {
        /// The fact.
        fact: ItemId,
        /// The score as written by Quipu.
        was: Option<u8>,
        /// The score now.
        now: u8,
    },
    /// A statement was removed.
    Removed {
        /// The fact.
        fact: ItemId,
        /// Its text as written by Quipu.
        was: String,
    },
    /// A line was added.
    Added {
        /// The line.
        text: String,
    },
}

/// The line of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PageLine {
    text: String,
    score: Option<u8>,
}

/// The edits on a Markdown page.
pub fn edits_of_page(written: &str, edited: &str) -> Vec<PageEdit> {
    let (base, known) = lines(written, None);
    let (now, others) = lines(edited, Some(&base));
    let mut edits = compare(&base, &now);
    // Without its title the page is incomplete: missing lines do not count as removals.
    let title = known.iter().find(|line| line.starts_with("# "));
    if title.is_some_and(|title| !others.contains(title)) {
        edits.retain(|edit| !matches!(edit, PageEdit::Removed { .. }));
    }
    let mut gone: Vec<&str> = known.iter().copied().filter(|line| !others.contains(line)).collect();
    for line in others.iter().filter(|line| !known.contains(line) && says_something(line)) {
        // A reworded line of Quipu's own is not a new line.
        match gone.iter().position(|old| is_like(old, line)) {
            Some(at) => drop(gone.remove(at)),
            None => edits.push(PageEdit::Added { text: plain(line) }),
        }
        if edits.len() >= limit::EDITS_PER_PAGE_MAX {
            break;
        }
    }
    edits.truncate(limit::EDITS_PER_PAGE_MAX);
    edits
}

/// True if two lines share at least half of their words.
fn is_like(old: &str, new: &str) -> bool {
    let words = |line: &str| line.split_whitespace().map(str::to_lowercase).collect::<BTreeSet<String>>();
    let (old, new) = (words(old), words(new));
    2 * old.intersection(&new).count() >= old.len().max(new.len())
}

/// The edits on a JSON page. None if either text is not JSON.
pub fn edits_of_json(written: &[u8], edited: &[u8]) -> Option<Vec<PageEdit>> {
    let read = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
    let (written, edited) = (read(written)?, read(edited)?);
    let (mut base, mut now) = (BTreeMap::new(), BTreeMap::new());
    rows(&written, &mut base);
    rows(&edited, &mut now);
    let mut edits = compare(&base, &now);
    if written.get("schema") != edited.get("schema") {
        edits.retain(|edit| !matches!(edit, PageEdit::Removed { .. }));
    }
    edits.truncate(limit::EDITS_PER_PAGE_MAX);
    Some(edits)
}

fn compare(base: &BTreeMap<ItemId, PageLine>, now: &BTreeMap<ItemId, PageLine>) -> Vec<PageEdit> {
    let mut edits = Vec::new();
    for (&fact, was) in base {
        let Some(is) = now.get(&fact) else {
            edits.push(PageEdit::Removed { fact, was: was.text.clone() });
            continue;
        };
        if is.text != was.text {
            edits.push(PageEdit::Worded { fact, was: was.text.clone(), now: is.text.clone() });
        }
        if let Some(now) = is.score.filter(|_| is.score != was.score) {
            edits.push(PageEdit::Scored { fact, was: was.score, now });
        }
    }
    edits
}

/// The statements of a page by item id, and its other lines. With `base`, the known text of a statement marks where its
/// text ends.
fn lines<'a>(page: &'a str, base: Option<&BTreeMap<ItemId, PageLine>>) -> (BTreeMap<ItemId, PageLine>, Vec<&'a str>) {
    let mut statements = BTreeMap::new();
    let mut others = Vec::new();
    let mut front = page.starts_with("---\n");
    for (number, line) in page.lines().enumerate() {
        if front {
            // Skips the front matter.
            front = number == 0 || line != "---";
            continue;
        }
        let statement = line.trim_end().rsplit_once(" ^").and_then(|(words, block)| {
            let words = words.trim_start().strip_prefix("- ")?;
            Some((fact_of_block(block)?, words))
        });
        match statement {
            Some((fact, words)) => {
                drop(statements.insert(fact, statement_of(words, base.and_then(|base| base.get(&fact)))))
            }
            None => others.push(line.trim()),
        }
    }
    (statements, others)
}

/// Separates a statement from its notes.
const DASH: &str = " — ";
/// How notes on a page begin.
const NOTES: [&str; 4] = ["from ", "not quite sure", "pinned", "[[topics/"];

/// Parses `words (score 9) — notes`.
fn statement_of(words: &str, known: Option<&PageLine>) -> PageLine {
    // The text itself may contain a dash: the notes begin after the known text, or at a dash followed by a known
    // beginning.
    let known = known.map(|line| super::markdown::escape(&line.text)).filter(|text| words.starts_with(text.as_str()));
    let end = known.map_or(0, |text| text.len());
    let dashes = words[end..].match_indices(DASH).map(|(at, _)| at + end);
    let begins = |at: usize| NOTES.iter().any(|note| words[at + DASH.len()..].starts_with(note));
    let mut notes = dashes.filter(|&at| (end > 0 && at == end) || begins(at));
    let notes = notes.next().unwrap_or(words.len());
    let said = words[..notes].trim_end();
    let scored = said.strip_suffix(')').and_then(|said| said.rsplit_once(" (score "));
    match scored.and_then(|(said, score)| Some((said, score.trim().parse::<u8>().ok().filter(|score| *score <= 10)?))) {
        Some((said, score)) => PageLine { text: unescape(said.trim()), score: Some(score) },
        None => PageLine { text: unescape(said.trim()), score: None },
    }
}

/// True unless a line is a heading, a rule, or only marks.
fn says_something(line: &str) -> bool {
    !line.starts_with('#') && line.chars().filter(|c| c.is_alphabetic()).count() >= 3
}

/// A line without its list mark.
fn plain(line: &str) -> String {
    let line = line.trim_start_matches(['-', '*', '+', '>', ' ']);
    let line = line.strip_prefix("[ ] ").or_else(|| line.strip_prefix("[x] ")).unwrap_or(line);
    unescape(line.trim())
}

/// Collects every object that is a statement, at any depth.
fn rows(value: &Value, found: &mut BTreeMap<ItemId, PageLine>) {
    match value {
        Value::Array(list) => list.iter().for_each(|element| rows(element, found)),
        Value::Object(members) => {
            let text = |name: &str| members.get(name).and_then(Value::as_str);
            let id = text("id").and_then(|id| id.parse::<ItemId>().ok());
            if let (Some(id), Some(text)) = (id.filter(|id| id.kind == crate::id::ItemKind::Fact), text("text")) {
                let score = members.get("user_fact_score").and_then(Value::as_u64);
                let score = score.and_then(|score| u8::try_from(score).ok()).filter(|score| *score <= 10);
                found.insert(id, PageLine { text: text.to_owned(), score });
            }
            members.values().for_each(|member| rows(member, found));
        }
        _ => {}
    }
}

/// The review to open for an edit, from the page before, the page now and the memory now. None if the memory already
/// agrees, the fact is gone, or the same review is waiting.
pub fn propose(memory: &Memory, page: &str, edit: &PageEdit, id: ItemId) -> Option<Review> {
    let items = memory.items();
    let fact = |id: &ItemId| items.fact(*id).filter(|fact| fact.is_active() && !items.is_hidden(fact.id));
    let (about, proposed, question, reason) = match edit {
        PageEdit::Added { text } => {
            let proposed = ProposedEdit::Said { text: clipped(text), instead_of: None };
            (id, proposed, format!("{page} has a new line: “{}”. Take it up?", clipped(text)), ADDED.to_owned())
        }
        PageEdit::Worded { fact: of, was, now } => {
            let fact = fact(of)?;
            if fact.text == *now || says(was, now) {
                return None;
            }
            let question = format!("{page} says “{}” instead of “{}”. Change it?", clipped(now), clipped(was));
            (*of, reworded(fact, now), question, since(fact, was))
        }
        PageEdit::Scored { fact: of, was, now } => {
            let fact = fact(of)?;
            if fact.user_fact_score == Some(*now) {
                return None;
            }
            let moved = fact.user_fact_score != *was;
            let reason = if moved { "its score was changed here too since the page was written" } else { EDITED };
            let question = format!("{page} gives “{}” the score {now}. Take it?", clipped(&fact.text));
            (*of, ProposedEdit::Score { score: *now }, question, reason.to_owned())
        }
        PageEdit::Removed { fact: of, was } => {
            let fact = fact(of)?;
            let question = format!("“{}” was taken out of {page}. Take it back?", clipped(was));
            (*of, ProposedEdit::Gone, question, since(fact, was))
        }
    };
    let known = |review: &Review| {
        let same = review.about == about || (about == id && review.about == review.id);
        same && review.proposed.as_ref() == Some(&proposed)
    };
    if items.waiting().any(known) {
        return None;
    }
    Some(Review {
        id,
        kind: ReviewKind::Edit,
        about,
        against: None,
        question,
        reason,
        proposer: crate::event::Actor::System,
        opened_at: None,
        promotion: None,
        decided: None,
        proposed: Some(proposed),
    })
}

const EDITED: &str = "a page was edited by hand";
const ADDED: &str = "a line was added by hand";

/// The reason of the review; names the memory's own text if that has changed too.
fn since(fact: &Fact, was: &str) -> String {
    if says(was, &fact.text) {
        return EDITED.to_owned();
    }
    format!("since the page was written, the memory has come to say “{}”", clipped(&fact.text))
}

/// True if two lines are the same, up to escaping and shortening.
fn says(was: &str, text: &str) -> bool {
    let shown = unescape(&super::markdown::escape(text));
    was == text || was == shown || was.strip_suffix('…').is_some_and(|start| shown.starts_with(start))
}

/// The statement with another value if only the value changed; otherwise a replacement text.
pub(crate) fn reworded(fact: &Fact, now: &str) -> ProposedEdit {
    match new_value(fact, now) {
        Some(object) => ProposedEdit::Value { object },
        None => ProposedEdit::Said { text: clipped(now), instead_of: Some(fact.id) },
    }
}

/// The new value in an edited sentence, if the rest of the sentence is unchanged.
pub(crate) fn new_value(fact: &Fact, now: &str) -> Option<String> {
    let at = fact.text.rfind(&fact.object)?;
    let (before, after) = (&fact.text[..at], &fact.text[at + fact.object.len()..]);
    let value = now.trim_end_matches('.').strip_prefix(before)?.strip_suffix(after.trim_end_matches('.'))?.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

pub(crate) fn clipped(text: &str) -> String {
    super::topic::clip(text, limit::NOTE_BYTES_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITTEN: &str = "---\nschema: x\n---\n# Work\n\nUser lives in Porto.\n\n## Facts\n\n- User lives in Porto — from 2 March 2026, [[topics/a/b|c]] ^fact-0000000000001\n- User likes A — B (score 3) ^fact-0000000000002\n- User has \\[\\[x\\]\\] ^fact-0000000000003\n";

    fn fact(bits: u64) -> ItemId {
        ItemId { kind: crate::id::ItemKind::Fact, bits }
    }

    #[track_caller]
    fn check(from: &str, to: &str, expected: &[PageEdit]) {
        let edited = WRITTEN.replace(from, to);
        assert_ne!(edited, WRITTEN);
        assert_eq!(edits_of_page(WRITTEN, &edited), expected, "{from:?} to {to:?}");
    }

    #[test]
    fn changed_lines_are_known_by_their_block() {
        let worded =
            |bits, was: &str, now: &str| PageEdit::Worded { fact: fact(bits), was: was.into(), now: now.into() };
        assert_eq!(edits_of_page(WRITTEN, WRITTEN), []);
        check(
            "- User lives in Porto",
            "- User lives in Faro",
            &[worded(1, "User lives in Porto", "User lives in Faro")],
        );
        check("\\[\\[x\\]\\]", "a [link]", &[worded(3, "User has [[x]]", "User has a [link]")]);
        check("(score 3)", "(score 9)", &[PageEdit::Scored { fact: fact(2), was: Some(3), now: 9 }]);
        check(" — from 2 March 2026", " — whatever", &[]);
        check(
            "^fact-0000000000003\n",
            "^fact-0000000000003\n- I play chess\n",
            &[PageEdit::Added { text: "I play chess".into() }],
        );
        let line = "- User has \\[\\[x\\]\\] ^fact-0000000000003\n";
        check(line, "", &[PageEdit::Removed { fact: fact(3), was: "User has [[x]]".into() }]);
        check("schema: x", "schema: y", &[]);
        check("# Work", "# Worked", &[]);
        check("\nUser lives in Porto.\n", "\nUser lives in Faro.\n", &[]);
        assert_eq!(edits_of_page(WRITTEN, ""), []);
    }

    #[test]
    fn a_score_may_be_given_where_there_was_none() {
        check("Porto — from", "Porto (score 10) — from", &[PageEdit::Scored { fact: fact(1), was: None, now: 10 }]);
    }

    #[test]
    fn statements_of_json_are_found_at_any_depth() {
        let page = |text: &str, score: &str| {
            format!(r#"{{"a":[{{"facts":[{{"id":"fact_0000000000001","text":"{text}"{score}}}]}}]}}"#).into_bytes()
        };
        let was = page("x", "");
        let score = r#","user_fact_score":7"#;
        assert_eq!(
            edits_of_json(&was, &page("x", score)),
            Some(vec![PageEdit::Scored { fact: fact(1), was: None, now: 7 }])
        );
        assert_eq!(edits_of_json(&was, b"{\"a\":"), None);
        assert_eq!(edits_of_json(&was, b"{}"), Some(vec![PageEdit::Removed { fact: fact(1), was: "x".into() }]));
    }
}
