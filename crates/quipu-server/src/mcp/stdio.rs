//! MCP over standard input and output, for a client that starts the process itself.

use std::sync::Arc;
use std::time::Duration;

use quipu_core::id::UserId;
use quipu_engine::ports::Scope;
use quipu_engine::{Engine, Error, Result};
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::sync::{Semaphore, watch};

use super::call::SharedState;
use super::guest::{McpCaller, McpOptions, Toolset};
use super::lines::Lines;
use super::peer::Peer;
use crate::maintenance::{Maintenance, MaintenanceOptions};
use crate::metrics::Metrics;
use crate::options::Bounds;
use crate::progress::Progress;
use crate::queue::Queue;

/// Calls at work at a time: one person's client makes few.
const CALLS_MAX: usize = 4;
const WAITS: Duration = Duration::from_secs(30);
/// How long readings and maintenance that have begun may continue after the client has gone; the rest stays due.
const READS_ON: Duration = Duration::from_secs(10);

/// Answers requests from standard input on standard output until the input ends. Nothing else may write to standard
/// output. While no call is being answered, it runs maintenance for the user's memory as `maintenance` says.
///
/// # Errors
/// `Unavailable` if the client does not speak the protocol, or no threads can be started.
pub fn serve_stdio(
    engine: Arc<Engine>,
    user: UserId,
    toolsets: Vec<Toolset>,
    options: &McpOptions,
    maintenance: MaintenanceOptions,
) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Error::Unavailable(format!("cannot start threads: {error}")))?;
    let mut scopes = vec![Scope::Read, Scope::Write];
    if options.review {
        scopes.push(Scope::Review);
    }
    let metrics = Arc::new(Metrics::new());
    let queue = {
        let _inside = runtime.enter();
        let bounds = Bounds::default();
        let progress = Arc::new(Progress::new(&bounds, metrics.clone()));
        Arc::new(Queue::new(engine.clone(), &bounds, metrics.clone(), progress))
    };
    let maintenance = Arc::new(Maintenance::new(engine.clone(), maintenance, metrics).only(user.clone()));
    let slots = Arc::new(Semaphore::new(CALLS_MAX));
    let (calls, reading) = (slots.clone(), queue.clone());
    let is_busy = move || calls.available_permits() < CALLS_MAX || !reading.is_idle();
    let (stop, stopping) = watch::channel(false);
    let hall = SharedState { engine, slots, waits: WAITS, queue: queue.clone(), user_words: options.user_words };
    let peer = Peer { hall: Arc::new(hall), guest: Some(McpCaller { user, key_id: None, scopes, toolsets }) };
    let done = runtime.block_on(async {
        let maintaining = tokio::spawn(maintenance.run(stopping, is_busy));
        let (input, output) = rmcp::transport::stdio();
        let lines = Lines::between(input, output);
        let served = match peer.serve((lines.input, lines.output)).await {
            Ok(running) => Ok(running.waiting().await.map(drop)),
            Err(error) => Err(error),
        };
        // A client that has gone reads no more answers.
        let _ = lines.written.await;
        let ended = match served {
            Ok(ended) => ended,
            // The client disconnected before initialisation; that is no error.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(Error::Unavailable(format!("the client does not speak MCP: {error}"))),
        };
        stop.send_replace(true);
        // Maintenance ends after the current unit of work.
        let (_, _) = tokio::join!(queue.drain(READS_ON), tokio::time::timeout(READS_ON, maintaining));
        ended.map_err(|error| Error::Bug(format!("the connection was aborted: {error}")))
    });
    // The thread that reads standard input may be blocked on a line that never comes.
    runtime.shutdown_timeout(Duration::from_millis(100));
    done
}
