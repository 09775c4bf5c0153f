//! Searching and listing memories.

use axum::http::Method;
use quipu_core::calendar::read as time;
use quipu_core::id::{ItemKind, UserId};
use quipu_core::limit;
use quipu_engine::memories::{MemoryView, memories, told_of};
use quipu_engine::ports::Scope;
use quipu_engine::{Error, RecallOptions, recall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::super::super::fault::Fault;
use super::super::frame::{Call, Route};
use super::filter::Filter;
use super::record::{Mem0Memory, Record, ignored, is_expired, only, record};
use super::whose::{Ids, nobody};

/// Kinds returned. Episodes are left out, because they repeat their turns.
const KINDS: [ItemKind; 7] = [
    ItemKind::Turn,
    ItemKind::Entry,
    ItemKind::Document,
    ItemKind::Fact,
    ItemKind::Task,
    ItemKind::Note,
    ItemKind::Tenet,
];
/// Maximum number of users in one request.
const USERS_MAX: usize = 16;
const TOP_K: usize = 10;
const PAGE: usize = 100;
const PAGE_MAX: usize = 1000;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/v3/memories/search", "Searches memories (mem0)", search).needs(Scope::Read),
        Route::of_both(Method::POST, "/v3/memories", "Memories, the newest first (mem0)", list).needs(Scope::Read),
    ]
}

/// A search.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Mem0SearchRequest")]
struct Search {
    #[schemars(length(min = 1))]
    query: String,
    /// Entities and conditions: `{"user_id": "ines"}`, `{"AND": […]}`.
    filters: Option<Value>,
    #[serde(flatten)]
    ids: Ids,
    #[serde(alias = "limit")]
    #[schemars(range(min = 1, max = limit::RECALL_K_MAX))]
    top_k: Option<usize>,
    /// Minimum score. Without it the best memories are returned whatever their score.
    threshold: Option<f32>,
    categories: Option<Vec<String>>,
    fields: Option<Vec<String>>,
    /// Reference time for relative dates: a date, or seconds since 1970.
    reference_date: Option<Value>,
    /// Include memories whose expiration date has passed.
    show_expired: Option<bool>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// Memories found, best first.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0SearchResult")]
struct SearchResults {
    #[schemars(with = "Vec<Mem0Memory>")]
    results: Vec<Record>,
    /// Fields of the request that have no effect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ignored: Vec<String>,
}

/// The users whose memories are searched.
fn users(call: &Call<'_>, ids: &Ids, filter: &Filter) -> Result<Vec<UserId>, Fault> {
    let mut all = if *ids == Ids::default() { filter.entities() } else { vec![ids.clone()] };
    if all.is_empty() && call.bound().is_some() {
        all.push(Ids::default());
    }
    match all.len() {
        0 => Err(nobody().at("filters")),
        many if many > USERS_MAX => Err(Fault::invalid(format!("at most {USERS_MAX} users at once")).at("filters")),
        _ => all.iter().map(|ids| ids.user(call)).collect(),
    }
}

/// Conditions of a request besides its filter.
struct SearchConditions<'a> {
    filter: &'a Filter,
    ids: &'a Ids,
    categories: Option<&'a [String]>,
    show_expired: bool,
}

impl SearchConditions<'_> {
    fn admits(&self, call: &Call<'_>, told: &MemoryView, record: &Record) -> bool {
        let named = [("agent_id", &self.ids.agent_id), ("app_id", &self.ids.app_id), ("run_id", &self.ids.run_id)];
        let is =
            |(field, wanted): (&str, &Option<String>)| wanted.as_ref().is_none_or(|wanted| record[field] == *wanted);
        let has = |category: &String| record["categories"].as_array().is_some_and(|all| all.contains(&json!(category)));
        (self.show_expired || !is_expired(told, call.app.clock.now()))
            && self.filter.admits(record)
            && named.into_iter().all(is)
            && self.categories.is_none_or(|wanted| wanted.iter().any(has))
    }

    fn is_open(&self) -> bool {
        self.filter.is_open() && self.categories.is_none()
    }
}

fn search(call: &Call<'_>, asked: Search) -> Result<SearchResults, Fault> {
    let filter = Filter::read(asked.filters.as_ref())?;
    let users = users(call, &asked.ids, &filter)?;
    let wanted = SearchConditions {
        filter: &filter,
        ids: &asked.ids,
        categories: asked.categories.as_deref(),
        show_expired: asked.show_expired.unwrap_or(false),
    };
    let top_k = asked.top_k.unwrap_or(TOP_K);
    if !(1..=limit::RECALL_K_MAX).contains(&top_k) {
        return Err(Fault::invalid(format!("top_k must be from 1 to {}", limit::RECALL_K_MAX)).at("top_k"));
    }
    let now = match &asked.reference_date {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(time(text)),
        Some(other) => Some(other.as_i64().and_then(|seconds| jiff::Timestamp::from_second(seconds).ok())),
    };
    let wrong = || Fault::invalid("reference_date is a date or seconds since 1970").at("reference_date");
    let now = now.map(|now| now.ok_or_else(wrong)).transpose()?;
    // A message and the facts read in it count as one memory, and a filter may exclude many results.
    let k = if wanted.is_open() { 3 * top_k } else { 10 * top_k.max(100) };
    let mut found: Vec<(f32, Record)> = Vec::new();
    for user in &users {
        let options = RecallOptions {
            k: k.min(limit::RECALL_K_MAX),
            kinds: KINDS.to_vec(),
            now,
            ..RecallOptions::of(&asked.query)
        };
        let report = match recall(call.engine, user, &options) {
            Ok(report) => report,
            Err(Error::NotFound(_)) => continue,
            Err(other) => return Err(other.into()),
        };
        let ids: Vec<_> = report.hits.iter().map(|hit| hit.id).collect();
        for (hit, told) in report.hits.iter().zip(told_of(call.engine, user, &ids)?) {
            let Some(told) = told else { continue };
            let mut record = record(user, &told);
            if !wanted.admits(call, &told, &record) || asked.threshold.is_some_and(|least| hit.score < least) {
                continue;
            }
            record.insert("score".to_owned(), json!(hit.score));
            record.insert("score_breakdown".to_owned(), json!(hit.contributions));
            record.insert("confidence".to_owned(), json!(hit.confidence));
            found.push((hit.score, record));
        }
    }
    if users.len() > 1 {
        found.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    }
    let results = found.into_iter().take(top_k).map(|(_, record)| only(record, asked.fields.as_deref()));
    Ok(SearchResults { results: results.collect(), ignored: ignored(&asked.rest) })
}

/// Page number, from 1.
#[derive(Deserialize, JsonSchema)]
struct PageQuery {
    page: Option<usize>,
    page_size: Option<usize>,
}

/// Selects memories.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Mem0ListRequest")]
struct List {
    filters: Option<Value>,
    #[serde(flatten)]
    ids: Ids,
    page: Option<usize>,
    page_size: Option<usize>,
    /// Earliest day or time.
    start_date: Option<String>,
    /// Latest day or time.
    end_date: Option<String>,
    categories: Option<Vec<String>>,
    fields: Option<Vec<String>>,
    /// Include memories whose expiration date has passed.
    show_expired: Option<bool>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// A page of memories.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0MemoryPage")]
struct Listed {
    count: usize,
    next: Option<String>,
    previous: Option<String>,
    #[schemars(with = "Vec<Mem0Memory>")]
    results: Vec<Record>,
    /// Fields of the request that have no effect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ignored: Vec<String>,
}

fn list(call: &Call<'_>, query: PageQuery, asked: List) -> Result<Listed, Fault> {
    let filter = Filter::read(asked.filters.as_ref())?;
    let (page, size) = (query.page.or(asked.page).unwrap_or(1), query.page_size.or(asked.page_size).unwrap_or(PAGE));
    if page < 1 || !(1..=PAGE_MAX).contains(&size) {
        return Err(Fault::invalid(format!("pages count from 1 and have 1 to {PAGE_MAX} memories")).at("page"));
    }
    let mut bounds = Vec::new();
    for (operator, date, name) in [("gte", &asked.start_date, "start_date"), ("lte", &asked.end_date, "end_date")] {
        let Some(date) = date else { continue };
        if time(date).is_none() {
            return Err(Fault::invalid("not a date or time").at(name));
        }
        bounds.push(Filter::read(Some(&json!({"created_at": {operator: date}})))?);
    }
    let dated = Filter::All(bounds);
    let wanted = SearchConditions {
        filter: &filter,
        ids: &asked.ids,
        categories: asked.categories.as_deref(),
        show_expired: asked.show_expired.unwrap_or(false),
    };
    let mut all: Vec<Record> = Vec::new();
    for user in users(call, &asked.ids, &filter)? {
        for told in memories(call.engine, &user)?.into_iter().rev() {
            let record = record(&user, &told);
            if wanted.admits(call, &told, &record) && dated.admits(&record) {
                all.push(record);
            }
        }
    }
    let (count, from) = (all.len(), (page - 1).saturating_mul(size));
    let link = |page: usize| format!("/v3/memories/?page={page}&page_size={size}");
    let results = all.into_iter().skip(from).take(size).map(|record| only(record, asked.fields.as_deref()));
    Ok(Listed {
        count,
        next: (from.saturating_add(size) < count).then(|| link(page + 1)),
        previous: (page > 1).then(|| link(page - 1)),
        results: results.collect(),
        ignored: ignored(&asked.rest),
    })
}
