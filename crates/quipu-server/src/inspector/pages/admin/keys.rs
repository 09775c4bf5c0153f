//! Keys: create and revoke them. A secret is shown once.

use askama::Template;
use quipu_core::id::UserId;
use quipu_engine::keys::{KeyShown, NewKey};
use quipu_engine::ports::Scope;

use crate::http::Fault;
use crate::inspector::frame::{Frame, Page, PageContext, PageResult, page};
use crate::inspector::shown;

pub(in crate::inspector::pages) fn pages() -> Vec<Page> {
    vec![
        Page::get("/ui/server/keys", Scope::Admin, keys),
        Page::post("/ui/server/keys", Scope::Admin, create),
        Page::post("/ui/server/keys/{key_id}/revoke", Scope::Admin, revoke),
    ]
}

struct Row {
    id: String,
    name: String,
    scopes: String,
    user: String,
    made: String,
    revoked: Option<String>,
}

#[derive(Template)]
#[template(path = "keys.html")]
struct Keys {
    f: Frame,
    rows: Vec<Row>,
    made: Option<String>,
}

fn row(key: KeyShown) -> Row {
    Row {
        scopes: key.scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(", "),
        user: key.user_id.map_or_else(|| "all users".to_owned(), |user| user.to_string()),
        made: shown::day(key.created_at),
        revoked: key.revoked_at.map(shown::day),
        id: key.id,
        name: key.name,
    }
}

fn shown_keys(desk: &PageContext<'_>, made: Option<NewKey>) -> Result<PageResult, Fault> {
    desk.must_see_all()?;
    let rows = desk.app.keys.list()?.into_iter().rev().map(row).collect();
    page(&Keys { f: desk.frame("Keys", "keys"), rows, made: made.map(|made| made.key) })
}

fn keys(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    shown_keys(desk, None)
}

fn create(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    desk.must_see_all()?;
    let named: Vec<&str> = desk.sent.all("scope").collect();
    let scopes: Vec<Scope> = [Scope::Read, Scope::Write, Scope::Review, Scope::Admin]
        .into_iter()
        .filter(|scope| named.contains(&scope.as_str()))
        .collect();
    let user: Option<UserId> =
        desk.sent.get("user").map(UserId::parse).transpose().map_err(|refusal| Fault::invalid(refusal.to_string()))?;
    let made = desk.app.keys.create(desk.needs("name", "a key needs a name")?, &scopes, user.as_ref())?;
    shown_keys(desk, Some(made))
}

fn revoke(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    desk.must_see_all()?;
    desk.app.keys.revoke(desk.part("key_id")?)?;
    Ok(PageResult::See("/ui/server/keys".to_owned()))
}
