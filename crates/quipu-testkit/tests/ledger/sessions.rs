//! Random sequences of messages, refusals, reverts, erasures and consolidations in sessions: hard exceptions are in
//! every context, every entry has a source, nothing erased remains, and a replay gives identical bytes.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::collections::BTreeSet;
use std::sync::Arc;

use quipu_core::event::Actor;
use quipu_core::id::UserId;
use quipu_core::item::TruthKind;
use quipu_core::source::Role;
use quipu_engine::erase::EraseTarget;
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::{EventRef, When};
use quipu_engine::{
    Engine, Error, ListOptions, RememberOptions, SessionContextOptions, SummarizeOptions, Utterance, consolidate,
    end_session, erase, list, rebuild, remember, revert, session, session_context, session_snapshots, sessions,
    set_base_truth, show, status, summarize, unset_base_truth, verify,
};
use quipu_testkit::{MemoryStore, Rng, ScriptedAnswer, ScriptedSummarizer, TestEngine, effort};
use serde_json::json;

const SAID: [&str; 14] = [
    "Never take a bus.",
    "Let's go with Lisbon. At most two bags.",
    "Budget: 900 euros",
    "Budget: 800 euros",
    "We use trains, and cannot fly.",
    "We no longer use trains.",
    "I prefer windows over aisles.",
    "Forget about Lisbon, it must be Porto.",
    "We still need to book the hotel in Porto.",
    "Open question: who feeds the cat?",
    "Thanks!",
    "Never mind the budget.",
    "At most two bags.",
    "At most two bags for the whole journey to the coast.",
];

fn me() -> UserId {
    UserId::parse("me").unwrap()
}

fn allowed<T>(outcome: Result<T, Error>) -> Option<T> {
    match outcome {
        Ok(done) => Some(done),
        Err(Error::NotFound(_) | Error::Refused(_) | Error::Invalid(_)) => None,
        Err(other) => panic!("{other:?}"),
    }
}

struct World {
    engine: Engine,
    rig: TestEngine,
    store: MemoryStore,
    script: Arc<ScriptedSummarizer>,
    dice: Rng,
    canaries: u32,
    erased: Vec<String>,
    /// The outcomes that occurred.
    seen: BTreeSet<&'static str>,
}

impl World {
    fn new(seed: u64) -> Self {
        let script = Arc::new(ScriptedSummarizer::default());
        let rig = TestEngine { summarizer: Some(script.clone()), ..TestEngine::new(seed) };
        let store = MemoryStore::new();
        let engine = rig.engine(Box::new(store.clone()));
        Self {
            engine,
            rig,
            store,
            script,
            dice: Rng::new(seed),
            canaries: 0,
            erased: Vec::new(),
            seen: BTreeSet::new(),
        }
    }

    fn session(&mut self) -> String {
        ["one", "two"][self.dice.below(2)].to_owned()
    }

    fn step(&mut self) {
        let head = status(&self.engine, &me()).map_or(0, |status| status.version);
        let session = self.session();
        match self.dice.below(26) {
            0..12 => {
                let role = [Role::User, Role::User, Role::Assistant, Role::Tool][self.dice.below(4)];
                self.canaries += 1;
                let text = format!("{} Canary{} sings.", SAID[self.dice.below(SAID.len())], self.canaries);
                let options = RememberOptions { durable_only: self.dice.once_in(6), ..RememberOptions::default() };
                let said = Utterance { role, session: Some(session), ..Utterance::of_user(text) };
                remember(&self.engine, &me(), &said, &options).unwrap();
            }
            12 => self.script.will([ScriptedAnswer::Late]),
            13 => self.script.will([ScriptedAnswer::Garbled, ScriptedAnswer::Garbled]),
            14 => {
                // Arbitrary proposals of a model, including words of other turns.
                let known = allowed(quipu_engine::session(&self.engine, &me(), &session, When::Now));
                let texts: Vec<String> =
                    known.into_iter().flat_map(|state| state.base_truth).map(|truth| truth.text).collect();
                let strange = format!("Canary{} and Zanzibar", self.canaries);
                let diff = json!({"add": [strange, SAID[0]], "update": texts, "remove": texts});
                let proposal =
                    json!({"user_summary": strange, "assistant_summary": texts.join(" "), "base_truth_diff": diff});
                self.script.will([ScriptedAnswer::Says(serde_json::from_value(proposal).unwrap())]);
            }
            15 => {
                let kind = [TruthKind::Exception, TruthKind::Goal][self.dice.below(2)];
                let text = ["Never say boo.", "Be on time."][self.dice.below(2)];
                allowed(set_base_truth(&self.engine, &me(), &session, (kind, text), Actor::User));
            }
            16 => {
                let text = "Never say boo.";
                allowed(unset_base_truth(&self.engine, &me(), &session, text, Actor::User));
            }
            17 | 24 | 25 => drop(allowed(consolidate(&self.engine, &me(), &session))),
            18 => drop(allowed(end_session(&self.engine, &me(), &session))),
            19 => {
                let again = self.dice.once_in(2);
                allowed(summarize(&self.engine, &me(), &SummarizeOptions { session: None, again }));
            }
            20 | 21 => {
                let selection =
                    Selection::Events(vec![EventRef::Seq(1 + self.dice.below(head.max(1) as usize) as u64)]);
                allowed(revert(&self.engine, &me(), &selection, &RevertOptions::default(), &mut |_| {}));
            }
            22 => self.erase_a_turn(),
            _ => self.engine = self.rig.engine(Box::new(self.store.clone())),
        }
    }

    fn erase_a_turn(&mut self) {
        let all = ListOptions { at: When::Now, session: None, kind: None, offset: 0, limit: 999 };
        let Some(page) = allowed(list(&self.engine, &me(), &all)).filter(|page| !page.items.is_empty()) else { return };
        let item = &page.items[self.dice.below(page.items.len())];
        let canary = item.text.split_whitespace().find(|word| word.starts_with("Canary")).unwrap().to_owned();
        if allowed(erase(&self.engine, &me(), &[EraseTarget::Item(item.id)], "asked to", &mut |_| {})).is_some() {
            self.erased.push(format!("{canary} "));
        }
    }

    /// Records the situations that occur, so that the test can check that all of them did.
    fn note(&mut self) {
        let Some(status) = allowed(status(&self.engine, &me())) else { return };
        let mut saw = |what, it: bool| self.seen.extend(it.then_some(what));
        saw("an orphan", status.orphans > 0);
        for one in sessions(&self.engine, &me(), When::Now).unwrap() {
            let state = session(&self.engine, &me(), &one.session_id, When::Now).unwrap();
            let any = |kind| state.base_truth.iter().any(|truth| truth.kind == kind && !truth.by_hand);
            saw("an exception", any(TruthKind::Exception));
            saw("a decision", any(TruthKind::Decision));
            saw("a merge", state.base_truth.iter().any(|truth| truth.turn.is_none() && !truth.by_hand));
            saw("an update", state.base_truth.iter().any(|truth| truth.text.starts_with("Budget: 800")));
            saw("raw words", state.turn_log.iter().any(|turn| turn.raw));
            saw("a flag", !state.unsummarized.is_empty());
            saw("a refusal", state.turn_log.iter().any(|turn| !turn.refused.is_empty()));
            saw("a snapshot", state.snapshots > 0);
            saw("an end", state.is_over);
        }
    }

    fn check(&self, told: &str) {
        let Some(all) = allowed(sessions(&self.engine, &me(), When::Now)) else { return };
        let fresh = self.rig.engine(Box::new(self.store.clone()));
        for one in all {
            let name = one.session_id.as_str();
            let state = session(&self.engine, &me(), name, When::Now).unwrap();
            let shown = serde_json::to_string(&state).unwrap();
            assert_eq!(
                shown,
                serde_json::to_string(&session(&fresh, &me(), name, When::Now).unwrap()).unwrap(),
                "{told}"
            );
            for truth in &state.base_truth {
                let grounded = truth.by_hand || !truth.evidence.is_empty();
                assert!(grounded && !truth.text.contains("Zanzibar"), "{told}: {truth:?}");
                let own = truth.trust == quipu_core::event::Trust::User;
                assert!(own || !truth.kind.binds(), "{told}: {truth:?}");
            }
            let mut numbers: Vec<u32> = state.turn_log.iter().map(|turn| turn.turn).collect();
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(numbers.len(), state.turn_log.len(), "{told}: a number names two turns");
            let options = SessionContextOptions { max_tokens: 300, ..SessionContextOptions::of(name) };
            let context = session_context(&self.engine, &me(), &options).unwrap();
            for hard in state.base_truth.iter().filter(|truth| truth.kind == TruthKind::Exception) {
                assert!(
                    context.citations.contains(&hard.id) && context.text.contains(&format!("- {}\n", hard.text)),
                    "{told}: {} is not in {}",
                    hard.text,
                    context.text
                );
            }
            let kept = serde_json::to_string(&session_snapshots(&self.engine, &me(), name).unwrap()).unwrap();
            for canary in &self.erased {
                for text in [&shown, &context.text, &kept] {
                    assert!(!format!("{text} ").contains(canary.as_str()), "{told}: {canary} is left in {text}");
                }
            }
        }
    }

    fn settle(&self, told: &str) {
        let Some(status) = allowed(status(&self.engine, &me())) else { return };
        assert!(rebuild(&self.engine, &me(), &mut |_| {}).unwrap().identical, "{told}");
        self.check(told);
        assert!(verify(&self.engine, &me(), &[], &mut |_| {}).unwrap().is_intact(), "{told}");
        for seq in 1..=status.version {
            let event = format!("{:?} ", show(&self.engine, &me(), EventRef::Seq(seq)).unwrap());
            for canary in &self.erased {
                assert!(!event.contains(canary.as_str()), "{told}: {canary} is left in {event}");
            }
        }
    }
}

#[test]
fn sessions_hold_together_whatever_happens() {
    let mut seen = BTreeSet::new();
    for seed in 0..u64::from(effort(40)) {
        let mut world = World::new(seed);
        for number in 0..40 {
            world.step();
            world.note();
            world.check(&format!("seed {seed}, step {number}"));
        }
        world.settle(&format!("seed {seed}"));
        seen.extend(world.seen);
    }
    let all = [
        "a decision",
        "a flag",
        "a merge",
        "a refusal",
        "a snapshot",
        "an end",
        "an exception",
        "an orphan",
        "an update",
        "raw words",
    ];
    assert_eq!(seen, all.into_iter().collect(), "what came about");
}
