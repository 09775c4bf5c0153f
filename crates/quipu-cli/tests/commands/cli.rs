//! The binary as a person or a script meets it: what it prints, where, and the exit code.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A data folder of its own, and the binary over it.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn data(&self) -> PathBuf {
        self.0.path().join("data")
    }

    fn file(&self, name: &str, content: &[u8]) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn run(&self, args: &[&str], input: &[u8]) -> Output {
        let mut child = Command::new(env!("CARGO_BIN_EXE_quipu"))
            .args(args)
            .env_clear()
            .env("TZ", "UTC")
            .env("QUIPU_DATA_DIR", self.data())
            .env("HOME", self.0.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A command that refuses before reading closes its end; that is its right.
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap()
    }

    /// Runs and checks the exit code and pieces of what is printed on both streams.
    fn check(&self, args: &[&str], input: &[u8], code: i32, pieces: &[&str]) -> String {
        let output = self.run(args, input);
        let printed = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{args:?}: {printed}");
        for piece in pieces {
            assert!(printed.contains(piece), "{args:?}: no {piece:?} in {printed}");
        }
        printed
    }

    /// Looks through every file of the data folder.
    fn holds_no(&self, word: &[u8]) {
        let mut files = 0;
        let mut folders = vec![self.data()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files += 1;
                    let bytes = std::fs::read(&path).unwrap();
                    assert!(!bytes.windows(word.len()).any(|window| window == word), "in {}", path.display());
                }
            }
        }
        assert!(files >= 1);
    }
}

/// The position in `Event 12: …`.
fn event(printed: &str) -> u64 {
    let digits = printed.split("Event ").nth(1).unwrap().split(|c: char| !c.is_ascii_digit()).next().unwrap();
    digits.parse().unwrap()
}

#[test]
fn a_day_with_a_memory() {
    let place = Place::new();
    let ok = |args: &[&str], pieces: &[&str]| place.check(args, b"", 0, pieces);
    ok(&["status"], &["Nothing is remembered here yet"]);
    place.check(&["recall", "anything"], b"", 3, &["quipu demo"]);
    ok(&["add", "I moved to Porto in March"], &["Event 1: turn_"]);
    ok(&["status"], &["1 item in "]);
    assert_eq!(ok(&["maintain", "--dry-run"], &[]), ok(&["tend", "--dry-run"], &[]), "one command under two names");
    place.check(
        &["add"],
        b"My sister is called Marta",
        0,
        &["turn_", "User's sister is Marta", "/relationships/family"],
    );
    let printed = place.check(&["add", "--lines"], b"I like tea\n\nThe bus was late\n", 0, &["User likes tea"]);
    assert_eq!(printed.matches("Event ").count(), 2);
    ok(&["recall", "where do I live?", "-k", "1"], &["I moved to Porto in March"]);
    let set =
        event(&ok(&["core", "set", "/work/role", "vet", "--because", "she said so"], &["+ /work", "works as a vet"]));
    ok(&["blame", "/work/role"], &["she said so", "nothing → \"vet\""]);
    ok(&["facts", "--predicate", "works_as"], &["User works as a vet", "entered by hand"]);
    ok(&["diff", "0"], &["+ turn_", "vet"]);
    let (set, back) = (set.to_string(), (set + 1).to_string());
    ok(&["revert", &set, "--dry-run"], &["- /work", "nothing was changed"]);
    ok(&["revert", &set], &[&format!("Event {back} takes them back")]);
    ok(&["at", &set, "core"], &["vet"]);
    let last = event(&ok(&["revert", &back], &["+ /work"]));
    ok(&["log"], &[&format!("reverted {back}"), &format!("reverted {set}"), "(reverted)"]);
    ok(&["revert", "1-2", &set, "--dry-run"], &[&format!("Reverting 1-2, {set}"), "- turn_", "- /work"]);
    place.check(&["revert", "2-1"], b"", 2, &["the first position comes first"]);
    place.check(&["revert", "1-x"], b"", 2, &["neither the position nor the id"]);
    ok(&["context", "tea"], &["<memory user=\"me\"", "user: I like tea", "</memory>"]);
    ok(&["rebuild"], &[&format!("{last} events replayed"), "same bytes"]);
    ok(&["verify"], &["INTACT"]);
    ok(&["fork", "other", "--at", "2"], &["shares events 1 to 2"]);
    ok(&["verify", "-u", "other"], &["INTACT"]);
    ok(&["doctor"], &["embedder"]);
    let backup = place.0.path().join("backup");
    ok(&["backup", backup.to_str().unwrap()], &[&format!("{last} events")]);
    place.check(&["restore", backup.to_str().unwrap()], b"", 1, &["has a ledger"]);
    ok(&["restore", backup.to_str().unwrap(), "--replace"], &["every one verified"]);
}

#[test]
fn a_conversation_knows_of_itself() {
    let place = Place::new();
    let ok = |args: &[&str], pieces: &[&str]| place.check(args, b"", 0, pieces);
    place.check(&["sessions"], b"", 3, &["nothing is remembered here yet"]);
    ok(&["session", "exceptions", "trip", "--set", "Never mention Bob."], &["Event 1", "+ truth_"]);
    ok(&["add", "--session", "trip", "Never fly. Let's go with Lisbon. Budget: 900 euros"], &["Event 2"]);
    let reply = "Lisbon it is.\n```text\nDay 1: Alfama\n```";
    ok(
        &["add", "--session", "trip", "--role", "assistant", reply],
        &["turn 1 of trip summarised", "+ truth_", "Budget"],
    );
    ok(&["add", "--session", "trip", "Budget: 800 euros."], &[]);
    ok(&["sessions"], &["trip", "2 turns", "base truth 4, 2 hard"]);
    ok(&["session", "end", "trip"], &["is over", "turn 2 of trip summarised", "~ truth_"]);
    ok(
        &["session", "show", "trip"],
        &["Budget: 800 euros.", "Turn log", "  1 Never fly.", "1.1 draft text: Day 1: Alfama"],
    );
    ok(&["at", "4", "session", "trip"], &["not summarised yet"]);
    ok(&["session", "artifact", "trip", "1"], &["Day 1: Alfama\n"]);
    let context = ["session", "context", "trip", "how much", "--max-tokens", "80"];
    ok(&context, &["## Hard Exceptions", "Never mention Bob.", "Never fly."]);
    ok(&["session", "exceptions", "trip", "--unset", "Never mention Bob."], &["taken out"]);
    place.check(
        &["session", "exceptions", "trip", "--unset", "Never mention Bob."],
        b"",
        3,
        &["nothing in the base truth"],
    );
    ok(&["session", "set", "trip", "goal", "See the sea."], &["See the sea."]);
    place.check(&["session", "set", "trip", "wish", "x"], b"", 2, &["it is one of: exception"]);
    ok(&["session", "consolidate", "trip"], &["0 entries merged at turn 2"]);
    ok(&["session", "snapshots", "trip"], &["See the sea. (goal)"]);
    ok(&["session", "summarize"], &["nothing to summarise"]);
    ok(&["session", "show", "trip", "-o", "json"], &["\"base_truth\":[", "\"schema_version\":1"]);
    place.check(&["session", "show", "none"], b"", 3, &["there is no session"]);
    ok(&["rebuild"], &["same bytes"]);
    ok(&["verify"], &["INTACT"]);
}

#[test]
fn what_is_said_becomes_facts_that_people_decide_on() {
    let place = Place::new();
    let ok = |args: &[&str], pieces: &[&str]| place.check(args, b"", 0, pieces);
    ok(
        &["add", "I live in Lyon.", "--said-at", "2024-03-01T09:00:00Z"],
        &["User lives in Lyon (new)", "/location/current"],
    );
    ok(&["add", "I moved to Porto.", "--said-at", "2025-06-10T09:00:00Z"], &["User lives in Porto", "held until now"]);
    ok(&["facts"], &["User lives in Porto · since 2025-06-10", "“I moved to Porto.”"]);
    ok(&["facts", "--valid-at", "2024-06-01"], &["User lives in Lyon · until 2025-06-10"]);
    ok(&["at", "2", "facts"], &["User lives in Lyon  fact_"]);
    ok(&["facts", "-o", "table"], &["SUBJECT", "lives_in"]);
    // Somebody else's words about the user wait.
    let told = r#"{"messages":[{"role":"user","content":"I live in Bergen."}]}"#;
    let file = place.file("told.jsonl", format!("{told}\n").as_bytes());
    ok(&["import", "openai", &file], &["1 fact read, 1 review pending"]);
    let waits = ok(&["review"], &["Do you live in Porto or in Bergen now?", "only your own words"]);
    let review = waits.split_whitespace().next().unwrap();
    ok(&["context", "where do I live"], &["## Ask the user", "Do you live in Porto or in Bergen now?"]);
    ok(&["review", "decline", review], &["Event ", "corrected"]);
    ok(&["review"], &["nothing waits for you"]);
    ok(&["review", "undo", review], &["Event "]);
    ok(&["review", "approve", review], &["~ /location/current: \"Porto\" → \"Bergen\""]);
    let facts = ok(&["facts", "--predicate", "lives_in"], &["User lives in Bergen"]);
    let fact = facts.lines().next().unwrap().split_whitespace().last().unwrap();
    ok(&["history", fact], &["User lives in Bergen", "fact: User lives in Bergen", "decided review_"]);
    ok(&["close", fact, "2026-01-01"], &["until 2026-01-01", "- /location"]);
    ok(&["retract", fact], &["retracted"]);
    place.check(&["retract", fact], b"", 1, &["taken back before"]);
    ok(&["rebuild"], &["same bytes"]);
    ok(&["verify"], &["INTACT"]);
    place.check(&["add", "my password is hunter2hunter2"], b"", 0, &["removed before anything was stored: password"]);
    ok(&["add", "I love horror films."], &["User likes horror films (new)"]);
    ok(&["add", "I love horror movies."], &["User likes horror films (said in other words)"]);
    ok(&["conflicts"], &["no conflicts"]);
    ok(&["reread"], &["sources read again"]);
}

#[test]
fn an_erased_word_is_in_no_file() {
    let place = Place::new();
    place.check(&["add", "the canary sings"], b"", 0, &[]);
    place.check(&["add", "another line"], b"", 0, &[]);
    place.check(&["erase", "1"], b"", 2, &["--yes"]);
    place.check(&["erase", "1", "--yes"], b"", 0, &["Event 3 records that 1.0 is gone"]);
    place.check(&["verify"], b"", 0, &["erased   1.0 by event 3", "INTACT"]);
    place.holds_no(b"canary");
}

#[test]
fn what_was_drawn_from_an_erased_word_goes_with_it() {
    let place = Place::new();
    let ok = |args: &[&str], pieces: &[&str]| place.check(args, b"", 0, pieces);
    ok(&["add", "I live in Canaryville.", "--said-at", "2024-03-01T09:00:00Z"], &["User lives in Canaryville"]);
    // The patch of the move tests for the old value, and the question of the conflict names it.
    ok(&["add", "I moved to Porto.", "--said-at", "2025-06-10T09:00:00Z"], &["User lives in Porto"]);
    let told = br#"{"facts": [{"predicate": "lives_in", "object": "Canaryville"}]}"#;
    let asked = "Do you live in Porto or in Canaryville now?";
    let printed = place.check(&["write", "-", "--from", "tool", "-o", "json"], told, 0, &[asked]);
    let written: serde_json::Value = serde_json::from_str(&printed).unwrap();
    ok(&["erase", written["source"].as_str().unwrap(), "--yes"], &["records that"]);
    ok(&["erase", "1", "--yes"], &["records that 1.0"]);
    place.holds_no(b"anaryville");
    ok(&["facts"], &["User lives in Porto"]);
    ok(&["core"], &["\"current\": \"Porto\""]);
    ok(&["conflicts"], &["no conflicts"]);
    ok(&["rebuild"], &["same bytes"]);
    ok(&["verify"], &["INTACT"]);
    ok(&["erase", "--everything", "--yes"], &["everything of user me is gone"]);
    place.holds_no(b"Porto");
}

#[test]
fn flat_summaries_and_ready_made_items_pass_the_gate() {
    let place = Place::new();
    let flat = b"User has type 2 diabetes, diagnosed in 2018. Takes Metformin. Likes Greek yogurt but dislikes kale. \
                 Tries to walk daily. The weather was fine.";
    place.check(
        &["migrate", "-", "--dry-run"],
        flat,
        0,
        &["not understood", "The weather was fine", "nothing was changed"],
    );
    place.check(&["facts"], b"", 3, &[]);
    let printed = place.check(&["migrate", "-", "-o", "json"], flat, 0, &[]);
    let migration: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let wanted = serde_json::json!({
        "healthProfile": {
            "conditions": [{"name": "Type 2 Diabetes", "since": "2018"}],
            "medications": [{"name": "Metformin"}],
        },
        "dietaryProfile": {"preferences": {"likes": ["greek yogurt"], "dislikes": ["kale"]}},
        "dynamicCategories": {
            "exerciseRoutine": {"description": "User's exercise habits", "data": {"walking": "daily"}},
        },
    });
    assert_eq!(migration["core"], wanted, "the seed's own example");
    assert_eq!(migration["episodes"].as_array().unwrap().len(), 5, "every sentence is kept");
    let items = br#"{"facts": [{"s": "user", "p": "lives_in", "o": "Atlanta, GA"}, {"p": "religion", "o": "Jain"}],
        "reflective": [{"text": "Calms down if the answer includes a short story."}],
        "tasks": [{"title": "Post-dinner glucose spikes", "attempts": [{"approach": "Walking", "successful": true}]}],
        "schema": [{"kind": "policy", "text": "No deep work after 21:00."}]}"#;
    let printed = place.check(&["write", "-", "-o", "json"], items, 0, &[]);
    let written: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(written["accepted"].as_array().unwrap().len(), 4);
    assert_eq!(written["rejected"][0]["item"], "User's religion is Jain");
    place.check(&["tenets"], b"", 0, &["policy \u{b7} confirmed"]);
    place.check(&["notes"], b"", 0, &["short story"]);
    place.check(&["tasks"], b"", 0, &["problem", "Walking \u{2014} helped"]);
    let seed =
        br#"{"facts": [{"id": "fact_7b2", "s": "user", "p": "sleep_hours_avg_7d", "o": "6.2", "time": "2025-08-08",
            "confidence": 0.86, "domain": "health", "topic": "sleep", "tags": ["log"]}],
        "tasks": [{"description": "Knee pain on stairs", "status": "stalled", "priority": 8, "created_at": "2023-11-01",
            "attempts": [{"date": "2023-11-20", "approach": "Ice", "outcome": "less swelling", "mood": "fine"}]}]}"#;
    let printed = place.check(&["write", "-", "-o", "json"], seed, 0, &[]);
    let written: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(written["ignored"], serde_json::json!(["facts[0].id", "tasks[0].attempts[0].mood"]));
    let facts = place.check(&["facts", "-o", "json"], b"", 0, &[]);
    let facts: serde_json::Value = serde_json::from_str(&facts).unwrap();
    let slept =
        facts["items"].as_array().unwrap().iter().find(|fact| fact["predicate"] == "sleep_hours_avg_7d").unwrap();
    assert_eq!((&slept["domain"], &slept["tags"][0]), (&serde_json::json!("health"), &serde_json::json!("log")));
    assert!(slept["valid_from"].as_str().unwrap().starts_with("2025-08-08T00:00:00"), "{slept}");
    let tasks = place.check(&["tasks", "-o", "json"], b"", 0, &[]);
    let tasks: serde_json::Value = serde_json::from_str(&tasks).unwrap();
    let knee = tasks["items"].as_array().unwrap().iter().find(|task| task["title"] == "Knee pain on stairs").unwrap();
    assert_eq!((knee["priority"].as_u64(), knee["status"].as_str()), (Some(8), Some("stalled")), "{knee}");
    assert!(knee["created_at"].as_str().unwrap().starts_with("2023-11-01"), "{knee}");
    assert!(knee["attempts"][0]["date"].as_str().unwrap().starts_with("2023-11-20"), "{knee}");
    let linked = br#"{"tasks": [{"title": "Ask a doctor", "links": [{"rel": "about", "to": "task_0000000000000"}]}]}"#;
    place.check(&["write", "-"], linked, 0, &["0 accepted, 1 rejected", "there is no such item"]);
    let told = br#"{"tasks": [{"title": "Talk to my parents", "description": "I am gay and want to tell them",
            "attempts": [{"approach": "a letter"}], "status": "done"}]}"#;
    place.check(&["write", "-"], told, 0, &["0 accepted, 1 rejected", "sensitive"]);
    let again = br#"{"tasks": [{"title": "Knee pain on stairs", "status": "active", "priority": 3}]}"#;
    place.check(&["write", "-"], again, 0, &["1 accepted"]);
    let tasks = place.check(&["tasks", "-o", "json"], b"", 0, &[]);
    let tasks: serde_json::Value = serde_json::from_str(&tasks).unwrap();
    let knee = tasks["items"].as_array().unwrap().iter().find(|task| task["title"] == "Knee pain on stairs").unwrap();
    assert_eq!((knee["priority"].as_u64(), knee["status"].as_str()), (Some(3), Some("active")), "{knee}");
    place.check(&["write", "-"], br#"{"facts": [{"p": "x", "o": "y", "time": "soon"}]}"#, 2, &["is not a time"]);
    place.check(&["write", "-"], br#"{"tasks": [{"title": "x", "priority": 11}]}"#, 2, &["from 1 to 10"]);
    place.check(&["write", "-"], b"{\"facts\": [{\"o\": 1}]}", 2, &["not a JSON object"]);
    place.check(&["write", "-"], b"{}", 2, &["1 to 500 items"]);
}

#[test]
fn imports_are_idempotent_and_undone_in_one_go() {
    let place = Place::new();
    let line = r#"{"session_id":"s1","messages":[{"role":"user","content":"I keep bees","created_at":"2026-01-02T10:00:00Z"},{"role":"assistant","content":"Lovely"}]}"#;
    let file = place.file("chat.jsonl", format!("{line}\n").as_bytes());
    place.check(&["import", "openai", &file, "--dry-run"], b"", 0, &["2 new", "nothing was changed"]);
    place.check(&["list"], b"", 3, &[]);
    place.check(&["import", "openai", &file], b"", 0, &["2 new, 0 known already"]);
    place.check(&["import", "openai", &file], b"", 0, &["0 new, 2 known already"]);
    place.check(&["list"], b"", 0, &["2026-01-02 10:00", "time unknown"]);
    place.check(&["revert", "--source", "openai:chat.jsonl"], b"", 0, &["- turn_"]);
    place.check(&["import", "openai", &file], b"", 0, &["2 new"]);
    let cut = place.file("cut.jsonl", format!("{line}\n{}", &line[..40].replace("s1", "s2")).as_bytes());
    place.check(&["import", "openai", &cut], b"", 2, &["known already", "line 2"]);
    place.check(&["import", "fish", &file], b"", 2, &["locomo, openai, text", "chatgpt, claude", "ledger"]);
    place.check(&["import", "text", "/nowhere/at-all.txt"], b"", 3, &["/nowhere/at-all.txt"]);
}

/// A file of `testdata/import`.
fn fixture(name: &str) -> String {
    format!("{}/../../testdata/import/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn what_other_systems_export_is_imported_counted_and_undone() {
    let place = Place::new();
    let cases: [(&str, &str, &str, &[&str]); 7] = [
        ("chatgpt", "chatgpt.json", "5 new", &["2026-01-01 10:00", "left out  2 messages on branches"]),
        ("claude", "claude.json", "6 new", &["left out  1 projects", "left out  2 documents of projects"]),
        ("mem0", "mem0.json", "noa → user me: 2 new", &["lev → user me: 1 new", "several users"]),
        ("memory-jsonl", "memory.jsonl", "4 new", &["times unknown", "left out  1 entities without observations"]),
        ("whatsapp", "whatsapp-ios.txt", "5 new", &["taken as UTC", "left out  1 lines of the system"]),
        ("telegram", "telegram.json", "Climbing → user me: 5 new", &["left out  1 messages of the service"]),
        ("folder", "", "notes → user me: ", &["left out  8 files of another kind"]),
    ];
    for (format, name, new, pieces) in cases {
        let path = fixture(name);
        let dry = place.check(&["import", format, &path, "--dry-run"], b"", 0, &["nothing was changed", new]);
        assert!(pieces.iter().all(|piece| dry.contains(piece)), "{format}: {dry}");
        let done = place.check(&["import", format, &path], b"", 0, pieces);
        assert!(done.contains(new), "{format}: {done}");
        place.check(&["import", format, &path], b"", 0, &[" 0 new"]);
        let reference = done.lines().find_map(|line| line.split("--source ").nth(1)).unwrap().trim_end_matches('`');
        place.check(&["revert", "--source", reference], b"", 0, &["takes them back"]);
        place.check(&["import", format, &path, "--dry-run"], b"", 0, &[new]);
    }
    place.check(&["verify"], b"", 0, &["INTACT"]);
}

#[test]
fn what_a_chat_leaves_open_is_asked_for() {
    let place = Place::new();
    let chat = place.file("_chat.txt", b"[01/02/2026, 10:00:00] Ana: hi\n[03/04/2026, 10:00:00] Ana: ho\n");
    place.check(&["import", "whatsapp", &chat], b"", 2, &["line 1", "--date-order dmy or --date-order mdy"]);
    place.check(&["import", "whatsapp", &chat, "--date-order", "us"], b"", 2, &["dmy and mdy"]);
    place.check(&["import", "whatsapp", &chat, "--timezone", "Lisbon"], b"", 2, &["Europe/Lisbon"]);
    let args = ["import", "whatsapp", &chat, "--date-order", "mdy", "--timezone", "-03:00"];
    place.check(&args, b"", 0, &["2 new", "2026-01-02 13:00 to 2026-03-04 13:00"]);
    let not_zip = place.file("export.zip", b"PK\x03\x04 and then nothing");
    place.check(&["import", "chatgpt", &not_zip], b"", 2, &["export.zip", "not a zip archive that can be read"]);
}

#[test]
fn bad_input_is_answered_and_nothing_is_lost() {
    let place = Place::new();
    place.check(&["add", "kept"], b"", 0, &[]);
    place.check(&["add", " \n "], b"", 2, &["empty"]);
    place.check(&["add"], &vec![b'x'; (1 << 20) + 1], 2, &["more than 1048576 bytes"]);
    place.check(&["add"], b"ab\xff", 2, &["not UTF-8", "byte 2"]);
    place.check(&["add"], b"a\0b", 2, &["U+0000"]);
    place.check(&["-u", "../x", "add", "x"], b"", 2, &["user id"]);
    place.check(&["add", "--session", "a\u{7}b", "x"], b"", 2, &["control character"]);
    place.check(&["get", "turn_0000000000000"], b"", 3, &["no item"]);
    place.check(&["show", "99"], b"", 3, &["1 to 1"]);
    place.check(&["at", "275760-01-01", "list"], b"", 2, &["not a version"]);
    place.check(&["core", "patch", "[{\"op\":\"add\"}]"], b"", 2, &["RFC 6902"]);
    place.check(&["core", "set", "/nonsense", "1"], b"", 1, &["dynamicCategories"]);
    place.check(&["recall", ""], b"", 2, &["empty"]);
    place.check(&["frobnicate"], b"", 2, &["Usage"]);
    let huge = "word ".repeat(40_000);
    place.check(&["add"], huge.as_bytes(), 0, &["Event 2"]);
    place.check(&["add", "\u{1b}[2J red \u{202e}alert"], b"", 0, &["Event 3"]);
    let shown = place.check(&["recall", "red alert", "-k", "1"], b"", 0, &["\\u{1b}[2J red \\u{202e}alert"]);
    assert!(!shown.contains('\u{1b}'));
    place.check(&["verify"], b"", 0, &["3 events", "INTACT"]);
}

#[test]
fn a_database_that_is_not_ours_is_left_alone() {
    let place = Place::new();
    place.check(&["add", "kept"], b"", 0, &[]);
    let database = place.data().join("users/u-me.db");
    std::fs::write(place.data().join("users/u-you.db"), b"this is no database at all").unwrap();
    place.check(&["-u", "you", "recall", "x"], b"", 1, &["u-you.db"]);
    assert_eq!(std::fs::read(place.data().join("users/u-you.db")).unwrap(), b"this is no database at all");
    assert!(Path::new(&database).exists());
    place.check(&["-u", "me", "recall", "kept"], b"", 0, &["kept"]);
}

#[test]
fn programs_get_json_on_stdout_and_errors_on_stderr() {
    let place = Place::new();
    let output = place.run(&["-o", "json", "add", "hello"], b"");
    let receipt: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(receipt["schema_version"], 1);
    assert_eq!(receipt["seq"], 1);
    let output = place.run(&["--json", "recall", "hello", "--explain"], b"");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["hits"][0]["text"], "hello");
    let parts = report["hits"][0]["contributions"].as_object().unwrap();
    let sum: f64 = parts.values().map(|value| value.as_f64().unwrap()).sum();
    assert!((sum - report["hits"][0]["raw_score"].as_f64().unwrap()).abs() < 1e-4);
    let output = place.run(&["--json", "get", "turn_0000000000000"], b"");
    assert!(output.stdout.is_empty());
    let error: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(error["error"]["type"], "not_found");
    let output = place.run(&["completions", "bash"], b"");
    assert!(String::from_utf8_lossy(&output.stdout).contains("_quipu"));
    let pages = place.0.path().join("man");
    place.check(&["man", pages.to_str().unwrap()], b"", 0, &[]);
    let page = std::fs::read_to_string(pages.join("quipu-key-create.1")).unwrap();
    assert!(page.contains("Create a key and print it, once"), "{page}");
    assert!(pages.join("quipu.1").exists() && !pages.join("quipu-man.1").exists());
}

#[test]
fn the_same_key_has_one_effect() {
    let place = Place::new();
    let add = |text: &str| ["add", text, "--idempotency-key", "k1"].map(str::to_owned);
    let args = add("once");
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    place.check(&args, b"", 0, &["Event 1"]);
    place.check(&args, b"", 0, &["Event 1", "recorded before"]);
    let args = add("twice");
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    place.check(&args, b"", 1, &["used for another request"]);
}

#[test]
fn the_demo_tells_its_story_again_and_again() {
    let place = Place::new();
    for _ in 0..2 {
        let told = place.check(
            &["demo"],
            b"",
            0,
            &["INTACT", "Porto", "DIFFERENT", "brings them back", "User's diet is pescatarian (corrected)"],
        );
        assert!(told.contains("59 new, 0 known already"));
    }
    place.check(&["-u", "demo", "why", "m12"], b"", 0, &["Recorded by", "intact"]);
}

#[test]
fn weights_are_shown_read_and_refused_with_the_place() {
    let place = Place::new();
    place.check(&["weights"], b"", 0, &["default  used", "seed"]);
    place.check(&["weights", "seed"], b"", 0, &["\"similarity\": \"cosine\""]);
    place.check(&["--profile", "mine", "weights"], b"", 3, &["no profile `mine`", "default, seed"]);
    let file = place.0.path().join(".config/quipu/weights.yaml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "use: mine\nprofiles:\n  mine:\n    diversity: 0.9\n").unwrap();
    place.check(&["weights"], b"", 0, &["mine  used"]);
    place.check(&["--profile", "seed", "weights"], b"", 0, &["seed  used"]);
    for (text, says) in [
        ("profiles:\n  mine:\n    diversty: 0.9\n", "diversty"),
        ("profiles:\n  mine:\n    diversity: 9\n", "profile `mine`: diversity must be between 0 and 1"),
        ("profiles: [", "weights.yaml"),
    ] {
        std::fs::write(&file, text).unwrap();
        place.check(&["weights"], b"", 2, &["weights.yaml", says]);
    }
}

#[test]
fn a_question_nobody_told_the_answer_of_is_declined_and_packs_come_again() {
    let place = Place::new();
    place.check(&["add", "My sister Ana plays the violin in an orchestra."], b"", 0, &[]);
    place.check(&["recall", "Which instrument does Ana play?"], b"", 0, &["violin"]);
    place.check(&["recall", "What did the mortgage adviser charge?"], b"", 0, &["abstain"]);
    let output = place.run(&["--json", "context", "Which instrument does Ana play?"], b"");
    let pack: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    place.check(&["context", "--id", pack["id"].as_str().unwrap()], b"", 0, &["violin", "identical to the original"]);
    place.check(&["context", "--id", "pack_x"], b"", 2, &["no pack's id"]);
}
