//! Questions for what was talked about at a time, and requests that ask little of memory.

use quipu_core::source::Role;
use quipu_engine::{ContextOptions, Engine, RecallOptions, RememberOptions, Utterance, context, recall, remember};

use crate::me;
use crate::repeating::reading_engine;

fn say(engine: &Engine, session: Option<&str>, time: &str, role: Role, text: &str) {
    let said_at = Some(time.parse().unwrap());
    let said = Utterance { role, said_at, session: session.map(str::to_owned), ..Utterance::of_user(text) };
    remember(engine, &me(), &said, &RememberOptions::default()).unwrap();
}

/// Three conversations about one house.
fn house(sessions: bool) -> Engine {
    let engine = reading_engine();
    for (session, day, texts) in [
        ("one", "2026-03-02", ["The roof of the house leaks.", "We talked about the old tiles last time I called."]),
        ("two", "2026-03-09", ["The windows of the house are new.", "I talked to the glazier about the frames."]),
        ("three", "2026-03-11", ["The kitchen of the house gets a new floor.", "Oak boards cost 80 euros."]),
    ] {
        for (number, text) in texts.into_iter().enumerate() {
            let time = format!("{day}T10:0{number}:00Z");
            say(&engine, sessions.then_some(session), &time, Role::User, text);
            say(&engine, sessions.then_some(session), &time, Role::Assistant, "I see, thank you.");
        }
    }
    engine
}

fn days(engine: &Engine, query: &str, now: &str) -> Vec<String> {
    let options = RecallOptions { now: Some(now.parse().unwrap()), k: 10, ..RecallOptions::of(query) };
    let hits = recall(engine, &me(), &options).unwrap().hits;
    let mut days: Vec<String> =
        hits.iter().filter_map(|hit| Some(hit.said_at?.strftime("%Y-%m-%d").to_string())).collect();
    days.sort();
    days.dedup();
    days
}

#[test]
fn what_was_talked_about_at_a_time_is_what_was_said_then() {
    for sessions in [true, false] {
        let engine = house(sessions);
        let days = |query: &str, now: &str| days(&engine, query, now);
        for query in
            ["What did we talk about last time?", "where did we leave off?", "Summarise our last conversation."]
        {
            assert_eq!(days(query, "2026-03-20T09:00:00Z"), ["2026-03-11"], "{query}");
            // While the last conversation goes on, the one before it is meant.
            assert_eq!(days(query, "2026-03-11T10:15:00Z"), ["2026-03-09"], "{query}");
        }
        assert_eq!(days("What did we talk about yesterday?", "2026-03-10T09:00:00Z"), ["2026-03-09"]);
        assert_eq!(days("What did I tell you on Monday, March 2nd?", "2026-03-20T09:00:00Z"), ["2026-03-02"]);
        // A day on which nothing was said is not answered with another one.
        assert_eq!(days("What did we talk about yesterday?", "2026-03-20T09:00:00Z"), [""; 0]);
        // A question with a matter is searched everywhere.
        assert!(
            days("What did we say about the roof yesterday?", "2026-03-20T09:00:00Z")
                .contains(&"2026-03-02".to_owned())
        );
    }
}

#[test]
fn a_pack_for_the_last_conversation_is_in_its_order() {
    let engine = house(true);
    let now = Some("2026-03-20T09:00:00Z".parse().unwrap());
    let pack =
        context(&engine, &me(), &ContextOptions { now, ..ContextOptions::of("Where did we leave off?") }).unwrap();
    let found = pack.changing;
    assert!(found.contains("2026-03-11 Wed\n"), "{found}");
    let (first, second) = (found.find("The kitchen of the house"), found.find("Oak boards cost 80 euros"));
    assert!(first.is_some() && first < second, "{found}");
    assert!(!found.contains("roof") && !found.contains("glazier"), "{found}");
}

#[test]
fn a_task_gets_what_bears_on_it_and_not_the_whole_memory() {
    // given a long conversation about one thing
    let engine = reading_engine();
    for number in 0..60 {
        let text = format!(
            "I'll gather paper number {number} for the inheritance, and then I want to have it signed tonight."
        );
        say(&engine, Some("s"), "2026-03-02T10:00:00Z", Role::User, &text);
    }
    say(&engine, Some("s"), "2026-03-02T11:00:00Z", Role::User, "I love Indian restaurants.");
    // when something else is to be done
    let pack = |query: &str| context(&engine, &me(), &ContextOptions::of(query)).unwrap();
    let dinner = pack("Suggest a restaurant for tonight");
    // then what names it comes, and little else
    assert!(dinner.changing.contains("I love Indian restaurants"), "{}", dinner.text);
    assert!(dinner.changing.matches("for the inheritance").count() <= 8, "{}", dinner.text);
    // and the conversation comes if it is meant
    assert!(pack("Help me plan the inheritance").changing.matches("for the inheritance").count() > 8);
}
