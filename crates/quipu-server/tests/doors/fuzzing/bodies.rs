//! The bodies of the fuzz targets of the server. `fuzz/` includes this file, so it uses nothing of the tests beside it.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use quipu_core::id::UserId;
use quipu_engine::erase::delete_user;
use quipu_engine::keys::Keys;
use quipu_engine::{Engine, FactOptions, RememberOptions, Utterance, facts, remember, status, users};
use quipu_models::{RuleExtractor, RuleSummarizer};
use quipu_server::{Placement, ServerOptions, ServerParts, StreamServer, Upstream, Wire};
use quipu_testkit::{FixedClock, MemoryKeys, MemoryStore, SeededEntropy, TestEngine};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::runtime::Runtime;

/// The address that requests name. Nothing listens there.
const PORT: u16 = 7077;
/// The size of the pipe between the client and the server, in bytes.
const PIPE_BYTES: usize = 64 << 10;
/// A case sends at most so many requests.
const REQUESTS_MAX: usize = 4;
/// Answers are read up to this size.
const ANSWER_BYTES_MAX: usize = 8 << 20;
/// An answer that takes longer is a fault. Far longer than any should take, since the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a client of [`http_bytes`] waits for an answer before it closes its side.
const SILENCE: Duration = Duration::from_millis(3);
/// Starts a tag that no page has. If it is sent as text, it must not be in a page as it is.
const TAG: &str = "<zqx";

/// A server with one user, in memory, and the runtime it runs in.
struct Fuzzed {
    runtime: Runtime,
    engine: Arc<Engine>,
    server: Arc<StreamServer>,
    /// The version of the user's memory before a case.
    version: u64,
    /// Names that an input cannot know, and what stands for them in it.
    names: Vec<(&'static str, String)>,
}

static FUZZED: LazyLock<Mutex<Fuzzed>> = LazyLock::new(|| Mutex::new(Fuzzed::new()));

fn user() -> UserId {
    UserId::parse("ada").unwrap_or_else(|refusal| panic!("{refusal}"))
}

impl Fuzzed {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.unwrap_or_else(|error| panic!("{error}"));
        let mut ports = TestEngine::new(1);
        ports.extractor = Some(Arc::new(RuleExtractor::english()));
        ports.summarizer = Some(Arc::new(RuleSummarizer));
        let engine = Arc::new(ports.engine(Box::new(MemoryStore::new())));
        let clock = Arc::new(FixedClock::new());
        let keys = Keys::new(Arc::new(MemoryKeys::new()), clock.clone(), Arc::new(SeededEntropy::new(3)));
        let parts = ServerParts {
            engine: engine.clone(),
            clock,
            entropy: Arc::new(SeededEntropy::new(2)),
            keys: Arc::new(keys),
            signer: None,
            metrics: Arc::default(),
            chat: None,
        };
        // Nothing listens on this port, so a request that is passed on fails at once.
        let upstream = |name: &str, wire| Upstream {
            name: name.to_owned(),
            base_url: "http://127.0.0.1:1/v1".to_owned(),
            wire,
            key: None,
            models: Vec::new(),
            placement: Placement::default(),
        };
        let options = ServerOptions {
            addr: SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)),
            upstreams: vec![upstream("open", Wire::OpenAi), upstream("anthropic", Wire::Anthropic)],
            recall_within: PATIENCE,
            user: Some(user()),
            ..ServerOptions::default()
        };
        let server = runtime.block_on(async { StreamServer::new(parts, options) });
        let server = Arc::new(server.unwrap_or_else(|error| panic!("{error}")));
        let mut fuzzed = Self { runtime, engine, server, version: 0, names: Vec::new() };
        fuzzed.begin();
        fuzzed
    }

    /// The token of the forms of the inspector.
    fn token(&self) -> String {
        let page = format!("GET /ui/u/ada/memories HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\nConnection: close\r\n\r\n");
        let page = String::from_utf8_lossy(&self.talk(page.as_bytes(), Ends::WithTheServer)).into_owned();
        let token = page.split("name=\"token\" value=\"").nth(1).and_then(|rest| rest.split('"').next());
        token.unwrap_or_else(|| panic!("a page without a form: {page}")).to_owned()
    }

    /// An input with the names of today in place of `{token}`, `{fact}` and `{item}`.
    fn named(&self, data: &[u8]) -> String {
        let text = String::from_utf8_lossy(data).into_owned();
        self.names.iter().fold(text, |text, (place, name)| text.replace(place, name))
    }

    /// Gives the user a new memory.
    fn begin(&mut self) {
        for text in
            ["I live in Porto. My sister is Ana.", "I have to renew my passport by Friday.", "I like <b>tea</b>."]
        {
            let said = Utterance { session: Some("s".to_owned()), ..Utterance::of_user(text) };
            let _ =
                remember(&self.engine, &user(), &said, &RememberOptions::default()).map_err(|error| panic!("{error}"));
        }
        self.version = self.now();
        let facts = facts(&self.engine, &user(), &FactOptions::default()).unwrap_or_default();
        let fact = facts.first().unwrap_or_else(|| panic!("nothing was read in the messages"));
        let item = fact.source_ids.first().unwrap_or_else(|| panic!("a fact without a source"));
        self.names =
            vec![("{fact}", fact.fact.id.to_string()), ("{item}", item.to_string()), ("{token}", self.token())];
    }

    fn now(&self) -> u64 {
        status(&self.engine, &user()).map_or(0, |status| status.version)
    }

    /// Takes back what a case did, so that the next one starts from the same memory.
    fn reset(&mut self) {
        let all = users(&self.engine).unwrap_or_else(|error| panic!("{error}"));
        if all == [user()] && self.now() == self.version {
            return;
        }
        for one in all {
            delete_user(&self.engine, &one).unwrap_or_else(|error| panic!("a user cannot be deleted: {error}"));
        }
        self.begin();
    }

    /// Sends bytes as one client and returns what is answered until the server closes the connection.
    fn talk(&self, bytes: &[u8], ends: Ends) -> Vec<u8> {
        let server = self.server.clone();
        self.runtime.block_on(async move {
            let (client, other) = tokio::io::duplex(PIPE_BYTES);
            let answering = tokio::spawn(async move {
                server.answer(other).await;
                server.settle().await;
            });
            let answer = tokio::time::timeout(PATIENCE, exchange(client, bytes, ends)).await;
            let Ok(answer) = answer else { panic!("no answer after {PATIENCE:?}") };
            let done = tokio::time::timeout(PATIENCE, answering).await;
            assert!(matches!(done, Ok(Ok(()))), "the connection was not closed, or its task panicked");
            answer
        })
    }
}

/// When a client stops.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// When the server closes the connection.
    WithTheServer,
    /// Some time after it was last answered.
    InSilence,
}

async fn exchange(client: DuplexStream, bytes: &[u8], ends: Ends) -> Vec<u8> {
    let (mut from, mut to) = tokio::io::split(client);
    let read = async move {
        let (mut answer, mut space) = (Vec::new(), vec![0; 16 << 10]);
        loop {
            let got = match ends {
                Ends::WithTheServer => from.read(&mut space).await,
                Ends::InSilence => match tokio::time::timeout(SILENCE, from.read(&mut space)).await {
                    Ok(got) => got,
                    Err(_) => return answer,
                },
            };
            match got {
                Ok(0) | Err(_) => return answer,
                Ok(more) => answer.extend_from_slice(&space[..more]),
            }
            // A stream of events does not end.
            if answer.len() > ANSWER_BYTES_MAX || is_stream(&answer) {
                return answer;
            }
        }
    };
    // The server may close the connection before everything is written.
    let write = async move {
        let _ = to.write_all(bytes).await;
        to
    };
    let (answer, _open) = tokio::join!(read, write);
    answer
}

fn is_stream(answer: &[u8]) -> bool {
    let head = &answer[..answer.len().min(4 << 10)];
    String::from_utf8_lossy(head).to_ascii_lowercase().contains("content-type: text/event-stream")
}

/// The status, the content type and the body of an answer.
fn parts(answer: &[u8]) -> Option<(u16, String, &[u8])> {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&answer[..end]).ok()?;
    let status = head.strip_prefix("HTTP/1.")?.get(2..5)?.parse().ok()?;
    let kind =
        head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-type: ").map(str::to_owned));
    Some((status, kind.unwrap_or_default(), &answer[end + 4..]))
}

/// The length of the first of several answers.
fn length_of_first(answers: &[u8]) -> usize {
    let shown = || String::from_utf8_lossy(&answers[..answers.len().min(2000)]).into_owned();
    let head = answers.windows(4).position(|four| four == b"\r\n\r\n").map(|end| end + 4);
    let Some(head) = head else { panic!("an answer that breaks off: {:?}", shown()) };
    let after = &answers[head..];
    // An answer to HEAD has the length of the body that it leaves out.
    if after.is_empty() || after.starts_with(b"HTTP/1.") {
        return head;
    }
    let lines = String::from_utf8_lossy(&answers[..head]).to_ascii_lowercase();
    let length = lines.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
    // Without a length, the body ends with the connection.
    let length = length.unwrap_or(after.len());
    assert!(length <= after.len(), "a body that breaks off: {:?}", shown());
    head + length
}

fn check(sent: &str, answer: &[u8]) {
    let shown = || String::from_utf8_lossy(&answer[..answer.len().min(2000)]).into_owned();
    let Some((status, kind, body)) = parts(answer) else { panic!("no response: {:?}", shown()) };
    assert_ne!(status, 500, "a bug, or damage: {}", shown());
    let is_whole = !answer[..answer.len() - body.len()].windows(7).any(|part| part.eq_ignore_ascii_case(b"chunked"));
    if kind.starts_with("application/json") && !body.is_empty() && is_whole && !sent.starts_with("HEAD") {
        let read = serde_json::from_slice::<serde_json::Value>(body);
        assert!(read.is_ok(), "an answer that is no JSON: {}", shown());
    }
    if kind.starts_with("text/html") {
        let page = String::from_utf8_lossy(body).to_ascii_lowercase();
        assert!(!page.contains(TAG), "text became a tag of a page: {}", shown());
    }
}

/// Requests, separated by lines of `%%`: a line with method and path, lines of headers, an empty line, and the body.
///
/// Each is sent on a connection of its own, with the length of its body and a `Host` unless it has these. Every request is answered, with another
/// status than 500; JSON is JSON, and text that was sent is not a tag of a page.
pub fn http(data: &[u8]) {
    let mut fuzzed = FUZZED.lock().unwrap_or_else(PoisonError::into_inner);
    let text = fuzzed.named(data);
    for request in text.split("\n%%\n").take(REQUESTS_MAX) {
        let (head, body) = request.split_once("\n\n").unwrap_or((request, ""));
        let mut lines = head.lines();
        let mut sent = format!("{} HTTP/1.1\r\n", lines.next().unwrap_or_default());
        let has = |name: &str| head.lines().skip(1).any(|line| line.to_ascii_lowercase().starts_with(name));
        if !has("host:") {
            sent.push_str(&format!("Host: 127.0.0.1:{PORT}\r\n"));
        }
        if !has("content-length:") && !has("transfer-encoding:") {
            sent.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        if !has("content-type:") && !body.is_empty() {
            sent.push_str("Content-Type: application/json\r\n");
        }
        lines.for_each(|line| sent.push_str(&format!("{line}\r\n")));
        sent.push_str("Connection: close\r\n\r\n");
        sent.push_str(body);
        // With headers that say how long the body is, the server may wait for more of it.
        let ends = if has("content-length:") || has("transfer-encoding:") || has("expect:") || has("connection:") {
            Ends::InSilence
        } else {
            Ends::WithTheServer
        };
        let answer = fuzzed.talk(sent.as_bytes(), ends);
        if ends == Ends::WithTheServer || !answer.is_empty() {
            check(&sent, &answer);
        }
    }
    fuzzed.reset();
}

/// Bytes on a connection.
///
/// The server answers with responses, or closes the connection; none of them is a 500.
pub fn http_bytes(data: &[u8]) {
    let mut fuzzed = FUZZED.lock().unwrap_or_else(PoisonError::into_inner);
    let answers = fuzzed.talk(data, Ends::InSilence);
    let mut rest = answers.as_slice();
    while !rest.is_empty() {
        let (answer, after) = rest.split_at(length_of_first(rest));
        check("", answer);
        rest = after;
    }
    fuzzed.reset();
}

/// Messages to `/mcp` with every toolset, one in each line.
///
/// Every message is answered, with JSON if with anything, and never with 500.
pub fn mcp(data: &[u8]) {
    let mut fuzzed = FUZZED.lock().unwrap_or_else(PoisonError::into_inner);
    let text = fuzzed.named(data);
    for message in text.lines().take(REQUESTS_MAX) {
        let sent = format!(
            "POST /mcp/ada?toolsets=graph,files,admin HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{message}",
            message.len()
        );
        check(&sent, &fuzzed.talk(sent.as_bytes(), Ends::WithTheServer));
    }
    fuzzed.reset();
}
