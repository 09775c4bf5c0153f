//! Memories: items by kind, now or as of a version.

use std::collections::BTreeMap;

use askama::Template;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use quipu_core::id::UserId;
use quipu_engine::log::{LogOptions, log};
use quipu_engine::ports::Scope;
use quipu_engine::versions::When;
use quipu_engine::{FactOptions, FactShown, ListOptions, episodes, facts, list, notes, tasks, tenets};

use super::super::fields::encoded;
use super::super::frame::{Frame, Page, PageContext, PageResult, page};
use super::super::shown;
use crate::http::Fault;

/// Rows on a page.
const ROWS: usize = 40;
/// Topics offered as filters.
const TOPICS_MAX: usize = 14;

pub(super) fn pages() -> Vec<Page> {
    vec![Page::get("/ui/u/{user_id}/memories", Scope::Read, memories)]
}

struct Row {
    id: String,
    text: String,
    kind: String,
    standing: String,
    tone: &'static str,
    holds: bool,
    meta: Vec<String>,
}

/// One option of a filter.
struct Choice {
    name: String,
    to: String,
    number: String,
    is_chosen: bool,
}

#[derive(Template)]
#[template(path = "memories.html")]
struct Memories {
    f: Frame,
    kinds: Vec<Choice>,
    states: Vec<Choice>,
    topics: Vec<Choice>,
    rows: Vec<Row>,
    total: usize,
    from: usize,
    until: usize,
    before: Option<String>,
    next: Option<String>,
    is_facts: bool,
    valid_at: String,
    at: u64,
    known: String,
    kind: String,
}

/// The query of a list, so that a link can change one part of it.
struct ListQuery<'a> {
    base: String,
    kind: &'a str,
    state: &'a str,
    topic: &'a str,
    at: &'a str,
    valid_at: &'a str,
}

impl ListQuery<'_> {
    fn link(&self, change: &[(&str, &str)]) -> String {
        let all = [
            ("kind", self.kind),
            ("state", self.state),
            ("topic", self.topic),
            ("at", self.at),
            ("valid_at", self.valid_at),
        ];
        let changed = |name: &str| change.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let kept = all.into_iter().map(|(name, value)| (name, changed(name).unwrap_or(value)));
        let from = change.iter().copied().filter(|(name, _)| *name == "from");
        let parts = kept.chain(from).filter(|(_, value)| !value.is_empty());
        let query: Vec<String> = parts.map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        format!("{}/memories{}{}", self.base, if query.is_empty() { "" } else { "?" }, query.join("&"))
    }
}

fn of_fact(shown: &FactShown) -> Row {
    let fact = &shown.fact;
    let mut meta = vec![fact.topic.clone().unwrap_or_else(|| fact.domain.clone())];
    match (fact.valid_from, fact.valid_to) {
        (None, None) => meta.extend(fact.last_seen.map(|seen| format!("last said {}", shown::day(seen)))),
        (from, to) => meta.push(format!(
            "{} → {}",
            from.map_or_else(|| "?".to_owned(), shown::day),
            to.map_or_else(|| "now".to_owned(), shown::day)
        )),
    }
    if fact.seen_count > 1 {
        meta.push(format!("said {} times", fact.seen_count));
    }
    meta.push(format!("{:.0} % sure", fact.confidence_base * 100.0));
    let standing = shown::word(&fact.status);
    Row {
        id: fact.id.to_string(),
        text: fact.text.clone(),
        kind: "fact".to_owned(),
        tone: shown::tone(&standing),
        holds: fact.is_active(),
        standing,
        meta,
    }
}

fn topic_of(fact: &FactShown) -> &str {
    fact.fact.topic.as_deref().unwrap_or(&fact.fact.domain)
}

fn row(id: String, text: &str, kind: impl Into<String>, standing: String, meta: Vec<String>) -> Row {
    let tone = shown::tone(&standing);
    Row { id, text: shown::start(text, 280), kind: kind.into(), holds: tone != "bad", tone, standing, meta }
}

/// All rows of a kind other than facts and sources.
fn drawn(desk: &PageContext<'_>, user: &UserId, kind: &str, at: When) -> Result<Vec<Row>, Fault> {
    let (engine, at) = (desk.engine, Some(at));
    Ok(match kind {
        "tasks" => tasks(engine, user, at, true)?
            .into_iter()
            .map(|task| {
                let mut meta = vec![format!("priority {}", task.priority)];
                meta.extend(task.due.map(|due| format!("due {}", shown::day(due))));
                meta.extend((!task.attempts.is_empty()).then(|| shown::many(task.attempts.len(), "attempt")));
                row(task.id.to_string(), &task.title, shown::word(&task.kind), shown::word(&task.status), meta)
            })
            .collect(),
        "notes" => notes(engine, user, at)?
            .into_iter()
            .map(|note| {
                let meta = vec![shown::word(&note.origin), shown::many(note.votes as usize, "vote")];
                row(note.id.to_string(), &note.text, "note", String::new(), meta)
            })
            .collect(),
        "tenets" => tenets(engine, user, at, true)?
            .into_iter()
            .map(|tenet| {
                let meta = vec![shown::word(&tenet.kind)];
                row(tenet.id.to_string(), &tenet.text, "tenet", shown::word(&tenet.status), meta)
            })
            .collect(),
        _ => episodes(engine, user, at)?
            .into_iter()
            .rev()
            .map(|told| {
                let meta = vec![shown::maybe_day(told.start), told.topics.join(", "), shown::word(&told.sentiment)];
                row(told.id.to_string(), &format!("{}: {}", told.title, told.summary), "episode", String::new(), meta)
            })
            .collect(),
    })
}

/// A page of sources, newest first.
fn said(desk: &PageContext<'_>, user: &UserId, at: When, from: usize) -> Result<(Vec<Row>, usize), Fault> {
    let of = |offset, limit| ListOptions { at, session: None, kind: None, offset, limit };
    let total = list(desk.engine, user, &of(0, 0))?.total;
    let until = total.saturating_sub(from);
    let first = until.saturating_sub(ROWS);
    let found = list(desk.engine, user, &of(first, until - first))?;
    let rows = found.items.into_iter().rev().map(|item| {
        let speaker = item.author.clone().unwrap_or_else(|| shown::word(&item.role));
        let meta = [Some(speaker), item.said_at.map(shown::moment), item.session_id.clone()].into_iter().flatten();
        row(item.id.to_string(), &item.text, shown::kind(item.kind), String::new(), meta.collect())
    });
    Ok((rows.collect(), total))
}

fn noon(date: &str) -> Option<Timestamp> {
    let date: Date = date.parse().ok()?;
    date.at(12, 0, 0, 0).to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

/// The facts that match all filters, and the options with the number of facts each leaves.
fn chosen(asked: &ListQuery<'_>, all: &[FactShown]) -> (Vec<Row>, Vec<Choice>, Vec<Choice>) {
    let mut states: BTreeMap<String, usize> = BTreeMap::new();
    let mut topics: BTreeMap<&str, usize> = BTreeMap::new();
    all.iter().for_each(|one| *states.entry(shown::word(&one.fact.status)).or_default() += 1);
    let fits = |one: &&FactShown| asked.state == "any" || shown::word(&one.fact.status) == asked.state;
    all.iter().filter(fits).for_each(|one| *topics.entry(topic_of(one)).or_default() += 1);
    let mut topics: Vec<(&str, usize)> = topics.into_iter().collect();
    topics.sort_by_key(|(name, number)| (std::cmp::Reverse(*number), *name));
    topics.truncate(TOPICS_MAX);
    let choice = |field: &'static str, name: &str, value: &str, number: usize, is_chosen| Choice {
        name: name.to_owned(),
        to: asked.link(&[(field, value)]),
        number: shown::count(number),
        is_chosen,
    };
    let state = |(name, number): (&String, &usize)| choice("state", name, name, *number, asked.state == name);
    let mut of_state: Vec<Choice> = states.iter().map(state).collect();
    of_state.push(choice("state", "any", "any", all.len(), asked.state == "any"));
    let of_topic = topics.iter().map(|(name, number)| {
        let is_chosen = asked.topic == *name;
        choice("topic", name, if is_chosen { "" } else { name }, *number, is_chosen)
    });
    let wanted = |one: &&FactShown| fits(one) && (asked.topic.is_empty() || topic_of(one) == asked.topic);
    (all.iter().filter(wanted).map(of_fact).collect(), of_state, of_topic.collect())
}

fn memories(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    const KINDS: [(&str, &str); 6] = [
        ("facts", "Facts"),
        ("episodes", "Episodes"),
        ("tasks", "Tasks"),
        ("notes", "Notes"),
        ("tenets", "Tenets"),
        ("said", "What was said"),
    ];
    let user = desk.user()?;
    let f = desk.frame_of(&user, "Memories", "memories")?;
    let (at, named) = desk.at()?;
    let wanted = desk.asked.get("kind").unwrap_or("facts");
    let kind = KINDS.iter().map(|(word, _)| *word).find(|word| *word == wanted).unwrap_or("facts");
    let asked = ListQuery {
        base: f.base.clone(),
        kind,
        state: desk.asked.get("state").unwrap_or(if kind == "facts" { "active" } else { "" }),
        topic: desk.asked.get("topic").unwrap_or_default(),
        at: named.unwrap_or_default(),
        valid_at: desk.asked.get("valid_at").unwrap_or_default(),
    };
    let from = desk.number("from", 0, 1_000_000);
    let (mut states, mut topics) = (Vec::new(), Vec::new());
    let (rows, total): (Vec<Row>, usize) = match kind {
        "facts" => {
            let valid_at = noon(asked.valid_at);
            let options = FactOptions { at: Some(at), valid_at, all: valid_at.is_none(), ..FactOptions::default() };
            let all = facts(desk.engine, &user, &options)?;
            let asked =
                ListQuery { state: if valid_at.is_some() { "any" } else { asked.state }, ..asked_again(&asked) };
            let (rows, of_state, of_topic) = chosen(&asked, &all);
            states = if valid_at.is_some() { Vec::new() } else { of_state };
            topics = of_topic;
            let total = rows.len();
            (rows.into_iter().skip(from).take(ROWS).collect(), total)
        }
        "said" => said(desk, &user, at, from)?,
        other => {
            let rows = drawn(desk, &user, other, at)?;
            let total = rows.len();
            (rows.into_iter().skip(from).take(ROWS).collect(), total)
        }
    };
    let seq = match at {
        When::Now => f.version,
        When::Seq(seq) => seq,
        When::Time(_) => 0,
    };
    let known = known_at(desk, &user, at)?;
    let until = from + rows.len();
    let of_kind = |(word, name): &(&str, &str)| Choice {
        name: (*name).to_owned(),
        to: ListQuery { kind: word, state: "", topic: "", valid_at: "", ..asked_again(&asked) }.link(&[]),
        number: String::new(),
        is_chosen: *word == kind,
    };
    page(&Memories {
        kinds: KINDS.iter().map(of_kind).collect(),
        states,
        topics,
        before: (from > 0).then(|| asked.link(&[("from", &from.saturating_sub(ROWS).to_string())])),
        next: (until < total).then(|| asked.link(&[("from", &until.to_string())])),
        rows,
        total,
        from,
        until,
        is_facts: kind == "facts",
        valid_at: asked.valid_at.to_owned(),
        at: seq,
        known,
        kind: kind.to_owned(),
        f,
    })
}

fn asked_again<'a>(asked: &ListQuery<'a>) -> ListQuery<'a> {
    let ListQuery { base, kind, state, topic, at, valid_at } = asked;
    ListQuery { base: base.clone(), kind, state, topic, at, valid_at }
}

/// The time at which a version was the newest; empty for now.
pub(super) fn known_at(desk: &PageContext<'_>, user: &UserId, at: When) -> Result<String, Fault> {
    match at {
        When::Now => Ok(String::new()),
        When::Time(time) => Ok(shown::moment(time)),
        When::Seq(seq) => {
            let options = LogOptions { before: seq.checked_add(1), limit: 1, reference: None };
            let newest = log(desk.engine, user, &options)?.pop();
            Ok(newest.map_or_else(|| "before anything".to_owned(), |entry| shown::moment(entry.recorded_at)))
        }
    }
}
