//! A proxy between the store and the server that breaks a connection at a chosen message.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// What happens to the chosen message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The connection is cut before the server receives it, and everything after it is lost.
    CutBefore,
    /// The server receives it, and the connection is cut before it answers.
    CutAfter,
    /// The answer of the server to it never arrives, though the server finishes everything that was sent.
    DropAnswer,
    /// The server receives it late.
    Delay,
}

impl Fault {
    pub(crate) const ALL: [Self; 4] = [Self::CutBefore, Self::CutAfter, Self::DropAnswer, Self::Delay];
}

struct Plan {
    fault: Mutex<Option<Fault>>,
    /// Messages of the client until the fault.
    left: AtomicI64,
    /// Whether the server cannot be reached again after the fault.
    is_final: AtomicBool,
    /// Faults that happened.
    happened: AtomicU64,
    /// Kinds of the messages of clients since the last look at them.
    kinds: Mutex<Vec<u8>>,
}

/// A proxy to a server of this machine.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    plan: Arc<Plan>,
}

impl Proxy {
    pub(crate) fn start(server_port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let plan = Arc::new(Plan {
            fault: Mutex::default(),
            left: AtomicI64::new(i64::MAX),
            is_final: AtomicBool::new(false),
            happened: AtomicU64::new(0),
            kinds: Mutex::default(),
        });
        let shared = Arc::clone(&plan);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, TcpStream::connect(("127.0.0.1", server_port))) else {
                    continue;
                };
                let plan = Arc::clone(&shared);
                if plan.is_final.load(Ordering::SeqCst) && plan.happened.load(Ordering::SeqCst) > 0 {
                    continue;
                }
                let _ = (client.set_nodelay(true), server.set_nodelay(true));
                let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                thread::spawn(move || {
                    let _ = std::io::copy(&mut from, &mut to);
                    let _ = to.shutdown(Shutdown::Both);
                });
                thread::spawn(move || {
                    let _ = forward(&client, &server, &plan);
                    let _ = (client.shutdown(Shutdown::Both), server.shutdown(Shutdown::Write));
                });
            }
        });
        Self { port, plan }
    }

    /// Breaks the connection at the next message but `after`.
    pub(crate) fn plan(&self, fault: Fault, after: u64) {
        *self.plan.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
        self.plan.left.store(after as i64, Ordering::SeqCst);
    }

    /// As `plan`, and the server cannot be reached afterwards until [`Self::happened`] is called.
    pub(crate) fn plan_end(&self, fault: Fault, after: u64) {
        self.plan.is_final.store(true, Ordering::SeqCst);
        self.plan(fault, after);
    }

    /// Breaks nothing any more.
    pub(crate) fn rest(&self) {
        self.plan.left.store(i64::MAX, Ordering::SeqCst);
    }

    /// The kinds of the messages that clients sent since the last call, as the protocol names them: `Q` is a text of
    /// statements, `P` a statement with values, and the server answers each of these at its own end, `S` or `Q`.
    pub(crate) fn sent(&self) -> String {
        let kinds = std::mem::take(&mut *self.plan.kinds.lock().unwrap_or_else(PoisonError::into_inner));
        String::from_utf8(kinds).unwrap()
    }

    /// How many faults happened since the last call.
    pub(crate) fn happened(&self) -> u64 {
        self.rest();
        self.plan.is_final.store(false, Ordering::SeqCst);
        self.plan.happened.swap(0, Ordering::SeqCst)
    }
}

/// Passes on the messages of a client one by one: its first has a length only, each later one also a kind.
fn forward(mut client: &TcpStream, mut server: &TcpStream, plan: &Plan) -> std::io::Result<()> {
    let mut is_first = true;
    loop {
        let mut message = vec![0; if is_first { 4 } else { 5 }];
        client.read_exact(&mut message)?;
        let length = u32::from_be_bytes(message[message.len() - 4..].try_into().unwrap()) as usize;
        let head = message.len();
        message.resize(head + length - 4, 0);
        client.read_exact(&mut message[head..])?;
        if is_first {
            // A request for TLS is answered by the server and followed by the real first message.
            is_first = length == 8;
            server.write_all(&message)?;
            continue;
        }
        plan.kinds.lock().unwrap_or_else(PoisonError::into_inner).push(message[0]);
        let is_chosen = plan.left.fetch_sub(1, Ordering::SeqCst) == 0;
        let fault = plan.fault.lock().unwrap_or_else(PoisonError::into_inner).filter(|_| is_chosen);
        plan.happened.fetch_add(u64::from(fault.is_some()), Ordering::SeqCst);
        match fault {
            Some(Fault::CutBefore) => return Ok(()),
            Some(Fault::CutAfter) => {
                client.shutdown(Shutdown::Both)?;
                server.write_all(&message)?;
                return Ok(());
            }
            Some(Fault::DropAnswer) => {
                // The client sees the end of the connection, before the server can answer; the server still receives what the
                // client has sent.
                client.shutdown(Shutdown::Write)?;
                server.write_all(&message)?;
                client.set_read_timeout(Some(Duration::from_millis(50)))?;
                let mut rest = Vec::new();
                let _ = client.read_to_end(&mut rest);
                server.write_all(&rest)?;
                // The server closes the connection after it has carried out everything.
                return server.shutdown(Shutdown::Write);
            }
            Some(Fault::Delay) => thread::sleep(Duration::from_millis(120)),
            None => {}
        }
        server.write_all(&message)?;
    }
}
