//! What must hold after each step, and at the end of a life.

use std::collections::BTreeSet;
use std::sync::Arc;

use quipu_core::id::ItemKind;
use quipu_core::ledger;
use quipu_engine::ports::Clock;
use quipu_engine::versions::When;
use quipu_engine::{
    Budget, Engine, FactOptions, ListOptions, RememberOptions, Until, Utterance, core_at, episodes, facts, list, notes,
    process, rebuild, remember, status, tasks, verify,
};
use quipu_testkit::{FixedClock, MemoryStore};

use crate::models::{LIE, Models};
use crate::schedule::{PLAIN, USERS};
use crate::store::Calls;
use crate::world::{World, engine, id, prefix};

/// Lower-case start of every word.
const START: &str = "zuq";

/// Every word in a text or in bytes, in lower case.
pub(crate) fn words_in(bytes: &[u8]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(bytes).to_ascii_lowercase();
    let starts = text.match_indices(START).map(|(at, _)| &text[at..]);
    let ends = |rest: &str| rest.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(rest.len());
    starts.map(|rest| rest[..ends(rest)].to_owned()).collect()
}

/// What was said, as an engine lists it: id, text and event.
fn listed(engine: &Engine, user: usize, at: When) -> Vec<(String, String, u64)> {
    let options = ListOptions { at, session: None, kind: None, offset: 0, limit: 1000 };
    let page = list(engine, &id(user), &options).unwrap();
    let turns = page.items.into_iter().filter(|item| item.kind == ItemKind::Turn);
    turns.map(|item| (item.id.to_string(), item.text, item.event_seq)).collect()
}

/// Everything that follows from what was said, as an engine shows it.
fn derived(engine: &Engine, user: usize) -> String {
    let id = &id(user);
    let options = FactOptions { all: true, ..FactOptions::default() };
    let parts = [
        serde_json::to_string(&facts(engine, id, &options).unwrap()),
        serde_json::to_string(&episodes(engine, id, None).unwrap()),
        serde_json::to_string(&tasks(engine, id, None, true).unwrap()),
        serde_json::to_string(&notes(engine, id, None).unwrap()),
        serde_json::to_string(&core_at(engine, id, When::Now).unwrap()),
    ];
    parts.map(Result::unwrap).join("\n")
}

impl World<'_> {
    /// Compares what a user's memory shows with the model, by the acting process and by one that nothing happens to.
    pub(crate) fn check_view(&mut self, user: usize, process: usize) {
        let head = self.ledger(user).head();
        if head == 0 {
            return;
        }
        let past = self.dice(head).below(head as usize + 1) as u64;
        let erased = self.ledger(user).erased.clone();
        let mut shown = None;
        for engine in [None, self.engine_of(process)] {
            let (engine, by) = match &engine {
                Some(engine) => (engine.as_ref(), "the process"),
                None if shown.is_none() => (&self.observer, "another process"),
                None => continue,
            };
            for version in [head, past] {
                let at = if version == head { When::Now } else { When::Seq(version) };
                let found = listed(engine, user, at);
                let live = self.ledgers[&user].live(version);
                let live: Vec<_> =
                    live.into_iter().map(|(seq, said)| (said.item.to_string(), said.text.clone(), seq)).collect();
                assert_eq!(found, live, "{by} shows at version {version} of {head} what the model does not");
            }
            let view = derived(engine, user);
            no_foreign_words(&view, user, &erased);
            let held = facts(engine, &id(user), &FactOptions::default()).unwrap();
            let invented = held.iter().find(|shown| shown.fact.text.contains(LIE) || shown.fact.object.contains(LIE));
            assert!(invented.is_none(), "{invented:?} holds, and was invented by a model");
            match &shown {
                None => shown = Some(view),
                Some(shown) => assert_eq!(&view, shown, "two processes show different things"),
            }
        }
    }

    /// Ends all processes, and looks at everything that is stored. `contents` are the bytes of the store.
    pub(crate) fn check_end(&mut self, contents: &dyn Fn() -> Vec<Vec<u8>>) {
        self.stop();
        for (user, name) in USERS.iter().enumerate() {
            if self.ledger(user).head() == 0 {
                continue;
            }
            let report = verify(&self.observer, &id(user), &[], &mut |_| {}).unwrap();
            assert!(report.is_intact(), "{name}: {report:?}");
            let before = derived(&self.observer, user);
            let rebuilt = rebuild(&self.observer, &id(user), &mut |_| {}).unwrap();
            assert!(rebuilt.identical, "{name}: the memory in use is not what the ledger says");
            let models = Models::new(Arc::clone(&self.rules), Calls::default(), Arc::clone(&self.clock));
            let fresh = engine(&self.clock, !self.seed, &models, (self.store)());
            assert_eq!(derived(&fresh, user), before, "{name}: a restart changes what is shown");
            // Also completes what an interrupted erasure left.
            status(&fresh, &id(user)).unwrap();
        }
        self.check_facts();
        self.check_contents(&contents());
    }

    /// No stored byte tells what was erased or deleted.
    pub(crate) fn check_contents(&mut self, contents: &[Vec<u8>]) {
        let stored: BTreeSet<String> = contents.iter().flat_map(|bytes| words_in(bytes)).collect();
        let mut kept = 0;
        for ledger in self.ledgers.values() {
            let held: BTreeSet<String> = ledger.erased.iter().map(|word| word.to_ascii_lowercase()).collect();
            let left: Vec<_> = held.intersection(&stored).collect();
            assert!(left.is_empty(), "the store holds {left:?} after their erasure");
            let live = ledger.live(ledger.head());
            kept += live.iter().filter(|(_, said)| stored.contains(&said.word.to_ascii_lowercase())).count();
        }
        *self.seen.entry("words found in the store".to_owned()).or_default() += kept as u64;
    }

    /// The facts of the user whose history was never changed are those of an undisturbed memory that was told the same.
    fn check_facts(&mut self) {
        if self.ledger(PLAIN).head() == 0 {
            return;
        }
        assert!(!self.ledger(PLAIN).is_edited);
        process(&self.observer, &id(PLAIN), Until::Everything, &Budget::default()).unwrap();
        let clock = Arc::new(FixedClock::starting(0, 0));
        let models = Models::new(Arc::clone(&self.rules), Calls::default(), Arc::clone(&clock));
        let calm = engine(&clock, 1, &models, Box::new(MemoryStore::new()));
        for sealed in self.stored(PLAIN) {
            let event = ledger::open(&sealed).unwrap();
            for change in event.changes.into_iter().flatten() {
                let quipu_core::event::Change::SourceRecorded(source) = change else { continue };
                clock.put(sealed.recorded_at_micros);
                let said = Utterance::of_user(source.text.to_string());
                remember(&calm, &id(PLAIN), &said, &RememberOptions::default()).unwrap();
            }
        }
        clock.put(self.clock.now().as_microsecond());
        process(&calm, &id(PLAIN), Until::Everything, &Budget::default()).unwrap();
        let known = |engine: &Engine| -> Vec<String> {
            let options = FactOptions { all: true, ..FactOptions::default() };
            let all = facts(engine, &id(PLAIN), &options).unwrap().into_iter();
            // What does not occur in the text it was read from is kept aside, and holds nowhere.
            let mut all: Vec<String> = all
                .filter(|shown| !shown.fact.object.starts_with(LIE))
                .map(|shown| {
                    let fact = shown.fact;
                    format!("{} {} {}, {:?}", fact.subject, fact.predicate, fact.object, fact.status)
                })
                .collect();
            all.sort();
            all
        };
        let (known, expected) = (known(&self.observer), known(&calm));
        *self.seen.entry("facts known".to_owned()).or_default() += expected.len() as u64;
        assert_eq!(known, expected, "the facts are not those of an undisturbed memory that was told the same");
    }
}

/// A user's memory shows no word of another user, and none that was erased.
fn no_foreign_words(view: &str, user: usize, erased: &BTreeSet<String>) {
    let own = prefix(user).to_ascii_lowercase();
    for word in words_in(view.as_bytes()) {
        // A quotation may end within a word.
        if word.starts_with(&LIE.to_ascii_lowercase()) || own.starts_with(&word) {
            continue;
        }
        assert!(word.starts_with(&own), "{word} is shown to {}, who never said it", USERS[user]);
        let is_erased = erased.iter().any(|erased| erased.eq_ignore_ascii_case(&word));
        assert!(!is_erased, "{word} is shown after its erasure");
    }
}
