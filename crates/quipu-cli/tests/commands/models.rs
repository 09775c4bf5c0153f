//! Language models as a person meets them: what is asked, what is not, and what stays when a model fails.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use quipu_fake_model::{FakeRequest, FakeScript, FakeServer, Fault, Repetition};
use serde_json::json;

/// A data folder and a settings file of its own, and the binary over them.
struct Place(tempfile::TempDir);

impl Place {
    fn new(settings: &str) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        let folder = place.0.path().join(".config/quipu");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("config.toml"), settings).unwrap();
        place
    }

    /// Roles that all ask one server.
    fn with(server: &FakeServer, roles: &[&str]) -> Self {
        let mut text = format!(
            "[models.default]\nprovider = \"openai\"\nbase_url = \"{}\"\nmodel = \"fake\"\napi_key_env = \"FAKE_KEY\"\n\
             deadline_ms = 2000\nidle_ms = 200\ntokens_per_day = 1000000\n",
            server.base_url()
        );
        roles.iter().for_each(|role| text.push_str(&format!("[models.{role}]\n")));
        Self::new(&text)
    }

    fn start(&self, args: &[&str]) -> Child {
        Command::new(env!("CARGO_BIN_EXE_quipu"))
            .args(args)
            .env_clear()
            .env("TZ", "UTC")
            .env("QUIPU_DATA_DIR", self.0.path().join("data"))
            .env("HOME", self.0.path())
            .env("FAKE_KEY", "sk-very-secret")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    fn check(&self, args: &[&str], input: &str, code: i32, pieces: &[&str]) -> String {
        let mut child = self.start(args);
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let printed = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{args:?}: {printed}");
        for piece in pieces {
            assert!(printed.contains(piece), "{args:?}: no {piece:?} in {printed}");
        }
        assert!(!printed.contains("sk-very-secret"), "{args:?} prints the key");
        printed
    }
}

/// A model that does what each of its roles asks.
fn model(asked: &FakeRequest) -> String {
    if asked.system.contains("user_summary") {
        let diff = json!({"add": [], "update": [], "remove": []});
        return json!({"user_summary": "Lives in Porto", "assistant_summary": "", "base_truth_diff": diff}).to_string();
    }
    if asked.system.contains("`operations`") {
        let quote = "My weekends belong to kayaking";
        let add = json!({
            "op": "add", "id": "", "kind": "preference", "about": "user", "relation": "hobby", "value": "kayaking",
            "sentence": "User's hobby is kayaking", "from": "", "to": "", "outcome": "",
            "message": asked.message_with(quote), "quote": quote,
        });
        let said = asked.message_with(quote).is_some();
        let operations = if said { vec![add] } else { Vec::new() };
        return json!({"operations": operations, "readings": []}).to_string();
    }
    if asked.system.contains("capital") {
        return json!({"capital": "Lisbon"}).to_string();
    }
    format!("You said: {}", asked.last_user())
}

#[test]
fn without_a_model_nothing_is_asked_and_the_way_to_one_is_shown() {
    let place = Place::new("");
    place.check(&["chat"], "Hello\n", 2, &["[models.chat]", "api_key_env"]);
    place.check(&["doctor"], "", 0, &["language models: none is configured"]);
    place.check(&["add", "I live in Porto."], "", 0, &[]);
    place.check(&["catch-up"], "", 0, &[]);
    Place::new("[models.chat]\nprovider = \"x\"\n").check(&["status"], "", 2, &["[models.chat]: provider is"]);
}

#[test]
fn a_chat_remembers_says_why_and_can_be_undone() {
    let server = FakeServer::start(FakeScript::making(model)).unwrap();
    let place = Place::with(&server, &["chat", "summarizer"]);
    // What the rules read of an earlier conversation is given and named with its words.
    place.check(&["add", "I am allergic to shrimp."], "", 0, &[]);
    let typed = "I live in Porto.\nWhere do I live?\n/why\n/memory\n/nonsense\n/forget fact_0000000000000\n/quit\n";
    let said =
        ["You said: I live in Porto.", "You said: Where do I live?", "lives in Porto", "unknown command /nonsense"];
    let printed = place.check(&["chat", "--session", "s"], typed, 0, &said);
    assert!(printed.contains("allergic to shrimp") && !printed.contains("retracted since"), "{printed}");
    let second = server
        .received()
        .into_iter()
        .map(|one| one.json())
        .find(|body| body["stream"] == true && body["messages"].to_string().contains("Where do I live?"));
    let prompt = second.unwrap()["messages"].to_string();
    assert!(prompt.contains("I live in Porto."), "the second prompt knows nothing of the first: {prompt}");
    place.check(&["facts"], "", 0, &["Porto"]);
    place.check(&["session", "show", "s"], "", 0, &["Lives in Porto"]);
    place.check(
        &["chat", "--session", "s"],
        "I have a dog called Rex.\n/undo\n/undo\n",
        0,
        &["events reverted", "nothing to undo"],
    );
    let facts = place.check(&["facts"], "", 0, &["Porto"]);
    assert!(!facts.contains("Rex"), "{facts}");
    place.check(&["verify"], "", 0, &[]);
}

#[test]
fn what_was_said_outlives_a_model_that_fails() {
    let server = FakeServer::start(FakeScript::making(model).with(Fault::Loading503, Repetition::Always)).unwrap();
    let place = Place::with(&server, &["chat", "summarizer", "extractor"]);
    place.check(&["chat", "--session", "s"], "I live in Porto.\n", 0, &["no reply", "Your message is recorded"]);
    place.check(&["facts"], "", 0, &["Porto"]);
    place.check(&["status"], "", 0, &["1 message waits for the extraction model"]);
    server.rescript(FakeScript::making(model).with(Fault::NoEnd, Repetition::First(1)));
    let long = "Tell me a long story about the river and the sea and the boats on it.\n";
    place.check(&["chat", "--session", "s"], long, 0, &["the reply broke off", "marked as partial"]);
    place.check(&["log"], "", 0, &["the reply broke off"]);
    place.check(&["catch-up"], "", 0, &[]);
    let status = place.check(&["status"], "", 0, &[]);
    assert!(!status.contains("for the extraction model"), "{status}");
}

#[test]
fn adding_waits_for_no_model_and_catching_up_asks_it() {
    let server = FakeServer::start(FakeScript::making(model)).unwrap();
    let place = Place::with(&server, &["extractor", "summarizer"]);
    place.check(&["add", "--session", "s", "I live in Porto. My weekends belong to kayaking."], "", 0, &[]);
    place.check(&["add", "--session", "s", "--role", "assistant", "How nice."], "", 0, &[]);
    place.check(&["add", "--session", "s", "And what now?"], "", 0, &[]);
    assert_eq!(server.requests(), 0, "adding asked a model");
    place.check(&["catch-up"], "", 0, &["1 exchange summarised", "messages read by openai/fake reader/v1"]);
    let asked = server.requests();
    // What rules read holds, and so does what the model adds in the user's own words.
    place.check(&["facts"], "", 0, &["Porto", "kayaking"]);
    place.check(&["catch-up"], "", 0, &["0 messages read"]);
    assert_eq!(server.requests(), asked, "it is read twice");
    let rebuilt = place.check(&["rebuild"], "", 0, &[]);
    assert_eq!(server.requests(), asked, "a rebuild asks a model: {rebuilt}");
    place.check(&["facts"], "", 0, &["Porto", "kayaking"]);
    // Reading everything once more costs: it is announced, and nothing is sent before somebody agrees.
    place.check(&["reread", "--with-model"], "", 2, &["would read 2 messages in 1 request:", "--yes"]);
    assert_eq!(server.requests(), asked, "it asked before anybody agreed");
    place.check(&["reread", "--with-model", "--session", "s", "--yes"], "", 2, &["unexpected argument"]);
    assert_eq!(server.requests(), asked, "it read more than was asked for");
    place.check(&["reread", "--with-model", "--yes"], "", 0, &["2 messages read by openai/fake reader/v1"]);
    assert_eq!(server.requests(), asked + 1);
    place.check(&["catch-up"], "", 0, &["0 messages read"]);
    place.check(&["facts"], "", 0, &["Porto", "kayaking"]);
}

#[test]
fn two_servers_at_one_folder_ask_a_model_once() {
    let server = FakeServer::start(FakeScript::making(model)).unwrap();
    let place = Place::with(&server, &["extractor"]);
    place.check(&["add", "--session", "s", "I live in Porto. My weekends belong to kayaking."], "", 0, &[]);
    place.check(&["add", "--session", "s", "And what now?"], "", 0, &[]);
    let settings = place.0.path().join(".config/quipu/config.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    let maintenance = "[maintenance]\ninterval_ms = 10\nquiet_ms = 1\nsession_end_ms = 1\n";
    std::fs::write(&settings, text + maintenance).unwrap();
    let servers = [(); 2].map(|()| place.start(&["serve", "--addr", "127.0.0.1:0"]));
    let is_done = || {
        std::thread::sleep(Duration::from_millis(50));
        let status: serde_json::Value = serde_json::from_str(&place.check(&["status", "--json"], "", 0, &[])).unwrap();
        let status = &status["items"][0];
        status["unstudied"] == 0 && status["maintained_at"].is_string()
    };
    assert!((0..600).any(|_| is_done()), "nobody did what is due");
    for mut one in servers {
        assert!(Command::new("kill").args(["-TERM", &one.id().to_string()]).status().unwrap().success());
        assert!(one.wait().unwrap().success());
    }
    assert_eq!(server.requests(), 1, "it is read twice");
    place.check(&["facts"], "", 0, &["Porto", "kayaking"]);
}

#[test]
fn the_doctor_says_what_answers_and_rehearses_what_fails() {
    let server =
        FakeServer::start(FakeScript::making(model).with(Fault::RejectsSchema400, Repetition::Always)).unwrap();
    let place = Place::with(&server, &["chat", "judge"]);
    let said = ["ok   model chat: fake at http://127.0.0.1", "JSON by json_object", "model judge", "of 1000000 a user"];
    place.check(&["doctor"], "", 0, &said);
    server.rescript(FakeScript::making(model).with(Fault::Unauthorised401, Repetition::Always));
    place.check(&["doctor"], "", 1, &["LOOK model chat", "does not accept the key"]);
    let line = place.check(&["doctor", "--self-test"], "", 0, &["faults of a model server", "0 came out wrong"]);
    assert_eq!(line.lines().count(), 1, "{line}");
}

#[test]
fn knobs_of_sessions_stand_in_the_settings() {
    let place = Place::new("[sessions]\nwindow_turns = 1\n");
    for text in ["I like tea.", "I like jazz.", "I like rain."] {
        place.check(&["add", text, "--session", "s"], "", 0, &[]);
    }
    let context = place.check(&["session", "context", "s", "What now?"], "", 0, &["user: I like rain."]);
    let (_, recent) = context.split_once("## Recent Messages").unwrap();
    assert!(!recent.contains("I like tea."), "the window has one exchange: {context}");
    Place::new("[sessions]\nwindow_turns = 0\n").check(&["status"], "", 2, &["[sessions]: window_turns is 1 to 200"]);
    Place::new("[sessions]\nwindow = 3\n").check(&["status"], "", 2, &["unknown field", "window_turns"]);
}

#[test]
fn an_answer_that_is_interrupted_is_kept_as_a_part_and_the_chat_goes_on() {
    let tale = "Once upon a time there was a boat. ".repeat(40);
    let slow = FakeScript {
        drip: Duration::from_millis(2),
        ..FakeScript::saying(&tale).with(Fault::Drips, Repetition::Always)
    };
    let server = FakeServer::start(slow).unwrap();
    let place = Place::with(&server, &["chat"]);
    let mut chat = place.start(&["chat", "--session", "s"]);
    let mut typed = chat.stdin.take().unwrap();
    typed.write_all(b"Tell me a tale.\n").unwrap();
    chat.stdout.as_mut().unwrap().read_exact(&mut [0; 10]).unwrap();
    assert!(Command::new("kill").args(["-INT", &chat.id().to_string()]).status().unwrap().success());
    typed.write_all(b"/memory\n").unwrap();
    drop(typed);
    let ended = chat.wait_with_output().unwrap();
    let printed = format!("{}{}", String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert!(ended.status.success(), "{printed}");
    assert!(printed.contains("you stopped the reply. The part received is recorded"), "{printed}");
    assert!(printed.contains("nothing is recorded yet"), "the chat went on: {printed}");
    let log = place.check(&["log"], "", 0, &["you stopped the reply"]);
    assert!(!log.contains(tale.trim()), "{log}");
}
