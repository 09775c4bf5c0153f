//! Home: the state of the server, its users, and how to connect a client.

use askama::Template;
use quipu_core::id::UserId;
use quipu_engine::ports::Scope;
use quipu_engine::{Error, FactOptions, facts, status, tasks, users};

use super::super::frame::{Frame, Page, PageContext, PageResult, base, page};
use super::super::shown;
use super::tasks::is_overdue;
use crate::http::Fault;

/// Users on a page.
const USERS_MAX: usize = 25;

pub(super) fn pages() -> Vec<Page> {
    vec![Page::get("/", Scope::Read, home), Page::post("/ui/demo", Scope::Admin, demo)]
}

struct Row {
    user: UserId,
    base: String,
    known: String,
    heard: String,
    waiting: usize,
    overdue: usize,
    fault: Option<String>,
}

#[derive(Template)]
#[template(path = "home.html")]
struct Home {
    f: Frame,
    rows: Vec<Row>,
    total: usize,
    from: usize,
    next: Option<usize>,
    find: String,
    addr: String,
    scheme: &'static str,
    ready: Option<String>,
    turns_waiting: i64,
    model: String,
    version: &'static str,
    needs_key: bool,
    has_upstream: bool,
    has_demo: bool,
    user: String,
}

fn row(desk: &PageContext<'_>, user: UserId) -> Row {
    let look = || -> Result<Row, Error> {
        let held = facts(desk.engine, &user, &FactOptions::default())?.len();
        let open = tasks(desk.engine, &user, None, false)?;
        let now = desk.engine.local_now(&user)?;
        let heard = status(desk.engine, &user)?.said_between.map(|(_, last)| last);
        Ok(Row {
            base: base(&user),
            known: shown::many(held, "fact"),
            heard: heard.map(|last| format!("last heard {}", shown::day(last))).unwrap_or_default(),
            waiting: if desk.may(Scope::Review) { quipu_engine::waiting(desk.engine, &user)? } else { 0 },
            overdue: open.iter().filter(|task| is_overdue(task, now)).count(),
            fault: None,
            user: user.clone(),
        })
    };
    look().unwrap_or_else(|error| Row {
        base: base(&user),
        known: String::new(),
        heard: String::new(),
        waiting: 0,
        overdue: 0,
        fault: Some(error.to_string()),
        user,
    })
}

fn home(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let (known, ready) = match users(desk.engine) {
        Ok(known) => (known, None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    let find = desk.asked.get("find").unwrap_or_default().to_owned();
    let open = |user: &UserId| desk.bound().is_none_or(|own| own == user) && user.as_str().contains(&find);
    let known: Vec<UserId> = known.into_iter().filter(open).collect();
    let (total, from) = (known.len(), desk.number("from", 0, usize::MAX));
    let rows: Vec<Row> = known.into_iter().skip(from).take(USERS_MAX).map(|user| row(desk, user)).collect();
    let options = &desk.app.options;
    let own = desk.bound().or(options.user.as_ref()).map(ToString::to_string);
    page(&Home {
        f: desk.frame("Users and clients", "home"),
        next: (from + rows.len() < total).then_some(from + rows.len()),
        rows,
        total,
        from,
        find,
        addr: desk.host.clone(),
        scheme: if desk.app.options.tls.is_some() { "https" } else { "http" },
        ready,
        turns_waiting: desk.app.queue.depth(),
        model: desk.engine.embedder().model().id.clone(),
        version: env!("CARGO_PKG_VERSION"),
        needs_key: desk.app.needs_key,
        has_upstream: !options.upstreams.is_empty(),
        has_demo: options.demo.is_some() && desk.bound().is_none() && desk.may(Scope::Admin),
        user: own.unwrap_or_else(|| "me".to_owned()),
    })
}

/// Fills the memory of a user `demo` with a month of example data.
fn demo(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    desk.must_see_all()?;
    let absent = || Fault::not_found("this server was started without demo data");
    let user = (desk.app.options.demo.ok_or_else(absent)?)(desk.engine)?;
    Ok(PageResult::See(base(&user)))
}
