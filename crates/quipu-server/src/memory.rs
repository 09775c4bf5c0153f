//! Memory for a request: asked on threads that may block, a bounded number at a time, and not longer than a request waits.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use quipu_core::id::UserId;
use quipu_engine::versions::When;
use quipu_engine::{Engine, Error, ReplyContextOptions, Standing, reply_context};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::metrics::Metrics;

/// Share of the deadline a model may use: the rest is for answering without it.
const MEANING_PERCENT: u32 = 60;
/// Blocks kept, and how long after their last use.
const BLOCKS_MAX: usize = 1024;
const KEPT_FOR: Duration = Duration::from_secs(300);

/// What a request wants to know.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) user: UserId,
    pub(crate) session: String,
    /// The name of the turn it is for.
    pub(crate) turn: String,
    pub(crate) query: String,
    /// What stands in the request itself.
    pub(crate) present: BTreeSet<String>,
    pub(crate) max_tokens: usize,
    pub(crate) at: When,
}

/// A block of memory.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// Empty if there is nothing to say.
    pub(crate) text: String,
    pub(crate) ids: Vec<String>,
    pub(crate) tokens: usize,
    /// True if recall had to do without something.
    pub(crate) is_degraded: bool,
}

/// What came of asking.
#[derive(Debug)]
pub(crate) enum Recalled {
    Block(Arc<Block>),
    /// Not in time.
    Late,
    Failed(Error),
}

/// What a block is for: the user, the turn, the version and the budget.
type Purpose = (UserId, String, usize);

/// Blocks by what they are for, each with when it was last used.
type Blocks = Mutex<HashMap<Purpose, (Instant, Arc<Block>)>>;

/// Where requests get their memory from.
pub(crate) struct Memory {
    engine: Arc<Engine>,
    slots: Arc<Semaphore>,
    recalls_max: usize,
    metrics: Arc<Metrics>,
    /// The blocks of the last turns. A turn that is sent again, or goes on with results of tools, gets the block it had: an
    /// upstream's cache of the prefix holds, and a retry is the same request.
    blocks: Arc<Blocks>,
}

impl Memory {
    /// `recalls_max`: how many ask at a time.
    pub(crate) fn new(engine: Arc<Engine>, recalls_max: usize, metrics: Arc<Metrics>) -> Self {
        Self { engine, slots: Arc::new(Semaphore::new(recalls_max)), recalls_max, metrics, blocks: Arc::default() }
    }

    /// True while somebody asks.
    pub(crate) fn is_asked(&self) -> bool {
        self.slots.available_permits() < self.recalls_max
    }

    /// The block for a request, if it is there in time. What is late goes on and its result is dropped.
    #[tracing::instrument(name = "search_memory", skip_all, fields(
        gen_ai.operation.name = "search_memory",
        gen_ai.memory.record.count = tracing::field::Empty,
        error.type = tracing::field::Empty,
    ))]
    pub(crate) async fn recall(&self, wanted: Wanted, within: Duration) -> Recalled {
        let purpose = (wanted.user.clone(), wanted.turn.clone(), wanted.max_tokens);
        if wanted.at == When::Now
            && let Some(block) = self.kept(&purpose)
        {
            return Recalled::Block(block);
        }
        let start = Instant::now();
        let outcome = tokio::time::timeout(within, self.ask(wanted, purpose, start, within)).await;
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
                tracing::warn!(%error, "memory could not be read; the request goes on without");
                "error"
            }
        };
        self.metrics.took("search_memory", outcome, start.elapsed().as_secs_f64());
        recalled
    }

    async fn ask(
        &self,
        wanted: Wanted,
        purpose: Purpose,
        start: Instant,
        within: Duration,
    ) -> Result<Arc<Block>, Error> {
        let stopped = || Error::Bug("recall stopped without an answer".to_owned());
        let slot = self.slots.clone().acquire_owned().await.map_err(|_| stopped())?;
        let (engine, blocks) = (self.engine.clone(), self.blocks.clone());
        let left = (within * MEANING_PERCENT / 100).saturating_sub(start.elapsed());
        let work = move || {
            let _slot = slot;
            let at = wanted.at;
            let options = ReplyContextOptions {
                session: Some(wanted.session),
                present: wanted.present,
                max_tokens: wanted.max_tokens,
                at,
                deadline: Some(left),
                ..ReplyContextOptions::of(&wanted.query)
            };
            let block = match reply_context(&engine, &wanted.user, &options) {
                Ok(context) => Block {
                    text: context.text,
                    ids: context.citations.iter().map(ToString::to_string).collect(),
                    tokens: context.tokens,
                    is_degraded: context.degraded.is_some(),
                },
                // Whoever has no memory yet has nothing to be told.
                Err(Error::NotFound(_)) if at == When::Now => Block::default(),
                Err(other) => return Err(other),
            };
            let block = Arc::new(block);
            if at == When::Now && !block.is_degraded {
                keep(&blocks, purpose, block.clone());
            }
            Ok(block)
        };
        tokio::task::spawn_blocking(work).await.map_err(|_| stopped())?
    }

    fn kept(&self, purpose: &Purpose) -> Option<Arc<Block>> {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let (used, block) = blocks.get_mut(purpose)?;
        if used.elapsed() > KEPT_FOR {
            blocks.remove(purpose);
            return None;
        }
        *used = Instant::now();
        Some(block.clone())
    }

    /// What waits in the memories that are open.
    pub(crate) async fn standing(&self) -> Result<Standing, Error> {
        let engine = self.engine.clone();
        let asked = tokio::task::spawn_blocking(move || quipu_engine::standing(&engine)).await;
        asked.map_err(|_| Error::Bug("counting what waits stopped without an answer".to_owned()))
    }

    /// An error if the store does not answer.
    pub(crate) async fn reach_store(&self) -> Result<(), Error> {
        let engine = self.engine.clone();
        let asked = tokio::task::spawn_blocking(move || quipu_engine::users(&engine).map(drop)).await;
        asked.map_err(|_| Error::Bug("the store stopped without an answer".to_owned()))?
    }
}

fn keep(blocks: &Blocks, purpose: Purpose, block: Arc<Block>) {
    let mut blocks = blocks.lock().unwrap_or_else(PoisonError::into_inner);
    if blocks.len() >= BLOCKS_MAX {
        blocks.retain(|_, (used, _)| used.elapsed() <= KEPT_FOR);
    }
    if blocks.len() >= BLOCKS_MAX
        && let Some(oldest) = blocks.iter().min_by_key(|(_, (used, _))| *used).map(|(purpose, _)| purpose.clone())
    {
        blocks.remove(&oldest);
    }
    blocks.insert(purpose, (Instant::now(), block));
}
