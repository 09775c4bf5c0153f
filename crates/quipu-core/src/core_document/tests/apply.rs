//! Tests applying patches and its limits.

use serde_json::{Value, json};

use super::patch;
use crate::core_document::measure::{bytes_within, depth_within};
use crate::core_document::{PatchFaultKind, apply, parse, replay};
use crate::limit;

use PatchFaultKind::{Malformed, Missing, TestFailed, TooDeep, TooLarge, TooManyOps, Untested};

fn check(document: Value, ops: Value, expected: Result<Value, (usize, PatchFaultKind)>) {
    let found = apply(&document, &patch(ops.clone())).map_err(|fault| (fault.op, fault.kind));
    assert_eq!(found, expected, "{document} with {ops}");
}

#[test]
fn operations_do_what_rfc_6902_says() {
    let doc = json!({"a": {"b": 1}, "l": ["x", "y"]});
    check(doc.clone(), json!([]), Ok(doc.clone()));
    check(
        doc.clone(),
        json!([{"op": "add", "path": "/a/c", "value": null}]),
        Ok(json!({"a": {"b": 1, "c": null}, "l": ["x", "y"]})),
    );
    check(
        doc.clone(),
        json!([{"op": "add", "path": "/l/0", "value": "w"}]),
        Ok(json!({"a": {"b": 1}, "l": ["w", "x", "y"]})),
    );
    check(
        doc.clone(),
        json!([{"op": "add", "path": "/l/-", "value": "z"}]),
        Ok(json!({"a": {"b": 1}, "l": ["x", "y", "z"]})),
    );
    check(
        doc.clone(),
        json!([{"op": "replace", "path": "/a/b", "value": 2}]),
        Ok(json!({"a": {"b": 2}, "l": ["x", "y"]})),
    );
    check(doc.clone(), json!([{"op": "remove", "path": "/l/0"}]), Ok(json!({"a": {"b": 1}, "l": ["y"]})));
    check(
        doc.clone(),
        json!([{"op": "copy", "from": "/a", "path": "/c"}]),
        Ok(json!({"a": {"b": 1}, "c": {"b": 1}, "l": ["x", "y"]})),
    );
    check(
        doc.clone(),
        json!([{"op": "move", "from": "/l/0", "path": "/l/1"}]),
        Ok(json!({"a": {"b": 1}, "l": ["y", "x"]})),
    );
    check(doc.clone(), json!([{"op": "move", "from": "/a", "path": "/a"}]), Ok(doc.clone()));
    check(
        doc.clone(),
        json!([{"op": "move", "from": "/a", "path": "/ab"}]),
        Ok(json!({"ab": {"b": 1}, "l": ["x", "y"]})),
    );
    check(
        json!({"l": [1, {"x": 2}, {"x": 3}]}),
        json!([{"op": "move", "from": "/l/0", "path": "/l/1/x"}]),
        Ok(json!({"l": [{"x": 2}, {"x": 1}]})),
    );
    check(doc.clone(), json!([{"op": "add", "path": "", "value": {}}]), Ok(json!({})));
    check(
        json!({"m~n": 1, "a/b": 2, "": 3}),
        json!([
            {"op": "remove", "path": "/m~0n"}, {"op": "remove", "path": "/a~1b"}, {"op": "replace", "path": "/", "value": 4}
        ]),
        Ok(json!({"": 4})),
    );
    check(
        json!({}),
        json!([{"op": "add", "path": "/__proto__", "value": {"x": 1}}]),
        Ok(json!({"__proto__": {"x": 1}})),
    );
}

#[test]
fn what_cannot_be_done_is_refused() {
    let doc = json!({"a": {"b": 1}, "l": ["x", "y"], "s": "text", "f": 0.1});
    for (ops, op, kind) in [
        (json!([{"op": "move", "from": "/a", "path": "/a/b"}]), 0, Malformed),
        (json!([{"op": "move", "from": "", "path": "/a"}]), 0, Malformed),
        (json!([{"op": "remove", "path": ""}]), 0, Malformed),
        (json!([{"op": "move", "from": "", "path": ""}]), 0, Malformed),
        (json!([{"op": "add", "path": "/l/4294967295", "value": 1}]), 0, Missing),
        (json!([{"op": "add", "path": "/l/99999999999999999999999", "value": 1}]), 0, Malformed),
        (json!([{"op": "add", "path": "/l/3", "value": 1}]), 0, Missing),
        (json!([{"op": "add", "path": "/l/01", "value": 1}]), 0, Malformed),
        (json!([{"op": "add", "path": "/l/-1", "value": 1}]), 0, Malformed),
        (json!([{"op": "add", "path": "/l/+1", "value": 1}]), 0, Malformed),
        (json!([{"op": "add", "path": "/l/x", "value": 1}]), 0, Malformed),
        (json!([{"op": "remove", "path": "/l/-"}]), 0, Missing),
        (json!([{"op": "replace", "path": "/l/-", "value": 1}]), 0, Missing),
        (json!([{"op": "replace", "path": "/l/01", "value": 1}]), 0, Missing),
        (json!([{"op": "remove", "path": "/l/2"}]), 0, Missing),
        (json!([{"op": "remove", "path": "/gone"}]), 0, Missing),
        (json!([{"op": "replace", "path": "/gone", "value": 1}]), 0, Missing),
        (json!([{"op": "add", "path": "/gone/x", "value": 1}]), 0, Missing),
        (json!([{"op": "add", "path": "/s/x", "value": 1}]), 0, Missing),
        (json!([{"op": "remove", "path": "/s/x"}]), 0, Missing),
        (json!([{"op": "copy", "from": "/gone", "path": "/c"}]), 0, Missing),
        (json!([{"op": "move", "from": "/a", "path": "/gone/x"}]), 0, Missing),
        (json!([{"op": "test", "path": "/gone", "value": null}]), 0, Missing),
        (json!([{"op": "test", "path": "/f", "value": 0.2}]), 0, TestFailed),
        (json!([{"op": "test", "path": "/a/b", "value": 1.0}]), 0, TestFailed),
        (json!([{"op": "add", "path": "/new", "value": 1}, {"op": "test", "path": "/new", "value": 2}]), 1, TestFailed),
    ] {
        check(doc.clone(), ops, Err((op, kind)));
    }
}

/// Each operation alone is harmless; before there was a limit, 32 of them took nine seconds and ten gigabytes.
#[test]
fn a_copy_bomb_stops_at_the_size_bound() {
    let doubling = [json!({"op": "copy", "from": "", "path": "/c"}), json!({"op": "copy", "from": "", "path": "/d"})];
    let bomb: Vec<_> = doubling.into_iter().cycle().take(32).collect();
    let fault = apply(&json!({"text": "x".repeat(100)}), &patch(json!(bomb))).expect_err("the bomb is stopped");
    assert!(matches!(fault.kind, TooLarge | TooDeep), "{fault}");
    // The size doubles or triples each time: only a few operations can have run.
    assert!(fault.op <= 24, "stopped only at {}", fault.op);

    let list: Vec<_> = std::iter::repeat_n(json!({"op": "copy", "from": "/l", "path": "/l/-"}), 100).collect();
    let fault = apply(&json!({"l": ["x".repeat(1000)]}), &patch(json!(list))).expect_err("the bomb is stopped");
    // 1003 bytes doubled eight times exceed 256 KiB.
    assert_eq!((fault.op, fault.kind), (8, TooLarge));
}

#[test]
fn a_depth_bomb_stops_at_the_depth_bound() {
    let wrap = [
        json!({"op": "move", "from": "/x", "path": "/y"}),
        json!({"op": "add", "path": "/x", "value": {}}),
        json!({"op": "move", "from": "/y", "path": "/x/x"}),
    ];
    let bomb: Vec<_> = wrap.into_iter().cycle().take(99).collect();
    let fault = apply(&json!({"x": {}}), &patch(json!(bomb))).expect_err("the bomb is stopped");
    // The document starts at depth 2, and every third operation adds one.
    assert_eq!((fault.op, fault.kind), (3 * 30 + 2, TooDeep));
}

#[test]
fn bounds_are_exact() {
    let room = limit::CORE_BYTES_MAX - json!({"a": ""}).to_string().len();
    let fits = json!({"a": "x".repeat(room)});
    check(json!({}), json!([{"op": "add", "path": "/a", "value": fits["a"]}]), Ok(fits.clone()));
    check(json!({}), json!([{"op": "add", "path": "/a", "value": "x".repeat(room + 1)}]), Err((0, TooLarge)));
    check(
        json!({"a": 1}),
        json!([{"op": "replace", "path": "/a", "value": "\n".repeat(room / 2 + 1)}]),
        Err((0, TooLarge)),
    );
    check(
        fits,
        json!([{"op": "test", "path": "/a", "value": 1}, {"op": "remove", "path": "/a"}]),
        Err((0, TestFailed)),
    );

    let nested = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!([inner]));
    check(json!({}), json!([{"op": "add", "path": "/a", "value": nested(31)}]), Ok(json!({"a": nested(31)})));
    check(json!({}), json!([{"op": "add", "path": "/a", "value": nested(32)}]), Err((0, TooDeep)));
    check(
        json!({"a": nested(20)}),
        json!([{"op": "copy", "from": "/a", "path": &format!("/a{}/-", "/0".repeat(15))}]),
        Err((0, TooDeep)),
    );

    let adds = |count| Value::from(vec![json!({"op": "add", "path": "/a", "value": 1}); count]);
    check(json!({}), adds(limit::PATCH_OPS_MAX), Ok(json!({"a": 1})));
    check(json!({}), adds(limit::PATCH_OPS_MAX + 1), Err((limit::PATCH_OPS_MAX, TooManyOps)));
    check(json!({}), json!([{"op": "add", "path": format!("/{}", "x".repeat(4096)), "value": 1}]), Err((0, Malformed)));
}

#[test]
fn a_patch_is_all_or_nothing() {
    let document = json!({"a": 1, "l": [1, 2]});
    let before = document.clone();
    let half = patch(
        json!([{"op": "remove", "path": "/a"}, {"op": "remove", "path": "/l/0"}, {"op": "remove", "path": "/gone"}]),
    );
    assert_eq!(apply(&document, &half).map_err(|fault| fault.op), Err(2));
    assert_eq!(document, before);
}

#[test]
fn a_patch_is_read_strictly() {
    for (json, expected) in [
        ("", "array of operations"),
        ("{}", "array of operations"),
        (r#"{"op":"add","path":"/a","value":1}"#, "array of operations"),
        ("[{}]", "missing field `op`"),
        (r#"[{"op":"add","path":"/a"}]"#, "missing field `value`"),
        (r#"[{"op":"spam","path":"/a"}]"#, "unknown variant `spam`"),
        (r#"[{"op":"add","op":"remove","path":"/a","value":1}]"#, "duplicate field `op`"),
        (r#"[{"op":"add","path":"/a","path":"/b","value":1}]"#, "duplicate field `path`"),
        (r#"[{"op":"add","path":"a","value":1}]"#, "RFC 6902"),
        (r#"[{"op":"add","path":"/~2","value":1}]"#, "RFC 6902"),
        (r#"[{"op":"move","path":"/a","from":"b"}]"#, "RFC 6902"),
        (r#"[{"op":"add","path":"/a","value":1}] x"#, "trailing characters"),
        (r#"[{"op":"add","path":"/a","value":"\ud800"}]"#, "hex escape"),
        (&format!("[{}]", " ".repeat(1 << 20)), "longer than"),
        (
            &format!(r#"[{{"op":"add","path":"/a","value":{}1{}}}]"#, "[".repeat(130), "]".repeat(130)),
            "recursion limit",
        ),
        (&format!("[{}]", vec![r#"{"op":"remove","path":"/a"}"#; 101].join(",")), "at most 100"),
    ] {
        let found = parse(json).expect_err(json).to_string();
        assert!(found.contains(expected), "{} gives {found}", &json[..json.len().min(80)]);
    }
    let with_event = r#"[{"op":"replace","path":"/a","value":1,"_event":{"confidence":0.98}}]"#;
    assert_eq!(parse(with_event), Ok(patch(json!([{"op": "replace", "path": "/a", "value": 1}]))));
}

#[test]
fn replay_never_overwrites_what_it_does_not_know() {
    let add = patch(json!([{"op": "add", "path": "/identity", "value": {"name": "Ada"}}]));
    let document = json!({"identity": {"age": 30}});
    assert_eq!(replay(&json!({}), &add), Ok(json!({"identity": {"name": "Ada"}})));
    assert_eq!(replay(&document, &add).map_err(|fault| fault.kind), Err(Untested));
    let tested = patch(json!([
        {"op": "test", "path": "/identity", "value": {"age": 30}},
        {"op": "add", "path": "/identity", "value": {"name": "Ada"}},
        {"op": "add", "path": "/identity", "value": {"name": "Bo"}},
    ]));
    assert_eq!(replay(&document, &tested), Ok(json!({"identity": {"name": "Bo"}})));
}

/// The size limit counts these bytes: a change in how numbers are written would change how old patches replay.
#[test]
fn sizes_are_those_of_the_written_text() {
    for (value, bytes) in [
        (json!(null), 4),
        (json!(0.1), 3),
        (json!(1.0), 3),
        (json!(1e21), 5),
        (json!(1e-7), 4),
        (json!(u64::MAX), 20),
        (json!(-0.0), 4),
        (json!("a\"\n\u{1}é"), 15),
        (json!({"k": [1, {}]}), 12),
        (json!([]), 2),
    ] {
        assert_eq!(bytes_within(&value, 100), Some(bytes), "{value}");
        assert_eq!(bytes_within(&value, bytes), Some(bytes), "{value}");
        assert_eq!(bytes_within(&value, bytes - 1), None, "{value}");
    }
    for (value, depth) in [(json!(1), 0), (json!({}), 1), (json!([[], [[1]]]), 3), (json!({"a": {"b": 1}}), 2)] {
        assert_eq!(depth_within(&value, depth), Some(depth), "{value}");
        assert_eq!(depth.checked_sub(1).and_then(|max| depth_within(&value, max)), None, "{value}");
    }
}
