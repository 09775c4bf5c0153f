//! Load tests of the proxy (time to the first byte, many concurrent streams) and of the API (retrievals, durable
//! turns, concurrent writers).
//!
//! ```sh
//! cargo run --release -p quipu-server --example load -- overhead [REQUESTS]
//! cargo run --release -p quipu-server --example load -- soak [STREAMS] [SECONDS]
//! cargo run --release -p quipu-server --example load -- retrieve [TURNS] [REQUESTS]
//! cargo run --release -p quipu-server --example load -- turns [REQUESTS]
//! cargo run --release -p quipu-server --example load -- writers [WRITERS] [USERS] [SECONDS]
//! ```
//!
//! The upstream is a minimal server with its own thread pool that streams fixed bytes, so the proxy dominates the
//! measurement. Memory is complete: SQLite on disk, the built-in embedding model, extraction and summaries by rules.
//! Results are printed to stdout as JSON.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a benchmark stops at the first surprise and measures real time"
)]

mod api;
mod crowd;
mod overhead;
mod upstream;
mod writers;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use jiff::Timestamp;
use quipu_engine::keys::Keys;
use quipu_engine::ports::{Clock, Entropy};
use quipu_engine::{Engine, EngineParts, EngineRules, OptionalParts};
use quipu_models::{MiniLm, RuleExtractor, RuleSummarizer};
use quipu_server::{Placement, Server, ServerOptions, ServerParts, Upstream, Wire};
use quipu_sqlite::SqliteStore;
use quipu_testkit::MemoryKeys;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// An upstream address for servers that need none.
pub(crate) const NOBODY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 9);

struct Machine;

impl Clock for Machine {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

impl Entropy for Machine {
    fn fill(&self, bytes: &mut [u8]) {
        // The ids only have to be unique.
        let seed = blake3::hash(format!("{:?} {:?}", std::time::Instant::now(), bytes.as_ptr()).as_bytes());
        let mut reader = blake3::Hasher::new().update(seed.as_bytes()).finalize_xof();
        reader.fill(bytes);
    }
}

/// A server over a data folder, with an upstream.
pub(crate) struct Door {
    pub(crate) addr: SocketAddr,
    pub(crate) engine: Arc<Engine>,
    stop: oneshot::Sender<()>,
    running: JoinHandle<quipu_server::Drained>,
}

impl Door {
    pub(crate) async fn open(folder: &std::path::Path, upstream: SocketAddr) -> Self {
        let engine = Arc::new(Engine::new(EngineParts {
            store: Box::new(SqliteStore::open(folder, quipu_sqlite::StoreOptions::default()).unwrap()),
            embedder: Arc::new(MiniLm::new()),
            clock: Arc::new(Machine),
            entropy: Arc::new(Machine),
            extractor: Some(Arc::new(RuleExtractor::english())),
            summarizer: Some(Arc::new(RuleSummarizer)),
            rules: EngineRules::default(),
            optional: OptionalParts { tokenizers: quipu_models::tokenizers(), ..OptionalParts::default() },
        }));
        let options = ServerOptions {
            addr: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            upstreams: vec![Upstream {
                name: "bare".to_owned(),
                base_url: format!("http://{upstream}/v1"),
                wire: Wire::OpenAi,
                key: None,
                models: Vec::new(),
                placement: Placement::default(),
            }],
            ..ServerOptions::default()
        };
        let parts = ServerParts {
            engine: engine.clone(),
            clock: Arc::new(Machine),
            entropy: Arc::new(Machine),
            keys: Arc::new(Keys::new(Arc::new(MemoryKeys::new()), Arc::new(Machine), Arc::new(Machine))),
            signer: None,
            metrics: Arc::default(),
            chat: None,
        };
        let server = Server::bind(parts, options).await.unwrap();
        let addr = server.bound().addr;
        let (stop, stopped) = oneshot::channel::<()>();
        let running = tokio::spawn(server.run(async move {
            let _ = stopped.await;
        }));
        Self { addr, engine, stop, running }
    }

    /// Stops the server. Returns the number of exchanges that were not recorded in time.
    pub(crate) async fn close(self) -> usize {
        let _ = self.stop.send(());
        self.running.await.unwrap().lost
    }
}

/// The value at a percentile.
pub(crate) fn percentile(sorted: &[f64], percent: usize) -> f64 {
    sorted.get((sorted.len() * percent / 100).min(sorted.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

fn main() {
    let mut args = std::env::args().skip(1);
    let what = args.next().unwrap_or_default();
    let mut number = |usual: usize| args.next().map_or(usual, |text| text.parse().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    match what.as_str() {
        "overhead" => runtime.block_on(overhead::run(number(1000))),
        "soak" => {
            let (streams, seconds) = (number(200), number(60));
            runtime.block_on(crowd::run(streams, seconds));
        }
        "retrieve" => {
            let (turns, requests) = (number(10_000), number(1000));
            runtime.block_on(api::retrieve(turns, requests));
        }
        "turns" => runtime.block_on(api::turns(number(1000))),
        "writers" => {
            let (writers, users, seconds) = (number(8), number(100), number(60));
            runtime.block_on(writers::run(writers, users, seconds));
        }
        _ => eprintln!("overhead, soak, retrieve, turns or writers, and how much of it"),
    }
    runtime.shutdown_background();
}
