//! `quipu eval updates`: what the made-up worlds must show, whatever else changes; and answers with their questions.

use std::process::Command;

use serde_json::Value;

use super::check;
use super::place::Place;

/// Enough for more than two thousand questions.
const WORLDS: &str = "10";

fn run(args: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_quipu")).args(args).args(["-o", "json"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn number(report: &Value, pointer: &str) -> f64 {
    report.pointer(pointer).and_then(Value::as_f64).unwrap()
}

#[test]
fn updates_are_answered_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("answers.jsonl");
    let report = run(&["eval", "updates", "--seed", "1", "--worlds", WORLDS, "--out", file.to_str().unwrap()]);
    let shown = serde_json::to_string_pretty(&report).unwrap();
    // Enough was asked, and little of it had to be left out because the rules read something else.
    assert!(number(&report, "/all/questions") >= 2000.0, "{shown}");
    assert!(number(&report, "/all/set_aside") <= 0.05 * number(&report, "/all/questions"), "{shown}");
    assert!(number(&report, "/sentences_not_understood") <= 0.01 * number(&report, "/sentences"), "{shown}");
    for (kind, least) in [("holds now", 0.99), ("held then", 0.97), ("was ever said", 0.99)] {
        assert!(number(&report, &format!("/by_kind/{kind}/share")) >= least, "{kind}: {shown}");
    }
    // A corrected value, a weak source, two values at once, two truths, another replay: never.
    let faults = report["faults"].as_object().unwrap();
    assert_eq!(faults.len(), 5, "{shown}");
    assert!(faults.values().all(|count| count == 0), "{shown}");
    // Every question has its line.
    let lines = std::fs::read_to_string(file).unwrap();
    let asked = number(&report, "/all/questions") + number(&report, "/all/set_aside");
    assert!((lines.lines().count() as f64 - asked).abs() < 0.5);
    assert!(lines.lines().all(|line| serde_json::from_str::<Value>(line).is_ok_and(|line| line["wanted"].is_array())));
}

#[test]
fn the_same_seed_gives_the_same_answers() {
    let folder = tempfile::tempdir().unwrap();
    let answers = |seed: &str, name: &str| {
        let file = folder.path().join(name);
        run(&["eval", "updates", "--seed", seed, "--worlds", "1", "--out", file.to_str().unwrap()]);
        std::fs::read_to_string(file).unwrap()
    };
    let first = answers("5", "a");
    assert_eq!(first, answers("5", "b"));
    assert_ne!(first, answers("6", "c"));
}

#[test]
fn an_answer_is_listed_with_its_question() {
    let place = Place::new("");
    let ok = |args: &[&str], pieces: &[&str]| check(&place, args, 0, pieces);
    ok(&["add", "--session", "s", "Lovely. And where do you live?", "--role", "assistant"], &[]);
    ok(&["add", "--session", "s", "I live in Bergen. Do you like it?"], &["User lives in Bergen"]);
    ok(&["add", "--session", "s", "I work as a vet."], &["User works as a vet"]);
    ok(&["facts", "--predicate", "lives_in"], &["asked: “… And where do you live?”  turn_", "“I live in Bergen.”"]);
    // The user's own question is not one that the user answers.
    let work = ok(&["facts", "--predicate", "works_as"], &["User works as a vet"]);
    assert!(!work.contains("asked"), "{work}");
}
