//! Event streams: `GET …/events` with `Accept: text/event-stream`.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use quipu_core::id::{Seq, UserId};
use quipu_engine::log::LogEntry;
use quipu_engine::{Engine, Error, LogOptions, log, versions};
use tokio::sync::OwnedSemaphorePermit;

use super::super::fault::Fault;
use crate::app::App;

/// Polling interval. A poll reads the version of the open memory, not the store.
const LOOKED_EVERY: Duration = Duration::from_millis(250);
/// Number of polls without events after which a keep-alive comment is sent.
const QUIET_LOOKS: u32 = 60;
/// Number of keep-alive comments after which a stream of versions ends.
const VERSION_ALIVES: u32 = 20;
/// Number of polls for which a memory may be at an earlier version than the reader, who may have read from a server that was
/// ahead. Then it was deleted, or restored to an earlier version.
const BEHIND_LOOKS: u32 = 40;
/// Maximum number of events read at a time.
const BATCH: usize = 100;

/// True if the caller accepts an event stream.
pub(super) fn is_wanted(headers: &HeaderMap) -> bool {
    let accepted =
        headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).flat_map(|list| list.split(','));
    accepted.map(|one| one.split(';').next().unwrap_or_default().trim()).any(|kind| kind == "text/event-stream")
}

/// The position in `Last-Event-ID`, which a client sends after a reconnect.
pub(super) fn left_at(headers: &HeaderMap) -> Result<Option<Seq>, Fault> {
    match headers.get("last-event-id").map(|value| value.to_str().ok().and_then(|text| text.trim().parse().ok())) {
        None => Ok(None),
        Some(Some(seq)) => Ok(Some(seq)),
        Some(None) => Err(Fault::invalid("Last-Event-ID is the position of an event").at("Last-Event-ID")),
    }
}

/// What a stream carries.
#[derive(Debug, Clone)]
enum Content {
    Events,
    Version,
    /// How often something changed that a page shows.
    Steps(Arc<AtomicU64>),
}

struct Live {
    app: Arc<App>,
    user: UserId,
    after: Seq,
    quiet: u32,
    /// Number of polls in a row that found the memory behind the reader.
    behind: u32,
    content: Content,
    /// Number of keep-alive comments left.
    alives: u32,
    is_over: bool,
    _place: OwnedSemaphorePermit,
}

/// Streams the version of a memory whenever it is another than `after`, for pages: no content, so that nothing is told
/// to a caller whose access ended. For the same reason the stream ends after some minutes, and the page asks again.
pub(crate) async fn version_stream(app: &Arc<App>, user: UserId, after: Seq) -> Result<Response, Fault> {
    begin(app, user, after, Content::Version, VERSION_ALIVES).await
}

/// As [`version_stream`], for how often something else than the memory has changed, such as an import that runs.
pub(crate) async fn step_stream(
    app: &Arc<App>,
    user: UserId,
    after: Seq,
    steps: Arc<AtomicU64>,
) -> Result<Response, Fault> {
    begin(app, user, after, Content::Steps(steps), VERSION_ALIVES).await
}

/// Streams all events after a position, then new ones as they are recorded, until the client or the server ends it.
pub(super) async fn events(app: &Arc<App>, user: UserId, after: Seq) -> Result<Response, Fault> {
    begin(app, user, after, Content::Events, u32::MAX).await
}

async fn begin(app: &Arc<App>, user: UserId, after: Seq, content: Content, alives: u32) -> Result<Response, Fault> {
    let place = app.streams.clone().try_acquire_owned();
    let place = place.map_err(|_| Fault::busy(Duration::from_secs(10)))?;
    // A missing memory is reported before the stream begins.
    match next(app.engine.clone(), user.clone(), after, content.clone()).await {
        Err(Error::Stale(_)) => {}
        other => drop(other?),
    }
    let live =
        Live { app: app.clone(), user, after, quiet: 0, behind: 0, content, alives, is_over: false, _place: place };
    let body = Body::from_stream(stream::unfold(live, |live| async { live.step().await }));
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    Ok((headers, body).into_response())
}

impl Live {
    async fn step(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        let mut stopping = self.app.stopping.subscribe();
        while !self.is_over && !*stopping.borrow() {
            match next(self.app.engine.clone(), self.user.clone(), self.after, self.content.clone()).await {
                Err(Error::Stale(_)) if self.behind < BEHIND_LOOKS => self.behind += 1,
                Err(error) => {
                    self.is_over = true;
                    let told = serde_json::json!({"error": error.to_string()});
                    return Some((Ok(format!("event: error\ndata: {told}\n\n").into()), self));
                }
                Ok(Some((after, text))) => {
                    (self.quiet, self.behind) = (0, 0);
                    self.after = after;
                    return Some((Ok(text.into()), self));
                }
                Ok(None) => self.behind = 0,
            }
            self.quiet += 1;
            if self.quiet % QUIET_LOOKS == 1 {
                self.is_over = self.alives == 0;
                self.alives = self.alives.saturating_sub(1);
                return Some((Ok(Bytes::from_static(b": alive\n\n")), self));
            }
            tokio::select! {
                () = tokio::time::sleep(LOOKED_EVERY) => {}
                _ = stopping.changed() => {}
            }
        }
        None
    }
}

fn written(entries: &[LogEntry]) -> String {
    let one = |entry: &LogEntry| {
        let data = serde_json::to_string(entry).unwrap_or_default();
        format!("id: {}\nevent: event\ndata: {data}\n\n", entry.seq)
    };
    entries.iter().map(one).collect()
}

/// What comes after a position and the position it leads to; `None` if there is nothing yet.
async fn next(engine: Arc<Engine>, user: UserId, after: Seq, content: Content) -> Result<Option<(Seq, String)>, Error> {
    let told = move |now: Seq| (now != after).then(|| (now, format!("id: {now}\nevent: version\ndata: {now}\n\n")));
    if let Content::Steps(steps) = &content {
        return Ok(told(steps.load(Ordering::SeqCst)));
    }
    let work = move || {
        let version = versions::version(&engine, &user)?;
        if matches!(content, Content::Version) {
            // Without an open memory, every look would ask the store.
            if version == 0 {
                return Err(Error::NotFound(format!("there is no user {user}")));
            }
            return Ok(told(version));
        }
        if version < after {
            return Err(Error::Stale(format!(
                "the memory of {user} is at version {version} and not at {after}: it was deleted, or restored to an earlier version. Read it \
                 again from its beginning"
            )));
        }
        if version == after {
            return Ok(None);
        }
        let before = after.saturating_add(BATCH as Seq + 1);
        let mut found = log(&engine, &user, &LogOptions { before: Some(before), limit: BATCH, reference: None })?;
        found.retain(|entry| entry.seq > after);
        found.reverse();
        Ok(found.last().map(|entry| (entry.seq, written(&found))))
    };
    let stopped = |_| Error::Bug("reading events stopped without an answer".to_owned());
    tokio::task::spawn_blocking(work).await.map_err(stopped)?
}
