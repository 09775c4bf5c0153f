//! The server: one thread accepts connections, and each connection has its own thread.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use super::failing::{self, Failure};
use super::fault::{Fault, FaultKind};
use super::http::{self, Received};
use super::reply::{ScriptedReply, StreamEvent};
use super::request::FakeRequest;
use super::script::{FakeScript, PlannedFault, Repetition, Reply, scatter};
use super::{chat, embeddings, messages, responses, spoil};

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream; charset=utf-8";
/// Time limit for reading a request.
const READ_WAIT: Duration = Duration::from_secs(30);

/// A model server on a free port of the loopback interface. Dropping it closes every connection and frees the port.
#[derive(Debug)]
pub struct FakeServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    stopping: AtomicBool,
    stopped: Condvar,
}

#[derive(Debug)]
struct State {
    script: FakeScript,
    /// Per plan, the number of requests at which its fault could have occurred.
    met: Vec<u32>,
    /// Number of requests for text so far.
    asked: u64,
    received: Vec<Received>,
    is_stopped: bool,
}

impl FakeServer {
    /// Starts a server on a free port.
    ///
    /// # Errors
    /// The I/O error of opening the port.
    pub fn start(script: FakeScript) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let met = vec![0; script.plans.len()];
        let state = State { script, met, asked: 0, received: Vec::new(), is_stopped: false };
        let shared =
            Arc::new(Shared { state: Mutex::new(state), stopping: AtomicBool::new(false), stopped: Condvar::new() });
        let own = shared.clone();
        let accepting =
            thread::Builder::new().name("quipu-fake-model".to_owned()).spawn(move || accept(&listener, &own))?;
        Ok(Self { address, shared, accepting: Some(accepting) })
    }

    /// The address it listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:PORT`, the base URL for Anthropic's clients.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// `http://127.0.0.1:PORT/v1`, the base URL for OpenAI's clients.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.origin())
    }

    /// Every received request, in the order of reading.
    #[must_use]
    pub fn received(&self) -> Vec<Received> {
        self.shared.state().received.clone()
    }

    /// Number of received requests.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.shared.state().received.len()
    }

    /// Replaces the script from the next request on. Resets the counters and the list of received requests.
    pub fn rescript(&self, script: FakeScript) {
        let mut state = self.shared.state();
        state.met = vec![0; script.plans.len()];
        state.script = script;
        state.asked = 0;
        state.received.clear();
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::Release);
        self.shared.state().is_stopped = true;
        self.shared.stopped.notify_all();
        // A connection wakes the accepting thread, which then sees the stop flag.
        drop(TcpStream::connect(self.address));
        if let Some(accepting) = self.accepting.take() {
            // A panic there has been printed already.
            let _ = accepting.join();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Sleeps, but no longer than until the server stops.
    fn pause(&self, how_long: Duration) {
        if how_long.is_zero() {
            return;
        }
        let going = self.stopped.wait_timeout_while(self.state(), how_long, |state| !state.is_stopped);
        drop(going);
    }

    /// Waits until the server stops.
    fn hang(&self) {
        let going = self.stopped.wait_while(self.state(), |state| !state.is_stopped);
        drop(going);
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut working: Vec<JoinHandle<()>> = Vec::new();
    while let Ok((stream, _)) = listener.accept() {
        if shared.is_stopping() {
            break;
        }
        working.retain(|one| !one.is_finished());
        let own = shared.clone();
        let work = move || {
            // The client may have closed the connection, so errors are ignored.
            let _ = serve(&stream, &own);
        };
        let Ok(one) = thread::Builder::new().name("quipu-fake-reply".to_owned()).spawn(work) else { continue };
        working.push(one);
    }
    for one in working {
        let _ = one.join();
    }
}

/// What the script gives for one request.
struct PlannedReply {
    asked: Option<FakeRequest>,
    fault: Option<Fault>,
    seed: u64,
    script: FakeScript,
}

fn serve(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_read_timeout(Some(READ_WAIT))?;
    stream.set_write_timeout(Some(READ_WAIT))?;
    stream.set_nodelay(true)?;
    let received = Received::read(stream)?;
    let turn = turn(shared, &received);
    if let Some(fault) = turn.fault
        && let Some(failure) = failing::answer(fault, turn.seed)
    {
        return send_failure(stream, &failure);
    }
    let body = received.json();
    let path = received.path.split('?').next().unwrap_or_default().trim_end_matches('/');
    match (received.method.as_str(), &turn.asked) {
        ("POST", Some(asked)) => {
            let told = told(&turn, asked);
            let (plain, events) = if path.ends_with("/chat/completions") {
                (chat::plain(asked, &told), chat::stream(asked, &told))
            } else if path.ends_with("/responses") {
                (responses::plain(asked, &told), responses::stream(asked, &told))
            } else {
                (messages::plain(asked, &told), messages::stream(asked, &told))
            };
            let pieces = if asked.stream { events } else { Vec::new() };
            send(stream, shared, &turn, plain.to_string().into_bytes(), pieces)
        }
        ("POST", None) if path.ends_with("/embeddings") => {
            let answer = embeddings::embeddings(&body, turn.script.dimensions);
            send(stream, shared, &turn, answer.to_string().into_bytes(), Vec::new())
        }
        ("GET", _) if path.ends_with("/models") => {
            let answer = embeddings::models(&turn.script.models);
            send(stream, shared, &turn, answer.to_string().into_bytes(), Vec::new())
        }
        _ => {
            let body = json!({"error": {"message": format!("no such place: {path}"), "type": "not_found"}}).to_string();
            send_failure(stream, &Failure { status: 404, kind: JSON, headers: Vec::new(), body })
        }
    }
}

fn turn(shared: &Shared, received: &Received) -> PlannedReply {
    let path = received.path.split('?').next().unwrap_or_default().trim_end_matches('/').to_owned();
    let generates = ["/chat/completions", "/responses", "/messages"].iter().any(|end| path.ends_with(end));
    let mut state = shared.state();
    let asked = (generates && received.method == "POST").then(|| FakeRequest::read(&received.json(), state.asked));
    let number = state.asked;
    state.asked += u64::from(asked.is_some());
    state.received.push(received.clone());
    let State { script, met, .. } = &mut *state;
    let mut fault = None;
    for (plan, met) in script.plans.iter().zip(met.iter_mut()) {
        if fault.is_none() && is_at(plan, &path) && failing::concerns(plan.fault, asked.as_ref()) {
            let count = *met;
            *met += 1;
            let due = match plan.times {
                Repetition::First(most) => count < most,
                Repetition::Always => true,
                Repetition::After(good) => count >= good,
            };
            fault = due.then_some(plan.fault);
        }
    }
    PlannedReply { asked, fault, seed: scatter(script.seed, number), script: script.clone() }
}

fn is_at(plan: &PlannedFault, path: &str) -> bool {
    match &plan.path {
        Some(end) => path.ends_with(end.as_str()),
        None => !path.ends_with("/models"),
    }
}

fn told(turn: &PlannedReply, asked: &FakeRequest) -> ScriptedReply {
    let text = match &turn.script.reply {
        Reply::Text(text) => text.clone(),
        Reply::InTurn(texts) => {
            let last = texts.len().saturating_sub(1);
            let place = usize::try_from(asked.number).unwrap_or(last).min(last);
            texts.get(place).cloned().unwrap_or_default()
        }
        Reply::Echo => asked.last_user().to_owned(),
        Reply::Made(make) => make(asked),
    };
    let told = ScriptedReply::new(&asked.words(), text);
    match turn.fault {
        Some(fault) if fault.kind() == FaultKind::Text => spoil::spoiled(fault, turn.seed, asked, told),
        _ => told,
    }
}

fn send_failure(mut stream: &TcpStream, failure: &Failure) -> io::Result<()> {
    let head = http::head(failure.status, failure.kind, failure.body.len(), &failure.headers);
    stream.write_all(head.as_bytes())?;
    stream.write_all(failure.body.as_bytes())
}

/// Sends a response, as a stream if it has events, with the transport fault if there is one.
fn send(
    mut stream: &TcpStream,
    shared: &Shared,
    turn: &PlannedReply,
    plain: Vec<u8>,
    mut events: Vec<StreamEvent>,
) -> io::Result<()> {
    let fault = turn.fault.filter(|fault| fault.kind() == FaultKind::Transport);
    let is_stream = !events.is_empty();
    match fault {
        Some(Fault::HangsAtOnce) => {
            shared.hang();
            return Ok(());
        }
        Some(Fault::ResetAtOnce) => return reset(stream),
        Some(Fault::NotHttp) => return stream.write_all(b"220 mail.example ESMTP ready\r\n"),
        Some(Fault::HtmlPage) => {
            let body = failing::PAGE.replace("502 Bad Gateway", "Sign in").into_bytes();
            let head = http::head(200, "text/html; charset=utf-8", body.len(), &[]);
            stream.write_all(head.as_bytes())?;
            return stream.write_all(&body);
        }
        Some(Fault::Oversized) => return oversized(stream, shared, turn, is_stream),
        Some(Fault::ErrorMidway) => {
            let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
            let middle = events.len() / 2;
            events.truncate(middle);
            events.push(StreamEvent { name: Some("error"), data: error.to_string() });
        }
        Some(Fault::NoEnd) => events.truncate(events.len() / 2),
        Some(Fault::GarbledEvents) => events.iter_mut().for_each(|event| event.data = "{oops".to_owned()),
        _ => {}
    }
    let pieces: Vec<Vec<u8>> = if is_stream {
        events.iter().map(StreamEvent::bytes).collect()
    } else if fault == Some(Fault::GarbledEvents) {
        vec![b"{oops".to_vec()]
    } else {
        vec![plain]
    };
    let pieces = match fault {
        Some(Fault::NotUtf8) => pieces.into_iter().map(|piece| not_utf8(&piece)).collect(),
        Some(Fault::Drips) => pieces.concat().into_iter().map(|byte| vec![byte]).collect(),
        Some(Fault::HangsMidway | Fault::ResetMidway | Fault::ClosesMidway) => first_half(pieces, turn.seed),
        _ => pieces,
    };
    let pace = if fault == Some(Fault::Drips) { turn.script.drip } else { turn.script.pace };
    stream.write_all(http::chunked_head(200, if is_stream { EVENTS } else { JSON }).as_bytes())?;
    for (place, piece) in pieces.iter().enumerate() {
        if shared.is_stopping() {
            return Ok(());
        }
        if place > 0 {
            shared.pause(pace);
        }
        stream.write_all(&http::chunk(piece))?;
    }
    match fault {
        Some(Fault::HangsMidway) => {
            shared.hang();
            Ok(())
        }
        Some(Fault::ResetMidway) => reset(stream),
        Some(Fault::ClosesMidway) => Ok(()),
        _ => stream.write_all(http::LAST_CHUNK),
    }
}

/// The bytes up to a point near the middle, in the original pieces.
fn first_half(pieces: Vec<Vec<u8>>, seed: u64) -> Vec<Vec<u8>> {
    let total: usize = pieces.iter().map(Vec::len).sum();
    let mut left = usize::try_from(scatter(seed, 6) % total.max(1) as u64).unwrap_or(0);
    let mut kept = Vec::new();
    for mut piece in pieces {
        piece.truncate(left);
        left -= piece.len();
        if !piece.is_empty() {
            kept.push(piece);
        }
    }
    kept
}

fn not_utf8(piece: &[u8]) -> Vec<u8> {
    piece.iter().map(|&byte| if byte == b'e' { 0xff } else { byte }).collect()
}

fn oversized(mut stream: &TcpStream, shared: &Shared, turn: &PlannedReply, is_stream: bool) -> io::Result<()> {
    const PIECE: usize = 64 << 10;
    let kind = if is_stream { EVENTS } else { JSON };
    stream.write_all(http::chunked_head(200, kind).as_bytes())?;
    let start: Value = json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": ""}}]});
    let opening = if is_stream { "data: ".to_owned() } else { start.to_string().replace("\"\"}}]}", "\"") };
    stream.write_all(&http::chunk(opening.as_bytes()))?;
    let piece = http::chunk(&[b'a'; PIECE]);
    for _ in 0..turn.script.oversized_bytes.div_ceil(PIECE) {
        if shared.is_stopping() {
            return Ok(());
        }
        stream.write_all(&piece)?;
    }
    stream.write_all(http::LAST_CHUNK)
}

/// Closes the connection with a reset, so that the peer sees an error.
fn reset(stream: &TcpStream) -> io::Result<()> {
    socket2::SockRef::from(stream).set_linger(Some(Duration::ZERO))
}
