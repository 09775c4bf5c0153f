//! Erasing: first what would go, then a word for it, then the receipt.

use askama::Template;
use quipu_engine::erase::EraseTarget;
use quipu_engine::ports::Scope;
use quipu_engine::{ErasureReceipt, erase, preview_erase};

use super::super::frame::{Answer, Desk, Frame, Page, page, parsed};
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
}

fn preview(desk: &Desk<'_>) -> Result<Answer, Fault> {
    let user = desk.user()?;
    let f = desk.frame_of(&user, "Erase", "privacy")?;
    let target = desk.asked.get("target").ok_or_else(|| Fault::invalid("what is to be erased?"))?.to_owned();
    let found = preview_erase(desk.engine, &user, &[parsed::<EraseTarget>(&target)?])?;
    let (asked_for, follows): (Vec<_>, Vec<_>) = found.going.into_iter().partition(|one| one.asked_for);
    let shown =
        |all: Vec<quipu_engine::Going>| all.into_iter().map(|one| (one.change.to_string(), one.summary)).collect();
    let sources_left = found.sources_left.iter().map(ToString::to_string).collect();
    page(&Preview { f, target, asked_for: shown(asked_for), follows: shown(follows), sources_left })
}

#[derive(Template)]
#[template(path = "erased.html")]
struct Erased {
    f: Frame,
    receipt: ErasureReceipt,
    gone: Vec<String>,
    json: String,
}

fn erased(desk: &Desk<'_>) -> Result<Answer, Fault> {
    let user = desk.user()?;
    let target = desk.needs("target", "what is to be erased?")?;
    if desk.sent.get("sure") != Some("yes") {
        return Err(Fault::invalid("nothing was erased: say that it may go for good"));
    }
    let reason = desk.sent.get("reason").unwrap_or("asked for");
    let erased = erase(desk.engine, &user, &[parsed::<EraseTarget>(target)?], reason, &mut |_| {});
    // Also after an error: an erasure that is recorded can fail later, at the plain files.
    desk.app.word_caches.forget(&user, Gone::Erased);
    let receipt = erased?;
    let f = desk.frame_of(&user, "Erased", "privacy")?;
    let gone = receipt.erased.iter().map(ToString::to_string).collect();
    let json = serde_json::to_string_pretty(&receipt).unwrap_or_default();
    page(&Erased { f, receipt, gone, json })
}
