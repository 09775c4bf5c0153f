//! Every id a command prints is one that `get`, `why`, `blame` and `history` take; rows of JSON lists are `items`; and somebody who
//! has said nothing is answered with nothing.

use super::place::Place;
use serde_json::Value;

fn json(place: &Place, args: &[&str]) -> Value {
    let output = place.run(&[&["--json"], args].concat());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {told}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A memory with an item of every kind there is.
fn told() -> Place {
    let place = Place::new("");
    for words in
        ["I live in Porto.", "We met Ada at the harbour and sailed home.", "I need to renew my passport by Friday."]
    {
        json(&place, &["add", "--session", "s", words]);
    }
    json(&place, &["session", "end", "s"]);
    let page = place.0.path().join("write.json");
    let ready = r#"{"notes": [{"text": "Prefers mornings"}], "tenets": [{"kind": "value", "text": "Honesty first"}]}"#;
    std::fs::write(&page, ready).unwrap();
    json(&place, &["write", page.to_str().unwrap()]);
    place
}

#[test]
fn every_id_that_is_printed_is_one_that_can_be_asked_about() {
    let place = told();
    for (list, kind) in [
        (&["facts"][..], "fact_"),
        (&["episodes"], "ep_"),
        (&["tasks"], "task_"),
        (&["notes"], "note_"),
        (&["tenets"], "tenet_"),
        (&["list", "--kind", "turn"], "turn_"),
    ] {
        let rows = json(&place, list);
        let row = rows["items"].as_array().unwrap().iter().find(|row| row["id"].as_str().unwrap().starts_with(kind));
        let id = row.unwrap_or_else(|| panic!("no {kind} in {rows}"))["id"].as_str().unwrap().to_owned();
        let item = json(&place, &["get", &id]);
        assert_eq!((&item["id"], item["text"].as_str().is_some_and(|text| !text.is_empty())), (&rows_id(&id), true));
        let why = json(&place, &["why", &id]);
        assert_eq!((&why["item"]["id"], &why["intact"]), (&rows_id(&id), &Value::Bool(true)), "{why}");
        assert!(kind == "turn_" || why["evidence"].as_array().is_some_and(|all| !all.is_empty()), "{why}");
        assert_eq!(why["event"]["seq"], item["event_seq"], "{why}");
        let blame = json(&place, &["blame", &id]);
        let first = &blame["items"][0];
        assert_eq!((&first["seq"], &first["before"]), (&item["event_seq"], &Value::Null), "{blame}");
        assert_eq!(first["after"]["text"], item["text"], "{blame}");
        assert!(json(&place, &["history", &id])["events"].as_array().is_some_and(|all| !all.is_empty()));
        // The same for people.
        for command in ["get", "why", "blame"] {
            let output = place.run(&[command, &id]);
            let shown = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success() && !shown.is_empty(), "{command} {id}: {shown}");
        }
    }
}

fn rows_id(id: &str) -> Value {
    Value::String(id.to_owned())
}

#[test]
fn rows_are_items_and_their_older_name_stays_beside_it() {
    let place = told();
    for list in ["facts", "episodes", "tasks", "notes", "tenets", "log", "sessions"] {
        let rows = json(&place, &[list]);
        assert!(rows["items"].as_array().is_some_and(|all| !all.is_empty()), "{list}: {rows}");
        assert_eq!(rows["items"], rows["entries"], "{list}");
    }
    let keys = json(&place, &["key", "list"]);
    assert_eq!(keys["items"], keys["keys"]);
}

#[test]
fn who_has_said_nothing_is_answered_with_nothing() {
    let place = told();
    let mut wrong = Vec::new();
    for args in [
        &["recall", "canary"][..],
        &["context", "canary"],
        &["list"],
        &["core", "show"],
        &["facts"],
        &["tasks"],
        &["notes"],
        &["tenets"],
        &["episodes"],
        &["sessions"],
        &["conflicts"],
        &["review"],
        &["log"],
    ] {
        let output = place.run(&[&["-u", "nobody", "--json"], args].concat());
        let printed = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let rows = serde_json::from_slice::<Value>(&output.stdout).ok();
        let is_empty =
            rows.is_some_and(|rows| rows.get("items").is_none_or(|items| items.as_array().is_some_and(Vec::is_empty)));
        if !output.status.success() || !is_empty || printed.contains("\"me\"") || printed.contains(": me") {
            wrong.push(format!("{args:?}: {printed}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_deletion_without_a_terminal_is_announced_and_done_with_its_token() {
    let place = told();
    let refused = place.run(&["--json", "erase", "--everything"]);
    assert_eq!(refused.status.code(), Some(2));
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    let token = told.split("with the token ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    assert!(told.contains("--confirm") && told.contains("events"), "{told}");
    json(&place, &["add", "I moved to Ghent."]);
    let stale = place.run(&["--json", "erase", "--everything", "--confirm", &token]);
    let told = String::from_utf8_lossy(&stale.stderr).into_owned();
    assert_eq!(stale.status.code(), Some(1), "{told}");
    let fresh = told.split("with the token ").nth(1).unwrap();
    let fresh: String = fresh.chars().take_while(|sign| sign.is_ascii_hexdigit() || *sign == '-').collect();
    assert_ne!(fresh, token);
    let receipt = json(&place, &["erase", "--everything", "--confirm", &fresh]);
    assert_eq!(receipt["user_id"], "me", "{receipt}");
}

#[test]
fn a_ledger_is_not_imported_by_a_dry_run() {
    let place = told();
    let ledger = place.0.path().join("events.jsonl");
    json(&place, &["pick", "1-2", "--into", ledger.to_str().unwrap()]);
    let import = ["-u", "other", "import", "ledger", ledger.to_str().unwrap(), "--dry-run"];
    assert_eq!(place.run(&import).status.code(), Some(2));
    assert_eq!(json(&place, &["-u", "other", "facts"])["items"].as_array().unwrap().len(), 0);
    json(&place, &import[..5]);
    assert_eq!(json(&place, &["-u", "other", "facts"])["items"].as_array().unwrap().len(), 1);
}
