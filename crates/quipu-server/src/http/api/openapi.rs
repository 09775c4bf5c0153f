//! The OpenAPI document, built from the same table as the router.

use std::sync::Arc;

use axum::extract::Extension;
use axum::http::Method;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use quipu_engine::Announcement;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::super::health::{Readiness, ServerVersion};
use super::frame::Route;
use super::{routes, sent, shape};
use crate::maintenance::MaintenanceStatus;

/// Paths outside the table: path, method and summary.
const BESIDE: [(&str, &str, &str); 7] = [
    ("/health/live", "get", "Liveness"),
    ("/health/ready", "get", "Readiness: the store responds and the queue of turns has room"),
    ("/health/maintenance", "get", "Maintenance: steps done, steps due, and steps to retry"),
    ("/version", "get", "Name and version of the server"),
    ("/metrics", "get", "Metrics in the OpenMetrics format"),
    ("/openapi.json", "get", "This page"),
    ("/v1/models", "get", "The upstream's models"),
];
/// Paths of the proxy, whose bodies follow the upstream's protocol.
const PROXIED: [(&str, &str); 5] = [
    ("/v1/chat/completions", "A reply with memory (OpenAI)"),
    ("/v1/responses", "A reply with memory (OpenAI)"),
    ("/v1/messages", "A reply with memory (Anthropic)"),
    ("/v1/messages/count_tokens", "Passed on (Anthropic)"),
    ("/v1/embeddings", "Passed on (OpenAI)"),
];

/// Every error status of a route, and its meaning.
const REFUSALS: [(&str, &str); 14] = [
    ("400", "The request is malformed or not allowed"),
    ("401", "Missing or invalid key"),
    ("403", "The key does not permit this"),
    ("404", "Unknown user, item or version"),
    ("408", "The body did not arrive in time"),
    ("409", "Repeated conflicts with other writers"),
    ("412", "The memory is at another version"),
    ("413", "The body is too large"),
    ("415", "The body is not JSON, or is encoded"),
    ("422", "The rules of the memory forbid it"),
    ("428", "Confirmation required: `error.preview` lists what would be destroyed, `error.confirm` is the token"),
    ("429", "Too many requests with this key"),
    ("500", "An error of the server or its disk"),
    ("503", "Not now"),
];

/// Valid values of an `Idempotency-Key`.
const ANY_KEY: &str = "^[!-~]{1,1024}$";
const VERSION: &str = r#"^([0-9]{1,18}|"[0-9]{1,18}")$"#;
const POSITION: &str = "^[0-9]{1,18}$";

/// Serves the document, which is built once.
pub(in super::super) async fn shown_document(Extension(page): Extension<Arc<String>>) -> Response {
    ([(CONTENT_TYPE, "application/json")], page.to_string()).into_response()
}

/// Schema generators. Serde's contracts differ between deserialized and serialized types.
struct Schemas {
    /// For queries, whose fields become parameters.
    queries: SchemaGenerator,
    /// For request bodies.
    requests: SchemaGenerator,
    /// For responses.
    answers: SchemaGenerator,
}

impl Schemas {
    fn new() -> Self {
        let settings = || {
            SchemaSettings::draft2020_12()
                .with(|settings| "/components/schemas".clone_into(settings.definitions_path.to_mut()))
        };
        Self {
            queries: settings().with(|settings| settings.inline_subschemas = true).into_generator(),
            requests: settings().into_generator(),
            answers: settings().for_serialize().into_generator(),
        }
    }

    /// All named schemas. A request and a response share a name only if their schemas are equal.
    fn named(mut self) -> Map<String, Value> {
        let mut all = self.requests.take_definitions(true);
        for (name, schema) in self.answers.take_definitions(true) {
            let earlier = all.insert(name.clone(), schema.clone());
            debug_assert!(earlier.is_none_or(|earlier| earlier == schema), "two schemas are called {name}");
        }
        all
    }
}

/// The whole document (OpenAPI 3.1).
pub(in super::super) fn document() -> Value {
    let mut generators = Schemas::new();
    let mut paths: Map<String, Value> = Map::new();
    let mut add = |path: &str, method: &str, operation: Value| {
        let methods = paths.entry(path).or_insert_with(|| json!({}));
        if let Some(methods) = methods.as_object_mut() {
            methods.insert(method.to_owned(), operation);
        }
    };
    for route in routes() {
        add(route.path, &route.method.as_str().to_ascii_lowercase(), operation(&route, &mut generators));
    }
    for (path, method, about) in BESIDE {
        let schema = schema_beside(path, &mut generators.answers);
        let content = schema.map_or_else(|| json!({}), |schema| json!({"schema": schema}));
        let answered = json!({"description": about, "content": {content_type(path): content}});
        // Errors on `/v1/` follow the upstream's protocol.
        let refused = match path.starts_with("/v1/") {
            true => json!({"description": "The upstream's response, or an error of the proxy"}),
            false => json!({"$ref": "#/components/responses/error"}),
        };
        let mut responses = json!({"200": answered, "default": refused});
        if path == "/health/ready" {
            responses["503"] = responses["200"].clone();
        }
        add(path, method, json!({"summary": about, "responses": responses}));
    }
    for (path, about) in PROXIED {
        let said = json!({"description": "The upstream's response, or an error of the proxy"});
        let body = json!({"required": true, "content": {"application/json": {"schema": {"type": "object"}}}});
        add(path, "post", json!({"summary": about, "requestBody": body, "responses": {"default": said}}));
    }
    let told = json!({"description": "A JSON-RPC message, or an empty body"});
    let rpc = json!({"summary": "MCP, for the key's user or the server's", "responses": {"200": told.clone(), "default": told}});
    add("/mcp", "post", rpc);
    let fault = fault_schema(&mut generators.answers);
    let mut schemas = generators.named();
    schemas.insert("Fault".to_owned(), fault);
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Quipu", "version": env!("CARGO_PKG_VERSION"),
                 "description": "A memory for assistants: truthful, reversible, forgettable."},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "headers": {"X-Request-ID": {"description": "Id of the request", "required": true,
                                         "schema": {"type": "string"}}},
            "responses": refusals(),
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer", "description": "`qp_<id>_<secret>`"},
                                "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"}},
        },
        "security": [{"key": []}, {"header": []}, {}],
    })
}

fn operation(route: &Route, generators: &mut Schemas) -> Value {
    let mut parameters: Vec<Value> = route
        .path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": in_path(name, &mut generators.queries)}))
        .collect();
    if let Some(query) = route.query {
        parameters.extend(in_query(&query(&mut generators.queries)));
    }
    let header = |name: &str, about: &str, pattern: &str| {
        let schema = json!({"type": "string", "pattern": pattern});
        json!({"name": name, "in": "header", "description": about, "schema": schema})
    };
    if route.is_keyed {
        parameters.push(header(
            "Idempotency-Key",
            "Repeating a request with the same key has no further effect",
            ANY_KEY,
        ));
    }
    if route.is_conditional {
        parameters.push(header("If-Match", "Required version of the memory; otherwise the answer is 412", VERSION));
    }
    if route.uses_memory() {
        parameters.push(header(
            sent::MIN_VERSION,
            "Version that the memory must have reached, such as the position in a receipt; otherwise the answer is 412",
            POSITION,
        ));
        parameters.push(header(
            sent::MAX_STALENESS,
            "Milliseconds since the store may last have been asked for events of other servers. Defaults to 0: it is asked",
            POSITION,
        ));
    }
    if route.is_live() {
        parameters.push(header(
            "Last-Event-ID",
            "Position of the last event received; the stream resumes after it",
            POSITION,
        ));
    }
    let answer = (route.answer)(&mut generators.answers);
    let mut operation = json!({
        "operationId": operation_id(route),
        "summary": route.about,
        "parameters": parameters,
        "responses": responses(route, &answer),
        "x-scope": route.scope.as_str(),
    });
    if let (Some(body), Some(members)) = (route.body, operation.as_object_mut()) {
        let schema = body(&mut generators.requests);
        // An empty body is read as an empty object.
        let body = whole(&schema, &generators.requests);
        let required = ["required", "anyOf", "oneOf"].into_iter().any(|asks| body.get(asks).is_some());
        let content = json!({"application/json": {"schema": schema}});
        members.insert("requestBody".to_owned(), json!({"required": required, "content": content}));
    }
    operation
}

/// An operation id made of the method and the path: `get_memory_facts`.
fn operation_id(route: &Route) -> String {
    let words = route.path.split('/').filter(|part| !part.is_empty() && !part.starts_with('{'));
    let ends_in_one = route.path.ends_with('}') && route.path != "/memory/{user_id}";
    let words: Vec<&str> =
        std::iter::once(route.method.as_str()).chain(words).chain(ends_in_one.then_some("one")).collect();
    words.join("_").to_ascii_lowercase()
}

/// Responses of a route, by status.
fn responses(route: &Route, answer: &Schema) -> Value {
    let mut content = json!({"application/json": {"schema": answer}});
    if route.is_live() {
        content["text/event-stream"] = json!({"schema": {"type": "string"}});
    }
    for kind in route.kinds {
        content[*kind] = json!({"schema": {"type": "string"}});
    }
    let mut all = Map::new();
    all.insert("200".to_owned(), json!({"description": "Done", "headers": request_id(), "content": content}));
    let writes = route.method != Method::GET;
    for (status, _) in REFUSALS {
        let holds = match status {
            "404" => route.path != "/keys",
            "409" | "422" => writes,
            "412" => route.is_conditional || route.is_announced || route.uses_memory(),
            "428" => route.is_announced,
            _ => true,
        };
        if holds {
            all.insert(status.to_owned(), json!({"$ref": format!("#/components/responses/{status}")}));
        }
    }
    Value::Object(all)
}

/// The error responses, by status, and the general one.
fn refusals() -> Value {
    let content = json!({"application/json": {"schema": {"$ref": "#/components/schemas/Fault"}}});
    let mut all = json!({"error": {"description": "The reason for the error", "content": content}});
    for (status, about) in REFUSALS {
        let mut headers = request_id();
        if ["409", "429", "503"].contains(&status) {
            headers["Retry-After"] = json!({"description": "Seconds", "schema": {"type": "integer"}});
        }
        all[status] = json!({"description": about, "headers": headers, "content": content});
    }
    all
}

fn request_id() -> Value {
    json!({"X-Request-ID": {"$ref": "#/components/headers/X-Request-ID"}})
}

/// The schema of a path parameter.
fn in_path(name: &str, generator: &mut SchemaGenerator) -> Schema {
    match name {
        "user_id" => shape::UserName::json_schema(generator),
        "session_id" => shape::Name::json_schema(generator),
        "pack_id" => shape::PackName::json_schema(generator),
        // Any other text names nothing, which is a 404.
        _ => String::json_schema(generator),
    }
}

/// The schema of a path outside the table, if it returns JSON of this server.
fn schema_beside(path: &str, generator: &mut SchemaGenerator) -> Option<Schema> {
    match path {
        "/health/ready" => Some(generator.subschema_for::<Readiness>()),
        "/health/maintenance" => Some(generator.subschema_for::<MaintenanceStatus>()),
        "/version" => Some(generator.subschema_for::<ServerVersion>()),
        "/openapi.json" => Some(json_schema!({"type": "object", "description": "An OpenAPI 3.1 document."})),
        _ => None,
    }
}

/// The content type of a path outside the table.
fn content_type(path: &str) -> &'static str {
    match path {
        "/health/live" => "text/plain",
        "/metrics" => "application/openmetrics-text",
        _ => "application/json",
    }
}

/// The fields of a query as parameters.
fn in_query(schema: &Schema) -> Vec<Value> {
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let fields = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    fields
        .map(|(name, schema)| {
            let schema = without_null(schema.clone());
            json!({"name": name, "in": "query", "required": required.contains(&name.as_str()), "schema": schema})
        })
        .collect()
}

/// Resolves a schema that is a reference.
fn whole<'a>(schema: &'a Schema, generator: &'a SchemaGenerator) -> &'a Value {
    let name = schema.get("$ref").and_then(Value::as_str).and_then(|at| at.rsplit('/').next());
    name.and_then(|name| generator.definitions().get(name)).unwrap_or(schema.as_value())
}

/// Removes null from a schema: query parameters are omitted instead.
fn without_null(mut schema: Value) -> Value {
    let is_null = |kind: &Value| kind == "null" || kind.get("type").is_some_and(|kind| kind == "null");
    if let Some(kinds) = schema.get_mut("type").filter(|kinds| kinds.is_array()) {
        let bare = kinds.as_array().into_iter().flatten().find(|kind| !is_null(kind)).cloned();
        *kinds = bare.unwrap_or_default();
    }
    if let Some(kinds) = schema.get_mut("anyOf").and_then(Value::as_array_mut) {
        kinds.retain(|kind| !is_null(kind));
    }
    schema
}

fn fault_schema(generator: &mut SchemaGenerator) -> Value {
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
                               "retryable": {"type": "boolean"}, "confirm": text(),
                               "preview": generator.subschema_for::<Announcement>()},
            },
            "detail": text(),
        },
    })
}
