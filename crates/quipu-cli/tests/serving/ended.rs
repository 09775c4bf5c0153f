//! SIGTERM ends `quipu serve` whatever hangs, and nothing that was acknowledged is lost.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use quipu_fake_model::{FakeScript, FakeServer, Fault, Repetition};

use crate::place::Place;
use crate::{Serving, texts};

/// Well over the ten seconds that are promised, and far below what hangs here: this machine may be busy.
const PATIENCE: Duration = Duration::from_secs(25);

fn post(addr: &str, user: &str, session: &str, path: &str, more: &str, body: &str) -> TcpStream {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {addr}\r\nX-Memory-User: {user}\r\nX-Memory-Session: {session}\r\n{more}\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all((head + body).as_bytes()).unwrap();
    stream
}

fn chat(words: &str) -> String {
    format!(r#"{{"model":"m","stream":true,"messages":[{{"role":"user","content":"{words}"}}]}}"#)
}

/// Reads until something stands in what came.
fn read_until(stream: &mut TcpStream, wanted: &str) -> String {
    let (mut text, mut space) = (String::new(), [0u8; 1024]);
    while !text.contains(wanted) {
        let read = stream.read(&mut space).unwrap();
        assert!(read > 0, "{wanted}: {text}");
        text.push_str(&String::from_utf8_lossy(&space[..read]));
    }
    text
}

/// Waits until a fake model was asked so often.
fn asked(model: &FakeServer, times: usize) {
    for _ in 0..PATIENCE.as_millis() / 10 {
        if model.requests() >= times {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the model was asked {} times, not {times}", model.requests());
}

#[test]
fn it_ends_in_every_state_and_keeps_what_was_said() {
    // The first reply hangs in the middle, all others before their first byte.
    let script = FakeScript::saying("It is Porto, as you have told me.")
        .with(Fault::HangsMidway, Repetition::First(1))
        .with(Fault::HangsAtOnce, Repetition::Always);
    let hanging = FakeServer::start(script).unwrap();
    let replying = FakeServer::start(FakeScript::saying("It is Porto.")).unwrap();
    let model = FakeServer::start(FakeScript::saying("x").with(Fault::HangsAtOnce, Repetition::Always)).unwrap();
    let place = Place::new(&format!(
        "[[upstream]]\nname = \"hanging\"\nkind = \"openai\"\nbase_url = \"{}\"\nmodels = [\"m\"]\n\
         [[upstream]]\nname = \"replying\"\nkind = \"openai\"\nbase_url = \"{}\"\n\
         [models.extractor]\nprovider = \"openai\"\nbase_url = \"{}\"\nmodel = \"m\"\n\
         [maintenance]\nread_together = 1\n",
        hanging.base_url(),
        replying.base_url(),
        model.base_url()
    ));
    let mut serving = Serving::start(&place);
    let addr = serving.addr.clone();
    let path = "/v1/chat/completions";

    // A reply that is whole, whose words a model is to read that never answers.
    let mut whole = post(
        &addr,
        "ines",
        "whole",
        path,
        "",
        &chat("I keep bees behind the old house by the river.").replace("\"m\"", "\"other\""),
    );
    read_until(&mut whole, "[DONE]");
    asked(&model, 1);
    // An upstream that hangs in the middle of a reply, and one that hangs before it.
    let mut midway = post(&addr, "otto", "midway", path, "", &chat("I moved to Lyon."));
    read_until(&mut midway, "\"content\"");
    let _before = post(&addr, "otto", "before", path, "", &chat("I sold the car."));
    asked(&hanging, 2);
    // A client that is told events as they come, one that sends half a request, and one that sends nothing.
    let mut events = TcpStream::connect(&addr).unwrap();
    events.set_read_timeout(Some(PATIENCE)).unwrap();
    let get = format!("GET /memory/ines/events HTTP/1.1\r\nHost: {addr}\r\nAccept: text/event-stream\r\n\r\n");
    events.write_all(get.as_bytes()).unwrap();
    read_until(&mut events, "200 OK");
    let mut half = TcpStream::connect(&addr).unwrap();
    let head = format!("POST {path} HTTP/1.1\r\nHost: {addr}\r\nContent-Length: 1000\r\n\r\n{{\"model\"");
    half.write_all(head.as_bytes()).unwrap();
    let _idle = TcpStream::connect(&addr).unwrap();

    let status = serving.terminate(PATIENCE);
    assert_eq!(status.map(|status| status.code()), Some(Some(0)), "it ends, and everything that was said is recorded");
    assert_eq!(texts(&place, "ines"), ["I keep bees behind the old house by the river.", "It is Porto."]);
    let otto = texts(&place, "otto");
    for words in ["I moved to Lyon.", "I sold the car."] {
        assert_eq!(otto.iter().filter(|text| *text == words).count(), 1, "{words}: {otto:?}");
    }
    for user in ["ines", "otto"] {
        let verified = place.run(&["-u", user, "verify"]);
        assert!(String::from_utf8_lossy(&verified.stdout).contains("INTACT"), "{verified:?}");
    }
}
