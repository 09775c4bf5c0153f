//! The block of memory for a prompt.

use jiff::Timestamp;
use quipu_core::id::{ItemId, Seq};
use quipu_core::pack::{self, PackLine, Packed, RequestNeed};
use quipu_core::recall::{Intent, check_question};
use quipu_engine::ports::Scope;
use quipu_engine::{
    ContextOptions, Error, RecallDecision, Reproduced, SessionContext, SessionContextOptions, judged_context,
    reproduce, session_context,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::fault::Fault;
use super::frame::{Call, Route, when};
use super::sent::NoQuery;
use super::shape;
use super::shown::EngineReport;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/memory/{user_id}/context", "The pack for a question, or the context of a session", context)
            .needs(Scope::Read),
        Route::get("/memory/{user_id}/packs/{pack_id}", "A pack, made again from its id", packed),
    ]
}

/// A message of a conversation.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Message {
    role: String,
    content: String,
}

/// What to pack.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("anyOf" = shape::asks()))]
struct ContextRequest {
    /// The question or task.
    #[schemars(with = "Option<shape::Question>")]
    query: Option<String>,
    /// A conversation; its last message of the user's is then the question.
    messages: Option<Vec<Message>>,
    /// What it is for: `plan`, `reflect`, `recall`, `decide` or `nudge`.
    #[schemars(with = "Option<shape::Intent>")]
    intent: Option<Intent>,
    /// The context of this session: base truth, turn log, what is recalled, and the last turns.
    #[schemars(with = "Option<shape::Name>")]
    session_id: Option<String>,
    /// The most it may cost, in tokens.
    #[schemars(range(max = quipu_core::limit::PACK_TOKENS_MAX))]
    max_tokens: Option<usize>,
    /// What was known then: a version, a time or a date.
    #[schemars(with = "Option<shape::Version>")]
    as_of: Option<String>,
    /// What "last week" is counted from.
    now: Option<Timestamp>,
    /// Count tokens by this tokenizer.
    #[schemars(with = "Option<shape::Tokenizer>")]
    tokenizer: Option<String>,
    /// Put whole ids before the lines, in the place of numbers. Not for the context of a session.
    #[serde(default)]
    ids: bool,
    /// Ask the reader to cite the lines it uses. Not for the context of a session.
    #[serde(default)]
    cite: bool,
}

/// What was packed.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Context {
    Pack(Box<PackShown>),
    Session(Box<EngineReport<SessionContext>>),
}

/// A pack.
#[derive(Serialize, JsonSchema)]
struct PackShown {
    /// What to put into a prompt: `stable`, then `changing`.
    text: String,
    /// What must never be forgotten and who the user is, as one block: the same for every question.
    stable: String,
    /// What was found for the question, as one block; empty without any.
    changing: String,
    /// What was wanted of memory: `nothing`, `task`, `memory`, or `unknown` if memory seems to have nothing about it.
    #[schemars(with = "String")]
    need: RequestNeed,
    /// The lines that stand for items, with their ids, origins and words.
    lines: Vec<EngineReport<PackLine>>,
    sections: Vec<EngineReport<Packed>>,
    /// Whether memory answers the question.
    decision: EngineReport<RecallDecision>,
    /// Items in it.
    #[schemars(with = "Vec<String>")]
    citations: Vec<ItemId>,
    /// Items that were found and are not in it, best first; ask for them by id.
    #[schemars(with = "Vec<String>")]
    omitted: Vec<ItemId>,
    /// Paths of the core document that did not fit.
    omitted_paths: Vec<String>,
    tokens: usize,
    /// The tokenizer they were counted by.
    counted_by: String,
    /// The same pack can be had again by it.
    pack_id: String,
    /// The version it was made of.
    version: Seq,
    /// What recall had to do without, if it did.
    degraded: Option<String>,
}

fn context(call: &Call<'_>, asked: ContextRequest) -> Result<Context, Fault> {
    let user = call.user()?;
    let asks = |message: &&Message| message.role == "user" && !message.content.trim().is_empty();
    let last = || asked.messages.iter().flatten().rev().find(asks);
    let query = asked.query.clone().or_else(|| last().map(|message| message.content.clone()));
    let (at, max_tokens) = (when(asked.as_of.as_deref(), "as_of")?, asked.max_tokens.unwrap_or(pack::DEFAULT_TOKENS));
    if let Some(session) = &asked.session_id {
        // Of a long message the beginning is looked for; a question is given in whole.
        asked.query.as_deref().map_or(Ok(()), check_question).map_err(Error::from)?;
        let options = SessionContextOptions {
            query,
            max_tokens,
            at,
            intent: asked.intent,
            now: asked.now,
            tokenizer: asked.tokenizer,
            ..SessionContextOptions::of(session)
        };
        return Ok(Context::Session(Box::new(EngineReport(session_context(call.engine, &user, &options)?))));
    }
    let missing = || Fault::invalid("what to pack? give query, or messages with one of the user's").at("query");
    let query = query.ok_or_else(missing)?;
    let options = ContextOptions {
        max_tokens,
        at,
        intent: asked.intent,
        now: asked.now,
        tokenizer: asked.tokenizer,
        ids: asked.ids,
        cite: asked.cite,
        ..ContextOptions::of(&query)
    };
    let made = judged_context(call.engine, &user, &options)?;
    Ok(Context::Pack(Box::new(PackShown {
        text: made.pack.text,
        stable: made.pack.stable,
        changing: made.pack.changing,
        need: made.pack.need,
        lines: made.pack.lines.into_iter().map(EngineReport).collect(),
        sections: made.pack.sections.into_iter().map(EngineReport).collect(),
        decision: EngineReport(made.decision),
        citations: made.pack.citations,
        omitted: made.pack.omitted,
        omitted_paths: made.pack.omitted_paths,
        tokens: made.pack.tokens,
        counted_by: made.pack.counted_by,
        pack_id: made.pack.id,
        version: made.version,
        degraded: made.degraded,
    })))
}

fn packed(call: &Call<'_>, _: NoQuery) -> Result<EngineReport<Reproduced>, Fault> {
    let (user, id) = (call.user()?, call.part("pack_id")?);
    match reproduce(call.engine, &user, id) {
        // It looks like one, and no pack was ever called so.
        Err(Error::Invalid(why)) if id.starts_with("pack_") => Err(Error::NotFound(why).into()),
        made => Ok(EngineReport(made?)),
    }
}
