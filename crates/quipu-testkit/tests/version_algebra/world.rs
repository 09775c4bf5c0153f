//! Executes each command on an engine and on the model, and compares the results.

use std::collections::BTreeMap;

use quipu_core::event::Change;
use quipu_core::id::UserId;
use quipu_engine::erase::EraseTarget;
use quipu_engine::log::{EventStatus, LogOptions, log};
use quipu_engine::ports::LedgerStore;
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::{EventRef, When};
use quipu_engine::{
    CoreEdit, Engine, Error, ListOptions, PatchOptions, PromoteRequest, Receipt, RememberOptions, Utterance, chosen,
    core_at, edit_core, erase, fork, list, mark, pick, promote, rebuild, remember, revert, show, snapshot, status,
    verify,
};
use quipu_testkit::TestEngine;

use crate::command::{Command, USERS};
use crate::model::{Event, Fact, Ledger, Seq};
use crate::tree::{Path, Tree};

const PATHS: [&[&str]; 12] = [
    &["uncategorized", "a"],
    &["uncategorized", "b", "c"],
    &["uncategorized", "b", "d"],
    &["uncategorized", "b"],
    &["uncategorized", "e", "f", "g"],
    &["uncategorized", "list", "-"],
    &["uncategorized", "list", "0"],
    &["location", "timezone"],
    &["uncategorized", "a", "x"],
    &["grownA", "a"],
    &["grownE", "e", "h"],
    &["grownE", "y"],
];

/// Members of `uncategorized` that are promoted, and the names of their categories.
const GROWN: [(&str, &str); 3] = [("a", "grownA"), ("e", "grownE"), ("list", "grownList")];

pub(crate) struct World<'a> {
    store: &'a dyn Fn() -> Box<dyn LedgerStore>,
    rig: TestEngine,
    pub(crate) engine: Engine,
    model: BTreeMap<&'static str, Ledger>,
    /// The pending hits of each user.
    pub(crate) shown: BTreeMap<&'static str, BTreeMap<String, u64>>,
    /// Counts of each outcome.
    pub(crate) seen: BTreeMap<&'static str, u64>,
}

pub(crate) fn id(name: &str) -> UserId {
    UserId::parse(name).unwrap()
}

fn kind(error: &Error) -> &'static str {
    match error {
        Error::Invalid(_) => "Invalid",
        Error::Refused(_) => "Refused",
        Error::NotFound(_) => "NotFound",
        other => panic!("not an answer to a command: {other:?}"),
    }
}

impl<'a> World<'a> {
    pub(crate) fn new(store: &'a dyn Fn() -> Box<dyn LedgerStore>) -> Self {
        let rig = TestEngine::new(1);
        let (model, shown, seen) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { store, engine: rig.engine(store()), rig, model, shown, seen }
    }

    pub(crate) fn live_through(&mut self, commands: &[Command]) {
        for (number, command) in commands.iter().enumerate() {
            self.take(command);
            let touched = USERS[usize::from(command.user())];
            self.compare_now(&self.engine, touched);
            let past = number as Seq * 7919 % (self.ledger(touched).head() + 1);
            self.compare_at(&self.engine, touched, past);
            if number % 5 == 4 {
                // The state after a restart: the newest valid snapshot and the events after it.
                self.compare_now(&self.rig.engine((self.store)()), touched);
            }
        }
        for user in USERS {
            self.settle(user);
        }
    }

    pub(crate) fn ledger(&self, user: &str) -> Ledger {
        self.model.get(user).cloned().unwrap_or_default()
    }

    fn note(&mut self, outcome: &'static str) {
        *self.seen.entry(outcome).or_default() += 1;
    }

    /// Compares a result with the model's expectation, and counts the outcome.
    pub(crate) fn expect<T: std::fmt::Debug>(
        &mut self,
        expected: Result<(), &'static str>,
        found: Result<T, Error>,
        doing: &dyn std::fmt::Debug,
    ) -> Option<T> {
        match (&expected, &found) {
            (Ok(()), Ok(_)) => self.note("done"),
            (Err(expected), Err(error)) if *expected == kind(error) => self.note(expected),
            _ => panic!("{doing:?}: expected {expected:?}, found {found:?}"),
        }
        found.ok()
    }

    fn append(&mut self, user: &'static str, receipt: &Receipt, fact: Fact) {
        let changes = fact.changes();
        self.append_event(user, receipt, Event { fact: Some(fact), session: None, key: None, changes });
    }

    pub(crate) fn append_event(&mut self, user: &'static str, receipt: &Receipt, event: Event) {
        let ledger = self.model.entry(user).or_default();
        ledger.0.push(event);
        assert_eq!((receipt.seq, receipt.replayed), (ledger.head(), false));
    }

    /// Positions from 1 to one past the head.
    fn positions(&self, user: &str, events: &[u8]) -> Vec<Seq> {
        let head = self.ledger(user).head();
        let mut seqs: Vec<Seq> =
            events.iter().map(|&event| Seq::from(event) % (head + u64::from(event % 16 == 0)).max(1) + 1).collect();
        seqs.sort_unstable();
        seqs.dedup();
        seqs
    }

    fn take(&mut self, command: &Command) {
        let user = USERS[usize::from(command.user())];
        // Reading an empty memory is not tested here.
        let started = self.ledger(user).head() > 0;
        match command {
            Command::Say { text, session, key, .. } => self.say(user, *text, *session, *key),
            Command::Set { path, value, .. } => self.set(user, *path, *value),
            Command::Reopen => {
                self.keep_hits();
                self.engine = self.rig.engine((self.store)());
            }
            _ if !started => {}
            Command::SetTruth { session, text, hard, .. } => self.set_truth(user, *session, *text, *hard),
            Command::UnsetTruth { session, place, .. } => self.unset_truth(user, *session, *place),
            Command::EndSession { session, .. } => self.end_session(user, *session),
            Command::Ask { text, .. } => self.ask(user, *text),
            Command::CountHits { .. } => self.count_hits(user),
            Command::Unset { path, .. } => self.unset(user, *path),
            Command::Promote { path, .. } => self.promote(user, *path),
            Command::Mark { event, pinned, rating, .. } => self.mark(user, *event, *pinned, *rating),
            Command::Revert { events, .. } => {
                let seqs = self.positions(user, events);
                self.revert(user, &Selection::Events(seqs.iter().map(|&seq| EventRef::Seq(seq)).collect()), &seqs);
            }
            Command::RevertSince { version, .. } => {
                let (ledger, version) = (self.ledger(user), Seq::from(*version) % (self.ledger(user).head() + 1));
                let seqs: Vec<Seq> = (version + 1..=ledger.head()).filter(|&seq| !ledger.is_permanent(seq)).collect();
                self.revert(user, &Selection::Since(When::Seq(version)), &seqs);
            }
            Command::RevertSession { session, .. } => {
                let (ledger, name) = (self.ledger(user), format!("session {session}"));
                let of = |seq: &Seq| ledger.event(*seq).is_some_and(|event| event.session.as_ref() == Some(&name));
                let seqs: Vec<Seq> = (1..=ledger.head()).filter(of).collect();
                self.revert(user, &Selection::Session(name.clone()), &seqs);
            }
            Command::Erase { events, .. } => self.erase(user, &self.positions(user, events)),
            Command::Pick { events, into, .. } => {
                self.pick(user, &self.positions(user, events), USERS[usize::from(*into)]);
            }
            Command::Fork { at, into, .. } => self.fork(user, Seq::from(*at), USERS[usize::from(*into)]),
            Command::Travel { version, .. } => {
                let version = Seq::from(*version) % (self.ledger(user).head() + 1);
                self.compare_at(&self.engine, user, version);
            }
            Command::Rebuild { .. } => {
                let rebuilt = rebuild(&self.engine, &id(user), &mut |_| {}).unwrap();
                assert!(rebuilt.identical, "the memory in use is not what the ledger says: {rebuilt:?}");
            }
            Command::Snapshot { .. } => {
                assert_eq!(snapshot(&self.engine, &id(user)).unwrap(), self.ledger(user).head());
            }
        }
    }

    fn say(&mut self, user: &'static str, text: u8, session: u8, key: Option<u8>) {
        // Few requests have keys, so that some are repeated.
        let (text, session) = if key.is_some() { (text % 2, 0) } else { (text % 8, session) };
        let text = format!("text {text}");
        let session = (session > 0).then(|| format!("session {session}"));
        let said = Utterance { session: session.clone(), ..Utterance::of_user(&text) };
        let key = key.map(|key| format!("key {key}"));
        let options = RememberOptions {
            idempotency_key: key.clone(),
            durable_only: text.ends_with('3'),
            ..RememberOptions::default()
        };
        let found = remember(&self.engine, &id(user), &said, &options);
        let request = format!("{text} in {session:?}");
        let ledger = self.ledger(user);
        if let Some((seq, earlier)) = key.as_ref().and_then(|key| ledger.key(key)) {
            if earlier != Some(request.as_str()) {
                self.expect(Err("Refused"), found, &said);
                return;
            }
            let receipt = self.expect(Ok(()), found, &said).unwrap();
            assert_eq!((receipt.seq, receipt.replayed), (seq, true));
            self.note("replayed");
            return;
        }
        let receipt = self.expect(Ok(()), found, &said).unwrap();
        let fact = Fact::Said { id: receipt.items[0].to_string(), text };
        self.append_event(
            user,
            &receipt,
            Event { fact: Some(fact), session, key: key.map(|key| (key, request)), changes: 1 },
        );
    }

    fn set(&mut self, user: &'static str, path: u8, value: u8) {
        let path = usize::from(path) % PATHS.len();
        let value = match (path, value % 4) {
            (3, n) => Tree::Map([("c".to_owned(), Tree::Number(n))].into()),
            (7, n @ 1..) => Tree::Word(["", "Lyon", "Porto", "Lima"][usize::from(n)].to_owned()),
            (_, n) => Tree::Number(n),
        };
        let path: Path = PATHS[path].to_vec();
        let edited = self.ledger(user).now().core.set(&path, value.clone());
        // A place is a text: the schema rejects the number.
        let valid = match path[0] {
            "location" => matches!(value, Tree::Word(_)),
            "uncategorized" => true,
            // A promoted category exists while its promotion is in effect.
            grown => self.ledger(user).now().grown.contains(grown),
        };
        let edit = CoreEdit::Set(format!("/{}", path.join("/")), value.json());
        let found = edit_core(&self.engine, &id(user), &edit, &PatchOptions::default());
        self.model.entry(user).or_default();
        let expected = edited.filter(|_| valid);
        if let Some(receipt) = self.expect(expected.as_ref().map(drop).ok_or("Refused"), found, &edit) {
            self.append(user, &receipt, Fact::Edited(expected.unwrap()));
        }
    }

    fn unset(&mut self, user: &'static str, path: u8) {
        let path: Path = PATHS[usize::from(path) % PATHS.len()].to_vec();
        let edited = self.ledger(user).now().core.unset(&path);
        let edit = CoreEdit::Unset(format!("/{}", path.join("/")));
        let found = edit_core(&self.engine, &id(user), &edit, &PatchOptions::default());
        if let Some(receipt) = self.expect(edited.as_ref().map(drop).ok_or("NotFound"), found, &edit) {
            self.append(user, &receipt, Fact::Edited(edited.unwrap()));
        }
    }

    fn promote(&mut self, user: &'static str, path: u8) {
        let (from, to) = GROWN[usize::from(path) % GROWN.len()];
        let state = self.ledger(user).now();
        let request = PromoteRequest {
            candidate: from.to_owned(),
            proposed_name: Some(to.to_owned()),
            ..PromoteRequest::default()
        };
        let found = promote(&self.engine, &id(user), &request);
        let expected = if state.core.at(&["uncategorized", from]).is_some() { Ok(()) } else { Err("NotFound") };
        let Some(done) = self.expect(expected, found, &request) else { return };
        let fact = Fact::Promoted(state.core.promotion(from, to));
        self.append(user, &done.receipt.unwrap(), fact);
        self.note("promoted");
    }

    fn mark(&mut self, user: &'static str, event: u8, pinned: Option<bool>, rating: Option<i8>) {
        let said: Vec<String> = self
            .ledger(user)
            .0
            .iter()
            .filter_map(|event| match &event.fact {
                Some(Fact::Said { id, .. }) => Some(id.clone()),
                _ => None,
            })
            .collect();
        let Some(item) = said.get(usize::from(event) % said.len().max(1)).cloned() else { return };
        let expected = if self.ledger(user).now().has(&item) { Ok(()) } else { Err("NotFound") };
        let found = mark(&self.engine, &id(user), &item, pinned, rating);
        if let Some(receipt) = self.expect(expected, found, &item) {
            self.append(user, &receipt, Fact::Marked { id: item, pinned, rating });
        }
    }

    fn revert(&mut self, user: &'static str, selection: &Selection, seqs: &[Seq]) {
        let ledger = self.ledger(user);
        let skipped = ledger.now().skipped;
        let expected = if seqs.is_empty() || seqs.iter().any(|&seq| seq > ledger.head()) {
            Err("NotFound")
        } else if seqs.iter().any(|&seq| ledger.is_permanent(seq)) || seqs.iter().all(|seq| skipped.contains(seq)) {
            Err("Refused")
        } else {
            Ok(())
        };
        let found = revert(&self.engine, &id(user), selection, &RevertOptions::default(), &mut |_| {});
        let Some((receipt, _)) = self.expect(expected, found, selection) else { return };
        let recorded = show(&self.engine, &id(user), EventRef::Seq(receipt.seq)).unwrap();
        let [Some(Change::Reverted { events })] = recorded.changes.as_slice() else {
            panic!("not a revert: {recorded:?}")
        };
        assert!(events.iter().all(|event| seqs.contains(event)), "{events:?} were reverted, {seqs:?} were meant");
        self.append(user, &receipt, Fact::Reverted(events.clone()));
        let after = self.ledger(user).now().skipped;
        let left: Vec<&Seq> = seqs.iter().filter(|seq| !after.contains(seq)).collect();
        assert!(left.is_empty(), "{left:?} still count after {seqs:?} were reverted by naming {events:?}");
    }

    fn erase(&mut self, user: &'static str, seqs: &[Seq]) {
        let ledger = self.ledger(user);
        let present: Vec<Seq> =
            seqs.iter().copied().filter(|&seq| ledger.event(seq).is_some_and(|event| event.fact.is_some())).collect();
        let control = |seq: &Seq| {
            matches!(ledger.event(*seq).map(|event| &event.fact), Some(Some(Fact::Reverted(_) | Fact::Permanent)))
        };
        let expected = if seqs.iter().any(|&seq| seq > ledger.head()) || present.is_empty() {
            Err("NotFound")
        } else if present.iter().any(control) {
            Err("Refused")
        } else {
            Ok(())
        };
        let targets: Vec<EraseTarget> = seqs.iter().map(|&seq| EraseTarget::Event(seq)).collect();
        let before = ledger.now().orphans;
        let found = erase(&self.engine, &id(user), &targets, "asked to", &mut |_| {});
        let Some(receipt) = self.expect(expected, found, &targets) else { return };
        let ledger = self.model.entry(user).or_default();
        ledger.erase(&present);
        ledger.0.push(Event { fact: Some(Fact::Permanent), session: None, key: None, changes: 1 });
        assert_eq!(receipt.event_seq, ledger.head());
        let fresh: Vec<Seq> = ledger.now().orphans.into_iter().filter(|seq| !before.contains(seq)).collect();
        assert_eq!(receipt.orphans_new.iter().map(|orphan| orphan.seq).collect::<Vec<_>>(), fresh);
        self.note("erased");
    }

    fn pick(&mut self, user: &'static str, seqs: &[Seq], into: &'static str) {
        let from = self.ledger(user);
        let expected = if seqs.iter().any(|&seq| seq > from.head()) { Err("NotFound") } else { Ok(()) };
        let events: Vec<EventRef> = seqs.iter().map(|&seq| EventRef::Seq(seq)).collect();
        let found = chosen(&self.engine, &id(user), &events)
            .and_then(|events| pick(&self.engine, &events, &id(into), &mut |_| {}));
        let Some(picked) = self.expect(expected, found, &events) else { return };
        let mut left_out = Vec::new();
        let target = self.model.entry(into).or_default();
        for &seq in seqs {
            let event = from.event(seq).unwrap();
            let state = &mut target.now();
            let applies = match &event.fact {
                None | Some(Fact::Reverted(_) | Fact::Permanent) => false,
                Some(fact) => {
                    let was_valid = state.is_valid();
                    state.take(fact, event.session.as_ref(), 0) && (state.is_valid() || !was_valid)
                }
            };
            if applies { target.0.push(Event { key: None, ..event.clone() }) } else { left_out.push(seq) }
        }
        let head = target.head();
        assert_eq!(picked.left_out.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(), left_out);
        assert_eq!(picked.receipts.len() + left_out.len(), seqs.len());
        assert!(picked.receipts.last().is_none_or(|receipt| receipt.seq == head));
        if !left_out.is_empty() {
            self.note("left out");
        }
        if head > 0 {
            self.compare_now(&self.engine, into);
        }
    }

    fn fork(&mut self, user: &'static str, at: Seq, into: &'static str) {
        let from = self.ledger(user);
        let at = at % (from.head() + u64::from(at.is_multiple_of(16)) + 1);
        let taken = self.model.get(into).map(Ledger::head);
        let expected = match taken {
            _ if user == into => Err("Invalid"),
            _ if at > from.head() => Err("NotFound"),
            Some(0) => return,
            Some(_) => Err("Refused"),
            None => Ok(()),
        };
        let found = fork(&self.engine, &id(user), &id(into), When::Seq(at), &mut |_| {});
        let Some(receipt) = self.expect(expected, found, &(user, at, into)) else { return };
        let mut events = from.0[..at as usize].to_vec();
        // An event of its own records its origin, and what was erased of its past.
        events
            .resize(receipt.seq as usize, Event { fact: Some(Fact::Permanent), session: None, key: None, changes: 1 });
        self.model.insert(into, Ledger(events));
        self.compare_now(&self.engine, into);
        let report = verify(&self.engine, &id(into), &[], &mut |_| {}).unwrap();
        assert!(report.is_intact(), "a fork of {user} at {at} is not intact: {:?}", report.ledger.damage);
    }

    fn compare_now(&self, engine: &Engine, user: &str) {
        let ledger = self.ledger(user);
        if ledger.head() == 0 {
            return;
        }
        self.compare_at(engine, user, ledger.head());
        let state = ledger.now();
        let status = status(engine, &id(user)).unwrap();
        let erased = ledger.0.iter().filter(|event| event.fact.is_none()).map(|event| event.changes).sum();
        assert_eq!(
            (status.version, status.orphans, status.reverted, status.erased, status.items),
            (ledger.head(), state.orphans.len(), state.skipped.len(), erased, state.items.len()),
            "status of {user}"
        );
        let mut entries =
            log(engine, &id(user), &LogOptions { before: None, limit: usize::MAX, reference: None }).unwrap();
        entries.reverse();
        let expected: Vec<EventStatus> = (1..=ledger.head())
            .map(|seq| match seq {
                seq if state.skipped.contains(&seq) => EventStatus::Reverted,
                seq if state.orphans.contains(&seq) => EventStatus::Orphaned,
                _ => EventStatus::Counts,
            })
            .collect();
        assert_eq!(
            entries.iter().map(|entry| entry.standing).collect::<Vec<_>>(),
            expected,
            "standing of the events of {user}"
        );
    }

    fn compare_at(&self, engine: &Engine, user: &str, version: Seq) {
        let ledger = self.ledger(user);
        if ledger.head() == 0 {
            return;
        }
        let state = ledger.at(version);
        let at = When::Seq(version);
        let all = ListOptions { at, session: None, kind: None, offset: 0, limit: usize::MAX };
        let found: Vec<_> = list(engine, &id(user), &all)
            .unwrap()
            .items
            .into_iter()
            .map(|item| {
                (
                    (item.id.to_string(), item.text, item.session_id, item.event_seq),
                    (item.marks.pinned, item.marks.rating, item.hits.hits),
                )
            })
            .collect();
        let marks = |id: &String| {
            let (pinned, rating) = state.marks.get(id).copied().unwrap_or_default();
            (pinned, rating, state.hits.get(id).copied().unwrap_or_default())
        };
        let expected: Vec<_> = state.items.iter().map(|item| (item.clone(), marks(&item.0))).collect();
        assert_eq!(found, expected, "items of {user} at {version}");
        self.compare_sessions(engine, user, version, &state);
        let mut core = core_at(engine, &id(user), at).unwrap();
        let meta = core.as_object_mut().unwrap().remove("_meta").unwrap();
        assert_eq!(core, state.core.json(), "core document of {user} at {version}");
        assert_eq!(meta["version"], state.core_seq, "version of the core document of {user} at {version}");
    }

    /// Checks at the end of a history: every version, the verification, and a rebuild.
    fn settle(&mut self, user: &'static str) {
        let ledger = self.ledger(user);
        if ledger.head() == 0 {
            return;
        }
        let report = verify(&self.engine, &id(user), &[], &mut |_| {}).unwrap();
        assert!(report.is_intact(), "{user}: {report:?}");
        for version in 0..=ledger.head() {
            self.compare_at(&self.engine, user, version);
        }
        let rebuilt = rebuild(&self.engine, &id(user), &mut |_| {}).unwrap();
        assert!(rebuilt.identical, "{user}: {rebuilt:?}");
        self.compare_now(&self.engine, user);
        let state = ledger.now();
        for (outcome, some) in [("orphan", !state.orphans.is_empty()), ("skipped", !state.skipped.is_empty())] {
            if some {
                self.note(outcome);
            }
        }
    }
}
