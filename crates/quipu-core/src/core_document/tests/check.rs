//! Tests which patches may be recorded, and the categories.

use serde_json::{Value, json};

use super::patch;
use crate::core_document::{Registry, SchemaFault, check as decide, replay, set};
use crate::limit;

fn seed() -> Value {
    json!({
        "healthProfile": {
            "conditions": [{"name": "Type 2 Diabetes", "since": "2018-03", "confidence": 0.95}],
            "medications": [{"name": "Metformin"}],
            "other": {"recentA1c": "6.8 as of November 2023"}
        },
        "dietaryProfile": {"preferences": {"likes": ["greek yogurt", "berries"], "dislikes": ["kale"]}},
        "dynamicCategories": {"exerciseRoutine": {
            "description": "User's exercise habits",
            "data": {"preferred_activities": ["walking", "swimming"]}
        }},
        "uncategorized": {"sleep_note_1": "Having trouble staying asleep"}
    })
}

fn check(document: &Value, ops: Value, expected: Result<(), &str>) {
    match (decide(&Registry::default(), document, &patch(ops.clone())), expected) {
        (Ok((guarded, result)), Ok(())) => assert_eq!(replay(document, &guarded), Ok(result), "{ops}"),
        (Err(found), Err(expected)) => assert!(found.to_string().contains(expected), "{ops} gives {found}"),
        (found, expected) => panic!("{ops}: {found:?} instead of {expected:?}"),
    }
}

#[test]
fn patches_of_a_day_in_life_are_let_through() {
    check(
        &seed(),
        json!([
            {"op": "add", "path": "/dynamicCategories/exerciseRoutine/data/yoga", "value": "three times weekly"},
            {"op": "add", "path": "/dynamicCategories/stressManagement", "value": {
                "description": "User's stress management techniques", "data": {"techniques": ["yoga"]},
                "createdAt": "2023-12-15T10:30:00Z", "confidence": 0.8, "usageCount": 1
            }},
        ]),
        Ok(()),
    );
    check(&seed(), json!([{"op": "replace", "path": "/healthProfile/conditions/0/since", "value": "2019-03"}]), Ok(()));
    check(&json!({}), json!([{"op": "replace", "path": "", "value": seed()}]), Ok(()));
    check(
        &json!({}),
        json!([{"op": "add", "path": "/finance", "value": {"income": 5e-324, "budget": 0.1, "worth": 1.7976931348623157e308}}]),
        Ok(()),
    );
    check(&seed(), json!([]), Ok(()));
}

#[test]
fn what_does_not_fit_is_refused() {
    let add = |path: &str, value: Value| json!([{"op": "add", "path": path, "value": value}]);
    for (ops, expected) in [
        (add("/healthProfile/conditions/0/status", json!("cured")), "/healthProfile/conditions/0/status"),
        (add("/healthProfile/conditions/-", json!({"since": "2020"})), "\"name\" is a required property"),
        (add("/healthProfile/steps", json!(1)), "/healthProfile"),
        (add("/dietaryProfile/preferences/likes", json!("figs")), "/dietaryProfile/preferences/likes"),
        (add("/dynamicCategories/pets", json!({"cat": "Tom"})), "/dynamicCategories/pets"),
        (add("/dynamicCategories/pets", json!({"data": {}, "confidence": 2})), "/dynamicCategories/pets/confidence"),
        (add("/pets", json!({"cat": "Tom"})), "/dynamicCategories/pets/data or /uncategorized/pets"),
        (add("/pets", json!({"cat": "Tom"})), "healthProfile, identity"),
        (add("/_meta", json!({})), "/_meta is kept by Quipu"),
        (add("/_meta/version", json!(9)), "/_meta is kept by Quipu"),
        (json!([{"op": "copy", "from": "/_meta", "path": "/uncategorized/x"}]), "/_meta is kept by Quipu"),
        (json!([{"op": "move", "from": "/uncategorized", "path": "/_meta"}]), "/_meta is kept by Quipu"),
        (add("", json!({"_meta": {}})), "_meta is kept by Quipu"),
        (add("", json!([])), "object of categories"),
        (add("", json!(null)), "object of categories"),
        (add("/uncategorized/x", json!("a\u{0}b")), "U+0000"),
        (add("/uncategorized/x\u{0}", json!("ab")), "U+0000"),
        (add("/uncategorized/x", json!({"a\u{0}": 1})), "U+0000"),
        (json!([{"op": "remove", "path": "/gone"}]), "operation 0: `/gone` is not there"),
    ] {
        check(&seed(), ops, Err(expected));
    }
}

#[test]
fn bombs_are_refused_before_they_are_recorded() {
    let bomb: Vec<_> = ["/uncategorized/c", "/uncategorized/d"]
        .into_iter()
        .cycle()
        .take(32)
        .map(|path| json!({"op": "copy", "from": "/uncategorized", "path": path}))
        .collect();
    check(&seed(), json!(bomb), Err("would be"));
    // Guards repeat the values they guard: a patch that shuffles large values would store them many times.
    let large = json!({"uncategorized": {"a": "x".repeat(100_000), "b": "y".repeat(100_000)}});
    let text = "x".repeat(100_000);
    let swap: Vec<_> = ["/uncategorized/a", "/uncategorized/b"]
        .into_iter()
        .cycle()
        .take(100)
        .map(|path| json!({"op": "replace", "path": path, "value": text}))
        .collect();
    check(&large, json!(swap), Err("longer than"));
    let many = vec![json!({"op": "add", "path": "/uncategorized/x", "value": 1}); limit::PATCH_OPS_MAX + 1];
    check(&seed(), json!(many), Err("at most 100"));
}

#[test]
fn setting_one_fact_in_an_empty_memory_is_valid() {
    for (pointer, value) in [
        ("/identity/name", json!("Ada")),
        ("/location/city", json!("Porto")),
        ("/location/current", json!("Porto")),
        ("/relationships/partner", json!("Sam")),
        ("/work/employer", json!("Acme")),
        ("/education/highest", json!("MSc")),
        ("/preferences/likes/-", json!("jazz")),
        ("/dietaryProfile/diet", json!("vegan")),
        ("/healthProfile/allergies/food/-", json!("peanuts")),
        ("/activityProfile/hobbies/-", json!("chess")),
        ("/finance/currency", json!("EUR")),
        ("/devices/phone", json!("Fairphone")),
        ("/schedule/wakeTime", json!("06:30")),
        ("/dynamicCategories/pets/data/cat", json!("Tom")),
        ("/uncategorized/note", json!("likes rain")),
    ] {
        let patch = set(&json!({}), pointer, value).expect(pointer);
        assert!(decide(&Registry::default(), &json!({}), &patch).is_ok(), "{pointer}");
    }
}

#[test]
fn the_built_in_categories_are_described() {
    let registry = Registry::default();
    assert_eq!(registry.categories().count(), 14);
    for (name, description) in registry.categories() {
        assert!(!description.is_empty(), "{name}");
    }
    assert_eq!(registry.validate(&seed()), Ok(()));
    assert_eq!(registry.validate(&json!({})), Ok(()));
}

#[test]
fn a_configured_category_is_compiled_or_refused() {
    let registry =
        Registry::with_schemas([("garden", r#"{"type":"object","properties":{"beds":{"type":"integer"}}}"#)])
            .expect("compiles");
    assert_eq!(registry.validate(&json!({"garden": {"beds": 3}})), Ok(()));
    let fault = SchemaFault { path: "/garden/beds".into(), reason: "\"many\" is not of type \"integer\"".into() };
    assert_eq!(registry.validate(&json!({"garden": {"beds": "many"}})), Err(vec![fault]));

    for (name, schema, expected) in [
        ("garden", "{", "not JSON"),
        ("garden", r#"{"type":"vegetable"}"#, "garden"),
        ("garden", r#"{"$ref":"https://evil.test/schema.json"}"#, "evil.test"),
        ("garden", r#"{"$ref":"file:///etc/hostname"}"#, "file:///etc/hostname"),
        ("garden", r#"{"$ref":"other.json"}"#, "other.json"),
        ("garden", r#"{"$schema":"https://evil.test/dialect"}"#, "evil.test"),
        ("garden", r#"{"pattern":"("}"#, "garden"),
        ("garden", r#"{"pattern":"(a)\\1"}"#, "garden"),
        ("", "{}", "name a category"),
        ("_meta", "{}", "name a category"),
        ("a/b", "{}", "name a category"),
        ("uncategorized", "{}", "fixed"),
    ] {
        let found = Registry::with_schemas([(name, schema)]).expect_err(schema).to_string();
        assert!(found.contains(expected), "{name} {schema} gives {found}");
    }
}

#[test]
fn the_list_of_faults_is_bounded() {
    let wrong = Value::from(vec![json!(["x".repeat(5000)]); 500]);
    let document = json!({"dietaryProfile": {"preferences": {"likes": wrong}}, "a": 1, "b": 2});
    let faults = Registry::default().validate(&document).expect_err("not valid");
    assert_eq!(faults.len(), 20);
    assert!(faults.iter().all(|fault| fault.reason.len() < 600), "{faults:?}");
}
