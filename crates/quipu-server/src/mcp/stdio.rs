//! MCP over standard input and output, for a client that starts the process itself.

use std::sync::Arc;
use std::time::Duration;

use quipu_core::id::UserId;
use quipu_engine::ports::Scope;
use quipu_engine::{Engine, Error, Result};
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::sync::Semaphore;

use super::call::Hall;
use super::guest::{Guest, McpOptions, Toolset};
use super::peer::Peer;
use crate::metrics::Metrics;
use crate::options::Bounds;
use crate::progress::Progress;
use crate::queue::Queue;

/// Calls at work at a time: of one person's client there are few.
const CALLS_MAX: usize = 4;
const WAITS: Duration = Duration::from_secs(30);
/// How long readings that have begun may go on after the client is gone; what is left is due at the next command.
const READS_ON: Duration = Duration::from_secs(10);

/// Answers on standard output what a client asks on standard input, until that ends. Nothing else may be written there.
///
/// # Errors
/// `Unavailable` if the client does not speak the protocol, or the process can have no threads.
pub fn serve_stdio(engine: Arc<Engine>, user: UserId, toolsets: Vec<Toolset>, options: &McpOptions) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Error::Unavailable(format!("no threads to serve with: {error}")))?;
    let mut scopes = vec![Scope::Read, Scope::Write];
    if options.review {
        scopes.push(Scope::Review);
    }
    let queue = {
        let _inside = runtime.enter();
        let (bounds, metrics) = (Bounds::default(), Arc::new(Metrics::new()));
        let progress = Arc::new(Progress::new(&bounds, metrics.clone()));
        Arc::new(Queue::new(engine.clone(), &bounds, metrics, progress))
    };
    let hall = Hall {
        engine,
        slots: Arc::new(Semaphore::new(CALLS_MAX)),
        waits: WAITS,
        queue: queue.clone(),
        user_words: options.user_words,
    };
    let peer = Peer { hall: Arc::new(hall), guest: Some(Guest { user, key_id: None, scopes, toolsets }) };
    let done = runtime.block_on(async {
        let running = match peer.serve(rmcp::transport::stdio()).await {
            Ok(running) => running,
            // Whoever only asked what this is has been answered.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(Error::Unavailable(format!("the client does not speak MCP: {error}"))),
        };
        let ended = running.waiting().await.map(drop);
        queue.drain(READS_ON).await;
        ended.map_err(|error| Error::Bug(format!("the conversation broke off: {error}")))
    });
    // The thread that reads standard input may wait for a line that never comes.
    runtime.shutdown_timeout(Duration::from_millis(100));
    done
}
