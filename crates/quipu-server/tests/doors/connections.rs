//! Raw bytes on a connection.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use quipu_fake_model::FakeScript;
use quipu_models::HashedNgrams;

use crate::rig::TestServer;

/// Sends bytes, reads until the server closes, and returns the status of the first response; 0 without one.
fn ask(addr: SocketAddr, bytes: &[u8]) -> (u16, String) {
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // The server may close before everything is written.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer).into_owned();
    (text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0), text)
}

/// Replaces `@` by the server's address, and line ends by CR LF.
fn request(addr: SocketAddr, text: &str) -> Vec<u8> {
    text.replace('@', &addr.to_string()).replace("[port]", &addr.port().to_string()).replace('\n', "\r\n").into_bytes()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_can_be_read_in_two_ways_or_means_another_server_is_refused() {
    let rig = TestServer::with(FakeScript::saying("hello"), Arc::new(HashedNgrams::new()), |options| {
        options.allow_hosts = vec!["memory.example".to_owned()];
        options.bounds.body_bytes_max = 4096;
    })
    .await;
    let addr = rig.addr;
    let long = "a".repeat(200_000);
    let many: String = (0..200).map(|number| format!("X-{number}: 1\n")).collect();
    let live = "GET /health/live HTTP/1.1\n";
    let post = "POST /v1/chat/completions HTTP/1.1\nHost: @\n";
    let table: Vec<(&str, String, u16)> = vec![
        ("a plain request", format!("{live}Host: @\n\n"), 200),
        ("a slash at the end", "GET /health/live/ HTTP/1.1\nHost: @\n\n".to_owned(), 200),
        ("localhost", format!("{live}Host: LOCALHOST:[port]\n\n"), 200),
        ("IPv6 loopback's name", format!("{live}Host: [::1]:[port]\n\n"), 200),
        ("an allowed name", format!("{live}Host: memory.example\n\n"), 200),
        ("the whole address as the path", "GET http://@/health/live HTTP/1.1\nHost: @\n\n".to_owned(), 200),
        ("an own page", format!("{live}Host: @\nOrigin: http://@\n\n"), 200),
        ("an allowed page", format!("{live}Host: @\nOrigin: https://memory.example\n\n"), 200),
        ("no Host", format!("{live}\n"), 403),
        ("no Host, HTTP/1.0", "GET /health/live HTTP/1.0\n\n".to_owned(), 403),
        ("two Hosts", format!("{live}Host: @\nHost: @\n\n"), 403),
        ("an empty Host", format!("{live}Host:\n\n"), 403),
        ("a foreign Host", format!("{live}Host: evil.test\n\n"), 403),
        ("a foreign Host before routing", "GET /nowhere HTTP/1.1\nHost: evil.test\n\n".to_owned(), 403),
        ("a name below localhost", format!("{live}Host: localhost.evil.test:[port]\n\n"), 403),
        ("a name that looks like an address", format!("{live}Host: 127.0.0.1.nip.test:[port]\n\n"), 403),
        ("another port", format!("{live}Host: 127.0.0.1:1\n\n"), 403),
        ("another address of loopback", format!("{live}Host: 127.0.0.2:[port]\n\n"), 403),
        ("a foreign address as the path", "GET http://evil.test/health/live HTTP/1.1\nHost: @\n\n".to_owned(), 403),
        ("Origin null", format!("{live}Host: @\nOrigin: null\n\n"), 403),
        ("a foreign page", format!("{live}Host: @\nOrigin: http://evil.test\n\n"), 403),
        (
            "two pages, one of them foreign",
            format!("{live}Host: @\nOrigin: http://@\nOrigin: http://evil.test\n\n"),
            403,
        ),
        ("TLS this server does not speak", format!("{live}Host: @\nOrigin: https://localhost\n\n"), 403),
        ("TLS at the own port", format!("{live}Host: @\nOrigin: https://localhost:[port]\n\n"), 403),
        (
            "a preflight of a foreign page",
            "OPTIONS /v1/models HTTP/1.1\nHost: @\nOrigin: http://evil.test\n\n".to_owned(),
            403,
        ),
        ("no such path", "GET /nowhere HTTP/1.1\nHost: @\n\n".to_owned(), 404),
        ("another method", "DELETE /health/live HTTP/1.1\nHost: @\n\n".to_owned(), 405),
        ("a length and chunks", format!("{post}Content-Length: 5\nTransfer-Encoding: chunked\n\n0\n\n"), 400),
        ("chunks and a length", format!("{post}Transfer-Encoding: chunked\nContent-Length: 5\n\n0\n\n"), 400),
        ("two lengths", format!("{post}Content-Length: 2\nContent-Length: 2\n\n{{}}"), 400),
        ("a length with a sign", format!("{post}Content-Length: +2\n\n{{}}"), 400),
        ("a list of lengths", format!("{post}Content-Length: 2, 2\n\n{{}}"), 400),
        ("another encoding of transfer", format!("{post}Transfer-Encoding: xchunked\n\n0\n\n"), 400),
        ("two encodings of transfer", format!("{post}Transfer-Encoding: gzip, chunked\n\n0\n\n"), 400),
        ("a folded header", format!("{live}Host: @\nX-A: 1\n folded\n\n"), 400),
        ("a blank before a colon", format!("{live}Host : @\n\n"), 400),
        ("a header without a colon", format!("{live}Host: @\nnonsense\n\n"), 400),
        (
            "a long extension of a chunk",
            format!("{post}Transfer-Encoding: chunked\n\n2;{}\n{{}}\n0\n\n", "x".repeat(1 << 16)),
            400,
        ),
        ("no request", "nonsense\n\n".to_owned(), 400),
        ("a long header", format!("{live}Host: @\nX-A: {long}\n\n"), 431),
        ("many headers", format!("{live}Host: @\n{many}\n"), 431),
        ("two equal Hosts of which one is folded", format!("{live}Host: @\nHost: @\nX-A: 1\n 2\n\n"), 400),
        ("a Host with a user", format!("{live}Host: me:pw%40@\n\n"), 403),
        ("a Host with a path", format!("{live}Host: @/evil\n\n"), 403),
        ("a Host with a blank", format!("{live}Host: @ evil.test\n\n"), 403),
        ("a Host with two ports", format!("{live}Host: @:1\n\n"), 403),
        ("a Host with a dot at its end", format!("{live}Host: localhost.evil.:[port]\n\n"), 403),
        ("a Host of decimal numbers", format!("{live}Host: 2130706434:[port]\n\n"), 403),
        ("the address that means every one", format!("{live}Host: 0.0.0.0:[port]\n\n"), 403),
        ("an IPv6 address of IPv4", format!("{live}Host: [::ffff:127.0.0.2]:[port]\n\n"), 403),
        ("a forwarded host", format!("{live}Host: evil.test\nX-Forwarded-Host: @\n\n"), 403),
        ("an Origin without a scheme", format!("{live}Host: @\nOrigin: @\n\n"), 403),
        ("an Origin that is a file", format!("{live}Host: @\nOrigin: file://\n\n"), 403),
        ("an Origin with a path", format!("{live}Host: @\nOrigin: http://@.evil.test/\n\n"), 403),
        ("an empty Origin", format!("{live}Host: @\nOrigin:\n\n"), 403),
        ("a list of Origins", format!("{live}Host: @\nOrigin: http://@ http://evil.test\n\n"), 403),
        ("a negative length", format!("{post}Content-Length: -1\n\n"), 400),
        ("an empty length", format!("{post}Content-Length:\n\n"), 400),
        ("a length in hexadecimal", format!("{post}Content-Length: 0x2\n\n{{}}"), 400),
        ("a length with a blank within", format!("{post}Content-Length: 1 2\n\n{{}}"), 400),
        ("a length beyond any number", format!("{post}Content-Length: 99999999999999999999999\n\n"), 400),
        ("two different lengths", format!("{post}Content-Length: 2\nContent-Length: 3\n\n{{}}"), 400),
        ("chunked twice", format!("{post}Transfer-Encoding: chunked, chunked\n\n0\n\n"), 400),
        ("chunked, and then another one", format!("{post}Transfer-Encoding: chunked, identity\n\n0\n\n"), 400),
        (
            "chunked in two headers with a length",
            format!("{post}Transfer-Encoding: identity\nTransfer-Encoding: chunked\nContent-Length: 1\n\n0\n\n"),
            400,
        ),
        ("a tab before the name of an encoding", format!("{post}Transfer-Encoding: \u{b}chunked\n\n0\n\n"), 400),
        ("a chunk of no length", format!("{post}Transfer-Encoding: chunked\n\n;\n{{}}\n0\n\n"), 400),
        ("a chunk of a negative length", format!("{post}Transfer-Encoding: chunked\n\n-2\n{{}}\n0\n\n"), 400),
        (
            "a chunk of a length beyond any number",
            format!("{post}Transfer-Encoding: chunked\n\nfffffffffffffffff\n{{}}\n0\n\n"),
            400,
        ),
        ("a chunk that goes on after its length", format!("{post}Transfer-Encoding: chunked\n\n1\n{{}}\n0\n\n"), 400),
        ("a name with a blank within", format!("{live}Host: @\nX A: 1\n\n"), 400),
        ("an empty name", format!("{live}Host: @\n: 1\n\n"), 400),
        ("a name with a control character", format!("{live}Host: @\nX\u{1}: 1\n\n"), 400),
        ("a value with U+0000", format!("{live}Host: @\nX: a\u{0}b\n\n"), 400),
        ("a method with a blank", "GE T /health/live HTTP/1.1\nHost: @\n\n".to_owned(), 400),
        ("a method of small letters", "get /health/live HTTP/1.1\nHost: @\n\n".to_owned(), 405),
        ("two blanks before the version", "GET /health/live  HTTP/1.1\nHost: @\n\n".to_owned(), 400),
        ("another version", "GET /health/live HTTP/3.0\nHost: @\n\n".to_owned(), 400),
        ("no version", "GET /health/live\nHost: @\n\n".to_owned(), 400),
        ("a path with a control character", "GET /health/\u{1}live HTTP/1.1\nHost: @\n\n".to_owned(), 400),
        ("a tunnel", "CONNECT evil.test:443 HTTP/1.1\nHost: evil.test\n\n".to_owned(), 403),
        ("a tunnel to itself", "CONNECT @ HTTP/1.1\nHost: @\n\n".to_owned(), 404),
        ("a trace", "TRACE /health/live HTTP/1.1\nHost: @\n\n".to_owned(), 405),
        ("a star", "OPTIONS * HTTP/1.1\nHost: @\n\n".to_owned(), 404),
        ("a long body, announced", format!("{post}Content-Length: 5000\n\n"), 413),
        (
            "a long body in chunks",
            format!("{post}Transfer-Encoding: chunked\n\n1400\n{}\n0\n\n", "a".repeat(0x1400)),
            413,
        ),
    ];
    let mut tried = table.len();
    for (what, text, expected) in table {
        // If the end of the rejected request is known, the connection stays open.
        let stays = matches!(expected, 200 | 404 | 405);
        let text = if stays { text.replacen('\n', "\nConnection: close\n", 1) } else { text };
        let (status, answer) = ask(addr, &request(addr, &text));
        assert_eq!(status, expected, "{what}: {}", &answer[..answer.len().min(300)]);
        assert!(!answer.to_lowercase().contains("access-control"), "{what}: {answer}");
        assert_eq!(answer.matches("HTTP/1.").count(), 1, "{what}: one answer, {answer}");
    }
    // These differ in bare line feeds, which the table cannot express.
    for (what, bytes) in [
        ("line feeds alone", format!("GET /health/live HTTP/1.1\nHost: {addr}\n\n")),
        ("one line feed alone", format!("GET /health/live HTTP/1.1\r\nHost: {addr}\nX: 1\r\n\r\n")),
        ("a return alone", format!("GET /health/live HTTP/1.1\r\nHost: {addr}\r\nX: 1\rY: 2\r\n\r\n")),
    ] {
        assert_eq!(ask(addr, bytes.as_bytes()).0, 400, "{what}");
        tried += 1;
    }
    // Its connection is closed without an answer.
    let preface = ask(addr, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    assert_eq!(preface, (0, String::new()), "the preface of HTTP/2");
    tried += 1;
    assert!(tried >= 80, "only {tried}");
    println!("raw requests: {tried}, each answered as it must be, none passed on");
    assert_eq!(rig.upstream.requests(), 0, "none of it went further");
}

#[tokio::test(flavor = "multi_thread")]
async fn several_requests_share_a_connection_whatever_their_bodies() {
    let rig = TestServer::new(FakeScript::saying("hello")).await;
    let body = r#"{"model":"m","messages":[]}"#;
    let whole = format!("POST /v1/chat/completions HTTP/1.1\nHost: @\nContent-Length: {}\n\n{body}", body.len());
    let chunks = format!(
        "POST /v1/chat/completions HTTP/1.1\nHost: @\nTransfer-Encoding: chunked\n\n5;x=1\n{}\n{:x}\n{}\n0\nX-Trailer: 1\n\n",
        &body[..5],
        body.len() - 5,
        &body[5..]
    );
    let last = "GET /version HTTP/1.1\nHost: @\nConnection: close\n\n";
    let text = format!("{whole}{chunks}{whole}{last}");
    let (_, answers) = ask(rig.addr, &request(rig.addr, &text));
    assert_eq!(answers.matches("HTTP/1.1 200").count(), 4, "{answers}");
    assert!(answers.contains("\"name\":\"quipu\""), "{answers}");
    let bodies: Vec<Vec<u8>> = rig.upstream.received().into_iter().map(|one| one.body).collect();
    assert_eq!(bodies, vec![body.as_bytes().to_vec(); 3]);
}

/// The longest but one of a hundred times of a healthy request, of which each must be answered.
#[expect(clippy::disallowed_methods, reason = "a report of times, by which nothing is decided")]
async fn healthy(rig: &TestServer, times: usize) -> Duration {
    let mut took = Vec::new();
    for _ in 0..times {
        let began = std::time::Instant::now();
        let answer = rig.client.get(rig.url("/health/live")).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        took.push(began.elapsed());
    }
    took.sort();
    took[(times - 1) * 99 / 100]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_half_heads_and_a_hundred_slow_bodies_are_gone_when_their_time_is_up() {
    let rig = TestServer::with(FakeScript::saying("hello"), Arc::new(HashedNgrams::new()), |options| {
        options.bounds.connections_max = 2000;
        options.bounds.head_within = Duration::from_secs(2);
        options.bounds.body_within = Duration::from_secs(2);
    })
    .await;
    let addr = rig.addr;
    let alone = healthy(&rig, 100).await;
    let open = move |text: &str| {
        let mut stream = TcpStream::connect(addr).unwrap();
        stream.write_all(&request(addr, text)).unwrap();
        stream
    };
    let heads = (0..1000).map(|_| open("GET /health/live HTTP/1.1\nHost: @\nX-Slow: "));
    let bodies = (0..100).map(|_| open("POST /v1/chat/completions HTTP/1.1\nHost: @\nContent-Length: 100\n\n{"));
    let held: Vec<TcpStream> = heads.chain(bodies).collect();
    // Other clients are served meanwhile.
    let beside = healthy(&rig, 100).await;
    let closed = tokio::task::spawn_blocking(move || {
        let ends = |mut stream: TcpStream| {
            stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).is_ok()
        };
        held.into_iter().filter_map(|stream| ends(stream).then_some(())).count()
    });
    let closed = closed.await.unwrap();
    println!(
        "hostile connections: 1000 half heads and 100 slow bodies, {} held after their time; a healthy request takes p99 {alone:?} alone and \
         {beside:?} beside them, {:.1} times as long",
        1100 - closed,
        beside.as_secs_f64() / alone.as_secs_f64()
    );
    assert_eq!(closed, 1100);
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_have_a_bound_and_come_back() {
    let rig = TestServer::with(FakeScript::saying("hello"), Arc::new(HashedNgrams::new()), |options| {
        options.bounds.connections_max = 3;
    })
    .await;
    let held: Vec<TcpStream> = (0..3).map(|_| TcpStream::connect(rig.addr).unwrap()).collect();
    let live = request(rig.addr, "GET /health/live HTTP/1.1\nHost: @\nConnection: close\n\n");
    // Connections are accepted in order, so the three are open before the fourth.
    let (status, _) = ask(rig.addr, &live);
    assert_eq!(status, 0);
    drop(held);
    let answered = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        ask(rig.addr, &live).0 == 200
    });
    assert!(answered, "places come back");
}

#[tokio::test]
async fn without_a_key_only_loopback_is_listened_on() {
    use quipu_engine::ports::Scope;
    use quipu_server::{Server, ServerOptions, ServerParts};
    use quipu_testkit::{FixedClock, SeededEntropy};
    for (addr, key, refused) in [
        ("0.0.0.0:0", None, true),
        ("[::]:0", None, true),
        ("127.0.0.1:0", None, false),
        ("0.0.0.0:0", Some("taken back"), true),
        ("0.0.0.0:0", Some("good"), false),
    ] {
        let keys = crate::rig::keys();
        if let Some(kind) = key {
            let made = keys.create("a", &[Scope::Read], None).unwrap();
            if kind == "taken back" {
                keys.revoke(&made.shown.id).unwrap();
            }
        }
        let parts = ServerParts {
            engine: crate::rig::engine(Arc::new(HashedNgrams::new())),
            clock: Arc::new(FixedClock::new()),
            entropy: Arc::new(SeededEntropy::new(1)),
            keys: Arc::new(keys),
            signer: None,
            metrics: Arc::default(),
            chat: None,
        };
        let options = ServerOptions { addr: addr.parse().unwrap(), ..ServerOptions::default() };
        let bound = Server::bind(parts, options).await;
        assert_eq!(matches!(bound, Err(quipu_engine::Error::Refused(_))), refused, "{addr} {key:?}");
    }
}
