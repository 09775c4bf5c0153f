//! Consolidation in random histories: promotions and demotions match a naive fold of the events, whatever was
//! reverted, shown or repeated, and a reverted consolidation leaves no trace.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use quipu_core::event::Change;
use quipu_core::id::{ItemId, ItemKind, Seq};
use quipu_core::item::DerivedChange;
use quipu_engine::log::{EventStatus, LogOptions, log};
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::{EventRef, When};
use quipu_engine::{
    ConsolidateOptions, Engine, Error, FactOptions, RecallOptions, RememberOptions, Utterance, compact, diff, facts,
    flush_hits, fork, rebuild, recall, remember, revert, show, snapshot, status, tell_episodes,
};
use quipu_models::RuleExtractor;
use quipu_testkit::{MemoryStore, TestEngine, effort, seed};

use crate::quietly;
use crate::world::id;

/// 2026-01-01T08:00:00Z.
const START: i64 = 1_767_254_400_000_000;
const DAY: i64 = 86_400_000_000;
const ME: &str = "ana";
const SAID: [&str; 8] = [
    "I like jazz.",
    "I like chess.",
    "I visited Lisbon.",
    "I live in Porto.",
    "I live in Bergen.",
    "The bus was late again.",
    "We talked about the violin.",
    "I am allergic to peanuts.",
];

#[derive(Debug, Clone)]
enum Step {
    /// Two statements, one after the other.
    Say {
        days: u8,
        texts: [u8; 2],
    },
    /// A compaction after a number of days, reverted and restored.
    Grow {
        days: u8,
        taken_back: bool,
        brought_back: bool,
    },
    Ask {
        text: u8,
    },
    Revert {
        events: Vec<u8>,
    },
    Rebuild,
    Snapshot,
    Reopen,
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..20u8, any::<[u8; 2]>()).prop_map(|(days, texts)| Step::Say { days, texts }),
        4 => (0..120u8, any::<bool>(), any::<bool>())
            .prop_map(|(days, taken_back, brought_back)| Step::Grow { days, taken_back, brought_back }),
        2 => any::<u8>().prop_map(|text| Step::Ask { text }),
        3 => proptest::collection::vec(any::<u8>(), 1..3).prop_map(|events| Step::Revert { events }),
        1 => Just(Step::Rebuild),
        1 => Just(Step::Snapshot),
        1 => Just(Step::Reopen),
    ]
}

/// The state in effect, folded from the events without other knowledge.
#[derive(Debug, Default, PartialEq, Eq)]
struct Naive {
    there: BTreeSet<ItemId>,
    told: BTreeSet<ItemId>,
    hidden: BTreeSet<ItemId>,
    promoted: BTreeSet<ItemId>,
    out: BTreeSet<ItemId>,
}

impl Naive {
    fn of(engine: &Engine) -> Self {
        let all = LogOptions { before: None, limit: usize::MAX, reference: None };
        let mut entries = log(engine, &id(ME), &all).unwrap();
        entries.reverse();
        let mut naive = Self::default();
        for entry in entries.iter().filter(|entry| entry.standing == EventStatus::Counts) {
            for change in show(engine, &id(ME), EventRef::Seq(entry.seq)).unwrap().changes.into_iter().flatten() {
                naive.take(change);
            }
        }
        naive
    }

    fn take(&mut self, change: Change) {
        let Change::Drawn(drawn) = change else {
            if let Change::SourceRecorded(source) = change {
                self.there.insert(source.id);
            }
            return;
        };
        if let DerivedChange::EpisodeRecorded(episode) = &drawn {
            if episode.sources.iter().any(|turn| self.told.contains(turn)) {
                return;
            }
            self.told.extend(episode.sources.iter().copied());
        }
        self.there.extend(drawn.makes());
        match drawn {
            DerivedChange::ItemsDemoted { items, .. } => {
                self.out.extend(items.iter().filter(|item| self.there.contains(item)))
            }
            DerivedChange::FactPromoted { fact, .. } => self.promoted.extend([fact]),
            DerivedChange::HitsCounted { hits } => {
                self.out.retain(|item| !hits.iter().any(|shown| shown.item == *item))
            }
            DerivedChange::FactSeen { fact: item, .. } | DerivedChange::NoteSeconded { note: item, .. } => {
                self.out.retain(|out| *out != item);
            }
            DerivedChange::FactChanged(change) => self.out.retain(|out| *out != change.fact),
            DerivedChange::FactRestored { fact } => self.out.retain(|out| *out != fact),
            DerivedChange::TaskChanged(change) => self.out.retain(|out| *out != change.task),
            DerivedChange::ItemRetracted { item, .. } => self.hidden.extend([item]),
            DerivedChange::ItemsMerged { from, into } => {
                self.out.retain(|out| *out != into);
                self.hidden.extend(from);
            }
            _ => {}
        }
    }

    /// The number of items outside the active index.
    fn sleeping(&self) -> usize {
        self.out.difference(&self.hidden).count()
    }
}

struct Life {
    store: MemoryStore,
    rig: TestEngine,
    engine: Engine,
    day: i64,
    seen: BTreeMap<&'static str, usize>,
}

impl Life {
    fn new() -> Self {
        let store = MemoryStore::new();
        let rig = TestEngine { extractor: Some(Arc::new(RuleExtractor::english())), ..TestEngine::new(3) };
        let engine = rig.engine(Box::new(store.clone()));
        Self { store, rig, engine, day: 0, seen: BTreeMap::new() }
    }

    fn wait(&mut self, days: u8) {
        self.day += i64::from(days);
        self.rig.clock.put(START + self.day * DAY);
    }

    fn version(&self) -> Seq {
        status(&self.engine, &id(ME)).map_or(0, |status| status.version)
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Say { days, texts } => {
                self.wait(*days);
                for text in texts {
                    let session = Some(format!("day {}", self.day));
                    let said = Utterance { session, ..Utterance::of_user(SAID[usize::from(*text) % SAID.len()]) };
                    remember(&self.engine, &id(ME), &said, &RememberOptions::default()).unwrap();
                }
            }
            _ if self.version() == 0 => {}
            Step::Grow { days, taken_back, brought_back } => self.grow(*days, *taken_back, *brought_back),
            Step::Ask { text } => {
                let text = SAID[usize::from(*text) % SAID.len()];
                recall(&self.engine, &id(ME), &RecallOptions { k: 2, ..RecallOptions::of(text) }).unwrap();
                flush_hits(&self.engine, &id(ME)).unwrap();
            }
            Step::Revert { events } => {
                let head = self.version();
                let events = events.iter().map(|event| EventRef::Seq(Seq::from(*event) % head + 1)).collect();
                match self.revert(&Selection::Events(events)) {
                    Ok(_) | Err(Error::Refused(_)) => {}
                    Err(other) => panic!("{other:?}"),
                }
            }
            Step::Rebuild => assert!(rebuild(&self.engine, &id(ME), &mut |_| {}).unwrap().identical),
            Step::Snapshot => drop(snapshot(&self.engine, &id(ME)).unwrap()),
            Step::Reopen => self.engine = self.rig.engine(Box::new(self.store.clone())),
        }
        if self.version() > 0 {
            self.compare(&self.engine);
        }
    }

    fn revert(&self, selection: &Selection) -> Result<Seq, Error> {
        let done = revert(&self.engine, &id(ME), selection, &RevertOptions::default(), &mut |_| {});
        done.map(|(receipt, _)| receipt.seq)
    }

    fn grow(&mut self, days: u8, taken_back: bool, brought_back: bool) {
        self.wait(days);
        tell_episodes(&self.engine, &id(ME)).unwrap();
        let before = self.version();
        compact(&self.engine, &id(ME), &ConsolidateOptions::default()).unwrap();
        let grown = self.version();
        self.compare(&self.engine);
        if grown == before || !taken_back {
            return;
        }
        let back = self.revert(&Selection::Since(When::Seq(before))).unwrap();
        self.is_as_at(before);
        let again = compact(&self.engine, &id(ME), &ConsolidateOptions::default()).unwrap();
        assert!(again.grown.done.is_empty(), "what was taken back was done again: {:?}", again.grown.done);
        *self.seen.entry("taken back").or_default() += 1;
        if brought_back {
            self.revert(&Selection::Events(vec![EventRef::Seq(back)])).unwrap();
            self.is_as_at(grown);
            *self.seen.entry("brought back").or_default() += 1;
        }
    }

    /// Checks that nothing differs from an earlier version.
    fn is_as_at(&self, version: Seq) {
        let left = diff(&self.engine, &id(ME), When::Seq(version), When::Now).unwrap();
        assert!(left.is_empty(), "it is not as it was at {version}: {left:?}");
    }

    fn compare(&self, engine: &Engine) {
        let naive = Naive::of(engine);
        let index = status(engine, &id(ME)).unwrap().active_index;
        assert_eq!(index.items - index.active, naive.sleeping(), "out of the active index: {:?}", naive.out);
        let shown = facts(engine, &id(ME), &FactOptions { all: true, ..FactOptions::default() }).unwrap();
        for one in shown {
            assert_eq!(one.promoted, naive.promoted.contains(&one.fact.id), "{}", one.fact.text);
        }
    }

    /// Checks at the end that a restart and a copy agree with the memory.
    fn settle(&mut self) {
        if self.version() == 0 {
            return;
        }
        self.compare(&self.rig.engine(Box::new(self.store.clone())));
        assert!(rebuild(&self.engine, &id(ME), &mut |_| {}).unwrap().identical);
        let index = status(&self.engine, &id(ME)).unwrap().active_index;
        fork(&self.engine, &id(ME), &id("twin"), When::Now, &mut |_| {}).unwrap();
        assert_eq!(status(&self.engine, &id("twin")).unwrap().active_index, index);
        let naive = Naive::of(&self.engine);
        let stories = naive.out.iter().filter(|item| item.kind == ItemKind::Episode).count();
        for (what, count) in [("demoted", naive.out.len()), ("stories", stories), ("promoted", naive.promoted.len())] {
            *self.seen.entry(what).or_default() += count;
        }
    }
}

#[test]
fn what_grows_is_what_a_naive_fold_says_and_can_be_taken_back() {
    let (cases, seed) = (effort(48), seed());
    let config = Config {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed),
        max_shrink_iters: 20 * cases,
        ..Config::default()
    };
    let seen: RefCell<BTreeMap<&str, usize>> = RefCell::default();
    let steps = proptest::collection::vec(any_step(), 1..28);
    let outcome = TestRunner::new(config).run(&steps, |steps| {
        quietly(AssertUnwindSafe(|| {
            let mut life = Life::new();
            steps.iter().for_each(|step| life.take(step));
            life.settle();
            for (what, count) in life.seen {
                *seen.borrow_mut().entry(what).or_default() += count;
            }
        }))
    });
    println!("growing: {cases} histories, seed {seed}: {:?}", seen.borrow());
    if let Err(failure) = outcome {
        panic!("growing, seed {seed}: {failure}");
    }
    // A memory without consolidation would agree with a fold that finds none.
    for what in ["demoted", "stories", "promoted", "taken back", "brought back"] {
        assert!(seen.borrow().get(what).is_some_and(|count| *count > 0), "nothing was {what}: {:?}", seen.borrow());
    }
}
