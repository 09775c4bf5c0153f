//! Forwards a response to the client while its reply is read.
//!
//! Every byte is forwarded unchanged and immediately, except those that tell the client that the reply is complete:
//! they are held back until the reply has been recorded. These are the piece with the last event of an event stream,
//! the last piece of any other response, or the end or the error itself.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_util::Stream;

use super::reply::{Reader, Reply};

/// How a response ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The stream marked the reply as complete; more bytes may follow.
    Said,
    /// The whole response was forwarded.
    Through,
    /// The upstream failed.
    Broken,
    /// The client disconnected.
    Left,
}

/// Completes when the held bytes may be forwarded.
pub(crate) type Hold = Pin<Box<dyn Future<Output = ()> + Send>>;
/// Records replies. Called with [`Ended::Said`] at most once, and then once more at the end.
type Keep = Box<dyn FnMut(Reply, Ended) -> Hold + Send>;
type Bytewise = Pin<Box<dyn Stream<Item = reqwest::Result<Bytes>> + Send>>;

/// Forwards a response and reports its reply.
pub(crate) struct Tee {
    inner: Bytewise,
    keep: Keep,
    /// `None` once the end was reported.
    reader: Option<Reader>,
    /// Pieces that were read and not forwarded yet.
    held: VecDeque<reqwest::Result<Bytes>>,
    hold: Option<Hold>,
    has_said: bool,
    is_over: bool,
}

impl Tee {
    pub(crate) fn new(
        inner: impl Stream<Item = reqwest::Result<Bytes>> + Send + 'static,
        reader: Reader,
        keep: impl FnMut(Reply, Ended) -> Hold + Send + 'static,
    ) -> Self {
        Self {
            inner: Box::pin(inner),
            keep: Box::new(keep),
            reader: Some(reader),
            held: VecDeque::new(),
            hold: None,
            has_said: false,
            is_over: false,
        }
    }

    fn end(&mut self, ended: Ended) {
        if let Some(reader) = self.reader.take() {
            self.hold = Some((self.keep)(reader.finish(), ended));
        }
    }

    /// Processes a piece of the response.
    fn take(&mut self, came: Option<reqwest::Result<Bytes>>) {
        match came {
            Some(Ok(bytes)) => {
                if let Some(reader) = &mut self.reader {
                    reader.feed(&bytes);
                    if reader.has_ended() && !self.has_said {
                        self.has_said = true;
                        self.hold = Some((self.keep)(reader.so_far(), Ended::Said));
                    }
                }
                self.held.push_back(Ok(bytes));
            }
            Some(Err(error)) => {
                self.end(Ended::Broken);
                self.held.push_back(Err(error));
                self.is_over = true;
            }
            None => {
                self.end(Ended::Through);
                self.is_over = true;
            }
        }
    }

    /// Number of pieces to hold back until more is known.
    fn back(&self) -> usize {
        let is_in_one_piece = self.reader.as_ref().is_some_and(|reader| !reader.is_stream());
        usize::from(is_in_one_piece && !self.is_over)
    }
}

impl Stream for Tee {
    type Item = reqwest::Result<Bytes>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let tee = self.get_mut();
        loop {
            if let Some(hold) = &mut tee.hold {
                ready!(hold.as_mut().poll(cx));
                tee.hold = None;
            }
            if tee.held.len() > tee.back() {
                return Poll::Ready(tee.held.pop_front());
            }
            if tee.is_over {
                return Poll::Ready(None);
            }
            let came = ready!(tee.inner.as_mut().poll_next(cx));
            tee.take(came);
        }
    }
}

impl Drop for Tee {
    fn drop(&mut self) {
        // The client takes no more. A reply that was marked as complete is recorded as such; nothing waits for it.
        self.end(Ended::Left);
    }
}
