//! Packs: passages with their facts, in order, within the budget, and only for questions.

use quipu_core::id::ItemKind;
use quipu_core::pack::{Pack, RequestNeed};
use quipu_core::source::Role;
use quipu_engine::versions::When;
use quipu_engine::{
    ContextOptions, Engine, FactOptions, RememberOptions, SessionContextOptions, Utterance, context, core_at, facts,
    remember, session_context,
};

use crate::me;
use crate::repeating::reading_engine;

/// A line of a conversation; the speaker is `user` or a name.
fn line(engine: &Engine, session: &str, time: &str, who: &str, text: &str) {
    let (role, author) = match who {
        "assistant" => (Role::Assistant, None),
        "user" => (Role::User, None),
        name => (Role::User, Some(name.to_owned())),
    };
    let said_at = Some(format!("{time}Z").parse().unwrap());
    let said = Utterance { role, author, said_at, session: Some(session.to_owned()), ..Utterance::of_user(text) };
    remember(engine, &me(), &said, &RememberOptions::default()).unwrap();
}

fn alone(engine: &Engine, text: &str) {
    remember(engine, &me(), &Utterance::of_user(text), &RememberOptions::default()).unwrap();
}

fn pack(engine: &Engine, query: &str) -> Pack {
    context(engine, &me(), &ContextOptions::of(query)).unwrap()
}

fn place(text: &str, part: &str) -> usize {
    text.find(part).unwrap_or_else(|| panic!("{part:?} is not in {text}"))
}

#[test]
fn a_statement_brings_the_sentence_it_was_read_from() {
    // given messages of which the rules read only a part
    let engine = reading_engine();
    alone(&engine, "We took in a puppy from the shelter, he answers to Biscuit.");
    alone(&engine, "Hello, I'm Noor. I don't eat pork and I'm allergic to shellfish.");
    for number in 0..20 {
        alone(&engine, &format!("The bus number {number} was late again this morning."));
    }
    // then the words are included, whatever was extracted
    let dog = pack(&engine, "What is our puppy called?");
    assert!(dog.changing.contains("user: We took in a puppy from the shelter, he answers to Biscuit."), "{}", dog.text);
    let food = pack(&engine, "What am I allergic to?");
    assert!(
        food.changing.contains("Hello, I'm Noor. I don't eat pork and I'm allergic to shellfish."),
        "{}",
        food.text
    );
    // and each of them only once
    assert_eq!(food.text.matches("allergic to shellfish").count(), 2, "{}", food.text);
    // and facts have their id beside the id of the source
    let read = food.lines.iter().find(|line| line.text.contains("Hello, I'm Noor")).unwrap();
    assert_eq!(read.id.kind, ItemKind::Turn);
    assert!(read.also.iter().all(|id| food.citations.contains(id)));
}

#[test]
fn what_must_not_be_forgotten_stands_before_every_question_and_does_not_change() {
    let engine = reading_engine();
    alone(&engine, "My name is Noor. I live in Ghent. I work at Acme. I'm allergic to shellfish.");
    alone(&engine, "My sister is called Lena.");
    let first = pack(&engine, "Where did I put the ladder?");
    for part in ["User is allergic to shellfish", "Name: Noor", "Home: Ghent", "Acme", "Lena"] {
        assert!(first.stable.contains(part), "{part}: {}", first.stable);
    }
    assert!(place(&first.stable, "allergic") < place(&first.stable, "Name: Noor"));
    assert!(place(&first.stable, "Name: Noor") < place(&first.stable, "Home: Ghent"));
    // when unrelated messages follow and another question is asked
    alone(&engine, "The ladder leans against the shed.");
    assert_eq!(pack(&engine, "hi").stable, first.stable);
    assert_eq!(pack(&engine, "What leans against the shed?").stable, first.stable);
    // then the stable part changes only with its content
    alone(&engine, "I moved to Antwerp.");
    let moved = pack(&engine, "hi").stable;
    assert!(moved.contains("Home: Antwerp") && !moved.contains("Ghent"), "{moved}");
}

#[test]
fn health_and_the_familys_limits_are_kept_and_who_is_gone_is_no_partner() {
    let engine = reading_engine();
    for text in [
        "I'm lactose intolerant.",
        "I have type 1 diabetes.",
        "doc put me on warfarin",
        "My daughter is called Mia.",
        "Mia is allergic to eggs.",
        "Mia is coeliac.",
        "My colleague Tom is allergic to nuts.",
        "Tobias is my ex.",
    ] {
        alone(&engine, text);
    }
    let stable = pack(&engine, "hi").stable;
    for part in
        ["User is lactose intolerant", "type 1 diabetes", "warfarin", "Mia is allergic to eggs", "Mia is coeliac"]
    {
        assert!(stable.contains(part), "{part}: {stable}");
    }
    for part in ["Tom", "Partner", "Tobias"] {
        assert!(!stable.contains(part), "{part}: {stable}");
    }
}

/// A conversation with a question, its reply, and small talk.
fn garden() -> Engine {
    let engine = reading_engine();
    let said = |minute: u32, who: &str, text: &str| {
        line(&engine, "garden", &format!("2026-04-02T10:{minute:02}:00"), who, text)
    };
    said(0, "user", "We rented an allotment behind the railway station in Ghent.");
    said(1, "assistant", "Congratulations!");
    said(2, "assistant", "How large is it?");
    said(3, "user", "About forty square metres, and the soil there is heavy clay.");
    said(4, "assistant", "Got it.");
    said(5, "user", "The neighbours grow leeks and pumpkins.");
    said(6, "assistant", "Are they helping?");
    said(7, "user", "Thanks!");
    line(&engine, "walk", "2026-03-20T09:00:00", "user", "The allotment office said the waiting list was short.");
    engine
}

#[test]
fn a_dialogue_stays_together_in_its_order_without_politeness() {
    let engine = garden();
    let made = pack(&engine, "How large is the allotment and what is its soil?");
    let text = &made.changing;
    assert!(place(text, "How large is it?") < place(text, "About forty square metres"), "{text}");
    assert!(place(text, "waiting list") < place(text, "2026-04-02"), "{text}");
    assert_eq!(text.matches("2026-04-02 Thu\n").count(), 1, "{text}");
    for empty in ["Congratulations!", "Got it.", "Are they helping?", "Thanks!"] {
        assert!(!text.contains(empty), "{empty}: {text}");
    }
    // and a reply that matches on its own brings its question
    let soil = pack(&engine, "heavy clay soil");
    assert!(place(&soil.changing, "How large is it?") < place(&soil.changing, "About forty"), "{}", soil.text);
}

#[test]
fn a_budget_is_kept_and_used() {
    let engine = reading_engine();
    for number in 0..90 {
        let text = format!("On the hike number {number} we saw the ridge, the lake and {number} goats near the hut.");
        line(
            &engine,
            &format!("hike-{}", number / 10),
            &format!("2026-05-{:02}T10:00:00", 1 + number / 4),
            "user",
            &text,
        );
    }
    for max_tokens in [200, 600, 1200, 2000] {
        let options = ContextOptions { max_tokens, ..ContextOptions::of("What did we see on the hike near the hut?") };
        let made = context(&engine, &me(), &options).unwrap();
        assert!(made.tokens <= max_tokens, "{} of {max_tokens}", made.tokens);
        assert!(made.tokens + 60 > max_tokens, "{} of {max_tokens}", made.tokens);
        assert!(!made.omitted.is_empty());
    }
}

#[test]
fn a_long_message_gives_the_sentences_that_answer() {
    let engine = reading_engine();
    let filler = |from: u32| {
        (from..from + 25).map(|n| format!("Paragraph {n} speaks of the schedule of the ferries. ")).collect::<String>()
    };
    let text = format!("{}The spare key of the boat lies under the blue bucket. {}", filler(0), filler(50));
    line(&engine, "boat", "2026-06-01T10:00:00", "user", &text);
    let options = ContextOptions { max_tokens: 260, ..ContextOptions::of("Where is the spare key of the boat?") };
    let made = context(&engine, &me(), &options).unwrap();
    assert!(made.changing.contains("The spare key of the boat lies under the blue bucket."), "{}", made.text);
    assert!(made.changing.contains('…') && made.tokens <= 260, "{}", made.text);
    let shown = made.lines.iter().find(|line| line.id.kind == ItemKind::Turn).unwrap();
    let span = shown.span.clone().unwrap();
    assert!(text[span].contains("spare key"));
}

#[test]
fn a_request_gets_what_it_wants_of_memory() {
    let engine = garden();
    alone(&engine, "I'm allergic to celery.");
    alone(&engine, "I love Lebanese food.");
    for query in ["hello!", "write me a limerick about owls", "12 * 31", "explain what a semaphore is"] {
        let made = pack(&engine, query);
        assert_eq!((made.need, made.changing.as_str()), (RequestNeed::Nothing, ""), "{query}");
        assert!(made.text.contains("User is allergic to celery"), "{query}: {}", made.text);
    }
    let dinner = pack(&engine, "suggest a place for dinner tonight");
    assert_eq!(dinner.need, RequestNeed::Task);
    assert!(dinner.text.contains("allergic to celery") && dinner.text.contains("Lebanese"), "{}", dinner.text);
    // Only a question about the user's life gets the notice, and only without an answer.
    assert!(!pack(&engine, "Where is my allotment?").text.contains("nothing about this"));
    assert!(!dinner.text.contains("nothing about this"));
}

#[test]
fn every_message_of_a_session_is_shown_or_named() {
    let engine = reading_engine();
    let said = |number: u32, who: &str, text: &str| {
        let time = format!("2026-07-01T{:02}:{:02}:00", 8 + number / 60, number % 60);
        line(&engine, "spec", &time, who, text);
    };
    let spec: String =
        (0..80).map(|n| format!("Rule {n} says that field {n} must be checked before it is stored. ")).collect();
    for number in 0..12 {
        said(2 * number, "user", &format!("Please change part {number} of the form."));
        said(2 * number + 1, "assistant", "Done, the part is changed as you asked.");
    }
    said(30, "user", &spec);
    said(31, "assistant", &spec.replace("must be", "is now"));
    said(32, "user", "Nice, thanks!");
    for max_tokens in [300, 900, 1800, 6000] {
        let options = SessionContextOptions { max_tokens, ..SessionContextOptions::of("spec") };
        let made = session_context(&engine, &me(), &options).unwrap();
        assert!(made.tokens <= max_tokens, "{} of {max_tokens}", made.tokens);
        let state = quipu_engine::session(&engine, &me(), "spec", quipu_engine::versions::When::Now).unwrap();
        for one in &state.raw_window {
            let shown = made.messages.iter().any(|message| message.id == one.id);
            assert!(shown || made.omitted.contains(&one.id), "{max_tokens}: {}", one.text);
        }
        let told = |turn: u32| made.text.contains(&format!("\nTurn {turn}: ")) || made.omitted_turns.contains(&turn);
        let whole = |turn: u32| {
            let mut own = state.raw_window.iter().filter(|one| one.turn == turn).peekable();
            own.peek().is_some()
                && own.all(|one| made.messages.iter().any(|m| m.id == one.id) && !made.cut.contains(&one.id))
        };
        for one in &state.turn_log {
            assert!(told(one.turn) || whole(one.turn), "{max_tokens}: turn {}: {}", one.turn, made.text);
        }
        // Truncated messages are marked, and end with a complete sentence.
        for message in made.messages.iter().filter(|message| made.cut.contains(&message.id)) {
            assert!(message.text.contains('…') && message.text.contains("stored."), "{}", message.text);
        }
        assert!(
            max_tokens < 900 || made.messages.iter().any(|message| message.text.contains("Rule 0")),
            "{}",
            made.text
        );
    }
}

#[test]
fn a_measured_value_is_told_with_the_readings_before_it() {
    // given a weight with four readings, and an age that a birthday changed
    let engine = reading_engine();
    for (day, text) in [
        ("2026-01-10", "I weigh 88 kg."),
        ("2026-02-10", "I weigh 86 kg."),
        ("2026-03-10", "I weigh 85 kg."),
        ("2026-04-10", "I weigh 84.5 kg now."),
        ("2026-04-11", "I'm 40 years old."),
        ("2026-05-11", "I'm 41 years old."),
        ("2026-05-12", "My rent is 900 euros."),
    ] {
        line(&engine, day, &format!("{day}T10:00:00"), "user", text);
    }
    // then the newest reading comes with the earlier ones
    let weight = pack(&engine, "How much do I weigh?").text;
    assert!(weight.contains("before: 85 kg (2026-03-10), 86 kg (2026-02-10), 88 kg (2026-01-10)"), "{weight}");
    // and a bare number within range continues the series
    line(&engine, "later", "2026-05-20T10:00:00", "user", "83.9 this morning!");
    line(&engine, "later", "2026-05-25T10:00:00", "user", "83.1kg");
    line(&engine, "later", "2026-05-26T10:00:00", "user", "40 again");
    let weight = pack(&engine, "What is my weight?").text;
    assert!(weight.contains("weight is 83.1kg"), "{weight}");
    assert!(weight.contains("before: 83.9 kg (2026-05-20), 84.5 kg (2026-04-10)"), "{weight}");
    // and each reading holds from its day on
    let said = facts(&engine, &me(), &FactOptions { predicate: Some("measure".to_owned()), ..FactOptions::default() });
    let weight = said.unwrap().into_iter().find(|one| one.fact.object.starts_with("83.1")).unwrap().fact;
    assert_eq!(weight.times(weight.last_seen.unwrap()).as_deref(), Some("since 2026-05-25"));
    // and a value with a single reading, or without a series, comes alone
    assert!(!pack(&engine, "How old am I?").text.contains("before: 40"));
    let rent = pack(&engine, "How much is my rent?").text;
    assert!(rent.contains("900 euros") && !rent.contains("before:"), "{rent}");
}

#[test]
fn a_pasted_message_has_the_room_that_nothing_else_needs() {
    // given a session whose last message exceeds its share
    let engine = reading_engine();
    line(&engine, "store", "2026-04-02T09:00:00", "user", "I sort the store room today.");
    let drawers: String = (1..=250).map(|number| format!("Drawer {number} holds {} syringes. ", number * 3)).collect();
    line(&engine, "store", "2026-04-02T10:00:00", "user", &format!("{drawers}What should I order first?"));
    let packed = |max_tokens| {
        let options = SessionContextOptions { max_tokens, ..SessionContextOptions::of("store") };
        session_context(&engine, &me(), &options).unwrap()
    };
    // then a sufficient budget includes all of it
    assert!(packed(5_000).text.contains("Drawer 137 holds 411 syringes."));
    // and a smaller one includes most of it, with its beginning and its question
    let small = packed(1_800);
    assert_eq!(small.cut.len(), 1);
    assert!(small.tokens > 1_000 && small.tokens <= 1_800, "{}", small.tokens);
    for part in ["I sort the store room", "Drawer 1 holds 3 syringes.", "What should I order first?"] {
        assert!(small.text.contains(part), "{part}: {}", small.text);
    }
}

#[test]
fn a_limit_says_from_when_it_binds_and_is_gone_when_it_is_over() {
    // given a diet that begins later, and a limit that ends later
    let engine = reading_engine();
    line(&engine, "a", "2026-08-22T10:00:00", "user", "As of next Monday I'm vegan.");
    line(&engine, "a", "2026-08-22T10:01:00", "user", "I'm not allowed to drive until 30 September.");
    let stable = |day: &str| {
        let now = Some(format!("{day}T12:00:00Z").parse().unwrap());
        context(&engine, &me(), &ContextOptions { now, ..ContextOptions::of("hi") }).unwrap().stable
    };
    // then each is described according to the day of the question
    let before = stable("2026-08-23");
    assert!(before.contains("User's diet is vegan (from 2026-08-24)") && before.contains("drive"), "{before}");
    let between = stable("2026-09-10");
    assert!(between.contains("User's diet is vegan\n") && between.contains("drive"), "{between}");
    let after = stable("2026-10-02");
    assert!(after.contains("User's diet is vegan\n") && !after.contains("drive"), "{after}");
}

#[test]
fn a_rule_is_told_once_and_a_message_that_says_more_is_shown() {
    let engine = reading_engine();
    alone(&engine, "Never suggest restaurants with live music.");
    alone(&engine, "Never suggest tents. Leo sleeps badly outdoors.");
    let made = pack(&engine, "Which restaurants and tents did I rule out, and how does Leo sleep?");
    assert_eq!(made.text.matches("live music").count(), 1, "{}", made.text);
    assert!(made.changing.contains("Leo sleeps badly outdoors"), "{}", made.text);
}

#[test]
fn what_must_not_be_forgotten_stands_in_every_context_of_a_session() {
    let engine = reading_engine();
    line(
        &engine,
        "before",
        "2026-06-01T08:00:00",
        "user",
        "I'm allergic to latex. My doctor says I must avoid grapefruit.",
    );
    for number in 0..12 {
        let time = format!("2026-07-01T09:{number:02}:00");
        let asked = format!("Please change part {number} of the long form that we send to the suppliers in spring.");
        line(&engine, "form", &time, "user", &asked);
        let done = format!("I changed part {number}, and wrote the reasons for it beside the field as you wanted.");
        line(&engine, "form", &time, "assistant", &done);
    }
    for max_tokens in [200, 250, 300, 400, 700, 1500] {
        let query = Some("what can I eat?".to_owned());
        let options = SessionContextOptions { max_tokens, query, ..SessionContextOptions::of("form") };
        let made = session_context(&engine, &me(), &options).unwrap();
        assert!(made.tokens <= max_tokens, "{} of {max_tokens}", made.tokens);
        assert!(made.text.contains("latex"), "{max_tokens}: {}", made.text);
        assert!(max_tokens < 250 || made.messages.iter().any(|message| message.text.contains("11")), "{}", made.text);
    }
}

#[test]
fn a_value_that_has_ended_is_no_part_of_the_profile() {
    let engine = reading_engine();
    line(&engine, "a", "2026-07-06T10:00:00", "user", "I work at Acme.");
    line(&engine, "a", "2026-07-06T10:01:00", "user", "My last day at work is tomorrow.");
    let stable = |day: &str| {
        let now = Some(format!("{day}T12:00:00Z").parse().unwrap());
        context(&engine, &me(), &ContextOptions { now, ..ContextOptions::of("hi") }).unwrap().stable
    };
    assert!(stable("2026-07-06").contains("Acme (until 2026-07-07)"), "{}", stable("2026-07-06"));
    assert!(!stable("2026-07-09").contains("Acme"), "{}", stable("2026-07-09"));
    // and it leaves the core document with the next message that tells something
    let employer = || core_at(&engine, &me(), When::Now).unwrap().pointer("/work/employer").cloned();
    assert!(employer().is_some());
    line(&engine, "b", "2026-07-09T10:00:00", "user", "My sister Ana lives in Porto.");
    assert_eq!(employer(), None);
}
