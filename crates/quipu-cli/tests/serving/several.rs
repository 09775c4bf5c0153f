//! Several servers on one PostgreSQL: a user's requests may hit any of them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use quipu_testkit::postgres_server::{bare_database, server, url};
use reqwest::blocking::{Client, ClientBuilder, RequestBuilder};
use serde_json::{Value, json};

use crate::Serving;
use crate::place::Place;

/// The master key of the servers, in the form of `openssl rand -hex 32`.
pub(crate) const MASTER_KEY: &str = "5e1f0c2ab7d94c6e8f3b1a7d2c9e4f608b5d7a3e1c9f2b4d6e8a0c1f3b5d7e91";

/// How long something is waited for: this machine may be busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A client that asks no proxy of the environment.
pub(crate) fn client() -> ClientBuilder {
    // Fails if another test was faster.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().no_proxy().timeout(PATIENCE)
}

/// A server with a data folder of its own on a shared database.
pub(crate) struct Server {
    pub(crate) serving: Serving,
    pub(crate) place: Place,
    client: Client,
}

impl Server {
    /// Starts it. `more` are further settings.
    pub(crate) fn start(name: &str, database: &str, more: &str) -> Self {
        let store = url(server().port, database);
        let place = Place::new("");
        // Sealed, as a new database is by default.
        let master = place.0.path().join("master-key");
        fs::write(&master, MASTER_KEY).unwrap();
        fs::set_permissions(&master, fs::Permissions::from_mode(0o600)).unwrap();
        let settings = format!(
            "store = \"{store}\"\nmaster_key_file = \"{}\"\n{more}\n[serve]\nserver_name = \"{name}\"\n",
            master.display()
        );
        fs::write(place.0.path().join("quipu/config.toml"), settings).unwrap();
        let client = client().tls_certs_only([]).build().unwrap();
        Self { serving: Serving::start(&place), place, client }
    }

    /// `kill -9`, and a new start with the same settings.
    pub(crate) fn restart(&mut self) {
        self.serving.kill_at_once();
        self.serving = Serving::start(&self.place);
    }

    pub(crate) fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("http://{}{path}", self.serving.addr))
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        let request = self.client.post(format!("http://{}{path}", self.serving.addr));
        request.header("Content-Type", "application/json").body(body.to_string())
    }

    fn delete(&self, path: &str) -> RequestBuilder {
        self.client.delete(format!("http://{}{path}", self.serving.addr))
    }

    /// Records a message and returns its position.
    pub(crate) fn say(&self, user: &str, words: &str) -> u64 {
        let body = json!({"messages": [{"role": "user", "content": words}], "session_id": "s"});
        let (status, answer) = sent(self.post(&format!("/memory/{user}/turns"), &body));
        assert_eq!(status, 200, "{answer}");
        answer["position"].as_u64().unwrap()
    }

    /// A search in a user's memory.
    fn search(&self, user: &str, query: &str) -> RequestBuilder {
        self.post("/memory/retrieve", &json!({"user_id": user, "query": query, "K": 50}))
    }

    /// The texts of messages that a search finds, the best first.
    fn texts(&self, user: &str, query: &str) -> Vec<String> {
        let (status, answer) = sent(self.search(user, query));
        assert_eq!(status, 200, "{answer}");
        let hits = answer["episodic"].as_array().unwrap();
        let turns = hits.iter().filter(|hit| hit["id"].as_str().unwrap().starts_with("turn_"));
        turns.map(|hit| hit["text"].as_str().unwrap().to_owned()).collect()
    }
}

/// Status and body of an answer.
pub(crate) fn sent(request: RequestBuilder) -> (u16, Value) {
    let response = request.send().unwrap();
    let status = response.status().as_u16();
    (status, serde_json::from_str(&response.text().unwrap()).unwrap())
}

#[test]
fn a_users_requests_may_hit_any_server() {
    let database = bare_database();
    let servers = ["east", "middle", "west"].map(|name| Server::start(name, &database, ""));
    for number in 0..12 {
        let (writer, reader) = (&servers[number % 3], &servers[(number + 1) % 3]);
        let words = format!("Message number {number} is about plums.");
        writer.say("ines", &words);
        // Another server answers with it at once, and so does a third one whose memory was open before.
        for one in [reader, &servers[(number + 2) % 3]] {
            assert!(one.texts("ines", &words).contains(&words), "message {number}: {:?}", one.texts("ines", &words));
        }
    }
    let verified = servers[1].place.run(&["-u", "ines", "verify"]);
    assert!(String::from_utf8_lossy(&verified.stdout).contains("INTACT"), "{verified:?}");

    // An erasure on one server reaches the words that another one holds open.
    let erase = json!({"targets": ["1"], "reason": "test"});
    let (status, erased) = sent(servers[0].post("/memory/ines/erase", &erase));
    assert_eq!(status, 200, "{erased}");
    for one in &servers {
        let found = one.texts("ines", "Message number 0 is about plums.");
        assert!(found.len() > 3 && !found.iter().any(|text| text.contains("number 0 ")), "{found:?}");
    }

    // A user who is deleted on one server and created anew on another is a new one on the third.
    let (_, preview) = sent(servers[2].delete("/memory/ines"));
    let confirm = preview["error"]["confirm"].as_str().unwrap();
    let (status, deleted) = sent(servers[2].delete(&format!("/memory/ines?confirm={confirm}")));
    assert_eq!(status, 200, "{deleted}");
    servers[0].say("ines", "Everything begins again.");
    for one in &servers {
        assert_eq!(one.texts("ines", "What is about plums?"), ["Everything begins again."]);
    }
}

#[test]
fn a_request_says_how_current_the_answer_must_be() {
    const MIN_VERSION: &str = "X-Memory-Min-Version";
    const MAX_STALENESS: &str = "X-Memory-Max-Staleness-Ms";
    let database = bare_database();
    // Without maintenance nothing but a request follows the ledger.
    let [one, other] = ["one", "other"].map(|name| Server::start(name, &database, "[maintenance]\nenabled = false"));
    let core = || other.get("/memory/ines");
    let version = |request: RequestBuilder| {
        let (status, answer) = sent(request);
        assert_eq!(status, 200, "{answer}");
        answer["version"].as_u64().unwrap()
    };
    let position = one.say("ines", "I like plums.");
    let known = version(core());
    assert!(known >= position);
    let position = one.say("ines", "I like pears.");
    // The other server need not ask the database for ten minutes, so it knows nothing of the second message …
    assert_eq!(version(core().header(MAX_STALENESS, "600000")), known);
    // … unless the request needs it, …
    let needed = core().header(MAX_STALENESS, "600000").header(MIN_VERSION, position.to_string());
    assert!(version(needed) >= position);
    // … and it asks by default.
    let position = one.say("ines", "I like quinces.");
    assert!(version(core()) >= position);

    let far = (position + 1000).to_string();
    for request in [core(), other.search("ines", "plums")] {
        let (status, refused) = sent(request.header(MIN_VERSION, &far));
        assert_eq!((status, &refused["error"]["type"]), (412, &json!("precondition_failed_error")), "{refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains(&far) && message.contains("another store"), "{message}");
    }
    let (status, refused) = sent(other.get("/memory/nobody").header(MIN_VERSION, "1"));
    assert_eq!(status, 412, "{refused}");
    for (name, value) in [(MIN_VERSION, "now"), (MAX_STALENESS, "-1")] {
        let (status, refused) = sent(core().header(name, value));
        assert_eq!((status, &refused["error"]["param"]), (400, &json!(name)), "{refused}");
    }
    let (status, refused) = sent(other.get("/keys").header(MIN_VERSION, "1"));
    assert_eq!(status, 400, "{refused}");
}

#[test]
fn servers_see_each_other_and_the_state_of_the_database() {
    let database = bare_database();
    let [one, other] = ["one", "other"].map(|name| Server::start(name, &database, ""));
    let names = |server: &Server| {
        let (status, ready) = sent(server.get("/health/ready"));
        assert_eq!((status, &ready["ready"]), (200, &json!(true)), "{ready}");
        assert_eq!(ready["database"]["kind"], "PostgreSQL");
        ready["database"]["servers"].clone()
    };
    let meets = |expected: &Value| {
        for _ in 0..PATIENCE.as_millis() / 100 {
            if names(&one) == *expected {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("{expected} are not the live servers: {}", names(&one));
    };
    meets(&json!(["one", "other"]));
    let (_, ready) = sent(one.get("/health/ready"));
    assert_eq!(ready["server"], "one");
    let metrics = one.get("/metrics").send().unwrap().text().unwrap();
    assert!(metrics.contains("quipu_servers{server=\"one\"} 2"), "{metrics}");
    let doctor = one.place.run(&["doctor"]);
    let told = String::from_utf8_lossy(&doctor.stdout);
    assert!(told.contains("server one (Quipu ") && told.contains("server other (Quipu "), "{told}");
    // A server that ends in order is gone at once.
    let Server { mut serving, .. } = other;
    assert!(serving.terminate(PATIENCE).is_some());
    meets(&json!(["one"]));
}
