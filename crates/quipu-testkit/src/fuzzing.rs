//! The bodies of the fuzz targets. No input may cause a panic, and the stated properties must hold.
//!
//! `fuzz/` runs them under a fuzzer; `tests/ledger/fuzz_smoke.rs` runs them with random and mutated bytes in every test run.

use std::collections::BTreeSet;
use std::io::Cursor;
use std::sync::LazyLock;

use quipu_core::core_document::{self, Registry};
use quipu_core::history::History;
use quipu_core::id::UserId;
use quipu_core::ledger::{self, SealedEvent, Verifier};
use quipu_core::{Memory, limit};
use quipu_engine::import::{self, ImportFormat, Report};

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::default_registry);

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

/// A document and a patch, separated by the first line feed.
///
/// Applying a patch gives a document within the limits that reads back identically. Guarding does not change the
/// result, and a checked patch replays to the same document.
pub fn json_patch(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Some((document, patch)) = text.split_once('\n') else { return };
    let Ok(patch) = core_document::parse(patch) else { return };
    let Ok(document) = serde_json::from_str::<serde_json::Value>(document) else { return };
    let applied = core_document::apply(&document, &patch);
    if let Ok(result) = &applied {
        let stored = result.to_string();
        assert!(stored.len() <= limit::CORE_BYTES_MAX, "the result has {} bytes", stored.len());
        let Ok(again) = serde_json::from_str::<serde_json::Value>(&stored) else {
            panic!("the result cannot be read back")
        };
        let _ = again;
    }
    if let Ok(guarded) = core_document::guarded(&document, &patch) {
        assert_eq!(applied.as_ref(), Ok(&again_applied(&document, &guarded)), "guarding changed what the patch does");
        assert_eq!(core_document::replay(&document, &guarded), applied, "replaying gives something else");
    }
    if REGISTRY.validate(&document).is_ok()
        && let Ok((guarded, result)) = core_document::check(&*REGISTRY, &document, &patch)
    {
        assert!(REGISTRY.validate(&result).is_ok(), "a checked patch leads to an invalid document");
        assert_eq!(core_document::replay(&document, &guarded).as_ref(), Ok(&result));
    }
}

fn again_applied(document: &serde_json::Value, guarded: &core_document::Patch) -> serde_json::Value {
    match core_document::apply(document, guarded) {
        Ok(result) => result,
        Err(fault) => panic!("a guarded patch does not apply where it was guarded: {fault}"),
    }
}

/// An import: the first byte selects the format, the rest is the input.
///
/// Every source passes [`Source::check`](quipu_core::source::Source::check) and has the id of its content, and no id
/// occurs twice in a batch.
pub fn import(data: &[u8]) {
    let Some((choice, input)) = data.split_first() else { return };
    let format = ImportFormat::ALL[usize::from(*choice) % ImportFormat::ALL.len()];
    let mut report = Report::default();
    let mut seen = 0;
    let outcome =
        import::read(format, &mut Cursor::new(input), "fuzz", &mut report, &mut |batch| -> Result<(), String> {
            let mut ids = BTreeSet::new();
            assert!(!batch.sources.is_empty(), "an empty batch");
            for source in &batch.sources {
                source.check().map_err(|refusal| refusal.to_string())?;
                assert_eq!(source.id, source.content_id());
                assert!(ids.insert(source.id), "{} twice in a batch", source.id);
            }
            seen += batch.sources.len() as u64;
            Ok(())
        });
    if let Err(import::ReadError::Caller(refusal)) = outcome {
        panic!("a source was handed on that no memory takes: {refusal}");
    }
    assert_eq!(seen, report.sources, "the report counts something else");
    assert!(report.notices.len() <= limit::IMPORT_NOTICES_MAX);
}
