//! Status figures of a memory, and health checks.

use jiff::Timestamp;
use quipu_core::growth::{ActiveIndex, active_index};
use quipu_core::id::{Seq, UserId};
use serde::Serialize;

use crate::engine::Engine;
use crate::error::Result;
use crate::process::maintain::{self, Due};

/// Figures of a user's memory.
#[derive(Debug, Clone, Serialize)]
pub struct Status {
    /// The user.
    pub user_id: UserId,
    /// The version of the memory.
    pub version: Seq,
    /// Hash of the newest event.
    pub head: String,
    /// Items recall can return.
    pub items: usize,
    /// Sessions (conversations and files).
    pub sessions: usize,
    /// Closed exchanges without a summary.
    pub unsummarized: usize,
    /// Sources the language model has not read. `None` without such a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unstudied: Option<usize>,
    /// Sources the language model failed to read, in total.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_up: Option<u64>,
    /// The earliest and latest `said_at`.
    pub said_between: Option<(Timestamp, Timestamp)>,
    /// Reverted events.
    pub reverted: usize,
    /// Orphaned events.
    pub orphans: usize,
    /// Erased payloads.
    pub erased: usize,
    /// Passages without a vector.
    pub passages_waiting: usize,
    /// The active index.
    pub active_index: ActiveIndex,
    /// Due maintenance steps, done by `quipu maintain` or by a server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub due: Vec<Due>,
    /// Time of the last maintenance by any process, if any. Accurate to some minutes where nothing was due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maintained_at: Option<Timestamp>,
    /// Id of the embedding model.
    pub model: String,
    /// Bytes on disk, ledger and projections together.
    pub bytes_on_disk: u64,
    /// Estimated bytes in memory.
    pub bytes_in_memory: usize,
    /// Version of the newest snapshot.
    pub snapshot: Option<Seq>,
}

/// Lists every user with a memory in the store.
///
/// # Errors
/// Any error of the store.
pub fn users(engine: &Engine) -> Result<Vec<UserId>> {
    Ok(engine.store.users()?)
}

/// Returns the figures of a user's memory.
///
/// # Errors
/// `NotFound` if there is no such user.
pub fn status(engine: &Engine, user: &UserId) -> Result<Status> {
    let open = engine.open(user)?;
    let due = maintain::due(engine, user)?;
    let maintained_at = maintain::last_maintained(&open)?;
    let mut writer = open.writer()?;
    let state = open.read();
    let memory = &state.memory;
    let mut times: Vec<Timestamp> = memory.sources().iter().filter_map(|held| held.source.said_at).collect();
    times.sort_unstable();
    Ok(Status {
        user_id: user.clone(),
        version: memory.seq(),
        head: memory.head().to_hex().to_string(),
        items: memory.sources().iter().filter(|held| held.source.is_item()).count(),
        sessions: memory.sessions().len(),
        unsummarized: crate::sessions::overview::unsummarized(memory),
        unstudied: engine.optional.reader.as_ref().map(|_| open.studied.waiting(memory)),
        given_up: engine.optional.reader.as_ref().map(|_| open.studied.given_up()),
        said_between: times.first().copied().zip(times.last().copied()),
        reverted: memory.skipped().len(),
        orphans: memory.orphans().len(),
        erased: state.history.erasures().len(),
        passages_waiting: crate::memory::index::waiting(&state.index),
        active_index: active_index(memory),
        due,
        maintained_at,
        model: engine.embedder.model().id.clone(),
        bytes_on_disk: writer.ledger.bytes()?,
        bytes_in_memory: memory.bytes() + state.index.memory_bytes() + state.derived.bytes(),
        snapshot: writer.ledger.snapshots()?.last().copied(),
    })
}

/// Result of one health check.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// True if the check passed.
    pub ok: bool,
    /// What was found, and how to fix a problem.
    pub text: String,
}

/// Checks the store, the embedder and every user's ledger, without changing anything.
pub fn doctor(engine: &Engine) -> Vec<Finding> {
    let finding = |outcome: std::result::Result<String, String>| match outcome {
        Ok(text) => Finding { ok: true, text },
        Err(text) => Finding { ok: false, text },
    };
    let mut findings: Vec<Finding> = engine.store.examine().into_iter().map(finding).collect();
    findings.push(finding(embedder_works(engine)));
    match engine.store.users() {
        Err(error) => findings.push(Finding { ok: false, text: error.to_string() }),
        Ok(users) => {
            findings.extend(users.iter().map(|user| finding(ledger_is_well(engine, user))));
            findings.extend(users.iter().filter_map(|user| what_is_due(engine, user).transpose()).map(finding));
        }
    }
    findings
}

/// Checks that two sentences of the same meaning are nearer to each other than to an unrelated one.
fn embedder_works(engine: &Engine) -> std::result::Result<String, String> {
    let model = engine.embedder.model();
    let texts = ["The cat sleeps on the sofa.", "A cat is asleep on the couch.", "Interest rates rose again in March."];
    let vectors = engine.embedder.embed(&texts).map_err(|error| format!("embedder: {error}"))?;
    let cosine = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
    let (near, far) = (cosine(&vectors[0], &vectors[1]), cosine(&vectors[0], &vectors[2]));
    let seen = format!("embedder {}: {} dimensions, alike {near:.2}, unlike {far:.2}", model.id, model.dimensions);
    if near > far { Ok(seen) } else { Err(format!("{seen}: the model's answers make no sense; check its files")) }
}

/// Lists the steps that `quipu maintain` would do; `None` if nothing is due.
fn what_is_due(engine: &Engine, user: &UserId) -> std::result::Result<Option<String>, String> {
    let due =
        maintain::due(engine, user).map_err(|error| format!("user {user}: cannot determine what is due: {error}"))?;
    let words: Vec<String> = due.iter().map(|due| due.step.counted(due.count)).collect();
    Ok((!words.is_empty()).then(|| format!("user {user}: due: {} (`quipu maintain`)", words.join(", "))))
}

fn ledger_is_well(engine: &Engine, user: &UserId) -> std::result::Result<String, String> {
    let report = crate::history::verify::verify(engine, user, &[], &mut |_| {})
        .map_err(|error| format!("user {user}: {error}"))?;
    let ledger = &report.ledger;
    if report.is_intact() {
        let head: String = ledger.head_hash.chars().take(12).collect();
        return Ok(format!(
            "user {user}: {} {} intact, {} erased on record, head {head}",
            ledger.events,
            if ledger.events == 1 { "event" } else { "events" },
            ledger.erased.len()
        ));
    }
    let places = ledger.damage.len() + report.medium.len();
    let noun = if places == 1 { "place" } else { "places" };
    Err(format!("user {user}: {places} {noun} damaged; run `quipu verify -u {user}`"))
}
