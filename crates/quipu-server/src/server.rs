//! Starts, runs and stops the server.

use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use quipu_engine::{Error, Result};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::app::{App, ServerParts};
use crate::http::{self, Hosts};
use crate::metrics::Metrics;
use crate::options::ServerOptions;
use crate::tls::Certificates;

/// A bound server that does not accept requests yet.
pub struct Server {
    listener: TcpListener,
    addr: SocketAddr,
    tls: Option<Arc<Certificates>>,
    app: Arc<App>,
    warming: Arc<quipu_engine::Engine>,
}

/// The bound address.
#[derive(Debug, Clone, Copy)]
pub struct Bound {
    /// Address, with the actual port.
    pub addr: SocketAddr,
}

/// Outcome of a shutdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drained {
    /// Number of exchanges that could not be recorded in time.
    pub lost: usize,
}

impl Server {
    /// Binds the address.
    ///
    /// # Errors
    /// - `Refused`: the address is not loopback and no key exists, so anyone who can reach it could read every memory.
    /// - `Invalid`: two upstreams have the same name, or one has an invalid address; or the TLS files cannot be used.
    /// - `Unavailable`: the port is in use.
    pub async fn bind(parts: ServerParts, options: ServerOptions) -> Result<Self> {
        check(&options)?;
        if !options.addr.ip().is_loopback() {
            let keys = parts.keys.clone();
            let asked = tokio::task::spawn_blocking(move || keys.has_any()).await;
            let has_any = asked.map_err(|_| Error::Bug("looking for keys stopped without an answer".to_owned()))??;
            if !has_any {
                return Err(without_keys(options.addr));
            }
        }
        let tls = options.tls.clone().map(Certificates::open).transpose()?.map(Arc::new);
        let listener = TcpListener::bind(options.addr).await.map_err(|error| {
            Error::Unavailable(format!(
                "cannot listen on {}: {error}. Stop what listens there, or give --addr",
                options.addr
            ))
        })?;
        let addr = listener
            .local_addr()
            .map_err(|error| Error::Unavailable(format!("the address that was bound cannot be read: {error}")))?;
        let warming = parts.engine.clone();
        Ok(Self { listener, addr, tls, app: Arc::new(App::new(parts, options)?), warming })
    }

    /// The bound address.
    pub fn bound(&self) -> Bound {
        Bound { addr: self.addr }
    }

    /// Serves until `stop` completes; then lets open responses end and waiting turns be recorded, within the limit for
    /// each. Acknowledged messages are durable already. Messages not processed yet are left to the next start.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Drained {
        let engine = self.warming;
        // Loads the model now, so that the first request does not wait for it.
        tokio::task::spawn_blocking(move || {
            if let Err(error) = engine.embedder().embed(&["warm"]) {
                tracing::warn!(%error, "the embedding model cannot be read: memory is found by words only");
            }
        });
        let hosts = Hosts::new(self.addr, &self.app.options.allow_hosts, self.tls.is_some());
        let router = http::router(self.app.clone(), hosts);
        let app = self.app.clone();
        let stop = async move {
            stop.await;
            app.stopping.send_replace(true);
            app.queue.stop_reading();
        };
        let bounds = self.app.options.bounds.clone();
        let busy = self.app.clone();
        let maintenance = self.app.maintenance.clone().run(self.app.stopping.subscribe(), move || busy.is_busy());
        let maintenance = tokio::spawn(maintenance);
        let peers = self.app.peers.clone().run(self.app.stopping.subscribe(), self.app.maintenance.clone());
        let peers = tokio::spawn(peers);
        let certificates = self.tls.clone();
        let followed = certificates.map(|tls| tls.follow(bounds.tls_check_every, self.app.stopping.subscribe()));
        let followed = followed.map(tokio::spawn);
        http::run(self.listener, self.tls, router, &bounds, self.app.metrics.clone(), stop).await;
        if let Some(followed) = followed {
            followed.abort();
        }
        // Maintenance ends after its current piece; if that hangs it is abandoned, and is due again at the next start.
        let ended = tokio::time::timeout(bounds.drain_within, maintenance);
        let left = tokio::time::timeout(bounds.drain_within, peers);
        let (lost, _, _) = tokio::join!(self.app.queue.drain(bounds.drain_within), ended, left);
        Drained { lost }
    }
}

fn without_keys(addr: SocketAddr) -> Error {
    Error::Refused(format!(
        "{addr} can be reached from other machines, and there are no keys yet: whoever asks could read every memory. Make one with \
         `quipu key create`; from then on every request needs one. Or listen on 127.0.0.1"
    ))
}

/// Checks the upstreams of a server.
pub(crate) fn check(options: &ServerOptions) -> Result<()> {
    let mut names: Vec<&str> = Vec::new();
    for one in &options.upstreams {
        let name = &one.name;
        let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        if name.is_empty() || !plain {
            return Err(Error::Invalid(format!("an upstream's name has letters, digits, - and _, not {name:?}")));
        }
        if names.contains(&name.as_str()) {
            return Err(Error::Invalid(format!("there are two upstreams called {name:?}")));
        }
        names.push(name);
        let url = reqwest::Url::parse(&one.base_url);
        let fits = url
            .as_ref()
            .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host() && url.query().is_none());
        if !fits {
            return Err(Error::Invalid(format!("upstream {name}: {:?} is no http address", one.base_url)));
        }
    }
    Ok(())
}

/// Maximum duration of a shutdown after an interrupt.
pub const STOPS_WITHIN: Duration = Duration::from_secs(7);

/// A message to the thread that waits for the end.
enum ShutdownSignal {
    Listens(Bound),
    Interrupted,
    Ended(Result<Drained>),
}

/// Serves until an interrupt (Ctrl-C, SIGTERM). Calls `ready` with the bound address.
///
/// Returns at most [`STOPS_WITHIN`] after the interrupt, even if an upstream, a model, the store or a thread of the
/// server hangs. Hanging work ends with the process; the ledger is then as after a kill and contains everything that
/// was acknowledged.
///
/// # Errors
/// Those of [`Server::bind`]; `Unavailable` if no threads can be created.
pub fn serve(parts: ServerParts, options: ServerOptions, ready: impl FnOnce(Bound)) -> Result<Drained> {
    let no_threads = |error: std::io::Error| Error::Unavailable(format!("no threads to serve with: {error}"));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(no_threads)?;
    let metrics = parts.metrics.clone();
    let (tell, told) = mpsc::channel();
    let (stop, stopped) = oneshot::channel::<()>();
    let signals = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(no_threads)?;
    let interrupted = interrupts(&signals).map_err(no_threads)?;
    let serving = tell.clone();
    // Waits on a separate thread, because all threads of the runtime may hang.
    std::thread::Builder::new()
        .name("quipu-serve".to_owned())
        .spawn(move || {
            let drained = runtime.block_on(async {
                let server = Server::bind(parts, options).await?;
                let _ = serving.send(ShutdownSignal::Listens(server.bound()));
                Ok(server
                    .run(async move {
                        let _ = stopped.await;
                    })
                    .await)
            });
            // Abandoned recalls must not delay the end.
            runtime.shutdown_background();
            let _ = serving.send(ShutdownSignal::Ended(drained));
        })
        .map_err(no_threads)?;
    std::thread::Builder::new()
        .name("quipu-signals".to_owned())
        .spawn(move || {
            signals.block_on(interrupted);
            let _ = tell.send(ShutdownSignal::Interrupted);
        })
        .map_err(no_threads)?;
    await_end(&told, stop, &metrics, ready)
}

/// Waits for the end of the server, stopping it on an interrupt.
fn await_end(
    told: &mpsc::Receiver<ShutdownSignal>,
    stop: oneshot::Sender<()>,
    metrics: &Metrics,
    ready: impl FnOnce(Bound),
) -> Result<Drained> {
    let gone = || Error::Bug("the server stopped without an answer".to_owned());
    let mut ready = Some(ready);
    loop {
        match told.recv().map_err(|_| gone())? {
            ShutdownSignal::Listens(bound) => {
                if let Some(ready) = ready.take() {
                    ready(bound);
                }
            }
            ShutdownSignal::Ended(drained) => return drained,
            ShutdownSignal::Interrupted => break,
        }
    }
    // Fails if the server has ended meanwhile, which the loop sees next.
    let _ = stop.send(());
    loop {
        match told.recv_timeout(STOPS_WITHIN) {
            Ok(ShutdownSignal::Ended(drained)) => return drained,
            Ok(ShutdownSignal::Listens(_) | ShutdownSignal::Interrupted) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => return Err(gone()),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                tracing::error!("the server did not end in time: hanging work is abandoned");
                return Ok(Drained { lost: usize::try_from(metrics.queue_depth.get()).unwrap_or(0) });
            }
        }
    }
}

/// Completes at Ctrl-C or, where available, SIGTERM. From the call on, neither ends the process by itself.
#[cfg(unix)]
fn interrupts(runtime: &tokio::runtime::Runtime) -> std::io::Result<impl Future<Output = ()> + Send + use<>> {
    use tokio::signal::unix::{SignalKind, signal};
    let _inside = runtime.enter();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Completes at Ctrl-C.
#[cfg(not(unix))]
fn interrupts(_: &tokio::runtime::Runtime) -> std::io::Result<impl Future<Output = ()> + Send + use<>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}
