//! Key management, for administrators.

use quipu_engine::keys::{KeyShown, NewKey};
use quipu_engine::ports::Scope;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::fault::Fault;
use super::frame::{Call, Route};
use super::sent::NoQuery;
use super::shape;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/keys", "Every key, without secrets", list).needs(Scope::Admin),
        Route::post("/keys", "Creates a key; its secret is returned only once", create).needs(Scope::Admin).grave(),
        Route::delete("/keys/{key_id}", "Revokes a key", revoke),
    ]
}

/// All keys, without secrets.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "KeyList")]
struct Listed {
    items: Vec<KeyShown>,
    /// The same under an older name. Use `items`.
    #[schemars(extend("deprecated" = true))]
    keys: Vec<KeyShown>,
}

fn list(call: &Call<'_>, _: NoQuery) -> Result<Listed, Fault> {
    call.must_see_all()?;
    let items = call.app.keys.list()?;
    Ok(Listed { keys: items.clone(), items })
}

/// Scope of a key.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "KeyScope")]
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

/// A key to create.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewKeyRequest {
    /// Name of the key.
    #[schemars(with = "shape::Name")]
    name: String,
    #[schemars(length(min = 1))]
    scopes: Vec<ScopeIn>,
    /// Restrict the key to this user. Defaults to all users.
    #[schemars(with = "Option<shape::UserName>")]
    user_id: Option<String>,
}

fn create(call: &Call<'_>, asked: NewKeyRequest) -> Result<NewKey, Fault> {
    call.must_see_all()?;
    let user = asked.user_id.as_deref().map(|name| call.user_named(name, "user_id")).transpose()?;
    let scopes: Vec<Scope> = asked.scopes.into_iter().map(Scope::from).collect();
    Ok(call.app.keys.create(&asked.name, &scopes, user.as_ref())?)
}

fn revoke(call: &Call<'_>) -> Result<KeyShown, Fault> {
    call.must_see_all()?;
    Ok(call.app.keys.revoke(call.part("key_id")?)?)
}
