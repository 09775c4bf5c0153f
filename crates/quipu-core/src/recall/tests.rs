use std::sync::Arc;

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::id::{ItemId, ItemKind};
use crate::source::{Artifact, Role, Source};
use crate::text::tokens;

const DIMENSIONS: usize = 64;

fn turn(number: u64, session: Option<&str>, author: &str, text: &str) -> Source {
    Source {
        id: ItemId { kind: ItemKind::Turn, bits: number },
        session: session.map(Arc::from),
        topic: None,
        role: Role::User,
        author: Some(author.into()),
        said_at: Timestamp::from_second(1_683_500_000 + 86_400 * number as i64).ok(),
        text: text.into(),
        artifacts: Vec::new(),
        native_id: None,
    }
}

/// A vector that is near another's if their texts share words.
fn embed(text: &str) -> Vec<f32> {
    let mut vector = vec![0.01; DIMENSIONS];
    tokens::for_each_term(text, |term| {
        vector[usize::from(blake3::hash(term.as_bytes()).as_bytes()[0]) % DIMENSIONS] += 1.0
    });
    vector
}

/// Token codes in which each word has its own meaning.
fn codes(text: &str) -> Vec<TokenCode> {
    let words = tokens::words(text);
    let vectors: Vec<Vec<f32>> = words.iter().map(|word| embed(&word.lower)).collect();
    token_codes(words.iter().zip(&vectors).map(|(word, vector)| (word.lower.as_str(), vector.as_slice())))
}

/// Sets every passage's vector and codes.
fn fill(index: &mut Index, sources: &[Source]) {
    let missing: Vec<(u32, EmbeddingInput)> = index.missing(sources, 0).collect();
    for (passage, input) in &missing {
        assert!(index.set_vector(*passage, &input.text, &embed(&input.text), &codes(&input.text[input.own..])));
    }
}

fn meaning(text: &str) -> Meaning {
    Meaning { vector: Some(embed(text)), ..Meaning::default() }
}

fn index(sources: &[Source]) -> Index {
    let mut index = Index::new(DIMENSIONS, "words/v1");
    (0..).zip(sources).for_each(|(ordinal, source)| index.add(ordinal, source));
    fill(&mut index, sources);
    index
}

fn plan(index: &Index, text: &str, filter: Filter) -> QueryPlan {
    let query = Query { text: text.to_owned(), k: 10, now: None, filter, validity: None, intent: None };
    QueryPlan::new(index, query).unwrap_or_else(|refusal| panic!("{text:?}: {refusal}"))
}

fn ask(index: &Index, text: &str, options: &RankOptions) -> Recall {
    let plan = plan(index, text, Filter::default());
    recall(index, &plan, &meaning(&plan.first_person_text), options)
}

/// Options with the weights for conversations among people.
fn among_people() -> RankOptions {
    let mut profile = Profile::default();
    profile.matching.assistant = None;
    RankOptions { profile: Arc::new(profile), ..RankOptions::default() }
}

fn ordinals(recall: &Recall) -> Vec<u32> {
    recall.hits.iter().map(|hit| hit.ordinal).collect()
}

/// Conversations of 20 turns about few things, so that many are similar.
fn crowd(count: u64) -> Vec<Source> {
    let words = ["dog", "lake", "violin", "bread", "garden", "train", "exam", "paint", "coffee", "storm", "ticket"];
    let word = |number: u64| words[(number % 11) as usize];
    let text = |n: u64| {
        format!(
            "The {} and my {} went {}{}",
            word(n * 7),
            word(n * n + 3),
            word(n / 5),
            if n.is_multiple_of(4) { "?" } else { "." }
        )
    };
    let author = |n: u64| if n.is_multiple_of(2) { "Anna" } else { "Ben Ode" };
    (0..count).map(|n| turn(n, Some(&format!("s{}", n / 20)), author(n), &text(n))).collect()
}

#[test]
fn questions_become_plans() {
    let sources = [
        turn(1, Some("a"), "Anna", "Hi"),
        turn(2, Some("a"), "Ben Ode", "Hi"),
        turn(3, Some("a"), "Will", "Hi"),
        turn(4, None, "user", "Hi"),
    ];
    let index = index(&sources);
    let table: &[(&str, &[&str], Option<&str>, &str)] = &[
        ("What is Anna's dog called?", &["dog", "call"], Some("Anna"), "What is my dog called?"),
        ("What did Anna say to her dog?", &["say", "dog"], Some("Anna"), "What did I say to her dog?"),
        ("what did anna\u{2019}s dog eat", &["dog", "eat"], Some("Anna"), "what did my dog eat"),
        ("Does Ben Ode like tea? Does Ben?", &["like", "tea"], Some("Ben Ode"), "Does I like tea? Does I?"),
        ("Who is Ben Ode's boss?", &["boss"], Some("Ben Ode"), "Who is my boss?"),
        ("Are Anna and Ben friends?", &["friend"], None, "Are I and I friends?"),
        ("Anna?", &["anna"], Some("Anna"), "I?"),
        ("Annabel's dog", &["annabel", "dog"], None, "Annabel's dog"),
        ("Will it rain? will it snow?", &["rain", "snow"], None, "Will it rain? will it snow?"),
        ("Where was Will?", &[], Some("Will"), "Where was I?"),
        ("Which user is new?", &["user", "new"], None, "Which user is new?"),
        ("What is my dog called?", &["dog", "call"], Some("user"), "What is my dog called?"),
        ("What is the user's dog called?", &["user", "dog", "call"], Some("user"), "What is my dog called?"),
        ("Did Anna and I meet?", &["meet"], Some("Anna"), "Did I and I meet?"),
        ("Where does my sister live?", &["sister", "live"], None, "Where does my sister live?"),
        ("dog dogs DOG", &["dog"], None, "dog dogs DOG"),
    ];
    for (text, terms, speaker, first_person) in table {
        let plan = plan(&index, text, Filter::default());
        assert_eq!(
            (plan.terms.iter().map(String::as_str).collect::<Vec<_>>().as_slice(), plan.speaker.as_deref()),
            (*terms, *speaker),
            "{text:?}"
        );
        assert_eq!(plan.first_person_text, *first_person, "{text:?}");
    }
}

#[test]
fn impossible_queries_are_refused() {
    let index = Index::new(DIMENSIONS, "m");
    let query = |text: &str, k| Query {
        text: text.to_owned(),
        k,
        now: None,
        filter: Filter::default(),
        validity: None,
        intent: None,
    };
    for bad in [
        query(" \n", 1),
        query("x", 0),
        query("x", limit::RECALL_K_MAX + 1),
        query(&"x".repeat(limit::QUERY_BYTES_MAX + 1), 1),
    ] {
        assert!(QueryPlan::new(&index, bad.clone()).is_err(), "{bad:?} was taken");
    }
}

#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
#[test]
fn today_and_yesterday_need_to_know_now() {
    let index = Index::new(DIMENSIONS, "m");
    let query = |now| Query {
        text: "what did I do yesterday".to_owned(),
        k: 1,
        now,
        filter: Filter::default(),
        validity: None,
        intent: None,
    };
    let named = |now| {
        let plan = QueryPlan::new(&index, query(now)).unwrap();
        (plan.intervals.iter().map(ToString::to_string).collect::<Vec<_>>(), plan.validity)
    };
    assert_eq!(named(None), (vec![], Validity::Now(None)));
    let (intervals, validity) = named("2024-03-01T10:00:00Z".parse().ok());
    assert_eq!(intervals, ["2024-02-29"]);
    let day = |text: &str| format!("{text}T00:00:00Z").parse().unwrap();
    assert_eq!(validity, Validity::Within(day("2024-02-29"), day("2024-03-01")));
}

#[test]
fn every_feature_adds_what_it_should() {
    let sources = [
        turn(1, Some("a"), "Anna", "Have you seen the violin?"),
        turn(2, Some("a"), "Ben", "My violin is in the car."),
        turn(3, Some("a"), "Anna", "Good."),
        turn(4, Some("b"), "Ben", "Lovely weather."),
    ];
    let index = index(&sources);
    let found =
        ask(&index, "Where was Ben's violin on 9 May 2023?", &RankOptions { explain: true, ..RankOptions::default() });
    assert_eq!(ordinals(&found)[0], 1);
    let hit =
        |ordinal| found.hits.iter().find(|hit| hit.ordinal == ordinal).map(|hit| hit.contributions).unwrap_or_default();
    let (question, answer, after) = (hit(0), hit(1), hit(2));
    assert!(answer.n > 0.0 && answer.n_prev > 0.0 && answer.n_next == 0.0 && answer.n_sess > 0.0 && answer.x > 0.0);
    assert_eq!((answer.spk, answer.date, answer.isq), (0.6, 1.1, 0.0));
    assert_eq!((question.spk, question.isq), (0.0, -0.2));
    assert!(question.date > 0.0 && question.date < 1.1 && after.n_prev > 0.0 && after.n == 0.0);
    for hit in &found.hits {
        assert_eq!(hit.score, hit.contributions.sum());
        assert!((0.0..=1.0).contains(&hit.relevance));
    }
    let detail = found.trace.detail.unwrap_or_default();
    assert_eq!(detail.speaker.as_deref(), Some("Ben"));
    let terms: Vec<_> = detail.terms.iter().map(|term| (term.term.as_str(), term.passages)).collect();
    assert_eq!(terms, [("violin", 2)], "what tells a time is no word to find");
}

#[test]
fn without_a_vector_words_still_answer() {
    let sources = crowd(40);
    let mut bare = Index::new(DIMENSIONS, "m");
    (0..).zip(&sources).for_each(|(ordinal, source)| bare.add(ordinal, source));
    let found = ask(&bare, "violin and garden", &RankOptions::default());
    assert!(found.trace.dense && found.trace.without_vector == 40 && found.hits.len() == 10);
    assert!(found.hits.iter().all(|hit| hit.contributions.x == 0.0));
    let plan = plan(&bare, "violin and garden", Filter::default());
    let unavailable = recall(&index(&sources), &plan, &Meaning::default(), &RankOptions::default());
    assert!(!unavailable.trace.dense);
    assert_eq!(unavailable.hits, found.hits);
}

#[test]
fn nothing_is_returned_for_which_nothing_speaks() {
    let sources = [turn(1, None, "Anna", "Bread."), turn(2, None, "Anna", "Is it bread?")];
    let index = index(&sources);
    let plan = plan(&index, "volcano", Filter::default());
    let found = recall(&index, &plan, &Meaning::default(), &RankOptions { explain: true, ..RankOptions::default() });
    assert_eq!(found.hits, []);
    let left_out = found.trace.detail.map(|detail| detail.left_out).unwrap_or_default();
    assert_eq!(left_out.iter().map(|out| out.reason).collect::<Vec<_>>(), [Reason::NoEvidence; 2]);
}

#[test]
fn long_texts_answer_with_the_right_passage() {
    let filler = "We talked about nothing much at all that day. ".repeat(60);
    let text = format!("{filler}\n\nThe violin is under the stairs.\n\n{filler}");
    let mut source = turn(1, Some("a"), "Anna", &text);
    source.artifacts.push(Artifact {
        kind: "image".to_owned(),
        name: None,
        text: "a photo of a lighthouse".to_owned(),
    });
    let sources = [source];
    let index = index(&sources);
    assert!(index.passage_count() > 4);
    let searchable = sources[0].searchable();
    for (question, answer) in [("Where is the violin?", "under the stairs"), ("a lighthouse", "photo of a lighthouse")]
    {
        let found = ask(&index, question, &RankOptions::default());
        assert_eq!(found.hits.len(), 1);
        assert!(searchable[found.hits[0].span.clone()].contains(answer));
    }
}

#[test]
fn neighbours_stay_within_a_session() {
    let sources = [
        turn(1, Some("a"), "Anna", "violin"),
        turn(2, Some("b"), "Ben", "violin"),
        turn(3, Some("a"), "Cleo", "garden"),
        turn(4, None, "Anna", "violin"),
        turn(5, None, "Ben", "garden"),
    ];
    let index = index(&sources);
    let inputs: Vec<_> =
        (0..5).filter_map(|passage| index.embedding_input(&sources[..], passage)).map(|input| input.text).collect();
    assert_eq!(inputs, ["Anna: violin", "Ben: violin", "Anna: violin\nCleo: garden", "Anna: violin", "Ben: garden"]);
    let found = ask(&index, "violin", &among_people());
    let previous: Vec<_> =
        found.hits.iter().filter(|hit| hit.contributions.n_prev > 0.0).map(|hit| hit.ordinal).collect();
    assert_eq!(previous, [2]);
}

#[test]
fn an_embedding_input_cuts_the_neighbour_only() {
    let long = "é".repeat(500);
    let own = "o".repeat(400);
    let sources = [
        turn(1, Some("a"), "Anna", &long),
        turn(2, Some("a"), "Ben", &own),
        turn(3, Some("a"), "Cleo", &"p".repeat(1100)),
    ];
    let index = index(&sources);
    let input = |passage| index.embedding_input(&sources[..], passage).map(|input| input.text).unwrap_or_default();
    assert!(input(1).ends_with(&own) && input(1).starts_with("Anna: éé") && (990..=1000).contains(&input(1).len()));
    assert_eq!(input(2), format!("Cleo: {}", "p".repeat(1100)));
    assert_eq!(index.embedding_input(&sources[..1], 1), None);
}

#[test]
fn imports_and_gaps_are_not_found() {
    let mut import = turn(7, None, "Anna", "violin");
    import.id.kind = ItemKind::Import;
    let mut index = Index::new(DIMENSIONS, "m");
    index.add(0, &import);
    index.add(5, &turn(8, None, "Anna", "violin"));
    index.add(5, &turn(9, None, "Anna", "violin violin"));
    assert_eq!((index.len(), index.passage_count()), (6, 1));
    assert_eq!(ordinals(&ask(&index, "violin", &RankOptions::default())), [5]);
}

/// Small enough that a crowd of 6,000 is not scored exhaustively.
const EXHAUSTIVE_MAX: usize = 4096;

#[test]
fn arms_find_what_scoring_everything_finds() {
    let sources = crowd(6000);
    let index = index(&sources);
    let mut kept = 0;
    for question in [
        "Anna's violin in the storm",
        "bread on 8 June 2023",
        "Where did Ben take the train?",
        "coffee and paint in 2024",
    ] {
        let by_arms =
            ask(&index, question, &RankOptions { exhaustive_passages_max: EXHAUSTIVE_MAX, ..RankOptions::default() });
        let by_all =
            ask(&index, question, &RankOptions { exhaustive_passages_max: usize::MAX, ..RankOptions::default() });
        assert!(by_arms.trace.scored < 5000 && by_all.trace.scored == 6000);
        assert!(by_arms.hits.iter().all(|hit| hit.arms.iter().count() > 0 && !hit.arms.has(Arm::All)));
        kept += ordinals(&by_all).iter().filter(|&ordinal| ordinals(&by_arms).contains(ordinal)).count();
    }
    assert!(kept >= 38, "{kept} of 40");
}

#[test]
fn filters_act_inside_the_arms() {
    let mut sources = crowd(6000);
    sources.iter_mut().step_by(50).for_each(|source| source.id.kind = ItemKind::Entry);
    let index = index(&sources);
    let answer = |filter: Filter, exhaustive_passages_max| {
        let plan = plan(&index, "Anna's violin in the storm", filter);
        recall(
            &index,
            &plan,
            &meaning(&plan.first_person_text),
            &RankOptions { exhaustive_passages_max, ..RankOptions::default() },
        )
    };
    let entries = Filter { kinds: vec![ItemKind::Entry], ..Filter::default() };
    for exhaustive_passages_max in [0, 4096] {
        let found = answer(entries.clone(), exhaustive_passages_max);
        assert_eq!((found.trace.allowed, found.hits.len()), (120, 10));
        assert!(found.hits.iter().all(|hit| hit.ordinal % 50 == 0));
    }
    let sessions = Filter { sessions: vec!["s7".into(), "s250".into(), "unknown".into()], ..Filter::default() };
    let found = answer(sessions, 0);
    assert_eq!(found.trace.allowed, 40);
    assert!(!found.hits.is_empty() && found.hits.iter().all(|hit| [7, 250].contains(&(hit.ordinal / 20))));
    assert_eq!(answer(Filter { sessions: vec!["unknown".into()], ..Filter::default() }, 4096).hits, []);
}

#[test]
fn equals_come_in_the_order_in_which_they_were_recorded() {
    let sources: Vec<Source> =
        [5, 3, 9, 1].iter().map(|&id| Source { said_at: None, ..turn(id, None, "Anna", "violin") }).collect();
    let found = ask(&index(&sources), "violin", &among_people());
    assert_eq!(ordinals(&found), [0, 1, 2, 3]);
    assert_eq!(ask(&index(&sources), "violin", &among_people()), found);
}

#[test]
fn a_rebuilt_index_embeds_only_what_changed() {
    let sources = crowd(60);
    let old = index(&sources);
    let mut kept = sources.clone();
    kept.remove(30);
    let mut rebuilt = Index::new(DIMENSIONS, "words/v1");
    (0..).zip(&kept).for_each(|(ordinal, source)| rebuilt.add(ordinal, source));
    // The turn after the removed one has another neighbour; all other texts are unchanged.
    assert_eq!(rebuilt.reuse_vectors(&old, &kept[..]), 58);
    assert_eq!(rebuilt.missing(&kept[..], 0).map(|(passage, _)| passage).collect::<Vec<_>>(), [30]);
    let mut other = Index::new(DIMENSIONS, "another/v1");
    (0..).zip(&kept).for_each(|(ordinal, source)| other.add(ordinal, source));
    assert_eq!(other.reuse_vectors(&old, &kept[..]), 0);
}

#[test]
fn damaged_images_are_refused() {
    let image = index(&crowd(30)).encode();
    assert!(Index::decode(&image).is_ok());
    for at in (0..image.len()).step_by(7) {
        let mut damaged = image.clone();
        damaged[at] ^= 0x10;
        assert!(Index::decode(&damaged).is_err(), "byte {at}");
        assert!(Index::decode(&image[..at]).is_err(), "cut at {at}");
    }
}

fn any_source() -> impl Strategy<Value = (Option<u8>, u8, String, bool)> {
    (prop::option::of(0u8..4), 0u8..3, "([a-e]{1,3}[ .?\n]){0,400}", any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn an_image_reads_back_and_goes_on_growing(turns in prop::collection::vec(any_source(), 1..24), cut in 0usize..24) {
        let source = |(number, (session, author, text, dated)): (usize, &(Option<u8>, u8, String, bool))| {
            let mut source = turn(number as u64, session.map(|s| format!("s{s}")).as_deref(), &format!("author {author}"), text);
            source.said_at = source.said_at.filter(|_| *dated);
            source
        };
        let sources: Vec<Source> = turns.iter().enumerate().map(source).collect();
        let whole = index(&sources);
        let cut = cut.min(sources.len());
        let part = index(&sources[..cut]);
        let read = Index::decode(&part.encode());
        prop_assert_eq!(read.as_ref(), Ok(&part));
        let Ok(mut grown) = read else { return Ok(()) };
        (0..).zip(&sources).for_each(|(ordinal, source)| grown.add(ordinal, source));
        fill(&mut grown, &sources);
        prop_assert_eq!(&grown, &whole);
        prop_assert_eq!(grown.encode(), whole.encode());
    }

    #[test]
    fn recall_is_total(text in "\\PC{0,60}", question in "\\PC{1,60}", exhaustive in any::<bool>()) {
        let sources = [turn(1, Some("a"), "Anna", &text), turn(2, Some("a"), "Zoë", &question)];
        let index = index(&sources);
        let query = Query { text: question, k: 5, now: None, filter: Filter::default(), validity: None, intent: None };
        if let Ok(plan) = QueryPlan::new(&index, query) {
            let exhaustive_passages_max = if exhaustive { 10 } else { 0 };
            let found = recall(&index, &plan, &meaning(&plan.first_person_text), &RankOptions { explain: true, exhaustive_passages_max, ..RankOptions::default() });
            prop_assert!(found.hits.len() <= 2);
        }
    }
}
