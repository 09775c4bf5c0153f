//! `quipu serve` as a person or a script meets it: the first screen, what it refuses, and how it ends.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};

/// A folder of its own with settings in it.
struct Place(tempfile::TempDir);

impl Place {
    fn new(config: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("quipu")).unwrap();
        std::fs::write(folder.path().join("quipu/config.toml"), config).unwrap();
        Self(folder)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quipu"));
        command.args(args).env_clear().env("HOME", self.0.path()).env("XDG_CONFIG_HOME", self.0.path());
        command.env("QUIPU_DATA_DIR", self.0.path().join("data")).stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }
}

/// A process that is gone when the test is.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn what_cannot_be_meant_is_refused_in_words() {
    let upstream = |more: &str| format!("[[upstream]]\nname = \"one\"\nkind = \"openai\"\n{more}\n");
    for (config, args, code, words) in [
        (String::new(), &["serve", "--addr", "0.0.0.0:0"][..], 1, "there are no keys yet"),
        (String::new(), &["serve", "--addr", "nowhere"], 2, "invalid"),
        (upstream("base_url = \"ftp://there\""), &["serve"], 2, "is no http address"),
        (upstream("base_url = \"http://there/v1\"\nkey_env = \"NOBODY_SET_THIS\""), &["serve"], 2, "NOBODY_SET_THIS"),
        (upstream("base_url = \"http://localhost:7077/v1\""), &["serve"], 2, "which is this server"),
        (upstream("base_url = \"http://there/v1\"\nkey = \"sk-1\""), &["serve"], 2, "unknown field"),
        ("[serve]\nmax_tokens = 100000000\n".to_owned(), &["serve"], 2, "max_tokens"),
    ] {
        let output = Place::new(&config).run(args);
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{config}{args:?}: {printed}");
        assert!(printed.contains(words), "{config}{args:?}: {printed}");
    }
}

#[test]
fn it_says_where_it_is_keeps_others_out_and_ends_when_it_is_interrupted() {
    let config = "[[upstream]]\nname = \"local\"\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\n";
    let place = Place::new(config);
    let mut serving = Serving(
        place
            .command(&["serve", "--addr", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let mut lines = BufReader::new(serving.0.stdout.take().unwrap()).lines();
    let mut screen = String::new();
    while !screen.contains("Ctrl-C") {
        screen += &(lines.next().unwrap().unwrap() + "\n");
    }
    let addr = screen.lines().next().unwrap().strip_prefix("Quipu listens on ").unwrap().to_owned();
    for words in [
        format!("OPENAI_BASE_URL=http://{addr}/v1"),
        format!("ANTHROPIC_BASE_URL=http://{addr}\n"),
        format!("http://{addr}/metrics"),
        "http://127.0.0.1:9/v1 (local)".to_owned(),
        place.0.path().join("data").display().to_string(),
    ] {
        assert!(screen.contains(&words), "{words}: {screen}");
    }
    let mut stream = TcpStream::connect(&addr).unwrap();
    stream
        .write_all(format!("GET /health/ready HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\n\r\n").as_bytes())
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");

    let other = place.run(&["add", "I moved to Porto."]);
    let printed = String::from_utf8_lossy(&other.stderr).into_owned();
    assert_eq!(other.status.code(), Some(5), "{printed}");
    assert!(printed.contains("in use by another quipu process"), "{printed}");

    let interrupted = Command::new("kill").args(["-INT", &serving.0.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    assert_eq!(serving.0.wait().unwrap().code(), Some(0));
    let mut said = String::new();
    serving.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("everything that was said is recorded"), "{said}");
    assert!(place.run(&["add", "I moved to Porto."]).status.success(), "the folder is free again");
}
