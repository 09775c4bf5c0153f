//! `quipu mcp` as a client meets it that starts it itself: one line of JSON a message, nothing else on standard output.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Output, Stdio};

use super::place::Place;
use serde_json::{Value, json};

/// A process and the two ends of the conversation with it.
struct Client {
    process: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Client {
    fn start(place: &Place, args: &[&str]) -> Self {
        let mut command = place.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let (to, from) = (process.stdin.take(), BufReader::new(process.stdout.take().unwrap()));
        Self { process, to, from }
    }

    fn tell(&mut self, message: &Value) {
        writeln!(self.to.as_mut().unwrap(), "{message}").unwrap();
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn ask(&mut self, message: &Value) -> Value {
        self.tell(message);
        let answer = self.next();
        assert_eq!(answer["id"], message["id"], "{answer}");
        answer
    }

    /// A handshake of an older revision.
    fn hello(&mut self, version: &str) -> Value {
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
        let answer = self.ask(&hello);
        self.tell(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer["result"].clone()
    }

    /// What a tool answers; the client has shaken hands.
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        self.ask(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))["result"].clone()
    }

    /// The end of what comes in, and of the process: its code, and what it said on standard error.
    fn end(mut self) -> (Option<i32>, String) {
        drop(self.to.take());
        let mut rest = String::new();
        self.from.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "", "nothing comes unasked");
        let code = self.process.wait().unwrap().code();
        let mut said = String::new();
        self.process.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (code, said)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A message of the newest revision.
fn modern(id: u64, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn each_revision_is_spoken_and_what_one_adds_the_next_one_finds() {
    let place = Place::new("");
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::start(&place, &["mcp"]);
        let hello = client.hello(version);
        assert_eq!(
            (hello["protocolVersion"].as_str(), hello["serverInfo"]["name"].as_str()),
            (Some(version), Some("quipu"))
        );
        let listed = client.ask(&json!({"jsonrpc": "2.0", "id": 5, "method": "tools/list"}));
        assert_eq!(
            listed["result"]["tools"].as_array().unwrap().len(),
            10,
            "nobody decides unless the settings say so"
        );
        if version == "2024-11-05" {
            assert_eq!(client.call("add_memory", json!({"user_said": "I live in Porto."}))["isError"], false);
        }
        let found = client.call("search_memories", json!({"query": "Where do I live?"}));
        assert!(found["structuredContent"]["results"][0]["text"].as_str().unwrap().contains("Porto"), "{found}");
        assert_eq!(client.end(), (Some(0), String::new()), "{version}");
    }
    let mut client = Client::start(&place, &["mcp"]);
    let found = client.ask(&modern(1, "server/discover", json!({})));
    assert!(found["result"]["supportedVersions"].to_string().contains("2026-07-28"), "{found}");
    let call = json!({"name": "search_memories", "arguments": {"query": "Where do I live?"}});
    let answer = client.ask(&modern(2, "tools/call", call));
    assert_eq!(answer["result"]["resultType"], "complete");
    assert!(answer["result"]["structuredContent"].to_string().contains("Porto"), "{answer}");
    assert_eq!(client.end().0, Some(0));
    // Whoever only asked what this is, and went.
    let mut client = Client::start(&place, &["mcp"]);
    client.ask(&modern(1, "server/discover", json!({})));
    assert_eq!(client.end(), (Some(0), String::new()));
    assert_eq!(Client::start(&place, &["mcp"]).end().0, Some(0));
}

#[test]
fn broken_lines_are_answered_or_passed_over_and_the_conversation_goes_on() {
    let place = Place::new("");
    let mut client = Client::start(&place, &["mcp"]);
    client.hello("2025-11-25");
    for line in ["", "{", "nonsense", "[]", "\u{0}", "{\"jsonrpc\": \"2.0\"}", "\"text\""] {
        writeln!(client.to.as_mut().unwrap(), "{line}").unwrap();
    }
    let ping = json!({"jsonrpc": "2.0", "id": 77, "method": "ping"});
    client.tell(&ping);
    let mut codes = Vec::new();
    loop {
        let answer = client.next();
        if answer["id"] == 77 {
            break;
        }
        codes.push(answer["error"]["code"].as_i64());
        assert!(codes.len() < 10, "one answer a line at most");
    }
    // What is no JSON is answered as such, so that nobody waits for it.
    assert_eq!(codes.iter().filter(|code| **code == Some(-32700)).count(), 3, "{codes:?}");
    let unknown = client.ask(&json!({"jsonrpc": "2.0", "id": "x", "method": "memory/erase"}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    let wrong = client.call("search_memories", json!({"question": "?"}));
    assert_eq!(wrong["isError"], true);
    // Given up before it is answered: no answer comes, or one, and what follows is answered.
    let call = json!({"name": "search_memories", "arguments": {"query": "anything"}});
    client.tell(&json!({"jsonrpc": "2.0", "id": 90, "method": "tools/call", "params": call}));
    client.tell(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 90}}));
    client.tell(&json!({"jsonrpc": "2.0", "id": 91, "method": "ping"}));
    let mut seen = client.next();
    if seen["id"] == 90 {
        seen = client.next();
    }
    assert_eq!(seen["id"], 91, "{seen}");
}

#[test]
fn the_folder_is_shared_with_other_clients_and_commands() {
    let place = Place::new("");
    let (mut one, mut other) = (Client::start(&place, &["mcp"]), Client::start(&place, &["mcp"]));
    one.hello("2025-11-25");
    other.hello("2025-11-25");
    let added = one.call("add_memory", json!({"user_said": "I live in Porto."}));
    assert_eq!(added["isError"], false, "{added}");
    let found = other.call("search_memories", json!({"query": "Where do I live?"}));
    assert!(found["structuredContent"].to_string().contains("Porto"), "{found}");
    let facts = place.run(&["facts"]);
    assert!(text(&facts).contains("Porto"), "{}", text(&facts));
    let again = one.call("add_memory", json!({"user_said": "I like fado."}));
    assert_eq!(again["isError"], false, "{again}");
    assert_eq!((one.end().0, other.end().0), (Some(0), Some(0)));
    assert!(text(&place.run(&["verify"])).contains("INTACT"));
}

#[test]
fn a_server_is_asked_by_its_address_and_the_folder_without_one() {
    let place = Place::new("[serve]\nrequire_keys = true\n[mcp]\nreview = true\n");
    let made = place.run(&["key", "create", "client", "-u", "ines"]);
    let key = String::from_utf8_lossy(&made.stdout).lines().next().unwrap().to_owned();
    let mut serve =
        place.command(&["serve", "--addr", "127.0.0.1:0", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut screen = String::new();
    BufReader::new(serve.stdout.take().unwrap()).read_line(&mut screen).unwrap();
    let addr = serde_json::from_str::<Value>(&screen).unwrap()["addr"].as_str().unwrap().to_owned();
    let url = format!("http://{addr}");

    let mut alone = Client::start(&place, &["mcp"]);
    alone.hello("2025-11-25");
    let beside = alone.call("search_memories", json!({"query": "x"}));
    assert_eq!(beside["isError"], false, "the server has the folder open too: {beside}");

    let forwarding = |key: &str| {
        let mut command = place.command(&["mcp", "--server", &url]);
        command.env("QUIPU_API_KEY", key).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let (to, from) = (process.stdin.take(), BufReader::new(process.stdout.take().unwrap()));
        Client { process, to, from }
    };
    let mut client = forwarding(&key);
    assert_eq!(client.hello("2025-06-18")["protocolVersion"], "2025-06-18");
    assert_eq!(client.call("add_memory", json!({"user_said": "I live in Porto."}))["isError"], false);
    let found =
        client.ask(&modern(4, "tools/call", json!({"name": "search_memories", "arguments": {"query": "Porto"}})));
    assert!(found["result"]["structuredContent"].to_string().contains("Porto"), "{found}");
    let read = client.ask(&modern(5, "resources/read", json!({"uri": "memory://item/ü"})));
    assert_eq!(read["error"]["code"], -32602, "{read}");
    assert_eq!(client.end(), (Some(0), String::new()));
    let mut stranger = forwarding("qp_000000000000_0");
    let hello = json!({"jsonrpc": "2.0", "id": 3, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let refused = stranger.ask(&hello);
    assert!(refused["error"]["message"].as_str().unwrap().contains("unknown or revoked key"), "{refused}");
    serve.kill().unwrap();
    serve.wait().unwrap();
    let gone = stranger.ask(&json!({"jsonrpc": "2.0", "id": 4, "method": "ping"}));
    assert!(gone["error"]["message"].as_str().unwrap().contains("quipu serve"), "{gone}");
}

#[test]
fn deciding_is_in_sight_if_the_settings_say_so() {
    let place = Place::new("[mcp]\nreview = true\nuser_words = false\n");
    let mut client = Client::start(&place, &["mcp", "--toolsets", "graph,admin"]);
    client.hello("2025-11-25");
    let listed = client.ask(&json!({"jsonrpc": "2.0", "id": 5, "method": "tools/list"}));
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 10 + 1 + 9 + 3);
    assert_eq!(client.call("add_memory", json!({"user_said": "I live in Porto."}))["isError"], true);
    for (args, words) in [
        (&["mcp", "--toolsets", "folders"][..], "there is no toolset"),
        (&["mcp", "--server", "nowhere"], "not the address of a server"),
        (&["mcp", "--server", "http://me:secret@there"], "not the address of a server"),
    ] {
        let refused = place.run(args);
        assert_eq!(refused.status.code(), Some(2), "{args:?}: {}", text(&refused));
        assert!(text(&refused).contains(words), "{args:?}: {}", text(&refused));
    }
}

#[test]
fn what_is_due_is_done_while_a_client_is_there() {
    let place = Place::new("[maintenance]\ninterval_ms = 10\nquiet_ms = 1\nsession_end_ms = 1\n");
    let at = |place: &Place| -> Value {
        let status = place.run(&["status", "--json"]);
        let status: Value =
            serde_json::from_slice(&status.stdout).unwrap_or_else(|error| panic!("{error}: {status:?}"));
        status["items"][0]["maintained_at"].clone()
    };
    assert!(place.run(&["add", "I live in Porto."]).status.success());
    assert_eq!(at(&place), Value::Null);
    let mut client = Client::start(&place, &["mcp"]);
    client.hello("2025-11-25");
    // Another process sees that it was done.
    let looks = (0..600).map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        at(&place)
    });
    assert!(looks.into_iter().any(|at| at.is_string()), "nothing was done");
    assert_eq!(client.end(), (Some(0), String::new()));
    // And not where it is turned off.
    let place = Place::new("[maintenance]\ninterval_ms = 10\nquiet_ms = 1\nenabled = false\n");
    assert!(place.run(&["add", "I live in Porto."]).status.success());
    let mut client = Client::start(&place, &["mcp"]);
    client.hello("2025-11-25");
    client.call("search_memories", json!({"query": "Where do I live?"}));
    assert_eq!(client.end(), (Some(0), String::new()));
    assert_eq!(at(&place), Value::Null);
}
