//! Several servers on one PostgreSQL: a user's requests may hit any of them.

use std::time::Duration;

use quipu_testkit::postgres_server::{bare_database, server, url};
use reqwest::blocking::{Client, RequestBuilder};
use serde_json::{Value, json};

use crate::Serving;
use crate::place::Place;

/// How long something is waited for: this machine may be busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

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
        let place = Place::new(&format!("store = \"{store}\"\n{more}\n[serve]\nserver_name = \"{name}\"\n"));
        let client = Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
        Self { serving: Serving::start(&place), place, client }
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

    /// The texts of a user's messages.
    fn texts(&self, user: &str) -> Vec<String> {
        let (status, answer) = sent(self.get(&format!("/memory/{user}/turns?limit=500")));
        assert_eq!(status, 200, "{answer}");
        answer["items"].as_array().unwrap().iter().map(|item| item["text"].as_str().unwrap().to_owned()).collect()
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
        assert_eq!(reader.texts("ines").len(), number + 1, "message {number}");
        let (_, found) = sent(servers[(number + 2) % 3].post("/memory/ines/search", &json!({"query": words, "k": 1})));
        assert_eq!(found["hits"][0]["text"], words, "{found}");
    }
    let verified = servers[1].place.run(&["-u", "ines", "verify"]);
    assert!(String::from_utf8_lossy(&verified.stdout).contains("INTACT"), "{verified:?}");

    // An erasure on one server reaches the words that another one holds open.
    let (_, preview) = sent(servers[0].post("/memory/ines/erase", &json!({"targets": ["1"], "reason": "test"})));
    let confirm = preview["error"]["confirm"].as_str().unwrap();
    let erase = json!({"targets": ["1"], "reason": "test", "confirm": confirm});
    let (status, erased) = sent(servers[0].post("/memory/ines/erase", &erase));
    assert_eq!(status, 200, "{erased}");
    for one in &servers {
        assert!(!one.texts("ines").iter().any(|text| text.contains("number 0 ")));
    }

    // A user who is deleted on one server and created anew on another is a new one on the third.
    let (_, preview) = sent(servers[2].delete("/memory/ines"));
    let confirm = preview["error"]["confirm"].as_str().unwrap();
    let (status, deleted) = sent(servers[2].delete(&format!("/memory/ines?confirm={confirm}")));
    assert_eq!(status, 200, "{deleted}");
    servers[0].say("ines", "Everything begins again.");
    for one in &servers {
        assert_eq!(one.texts("ines"), ["Everything begins again."]);
    }
}

#[test]
fn a_request_says_how_current_the_answer_must_be() {
    const MIN_VERSION: &str = "X-Memory-Min-Version";
    const MAX_STALENESS: &str = "X-Memory-Max-Staleness-Ms";
    let database = bare_database();
    let [one, other] = ["one", "other"].map(|name| Server::start(name, &database, ""));
    one.say("ines", "I like plums.");
    let list = || other.get("/memory/ines/turns?limit=500");
    let length = |request: RequestBuilder| {
        let (status, answer) = sent(request);
        assert_eq!(status, 200, "{answer}");
        answer["items"].as_array().unwrap().len()
    };
    assert_eq!(length(list()), 1);
    let position = one.say("ines", "I like pears.");
    // The other server need not ask the database for ten minutes, so it knows nothing of the second message …
    assert_eq!(length(list().header(MAX_STALENESS, "600000")), 1);
    // … unless the request needs it, …
    let needed = list().header(MAX_STALENESS, "600000").header(MIN_VERSION, position.to_string());
    assert_eq!(length(needed), 2);
    // … and it asks by default.
    let position = one.say("ines", "I like quinces.");
    assert_eq!(length(list()), 3);

    let far = (position + 1000).to_string();
    for request in [list(), other.post("/memory/ines/search", &json!({"query": "plums"}))] {
        let (status, refused) = sent(request.header(MIN_VERSION, &far));
        assert_eq!((status, &refused["error"]["type"]), (412, &json!("precondition_failed_error")), "{refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains(&far) && message.contains("another store"), "{message}");
    }
    let (status, refused) = sent(other.get("/memory/nobody/turns").header(MIN_VERSION, "1"));
    assert!([404, 412].contains(&status), "{refused}");
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
