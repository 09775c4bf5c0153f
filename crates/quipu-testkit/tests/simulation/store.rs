//! A store as one process sees it: it forwards every call to the store of all processes, and fails, stops the process or
//! lets another process act where the schedule says so.

use std::ops::RangeInclusive;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use quipu_core::event::ChangeRef;
use quipu_core::id::{EventId, Seq, UserId};
use quipu_core::ledger::SealedEvent;
use quipu_engine::ports::{
    BackupFile, Checkpoint, Head, KeyUse, LeaseRequest, LedgerStore, LedgerWatch, Projection, ResealedChange,
    StoreError, UserLedger, VectorKey, WatchEvent,
};

use crate::schedule::Fault;

/// The payload of the panic that ends a process.
pub(crate) struct Died;

/// A fault of a store that a simulation must find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Planted {
    /// Events are stored without their idempotency keys.
    ForgetsKeys,
    /// An append of several events loses the last one.
    DropsEvents,
    /// An erasure is recorded, and the payload stays.
    KeepsErased,
    /// Derived data from before an erasure is stored after it.
    TakesOldData,
    /// Appends by other processes are not noticed.
    NoticesNothing,
}

/// Something that another process does at a call.
type Meanwhile = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Plan {
    is_dead: bool,
    fault: Option<(Fault, u8)>,
    /// Once the disk is full, it stays so for the step.
    is_full: bool,
    meanwhile: Option<(Meanwhile, u8)>,
    has_failed: bool,
}

/// What happens to the calls of one process.
#[derive(Clone, Default)]
pub(crate) struct Calls(Arc<Mutex<Plan>>);

/// What to do with a call.
enum Verdict {
    Forward,
    Refuse,
    ForwardAndRefuse,
    ForwardAndDie,
    Die,
}

impl Calls {
    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Plans the next step.
    pub(crate) fn begin(&self, fault: Option<(Fault, u8)>, meanwhile: Option<(Meanwhile, u8)>) {
        *self.plan() = Plan { fault, meanwhile, ..Plan::default() };
    }

    /// Ends the step. Returns whether a call failed, and what another process had no occasion to do.
    pub(crate) fn end(&self) -> (bool, Option<Meanwhile>) {
        let mut plan = self.plan();
        plan.fault = None;
        plan.is_full = false;
        (std::mem::take(&mut plan.has_failed), plan.meanwhile.take().map(|(act, _)| act))
    }

    /// Lets another process act, if it is time. It has a thread of its own, as locks are counted by thread.
    pub(crate) fn pass(&self) {
        let due = {
            let mut plan = self.plan();
            match &mut plan.meanwhile {
                Some((_, left)) if *left > 0 => {
                    *left -= 1;
                    None
                }
                due => due.take(),
            }
        };
        if let Some((act, _)) = due
            && let Err(panic) = std::thread::spawn(act).join()
        {
            resume_unwind(panic);
        }
    }

    fn judge(&self, writes: bool) -> Verdict {
        let mut plan = self.plan();
        if plan.is_dead || (plan.is_full && writes) {
            return Verdict::Refuse;
        }
        let Some((fault, left)) = &mut plan.fault else { return Verdict::Forward };
        let fault = *fault;
        if (fault == Fault::Unreadable) == writes {
            return Verdict::Forward;
        }
        if *left > 0 {
            *left -= 1;
            return Verdict::Forward;
        }
        plan.fault = None;
        plan.has_failed = true;
        match fault {
            Fault::Full => {
                plan.is_full = true;
                Verdict::Refuse
            }
            Fault::Refused | Fault::Unreadable => Verdict::Refuse,
            Fault::AnswerLost => Verdict::ForwardAndRefuse,
            Fault::DiesBefore => {
                plan.is_dead = true;
                Verdict::Die
            }
            Fault::DiesAfter => {
                plan.is_dead = true;
                Verdict::ForwardAndDie
            }
        }
    }

    /// Makes a call, or not.
    fn call<T>(&self, writes: bool, call: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
        // Leases are extended by a thread of the engine, which follows no schedule.
        if std::thread::current().name() == Some("quipu-leases") {
            return call();
        }
        if writes {
            self.pass();
        }
        let refused = || StoreError::Unavailable("simulated: the disk is full, or it cannot be read".to_owned());
        match self.judge(writes) {
            Verdict::Forward => call(),
            Verdict::Refuse => Err(refused()),
            Verdict::ForwardAndRefuse => {
                call()?;
                Err(refused())
            }
            Verdict::ForwardAndDie => {
                drop(call());
                resume_unwind(Box::new(Died))
            }
            Verdict::Die => resume_unwind(Box::new(Died)),
        }
    }
}

/// The store of all processes, as one of them sees it.
pub(crate) struct ProcessStore {
    pub(crate) inner: Box<dyn LedgerStore>,
    pub(crate) calls: Calls,
    pub(crate) planted: Option<Planted>,
}

impl LedgerStore for ProcessStore {
    fn users(&self) -> Result<Vec<UserId>, StoreError> {
        self.calls.call(false, || self.inner.users())
    }

    fn open(&self, user: &UserId, create: bool) -> Result<Box<dyn UserLedger>, StoreError> {
        let inner = self.calls.call(false, || self.inner.open(user, create))?;
        Ok(Box::new(ProcessLedger { inner, calls: self.calls.clone(), planted: self.planted }))
    }

    fn watch(&self, user: &UserId) -> Result<Box<dyn LedgerWatch>, StoreError> {
        let inner = self.calls.call(false, || self.inner.watch(user))?;
        Ok(Box::new(ProcessWatch { inner, calls: self.calls.clone(), planted: self.planted, seen: None }))
    }

    fn remove(&self, user: &UserId, expected: Option<Seq>) -> Result<(), StoreError> {
        self.calls.call(true, || self.inner.remove(user, expected))
    }

    fn build(
        &self,
        user: &UserId,
        replace: bool,
        fill: &mut dyn FnMut(&mut dyn UserLedger) -> Result<(), StoreError>,
    ) -> Result<Option<PathBuf>, StoreError> {
        self.calls.call(true, || self.inner.build(user, replace, fill))
    }

    fn restore(&self, user: &UserId, from: &Path, replace: bool) -> Result<Option<PathBuf>, StoreError> {
        self.calls.call(true, || self.inner.restore(user, from, replace))
    }

    fn read_copy(
        &self,
        user: &UserId,
        from: &Path,
        each: &mut dyn FnMut(SealedEvent) -> Result<(), StoreError>,
    ) -> Result<Head, StoreError> {
        self.calls.call(false, || self.inner.read_copy(user, from, each))
    }

    fn examine(&self) -> Vec<Result<String, String>> {
        self.inner.examine()
    }
}

struct ProcessWatch {
    inner: Box<dyn LedgerWatch>,
    calls: Calls,
    planted: Option<Planted>,
    seen: Option<Head>,
}

impl LedgerWatch for ProcessWatch {
    fn look(&mut self) -> Result<WatchEvent, StoreError> {
        let found = self.calls.call(false, || self.inner.look())?;
        if self.planted == Some(Planted::NoticesNothing)
            && let WatchEvent::Changed(head) = found
            && self.seen.replace(head).is_some()
        {
            return Ok(WatchEvent::Same);
        }
        Ok(found)
    }
}

struct ProcessLedger {
    inner: Box<dyn UserLedger>,
    calls: Calls,
    planted: Option<Planted>,
}

impl UserLedger for ProcessLedger {
    fn head(&mut self) -> Result<Head, StoreError> {
        self.calls.call(false, || self.inner.head())
    }

    fn append(&mut self, expected: Seq, events: &[SealedEvent]) -> Result<(), StoreError> {
        let mut events = events.to_vec();
        match self.planted {
            Some(Planted::ForgetsKeys) => events.iter_mut().for_each(|event| event.idempotency = None),
            Some(Planted::DropsEvents) if events.len() > 1 => drop(events.pop()),
            _ => {}
        }
        self.calls.call(true, || self.inner.append(expected, &events))
    }

    fn read(
        &mut self,
        range: RangeInclusive<Seq>,
        each: &mut dyn FnMut(SealedEvent) -> bool,
    ) -> Result<(), StoreError> {
        self.calls.call(false, || self.inner.read(range, each))
    }

    fn controls(&mut self, up_to: Seq) -> Result<Vec<SealedEvent>, StoreError> {
        self.calls.call(false, || self.inner.controls(up_to))
    }

    fn position_of(&mut self, id: EventId) -> Result<Option<Seq>, StoreError> {
        self.calls.call(false, || self.inner.position_of(id))
    }

    fn key_use(&mut self, key: &str) -> Result<Option<KeyUse>, StoreError> {
        self.calls.call(false, || self.inner.key_use(key))
    }

    fn position_at(&mut self, time: Timestamp) -> Result<Seq, StoreError> {
        self.calls.call(false, || self.inner.position_at(time))
    }

    fn erase(&mut self, expected: Seq, targets: &[ChangeRef], event: &SealedEvent) -> Result<(), StoreError> {
        let targets = if self.planted == Some(Planted::KeepsErased) { &targets[..0] } else { targets };
        self.calls.call(true, || self.inner.erase(expected, targets, event))
    }

    fn reseal(&mut self, name: &str, holder: u64, changes: &[ResealedChange]) -> Result<(), StoreError> {
        self.calls.call(true, || self.inner.reseal(name, holder, changes))
    }

    fn snapshots(&mut self) -> Result<Vec<Seq>, StoreError> {
        self.calls.call(false, || self.inner.snapshots())
    }

    fn snapshot(&mut self, seq: Seq) -> Result<Option<Vec<u8>>, StoreError> {
        self.calls.call(false, || self.inner.snapshot(seq))
    }

    fn projection(&mut self, name: &str) -> Result<Option<Projection>, StoreError> {
        self.calls.call(false, || self.inner.projection(name))
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint) -> Result<(), StoreError> {
        let late = Checkpoint {
            snapshot: checkpoint.snapshot.clone(),
            projections: checkpoint.projections.clone(),
            lease: checkpoint.lease.clone(),
            level: Seq::MAX,
            ..*checkpoint
        };
        let checkpoint = if self.planted == Some(Planted::TakesOldData) { &late } else { checkpoint };
        self.calls.call(true, || self.inner.checkpoint(checkpoint))
    }

    fn drop_projections(&mut self) -> Result<(), StoreError> {
        self.calls.call(true, || self.inner.drop_projections())
    }

    fn put_vectors(&mut self, level: Seq, tag: &str, vectors: &[(VectorKey, Vec<u8>)]) -> Result<(), StoreError> {
        self.calls.call(true, || self.inner.put_vectors(level, tag, vectors))
    }

    fn lease(&mut self, request: &LeaseRequest<'_>) -> Result<bool, StoreError> {
        self.calls.call(true, || self.inner.lease(request))
    }

    fn release(&mut self, name: &str, holder: u64) -> Result<(), StoreError> {
        self.calls.call(true, || self.inner.release(name, holder))
    }

    fn vectors(&mut self, tag: &str) -> Result<Vec<(VectorKey, Vec<u8>)>, StoreError> {
        self.calls.call(false, || self.inner.vectors(tag))
    }

    fn backup(&mut self, to: &Path) -> Result<BackupFile, StoreError> {
        self.calls.call(false, || self.inner.backup(to))
    }

    fn check(&mut self) -> Result<Vec<String>, StoreError> {
        self.inner.check()
    }

    fn bytes(&mut self) -> Result<u64, StoreError> {
        self.inner.bytes()
    }
}
