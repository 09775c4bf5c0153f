//! Questions for what was talked about at a time: "what did we discuss yesterday?", "where did we leave off?". Their words
//! describe no message, so only what was said on those days is searched.

use std::ops::Range;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::plan::QueryPlan;
use crate::calendar::day_number;
use crate::calendar::intervals::{self, Interval};
use crate::id::ItemKind;
use crate::memory::{HeldSource, Memory};
use crate::text::tokens::{TextToken, has_phrase, words};

/// Verbs and nouns of talk.
const OF_TALK: &[&str] = &[
    "talk",
    "talked",
    "talking",
    "speak",
    "spoke",
    "discuss",
    "discussed",
    "chat",
    "chatted",
    "say",
    "said",
    "tell",
    "told",
    "mention",
    "mentioned",
    "conversation",
    "conversations",
    "discussion",
    "session",
];
/// Words of a talk with the user.
const WITH_THE_USER: &[&str] = &["we", "i", "us", "me", "our", "my", "you", "conversation", "session", "chat"];
/// The end of the last conversation.
const LEFT_OFF: &[&[&str]] = &[&["leave", "off"], &["left", "off"]];
/// The last conversation, as a time.
const LAST: &[&[&str]] = &[
    &["last", "time"],
    &["last", "conversation"],
    &["last", "session"],
    &["last", "chat"],
    &["last", "talk"],
    &["last", "discussion"],
    &["previous", "conversation"],
    &["previous", "session"],
    &["previous", "chat"],
    &["when", "we", "last"],
];
/// The other words of such questions.
const BESIDE: &[&str] = &[
    "what",
    "what's",
    "where",
    "did",
    "do",
    "have",
    "was",
    "were",
    "about",
    "the",
    "to",
    "in",
    "on",
    "at",
    "of",
    "with",
    "it",
    "is",
    "that",
    "and",
    "again",
    "please",
    "can",
    "could",
    "remind",
    "recap",
    "summarise",
    "summarize",
    "summary",
    "a",
    "give",
    "last",
    "previous",
    "time",
    "leave",
    "left",
    "off",
    "when",
    "from",
    "continue",
    "pick",
    "up",
    "things",
    "everything",
    "anything",
    "all",
    "topics",
    "topic",
    "during",
    "between",
    "for",
    "let's",
    "go",
    "back",
    "tell",
];
/// A conversation goes on for this long after its last message.
const GOES_ON: SignedDuration = SignedDuration::from_mins(30);

impl QueryPlan {
    /// Restricts a question for what was talked about at a time to the days of that time. Other questions stay as they
    /// are, as do those for a session or a kind of items.
    #[must_use]
    pub fn of_talk(mut self, memory: &Memory) -> Self {
        let words = words(&self.text);
        let today = self.now.map(|now| now.to_zoned(TimeZone::UTC).date());
        let times = intervals::places(&self.text, &words, today);
        if self.filter.is_open() && asks_for_talk(&words, &times, |word| self.is_named(word)) {
            self.filter.days = match self.intervals[..] {
                [only] if !only.vague => days_of(&only),
                [] if LEFT_OFF.iter().chain(LAST).any(|phrase| has_phrase(&words, phrase)) => {
                    last_days(memory, self.now)
                }
                _ => None,
            };
        }
        self
    }

    fn is_named(&self, word: &str) -> bool {
        self.entities.iter().any(|entity| entity.to_lowercase().split(' ').any(|part| part == word))
    }
}

/// Returns true if the words, those of times aside, are of talk with the user, or names.
fn asks_for_talk(words: &[TextToken], times: &[Range<usize>], is_named: impl Fn(&str) -> bool) -> bool {
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.lower.as_str()));
    let is_of_talk = has(OF_TALK) || LEFT_OFF.iter().any(|phrase| has_phrase(words, phrase));
    let is_known = |word: &str| {
        BESIDE.contains(&word) || OF_TALK.contains(&word) || WITH_THE_USER.contains(&word) || is_named(word)
    };
    let mut others = words.iter().enumerate().filter(|(at, _)| !times.iter().any(|time| time.contains(at)));
    is_of_talk && has(WITH_THE_USER) && others.all(|(_, word)| is_known(&word.lower))
}

/// The first and the last day of an interval.
fn days_of(interval: &Interval) -> Option<(i32, i32)> {
    let day = |date: Date| Some(day_number(date.to_zoned(TimeZone::UTC).ok()?.timestamp()));
    let last = interval.until.and_then(|until| until.yesterday().ok()).map_or(Some(i32::MAX), day)?;
    Some((interval.from.map_or(Some(i32::MIN), day)?, last))
}

/// The days of the last conversation that is over: of the session of the newest message, or the day of that message.
fn last_days(memory: &Memory, now: Option<Timestamp>) -> Option<(i32, i32)> {
    let is_talk =
        |held: &&HeldSource| held.source.kind() == ItemKind::Turn && !memory.items().is_hidden(held.source.id);
    let is_over = |held: &&HeldSource| held.source.local_time().zip(now).is_none_or(|(at, now)| at + GOES_ON < now);
    let newest = |of: &dyn Fn(&&HeldSource) -> bool| {
        memory
            .sources()
            .iter()
            .filter(is_talk)
            .filter(of)
            .filter(|held| held.source.said_at.is_some())
            .max_by_key(|held| held.source.said_at)
    };
    let last = newest(&|_| true)?;
    // While a conversation goes on, the one before it is meant.
    let last = if is_over(&last) {
        last
    } else {
        newest(&|held| match &last.source.session {
            Some(current) => held.source.session.as_ref() != Some(current),
            None => held.source.local_time().map(day_number) != last.source.local_time().map(day_number),
        })?
    };
    let own = |held: &&HeldSource| {
        held.source.id == last.source.id || last.source.session.is_some() && held.source.session == last.source.session
    };
    let days = memory.sources().iter().filter(own).filter_map(|held| held.source.local_time().map(day_number));
    let (first, until) = days.fold((i32::MAX, i32::MIN), |(first, until), day| (first.min(day), until.max(day)));
    (first <= until).then_some((first, until))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_for_talk_have_no_other_content() {
        let today = jiff::civil::date(2026, 11, 24);
        for (text, expected) in [
            ("what did we talk about yesterday?", true),
            ("What did I tell you on Friday, November 20th?", true),
            ("Where did we leave off?", true),
            ("summarise our last conversation please", true),
            ("What did Sam and I talk about last week?", true),
            ("remind me what we discussed last time", true),
            ("continue where we left off", true),
            ("what did we say about the roof yesterday?", false),
            ("what did I do yesterday?", false),
            ("What did Sam say on 5 July?", false),
            ("when is the dentist?", false),
            ("last time", false),
            ("", false),
        ] {
            let words = words(text);
            let times = intervals::places(text, &words, Some(today));
            assert_eq!(asks_for_talk(&words, &times, |word| word == "sam"), expected, "{text:?}");
        }
    }
}
