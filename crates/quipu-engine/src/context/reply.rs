//! The context for a reply when the caller supplies the conversation: the base truth of the session, and recalled
//! items.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;
use quipu_core::id::{ItemId, Seq, UserId};
use quipu_core::item::Truth;
use quipu_core::limit;
use quipu_core::pack::{self, SessionPack, SessionRequest, estimate_tokens};
use quipu_core::{Memory, source::Source};
use serde::Serialize;

use crate::context::block::{self, ContextOptions};
use crate::context::session::{RECALLED_TOKENS_MIN, clipped};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::history::versions::When;
use crate::lock::before_slow_call;
use crate::sessions::base_truth::in_force;
use crate::sessions::overview;

/// What to pack.
#[derive(Debug, Clone)]
pub struct ReplyContextOptions {
    /// The message to reply to.
    pub query: String,
    /// The session. It may be new.
    pub session: Option<String>,
    /// Texts the reader already has. Sources of the session with one of these texts are not recalled.
    pub present: BTreeSet<String>,
    /// Token budget of the whole. Hard exceptions are included even if they exceed it.
    pub max_tokens: usize,
    /// The version to read.
    pub at: When,
    /// Reference time of relative dates such as "last week". Defaults to the clock's time.
    pub now: Option<Timestamp>,
    /// As in [`RecallOptions`](crate::RecallOptions).
    pub deadline: Option<Duration>,
}

impl ReplyContextOptions {
    /// Options for a context of the default size, without a session, at the current version.
    pub fn of(query: &str) -> Self {
        Self {
            query: query.to_owned(),
            session: None,
            present: BTreeSet::new(),
            max_tokens: pack::DEFAULT_TOKENS,
            at: When::Now,
            now: None,
            deadline: None,
        }
    }
}

/// What to give a model in addition to the conversation.
#[derive(Debug, Clone, Serialize)]
pub struct ReplyContext {
    /// The version it was built from.
    pub version: Seq,
    /// What must never be forgotten and who the user is. It is the same for every message until the memory changes; may
    /// be empty.
    pub stable: String,
    /// The base truth of the session and what was found for this message; may be empty.
    pub changing: String,
    /// Ids of the items included.
    pub citations: Vec<ItemId>,
    /// Tokens of both texts.
    pub tokens: usize,
    /// Why recall worked with reduced quality, if it did.
    pub degraded: Option<String>,
}

/// Builds the context for a reply. Appends nothing and does not wait for a running summary.
///
/// # Errors
/// `NotFound` if the user has no memory; `Invalid` for a budget over `limit::PACK_TOKENS_MAX`; as
/// [`recall`](crate::recall()).
pub fn reply_context(engine: &Engine, user: &UserId, options: &ReplyContextOptions) -> Result<ReplyContext> {
    if options.max_tokens > limit::PACK_TOKENS_MAX {
        return Err(Error::Invalid(format!("a context has at most {} tokens", limit::PACK_TOKENS_MAX)));
    }
    let counter = block::counter(engine, None)?;
    let count = |text: &str| counter.as_ref().map_or_else(|| estimate_tokens(text), |by| by.count(text));
    let (version, truths, shown) = overview::on_version(engine, user, options.at, &mut |memory| {
        let Some(session) = &options.session else { return Ok((memory.seq(), Vec::new(), BTreeSet::new())) };
        Ok((memory.seq(), in_force(memory, session).cloned().collect(), present(memory, session, options)))
    })?;
    before_slow_call("the tokenizer");
    let held =
        options.session.as_deref().and_then(|session| base_truth(user, session, version, &truths, options, &count));
    let mut made = ReplyContext {
        version,
        stable: String::new(),
        changing: String::new(),
        citations: Vec::new(),
        tokens: 0,
        degraded: None,
    };
    let mut left = options.max_tokens;
    if let Some(held) = held {
        left = held.left;
        made.changing = held.told;
        made.citations = held.cited;
    }
    if left >= RECALLED_TOKENS_MIN && !options.query.trim().is_empty() {
        let asked = ContextOptions {
            max_tokens: left,
            at: options.at,
            now: options.now,
            deadline: options.deadline,
            ..ContextOptions::of(clipped(&options.query))
        };
        let (recalled, degraded) = block::without(engine, user, &asked, &shown)?;
        made.degraded = degraded;
        made.stable = recalled.stable;
        made.changing.push_str(&recalled.changing);
        made.citations.extend(recalled.citations);
    }
    let parts = [&made.stable, &made.changing];
    made.tokens = parts.into_iter().filter(|part| !part.is_empty()).map(|part| count(part)).sum();
    Ok(made)
}

/// Packs the base truth of the session; `None` if there is none.
fn base_truth(
    user: &UserId,
    session: &str,
    version: Seq,
    base_truth: &[Truth],
    options: &ReplyContextOptions,
    count: &dyn Fn(&str) -> usize,
) -> Option<SessionPack> {
    let (log, window, max_tokens) = (&[][..], &[][..], options.max_tokens);
    let request =
        SessionRequest { user, session, version, base_truth, log, window, max_tokens, reserve: 0, binding: 0 };
    (!base_truth.is_empty()).then(|| pack::pack_session(&request, count))
}

/// Sources of the session that the reader already has.
fn present(memory: &Memory, session: &str, options: &ReplyContextOptions) -> BTreeSet<ItemId> {
    let ordinals = memory.session(session).map_or(&[][..], |found| &found.sources);
    let sources = ordinals.iter().filter_map(|&ordinal| memory.sources().get(ordinal as usize));
    let seen = |source: &Source| options.present.contains(source.text.trim());
    sources.map(|held| &held.source).filter(|source| seen(source)).map(|source| source.id).collect()
}
