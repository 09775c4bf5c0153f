//! Operations on whole users, agents, apps and runs.

use axum::http::Method;
use quipu_core::id::{Seq, UserId};
use quipu_engine::erase::UserErasure;
use quipu_engine::memories::{memories, take_back};
use quipu_engine::ports::Scope;
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::{EventRef, When};
use quipu_engine::{Error, entered, first_foreign, revert, users_entered};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::super::fault::Fault;
use super::super::frame::{Answered, Call, Route, bytes, schema};
use super::super::people::deleted_once;
use super::record::record;
use super::whose::{INTERFACE, Ids, entity};

/// Maximum number of entities on a page, because each memory is opened to be counted.
const PAGE: usize = 100;

pub(super) fn routes() -> Vec<Route> {
    let all = "Retracts every memory of a user, agent, app or run (mem0)";
    let whole = "Destroys the memory of a user, agent, app or run (mem0)";
    vec![
        Route::of_query(Method::DELETE, "/v1/memories", all, &[], schema::<EntitiesDeleted>, take_all_back).grave(),
        Route::get("/v1/entities", "Users, agents, apps and runs with a memory of their own (mem0)", entities),
        Route::of_query(Method::DELETE, "/v2/entities/{kind}/{name}", whole, &[], schema::<Deleted>, delete)
            .needs(Scope::Admin)
            .announced()
            .grave(),
    ]
}

/// Result of a deletion.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0EntitiesDeleted")]
struct EntitiesDeleted {
    message: &'static str,
}

/// The entities to delete; the query may have more fields.
type DeleteQuery = Ids;

/// The value with which mem0's clients address all entities.
const EVERYBODY: &str = "*";

/// Rejects a request that would affect every user.
fn must_name_somebody(ids: &Ids) -> Result<(), Fault> {
    let names = [&ids.user_id, &ids.agent_id, &ids.app_id, &ids.run_id];
    let named: Vec<&str> = names.into_iter().flatten().map(|name| name.trim()).collect();
    if !named.is_empty() && !named.contains(&EVERYBODY) {
        return Ok(());
    }
    Err(Fault::invalid(
        "memories are not deleted for everybody at once, and nothing was deleted. To do it on purpose, name one user_id, agent_id, \
         app_id or run_id at a time; `DELETE /memory/{user_id}` deletes a user's memory whole",
    )
    .code("wildcard")
    .at("user_id"))
}

/// Reverts everything a user added through this interface, with all that was derived from it, in one step. The history
/// keeps it.
fn take_all_back(call: &Call<'_>, asked: DeleteQuery) -> Result<Answered, Fault> {
    if call.bound().is_none() || asked != Ids::default() {
        must_name_somebody(&asked)?;
    }
    let user = asked.user(call)?;
    let done = EntitiesDeleted { message: "Memories deleted successfully!" };
    let own = match entered(call.engine, &user, &call.entry(INTERFACE)) {
        Ok(own) => own,
        // Nothing to revert.
        Err(Error::NotFound(_)) => return bytes(&done),
        Err(other) => return Err(other.into()),
    };
    if own.events.is_empty() && own.elsewhere > 0 {
        let message =
            "Nothing was deleted: the memories of this user came through another interface or key, and are kept.";
        return bytes(&EntitiesDeleted { message });
    }
    match &asked {
        ids if !ids.is_narrower(&user) => {
            let whole = Selection::Since(When::Seq(0));
            reverted(call, &user, if own.elsewhere == 0 { whole } else { events(own.events, None) })?;
        }
        Ids { agent_id: None, app_id: None, run_id: Some(run), .. } => {
            let session = Selection::Session(run.clone());
            reverted(call, &user, if own.elsewhere == 0 { session } else { events(own.events, Some(run)) })?;
        }
        ids => {
            let named = [("agent_id", &ids.agent_id), ("app_id", &ids.app_id), ("run_id", &ids.run_id)];
            let all = memories(call.engine, &user)?.into_iter().filter(|told| {
                let record = record(&user, told);
                named.iter().all(|(field, wanted)| wanted.as_ref().is_none_or(|wanted| record[*field] == *wanted))
            });
            let mut all: Vec<String> = all.map(|told| told.id.to_string()).collect();
            let entry = call.entry(INTERFACE);
            while let Some(foreign) = first_foreign(call.engine, &user, &all, &entry)? {
                all.retain(|name| *name != foreign);
            }
            take_back(call.engine, &user, &all)?;
        }
    }
    bytes(&done)
}

/// The events to revert, of one session if one is named.
fn events(all: Vec<(Seq, Option<String>)>, session: Option<&String>) -> Selection {
    let wanted = all.into_iter().filter(|(_, of)| session.is_none_or(|session| of.as_ref() == Some(session)));
    Selection::Events(wanted.map(|(seq, _)| EventRef::Seq(seq)).collect())
}

fn reverted(call: &Call<'_>, user: &UserId, selection: Selection) -> Result<(), Fault> {
    let options =
        RevertOptions { rationale: Some("every memory was taken back".to_owned()), ..RevertOptions::default() };
    match revert(call.engine, user, &selection, &options, &mut |_| {}) {
        // Nothing is left to revert.
        Ok(_) | Err(Error::NotFound(_) | Error::Refused(_)) => Ok(()),
        Err(other) => Err(other.into()),
    }
}

/// Page number, from 1.
#[derive(Deserialize, JsonSchema)]
struct EntitiesQuery {
    page: Option<usize>,
}

/// An entity with a memory.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0Entity")]
struct Entity {
    id: String,
    name: String,
    #[serde(rename = "type")]
    kind: &'static str,
    total_memories: usize,
    created_at: Option<String>,
    updated_at: Option<String>,
}

/// A page of entities.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0EntityPage")]
struct Entities {
    count: usize,
    total_users: usize,
    next: Option<String>,
    previous: Option<String>,
    results: Vec<Entity>,
}

fn entities(call: &Call<'_>, asked: EntitiesQuery) -> Result<Entities, Fault> {
    let mut all: Vec<UserId> = users_entered(call.engine, &call.entry(INTERFACE))?;
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

/// Receipt of the deletion of an entity.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0EntityDeleted")]
struct Deleted {
    message: &'static str,
    erasure: UserErasure,
}

/// Confirms a deletion. Other fields are ignored.
#[derive(Deserialize, JsonSchema)]
struct Meant {
    /// The confirmation token of the refused request.
    confirm: Option<String>,
}

fn delete(call: &Call<'_>, asked: Meant) -> Result<Answered, Fault> {
    let (kind, name) = (call.part("kind")?, call.part("name")?.to_owned());
    let ids = match kind {
        "user" => Ids { user_id: Some(name), ..Ids::default() },
        "agent" | "app" | "run" if name == EVERYBODY => Ids { user_id: Some(name), ..Ids::default() },
        "agent" | "app" | "run" => Ids { user_id: Some(format!("{kind}:{name}")), ..Ids::default() },
        other => return Err(Fault::invalid(format!("must be user, agent, app or run, not {other:?}")).at("kind")),
    };
    must_name_somebody(&ids)?;
    let user = ids.user(call)?;
    let own = entered(call.engine, &user, &call.entry(INTERFACE))?;
    if own.version == 0 {
        return Err(Fault::not_found(format!("there is no memory of user {user}")));
    }
    if !own.began || own.elsewhere > 0 {
        let elsewhere = own.elsewhere;
        return Err(Fault::out_of_scope(format!(
            "the memory of user {user} did not come in through this interface with this key alone ({elsewhere} recorded elsewhere), \
             and nothing was deleted. To delete it on purpose: `DELETE /memory/{user}`, or `quipu -u {user} erase --everything`"
        ))
        .code("entry_point"));
    }
    let path = format!(" or `DELETE /v2/entities/{kind}/{}/?confirm=…`", call.part("name")?);
    let erasure = deleted_once(call, &user, asked.confirm.as_deref(), &path)?;
    bytes(&Deleted { message: "Entity deleted successfully.", erasure })
}
