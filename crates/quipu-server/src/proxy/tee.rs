//! An answer on its way to the client, read along byte for byte.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::{Stream, StreamExt};

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

/// The same bytes; whatever came before an error reaches the client first. A body that fails at once takes along what hyper has not
/// sent yet, the head of the answer too; one that has nothing for a moment has it sent.
pub(crate) fn sent_before_an_error<T, E>(
    bytes: impl Stream<Item = Result<T, E>> + Send + 'static,
) -> impl Stream<Item = Result<T, E>> + Send + 'static
where
    T: Send + 'static,
    E: Send + 'static,
{
    bytes.then(|next| async {
        if next.is_err() {
            tokio::task::yield_now().await;
        }
        next
    })
}

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

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests {
    use std::convert::Infallible;
    use std::io;

    use axum::body::Body;
    use axum::response::Response;
    use futures_util::stream;
    use hyper::server::conn::http1;
    use hyper::service::service_fn;
    use hyper_util::rt::TokioIo;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::sent_before_an_error;

    #[tokio::test]
    async fn what_came_before_an_error_reaches_the_client() {
        let (mut client, server) = tokio::io::duplex(4096);
        let breaks_off = service_fn(|_| async {
            let bytes = [Ok("It is"), Ok(" Porto"), Err(io::Error::other("reset"))];
            Ok::<_, Infallible>(Response::new(Body::from_stream(sent_before_an_error(stream::iter(bytes)))))
        });
        let served =
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(server), breaks_off).into_future());
        client.write_all(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer:?}");
        assert!(answer.ends_with("\r\n5\r\nIt is\r\n6\r\n Porto\r\n"), "no last chunk, so it is cut: {answer:?}");
        assert!(served.await.unwrap().is_err());
    }
}
