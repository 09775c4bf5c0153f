//! Maps replies to sessions, for upstreams that store the conversation while the client names only the previous reply.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use quipu_core::id::{EventId, UserId};

use crate::word_caches::{Gone, WordCache};

/// Maximum number of replies remembered. Older conversations continue under a new session name.
const REPLIES_MAX: usize = 4096;

/// The last replies.
#[derive(Debug, Default)]
pub(crate) struct ResponseChain(Mutex<ChainEntry>);

#[derive(Debug, Default)]
struct ChainEntry {
    /// The session of each reply, and the first event of the ledger it was recorded in.
    sessions: HashMap<(UserId, String), (String, Option<EventId>)>,
    order: VecDeque<(UserId, String)>,
}

impl ResponseChain {
    fn kept(&self) -> MutexGuard<'_, ChainEntry> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers the session of a reply. `ledger` is the first event of the user's ledger, if there is one.
    pub(crate) fn keep(&self, user: &UserId, reply: &str, session: &str, ledger: Option<EventId>) {
        let mut kept = self.kept();
        let key = (user.clone(), reply.to_owned());
        if kept.sessions.insert(key.clone(), (session.to_owned(), ledger)).is_none() {
            kept.order.push_back(key);
        }
        if kept.order.len() > REPLIES_MAX
            && let Some(oldest) = kept.order.pop_front()
        {
            kept.sessions.remove(&oldest);
        }
    }

    /// True if the reply is remembered.
    pub(crate) fn knows(&self, user: &UserId, reply: &str) -> bool {
        self.kept().sessions.contains_key(&(user.clone(), reply.to_owned()))
    }

    /// The session of a reply, if the user still has the ledger it was recorded in.
    pub(crate) fn session(&self, user: &UserId, reply: &str, ledger: Option<EventId>) -> Option<String> {
        let kept = self.kept();
        let (session, recorded) = kept.sessions.get(&(user.clone(), reply.to_owned()))?;
        (*recorded == ledger).then(|| session.clone())
    }
}

impl WordCache for ResponseChain {
    fn forget(&self, user: &UserId, gone: Gone) {
        // An erasure of words does not concern the names of their sessions.
        if gone == Gone::Deleted {
            let mut kept = self.kept();
            kept.sessions.retain(|(whose, _), _| whose != user);
            kept.order.retain(|(whose, _)| whose != user);
        }
    }

    #[cfg(test)]
    fn held(&self, user: &UserId) -> usize {
        self.kept().sessions.keys().filter(|(whose, _)| whose == user).count()
    }
}
