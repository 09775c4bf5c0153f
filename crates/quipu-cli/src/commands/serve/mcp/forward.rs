//! Forwards messages between standard input and output and a running server, for clients that can only start a process.

use std::io::{self, BufRead, Read, Write};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use quipu_core::id::UserId;
use quipu_engine::{Error, Result};
use quipu_server::Toolset;
use reqwest::blocking::Client;
use serde_json::{Value, json};

use super::address;
use crate::http_client;

/// Longest message, in bytes; more than a server accepts.
const MESSAGE_BYTES_MAX: u64 = 16 << 20;
/// Concurrent requests.
const AT_ONCE: usize = 4;
const WITHIN: Duration = Duration::from_secs(120);
/// First protocol version in which headers repeat method and name of a message.
const SELF_CONTAINED: &str = "2026-07-28";
/// JSON-RPC code of an internal error.
const INTERNAL: i32 = -32603;

/// Forwards standard input line by line until it ends.
///
/// # Errors
/// `Invalid` for a wrong address; `Unavailable` if standard input cannot be read.
pub(super) fn run(server: &str, user: Option<&UserId>, toolsets: &[Toolset]) -> Result<()> {
    let url = address(server, user, toolsets)?;
    let client = http_client::to_server(WITHIN, None)?;
    let key = std::env::var("QUIPU_API_KEY").ok().filter(|key| !key.is_empty());
    let bridge = Arc::new(Bridge { client, url, key, version: Mutex::default() });
    let (give, take) = mpsc::sync_channel::<String>(AT_ONCE);
    let take = Arc::new(Mutex::new(take));
    let workers: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            let (bridge, take) = (bridge.clone(), take.clone());
            thread::spawn(move || {
                loop {
                    let next = take.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok(message) = next else { return };
                    bridge.forward(&message);
                }
            })
        })
        .collect();
    let mut input = io::stdin().lock();
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(MESSAGE_BYTES_MAX + 1).read_until(b'\n', &mut line);
        let read = read.map_err(|error| Error::Unavailable(format!("standard input cannot be read: {error}")))?;
        if read as u64 > MESSAGE_BYTES_MAX {
            return Err(Error::Invalid(format!("a message has at most {MESSAGE_BYTES_MAX} bytes")));
        }
        if read == 0 {
            break;
        }
        let line = String::from_utf8_lossy(&line).trim().to_owned();
        if !line.is_empty() && give.send(line).is_err() {
            break;
        }
    }
    drop(give);
    for worker in workers {
        let _ = worker.join();
    }
    Ok(())
}

struct Bridge {
    client: Client,
    url: String,
    key: Option<String>,
    /// The protocol version negotiated in a handshake.
    version: Mutex<Option<String>>,
}

impl Bridge {
    fn forward(&self, line: &str) {
        let message: Value = serde_json::from_str(line).unwrap_or(Value::Null);
        let id = message.get("id").cloned();
        let answer = self.send(line, &message).unwrap_or_else(|why| {
            id.as_ref()
                .map(|id| json!({"jsonrpc": "2.0", "id": id, "error": {"code": INTERNAL, "message": why}}).to_string())
        });
        if let Some(answer) = answer {
            let mut out = io::stdout().lock();
            // The client may have exited.
            let _ = out.write_all(format!("{}\n", answer.trim()).as_bytes()).and_then(|()| out.flush());
        }
    }

    /// The response of the server; `None` for a notification.
    fn send(&self, line: &str, message: &Value) -> std::result::Result<Option<String>, String> {
        let mut request = self
            .client
            .post(&self.url)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        for (name, value) in self.headers(message) {
            request = request.header(name, value);
        }
        let unreachable = |error: reqwest::Error| {
            format!("the server at {} does not answer: {}. Start it with `quipu serve`", self.url, error.without_url())
        };
        let response = request.body(line.to_owned()).send().map_err(unreachable)?;
        let text = response.text().map_err(unreachable)?;
        if message.get("id").is_none() || text.trim().is_empty() {
            return Ok(None);
        }
        let mut answer: Value =
            serde_json::from_str(&text).map_err(|_| format!("the server at {} does not speak MCP", self.url))?;
        if answer["id"].is_null() {
            answer["id"] = message["id"].clone();
        }
        if message["method"] == "initialize"
            && let Some(version) = answer["result"]["protocolVersion"].as_str()
        {
            *self.version.lock().unwrap_or_else(PoisonError::into_inner) = Some(version.to_owned());
        }
        Ok(Some(answer.to_string()))
    }

    /// The protocol headers for a message.
    fn headers(&self, message: &Value) -> Vec<(&'static str, String)> {
        let own = message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str().map(str::to_owned);
        let agreed = || self.version.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(version) = own.or_else(|| agreed().filter(|_| message["method"] != "initialize")) else {
            return Vec::new();
        };
        let mut headers = Vec::new();
        if version.as_str() >= SELF_CONTAINED {
            let method = message["method"].as_str().unwrap_or_default();
            let name = match method {
                "tools/call" | "prompts/get" => message["params"]["name"].as_str(),
                "resources/read" => message["params"]["uri"].as_str(),
                _ => None,
            };
            headers.push(("mcp-method", in_header(method)));
            headers.extend(name.map(|name| ("mcp-name", in_header(name))));
        }
        headers.push(("mcp-protocol-version", version));
        headers
    }
}

/// Encodes a text for a header: plain, or in base64 as the protocol defines.
fn in_header(text: &str) -> String {
    let plain = text.bytes().all(|byte| matches!(byte, 0x20..=0x7e)) && text.trim() == text && !text.starts_with("=?");
    if plain { text.to_owned() } else { format!("=?base64?{}?=", data_encoding::BASE64.encode(text.as_bytes())) }
}
