//! The context of a session for the next reply: base truth with its hard exceptions, turn log, what is recalled, raw window.

use std::time::Duration;

use jiff::Timestamp;
use quipu_core::id::{ItemId, Seq, UserId, check_name};
use quipu_core::item::Truth;
use quipu_core::limit;
use quipu_core::pack::{self, LogLine, PackLine, Packed, SessionRequest, estimate_tokens};
use quipu_core::recall::Intent;
use quipu_core::session::WindowTurn;
use quipu_core::source::Role;
use serde::Serialize;

use crate::context::block::{self, ContextOptions};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::history::versions::When;
use crate::lock::before_slow_call;
use crate::sessions::base_truth::in_force;
use crate::sessions::overview;
use crate::sessions::summarize;

/// Words of a turn that stand for a summary it does not have, at most.
const RAW_WORDS_MAX: usize = 60;
/// What the turn log leaves for what is recalled, in percent, until it is known what that needs.
const RECALLED_PERCENT: usize = 30;
/// With fewer tokens left nothing is recalled: a pack would be all frame.
pub(crate) const RECALLED_TOKENS_MIN: usize = 150;

/// What to pack.
#[derive(Debug, Clone)]
pub struct SessionContextOptions {
    /// The conversation.
    pub session: String,
    /// The next message; without it the last one the user said.
    pub query: Option<String>,
    /// The most the whole may cost, in tokens. Hard exceptions are in it whatever it is.
    pub max_tokens: usize,
    /// As of which version.
    pub at: When,
    /// What it is for; without it the question's own words decide.
    pub intent: Option<Intent>,
    /// What "last week" is counted from; without it the clock's time.
    pub now: Option<Timestamp>,
    /// Tune recall by this profile; without it by the user's.
    pub profile: Option<String>,
    /// Count by this tokenizer; without it by the engine's first.
    pub tokenizer: Option<String>,
    /// As for [`RecallOptions`](crate::RecallOptions).
    pub deadline: Option<Duration>,
}

impl SessionContextOptions {
    /// A context of the usual size, now.
    pub fn of(session: &str) -> Self {
        Self {
            session: session.to_owned(),
            query: None,
            max_tokens: pack::SESSION_TOKENS,
            at: When::Now,
            intent: None,
            now: None,
            profile: None,
            tokenizer: None,
            deadline: None,
        }
    }
}

/// The context of a session.
#[derive(Debug, Clone, Serialize)]
pub struct SessionContext {
    /// The conversation.
    pub session_id: String,
    /// The version it was made of.
    pub version: Seq,
    /// Everything, to be pasted into one prompt.
    pub text: String,
    /// The same without the raw window: for a system prompt, with `messages` after it.
    pub system: String,
    /// The raw window, oldest first, word for word but for `cut`.
    pub messages: Vec<WindowTurn>,
    /// Messages of which only some sentences stand there, `…` for the others.
    pub cut: Vec<ItemId>,
    /// Sections, in order; those of what is recalled last.
    pub sections: Vec<Packed>,
    /// The lines of what is recalled that stand for items.
    pub lines: Vec<PackLine>,
    /// Items in it: entries of the base truth first, in the order of their lines.
    pub citations: Vec<ItemId>,
    /// Items that were found and are not in it, and messages; ask for them by id.
    pub omitted: Vec<ItemId>,
    /// Turns whose line did not fit.
    pub omitted_turns: Vec<u32>,
    /// Turns in it that are not summarised yet: their own words stand there.
    pub unsummarized: Vec<u32>,
    /// Tokens of `text`.
    pub tokens: usize,
    /// The tokenizer they were counted by.
    pub counted_by: String,
    /// True if the hard exceptions alone need more than `max_tokens`.
    pub over_budget: bool,
}

/// Makes the context of a session for the next reply. Appends nothing; waits while the turn before is being
/// summarised, unless somebody outside does that.
///
/// # Errors
/// `Invalid` for a budget over `limit::PACK_TOKENS_MAX` and for what is no name of a session; as [`recall`](crate::read::recall()). Of a session that has not begun there is
/// what is recalled, and nothing else.
pub fn session_context(engine: &Engine, user: &UserId, options: &SessionContextOptions) -> Result<SessionContext> {
    if options.max_tokens > limit::PACK_TOKENS_MAX {
        return Err(Error::Invalid(format!("a context has at most {} tokens", limit::PACK_TOKENS_MAX)));
    }
    check_name("session", &options.session)?;
    let counter = block::counter(engine, options.tokenizer.as_deref())?;
    let count = |text: &str| counter.as_ref().map_or_else(|| estimate_tokens(text), |by| by.count(text));
    let open = engine.open(user)?;
    let turn = open.sessions.turn(&options.session);
    // The raw window has what is not told yet, so nobody waits seconds for a model.
    let _order = (!summarize::is_outside(engine)).then(|| summarize::wait(&turn));
    let (version, base_truth, log, state) = overview::on_version(engine, user, options.at, &mut |memory| {
        let state = overview::state_of(engine, memory, &options.session);
        let base_truth: Vec<Truth> = in_force(memory, &options.session).cloned().collect();
        let log: Vec<LogLine> = state
            .turn_log
            .iter()
            .map(|one| LogLine {
                turn: one.turn,
                user: short(&one.user_summary, one.raw || one.unsummarized),
                assistant: short(&one.assistant_summary, one.raw || one.unsummarized),
            })
            .collect();
        Ok((memory.seq(), base_truth, log, state))
    })?;
    let request = SessionRequest {
        user,
        session: &options.session,
        version,
        base_truth: &base_truth,
        log: &log,
        window: &state.raw_window,
        max_tokens: options.max_tokens,
        reserve: options.max_tokens * RECALLED_PERCENT / 100,
    };
    before_slow_call("the tokenizer");
    let mut made = pack::pack_session(&request, &count);
    let last = state.raw_window.iter().rev().find(|one| one.role == Role::User).map(|one| one.text.clone());
    let unsummarized = state.unsummarized;
    let query = options.query.clone().or(last).filter(|_| made.left >= RECALLED_TOKENS_MIN);
    let recalled = query.map(|query| {
        let asked = ContextOptions {
            max_tokens: made.left,
            at: options.at,
            intent: options.intent,
            now: options.now,
            profile: options.profile.clone(),
            tokenizer: options.tokenizer.clone(),
            deadline: options.deadline,
            ..ContextOptions::of(clipped(&query))
        };
        // Of a message that is cut the rest may be recalled.
        let whole = made.messages.iter().map(|one| one.id).filter(|id| !made.cut.contains(id));
        block::without(engine, user, &asked, &whole.collect()).map(|(pack, _)| pack)
    });
    let recalled = recalled.transpose()?;
    // What is recalled may need less than was kept for it: older turns have the rest.
    let needed = recalled.as_ref().map_or(0, |pack| pack.tokens);
    if !made.omitted_turns.is_empty() && needed < made.left {
        made = pack::pack_session(&SessionRequest { reserve: needed, ..request }, &count);
    }
    let mut system = std::mem::take(&mut made.told);
    let mut lines = Vec::new();
    if let Some(recalled) = recalled {
        lines = recalled.lines;
        system.push_str(&recalled.text);
        made.sections.extend(recalled.sections);
        made.cited.extend(recalled.citations);
        made.omitted.extend(recalled.omitted);
    }
    made.cited.extend(made.messages.iter().map(|one| one.id));
    let text = format!("{system}{}", made.recent);
    let tokens = count(&text);
    Ok(SessionContext {
        session_id: options.session.clone(),
        version,
        text,
        system,
        messages: made.messages,
        cut: made.cut,
        sections: made.sections,
        lines,
        citations: made.cited,
        omitted: made.omitted,
        omitted_turns: made.omitted_turns,
        unsummarized,
        tokens,
        counted_by: counter.as_ref().map_or(block::ESTIMATE, |by| by.name()).to_owned(),
        over_budget: tokens > options.max_tokens,
    })
}

/// A query is bounded; a message is not.
pub(crate) fn clipped(query: &str) -> &str {
    &query[..query.floor_char_boundary(limit::QUERY_BYTES_MAX)]
}

fn short(text: &str, is_raw: bool) -> String {
    if !is_raw {
        return text.to_owned();
    }
    let mut words = text.split_whitespace();
    let kept = words.by_ref().take(RAW_WORDS_MAX).collect::<Vec<_>>().join(" ");
    if words.next().is_some() { format!("{kept}…") } else { kept }
}
