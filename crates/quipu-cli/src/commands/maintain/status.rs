//! Shows the state of the data folder and of each memory in it.

use quipu_engine::{Engine, MaintenanceStep, Result, Status};

use crate::commands::render;
use crate::output::Printer;
use crate::settings::{Settings, StoreSetting};

pub(super) fn status(engine: &Engine, settings: &Settings, printer: &Printer) -> Result<()> {
    let users = match &settings.user_named {
        Some(user) => vec![user.clone()],
        None => quipu_engine::users(engine)?,
    };
    let all = users.iter().map(|user| quipu_engine::status(engine, user)).collect::<Result<Vec<_>>>()?;
    printer.report(&all, |all| {
        let mut text = format!("Data folder {}\n", settings.data_dir.display());
        if let StoreSetting::Postgres(url) = &settings.store {
            text.push_str(&format!("Ledgers in  {url}\n"));
        }
        if all.is_empty() {
            text.push_str("Nothing is remembered here yet; try `quipu demo`, `quipu add` or `quipu import`\n");
        }
        all.iter().for_each(|status| text.push_str(&in_words(status)));
        text
    })
}

fn in_words(status: &Status) -> String {
    let between = status.said_between.map_or_else(
        || "times unknown".to_owned(),
        |(first, last)| format!("{} to {}", render::time(Some(first)), render::time(Some(last))),
    );
    let mut text = format!(
        "\n{}\n  version {}, head {}…\n  {} in {}, {between}\n",
        status.user_id,
        status.version,
        &status.head[..12],
        render::counted(status.items, ["item", "items"]),
        render::counted(status.sessions, ["session", "sessions"])
    );
    for (count, what, hint) in [
        (status.reverted, ["event reverted", "events reverted"], ""),
        (status.orphans, ["event that no longer applies", "events that no longer apply"], ""),
        (status.erased, ["payload erased on record", "payloads erased on record"], ""),
        (
            status.passages_waiting,
            ["passage waits for its vector", "passages wait for their vectors"],
            " (made by `quipu rebuild` or the next `add`)",
        ),
    ] {
        if count > 0 {
            text.push_str(&format!("  {}{hint}\n", render::counted(count, what)));
        }
    }
    if let Some(waiting @ 1..) = status.unstudied {
        let waiting = render::counted(waiting, ["message waits", "messages wait"]);
        text.push_str(&format!("  {waiting} for the extraction model (`quipu catch-up`)\n"));
    }
    if let Some(given_up @ 1..) = status.given_up {
        let (messages, them) = if given_up == 1 { ("message", "it") } else { ("messages", "them") };
        text.push_str(&format!(
            "  {given_up} {messages} the extraction model could not read; the rules have read {them}\n"
        ));
    }
    if status.unsummarized > 0 {
        let exchanges = render::counted(status.unsummarized, ["exchange", "exchanges"]);
        text.push_str(&format!("  {exchanges} not summarised (`quipu catch-up` or `quipu session summarize`)\n"));
    }
    let due = status.due.iter().filter(|due| !matches!(due.step, MaintenanceStep::Study | MaintenanceStep::Summarize));
    let due: Vec<String> = due.map(|due| due.step.counted(due.count)).collect();
    if !due.is_empty() {
        text.push_str(&format!("  due: {} (`quipu maintain`)\n", due.join(", ")));
    }
    if let Some(at) = status.maintained_at {
        text.push_str(&format!("  maintained {}\n", render::time(Some(at))));
    }
    let index = status.active_index;
    if index.active < index.items {
        text.push_str(&format!("  {} of {} items in the active index\n", index.active, index.items));
    }
    text.push_str(&format!(
        "  {} on disk, {} in memory, model {}\n",
        render::size(status.bytes_on_disk),
        render::size(status.bytes_in_memory as u64),
        status.model
    ));
    text
}
