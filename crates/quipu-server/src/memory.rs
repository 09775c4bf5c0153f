//! Recall for the proxy: runs on blocking threads with bounded concurrency and a deadline.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quipu_core::id::{EventId, UserId};
use quipu_engine::versions::When;
use quipu_engine::{Engine, ErasureEpoch, Error, ReplyContextOptions, erasure_epoch, reply_context};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::metrics::Metrics;
use crate::progress::{Progress, WatchedWork};
use crate::word_caches::{Gone, WordCache};

/// Share of the deadline, in percent, that a model may use; the rest is for recall without it.
const MEANING_PERCENT: u32 = 60;
/// Maximum number of cached blocks, and how long they are kept after their last use.
const BLOCKS_MAX: usize = 1024;
const KEPT_FOR: Duration = Duration::from_secs(300);

/// A query for the memory of a request.
#[derive(Debug, Clone)]
pub(crate) struct MemoryQuery {
    pub(crate) user: UserId,
    pub(crate) session: String,
    /// Key of the turn.
    pub(crate) turn: String,
    pub(crate) query: String,
    /// Texts that the request already contains.
    pub(crate) present: BTreeSet<String>,
    pub(crate) max_tokens: usize,
    pub(crate) at: When,
}

/// The memory for a request, in two parts, either of which may be empty.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// The same for every request of the user.
    pub(crate) stable: String,
    /// Specific to this turn.
    pub(crate) changing: String,
    pub(crate) ids: Vec<String>,
    pub(crate) tokens: usize,
    /// True if recall had to do without an optional part.
    pub(crate) is_degraded: bool,
}

impl Block {
    pub(crate) fn is_empty(&self) -> bool {
        self.stable.is_empty() && self.changing.is_empty()
    }
}

/// Outcome of a query.
#[derive(Debug)]
pub(crate) enum Recalled {
    Block(Arc<Block>),
    /// The deadline passed.
    Late,
    Failed(Error),
}

/// Key of a block: user, turn and token budget.
pub(crate) type Purpose = (UserId, String, usize);

/// Cache of recent blocks. A turn that is sent again, or continues with tool results, gets its earlier block, so
/// retries are identical and an upstream's prefix cache stays valid.
#[derive(Default)]
pub(crate) struct Blocks(Mutex<HashMap<Purpose, KeptBlock>>);

struct KeptBlock {
    used: Instant,
    /// The user's epoch before the block was built.
    epoch: Option<ErasureEpoch>,
    block: Arc<Block>,
}

impl Blocks {
    fn kept(&self) -> MutexGuard<'_, HashMap<Purpose, KeptBlock>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The block for a purpose, unless something was erased since it was built. An empty block has no words and stays
    /// valid.
    pub(crate) fn get(&self, purpose: &Purpose, epoch: Option<ErasureEpoch>) -> Option<Arc<Block>> {
        let mut blocks = self.kept();
        let kept = blocks.get_mut(purpose)?;
        if kept.used.elapsed() > KEPT_FOR || (kept.epoch != epoch && !kept.block.is_empty()) {
            blocks.remove(purpose);
            return None;
        }
        kept.used = Instant::now();
        Some(kept.block.clone())
    }

    pub(crate) fn put(&self, purpose: Purpose, epoch: Option<ErasureEpoch>, block: Arc<Block>) {
        let mut blocks = self.kept();
        blocks.retain(|_, kept| kept.used.elapsed() <= KEPT_FOR);
        if blocks.len() >= BLOCKS_MAX
            && let Some(oldest) = blocks.iter().min_by_key(|(_, kept)| kept.used).map(|(purpose, _)| purpose.clone())
        {
            blocks.remove(&oldest);
        }
        blocks.insert(purpose, KeptBlock { used: Instant::now(), epoch, block });
    }
}

impl WordCache for Blocks {
    fn forget(&self, user: &UserId, _: Gone) {
        self.kept().retain(|(whose, ..), _| whose != user);
    }

    #[cfg(test)]
    fn held(&self, user: &UserId) -> usize {
        self.kept().keys().filter(|(whose, ..)| whose == user).count()
    }
}

/// Provides requests with memory.
pub(crate) struct MemorySource {
    engine: Arc<Engine>,
    slots: Arc<Semaphore>,
    recalls_max: usize,
    metrics: Arc<Metrics>,
    progress: Arc<Progress>,
    blocks: Arc<Blocks>,
}

impl MemorySource {
    /// `recalls_max`: maximum number of concurrent recalls.
    pub(crate) fn new(
        engine: Arc<Engine>,
        recalls_max: usize,
        metrics: Arc<Metrics>,
        progress: Arc<Progress>,
        blocks: Arc<Blocks>,
    ) -> Self {
        Self { engine, slots: Arc::new(Semaphore::new(recalls_max)), recalls_max, metrics, progress, blocks }
    }

    /// True while a recall is running.
    pub(crate) fn is_asked(&self) -> bool {
        self.slots.available_permits() < self.recalls_max
    }

    /// The block for a request, if it is available in time. A late recall runs on, and its result is dropped.
    #[tracing::instrument(name = "search_memory", skip_all, fields(
        gen_ai.operation.name = "search_memory",
        gen_ai.memory.record.count = tracing::field::Empty,
        error.type = tracing::field::Empty,
    ))]
    pub(crate) async fn recall(&self, wanted: MemoryQuery, within: Duration) -> Recalled {
        let start = Instant::now();
        let outcome = tokio::time::timeout(within, self.ask(wanted, start, within)).await;
        let recalled = match outcome {
            Err(_) => Recalled::Late,
            Ok(Ok(block)) => Recalled::Block(block),
            Ok(Err(error)) => Recalled::Failed(error),
        };
        let span = tracing::Span::current();
        let outcome = match &recalled {
            Recalled::Block(block) => {
                span.record("gen_ai.memory.record.count", block.ids.len());
                self.metrics.recall_results.observe(block.ids.len() as f64);
                self.metrics.context_tokens.observe(block.tokens as f64);
                if block.is_degraded { "degraded" } else { "ok" }
            }
            Recalled::Late => "late",
            Recalled::Failed(error) => {
                span.record("error.type", "recall");
                tracing::warn!(%error, "memory could not be read; the request goes on without it");
                "error"
            }
        };
        self.metrics.took("search_memory", outcome, start.elapsed().as_secs_f64());
        recalled
    }

    async fn ask(&self, wanted: MemoryQuery, start: Instant, within: Duration) -> Result<Arc<Block>, Error> {
        let stopped = || Error::Bug("recall stopped without an answer".to_owned());
        let slot = self.slots.clone().acquire_owned().await.map_err(|_| stopped())?;
        let (engine, blocks, progress) = (self.engine.clone(), self.blocks.clone(), self.progress.clone());
        let left = (within * MEANING_PERCENT / 100).saturating_sub(start.elapsed());
        let work = move || {
            let _slot = slot;
            let _step = progress.begin(WatchedWork::Recall);
            block(&engine, &blocks, wanted, left)
        };
        tokio::task::spawn_blocking(work).await.map_err(|_| stopped())?
    }

    /// The first event of a user's ledger; `None` if there is no ledger, or no answer in time.
    pub(crate) async fn ledger(&self, user: &UserId, within: Duration) -> Option<EventId> {
        let (engine, user, progress) = (self.engine.clone(), user.clone(), self.progress.clone());
        let asked = tokio::task::spawn_blocking(move || {
            let _step = progress.begin(WatchedWork::Recall);
            erasure_epoch(&engine, &user)
        });
        let epoch = tokio::time::timeout(within, asked).await.ok()?.ok()?;
        epoch.ok().flatten().map(|epoch| epoch.ledger)
    }
}

/// The block for a request: the cached one, or a new one.
fn block(engine: &Engine, blocks: &Blocks, wanted: MemoryQuery, deadline: Duration) -> Result<Arc<Block>, Error> {
    let purpose = (wanted.user.clone(), wanted.turn, wanted.max_tokens);
    // Read before the block is built, so that an erasure in between makes it stale.
    let epoch = erasure_epoch(engine, &wanted.user)?;
    if wanted.at == When::Now
        && let Some(block) = blocks.get(&purpose, epoch)
    {
        return Ok(block);
    }
    let options = ReplyContextOptions {
        session: Some(wanted.session),
        present: wanted.present,
        max_tokens: wanted.max_tokens,
        at: wanted.at,
        deadline: Some(deadline),
        ..ReplyContextOptions::of(&wanted.query)
    };
    let block = match reply_context(engine, &wanted.user, &options) {
        Ok(context) => Block {
            stable: context.stable,
            changing: context.changing,
            ids: context.citations.iter().map(ToString::to_string).collect(),
            tokens: context.tokens,
            is_degraded: context.degraded.is_some(),
        },
        // A user without a memory gets an empty block.
        Err(Error::NotFound(_)) if wanted.at == When::Now => Block::default(),
        Err(other) => return Err(other),
    };
    let block = Arc::new(block);
    if wanted.at == When::Now && !block.is_degraded {
        blocks.put(purpose, epoch, block.clone());
    }
    Ok(block)
}
