use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use quipu_engine::ports::embedder::{EmbedError, Embedded, Token};
use rten::ThreadPool;

use crate::encoder::basis::Basis;
use crate::encoder::network::{Network, Output};
use crate::encoder::word_piece::WordPiece;

const THREADS_DEFAULT_MAX: usize = 2;

/// The number of cores, but at most two, so that embedding does not take the whole machine by default.
#[must_use]
pub fn threads_default() -> NonZeroUsize {
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    NonZeroUsize::new(cores.min(THREADS_DEFAULT_MAX)).unwrap_or(NonZeroUsize::MIN)
}

/// Runs one input on a lane.
type Run<'a, P, T> = &'a (dyn Fn(&P, &Arc<ThreadPool>) -> Result<T, EmbedError> + Sync);

/// A network and the threads it runs on.
///
/// Each text runs on one thread, and the texts of a batch are distributed over the threads. Padding texts to one
/// length would change their vectors: int8 activations are scaled by the largest value of the whole batch.
pub(crate) struct Encoder {
    network: Arc<Network>,
    /// The basis that token vectors are projected on.
    token_basis: Option<Basis>,
    lanes: Lanes,
}

/// Pools of one thread each.
pub(crate) struct Lanes {
    pools: Vec<Arc<ThreadPool>>,
    /// The pool of the next single text, so that concurrent callers use different threads.
    next: AtomicUsize,
}

impl Lanes {
    pub(crate) fn new(threads: NonZeroUsize) -> Self {
        let pools = (0..threads.get()).map(|_| Arc::new(ThreadPool::with_num_threads(1))).collect();
        Self { pools, next: AtomicUsize::new(0) }
    }

    /// The pool for a single text, each in turn.
    pub(crate) fn next(&self) -> &Arc<ThreadPool> {
        &self.pools[self.next.fetch_add(1, Ordering::Relaxed) % self.pools.len()]
    }
}

impl Encoder {
    pub(crate) fn new(network: Arc<Network>, threads: NonZeroUsize) -> Self {
        Self { network, token_basis: None, lanes: Lanes::new(threads) }
    }

    /// Projects the vectors of tokens on a basis.
    pub(crate) fn with_token_basis(self, basis: Basis) -> Self {
        Self { token_basis: Some(basis), ..self }
    }

    /// Returns one vector of length 1 for each text, in order. Texts are truncated to `tokens_max`.
    pub(crate) fn embed(
        &self,
        tokenizer: &WordPiece,
        tokens_max: usize,
        texts: &[&str],
    ) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.each(tokenizer, tokens_max, texts, &|_, output| output.vector)
    }

    /// As [`Encoder::embed`], with the vectors of the tokens.
    pub(crate) fn embed_tokens(
        &self,
        tokenizer: &WordPiece,
        tokens_max: usize,
        texts: &[&str],
    ) -> Result<Vec<Embedded>, EmbedError> {
        self.each(tokenizer, tokens_max, texts, &|words, output| {
            let rows = output.tokens.chunks_exact(output.vector.len()).skip(1);
            let vector = |row: &[f32]| match &self.token_basis {
                Some(basis) => basis.project(row),
                None => row.to_vec(),
            };
            let tokens = words.iter().zip(rows).map(|(word, row)| Token { word: word.clone(), vector: vector(row) });
            Embedded { tokens: tokens.collect(), vector: output.vector }
        })
    }

    /// Runs every text and maps its output with `keep`.
    fn each<T: Send>(
        &self,
        tokenizer: &WordPiece,
        tokens_max: usize,
        texts: &[&str],
        keep: &(dyn Fn(&[String], Output) -> T + Sync),
    ) -> Result<Vec<T>, EmbedError> {
        let batch: Vec<_> = texts.iter().map(|text| tokenizer.encode_words(text, tokens_max)).collect();
        if let [(ids, words)] = batch.as_slice() {
            return Ok(vec![keep(words, self.network.run(ids, self.lanes.next())?)]);
        }
        let run = |(ids, words): &(Vec<i32>, Vec<String>), lane: &Arc<ThreadPool>| {
            self.network.run(ids, lane).map(|output| keep(words, output))
        };
        self.share_out(&batch, &|(ids, _)| ids.len(), &run)
    }

    /// The network's score of each pair, in order.
    pub(crate) fn judge(
        &self,
        tokenizer: &WordPiece,
        tokens_max: usize,
        question: &str,
        passages: &[&str],
    ) -> Result<Vec<f32>, EmbedError> {
        let pairs: Vec<_> = passages.iter().map(|text| tokenizer.encode_pair(question, text, tokens_max)).collect();
        self.share_out(&pairs, &|(ids, _)| ids.len(), &|(ids, second), lane| self.network.judge(ids, *second, lane))
    }

    fn share_out<P: Sync, T: Send>(
        &self,
        batch: &[P],
        length: &dyn Fn(&P) -> usize,
        run: Run<'_, P, T>,
    ) -> Result<Vec<T>, EmbedError> {
        // Longest first, so that no long text starts when the other threads have finished.
        let mut order: Vec<usize> = (0..batch.len()).collect();
        order.sort_by_key(|&text| std::cmp::Reverse(length(&batch[text])));

        let next = AtomicUsize::new(0);
        let work = |lane: &Arc<ThreadPool>| -> Result<Vec<(usize, T)>, EmbedError> {
            let mut done = Vec::new();
            while let Some(&text) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                done.push((text, run(&batch[text], lane)?));
            }
            Ok(done)
        };
        let mut vectors = thread::scope(|scope| {
            let lanes = &self.lanes.pools[..self.lanes.pools.len().min(batch.len())];
            let workers: Vec<_> = lanes.iter().map(|lane| scope.spawn(|| work(lane))).collect();
            let mut vectors = Vec::with_capacity(batch.len());
            for worker in workers {
                vectors.extend(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
            }
            Ok(vectors)
        })?;
        vectors.sort_unstable_by_key(|&(text, _)| text);
        Ok(vectors.into_iter().map(|(_, vector)| vector).collect())
    }
}
