//! `quipu hook` as a coding agent calls it: what is told, what is kept, and that nothing stops the agent.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};

/// A folder of its own with a transcript in it.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quipu"));
        command
            .args(args)
            .env_clear()
            .env("TZ", "UTC")
            .env("HOME", self.0.path())
            .env("XDG_CONFIG_HOME", self.0.path());
        command.env("QUIPU_DATA_DIR", self.path("data"));
        command
    }

    /// What a hook prints; it must end well.
    fn hook(&self, args: &[&str], input: &str) -> String {
        let mut command = self.command(&["hook"]);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // One that does not read at all is gone already.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// A debug build on a busy machine takes its time.
    fn told(&self, event: &str, input: &Value) -> String {
        self.hook(&[event, "--within-ms", "120000"], &input.to_string())
    }

    fn asked(&self, prompt: &str) -> Option<String> {
        let said = self.told("UserPromptSubmit", &json!({"session_id": "s2", "prompt": prompt}));
        let answer: Value = (!said.is_empty()).then(|| serde_json::from_str(&said).unwrap())?;
        assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "UserPromptSubmit");
        answer["hookSpecificOutput"]["additionalContext"].as_str().map(str::to_owned)
    }

    fn says(&self, lines: &[(&str, &str, &str)]) {
        let line = |(name, role, text): &(&str, &str, &str)| {
            json!({"type": role, "uuid": name, "timestamp": "2026-03-01T10:00:00Z",
                   "message": {"role": role, "content": [{"type": "text", "text": text}]}})
            .to_string()
                + "\n"
        };
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(self.path("t.jsonl")).unwrap();
        lines.iter().for_each(|one| file.write_all(line(one).as_bytes()).unwrap());
    }

    fn kept(&self) -> String {
        let stop = json!({"session_id": "s1", "transcript_path": self.path("t.jsonl")});
        self.told("Stop", &stop)
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.path("data/hooks/hook.log")).unwrap_or_default()
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).stdin(Stdio::null()).output().unwrap()
    }

    /// What was said, with its role, oldest first.
    fn turns(&self) -> Vec<String> {
        let listed = self.run(&["list", "--json"]);
        let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
        let items = listed["items"].as_array().unwrap().iter();
        let mut said: Vec<(u64, String)> = items
            .map(|item| {
                (
                    item["event_seq"].as_u64().unwrap(),
                    format!("{}: {}", item["role"].as_str().unwrap(), item["text"].as_str().unwrap()),
                )
            })
            .collect();
        said.sort();
        said.into_iter().map(|(_, said)| said).collect()
    }
}

#[test]
fn what_was_said_is_kept_once_and_told_when_it_is_asked() {
    let place = Place::new();
    assert_eq!(place.asked("Where do I live?"), None, "nothing was ever said");
    place.says(&[("a", "user", "I live in Porto. I use tabs."), ("b", "assistant", "Tabs it is.")]);
    assert_eq!(place.kept(), "");
    assert_eq!(place.kept(), "", "the same event once more");
    assert!(place.asked("Where do I live?").unwrap().contains("Porto"));
    assert_eq!(place.asked("/compact"), None, "a command of the agent's own");
    let began =
        place.told("SessionStart", &json!({"session_id": "s3", "cwd": "/home/ines/porto", "source": "startup"}));
    assert!(began.contains("additionalContext") && began.contains("Porto"), "{began}");
    place.says(&[("c", "user", "My cat is called Miso.")]);
    place.kept();
    // Without the mark it is read again, and recorded no second time.
    for entry in std::fs::read_dir(place.path("data/hooks")).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
    place.kept();
    let expected = ["user: I live in Porto. I use tabs.", "assistant: Tabs it is.", "user: My cat is called Miso."];
    assert_eq!(place.turns(), expected);
    assert_eq!(place.log(), "", "no trouble");
}

#[test]
fn no_trouble_of_ours_is_the_agents() {
    let place = Place::new();
    for (args, input) in [
        (&["UserPromptSubmit"][..], "no json"),
        (&["UserPromptSubmit"], "{}"),
        (&["Stop"], "{}"),
        (&["Stop"], r#"{"session_id": "s", "transcript_path": "/nowhere"}"#),
        (&["Tomorrow"], "{}"),
        (&["Stop", "--no-such-flag"], "{}"),
        (&["Stop", "--server", "http://127.0.0.1:1"], "{}"),
        (&["UserPromptSubmit", "--server", "http://127.0.0.1:1"], r#"{"prompt": "hello there"}"#),
        (&["UserPromptSubmit", "--within-ms", "0"], r#"{"prompt": "hello there"}"#),
    ] {
        assert_eq!(place.hook(args, input), "", "{args:?} {input}");
    }
    for why in [
        "not the JSON of an event",
        "has no session_id",
        "/nowhere",
        "not a supported event",
        "not reached",
        "longer than 0 ms",
    ] {
        assert!(place.log().contains(why), "{why} in {}", place.log());
    }
    // Settings that cannot be read are no reason either.
    std::fs::create_dir_all(place.path("quipu")).unwrap();
    std::fs::write(place.path("quipu/config.toml"), "no = [").unwrap();
    assert_eq!(place.told("UserPromptSubmit", &json!({"prompt": "hello there"})), "");
    assert!(place.log().contains("config.toml"), "{}", place.log());
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
fn the_folder_and_a_server_that_is_named_are_two_doors_of_one_memory() {
    let place = Place::new();
    let mut serve = place.command(&["--json", "serve", "--addr", "127.0.0.1:0"]);
    let mut serving = Serving(serve.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap());
    let mut first = String::new();
    BufReader::new(serving.0.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let addr = serde_json::from_str::<Value>(&first).unwrap()["addr"].as_str().unwrap().to_owned();
    let server = format!("http://{addr}");
    place.says(&[("a", "user", "I live in Porto."), ("b", "assistant", "Noted.")]);
    let stop = json!({"session_id": "s1", "transcript_path": place.path("t.jsonl")});
    place.hook(&["Stop", "--within-ms", "120000", "--server", &server], &stop.to_string());
    // Beside the server, the folder is opened: what the server has recorded is there.
    assert!(place.asked("Where do I live?").unwrap().contains("Porto"), "{}", place.log());
    // The folder's own door knows the same turns by the same names, and the server sees what comes through it.
    std::fs::remove_dir_all(place.path("data/hooks")).unwrap();
    place.says(&[("c", "user", "My cat is called Miso.")]);
    place.kept();
    let asking = json!({"session_id": "s2", "prompt": "What is my cat called?"});
    let told = place.hook(&["UserPromptSubmit", "--within-ms", "120000", "--server", &server], &asking.to_string());
    assert!(told.contains("Miso"), "{told}: {}", place.log());
    drop(serving);
    assert_eq!(place.turns(), ["user: I live in Porto.", "assistant: Noted.", "user: My cat is called Miso."]);
    assert_eq!(place.log(), "");
}
