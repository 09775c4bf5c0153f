//! Answers to questions: facts and passages, without duplicates, for the time asked about.

use quipu_core::id::{ItemId, ItemKind};
use quipu_core::recall::{Intent, Validity};
use quipu_engine::{
    Answer, ContextOptions, CoreEdit, Engine, PatchOptions, RecallOptions, RememberOptions, Utterance, context,
    edit_core, recall, remember, revert, versions::EventRef,
};

use quipu_engine::revert::{RevertOptions, Selection};
use quipu_testkit::MemoryStore;
use serde_json::{Value, json};

use crate::me;
use crate::repeating::{reading_engine, reading_ports};

fn on(engine: &Engine, date: &str, text: &str) -> u64 {
    let said_at = Some(format!("{date}T10:00:00Z").parse().unwrap());
    let said = Utterance { said_at, ..Utterance::of_user(text) };
    remember(engine, &me(), &said, &RememberOptions::default()).unwrap().seq
}

fn moves() -> Engine {
    let engine = reading_engine();
    on(&engine, "2023-03-01", "I live in Porto.");
    on(&engine, "2024-05-01", "I moved to Lisbon.");
    on(&engine, "2024-05-02", "I love long walks along the river.");
    engine
}

fn ask(engine: &Engine, options: &RecallOptions) -> Vec<Answer> {
    recall(engine, &me(), options).unwrap().hits
}

#[test]
fn a_statement_and_its_words_are_one_answer_with_its_evidence() {
    // given a statement
    let engine = moves();
    // when a question asks for it
    let hits = ask(&engine, &RecallOptions::of("Where do I live?"));
    // then the fact answers, with its words, which are not listed separately
    let first = &hits[0];
    assert_eq!((first.kind, first.text.as_str()), ("fact", "User lives in Lisbon."), "{hits:#?}");
    assert_eq!(first.evidence[0].text.trim_end_matches('.'), "I moved to Lisbon");
    let turn = first.evidence[0].id;
    assert!(first.also.contains(&turn) && hits.iter().all(|hit| hit.id != turn), "{hits:#?}");
    // and every score is the sum of its parts
    for hit in &hits {
        assert!((hit.contributions.sum() - hit.raw_score).abs() < 1e-5, "{hit:#?}");
        assert!((0.0..=1.0).contains(&hit.confidence), "{hit:#?}");
    }
}

#[test]
fn what_was_moved_or_measured_again_comes_before_what_it_was() {
    let engine = reading_engine();
    on(&engine, "2026-11-02", "I weigh 68kg.");
    on(&engine, "2026-11-02", "The premiere of Yerma is on December 4th.");
    on(&engine, "2026-11-10", "down to 66 kg!!");
    on(&engine, "2026-11-10", "The premiere of Yerma moved to December 11!");
    for (question, new, old) in [
        ("How much do I weigh?", "66 kg", "I weigh 68kg."),
        ("When is the premiere?", "Yerma", "The premiere of Yerma is on December 4th."),
    ] {
        let hits = ask(&engine, &RecallOptions::of(question));
        assert!(hits[0].text.contains(new) && hits[0].outdated.is_empty(), "{hits:#?}");
        let over = hits.iter().find(|hit| hit.text == old).unwrap();
        let moved = over.outdated[0].1.ends_with("(moved)");
        assert_eq!(moved, question.starts_with("When"), "{over:#?}");
    }
}

#[test]
fn words_that_hold_no_longer_come_after_what_took_their_place_and_say_so() {
    let engine = moves();
    let hits = ask(&engine, &RecallOptions::of("Where do I live?"));
    let old = hits.iter().position(|hit| hit.text == "I live in Porto.").unwrap();
    assert!(old > 0, "{hits:#?}");
    assert_eq!(hits[old].outdated[0].1, "User lives in Porto");
    assert!(hits.iter().all(|hit| hit.text != "User lives in Porto."), "what is over is not told as a fact: {hits:#?}");
}

#[test]
fn the_question_names_the_time() {
    let engine = moves();
    let facts = |options: RecallOptions| {
        let hits = ask(&engine, &RecallOptions { kinds: vec![ItemKind::Fact], ..options });
        hits.into_iter().map(|hit| hit.text).filter(|text| text.contains("lives")).collect::<Vec<_>>()
    };
    assert_eq!(facts(RecallOptions::of("Where do I live?")), ["User lives in Lisbon."]);
    assert_eq!(facts(RecallOptions::of("Where did I live in 2023?")), ["User lives in Porto."]);
    let mut ever = facts(RecallOptions::of("Where did I use to live, and where did I ever live?"));
    ever.sort();
    assert_eq!(ever, ["User lives in Lisbon.", "User lives in Porto."]);
    let then = Validity::Now(Some("2023-12-01T00:00:00Z".parse().unwrap()));
    let asked = RecallOptions { validity: Some(then), ..RecallOptions::of("Where do I live?") };
    assert_eq!(facts(asked.clone()), ["User lives in Porto."]);
    // The core document has the current home, which does not answer a question about the past.
    let core = |options: &RecallOptions| recall(&engine, &me(), options).unwrap().core;
    assert_eq!(core(&RecallOptions::of("Where do I live?"))[0].path, "/location/current");
    assert!(core(&asked).is_empty(), "{:?}", core(&asked));
}

#[test]
fn a_narrowed_question_is_answered_by_those_kinds_only() {
    let engine = moves();
    for (kinds, expected) in [(vec![ItemKind::Turn], "turn"), (vec![ItemKind::Fact], "fact")] {
        let hits = ask(&engine, &RecallOptions { kinds, ..RecallOptions::of("Where do I live?") });
        assert!(!hits.is_empty() && hits.iter().all(|hit| hit.kind == expected), "{hits:#?}");
    }
}

#[test]
fn what_was_taken_back_answers_no_longer() {
    // given a move
    let engine = reading_engine();
    on(&engine, "2023-03-01", "I live in Porto.");
    let moved = on(&engine, "2024-05-01", "I moved to Lisbon.");
    // when it is reverted, with what was read from it
    let events = vec![EventRef::Seq(moved), EventRef::Seq(moved + 1)];
    let options = RevertOptions { rationale: None, probes: Vec::new() };
    revert(&engine, &me(), &Selection::Events(events), &options, &mut |_| {}).unwrap();
    // then the old fact holds again
    let hits = ask(&engine, &RecallOptions::of("Where do I live?"));
    assert_eq!(hits[0].text, "User lives in Porto.", "{hits:#?}");
    assert!(hits.iter().all(|hit| !hit.text.contains("Lisbon")), "{hits:#?}");
}

#[test]
fn a_pack_is_mixed_by_what_it_is_for() {
    // given a rule, a task and a home
    let engine = moves();
    on(&engine, "2024-06-01", "I'm allergic to peanuts.");
    on(&engine, "2024-06-02", "I have to book the physiotherapist by Friday.");
    let pack = |intent| {
        let asked = ContextOptions { intent: Some(intent), ..ContextOptions::of("my week in Lisbon") };
        context(&engine, &me(), &asked).unwrap()
    };
    for intent in Intent::ALL {
        let made = pack(intent);
        // then the rule is included for every intent, and the block keeps its size
        assert!(made.text.contains("User is allergic to peanuts"), "{intent:?}: {}", made.text);
        assert!(made.tokens <= 1_800 && made.intent == intent, "{intent:?}: {}", made.tokens);
        // and tasks are included where they are useful
        let tasks = made.text.contains("## Goals and open tasks\n");
        assert_eq!(tasks, intent != Intent::Recall, "{intent:?}: {}", made.text);
    }
    assert!(pack(Intent::Plan).text.contains("book the physiotherapist"), "{}", pack(Intent::Plan).text);
    assert!(pack(Intent::Nudge).tokens < 700, "a nudge is short");
}

/// The homes of the user, of two friends, and of a rumour.
fn three_homes() -> Engine {
    let engine = reading_engine();
    on(&engine, "2021-02-01", "Anna lives in Leeds.");
    on(&engine, "2021-03-01", "I live in Porto.");
    on(&engine, "2022-03-01", "Tom lives in Ghent.");
    on(&engine, "2022-05-01", "I moved to Lisbon.");
    on(&engine, "2023-05-01", "I moved to Turin.");
    engine
}

#[test]
fn who_is_asked_about_leads_and_others_do_not() {
    let engine = three_homes();
    for (question, expected) in [
        ("Where do I live?", "User lives in Turin."),
        ("Where does the user live?", "User lives in Turin."),
        ("Where is my home?", "User lives in Turin."),
        ("Where do you live?", "User lives in Turin."),
        ("Where does Anna live?", "Anna lives in Leeds."),
        ("Where did I live on 2 June 2021?", "User lives in Porto."),
        ("Where did I live before I moved to Turin?", "User lives in Lisbon."),
        ("Where did I live before moving to Lisbon?", "User lives in Porto."),
        ("Where did I live after I left Porto?", "User lives in Lisbon."),
        ("Where did Anna live when I lived in Lisbon?", "Anna lives in Leeds."),
    ] {
        let hits = ask(&engine, &RecallOptions::of(question));
        assert_eq!(hits[0].text, expected, "{question:?}: {hits:#?}");
        for hit in &hits {
            assert!((hit.contributions.sum() - hit.raw_score).abs() < 1e-5, "{hit:#?}");
        }
    }
}

#[test]
fn what_is_told_of_others_is_not_asserted_of_whom_nothing_is_known() {
    // given facts about others
    let engine = reading_engine();
    on(&engine, "2021-02-01", "Anna lives in Leeds.");
    on(&engine, "2022-03-01", "Tom lives in Ghent.");
    // when the question is about the user's home
    let made = context(&engine, &me(), &ContextOptions::of("Where do I live?")).unwrap();
    // then no fact about others is included
    assert!(made.citations.iter().all(|id| id.kind != ItemKind::Fact), "{}", made.text);
    // and it is when the question is about one of them
    let made = context(&engine, &me(), &ContextOptions::of("Where does Tom live?")).unwrap();
    assert!(made.text.contains("Tom lives in Ghent") && !made.text.contains("- Anna lives"), "{}", made.text);
}

#[test]
fn a_question_finds_the_fields_of_the_core_document_too() {
    // given messages and edits by hand
    let engine = reading_engine();
    on(&engine, "2024-05-01", "I live in Lisbon.");
    let edit = CoreEdit::Set("/devices/editorTheme".to_owned(), json!("solarized dark"));
    edit_core(&engine, &me(), &edit, &PatchOptions::default()).unwrap();
    let fields = |question: &str| {
        let report = recall(&engine, &me(), &RecallOptions::of(question)).unwrap();
        report.core.into_iter().map(|field| field.path).collect::<Vec<_>>()
    };
    // then questions find edits by their path, by their value, and by questions for the relation
    assert_eq!(fields("Which theme does my editor have?"), ["/devices/editorTheme"]);
    assert_eq!(fields("What is solarized?"), ["/devices/editorTheme"]);
    assert_eq!(fields("Where is my home?"), ["/location/current"]);
    // and fields about the user do not answer questions about others
    assert_eq!(fields("Where does Tom live?"), [""; 0]);
    assert_eq!(fields("Who won the match?"), [""; 0]);
    // and a fact names the field it is written to
    let hits = ask(&engine, &RecallOptions::of("Where do I live?"));
    assert_eq!(hits[0].core_path.as_deref(), Some("/location/current"));
}

#[test]
fn what_a_question_says_no_to_is_not_its_answer() {
    // given likes and dislikes, and an earlier home
    let engine = moves();
    on(&engine, "2024-05-03", "I like jazz and I don't like coriander.");
    // when a question asks for the opposite, for the past, or with an exclusion
    for (question, first, left_out) in [
        ("What do I like?", "User likes jazz.", "User dislikes coriander."),
        ("What don't I like?", "User dislikes coriander.", "User likes jazz."),
        ("Where do I no longer live?", "User lives in Porto.", ""),
        ("Where did I ever live besides Lisbon?", "User lives in Porto.", ""),
    ] {
        let report = recall(&engine, &me(), &RecallOptions { explain: true, ..RecallOptions::of(question) }).unwrap();
        // then the right item comes first
        assert_eq!(report.hits[0].text, first, "{question}: {:#?}", report.hits);
        assert!(report.hits.iter().take(2).all(|hit| hit.text != left_out), "{question}: {:#?}", report.hits);
        // and the plan shows the interpretation
        let negation = report.trace.unwrap().detail.unwrap().negation;
        assert_eq!(negation.is_none(), question == "What do I like?", "{question}");
    }
}

/// Replaces the ids in a value by their kinds.
fn without_ids(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Ok(id) = text.parse::<ItemId>() {
                *text = id.kind.as_str().to_owned();
            }
        }
        Value::Array(all) => all.iter_mut().for_each(without_ids),
        Value::Object(all) => all.values_mut().for_each(without_ids),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn the_same_messages_give_the_same_answers_whatever_their_random_ids() {
    // given messages with goals of equal priority, equal messages, and statements that are equally far from a question
    let told = |engine: &Engine| {
        on(engine, "2024-05-01", "I want to run a half marathon. I want to learn Portuguese. I want to build a boat.");
        for _ in 0..4 {
            on(engine, "2024-05-01", "What a lovely river, isn't it?");
        }
        on(engine, "2024-05-02", "I like rye, I like oats and I like figs. My brothers are Ben and Tom and Max.");
        on(
            engine,
            "2024-05-03",
            "My friend Ana lives in Rome. My friend Bea lives in Rome. My friend Cyd lives in Rome.",
        );
        on(engine, "2024-05-03", "I want to write a book. I want to visit Japan.");
    };
    let questions = ["What do I like?", "Who lives in Rome?", "What about the river?", "my plans for the boat", "Ben"];
    let answers = |engine: &Engine| -> Vec<String> {
        let now = Some("2024-05-04T10:00:00Z".parse().unwrap());
        let asked = |question: &&str| {
            let found = ask(engine, &RecallOptions { k: 30, now, ..RecallOptions::of(question) });
            let mut found = serde_json::to_value(found).unwrap();
            without_ids(&mut found);
            found.to_string()
        };
        questions.iter().map(asked).collect()
    };
    let mut expected = None;
    for seed in 1..=8 {
        // when memories are made of them whose ids differ
        let (ports, store) = (reading_ports(seed), MemoryStore::new());
        let engine = ports.engine(Box::new(store.clone()));
        told(&engine);
        let found = answers(&engine);
        assert!(found[0].contains("User likes figs") && found[1].matches("lives in Rome").count() > 2, "{found:#?}");
        // then every answer is the same, also after the memory was read from the store
        assert_eq!(found, *expected.get_or_insert_with(|| found.clone()), "seed {seed}");
        let reopened = ports.engine(Box::new(store));
        assert_eq!(answers(&reopened), found, "seed {seed}, opened again");
    }
}

#[test]
fn a_question_for_tasks_is_answered_with_the_open_ones() {
    // given tasks among other messages, one of them done
    let engine = reading_engine();
    on(&engine, "2024-05-01", "I need to renew my passport by June 20.");
    on(&engine, "2024-05-01", "I have to call the plumber.");
    on(&engine, "2024-05-02", "I need to pay the gas bill by May 9.");
    on(&engine, "2024-05-02", "I have no time to do the things I love, and so much to do at work.");
    on(&engine, "2024-05-03", "I paid the gas bill.");
    for question in ["What do I still have to do?", "what's left to do", "show me my open tasks"] {
        // when a question asks for them
        let now = Some("2024-05-04T10:00:00Z".parse().unwrap());
        let hits = ask(&engine, &RecallOptions { now, ..RecallOptions::of(question) });
        // then the open ones come first, those with a due day before the others
        let tasks: Vec<&str> = hits.iter().take(2).map(|hit| hit.text.as_str()).collect();
        assert_eq!(tasks, ["renew my passport", "call the plumber"], "{question}: {hits:#?}");
        assert!(hits.iter().all(|hit| hit.id.kind != ItemKind::Task || !hit.text.contains("gas")), "{question}");
    }
}
