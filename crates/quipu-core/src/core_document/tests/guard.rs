//! Tests that a guarded patch hits the intended values or nothing.

use serde_json::{Value, json};

use super::{ops, patch};
use crate::core_document::{apply, guarded, replay, set, unset};

fn list() -> Value {
    json!({"conditions": [
        {"name": "Type 2 Diabetes", "since": "2018"},
        {"name": "Asthma", "since": "1990"}
    ]})
}

fn check(document: &Value, ops_in: Value, expected: Value) {
    let guarded = guarded(document, &patch(ops_in.clone())).map(|patch| ops(&patch));
    assert_eq!(guarded, Ok(ops(&patch(expected))), "{document} with {ops_in}");
}

#[test]
fn what_an_operation_touches_is_tested_first() {
    let doc = json!({"a": {"b": 1}, "c": 2, "l": ["x", "y"]});
    let test = |path: &str, value: Value| json!({"op": "test", "path": path, "value": value});
    for op in [
        json!({"op": "replace", "path": "/c", "value": 3}),
        json!({"op": "remove", "path": "/c"}),
        json!({"op": "move", "from": "/c", "path": "/d"}),
        json!({"op": "copy", "from": "/c", "path": "/d"}),
        json!({"op": "add", "path": "/c", "value": 3}),
    ] {
        check(&doc, json!([op]), json!([test("/c", json!(2)), op]));
        check(&doc, json!([test("/c", json!(2)), op]), json!([test("/c", json!(2)), op]));
    }
    for op in [
        json!({"op": "add", "path": "/d", "value": 3}),
        json!({"op": "add", "path": "/l/0", "value": 3}),
        json!({"op": "add", "path": "/l/-", "value": 3}),
    ] {
        check(&doc, json!([op]), json!([op]));
    }
    let over = json!({"op": "move", "from": "/a", "path": "/c"});
    check(&doc, json!([over]), json!([test("/a", json!({"b": 1})), test("/c", json!(2)), over]));
    let first = json!({"op": "remove", "path": "/l/0"});
    check(&doc, json!([first, first]), json!([test("/l/0", json!("x")), first, test("/l/0", json!("y")), first]));
}

#[test]
fn an_element_is_known_by_its_identity() {
    let test = |path: &str, value: Value| json!({"op": "test", "path": path, "value": value});
    let since = json!({"op": "replace", "path": "/conditions/1/since", "value": "1991"});
    check(
        &list(),
        json!([since]),
        json!([test("/conditions/1/name", json!("Asthma")), test("/conditions/1/since", json!("1990")), since]),
    );
    let nameless = json!({"l": [[{"x": 1, "y": 2}]]});
    let deep = json!({"op": "replace", "path": "/l/0/0/x", "value": 3});
    check(&nameless, json!([deep]), json!([test("/l/0", json!([{"x": 1, "y": 2}])), deep]));
    let by_id = json!({"l": [{"id": 7, "name": "n", "x": 1}]});
    let into = json!({"op": "add", "path": "/l/0/z", "value": 3});
    check(&by_id, json!([into]), json!([test("/l/0/id", json!(7)), into]));
    // The target of a move names the state after the removal; the test names the state before it.
    let shifting = json!({"l": [{"id": 1}, {"id": 2, "x": 2}, {"id": 3, "x": 3}]});
    let shift = json!({"op": "move", "from": "/l/0", "path": "/l/1/x"});
    check(
        &shifting,
        json!([shift]),
        json!([test("/l/0", json!({"id": 1})), test("/l/2/id", json!(3)), test("/l/2/x", json!(3)), shift]),
    );
}

#[test]
fn what_the_patch_wrote_needs_no_test() {
    let ops = json!([
        {"op": "add", "path": "/a", "value": {"b": 1}},
        {"op": "replace", "path": "/a/b", "value": 2},
        {"op": "move", "from": "/a/b", "path": "/a/c"},
        {"op": "remove", "path": "/a"},
    ]);
    check(&json!({}), ops.clone(), ops);
}

#[test]
fn an_index_means_another_element_once_the_list_has_moved() {
    let document = json!({"l": ["x", "y", "z"], "n": 1});
    let test = |path: &str, value: Value| json!({"op": "test", "path": path, "value": value});
    let known = json!({"op": "replace", "path": "/l/1", "value": "w"});
    let gone = json!({"op": "remove", "path": "/l/0"});
    let next = json!({"op": "remove", "path": "/l/1"});
    check(
        &document,
        json!([known, gone, next]),
        json!([test("/l/1", json!("y")), known, test("/l/0", json!("x")), gone, test("/l/1", json!("z")), next]),
    );
    let come = json!({"op": "add", "path": "/l/0", "value": "v"});
    check(
        &document,
        json!([known, come, next]),
        json!([test("/l/1", json!("y")), known, come, test("/l/1", json!("x")), next]),
    );
    // An appended element may have another index in another list.
    let append = json!({"op": "add", "path": "/l/-", "value": "v"});
    let last = json!({"op": "remove", "path": "/l/3"});
    check(&document, json!([append, last]), json!([append, test("/l/3", json!("v")), last]));
}

#[test]
fn a_path_into_a_list_never_overwrites_in_an_object() {
    let insert = json!({"op": "add", "path": "/l/0", "value": null});
    let twice = guarded(&json!({"l": []}), &patch(json!([insert, insert]))).expect("a patch");
    assert_eq!(replay(&json!({"l": []}), &twice), Ok(json!({"l": [null, null]})));
    assert!(replay(&json!({"l": {}}), &twice).is_err());
    // What was tested at that place is known, and would be lost in an object all the same.
    let copied = json!([{"op": "copy", "from": "/l/0", "path": "/a"}, {"op": "add", "path": "/l/0", "value": 2}]);
    let copied = guarded(&json!({"l": [1]}), &patch(copied)).expect("a patch");
    assert_eq!(replay(&json!({"l": [1]}), &copied), Ok(json!({"l": [2, 1], "a": 1})));
    assert!(replay(&json!({"l": {"0": 1}}), &copied).is_err());
    for index in ["-", "18446744073709551615"] {
        let far = patch(json!([{"op": "move", "from": "/l/0", "path": format!("/l/{index}/x")}]));
        assert!(guarded(&json!({"l": [1, {}]}), &far).is_err(), "{index}");
    }
}

#[test]
fn a_list_of_a_hundred_changes_can_be_guarded() {
    let document = Value::Object((0..100).map(|n| (format!("k{n}"), json!(n))).collect());
    let all: Vec<_> = (0..100).map(|n| json!({"op": "replace", "path": format!("/k{n}"), "value": -1})).collect();
    let all = patch(json!(all));
    let guarded = guarded(&document, &all).expect("guarded");
    assert_eq!(guarded.len(), 200);
    assert_eq!(replay(&document, &guarded), apply(&document, &all));
}

#[test]
fn a_guarded_patch_does_not_hit_another_place() {
    let asthma = set(&list(), "/conditions/1/since", json!("1991")).expect("a patch");
    let gone = unset(&list(), "/conditions/0").expect("a patch");
    let shifted = apply(&list(), &gone).expect("applies");
    assert!(apply(&shifted, &asthma).is_err(), "index 1 is somebody else now");
    let inserted =
        json!({"conditions": [{"name": "Gout", "since": "2018"}, {"name": "Type 2 Diabetes", "since": "1990"}]});
    assert!(apply(&inserted, &asthma).is_err(), "the same value of another element");
    assert!(apply(&inserted, &gone).is_err(), "another element at that index");
}

fn check_set(document: Value, pointer: &str, value: Value, expected: Result<Value, &str>) {
    match (set(&document, pointer, value), expected) {
        (Ok(patch), Ok(expected)) => {
            assert_eq!(replay(&document, &patch), Ok(expected), "{document} {pointer} {patch}")
        }
        (Err(found), Err(expected)) => assert!(found.to_string().contains(expected), "{pointer} gives {found}"),
        (found, expected) => panic!("{document} {pointer}: {found:?} instead of {expected:?}"),
    }
}

#[test]
fn setting_creates_what_is_missing() {
    check_set(json!({}), "/location/city", json!("Porto"), Ok(json!({"location": {"city": "Porto"}})));
    check_set(
        json!({"location": {"city": "Lyon"}}),
        "/location/city",
        json!("Porto"),
        Ok(json!({"location": {"city": "Porto"}})),
    );
    check_set(
        json!({"location": {}}),
        "/location/home/city",
        json!("Porto"),
        Ok(json!({"location": {"home": {"city": "Porto"}}})),
    );
    check_set(json!({}), "/a/likes/-", json!("kale"), Ok(json!({"a": {"likes": ["kale"]}})));
    check_set(json!({"l": [1]}), "/l/-", json!(2), Ok(json!({"l": [1, 2]})));
    check_set(json!({"l": [1]}), "/l/1", json!(2), Ok(json!({"l": [1, 2]})));
    check_set(json!({"l": [1]}), "/l/0", json!(2), Ok(json!({"l": [2]})));
    check_set(json!({"l": [1]}), "/l/5", json!(2), Err("1 elements"));
    check_set(json!({"l": [1]}), "/l/x", json!(2), Err("1 elements"));
    check_set(json!({"a": "x"}), "/a/b", json!(2), Err("plain value"));
    check_set(json!({}), "/a/0", json!(2), Err("no list yet"));
    check_set(json!({}), "", json!({}), Err("whole document"));
    check_set(json!({}), "a", json!(1), Err("not a path"));
    check_set(json!({}), "/~2", json!(1), Err("not a path"));
    check_set(json!({}), "/a~1b/c~0d", json!(1), Ok(json!({"a/b": {"c~d": 1}})));
    assert_eq!(set(&json!({"a": 1}), "/a", json!(1)).map(|patch| patch.len()), Ok(0), "already so");
}

#[test]
fn set_and_unset_become_orphans_rather_than_harm() {
    let deeper = set(&json!({"identity": {}}), "/identity/age", json!(30)).expect("a patch");
    assert!(replay(&json!({}), &deeper).is_err(), "its parent was reverted");
    let creating = set(&json!({}), "/identity/name", json!("Ada")).expect("a patch");
    assert!(replay(&json!({"identity": {"age": 30}}), &creating).is_err(), "it would wipe the age");
    let city = set(&json!({"city": "Lyon"}), "/city", json!("Porto")).expect("a patch");
    assert!(replay(&json!({"city": "Faro"}), &city).is_err(), "it replaces something else");
    let gone = unset(&json!({"city": "Lyon"}), "/city").expect("a patch");
    assert!(replay(&json!({"city": "Faro"}), &gone).is_err(), "it removes something else");
    assert!(unset(&json!({}), "/city").is_err(), "nothing to unset");
    assert!(unset(&json!({}), "").is_err(), "never the whole document");
}
