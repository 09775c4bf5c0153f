//! Repetition: known statements are not recorded as new facts, whoever repeats them.

use std::sync::Arc;

use quipu_core::source::Role;
use quipu_engine::{
    ContextOptions, Engine, FactOptions, RecallOptions, RememberOptions, Utterance, context, facts, recall, remember,
};
use quipu_models::RuleExtractor;
use quipu_testkit::{MemoryStore, TestEngine};

use crate::{me, said};

/// Ports with an extractor; ids follow from the seed.
pub(crate) fn reading_ports(seed: u64) -> TestEngine {
    TestEngine { extractor: Some(Arc::new(RuleExtractor::english())), ..TestEngine::new(seed) }
}

pub(crate) fn reading_engine() -> Engine {
    reading_ports(1).engine(Box::new(MemoryStore::new()))
}

/// Every fact in any status: its sentence, its status, and how often it was said.
fn all_facts(engine: &Engine) -> Vec<(String, String, u32)> {
    let all = FactOptions { all: true, ..FactOptions::default() };
    let shown = |fact: &quipu_core::item::Fact| (fact.text.clone(), format!("{:?}", fact.status), fact.seen_count);
    facts(engine, &me(), &all).unwrap().iter().map(|found| shown(&found.fact)).collect()
}

fn uncounted(all: &[(String, String, u32)]) -> Vec<(String, String)> {
    all.iter().map(|(text, status, _)| (text.clone(), status.clone())).collect()
}

fn speak(engine: &Engine, role: Role, text: &str) {
    let said = Utterance { role, session: Some("chat".to_owned()), ..Utterance::of_user(text) };
    remember(engine, &me(), &said, &RememberOptions::default()).unwrap();
}

#[test]
fn a_hundred_times_the_same_sentence_leaves_one_fact() {
    for (before, sentence, fact) in [
        (&[][..], "I live in Porto.", "User lives in Porto"),
        (&[], "I moved to Porto last week.", "User lives in Porto"),
        (&[], "I'm allergic to peanuts.", "User is allergic to peanuts"),
        (&[], "Anna works at Acme.", "Anna works at Acme"),
        (&["I live in Lyon."], "Actually, I live in Porto, not in Lyon.", "User lives in Porto"),
        (&["I live in Lyon."], "I no longer live in Lyon.", "User lives in Lyon"),
        (&["I like jazz."], "I hate jazz.", "User dislikes jazz"),
        (
            &["I moved to Lyon on 1 May 2020.", "I moved to Rome on 3 June 2024."],
            "Back in May 2022 I moved to Porto.",
            "User lives in Porto",
        ),
        (&["I live in Rome."], "I lived in Porto from 2012 to 2014.", "User lives in Porto"),
    ] {
        // given earlier messages, and the sentence once
        let engine = reading_engine();
        said(&engine, before);
        said(&engine, &[sentence]);
        let once = uncounted(&all_facts(&engine));
        assert_eq!(once.iter().filter(|(text, _)| text == fact).count(), 1, "{sentence}: {once:?}");
        // when it is repeated ninety-nine times
        for _ in 1..100 {
            said(&engine, &[sentence]);
        }
        // then there is no additional fact
        assert_eq!(uncounted(&all_facts(&engine)), once, "{sentence}");
    }
}

#[test]
fn a_chat_whose_replies_quote_memories_adds_no_fact() {
    // given a memory with a few facts
    let engine = reading_engine();
    for text in [
        "I live in Lyon with two cats, an old piano and far too many plants.",
        "I just moved to Porto, and the new flat is close to the river.",
        "My sister Anna lives in Oslo and works as a nurse at the children's hospital.",
        "I'm allergic to peanuts, so please keep that in mind for every recipe.",
        "I used to work at Globex, and since March 2022 I have worked at Acme.",
        "I like jazz and I go swimming twice a week before work.",
    ] {
        speak(&engine, Role::User, text);
    }
    let mut before = all_facts(&engine);
    assert!(before.len() >= 8, "{before:?}");
    let past = |(text, status, _): &(String, String, u32)| text == "User lives in Lyon" && status == "Superseded";
    assert!(before.iter().any(past), "what holds no longer is quoted too: {before:?}");
    let questions =
        ["Where do I live?", "What does Anna do?", "What can't I eat?", "Where do I work?", "What do I like?"];
    for round in 0..30 {
        let question = questions[round % questions.len()];
        let hits = recall(&engine, &me(), &RecallOptions::of(question)).unwrap().hits;
        let asked = ContextOptions { max_tokens: 800, ..ContextOptions::of(question) };
        let pack = context(&engine, &me(), &asked).unwrap().text;
        let quoted: Vec<String> = hits.iter().map(|hit| hit.text.clone()).collect();
        // when replies quote recalled facts, and the pack is pasted into the question
        speak(&engine, Role::User, &format!("{pack}\n\n{question}"));
        speak(&engine, Role::Assistant, &format!("You told me: {} So you live in Porto.", quoted.join(" ")));
        speak(&engine, Role::Tool, &format!("memory search: {}", quoted.join("\n")));
        // then no fact is added, ended or counted
        assert_eq!(all_facts(&engine), before, "round {round}");
        // and a repetition by the user changes at most the count
        speak(&engine, Role::User, &quoted.join("\n"));
        let counted = all_facts(&engine);
        assert_eq!(uncounted(&counted), uncounted(&before), "round {round}");
        before = counted;
    }
}
