//! Login sessions: bounded, in memory only, lost when the process ends.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use data_encoding::HEXLOWER;
use quipu_engine::ports::Entropy;
use tokio::time::Instant;

/// Most login sessions at a time; beyond that, the one unused for longest is closed.
const DESKS_MAX: usize = 256;
/// Idle time after which a login session ends.
pub(super) const KEPT_FOR: Duration = Duration::from_secs(12 * 60 * 60);

/// A login session.
#[derive(Debug, Clone)]
pub(crate) struct LoginSession {
    /// The public part of the key. Every request checks again whether the key is valid.
    pub(crate) key_id: String,
    /// The token that every form of this session must carry.
    pub(crate) token: String,
    used: Instant,
}

/// All login sessions, by a hash of the cookie's value.
pub(crate) struct Desks {
    /// The form token of callers that need no key.
    token: String,
    entropy: Arc<dyn Entropy>,
    open: Mutex<HashMap<[u8; 32], LoginSession>>,
}

fn random(entropy: &dyn Entropy) -> String {
    let mut bytes = [0u8; 32];
    entropy.fill(&mut bytes);
    HEXLOWER.encode(&bytes)
}

fn name(cookie: &str) -> [u8; 32] {
    *blake3::hash(cookie.as_bytes()).as_bytes()
}

impl Desks {
    pub(crate) fn new(entropy: Arc<dyn Entropy>) -> Self {
        Self { token: random(entropy.as_ref()), entropy, open: Mutex::default() }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<[u8; 32], LoginSession>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a session for the holder of a key and returns the cookie's value.
    pub(super) fn enter(&self, key_id: &str) -> String {
        let cookie = random(self.entropy.as_ref());
        let desk =
            LoginSession { key_id: key_id.to_owned(), token: random(self.entropy.as_ref()), used: Instant::now() };
        let mut open = self.open();
        open.retain(|_, desk| desk.used.elapsed() <= KEPT_FOR);
        if open.len() >= DESKS_MAX
            && let Some(oldest) = open.iter().min_by_key(|(_, desk)| desk.used).map(|(name, _)| *name)
        {
            open.remove(&oldest);
        }
        open.insert(name(&cookie), desk);
        cookie
    }

    /// The session of a cookie.
    pub(super) fn of(&self, cookie: &str) -> Option<LoginSession> {
        let mut open = self.open();
        let desk = open.get_mut(&name(cookie))?;
        if desk.used.elapsed() > KEPT_FOR {
            open.remove(&name(cookie));
            return None;
        }
        desk.used = Instant::now();
        Some(desk.clone())
    }

    pub(super) fn leave(&self, cookie: &str) {
        self.open().remove(&name(cookie));
    }

    /// The form token of callers without a session.
    pub(super) fn token(&self) -> &str {
        &self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counting(std::sync::atomic::AtomicU64);

    impl Entropy for Counting {
        fn fill(&self, bytes: &mut [u8]) {
            let next = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            bytes[..8].copy_from_slice(&next.to_le_bytes());
        }
    }

    #[test]
    fn who_was_away_longest_makes_room() {
        let desks = Desks::new(Arc::new(Counting(0.into())));
        let first = desks.enter("first");
        let second = desks.enter("second");
        assert_eq!(desks.of(&first).map(|desk| desk.key_id), Some("first".to_owned()));
        for number in 2..=DESKS_MAX {
            desks.enter(&number.to_string());
        }
        assert!(desks.of(&second).is_none());
        assert!(desks.of(&first).is_some());
        desks.leave(&first);
        assert!(desks.of(&first).is_none());
        assert_eq!(desks.open().len(), DESKS_MAX - 1);
    }
}
