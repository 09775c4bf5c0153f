//! Demo: a month of a person's life, from import to undo, in one run.

mod understanding;

use std::io::Write;

use quipu_core::id::UserId;
use quipu_engine::import::{ImportFormat, ReadOptions};
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::{EventRef, When};
use quipu_engine::{
    ContextOptions, CoreEdit, Engine, Error, IngestOptions, LogOptions, PatchOptions, RecallOptions, Result,
};
use serde_json::{Value, json};

use super::{history, read, render};
use crate::app;
use crate::output::Printer;
use crate::settings::Settings;

/// A conversation written for this demo.
const CONVERSATION: &str = include_str!("../../assets/demo.jsonl");
/// Whose memory the demo keeps.
const USER: &str = "demo";
/// Asked before and after a revert.
const PROBE: &str = "On which day did I move to Porto?";
/// What the file is called, and with it the import.
const FILE: &str = "demo.jsonl";
const REFERENCE: &str = "openai:demo.jsonl";

/// Asked once everything is imported.
const QUESTIONS: [&str; 5] = [
    "When did Ines fly to Porto?",
    "What is my sister's name?",
    "What has Ines tried against waking at 3:40, and what helped?",
    "What must never be in a cake for Ines?",
    "Show me the code that computes what I have left each month",
];

pub(super) fn run(settings: &Settings, printer: &Printer) -> Result<()> {
    let engine = app::open(settings)?;
    let user = UserId::parse(USER)?;
    clear(&engine, &user)?;
    let tell = |text: &str| printer.out(&quipu_core::pack::escape_for_terminal(&format!("{text}\n")));

    tell("Quipu keeps what was said in a ledger that is only ever added to. Everything else is made from it.\n")?;
    tell("1. Import a month of someone's life\n")?;
    tell(&import(&engine, &user)?)?;

    tell("2. Ask, and see the evidence")?;
    for question in QUESTIONS {
        let report = quipu_engine::recall(&engine, &user, &RecallOptions { k: 2, ..RecallOptions::of(question) })?;
        tell(&format!("\n$ quipu -u demo recall {question:?}\n{}", read::answers(&report).trim_end()))?;
    }

    tell("\n3. Tell it things, and see what it understands\n")?;
    let told = understanding::tell(&engine, &user, &tell)?;
    let head = quipu_engine::status(&engine, &user)?.version;

    tell("4. Keep a profile: a JSON document. Facts write into it, and people may\n")?;
    profile(&engine, &user, &|text| printer.out(text))?;
    let difference = quipu_engine::diff(&engine, &user, When::Seq(told - 1), When::Seq(told + 1))?;
    tell(&format!("\n$ quipu -u demo diff {} {}\n{}", told - 1, told + 1, render::difference(&difference)))?;

    tell("5. Change your mind: what would undoing the move do?\n")?;
    let selection = Selection::Events(vec![EventRef::Seq(told), EventRef::Seq(told + 1)]);
    let options = RevertOptions { rationale: Some("changed my mind".to_owned()), probes: vec![PROBE.to_owned()] };
    let preview = quipu_engine::preview_revert(&engine, &user, &selection, &options)?;
    let typed = format!("$ quipu -u demo revert {told} {}", told + 1);
    tell(&format!("{typed} --dry-run --probe {PROBE:?}\n{}", history::preview_text(&preview)))?;
    let (receipt, difference) = quipu_engine::revert(&engine, &user, &selection, &options, &mut |_| {})?;
    tell(&format!("{typed}\nEvent {} takes them back:\n{}", receipt.seq, render::difference(&difference)))?;
    let back = Selection::Events(vec![EventRef::Seq(receipt.seq)]);
    let (restored, difference) = quipu_engine::revert(&engine, &user, &back, &RevertOptions::default(), &mut |_| {})?;
    tell(&format!(
        "$ quipu -u demo revert {}\nEvent {} brings them back:\n{}",
        receipt.seq,
        restored.seq,
        render::difference(&difference)
    ))?;

    tell("6. Nothing was lost on the way: the log, and the proof\n")?;
    let entries = quipu_engine::log(&engine, &user, &LogOptions { before: None, limit: 6, reference: None })?;
    tell(&format!("$ quipu -u demo log -n 6\n{}", entries.iter().map(render::entry).collect::<String>()))?;
    let report = quipu_engine::verify(&engine, &user, &[], &mut |_| {})?;
    if !report.is_intact() {
        return Err(Error::Bug("the demo's ledger does not verify".to_owned()));
    }
    tell(&format!("$ quipu -u demo verify\n{}", history::verdict(&report)))?;

    tell("7. Give it to a model\n")?;
    let options = ContextOptions { max_tokens: 500, ..ContextOptions::of(QUESTIONS[2]) };
    let pack = quipu_engine::context(&engine, &user, &options)?;
    tell(&format!("$ quipu -u demo context {:?} --max-tokens 500\n{}", QUESTIONS[2], pack.text))?;
    tell(&next(settings, head))
}

/// The same memory for a running server, told to nobody, with something left to decide.
pub(super) fn load(engine: &Engine) -> Result<UserId> {
    let user = UserId::parse(USER)?;
    clear(engine, &user)?;
    import(engine, &user)?;
    let silent = |_: &str| Ok(());
    understanding::tell(engine, &user, &silent)?;
    profile(engine, &user, &silent)?;
    understanding::propose(engine, &user)?;
    Ok(user)
}

/// Starts from nothing, but never deletes a memory that is not the demo's own.
fn clear(engine: &Engine, user: &UserId) -> Result<()> {
    if !quipu_engine::users(engine)?.contains(user) {
        return Ok(());
    }
    let first = quipu_engine::show(engine, user, EventRef::Seq(1));
    let ours = match first {
        Ok(event) => event.header.origin.reference.as_deref() == Some(REFERENCE),
        // An empty ledger is what a demo that was stopped at once leaves behind.
        Err(Error::NotFound(_)) => true,
        Err(other) => return Err(other),
    };
    if !ours {
        let text = "user `demo` has a memory that is not the demo's; choose another --data-dir for the demo";
        return Err(Error::Refused(text.to_owned()));
    }
    quipu_engine::erase::delete_user(engine, user).map(drop)
}

fn import(engine: &Engine, user: &UserId) -> Result<String> {
    let folder = tempfile::tempdir().map_err(|error| Error::Unavailable(format!("no temporary folder: {error}")))?;
    let path = folder.path().join(FILE);
    std::fs::File::create(&path)
        .and_then(|mut file| file.write_all(CONVERSATION.as_bytes()))
        .map_err(|error| Error::Unavailable(format!("cannot write {}: {error}", path.display())))?;
    let options = IngestOptions {
        dry_run: false,
        extract: true,
        own_words: true,
        conversation: None,
        into: Some(user.clone()),
        default_user: user.clone(),
        read: ReadOptions::default(),
    };
    let (report, fault) = quipu_engine::ingest(engine, ImportFormat::OpenAi, &path, &options, &mut |_| {});
    match fault {
        Some(fault) => Err(fault),
        None => Ok(format!("$ quipu -u demo import openai {FILE} --mine\n{}", super::write::summary(&report))),
    }
}

/// Edits by hand: one that fits, and one that does not.
fn profile(engine: &Engine, user: &UserId, out: &dyn Fn(&str) -> Result<()>) -> Result<()> {
    let set = |value: Value| CoreEdit::Set("/location/timezone".to_owned(), value);
    let options = PatchOptions { rationale: Some("she moved".to_owned()), ..PatchOptions::default() };
    let seq = quipu_engine::edit_core(engine, user, &set(json!("Europe/Lisbon")), &options)?.seq;
    out(&format!("$ quipu -u demo core set /location/timezone Europe/Lisbon --because 'she moved'\nEvent {seq}\n"))?;
    let Err(refusal) = quipu_engine::edit_core(engine, user, &set(json!(7)), &PatchOptions::default()) else {
        return Err(Error::Bug("a patch against the schema was taken".to_owned()));
    };
    out(&format!("$ quipu -u demo core set /location/timezone 7\nquipu: {refusal}\n"))?;
    let document = quipu_engine::core_at(engine, user, When::Now)?;
    let shown = serde_json::to_string_pretty(&document).map_err(|error| Error::Bug(error.to_string()))?;
    out(&format!("\n$ quipu -u demo core\n{shown}\n"))
}

fn next(settings: &Settings, version: u64) -> String {
    let folder = settings.data_dir.display();
    format!(
        "What to try next (everything is in {folder}, user `demo`)\n\
         \x20 quipu -u demo recall \"what did I decide about the race?\" --explain\n\
         \x20 quipu -u demo blame /location/current\n\
         \x20 quipu -u demo at {version} core\n\
         \x20 quipu -u demo why m12\n\
         \x20 quipu add \"I prefer tea in the morning\"      starts your own memory\n\
         \x20 quipu import markdown ~/notes                 reads a folder of notes\n\
         In a checkout, `quipu` is `cargo run --release --`."
    )
}
