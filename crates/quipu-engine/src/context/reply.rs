//! The context for a reply to somebody who brings the conversation along: what holds in it, and what is recalled besides.

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
    /// The conversation, which need not be known yet.
    pub session: Option<String>,
    /// What the reader has before them anyway: sources of the conversation with these words are not recalled.
    pub present: BTreeSet<String>,
    /// The most the whole may cost, in tokens. Hard exceptions are in it whatever it is.
    pub max_tokens: usize,
    /// As of which version.
    pub at: When,
    /// What "last week" is counted from; without it the clock's time.
    pub now: Option<Timestamp>,
    /// As for [`RecallOptions`](crate::RecallOptions).
    pub deadline: Option<Duration>,
}

impl ReplyContextOptions {
    /// A context of the usual size for a message outside any conversation, now.
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

/// What to put before a model besides the conversation itself.
#[derive(Debug, Clone, Serialize)]
pub struct ReplyContext {
    /// The version it was made of.
    pub version: Seq,
    /// What must never be forgotten and who the user is: the same for every message as long as that does not change. Empty without any.
    pub stable: String,
    /// What holds in the conversation, and what was found for this message; empty if there is nothing to say.
    pub changing: String,
    /// Items in it.
    pub citations: Vec<ItemId>,
    /// Tokens of both.
    pub tokens: usize,
    /// What recall had to do without, if it did.
    pub degraded: Option<String>,
}

/// Makes the context for a reply. Appends nothing, and does not wait for a turn that is being summarised.
///
/// # Errors
/// `NotFound` if the user has no memory; `Invalid` for a budget over `limit::PACK_TOKENS_MAX`; as
/// [`recall`](crate::read::recall()).
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

/// What holds in the conversation; none if nothing does.
fn base_truth(
    user: &UserId,
    session: &str,
    version: Seq,
    base_truth: &[Truth],
    options: &ReplyContextOptions,
    count: &dyn Fn(&str) -> usize,
) -> Option<SessionPack> {
    let (log, window, max_tokens) = (&[][..], &[][..], options.max_tokens);
    let request = SessionRequest { user, session, version, base_truth, log, window, max_tokens, reserve: 0 };
    (!base_truth.is_empty()).then(|| pack::pack_session(&request, count))
}

/// Sources of the conversation that the reader has before them.
fn present(memory: &Memory, session: &str, options: &ReplyContextOptions) -> BTreeSet<ItemId> {
    let ordinals = memory.session(session).map_or(&[][..], |found| &found.sources);
    let sources = ordinals.iter().filter_map(|&ordinal| memory.sources().get(ordinal as usize));
    let seen = |source: &Source| options.present.contains(source.text.trim());
    sources.map(|held| &held.source).filter(|source| seen(source)).map(|source| source.id).collect()
}
