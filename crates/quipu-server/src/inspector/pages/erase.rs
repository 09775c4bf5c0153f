//! Erasing: a preview, a confirmation, and the receipt.

use askama::Template;
use quipu_engine::erase::EraseTarget;
use quipu_engine::ports::Scope;
use quipu_engine::{Announced, ErasureReceipt, MemoryRef, announce_erasure, erase, preview_erase};

use super::super::frame::{Frame, Page, PageContext, PageResult, page, parsed};
use crate::http::Fault;
use crate::word_caches::Gone;

pub(super) fn pages() -> Vec<Page> {
    vec![
        Page::get("/ui/u/{user_id}/erase", Scope::Admin, preview),
        Page::post("/ui/u/{user_id}/erase", Scope::Admin, erased),
    ]
}

#[derive(Template)]
#[template(path = "erase.html")]
struct Preview {
    f: Frame,
    target: String,
    asked_for: Vec<(String, String)>,
    follows: Vec<(String, String)>,
    sources_left: Vec<String>,
    /// The confirmation, where one is required.
    confirm: String,
}

fn preview(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let f = desk.frame_of(&user, "Erase", "privacy")?;
    let target = desk.asked.get("target").ok_or_else(|| Fault::invalid("what is to be erased?"))?.to_owned();
    let targets = [parsed::<EraseTarget>(&target)?];
    let confirm = match announce_erasure(desk.engine, &user, &targets, None)? {
        Announced::Unconfirmed(announcement) | Announced::Stale(announcement) => announcement.confirm,
        Announced::Confirmed(_) => String::new(),
    };
    let found = preview_erase(desk.engine, &user, &targets)?;
    let (asked_for, follows): (Vec<_>, Vec<_>) = found.going.into_iter().partition(|one| one.asked_for);
    let shown = |all: Vec<quipu_engine::ErasureTarget>| {
        all.into_iter().map(|one| (one.change.to_string(), one.summary)).collect()
    };
    let sources_left = found.sources_left.iter().map(ToString::to_string).collect();
    page(&Preview { f, target, asked_for: shown(asked_for), follows: shown(follows), sources_left, confirm })
}

#[derive(Template)]
#[template(path = "erased.html")]
struct Erased {
    f: Frame,
    receipt: ErasureReceipt,
    gone: Vec<String>,
    json: String,
}

fn erased(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let target = desk.needs("target", "what is to be erased?")?;
    if desk.sent.get("sure") != Some("yes") {
        return Err(Fault::invalid("nothing was erased: confirm that it is to be erased permanently"));
    }
    let reason = desk.sent.get("reason").unwrap_or("asked for");
    let targets = [parsed::<EraseTarget>(target)?];
    let confirm = desk.sent.get("confirm").filter(|token| !token.is_empty());
    let announced = announce_erasure(desk.engine, &user, &targets, confirm)?;
    let operation = |memory: MemoryRef<'_>| erase(desk.engine, memory, &targets, reason, &mut |_| {});
    let receipt = desk.destroying(&user, (announced, Gone::Erased), operation)?;
    let f = desk.frame_of(&user, "Erased", "privacy")?;
    let gone = receipt.erased.iter().map(ToString::to_string).collect();
    let json = serde_json::to_string_pretty(&receipt).unwrap_or_default();
    page(&Erased { f, receipt, gone, json })
}
