//! The fake model server speaks each dialect, shows each fault as often as planned, and lists the requests it
//! received.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use quipu_fake_model::{FakeScript, FakeServer, Fault, FaultKind, Repetition};
use serde_json::{Value, json};

const PLACES: [&str; 3] = ["/v1/chat/completions", "/v1/responses", "/v1/messages"];

/// All bytes of the response, up to its end or the first error.
fn post(server: &FakeServer, path: &str, body: &Value) -> Vec<u8> {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let body = body.to_string();
    let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\nX-Test: Yes\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut all = Vec::new();
    let mut piece = [0u8; 64 << 10];
    while let Ok(read) = stream.read(&mut piece) {
        if read == 0 || all.len() > 1 << 20 {
            break;
        }
        all.extend_from_slice(&piece[..read]);
    }
    all
}

/// The body of a chunked response.
fn body(answer: &[u8]) -> String {
    let text = String::from_utf8_lossy(answer).into_owned();
    let (head, rest) = text.split_once("\r\n\r\n").unwrap();
    if !head.contains("chunked") {
        return rest.to_owned();
    }
    let (mut rest, mut whole) = (rest, String::new());
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        whole.push_str(&after[..size]);
        rest = &after[size + 2..];
    }
    whole
}

fn ask(stream: bool) -> Value {
    json!({
        "model": "m", "stream": stream, "stream_options": {"include_usage": true}, "max_tokens": 9, "input": "Hi",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
    })
}

#[test]
fn each_dialect_tells_the_same_reply_plain_and_streamed() {
    let said = "Grüße aus Porto, \"wie geht's\"?\nEnd.";
    let server = FakeServer::start(FakeScript::saying(said)).unwrap();
    let text = |path: &str| serde_json::from_str::<Value>(&body(&post(&server, path, &ask(false)))).unwrap();
    assert_eq!(text(PLACES[0])["choices"][0]["message"]["content"], said);
    assert_eq!(text(PLACES[1])["output"][0]["content"][0]["text"], said);
    assert_eq!(text(PLACES[2])["content"][0]["text"], said);
    for (path, place, last) in [
        (PLACES[0], "/choices/0/delta/content", "[DONE]"),
        (PLACES[1], "/delta", "response.completed"),
        (PLACES[2], "/delta/text", "message_stop"),
    ] {
        let whole = body(&post(&server, path, &ask(true)));
        let data: Vec<&str> = whole.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
        let pieces = data.iter().filter_map(|data| serde_json::from_str::<Value>(data).ok());
        let told: String = pieces.filter_map(|event| Some(event.pointer(place)?.as_str()?.to_owned())).collect();
        assert_eq!(told, said, "{path}");
        assert!(data.last().unwrap().contains(last), "{path} ends with {:?}", data.last());
        assert!(data.len() > 4, "{path} comes in one piece");
    }
    let usage = body(&post(&server, PLACES[0], &ask(true)));
    assert!(usage.contains("\"usage\":{\"completion_tokens\""), "no usage although it was asked for");
}

#[test]
fn it_remembers_what_it_was_sent_and_answers_the_same_twice() {
    let server = FakeServer::start(FakeScript::saying("Yes.")).unwrap();
    let embed = json!({"model": "e", "input": ["one", "two"], "dimensions": 5});
    let first = post(&server, "/v1/embeddings", &embed);
    assert_eq!(first, post(&server, "/v1/embeddings", &embed));
    let vectors: Value = serde_json::from_str(&body(&first)).unwrap();
    assert_eq!(vectors["data"][1]["embedding"].as_array().unwrap().len(), 5);
    let received = server.received();
    assert_eq!(received.len(), 2);
    assert_eq!((received[0].path.as_str(), received[0].header("x-test")), ("/v1/embeddings", Some("Yes")));
    assert_eq!(received[0].json(), embed);
    assert!(body(&post(&server, "/v1/nowhere", &embed)).contains("no such place"));
}

#[test]
fn a_fault_shows_as_often_as_planned_and_at_its_place_only() {
    let script = FakeScript::saying("ok").with(Fault::Unavailable500, Repetition::First(2)).with_at(
        "/embeddings",
        Fault::Unauthorised401,
        Repetition::Always,
    );
    let server = FakeServer::start(script).unwrap();
    let status = |path: &str| String::from_utf8_lossy(&post(&server, path, &ask(false)))[9..12].to_owned();
    assert_eq!([status(PLACES[0]), status(PLACES[0]), status(PLACES[0])], ["500", "500", "200"]);
    assert_eq!([status("/v1/embeddings"), status("/v1/embeddings")], ["401", "401"]);
    server.rescript(FakeScript::saying("ok").with(Fault::BadGateway502, Repetition::After(1)));
    assert_eq!([status(PLACES[2]), status(PLACES[2])], ["200", "502"]);
}

#[test]
fn every_fault_shows_in_every_dialect_and_the_server_goes_on() {
    assert!(Fault::ALL.len() >= 30, "{} faults", Fault::ALL.len());
    let good = r#"{"user_summary":"Moved to Porto in 2024","confidence":true,"due":"2024-05-01"}"#;
    let make = |fault: Option<Fault>| {
        let mut script = FakeScript { drip: Duration::ZERO, ..FakeScript::saying(good).seeded(3) };
        script.plans.extend(fault.map(|fault| quipu_fake_model::PlannedFault {
            fault,
            times: Repetition::First(1),
            path: None,
        }));
        FakeServer::start(script).unwrap()
    };
    let mut unseen = Vec::new();
    for path in PLACES {
        for stream in [false, true] {
            let mut sent = ask(stream);
            sent["response_format"] = json!({"type": "json_schema", "json_schema": {"name": "x", "schema": {}}});
            let server = make(None);
            let right = post(&server, path, &sent);
            for fault in Fault::ALL.iter().copied() {
                // These faults do not concern this request.
                let elsewhere =
                    fault == Fault::RejectsObject400 || (!stream && matches!(fault, Fault::ErrorMidway | Fault::NoEnd));
                let server = make(Some(fault));
                let first = post(&server, path, &sent);
                if (first == right) != elsewhere {
                    unseen.push(format!("{path} stream={stream} {}", fault.name()));
                }
                if fault.kind() != FaultKind::Transport {
                    assert!(!post(&server, path, &sent).is_empty(), "{path} {}: it does not go on", fault.name());
                }
            }
        }
    }
    assert!(unseen.is_empty(), "{unseen:#?}");
}
