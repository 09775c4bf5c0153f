//! Whether memory answers a question, the weights of the answer, and reproducible packs.

use quipu_core::recall::{Profiles, Verdict};
use quipu_engine::erase::EraseTarget;
use quipu_engine::{
    ContextOptions, Engine, Error, RecallOptions, RememberOptions, Utterance, context, erase, recall, remember,
    reproduce,
};
use serde_json::json;

use crate::me;
use crate::repeating::reading_engine;

fn told() -> Engine {
    let engine = reading_engine();
    for text in ["I live in Lisbon.", "My sister Ana plays the violin.", "I bake sourdough bread every Sunday."] {
        remember(&engine, &me(), &Utterance::of_user(text), &RememberOptions::default()).unwrap();
    }
    engine
}

#[test]
fn what_was_told_is_likelier_to_answer_than_what_was_not() {
    let engine = told();
    let decision = |question: &str| recall(&engine, &me(), &RecallOptions::of(question)).unwrap().decision;
    let (known, unknown) = (decision("Where do I live?"), decision("Which dentist treats Boris?"));
    assert!(known.probability > unknown.probability, "{known:#?} {unknown:#?}");
    assert_eq!(unknown.verdict, Verdict::Abstain, "{unknown:#?}");
    assert!(unknown.signals.unknown > 0.0 && known.signals.n > unknown.signals.n);
    // and where nothing is found, no answer is claimed
    let nothing = RecallOptions { session: Some("elsewhere".to_owned()), ..RecallOptions::of("Where do I live?") };
    assert_eq!(recall(&engine, &me(), &nothing).unwrap().decision.verdict, Verdict::Abstain);
}

#[test]
fn what_is_said_of_one_is_no_answer_about_another() {
    let engine = reading_engine();
    for text in [
        "My son Leo is 6. I am allergic to shellfish.",
        "My sister Ana lives in Porto. She drives a Fiat.",
        "Tom and I run every Tuesday.",
    ] {
        remember(&engine, &me(), &Utterance::of_user(text), &RememberOptions::default()).unwrap();
    }
    for (question, of_another) in [
        ("What is Leo allergic to?", true),
        ("What does Leo drive?", true),
        ("What am I allergic to?", false),
        ("What does Ana drive?", false),
        ("When does Tom run?", false),
        ("How old is Leo?", false),
    ] {
        let decision = recall(&engine, &me(), &RecallOptions::of(question)).unwrap().decision;
        // a question about another person is declined if nothing is known of them, or the fact may concern somebody
        // else
        let is_declined =
            decision.reason.contains("somebody else") || of_another && decision.verdict == Verdict::Abstain;
        assert_eq!(is_declined, of_another, "{question} {decision:?}");
    }
}

#[test]
fn a_profile_changes_the_order_and_is_named_in_the_answer() {
    let engine = told();
    // given a profile in which only recency counts
    let file = json!({"profiles": {"news": {"relevance": {"query": 0.0, "recency": 1.0}}}});
    engine.set_profiles(Profiles::parse(file).unwrap());
    let ask = |profile: Option<&str>| {
        let profile = profile.map(str::to_owned);
        recall(&engine, &me(), &RecallOptions { profile, ..RecallOptions::of("Where do I live?") })
    };
    let (usual, news) = (ask(None).unwrap(), ask(Some("news")).unwrap());
    assert_eq!((usual.profile.as_str(), news.profile.as_str()), ("default", "news"));
    for hit in &news.hits {
        assert!((hit.standing.relevance - hit.standing.recency - 0.01 * hit.standing.goal).abs() < 0.01, "{hit:#?}");
        assert!((hit.standing.priority - hit.standing.relevance * hit.standing.confidence).abs() < 1e-9);
    }
    // and the built-in profile uses the published formula
    for hit in ask(Some("seed")).unwrap().hits {
        let of = &hit.standing;
        let sum = 0.45 * of.query + 0.15 * of.goal + 0.10 * (of.emotion + of.recency + of.frequency + of.importance);
        assert!((of.relevance - sum).abs() < 1e-9, "{hit:#?}");
    }
    let unknown = ask(Some("mine"));
    assert!(matches!(&unknown, Err(Error::NotFound(why)) if why.contains("default, news, seed")), "{unknown:?}");
}

#[test]
fn a_pack_is_made_again_from_its_id_to_the_byte() {
    let engine = told();
    let first = context(&engine, &me(), &ContextOptions::of("Where do I live?")).unwrap();
    // given further messages since then
    let moved =
        remember(&engine, &me(), &Utterance::of_user("I moved to Porto."), &RememberOptions::default()).unwrap();
    let now = context(&engine, &me(), &ContextOptions::of("Where do I live?")).unwrap();
    assert_ne!(now.text, first.text);
    // then the old pack is reproduced unchanged
    let again = reproduce(&engine, &me(), &first.id).unwrap();
    assert!(again.identical);
    assert_eq!((again.pack.text, again.pack.id), (first.text, first.id.clone()));
    // and an erased item is missing from it, with a notice
    let later = reproduce(&engine, &me(), &now.id).unwrap();
    assert!(later.identical);
    erase(&engine, &me(), &[EraseTarget::Event(moved.seq)], "asked to", &mut |_| {}).unwrap();
    let erased = reproduce(&engine, &me(), &now.id).unwrap();
    assert!(!erased.identical && !erased.pack.text.contains("Porto"), "{}", erased.pack.text);
    for wrong in ["", "pack_", "pack_!!", "turn_0000000000000", &first.id[..first.id.len() - 3]] {
        assert!(matches!(reproduce(&engine, &me(), wrong), Err(Error::Invalid(_))), "{wrong}");
    }
}
