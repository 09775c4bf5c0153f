//! Taking connections, each within its bounds.

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
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tower_service::Service;

use super::screen::Screen;
use crate::metrics::Metrics;
use crate::options::Bounds;

/// After a connection could not be taken (too many open files, mostly) the next one is tried so much later.
const AFTER_FAULT: Duration = Duration::from_millis(50);

/// Takes connections until `stop`, then gives those that are busy time to end. What is not over then is cut.
pub(crate) async fn run(
    listener: TcpListener,
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
        let connection = graceful.watch(connection(stream, router.clone(), bounds));
        let metrics = metrics.clone();
        open.spawn(async move {
            metrics.connections.inc();
            // How a connection ends is between the two ends of it.
            let _ = connection.await;
            metrics.connections.dec();
            drop(slot);
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(bounds.drain_within, graceful.shutdown()).await;
    // Dropping a reply that is still being piped records what there was of it.
    open.shutdown().await;
}

fn connection(
    stream: TcpStream,
    router: Router,
    bounds: &Bounds,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> + Send + use<> {
    // Deltas of a stream are small and must not wait for each other.
    let _ = stream.set_nodelay(true);
    let io = TokioIo::new(Screen::new(stream, bounds.head_bytes_max, bounds.write_within));
    let answer = service_fn(move |request: Request<Incoming>| answer(router.clone(), request));
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(bounds.head_within)
        .max_buf_size(bounds.head_bytes_max)
        .max_headers(bounds.headers_max)
        .serve_connection(io, answer)
}

/// Answers one request; a panic answers 500 and costs nobody else anything.
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

/// The same address without a slash at the end of its path; none if there is none.
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
