//! Privacy: exporting, erasing and deleting a memory.

use askama::Template;
use quipu_core::id::Seq;
use quipu_engine::erase::{UserErasure, delete_user_with_keys};
use quipu_engine::export::{ExportFormat, export};
use quipu_engine::log::erasures;
use quipu_engine::ports::Scope;
use quipu_engine::{Announced, Announcement, Error, MemoryRef, announce_deletion};

use super::super::frame::{Frame, Page, PageContext, PageResult, page, parsed};
use super::super::shown;
use super::timeline::{TimelineLine, line};
use crate::http::Fault;
use crate::word_caches::Gone;

/// Erasures on a page.
const ERASURES: usize = 40;

pub(super) fn pages() -> Vec<Page> {
    vec![
        Page::get("/ui/u/{user_id}/privacy", Scope::Read, privacy),
        Page::get("/ui/u/{user_id}/export/{format}", Scope::Read, exported),
        Page::post("/ui/u/{user_id}/delete", Scope::Admin, deleted),
    ]
}

#[derive(Template)]
#[template(path = "privacy.html")]
struct Privacy {
    f: Frame,
    items: String,
    erasures: Vec<TimelineLine>,
    /// What would be deleted with the memory besides its events, in words.
    besides: String,
    /// The confirmation to delete this version.
    confirm: String,
    next: Option<Seq>,
}

fn privacy(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let f = desk.frame_of(&user, "Privacy", "privacy")?;
    let status = quipu_engine::status(desk.engine, &user)?;
    let announced = match status.version {
        // There is nothing to delete yet.
        0 => Announced::Confirmed(None),
        _ => announce_deletion(desk.engine, &desk.app.keys, &user, None)?,
    };
    let (besides, confirm) = match announced {
        Announced::Unconfirmed(one) | Announced::Stale(one) => (besides(&one), one.confirm),
        Announced::Confirmed(_) => ("0 plain files".to_owned(), String::new()),
    };
    let before = desk.asked.get("before").map(parsed::<Seq>).transpose()?;
    let entries = erasures(desk.engine, &user, before, ERASURES + 1)?;
    let next = (entries.len() > ERASURES).then(|| entries[ERASURES - 1].seq);
    let erasures = entries.iter().take(ERASURES).map(line).collect();
    page(&Privacy { f, items: shown::count(status.items), erasures, besides, confirm, next })
}

fn besides(announcement: &Announcement) -> String {
    let counted = |count: u64, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    format!("{} and {}", counted(announcement.files, "plain file"), counted(announcement.keys, "key"))
}

fn exported(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let (format, end, kind) = match desk.part("format")? {
        "json" => (ExportFormat::Json, "json", "application/json"),
        "markdown" => (ExportFormat::Markdown, "md", "text/markdown; charset=utf-8"),
        "mem0" => (ExportFormat::Mem0, "mem0.json", "application/json"),
        other => return Err(Fault::not_found(format!("there is no export called {other:?}"))),
    };
    let body = export(desk.engine, &user, format)?;
    // A user's name may contain characters that a file name should not.
    let name: String =
        user.as_str().chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
    Ok(PageResult::File { name: format!("quipu-{name}.{end}"), kind, body })
}

#[derive(Template)]
#[template(path = "deleted.html")]
struct Deleted {
    f: Frame,
    receipt: UserErasure,
    json: String,
}

fn deleted(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    if desk.sent.get("name") != Some(user.as_str()) {
        return Err(Fault::invalid(format!("nothing was deleted: to delete this memory, type its name, {user}")));
    }
    if desk.app.uploads.is_importing(&user) {
        let busy = "a file is being imported into this memory, which would make it again: wait until it is done";
        return Err(Error::Conflict(busy.to_owned()).into());
    }
    let announced = announce_deletion(desk.engine, &desk.app.keys, &user, desk.sent.get("confirm"))?;
    let operation = |memory: MemoryRef<'_>| delete_user_with_keys(desk.engine, &desk.app.keys, memory);
    let receipt = desk.destroying(&user, (announced, Gone::Deleted), operation)?;
    let json = serde_json::to_string_pretty(&receipt).unwrap_or_default();
    page(&Deleted { f: desk.frame("Deleted", "home"), receipt, json })
}
