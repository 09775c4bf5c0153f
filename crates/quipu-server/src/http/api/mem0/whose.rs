//! Resolves the user a request addresses, and the ids of memories on the wire.

use quipu_core::id::{ItemId, UserId};
use quipu_engine::first_foreign;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::super::fault::Fault;
use super::super::frame::Call;

/// Name of this interface in the headers of events.
pub(super) const INTERFACE: &str = "mem0";
/// Separates user and item in the id of a memory: not valid in a user id, and not escaped in a path.
const BETWEEN: char = '~';
/// Kinds of entities besides users; each is a prefix of user ids.
pub(super) const OTHERS: [&str; 3] = ["agent", "app", "run"];

/// The entities a request names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub(super) struct Ids {
    pub(super) user_id: Option<String>,
    pub(super) agent_id: Option<String>,
    pub(super) app_id: Option<String>,
    pub(super) run_id: Option<String>,
}

impl Ids {
    /// Fills in entities that are missing here from the filters.
    pub(super) fn or(self, filters: Option<&Map<String, Value>>) -> Self {
        let named = |name: &str| filters.and_then(|all| Some(all.get(name)?.as_str()?.to_owned()));
        Self {
            user_id: self.user_id.or_else(|| named("user_id")),
            agent_id: self.agent_id.or_else(|| named("agent_id")),
            app_id: self.app_id.or_else(|| named("app_id")),
            run_id: self.run_id.or_else(|| named("run_id")),
        }
    }

    /// The user addressed: the named one, else the key's, else one made from the first other entity.
    pub(super) fn user(&self, call: &Call<'_>) -> Result<UserId, Fault> {
        if let Some(user) = &self.user_id {
            return call.user_named(user, "user_id");
        }
        if let Some(own) = call.bound() {
            return Ok(own.clone());
        }
        let others = OTHERS.iter().zip([&self.agent_id, &self.app_id, &self.run_id]);
        let other = others.into_iter().find_map(|(kind, name)| Some((*kind, name.as_ref()?)));
        let (kind, name) = other.ok_or_else(nobody)?;
        call.user_named(&format!("{kind}:{name}"), &format!("{kind}_id"))
    }

    /// True if it names other entities besides the one that owns the memory.
    pub(super) fn is_narrower(&self, user: &UserId) -> bool {
        let (kind, _) = entity(user);
        let beside = |of: &str, name: &Option<String>| name.is_some() && kind != of;
        beside("agent", &self.agent_id) || beside("app", &self.app_id) || beside("run", &self.run_id)
    }
}

/// Refuses to delete a memory that was added through another interface or with another key.
pub(super) fn must_be_own(call: &Call<'_>, user: &UserId, items: &[String]) -> Result<(), Fault> {
    match first_foreign(call.engine, user, items, &call.entry(INTERFACE))? {
        None => Ok(()),
        Some(item) => Err(Fault::out_of_scope(format!(
            "{item} did not come in through this interface with this key, which takes back only what did. To take it back on \
             purpose: `POST /memory/{user}/retract`, or `quipu -u {user} retract {item}`"
        ))
        .code("entry_point")),
    }
}

/// The error for a request that names no entity.
pub(super) fn nobody() -> Fault {
    Fault::invalid("no entity: give user_id, agent_id, app_id or run_id").at("user_id")
}

/// The entity a user represents: its kind and its name.
pub(super) fn entity(user: &UserId) -> (&'static str, String) {
    let other = OTHERS.iter().find_map(|kind| Some((*kind, user.as_str().strip_prefix(kind)?.strip_prefix(':')?)));
    other.map_or_else(|| ("user", user.to_string()), |(kind, name)| (kind, name.to_owned()))
}

/// The id of a memory on the wire.
pub(super) fn wire(user: &UserId, item: ItemId) -> String {
    format!("{user}{BETWEEN}{item}")
}

/// Resolves an id on the wire. An id without a user belongs to the caller's own user.
pub(super) fn named(call: &Call<'_>, id: &str, param: &str) -> Result<(UserId, String), Fault> {
    match id.rsplit_once(BETWEEN) {
        Some((user, item)) => Ok((call.user_named(user, param)?, item.to_owned())),
        None => Ok((call.own_user(None)?, id.to_owned())),
    }
}

/// The id of a range of events.
pub(super) fn stretch(user: &UserId, first: u64, last: u64) -> String {
    format!("{user}{BETWEEN}{first}-{last}")
}
