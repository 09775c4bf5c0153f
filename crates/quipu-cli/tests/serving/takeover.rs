//! Work that costs money is done by one of several servers, and continued by another one when that one is killed.

use std::time::Duration;

use quipu_fake_model::{FakeScript, FakeServer, Fault, Repetition};
use quipu_testkit::postgres_server::{Admin, bare_database, server};
use serde_json::json;

use crate::several::{PATIENCE, Server, sent};

/// A reply of the model that reads: it found nothing.
const NOTHING: &str = r#"{"operations": [], "readings": []}"#;

fn settings(model: &FakeServer) -> String {
    format!(
        "[models.extractor]\nprovider = \"openai\"\nbase_url = \"{}\"\nmodel = \"m\"\n\
         [maintenance]\nread_together = 1\nquiet_ms = 100\nsession_end_ms = 60000\ninterval_ms = 50\nbackoff_ms = 500\n",
        model.base_url()
    )
}

/// Waits for a condition.
fn until(what: &str, is_met: impl Fn() -> bool) {
    for _ in 0..PATIENCE.as_millis() / 50 {
        if is_met() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{what}");
}

/// How often the model was given a message as new.
fn times_read(model: &FakeServer, words: &str) -> usize {
    let received = model.received();
    let prompts = received.iter().map(|request| request.json().to_string());
    prompts
        .map(|prompt| prompt.split("\\n").filter(|line| line.contains(" NEW ") && line.contains(words)).count())
        .sum()
}

fn leases(database: &str) -> Vec<Vec<String>> {
    Admin::connect(server(), database).rows("SELECT name FROM quipu.leases")
}

#[test]
fn of_several_servers_one_reads_a_message_by_a_model() {
    let model = FakeServer::start(FakeScript::saying(NOTHING)).unwrap();
    let database = bare_database();
    let servers = ["a", "b", "c"].map(|name| Server::start(name, &database, &settings(&model)));
    let said: Vec<String> = (0..18).map(|number| format!("My locker at the pool has number {number:03}.")).collect();
    std::thread::scope(|scope| {
        for (at, one) in servers.iter().enumerate() {
            let own = said.iter().skip(at).step_by(3);
            scope.spawn(move || {
                for words in own {
                    one.say("ines", words);
                }
            });
        }
    });
    until("some messages are not read", || said.iter().all(|words| times_read(&model, words) > 0));
    until("a lease is not given back", || leases(&database).is_empty());
    for words in &said {
        assert_eq!(times_read(&model, words), 1, "{words}");
    }
}

#[test]
fn the_work_of_a_killed_server_is_taken_over_and_paid_once() {
    // The first request is never answered: its server is killed meanwhile.
    let script = FakeScript::saying(NOTHING).with(Fault::HangsAtOnce, Repetition::First(1));
    let model = FakeServer::start(script).unwrap();
    let database = bare_database();
    // The sweep over all users stays with the first of them, so that it does not come to the other.
    let settings = settings(&model) + "sweep_pause_ms = 3600000\n";
    let first = Server::start("first", &database, &settings);
    let patch = json!({"patch": [{"op": "add", "path": "/uncategorized", "value": {"tea": "green"}}]});
    let (status, patched) = sent(first.post("/memory/aaron/events", &patch));
    assert_eq!(status, 200, "{patched}");
    let [second, third] = ["second", "third"].map(|name| Server::start(name, &database, &settings));
    let words = "My locker at the pool has number 204.";
    first.say("ines", words);
    until("the model is not asked", || model.requests() == 1);
    assert!(leases(&database).iter().any(|lease| lease[0] == "extract"), "the reader holds no lease");
    let Server { serving, .. } = first;
    serving.kill();
    // Neither of the others has this user open.
    until("nobody took the work over", || model.requests() > 1);
    until("a lease is not given back", || leases(&database).is_empty());
    assert_eq!(model.requests(), 2, "the message was read more than once after the kill");
    assert_eq!(times_read(&model, words), 2, "once without an answer, once with one");
    let takeovers: usize = [&second, &third]
        .iter()
        .filter(|one| {
            let metrics = one.get("/metrics").send().unwrap().text().unwrap();
            metrics.lines().any(|line| line.starts_with("quipu_takeovers_total") && !line.ends_with(" 0"))
        })
        .count();
    assert!(takeovers >= 1, "no server counted it");
    // What is read stays read, whoever is asked next.
    let position = third.say("ines", "And the one at the gym has number 7.");
    until("the next message is not read", || times_read(&model, "the one at the gym") == 1);
    until("a lease is not given back", || leases(&database).is_empty());
    assert_eq!(times_read(&model, words), 2, "the message was read again after {position}");
}
