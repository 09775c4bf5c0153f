//! Reading by a language model: its operations take effect, it corrects misreadings, and forbidden operations are
//! rejected.

use std::sync::{Arc, Mutex};

use quipu_core::extract::window::{Kind, ModelReply, Op, Operation, RuleVerdict, Window, WindowView};
use quipu_core::id::UserId;
use quipu_core::item::FactStatus;
use quipu_engine::ports::{ExtractError, WindowReader};
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::{EventRef, When, core_at};
use quipu_engine::{
    Engine, ExtractWithModelOptions, FactOptions, LogOptions, RememberOptions, Utterance, extract_with_model, facts,
    log, reading_cost, rebuild, remember, revert, reviews, status,
};
use quipu_models::RuleExtractor;
use quipu_testkit::{MemoryStore, TestEngine};

/// Answers by a function.
struct Model<F>(F);

impl<F: Fn(&Window) -> Result<ModelReply, ExtractError> + Send + Sync> WindowReader for Model<F> {
    fn id(&self) -> &str {
        "model/v1"
    }

    fn read(&self, _: &UserId, window: &Window) -> Result<ModelReply, ExtractError> {
        (self.0)(window)
    }
}

fn engine(answer: impl Fn(&Window) -> ModelReply + Send + Sync + 'static) -> Engine {
    failing_engine(move |window| Ok(answer(window)))
}

fn failing_engine(answer: impl Fn(&Window) -> Result<ModelReply, ExtractError> + Send + Sync + 'static) -> Engine {
    let rig = TestEngine {
        extractor: Some(Arc::new(RuleExtractor::english())),
        reader: Some(Arc::new(Model(answer))),
        ..TestEngine::new(11)
    };
    rig.engine(Box::new(MemoryStore::new()))
}

fn me() -> UserId {
    UserId::parse("me").unwrap()
}

fn say(engine: &Engine, text: &str) {
    let said = Utterance { session: Some("s".to_owned()), ..Utterance::of_user(text) };
    remember(engine, &me(), &said, &RememberOptions::default()).unwrap();
    extract_with_model(engine, &me(), &ExtractWithModelOptions::default()).unwrap();
}

/// The active facts, as sentences.
fn held(engine: &Engine) -> Vec<String> {
    facts(engine, &me(), &FactOptions::default()).unwrap().into_iter().map(|shown| shown.fact.text).collect()
}

fn mark_of(window: &Window, words: &str) -> Option<String> {
    window.known.iter().find(|item| item.text.contains(words)).map(|item| item.mark.clone())
}

/// An operation on the newest message, which it quotes completely.
fn operation(window: &Window, op: Op, id: Option<String>) -> Operation {
    let newest = window.messages.iter().rfind(|message| message.is_new).unwrap();
    Operation {
        op,
        id: id.unwrap_or_default(),
        about: "user".to_owned(),
        message: newest.mark.clone(),
        quote: newest.text.clone(),
        ..Operation::default()
    }
}

fn said(window: &Window, words: &str) -> bool {
    window.messages.iter().any(|message| message.is_new && message.text.contains(words))
}

#[test]
fn what_rules_misread_is_taken_back_and_what_it_had_ended_holds_again() {
    let engine = engine(|window| ModelReply {
        operations: Vec::new(),
        readings: mark_of(window, "Lyon").map(|id| RuleVerdict { id, right: false }).into_iter().collect(),
    });
    say(&engine, "I live in Porto.");
    say(&engine, "I live in Lyon.");
    assert_eq!(held(&engine), ["User lives in Porto"]);
    let home = core_at(&engine, &me(), When::Now).unwrap();
    assert!(home.to_string().contains("Porto") && !home.to_string().contains("Lyon"), "{home}");
    let all = facts(&engine, &me(), &FactOptions { all: true, ..FactOptions::default() }).unwrap();
    let lyon = all.iter().find(|shown| shown.fact.object == "Lyon").unwrap();
    assert_eq!(lyon.fact.status, FactStatus::Corrected);
    rebuild(&engine, &me(), &mut |_| {}).unwrap();
    assert_eq!(held(&engine), ["User lives in Porto"]);
    // It is one event and can be reverted.
    let last = log(&engine, &me(), &LogOptions { before: None, limit: 1, reference: None }).unwrap()[0].seq;
    revert(&engine, &me(), &Selection::Events(vec![EventRef::Seq(last)]), &RevertOptions::default(), &mut |_| {})
        .unwrap();
    assert_eq!(held(&engine), ["User lives in Lyon"]);
}

#[test]
fn an_update_names_what_it_changes_in_whatever_words() {
    let engine = engine(|window| {
        let diet = mark_of(window, "vegetarian");
        let home = mark_of(window, "Porto");
        let operations = if said(window, "veggie thing") {
            vec![operation(window, Op::End, diet)]
        } else if said(window, "keys") {
            let moved = Operation {
                relation: "lives_in".to_owned(),
                value: "Faro".to_owned(),
                sentence: "User lives in Faro.".to_owned(),
                ..operation(window, Op::Update, home)
            };
            let flat = Operation {
                kind: Kind::Event,
                relation: "signed_for".to_owned(),
                value: "the flat".to_owned(),
                sentence: "User got the keys to the flat in Faro.".to_owned(),
                ..operation(window, Op::Add, None)
            };
            vec![moved, flat]
        } else {
            Vec::new()
        };
        ModelReply { operations, readings: Vec::new() }
    });
    say(&engine, "I live in Porto.");
    say(&engine, "I'm vegetarian.");
    assert_eq!(held(&engine).len(), 2, "{:?}", held(&engine));
    say(&engine, "got the keys to the flat in Faro yay");
    say(&engine, "lol the veggie thing is over");
    let mut held = held(&engine);
    held.sort();
    held.retain(|text| !text.contains("has keys"));
    assert_eq!(held, ["User got the keys to the flat in Faro", "User lives in Faro"]);
    assert!(core_at(&engine, &me(), When::Now).unwrap().to_string().contains("Faro"));
}

#[test]
fn a_plan_that_is_put_off_takes_the_old_ones_place() {
    let engine = engine(|window| {
        let visit = Operation {
            kind: Kind::Plan,
            relation: "appointment".to_owned(),
            value: "dentist".to_owned(),
            sentence: "User has a dentist appointment.".to_owned(),
            from: if said(window, "19th") { "2026-03-19" } else { "2026-03-12" }.to_owned(),
            ..operation(window, Op::Add, None)
        };
        let known = mark_of(window, "dentist");
        let visit =
            if said(window, "19th") { Operation { op: Op::Update, id: known.unwrap(), ..visit } } else { visit };
        ModelReply { operations: vec![visit], readings: Vec::new() }
    });
    let said_at = Some("2026-03-02T10:00:00Z".parse().unwrap());
    for text in ["ugh, dentist: the 12th, nothing earlier", "they rang, dentist not before the 19th"] {
        let said = Utterance { said_at, session: Some("s".to_owned()), ..Utterance::of_user(text) };
        remember(&engine, &me(), &said, &RememberOptions::default()).unwrap();
        extract_with_model(&engine, &me(), &ExtractWithModelOptions::default()).unwrap();
    }
    let held = facts(&engine, &me(), &FactOptions::default()).unwrap();
    let days: Vec<String> = held
        .iter()
        .filter(|shown| shown.fact.predicate == "appointment")
        .filter_map(|shown| shown.fact.valid_from.map(|at| at.strftime("%F").to_string()))
        .collect();
    assert_eq!(days, ["2026-03-19"], "{held:?}");
}

#[test]
fn what_is_sensitive_waits_and_what_is_not_grounded_is_refused() {
    let engine = engine(|window| {
        let faith = Operation {
            relation: "religion".to_owned(),
            value: "Sikh".to_owned(),
            sentence: "User is a Sikh.".to_owned(),
            ..operation(window, Op::Add, None)
        };
        let invented = Operation {
            relation: "lives_in".to_owned(),
            value: "Bergen".to_owned(),
            sentence: "User lives in Bergen.".to_owned(),
            ..operation(window, Op::Add, None)
        };
        ModelReply { operations: vec![faith, invented], readings: Vec::new() }
    });
    let said = Utterance::of_user("as a practising Sikh i never cut my hair");
    remember(&engine, &me(), &said, &RememberOptions::default()).unwrap();
    let read = extract_with_model(&engine, &me(), &ExtractWithModelOptions::default()).unwrap();
    assert!(!held(&engine).iter().any(|text| text.contains("Sikh") || text.contains("Bergen")), "{:?}", held(&engine));
    assert_eq!(read.understood.refused.len(), 1, "{read:?}");
    assert_eq!(read.understood.refused[0].reason, "its value was not said");
    assert_eq!(reviews(&engine, &me(), false).unwrap().len(), 1);
}

#[test]
fn a_conversation_is_read_in_windows_and_each_message_once() {
    use std::sync::Mutex;
    let shown: Arc<Mutex<Vec<(usize, usize)>>> = Arc::default();
    let (kept, seen) = (shown.clone(), shown);
    let engine = engine(move |window| {
        let new = window.messages.iter().filter(|message| message.is_new).count();
        seen.lock().unwrap().push((new, window.messages.len() - new));
        ModelReply::default()
    });
    for number in 0..40 {
        let said = Utterance {
            session: Some("s".to_owned()),
            ..Utterance::of_user(format!("Number {number} came by again."))
        };
        remember(&engine, &me(), &said, &RememberOptions::default()).unwrap();
    }
    let few = ExtractWithModelOptions { sources_max: 20, ..ExtractWithModelOptions::default() };
    assert_eq!(extract_with_model(&engine, &me(), &few).unwrap().sources, 20);
    assert_eq!(extract_with_model(&engine, &me(), &ExtractWithModelOptions::default()).unwrap().sources, 20);
    assert_eq!(extract_with_model(&engine, &me(), &ExtractWithModelOptions::default()).unwrap().sources, 0);
    assert_eq!(*kept.lock().unwrap(), [(16, 0), (4, 4), (16, 4), (4, 4)]);
}

#[test]
fn a_window_does_not_tell_what_was_said_after_it() {
    use std::sync::Mutex;
    let shown: Arc<Mutex<Vec<Vec<String>>>> = Arc::default();
    let (kept, seen) = (shown.clone(), shown);
    let engine = engine(move |window| {
        seen.lock().unwrap().push(window.known.iter().map(|item| item.text.clone()).collect());
        ModelReply::default()
    });
    let say = |text: &str| {
        let said = Utterance { session: Some("s".to_owned()), ..Utterance::of_user(text.to_owned()) };
        remember(&engine, &me(), &said, &RememberOptions::default()).unwrap();
    };
    say("I live in Porto.");
    for number in 0..15 {
        say(&format!("Number {number} came by again."));
    }
    say("I am allergic to walnuts.");
    assert_eq!(extract_with_model(&engine, &me(), &ExtractWithModelOptions::default()).unwrap().sources, 17);
    let kept = kept.lock().unwrap();
    let knows = |window: usize, words: &str| kept[window].iter().any(|text| text.contains(words));
    assert!(knows(0, "Porto") && !knows(0, "walnuts"), "{kept:?}");
    assert!(knows(1, "Porto") && knows(1, "walnuts"), "{kept:?}");
}

#[test]
fn reading_everything_again_goes_on_where_it_was_cut_short() {
    let engine = engine(|_| ModelReply::default());
    for number in 0..40 {
        let said = Utterance {
            session: Some("s".to_owned()),
            ..Utterance::of_user(format!("Number {number} came by again."))
        };
        remember(&engine, &me(), &said, &RememberOptions::default()).unwrap();
    }
    let all = ExtractWithModelOptions::default();
    assert_eq!(extract_with_model(&engine, &me(), &all).unwrap().sources, 40);
    let again = ExtractWithModelOptions { from_the_start: true, ..all.clone() };
    let cost = reading_cost(&engine, &me(), &again).unwrap();
    assert_eq!((cost.sources, cost.requests), (40, 3));
    assert_eq!(reading_cost(&engine, &me(), &all).unwrap().sources, 0);
    let some = ExtractWithModelOptions { sources_max: 30, ..again.clone() };
    assert_eq!(extract_with_model(&engine, &me(), &some).unwrap().sources, 30);
    assert_eq!(reading_cost(&engine, &me(), &again).unwrap().sources, 10);
    assert_eq!(extract_with_model(&engine, &me(), &again).unwrap().sources, 10);
    assert_eq!(extract_with_model(&engine, &me(), &all).unwrap().sources, 0);
    // After the last source it starts again.
    assert_eq!(extract_with_model(&engine, &me(), &again).unwrap().sources, 40);
}

#[test]
fn a_slow_model_gets_fewer_messages_at_a_time_and_one_it_cannot_read_in_time_stops_nothing() {
    use std::sync::Mutex;
    let sizes: Arc<Mutex<Vec<usize>>> = Arc::default();
    let asked = sizes.clone();
    let engine = failing_engine(move |window| {
        let new = || window.messages.iter().filter(|message| message.is_new);
        asked.lock().unwrap().push(new().count());
        let is_slow = new().count() > 4 || new().any(|message| message.text.contains("saga"));
        if is_slow { Err(ExtractError::TooSlow("no answer in time".to_owned())) } else { Ok(ModelReply::default()) }
    });
    let say = |text: &str| {
        let said = Utterance { session: Some("s".to_owned()), ..Utterance::of_user(text.to_owned()) };
        remember(&engine, &me(), &said, &RememberOptions::default()).unwrap();
    };
    let all = ExtractWithModelOptions::default();
    for number in 0..9 {
        say(&format!("Number {number} came by again."));
    }
    let read = extract_with_model(&engine, &me(), &all).unwrap();
    assert_eq!((read.sources, read.waiting, read.fault), (9, 0, None));
    assert_eq!(std::mem::take(&mut *sizes.lock().unwrap()), [9, 3, 3, 3]);

    say("The whole saga of the roof.");
    say("Nobody came by today.");
    let read = extract_with_model(&engine, &me(), &all).unwrap();
    assert_eq!((read.sources, read.given_up.len(), read.waiting, read.fault), (2, 1, 0, None));
    assert_eq!(std::mem::take(&mut *sizes.lock().unwrap()), [2, 1, 1]);

    // Nothing answers in time: the model is unavailable, and everything is asked again later.
    say("The saga of the cellar.");
    say("The saga of the attic.");
    say("Somebody came by.");
    let read = extract_with_model(&engine, &me(), &all).unwrap();
    assert_eq!((read.sources, read.given_up.len(), read.waiting), (0, 0, 3));
    assert_eq!(read.fault.as_deref(), Some("no answer in time"));
}

#[test]
fn a_message_that_ends_the_process_is_given_up_and_holds_nothing_up() {
    let store = MemoryStore::new();
    let windows: Arc<Mutex<Vec<usize>>> = Arc::default();
    let start = || {
        let windows = windows.clone();
        let read = move |window: &Window| {
            windows.lock().unwrap().push(window.messages.iter().filter(|message| message.is_new).count());
            assert!(!said(window, "number 2"), "the process ends");
            Ok(ModelReply::default())
        };
        let rig = TestEngine { reader: Some(Arc::new(Model(read))), ..TestEngine::new(11) };
        rig.engine(Box::new(store.clone()))
    };
    let first = start();
    for number in 0..5 {
        remember(&first, &me(), &Utterance::of_user(format!("number {number}")), &RememberOptions::default()).unwrap();
    }
    let read = |engine: Engine| extract_with_model(&engine, &me(), &ExtractWithModelOptions::default()).unwrap();
    let mut ended = 0;
    let report = loop {
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| read(start()))) {
            Ok(report) => break report,
            Err(_) => ended += 1,
        }
        assert!(ended < 20, "it is read for ever: {:?}", windows.lock().unwrap());
    };
    // Once with all others, then alone.
    assert_eq!(ended, 6);
    assert_eq!(*windows.lock().unwrap(), [5, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
    assert_eq!(report.given_up.len(), 1);
    assert!(report.given_up[0].1.contains("5 processes ended"), "{:?}", report.given_up);
    assert_eq!((report.waiting, status(&start(), &me()).unwrap().given_up), (0, Some(1)));
}

#[test]
fn a_model_that_does_not_answer_is_no_end_of_a_process() {
    let engine = failing_engine(|_| Err(ExtractError::Unavailable("down".to_owned())));
    remember(&engine, &me(), &Utterance::of_user("hello"), &RememberOptions::default()).unwrap();
    for _ in 0..10 {
        let report = extract_with_model(&engine, &me(), &ExtractWithModelOptions::default()).unwrap();
        assert!(report.fault.is_some() && report.given_up.is_empty() && report.waiting == 1, "{report:?}");
    }
}

#[test]
fn a_model_is_shown_the_day_of_the_speaker() {
    let shown = Arc::new(Mutex::new(Vec::new()));
    let days = shown.clone();
    let engine = engine(move |window| {
        let day = |message: &WindowView| message.said_at.map(|at| at.strftime("%Y-%m-%d").to_string());
        days.lock().unwrap().extend(window.messages.iter().filter_map(day));
        ModelReply::default()
    });
    for time in ["2025-12-01T18:00:00-08:00", "2025-12-02T07:00:00+09:00"] {
        let said = Utterance::of_user("I'm starting at Canon tomorrow.").at(&engine, time.parse().ok()).unwrap();
        remember(&engine, &me(), &said, &RememberOptions::default()).unwrap();
        extract_with_model(&engine, &me(), &ExtractWithModelOptions::default()).unwrap();
    }
    assert_eq!(*shown.lock().unwrap(), ["2025-12-01", "2025-12-02"]);
}
