//! Several processes at one data folder: servers, an MCP client and commands beside each other, killed at seeded moments. One
//! ledger comes of it, without a gap or a twin, and what one of them acknowledged the others see at their next look.
//!
//! Counted in appends; `QUIPU_EFFORT` makes it longer, `QUIPU_SEED` another one.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Output, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use place::Place;
use quipu_testkit::{Rng, effort, seed};
use serde_json::{Value, json};

#[path = "commands/place/mod.rs"]
mod place;

/// A request that gets no answer for so long hangs.
const PATIENCE: Duration = Duration::from_secs(60);
/// Appends between two kills, at most.
const KILLED_AFTER_MAX: usize = 60;

/// Texts that were acknowledged, by every process.
type Said = Mutex<Vec<String>>;

fn good(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What was said, as a new process lists it.
fn texts(place: &Place) -> Vec<String> {
    let listed: Value = serde_json::from_str(&good(&place.run(&["list", "--json", "--limit", "100000"]))).unwrap();
    listed["items"].as_array().unwrap().iter().map(|item| item["text"].as_str().unwrap().to_owned()).collect()
}

/// The ledger is whole, and each acknowledged text is in it once.
fn check(place: &Place, said: &[String]) {
    assert!(good(&place.run(&["verify"])).contains("INTACT"));
    let texts = texts(place);
    for text in said {
        assert_eq!(texts.iter().filter(|known| *known == text).count(), 1, "QUIPU_SEED={}: {text}", seed());
    }
    let log: Value = serde_json::from_str(&good(&place.run(&["log", "--json", "-n", "100000"]))).unwrap();
    let mut seqs: Vec<u64> =
        log["items"].as_array().unwrap().iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    seqs.sort_unstable();
    assert!(seqs.iter().copied().eq(1..=seqs.len() as u64), "QUIPU_SEED={}: {seqs:?}", seed());
}

/// A process that is gone when the test is.
struct Running {
    process: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Running {
    fn start(place: &Place, args: &[&str]) -> Self {
        let mut process =
            place.command(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (to, from) = (process.stdin.take(), BufReader::new(process.stdout.take().unwrap()));
        Self { process, to, from }
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn kill(&mut self) {
        // SIGKILL: nothing is cleaned up.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// `quipu serve` on a port of its own.
struct Serving {
    running: Running,
    addr: String,
}

impl Serving {
    fn start(place: &Place) -> Self {
        let mut running = Running::start(place, &["serve", "--addr", "127.0.0.1:0", "--json"]);
        let addr = running.line()["addr"].as_str().unwrap().to_owned();
        Self { running, addr }
    }

    /// What a server answers; none if it was killed meanwhile.
    fn ask(addr: &str, line: &str, key: &str, body: &Value) -> Option<(u16, Value)> {
        let mut stream = TcpStream::connect(addr).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let head = format!(
            "{line} HTTP/1.1\r\nHost: {addr}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{key}Connection: \
             close\r\n\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).ok()?;
        let mut answer = String::new();
        match stream.read_to_string(&mut answer) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => panic!("{line}: no answer in {PATIENCE:?}"),
            Err(_) => return None,
        }
        let status = answer.get("HTTP/1.1 ".len()..)?.get(..3)?.parse().ok()?;
        Some((status, serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()?))
    }

    fn says(addr: &str, text: &str) -> Option<(u16, Value)> {
        let body = json!({"messages": [{"role": "user", "content": text}], "wait": "durable"});
        Self::ask(addr, "POST /memory/me/turns", &format!("Idempotency-Key: {text}\r\n"), &body)
    }
}

#[test]
fn twelve_commands_at_once_record_twelve_things() {
    let place = Place::new("");
    let adding: Vec<_> = (1..=12)
        .map(|number| {
            let mut command = place.command(&["add", &format!("Thing number {number} is in the attic.")]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let outputs: Vec<Output> = adding.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    outputs.iter().for_each(|output| drop(good(output)));
    let said: Vec<String> = (1..=12).map(|number| format!("Thing number {number} is in the attic.")).collect();
    check(&place, &said);
}

/// Appends through one server, which is killed now and then, and reads each from the other one.
fn serve(place: &Place, number: usize, appends: usize, addrs: &Mutex<[String; 2]>, said: &Said) {
    let mut dice = Rng::new(seed() ^ ((number as u64) << 32));
    let mut serving = Serving::start(place);
    let publish = |addr: &str| addrs.lock().unwrap()[number] = addr.to_owned();
    publish(&serving.addr);
    let mut until_kill = 1 + dice.below(KILLED_AFTER_MAX);
    for turn in 0..appends {
        let text = format!("server {number} keeps needle {turn}");
        until_kill -= 1;
        if until_kill == 0 {
            until_kill = 1 + dice.below(KILLED_AFTER_MAX);
            // In the middle of a request whose answer nobody gets: it is sent again afterwards, with the same key.
            let (addr, half) = (serving.addr.clone(), text.clone());
            let asking = std::thread::spawn(move || Serving::says(&addr, &half));
            std::thread::sleep(Duration::from_micros(dice.below(4000) as u64));
            serving.running.kill();
            let _ = asking.join().unwrap();
            serving = Serving::start(place);
            publish(&serving.addr);
        }
        let (status, answer) = Serving::says(&serving.addr, &text).unwrap();
        assert_eq!(status, 200, "{text}: {answer}");
        said.lock().unwrap().push(text.clone());
        let id = answer["items"][0].as_str().unwrap();
        // The other one may be dead just now; if it answers, it has seen it.
        let other = addrs.lock().unwrap()[1 - number].clone();
        let path = format!("GET /memory/me/items/{id}");
        if let Some((status, seen)) = Serving::ask(&other, &path, "", &Value::Null).filter(|_| !other.is_empty()) {
            assert!(status == 200 && seen.to_string().contains(&text), "{text} is not seen at once: {status} {seen}");
        }
    }
}

/// Adds through `quipu mcp`, which is killed now and then, and reads each back.
fn client(place: &Place, number: usize, appends: usize, said: &Said) {
    let mut dice = Rng::new(seed() ^ ((number as u64) << 32));
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let start = || {
        let mut running = Running::start(place, &["mcp"]);
        writeln!(running.to.as_mut().unwrap(), "{hello}").unwrap();
        running.line();
        writeln!(running.to.as_mut().unwrap(), "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .unwrap();
        running
    };
    let ask = |running: &mut Running, tool: &str, arguments: Value| {
        let call = json!({"name": tool, "arguments": arguments});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call});
        writeln!(running.to.as_mut().unwrap(), "{message}").unwrap();
        let answer = running.line();
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        answer["result"]["structuredContent"].clone()
    };
    let mut running = start();
    let mut until_kill = 1 + dice.below(KILLED_AFTER_MAX);
    for turn in 0..appends {
        until_kill -= 1;
        if until_kill == 0 {
            until_kill = 1 + dice.below(KILLED_AFTER_MAX);
            running.kill();
            running = start();
        }
        let text = format!("client {number} keeps needle {turn}");
        let added = ask(&mut running, "add_memory", json!({"user_said": text}));
        said.lock().unwrap().push(text.clone());
        let id = added["ids"][0].as_str().unwrap_or_else(|| panic!("{added}"));
        let seen = ask(&mut running, "get_memory", json!({"id": id}));
        assert!(seen.to_string().contains(&text), "{seen}");
    }
}

/// Adds and asks with a command each.
fn commands(place: &Place, appends: usize, said: &Said) {
    for turn in 0..appends {
        let text = format!("command keeps needle {turn}");
        good(&place.run(&["add", &text]));
        said.lock().unwrap().push(text);
        let known = said.lock().unwrap().clone();
        let listed = texts(place);
        let unseen: Vec<&String> = known.iter().filter(|text| !listed.contains(text)).collect();
        assert!(unseen.is_empty(), "QUIPU_SEED={}: a new process does not see {unseen:?}", seed());
        good(&place.run(&["recall", "What does the command keep?"]));
    }
}

/// Appends of each of four processes; commands beside them take as long for one as those for a hundred.
const APPENDS: u32 = 500;
const COMMANDS: u32 = 5;

#[test]
fn servers_clients_and_commands_share_a_folder_and_are_killed() {
    let place = Place::new("");
    let (said, addrs) = (Said::default(), Mutex::default());
    let appends = effort(APPENDS) as usize;
    std::thread::scope(|scope| {
        let workers = [
            scope.spawn(|| serve(&place, 0, appends, &addrs, &said)),
            scope.spawn(|| serve(&place, 1, appends, &addrs, &said)),
            scope.spawn(|| client(&place, 2, appends, &said)),
            scope.spawn(|| client(&place, 3, appends, &said)),
            scope.spawn(|| commands(&place, effort(COMMANDS) as usize, &said)),
        ];
        let ended: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
        assert!(ended.iter().all(Result::is_ok), "QUIPU_SEED={}", seed());
    });
    let said = said.into_inner().unwrap();
    assert_eq!(said.len(), 4 * appends + effort(COMMANDS) as usize, "QUIPU_SEED={}", seed());
    check(&place, &said);
}
