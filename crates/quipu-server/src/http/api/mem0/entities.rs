//! Whole users, agents, apps and runs.

use axum::http::Method;
use quipu_core::id::UserId;
use quipu_engine::erase::{UserErasure, delete_user_with_keys};
use quipu_engine::memories::{memories, take_back};
use quipu_engine::ports::Scope;
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::When;
use quipu_engine::{Error, revert, users};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::super::fault::Fault;
use super::super::frame::{Answered, Call, Route, bytes, schema};
use super::super::shown::Shown;
use super::record::record;
use super::whose::{Ids, entity};
use crate::word_caches::Gone;

/// Entities on a page: each memory is opened to be counted.
const PAGE: usize = 100;

pub(super) fn routes() -> Vec<Route> {
    let all = "Takes every memory of a user, agent, app or run back (mem0)";
    let whole = "Destroys the memory of a user, agent, app or run (mem0)";
    vec![
        Route::of_query(Method::DELETE, "/v1/memories", all, &[], schema::<Done>, take_all_back).grave(),
        Route::get("/v1/entities", "Users, agents, apps and runs with a memory of their own (mem0)", entities),
        Route::of_query(Method::DELETE, "/v2/entities/{kind}/{name}", whole, &[], schema::<Deleted>, delete)
            .needs(Scope::Admin)
            .grave(),
    ]
}

/// What was done.
#[derive(Serialize, JsonSchema)]
struct Done {
    message: &'static str,
}

/// Whose memories; more may stand in the query.
type DeleteAsked = Ids;

/// Everything of one user is taken back in one step, what was said and all that came of it. It stays in the history.
fn take_all_back(call: &Call<'_>, asked: DeleteAsked) -> Result<Answered, Fault> {
    let user = asked.user(call)?;
    let options =
        RevertOptions { rationale: Some("every memory was taken back".to_owned()), ..RevertOptions::default() };
    let reverted = |selection: Selection| match revert(call.engine, &user, &selection, &options, &mut |_| {}) {
        // There is nothing, or nothing any more.
        Ok(_) | Err(Error::NotFound(_) | Error::Refused(_)) => Ok(()),
        Err(other) => Err(other),
    };
    match &asked {
        ids if !ids.is_narrower(&user) => reverted(Selection::Since(When::Seq(0)))?,
        Ids { agent_id: None, app_id: None, run_id: Some(run), .. } => reverted(Selection::Session(run.clone()))?,
        ids => {
            let named = [("agent_id", &ids.agent_id), ("app_id", &ids.app_id), ("run_id", &ids.run_id)];
            let all = memories(call.engine, &user)?.into_iter().filter(|told| {
                let record = record(&user, told);
                named.iter().all(|(field, wanted)| wanted.as_ref().is_none_or(|wanted| record[*field] == *wanted))
            });
            let all: Vec<String> = all.map(|told| told.id.to_string()).collect();
            take_back(call.engine, &user, &all)?;
        }
    }
    bytes(&Done { message: "Memories deleted successfully!" })
}

/// Which page.
#[derive(Deserialize, JsonSchema)]
struct EntitiesAsked {
    page: Option<usize>,
}

/// Whoever has a memory of their own.
#[derive(Serialize, JsonSchema)]
struct Entity {
    id: String,
    name: String,
    #[serde(rename = "type")]
    kind: &'static str,
    total_memories: usize,
    created_at: Option<String>,
    updated_at: Option<String>,
}

/// A page of them.
#[derive(Serialize, JsonSchema)]
struct Entities {
    count: usize,
    total_users: usize,
    next: Option<String>,
    previous: Option<String>,
    results: Vec<Entity>,
}

fn entities(call: &Call<'_>, asked: EntitiesAsked) -> Result<Entities, Fault> {
    let mut all: Vec<UserId> = users(call.engine)?;
    if let Some(own) = call.bound() {
        all.retain(|user| user == own);
    }
    all.sort();
    let (page, count) = (asked.page.unwrap_or(1).max(1), all.len());
    let from = (page - 1).saturating_mul(PAGE);
    let mut results = Vec::new();
    for user in all.iter().skip(from).take(PAGE) {
        let told = memories(call.engine, user)?;
        let (kind, name) = entity(user);
        results.push(Entity {
            id: name.clone(),
            name,
            kind,
            total_memories: told.len(),
            created_at: told.iter().filter_map(|one| one.created_at).min().map(|time| time.to_string()),
            updated_at: told.iter().filter_map(|one| one.updated_at).max().map(|time| time.to_string()),
        });
    }
    let link = |page: usize| format!("/v1/entities/?page={page}");
    let total_users = all.iter().filter(|user| entity(user).0 == "user").count();
    let next = (from.saturating_add(PAGE) < count).then(|| link(page + 1));
    Ok(Entities { count, total_users, next, previous: (page > 1).then(|| link(page - 1)), results })
}

/// Proof of it.
#[derive(Serialize, JsonSchema)]
struct Deleted {
    message: &'static str,
    erasure: Shown<UserErasure>,
}

/// Anything may stand in the query.
#[derive(Deserialize, JsonSchema)]
struct Whatever {}

fn delete(call: &Call<'_>, _: Whatever) -> Result<Answered, Fault> {
    let (kind, name) = (call.part("kind")?, call.part("name")?.to_owned());
    let ids = match kind {
        "user" => Ids { user_id: Some(name), ..Ids::default() },
        "agent" | "app" | "run" => Ids { user_id: Some(format!("{kind}:{name}")), ..Ids::default() },
        other => return Err(Fault::invalid(format!("there are user, agent, app and run, not {other:?}")).at("kind")),
    };
    let user = ids.user(call)?;
    let erasure = Shown(delete_user_with_keys(call.engine, &call.app.keys, &user)?);
    call.app.word_caches.forget(&user, Gone::Deleted);
    bytes(&Deleted { message: "Entity deleted successfully.", erasure })
}
