//! Ledgers as text: lines and bundles.

use std::sync::Arc;

use quipu_core::Memory;
use quipu_core::history::History;
use quipu_core::id::UserId;
use quipu_core::ledger::{self, SealedEvent, Verifier};
use quipu_engine::bundle::{import_bundle, verify_bundle};
use quipu_engine::export::{ExportFormat, export};
use quipu_engine::files::{self, VaultOptions};
use quipu_engine::ports::{PublicKey, Signature, Signer, VaultError};
use quipu_engine::{
    ContextOptions, Engine, Error, FactOptions, ListOptions, LogOptions, MaintainOptions, RecallOptions,
    RememberOptions, Utterance, context, facts, list, log, maintain, rebuild, recall, remember, reviews, sessions,
    status, verify, versions,
};
use serde_json::{Map, Value, json};

use super::folder::MemoryFolder;
use crate::TestEngine;

use crate::MemoryStore;

/// A ledger as lines of text: parse, open, verify, fold. Everything that parses must be written back identically.
pub fn event_decode(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let events: Vec<SealedEvent> = text.lines().filter_map(|line| ledger::read_line(line).ok()).collect();
    for event in &events {
        let Ok(line) = ledger::write_line(event) else { panic!("what was read cannot be written") };
        assert_eq!(ledger::read_line(&line).as_ref(), Ok(event), "what was written reads back differently");
        let _ = ledger::is_intact(event);
    }
    let Ok(user) = UserId::parse("fuzz") else { return };
    let mut verifier = Verifier::new(user.clone(), &[]);
    events.iter().for_each(|event| verifier.check(event));
    let verdict = verifier.finish();
    assert_eq!(verdict.events, events.len() as u64);
    fold(&user, &events);
}

fn fold(user: &UserId, events: &[SealedEvent]) {
    let mut history = History::default();
    let opened: Vec<_> = events.iter().filter_map(|event| ledger::open(event).ok()).collect();
    opened.iter().for_each(|event| history.note(event));
    let version = opened.iter().map(|event| event.header.seq).max().unwrap_or(0);
    let mut memory = Memory::new(user.clone(), history.skipped_at(version));
    opened.into_iter().for_each(|event| memory.apply(event));
    let Ok(bytes) = memory.encode() else { panic!("a memory cannot be written") };
    match Memory::decode(&bytes) {
        Ok(again) => assert!(again == memory, "a memory reads back differently"),
        Err(refusal) => panic!("a memory cannot be read back: {refusal}"),
    }
}

/// Vouches for everything, so that an input gets past the signature.
struct Gullible;

impl Signer for Gullible {
    fn public_key(&self) -> Result<PublicKey, VaultError> {
        Ok([7; 32])
    }

    fn sign(&self, _: &[u8]) -> Result<Signature, VaultError> {
        Ok([7; 64])
    }

    fn vouches(&self, _: &PublicKey, _: &[u8], _: &Signature) -> bool {
        true
    }
}

/// A bundle: parse, verify, and import into an empty store.
///
/// What parses is written back as it reads. What is imported was verified, is intact, and can be listed. A bundle that fails the verification
/// leaves the store empty.
pub fn bundle(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok((signed, events)) = ledger::read_bundle(text) else { return };
    let Ok(written) = ledger::write_bundle(&signed, &events) else { panic!("what was read cannot be written") };
    assert_eq!(ledger::read_bundle(&written), Ok((signed.clone(), events)), "what was written reads back differently");
    let verdict = verify_bundle(text, None, &Gullible, &[]);
    let engine = crate::engine(Box::new(MemoryStore::new()));
    match import_bundle(&engine, text, None, &Gullible, false, &mut |_| {}) {
        Ok((restored, _)) => {
            assert!(verdict.is_ok_and(|verdict| verdict.is_intact()), "imported without verification");
            let user = restored.user_id;
            let Ok(found) = verify(&engine, &user, &[], &mut |_| {}) else {
                panic!("an imported ledger is unreadable")
            };
            assert!(found.is_intact(), "an imported ledger is damaged");
            let options = LogOptions { before: None, limit: 100, reference: None };
            assert!(log(&engine, &user, &options).is_ok(), "an imported ledger cannot be listed");
        }
        Err(_) => {
            let Ok(users) = quipu_engine::users(&engine) else { panic!("the users cannot be listed") };
            assert!(users.is_empty(), "a refused bundle left a user: {users:?}");
        }
    }
}

/// The user of a forged ledger.
const FORGER: &str = "mallory";

/// A bundle as an attacker makes it, with right hashes: an event in each line, as `{"header": {…}, "changes": [{…}, …]}`.
///
/// The bundle is refused or imported as a whole. After the import every kind of reading and writing works, or is refused with a reason; nothing
/// is a bug, and the replay gives the same bytes.
pub fn forged(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Some(bundle) = forge(text) else { return };
    let mut ports = TestEngine::new(1);
    ports.extractor = Some(super::rules());
    ports.vault = Some(Arc::new(MemoryFolder::default()));
    let engine = ports.engine(Box::new(MemoryStore::new()));
    match import_bundle(&engine, &bundle, None, &Gullible, false, &mut |_| {}) {
        Ok(_) => use_all(&engine),
        Err(Error::Bug(bug)) => panic!("import: {bug}"),
        Err(_) => {}
    }
}

/// A bundle of these events, in a chain with right hashes; `None` if a line is no event.
fn forge(text: &str) -> Option<String> {
    let salt = [7; 32];
    let (mut lines, mut prev, mut seq) = (String::new(), "0".repeat(64), 0);
    for line in text.lines() {
        let event: Map<String, Value> = serde_json::from_str(line).ok()?;
        let changes: Vec<String> = event.get("changes")?.as_array()?.iter().map(Value::to_string).collect();
        seq += 1;
        let mut header = event.get("header")?.as_object()?.clone();
        let digests: Vec<String> =
            changes.iter().map(|bytes| blake3::keyed_hash(&salt, bytes.as_bytes()).to_hex().to_string()).collect();
        for (member, value) in
            [("user_id", json!(FORGER)), ("seq", json!(seq)), ("prev", json!(prev)), ("digests", json!(digests))]
        {
            header.insert(member.to_owned(), value);
        }
        let header = Value::Object(header).to_string();
        prev = blake3::Hasher::new_derive_key("quipu ledger event v1")
            .update(header.as_bytes())
            .finalize()
            .to_hex()
            .to_string();
        let salt = blake3::Hash::from_bytes(salt).to_hex().to_string();
        let changes: Vec<Value> = changes.iter().map(|bytes| json!({"bytes": bytes, "salt": salt})).collect();
        let line = json!({"quipu_ledger": 1, "header": header, "hash": prev, "control": event.get("control").is_some(), "changes": changes});
        lines.push_str(&format!("{line}\n"));
    }
    let first = json!({
        "quipu_bundle": 1, "user_id": FORGER, "head_seq": seq, "head_hash": prev, "public_key": "07".repeat(32), "signature": "07".repeat(64)
    });
    Some(format!("{first}\n{lines}"))
}

/// Reads and writes a memory in every way.
fn use_all(engine: &Engine) {
    let Ok(user) = UserId::parse(FORGER) else { return };
    let said =
        Utterance { session: Some("s".to_owned()), ..Utterance::of_user("I live in Porto, not in Lyon. I like tea.") };
    let options = ListOptions { at: versions::When::Now, session: None, kind: None, offset: 0, limit: 100 };
    let all = [
        ("verify", verify(engine, &user, &[], &mut |_| {}).map(drop)),
        ("status", status(engine, &user).map(drop)),
        ("log", log(engine, &user, &LogOptions { before: None, limit: 100, reference: None }).map(drop)),
        ("facts", facts(engine, &user, &FactOptions { all: true, ..FactOptions::default() }).map(drop)),
        ("list", list(engine, &user, &options).map(drop)),
        ("reviews", reviews(engine, &user, true).map(drop)),
        ("sessions", sessions(engine, &user, versions::When::Now).map(drop)),
        ("recall", recall(engine, &user, &RecallOptions::of("Where do I live?")).map(drop)),
        ("context", context(engine, &user, &ContextOptions::of("What do I like?")).map(drop)),
        ("export", export(engine, &user, ExportFormat::Markdown).map(drop)),
        ("files", files::level(engine, &user, VaultOptions::default()).map(drop)),
        ("remember", remember(engine, &user, &said, &RememberOptions::default()).map(drop)),
        ("maintain", maintain(engine, &user, &MaintainOptions::default()).map(drop)),
        ("recall", recall(engine, &user, &RecallOptions::of("Where do I live?")).map(drop)),
    ];
    for (what, outcome) in all {
        if let Err(Error::Bug(bug)) = outcome {
            panic!("{what}: {bug}");
        }
    }
    match rebuild(engine, &user, &mut |_| {}) {
        Ok(rebuilt) => assert!(rebuilt.identical, "the replay differs from the live memory"),
        Err(error) => panic!("rebuild: {error}"),
    }
}
