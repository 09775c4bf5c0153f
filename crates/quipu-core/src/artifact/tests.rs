//! Names, versions and builders, without a ledger.

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::rows::FactRow;
use super::*;
use crate::id::{ItemId, ItemKind, UserId};
use crate::item::{FactStatus, FactType, TimeSpan};
use crate::limit;

fn row(bits: u64, fact_type: FactType, importance: f64) -> FactRow {
    FactRow {
        id: ItemId { kind: ItemKind::Fact, bits },
        subject: "user".to_owned(),
        relation: "likes".to_owned(),
        object: format!("thing {bits}"),
        text: format!("User likes thing {bits}"),
        fact_type,
        time_span: TimeSpan::Current,
        confidence: 1.0,
        user_fact_score: None,
        importance,
        pinned: false,
        status: FactStatus::Active,
        valid_from: None,
        valid_to: None,
        last_seen: None,
        seen_count: 1,
        source_ids: Vec::new(),
        entry_id: None,
        entry_ts: None,
    }
}

fn summary(topic: &str, day: &str, seq_first: u64, facts: Vec<FactRow>) -> Summary {
    Summary {
        schema: ENTRY_SUMMARY.id(),
        entry_id: day.to_owned(),
        topic: topic_slug(topic).to_string(),
        topic_name: topic.to_owned(),
        day: day.parse().unwrap_or_default(),
        seq_first,
        entry_ts: jiff::Timestamp::UNIX_EPOCH,
        sources: 1,
        facts,
        episodes: Vec::new(),
        tasks: Vec::new(),
        questions: Vec::new(),
    }
}

fn topic(name: &str, facts: Vec<FactRow>) -> TopicMemory {
    let built = TopicMemory::build(&topic_slug(name), vec![(summary(name, "2026-03-02", 1, facts), false)]);
    built.unwrap_or_else(|| unreachable!("one entry makes a topic"))
}

fn user() -> UserId {
    UserId::parse("me").unwrap_or_else(|_| unreachable!("a plain name"))
}

fn global(topics: &[TopicMemory]) -> GlobalMemory {
    GlobalMemory::build(&user(), topics).unwrap_or_else(|_| unreachable!("it is plain data"))
}

#[test]
fn topics_have_names_of_their_own() {
    for (topic, expected) in [
        ("work", "work"),
        ("Work", "work"),
        ("stressManagement", "stress-management"),
        ("race  training", "race-training"),
        ("race_training", "race-training"),
        ("2026", "2026"),
    ] {
        assert_eq!(topic_slug(topic).as_str(), expected);
    }
    for odd in ["con", "COM1", "aux.md", "..", "../x", "a/b", "é", "", "🌋", "a\u{202e}b"] {
        let slug = topic_slug(odd);
        assert!(slug.as_str().len() > 9 && Slug::parse(slug.as_str()).is_some(), "{odd:?}: {slug}");
    }
    // A name that looks like another one's with its tail is not taken for it.
    let odd = topic_slug("a/b");
    assert_ne!(topic_slug(odd.as_str()), odd);
}

#[test]
fn paths_lead_nowhere_else() {
    for good in ["GLOBAL_MEMORY.md", "topics/work/2026-03-02/raw.md", "index/ledger/0000000001.jsonl"] {
        assert!(VaultPath::parse(good).is_ok(), "{good}");
    }
    for bad in [
        "",
        "/etc/passwd",
        "../x",
        "a/../b",
        "a//b",
        "a/",
        ".git/config",
        "a\\b",
        "a\0b",
        "con",
        "a/NUL.md",
        "x.",
        "a b",
        "é",
        "a/b/c/d/e/f/g/h/i",
    ] {
        assert!(VaultPath::parse(bad).is_err(), "{bad:?} was taken");
    }
}

proptest! {
    #[test]
    fn every_topic_and_user_has_a_safe_name(text in "\\PC{0,80}", other in "[a-zA-Z0-9@.:+_-]{1,128}") {
        let slug = topic_slug(&text);
        prop_assert!(Slug::parse(slug.as_str()).is_some(), "{text:?}: {slug}");
        prop_assert!(VaultPath::in_topic(&slug, "topic_memory.md").is_ok());
        if let Ok(user) = UserId::parse(&other) {
            prop_assert!(VaultPath::parse(&folder_of(&user)).is_ok());
        }
    }

    #[test]
    fn escaped_text_reads_back(text in "[ -~äßé\\[\\]#|`<\\\\]{0,60}") {
        let shown = escape(&text);
        prop_assert_eq!(unescape(&shown), crate::pack::neutralise(&text));
        prop_assert!(!shown.contains("[["));
    }

    #[test]
    fn entries_add_up_the_same_in_any_order(order in Just((0..6usize).collect::<Vec<_>>()).prop_shuffle()) {
        let entry = |number: usize| {
            let mut fact = row(1, FactType::Trait, 0.5);
            fact.object = format!("version {number}");
            (summary("work", &format!("2026-03-0{}", number + 1), number as u64 * 10 + 1, vec![fact, row(2 + number as u64, FactType::Event, 0.3)]), number == 5)
        };
        let slug = topic_slug("work");
        let sorted = TopicMemory::build(&slug, (0..6).map(entry).collect());
        let shuffled = TopicMemory::build(&slug, order.into_iter().map(entry).collect());
        prop_assert_eq!(&sorted, &shuffled);
        let built = sorted.into_iter().next();
        let first = built.as_ref().and_then(|built| built.facts.iter().find(|fact| fact.id.bits == 1));
        prop_assert_eq!(first.map(|fact| (fact.object.as_str(), fact.entry_id.as_deref())), Some(("version 5", Some("2026-03-01"))));
    }
}

#[test]
fn tiers_and_types_have_their_order_and_their_caps() {
    let types = [FactType::Event, FactType::Identity, FactType::Preference, FactType::Location];
    let mut facts: Vec<FactRow> = Vec::new();
    for (number, fact_type) in types.into_iter().enumerate() {
        facts.extend((0..20).map(|bits| row(bits + 100 * number as u64, fact_type, 0.7)));
    }
    let mut scored = row(900, FactType::Constraint, 0.9);
    scored.user_fact_score = Some(2);
    let mut pinned = row(901, FactType::Trait, 0.0);
    pinned.pinned = true;
    let mut liked = row(902, FactType::Event, 0.0);
    liked.user_fact_score = Some(8);
    facts.extend([scored, pinned, liked, row(903, FactType::Trait, 0.1)]);
    let built = global(&[topic("all", facts)]);
    let shown: Vec<(Tier, FactType, usize)> =
        built.do_not_forget.iter().map(|group| (group.tier, group.fact_type, group.facts.len())).collect();
    let (core, more) = (limit::CORE_FACTS_PER_TYPE, limit::SECONDARY_FACTS_PER_TYPE);
    let expected = [
        (Tier::Core, FactType::Identity, core),
        (Tier::Core, FactType::Preference, core),
        (Tier::Core, FactType::Trait, 1),
        (Tier::Core, FactType::Event, core),
        (Tier::Secondary, FactType::Identity, more),
        (Tier::Secondary, FactType::Preference, more),
        (Tier::Secondary, FactType::Event, more),
    ];
    assert_eq!(shown, expected);
    let events = built.do_not_forget.iter().find(|group| group.fact_type == FactType::Event);
    assert_eq!(events.and_then(|group| group.facts.first()).map(|kept| kept.id.bits), Some(902));
}

#[test]
fn the_global_memory_is_bounded_whatever_the_topics_hold() {
    let topics: Vec<TopicMemory> = (0..300)
        .map(|number| {
            let facts = (0..40).map(|bits| {
                let mut fact = row(bits + 1000 * number, FactType::Identity, 0.9);
                fact.text = format!("User {} [{bits}]", "says a lot ".repeat(40));
                fact
            });
            topic(&format!("topic {number} {}", "with a long name ".repeat(4)), facts.collect())
        })
        .collect();
    let built = global(&topics);
    let json = to_page(&built).map_or(usize::MAX, |page| page.len());
    assert!(json <= limit::GLOBAL_MEMORY_BYTES_MAX && json > limit::GLOBAL_MEMORY_BYTES_MAX / 2, "{json}");
    assert!(global_page(&built).len() <= limit::GLOBAL_MEMORY_BYTES_MAX);
    assert!(!built.active_topics.is_empty() && !built.do_not_forget.is_empty());
    let mut turned = topics;
    turned.reverse();
    assert_eq!(global(&turned), built);
}

/// A version 2 of an entry's summary, as a later Quipu might have it.
const SUMMARY_V2: Schema = Schema {
    family: "entry_summary",
    version: 2,
    steps: &[|value| {
        let sources = value.get("sources").cloned().unwrap_or_default();
        value["words"] = json!({ "sources": sources });
    }],
};

#[derive(Debug, Serialize, Deserialize)]
struct SummaryV2 {
    schema: String,
    words: WordsV2,
}

#[derive(Debug, Serialize, Deserialize)]
struct WordsV2 {
    sources: usize,
}

#[test]
fn an_older_version_is_lifted_when_it_is_read_and_a_newer_one_is_refused() {
    let old = to_page(&summary("work", "2026-03-02", 1, Vec::new())).unwrap_or_default();
    let lifted: Result<SummaryV2, _> = SUMMARY_V2.read(&old);
    let lifted = lifted.unwrap_or_else(|refusal| panic!("{refusal}"));
    assert_eq!((lifted.schema.as_str(), lifted.words.sources), ("entry_summary.v2", 1));
    let new = to_page(&lifted).unwrap_or_default();
    let read_again: SummaryV2 = SUMMARY_V2.read(&new).unwrap_or_else(|refusal| panic!("{refusal}"));
    assert_eq!(read_again.words.sources, 1);
    let refused = ENTRY_SUMMARY.read::<Summary>(&new).map(drop).map_err(|refusal| refusal.to_string());
    assert!(refused.is_err_and(|text| text.contains("newer")));
    for other in [json!({"schema": "topic_memory.v1"}), json!({"schema": "entry_summary.v0"}), json!({}), json!([])] {
        assert!(ENTRY_SUMMARY.read::<Summary>(other.to_string().as_bytes()).is_err(), "{other}");
    }
}
