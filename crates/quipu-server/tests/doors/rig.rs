//! A server in front of a fake model, and clients of it.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use quipu_core::id::UserId;
use quipu_core::source::Role;
use quipu_engine::keys::Keys;
use quipu_engine::ports::{Embedder, LedgerStore, PublicKey, Signature, Signer, VaultError, WindowReader};
use quipu_engine::versions::When;
use quipu_engine::{
    Engine, EngineParts, EngineRules, ListOptions, LogOptions, RememberOptions, Utterance, list, log, remember,
};
use quipu_fake_model::{FakeScript, FakeServer, Received};
use quipu_models::language::{Endpoint, Limits, ModelUsage, Provider, RemoteModel};
use quipu_models::{HashedNgrams, RuleExtractor, RuleSummarizer};
use quipu_server::{
    ChatModel, Drained, MaintenanceOptions, Placement, Server, ServerOptions, ServerParts, Upstream, Wire,
};
use quipu_testkit::{FixedClock, MemoryKeys, MemoryStore, SeededEntropy};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::conformity;

/// Time limit for a condition that a test waits for.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct TestServer {
    pub(crate) addr: SocketAddr,
    pub(crate) upstream: FakeServer,
    pub(crate) engine: Arc<Engine>,
    pub(crate) keys: Arc<Keys>,
    pub(crate) client: reqwest::Client,
    stop: oneshot::Sender<()>,
    running: JoinHandle<Drained>,
}

/// An engine in memory that extracts facts and summarises sessions by rules.
pub(crate) fn engine(embedder: Arc<dyn Embedder>) -> Arc<Engine> {
    engine_of(Box::new(MemoryStore::new()), embedder, None)
}

/// An engine over a store that extracts facts and summarises sessions by rules, and with a model if there is one.
pub(crate) fn engine_of(
    store: Box<dyn LedgerStore>,
    embedder: Arc<dyn Embedder>,
    reader: Option<Arc<dyn WindowReader>>,
) -> Arc<Engine> {
    Arc::new(Engine::new(EngineParts {
        store,
        embedder,
        clock: Arc::new(FixedClock::new()),
        entropy: Arc::new(SeededEntropy::new(1)),
        extractor: Some(Arc::new(RuleExtractor::english())),
        summarizer: Some(Arc::new(RuleSummarizer)),
        rules: EngineRules::default(),
        optional: quipu_engine::OptionalParts { reader, ..quipu_engine::OptionalParts::default() },
    }))
}

/// An empty key store in memory.
pub(crate) fn keys() -> Keys {
    Keys::new(Arc::new(MemoryKeys::new()), Arc::new(FixedClock::new()), Arc::new(SeededEntropy::new(3)))
}

/// Signs bytes with a hash, which anyone could compute: enough to detect changes.
struct SeededSigner;

impl Signer for SeededSigner {
    fn public_key(&self) -> Result<PublicKey, VaultError> {
        Ok([7; 32])
    }

    fn sign(&self, bytes: &[u8]) -> Result<Signature, VaultError> {
        let mut signature = [0; 64];
        signature.iter_mut().zip(bytes.iter().rev().cycle()).for_each(|(place, byte)| *place = *byte);
        Ok(signature)
    }

    fn vouches(&self, key: &PublicKey, bytes: &[u8], signature: &Signature) -> bool {
        *key == [7; 32] && self.sign(bytes).is_ok_and(|own| own == *signature)
    }
}

/// Options for a fake upstream of both kinds. The deadline is long, so that tests pass on a busy machine.
pub(crate) fn options(upstream: &FakeServer) -> ServerOptions {
    let one = |name: &str, wire, base_url: String| Upstream {
        name: name.to_owned(),
        base_url,
        wire,
        key: Some(format!("sk-of-{name}")),
        models: Vec::new(),
        placement: Placement::default(),
    };
    ServerOptions {
        addr: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        upstreams: vec![
            one("open", Wire::OpenAi, upstream.base_url()),
            one("anthropic", Wire::Anthropic, upstream.origin()),
        ],
        recall_within: Duration::from_secs(20),
        // A model reads after each turn, so that a test need not send eight messages.
        maintenance: MaintenanceOptions { read_together: 1, ..MaintenanceOptions::default() },
        ..ServerOptions::default()
    }
}

impl TestServer {
    /// A server in front of a model that follows a script.
    pub(crate) async fn new(script: FakeScript) -> Self {
        Self::with(script, Arc::new(HashedNgrams::new()), |_| {}).await
    }

    /// The same with other options and another embedder.
    pub(crate) async fn with(
        script: FakeScript,
        embedder: Arc<dyn Embedder>,
        change: impl FnOnce(&mut ServerOptions),
    ) -> Self {
        Self::over(engine(embedder), script, change).await
    }

    /// The same over an existing engine.
    pub(crate) async fn over(engine: Arc<Engine>, script: FakeScript, change: impl FnOnce(&mut ServerOptions)) -> Self {
        Self::built(engine, FakeServer::start(script).unwrap(), change, None).await
    }

    /// A server with a chat model: the model that follows the script.
    pub(crate) async fn chatting(script: FakeScript, limits: Limits) -> Self {
        let upstream = FakeServer::start(script).unwrap();
        let endpoint = Endpoint { base_url: upstream.base_url(), limits, ..Endpoint::new(Provider::OpenAi, "fake") };
        let usage = Arc::new(ModelUsage::in_memory(Arc::new(FixedClock::new())));
        let model = RemoteModel::new("chat", endpoint, usage, Arc::new(SeededEntropy::new(4))).unwrap();
        let chat = ChatModel { model: Arc::new(model), prompt: quipu_models::CHAT.text };
        Self::built(engine(Arc::new(HashedNgrams::new())), upstream, |_| {}, Some(chat)).await
    }

    async fn built(
        engine: Arc<Engine>,
        upstream: FakeServer,
        change: impl FnOnce(&mut ServerOptions),
        chat: Option<ChatModel>,
    ) -> Self {
        let mut options = options(&upstream);
        change(&mut options);
        let keys = Arc::new(keys());
        let parts = ServerParts {
            engine: engine.clone(),
            keys: keys.clone(),
            clock: Arc::new(FixedClock::new()),
            entropy: Arc::new(SeededEntropy::new(2)),
            signer: Some(Arc::new(SeededSigner)),
            metrics: Arc::default(),
            chat,
        };
        let server = Server::bind(parts, options).await.unwrap();
        let addr = server.bound().addr;
        let (stop, stopped) = oneshot::channel::<()>();
        let running = tokio::spawn(server.run(async move {
            let _ = stopped.await;
        }));
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { addr, upstream, engine, keys, client, stop, running }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }

    /// Sends a request, with a JSON body if there is one, and checks that the response conforms to the OpenAPI
    /// document.
    pub(crate) async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&Value>) -> Answer {
        let verb: reqwest::Method = method.parse().unwrap();
        let mut request = self.client.request(verb, self.url(path));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        let answer = Answer::of(request.send().await.unwrap()).await;
        conformity::check(method, path, &answer).await;
        answer
    }

    /// Posts a body unchanged.
    pub(crate) async fn post(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<String>,
    ) -> reqwest::Response {
        let mut request = self.client.post(self.url(path)).header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(body.into()).send().await.unwrap()
    }

    /// Sends a message in a user's conversation, reads the whole reply, and waits until it is recorded.
    pub(crate) async fn say(&self, user: &str, session: &str, words: &str) -> Answer {
        let body = json!({"model": "m", "messages": [{"role": "user", "content": words}]});
        self.chat(&[("x-memory-user", user), ("x-memory-session", session)], &body).await
    }

    /// Sends a chat request, reads the whole reply, and waits until it is recorded.
    pub(crate) async fn chat(&self, headers: &[(&str, &str)], body: &Value) -> Answer {
        let response = self.post("/v1/chat/completions", headers, body.to_string()).await;
        let answer = Answer::of(response).await;
        self.settled().await;
        answer
    }

    /// The last request the upstream received.
    pub(crate) fn last_sent(&self) -> Received {
        self.upstream.received().pop().unwrap()
    }

    /// Waits until the queue is empty.
    pub(crate) async fn settled(&self) {
        let settled = async {
            loop {
                let ready: Value = self
                    .client
                    .get(self.url("/health/ready"))
                    .send()
                    .await
                    .unwrap()
                    .text()
                    .await
                    .unwrap()
                    .parse()
                    .unwrap();
                if ready["turns_waiting"] == 0 {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(PATIENCE, settled).await.unwrap();
    }

    /// The recorded messages of a session, in order, with their speakers.
    pub(crate) fn kept(&self, user: &str, session_id: &str) -> Vec<(Role, String)> {
        kept(&self.engine, user, session_id)
    }

    /// The recorded messages and replies of a user, in all sessions, in order.
    pub(crate) fn texts(&self, user: &str) -> Vec<String> {
        let options = ListOptions { at: When::Now, session: None, kind: None, offset: 0, limit: 10_000 };
        let page = list(&self.engine, &UserId::parse(user).unwrap(), &options).unwrap();
        page.items.into_iter().map(|item| item.text).collect()
    }

    /// The rationale of each event of a user, oldest first.
    pub(crate) fn reasons(&self, user: &str) -> Vec<String> {
        let user = UserId::parse(user).unwrap();
        let options = LogOptions { before: None, limit: 1000, reference: None };
        let entries = log(&self.engine, &user, &options).unwrap();
        entries.into_iter().rev().filter_map(|entry| entry.rationale).collect()
    }

    /// Records a message for a user without the proxy.
    pub(crate) fn remembers(&self, user: &str, words: &str) {
        let user = UserId::parse(user).unwrap();
        remember(&self.engine, &user, &Utterance::of_user(words), &RememberOptions::default()).unwrap();
    }

    /// Stops the server as Ctrl-C does.
    pub(crate) async fn stop(self) -> (Drained, Arc<Engine>, FakeServer) {
        let _ = self.stop.send(());
        (self.running.await.unwrap(), self.engine, self.upstream)
    }
}

/// The recorded messages of a session; empty if there are none.
pub(crate) fn kept(engine: &Engine, user: &str, session: &str) -> Vec<(Role, String)> {
    let user = UserId::parse(user).unwrap();
    let options =
        ListOptions { at: When::Now, session: Some(session.to_owned()), kind: None, offset: 0, limit: 10_000 };
    match list(engine, &user, &options) {
        Ok(page) => page.items.into_iter().map(|item| (item.role, item.text)).collect(),
        Err(quipu_engine::Error::NotFound(_)) => Vec::new(),
        Err(other) => panic!("{other}"),
    }
}

/// A complete response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) async fn of(response: reqwest::Response) -> Self {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Self { status, headers, body: response.bytes().await.unwrap().to_vec() }
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// `(role, words)` as tests write them.
pub(crate) fn said(lines: &[(Role, &str)]) -> Vec<(Role, String)> {
    lines.iter().map(|(role, words)| (*role, (*words).to_owned())).collect()
}
