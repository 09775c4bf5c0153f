//! The page that describes the API, made of the same rows as the router.

use std::sync::Arc;

use axum::extract::Extension;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::frame::Route;
use super::routes;

/// Paths that are not rows of the table, with what they are.
const BESIDE: [(&str, &str, &str); 6] = [
    ("/health/live", "get", "Alive if it answers at all"),
    ("/health/ready", "get", "Ready if the store answers and turns find room"),
    ("/version", "get", "What this is"),
    ("/metrics", "get", "Every figure, as OpenMetrics"),
    ("/openapi.json", "get", "This page"),
    ("/v1/models", "get", "The upstream's models"),
];
/// Paths of the proxy, whose bodies are the upstream's protocol.
const PROXIED: [(&str, &str); 5] = [
    ("/v1/chat/completions", "A reply with memory (OpenAI)"),
    ("/v1/responses", "A reply with memory (OpenAI)"),
    ("/v1/messages", "A reply with memory (Anthropic)"),
    ("/v1/messages/count_tokens", "Passed on (Anthropic)"),
    ("/v1/embeddings", "Passed on (OpenAI)"),
];

/// The page, as it is served: it is made once.
pub(in super::super) async fn shown_document(Extension(page): Extension<Arc<String>>) -> Response {
    ([(CONTENT_TYPE, "application/json")], page.to_string()).into_response()
}

/// The whole description, OpenAPI 3.1.
pub(in super::super) fn document() -> Value {
    let mut generator = SchemaSettings::draft2020_12()
        .with(|settings| "/components/schemas".clone_into(settings.definitions_path.to_mut()))
        .into_generator();
    let mut paths: Map<String, Value> = Map::new();
    let mut add = |path: &str, method: &str, operation: Value| {
        let methods = paths.entry(path).or_insert_with(|| json!({}));
        if let Some(methods) = methods.as_object_mut() {
            methods.insert(method.to_owned(), operation);
        }
    };
    for route in routes() {
        add(route.path, &route.method.as_str().to_ascii_lowercase(), operation(&route, &mut generator));
    }
    for (path, method, about) in BESIDE {
        add(path, method, json!({"summary": about, "responses": {"200": {"description": about}}}));
    }
    for (path, about) in PROXIED {
        let said = json!({"description": "What the upstream answered"});
        add(path, "post", json!({"summary": about, "responses": {"200": said}}));
    }
    let schemas = generator.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Quipu", "version": env!("CARGO_PKG_VERSION"),
                 "description": "A memory for assistants: truthful, reversible, forgettable."},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": {"error": {"description": "Why it was not done",
                                    "content": {"application/json": {"schema": fault_schema()}}}},
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer", "description": "`qp_<id>_<secret>`"},
                                "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"}},
        },
        "security": [{"key": []}, {"header": []}, {}],
    })
}

fn operation(route: &Route, generator: &mut SchemaGenerator) -> Value {
    let mut parameters: Vec<Value> = route
        .path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}))
        .collect();
    if let Some(query) = route.query {
        parameters.extend(in_query(&query(generator), generator));
    }
    let header = |name: &str, about: &str| json!({"name": name, "in": "header", "description": about, "schema": {"type": "string"}});
    if route.is_keyed {
        parameters.push(header("Idempotency-Key", "The same request with the same key again has no second effect"));
    }
    if route.is_conditional {
        parameters.push(header("If-Match", "The version the memory must have; else 412"));
    }
    let answer = (route.answer)(generator);
    let mut operation = json!({
        "summary": route.about,
        "parameters": parameters,
        "responses": {
            "200": {"description": "Done", "content": {"application/json": {"schema": answer}}},
            "default": {"$ref": "#/components/responses/error"},
        },
        "x-scope": route.scope.word(),
    });
    if let (Some(body), Some(members)) = (route.body, operation.as_object_mut()) {
        let schema = body(generator);
        members.insert("requestBody".to_owned(), json!({"content": {"application/json": {"schema": schema}}}));
    }
    operation
}

/// The fields of a query, one parameter each.
fn in_query(schema: &Schema, generator: &SchemaGenerator) -> Vec<Value> {
    let name = schema.get("$ref").and_then(Value::as_str).and_then(|at| at.rsplit('/').next());
    let whole = name.and_then(|name| generator.definitions().get(name)).unwrap_or(schema.as_value());
    let required: Vec<&str> =
        whole.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let fields = whole.get("properties").and_then(Value::as_object).into_iter().flatten();
    fields
        .map(|(name, schema)| {
            json!({"name": name, "in": "query", "required": required.contains(&name.as_str()), "schema": schema})
        })
        .collect()
}

fn fault_schema() -> Value {
    let text = || json!({"type": "string"});
    let maybe = || json!({"type": ["string", "null"]});
    json!({
        "type": "object",
        "required": ["error", "detail"],
        "properties": {
            "error": {
                "type": "object",
                "required": ["type", "code", "message", "param", "request_id", "retryable"],
                "properties": {"type": text(), "code": text(), "message": text(), "param": maybe(), "request_id": maybe(),
                               "retryable": {"type": "boolean"}},
            },
            "detail": text(),
        },
    })
}
