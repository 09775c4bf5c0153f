//! The user's clock: "today" and "tomorrow" are those of the place where something is said or asked.

use std::sync::Arc;

use jiff::Timestamp;
use quipu_core::id::ItemKind;
use quipu_engine::ports::Extractor;
use quipu_engine::versions::When;
use quipu_engine::{
    ContextOptions, Engine, FactOptions, RecallOptions, RememberOptions, Utterance, close_fact, context, facts, get,
    rebuild, recall, remember, reword, status, tasks,
};
use quipu_models::RuleExtractor;
use quipu_testkit::{FixedClock, MemoryStore, TestEngine};

use crate::me;
use crate::repeating::reading_engine;

fn at(time: &str) -> Timestamp {
    time.parse().unwrap()
}

/// Says something at a time with a UTC offset.
fn say(engine: &Engine, time: &str, text: &str) {
    let said = Utterance::of_user(text).at(engine, Some(time.parse().unwrap())).unwrap();
    remember(engine, &me(), &said, &RememberOptions::default()).unwrap();
}

fn days_due(engine: &Engine) -> Vec<String> {
    let due = |time: Option<Timestamp>| time.map(|time| time.strftime("%Y-%m-%d").to_string()).unwrap_or_default();
    tasks(engine, &me(), None, false).unwrap().into_iter().map(|task| due(task.due)).collect()
}

fn held(engine: &Engine, predicate: &str) -> Vec<(String, String)> {
    let wanted = FactOptions { predicate: Some(predicate.to_owned()), ..FactOptions::default() };
    let from = |time: Option<Timestamp>| time.map(|time| time.strftime("%Y-%m-%d").to_string()).unwrap_or_default();
    facts(engine, &me(), &wanted)
        .unwrap()
        .into_iter()
        .map(|shown| (shown.fact.object, from(shown.fact.valid_from)))
        .collect()
}

/// An engine whose clock shows a time, and the clock.
fn engine_at(time: &str) -> (Engine, Arc<FixedClock>) {
    let clock = Arc::new(FixedClock::starting(at(time).as_microsecond(), 1_000_000));
    let extractor: Option<Arc<dyn Extractor>> = Some(Arc::new(RuleExtractor::english()));
    let ports = TestEngine { clock: clock.clone(), extractor, ..TestEngine::new(1) };
    (ports.engine(Box::new(MemoryStore::new())), clock)
}

fn first_answer(engine: &Engine, question: &str) -> String {
    recall(engine, &me(), &RecallOptions::of(question)).unwrap().hits[0].text.clone()
}

#[test]
fn tomorrow_is_the_day_after_that_of_the_speaker() {
    // In both places it is another day than in UTC.
    for time in ["2025-12-01T18:00:00-08:00", "2025-12-01T07:00:00+09:00"] {
        let engine = reading_engine();
        say(&engine, time, "I need to renew my passport by tomorrow.");
        assert_eq!(days_due(&engine), ["2025-12-02"], "{time}");
    }
}

#[test]
fn a_day_that_the_user_has_reached_has_begun() {
    let (engine, clock) = engine_at("2025-12-02T08:00:00+09:00");
    say(&engine, "2025-11-20T12:00:00+09:00", "I work at Nikon.");
    say(&engine, "2025-12-02T07:59:00+09:00", "I started at Canon today.");
    assert_eq!(held(&engine, "works_at"), [("Canon".to_owned(), "2025-12-02".to_owned())]);
    assert!(first_answer(&engine, "Where do I work?").contains("Canon"));
    // and an edit by hand is older than what is said after it
    let fact = facts(&engine, &me(), &FactOptions::default()).unwrap()[0].fact.id;
    reword(&engine, &me(), &fact.to_string(), "User works at Ricoh").unwrap();
    clock.put(at("2025-12-02T08:10:00+09:00").as_microsecond());
    say(&engine, "2025-12-02T08:10:00+09:00", "I work at Olympus now.");
    let jobs = held(&engine, "works_at");
    assert_eq!(jobs.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["Olympus"]);
    // moments are those of UTC
    let now = at("2025-12-02T08:20:00+09:00");
    let all = facts(&engine, &me(), &FactOptions { all: true, ..FactOptions::default() }).unwrap();
    assert!(
        all.iter().all(|shown| shown.fact.first_seen <= Some(now) && shown.fact.last_seen <= Some(now)),
        "{all:#?}"
    );
}

#[test]
fn what_is_announced_in_the_evening_for_tomorrow_has_not_happened() {
    let (engine, clock) = engine_at("2025-11-30T20:09:00-08:00");
    say(&engine, "2025-11-10T12:00:00-08:00", "I work at Acme.");
    say(&engine, "2025-11-30T20:10:00-08:00", "I start at Globex tomorrow.");
    let works = |engine: &Engine| {
        let day = |time: Option<Timestamp>| time.map(|time| time.strftime("%Y-%m-%d").to_string());
        let wanted = FactOptions { predicate: Some("works_at".to_owned()), ..FactOptions::default() };
        let found = facts(engine, &me(), &wanted).unwrap().into_iter();
        found.map(|one| (one.fact.object, day(one.fact.valid_from), day(one.fact.valid_to))).collect::<Vec<_>>()
    };
    let [tomorrow, none] = [Some("2025-12-01".to_owned()), None::<String>];
    let mut expected =
        vec![("Acme".to_owned(), none.clone(), tomorrow.clone()), ("Globex".to_owned(), tomorrow.clone(), none)];
    let mut found = works(&engine);
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    assert!(first_answer(&engine, "Where do I work?").contains("Acme"));
    clock.put(at("2025-12-01T09:00:00-08:00").as_microsecond());
    let report = recall(&engine, &me(), &RecallOptions::of("Where do I work?")).unwrap();
    assert!(report.hits[0].text.contains("Globex"), "{:#?}", report.hits);
    assert_eq!(works(&engine).into_iter().map(|(name, ..)| name).collect::<Vec<_>>(), ["Globex"]);
}

#[test]
fn a_question_counts_from_the_day_of_the_asker() {
    let engine = reading_engine();
    for (day, name) in [("29", "Saturday"), ("30", "Sunday")] {
        say(
            &engine,
            &format!("2025-11-{day}T12:00:00-08:00"),
            &format!("For lunch I had noodles, because it was {name}."),
        );
    }
    say(&engine, "2025-12-01T12:00:00-08:00", "For lunch I had noodles, because it was Monday.");
    let now = Some(at("2025-12-01T19:00:00-08:00"));
    let asked = RecallOptions { now, ..RecallOptions::of("What did I have for lunch yesterday?") };
    let report = recall(&engine, &me(), &asked).unwrap();
    assert!(report.hits[0].text.contains("Sunday"), "{:#?}", report.hits);
}

#[test]
fn a_pack_shows_the_day_that_the_words_were_said_on() {
    let engine = reading_engine();
    say(&engine, "2025-12-01T18:00:00-08:00", "Otis the cat was sick this afternoon.");
    let asked = ContextOptions { now: Some(at("2025-12-05T20:00:00Z")), ..ContextOptions::of("When was Otis sick?") };
    let pack = context(&engine, &me(), &asked).unwrap();
    assert!(pack.text.contains("2025-12-01") && !pack.text.contains("2025-12-02"), "{}", pack.text);
}

#[test]
fn an_offset_is_kept_and_is_no_part_of_what_was_said() {
    let engine = reading_engine();
    let said = |time: &str| Utterance::of_user("I live in Oakland.").at(&engine, Some(time.parse().unwrap())).unwrap();
    let options = RememberOptions { idempotency_key: Some("one".to_owned()), ..RememberOptions::default() };
    let first = remember(&engine, &me(), &said("2025-12-01T18:00:00-08:00"), &options).unwrap();
    // the same request with the same moment in another notation is the same request
    assert!(remember(&engine, &me(), &said("2025-12-02T11:00:00+09:00"), &options).unwrap().replayed);
    let item = get(&engine, &me(), &first.items[0].to_string(), When::Now).unwrap();
    let kept: Vec<_> =
        item.artifacts.iter().map(|one| (one.kind.as_str(), one.name.as_deref(), one.text.as_str())).collect();
    assert_eq!(kept, [("utc_offset", Some("-08:00"), "")]);
    assert!(rebuild(&engine, &me(), &mut |_| {}).unwrap().identical);
}

#[test]
fn a_plan_of_a_week_is_listed_until_the_week_is_over() {
    for (now, is_listed) in
        [("2025-12-09T12:00:00Z", true), ("2025-12-14T23:00:00Z", true), ("2025-12-15T01:00:00Z", false)]
    {
        let (engine, _) = engine_at(now);
        say(&engine, "2025-12-05T12:00:00Z", "I'm going to Rome next week.");
        let plans = held(&engine, "plans");
        assert_eq!(!plans.is_empty(), is_listed, "{now}: {plans:?}");
    }
}

#[test]
fn an_end_is_on_the_day_of_the_speaker() {
    let ends = |engine: &Engine, object: &str| {
        let all = facts(engine, &me(), &FactOptions { all: true, ..FactOptions::default() }).unwrap();
        let fact = all.into_iter().find(|shown| shown.fact.object == object).unwrap().fact;
        fact.valid_to.map(|end| end.strftime("%Y-%m-%d").to_string())
    };
    let today = Some("2025-12-01".to_owned());
    let (engine, _) = engine_at("2025-12-01T18:36:00-08:00");
    say(&engine, "2025-11-10T12:00:00-08:00", "I work at Acme.");
    say(&engine, "2025-12-01T18:35:00-08:00", "I work at Globex now.");
    assert_eq!(ends(&engine, "Acme"), today);
    assert!(first_answer(&engine, "Where do I work?").contains("Globex"));
    let (engine, _) = engine_at("2025-12-01T18:36:00-08:00");
    say(&engine, "2025-12-01T18:35:00-08:00", "I work at Acme until today.");
    assert_eq!(ends(&engine, "Acme"), today);
    // and what is closed now has ended
    let (engine, _) = engine_at("2025-12-01T18:36:00-08:00");
    say(&engine, "2025-11-10T12:00:00-08:00", "I work at Acme.");
    let fact = facts(&engine, &me(), &FactOptions::default()).unwrap()[0].fact.id;
    let now = engine.time_for(&me(), "now".parse().unwrap()).unwrap();
    close_fact(&engine, &me(), &fact.to_string(), now).unwrap();
    assert_eq!((ends(&engine, "Acme"), held(&engine, "works_at")), (today, Vec::new()));
}

#[test]
fn an_earlier_version_is_not_judged_by_what_ended_since() {
    let (engine, clock) = engine_at("2025-12-01T12:00:00Z");
    say(&engine, "2025-12-01T12:00:00Z", "I work at Acme until 10 December.");
    let version = status(&engine, &me()).unwrap().version;
    clock.put(at("2025-12-20T12:00:00Z").as_microsecond());
    let ask = |at: When| {
        let asked = RecallOptions { at, ..RecallOptions::of("Where do I work?") };
        recall(&engine, &me(), &asked).unwrap().hits.into_iter().any(|hit| hit.id.kind == ItemKind::Fact)
    };
    assert_eq!((ask(When::Seq(version)), ask(When::Now)), (true, false));
    let pack = context(&engine, &me(), &ContextOptions::of("Where do I work?")).unwrap();
    assert!(!pack.text.contains("/work/employer") && !pack.stable.contains("Acme"), "{}", pack.text);
}
