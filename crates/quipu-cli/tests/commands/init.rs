//! `quipu init`: what it sets up, and that repeating it changes nothing.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

struct Machine(tempfile::TempDir);

impl Machine {
    /// A home folder in which Cursor and Claude Code seem to be installed.
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".cursor")).unwrap();
        std::fs::write(home.path().join(".claude.json"), "{\"numStartups\": 7}\n").unwrap();
        Self(home)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quipu"));
        command.args(args).env_clear().env("TZ", "UTC").env("HOME", self.0.path()).stdin(Stdio::null());
        command.output().unwrap()
    }

    fn shown(&self, args: &[&str], code: i32) -> String {
        let output = self.run(args);
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
        text
    }

    /// Every file of the home folder with its content, but for what the memory itself writes.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![self.0.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.push((path.clone(), std::fs::read(path).unwrap()));
                }
            }
        }
        found.sort();
        found
    }
}

#[test]
fn without_a_terminal_it_asks_for_the_answers_as_flags() {
    let machine = Machine::new();
    let before = machine.files();
    let error = machine.shown(&["init"], 2);
    assert!(error.contains("--yes") && error.contains("--model") && error.contains("--clients"), "{error}");
    assert_eq!(machine.files(), before);
}

#[test]
fn a_preview_changes_nothing() {
    let machine = Machine::new();
    let before = machine.files();
    let shown = machine.shown(&["init", "--dry-run", "--model", "ollama:llama3.2", "--data-dir", "/tmp/some where"], 0);
    for part in
        ["data_dir = \"/tmp/some where\"", "model = \"llama3.2\"", "claude-code", "cursor", "nothing was changed"]
    {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    assert!(!shown.contains("codex"), "{shown}");
    assert_eq!(machine.files(), before);
    assert!(!machine.path(".local").exists() && !machine.path(".config").exists());
}

#[test]
fn it_connects_what_is_found_and_repeating_it_changes_nothing() {
    let machine = Machine::new();
    let shown = machine.shown(&["init", "--yes"], 0);
    for part in ["claude-code", "cursor", "Next:", "quipu recall 'What do I drink in the morning?'"] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    assert!(!machine.path(".codex").exists() && machine.path(".local/share/quipu").is_dir());
    let claude = std::fs::read_to_string(machine.path(".claude.json")).unwrap();
    assert!(claude.contains("numStartups") && claude.contains(env!("CARGO_BIN_EXE_quipu")), "{claude}");
    let before = machine.files();
    let again = machine.shown(&["init", "--yes"], 0);
    assert!(again.contains("nothing to change in"), "{again}");
    assert_eq!(machine.files(), before);
    // What it says to do next works as it is written.
    let script = shown.split("Next:\n").nth(1).unwrap().lines().filter(|line| line.starts_with("  quipu"));
    for line in script.filter(|line| line.contains(" add ") || line.contains(" recall ")) {
        let line = line.trim().replacen("quipu", env!("CARGO_BIN_EXE_quipu"), 1);
        let output = Command::new("sh")
            .args(["-c", &line])
            .env_clear()
            .env("TZ", "UTC")
            .env("HOME", machine.0.path())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("tea") || line.contains(" add "), "{line}: {text}");
    }
}

#[test]
fn a_folder_and_a_model_are_kept_in_the_settings() {
    let machine = Machine::new();
    let folder = machine.path("my memory");
    let folder = folder.to_str().unwrap();
    machine.shown(&["--data-dir", folder, "init", "--yes", "--model", "openai:gpt-5-mini", "--clients", "none"], 0);
    let settings = std::fs::read_to_string(machine.path(".config/quipu/config.toml")).unwrap();
    assert!(
        settings.contains(&format!("data_dir = \"{folder}\"")) && settings.contains("[models.extractor]"),
        "{settings}"
    );
    assert!(!machine.path(".cursor/mcp.json").exists());
    machine.shown(&["add", "I like pears."], 0);
    assert!(std::path::Path::new(folder).join("quipu.db").exists() || std::fs::read_dir(folder).unwrap().count() > 0);
    let error = machine.shown(&["init", "--yes", "--model", "ollama:llama3.2"], 1);
    assert!(error.contains("change the model there"), "{error}");
    assert_eq!(std::fs::read_to_string(machine.path(".config/quipu/config.toml")).unwrap(), settings);
}

#[test]
fn a_client_that_cannot_be_changed_does_not_stop_the_others() {
    let machine = Machine::new();
    std::fs::write(machine.path(".claude.json"), "{ not json").unwrap();
    let shown = machine.shown(&["init", "--yes"], 1);
    assert!(shown.contains("not connected: claude-code") && machine.path(".cursor/mcp.json").exists(), "{shown}");
    assert_eq!(std::fs::read_to_string(machine.path(".claude.json")).unwrap(), "{ not json");
}

#[test]
fn the_doctor_ends_with_what_to_do_next() {
    let machine = Machine::new();
    let shown = machine.shown(&["doctor"], 0);
    assert!(shown.contains("Next:") && shown.contains("quipu init") && shown.contains("quipu demo"), "{shown}");
    machine.shown(&["init", "--yes"], 0);
    machine.shown(&["add", "I like pears."], 0);
    let shown = machine.shown(&["doctor"], 0);
    assert!(shown.ends_with("Nothing waits for you.\n"), "{shown}");
}
