//! Tests that differences are minimal and readable.

use serde_json::{Value, json};

use super::{ops, patch};
use crate::core_document::{apply, describe, diff};
use crate::limit;

fn check(from: Value, to: Value, expected: Value) {
    let found = diff(&from, &to);
    assert_eq!(ops(&found), ops(&patch(expected)), "{from} to {to}");
    assert_eq!(apply(&from, &found), Ok(to));
}

#[test]
fn a_change_is_told_where_it_happened() {
    check(json!({"a": 1}), json!({"a": 1}), json!([]));
    check(json!({"a": 1}), json!({"a": 2}), json!([{"op": "replace", "path": "/a", "value": 2}]));
    check(
        json!({"a": 1, "b": 2}),
        json!({"b": 2, "c": 3}),
        json!([{"op": "remove", "path": "/a"}, {"op": "add", "path": "/c", "value": 3}]),
    );
    check(
        json!({"a": {"x": 1, "y": 2}}),
        json!({"a": {"x": 1, "y": 3}}),
        json!([{"op": "replace", "path": "/a/y", "value": 3}]),
    );
    check(
        json!({"a/b": {"m~n": 1}}),
        json!({"a/b": {"m~n": 2}}),
        json!([{"op": "replace", "path": "/a~1b/m~0n", "value": 2}]),
    );
    check(json!({"a": null}), json!({}), json!([{"op": "remove", "path": "/a"}]));
    check(json!({"a": 1}), json!({"a": 1.0}), json!([{"op": "replace", "path": "/a", "value": 1.0}]));
    check(json!([1]), json!({}), json!([{"op": "replace", "path": "", "value": {}}]));
}

#[test]
fn list_elements_keep_who_they_are() {
    let three = json!([{"name": "a", "x": 1}, {"name": "b", "x": 2}, {"name": "c", "x": 3}]);
    check(three.clone(), json!([three[1], three[2]]), json!([{"op": "remove", "path": "/0"}]));
    check(
        three.clone(),
        json!([three[0], {"name": "b", "x": 9}, three[2]]),
        json!([{"op": "replace", "path": "/1/x", "value": 9}]),
    );
    check(
        three.clone(),
        json!([{"name": "b", "x": 9}, three[2]]),
        json!([{"op": "remove", "path": "/0"}, {"op": "replace", "path": "/0/x", "value": 9}]),
    );
    check(
        three.clone(),
        json!([three[0], three[1], {"name": "n", "x": 3}]),
        json!([{"op": "replace", "path": "/2", "value": {"name": "n", "x": 3}}]),
    );
    check(
        json!(["kale", "yogurt"]),
        json!(["yogurt", "berries"]),
        json!([{"op": "remove", "path": "/0"}, {"op": "add", "path": "/1", "value": "berries"}]),
    );
    check(json!([1, 2, 3]), json!([0, 1, 2, 3]), json!([{"op": "add", "path": "/0", "value": 0}]));
    check(json!([{"x": 1, "y": 1}]), json!([{"x": 1, "y": 2}]), json!([{"op": "replace", "path": "/0/y", "value": 2}]));
}

#[test]
fn a_difference_fits_into_a_patch() {
    let from = Value::Object((0..300).map(|n| (format!("k{n}"), json!(n))).collect());
    let to = Value::Object((0..300).map(|n| (format!("k{n}"), json!(n + 1))).collect());
    check(
        json!({"a": from, "b": 1}),
        json!({"a": to, "b": 2}),
        json!([{"op": "replace", "path": "/a", "value": to}, {"op": "replace", "path": "/b", "value": 2}]),
    );

    let long = |seed: usize| Value::from_iter((0..30_000).map(|n| (n * seed) % 7));
    let (from, to) = (json!({"l": long(3)}), json!({"l": long(5)}));
    let found = diff(&from, &to);
    assert!(found.len() <= limit::PATCH_OPS_MAX);
    assert_eq!(apply(&from, &found), Ok(to));
}

#[test]
fn a_difference_never_leaves_the_bounds_on_the_way() {
    let big = |text: &str| text.repeat(200_000);
    let from = json!({"a": {"x": ""}, "b": {"x": big("b")}});
    let to = json!({"a": {"x": big("a")}, "b": {"x": ""}});
    assert_eq!(apply(&from, &diff(&from, &to)), Ok(to));
}

#[test]
fn differences_are_described_place_by_place() {
    let from = json!({"likes": ["kale", "tea"], "city": "Lyon", "old": 1, "jobs": [{"id": 1, "at": "x"}]});
    let to = json!({"likes": ["tea", "figs"], "city": "Porto", "new": {"a": 1}, "jobs": [{"id": 1, "at": "y"}]});
    let found: Vec<_> =
        describe(&from, &to).into_iter().map(|change| (change.path, change.before, change.after)).collect();
    let expected = [
        ("/city", Some(json!("Lyon")), Some(json!("Porto"))),
        ("/jobs/0/at", Some(json!("x")), Some(json!("y"))),
        ("/likes/0", Some(json!("kale")), None),
        ("/likes/1", None, Some(json!("figs"))),
        ("/old", Some(json!(1)), None),
        ("/new", None, Some(json!({"a": 1}))),
    ];
    assert_eq!(found, expected.map(|(path, before, after)| (path.to_owned(), before, after)));
    assert_eq!(describe(&from, &from), []);
}
