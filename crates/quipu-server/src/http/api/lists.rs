//! Lists of a user's items, sessions, topics and conflicts.

use std::collections::BTreeSet;

use quipu_core::artifact::{GlobalMemory, TopicMemory};
use quipu_core::calendar::TimeExpression;
use quipu_core::id::ItemId;
use quipu_core::item::{Note, Task, Tenet, TenetStatus};
use quipu_engine::{
    Conflict, FactOptions, FactShown, SessionShown, SessionState, conflicts, facts, files, notes, session, sessions,
    tasks, tenets,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::fault::Fault;
use super::core::At;
use super::frame::{Call, Route};
use super::page::{Page, page};
use super::sent::NoQuery;
use super::shape;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/memory/{user_id}/facts", "Current facts, most important first", all_facts),
        Route::get("/memory/{user_id}/tasks", "Open tasks, goals and problems", all_tasks),
        Route::get("/memory/{user_id}/notes", "Notes", all_notes),
        Route::get("/memory/{user_id}/tenets", "Lines of the self-model", all_tenets),
        Route::get("/memory/{user_id}/sessions", "Conversations", all_sessions),
        Route::get(
            "/memory/{user_id}/sessions/{session_id}",
            "State of a session: base truth, turn log, raw window and artifacts",
            one_session,
        ),
        Route::get("/memory/{user_id}/topics", "Topic memories, newest first", all_topics),
        Route::get("/memory/{user_id}/global", "The global memory: active topics and permanent facts", global),
        Route::get("/memory/{user_id}/conflicts", "Conflicting values", all_conflicts),
    ]
}

/// Selects facts.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FactsQuery {
    /// Answer from this version: a position, a time or a date. Defaults to now.
    #[schemars(with = "Option<shape::Version>")]
    at: Option<String>,
    /// List what was true at this time. Defaults to now.
    valid_at: Option<TimeExpression>,
    /// Include facts that ended, were corrected or retracted, or wait for a review.
    #[serde(default)]
    all: bool,
    subject: Option<String>,
    predicate: Option<String>,
    /// Start after this entry: `next` of the page before.
    #[schemars(with = "Option<shape::Place>")]
    after: Option<String>,
    #[schemars(with = "Option<shape::Limit>")]
    limit: Option<usize>,
}

fn all_facts(call: &Call<'_>, asked: FactsQuery) -> Result<Page<FactShown>, Fault> {
    let options = FactOptions {
        at: Some(call.when(asked.at.as_deref(), "at")?),
        valid_at: call.time(asked.valid_at, "valid_at")?,
        all: asked.all,
        subject: asked.subject,
        predicate: asked.predicate,
    };
    let found = facts(call.engine, &call.user()?, &options)?;
    page(found, asked.after.as_deref(), asked.limit, |one| one.fact.id.to_string())
}

/// Selects entries of a list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListQuery {
    /// Answer from this version: a position, a time or a date. Defaults to now.
    #[schemars(with = "Option<shape::Version>")]
    at: Option<String>,
    /// Include completed, dropped and outdated entries, but not retracted ones.
    #[serde(default)]
    all: bool,
    /// Start after this entry: `next` of the page before.
    #[schemars(with = "Option<shape::Place>")]
    after: Option<String>,
    #[schemars(with = "Option<shape::Limit>")]
    limit: Option<usize>,
}

fn all_tasks(call: &Call<'_>, asked: ListQuery) -> Result<Page<Task>, Fault> {
    let (user, at) = (call.user()?, Some(call.when(asked.at.as_deref(), "at")?));
    let mut found = tasks(call.engine, &user, at, false)?;
    if asked.all {
        // A retracted or merged task is not among the open ones, whatever its status.
        let open: BTreeSet<ItemId> = found.iter().map(|task| task.id).collect();
        found = tasks(call.engine, &user, at, true)?;
        found.retain(|task| !task.status.is_open() || open.contains(&task.id));
    }
    page(found, asked.after.as_deref(), asked.limit, |one| one.id.to_string())
}

fn all_tenets(call: &Call<'_>, asked: ListQuery) -> Result<Page<Tenet>, Fault> {
    let (user, at) = (call.user()?, Some(call.when(asked.at.as_deref(), "at")?));
    let mut found = tenets(call.engine, &user, at, false)?;
    if asked.all {
        let standing: BTreeSet<ItemId> = found.iter().map(|tenet| tenet.id).collect();
        found = tenets(call.engine, &user, at, true)?;
        found.retain(|tenet| tenet.status == TenetStatus::Outdated || standing.contains(&tenet.id));
    }
    page(found, asked.after.as_deref(), asked.limit, |one| one.id.to_string())
}

/// Selects entries of a list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PlainQuery {
    /// Answer from this version: a position, a time or a date. Defaults to now.
    #[schemars(with = "Option<shape::Version>")]
    at: Option<String>,
    /// Start after this entry: `next` of the page before.
    #[schemars(with = "Option<shape::Place>")]
    after: Option<String>,
    #[schemars(with = "Option<shape::Limit>")]
    limit: Option<usize>,
}

fn all_notes(call: &Call<'_>, asked: PlainQuery) -> Result<Page<Note>, Fault> {
    let found = notes(call.engine, &call.user()?, Some(call.when(asked.at.as_deref(), "at")?))?;
    page(found, asked.after.as_deref(), asked.limit, |one| one.id.to_string())
}

fn all_sessions(call: &Call<'_>, asked: PlainQuery) -> Result<Page<SessionShown>, Fault> {
    let found = sessions(call.engine, &call.user()?, call.when(asked.at.as_deref(), "at")?)?;
    page(found, asked.after.as_deref(), asked.limit, |one| one.session_id.clone())
}

fn one_session(call: &Call<'_>, asked: At) -> Result<SessionState, Fault> {
    let at = call.when(asked.at.as_deref(), "at")?;
    Ok(session(call.engine, &call.user()?, call.part("session_id")?, at)?)
}

/// Selects conflicts.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ConflictsQuery {
    /// Start after this entry: `next` of the page before.
    #[schemars(with = "Option<shape::Place>")]
    after: Option<String>,
    #[schemars(with = "Option<shape::Limit>")]
    limit: Option<usize>,
}

fn all_conflicts(call: &Call<'_>, asked: ConflictsQuery) -> Result<Page<Conflict>, Fault> {
    let found = conflicts(call.engine, &call.user()?)?;
    page(found, asked.after.as_deref(), asked.limit, |one| one.contested.fact.id.to_string())
}

/// Selects topics.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TopicsQuery {
    /// Start after this entry: `next` of the page before.
    #[schemars(with = "Option<shape::Place>")]
    after: Option<String>,
    #[schemars(with = "Option<shape::Limit>")]
    limit: Option<usize>,
}

fn all_topics(call: &Call<'_>, asked: TopicsQuery) -> Result<Page<TopicMemory>, Fault> {
    let mut topics = files::glance(call.engine, &call.user()?)?.topics.clone();
    topics.sort_by_key(|topic| (std::cmp::Reverse(topic.last_day), topic.topic.clone()));
    page(topics, asked.after.as_deref(), asked.limit, |one| one.topic.clone())
}

fn global(call: &Call<'_>, _: NoQuery) -> Result<GlobalMemory, Fault> {
    Ok(files::glance(call.engine, &call.user()?)?.global.clone())
}
