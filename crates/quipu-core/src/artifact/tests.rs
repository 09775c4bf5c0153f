//! Tests names, versions and builders without a ledger.

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::rows::FactRow;
use super::*;
use crate::id::{ItemId, ItemKind, UserId};
use crate::item::{FactStatus, FactType, TenetKind, TenetStatus, TimeSpan};
use crate::limit;

pub(super) fn row(bits: u64, fact_type: FactType, importance: f64) -> FactRow {
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
        notes: Vec::new(),
        tenets: Vec::new(),
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
fn what_is_over_and_remarks_of_a_day_are_not_lasting() {
    let on = |bits, day: &str| FactRow {
        valid_from: Some(day.parse().unwrap_or_default()),
        ..row(bits, FactType::Commitment, 0.9)
    };
    // The newest day of the topic is 2026-03-02; midnight of the first day of a month stands for the month.
    let remark = FactRow { relation: "remark".to_owned(), ..row(6, FactType::Event, 0.9) };
    let pinned = FactRow { pinned: true, ..FactRow { id: row(7, FactType::Event, 0.9).id, ..remark.clone() } };
    let rows = vec![
        on(1, "2026-03-01T09:00:00Z"),
        on(2, "2026-03-02T00:00:00Z"),
        on(3, "2026-03-01T00:00:00Z"),
        on(4, "2026-02-01T00:00:00Z"),
        on(5, "2026-05-04T09:00:00Z"),
        remark,
        FactRow { text: "pinned".to_owned(), ..pinned },
    ];
    let global = global(&[topic("Days", rows)]);
    let kept = global.do_not_forget.iter().flat_map(|group| &group.facts);
    let mut texts: Vec<&str> = kept.map(|fact| fact.text.as_str()).collect();
    texts.sort_unstable();
    assert_eq!(
        texts,
        [
            "User likes thing 2 (2026-03-02)",
            "User likes thing 3 (2026-03)",
            "User likes thing 5 (2026-05-04)",
            "pinned"
        ]
    );
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
    // A name that ends like a suffix gets a suffix of its own.
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

fn story(bits: u64, importance: u8, text: &str) -> EpisodeRow {
    EpisodeRow {
        id: ItemId { kind: ItemKind::Episode, bits },
        title: "A few words".to_owned(),
        summary: text.to_owned(),
        start: None,
        importance,
        gone: false,
    }
}

fn note(bits: u64, text: &str, agreed: bool) -> NoteRow {
    let id = ItemId { kind: ItemKind::Note, bits };
    NoteRow {
        id,
        text: text.to_owned(),
        votes: u32::from(agreed),
        agreed,
        pinned: false,
        tags: Vec::new(),
        gone: false,
    }
}

fn tenet(bits: u64, text: &str, status: TenetStatus) -> TenetRow {
    let id = ItemId { kind: ItemKind::Tenet, bits };
    TenetRow { id, kind: TenetKind::Preference, text: text.to_owned(), status, pinned: false }
}

fn built(name: &str, entry: Summary) -> TopicMemory {
    TopicMemory::build(&topic_slug(name), vec![(entry, false)])
        .unwrap_or_else(|| unreachable!("one entry makes a topic"))
}

#[test]
fn idle_talk_has_no_place_on_the_page_of_the_whole() {
    let talk = |episodes: Vec<EpisodeRow>| {
        built("conversations", Summary { episodes, ..summary("conversations", "2026-03-02", 1, Vec::new()) })
    };
    let (mail, race) =
        (story(1, 3, "Could you shorten that mail?"), story(2, 4, "user: I switched to the half marathon."));
    let (idle, told) = (talk(vec![mail.clone()]), talk(vec![mail, race]));
    assert!(idle.is_idle() && !told.is_idle());
    let work = topic("work", vec![row(1, FactType::Trait, 0.7)]);
    let page = global_page(&global(&[idle.clone(), work.clone()]));
    assert!(!page.contains("onversations") && !page.contains("mail") && page.contains("1 more under"), "{page}");
    assert!(!topic_page(&idle).contains("mail"), "{}", topic_page(&idle));
    for page in [global_page(&global(&[told.clone(), work])), topic_page(&told)] {
        assert_eq!(page.matches("User: I switched to the half marathon.").count(), 1, "{page}");
        assert!(!page.contains("mail"), "{page}");
    }
    // A topic named by the user is never idle.
    assert!(!topic("sailing", Vec::new()).is_idle());
}

#[test]
fn what_was_learned_and_what_is_lived_by_stand_on_the_pages_once() {
    let entry = |facts| Summary {
        notes: vec![
            note(1, "What helped with waking up: no coffee after noon", false),
            note(2, "What did not help with waking up: magnesium", true),
            NoteRow { gone: true, ..note(3, "What helped with waking up: nothing at all", true) },
        ],
        tenets: vec![
            tenet(1, "Keeps the evening before a race free", TenetStatus::Confirmed),
            tenet(2, "User likes thing 7", TenetStatus::Confirmed),
            tenet(3, "Prefers the plane", TenetStatus::Proposed),
            tenet(4, "Prefers the car", TenetStatus::Outdated),
        ],
        ..summary("sleep", "2026-03-02", 1, facts)
    };
    let built = built("sleep", entry(vec![row(7, FactType::Preference, 0.7)]));
    let page = global_page(&global(std::slice::from_ref(&built)));
    for (page, lines) in [
        (topic_page(&built), &["thing 7", "evening before", "no coffee", "magnesium"][..]),
        (page.clone(), &["thing 7", "evening before", "no coffee", "magnesium"][..]),
    ] {
        assert!(lines.iter().all(|line| page.contains(line)), "{page}");
        for gone in ["nothing at all", "plane", "the car"] {
            assert!(!page.contains(gone), "{gone}: {page}");
        }
    }
    assert_eq!(page.matches("thing 7").count(), 1, "{page}");
    assert!(page.contains("no coffee after noon — seen once so far\n") && page.contains("magnesium\n"), "{page}");
    let place = |text: &str| page.find(text).unwrap_or_default();
    assert!(place("magnesium") < place("no coffee"), "what more stands behind comes first: {page}");
}

#[test]
fn a_thing_stands_on_a_page_once_and_whole() {
    let mut facts: Vec<FactRow> = (0..9).map(|bits| row(bits, FactType::Preference, 0.7)).collect();
    let (text, object) = ("User likes Thing 3.".to_owned(), "Thing 3".to_owned());
    facts.push(FactRow { text, object, ..row(30, FactType::Preference, 0.6) });
    let built = topic("taste", facts);
    assert_eq!(built.state.summary, "User likes thing 0, thing 1, thing 2, thing 3 and 5 more.");
    let page = global_page(&global(&[built, topic("tea", vec![row(1, FactType::Preference, 0.7)])]));
    assert_eq!(page.matches("hing 3").count(), 2, "in the list and in the summary: {page}");
    assert!(!page.contains('…'), "{page}");
    // The only fact is listed above, so the topic takes one line.
    assert!(page.contains("/tea/topic_memory|tea]]: 1 fact, last on 2 March 2026\n"), "{page}");
    let few = topic_page(&topic("tea", vec![row(1, FactType::Preference, 0.7)]));
    assert_eq!(few.matches("User likes thing 1").count(), 1, "{few}");
}

/// A hypothetical version 2 of an entry's summary.
const SUMMARY_V2: FileSchema = FileSchema {
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
