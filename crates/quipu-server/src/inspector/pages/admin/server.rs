//! The server itself: a check of all stored data.

use askama::Template;
use quipu_engine::ports::Scope;
use quipu_engine::status;

use crate::http::Fault;
use crate::inspector::frame::{Frame, Page, PageContext, PageResult, page};
use crate::inspector::shown;

pub(in crate::inspector::pages) fn pages() -> Vec<Page> {
    vec![Page::get("/ui/server/doctor", Scope::Read, doctor)]
}

#[derive(Template)]
#[template(path = "doctor.html")]
struct Doctor {
    f: Frame,
    findings: Vec<(bool, String)>,
    was_run: bool,
    users: usize,
    bytes: String,
}

/// Users whose bytes are added up; more would take too long.
const USERS_MAX: usize = 50;

fn doctor(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    desk.must_see_all()?;
    let was_run = desk.asked.get("run").is_some();
    let findings = if was_run { quipu_engine::doctor(desk.engine) } else { Vec::new() };
    let users = quipu_engine::users(desk.engine)?;
    let on_disk = |user| status(desk.engine, user).map_or(0, |status| status.bytes_on_disk);
    let bytes: u64 = users.iter().take(USERS_MAX).map(on_disk).sum();
    page(&Doctor {
        f: desk.frame("Doctor", "doctor"),
        findings: findings.into_iter().map(|one| (one.ok, one.text)).collect(),
        was_run,
        bytes: format!("{}{}", if users.len() > USERS_MAX { "more than " } else { "" }, shown::bytes(bytes)),
        users: users.len(),
    })
}
