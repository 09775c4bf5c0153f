//! Rewording: replacing the words of a message, and erasing the old or the new ones.

use std::sync::Arc;

use quipu_core::id::ItemId;
use quipu_core::source::{Role, Source};
use quipu_engine::erase::EraseTarget;
use quipu_engine::ingest::record_sources;
use quipu_engine::versions::When;
use quipu_engine::{
    Engine, FactOptions, ListOptions, RecallOptions, RememberOptions, Utterance, erase, facts, list, log,
    preview_erase, recall, remember, reword,
};
use quipu_models::RuleExtractor;
use quipu_testkit::{MemoryStore, TestEngine};

use crate::me;

fn engine() -> Engine {
    TestEngine { extractor: Some(Arc::new(RuleExtractor::english())), ..TestEngine::new(1) }
        .engine(Box::new(MemoryStore::new()))
}

/// Records one message.
fn says(engine: &Engine, text: &str) -> ItemId {
    remember(engine, &me(), &Utterance::of_user(text), &RememberOptions::default()).unwrap().items[0]
}

/// Records several messages in one event and returns the id of the first.
fn takes_up(engine: &Engine, texts: &[&str]) -> ItemId {
    let source = |text: &&str| {
        let mut source = Source {
            id: "turn_0000000000000".parse().unwrap(),
            session: Some("s".into()),
            topic: None,
            role: Role::User,
            author: None,
            said_at: None,
            text: (*text).into(),
            artifacts: Vec::new(),
            native_id: None,
        };
        source.id = source.content_id();
        source
    };
    let sources: Vec<Source> = texts.iter().map(source).collect();
    let first = sources[0].id;
    record_sources(engine, &me(), std::iter::once(sources), "a file").unwrap();
    first
}

fn words(engine: &Engine) -> Vec<String> {
    let all = ListOptions { at: When::Now, session: None, kind: None, offset: 0, limit: 100 };
    list(engine, &me(), &all).unwrap().items.into_iter().map(|item| item.text).collect()
}

fn homes(engine: &Engine) -> Vec<String> {
    let options = FactOptions { predicate: Some("lives_in".to_owned()), ..FactOptions::default() };
    facts(engine, &me(), &options).unwrap().into_iter().map(|one| one.fact.object).collect()
}

/// The whole log of the ledger, as text.
fn told(engine: &Engine) -> String {
    let all = log::LogOptions { before: None, limit: 100, reference: None };
    log::log(engine, &me(), &all).unwrap().into_iter().map(|entry| entry.summary + "\n").collect()
}

#[test]
fn erasing_by_the_old_id_erases_the_old_words_and_no_others() {
    for said in [&["I live in Lyon."][..], &["I live in Lyon.", "I like tea."]] {
        // given a message, alone in its event or with others, that was reworded since
        let engine = engine();
        let old = if said.len() == 1 { says(&engine, said[0]) } else { takes_up(&engine, said) };
        reword(&engine, &me(), &old.to_string(), "I live in Porto.").unwrap();
        assert_eq!(homes(&engine), ["Porto"], "{said:?}");
        let before = words(&engine);
        // when it is to be erased by its own id, then the preview lists it, and nothing of the new words
        let targets = [EraseTarget::Item(old)];
        let shown = preview_erase(&engine, &me(), &targets).unwrap();
        let going: String = shown.going.iter().map(|one| format!("{}\n", one.summary)).collect();
        assert!(going.contains("Lyon") && !going.contains("Porto"), "{said:?}: {going}");
        let receipt = erase(&engine, &me(), &targets, "a test", &mut |_| {}).unwrap();
        let erased: Vec<_> = shown.going.iter().map(|one| one.change).collect();
        assert_eq!(receipt.erased, erased, "{said:?}: what was shown is what went");
        // and the new words stay
        assert!(!told(&engine).contains("Lyon"), "{said:?}: {}", told(&engine));
        assert_eq!(homes(&engine), ["Porto"], "{said:?}");
        let after = words(&engine);
        assert!(after.iter().any(|text| text == "I live in Porto."), "{said:?}: {before:?} {after:?}");
        assert_eq!(after.iter().any(|text| text == "I like tea."), said.len() > 1, "{said:?}: {after:?}");
    }
}

#[test]
fn what_is_right_comes_before_the_words_it_took_the_place_of() {
    let cases = [
        // a different value, and words without a fact
        ("I live in Lyon.", "User lives in Porto.", "where do I live?"),
        ("I live in Lyon.", "Home is wherever the van stands, lately Porto.", "where do I live, in Lyon?"),
    ];
    for (old, new, question) in cases {
        let engine = engine();
        for text in ["What a lovely day.", old, "I live for long walks."] {
            says(&engine, text);
        }
        let fact = facts(&engine, &me(), &FactOptions::default()).unwrap()[0].fact.id;
        reword(&engine, &me(), &fact.to_string(), new).unwrap();
        let found = recall(&engine, &me(), &RecallOptions::of(question)).unwrap().hits;
        let place = |part: &str| found.iter().position(|hit| hit.text.contains(part));
        let (lyon, porto) = (place("I live in Lyon").unwrap(), place("Porto").unwrap());
        assert!(porto < lyon, "{new}: {found:#?}");
    }
}

#[test]
fn what_holds_stands_before_what_held_where_it_is_asked_for() {
    let engine = engine();
    for text in [
        "I live in Lyon.",
        "I work at Acme and my desk is next to Priya's.",
        "I moved to Porto.",
        "I work at Globex now.",
    ] {
        says(&engine, text);
    }
    let first = |question: &str| {
        let found = recall(&engine, &me(), &RecallOptions::of(question)).unwrap().hits;
        let words = ["Lyon", "Porto", "Priya", "Globex"];
        let named = found.iter().find_map(|hit| words.into_iter().find(|word| hit.text.contains(word)));
        named.unwrap_or_default()
    };
    for (question, expected) in [
        ("where do I live?", "Porto"),
        ("where did I live before?", "Lyon"),
        ("where did I use to live?", "Lyon"),
        ("whose desk is next to mine?", "Priya"),
        ("where do I work?", "Globex"),
    ] {
        assert_eq!(first(question), expected, "{question}");
    }
}

#[test]
fn erasing_the_new_words_does_not_bring_the_old_ones_back() {
    let engine = engine();
    let old = says(&engine, "I live in Lyon.");
    let receipts = reword(&engine, &me(), &old.to_string(), "I live in Porto.").unwrap();
    let new = receipts.iter().flat_map(|receipt| &receipt.items).next().copied().unwrap();
    erase(&engine, &me(), &[EraseTarget::Item(new)], "a test", &mut |_| {}).unwrap();
    assert_eq!((homes(&engine), words(&engine)), (Vec::new(), Vec::new()));
    assert!(!told(&engine).contains("Porto"));
}

#[test]
fn what_never_was_is_not_erased() {
    let engine = engine();
    says(&engine, "I live in Lyon.");
    let unknown: ItemId = "turn_0000000000000".parse().unwrap();
    let refused = erase(&engine, &me(), &[EraseTarget::Item(unknown)], "a test", &mut |_| {}).unwrap_err();
    assert!(refused.to_string().contains("there is no item"), "{refused}");
}

#[test]
fn a_reworded_rule_has_every_part_of_the_new_words() {
    let engine = engine();
    says(&engine, "Keep answers short from now on.");
    says(&engine, "can you remember that i can't have walnuts?");
    let kept = |predicate: &str| {
        let options = FactOptions { predicate: Some(predicate.to_owned()), ..FactOptions::default() };
        facts(&engine, &me(), &options).unwrap().into_iter().map(|one| (one.fact.id, one.fact.text)).collect::<Vec<_>>()
    };
    for (predicate, new) in [
        ("constraint", "Keep answers short, never use emojis, never suggest hiring someone, and use 24h times"),
        ("restriction", "i can't have walnuts or pecans, not even traces, and cashews only roasted"),
    ] {
        reword(&engine, &me(), &kept(predicate)[0].0.to_string(), new).unwrap();
        let left = kept(predicate);
        assert_eq!(left.len(), 1, "{left:?}");
        assert!(left[0].1.contains(new), "{left:?}");
    }
}
