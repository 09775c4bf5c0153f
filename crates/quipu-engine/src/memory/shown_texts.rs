//! Texts of recent recalls. When they are echoed in a message, they are not extracted as news.

use std::collections::VecDeque;

use quipu_core::guard::Echo;
use quipu_core::limit;

use crate::memory::SharedMemory;

/// Texts of recent recalls, oldest first.
#[derive(Default)]
pub(super) struct ShownTexts {
    texts: VecDeque<String>,
    generation: u64,
}

impl SharedMemory {
    /// Number of times the cached texts were cleared. A writer of a cache passes the number from when it read the
    /// memory, so that text read before an erasure is not cached after it.
    pub(crate) fn texts_generation(&self) -> u64 {
        self.shown.lock().generation
    }

    /// Adds a recalled text, unless the texts were cleared since `generation`.
    pub(crate) fn note_shown(&self, generation: u64, text: &str) {
        let mut shown = self.shown.lock();
        if shown.generation != generation || shown.texts.iter().any(|known| known == text) {
            return;
        }
        if shown.texts.len() == limit::SHOWN_TEXTS_MAX {
            shown.texts.pop_front();
        }
        shown.texts.push_back(text.to_owned());
    }

    /// Clears all cached texts, since one of them may have been erased.
    pub(crate) fn forget_texts(&self) {
        {
            let mut shown = self.shown.lock();
            shown.texts.clear();
            shown.generation += 1;
        }
        self.values.clear();
        self.glanced.forget();
    }

    /// All cached texts, for tests that look for erased text.
    pub(crate) fn texts_kept(&self) -> Vec<String> {
        let shown: Vec<String> = self.shown.lock().texts.iter().cloned().collect();
        shown.into_iter().chain(self.values.texts()).chain(self.glanced.texts()).collect()
    }

    /// The texts of recent recalls, prepared for comparison.
    pub(crate) fn echo(&self) -> Echo {
        let shown = self.shown.lock();
        Echo::new(shown.texts.iter().map(String::as_str))
    }
}
