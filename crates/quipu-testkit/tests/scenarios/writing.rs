//! Ready-made items: the answer says what happened to each, and different items stay different.

use quipu_core::event::{Actor, SourceKind, Trust};
use quipu_core::item::{ReviewDecision, TaskStatus};
use quipu_core::recall::Verdict;
use quipu_engine::erase::EraseTarget;
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::When;
use quipu_engine::{
    ContextOptions, Engine, FactOptions, RecallOptions, WriteReport, WriteRequest, close_fact, context, core_at,
    decide_review, erase, facts, mark, recall, retract, revert, reword, tasks, write,
};
use serde_json::{Value, json};

use crate::repeating::reading_engine;
use crate::{me, said};

fn written(engine: &Engine, body: Value, kind: SourceKind) -> WriteReport {
    let request: WriteRequest = serde_json::from_value(body).unwrap();
    write(engine, &me(), &request, kind).unwrap()
}

fn titles(engine: &Engine) -> Vec<(String, TaskStatus)> {
    let found = tasks(engine, &me(), None, true).unwrap();
    let mut all: Vec<_> = found.into_iter().map(|task| (task.title, task.status)).collect();
    all.sort();
    all
}

fn lives_in(engine: &Engine) -> Vec<quipu_core::item::Fact> {
    let asked = FactOptions { predicate: Some("lives_in".to_owned()), ..FactOptions::default() };
    facts(engine, &me(), &asked).unwrap().into_iter().map(|shown| shown.fact).collect()
}

#[test]
fn tasks_of_other_titles_or_days_are_other_tasks() {
    for (one, other) in [
        (json!({"title": "Send the invoice to Alice"}), json!({"title": "Send the invoice to Bob"})),
        (json!({"title": "Buy milk"}), json!({"title": "Do not buy milk"})),
        (json!({"title": "Pay the March rent"}), json!({"title": "Pay the April rent"})),
        (json!({"title": "Fix login bug"}), json!({"title": "Fix logout bug"})),
        (json!({"title": "Send the report"}), json!({"title": "Send the report to Alice"})),
        (
            json!({"title": "Water the plants", "due": "2027-01-04"}),
            json!({"title": "Water the plants", "due": "2027-01-07"}),
        ),
    ] {
        // given two tasks in one write, and in two
        for together in [true, false] {
            let engine = reading_engine();
            let parts = if together { vec![vec![&one, &other]] } else { vec![vec![&one], vec![&other]] };
            let made: usize = parts
                .iter()
                .map(|part| written(&engine, json!({"tasks": part}), SourceKind::UserSaid).accepted.len())
                .sum();
            // then both are there
            assert_eq!((made, titles(&engine).len()), (2, 2), "{one} {other} {together}");
        }
    }
    // and a repeated title is one task
    let engine = reading_engine();
    for _ in 0..2 {
        written(&engine, json!({"tasks": [{"title": "Water the plants"}]}), SourceKind::UserSaid);
    }
    assert_eq!(titles(&engine).len(), 1);
}

#[test]
fn a_task_that_is_done_is_the_one_of_its_title() {
    let engine = reading_engine();
    written(&engine, json!({"tasks": [{"title": "Pay the March rent"}]}), SourceKind::UserSaid);
    let report =
        written(&engine, json!({"tasks": [{"title": "Pay the April rent", "status": "done"}]}), SourceKind::UserSaid);
    assert_eq!(report.understood.tasks[0].text, "Pay the April rent");
    let expected = [("Pay the April rent", TaskStatus::Done), ("Pay the March rent", TaskStatus::Active)];
    assert_eq!(titles(&engine), expected.map(|(title, status)| (title.to_owned(), status)));
}

#[test]
fn a_task_is_closed_once() {
    let engine = reading_engine();
    let close = json!({"tasks": [{"title": "Call the plumber", "status": "done"}]});
    written(&engine, json!({"tasks": [{"title": "Call the plumber"}]}), SourceKind::UserSaid);
    for _ in 0..3 {
        let report = written(&engine, close.clone(), SourceKind::UserSaid);
        assert_eq!((report.understood.tasks.len(), report.accepted.len()), (1, 1), "{report:?}");
    }
    assert_eq!(titles(&engine), [("Call the plumber".to_owned(), TaskStatus::Done)]);
}

#[test]
fn many_tasks_of_like_titles_are_all_kept() {
    let engine = reading_engine();
    let tasks: Vec<Value> = (0..60).map(|n| json!({"title": format!("Send the invoice to Customer{n}")})).collect();
    let report = written(&engine, json!({"tasks": tasks}), SourceKind::UserSaid);
    assert_eq!((report.accepted.len(), titles(&engine).len()), (60, 60));
}

#[test]
fn each_task_of_a_write_is_an_answer_of_its_own() {
    let engine = reading_engine();
    let tasks = json!({"tasks": [
        {"title": "Water the plants"}, {"title": "Call the plumber"}, {"title": "Renew the passport"},
        {"title": "Take out the bins", "due": "2027-01-03"}, {"title": "Take out the bins", "due": "2027-01-17"},
    ]});
    written(&engine, tasks, SourceKind::UserSaid);
    written(&engine, json!({"tasks": [{"title": "Call the plumber", "status": "done"}]}), SourceKind::UserSaid);
    let pack = context(&engine, &me(), &ContextOptions::of("What do I still have to do?")).unwrap().text;
    for title in ["Water the plants", "Renew the passport"] {
        assert_eq!(pack.matches(title).count(), 1, "{pack}");
    }
    assert_eq!((pack.matches("Take out the bins").count(), pack.matches("plumber").count()), (2, 0), "{pack}");
}

#[test]
fn what_waits_for_a_review_is_named_with_it() {
    // given an agent's statement about the user
    let engine = reading_engine();
    let report = written(&engine, json!({"facts": [{"p": "lives_in", "o": "Porto"}]}), SourceKind::AssistantSaid);
    // then it is not accepted, and its review can be decided
    assert_eq!(report.accepted, []);
    let [waiting] = report.waiting.as_slice() else { panic!("{report:?}") };
    assert!(lives_in(&engine).is_empty());
    // and written again, it waits for the same review
    let report = written(&engine, json!({"facts": [{"p": "lives_in", "o": "Porto"}]}), SourceKind::AssistantSaid);
    assert_eq!((report.accepted, &report.waiting[0].review_id), (vec![], &waiting.review_id));
    // and recall and packs do not have it
    let is_silent = || {
        let asked = recall(&engine, &me(), &RecallOptions::of("Where do I live?")).unwrap();
        let shown = context(&engine, &me(), &ContextOptions::of("Where do I live?")).unwrap().text;
        asked.decision.verdict != Verdict::Answer && !shown.contains("Porto")
    };
    assert!(is_silent());
    // when it is declined
    let review = waiting.review_id.to_string();
    decide_review(&engine, &me(), &review, &ReviewDecision::Declined, Actor::User, None).unwrap();
    // then it stays so, also if it is written again
    assert!(is_silent());
    let report = written(&engine, json!({"facts": [{"p": "lives_in", "o": "Porto"}]}), SourceKind::AssistantSaid);
    assert_eq!(report.rejected.len(), 1);
    assert!(is_silent());
}

#[test]
fn what_the_user_says_too_counts_as_the_users() {
    let engine = reading_engine();
    let body = json!({"facts": [{"p": "lives_in", "o": "Porto"}]});
    written(&engine, body.clone(), SourceKind::AssistantSaid);
    let report = written(&engine, body.clone(), SourceKind::UserSaid);
    let fact = lives_in(&engine).remove(0);
    assert_eq!((report.accepted, fact.trust), (vec![fact.id], Trust::User));
    // It may be taken back and said again; then others may repeat it.
    retract(&engine, &me(), &fact.id.to_string(), "no").unwrap();
    assert_eq!(written(&engine, body.clone(), SourceKind::AssistantSaid).rejected.len(), 1);
    written(&engine, body.clone(), SourceKind::UserSaid);
    let report = written(&engine, body, SourceKind::AssistantSaid);
    assert_eq!((report.rejected, lives_in(&engine).len()), (vec![], 1));
}

#[test]
fn an_end_that_is_written_is_told() {
    let engine = reading_engine();
    written(&engine, json!({"facts": [{"p": "lives_in", "o": "Braga"}]}), SourceKind::UserSaid);
    let end = json!({"facts": [{"p": "lives_in", "o": "Braga", "valid_to": "2020-01-31"}]});
    let report = written(&engine, end, SourceKind::UserSaid);
    let ended = &report.understood.ended;
    assert!(ended.iter().any(|one| one.text == "User lives in Braga"), "{report:?}");
    assert!(lives_in(&engine).is_empty());
}

#[test]
fn secrets_are_removed_and_named() {
    let engine = reading_engine();
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let report = written(&engine, json!({"tasks": [{"title": format!("Rotate {secret}")}]}), SourceKind::UserSaid);
    assert_eq!(report.redacted, ["github_token"]);
}

#[test]
fn the_version_of_a_receipt_has_everything_that_followed() {
    let engine = reading_engine();
    let report = written(&engine, json!({"facts": [{"p": "lives_in", "o": "Porto"}]}), SourceKind::UserSaid);
    let home = |at| core_at(&engine, &me(), When::Seq(at)).unwrap().pointer("/location/current").cloned();
    assert_eq!(home(report.version), Some(json!("Porto")));
    let fact = lives_in(&engine).remove(0).id.to_string();
    let receipt = close_fact(&engine, &me(), &fact, "2026-01-01T00:00:00Z".parse().unwrap()).unwrap();
    assert!(receipt.version > receipt.seq, "{receipt:?}");
    assert_eq!(home(receipt.version), None);
}

#[test]
fn a_message_is_reverted_by_its_id() {
    let engine = reading_engine();
    said(&engine, &["I live in Porto.", "The blue folder is in the attic."]);
    let turns = recall(&engine, &me(), &RecallOptions::of("folder Porto")).unwrap();
    for text in ["I live in Porto.", "The blue folder is in the attic."] {
        let quoted = |hit: &&quipu_engine::Answer| hit.text == text;
        let turn = turns.hits.iter().find(quoted).map(|hit| hit.id);
        let turn = turn
            .or_else(|| turns.hits.iter().flat_map(|hit| &hit.evidence).find(|one| one.text == text).map(|one| one.id));
        let selection = Selection::Reference(turn.unwrap().to_string());
        revert(&engine, &me(), &selection, &RevertOptions::default(), &mut |_| {}).unwrap();
    }
    assert!(recall(&engine, &me(), &RecallOptions::of("folder Porto")).unwrap().hits.is_empty());
}

#[test]
fn whatever_is_pinned_is_in_every_pack_and_stays_so_in_other_words() {
    let engine = reading_engine();
    let body = json!({
        "facts": [{"p": "shoe_size", "o": "44"}],
        "tasks": [{"title": "Renew the passport", "due": "2027-03-01"}],
        "reflective": [{"text": "Ask before booking."}],
    });
    let report = written(&engine, body, SourceKind::UserSaid);
    said(&engine, &["The blue folder is in the attic."]);
    let hits = recall(&engine, &me(), &RecallOptions::of("blue folder")).unwrap().hits;
    let turn = hits.iter().find(|hit| hit.text.contains("blue folder")).unwrap().id;
    for item in report.accepted.iter().chain([&turn]) {
        mark(&engine, &me(), &item.to_string(), Some(true), None).unwrap();
    }
    let stable = || context(&engine, &me(), &ContextOptions::of("hello")).unwrap().text;
    let expected = ["shoe size 44", "task: Renew the passport, due 2027-03", "Ask before booking.", "blue folder"];
    for part in expected {
        assert!(stable().contains(part), "{part:?} is not in {}", stable());
    }
    for (item, text) in
        report.accepted.iter().zip(["User shoe size 45", "Renew both passports", "Ask before you book."])
    {
        reword(&engine, &me(), &item.to_string(), text).unwrap();
    }
    reword(&engine, &me(), &turn.to_string(), "The red folder is in the attic.").unwrap();
    for part in ["shoe size 45", "Renew both passports", "Ask before you book.", "red folder"] {
        assert!(stable().contains(part), "{part:?} is not in {}", stable());
    }
}

#[test]
fn erasing_what_took_the_place_of_a_pinned_fact_leaves_the_rest_of_its_message() {
    // given a message that moves a pinned fact and says something else
    let engine = reading_engine();
    said(&engine, &["I live in Oslo."]);
    let home = lives_in(&engine).remove(0).id.to_string();
    mark(&engine, &me(), &home, Some(true), None).unwrap();
    said(&engine, &["I live in Bergen now and my sister is Eva."]);
    let home = lives_in(&engine).remove(0);
    assert_eq!(home.object, "Bergen");
    // when the new fact is erased
    let receipt = erase(&engine, &me(), &[EraseTarget::Item(home.id)], "asked to", &mut |_| {}).unwrap();
    // then nothing else is lost
    assert_eq!(receipt.orphans_new, []);
    let sister = FactOptions { predicate: Some("sibling".to_owned()), ..FactOptions::default() };
    assert_eq!(facts(&engine, &me(), &sister).unwrap().len(), 1);
}
