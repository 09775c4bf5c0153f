//! Commands that people paste into a shell: those of the tour and of the demo, the hints the program prints, and times as typed.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A home folder with `quipu` on the path.
struct Shell(tempfile::TempDir);

impl Shell {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("bin")).unwrap();
        symlink(env!("CARGO_BIN_EXE_quipu"), home.path().join("bin/quipu")).unwrap();
        Self(home)
    }

    fn run(&self, line: &str) -> Output {
        let path = format!("{}:/usr/bin:/bin", self.0.path().join("bin").display());
        let mut command = Command::new("sh");
        command.args(["-c", line]).env_clear().env("TZ", "UTC").env("HOME", self.0.path()).env("PATH", path);
        command.current_dir(self.0.path()).stdin(Stdio::null()).output().unwrap()
    }

    /// Runs a line that must succeed, and returns what it prints.
    fn shown(&self, line: &str) -> String {
        let output = self.run(line);
        let text = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
        assert!(output.status.success(), "{line}: {text}");
        text
    }
}

/// The text between the first pair of backticks after `start`.
fn hint<'a>(text: &'a str, start: &str) -> &'a str {
    let after = text.split(start).nth(1).unwrap_or_else(|| panic!("{start} in {text}"));
    after.split('`').nth(1).unwrap_or_else(|| panic!("no command after {start} in {text}"))
}

#[test]
fn what_the_demo_suggests_can_be_pasted() {
    let shell = Shell::new();
    let told = shell.shown("quipu --data-dir 'my memory' demo");
    let lines: Vec<&str> =
        told.split("What to try next").nth(1).unwrap().lines().filter(|line| line.starts_with("  quipu")).collect();
    assert!(lines.len() > 4, "{told}");
    for line in lines.iter().filter(|line| !line.contains(" init")) {
        assert!(line.contains("'my memory'"), "{line}");
        shell.shown(line);
    }
}

#[test]
fn the_tour_can_be_pasted() {
    let shell = Shell::new();
    let tour = include_str!("../../../../docs/tour.md");
    let script = tour.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    std::fs::write(shell.0.path().join("summary.txt"), "The user lives in Porto. She does not eat shellfish.\n")
        .unwrap();
    // The last part starts a server, a conversation, and changes settings of other programs.
    let (before, after) = script.split_once("\n\n").unwrap();
    assert!(
        after.lines().all(|line| ["quipu chat", "quipu serve", "quipu install", "quipu import"]
            .iter()
            .any(|start| line.starts_with(start))),
        "{after}"
    );
    assert!(before.lines().count() > 15, "{before}");
    let output = shell.run(&format!("set -e\n{before}"));
    let text = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("INTACT"), "{text}");
}

#[test]
fn hints_name_the_memory_they_are_about_and_are_quoted() {
    let shell = Shell::new();
    let start = "quipu --data-dir 'my memory' -u ana@example.org";
    shell.shown(&format!("{start} add 'I moved to Porto in May.'"));
    let reverted = shell.shown(&format!("{start} revert 1"));
    let back = hint(&reverted, "User");
    assert!(back.starts_with("quipu --data-dir 'my memory' -u ana@example.org revert "), "{reverted}");
    shell.shown(back);

    let name = "Ana's \"trip\" & $HOME.md";
    std::fs::write(shell.0.path().join(name), "I like pears.\n").unwrap();
    let file = name.replace('\'', "'\\''");
    let imported = shell.shown(&format!("{start} import markdown '{file}'"));
    let undone = shell.shown(hint(&imported, "Undo with"));
    assert!(undone.contains("takes them back"), "{undone}");

    std::fs::create_dir(shell.0.path().join("out $x")).unwrap();
    let backed = shell.shown("quipu --data-dir 'my memory' backup 'out $x/today'");
    let restore = backed.lines().find(|line| line.starts_with("`quipu")).unwrap_or_else(|| panic!("{backed}"));
    let restore = hint(restore, "").replacen("'my memory'", "'another one'", 1);
    shell.shown(&restore);
    assert!(shell.shown("quipu --data-dir 'another one' -u ana@example.org verify").contains("INTACT"));
    assert!(Path::new(&shell.0.path().join("another one")).is_dir());
}

#[test]
fn every_time_is_taken_as_typed() {
    let shell = Shell::new();
    let at = |command: &str| shell.shown(&format!("quipu --now '2026-07-15 10:00' {command}"));
    at("add 'I live in Porto.' --said-at 'last monday'");
    let shown = at("--json list");
    assert!(shown.contains("2026-07-13T00:00:00Z"), "{shown}");
    let facts = at("--json facts");
    let id = facts
        .split("\"id\":\"fact_")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap_or_else(|| panic!("{facts}"));
    let id = format!("fact_{id}");
    for command in [
        "facts --valid-at yesterday",
        "facts --valid-at '2026-07-14 14:00'",
        "recall 'where do I live?' --valid-at '2 hours ago'",
        "at tomorrow facts",
        "at 'next friday' recall Porto",
        "diff 0 tomorrow",
        "fork copy --at '2026-07-16'",
        "revert --since 'in 2 days' --dry-run",
    ] {
        // A revert of nothing is refused; the time is not.
        let output = shell.run(&format!("quipu --now '2026-07-15 10:00' {command}"));
        let text = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
        assert!(output.status.success() || text.contains("no event matches"), "{command}: {text}");
    }
    at(&format!("close {id} yesterday"));
    assert!(at("--json facts --all").contains("2026-07-14T00:00:00Z"));
    let output = shell.run("quipu facts --valid-at soonish");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code() == Some(2) && error.contains("last monday") && error.contains("2026-07-15"),
        "{error}"
    );
}
