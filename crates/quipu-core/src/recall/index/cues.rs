//! Form features of passages and questions, besides terms and vectors. Passages: a rule for the assistant, a
//! preference, a number, a name. Questions: a request, or a question about the past, about a reply, for a number, for a
//! name.
//!
//! The patterns are in `languages/en/recall.toml`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use crate::recall::index::value_kind::{ValueKind, ValueKindPattern};
use crate::text::tokens;

/// The user tells the assistant how to behave.
pub(in crate::recall) const RULE: u8 = 1 << 3;
/// The user states a like, a dislike or a restriction.
pub(in crate::recall) const LIKES: u8 = 1 << 4;
/// It contains a number.
pub(in crate::recall) const NUMBER: u8 = 1 << 5;
/// It contains a name: a capital letter inside a sentence.
pub(in crate::recall) const NAME: u8 = 1 << 6;
/// It has hardly any content words: "Got it", "Thanks!".
pub(in crate::recall) const BRIEF: u8 = 1 << 7;

/// A passage with fewer distinct terms is brief.
const BRIEF_TERMS: usize = 4;

/// What a question asks for, by its form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::recall) struct QuestionForm {
    /// Something to be made, explained or suggested.
    pub(in crate::recall) request: bool,
    /// A past state.
    pub(in crate::recall) past: bool,
    /// A statement of the assistant.
    pub(in crate::recall) of_reply: bool,
    /// A number.
    pub(in crate::recall) number: bool,
    /// A name.
    pub(in crate::recall) name: bool,
    /// The order of events.
    pub(in crate::recall) order: bool,
    /// The last of several values: "now", "in the end".
    pub(in crate::recall) latest: bool,
    /// The first of several values: "at first", "used to".
    pub(in crate::recall) earliest: bool,
    /// What is ahead: "where will I work?".
    pub(in crate::recall) ahead: bool,
    /// The open tasks of the user: "what do I still have to do?".
    pub(in crate::recall) tasks: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    rule: String,
    likes: String,
    number: String,
    request: String,
    past: String,
    of_reply: String,
    asks_number: String,
    asks_name: String,
    asks_order: String,
    asks_latest: String,
    asks_earliest: String,
    asks_ahead: String,
    asks_tasks: String,
    value_kinds: Vec<ValueKindPattern>,
}

struct Patterns {
    rule: Regex,
    likes: Regex,
    number: Regex,
    request: Regex,
    past: Regex,
    of_reply: Regex,
    asks_number: Regex,
    asks_name: Regex,
    asks_order: Regex,
    asks_latest: Regex,
    asks_earliest: Regex,
    asks_ahead: Regex,
    asks_tasks: Regex,
    value_kinds: Vec<ValueKind>,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the patterns are part of the program and tests read them")]
    Patterns::parse(include_str!("../../languages/en/recall.toml")).expect("the built-in patterns are well formed")
});

impl Patterns {
    fn parse(text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        Ok(Self {
            rule: pattern(&file.rule)?,
            likes: pattern(&file.likes)?,
            number: pattern(&file.number)?,
            request: pattern(&file.request)?,
            past: pattern(&file.past)?,
            of_reply: pattern(&file.of_reply)?,
            asks_number: pattern(&file.asks_number)?,
            asks_name: pattern(&file.asks_name)?,
            asks_order: pattern(&file.asks_order)?,
            asks_latest: pattern(&file.asks_latest)?,
            asks_earliest: pattern(&file.asks_earliest)?,
            asks_ahead: pattern(&file.asks_ahead)?,
            asks_tasks: pattern(&file.asks_tasks)?,
            value_kinds: file.value_kinds.iter().map(ValueKind::parse).collect::<Result<_, _>>()?,
        })
    }
}

/// Compiles a case-insensitive pattern.
pub(in crate::recall) fn pattern(text: &str) -> Result<Regex, String> {
    RegexBuilder::new(text).case_insensitive(true).build().map_err(|error| error.to_string())
}

/// Returns the kind of value the question asks for, if its form shows it.
pub(in crate::recall) fn value_kind(question: &str) -> Option<&'static ValueKind> {
    PATTERNS.value_kinds.iter().find(|kind| kind.is_asked_by(question))
}

/// The marks of a passage, as a bit set. Rules and preferences are marked only in the user's words, not in replies.
pub(in crate::recall) fn marks_of(passage: &str, is_reply: bool) -> u8 {
    let patterns = &*PATTERNS;
    let own = |pattern: &Regex| !is_reply && pattern.is_match(passage);
    let marks = [
        (RULE, own(&patterns.rule)),
        (LIKES, own(&patterns.likes)),
        (NUMBER, patterns.number.is_match(passage)),
        (NAME, has_name(passage)),
        (BRIEF, is_brief(passage)),
    ];
    marks.iter().filter(|(_, holds)| *holds).map(|(mark, _)| mark).sum()
}

fn is_brief(passage: &str) -> bool {
    let mut terms = BTreeSet::new();
    tokens::for_each_term(passage, |term| {
        if terms.len() < BRIEF_TERMS {
            terms.insert(term.to_owned());
        }
    });
    terms.len() < BRIEF_TERMS
}

/// Returns true if a capitalised word occurs inside a sentence.
pub(crate) fn has_name(passage: &str) -> bool {
    let mut opens = true;
    for word in passage.split_whitespace() {
        let bare = word.trim_start_matches(|c: char| !c.is_alphanumeric());
        let mut letters = bare.chars();
        let capital = letters.next().is_some_and(char::is_uppercase) && letters.next().is_some_and(char::is_lowercase);
        if capital && !opens {
            return true;
        }
        opens = word.ends_with(['.', '!', '?']);
    }
    false
}

/// Added to the relevance of what was said last, for a question that asks for the last value, and subtracted for one
/// that asks for the first. Fitted on four people of `quipu eval assistant`.
const LEAN: f64 = 0.1;

impl QuestionForm {
    /// What to add to the relevance of what was said last, and in proportion for what was said earlier.
    pub(in crate::recall) fn lean(&self) -> f64 {
        match () {
            () if self.order || self.request => 0.0,
            // "How many days were between the first and the last?"
            () if self.earliest && (self.latest || self.number) => 0.0,
            () if self.earliest => -LEAN,
            () if self.latest => LEAN,
            () => 0.0,
        }
    }

    pub(in crate::recall) fn of(question: &str) -> Self {
        let patterns = &*PATTERNS;
        Self {
            request: patterns.request.is_match(question),
            past: patterns.past.is_match(question),
            of_reply: patterns.of_reply.is_match(question),
            number: patterns.asks_number.is_match(question),
            name: patterns.asks_name.is_match(question),
            order: patterns.asks_order.is_match(question),
            latest: patterns.asks_latest.is_match(question),
            earliest: patterns.asks_earliest.is_match(question),
            ahead: patterns.asks_ahead.is_match(question),
            tasks: patterns.asks_tasks.is_match(question),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_are_marked_by_their_form() {
        for (text, is_reply, expected) in [
            ("Got it, thanks!", false, BRIEF),
            ("never use emojis when writing to customers", false, RULE),
            ("never use emojis when writing to customers", true, 0),
            ("I can't stand coriander in a curry dinner", false, LIKES),
            ("my sister Jana turns 40 on friday, gift ideas wanted", false, NUMBER | NAME),
            ("Jana is here. Tomorrow we bake bread together outside", false, 0),
            ("", false, BRIEF),
        ] {
            assert_eq!(marks_of(text, is_reply), expected, "{text:?}");
        }
    }

    #[test]
    fn questions_for_tasks_are_known() {
        for (text, expected) in [
            ("what do I still have to do?", true),
            ("What do I need to get done this week?", true),
            ("what's left to do", true),
            ("what's on my list?", true),
            ("What is still on my to-do list for today?", true),
            ("show me my open tasks", true),
            ("my todos", true),
            ("Which tasks are still open?", true),
            ("Remind me what I have to do tomorrow", true),
            ("anything left to do today?", true),
            ("what am I supposed to do today", true),
            ("what haven't I done yet?", true),
            ("what do I have to do to renew a passport?", false),
            ("What did Anna have to do with it?", false),
            ("what should I do about my knee?", false),
            ("what do I do for a living?", false),
            ("which tasks does Tom have at work?", false),
            ("what do I need to do before the colonoscopy?", false),
            ("What do I have to do on arrival in Japan?", false),
            ("what do I need to do by law?", false),
            ("what is there to do this weekend?", false),
            ("what did I have to do?", false),
            ("Do I have any open tasks?", true),
            ("Which tasks are overdue?", true),
            ("what is overdue?", true),
            ("what are my goals?", true),
            ("What deadlines do I have?", true),
            ("what do I have to do by Friday?", true),
            ("what's on at the cinema", false),
        ] {
            assert_eq!(QuestionForm::of(text).tasks, expected, "{text:?}");
        }
    }

    #[test]
    fn questions_are_read_by_their_form() {
        let none = QuestionForm::default();
        for (text, expected) in [
            ("what is my sister called?", QuestionForm { name: true, ..none }),
            ("How many people work for Ines?", QuestionForm { number: true, ..none }),
            ("where did i work before the bakery", QuestionForm { past: true, name: true, earliest: true, ..none }),
            ("What does Gravy weigh these days?", QuestionForm { latest: true, ..none }),
            ("what day did the inspection end up being", QuestionForm { past: true, latest: true, ..none }),
            (
                "Which book did you recommend for the train?",
                QuestionForm { past: true, of_reply: true, request: true, ..none },
            ),
            ("in which order did I try the sourdough recipes", QuestionForm { past: true, order: true, ..none }),
            ("write a toast for Ben's wedding", QuestionForm { request: true, ..none }),
        ] {
            assert_eq!(QuestionForm::of(text), expected, "{text:?}");
        }
    }
}
