//! Screens the bytes of a connection before the HTTP parser, and rejects requests that can be parsed in more than one
//! way.
//!
//! The parser is more lenient than a proxy in front of it may be: it accepts a length together with chunked encoding,
//! and bare line feeds. A head is held back until it is complete. A rejected head is replaced by bytes that are not a
//! request, which the parser answers with 400 and a closed connection.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// Passed to the parser in place of a rejected head.
const NO_REQUEST: &[u8] = b"\0\r\n\r\n";
/// Maximum length of a chunk-size line, including extensions.
const CHUNK_LINE_MAX: usize = 256;
/// Maximum length of a trailer.
const TRAILER_MAX: usize = 8 << 10;
const READ_BYTES: usize = 16 << 10;

/// Position of the next byte within a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Head,
    /// In a body, with the number of bytes left.
    Body(u64),
    /// In a chunk-size line: its length so far, the size so far, and whether more digits may follow.
    ChunkSize {
        length: usize,
        size: u64,
        digits: bool,
    },
    /// In a chunk, with the number of bytes left, including its line end.
    Chunk(u64),
    /// After the last chunk: bytes of the trailer, and of its current line.
    Trailer {
        length: usize,
        line: usize,
    },
    /// Screening has ended; the parser reports the error.
    Over,
}

/// A connection whose input is screened and whose writes time out.
pub(super) struct Screen<S> {
    inner: S,
    at: At,
    /// An incomplete head.
    held: Vec<u8>,
    /// Bytes for the parser, and how many of them it has taken.
    ready: Vec<u8>,
    from: usize,
    head_bytes_max: usize,
    write_within: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> Screen<S> {
    pub(super) fn new(inner: S, head_bytes_max: usize, write_within: Duration) -> Self {
        Self {
            inner,
            at: At::Head,
            held: Vec::new(),
            ready: Vec::new(),
            from: 0,
            head_bytes_max,
            write_within,
            stalled: None,
        }
    }

    fn refuse(&mut self) {
        self.held.clear();
        self.ready.extend_from_slice(NO_REQUEST);
        self.at = At::Over;
    }

    /// Processes bytes that were read.
    fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let taken = match self.at {
                At::Over => {
                    self.ready.extend_from_slice(bytes);
                    return;
                }
                At::Head => self.feed_head(bytes),
                At::Body(left) | At::Chunk(left) => {
                    let taken = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                    let left = left - taken as u64;
                    let in_chunk = matches!(self.at, At::Chunk(_));
                    self.ready.extend_from_slice(&bytes[..taken]);
                    self.at = match (in_chunk, left) {
                        (false, 0) => At::Head,
                        (true, 0) => At::ChunkSize { length: 0, size: 0, digits: true },
                        (false, left) => At::Body(left),
                        (true, left) => At::Chunk(left),
                    };
                    Some(taken)
                }
                At::ChunkSize { .. } | At::Trailer { .. } => self.feed_line(bytes[0]).then_some(1),
            };
            match taken {
                Some(taken) => bytes = &bytes[taken..],
                None => return self.refuse(),
            }
        }
    }

    /// Consumes bytes up to the end of the head and returns their number; `None` if the head is rejected.
    fn feed_head(&mut self, bytes: &[u8]) -> Option<usize> {
        for (place, &byte) in bytes.iter().enumerate() {
            if byte == b'\n' && self.held.last() != Some(&b'\r') {
                return None;
            }
            self.held.push(byte);
            if self.held.ends_with(b"\r\n\r\n") {
                self.at = framing(&self.held)?;
                self.ready.append(&mut self.held);
                return Some(place + 1);
            }
            if self.held.len() > self.head_bytes_max {
                // The parser has the same limit and answers the request itself.
                self.ready.append(&mut self.held);
                self.at = At::Over;
                return Some(place + 1);
            }
        }
        Some(bytes.len())
    }

    /// Consumes one byte of a line between chunks; false if it is rejected.
    fn feed_line(&mut self, byte: u8) -> bool {
        let last = self.ready.last().copied();
        self.ready.push(byte);
        let ends = byte == b'\n';
        // The previous byte may already be with the parser, which then rejects the bare line feed itself.
        if ends && last.is_some_and(|last| last != b'\r') {
            self.ready.pop();
            return false;
        }
        match self.at {
            At::ChunkSize { length, size, .. } if ends => {
                self.at = match size {
                    0 if length < 2 => return false,
                    0 => At::Trailer { length: 0, line: 0 },
                    size => At::Chunk(size + 2),
                };
                true
            }
            At::ChunkSize { length, size, digits } => {
                let digit = char::from(byte).to_digit(16).filter(|_| digits);
                let grown = digit.map_or(Some(size), |digit| size.checked_mul(16)?.checked_add(u64::from(digit)));
                let Some(size) = grown.filter(|size| *size < u64::MAX - 2) else { return false };
                self.at = At::ChunkSize { length: length + 1, size, digits: digit.is_some() };
                length < CHUNK_LINE_MAX
            }
            At::Trailer { line, .. } if ends && line <= 1 => {
                self.at = At::Head;
                true
            }
            At::Trailer { length, line } => {
                self.at = At::Trailer { length: length + 1, line: if ends { 0 } else { line + 1 } };
                length < TRAILER_MAX
            }
            At::Head | At::Body(_) | At::Chunk(_) | At::Over => true,
        }
    }
}

/// How the body after a complete head is delimited; `None` if that is ambiguous.
fn framing(head: &[u8]) -> Option<At> {
    // Names and framing are ASCII; values outside ASCII are UTF-8 or rejected.
    let text = std::str::from_utf8(head).ok()?;
    let mut lines = text.trim_end_matches("\r\n").split("\r\n");
    let request_line = lines.next()?;
    let (mut length, mut chunked) = (None, false);
    for line in std::iter::once(request_line).chain(lines.clone()) {
        if line.contains(['\r', '\n', '\0']) {
            return None;
        }
    }
    for line in lines {
        let (name, value) = line.split_once(':')?;
        if name.is_empty() || name.contains([' ', '\t']) {
            return None;
        }
        let value = value.trim_matches([' ', '\t']);
        if name.eq_ignore_ascii_case("content-length") {
            let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
            if length.is_some() || !digits {
                return None;
            }
            length = Some(value.parse::<u64>().ok()?);
        }
        if name.eq_ignore_ascii_case("transfer-encoding") {
            if chunked || !value.eq_ignore_ascii_case("chunked") || request_line.ends_with("HTTP/1.0") {
                return None;
            }
            chunked = true;
        }
    }
    match (length, chunked) {
        (Some(_), true) => None,
        (_, true) => Some(At::ChunkSize { length: 0, size: 0, digits: true }),
        (None | Some(0), false) => Some(At::Head),
        (Some(length), false) => Some(At::Body(length)),
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Screen<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let screen = self.get_mut();
        loop {
            if screen.from < screen.ready.len() {
                let given = out.remaining().min(screen.ready.len() - screen.from);
                out.put_slice(&screen.ready[screen.from..screen.from + given]);
                screen.from += given;
                if screen.from == screen.ready.len() {
                    screen.ready.clear();
                    screen.from = 0;
                }
                return Poll::Ready(Ok(()));
            }
            let mut space = [0u8; READ_BYTES];
            let mut read = ReadBuf::new(&mut space);
            ready!(Pin::new(&mut screen.inner).poll_read(cx, &mut read))?;
            if read.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            screen.feed(read.filled());
        }
    }
}

impl<S: AsyncWrite + Unpin> Screen<S> {
    /// Fails with a timeout if nothing could be written for too long.
    fn in_time<T>(&mut self, cx: &mut Context<'_>, wrote: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if wrote.is_ready() {
            self.stalled = None;
            return wrote;
        }
        let within = self.write_within;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(within)));
        ready!(stalled.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Screen<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let screen = self.get_mut();
        let wrote = Pin::new(&mut screen.inner).poll_write(cx, bytes);
        screen.in_time(cx, wrote)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let screen = self.get_mut();
        let wrote = Pin::new(&mut screen.inner).poll_write_vectored(cx, parts);
        screen.in_time(cx, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let screen = self.get_mut();
        let wrote = Pin::new(&mut screen.inner).poll_flush(cx);
        screen.in_time(cx, wrote)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // With TLS, the last words of a connection have to be written too.
        let screen = self.get_mut();
        let done = Pin::new(&mut screen.inner).poll_shutdown(cx);
        screen.in_time(cx, done)
    }
}
