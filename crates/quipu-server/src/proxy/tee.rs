//! An answer on its way to the client, read along byte for byte.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::Stream;

use super::reply::{Reader, Reply};

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// All of it passed.
    Through,
    /// The upstream broke off.
    Broken,
    /// The client went away.
    Left,
}

/// Whoever is told once the last byte has passed.
type Told = Box<dyn FnOnce(Reply, Ended) + Send>;
type Bytewise = Pin<Box<dyn Stream<Item = reqwest::Result<Bytes>> + Send>>;

/// Passes on what comes, unchanged and at once, and tells what was said at its end, however it comes.
pub(crate) struct Tee {
    inner: Bytewise,
    reader: Option<(Reader, Told)>,
}

impl Tee {
    pub(crate) fn new(
        inner: impl Stream<Item = reqwest::Result<Bytes>> + Send + 'static,
        reader: Reader,
        told: impl FnOnce(Reply, Ended) + Send + 'static,
    ) -> Self {
        Self { inner: Box::pin(inner), reader: Some((reader, Box::new(told))) }
    }

    fn end(&mut self, ended: Ended) {
        if let Some((reader, told)) = self.reader.take() {
            told(reader.finish(), ended);
        }
    }
}

impl Stream for Tee {
    type Item = reqwest::Result<Bytes>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let tee = self.get_mut();
        let polled = tee.inner.as_mut().poll_next(cx);
        match &polled {
            Poll::Ready(Some(Ok(bytes))) => {
                if let Some((reader, _)) = &mut tee.reader {
                    reader.feed(bytes);
                }
            }
            Poll::Ready(Some(Err(_))) => tee.end(Ended::Broken),
            Poll::Ready(None) => tee.end(Ended::Through),
            Poll::Pending => {}
        }
        polled
    }
}

impl Drop for Tee {
    fn drop(&mut self) {
        // Nobody takes the rest. An answer that was complete by its own word by then is.
        self.end(Ended::Left);
    }
}
