//! The part of HTTP/1.1 that a fake server needs, with one request per connection.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

const HEAD_BYTES_MAX: u64 = 64 << 10;
const BODY_BYTES_MAX: usize = 64 << 20;

/// A received request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// `GET`, `POST` …
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// Names in lower case and values, in the order received.
    pub headers: Vec<(String, String)>,
    /// The raw body.
    pub body: Vec<u8>,
}

impl Received {
    /// The first header with that name, in any case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null if it is not JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// Reads one request.
    pub(super) fn read(stream: &TcpStream) -> io::Result<Self> {
        let mut reader = BufReader::new(stream);
        let mut head = Read::by_ref(&mut reader).take(HEAD_BYTES_MAX);
        let first = line(&mut head)?;
        let mut words = first.split(' ');
        let (Some(method), Some(path)) = (words.next(), words.next()) else { return Err(bad("no request line")) };
        let (method, path) = (method.to_owned(), path.to_owned());
        let mut headers = Vec::new();
        loop {
            let text = line(&mut head)?;
            if text.is_empty() {
                break;
            }
            let (name, value) = text.split_once(':').ok_or_else(|| bad("a header without a colon"))?;
            headers.push((name.trim().to_lowercase(), value.trim().to_owned()));
        }
        let mut received = Self { method, path, headers, body: Vec::new() };
        if received.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
            let mut out = stream;
            out.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        received.body = received.read_body(&mut reader)?;
        Ok(received)
    }

    fn read_body(&self, reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        if self.header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
            loop {
                let size = line(reader)?;
                let size = usize::from_str_radix(size.split(';').next().unwrap_or_default().trim(), 16)
                    .map_err(|_| bad("a chunk without a size"))?;
                if body.len().saturating_add(size) > BODY_BYTES_MAX {
                    return Err(bad("the body is too long"));
                }
                let start = body.len();
                body.resize(start + size, 0);
                reader.read_exact(&mut body[start..])?;
                line(reader)?;
                if size == 0 {
                    return Ok(body);
                }
            }
        }
        let length = self.header("content-length").map_or(Ok(0), str::parse).map_err(|_| bad("no length"))?;
        if length > BODY_BYTES_MAX {
            return Err(bad("the body is too long"));
        }
        body.resize(length, 0);
        reader.read_exact(&mut body)?;
        Ok(body)
    }
}

fn bad(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut text = String::new();
    if reader.read_line(&mut text)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

/// Status line and headers of a response of known length.
pub(super) fn head(status: u16, kind: &str, length: usize, more: &[(&str, String)]) -> String {
    let mut text = start(status, kind, more);
    text.push_str(&format!("content-length: {length}\r\n\r\n"));
    text
}

/// Status line and headers of a chunked response.
pub(super) fn chunked_head(status: u16, kind: &str) -> String {
    let mut text = start(status, kind, &[]);
    text.push_str("cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n");
    text
}

fn start(status: u16, kind: &str, more: &[(&str, String)]) -> String {
    let mut text = format!("HTTP/1.1 {status} {}\r\ncontent-type: {kind}\r\nconnection: close\r\n", phrase(status));
    for (name, value) in more {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text
}

fn phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        302 => "Found",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        _ => "Overloaded",
    }
}

/// One chunk of a response.
pub(super) fn chunk(bytes: &[u8]) -> Vec<u8> {
    let mut whole = format!("{:x}\r\n", bytes.len()).into_bytes();
    whole.extend_from_slice(bytes);
    whole.extend_from_slice(b"\r\n");
    whole
}

/// The last chunk of a response.
pub(super) const LAST_CHUNK: &[u8] = b"0\r\n\r\n";
