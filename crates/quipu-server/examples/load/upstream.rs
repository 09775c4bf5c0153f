//! A minimal model server that streams the same reply to every request, at a fixed pace.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Counters of the received requests.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) requests: AtomicU64,
    /// Requests with words of more than one user.
    pub(crate) mixed: AtomicU64,
    /// Requests with a memory block.
    pub(crate) blocks: AtomicU64,
}

/// Starts a server that sends `pieces` events, `pace` apart.
pub(crate) async fn start(pieces: usize, pace: Duration) -> (SocketAddr, Arc<Seen>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let addr = listener.local_addr().unwrap();
    let seen = Arc::new(Seen::default());
    let own = seen.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream, pieces, pace, own.clone()));
        }
    });
    (addr, seen)
}

/// Answers the requests of one connection until it is closed.
async fn answer(mut stream: TcpStream, pieces: usize, pace: Duration, seen: Arc<Seen>) {
    let _ = stream.set_nodelay(true);
    let mut held: Vec<u8> = Vec::new();
    loop {
        let Some(body) = request(&mut stream, &mut held).await else { return };
        seen.requests.fetch_add(1, Ordering::Relaxed);
        seen.note(&body);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        if stream.write_all(head.as_bytes()).await.is_err() {
            return;
        }
        for number in 0..pieces {
            if number > 0 && !pace.is_zero() {
                tokio::time::sleep(pace).await;
            }
            let end = if number + 1 == pieces { "data: [DONE]\n\n" } else { "" };
            let event = format!(
                "data: {{\"id\":\"c\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"word {number} \"}},\"finish_reason\":null}}]}}\n\n{end}"
            );
            let chunk = format!("{:x}\r\n{event}\r\n", event.len());
            if stream.write_all(chunk.as_bytes()).await.is_err() {
                return;
            }
        }
        if stream.write_all(b"0\r\n\r\n").await.is_err() {
            return;
        }
    }
}

/// The body of the next request; `None` at the end.
async fn request(stream: &mut TcpStream, held: &mut Vec<u8>) -> Option<Vec<u8>> {
    let mut space = [0u8; 16 << 10];
    loop {
        if let Some(end) = held.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&held[..end]).to_ascii_lowercase();
            let length: usize = head.split("content-length: ").nth(1)?.split("\r\n").next()?.parse().ok()?;
            if held.len() >= end + 4 + length {
                let body = held[end + 4..end + 4 + length].to_vec();
                held.drain(..end + 4 + length);
                return Some(body);
            }
        }
        match stream.read(&mut space).await {
            Ok(0) | Err(_) => return None,
            Ok(read) => held.extend_from_slice(&space[..read]),
        }
    }
}

impl Seen {
    /// Looks for the words that identify users: `canaryNNNN`.
    fn note(&self, body: &[u8]) {
        let text = String::from_utf8_lossy(body);
        let mut named: Vec<&str> = text.match_indices("canary").filter_map(|(at, _)| text.get(at..at + 10)).collect();
        named.sort_unstable();
        named.dedup();
        self.mixed.fetch_add(u64::from(named.len() > 1), Ordering::Relaxed);
        self.blocks.fetch_add(u64::from(text.contains("<memory user=")), Ordering::Relaxed);
    }
}
