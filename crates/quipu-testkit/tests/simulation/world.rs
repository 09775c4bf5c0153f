//! The world of one life: a store, processes over it, and the plain model of each user.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use quipu_core::id::UserId;
use quipu_engine::ports::{Clock, LedgerStore, StoreError};
use quipu_engine::{Engine, Error, FactOptions, facts};
use quipu_models::RuleExtractor;
use quipu_testkit::{FixedClock, Rng, SeededEntropy, TestEngine};

use crate::action::{Action, Done, Outcome};
use crate::model::{Allowed, Ledger, Sent};
use crate::models::{LIE, Models};
use crate::schedule::{Act, Fault, PROCESSES, Step, USERS, What};
use crate::store::{Calls, Died, Planted, ProcessStore};

/// Sentences, each with a place for a word. Rules read something in all but the last.
const SENTENCES: [&str; 7] = [
    "I live in {}.",
    "I work at {}.",
    "My sister {} called me.",
    "I like {} tea.",
    "I never eat {}.",
    "I have to call {} tomorrow.",
    "Nothing much today, only {} again.",
];
/// Idempotency keys of a user, few enough that they are used again.
const KEYS: usize = 5;

/// Opens the store of all processes.
pub(crate) type OpenStore<'a> = &'a (dyn Fn() -> Box<dyn LedgerStore> + Sync);

/// A process: an engine, while it runs, and what happens to its calls.
struct Process {
    engine: Option<Arc<Engine>>,
    calls: Calls,
    models: Models,
    /// How often it was started.
    starts: u64,
}

/// What else happened to a user in the step of an action.
struct Around {
    /// Nothing else did.
    is_alone: bool,
    /// The user was to be deleted.
    deletes: bool,
    /// The version before the step.
    before: u64,
}

pub(crate) struct World<'a> {
    pub(crate) store: OpenStore<'a>,
    pub(crate) seed: u64,
    planted: Option<Planted>,
    pub(crate) clock: Arc<FixedClock>,
    pub(crate) rules: Arc<RuleExtractor>,
    processes: Vec<Process>,
    /// An engine that nothing happens to.
    pub(crate) observer: Engine,
    pub(crate) ledgers: BTreeMap<usize, Ledger>,
    words: usize,
    /// Number of each outcome.
    pub(crate) seen: BTreeMap<String, u64>,
}

/// The user with this number.
pub(crate) fn id(user: usize) -> UserId {
    UserId::parse(USERS[user]).unwrap()
}

/// The start of every word that a user says.
pub(crate) fn prefix(user: usize) -> String {
    format!("Zuq{}", ["ba", "ce", "di", "fo"][user])
}

/// A word of one text: a prefix of the user, a number in syllables, and an end that no stemmer removes.
fn word(user: usize, mut number: usize) -> String {
    const SYLLABLES: [&str; 16] =
        ["ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "va"];
    let mut word = prefix(user);
    for _ in 0..3 {
        word.push_str(SYLLABLES[number % SYLLABLES.len()]);
        number /= SYLLABLES.len();
    }
    word.push('k');
    word
}

impl<'a> World<'a> {
    pub(crate) fn new(store: OpenStore<'a>, rules: &Arc<RuleExtractor>, seed: u64, planted: Option<Planted>) -> Self {
        // The clock stands still during a step, unless a model is slow.
        let clock = Arc::new(FixedClock::starting(1_767_225_600_000_000, 0));
        let processes = (0..PROCESSES).map(|_| {
            let calls = Calls::default();
            let models = Models::new(Arc::clone(rules), calls.clone(), Arc::clone(&clock));
            Process { engine: None, calls, models, starts: 0 }
        });
        let processes = processes.collect();
        let calm = Models::new(Arc::clone(rules), Calls::default(), Arc::clone(&clock));
        let observer = engine(&clock, seed ^ 0xfeed, &calm, store());
        let (clock, rules) = (Arc::clone(&clock), Arc::clone(rules));
        let (ledgers, seen) = (BTreeMap::new(), BTreeMap::new());
        Self { store, seed, planted, clock, rules, processes, observer, ledgers, words: 0, seen }
    }

    pub(crate) fn note(&mut self, outcome: impl Into<String>) {
        *self.seen.entry(outcome.into()).or_default() += 1;
    }

    pub(crate) fn ledger(&mut self, user: usize) -> &mut Ledger {
        self.ledgers.entry(user).or_default()
    }

    /// The engine of a process, which is started if it does not run.
    fn running(&mut self, process: usize) -> Arc<Engine> {
        let (store, planted, seed) = (self.store, self.planted, self.seed);
        let clock = Arc::clone(&self.clock);
        let process_of = &mut self.processes[process];
        let (calls, models) = (process_of.calls.clone(), process_of.models.clone());
        if process_of.engine.is_none() {
            process_of.starts += 1;
            calls.begin(None, None);
            let store = Box::new(ProcessStore { inner: store(), calls, planted });
            let seed = seed ^ ((process as u64 + 1) << 40) ^ (process_of.starts << 48);
            process_of.engine = Some(Arc::new(engine(&clock, seed, &models, store)));
        }
        Arc::clone(process_of.engine.as_ref().unwrap())
    }

    /// Takes one step, and checks what it touched.
    pub(crate) fn take(&mut self, step: &Step) {
        let now = self.clock.now().as_microsecond();
        self.clock.put(now.saturating_add(step.clock * 1_000_000).clamp(0, 4_000_000_000_000_000));
        let Act { process, user, what, pick } = step.act;
        if what == What::Crash {
            self.processes[process].engine = None;
            self.note("crash");
            return;
        }
        let Some(action) = self.resolve(&step.act) else { return };
        let other = step.meanwhile.as_ref().filter(|(act, _)| act.process != process);
        let other = other.and_then(|(act, after)| Some((*act, self.resolve(act)?, *after)));
        let engine = self.running(process);
        self.processes[process].models.behave(step.mood, u64::from(pick));
        let meanwhile = other.as_ref().map(|(act, action, after)| {
            let engine = self.running(act.process);
            self.processes[act.process].models.behave(crate::schedule::Mood::Well, 0);
            (engine, *act, action.clone(), *after)
        });
        let told: Arc<Mutex<Option<Outcome>>> = Arc::default();
        let planned = meanwhile.map(|(engine, act, action, after)| {
            let told = Arc::clone(&told);
            let perform = move || {
                let outcome = action.perform(&engine, &id(act.user));
                *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(Some(outcome));
            };
            (Box::new(perform) as Box<dyn FnOnce() + Send>, after)
        });
        self.processes[process].calls.begin(step.fault, planned);
        let outcome = catch_unwind(AssertUnwindSafe(|| action.perform(&engine, &id(user))));
        drop(engine);
        let (has_failed, _) = self.processes[process].calls.end();
        let outcome = match outcome {
            Ok(outcome) => Some(outcome),
            Err(panic) if panic.is::<Died>() => {
                self.processes[process].engine = None;
                self.note("died");
                None
            }
            Err(panic) => resume_unwind(panic),
        };
        self.processes[process].models.behave(crate::schedule::Mood::Well, 0);
        let told = told.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut acts = vec![(user, action, outcome, step.fault.map(|(fault, _)| fault).filter(|_| has_failed))];
        if let (Some((act, action, _)), Some(outcome)) = (other, told) {
            self.note("meanwhile");
            acts.push((act.user, action, outcome, None));
        }
        self.settle(&acts);
        let mut users: Vec<usize> = acts.iter().map(|(user, ..)| *user).collect();
        users.dedup();
        for user in users {
            self.check_view(user, process);
        }
    }

    /// Compares what happened with what was asked, and takes the ledgers into the model.
    fn settle(&mut self, acts: &[(usize, Action, Outcome, Option<Fault>)]) {
        let mut users: Vec<usize> = acts.iter().map(|(user, ..)| *user).collect();
        users.sort_unstable();
        users.dedup();
        for user in users {
            let mine: Vec<_> = acts.iter().filter(|(of, ..)| *of == user).collect();
            let before = self.ledger(user).head();
            let mut allowed = Allowed::default();
            for (_, action, ..) in &mine {
                allowed.sent.extend(match action {
                    Action::Say { sent, .. } => Some(sent.clone()),
                    Action::Correct { object, .. } => {
                        Some(Sent { text: String::new(), word: object.clone(), key: None })
                    }
                    _ => None,
                });
                allowed.reverts |= action.reverts();
                allowed.erases |= matches!(action, Action::Erase(_));
                allowed.derives |= action.records();
            }
            let deletes = mine.iter().any(|(_, action, ..)| matches!(action, Action::Delete));
            let stored = self.stored(user);
            let ledger = self.ledgers.entry(user).or_default();
            let is_same = stored.first().map(|event| event.hash) == ledger.events.first().map(|event| event.hash);
            if !is_same && before > 0 {
                assert!(deletes, "the ledger of {} is another one, and nobody deleted it", USERS[user]);
                ledger.deleted();
            }
            ledger.take(&stored, allowed);
            ledger.is_edited |= mine.iter().any(|(_, action, ..)| action.edits());
            let is_alone = mine.len() == 1;
            let around = Around { is_alone: is_alone && is_same, deletes, before };
            for (_, action, outcome, fault) in mine {
                self.judge(user, action, outcome, *fault, &around);
            }
        }
    }

    /// Judges the result of one action.
    fn judge(&mut self, user: usize, action: &Action, outcome: &Outcome, fault: Option<Fault>, around: &Around) {
        let Around { is_alone, deletes, before } = *around;
        let kind = match outcome {
            None => "died",
            Some(Ok(_)) => "ok",
            Some(Err(error)) => kind(error),
        };
        let name = format!("{action:?}");
        let name = name.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        self.note(format!("{name} {kind}"));
        let ledger = self.ledgers.entry(user).or_default();
        if let Action::Say { sent, .. } = action
            && let Some(key) = &sent.key
        {
            ledger.requests.entry(key.clone()).or_insert_with(|| sent.clone());
        }
        let Some(result) = outcome else { return };
        if let Err(error) = result {
            assert!(!matches!(error, Error::Bug(_) | Error::Corrupt(_)), "{action:?}: {error:?}");
            assert!(
                !matches!(error, Error::Unavailable(_)) || fault.is_some(),
                "{action:?} was refused without a reason: {error:?}"
            );
        }
        match (action, result) {
            // It was recorded, and then deleted with everything.
            (Action::Say { sent, .. }, Ok(Done::Said(receipt))) if deletes && !ledger.has(receipt) => {
                ledger.erased.insert(sent.word.clone());
            }
            (Action::Say { sent, .. }, Ok(Done::Said(receipt))) => ledger.acknowledged(receipt, sent),
            (Action::Say { sent, .. }, Err(error)) if is_alone => {
                let used = sent.key.as_ref().and_then(|key| ledger.of_key(key));
                let is_recorded = used.is_some_and(|(seq, ..)| seq > before)
                    || (1..).zip(&ledger.events).any(|(seq, event)| {
                        seq > before
                            && matches!(&event.content, crate::model::Content::Said(said) if said.text == sent.text)
                    });
                assert!(
                    !is_recorded || fault == Some(Fault::AnswerLost) || error.to_string().contains("it is recorded"),
                    "{sent:?} is recorded, and its sender hears {error}"
                );
                let is_refused =
                    used.is_some_and(|(seq, said, is_erased)| seq <= before && (is_erased || said.text != sent.text));
                assert!(
                    fault.is_some() || (is_refused && matches!(error, Error::Refused(_))),
                    "{sent:?} was not recorded: {error:?}"
                );
            }
            (Action::Process, Err(_)) => {}
            (_, Err(error)) if is_alone => {
                let text = error.to_string();
                let is_told = text.contains("is recorded") || text.contains("is erased") || text.contains("was erased");
                assert!(
                    ledger.head() == before || fault == Some(Fault::AnswerLost) || is_told,
                    "{action:?} changed something, and its caller hears {error:?}"
                );
            }
            (Action::Revert(seqs), Ok(_)) if is_alone => {
                let live = ledger.live(ledger.head());
                let left: Vec<_> = live.iter().filter(|(seq, _)| seqs.contains(seq)).collect();
                assert!(left.is_empty(), "{left:?} still count after {seqs:?} were reverted");
            }
            (Action::Erase(seq), Ok(_)) => {
                let event = ledger.event(*seq);
                let is_left = event
                    .is_some_and(|event| matches!(event.content, crate::model::Content::Said(_)) && !event.is_erased);
                assert!(!is_left || !is_alone, "event {seq} has its payload after its erasure");
            }
            (Action::Ask(_) | Action::Pack(_), Ok(Done::Shown(text))) => {
                let words: Vec<_> = ledger.erased.iter().filter(|word| text.contains(word.as_str())).collect();
                assert!(words.is_empty() || !is_alone, "{action:?} shows {words:?}, which were erased: {text}");
                assert!(!text.contains(LIE), "{action:?} shows what a model invented: {text}");
                if let Action::Ask(word) = action
                    && is_alone
                    && fault.is_none()
                {
                    let live = ledger.live(ledger.head());
                    let said = live.iter().find(|(_, said)| said.word == *word);
                    assert!(
                        said.is_none_or(|_| text.contains(word.as_str())),
                        "{word} was said, and is not found: {text:?}"
                    );
                }
            }
            (Action::Rebuild, Ok(Done::Rebuilt(identical))) => {
                assert!(*identical || !is_alone, "the memory in use is not what the ledger says");
            }
            _ => {}
        }
    }

    /// The events of a user, as the store has them.
    pub(crate) fn stored(&self, user: usize) -> Vec<quipu_core::ledger::SealedEvent> {
        let mut events = Vec::new();
        match (self.store)().open(&id(user), false) {
            Ok(mut ledger) => ledger
                .read(1..=u64::MAX >> 1, &mut |event| {
                    events.push(event);
                    true
                })
                .unwrap(),
            Err(StoreError::NotFound(_)) => {}
            Err(error) => panic!("{error:?}"),
        }
        events
    }

    /// The action that the numbers of a step come to; `None` if there is nothing to act on.
    fn resolve(&mut self, act: &Act) -> Option<Action> {
        let (user, pick) = (act.user, act.pick as usize);
        let head = self.ledger(user).head() as usize;
        let durable_only = act.what == What::SayOnly;
        let is_new = matches!(act.what, What::Say | What::SayOnly | What::SayKeyed | What::Repeat);
        if head == 0 && !is_new {
            return None;
        }
        let position = |pick: usize| (pick % head.max(1)) as u64 + 1;
        let key = format!("key {}", pick / 7 % KEYS);
        Some(match act.what {
            What::Say | What::SayOnly => Action::Say { sent: self.sentence(user, pick, None), durable_only },
            What::SayKeyed if self.ledger(user).requests.contains_key(&key) => self.repeat(user, &key)?,
            What::SayKeyed => Action::Say { sent: self.sentence(user, pick, Some(key)), durable_only },
            What::Repeat => self.repeat(user, &key)?,
            What::Misuse => {
                self.ledger(user).requests.get(&key)?;
                Action::Say { sent: self.sentence(user, pick, Some(key)), durable_only }
            }
            What::Revert => Action::Revert(match pick % 3 {
                0 => vec![position(pick / 3), position(pick / 1009)],
                _ => vec![position(pick / 3)],
            }),
            What::Erase => {
                let said: Vec<u64> = self.ledger(user).live(head as u64).iter().map(|(seq, _)| *seq).collect();
                // Mostly what was said, sometimes what follows from it.
                if pick.is_multiple_of(4) || said.is_empty() {
                    Action::Erase(position(pick / 4))
                } else {
                    Action::Erase(said[pick / 4 % said.len()])
                }
            }
            What::Correct => Action::Correct { fact: self.fact(user, pick)?, object: self.new_word(user) },
            What::Retract => Action::Retract(self.fact(user, pick)?),
            What::SetCore => Action::SetCore { name: format!("k{}", pick % 5), value: act.pick % 100 },
            What::Process => Action::Process,
            What::Ask | What::Pack => {
                let ledger = self.ledger(user);
                let live = ledger.live(ledger.head());
                let (_, said) = live.get(pick % live.len().max(1))?;
                let word = said.word.clone();
                if act.what == What::Ask { Action::Ask(word) } else { Action::Pack(format!("Tell me about {word}.")) }
            }
            What::Snapshot => Action::Snapshot,
            What::Rebuild => Action::Rebuild,
            What::Delete => Action::Delete,
            What::Crash => return None,
        })
    }

    fn repeat(&mut self, user: usize, key: &str) -> Option<Action> {
        let sent = self.ledger(user).requests.get(key)?.clone();
        Some(Action::Say { sent, durable_only: false })
    }

    fn new_word(&mut self, user: usize) -> String {
        self.words += 1;
        word(user, self.words)
    }

    fn sentence(&mut self, user: usize, pick: usize, key: Option<String>) -> Sent {
        let word = self.new_word(user);
        let text = SENTENCES[pick % SENTENCES.len()].replace("{}", &word);
        Sent { text, word, key }
    }

    fn fact(&self, user: usize, pick: usize) -> Option<String> {
        let held = facts(&self.observer, &id(user), &FactOptions::default()).ok()?;
        held.get(pick % held.len().max(1)).map(|shown| shown.fact.id.to_string())
    }

    /// The engine of a process, if it runs.
    pub(crate) fn engine_of(&self, process: usize) -> Option<Arc<Engine>> {
        self.processes[process].engine.clone()
    }

    /// Ends every process.
    pub(crate) fn stop(&mut self) {
        self.processes.iter_mut().for_each(|process| process.engine = None);
    }

    /// Random choices of a check, which do not depend on those of the schedule.
    pub(crate) fn dice(&self, about: u64) -> Rng {
        Rng::new(self.seed ^ about.rotate_left(17))
    }
}

/// An engine over a store, with these models.
pub(crate) fn engine(clock: &Arc<FixedClock>, seed: u64, models: &Models, store: Box<dyn LedgerStore>) -> Engine {
    let mut ports = TestEngine::new(seed);
    ports.clock = Arc::clone(clock);
    ports.entropy = Arc::new(SeededEntropy::new(seed));
    ports.extractor = Some(Arc::new(models.clone()));
    ports.summarizer = Some(Arc::new(models.clone()));
    ports.reader = Some(Arc::new(models.clone()));
    ports.engine(store)
}

fn kind(error: &Error) -> &'static str {
    match error {
        Error::Invalid(_) => "invalid",
        Error::Conflict(_) => "conflict",
        Error::Stale(_) => "stale",
        Error::NotFound(_) => "not found",
        Error::Refused(_) => "refused",
        Error::Unavailable(_) => "unavailable",
        Error::Corrupt(_) => "corrupt",
        Error::Bug(_) => "bug",
    }
}
