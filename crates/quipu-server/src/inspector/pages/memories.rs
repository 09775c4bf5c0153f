//! Memories: items by kind, now or as of a version.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use askama::Template;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use quipu_core::id::{ItemId, Seq, UserId};
use quipu_engine::log::{LogOptions, log};
use quipu_engine::ports::Scope;
use quipu_engine::versions::When;
use quipu_engine::{FactOptions, FactShown, ListOptions, episodes, facts, list, notes, tasks, tenets};

use super::super::fields::{Fields, encoded};
use super::super::frame::{Frame, Page, PageContext, PageResult, page};
use super::super::shown;
use crate::http::Fault;

/// Rows on a page.
pub(super) const ROWS: usize = 40;
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
    /// When it was first said, as far as is known.
    at: Option<Timestamp>,
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
    state: String,
    topic: String,
    find: String,
    sort: String,
    orders: [(&'static str, &'static str); 4],
    /// True if a filter is set that is hidden at first.
    is_narrowed: bool,
    about: &'static str,
    done: Option<BulkDone>,
}

/// What was done with several memories.
struct BulkDone {
    word: &'static str,
    number: usize,
    events: String,
}

/// The word for what was done with several memories. `None` for what cannot be done.
pub(super) fn bulk_word(word: &str) -> Option<&'static str> {
    match word {
        "pin" => Some("pinned"),
        "unpin" => Some("unpinned"),
        "retract" => Some("retracted"),
        _ => None,
    }
}

fn bulk_done(desk: &PageContext<'_>) -> Option<BulkDone> {
    let word = bulk_word(desk.asked.get("did")?)?;
    let events: Vec<Seq> = desk.asked.get("events")?.split(',').filter_map(|seq| seq.parse().ok()).collect();
    let list: Vec<String> = events.iter().map(ToString::to_string).collect();
    Some(BulkDone { word, number: events.len(), events: list.join(",") })
}

/// What a kind of item is, for a list without any.
fn about(kind: &str) -> &'static str {
    match kind {
        "facts" => {
            "Facts are statements about you and the people around you, read out of what is said: where you live, what you like, what you plan."
        }
        "episodes" => {
            "An episode sums up what was talked about in a session. It appears once the session has been quiet for a while."
        }
        "tasks" => "Tasks, goals and problems are read out of what is said, with what was tried.",
        "notes" => {
            "A note is a lesson: what helped with a problem and what did not. Notes are taken from several attempts, by `quipu reflect` or in a quiet moment."
        }
        "tenets" => {
            "A tenet is a value, preference, policy or goal you live by. Tenets are proposed from what you say and do, and hold only once you confirm them under Review."
        }
        _ => "Every message is kept word for word, and everything else is read out of it.",
    }
}

/// The query of a list, so that a link can change one part of it.
pub(super) struct ListQuery<'a> {
    base: String,
    kind: &'a str,
    state: &'a str,
    topic: &'a str,
    at: &'a str,
    valid_at: &'a str,
    find: &'a str,
    sort: &'a str,
}

/// The kinds of items with a list, and their names.
const KINDS: [(&str, &str); 6] = [
    ("facts", "Facts"),
    ("episodes", "Episodes"),
    ("tasks", "Tasks"),
    ("notes", "Notes"),
    ("tenets", "Tenets"),
    ("said", "What was said"),
];

/// The orders of a list, and their names. Without one, facts are by importance.
const ORDERS: [(&str, &str); 4] =
    [("", "usual order"), ("newest", "newest first"), ("oldest", "oldest first"), ("text", "by their words")];

impl<'a> ListQuery<'a> {
    /// The query in the fields of an address or of a form; `at` is the version, as the request named it.
    pub(super) fn of(fields: &'a Fields, base: String, at: &'a str) -> Self {
        let kind = fields.get("kind").unwrap_or("facts");
        let kind = KINDS.iter().map(|(word, _)| *word).find(|word| *word == kind).unwrap_or("facts");
        Self {
            base,
            kind,
            state: fields.get("state").unwrap_or(if kind == "facts" { "active" } else { "" }),
            topic: fields.get("topic").unwrap_or_default(),
            at,
            valid_at: fields.get("valid_at").unwrap_or_default(),
            find: fields.get("find").unwrap_or_default(),
            sort: fields.get("sort").unwrap_or_default(),
        }
    }

    /// True if a text has the words that are looked for, in any letter case.
    fn finds(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        self.find.to_lowercase().split_whitespace().all(|word| text.contains(word))
    }

    /// The rows that are looked for, in their order: a page of them, and how many there are.
    fn page(&self, mut rows: Vec<Row>, from: usize) -> (Vec<Row>, usize) {
        rows.retain(|row| self.finds(&row.text));
        match self.sort {
            "newest" => rows.sort_by_key(|row| (row.at.is_none(), Reverse(row.at))),
            "oldest" => rows.sort_by_key(|row| (row.at.is_none(), row.at)),
            "text" => rows.sort_by_cached_key(|row| row.text.to_lowercase()),
            _ => {}
        }
        let total = rows.len();
        (rows.into_iter().skip(from).take(ROWS).collect(), total)
    }

    pub(super) fn link(&self, change: &[(&str, &str)]) -> String {
        let all = [
            ("kind", self.kind),
            ("state", self.state),
            ("topic", self.topic),
            ("at", self.at),
            ("valid_at", self.valid_at),
            ("find", self.find),
            ("sort", self.sort),
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
        at: fact.first_seen,
        standing,
        meta,
    }
}

fn topic_of(fact: &FactShown) -> &str {
    fact.fact.topic.as_deref().unwrap_or(&fact.fact.domain)
}

fn row(id: ItemId, text: &str, kind: impl Into<String>, standing: String, at: Option<Timestamp>) -> Row {
    let (id, tone) = (id.to_string(), shown::tone(&standing));
    let holds = tone != "bad";
    Row { id, text: text.to_owned(), kind: kind.into(), holds, tone, standing, at, meta: Vec::new() }
}

/// The rows with the beginnings of their texts, once they were searched.
fn shortened((rows, total): (Vec<Row>, usize)) -> (Vec<Row>, usize) {
    (rows.into_iter().map(|row| Row { text: shown::start(&row.text, 280), ..row }).collect(), total)
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
                let status = shown::word(&task.status);
                let row = row(task.id, &task.title, shown::word(&task.kind), status, task.created_at);
                Row { meta, ..row }
            })
            .collect(),
        "notes" => notes(engine, user, at)?
            .into_iter()
            .map(|note| {
                let meta = vec![shown::word(&note.origin), shown::many(note.votes, "vote")];
                Row { meta, ..row(note.id, &note.text, "note", String::new(), None) }
            })
            .collect(),
        "tenets" => tenets(engine, user, at, true)?
            .into_iter()
            .map(|tenet| {
                let meta = vec![shown::word(&tenet.kind)];
                Row { meta, ..row(tenet.id, &tenet.text, "tenet", shown::word(&tenet.status), None) }
            })
            .collect(),
        _ => episodes(engine, user, at)?
            .into_iter()
            .rev()
            .map(|told| {
                let meta = vec![shown::maybe_day(told.start), told.topics.join(", "), shown::word(&told.sentiment)];
                let text = format!("{}: {}", told.title, told.summary);
                Row { meta, ..row(told.id, &text, "episode", String::new(), told.start) }
            })
            .collect(),
    })
}

/// Sources, newest first, and how many there are.
fn said(desk: &PageContext<'_>, user: &UserId, at: When, rows: Range<usize>) -> Result<(Vec<Row>, usize), Fault> {
    let of = |offset, limit| ListOptions { at, session: None, kind: None, offset, limit };
    let total = list(desk.engine, user, &of(0, 0))?.total;
    let (first, until) = (total.saturating_sub(rows.end), total.saturating_sub(rows.start));
    let found = list(desk.engine, user, &of(first, until - first))?;
    let rows = found.items.into_iter().rev().map(|item| {
        let speaker = item.author.clone().unwrap_or_else(|| shown::word(&item.role));
        let meta = [Some(speaker), item.said_at.map(shown::moment), item.session_id.clone()].into_iter().flatten();
        let meta = meta.collect();
        Row { meta, ..row(item.id, &item.text, shown::kind(item.kind), String::new(), item.said_at) }
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
    topics.sort_by_key(|(name, number)| (Reverse(*number), *name));
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
    let user = desk.user()?;
    let f = desk.frame_of(&user, "Memories", "memories")?;
    let (at, named) = desk.at()?;
    let asked = ListQuery::of(&desk.asked, f.base.clone(), named.unwrap_or_default());
    let kind = asked.kind;
    let from = desk.number("from", 0, 1_000_000);
    let (mut states, mut topics) = (Vec::new(), Vec::new());
    let (rows, total): (Vec<Row>, usize) = match kind {
        "facts" => {
            let valid_at = noon(asked.valid_at);
            let options = FactOptions { at: Some(at), valid_at, all: valid_at.is_none(), ..FactOptions::default() };
            let mut all = facts(desk.engine, &user, &options)?;
            all.retain(|one| asked.finds(&one.fact.text));
            let asked =
                ListQuery { state: if valid_at.is_some() { "any" } else { asked.state }, ..asked_again(&asked) };
            let (rows, of_state, of_topic) = chosen(&asked, &all);
            states = if valid_at.is_some() { Vec::new() } else { of_state };
            topics = of_topic;
            asked.page(rows, from)
        }
        "said" if asked.find.is_empty() && asked.sort.is_empty() => {
            shortened(said(desk, &user, at, from..from + ROWS)?)
        }
        "said" => shortened(asked.page(said(desk, &user, at, 0..usize::MAX)?.0, from)),
        other => shortened(asked.page(drawn(desk, &user, other, at)?, from)),
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
        state: asked.state.to_owned(),
        topic: asked.topic.to_owned(),
        find: asked.find.to_owned(),
        sort: asked.sort.to_owned(),
        orders: ORDERS,
        is_narrowed: named.is_some() || !asked.valid_at.is_empty() || !asked.topic.is_empty(),
        about: about(kind),
        done: bulk_done(desk),
        f,
    })
}

fn asked_again<'a>(asked: &ListQuery<'a>) -> ListQuery<'a> {
    let ListQuery { base, kind, state, topic, at, valid_at, find, sort } = asked;
    ListQuery { base: base.clone(), kind, state, topic, at, valid_at, find, sort }
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
