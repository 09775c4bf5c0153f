//! A worker thread, and the random arguments of its operations.

use quipu_core::id::{ItemId, UserId};
use quipu_engine::versions::When;
use quipu_engine::{
    Engine, Error, FactOptions, ListOptions, MemoryRef, Receipt, RememberOptions, Result, Utterance, facts, list,
    reviews, versions,
};
use quipu_testkit::Rng;

use crate::said::Word;
use crate::world::{USERS, World, user};

/// Acceptable reasons for deferred work.
const EARNED: [&str; 6] = [
    "there is no memory of user",
    "there is no session",
    "was removed",
    "was deleted and made anew",
    "appended first",
    "another process is doing this now",
];
/// A reader in the other engine may delay the cleaning of a file; the audit checks that it is cleaned later.
const LEFT_BY_A_READER: &str = "another connection is reading";
/// Prefix of every word that occurs in one text only. It is followed by numbers, with an `x` between them, and
/// [`NEEDLE_END`].
pub(crate) const NEEDLE: &str = "needle";
/// Suffix of these words, so that none is a prefix of another.
pub(crate) const NEEDLE_END: char = 'z';
/// The sessions of a user.
const SESSIONS: [&str; 3] = ["spring", "summer", "autumn"];
/// Sentences, each with a place for a unique word.
const SENTENCES: [&str; 8] = [
    "I live in Porto near {}.",
    "My sister Ana works at {}.",
    "I like {} tea.",
    "I have to call {} tomorrow.",
    "I never eat {}.",
    "The meeting about {} is on Friday.",
    "I moved to Lisbon because of {}.",
    "Please always mention {} first.",
];

pub(crate) struct Worker<'a> {
    pub(crate) world: &'a World,
    pub(crate) engine: &'a Engine,
    /// Another engine over the same folder; the same one if there is only one.
    pub(crate) other: &'a Engine,
    pub(crate) dice: Rng,
    pub(crate) number: usize,
    pub(crate) count: usize,
    /// The subject of the operation, for failure messages.
    pub(crate) about: String,
}

impl Worker<'_> {
    /// A random user, with an uneven distribution.
    pub(crate) fn user(&mut self) -> UserId {
        let (one, two, three) = (self.dice.below(USERS), self.dice.below(USERS), self.dice.below(USERS));
        let drawn = user(&format!("u{:02}", one.min(two).min(three)));
        self.about = drawn.to_string();
        drawn
    }

    /// A user whose whole ledger may be restored or recreated, so that its words are not checked.
    pub(crate) fn spare(&mut self) -> UserId {
        let drawn = user(&format!("spare-{}", self.dice.below(3)));
        self.about = drawn.to_string();
        drawn
    }

    /// A user that others are copied to.
    pub(crate) fn copy(&mut self) -> UserId {
        user(&format!("copy-{}", self.dice.below(4)))
    }

    pub(crate) fn session(&mut self) -> String {
        (*self.dice.pick(&SESSIONS).unwrap_or(&SESSIONS[0])).to_owned()
    }

    /// A unique word.
    pub(crate) fn word(&mut self) -> String {
        format!("{NEEDLE}{}x{}{NEEDLE_END}", self.number, self.world.said.step())
    }

    /// A sentence of the user with this word.
    pub(crate) fn sentence(&mut self, word: &str) -> Utterance {
        let text = self.dice.pick(&SENTENCES).unwrap_or(&SENTENCES[0]).replace("{}", word);
        let session = self.dice.once_in(2).then(|| self.session());
        Utterance { session, ..Utterance::of_user(text) }
    }

    /// Records a sentence with a unique word, and registers the acknowledgement.
    pub(crate) fn says(&mut self, memory: MemoryRef<'_>, options: &RememberOptions) -> Result<Word> {
        let word = self.word();
        let said = self.sentence(&word);
        let sent = self.world.said.step();
        let receipt = quipu_engine::remember(self.engine, memory, &said, options)?;
        self.acknowledged(&receipt);
        let item = *receipt.items.first().expect("an acknowledged sentence has an item");
        let acknowledged = self.world.said.step();
        let word = Word { user: memory.user().clone(), word, item, seq: receipt.seq, sent, acknowledged };
        if !receipt.replayed {
            self.world.said.register().kept.push(word.clone());
        }
        Ok(word)
    }

    /// Checks that an append deferred only work that another operation made impossible.
    pub(crate) fn acknowledged(&self, receipt: &Receipt) {
        self.lags(receipt.lag.as_deref());
    }

    pub(crate) fn lags(&self, lag: Option<&str>) {
        let read = self.world.engines.len() > 1;
        let earned = |lag: &str| EARNED.iter().any(|why| lag.contains(why)) || read && lag.contains(LEFT_BY_A_READER);
        assert!(lag.is_none_or(earned), "{}: {lag:?}", self.about);
    }

    /// The memory of a user, sometimes at an explicit version, which may be outdated.
    pub(crate) fn at<'a>(&mut self, user: &'a UserId) -> Result<MemoryRef<'a>> {
        let version = if self.dice.once_in(4) {
            let seq = versions::version(self.engine, user)?;
            Some(seq.saturating_sub(u64::from(self.dice.once_in(3))))
        } else {
            None
        };
        Ok(MemoryRef::of(user).at_version(version))
    }

    /// A random version of a user's memory.
    pub(crate) fn when(&mut self, user: &UserId) -> Result<When> {
        if self.dice.once_in(2) {
            return Ok(When::Now);
        }
        let newest = versions::version(self.engine, user)?;
        Ok(When::Seq(self.dice.below(newest as usize + 1) as u64))
    }

    /// A random position in a user's ledger.
    pub(crate) fn seq(&mut self, user: &UserId) -> Result<u64> {
        let newest = versions::version(self.engine, user)?;
        if newest == 0 { Err(none()) } else { Ok(1 + self.dice.below(newest as usize) as u64) }
    }

    /// A random message.
    pub(crate) fn item(&mut self, user: &UserId) -> Result<ItemId> {
        let options = ListOptions { at: When::Now, session: None, kind: None, offset: 0, limit: 50 };
        let page = list(self.engine, user, &options)?;
        self.dice.pick(&page.items).map(|item| item.id).ok_or_else(none)
    }

    /// A random fact.
    pub(crate) fn fact(&mut self, user: &UserId) -> Result<ItemId> {
        let all = facts(self.engine, user, &FactOptions::default())?;
        self.dice.pick(&all).map(|shown| shown.fact.id).ok_or_else(none)
    }

    /// A random review, pending or decided.
    pub(crate) fn review(&mut self, user: &UserId, decided: bool) -> Result<String> {
        let all = reviews(self.engine, user, decided)?;
        self.dice.pick(&all).map(|waiting| waiting.review.id.to_string()).ok_or_else(none)
    }
}

/// The operation has no object yet.
pub(crate) fn none() -> Error {
    Error::NotFound("nothing was drawn".to_owned())
}
