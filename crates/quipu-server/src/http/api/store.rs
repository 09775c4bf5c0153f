//! LangGraph's store: values under a namespace and a key. They are attributed to the agent, and every version stays in
//! the history.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use axum::http::Method;
use quipu_core::guard;
use quipu_core::id::{ItemId, ItemKind, UserId};
use quipu_core::limit;
use quipu_engine::agent_files::{AgentFile, FileChange, arrange, shelf};
use quipu_engine::ports::Scope;
use quipu_engine::{Error, RecallOptions, recall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::fault::Fault;
use super::frame::{Call, Route};
use super::page;

/// Name of this interface in the headers of events.
const INTERFACE: &str = "langgraph";
/// Prefix of the names under which values are stored.
const STORE: &str = "store:";
/// Candidates examined for each result, because a search may cover only one of many namespaces.
const LOOKED_AT: usize = 10;

pub(super) fn routes() -> Vec<Route> {
    let (path, search) = ("/store/items", "Values, those nearest to a question first (LangGraph)");
    vec![
        Route::get(path, "A value, or null (LangGraph)", get),
        Route::of_body(Method::PUT, path, "Stores a value under a namespace and a key (LangGraph)", put),
        Route::of_body(Method::DELETE, path, "Deletes a value (LangGraph)", delete),
        Route::post("/store/items/search", search, searched).needs(Scope::Read),
        Route::post("/store/namespaces", "Namespaces that hold values (LangGraph)", namespaces).needs(Scope::Read),
    ]
}

/// A value with its namespace and key.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StoreItem")]
struct Item {
    namespace: Vec<String>,
    key: String,
    value: Map<String, Value>,
    created_at: Option<String>,
    updated_at: Option<String>,
    /// Score for the query, if the search has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f32>,
}

impl Item {
    fn of(kept: &AgentFile, score: Option<f32>) -> Result<Self, Fault> {
        let broken = || Error::Corrupt(format!("{} holds no value of the store", kept.id));
        let (namespace, key) = place(&kept.name).ok_or_else(broken)?;
        let value = serde_json::from_str(&kept.text).map_err(|_| broken())?;
        let time = |time: Option<jiff::Timestamp>| time.map(|time| time.to_string());
        Ok(Self { namespace, key, value, created_at: time(kept.created_at), updated_at: time(kept.updated_at), score })
    }
}

/// The name under which a value is stored.
fn name(namespace: &[String], key: &str) -> Result<String, Fault> {
    let wrong = |text: &str| Fault::invalid(text.to_owned());
    if namespace.is_empty() || namespace.iter().any(|label| label.is_empty() || label.contains('.')) {
        return Err(
            wrong("a namespace has one or more labels, none of them empty or containing a period").at("namespace")
        );
    }
    if key.is_empty() {
        return Err(wrong("the key is empty").at("key"));
    }
    let text = serde_json::to_string(&(namespace, key)).map_err(|error| Error::Bug(error.to_string()))?;
    if STORE.len() + text.len() > limit::NOTE_BYTES_MAX {
        return Err(wrong("namespace and key are too long").at("key"));
    }
    Ok(format!("{STORE}{text}"))
}

fn place(name: &str) -> Option<(Vec<String>, String)> {
    serde_json::from_str(name.strip_prefix(STORE)?).ok()
}

/// Selects a value.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetQuery {
    /// Labels, separated by periods.
    namespace: Option<String>,
    key: String,
    /// User whose memory it is. Defaults to the user of the key, then of the server.
    user_id: Option<String>,
    /// Ignored: values do not expire.
    #[expect(dead_code, reason = "clients send it; there is nothing to do for it")]
    refresh_ttl: Option<bool>,
}

fn get(call: &Call<'_>, asked: GetQuery) -> Result<Option<Item>, Fault> {
    let user = call.own_user(asked.user_id.as_deref())?;
    let labels: Vec<String> = asked.namespace.iter().flat_map(|all| all.split('.')).map(str::to_owned).collect();
    let name = name(&labels, &asked.key)?;
    shelf(call.engine, &user, &name)?.get(&name).map(|kept| Item::of(kept, None)).transpose()
}

/// A value to store.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "StorePutRequest")]
struct Put {
    namespace: Vec<String>,
    key: String,
    value: Map<String, Value>,
    /// Ignored: every text of a value is indexed.
    index: Option<Value>,
    /// Refused: values do not expire.
    ttl: Option<f64>,
    /// User whose memory it is. Defaults to the user of the key, then of the server.
    user_id: Option<String>,
}

/// Result of a change.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StoreReceipt")]
struct StoreChanged {
    /// Fields of the request that have no effect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ignored: Vec<&'static str>,
}

fn put(call: &Call<'_>, asked: Put) -> Result<StoreChanged, Fault> {
    let user = call.own_user(asked.user_id.as_deref())?;
    if asked.ttl.is_some() {
        return Err(Fault::invalid("values do not expire: omit ttl").at("ttl"));
    }
    let name = name(&asked.namespace, &asked.key)?;
    let mut value = Value::Object(asked.value);
    scrub(&mut value);
    let text = value.to_string();
    // A secret may be recognizable only beside its name, where redaction would leave no value.
    let clean = guard::redact(&text).text;
    if serde_json::from_str::<Value>(&clean).is_err() {
        let why = "the value contains what looks like a secret; secrets are not stored, so leave it out";
        return Err(Fault::from(Error::Refused(why.to_owned())).at("value"));
    }
    let topic = asked.namespace.join("/");
    let topic = (topic.len() <= limit::NAME_BYTES_MAX).then_some(topic);
    let step = FileChange::Put { name: name.clone(), text, topic };
    arrange(call.engine, &user, &name, &call.entry(INTERFACE), &mut |_| Ok(vec![step.clone()]))?;
    let unsearched = asked.index == Some(Value::Bool(false));
    Ok(StoreChanged { ignored: if unsearched { vec!["index"] } else { Vec::new() } })
}

/// Redacts secrets in every text of a value.
fn scrub(value: &mut Value) {
    match value {
        Value::String(text) => {
            let redacted = guard::redact(text);
            if !redacted.found.is_empty() {
                *text = redacted.text.into_owned();
            }
        }
        Value::Array(list) => list.iter_mut().for_each(scrub),
        Value::Object(members) => members.values_mut().for_each(scrub),
        _ => {}
    }
}

/// A value to delete.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "StoreDeleteRequest")]
struct Delete {
    namespace: Vec<String>,
    key: String,
    /// User whose memory it is. Defaults to the user of the key, then of the server.
    user_id: Option<String>,
}

fn delete(call: &Call<'_>, asked: Delete) -> Result<StoreChanged, Fault> {
    let user = call.own_user(asked.user_id.as_deref())?;
    let name = name(&asked.namespace, &asked.key)?;
    arrange(call.engine, &user, &name, &call.entry(INTERFACE), &mut |_| Ok(vec![FileChange::Take(name.clone())]))?;
    Ok(StoreChanged { ignored: Vec::new() })
}

/// A search for values.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "StoreSearchRequest")]
struct Search {
    #[serde(default)]
    namespace_prefix: Vec<String>,
    /// Conditions on members of the value: `{"kind": "a", "stars": {"$gte": 3}}`.
    filter: Option<Map<String, Value>>,
    limit: Option<usize>,
    #[serde(default)]
    offset: usize,
    query: Option<String>,
    /// User whose memory it is. Defaults to the user of the key, then of the server.
    user_id: Option<String>,
    /// Ignored: values do not expire.
    #[expect(dead_code, reason = "clients send it; there is nothing to do for it")]
    refresh_ttl: Option<bool>,
}

/// Values found.
#[derive(Serialize, JsonSchema)]
struct StoreSearchResult {
    items: Vec<Item>,
}

fn searched(call: &Call<'_>, asked: Search) -> Result<StoreSearchResult, Fault> {
    let user = call.own_user(asked.user_id.as_deref())?;
    let limit = page::limit(asked.limit.or(Some(10)))?;
    let filter = asked.filter.unwrap_or_default();
    let kept = shelf(call.engine, &user, STORE)?;
    let end = limit.saturating_add(asked.offset);
    let mut order: Vec<(Option<f32>, &AgentFile)> =
        match asked.query.as_deref().map(str::trim).filter(|query| !query.is_empty()) {
            None => kept.values().map(|one| (None, one)).collect(),
            Some(query) => {
                let by_id: BTreeMap<ItemId, &AgentFile> = kept.values().map(|one| (one.id, one)).collect();
                let scored = nearest(call, &user, query, end)?.into_iter();
                scored.filter_map(|(id, score)| Some((Some(score), *by_id.get(&id)?))).collect()
            }
        };
    if asked.query.is_none() {
        order.sort_by(|(_, one), (_, other)| (other.updated_at, &one.name).cmp(&(one.updated_at, &other.name)));
    }
    let mut items = Vec::new();
    for (score, one) in order {
        let item = Item::of(one, score)?;
        if item.namespace.starts_with(&asked.namespace_prefix) && admits(&filter, &item.value)? {
            items.push(item);
        }
    }
    Ok(StoreSearchResult { items: items.into_iter().skip(asked.offset).take(limit).collect() })
}

/// Entries nearest to a query, best first.
fn nearest(call: &Call<'_>, user: &UserId, query: &str, wanted: usize) -> Result<Vec<(ItemId, f32)>, Fault> {
    let k = wanted.saturating_mul(LOOKED_AT).clamp(100, limit::RECALL_K_MAX);
    let options = RecallOptions { k, kinds: vec![ItemKind::Entry], ..RecallOptions::of(query) };
    match recall(call.engine, user, &options) {
        Ok(report) => Ok(report.hits.into_iter().map(|hit| (hit.id, hit.score)).collect()),
        Err(Error::NotFound(_)) => Ok(Vec::new()),
        Err(other) => Err(other.into()),
    }
}

fn admits(filter: &Map<String, Value>, value: &Map<String, Value>) -> Result<bool, Fault> {
    for (field, wanted) in filter {
        let is = value.get(field).unwrap_or(&Value::Null);
        let holds = match wanted.as_object().filter(|all| !all.is_empty() && all.keys().all(|key| key.starts_with('$')))
        {
            None => is == wanted,
            Some(operators) => operators
                .iter()
                .try_fold(true, |all, (operator, wanted)| Ok::<bool, Fault>(all && holds(is, operator, wanted)?))?,
        };
        if !holds {
            return Ok(false);
        }
    }
    Ok(true)
}

fn holds(is: &Value, operator: &str, wanted: &Value) -> Result<bool, Fault> {
    let order = || match (is, wanted) {
        (Value::Number(is), Value::Number(wanted)) => is.as_f64()?.partial_cmp(&wanted.as_f64()?),
        (Value::String(is), Value::String(wanted)) => Some(is.cmp(wanted)),
        _ => None,
    };
    Ok(match operator {
        "$eq" => is == wanted,
        "$ne" => is != wanted,
        "$gt" => order() == Some(Ordering::Greater),
        "$gte" => order().is_some_and(Ordering::is_ge),
        "$lt" => order() == Some(Ordering::Less),
        "$lte" => order().is_some_and(Ordering::is_le),
        other => return Err(Fault::invalid(format!("there is no operator {other:?}")).at("filter")),
    })
}

/// Selects namespaces.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "StoreNamespacesRequest")]
struct Namespaces {
    /// First labels; `*` matches any label.
    prefix: Option<Vec<String>>,
    /// Last labels; `*` matches any label.
    suffix: Option<Vec<String>>,
    /// Longer namespaces are cut to this number of labels.
    max_depth: Option<usize>,
    limit: Option<usize>,
    #[serde(default)]
    offset: usize,
    /// User whose memory it is. Defaults to the user of the key, then of the server.
    user_id: Option<String>,
}

/// Namespaces in ascending order.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StoreNamespaces")]
struct Listed {
    namespaces: Vec<Vec<String>>,
}

fn namespaces(call: &Call<'_>, asked: Namespaces) -> Result<Listed, Fault> {
    let user = call.own_user(asked.user_id.as_deref())?;
    let limit = page::limit(asked.limit.or(Some(100)))?;
    let alike = |labels: &[String], pattern: &[String]| {
        labels.len() == pattern.len() && labels.iter().zip(pattern).all(|(is, wanted)| wanted == "*" || is == wanted)
    };
    let begins = |labels: &[String]| match &asked.prefix {
        Some(prefix) => labels.get(..prefix.len()).is_some_and(|start| alike(start, prefix)),
        None => true,
    };
    let ends = |labels: &[String]| match &asked.suffix {
        Some(suffix) => labels.len().checked_sub(suffix.len()).is_some_and(|from| alike(&labels[from..], suffix)),
        None => true,
    };
    let kept = shelf(call.engine, &user, STORE)?;
    let mut found: BTreeSet<Vec<String>> = BTreeSet::new();
    for (mut labels, _) in kept.keys().filter_map(|name| place(name)) {
        if begins(&labels) && ends(&labels) {
            labels.truncate(asked.max_depth.unwrap_or(usize::MAX));
            found.insert(labels);
        }
    }
    Ok(Listed { namespaces: found.into_iter().skip(asked.offset).take(limit).collect() })
}
