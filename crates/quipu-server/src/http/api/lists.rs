//! The lists: what is known of a user, kind by kind.

use jiff::Timestamp;
use quipu_core::artifact::{GlobalMemory, TopicMemory};
use quipu_core::item::{Note, Task, Tenet};
use quipu_engine::{
    Conflict, FactOptions, FactShown, SessionShown, SessionState, conflicts, facts, files, notes, session, sessions,
    tasks, tenets,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::fault::Fault;
use super::core::At;
use super::frame::{Call, Route, when};
use super::page::{Page, page};
use super::sent::NoQuery;
use super::shape;
use super::shown::EngineReport;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/memory/{user_id}/facts", "Facts that hold, the most important first", all_facts),
        Route::get("/memory/{user_id}/tasks", "Open tasks, goals and problems", all_tasks),
        Route::get("/memory/{user_id}/notes", "Notes", all_notes),
        Route::get("/memory/{user_id}/tenets", "Lines of the self-model", all_tenets),
        Route::get("/memory/{user_id}/sessions", "Conversations", all_sessions),
        Route::get("/memory/{user_id}/sessions/{session_id}", "What a session knows of itself", one_session),
        Route::get("/memory/{user_id}/topics", "What is known topic by topic, the newest first", all_topics),
        Route::get(
            "/memory/{user_id}/global",
            "What is known in all: active topics, and what is not to be forgotten",
            global,
        ),
        Route::get("/memory/{user_id}/conflicts", "Values that cannot both hold", all_conflicts),
    ]
}

/// Which facts.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FactsAsked {
    /// What was known then: a version, a time or a date.
    #[schemars(with = "Option<shape::Version>")]
    at: Option<String>,
    /// What held then.
    valid_at: Option<Timestamp>,
    /// Also what holds no longer, never held, waits or was taken back.
    #[serde(default)]
    all: bool,
    subject: Option<String>,
    predicate: Option<String>,
    /// Only those after this one.
    #[schemars(with = "Option<shape::Place>")]
    after: Option<String>,
    #[schemars(with = "Option<shape::Limit>")]
    limit: Option<usize>,
}

fn all_facts(call: &Call<'_>, asked: FactsAsked) -> Result<Page<EngineReport<FactShown>>, Fault> {
    let options = FactOptions {
        at: Some(when(asked.at.as_deref(), "at")?),
        valid_at: asked.valid_at,
        all: asked.all,
        subject: asked.subject,
        predicate: asked.predicate,
    };
    let found = facts(call.engine, &call.user()?, &options)?;
    page(found, asked.after.as_deref(), asked.limit, |one| one.fact.id.to_string(), EngineReport)
}

/// Which entries of a list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListAsked {
    /// What was known then: a version, a time or a date.
    #[schemars(with = "Option<shape::Version>")]
    at: Option<String>,
    /// Also what is over.
    #[serde(default)]
    all: bool,
    /// Only those after this one.
    #[schemars(with = "Option<shape::Place>")]
    after: Option<String>,
    #[schemars(with = "Option<shape::Limit>")]
    limit: Option<usize>,
}

fn all_tasks(call: &Call<'_>, asked: ListAsked) -> Result<Page<EngineReport<Task>>, Fault> {
    let found = tasks(call.engine, &call.user()?, Some(when(asked.at.as_deref(), "at")?), asked.all)?;
    page(found, asked.after.as_deref(), asked.limit, |one| one.id.to_string(), EngineReport)
}

fn all_tenets(call: &Call<'_>, asked: ListAsked) -> Result<Page<EngineReport<Tenet>>, Fault> {
    let found = tenets(call.engine, &call.user()?, Some(when(asked.at.as_deref(), "at")?), asked.all)?;
    page(found, asked.after.as_deref(), asked.limit, |one| one.id.to_string(), EngineReport)
}

/// Which entries of a list that has nothing that is over.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PlainAsked {
    /// What was known then: a version, a time or a date.
    #[schemars(with = "Option<shape::Version>")]
    at: Option<String>,
    /// Only those after this one.
    #[schemars(with = "Option<shape::Place>")]
    after: Option<String>,
    #[schemars(with = "Option<shape::Limit>")]
    limit: Option<usize>,
}

fn all_notes(call: &Call<'_>, asked: PlainAsked) -> Result<Page<EngineReport<Note>>, Fault> {
    let found = notes(call.engine, &call.user()?, Some(when(asked.at.as_deref(), "at")?))?;
    page(found, asked.after.as_deref(), asked.limit, |one| one.id.to_string(), EngineReport)
}

fn all_sessions(call: &Call<'_>, asked: PlainAsked) -> Result<Page<EngineReport<SessionShown>>, Fault> {
    let found = sessions(call.engine, &call.user()?, when(asked.at.as_deref(), "at")?)?;
    page(found, asked.after.as_deref(), asked.limit, |one| one.session_id.clone(), EngineReport)
}

fn one_session(call: &Call<'_>, asked: At) -> Result<EngineReport<SessionState>, Fault> {
    let at = when(asked.at.as_deref(), "at")?;
    Ok(EngineReport(session(call.engine, &call.user()?, call.part("session_id")?, at)?))
}

/// Which conflicts.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ConflictsAsked {
    /// Only those after this one.
    #[schemars(with = "Option<shape::Place>")]
    after: Option<String>,
    #[schemars(with = "Option<shape::Limit>")]
    limit: Option<usize>,
}

fn all_conflicts(call: &Call<'_>, asked: ConflictsAsked) -> Result<Page<EngineReport<Conflict>>, Fault> {
    let found = conflicts(call.engine, &call.user()?)?;
    page(found, asked.after.as_deref(), asked.limit, |one| one.contested.fact.id.to_string(), EngineReport)
}

/// Which topics.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TopicsAsked {
    /// Only those after this one.
    #[schemars(with = "Option<shape::Place>")]
    after: Option<String>,
    #[schemars(with = "Option<shape::Limit>")]
    limit: Option<usize>,
}

fn all_topics(call: &Call<'_>, asked: TopicsAsked) -> Result<Page<EngineReport<TopicMemory>>, Fault> {
    let mut topics = files::glance(call.engine, &call.user()?)?.topics.clone();
    topics.sort_by_key(|topic| (std::cmp::Reverse(topic.last_day), topic.topic.clone()));
    page(topics, asked.after.as_deref(), asked.limit, |one| one.topic.clone(), EngineReport)
}

fn global(call: &Call<'_>, _: NoQuery) -> Result<EngineReport<GlobalMemory>, Fault> {
    Ok(EngineReport(files::glance(call.engine, &call.user()?)?.global.clone()))
}
