//! A memory is read again by a newer version of the rules.

use std::sync::Arc;

use quipu_core::extract::{Extraction, FactCandidate, Reading, Stance, USER};
use quipu_engine::ports::{ExtractError, Extractor};
use quipu_engine::versions::When;
use quipu_engine::{
    Engine, FactOptions, LogOptions, RememberOptions, Utterance, core_at, facts, log, mark, preview_reread, remember,
    reread, revert, verify,
};
use quipu_models::{RULES_EN, RuleExtractor};
use quipu_testkit::{FixedClock, MemoryStore, TestEngine};
use serde_json::json;

use crate::me;

const ALL: LogOptions = LogOptions { before: None, limit: 1_000, reference: None };

/// What a version of the rules reads in a text: predicate, value and stance.
type Read = fn(&str) -> Vec<(&'static str, &str, Stance)>;

struct Rules {
    id: &'static str,
    read: Read,
}

impl Extractor for Rules {
    fn id(&self) -> &str {
        self.id
    }

    fn read(&self, reading: &Reading<'_>) -> Result<Extraction, ExtractError> {
        let candidate = |(predicate, object, stance): (&str, &str, Stance)| {
            let at = reading.text.find(object).unwrap();
            FactCandidate {
                subject: USER.to_owned(),
                predicate: predicate.to_owned(),
                object: object.to_owned(),
                span: at..at + object.len(),
                stance,
                valid_from: None,
                valid_to: None,
                confidence: 0.9,
                qualifiers: Default::default(),
            }
        };
        let facts = (self.read)(reading.text).into_iter().map(candidate).collect();
        Ok(Extraction { facts, ..Extraction::default() })
    }
}

/// Takes every place for the home, and "worked as" for the present.
fn old(text: &str) -> Vec<(&'static str, &str, Stance)> {
    let read = [("live in ", "lives_in"), ("worked as a ", "works_as")].into_iter();
    read.filter_map(|(words, predicate)| Some((predicate, text.split_once(words)?.1, Stance::Holds))).collect()
}

/// Reads no wishes, and knows the past tense.
fn new(text: &str) -> Vec<(&'static str, &str, Stance)> {
    let read = [("I live in ", "lives_in", Stance::Holds), ("worked as a ", "works_as", Stance::Held)].into_iter();
    read.filter_map(|(words, predicate, stance)| Some((predicate, text.split_once(words)?.1, stance))).collect()
}

/// Reads a wish as such.
fn model(text: &str) -> Vec<(&'static str, &str, Stance)> {
    text.split_once("could live in ").map(|(_, place)| ("likes", place, Stance::Holds)).into_iter().collect()
}

/// A store and the clock of its engines.
struct Told {
    store: MemoryStore,
    clock: Arc<FixedClock>,
}

fn engine(told: &Told, id: &'static str, read: Read) -> Engine {
    let seed = id.bytes().map(u64::from).sum();
    TestEngine { extractor: Some(Arc::new(Rules { id, read })), clock: told.clock.clone(), ..TestEngine::new(seed) }
        .engine(Box::new(told.store.clone()))
}

fn say(engine: &Engine, text: &str) {
    remember(engine, &me(), &Utterance::of_user(text), &RememberOptions::default()).unwrap();
}

fn held(engine: &Engine) -> Vec<String> {
    let all = facts(engine, &me(), &FactOptions::default()).unwrap();
    let mut all: Vec<String> =
        all.into_iter().map(|shown| format!("{} {}", shown.fact.predicate, shown.fact.object)).collect();
    all.sort();
    all
}

fn told() -> Told {
    let told = Told { store: MemoryStore::new(), clock: Arc::new(FixedClock::new()) };
    let first = engine(&told, "rules/test/v1", old);
    say(&first, "I live in Porto");
    say(&first, "I could live in Rome");
    say(&first, "I worked as a nurse");
    assert_eq!(held(&first), ["lives_in Rome", "works_as nurse"]);
    told
}

#[test]
fn what_newer_rules_do_not_read_is_withdrawn_and_what_it_had_ended_holds_again() {
    // Given a memory that was read by older rules
    let store = told();
    let engine = engine(&store, "rules/test/v2", new);
    let before = core_at(&engine, &me(), When::Now).unwrap();
    let events = log(&engine, &me(), &ALL).unwrap().len();
    // When it is previewed
    let preview = preview_reread(&engine, &me()).unwrap();
    // Then nothing is recorded
    assert_eq!(log(&engine, &me(), &ALL).unwrap().len(), events);
    assert_eq!(held(&engine), ["lives_in Rome", "works_as nurse"]);
    assert_eq!((preview.sources, preview.difference.items.is_empty()), (3, false));
    // When it is read again
    let version = quipu_engine::status(&engine, &me()).unwrap().version;
    let done = reread(&engine, &me()).unwrap();
    // Then the memory is as previewed: the misread home is gone and the one before it is back, and the work is over
    assert_eq!(held(&engine), ["lives_in Porto"]);
    let texts = |all: &[quipu_core::reconcile::Outcome]| {
        all.iter().map(|one| format!("{}: {}", one.text, one.what)).collect::<Vec<_>>()
    };
    assert_eq!(texts(&done.understood.ended), texts(&preview.understood.ended));
    assert_eq!(texts(&done.understood.asserted), texts(&preview.understood.asserted));
    assert_eq!(core_at(&engine, &me(), When::Now).unwrap()["location"]["current"], json!("Porto"));
    assert!(verify(&engine, &me(), &[], &mut |_| {}).unwrap().ledger.is_intact());
    // And reading once more changes nothing
    let again = reread(&engine, &me()).unwrap();
    assert!(again.understood.is_empty(), "{again:?}");
    assert!(preview_reread(&engine, &me()).unwrap().difference.is_empty());
    // And it can be undone
    let since = quipu_engine::revert::Selection::Since(When::Seq(version));
    revert(&engine, &me(), &since, &Default::default(), &mut |_| {}).unwrap();
    assert_eq!(held(&engine), ["lives_in Rome", "works_as nurse"]);
    assert_eq!(core_at(&engine, &me(), When::Now).unwrap(), before);
}

#[test]
fn what_a_person_marked_or_rules_of_the_same_version_read_is_kept() {
    // Given a misread fact that the user has pinned
    let store = told();
    let engine = engine(&store, "rules/test/v2", new);
    let all = facts(&engine, &me(), &FactOptions::default()).unwrap();
    let home = all.iter().find(|shown| shown.fact.object == "Rome").unwrap().fact.id.to_string();
    mark(&engine, &me(), &home, Some(true), None).unwrap();
    // When the memory is read again
    reread(&engine, &me()).unwrap();
    // Then it stays
    assert_eq!(held(&engine), ["lives_in Rome"]);
    // Given a misread message from which another reader, such as a language model, recorded something too
    let store = told();
    reread(&self::engine(&store, "model/v1", model), &me()).unwrap();
    let later = self::engine(&store, "rules/test/v2", new);
    reread(&later, &me()).unwrap();
    // Then what the older rules read in it stays
    assert_eq!(held(&later), ["likes Rome", "lives_in Rome"]);
    // Given what the same version read
    let store = told();
    let same = self::engine(&store, "rules/test/v1", new);
    // Then nothing is withdrawn
    assert!(preview_reread(&same, &me()).unwrap().difference.is_empty());
}

#[test]
fn what_both_versions_read_of_somebody_named_by_a_relation_is_kept() {
    let told = Told { store: MemoryStore::new(), clock: Arc::new(FixedClock::new()) };
    let engine = |id: &str| {
        let rules = Arc::new(RuleExtractor::new(id, RULES_EN));
        TestEngine { extractor: Some(rules), clock: told.clock.clone(), ..TestEngine::new(id.len() as u64) }
            .engine(Box::new(told.store.clone()))
    };
    let first = engine("rules/en/v1");
    say(&first, "My mom's name is Ana.");
    say(&first, "My mom lives in Porto.");
    say(&first, "My sister lives in Lyon.");
    say(&first, "My sister's name is Inês.");
    let before = held(&first);
    assert!(
        before.contains(&"lives_in Porto".to_owned()) && before.contains(&"lives_in Lyon".to_owned()),
        "{before:?}"
    );
    let second = engine("rules/en/v10");
    // What was said before a name was known may be recorded of the name too.
    assert_eq!(reread(&second, &me()).unwrap().understood.ended, []);
    let now = held(&second);
    assert!(before.iter().all(|fact| now.contains(fact)), "{before:?} {now:?}");
}
