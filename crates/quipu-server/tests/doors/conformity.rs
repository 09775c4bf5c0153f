//! Validates every JSON answer of the API against the schema that `/openapi.json` gives for it.
//!
//! The response schemas are open, so that later versions may add fields. Here they are closed: a field that a schema
//! does not declare is an error.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use jsonschema::Validator;
use quipu_fake_model::FakeScript;
use serde_json::{Map, Value, json};
use tokio::sync::OnceCell;

use crate::rig::{Answer, TestServer};

static DOCUMENT: OnceCell<Value> = OnceCell::const_new();
static VALIDATORS: Mutex<Option<HashMap<String, Arc<Validator>>>> = Mutex::new(None);

/// The document with closed schemas, from a separate server so that it does not affect the request counts of a test.
async fn document() -> &'static Value {
    let fetched = async {
        let rig = TestServer::new(FakeScript::saying("")).await;
        let response = rig.client.get(rig.url("/openapi.json")).send().await.unwrap();
        let mut page: Value = response.text().await.unwrap().parse().unwrap();
        for schema in page["components"]["schemas"].as_object_mut().unwrap().values_mut() {
            close(schema, true);
        }
        page
    };
    DOCUMENT.get_or_init(|| fetched).await
}

/// Forbids undeclared properties. A branch of a choice stays open, because its siblings declare properties too.
fn close(schema: &mut Value, is_whole: bool) {
    let Some(members) = schema.as_object_mut() else { return };
    for (name, part) in members.iter_mut() {
        match (name.as_str(), part) {
            ("properties" | "$defs", Value::Object(all)) => all.values_mut().for_each(|one| close(one, true)),
            ("items" | "additionalProperties" | "not", one) => close(one, true),
            ("prefixItems", Value::Array(all)) => all.iter_mut().for_each(|one| close(one, true)),
            ("anyOf" | "oneOf" | "allOf", Value::Array(all)) => all.iter_mut().for_each(|one| close(one, false)),
            _ => {}
        }
    }
    let declares = ["properties", "anyOf", "oneOf", "allOf"].iter().any(|name| members.contains_key(*name));
    if is_whole && declares && !members.contains_key("additionalProperties") {
        members.insert("unevaluatedProperties".to_owned(), json!(false));
    }
}

/// The path of the document that matches a request. Literal segments take precedence over parameters.
fn route<'a>(paths: &'a Map<String, Value>, path: &str) -> Option<&'a str> {
    let path = path.split('?').next().unwrap_or_default().trim_end_matches('/');
    let fits = |template: &&String| {
        let (parts, names) = (path.split('/'), template.split('/'));
        parts.clone().count() == names.clone().count()
            && parts.zip(names).all(|(part, name)| part == name || (name.starts_with('{') && !part.is_empty()))
    };
    paths.keys().filter(fits).min_by_key(|template| template.matches('{').count()).map(String::as_str)
}

/// Panics if a JSON response does not conform to the document.
pub(crate) async fn check(method: &str, path: &str, answer: &Answer) {
    if answer.header("content-type") != "application/json" || answer.body.is_empty() {
        return;
    }
    let page = document().await;
    let Some(route) = page["paths"].as_object().and_then(|paths| route(paths, path)) else { return };
    let operation = &page["paths"][route][method.to_ascii_lowercase()];
    // Routes in another protocol have no scope.
    if operation["x-scope"].is_null() && !["/version", "/health/ready", "/health/maintenance"].contains(&route) {
        return;
    }
    let status = answer.status.to_string();
    let responses = &operation["responses"];
    let response = responses.get(&status).or(responses.get("default"));
    let response = response.unwrap_or_else(|| panic!("{method} {route}: status {status} is not described"));
    let response = match response["$ref"].as_str() {
        Some(at) => page.pointer(at.trim_start_matches('#')).unwrap(),
        None => response,
    };
    let validator = validator(&format!("{method} {route} {status}"), response, page);
    let body = answer.json();
    let errors: Vec<String> =
        validator.iter_errors(&body).map(|error| format!("{} at {}", error, error.instance_path())).collect();
    assert!(errors.is_empty(), "{method} {route} {status}: {}\n{body}", errors.join("\n"));
}

fn validator(name: &str, response: &Value, page: &Value) -> Arc<Validator> {
    let mut validators = VALIDATORS.lock().unwrap();
    let validators = validators.get_or_insert_default();
    let made = || {
        let mut schema = response["content"]["application/json"]["schema"].clone();
        close(&mut schema, true);
        if let Some(members) = schema.as_object_mut() {
            members.insert("components".to_owned(), page["components"].clone());
        }
        Arc::new(jsonschema::validator_for(&schema).unwrap())
    };
    validators.entry(name.to_owned()).or_insert_with(made).clone()
}

#[test]
fn undeclared_properties_are_found() {
    let mut schema =
        json!({"type": "object", "properties": {"a": {"type": "array", "items": {"properties": {"b": {}}}}}});
    close(&mut schema, true);
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(validator.is_valid(&json!({"a": [{"b": 1}]})));
    assert!(!validator.is_valid(&json!({"a": [{"c": 1}]})) && !validator.is_valid(&json!({"c": 1})));
}

/// No two schema names differ by a digit only.
#[tokio::test(flavor = "multi_thread")]
async fn names_of_schemas_are_unique_without_digits() {
    let schemas = document().await["components"]["schemas"].as_object().unwrap();
    let numbered: Vec<&String> = schemas
        .keys()
        .filter(|name| schemas.contains_key(name.trim_end_matches(|last: char| last.is_ascii_digit())))
        .filter(|name| name.ends_with(|last: char| last.is_ascii_digit()))
        .collect();
    assert!(numbered.is_empty(), "{numbered:?}");
}

/// The names of a schema's properties, and the lines of their descriptions.
fn told(schema: &Value) -> Vec<&str> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let parts = properties.flat_map(|(name, part)| [name.as_str(), part["description"].as_str().unwrap_or_default()]);
    parts.flat_map(str::lines).map(str::trim).collect()
}

/// The types of the TypeScript client have the properties of each schema as the document has them. The test of the client compares the
/// whole file; this one needs no Node.
#[tokio::test(flavor = "multi_thread")]
async fn the_types_of_the_typescript_client_are_those_of_the_document() {
    let types = include_str!("../../../../clients/typescript/src/api.ts");
    let mut stale = Vec::new();
    for (name, schema) in document().await["components"]["schemas"].as_object().unwrap() {
        let Some(start) = types.find(&format!("\n        {name}: ")) else { continue };
        // Eight spaces stand before the next schema and its description, more before the parts of this one.
        let mut length = 1;
        let ends = |line: &str| {
            line.strip_prefix("        ").is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic()))
        };
        for (number, line) in types[start + 1..].lines().enumerate() {
            if number > 0 && ends(line) {
                break;
            }
            length += line.len() + 1;
        }
        let before =
            types[..start].rfind("\n        /**").filter(|at| !types[*at..start].contains(';')).unwrap_or(start);
        let part = &types[before..(start + length).min(types.len())];
        stale
            .extend(told(schema).into_iter().filter(|text| !part.contains(text)).map(|text| format!("{name}: {text}")));
    }
    assert!(stale.is_empty(), "run `npm run types -- URL` in clients/typescript: {stale:#?}");
}
