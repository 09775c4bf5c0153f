//! `encryption = "on"`, and `quipu user-keys`.

use std::path::Path;

use crate::check;
use crate::place::Place;

fn is_in_a_file(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return is_in_a_file(&path, text);
        }
        std::fs::read(path).unwrap().windows(text.len()).any(|part| part == text.as_bytes())
    })
}

fn set(place: &Place, config: &str) {
    std::fs::write(place.0.path().join("quipu/config.toml"), config).unwrap();
}

#[test]
fn a_folder_is_encrypted_with_a_master_key_from_a_file() {
    let place = Place::new("encryption = \"on\"");
    check(&place, &["add", "I live in Lyon"], 2, &["no master key", "quipu user-keys new FILE"]);
    let master = place.0.path().join("master");
    let file = master.to_str().unwrap();
    check(&place, &["user-keys", "new", file], 0, &["new master key", "keep a copy"]);
    check(&place, &["user-keys", "new", file], 1, &["exists and is kept"]);
    let config = format!("encryption = \"on\"\nmaster_key_file = {file:?}");
    set(&place, &config);
    check(&place, &["add", "My canary lives in Lyon"], 0, &["Event 1"]);
    check(&place, &["add", "I like tea"], 0, &[]);
    check(&place, &["recall", "Where does my canary live?"], 0, &["Lyon"]);
    check(&place, &["user-keys", "status"], 0, &["user-keys.db: keys of 1 user; master key"]);
    check(&place, &["doctor"], 0, &["encryption is on"]);
    check(&place, &["verify"], 0, &["INTACT"]);
    let data = place.0.path().join("data");
    let backup = place.0.path().join("backup");
    check(&place, &["backup", backup.to_str().unwrap()], 0, &[]);
    for folder in [&data, &backup] {
        assert!(!is_in_a_file(folder, "canary"));
    }
    let plain = place.0.path().join("plain");
    check(&place, &["move", "--encryption", "off", "--to", plain.to_str().unwrap()], 0, &["copied and verified"]);
    assert!(is_in_a_file(&plain, "canary"));
    // Without encryption a sealed memory is told from a damaged one.
    set(&place, "");
    check(&place, &["recall", "canary"], 5, &["encryption is off here", "QUIPU_ENCRYPTION"]);
    check(&place, &["verify", "--headers"], 0, &["INTACT", "payloads were not checked"]);
    set(&place, &config);
    let receipt = place.0.path().join("receipt.json");
    let erased = ["erase", "1", "--yes", "--receipt", receipt.to_str().unwrap()];
    check(&place, &erased, 0, &["1 key destroyed", "make a new one", "no backup of the key file"]);
    let receipt: serde_json::Value = serde_json::from_slice(&std::fs::read(&receipt).unwrap()).unwrap();
    assert_eq!(receipt["keys"]["keys_destroyed"], 1);
    check(&place, &["restore", "--replace", backup.to_str().unwrap()], 5, &["is not in", "destroyed"]);
    check(&place, &["verify"], 0, &["INTACT"]);
    // The master key changes while the old one is accepted.
    let next = place.0.path().join("next");
    check(&place, &["user-keys", "new", next.to_str().unwrap()], 0, &[]);
    let [old, new] = [&master, &next].map(|path| std::fs::read_to_string(path).unwrap());
    std::fs::write(&master, format!("{new}{old}")).unwrap();
    check(&place, &["user-keys", "rewrap"], 0, &["1 key wrapped again, of 1 user"]);
    std::fs::write(&master, new).unwrap();
    check(&place, &["recall", "What do I like?"], 0, &["tea"]);
    std::fs::write(&master, old).unwrap();
    check(&place, &["recall", "What do I like?"], 5, &["master key", "master_key_file"]);
    let wrong = place.command(&["recall", "tea"]).env("QUIPU_ENCRYPTION", "maybe").output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn deleting_a_user_tells_what_is_unreadable() {
    let place = Place::new("encryption = \"on\"\nuser_keys = \"KEYS\"");
    let keys = place.0.path().join("elsewhere/keys.db");
    set(&place, &format!("encryption = \"on\"\nuser_keys = {:?}", keys.to_str().unwrap()));
    let run = |args: &[&str]| {
        let output = place.command(args).env("QUIPU_MASTER_KEY", "ab".repeat(32)).output().unwrap();
        let printed = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{args:?}: {printed}");
        printed
    };
    run(&["add", "I live in Lyon"]);
    assert!(keys.exists() && !place.0.path().join("data/user-keys.db").exists());
    let told = run(&["erase", "--everything", "--yes"]);
    assert!(told.contains("user keys") && told.contains("unreadable in backups") && told.contains("final"), "{told}");
    assert!(run(&["user-keys", "status"]).contains("keys of 0 users"));
}
