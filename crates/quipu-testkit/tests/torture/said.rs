//! What was acknowledged: which words have to be in which ledger at the end.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use quipu_core::id::{ItemId, UserId};

/// A word that stands in one text only.
#[derive(Debug, Clone)]
pub(crate) struct Word {
    pub(crate) user: UserId,
    pub(crate) word: String,
    pub(crate) item: ItemId,
    /// The event that recorded it.
    pub(crate) seq: u64,
    /// When it was sent and when it was acknowledged, counted in steps of all threads.
    pub(crate) sent: u64,
    pub(crate) acknowledged: u64,
}

impl Word {
    /// True if a text has this word: one with more digits is another.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        text.split(|c: char| !c.is_alphanumeric()).any(|one| one == self.word)
    }
}

/// Everything that was acknowledged so far.
#[derive(Debug, Default)]
pub(crate) struct Register {
    /// Words that are there unless their user was deleted.
    pub(crate) kept: Vec<Word>,
    /// Words whose erasure was acknowledged.
    pub(crate) erased: Vec<Word>,
    /// When a user was deleted: the steps at which that began and was acknowledged.
    pub(crate) deleted: BTreeMap<UserId, Vec<(u64, u64)>>,
}

/// A register for many threads, and the steps they count.
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

/// What has to be true of a word at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Once,
    Gone,
    /// It was sent while its user was being deleted.
    Either,
}

impl Register {
    /// What became of a word that was not erased.
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

    /// Takes a word of a user out of what is kept, for who wants to erase it.
    pub(crate) fn take(&mut self, user: &UserId, nth: usize) -> Option<Word> {
        let of_user: Vec<usize> = (0..self.kept.len()).filter(|&at| self.kept[at].user == *user).collect();
        let at = *of_user.get(nth % of_user.len().max(1))?;
        Some(self.kept.swap_remove(at))
    }
}
