//! The queue of exchanges to append: sequential for each user, with bounded concurrency over all users. Processing
//! recorded messages is the task of [`reading`].

mod exchange;
mod reading;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quipu_core::id::UserId;
use quipu_engine::Engine;
use tokio::runtime::Handle;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::Instant;

pub(crate) use self::exchange::{Appended, Exchange};
use self::exchange::{Attempt, attempt};
use crate::metrics::Metrics;
use crate::options::Bounds;
use crate::progress::{Progress, WatchedWork};
use crate::word_caches::{Gone, WordCache};

/// Delays before each retry of an unavailable store.
const AGAIN_AFTER: [Duration; 3] = [Duration::from_millis(200), Duration::from_secs(1), Duration::from_secs(5)];

/// A permit for one exchange, acquired before its request is passed on and held until it is recorded. Clones share it.
#[derive(Clone)]
pub(crate) struct QueueSlot(#[expect(dead_code, reason = "held, not read")] Arc<OwnedSemaphorePermit>);

/// State of an append when its caller continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// The messages are durable.
    Durable,
    /// The append is still in progress.
    Delayed,
    /// The messages were not recorded and will not be.
    Lost,
}

/// An append in progress.
pub(crate) struct Pending {
    outcome: oneshot::Receiver<Durability>,
    within: Duration,
}

impl Pending {
    /// Waits for the outcome, at most as long as an append may delay a request.
    pub(crate) async fn settled(self) -> Durability {
        match tokio::time::timeout(self.within, self.outcome).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Durability::Lost,
            Err(_) => Durability::Delayed,
        }
    }
}

/// An exchange in its user's queue.
struct Waiting {
    exchange: Exchange,
    place: QueueSlot,
    /// True if the exchange is complete and may be read.
    ends: bool,
    outcome: oneshot::Sender<Durability>,
}

/// The queue of one user.
#[derive(Default)]
struct UserQueue {
    waiting: VecDeque<Waiting>,
    /// Start of the append in progress.
    busy_since: Option<Instant>,
}

/// Users whose messages are being processed, with the sessions that have new ones since.
type Reading = HashMap<UserId, BTreeSet<Option<String>>>;

/// The queue.
pub(crate) struct Queue {
    engine: Arc<Engine>,
    /// Number of messages to collect before a language model reads them.
    read_together: usize,
    metrics: Arc<Metrics>,
    progress: Arc<Progress>,
    /// Users with an append in progress, and their queues.
    lines: Mutex<HashMap<UserId, UserQueue>>,
    reading: Mutex<Reading>,
    readers: Arc<Semaphore>,
    places: Arc<Semaphore>,
    workers: Arc<Semaphore>,
    append_within: Duration,
    is_stopping: AtomicBool,
    went: Notify,
    runtime: Handle,
}

impl Queue {
    /// Must be called inside the runtime that does the work.
    pub(crate) fn new(engine: Arc<Engine>, bounds: &Bounds, metrics: Arc<Metrics>, progress: Arc<Progress>) -> Self {
        Self {
            engine,
            read_together: 1,
            metrics,
            progress,
            lines: Mutex::default(),
            reading: Mutex::default(),
            readers: Arc::new(Semaphore::new(bounds.studies_max)),
            places: Arc::new(Semaphore::new(bounds.turns_waiting_max)),
            workers: Arc::new(Semaphore::new(bounds.recordings_max)),
            append_within: bounds.append_within,
            is_stopping: AtomicBool::new(false),
            went: Notify::new(),
            runtime: Handle::current(),
        }
    }

    /// Sets the number of messages to collect before a language model reads them. The last ones are read by
    /// maintenance, after a period of silence.
    pub(crate) fn reading_together(self, messages: usize) -> Self {
        Self { read_together: messages, ..self }
    }

    /// Acquires a place for one exchange; `None` if there is none in time.
    pub(crate) async fn place(&self, within: Duration) -> Option<QueueSlot> {
        let place = tokio::time::timeout(within, self.places.clone().acquire_owned()).await;
        place.ok().and_then(Result::ok).map(Arc::new).map(QueueSlot)
    }

    /// True if a place is free.
    pub(crate) fn has_room(&self) -> bool {
        self.places.available_permits() > 0
    }

    /// Number of exchanges waiting or being appended.
    pub(crate) fn depth(&self) -> i64 {
        self.metrics.queue_depth.get()
    }

    /// True if nothing waits, is being appended, or is being read.
    pub(crate) fn is_idle(&self) -> bool {
        self.lines().is_empty() && self.reading().is_empty()
    }

    fn lines(&self) -> MutexGuard<'_, HashMap<UserId, UserQueue>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues an exchange behind those of its user. It is appended whether or not the caller waits. `ends` states that
    /// the exchange is complete; messages that are durable already are not appended again.
    pub(crate) fn push(self: &Arc<Self>, exchange: Exchange, place: QueueSlot, ends: bool) -> Pending {
        self.metrics.queue_depth.inc();
        let (outcome, told) = oneshot::channel();
        let user = exchange.user.clone();
        let waiting = Waiting { exchange, place, ends, outcome };
        let mut lines = self.lines();
        if let Some(line) = lines.get_mut(&user) {
            line.waiting.push_back(waiting);
            // If the queue is stuck, only the first requests wait for it.
            let waited = line.busy_since.map_or(Duration::ZERO, |since| since.elapsed());
            return Pending { outcome: told, within: self.append_within.saturating_sub(waited) };
        }
        lines.insert(user.clone(), UserQueue { waiting: VecDeque::from([waiting]), busy_since: None });
        drop(lines);
        let queue = self.clone();
        self.runtime.spawn(async move { queue.work_off(user).await });
        Pending { outcome: told, within: self.append_within }
    }

    /// The next exchange of a user; removes the user if there is none.
    fn next(&self, user: &UserId) -> Option<Waiting> {
        let mut lines = self.lines();
        let next = lines.get_mut(user).and_then(|line| {
            line.busy_since = Some(Instant::now());
            line.waiting.pop_front()
        });
        if next.is_none() {
            lines.remove(user);
        }
        next
    }

    /// Appends the queue of one user until it is empty.
    async fn work_off(self: Arc<Self>, user: UserId) {
        while let Some(waiting) = self.next(&user) {
            let session = waiting.ends.then(|| waiting.exchange.session.clone());
            self.append(waiting).await;
            self.metrics.queue_depth.dec();
            self.went.notify_waiters();
            if let Some(session) = session {
                self.study(&user, Some(session));
            }
        }
        self.went.notify_waiters();
    }

    /// Appends one exchange. The caller learns of the first error; retries continue in the background.
    async fn append(&self, waiting: Waiting) {
        let Waiting { exchange, place: _place, outcome, .. } = waiting;
        let mut outcome = Some(outcome);
        let mut tell = |durability| {
            if let Some(outcome) = outcome.take() {
                // The caller may no longer be waiting.
                let _ = outcome.send(durability);
            }
        };
        let exchange = Arc::new(exchange);
        let mut pauses = AGAIN_AFTER.iter();
        loop {
            let Ok(worker) = self.workers.clone().acquire_owned().await else { return };
            let (engine, metrics, progress) = (self.engine.clone(), self.metrics.clone(), self.progress.clone());
            let (own, is_last) = (exchange.clone(), pauses.len() == 0);
            let work = tokio::task::spawn_blocking(move || {
                let _held = worker;
                let _step = progress.begin(WatchedWork::Append);
                attempt(&engine, &metrics, &own, is_last)
            });
            match work.await {
                Ok(Attempt::Done) => return tell(Durability::Durable),
                Ok(Attempt::GivenUp) => return tell(Durability::Lost),
                Ok(Attempt::Unavailable) => tell(Durability::Delayed),
                Err(_) => {
                    self.metrics.turn("dropped");
                    tracing::error!("appending a turn panicked: it is not recorded");
                    return tell(Durability::Lost);
                }
            }
            // Without holding a worker, so that a full disk does not delay other users.
            if let Some(pause) = pauses.next() {
                tokio::time::sleep(*pause).await;
            }
        }
    }

    /// Starts no more reading; the next start continues.
    pub(crate) fn stop_reading(&self) {
        self.is_stopping.store(true, Ordering::SeqCst);
    }

    /// Stops reading, and waits until all appends and reads have ended; returns the number of exchanges not recorded
    /// within the time.
    pub(crate) async fn drain(&self, within: Duration) -> usize {
        self.stop_reading();
        let empty = async {
            loop {
                let went = self.went.notified();
                if self.lines().is_empty() && self.reading().is_empty() {
                    return;
                }
                went.await;
            }
        };
        let _ = tokio::time::timeout(within, empty).await;
        usize::try_from(self.depth()).unwrap_or(0)
    }
}

impl WordCache for Queue {
    fn forget(&self, user: &UserId, gone: Gone) {
        if gone != Gone::Deleted {
            return;
        }
        // The append in progress checks for itself whether its ledger still exists.
        let dropped = self.lines().get_mut(user).map_or(0, |line| line.waiting.drain(..).count());
        for _ in 0..dropped {
            self.metrics.queue_depth.dec();
            self.metrics.turn("forgotten");
        }
        if let Some(sessions) = self.reading().get_mut(user) {
            sessions.clear();
        }
    }

    #[cfg(test)]
    fn held(&self, user: &UserId) -> usize {
        let waiting = self.lines().get(user).map_or(0, |line| line.waiting.len());
        waiting + self.reading().get(user).map_or(0, BTreeSet::len)
    }
}
