//! `quipu move`: ledgers and API keys in another store.

use crate::check;
use crate::place::Place;

#[test]
fn ledgers_and_keys_move_to_another_folder() {
    let place = Place::new("");
    let target = place.0.path().join("other");
    let to = target.to_str().unwrap();
    let ok = |args: &[&str], pieces: &[&str]| check(&place, args, 0, pieces);
    check(&place, &["move", "--to", to], 3, &["nothing to move"]);
    ok(&["add", "I live in Lyon"], &["Event 1"]);
    ok(&["add", "I like tea"], &[]);
    ok(&["erase", "1", "--yes"], &[]);
    ok(&["add", "-u", "ann", "I like coffee"], &[]);
    ok(&["key", "create", "laptop"], &[]);
    ok(&["move", "--to", to, "-u", "ann"], &["ann", "copied and verified", "API keys: 0 copied"]);
    let moved = ok(&["move", "--to", to], &["already there", "me ", "API keys: 1 copied", "QUIPU_DATA_DIR"]);
    assert_eq!(moved.matches("copied and verified").count(), 1, "{moved}");
    let same = ["move", "--to", place.0.path().join("data").to_str().unwrap()].map(str::to_owned);
    check(&place, &same.each_ref().map(String::as_str), 2, &["the configured store"]);
    // The ledgers are the same there.
    ok(&["--data-dir", to, "verify"], &["INTACT"]);
    let log = |folder: &str| place.run(&["--data-dir", folder, "-u", "me", "--json", "log"]).stdout;
    assert_eq!(log(to), log(place.0.path().join("data").to_str().unwrap()));
    ok(&["--data-dir", to, "key", "list"], &["laptop"]);
    // What is added later is appended by another move, unless the target has events of its own.
    ok(&["add", "I like plums"], &[]);
    ok(&["move", "--to", to], &["appended, all verified", "already there"]);
    ok(&["--data-dir", to, "add", "I like pears"], &[]);
    check(&place, &["move", "--to", to], 1, &["stopped at user me", "user me is not moved", "does not have"]);
}
