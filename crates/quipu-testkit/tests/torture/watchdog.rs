//! Ends a process without progress and prints the current operation of every thread.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Time without a finished operation after which the process is ended.
const PATIENCE: Duration = Duration::from_secs(60);
const BETWEEN_LOOKS: Duration = Duration::from_millis(250);

/// The current operation of each worker, and the number of finished operations.
pub(crate) struct Watchdog {
    title: String,
    doing: Vec<Mutex<String>>,
    done: AtomicU64,
    is_over: AtomicBool,
}

impl Watchdog {
    pub(crate) fn new(title: String, workers: usize) -> Self {
        let doing = (0..workers).map(|_| Mutex::default()).collect();
        Self { title, doing, done: AtomicU64::new(0), is_over: AtomicBool::new(false) }
    }

    pub(crate) fn begins(&self, worker: usize, what: String) {
        *self.doing[worker].lock().unwrap_or_else(PoisonError::into_inner) = what;
    }

    pub(crate) fn ended(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn over(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Runs beside the workers until they finish. A deadlock cannot be unwound, so this ends the process.
    pub(crate) fn watch(&self) {
        let (mut seen, mut waited) = (u64::MAX, Duration::ZERO);
        while !self.is_over.load(Ordering::Relaxed) {
            std::thread::sleep(BETWEEN_LOOKS);
            let done = self.done.load(Ordering::Relaxed);
            waited = if done == seen { waited + BETWEEN_LOOKS } else { Duration::ZERO };
            seen = done;
            if waited >= PATIENCE {
                eprintln!("{}: no operation ended for {PATIENCE:?}, after {done}", self.title);
                for (number, doing) in self.doing.iter().enumerate() {
                    eprintln!("  worker {number}: {}", doing.lock().unwrap_or_else(PoisonError::into_inner));
                }
                std::process::abort();
            }
        }
    }
}
