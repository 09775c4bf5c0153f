//! The files of `packaging/deploy`, as docs/deploy.md uses them: a database, three servers, and a proxy with TLS in front.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use quipu_testkit::postgres_server::{self, bare_database, find, free_port, server};
use serde_json::{Value, json};

use crate::Serving;
use crate::place::Place;
use crate::several::{self, PATIENCE};

/// A file of the folder, with other addresses.
fn file(name: &str, replaced: &[(&str, &str)]) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/deploy");
    let mut text = fs::read_to_string(folder.join(name)).unwrap();
    for (from, to) in replaced {
        assert!(text.contains(from), "{name} has no {from:?}");
        text = text.replace(from, to);
    }
    text
}

/// A certificate for the name of the proxy: its path for the proxy (with the key), and for clients.
fn certificate(folder: &Path) -> (PathBuf, PathBuf) {
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30"])
        .args(["-subj", "/CN=memory.example", "-addext", "subjectAltName=DNS:memory.example"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-keyout", "key.pem", "-out", "certificate.pem"])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(made.status.success(), "openssl (Debian package openssl): {}", String::from_utf8_lossy(&made.stderr));
    let (whole, public) = (folder.join("memory.pem"), folder.join("certificate.pem"));
    let text = fs::read_to_string(&public).unwrap() + &fs::read_to_string(folder.join("key.pem")).unwrap();
    fs::write(&whole, text).unwrap();
    (whole, public)
}

/// The proxy, which ends with the test.
struct Proxy(std::process::Child);

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn three_servers_behind_a_proxy_with_tls_survive_the_death_of_one() {
    let database = bare_database();
    let settings = file("config.toml", &[]);
    let places = ["one", "two", "three"].map(|_| Place::new(&settings));
    let store = postgres_server::url(server().port, &database);
    let command = |place: &Place, args: &[&str], name: &str| {
        let mut command = place.command(args);
        command.env("QUIPU_STORE", &store).env("QUIPU_SERVER_NAME", name).env("QUIPU_MASTER_KEY", several::MASTER_KEY);
        command
    };
    let made = command(&places[0], &["key", "create", "proxy", "--json"], "one").output().unwrap();
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    let key = made["key"].as_str().unwrap().to_owned();
    let mut servers: Vec<Serving> = ["one", "two", "three"]
        .iter()
        .zip(&places)
        .map(|(name, place)| Serving::of(command(place, &["serve", "--addr", "127.0.0.1:0"], name)))
        .collect();

    let folder = tempfile::tempdir().unwrap();
    let (whole, public) = certificate(folder.path());
    let port = free_port();
    let bind = format!("bind 127.0.0.1:{port} ssl");
    let config = file(
        "haproxy.cfg",
        &[
            ("bind :443 ssl", &bind),
            ("/etc/haproxy/memory.pem", whole.to_str().unwrap()),
            ("10.77.0.11:7077", &servers[0].addr),
            ("10.77.0.12:7077", &servers[1].addr),
            ("10.77.0.13:7077", &servers[2].addr),
        ],
    );
    fs::write(folder.path().join("haproxy.cfg"), config).unwrap();
    let log = fs::File::create(folder.path().join("log")).unwrap();
    let proxy = Command::new(find("haproxy"))
        .args(["-db", "-f"])
        .arg(folder.path().join("haproxy.cfg"))
        .env("QUIPU_API_KEY", &key)
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap();
    let _proxy = Proxy(proxy);

    let address: SocketAddr = ([127, 0, 0, 1], port).into();
    let root = reqwest::Certificate::from_pem(&fs::read(&public).unwrap()).unwrap();
    let client = several::client().tls_certs_only([root]).resolve("memory.example", address).build().unwrap();
    let url = |path: &str| format!("https://memory.example:{port}{path}");
    let get = |path: &str| client.get(url(path)).bearer_auth(&key).header("Host", "memory.example").send();
    let is_up = |path: &str| get(path).is_ok_and(|response| response.status() == 200);
    let told = || fs::read_to_string(folder.path().join("log")).unwrap_or_default();
    let until_up = |path: &str| {
        for _ in 0..PATIENCE.as_millis() / 100 {
            if is_up(path) {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("{path} is not answered: {}", told());
    };
    until_up("/health/ready");

    // Every user's requests reach a server; three users need not be on three servers.
    let say = |user: &str, words: &str| {
        let body = json!({"messages": [{"role": "user", "content": words}]}).to_string();
        let request =
            client.post(url(&format!("/memory/{user}/turns"))).bearer_auth(&key).header("Host", "memory.example");
        request.header("Content-Type", "application/json").body(body).send().unwrap().status().as_u16()
    };
    let users: Vec<String> = (0..12).map(|number| format!("user-{number}")).collect();
    for user in &users {
        assert_eq!(say(user, "I like plums."), 200, "{}", told());
    }
    // Without a key nothing is answered, and figures are not shown to the world.
    let stranger = client.get(url("/memory/user-0")).header("Host", "memory.example").send().unwrap();
    assert_eq!(stranger.status(), 401);
    assert_eq!(get("/metrics").unwrap().status(), 403);

    // A server is killed. Its users are answered by the others, with everything that was acknowledged.
    servers.remove(1).kill();
    for user in &users {
        let path = format!("/memory/{user}");
        until_up(&path);
        let core: Value = serde_json::from_str(&get(&path).unwrap().text().unwrap()).unwrap();
        assert!(core["version"].as_u64() >= Some(1), "{user}: {core}");
        assert_eq!(say(user, "I like pears."), 200, "{}", told());
    }
}
