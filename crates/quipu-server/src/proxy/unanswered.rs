//! Recognizes the messages of a request that got no reply when the client sends them again.
//!
//! The key of a turn depends on the earlier messages of the user ([`turns`](super::turns)). A client whose request was
//! refused, for example because it was too long, drops earlier messages and retries: the same text then has another
//! key, and in a session without a name also another session.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quipu_core::id::UserId;
use tokio::time::Instant;

use super::turns::SaidTurn;
use super::wire::{Speaker, WireMessage};
use crate::word_caches::{Gone, WordCache};

/// Maximum number of requests remembered.
const REQUESTS_MAX: usize = 1024;
/// Number of latest messages that are compared.
const MESSAGES_MAX: usize = 512;
/// How long after its failure a request is recognized.
const KEPT_FOR: Duration = Duration::from_secs(15 * 60);
/// Prefix of sessions named after their first message.
pub(super) const UNNAMED: &str = "auto-";

/// The user's messages of a request, oldest first, as hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Messages(Vec<blake3::Hash>);

impl Messages {
    /// Hashes the messages of a request.
    pub(crate) fn of(said: &[WireMessage]) -> Self {
        let words = said.iter().filter(|said| said.speaker == Speaker::User && !said.words.is_empty());
        let mut latest: Vec<blake3::Hash> =
            words.rev().take(MESSAGES_MAX).map(|said| blake3::hash(said.words.as_bytes())).collect();
        latest.reverse();
        Self(latest)
    }

    /// True if these messages are a subsequence of `longer`.
    fn are_in(&self, longer: &Self) -> bool {
        let mut rest = longer.0.iter();
        self.0.iter().all(|one| rest.any(|other| other == one))
    }
}

/// A request without a reply.
struct Failed {
    user: UserId,
    session: String,
    messages: Messages,
    /// The keys of its turns and the hashes of their texts.
    turns: Vec<(String, blake3::Hash)>,
    at: Instant,
}

/// The last requests without a reply.
#[derive(Default)]
pub(crate) struct Unanswered(Mutex<VecDeque<Failed>>);

impl Unanswered {
    fn failed(&self) -> MutexGuard<'_, VecDeque<Failed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a request without a reply.
    pub(crate) fn note(&self, user: &UserId, session: &str, messages: Messages, turns: &[SaidTurn]) {
        let mut failed = self.failed();
        failed.retain(|one| one.at.elapsed() <= KEPT_FOR && !(one.user == *user && one.session == session));
        if failed.len() == REQUESTS_MAX {
            failed.pop_front();
        }
        let turns = turns.iter().map(|turn| (turn.key.clone(), blake3::hash(turn.words.as_bytes()))).collect();
        failed.push_back(Failed {
            user: user.clone(),
            session: session.to_owned(),
            messages,
            turns,
            at: Instant::now(),
        });
    }

    /// If the turns belong to a request without a reply, gives them their earlier keys and returns its session.
    ///
    /// In a session with a name, the texts after the last reply must match. In one without a name, all messages of the
    /// user must be among those of the failed request.
    pub(crate) fn take_up(
        &self,
        user: &UserId,
        session: &str,
        messages: &Messages,
        turns: &mut [SaidTurn],
    ) -> Option<String> {
        let hashes: Vec<blake3::Hash> = turns.iter().map(|turn| blake3::hash(turn.words.as_bytes())).collect();
        let is_same = |one: &&Failed| {
            let is_unnamed = session.starts_with(UNNAMED) && one.session.starts_with(UNNAMED);
            one.user == *user
                && one.at.elapsed() <= KEPT_FOR
                && one.turns.iter().map(|(_, hash)| hash).eq(&hashes)
                && (one.session == session || (is_unnamed && messages.are_in(&one.messages)))
        };
        let failed = self.failed();
        let one = failed.iter().rev().find(is_same)?;
        for (turn, (key, _)) in turns.iter_mut().zip(&one.turns) {
            turn.key.clone_from(key);
        }
        Some(one.session.clone())
    }

    /// Forgets the failed requests of a session that got a reply.
    pub(crate) fn answered(&self, user: &UserId, session: &str) {
        self.failed().retain(|one| !(one.user == *user && one.session == session));
    }
}

impl WordCache for Unanswered {
    fn forget(&self, user: &UserId, _: Gone) {
        self.failed().retain(|one| one.user != *user);
    }

    #[cfg(test)]
    fn held(&self, user: &UserId) -> usize {
        self.failed().iter().filter(|one| one.user == *user).count()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests {
    use super::super::turns::turns;
    use super::*;

    fn said(words: &[&str]) -> Vec<WireMessage> {
        let speaker = |number: usize| if number.is_multiple_of(2) { Speaker::User } else { Speaker::Assistant };
        let one =
            |(number, words): (usize, &&str)| WireMessage { speaker: speaker(number), words: (*words).to_owned() };
        words.iter().enumerate().map(one).collect()
    }

    #[test]
    fn a_request_that_is_sent_again_names_the_turns_it_had() {
        let user = UserId::parse("ines").unwrap();
        let other = UserId::parse("otto").unwrap();
        let failed = said(&["hi", "hello", "I moved", "nice", "to Porto"]);
        for (session, whose, again, again_in, taken_up) in [
            // The session has a name, so messages before the last reply may differ.
            ("s", &user, &["so far: they moved", "nice", "to Porto"][..], "s", true),
            ("s", &user, &["to Porto"], "s", true),
            ("s", &user, &["to Porto"], "t", false),
            ("s", &user, &["to Lisbon"], "s", false),
            ("s", &other, &["to Porto"], "s", false),
            // The session has no name; one would follow from its first message.
            ("auto-1", &user, &["I moved", "nice", "to Porto"], "auto-2", true),
            ("auto-1", &user, &["hi", "hello", "to Porto"], "auto-1", true),
            ("auto-1", &user, &["another talk", "well", "to Porto"], "auto-2", false),
            ("auto-1", &user, &["to Porto", "nice", "to Porto"], "auto-2", false),
            ("auto-1", &user, &["to Porto"], "s", false),
        ] {
            let unanswered = Unanswered::default();
            let before = turns(session, None, &failed);
            unanswered.note(&user, session, Messages::of(&failed), &before);
            let again = said(again);
            let mut now = turns(again_in, None, &again);
            let found = unanswered.take_up(whose, again_in, &Messages::of(&again), &mut now);
            assert_eq!(found.as_deref(), taken_up.then_some(session), "{again:?} in {again_in}");
            assert_eq!(now == before, taken_up, "{again:?} in {again_in}");
        }
    }

    #[test]
    fn after_a_reply_the_same_words_are_said_anew() {
        let user = UserId::parse("ines").unwrap();
        let unanswered = Unanswered::default();
        let words = said(&["go on"]);
        unanswered.note(&user, "s", Messages::of(&words), &turns("s", None, &words));
        unanswered.answered(&user, "s");
        let longer = said(&["a", "b", "go on"]);
        assert_eq!(unanswered.take_up(&user, "s", &Messages::of(&longer), &mut turns("s", None, &longer)), None);
        unanswered.note(&user, "s", Messages::of(&words), &turns("s", None, &words));
        unanswered.forget(&user, Gone::Erased);
        assert_eq!(unanswered.held(&user), 0, "a hash of erased words could reveal whether they are sent again");
    }
}
