//! The seed's notes on sleep become a category, as a person would see it.

use std::process::Command;

/// A data folder of its own.
struct Place(tempfile::TempDir);

impl Place {
    /// Runs a command on a day of March 2026: the exit code, what is on standard output, and what is on standard error.
    fn on(&self, day: u32, args: &[&str]) -> (i32, String, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_quipu"))
            .args(args)
            .args(["--now", &format!("2026-03-{day:02}T09:00:00Z")])
            .env_clear()
            .env("TZ", "UTC")
            .env("QUIPU_DATA_DIR", self.0.path().join("data"))
            .env("HOME", self.0.path())
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    }

    fn ok(&self, day: u32, args: &[&str]) -> String {
        let (code, out, err) = self.on(day, args);
        assert_eq!(code, 0, "{args:?}: {out}{err}");
        out
    }

    fn of_sleep() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        place.ok(1, &["core", "set", "/uncategorized/sleep_note_1", "Having trouble staying asleep"]);
        place.ok(2, &["core", "set", "/uncategorized/sleep_note_2", "Higher BG after poor sleep"]);
        place.ok(3, &["core", "set", "/uncategorized/sleep_note_3", "Started using sleep mask"]);
        place
    }
}

const MOVES: &str = "    /uncategorized/sleep_note_3 → /sleepHealth/aids/-
    /uncategorized/sleep_note_1 → /sleepHealth/challenges
    /uncategorized/sleep_note_2 → /sleepHealth/impact
";

const CATEGORY: &str = r#"{
  "aids": [
    "Started using sleep mask"
  ],
  "challenges": "Having trouble staying asleep",
  "impact": "Higher BG after poor sleep"
}
"#;

#[test]
fn the_seeds_notes_on_sleep_are_proposed_and_approved() {
    let place = Place::of_sleep();
    let head = "sleep → sleepHealth  (instances 3, days 3, last 2026-03-03)\n";
    assert_eq!(place.ok(4, &["evolve", "--dry-run"]), format!("{head}    would be proposed\n{MOVES}"));
    assert!(place.ok(4, &["status"]).contains("due: 1 category to propose (`quipu maintain`)"));
    let printed = place.ok(4, &["evolve"]);
    assert!(printed.starts_with(&format!("{head}    proposed: review_")), "{printed}");
    let again = place.ok(4, &["evolve"]);
    assert!(again.contains("    pending: review_"), "{again}");
    let waiting = place.ok(4, &["review"]);
    let id = waiting.split_whitespace().next().unwrap();
    assert_eq!(
        waiting,
        format!(
            "{id}  Make sleepHealth a category of its own? 3 places of sleep would move there.\n    How the user sleeps — 3 \
             instances on 3 days, last seen 2026-03-03\n{MOVES}"
        )
    );
    let approved = place.ok(5, &["review", "approve", id]);
    assert!(approved.contains("+ /sleepHealth"), "{approved}");
    assert_eq!(place.ok(5, &["core", "show", "/sleepHealth"]), CATEGORY);
    assert!(place.ok(5, &["log"]).contains("promoted sleep to sleepHealth"));
    let meta: serde_json::Value = serde_json::from_str(&place.ok(5, &["core", "show", "/_meta"])).unwrap();
    assert_eq!(meta["schemaEvolution"][0]["change"], "promoted sleep to sleepHealth");
    assert_eq!(meta["schemaEvolution"][0]["timestamp"], "2026-03-05T09:00:00Z");
    assert_eq!(place.ok(5, &["evolve"]), "nothing recurs in uncategorized and dynamicCategories\n");
    let list = place.ok(5, &["schema", "list"]);
    assert!(list.ends_with("sleepHealth  (3)  promoted by event 5\n    How the user sleeps\n"), "{list}");
    let shown = place.ok(5, &["show", "5", "--json"]);
    assert!(shown.contains("SCHEMA_PROMOTION"), "{shown}");
    place.ok(5, &["core", "set", "/sleepHealth/duration", "6-7 hours"]);
    assert!(place.ok(6, &["revert", "5"]).contains("no longer applies"));
    let core: serde_json::Value = serde_json::from_str(&place.ok(6, &["core", "show"])).unwrap();
    assert_eq!(core["uncategorized"]["sleep_note_3"], "Started using sleep mask");
    assert!(core.get("sleepHealth").is_none());
    assert!(place.ok(6, &["rebuild"]).contains("same bytes"));
}

#[test]
fn a_pattern_is_promoted_at_once_and_refusals_say_what_to_do() {
    let place = Place::of_sleep();
    let (code, _, err) = place.on(4, &["schema", "promote", "bees"]);
    assert_eq!(code, 3);
    assert!(err.contains("`quipu evolve --dry-run` lists what recurs"), "{err}");
    let (code, _, err) = place.on(4, &["schema", "promote", "sleep", "work"]);
    assert_eq!(code, 1);
    assert!(err.contains("choose another name"), "{err}");
    let (code, _, err) = place.on(4, &["schema", "promote", "sleep", "my sleep"]);
    assert_eq!(code, 2);
    assert!(err.contains("cannot name a category"), "{err}");
    let (code, _, err) = place.on(4, &["evolve", "--days", "0"]);
    assert_eq!(code, 2);
    assert!(err.contains("days is a number from 1 to 366, not 0"), "{err}");
    let promote = ["schema", "promote", "sleep", "--rationale", "it comes up a lot"];
    assert_eq!(
        place.ok(4, &[&promote[..], &["--dry-run"]].concat()),
        format!("sleep would become sleepHealth: How the user sleeps — it comes up a lot\n{MOVES}{CATEGORY}")
    );
    assert_eq!(
        place.ok(4, &promote),
        format!("Event 4  sleep is now sleepHealth: How the user sleeps — it comes up a lot\n{MOVES}{CATEGORY}")
    );
    let json: serde_json::Value = serde_json::from_str(&place.ok(4, &["schema", "list", "--json"])).unwrap();
    assert!(json.to_string().contains("\"promoted_by\":[4]"), "{json}");
}
