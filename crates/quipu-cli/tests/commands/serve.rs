//! `quipu serve` as a person or a script meets it: the first screen, what it refuses, and how it ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use super::place::Place;

/// A process that is gone when the test is.
struct Serving(Child);

impl Serving {
    /// Starts it, and waits for its first screen: that and the address on it.
    fn start(place: &Place, variables: &[(&str, &str)]) -> (Self, String, String) {
        let mut command = place.command(&["serve", "--addr", "127.0.0.1:0"]);
        command.envs(variables.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut serving = Self(command.spawn().unwrap());
        let mut lines = BufReader::new(serving.0.stdout.take().unwrap()).lines();
        let mut screen = String::new();
        while !screen.contains("Ctrl-C") {
            screen += &(lines.next().unwrap().unwrap() + "\n");
        }
        let addr = screen.lines().next().unwrap().strip_prefix("Quipu listens on ").unwrap().to_owned();
        (serving, screen, addr)
    }

    /// Interrupts it and waits for its end; what it said on stderr.
    fn interrupt(&mut self) -> String {
        let interrupted = Command::new("kill").args(["-INT", &self.0.id().to_string()]).status().unwrap();
        assert!(interrupted.success());
        assert_eq!(self.0.wait().unwrap().code(), Some(0));
        let mut said = String::new();
        self.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        said
    }
}

fn ask(addr: &str, line: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(addr).unwrap();
    let head = format!(
        "{line} HTTP/1.1\r\nHost: {addr}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all((head + body).as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Takes what is posted to it: paths and bodies.
fn collector() -> (String, Receiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap());
            let (mut first, mut line, mut length) = (String::new(), String::new(), 0);
            lines.read_line(&mut first).unwrap();
            while lines.read_line(&mut line).unwrap() > 2 {
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            lines.read_exact(&mut body).unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
            if tell.send((first, body)).is_err() {
                return;
            }
        }
    });
    (format!("http://{addr}"), told)
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn what_cannot_be_meant_is_refused_in_words() {
    let upstream = |more: &str| format!("[[upstream]]\nname = \"one\"\nkind = \"openai\"\n{more}\n");
    for (config, args, code, words) in [
        (String::new(), &["serve", "--addr", "0.0.0.0:0"][..], 1, "there are no keys yet"),
        (String::new(), &["serve", "--addr", "nowhere"], 2, "invalid"),
        (upstream("base_url = \"ftp://there\""), &["serve"], 2, "is no http address"),
        (upstream("base_url = \"http://there/v1\"\nkey_env = \"NOBODY_SET_THIS\""), &["serve"], 2, "NOBODY_SET_THIS"),
        (upstream("base_url = \"http://localhost:7077/v1\""), &["serve"], 2, "which is this server"),
        (upstream("base_url = \"http://there/v1\"\nkey = \"sk-1\""), &["serve"], 2, "unknown field"),
        ("[serve]\notlp_endpoint = \"collector:4318\"\n".to_owned(), &["serve"], 2, "not an http address for spans"),
        ("[serve]\nmax_tokens = 100000000\n".to_owned(), &["serve"], 2, "max_tokens"),
        ("[serve]\ntls_cert = \"a.pem\"\n".to_owned(), &["serve"], 2, "must be given together"),
        (String::new(), &["serve", "--tls-cert", "a.pem", "--tls-key", "b.pem"], 2, "a.pem cannot be read"),
        (
            String::new(),
            &["serve", "--tls-cert", "a.pem", "--tls-key", "b.pem", "--self-signed"],
            2,
            "cannot be used with",
        ),
        ("[serve]\npublic_url = \"https://m.example\"\n".to_owned(), &["serve"], 2, "authorization_servers"),
        ("[serve]\nauthorization_servers = [\"https://l.example\"]\n".to_owned(), &["serve"], 2, "public_url"),
    ] {
        let output = Place::new(&config).run(args);
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{config}{args:?}: {printed}");
        assert!(printed.contains(words), "{config}{args:?}: {printed}");
    }
}

#[test]
fn health_succeeds_if_the_server_is_ready_or_at_least_responds_without_a_key() {
    let open = Place::new("");
    let locked = Place::new("[serve]\nrequire_keys = true\n");
    let made = locked.run(&["key", "create", "mine"]);
    // As in a container without root certificates.
    let (file, folder) = (open.0.path().join("none.pem"), open.0.path().join("none"));
    std::fs::write(&file, "").unwrap();
    std::fs::create_dir(&folder).unwrap();
    let no_roots = [("SSL_CERT_FILE", file.to_str().unwrap()), ("SSL_CERT_DIR", folder.to_str().unwrap())];
    let key = String::from_utf8(made.stdout).unwrap().lines().next().unwrap().to_owned();
    for (place, key, code, words) in [
        (&open, "", 0, "is ready"),
        (&locked, "", 0, "responds; QUIPU_API_KEY is needed"),
        (&locked, key.as_str(), 0, "is ready"),
        (&locked, "qp_nobody_made_this", 1, "refuses the request"),
    ] {
        let (mut serving, _, addr) = Serving::start(place, &no_roots);
        let health = || {
            let mut command = place.command(&["health", "--server", &format!("http://{addr}/")]);
            let output = command.env("QUIPU_API_KEY", key).envs(no_roots).output().unwrap();
            (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
        };
        let (ended, printed) = health();
        assert_eq!(ended, Some(code), "{key}: {printed}");
        assert!(printed.contains(words), "{key}: {printed}");
        serving.interrupt();
        let (ended, printed) = health();
        assert_eq!(ended, Some(5), "after its end: {printed}");
        assert!(printed.contains("does not answer"), "after its end: {printed}");
    }
    let output = open.run(&["health", "--server", "nowhere"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn a_certificate_signed_by_itself_is_trusted_by_its_fingerprint_alone() {
    let place = Place::new("[serve]\nself_signed = true\n");
    let mut fingerprints = Vec::new();
    for _ in 0..2 {
        let (mut serving, screen, addr) = Serving::start(&place, &[]);
        assert!(screen.contains(&format!("https://{addr}/mcp")), "{screen}");
        let line = screen.lines().find_map(|line| line.trim().strip_prefix("SHA-256")).unwrap().trim().to_owned();
        let health = |fingerprint: &str| {
            let mut command = place.command(&["health", "--server", &format!("https://{addr}")]);
            let output = command.env("QUIPU_SERVER_FINGERPRINT", fingerprint).output().unwrap();
            (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
        };
        assert_eq!(health(&line).0, Some(0), "{}", health(&line).1);
        assert_eq!(health("").0, Some(5), "without a fingerprint");
        let another = line.replace(':', "").chars().rev().collect::<String>();
        let (code, said) = health(&another);
        assert_eq!(code, Some(5), "{said}");
        assert!(said.contains("has another fingerprint"), "{said}");
        let (code, said) = health("AB:CD");
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("64 hexadecimal digits"), "{said}");
        #[cfg(unix)]
        {
            let read_again = Command::new("kill").args(["-HUP", &serving.0.id().to_string()]).status().unwrap();
            assert!(read_again.success());
            assert_eq!(health(&line).0, Some(0), "after SIGHUP");
        }
        serving.interrupt();
        fingerprints.push(line);
    }
    assert_eq!(fingerprints[0], fingerprints[1], "the certificate is made once");
}

#[test]
fn it_says_where_it_is_lets_others_work_beside_it_and_ends_when_it_is_interrupted() {
    let config = "[[upstream]]\nname = \"local\"\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\n";
    let place = Place::new(config);
    let (mut serving, screen, addr) = Serving::start(&place, &[]);
    for words in [
        format!("OPENAI_BASE_URL=http://{addr}/v1"),
        format!("ANTHROPIC_BASE_URL=http://{addr}\n"),
        format!("http://{addr}/metrics"),
        "http://127.0.0.1:9/v1 (local)".to_owned(),
        place.0.path().join("data").display().to_string(),
    ] {
        assert!(screen.contains(&words), "{words}: {screen}");
    }
    let answer = ask(&addr, "GET /health/ready", "");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");

    let other = place.run(&["add", "I moved to Porto."]);
    assert!(other.status.success(), "{other:?}");
    let answer = ask(&addr, "POST /memory/me/context", r#"{"query": "Where did I move?"}"#);
    assert!(answer.contains("Porto"), "the server sees what was recorded beside it: {answer}");

    let said = serving.interrupt();
    assert!(said.contains("every exchange is recorded"), "{said}");
}

#[test]
fn spans_go_to_the_collector_that_is_named_and_carry_no_words() {
    let (base, posted) = collector();
    let upstream = "[[upstream]]\nname = \"local\"\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\n";
    let place = Place::new(upstream);
    let (mut serving, screen, addr) = Serving::start(&place, &[("OTEL_EXPORTER_OTLP_ENDPOINT", &base)]);
    assert!(screen.contains(&format!("spans go to {base}/v1/traces")), "{screen}");
    let body = r#"{"model": "m", "messages": [{"role": "user", "content": "I keep bees in Porto."}]}"#;
    assert!(ask(&addr, "POST /v1/chat/completions", body).starts_with("HTTP/1.1 502"));
    let said = serving.interrupt();
    let (lines, bodies): (Vec<String>, Vec<Vec<u8>>) = posted.try_iter().unzip();
    assert!(!lines.is_empty() && lines.iter().all(|line| line.starts_with("POST /v1/traces ")), "{lines:?}: {said}");
    let all = String::from_utf8_lossy(&bodies.concat()).into_owned();
    for name in ["service.name", "quipu", "search_memory", "gen_ai.operation.name"] {
        assert!(all.contains(name), "{name}: {all}");
    }
    assert!(!all.contains("bees"), "words of a person stand in a span");
}

#[test]
fn a_collector_that_is_not_there_stops_nothing_and_is_told_of() {
    let place = Place::new("[serve]\notlp_endpoint = \"http://127.0.0.1:9\"\n");
    let (mut serving, _, addr) = Serving::start(&place, &[]);
    assert!(ask(&addr, "POST /v1/chat/completions", "{}").starts_with("HTTP/1.1 4"));
    let said = serving.interrupt();
    assert!(said.contains("every exchange is recorded"), "{said}");
}

#[test]
fn a_key_is_made_while_the_server_runs_and_taken_back() {
    let place = Place::new("[serve]\nrequire_keys = true\n");
    let (mut serving, _, addr) = Serving::start(&place, &[]);
    let status = |key: &str| {
        let mut stream = TcpStream::connect(&addr).unwrap();
        let head = format!("GET /version HTTP/1.1\r\nHost: {addr}\r\nX-API-Key: {key}\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer["HTTP/1.1 ".len()..][..3].to_owned()
    };
    let run = |args: &[&str]| {
        let output = place.run(args);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let made = run(&["key", "create", "phone", "--scope", "read,review", "-u", "ines"]);
    let key = made.lines().next().unwrap().to_owned();
    assert!(key.starts_with("qp_") && made.contains("read+review of user ines"), "{made}");
    assert_eq!(status(&key), "200");
    assert_eq!(status("qp_000000000000_0"), "401");
    let listed = run(&["key", "list"]);
    let id = key.split('_').nth(1).unwrap();
    assert!(listed.contains(id) && !listed.contains(key.rsplit('_').next().unwrap()), "{listed}");
    assert!(run(&["key", "revoke", id]).contains("revoked"));
    assert_eq!(status(&key), "401");
    assert_eq!(place.run(&["key", "revoke", "none"]).status.code(), Some(3));
    serving.interrupt();
}
