//! Which reply belongs to which conversation, where the upstream keeps it and the client only names the last reply.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use quipu_core::id::UserId;

/// Replies kept in mind. Older conversations go on under a new name.
const REPLIES_MAX: usize = 4096;

/// The last replies.
#[derive(Debug, Default)]
pub(crate) struct Trail(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    sessions: HashMap<(UserId, String), String>,
    order: VecDeque<(UserId, String)>,
}

impl Trail {
    /// Remembers where a reply belongs.
    pub(crate) fn keep(&self, user: &UserId, reply: &str, session: &str) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (user.clone(), reply.to_owned());
        if kept.sessions.insert(key.clone(), session.to_owned()).is_none() {
            kept.order.push_back(key);
        }
        if kept.order.len() > REPLIES_MAX
            && let Some(oldest) = kept.order.pop_front()
        {
            kept.sessions.remove(&oldest);
        }
    }

    /// The conversation of a reply.
    pub(crate) fn session(&self, user: &UserId, reply: &str) -> Option<String> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.sessions.get(&(user.clone(), reply.to_owned())).cloned()
    }
}
