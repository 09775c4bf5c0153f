//! TLS of the server with real clients, and the metadata for OAuth.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use quipu_fake_model::{FakeScript, FakeServer};
use quipu_models::HashedNgrams;
use quipu_server::{ProtectedResource, Server, ServerParts, TlsFiles};
use quipu_testkit::{FixedClock, SeededEntropy};
use rcgen::{CertificateParams, KeyPair};
use reqwest::Certificate;
use serde_json::{Value, json};

use crate::rig::{self, TestServer};

/// Time limit for a condition that a test waits for.
const PATIENCE: Duration = Duration::from_secs(30);

/// Writes a certificate for this machine into a folder; returns its files and its PEM.
fn certificate(folder: &Path) -> (TlsFiles, String) {
    let key = KeyPair::generate().unwrap();
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let certificate = CertificateParams::new(names).unwrap().self_signed(&key).unwrap().pem();
    let files = TlsFiles { certificate: folder.join("certificate.pem"), key: folder.join("key.pem") };
    fs::write(&files.key, key.serialize_pem()).unwrap();
    fs::write(&files.certificate, &certificate).unwrap();
    (files, certificate)
}

/// A client that trusts one certificate, with a connection for each request.
fn client(pem: &str) -> reqwest::Client {
    let trusted = Certificate::from_pem(pem.as_bytes()).unwrap();
    reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).tls_certs_only([trusted]).build().unwrap()
}

async fn server(files: &TlsFiles) -> TestServer {
    let files = files.clone();
    TestServer::with(FakeScript::saying("Yes."), Arc::new(HashedNgrams::new()), move |options| {
        options.tls = Some(files);
        options.bounds.tls_check_every = Duration::from_millis(20);
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_answered_over_tls_and_plain_ones_with_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let (files, pem) = certificate(folder.path());
    let rig = server(&files).await;
    let url = format!("https://localhost:{}", rig.addr.port());
    let client = client(&pem);
    let told = json!({"messages": [{"role": "user", "content": "I live in Porto."}]}).to_string();
    let post = client.post(format!("{url}/memory/ines/turns")).header("content-type", "application/json");
    assert_eq!(post.body(told).send().await.unwrap().status(), 200);
    // Pages of this server are https pages.
    for (origin, status) in [(url.clone(), 200), (format!("http://localhost:{}", rig.addr.port()), 403)] {
        let asked = client.get(format!("{url}/version")).header("origin", &origin);
        assert_eq!(asked.send().await.unwrap().status(), status, "{origin}");
    }
    // A client without this certificate does not connect.
    let other = tempfile::tempdir().unwrap();
    let (_, another) = certificate(other.path());
    assert!(self::client(&another).get(format!("{url}/version")).send().await.unwrap_err().is_connect());

    let plain = rig.client.get(format!("http://{}/version", rig.addr)).send().await.unwrap();
    assert_eq!(plain.status(), 400);
    assert!(plain.text().await.unwrap().contains("use https://"));
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_certificate_is_used_and_a_broken_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let (files, first) = certificate(folder.path());
    let rig = server(&files).await;
    let url = format!("https://localhost:{}/version", rig.addr.port());
    let works = async |pem: &str| client(pem).get(&url).send().await.is_ok();
    assert!(works(&first).await);
    let (_, second) = certificate(folder.path());
    let changed = async {
        while !works(&second).await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, changed).await.unwrap();
    assert!(!works(&first).await);

    // The key of another certificate: the pair in use stays, until there is a whole one.
    fs::write(&files.key, KeyPair::generate().unwrap().serialize_pem()).unwrap();
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(works(&second).await);
    }
    let (_, third) = certificate(folder.path());
    let changed = async {
        while !works(&third).await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, changed).await.unwrap();
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_cannot_be_used_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let (files, _) = certificate(folder.path());
    let other = tempfile::tempdir().unwrap();
    let (others, _) = certificate(other.path());
    let text = folder.path().join("text.pem");
    fs::write(&text, "hello").unwrap();
    let encrypted = folder.path().join("encrypted.pem");
    fs::write(&encrypted, "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n")
        .unwrap();
    let absent = folder.path().join("absent.pem");
    let (certificate, key) = (files.certificate.clone(), files.key.clone());
    let cases = [
        (absent.clone(), key.clone(), "absent.pem cannot be read"),
        (certificate.clone(), absent, "absent.pem cannot be read"),
        (text.clone(), key.clone(), "text.pem has no certificate"),
        (certificate.clone(), text, "text.pem has no private key"),
        (certificate.clone(), encrypted, "encrypted.pem is encrypted"),
        (certificate, others.key, "does not belong to the certificate"),
    ];
    for (certificate, key, expected) in cases {
        let upstream = FakeServer::start(FakeScript::saying("")).unwrap();
        let options =
            quipu_server::ServerOptions { tls: Some(TlsFiles { certificate, key }), ..rig::options(&upstream) };
        let parts = ServerParts {
            engine: rig::engine(Arc::new(HashedNgrams::new())),
            keys: Arc::new(rig::keys()),
            clock: Arc::new(FixedClock::new()),
            entropy: Arc::new(SeededEntropy::new(2)),
            signer: None,
            metrics: Arc::default(),
            chat: None,
        };
        let error = Server::bind(parts, options).await.err().unwrap().to_string();
        assert!(error.contains(expected), "{expected:?} is not in {error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_of_mcp_find_the_authorization_server() {
    let rig = TestServer::with(FakeScript::saying(""), Arc::new(HashedNgrams::new()), |options| {
        let servers = ["https://login.example/realms/home".to_owned()];
        options.protected_resource = Some(ProtectedResource::new("https://memory.example/", &servers).unwrap());
        options.needs_key = true;
    })
    .await;
    for (path, resource) in [("", "/mcp"), ("/mcp", "/mcp"), ("/mcp/ines", "/mcp/ines")] {
        let asked = rig.client.get(rig.url(&format!("/.well-known/oauth-protected-resource{path}")));
        let answer = asked.send().await.unwrap();
        assert_eq!(answer.status(), 200);
        let metadata: Value = answer.text().await.unwrap().parse().unwrap();
        assert_eq!(metadata["resource"], format!("https://memory.example{resource}"));
        assert_eq!(metadata["authorization_servers"], json!(["https://login.example/realms/home"]));
        assert_eq!(metadata["bearer_methods_supported"], json!(["header"]));
    }
    for (path, place) in [("/mcp", "/mcp"), ("/mcp/ines", "/mcp/ines"), ("/mcp/a%22b", "/mcp")] {
        let refused = rig.post(path, &[], "{}").await;
        assert_eq!(refused.status(), 401);
        let header = refused.headers()["www-authenticate"].to_str().unwrap();
        let address = format!("https://memory.example/.well-known/oauth-protected-resource{place}");
        assert_eq!(header, format!("Bearer realm=\"quipu\", resource_metadata=\"{address}\""));
    }
    // Other routes refuse without it.
    let refused = rig.client.get(rig.url("/version")).send().await.unwrap();
    assert_eq!(
        (refused.status().as_u16(), &refused.headers()["www-authenticate"]),
        (401, &"Bearer realm=\"quipu\"".parse().unwrap())
    );
    rig.stop().await;

    let rig = TestServer::new(FakeScript::saying("")).await;
    let asked = rig.client.get(rig.url("/.well-known/oauth-protected-resource/mcp"));
    assert_eq!(asked.send().await.unwrap().status(), 404);
    rig.stop().await;
}
