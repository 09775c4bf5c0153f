//! Accepts connections, within their limits.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, StatusCode, Uri};
use futures_util::FutureExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tower_service::Service;

use super::screen::Screen;
use crate::metrics::Metrics;
use crate::options::Bounds;
use crate::tls::Certificates;

/// Pause after a failed accept, usually caused by too many open files.
const AFTER_FAULT: Duration = Duration::from_millis(50);

/// Accepts connections until `stop`, then gives busy ones time to end and closes the rest.
pub(crate) async fn run(
    listener: TcpListener,
    tls: Option<Arc<Certificates>>,
    router: Router,
    bounds: &Bounds,
    metrics: Arc<Metrics>,
    stop: impl Future<Output = ()>,
) {
    let slots = Arc::new(Semaphore::new(bounds.connections_max));
    let graceful = GracefulShutdown::new();
    let mut open = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        let taken = tokio::select! {
            () = &mut stop => break,
            taken = listener.accept() => taken,
        };
        while open.try_join_next().is_some() {}
        let Ok((stream, _)) = taken else {
            tokio::time::sleep(AFTER_FAULT).await;
            continue;
        };
        let Ok(slot) = slots.clone().try_acquire_owned() else {
            metrics.connections_refused.inc();
            continue;
        };
        // Deltas of a stream are small and must not be delayed (Nagle's algorithm).
        let _ = stream.set_nodelay(true);
        let (watcher, tls, router) = (graceful.watcher(), tls.clone(), router.clone());
        let (bounds, metrics) = (bounds.clone(), metrics.clone());
        open.spawn(async move {
            metrics.connections.inc();
            // Errors of a connection concern its client only.
            match tls {
                None => drop(watcher.watch(connection(stream, router, &bounds)).await),
                Some(tls) => {
                    if let Some(stream) = tls.accept(stream, bounds.head_within).await {
                        drop(watcher.watch(connection(stream, router, &bounds)).await);
                    }
                }
            }
            metrics.connections.dec();
            drop(slot);
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(bounds.drain_within, graceful.shutdown()).await;
    // Dropping a reply in transit records the part that arrived.
    open.shutdown().await;
}

fn connection<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(
    stream: S,
    router: Router,
    bounds: &Bounds,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> + Send + use<S> {
    let io = TokioIo::new(Screen::new(stream, bounds.head_bytes_max, bounds.write_within));
    let answer = service_fn(move |request: Request<Incoming>| answer(router.clone(), request));
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(bounds.head_within)
        .max_buf_size(bounds.head_bytes_max)
        .max_headers(bounds.headers_max)
        .serve_connection(io, answer)
}

/// Answers the requests of one stream until either side closes it.
pub(crate) async fn answer_stream<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(
    stream: S,
    router: Router,
    bounds: &Bounds,
) {
    // Errors of a connection concern its client only.
    drop(connection(stream, router, bounds).await);
}

/// Answers one request; a panic becomes a 500 and affects no other request.
async fn answer(mut router: Router, mut request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
    if let Some(plain) = without_trailing_slash(request.uri()) {
        *request.uri_mut() = plain;
    }
    let answered = AssertUnwindSafe(router.call(request)).catch_unwind().await;
    Ok(match answered {
        Ok(Ok(response)) => response,
        Ok(Err(never)) => match never {},
        Err(_) => {
            let mut response = Response::new(Body::from("a bug in quipu: please report it\n"));
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            response
        }
    })
}

/// The same URI without a trailing slash in its path; `None` if there is none.
fn without_trailing_slash(uri: &Uri) -> Option<Uri> {
    let path = uri.path();
    if path.len() < 2 || !path.ends_with('/') || path.starts_with("/proxy/") {
        return None;
    }
    let path = path.trim_end_matches('/');
    let path = if path.is_empty() { "/" } else { path };
    let whole = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = whole.parse().ok();
    Uri::from_parts(parts).ok()
}
