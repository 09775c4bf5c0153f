//! Keys, for those who may give them out.

use quipu_engine::keys::{KeyShown, NewKey};
use quipu_engine::ports::Scope;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::fault::Fault;
use super::frame::{Call, Route};
use super::sent::NoQuery;
use super::shape;
use super::shown::EngineReport;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/keys", "Every key, without secrets", list).needs(Scope::Admin),
        Route::post("/keys", "Makes a key; its secret is told once", create).needs(Scope::Admin).grave(),
        Route::delete("/keys/{key_id}", "Takes a key back", revoke),
    ]
}

/// Every key.
#[derive(Serialize, JsonSchema)]
struct Listed {
    items: Vec<EngineReport<KeyShown>>,
    /// The same, by the name they had before. Use `items`.
    #[schemars(extend("deprecated" = true))]
    keys: Vec<EngineReport<KeyShown>>,
}

fn list(call: &Call<'_>, _: NoQuery) -> Result<Listed, Fault> {
    call.must_see_all()?;
    let items: Vec<_> = call.app.keys.list()?.into_iter().map(EngineReport).collect();
    Ok(Listed { keys: items.clone(), items })
}

/// What a key is to open.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ScopeIn {
    Read,
    Write,
    Review,
    Admin,
}

impl From<ScopeIn> for Scope {
    fn from(scope: ScopeIn) -> Self {
        match scope {
            ScopeIn::Read => Self::Read,
            ScopeIn::Write => Self::Write,
            ScopeIn::Review => Self::Review,
            ScopeIn::Admin => Self::Admin,
        }
    }
}

/// A key that is wanted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewKeyRequest {
    /// What it is called.
    #[schemars(with = "shape::Name")]
    name: String,
    #[schemars(length(min = 1))]
    scopes: Vec<ScopeIn>,
    /// The only user it opens anything of; without one it opens all.
    #[schemars(with = "Option<shape::UserName>")]
    user_id: Option<String>,
}

fn create(call: &Call<'_>, asked: NewKeyRequest) -> Result<EngineReport<NewKey>, Fault> {
    call.must_see_all()?;
    let user = asked.user_id.as_deref().map(|name| call.user_named(name, "user_id")).transpose()?;
    let scopes: Vec<Scope> = asked.scopes.into_iter().map(Scope::from).collect();
    Ok(EngineReport(call.app.keys.create(&asked.name, &scopes, user.as_ref())?))
}

fn revoke(call: &Call<'_>) -> Result<EngineReport<KeyShown>, Fault> {
    call.must_see_all()?;
    Ok(EngineReport(call.app.keys.revoke(call.part("key_id")?)?))
}
