//! The context of a session for the next reply: base truth with hard exceptions, turn log, recalled items, raw window.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;
use quipu_core::Memory;
use quipu_core::id::{ItemId, Seq, UserId, check_name};
use quipu_core::item::{Fact, FactStatus, Truth};
use quipu_core::limit;
use quipu_core::pack::{self, LogLine, PackInput, PackLine, Packed, SessionRequest, estimate_tokens};
use quipu_core::recall::Intent;
use quipu_core::session::WindowTurn;
use quipu_core::source::Role;
use serde::Serialize;

use crate::context::block::{self, ContextOptions};
use crate::context::stable_part;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::history::versions::When;
use crate::lock::before_slow_call;
use crate::sessions::base_truth::in_force;
use crate::sessions::overview;
use crate::sessions::summarize;

/// Most words of a turn that are shown in place of a missing summary.
const RAW_WORDS_MAX: usize = 60;
/// Percentage of the budget that what must never be forgotten may take before anything else.
const BINDING_PERCENT: usize = 50;
/// Percentage of the turn log's budget reserved for recalled items until their size is known.
const RECALLED_PERCENT: usize = 30;
/// With fewer tokens left nothing is recalled, because headings would take most of a pack.
pub(crate) const RECALLED_TOKENS_MIN: usize = 150;

/// An entry with what was read from its words and taken back since.
fn marked(memory: &Memory, truth: &Truth) -> Truth {
    let items = memory.items();
    let shares = |fact: &&Fact| {
        fact.evidence.iter().any(|own| {
            truth.evidence.iter().any(|at| at.source == own.source && at.start < own.end && own.start < at.end)
        })
    };
    let quoting = truth.evidence.iter().flat_map(|at| items.quoting(at.source));
    let is_over = |fact: &&Fact| matches!(fact.status, FactStatus::Retracted | FactStatus::Corrected);
    let over: BTreeSet<&str> = quoting.filter(is_over).filter(shares).map(|fact| fact.text.as_str()).collect();
    let mut marked = truth.clone();
    if !over.is_empty() {
        let over: Vec<String> = over.into_iter().map(|text| format!("no longer so: {text}")).collect();
        marked.text = format!("{} ({})", truth.text, over.join("; "));
    }
    marked
}

/// What to pack.
#[derive(Debug, Clone)]
pub struct SessionContextOptions {
    /// The session.
    pub session: String,
    /// The next message. Defaults to the user's last one.
    pub query: Option<String>,
    /// Token budget of the whole. Hard exceptions are included even if they exceed it.
    pub max_tokens: usize,
    /// The version to read.
    pub at: When,
    /// Intent of the request. By default it is derived from the query.
    pub intent: Option<Intent>,
    /// Reference time of relative dates such as "last week". Defaults to the clock's time.
    pub now: Option<Timestamp>,
    /// Ranking profile of recall. Defaults to the user's.
    pub profile: Option<String>,
    /// Name of the tokenizer. Defaults to the engine's first.
    pub tokenizer: Option<String>,
    /// As in [`RecallOptions`](crate::RecallOptions).
    pub deadline: Option<Duration>,
}

impl SessionContextOptions {
    /// Options for a context of the default size at the current version.
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionContext {
    /// The session.
    pub session_id: String,
    /// The version it was built from.
    pub version: Seq,
    /// The whole context as one text.
    pub text: String,
    /// The same text without the raw window, for a system prompt that precedes `messages`.
    pub system: String,
    /// The raw window, oldest first, word for word except for `cut`.
    pub messages: Vec<WindowTurn>,
    /// Messages that are shortened; `…` marks the omissions.
    pub cut: Vec<ItemId>,
    /// The sections in order, recalled ones last.
    pub sections: Vec<Packed>,
    /// Lines of the recalled part that represent items.
    pub lines: Vec<PackLine>,
    /// Ids of the items included: entries of the base truth first, in the order of their lines.
    pub citations: Vec<ItemId>,
    /// Items and messages that were found but did not fit; retrievable by id.
    pub omitted: Vec<ItemId>,
    /// Turns whose line did not fit.
    pub omitted_turns: Vec<u32>,
    /// Included turns without a summary, shown in their own words.
    pub unsummarized: Vec<u32>,
    /// Tokens of `text`.
    pub tokens: usize,
    /// The tokenizer used.
    pub counted_by: String,
    /// True if the hard exceptions alone exceed `max_tokens`.
    pub over_budget: bool,
}

/// Builds the context of a session for the next reply. Appends nothing. Waits while the previous turn is being
/// summarised, unless an external model does that.
///
/// # Errors
/// `Invalid` for a budget over `limit::PACK_TOKENS_MAX` or an invalid session name; otherwise as
/// [`recall`](crate::recall()). A session that has not begun yields only recalled items.
pub fn session_context(engine: &Engine, user: &UserId, options: &SessionContextOptions) -> Result<SessionContext> {
    if options.max_tokens > limit::PACK_TOKENS_MAX {
        return Err(Error::Invalid(format!("a context has at most {} tokens", limit::PACK_TOKENS_MAX)));
    }
    check_name("session", &options.session)?;
    let counter = block::counter(engine, options.tokenizer.as_deref())?;
    let count = |text: &str| counter.as_ref().map_or_else(|| estimate_tokens(text), |by| by.count(text));
    let open = engine.open(user)?;
    let turn = open.sessions.turn(&options.session);
    // The raw window contains the turns that are not summarised, so a slow model is not waited for.
    let _order = (!summarize::is_outside(engine)).then(|| summarize::wait(&turn));
    let now = options.now.unwrap_or_else(|| engine.now());
    let (version, always, base_truth, log, state) = overview::on_version(engine, user, options.at, &mut |memory| {
        let state = overview::state_of(engine, memory, &options.session);
        let base_truth: Vec<Truth> = in_force(memory, &options.session).map(|truth| marked(memory, truth)).collect();
        let log: Vec<LogLine> = state
            .turn_log
            .iter()
            .map(|one| LogLine {
                turn: one.turn,
                user: short(&one.user_summary, one.raw || one.unsummarized),
                assistant: short(&one.assistant_summary, one.raw || one.unsummarized),
            })
            .collect();
        let always = stable_part::always(memory, &engine.predicates, engine.local(memory, now));
        Ok((memory.seq(), always, base_truth, log, state))
    })?;
    before_slow_call("the tokenizer");
    let most = options.max_tokens * BINDING_PERCENT / 100;
    let binding = pack::pack(&PackInput { always, ..PackInput::empty(user, version, most) }, &count);
    let request = SessionRequest {
        user,
        session: &options.session,
        version,
        base_truth: &base_truth,
        log: &log,
        window: &state.raw_window,
        max_tokens: options.max_tokens,
        reserve: (options.max_tokens * RECALLED_PERCENT / 100).saturating_sub(binding.tokens),
        binding: binding.tokens,
    };
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
        // The omitted part of a shortened message may be recalled.
        let whole = made.messages.iter().map(|one| one.id).filter(|id| !made.cut.contains(id));
        block::without(engine, user, &asked, &whole.collect()).map(|(pack, _)| pack)
    });
    // Without room for what is recalled, what must never be forgotten is shown all the same.
    let recalled = recalled.transpose()?.or((1..=made.left).contains(&binding.tokens).then_some(binding));
    // If recalled items need less than was reserved, older turns get the rest.
    let needed = recalled.as_ref().map_or(0, |pack| pack.tokens);
    if !made.omitted_turns.is_empty() && needed < made.left {
        made = pack::pack_session(&SessionRequest { reserve: 0, binding: needed, ..request }, &count);
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

/// Cuts a message to the maximum length of a query.
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
