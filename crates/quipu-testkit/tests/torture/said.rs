//! Records acknowledgements: the words that each ledger must contain at the end.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use quipu_core::id::{ItemId, UserId};

/// A word that occurs in one text only.
#[derive(Debug, Clone)]
pub(crate) struct Word {
    pub(crate) user: UserId,
    pub(crate) word: String,
    pub(crate) item: ItemId,
    /// The event that recorded it.
    pub(crate) seq: u64,
    /// When it was sent and when it was acknowledged, in steps common to all threads.
    pub(crate) sent: u64,
    pub(crate) acknowledged: u64,
}

impl Word {
    /// Whether a text contains this word; a word with more digits is a different one.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        text.split(|c: char| !c.is_alphanumeric()).any(|one| one == self.word)
    }
}

/// All acknowledgements so far.
#[derive(Debug, Default)]
pub(crate) struct Register {
    /// Words that are present unless their user was deleted.
    pub(crate) kept: Vec<Word>,
    /// Words whose erasure was acknowledged.
    pub(crate) erased: Vec<Word>,
    /// The steps at which the deletion of a user began and was acknowledged.
    pub(crate) deleted: BTreeMap<UserId, Vec<(u64, u64)>>,
}

/// A register shared by all threads, and their step counter.
#[derive(Debug, Default)]
pub(crate) struct Said {
    register: Mutex<Register>,
    steps: AtomicU64,
}

impl Said {
    pub(crate) fn step(&self) -> u64 {
        self.steps.fetch_add(1, Ordering::SeqCst)
    }

    pub(crate) fn register(&self) -> MutexGuard<'_, Register> {
        self.register.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The expected state of a word at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Once,
    Gone,
    /// Either is allowed: the word was sent while its user was being deleted.
    Either,
}

impl Register {
    /// The expected state of a word that was not erased.
    pub(crate) fn fate(&self, word: &Word) -> Fate {
        let mut fate = Fate::Once;
        for (began, ended) in self.deleted.get(&word.user).into_iter().flatten() {
            if *began > word.acknowledged {
                return Fate::Gone;
            }
            if *ended > word.sent {
                fate = Fate::Either;
            }
        }
        fate
    }

    /// Removes a word of a user from the register, for an erasure.
    pub(crate) fn take(&mut self, user: &UserId, nth: usize) -> Option<Word> {
        let of_user: Vec<usize> = (0..self.kept.len()).filter(|&at| self.kept[at].user == *user).collect();
        let at = *of_user.get(nth % of_user.len().max(1))?;
        Some(self.kept.swap_remove(at))
    }
}
