//! One thread of a torture: what it draws its operations from.

use quipu_core::id::{ItemId, UserId};
use quipu_engine::versions::When;
use quipu_engine::{
    Engine, Error, FactOptions, ListOptions, MemoryRef, Receipt, RememberOptions, Result, Utterance, facts, list,
    reviews, versions,
};
use quipu_testkit::Rng;

use crate::said::Word;
use crate::world::{USERS, World, user};

/// Why something may be left for later.
const EARNED: [&str; 6] = [
    "there is no memory of user",
    "there is no session",
    "was removed",
    "was deleted and made anew",
    "appended first",
    "another process is doing this now",
];
/// A reader of the other engine may keep a file from being cleaned; then that is done later, and the audit looks.
const LEFT_BY_A_READER: &str = "another connection is reading";
/// How every word begins that stands in one text only; numbers, an `x` between them and [`NEEDLE_END`] follow.
pub(crate) const NEEDLE: &str = "needle";
/// How it ends, so that no word is the beginning of another.
pub(crate) const NEEDLE_END: char = 'z';
/// Sessions a user has.
const SESSIONS: [&str; 3] = ["spring", "summer", "autumn"];
/// What is said, with a word of its own in it.
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
    /// Another engine over the same folder; the same one if there is no other.
    pub(crate) other: &'a Engine,
    pub(crate) dice: Rng,
    pub(crate) number: usize,
    pub(crate) count: usize,
    /// What the operation is about, for who reads of its failure.
    pub(crate) about: String,
}

impl Worker<'_> {
    /// A user, some much more often than others.
    pub(crate) fn user(&mut self) -> UserId {
        let (one, two, three) = (self.dice.below(USERS), self.dice.below(USERS), self.dice.below(USERS));
        let drawn = user(&format!("u{:02}", one.min(two).min(three)));
        self.about = drawn.to_string();
        drawn
    }

    /// A user whose whole ledger may be put back or made anew: its words are not counted.
    pub(crate) fn spare(&mut self) -> UserId {
        let drawn = user(&format!("spare-{}", self.dice.below(3)));
        self.about = drawn.to_string();
        drawn
    }

    /// A user that others are copied into.
    pub(crate) fn copy(&mut self) -> UserId {
        user(&format!("copy-{}", self.dice.below(4)))
    }

    pub(crate) fn session(&mut self) -> String {
        (*self.dice.pick(&SESSIONS).unwrap_or(&SESSIONS[0])).to_owned()
    }

    /// A word nobody said before.
    pub(crate) fn word(&mut self) -> String {
        format!("{NEEDLE}{}x{}{NEEDLE_END}", self.number, self.world.said.step())
    }

    /// Words of the user around a word of their own.
    pub(crate) fn sentence(&mut self, word: &str) -> Utterance {
        let text = self.dice.pick(&SENTENCES).unwrap_or(&SENTENCES[0]).replace("{}", word);
        let session = self.dice.once_in(2).then(|| self.session());
        Utterance { session, ..Utterance::of_user(text) }
    }

    /// Remembers a sentence with a word of its own, and notes what was acknowledged.
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

    /// What may be behind after an append is only what somebody else has taken away meanwhile.
    pub(crate) fn acknowledged(&self, receipt: &Receipt) {
        self.lags(receipt.lag.as_deref());
    }

    pub(crate) fn lags(&self, lag: Option<&str>) {
        let read = self.world.engines.len() > 1;
        let earned = |lag: &str| EARNED.iter().any(|why| lag.contains(why)) || read && lag.contains(LEFT_BY_A_READER);
        assert!(lag.is_none_or(earned), "{}: {lag:?}", self.about);
    }

    /// The memory of a user, now and then at a version that may or may not be the newest.
    pub(crate) fn at<'a>(&mut self, user: &'a UserId) -> Result<MemoryRef<'a>> {
        let version = if self.dice.once_in(4) {
            let seq = versions::version(self.engine, user)?;
            Some(seq.saturating_sub(u64::from(self.dice.once_in(3))))
        } else {
            None
        };
        Ok(MemoryRef::of(user).at_version(version))
    }

    /// A version of a user's memory.
    pub(crate) fn when(&mut self, user: &UserId) -> Result<When> {
        if self.dice.once_in(2) {
            return Ok(When::Now);
        }
        let newest = versions::version(self.engine, user)?;
        Ok(When::Seq(self.dice.below(newest as usize + 1) as u64))
    }

    /// A position of a user's ledger.
    pub(crate) fn seq(&mut self, user: &UserId) -> Result<u64> {
        let newest = versions::version(self.engine, user)?;
        if newest == 0 { Err(none()) } else { Ok(1 + self.dice.below(newest as usize) as u64) }
    }

    /// Something that was said.
    pub(crate) fn item(&mut self, user: &UserId) -> Result<ItemId> {
        let options = ListOptions { at: When::Now, session: None, kind: None, offset: 0, limit: 50 };
        let page = list(self.engine, user, &options)?;
        self.dice.pick(&page.items).map(|item| item.id).ok_or_else(none)
    }

    /// Something that was read out of it.
    pub(crate) fn fact(&mut self, user: &UserId) -> Result<ItemId> {
        let all = facts(self.engine, user, &FactOptions::default())?;
        self.dice.pick(&all).map(|shown| shown.fact.id).ok_or_else(none)
    }

    /// Something that waits for a person, or was decided by one.
    pub(crate) fn review(&mut self, user: &UserId, decided: bool) -> Result<String> {
        let all = reviews(self.engine, user, decided)?;
        self.dice.pick(&all).map(|waiting| waiting.review.id.to_string()).ok_or_else(none)
    }
}

/// There is nothing to do it to yet.
pub(crate) fn none() -> Error {
    Error::NotFound("nothing was drawn".to_owned())
}
