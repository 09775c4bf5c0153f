//! Administration of a memory. Erasing, importing and keys are left out: models must not do these.

use quipu_core::id::Seq;
use quipu_engine::{LogOptions, Result, log, status, verify};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::call::Call;
use super::super::guest::Toolset;
use super::super::tool::Tool;
use super::looking::Event;

/// Most events of a result.
const MOST: usize = 100;

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::reading(
            "memory_status",
            "Memory in figures",
            "Figures of the memory: version, items, what waits and what is due. Call it when the user asks how much is remembered or \
             whether anything is to be done.",
            figures,
        )
        .of(Toolset::Admin),
        Tool::reading(
            "memory_log",
            "What happened last",
            "The newest events of the ledger. Call it when the user asks what was recorded or changed lately, and by whom.",
            newest,
        )
        .of(Toolset::Admin),
        Tool::reading(
            "verify_memory",
            "Verify the ledger",
            "Checks every event, hash and link of the ledger. Call it when the user asks whether the memory is what was written.",
            verified,
        )
        .of(Toolset::Admin),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoArguments {}

/// The memory in figures.
#[derive(Serialize, JsonSchema)]
struct Figures {
    status: Value,
}

fn json(value: &impl Serialize) -> Result<Value> {
    serde_json::to_value(value)
        .map_err(|error| quipu_engine::Error::Bug(format!("cannot write a report as JSON: {error}")))
}

fn figures(call: &Call<'_>, _: NoArguments) -> Result<Figures> {
    Ok(Figures { status: json(&status(call.engine, call.user())?)? })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Newest {
    /// How many; default 20, at most 100.
    #[serde(default)]
    limit: Option<usize>,
    /// Only events before this position.
    #[serde(default)]
    before: Option<Seq>,
}

/// Events, newest first.
#[derive(Serialize, JsonSchema)]
struct Events {
    items: Vec<Event>,
    /// The same, by the name they had before. Use `items`.
    #[schemars(extend("deprecated" = true))]
    events: Vec<Event>,
}

fn newest(call: &Call<'_>, asked: Newest) -> Result<Events> {
    let limit = asked.limit.unwrap_or(20).clamp(1, MOST);
    let options = LogOptions { before: asked.before, limit, reference: None };
    let items: Vec<Event> = log(call.engine, call.user(), &options)?.into_iter().map(Event::from).collect();
    Ok(Events { events: items.clone(), items })
}

/// What was found.
#[derive(Serialize, JsonSchema)]
struct Verified {
    /// True if nothing is damaged.
    intact: bool,
    report: Value,
}

fn verified(call: &Call<'_>, _: NoArguments) -> Result<Verified> {
    let report = verify(call.engine, call.user(), &[], &mut |_| {})?;
    Ok(Verified { intact: report.is_intact(), report: json(&report)? })
}
