//! State shared by all requests.

use std::sync::Arc;

use data_encoding::HEXLOWER;
use quipu_engine::keys::Keys;
use quipu_engine::ports::{Clock, Entropy, LanguageModel, ServerRecord, Signer};
use quipu_engine::{Engine, Error, Result};
use tokio::sync::{Semaphore, watch};

use crate::http::Rates;
use crate::inspector::{Desks, Uploads};
use crate::maintenance::Maintenance;
use crate::memory::{Blocks, MemorySource};
use crate::metrics::Metrics;
use crate::options::ServerOptions;
use crate::peers::Peers;
use crate::probe::Probe;
use crate::progress::Progress;
use crate::proxy::{Asides, ResponseChain, Unanswered};
use crate::queue::Queue;
use crate::word_caches::WordCaches;

/// The parts a server is built from.
pub struct ServerParts {
    /// The memory engine.
    pub engine: Arc<Engine>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Source of random numbers.
    pub entropy: Arc<dyn Entropy>,
    /// Access keys.
    pub keys: Arc<Keys>,
    /// Signs exported bundles and verifies imported ones; without it bundles are unavailable.
    pub signer: Option<Arc<dyn Signer>>,
    /// Metrics. Models report their calls to the same instance.
    pub metrics: Arc<Metrics>,
    /// Answers questions of people in the inspector; without it the inspector shows what was found only.
    pub chat: Option<ChatModel>,
}

/// A language model that answers from memory.
#[derive(Clone)]
pub struct ChatModel {
    /// The model.
    pub model: Arc<dyn LanguageModel>,
    /// Its instructions; the memory follows them.
    pub prompt: &'static str,
}

/// Most questions that the chat model answers at the same time.
const CHATS_MAX: usize = 2;

/// State shared by all requests.
pub(crate) struct App {
    pub(crate) options: ServerOptions,
    pub(crate) engine: Arc<Engine>,
    pub(crate) keys: Arc<Keys>,
    /// True if every request needs a key.
    pub(crate) needs_key: bool,
    pub(crate) rates: Rates,
    /// Sessions of the inspector.
    pub(crate) desks: Desks,
    /// Permits for engine operations on paths of Quipu's own.
    pub(crate) verbs: Arc<Semaphore>,
    /// Permits for event streams.
    pub(crate) streams: Arc<Semaphore>,
    /// True once the server is stopping.
    pub(crate) stopping: watch::Sender<bool>,
    pub(crate) memory: MemorySource,
    pub(crate) queue: Arc<Queue>,
    pub(crate) maintenance: Arc<Maintenance>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) client: reqwest::Client,
    pub(crate) asides: Asides,
    pub(crate) chain: Arc<ResponseChain>,
    pub(crate) unanswered: Arc<Unanswered>,
    /// All caches above that hold words of users.
    pub(crate) word_caches: WordCaches,
    pub(crate) progress: Arc<Progress>,
    pub(crate) probe: Arc<Probe>,
    /// The servers that share the store.
    pub(crate) peers: Arc<Peers>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) signer: Option<Arc<dyn Signer>>,
    pub(crate) chat: Option<ChatModel>,
    /// Permits for questions to the chat model.
    pub(crate) chats: Semaphore,
    /// Files uploaded in the inspector.
    pub(crate) uploads: Arc<Uploads>,
    entropy: Arc<dyn Entropy>,
}

impl App {
    /// Assembles the state.
    pub(crate) fn new(parts: ServerParts, options: ServerOptions) -> Result<Self> {
        let bounds = &options.bounds;
        // Fails only if a provider is already installed, which is then used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // Connects to the configured addresses only: no proxy from the environment, no redirects.
        let builder = || {
            reqwest::Client::builder()
                .no_proxy()
                .redirect(reqwest::redirect::Policy::none())
                .connect_timeout(bounds.connect_within)
                .read_timeout(bounds.upstream_idle)
                .tcp_nodelay(true)
        };
        // A system without root certificates, such as a small container, still reaches upstreams over http.
        let client = builder().build().or_else(|_| builder().tls_certs_only([]).build());
        let client = client.map_err(|error| Error::Unavailable(format!("no HTTP client can be made: {error}")))?;
        let metrics = parts.metrics;
        let maintenance = Maintenance::new(parts.engine.clone(), options.maintenance.clone(), metrics.clone());
        let progress = Arc::new(Progress::new(bounds, metrics.clone()));
        let queue = Queue::new(parts.engine.clone(), bounds, metrics.clone(), progress.clone());
        let together = if options.maintenance.enabled { options.maintenance.read_together } else { 1 };
        let queue = Arc::new(queue.reading_together(together));
        let mut id = [0u8; 12];
        parts.entropy.fill(&mut id);
        let own = ServerRecord {
            id: HEXLOWER.encode(&id),
            name: options.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let peers = Arc::new(Peers::new(parts.engine.clone(), own, metrics.clone()));
        let (blocks, chain) = (Arc::<Blocks>::default(), Arc::<ResponseChain>::default());
        let unanswered = Arc::<Unanswered>::default();
        let uploads = Arc::new(Uploads::new(parts.entropy.clone()));
        Ok(Self {
            needs_key: options.needs_key || !options.addr.ip().is_loopback(),
            engine: parts.engine.clone(),
            keys: parts.keys,
            desks: Desks::new(parts.entropy.clone()),
            rates: Rates::new(bounds.requests_per_second, bounds.requests_at_once),
            verbs: Arc::new(Semaphore::new(bounds.verbs_max)),
            streams: Arc::new(Semaphore::new(bounds.streams_max)),
            stopping: watch::Sender::new(false),
            memory: MemorySource::new(
                parts.engine.clone(),
                bounds.recalls_max,
                metrics.clone(),
                progress.clone(),
                blocks.clone(),
            ),
            word_caches: WordCaches::new(vec![
                blocks,
                chain.clone(),
                unanswered.clone(),
                queue.clone(),
                uploads.clone(),
            ]),
            unanswered,
            queue,
            chain,
            maintenance: Arc::new(maintenance),
            peers,
            probe: Arc::new(Probe::new(parts.engine, progress.clone())),
            progress,
            metrics,
            client,
            asides: Asides::new()?,
            clock: parts.clock,
            signer: parts.signer,
            chat: parts.chat,
            chats: Semaphore::new(CHATS_MAX),
            uploads,
            entropy: parts.entropy,
            options,
        })
    }

    /// True while a recall is running or an exchange is being recorded or read.
    pub(crate) fn is_busy(&self) -> bool {
        let verbs = self.options.bounds.verbs_max.saturating_sub(self.verbs.available_permits());
        verbs > 0 || self.memory.is_asked() || !self.queue.is_idle()
    }

    /// A new request id.
    pub(crate) fn new_request_id(&self) -> String {
        let mut random = [0u8; 12];
        self.entropy.fill(&mut random);
        format!("req_{}", HEXLOWER.encode(&random))
    }
}
