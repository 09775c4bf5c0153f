//! An answer on its way to the client, read along byte for byte.
//!
//! Every byte is passed on unchanged, and at once but for those that tell the client that its reply is complete: they are
//! held back until the reply was handed over to be kept. In a stream of events that is the piece with the last event, in an
//! answer in one piece its last piece, and in any other case the end or the error itself.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_util::Stream;

use super::reply::{Reader, Reply};

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The stream says that the reply is complete; more bytes may come.
    Said,
    /// All of it passed.
    Through,
    /// The upstream broke off.
    Broken,
    /// The client went away.
    Left,
}

/// What the bytes that complete a reply wait for.
pub(crate) type Hold = Pin<Box<dyn Future<Output = ()> + Send>>;
/// Whoever keeps replies. Called with [`Ended::Said`] at most once, and then once more at the end.
type Keep = Box<dyn FnMut(Reply, Ended) -> Hold + Send>;
type Bytewise = Pin<Box<dyn Stream<Item = reqwest::Result<Bytes>> + Send>>;

/// Passes an answer on and tells what was said in it.
pub(crate) struct Tee {
    inner: Bytewise,
    keep: Keep,
    /// None once the end was told.
    reader: Option<Reader>,
    /// Read and not passed on yet.
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

    /// Takes in what came.
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

    /// How many pieces stay back until more is known.
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
        // Nobody takes the rest. A reply that was complete by its own word by then is; nobody waits for it to be kept.
        self.end(Ended::Left);
    }
}
