//! Response bodies that fail in transit.

use futures_util::{Stream, StreamExt};

/// The same bytes, with a pause before an error, so that everything before it reaches the client. If a body fails
/// immediately, hyper drops what it has not sent yet, including the head; a body that is briefly pending is flushed
/// first.
pub(super) fn sent_before_an_error<T, E>(
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
