//! The demo: a month of a person's life, from import to revert, in one run.

mod facts;

use std::io::Write;

use quipu_core::id::UserId;
use quipu_engine::import::{ImportFormat, ReadOptions};
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::{EventRef, When};
use quipu_engine::{
    ContextOptions, CoreEdit, Engine, Error, IngestOptions, IngestReport, LogOptions, PatchOptions, RecallOptions,
    Result,
};
use serde_json::{Value, json};

use super::ask::recall;
use super::history::{revert, verify};
use super::remember::import;
use super::render;
use crate::app;
use crate::output::Printer;
use crate::settings::Settings;

/// A conversation written for this demo.
const CONVERSATION: &str = include_str!("../../../assets/demo.jsonl");
/// The user of the demo.
const USER: &str = "demo";
/// Query compared before and after a revert.
const PROBE: &str = "On which day did I move to Porto?";
/// Name of the imported file, and the reference of its events.
const FILE: &str = "demo.jsonl";
const REFERENCE: &str = "openai:demo.jsonl";

/// Queries after the import.
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
    let print = |text: &str| printer.out(&quipu_core::pack::escape_for_terminal(&format!("{text}\n")));

    print("Quipu records what was said in an append-only ledger. Everything else is derived from it.\n")?;
    print("1. Import a month of someone's life\n")?;
    let report = import(&engine, &user)?;
    print(&format!("$ quipu -u demo import openai {FILE} --mine\n{}", import::summary(&report, &settings.command)))?;
    print("(The file is part of the program.)\n")?;

    print("2. Ask, and see the evidence")?;
    for question in QUESTIONS {
        let report = quipu_engine::recall(&engine, &user, &RecallOptions { k: 2, ..RecallOptions::of(question) })?;
        print(&format!("\n$ quipu -u demo recall {question:?}\n{}", recall::answers(&report).trim_end()))?;
    }

    print("\n3. Tell it more, and see the facts it derives\n")?;
    let moved = facts::record(&engine, &user, &print)?;
    let head = quipu_engine::status(&engine, &user)?.version;

    print("4. The core document: a JSON profile that facts and people write\n")?;
    profile(&engine, &user, &|text| printer.out(text))?;
    let difference = quipu_engine::diff(&engine, &user, When::Seq(moved - 1), When::Seq(moved + 1))?;
    print(&format!("\n$ quipu -u demo diff {} {}\n{}", moved - 1, moved + 1, render::difference(&difference)))?;

    print("5. Change your mind: what would reverting the move change?\n")?;
    let selection = Selection::Events(vec![EventRef::Seq(moved), EventRef::Seq(moved + 1)]);
    let options = RevertOptions { rationale: Some("changed my mind".to_owned()), probes: vec![PROBE.to_owned()] };
    let preview = quipu_engine::preview_revert(&engine, &user, &selection, &options)?;
    let typed = format!("$ quipu -u demo revert {moved} {}", moved + 1);
    print(&format!("{typed} --dry-run --probe {PROBE:?}\n{}", revert::preview_text(&preview)))?;
    let (receipt, difference) = quipu_engine::revert(&engine, &user, &selection, &options, &mut |_| {})?;
    print(&format!("{typed}\nEvent {} takes them back:\n{}", receipt.seq, render::difference(&difference)))?;
    let back = Selection::Events(vec![EventRef::Seq(receipt.seq)]);
    let (restored, difference) = quipu_engine::revert(&engine, &user, &back, &RevertOptions::default(), &mut |_| {})?;
    print(&format!(
        "$ quipu -u demo revert {}\nEvent {} brings them back:\n{}",
        receipt.seq,
        restored.seq,
        render::difference(&difference)
    ))?;

    print("6. Nothing was lost: the log, and its verification\n")?;
    let entries = quipu_engine::log(&engine, &user, &LogOptions { before: None, limit: 6, reference: None })?;
    print(&format!("$ quipu -u demo log -n 6\n{}", entries.iter().map(render::entry).collect::<String>()))?;
    let report = quipu_engine::verify(&engine, &user, &[], &mut |_| {})?;
    if !report.is_intact() {
        return Err(Error::Bug("the demo's ledger does not verify".to_owned()));
    }
    print(&format!("$ quipu -u demo verify\n{}", verify::verdict(&report)))?;

    print("7. Give it to a model\n")?;
    let options = ContextOptions { max_tokens: 500, ..ContextOptions::of(QUESTIONS[2]) };
    let pack = quipu_engine::context(&engine, &user, &options)?;
    print(&format!("$ quipu -u demo context {:?} --max-tokens 500\n{}", QUESTIONS[2], pack.text))?;
    print(&next(settings, head))
}

/// Records the memory of the demo for a running server, without output, and with pending reviews.
pub(super) fn load(engine: &Engine) -> Result<UserId> {
    let user = UserId::parse(USER)?;
    clear(engine, &user)?;
    import(engine, &user)?;
    let silent = |_: &str| Ok(());
    facts::record(engine, &user, &silent)?;
    profile(engine, &user, &silent)?;
    facts::propose(engine, &user)?;
    Ok(user)
}

/// Deletes the memory of an earlier demo, and no other memory.
fn clear(engine: &Engine, user: &UserId) -> Result<()> {
    if !quipu_engine::users(engine)?.contains(user) {
        return Ok(());
    }
    let first = quipu_engine::show(engine, user, EventRef::Seq(1));
    let ours = match first {
        Ok(event) => event.header.origin.reference.as_deref() == Some(REFERENCE),
        // A demo that was interrupted early leaves an empty ledger.
        Err(Error::NotFound(_)) => true,
        Err(other) => return Err(other),
    };
    if !ours {
        let text = "user `demo` has a memory that is not the demo's; choose another --data-dir for the demo";
        return Err(Error::Refused(text.to_owned()));
    }
    quipu_engine::erase::delete_user(engine, user).map(drop)
}

fn import(engine: &Engine, user: &UserId) -> Result<IngestReport> {
    let folder = tempfile::tempdir().map_err(|error| Error::Unavailable(format!("no temporary folder: {error}")))?;
    let path = folder.path().join(FILE);
    std::fs::File::create(&path)
        .and_then(|mut file| file.write_all(CONVERSATION.as_bytes()))
        .map_err(|error| Error::Unavailable(format!("cannot write {}: {error}", path.display())))?;
    let options = IngestOptions {
        dry_run: false,
        extract: true,
        own_words: true,
        me: None,
        conversation: None,
        into: Some(user.clone()),
        default_user: user.clone(),
        read: ReadOptions::default(),
    };
    let (report, fault) = quipu_engine::ingest(engine, ImportFormat::OpenAi, &path, &options, &mut |_| {});
    match fault {
        Some(fault) => Err(fault),
        None => Ok(report),
    }
}

/// Edits the core document by hand: once correctly, and once against its schema.
fn profile(engine: &Engine, user: &UserId, out: &dyn Fn(&str) -> Result<()>) -> Result<()> {
    let set = |value: Value| CoreEdit::Set("/location/timezone".to_owned(), value);
    let options = PatchOptions { rationale: Some("she moved".to_owned()), ..PatchOptions::default() };
    let seq = quipu_engine::edit_core(engine, user, &set(json!("Europe/Lisbon")), &options)?.seq;
    out(&format!("$ quipu -u demo core set /location/timezone Europe/Lisbon --because 'she moved'\nEvent {seq}\n"))?;
    let Err(refusal) = quipu_engine::edit_core(engine, user, &set(json!(7)), &PatchOptions::default()) else {
        return Err(Error::Bug("a patch against the schema was accepted".to_owned()));
    };
    out(&format!("$ quipu -u demo core set /location/timezone 7\nquipu: {refusal}\n"))?;
    let document = quipu_engine::core_at(engine, user, When::Now)?;
    let shown = serde_json::to_string_pretty(&document).map_err(|error| Error::Bug(error.to_string()))?;
    out(&format!("\n$ quipu -u demo core\n{shown}\n"))
}

fn next(settings: &Settings, version: u64) -> String {
    let (folder, version) = (settings.data_dir.display(), version.to_string());
    let (own, demo) = (&settings.command, settings.command.user(USER));
    let lines = [
        demo.with(&["recall", "what did I decide about the race?", "--explain"]),
        demo.with(&["blame", "/location/current"]),
        demo.with(&["at", &version, "core"]),
        demo.with(&["why", "m12"]),
        format!("{}  # starts your own memory", own.with(&["add", "I prefer tea in the morning"])),
        format!("{}  # connects the clients on this machine", own.with(&["init"])),
    ];
    format!(
        "What to try next (everything is in {folder}, user `{USER}`)\n{}\
         In a checkout, `quipu` is `cargo run --release --`.",
        lines.map(|line| format!("  {line}\n")).concat()
    )
}
