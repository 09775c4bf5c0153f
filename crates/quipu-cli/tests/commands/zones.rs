//! Days are those of the time zone of the machine or of the settings.

use std::process::Output;

use crate::place::Place;

const EVENING: &str = "2025-12-31 18:30";

fn shown(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What a command prints for someone whose machine is in a zone.
fn run(place: &Place, zone: &str, args: &[&str]) -> String {
    shown(&place.command(args).env("TZ", zone).output().unwrap())
}

#[test]
fn tomorrow_is_that_of_the_machine() {
    for zone in ["America/Los_Angeles", "Asia/Tokyo", "UTC"] {
        let place = Place::new("");
        run(&place, zone, &["--now", EVENING, "add", "I need to renew my passport by tomorrow."]);
        let tasks = run(&place, zone, &["--now", EVENING, "tasks"]);
        assert!(tasks.contains("due 2026-01-01") && !tasks.contains("overdue"), "{zone}: {tasks}");
        // It is overdue when the day is over there.
        for (time, is_late) in [("2026-01-01 23:30", false), ("2026-01-02 00:30", true)] {
            let tasks = run(&place, zone, &["--now", time, "tasks"]);
            assert_eq!(tasks.contains("overdue"), is_late, "{zone} {time}: {tasks}");
        }
        let pack = run(&place, zone, &["--now", "2025-12-31 18:45", "context", "what do I have to do tomorrow?"]);
        assert!(pack.contains("\n2025-12-31 Wed\n"), "{zone}: {pack}");
    }
}

#[test]
fn the_settings_name_another_zone() {
    let place = Place::new("timezone = \"Asia/Tokyo\"\n");
    run(
        &place,
        "America/Los_Angeles",
        &["add", "--said-at", "2025-12-31 08:00", "I need to renew my passport by tomorrow."],
    );
    let items = run(&place, "America/Los_Angeles", &["--json", "list"]);
    assert!(items.contains("2025-12-30T23:00:00Z") && items.contains("+09:00"), "{items}");
    let tasks = run(&place, "UTC", &["--now", "2025-12-31 09:00", "tasks"]);
    assert!(tasks.contains("due 2026-01-01"), "{tasks}");
    let wrong = place.command(&["list"]).env("QUIPU_TIMEZONE", "Mars/Olympus").output().unwrap();
    let error = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(!wrong.status.success() && error.contains("Mars/Olympus") && error.contains("Europe/Lisbon"), "{error}");
}

#[test]
fn a_version_is_named_by_the_time_of_the_machine() {
    let place = Place::new("");
    let zone = "America/Los_Angeles";
    run(&place, zone, &["--now", "2025-11-30 12:00", "add", "I live in Oakland."]);
    run(&place, zone, &["--now", "2025-11-30 20:00", "add", "My sister Ana lives in Porto."]);
    let at = |when: &str| run(&place, zone, &["--now", "2025-12-01 09:00", "at", when, "list"]);
    assert!(at("2025-11-30 19:00").contains("Oakland") && !at("2025-11-30 19:00").contains("Porto"));
    assert!(at("yesterday").contains("Porto"));
    // A day is that of the machine for what ends, too.
    let facts = run(&place, zone, &["--json", "facts", "--predicate", "lives_in", "--subject", "user"]);
    let id = facts.split('"').find(|part| part.starts_with("fact_")).unwrap().to_owned();
    run(&place, zone, &["--now", "2025-12-01 18:00", "close", &id, "today"]);
    let all = run(&place, zone, &["--now", "2025-12-03 09:00", "facts", "--all"]);
    assert!(all.contains("until 2025-12"), "{all}");
    assert!(!all.contains("until 2025-12-02"), "{all}");
}

#[test]
fn times_are_printed_as_the_clock_showed_them() {
    let place = Place::new("");
    let zone = "America/Los_Angeles";
    run(&place, zone, &["--now", "2025-11-30 18:00", "add", "I have a dentist appointment tomorrow."]);
    let run = |args: &[&str]| run(&place, zone, &[&["--now", "2025-11-30 18:05"], args].concat());
    for args in [&["log"][..], &["recall", "dentist"], &["status"], &["list"]] {
        assert!(run(args).contains("2025-11-30 18:00"), "{args:?}: {}", run(args));
    }
    // In UTC the appointment is on the day on which it was told.
    let pack = run(&["context", "When is my dentist appointment?"]);
    assert!(pack.contains("on 2025-12-01"), "{pack}");
}
