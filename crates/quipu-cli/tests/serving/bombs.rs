//! Small and large requests that want to cost much: each is refused, quickly, without much memory, and leaves nothing that could cost it
//! again when the memory is folded anew.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::place::Place;
use crate::{Serving, texts};

/// How much the server may grow while it refuses.
const GROWTH_KIB_MAX: u64 = 64 << 10;

#[expect(clippy::disallowed_methods, reason = "a report of times, by which nothing is decided")]
fn now() -> Instant {
    Instant::now()
}

/// A request: its name, its first line without the version, more headers, and its body.
struct Bomb {
    name: &'static str,
    line: String,
    headers: String,
    body: String,
}

fn bomb(name: &'static str, line: &str, headers: &str, body: String) -> Bomb {
    Bomb { name, line: line.to_owned(), headers: headers.to_owned(), body }
}

fn post(name: &'static str, path: &str, body: &Value) -> Bomb {
    bomb(name, &format!("POST {path}"), "", body.to_string())
}

/// A patch of the core document.
fn patch(name: &'static str, operations: Vec<Value>) -> Bomb {
    post(name, "/memory/victim/events", &json!({ "patch": operations }))
}

fn turn(name: &'static str, text: &str) -> Bomb {
    post(name, "/memory/victim/turns", &json!({"messages": [{"role": "user", "content": text}]}))
}

/// Copies of the document into itself: each pair doubles it.
fn copies(pairs: usize) -> Vec<Value> {
    let base = json!({"op": "add", "path": "/uncategorized", "value": {"a": 1}});
    let copy = |to: &str| json!({"op": "copy", "from": "/uncategorized", "path": format!("/uncategorized/{to}")});
    let pair = |number: usize| [copy(&format!("c{number}")), copy(&format!("d{number}"))];
    std::iter::once(base).chain((0..pairs).flat_map(pair)).collect()
}

/// Moves that bury a document ever deeper.
fn deeper(levels: usize) -> Vec<Value> {
    let mut all = vec![json!({"op": "add", "path": "/uncategorized", "value": {"a": {}}})];
    for level in 0..levels {
        all.push(json!({"op": "move", "from": "/uncategorized/a", "path": "/uncategorized/b"}));
        all.push(json!({"op": "add", "path": "/uncategorized/a", "value": {"level": level}}));
        all.push(json!({"op": "move", "from": "/uncategorized/b", "path": "/uncategorized/a/b"}));
    }
    all
}

fn nested(open: &str, close: &str, times: usize) -> String {
    format!("{}{}", open.repeat(times), close.repeat(times))
}

fn add(path: &str, value: Value) -> Value {
    json!({"op": "add", "path": path, "value": value})
}

/// Everything that is refused.
fn bombs() -> Vec<Bomb> {
    let turns = "POST /memory/victim/turns";
    let live = "GET /health/live";
    let mut all = vec![
        bomb("3 MB that are no JSON", turns, "", "a".repeat(3 << 20)),
        bomb("10 MB of numbers", turns, "", format!("[{}0]", "0,".repeat(5 << 20))),
        bomb("128 nested arrays", turns, "", nested("[", "]", 128)),
        bomb("100,000 nested arrays", turns, "", nested("[", "]", 100_000)),
        bomb("100,000 nested objects", turns, "", nested("{\"a\":", "}", 100_000)),
        bomb("100,000 equal names", turns, "", format!("{{{}\"a\":1}}", "\"a\":1,".repeat(100_000))),
        bomb("a number of 100,000 digits", turns, "", "9".repeat(100_000)),
        bomb("a body that says gzip", turns, "Content-Encoding: gzip\r\n", "\u{1f}\u{8b}".repeat(100_000)),
        bomb("a body that says deflate", turns, "Content-Encoding: deflate\r\n", "x".repeat(100_000)),
        bomb("a body that says br", turns, "Content-Encoding: br\r\n", "x".repeat(100_000)),
        bomb("a body that says zstd", turns, "Content-Encoding: zstd\r\n", "x".repeat(100_000)),
        bomb("a header of 200 kB", live, &format!("X-A: {}\r\n", "a".repeat(200_000)), String::new()),
        bomb("a thousand headers", live, &"X-A: a\r\n".repeat(1000), String::new()),
        bomb("a path of 200 kB", &format!("GET /{}", "a".repeat(200_000)), "", String::new()),
        bomb("a query of 200 kB", &format!("{live}?{}", "a=1&".repeat(50_000)), "", String::new()),
        bomb("a key of 1 MB", turns, &format!("X-Api-Key: {}\r\n", "k".repeat(1 << 20)), "{}".to_owned()),
        bomb("a request key of 30 kB", turns, &format!("Idempotency-Key: {}\r\n", "k".repeat(30_000)), "{}".to_owned()),
        bomb("a user of 3,000 letters", &format!("GET /memory/{}/facts", "u".repeat(3000)), "", String::new()),
        bomb("a name that is a path", "GET /memory/..%2f..%2fetc%2fpasswd/facts", "", String::new()),
        patch("ten doublings", copies(10)),
        patch("fourteen doublings", copies(14)),
        patch("sixteen doublings", copies(16)),
        patch("forty doublings", copies(40)),
        patch("500 levels in 1,500 operations", deeper(500)),
        patch("33 levels in 100 operations", deeper(33)),
        patch(
            "10,000 operations",
            (0..10_000).map(|number| add(&format!("/uncategorized/a{number}"), json!(1))).collect(),
        ),
        patch("a value of 1 MB", vec![add("/uncategorized/a", json!("x".repeat(1 << 20)))]),
        patch("a name of 1 MB", vec![add(&format!("/uncategorized/{}", "x".repeat(1 << 20)), json!(1))]),
        patch("a path of 100,000 steps", vec![add(&format!("/uncategorized{}", "/a".repeat(100_000)), json!(1))]),
        patch("an index of 4294967295", vec![add("/uncategorized/list/4294967295", json!(1))]),
        patch(
            "a document within itself",
            vec![json!({"op": "move", "from": "/uncategorized", "path": "/uncategorized/a"})],
        ),
        patch(
            "300 kB of small values",
            (0..99).map(|n| add(&format!("/uncategorized/b{n}"), json!(vec![n; 1500]))).collect(),
        ),
        turn("a message of 2 MB", &"word ".repeat(400_000)),
        turn("a message with U+0000", "a\u{0}b"),
        post(
            "10,000 messages at once",
            "/memory/victim/turns",
            &json!({"messages": vec![json!({"role": "user", "content": "hello"}); 10_000]}),
        ),
        post(
            "a session of 100 kB",
            "/memory/victim/turns",
            &json!({"messages": [], "session_id": "s".repeat(100_000)}),
        ),
        post(
            "10,000 facts at once",
            "/memory/write",
            &json!({"user_id": "victim", "facts": vec![json!({"p": "likes", "o": "tea"}); 10_000]}),
        ),
        post("a question of 1 MB", "/memory/retrieve", &json!({"user_id": "victim", "query": "why ".repeat(1 << 18)})),
        post(
            "a billion results",
            "/memory/retrieve",
            &json!({"user_id": "victim", "query": "tea", "K": 1_000_000_000}),
        ),
        post("a billion tokens", "/memory/victim/context", &json!({"query": "tea", "max_tokens": 1_000_000_000_u64})),
        post("100,000 targets", "/memory/victim/erase", &json!({"targets": vec!["999"; 100_000]})),
        post(
            "a path out of the folder",
            "/v1/memory-tool",
            &json!({"command": "view", "path": "/memories/../../etc/passwd"}),
        ),
        post(
            "an import without a format",
            "/memory/victim/import",
            &json!({"format": "zip", "text": "x".repeat(1 << 20)}),
        ),
    ];
    all.push(bomb(
        "a chunk's extension of 1 MB",
        turns,
        "Transfer-Encoding: chunked\r\n",
        format!("2;{}\r\n{{}}\r\n0\r\n\r\n", "x".repeat(1 << 20)),
    ));
    all
}

/// Sends a request and reads the answer. Returns the status; 0 if the connection was closed without one.
fn send(addr: &str, bomb: &Bomb) -> (u16, Duration, String) {
    let length = if bomb.headers.contains("chunked") {
        String::new()
    } else {
        format!("Content-Length: {}\r\n", bomb.body.len())
    };
    let head = format!(
        "{} HTTP/1.1\r\nHost: {addr}\r\nContent-Type: application/json\r\n{}{length}Connection: close\r\n\r\n",
        bomb.line, bomb.headers
    );
    let began = now();
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut other = stream.try_clone().unwrap();
    let bytes = [head.as_bytes(), bomb.body.as_bytes()].concat();
    let answer = std::thread::scope(|scope| {
        // The server may answer before everything is written.
        scope.spawn(move || drop(stream.write_all(&bytes)));
        let mut answer = Vec::new();
        let _ = other.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    });
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    (status, began.elapsed(), answer)
}

/// A figure of the process in `/proc`, in KiB.
fn figure(id: u32, name: &str) -> u64 {
    let page = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = page.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap()
}

#[test]
fn what_wants_to_cost_much_is_refused_and_leaves_nothing() {
    let place = Place::new("");
    let serving = Serving::start(&place);
    let good = turn("a good message", "I like green tea.");
    assert_eq!(send(&serving.addr, &good).0, 200);
    let asked = post("a good question", "/memory/retrieve", &json!({"user_id": "victim", "query": "What tea?"}));
    assert_eq!(send(&serving.addr, &asked).0, 200);
    let events = || -> usize {
        let log: Value =
            serde_json::from_slice(&place.run(&["-u", "victim", "log", "--json", "-n", "1000"]).stdout).unwrap();
        log["items"].as_array().unwrap().len()
    };
    let before = events();
    let rss = figure(serving.pid(), "VmRSS");
    // From here on the greatest size counts.
    std::fs::write(format!("/proc/{}/clear_refs", serving.pid()), "5").unwrap();
    let (mut wrong, mut slowest) = (Vec::new(), Vec::new());
    let bombs = bombs();
    for bomb in &bombs {
        let (status, took, answer) = send(&serving.addr, bomb);
        slowest.push((took, bomb.name));
        // The memory tool says in its answer what is wrong, as its protocol wants.
        let is_told = status == 200 && answer.contains("\"is_error\":true");
        if !(400..500).contains(&status) && !is_told {
            wrong.push(format!("{}: {status} {}", bomb.name, answer.chars().take(300).collect::<String>()));
        }
    }
    let growth = figure(serving.pid(), "VmHWM").saturating_sub(rss);
    let after = events();
    slowest.sort();
    slowest.reverse();
    let within = slowest.iter().filter(|(took, _)| *took < Duration::from_millis(50)).count();
    println!(
        "resource bombs: {} requests, {} not refused, {within} within 50 ms, slowest {:?}, memory grew by {} KiB, {} events recorded",
        bombs.len(),
        wrong.len(),
        &slowest[..3],
        growth,
        after - before
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(bombs.len() >= 40, "{}", bombs.len());
    assert!(growth < GROWTH_KIB_MAX, "the server grew by {growth} KiB");
    assert_eq!(after, before, "something was recorded");
    let rebuilt = place.run(&["-u", "victim", "verify"]);
    assert!(String::from_utf8_lossy(&rebuilt.stdout).contains("INTACT"), "{rebuilt:?}");
    assert_eq!(texts(&place, "victim"), ["I like green tea."]);
}
