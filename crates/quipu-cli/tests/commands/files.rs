//! Plain files and bundles, as a person or a script meets them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A data folder of its own, and the binary over it.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn vault(&self) -> PathBuf {
        self.0.path().join("data/vault/me")
    }

    fn page(&self, path: &str) -> String {
        std::fs::read_to_string(self.vault().join(path)).unwrap()
    }

    /// Runs, and checks the exit code and pieces of what is printed on both streams.
    #[track_caller]
    fn check(&self, args: &[&str], artifacts: &str, code: i32, pieces: &[&str]) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_quipu"))
            .args(args)
            .env_clear()
            .env("TZ", "UTC")
            .env("QUIPU_DATA_DIR", self.0.path().join("data"))
            .env("QUIPU_ARTIFACTS", artifacts)
            .env("HOME", self.0.path())
            .current_dir(self.0.path())
            .output()
            .unwrap();
        let printed = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{args:?}: {printed}");
        for piece in pieces {
            assert!(printed.contains(piece), "{args:?}: no {piece:?} in {printed}");
        }
        printed
    }
}

#[test]
fn a_memory_in_files() {
    let place = Place::new();
    let on = |args: &[&str], pieces: &[&str]| place.check(args, "on", 0, pieces);
    on(&["add", "--now", "2026-03-02T08:00:00Z", "I moved to Porto in March"], &["User lives in Porto"]);
    let told = on(&["add", "--now", "2026-03-02T08:01:00Z", "My sister is called Marta"], &["User's sister is Marta"]);
    let told = told.split("Event ").nth(1).unwrap().split(':').next().unwrap();
    let page = place.page("GLOBAL_MEMORY.md");
    assert!(page.contains("# Memory of me") && page.contains("- User lives in Porto"), "{page}");
    assert!(place.page("topics/relationships/open/2026-03-02/raw.md").contains("> My sister is called Marta"));
    on(&["add", "--now", "2026-03-04T08:00:00Z", "I like tea"], &[]);
    assert!(place.page("topics/relationships/2026-03-02/summary.json").contains("Marta"));
    on(&["files", "verify"], &["LEVEL with the ledger"]);
    on(&["files", "rebuild", "--dry-run"], &["files up to date", "nothing was changed"]);
    on(&["topic", "list"], &["relationships", "1 fact "]);
    on(&["topic", "show", "Relationships"], &["# Relationships", "^fact-"]);
    on(&["global"], &["## Do not forget", "User's sister is Marta"]);

    let written = place.page("topics/location/topic_memory.md");
    let edited = written.replace("- User lives in Porto", "- User lives in Faro");
    std::fs::write(place.vault().join("topics/location/topic_memory.md"), &edited).unwrap();
    on(&["files", "watch", "--once", "--dry-run"], &["“User lives in Faro” instead of “User lives in Porto”"]);
    on(&["files", "watch", "--once"], &["edited by hand", "kept as edited/location-topic_memory-", "quipu review"]);
    let waiting = on(&["review"], &["User lives in Faro"]);
    let id = waiting
        .split_whitespace()
        .find(|word| word.contains("review_"))
        .unwrap()
        .trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
    on(&["review", "approve", id], &[]);
    assert!(place.page("GLOBAL_MEMORY.md").contains("User lives in Faro"));
    on(&["vault", "verify"], &["LEVEL"]);

    std::fs::write(place.vault().join("index/audit.log"), "nothing happened").unwrap();
    place.check(&["files", "verify"], "off", 1, &["NOT LEVEL", "index/audit.log"]);
    place.check(&["files", "rebuild"], "off", 0, &["1 written"]);

    let files = quipu_files(&place.vault());
    for name in ["users", "aside"] {
        let _ = std::fs::remove_dir_all(place.0.path().join("data").join(name));
    }
    place.check(&["files", "restore", "--dry-run"], "off", 0, &["would be restored"]);
    place.check(&["files", "restore"], "off", 0, &["every one verified"]);
    place.check(&["verify"], "off", 0, &["INTACT"]);
    place.check(&["files", "rebuild"], "off", 0, &["files up to date"]);
    assert_eq!(quipu_files(&place.vault()), files);

    place.check(&["erase", "--yes", "--because", "asked", told], "off", 0, &["plain files rewritten"]);
    let left =
        quipu_files(&place.vault()).into_iter().find(|(_, bytes)| String::from_utf8_lossy(bytes).contains("Marta"));
    assert_eq!(left.map(|(path, _)| path), None);
}

fn quipu_files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = std::fs::read(&path).unwrap();
                files.push((path, bytes));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn a_memory_handed_on() {
    let (here, there) = (Place::new(), Place::new());
    here.check(&["add", "I moved to Porto in March"], "off", 0, &[]);
    here.check(&["export", "--format", "json"], "off", 0, &["\"quipu_export.v1\"", "I moved to Porto in March"]);
    here.check(&["export", "--format", "markdown"], "off", 0, &["# Memory of me", "- User lives in Porto"]);
    here.check(&["export", "--format", "mem0"], "off", 0, &["\"memories\"", "\"memory\": \"User lives in Porto\""]);
    here.check(&["export", "--format", "bundle", "--dry-run"], "off", 0, &["would be exported"]);
    assert!(!here.0.path().join("data/signing.key").exists());
    let file = here.0.path().join("me.bundle");
    let file = file.to_str().unwrap();
    here.check(&["export", "--format", "bundle", "--to", file], "off", 0, &["me.bundle"]);
    here.check(&["export", "--format", "bundle", "--to", file], "off", 1, &["exists"]);
    let verdict = there.check(&["verify", "--file", file], "off", 0, &["INTACT", "the signature holds"]);
    let key = verdict.split("Signed by ").nth(1).unwrap()[..64].to_owned();
    there.check(&["verify", "--file", file, "--key", &key], "off", 0, &["the expected key"]);
    there.check(&["verify", "--file", file, "--key", &"0".repeat(64)], "off", 1, &["NOT the expected key"]);
    there.check(&["import", "bundle", file, "--dry-run"], "off", 0, &["would be restored"]);
    let stranger = "0".repeat(64);
    there.check(&["import", "bundle", file, "--key", &stranger], "off", 1, &["not by the key that was expected"]);
    there.check(&["import", "openai", file, "--key", &key], "off", 2, &["only bundles are signed"]);
    there.check(&["import", "bundle", file, "--key", &key], "off", 0, &["every one verified", &key]);
    there.check(&["recall", "where do I live?"], "off", 0, &["Porto"]);
    there.check(&["import", "bundle", file], "off", 1, &["has a memory here"]);
    let forged = std::fs::read_to_string(file).unwrap().replace("Porto", "Lyon!");
    let other = here.0.path().join("forged.bundle");
    std::fs::write(&other, forged).unwrap();
    there.check(&["verify", "--file", other.to_str().unwrap()], "off", 1, &["DAMAGED"]);
}

#[test]
fn memories_in_the_shape_of_mem0_are_read_back() {
    let (here, there) = (Place::new(), Place::new());
    here.check(&["add", "I moved to Porto in March. I like green tea."], "off", 0, &[]);
    let file = here.0.path().join("memories.json");
    let file = file.to_str().unwrap();
    here.check(&["export", "--format", "mem0", "--to", file], "off", 0, &["memories.json"]);
    let text = std::fs::read_to_string(file).unwrap();
    let exported: serde_json::Value = serde_json::from_str(&text).unwrap();
    let memories = exported["memories"].as_array().unwrap();
    assert!(memories.len() >= 2, "{text}");
    there.check(&["import", "mem0", file, "--dry-run"], "off", 0, &[]);
    there.check(&["list"], "off", 3, &[]);
    there.check(&["import", "mem0", file], "off", 0, &[]);
    let listed: Vec<serde_json::Value> = there
        .check(&["list", "--json"], "off", 0, &[])
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let entries: Vec<&serde_json::Value> = listed[0]["items"].as_array().unwrap().iter().collect();
    assert_eq!(entries.len(), memories.len());
    for (entry, memory) in entries.into_iter().zip(memories) {
        assert_eq!((&entry["text"], &entry["native_id"]), (&memory["memory"], &memory["id"]));
    }
    there.check(&["recall", "where do I live?"], "off", 0, &["Porto"]);
    // The same file again adds nothing.
    let version = |place: &Place| place.check(&["status"], "off", 0, &[]);
    let before = version(&there);
    there.check(&["import", "mem0", file], "off", 0, &[]);
    assert_eq!(version(&there), before);
}
