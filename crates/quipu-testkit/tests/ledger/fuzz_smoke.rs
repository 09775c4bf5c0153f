//! Runs the bodies of the fuzz targets on random bytes and on mutations of valid input, without a fuzzer.

use quipu_testkit::fuzzing::{self, feed, seeds};

#[test]
fn ledger_lines() {
    let mut known = seeds("fuzz/seeds/event_decode");
    // One of them contains every change about items.
    known.extend(seeds("testdata/golden/v1").into_iter().filter(|bytes| bytes.starts_with(b"{\"quipu_ledger\"")));
    feed("event_decode", &known, 4000, fuzzing::event_decode);
}

#[test]
fn bundles() {
    feed("bundle", &seeds("fuzz/seeds/bundle"), 500, fuzzing::bundle);
}

#[test]
fn ledgers_with_right_hashes() {
    feed("forged", &seeds("fuzz/seeds/forged"), 100, fuzzing::forged);
}

#[test]
fn json_patches() {
    feed("json_patch", &seeds("fuzz/seeds/json_patch"), 4000, fuzzing::json_patch);
}

#[test]
fn imports() {
    let mut known = seeds("fuzz/seeds/import");
    for file in seeds("testdata/import") {
        // Each file in every format, which the first byte selects.
        known.extend((0..18).map(|format| [vec![format], file.clone()].concat()));
    }
    feed("import", &known, 4000, fuzzing::import);
}

#[test]
fn files_of_unknown_format() {
    feed("import_file", &seeds("fuzz/seeds/import_file"), 1000, fuzzing::import_file);
}

#[test]
fn messages() {
    feed("reading", &seeds("fuzz/seeds/reading"), 200, fuzzing::reading);
}

#[test]
fn questions() {
    feed("question", &seeds("fuzz/seeds/question"), 100, fuzzing::question);
}

#[test]
fn conversations() {
    feed("conversation", &seeds("fuzz/seeds/conversation"), 15, fuzzing::conversation);
}

#[test]
fn replies_of_models() {
    feed("model_reply", &seeds("fuzz/seeds/model_reply"), 1000, fuzzing::model_reply);
}

#[test]
fn pages_edited_by_hand() {
    feed("pages", &seeds("fuzz/seeds/pages"), 1000, fuzzing::pages);
}

#[test]
fn folders_changed_by_hand() {
    feed("folder", &seeds("fuzz/seeds/folder"), 10, fuzzing::folder);
}
