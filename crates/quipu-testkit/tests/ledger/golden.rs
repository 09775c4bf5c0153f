//! Ledgers written by earlier versions parse, verify and fold as before. The files are never edited.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use quipu_core::event::Change;
use quipu_core::id::UserId;
use quipu_core::ledger::{FORMAT, FormatError, Verifier, open, open_change, open_header, read_line, write_line};
use quipu_testkit::golden;
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/golden")
}

/// Format, user, ledger and expected fold of every golden file.
fn goldens() -> Vec<(u16, UserId, String, Value)> {
    let mut found = Vec::new();
    for format in 1..=FORMAT {
        let mut ledgers: Vec<PathBuf> =
            fs::read_dir(folder().join(format!("v{format}"))).unwrap().map(|entry| entry.unwrap().path()).collect();
        ledgers.sort();
        for path in ledgers.iter().filter(|path| path.extension().is_some_and(|end| end == "jsonl")) {
            let user = UserId::parse(path.file_stem().unwrap().to_str().unwrap()).unwrap();
            let fold = serde_json::from_str(&fs::read_to_string(path.with_extension("fold.json")).unwrap()).unwrap();
            found.push((format, user, fs::read_to_string(path).unwrap(), fold));
        }
    }
    found
}

#[test]
fn golden_ledgers_fold_to_what_they_always_did() {
    let goldens = goldens();
    assert!(goldens.len() >= 8, "golden files are missing");
    for (format, user, text, expected) in goldens {
        let events = golden::from_lines(&text).unwrap();
        assert!(events.iter().all(|event| event.format == format), "{user}");
        let found = golden::fold(&user, &events).unwrap();
        let found: Value = serde_json::from_str(&found.to_string()).unwrap();
        for part in ["verification", "version", "head", "core", "items", "orphans", "skipped", "sessions"] {
            assert_eq!(found[part], expected[part], "{part} of {user}, format {format}");
        }
        assert_eq!(found, expected);
    }
}

#[test]
fn golden_ledgers_are_intact() {
    for (format, user, text, expected) in goldens() {
        let mut verifier = Verifier::new(user.clone(), &[]);
        golden::from_lines(&text).unwrap().iter().for_each(|event| verifier.check(event));
        let verdict = verifier.finish();
        assert!(verdict.is_intact(), "{user}, format {format}: {verdict:?}");
        assert_eq!(verdict.head_hash, expected["head"], "{user}, format {format}");
    }
}

#[test]
fn golden_lines_are_written_back_as_they_were() {
    for (_, user, text, _) in goldens() {
        for (number, line) in text.lines().enumerate() {
            assert_eq!(write_line(&read_line(line).unwrap()).unwrap(), line, "{user}, line {number}");
        }
    }
}

#[test]
fn golden_ledgers_of_a_format_hold_every_kind_of_change() {
    let mut words = BTreeSet::new();
    let (mut keys, mut holes, mut several) = (0, 0, 0);
    for (_, _, text, _) in goldens() {
        for event in golden::from_lines(&text).unwrap() {
            keys += usize::from(event.idempotency.is_some());
            several += usize::from(event.changes.len() > 1);
            let changes = open(&event).unwrap().changes;
            holes += changes.iter().filter(|change| change.is_none()).count();
            words.extend(changes.iter().flatten().map(Change::as_str));
        }
    }
    let all = [
        "source_recorded",
        "core_patched",
        "item_marked",
        "reverted",
        "erased",
        "forked",
        "fact_asserted",
        "fact_seen",
        "fact_changed",
        "fact_restored",
        "value_rejected",
        "candidates_refused",
        "episode_recorded",
        "task_opened",
        "task_changed",
        "note_recorded",
        "note_seconded",
        "tenet_recorded",
        "tenet_changed",
        "review_opened",
        "review_decided",
        "item_retracted",
        "items_merged",
        "turn_summarized",
        "base_truth_added",
        "base_truth_removed",
        "base_truth_merged",
        "base_truth_kept",
        "session_ended",
        "hits_counted",
        "fact_promoted",
        "items_demoted",
        "core_fields_changed",
        "core_edited",
        "SCHEMA_PROMOTION",
    ];
    assert_eq!(words, all.into_iter().collect());
    assert!(keys > 0 && holes > 0 && several > 0, "{keys} keys, {holes} erased, {several} of several changes");
}

#[test]
fn another_format_is_newer_not_guessed() {
    let (_, _, text, _) = goldens().swap_remove(0);
    let line = text.lines().next().unwrap();
    let event = read_line(line).unwrap();
    for other in [0, FORMAT + 1, u16::MAX] {
        let mut newer = event.clone();
        newer.format = other;
        assert_eq!(open(&newer), Err(FormatError::Newer(other)));
        assert_eq!(open_header(&newer).map(drop), Err(FormatError::Newer(other)));
        assert_eq!(open_change(&newer, 0).map(drop), Err(FormatError::Newer(other)));
        let marked = line.replacen("{\"quipu_ledger\":1,", &format!("{{\"quipu_ledger\":{other},"), 1);
        assert_ne!(marked, line);
        assert_eq!(read_line(&marked).map(drop), Err(FormatError::Newer(other)));
    }
}
