//! Events: history, diff, blame, verification, revert, pick and fork.

use quipu_core::difference::Difference;
use quipu_core::event::Hash;
use quipu_core::id::Seq;
use quipu_core::ledger::Pin;
use quipu_engine::fork::Picked;
use quipu_engine::log::LogEntry;
use quipu_engine::revert::{Probe as RevertProbe, RevertOptions, RevertPreview, Selection};
use quipu_engine::verify::VerifyReport;
use quipu_engine::{
    BlameStep, Error, LogOptions, Receipt, blame, chosen, diff, fork, log, pick, preview_revert, revert, verify,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::fault::Fault;
use super::frame::{Call, Route, parsed};
use super::page;
use super::shape;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "/memory/{user_id}/events",
            "Events, oldest first; with `Accept: text/event-stream`, each as it is recorded",
            events,
        )
        .live(),
        Route::get("/memory/{user_id}/diff", "Differences between two versions", difference),
        Route::get("/memory/{user_id}/blame", "Events that changed a path of the core document, or an item", blamed),
        Route::get("/memory/{user_id}/verify", "Verifies the ledger", verified),
        Route::post("/memory/{user_id}/revert", "Reverts events, or previews a revert", reverted).conditional().grave(),
        Route::post("/memory/{user_id}/pick", "Replays chosen events into another memory", picked).grave(),
        Route::post("/memory/{user_id}/fork", "Copies a memory up to a version", forked).grave(),
    ]
}

/// Selects events.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EventsQuery {
    /// Start after this position. Defaults to the first event.
    #[schemars(with = "Option<shape::Seq>")]
    after: Option<Seq>,
    #[schemars(with = "Option<shape::Limit>")]
    limit: Option<usize>,
}

/// A page of events.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EventsPage")]
struct Events {
    items: Vec<LogEntry>,
    /// The same under an older name. Use `items`.
    #[schemars(extend("deprecated" = true))]
    events: Vec<LogEntry>,
    /// Number of entries on all pages.
    total: Seq,
    /// Value of `after` for the next page; null on the last.
    next: Option<Seq>,
}

fn events(call: &Call<'_>, asked: EventsQuery) -> Result<Events, Fault> {
    let (after, limit) = (asked.after.unwrap_or(0), page::limit(asked.limit)?);
    let before = after.saturating_add(limit as Seq).saturating_add(2);
    let options = LogOptions { before: Some(before), limit: limit + 1, reference: None };
    // One more entry than requested shows whether this is the last page.
    let user = call.user()?;
    let newest = log(call.engine, &user, &LogOptions { before: None, limit: 1, reference: None })?;
    let total = newest.first().map_or(0, |entry| entry.seq);
    let mut found = log(call.engine, &user, &options)?;
    found.retain(|entry| entry.seq > after);
    found.reverse();
    let is_last = found.len() <= limit;
    found.truncate(limit);
    let next = found.last().map(|entry| entry.seq).filter(|_| !is_last);
    Ok(Events { events: found.clone(), items: found, total, next })
}

/// Selects two versions.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DiffQuery {
    /// The earlier version: a position, a time or a date.
    #[schemars(with = "shape::Version")]
    from: String,
    /// The later version. Defaults to now.
    #[schemars(with = "Option<shape::Version>")]
    to: Option<String>,
}

fn difference(call: &Call<'_>, asked: DiffQuery) -> Result<Difference, Fault> {
    let (from, to) = (call.when(Some(&asked.from), "from")?, call.when(asked.to.as_deref(), "to")?);
    Ok(diff(call.engine, &call.user()?, from, to)?)
}

/// Selects a path or an item.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BlameQuery {
    /// A pointer into the core document, or an item's id.
    #[schemars(with = "shape::Thing")]
    path: String,
}

/// Events that changed the path or item.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "BlameResult")]
struct Blamed {
    items: Vec<BlameStep>,
    /// The same under an older name. Use `items`.
    #[schemars(extend("deprecated" = true))]
    steps: Vec<BlameStep>,
}

fn blamed(call: &Call<'_>, asked: BlameQuery) -> Result<Blamed, Fault> {
    let steps = blame(call.engine, &call.user()?, &asked.path)?;
    Ok(Blamed { items: steps.clone(), steps })
}

/// Options of a verification.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct VerifyQuery {
    /// A known position and hash, as `12:4f0c…`. Detects a truncated or rewritten ledger.
    #[schemars(regex(pattern = "^[0-9]{1,18}:[0-9a-f]{64}$"))]
    pin: Option<String>,
}

/// Report of a verification.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "VerifyResult")]
struct Verified {
    /// True if nothing is damaged and the pin matches.
    intact: bool,
    #[serde(flatten)]
    report: VerifyReport,
}

fn verified(call: &Call<'_>, asked: VerifyQuery) -> Result<Verified, Fault> {
    let pin = |text: &str| {
        let (seq, hash) = text.split_once(':')?;
        Some(Pin { seq: seq.parse().ok()?, hash: Hash::from_hex(hash).ok()? })
    };
    let wrong = || Fault::invalid("a pin is a position and its hash, such as 12:4f0c…").at("pin");
    let pins = asked.pin.map(|text| pin(&text).ok_or_else(wrong)).transpose()?;
    let report = verify(call.engine, &call.user()?, pins.as_slice(), &mut |_| {})?;
    Ok(Verified { intact: report.is_intact(), report })
}

/// An event, by position or id.
#[derive(Deserialize)]
#[serde(untagged)]
enum EventIn {
    Seq(Seq),
    Id(String),
}

fn event_refs(events: &[EventIn]) -> Result<Vec<quipu_engine::versions::EventRef>, Fault> {
    let one = |event: &EventIn| match event {
        EventIn::Seq(seq) => Ok(quipu_engine::versions::EventRef::Seq(*seq)),
        EventIn::Id(id) => parsed(id, "events"),
    };
    events.iter().map(one).collect()
}

/// Events to revert: one of `events`, `source`, `session` and `since`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = shape::one_of(&["events", "source", "session", "since"])))]
#[schemars(rename = "RevertRequest")]
struct Revert {
    /// Events by position or id.
    #[schemars(with = "Option<Vec<shape::EventName>>")]
    events: Option<Vec<EventIn>>,
    /// All events of an import, file or message.
    #[schemars(with = "Option<shape::Line>")]
    source: Option<String>,
    /// All events of a session.
    #[schemars(with = "Option<shape::Name>")]
    session: Option<String>,
    /// All events after a version.
    #[schemars(with = "Option<shape::VersionOrSeq>")]
    since: Option<Value>,
    /// The reason, stored with the event.
    #[schemars(with = "Option<shape::Remark>")]
    rationale: Option<String>,
    /// Questions whose answers before and after are compared, with or without `dry_run`.
    #[serde(default)]
    #[schemars(with = "Vec<shape::Question>")]
    probes: Vec<String>,
    /// Report the effect without recording anything.
    #[serde(default)]
    dry_run: bool,
}

/// The receipt, or the preview of a dry run.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "RevertResult")]
enum Reverted {
    Preview(Box<RevertPreview>),
    Done {
        receipt: Box<Receipt>,
        difference: Box<Difference>,
        /// The answers to the probes before and after, if any were sent.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        probes: Vec<RevertProbe>,
    },
}

fn reverted(call: &Call<'_>, asked: Revert) -> Result<Reverted, Fault> {
    let user = call.user()?;
    let since = |value: &Value| match value {
        Value::String(text) => call.when(Some(text), "since"),
        other => call.when(Some(&other.to_string()), "since"),
    };
    let one = || Fault::invalid("give one of events, source, session and since");
    let selection = match (&asked.events, asked.source, asked.session, &asked.since) {
        (Some(events), None, None, None) => Selection::Events(event_refs(events)?),
        (None, Some(source), None, None) => Selection::Reference(source),
        (None, None, Some(session), None) => Selection::Session(session),
        (None, None, None, Some(value)) => Selection::Since(since(value)?),
        _ => return Err(one()),
    };
    let options = RevertOptions { rationale: asked.rationale, probes: asked.probes };
    let mut probes = Vec::new();
    if asked.dry_run || !options.probes.is_empty() {
        let preview = preview_revert(call.engine, &user, &selection, &options)?;
        if asked.dry_run {
            return Ok(Reverted::Preview(Box::new(preview)));
        }
        probes = preview.probes;
    }
    let done = call.writing(&user, |memory| revert(call.engine, memory, &selection, &options, &mut |_| {}));
    let (receipt, difference) = done?;
    Ok(Reverted::Done { receipt: Box::new(receipt), difference: Box::new(difference), probes })
}

/// Events to replay into another memory.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PickRequest")]
struct Pick {
    #[schemars(with = "Vec<shape::EventName>", length(min = 1))]
    events: Vec<EventIn>,
    /// User of the other memory.
    #[schemars(with = "shape::UserName")]
    into: String,
}

fn picked(call: &Call<'_>, asked: Pick) -> Result<Picked, Fault> {
    let (user, into) = (call.user()?, call.user_named(&asked.into, "into")?);
    if asked.events.is_empty() {
        return Err(Fault::invalid("nothing to pick: give events").at("events"));
    }
    let events = chosen(call.engine, &user, &event_refs(&asked.events)?)?;
    Ok(pick(call.engine, &events, &into, &mut |_| {})?)
}

/// Target and last version of a fork.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ForkRequest")]
struct Fork {
    /// A user without a memory.
    #[schemars(with = "shape::UserName")]
    into: String,
    /// Last shared version: a position, a time or a date. Defaults to now.
    #[schemars(with = "Option<shape::Version>")]
    at: Option<String>,
}

fn forked(call: &Call<'_>, asked: Fork) -> Result<Receipt, Fault> {
    let (user, into) = (call.user()?, call.user_named(&asked.into, "into")?);
    let at = call.when(asked.at.as_deref(), "at")?;
    if user == into {
        return Err(Fault::from(Error::Refused("a fork needs another user".to_owned())).at("into"));
    }
    Ok(fork(call.engine, &user, &into, at, &mut |_| {})?)
}
