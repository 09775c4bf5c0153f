//! Attacks on every route: the routes of the API and the proxy are taken from the OpenAPI document, those of the inspector
//! from its source, so that a new one is attacked without a change here.

use std::collections::BTreeMap;
use std::sync::Arc;

use quipu_core::id::UserId;
use quipu_engine::ports::Scope;
use quipu_fake_model::FakeScript;
use quipu_models::HashedNgrams;
use serde_json::{Value, json};

use crate::api::strangers::{PARTS, QUERIES, body};
use crate::rig::{Answer, TestServer};

/// The secret of another user, which no answer may contain.
const CANARY: &str = "Zyxwv";

/// A route of the server: method and path with its parameters in braces.
struct Route {
    method: String,
    path: String,
}

impl Route {
    fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// The path with a value for each parameter.
    fn filled(&self) -> String {
        let query = QUERIES.iter().find(|(of, _)| *of == self.name());
        let query = query.map(|(_, query)| format!("?{query}")).unwrap_or_default();
        let named = PARTS.iter().fold(self.path.clone(), |path, (part, name)| path.replace(part, name));
        // A parameter without a known value gets one that no thing has.
        let parts = named.split('/').map(|part| if part.starts_with('{') { "x" } else { part });
        format!("{}{query}", parts.collect::<Vec<_>>().join("/"))
    }

    /// A valid body, if the route takes one.
    fn body(&self) -> Option<Value> {
        let takes = matches!(self.method.as_str(), "POST" | "PUT" | "PATCH");
        body(&self.name()).or_else(|| takes.then(|| json!({"messages": [{"role": "user", "content": "hello there"}]})))
    }
}

/// Every route of the OpenAPI document.
async fn documented(rig: &TestServer) -> Vec<Route> {
    let key = rig.key(&[Scope::Admin], None);
    let page = rig.ask("GET", "/openapi.json", &[("x-api-key", &key)], None).await.ok();
    let mut all = Vec::new();
    for (path, methods) in page["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            all.push(Route { method: method.to_uppercase(), path: path.clone() });
        }
    }
    assert!(all.len() >= 70, "only {} routes", all.len());
    all
}

/// Every page and form of the inspector, as its source declares them.
fn pages() -> Vec<Route> {
    let mut folders = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/inspector")];
    let mut all = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let source = std::fs::read_to_string(&path).unwrap_or_default();
            for (method, start) in [("GET", "Page::get("), ("POST", "Page::post(")] {
                let declared = source.split(start).skip(1).filter_map(|rest| rest.trim_start().strip_prefix('"'));
                let found = declared.filter_map(|rest| rest.split('"').next());
                all.extend(found.map(|path| Route { method: method.to_owned(), path: path.to_owned() }));
            }
        }
    }
    assert!(all.len() >= 30, "only {} pages", all.len());
    all
}

async fn guarded() -> TestServer {
    TestServer::with(FakeScript::saying("hello"), Arc::new(HashedNgrams::new()), |options| options.needs_key = true)
        .await
}

impl TestServer {
    /// Sends a request without checks of the answer's form, and without following redirects.
    async fn attack(&self, route: &Route, path: &str, headers: &[(&str, &str)], body: Option<String>) -> Answer {
        let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let mut request = client.request(route.method.parse().unwrap(), self.url(path));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body);
        }
        Answer::of(request.send().await.unwrap()).await
    }
}

fn shown(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.body).chars().take(300).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn another_host_or_origin_is_refused_on_every_route() {
    let rig = TestServer::new(FakeScript::saying("hello")).await;
    rig.told("nobody", &format!("My canary is called {CANARY}.")).await;
    let before = rig.texts("nobody");
    let port = rig.addr.port();
    let twins = [format!("localhost.evil.test:{port}"), format!("127.0.0.1.nip.test:{port}"), "localhost:1".to_owned()];
    let mut foreign: Vec<(&str, &str)> = twins.iter().map(|name| ("host", name.as_str())).collect();
    foreign.push(("host", "evil.test"));
    for origin in ["http://evil.test", "null", "https://localhost", "file://"] {
        foreign.push(("origin", origin));
    }
    let mut wrong = Vec::new();
    for route in documented(&rig).await.into_iter().chain(pages()) {
        for header in &foreign {
            let sent = route.body().map(|body| body.to_string());
            let answer = rig.attack(&route, &route.filled(), &[*header], sent).await;
            if answer.status != 403 || shown(&answer).contains(CANARY) {
                wrong.push(format!("{} with {header:?}: {} {}", route.name(), answer.status, shown(&answer)));
            }
            assert_eq!(answer.header("access-control-allow-origin"), "", "{}", route.name());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(rig.texts("nobody"), before, "nothing was recorded");
    assert_eq!(rig.upstream.requests(), 0, "nothing was passed on");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_key_that_counts_every_route_is_closed() {
    /// Routes that say nothing about anybody.
    const OPEN: [&str; 1] = ["GET /health/live"];
    let rig = guarded().await;
    rig.remembers("nobody", &format!("My canary is called {CANARY}."));
    let key = rig.key(&[Scope::Admin], None);
    let revoked = rig.keys.create("gone", &[Scope::Admin], None).unwrap();
    rig.keys.revoke(&revoked.shown.id).unwrap();
    let cut = &key[..key.len() - 1];
    let mut wrong = Vec::new();
    for route in documented(&rig).await {
        if OPEN.contains(&route.name().as_str()) {
            continue;
        }
        let path = route.filled();
        let join = if path.contains('?') { '&' } else { '?' };
        let in_query = format!("{path}{join}key={key}&api_key={key}&access_token={key}");
        let sent = route.body().map(|body| body.to_string());
        for (path, headers) in [
            (&path, vec![]),
            (&path, vec![("x-api-key", revoked.key.as_str())]),
            (&path, vec![("x-api-key", cut)]),
            (&path, vec![("authorization", "Bearer ")]),
            (&path, vec![("cookie", key.as_str())]),
            (&in_query, vec![]),
        ] {
            let answer = rig.attack(&route, path, &headers, sent.clone()).await;
            if answer.status != 401 || shown(&answer).contains(CANARY) || shown(&answer).contains(&key) {
                wrong.push(format!("{} with {headers:?}: {} {}", route.name(), answer.status, shown(&answer)));
            }
        }
    }
    for route in pages() {
        let answer = rig.attack(&route, &route.filled(), &[("sec-fetch-site", "same-origin")], None).await;
        let is_closed =
            matches!(answer.status, 401 | 403 | 415) || answer.header("location").starts_with("/ui/sign-in");
        if !is_closed || shown(&answer).contains(CANARY) {
            wrong.push(format!("{}: {} {}", route.name(), answer.status, shown(&answer)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(rig.upstream.requests(), 0, "nothing was passed on");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_one_user_opens_nothing_of_another_on_any_route() {
    let rig = guarded().await;
    rig.remembers("nobody", &format!("My canary is called {CANARY}."));
    rig.remembers("ines", "I live in Porto.");
    let before = rig.texts("nobody");
    let version = quipu_engine::status(&rig.engine, &UserId::parse("nobody").unwrap()).unwrap().version;
    let key = rig.key(&[Scope::Admin], Some("ines"));
    let mut wrong = Vec::new();
    for route in documented(&rig).await {
        let named = [("x-api-key", key.as_str()), ("x-memory-user", "nobody")];
        let answer = rig.attack(&route, &route.filled(), &named, route.body().map(|body| body.to_string())).await;
        if shown(&answer).contains(CANARY) || answer.status >= 500 && !route.path.starts_with("/proxy") {
            wrong.push(format!("{}: {} {}", route.name(), answer.status, shown(&answer)));
        }
    }
    rig.settled_with_keys().await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(rig.texts("nobody"), before, "nothing of another user was changed");
    let after = quipu_engine::status(&rig.engine, &UserId::parse("nobody").unwrap()).unwrap().version;
    assert_eq!(after, version, "nothing of another user was changed");
}

/// Names that are paths, or become some elsewhere.
const NAMES: [&str; 14] = [
    "..",
    "..%2f..%2fetc%2fpasswd",
    "%252e%252e%252f",
    "..%5c..%5cwindows",
    "%2fetc%2fpasswd",
    "a%2f..%2fb",
    "%00",
    "nobody%00.db",
    "CON",
    "-rf",
    ".git%2fconfig",
    "a%0d%0aset-cookie:%20x=y",
    "%e2%80%ae%d0%b0dmin",
    "a%20",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_name_is_never_a_path() {
    let rig = TestServer::new(FakeScript::saying("hello")).await;
    rig.told("nobody", &format!("My canary is called {CANARY}.")).await;
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for route in documented(&rig).await.into_iter().chain(pages()) {
        let parts: Vec<&str> = route.path.split('/').filter(|part| part.starts_with('{')).collect();
        for part in parts {
            for name in NAMES.into_iter().map(str::to_owned).chain(["n".repeat(3000)]) {
                let path = Route { method: route.method.clone(), path: route.path.replace(part, &name) }.filled();
                let answer = rig.attack(&route, &path, &[], route.body().map(|body| body.to_string())).await;
                tried += 1;
                let is_file = shown(&answer).contains("root:");
                let is_split = answer.header("set-cookie").contains("x=y");
                // The upstream of the proxy is a fake one, which answers any path.
                if is_file || is_split || answer.status >= 500 && !route.path.starts_with("/proxy") {
                    wrong.push(format!("{} as {path}: {} {}", route.name(), answer.status, shown(&answer)));
                }
            }
        }
    }
    assert!(tried > 500, "{tried}");
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
    for user in quipu_engine::users(&rig.engine).unwrap() {
        let is_plain = user.as_str().chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        assert!(is_plain && !user.as_str().starts_with('.'), "a memory is called {user}");
    }
}

/// A copy of a body for each of its values, with another value in its place.
fn altered(body: &Value, other: &Value) -> Vec<Value> {
    fn paths(value: &Value, at: String, found: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                members.iter().for_each(|(name, member)| paths(member, format!("{at}/{name}"), found));
            }
            Value::Array(list) => {
                list.iter().enumerate().for_each(|(place, member)| paths(member, format!("{at}/{place}"), found));
            }
            _ => {}
        }
        if !at.is_empty() {
            found.push(at);
        }
    }
    let mut found = Vec::new();
    paths(body, String::new(), &mut found);
    let replaced = |path: &String| {
        let mut body = body.clone();
        *body.pointer_mut(path).unwrap() = other.clone();
        body
    };
    found.iter().map(replaced).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_body_is_too_much_for_any_route() {
    let rig = TestServer::new(FakeScript::saying("hello")).await;
    rig.told("otto", &format!("My canary is called {CANARY}.")).await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_object = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    let wide = format!("[{}0]", "0,".repeat(500_000));
    let raw = [
        deep,
        deep_object,
        wide,
        "9".repeat(100_000),
        "{\"user_id\": 1e400}".to_owned(),
        "{\"user_id\": \"\\ud800\"}".to_owned(),
        "{\"a\":1,\"a\":2".to_owned(),
        "\u{feff}{}".to_owned(),
        String::new(),
    ];
    let values = [
        json!("\u{0}"),
        json!("x".repeat(200_000)),
        json!("\u{202e}\u{e0041}\u{1b}]52;c;x\u{7}"),
        json!("../../etc/passwd"),
        json!("' OR 1=1; --"),
        json!(-1),
        json!(u64::MAX),
        json!(1e308),
        json!("-97974-01-01T00:00:00Z"),
        json!("+275760-09-13T00:00:00Z"),
        json!([]),
        json!({"$ne": null}),
        Value::Null,
    ];
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for route in documented(&rig).await {
        let Some(valid) = route.body() else { continue };
        let sent = values.iter().flat_map(|value| altered(&valid, value)).map(|body| body.to_string());
        for body in sent.chain(raw.iter().cloned()) {
            let about: String = body.chars().take(120).collect();
            let answer = rig.attack(&route, &route.filled(), &[], Some(body)).await;
            tried += 1;
            if answer.status >= 500 || shown(&answer).contains(CANARY) {
                wrong.push(format!("{} with {about}: {} {}", route.name(), answer.status, shown(&answer)));
            }
        }
    }
    assert!(tried > 1000, "{tried}");
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
    // Whatever was recorded can be read again.
    for user in quipu_engine::users(&rig.engine).unwrap() {
        let rebuilt = quipu_engine::rebuild(&rig.engine, &user, &mut |_| {}).unwrap();
        assert!(rebuilt.identical, "{user}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_form_counts_without_its_token() {
    let rig = TestServer::new(FakeScript::saying("hello")).await;
    rig.told("nobody", &format!("My canary is called {CANARY}.")).await;
    let user = UserId::parse("nobody").unwrap();
    let before = quipu_engine::status(&rig.engine, &user).unwrap().version;
    let own = ("sec-fetch-site", "same-origin");
    let form = ("content-type", "application/x-www-form-urlencoded");
    let mut wrong = BTreeMap::new();
    let forms: Vec<Route> = pages().into_iter().filter(|page| page.method == "POST").collect();
    assert!(forms.len() >= 10, "only {} forms", forms.len());
    for route in &forms {
        for headers in [vec![own, form], vec![form], vec![("origin", "http://evil.test"), form]] {
            let answer = rig.attack(route, &route.filled(), &headers, None).await;
            // Signing in has no session yet, and takes a key instead.
            let is_refused = answer.status == 403 || (route.path == "/ui/sign-in" && answer.status == 401);
            if !is_refused {
                wrong.insert(route.name(), format!("{headers:?}: {} {}", answer.status, shown(&answer)));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(quipu_engine::status(&rig.engine, &user).unwrap().version, before, "nothing was changed");
}

impl TestServer {
    /// Waits until the queue is empty, on a server that requires a key.
    async fn settled_with_keys(&self) {
        let every = self.key(&[Scope::Admin], None);
        for _ in 0..3000 {
            let ready = self.ask("GET", "/health/ready", &[("x-api-key", &every)], None).await;
            if ready.json()["turns_waiting"] == 0 {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        panic!("turns are still waiting");
    }
}
