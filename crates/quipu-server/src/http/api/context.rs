//! The block of memory for a prompt.

use jiff::Timestamp;
use quipu_core::calendar::TimeExpression;
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
use super::frame::{Call, Route};
use super::sent::NoQuery;
use super::shape;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/memory/{user_id}/context", "The pack for a question, or the context of a session", context)
            .needs(Scope::Read),
        Route::get("/memory/{user_id}/packs/{pack_id}", "Rebuilds a pack from its id", packed),
    ]
}

/// A message of a conversation.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ContextMessage")]
struct Message {
    role: String,
    content: String,
}

/// A request for the memory block of a prompt. One of `query`, `messages` and `session_id` is required.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("anyOf" = shape::asks()))]
struct ContextRequest {
    /// The question or task.
    #[schemars(with = "Option<shape::Question>")]
    query: Option<String>,
    /// A conversation whose last user message is the question.
    messages: Option<Vec<Message>>,
    /// Purpose of the answer: `plan`, `reflect`, `recall`, `decide` or `nudge`.
    #[schemars(with = "Option<shape::Intent>")]
    intent: Option<Intent>,
    /// Build the context of this session: base truth, turn log, recalled items and the last turns.
    #[schemars(with = "Option<shape::Name>")]
    session_id: Option<String>,
    /// Token budget.
    #[schemars(range(max = quipu_core::limit::PACK_TOKENS_MAX))]
    max_tokens: Option<usize>,
    /// Answer from this version: a position, a time or a date. Defaults to now.
    #[schemars(with = "Option<shape::Version>")]
    as_of: Option<String>,
    /// Reference time for relative dates such as "last week". Defaults to now.
    now: Option<TimeExpression>,
    /// Tokenizer that counts the tokens.
    #[schemars(with = "Option<shape::Tokenizer>")]
    tokenizer: Option<String>,
    /// Mark the lines with full ids instead of numbers. Has no effect with `session_id`.
    #[serde(default)]
    ids: bool,
    /// Add an instruction to cite the lines used. Has no effect with `session_id`.
    #[serde(default)]
    cite: bool,
}

/// A pack, or the context of a session if the request names one.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "ContextResult")]
enum Context {
    Pack(Box<PackShown>),
    Session(Box<SessionContext>),
}

/// The memory block of a prompt.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ContextPack")]
struct PackShown {
    /// Text for the prompt: `stable`, then `changing`.
    text: String,
    /// Permanent facts and the user's profile as one block; it does not depend on the question.
    stable: String,
    /// Items found for the question as one block; may be empty.
    changing: String,
    /// What the question needs of memory: `nothing`, `task`, `memory`, or `unknown` if nothing relevant is stored.
    need: RequestNeed,
    /// Lines of the pack with the ids, sources and texts of their items.
    lines: Vec<PackLine>,
    sections: Vec<Packed>,
    /// Whether the memory answers the question.
    decision: RecallDecision,
    /// Items in the pack.
    citations: Vec<ItemId>,
    /// Items found but not in the pack, best first. They can be read by id.
    omitted: Vec<ItemId>,
    /// Paths of the core document that did not fit.
    omitted_paths: Vec<String>,
    tokens: usize,
    /// Tokenizer that counted the tokens.
    counted_by: String,
    /// Id of the pack; it reproduces the pack.
    pack_id: String,
    /// Version of the memory the pack was built from.
    version: Seq,
    /// What recall had to do without, for example vectors. Null if nothing was missing.
    degraded: Option<String>,
}

/// The moment at which something is asked, by an optional time as typed.
fn moment(call: &Call<'_>, typed: Option<TimeExpression>) -> Result<Option<Timestamp>, Fault> {
    call.engine.moment_of(typed).map_err(|error| Fault::invalid(error.to_string()).at("now"))
}

fn context(call: &Call<'_>, asked: ContextRequest) -> Result<Context, Fault> {
    let user = call.user()?;
    let asks = |message: &&Message| message.role == "user" && !message.content.trim().is_empty();
    let last = || asked.messages.iter().flatten().rev().find(asks);
    let query = asked.query.clone().or_else(|| last().map(|message| message.content.clone()));
    let (at, max_tokens) =
        (call.when(asked.as_of.as_deref(), "as_of")?, asked.max_tokens.unwrap_or(pack::DEFAULT_TOKENS));
    if let Some(session) = &asked.session_id {
        // A long message is truncated for the search; an explicit query must fit.
        asked.query.as_deref().map_or(Ok(()), check_question).map_err(Error::from)?;
        let options = SessionContextOptions {
            query,
            max_tokens,
            at,
            intent: asked.intent,
            now: moment(call, asked.now)?,
            tokenizer: asked.tokenizer,
            ..SessionContextOptions::of(session)
        };
        return Ok(Context::Session(Box::new(session_context(call.engine, &user, &options)?)));
    }
    let missing = || Fault::invalid("give query, or messages with one of the user's").at("query");
    let query = query.ok_or_else(missing)?;
    let options = ContextOptions {
        max_tokens,
        at,
        intent: asked.intent,
        now: moment(call, asked.now)?,
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
        lines: made.pack.lines,
        sections: made.pack.sections,
        decision: made.decision,
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

fn packed(call: &Call<'_>, _: NoQuery) -> Result<Reproduced, Fault> {
    let (user, id) = (call.user()?, call.part("pack_id")?);
    match reproduce(call.engine, &user, id) {
        // It has the form of a pack id, but there is no such pack.
        Err(Error::Invalid(why)) if id.starts_with("pack_") => Err(Error::NotFound(why).into()),
        made => Ok(made?),
    }
}
