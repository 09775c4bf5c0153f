//! An item: its text, evidence, validity and history, and the actions on it.

use askama::Template;
use jiff::Timestamp;
use quipu_core::calendar::TimeExpression;
use quipu_core::event::SourceKind;
use quipu_core::id::{ItemId, ItemKind, UserId};
use quipu_core::item::{Fact, FactStatus, Task};
use quipu_core::items::figure;
use quipu_core::items::times;
use quipu_engine::ports::Scope;
use quipu_engine::ready_made::FactIn;
use quipu_engine::versions::When;
use quipu_engine::{
    FactOptions, ItemView, WriteRequest, close_fact, correct_fact, facts, get, history, look, mark, retract,
    score_fact, tasks, why, write,
};
use serde_json::Value;

use super::super::frame::{Frame, Page, PageContext, PageResult, base, page, parsed};
use super::super::plot::{self, Lane, Reading};
use super::super::shown;
use super::tasks::{SettleButton, is_open, settle_button};
use super::timeline::{TimelineLine, line};
use crate::http::Fault;

pub(super) fn pages() -> Vec<Page> {
    vec![
        Page::get("/ui/u/{user_id}/items/{item_id}", Scope::Read, item),
        Page::post("/ui/u/{user_id}/items/{item_id}/mark", Scope::Write, marked),
        Page::post("/ui/u/{user_id}/items/{item_id}/edit", Scope::Write, edited),
        Page::post("/ui/u/{user_id}/items/{item_id}/retract", Scope::Write, retracted),
    ]
}

/// A quotation with its context.
pub(super) struct Quoted {
    pub(super) id: String,
    pub(super) text: String,
    /// The text before and after it in the same source.
    pub(super) before: String,
    pub(super) after: String,
    pub(super) by: String,
}

struct Field {
    name: &'static str,
    value: String,
    to: String,
}

#[derive(Template)]
#[template(path = "item.html")]
struct ItemPage {
    f: Frame,
    id: String,
    kind: &'static str,
    text: String,
    is_long: bool,
    standing: String,
    tone: &'static str,
    pinned: bool,
    rating: i8,
    shown_often: String,
    quotes: Vec<Quoted>,
    fields: Vec<Field>,
    lanes: Option<String>,
    events: Vec<TimelineLine>,
    json: String,
    /// The value, if the item is a fact that can be edited.
    object: Option<String>,
    score: Option<u8>,
    can_retract: bool,
    /// For a task.
    settle: Option<SettleButton>,
    is_source: bool,
    neighbours: Vec<(&'static str, Quoted)>,
    known: String,
}

/// Finds a quotation in its source, with some context.
pub(super) fn quoted(desk: &PageContext<'_>, user: &UserId, id: ItemId, words: &str) -> Quoted {
    const AROUND: usize = 120;
    let source = get(desk.engine, user, &id.to_string(), When::Now).ok();
    let (before, after) = source
        .as_ref()
        .and_then(|source| source.text.split_once(words))
        .map(|(before, after)| {
            let skipped = before.chars().count().saturating_sub(AROUND);
            let start: String = before.chars().skip(skipped).collect();
            (format!("{}{start}", if skipped > 0 { "…" } else { "" }), shown::start_exact(after, AROUND))
        })
        .unwrap_or_default();
    let by = source.map(|source| {
        let speaker = source.author.clone().unwrap_or_else(|| shown::word(&source.role));
        let when = source.said_at.map(shown::moment).unwrap_or_default();
        [speaker, when, source.session_id.unwrap_or_default()]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(" · ")
    });
    Quoted { id: id.to_string(), text: words.to_owned(), before, after, by: by.unwrap_or_default() }
}

fn field(name: &'static str, value: impl Into<String>) -> Field {
    Field { name, value: value.into(), to: String::new() }
}

fn fields_of_fact(fact: &Fact, base: &str) -> Vec<Field> {
    let mut fields = vec![
        field("Relation", format!("{} · {} · {}", fact.subject, fact.predicate, fact.object)),
        field("Kind", format!("{}, {}", shown::word(&fact.fact_type), shown::word(&fact.time_span))),
        field("Sure", format!("{:.0} %", fact.confidence_base * 100.0)),
        field("Source", format!("{} ({})", shown::source(fact.source), shown::trust(fact.trust))),
        field("Said", format!("{}, last {}", times(fact.seen_count), shown::maybe_day(fact.last_seen))),
        field(
            "Field",
            [Some(fact.domain.clone()), fact.topic.clone()].into_iter().flatten().collect::<Vec<_>>().join(" / "),
        ),
    ];
    if let Some(path) = &fact.core_path {
        let to = format!("{base}/core?path={}", super::super::fields::encoded(path));
        fields.push(Field { name: "Core document", value: path.clone(), to });
    }
    if let Some(by) = fact.superseded_by {
        fields.push(Field { name: "Replaced by", value: by.to_string(), to: format!("{base}/items/{by}") });
    }
    for (name, value) in &fact.qualifiers {
        fields.push(Field { name: "With", value: format!("{name}: {value}"), to: String::new() });
    }
    fields
}

/// A plot of all values of the same relation over time.
fn succession(desk: &PageContext<'_>, user: &UserId, fact: &Fact) -> Result<Option<String>, Fault> {
    let options = FactOptions {
        all: true,
        subject: Some(fact.subject.clone()),
        predicate: Some(fact.predicate.clone()),
        ..FactOptions::default()
    };
    let mut all: Vec<Fact> = facts(desk.engine, user, &options)?.into_iter().map(|one| one.fact).collect();
    all.retain(|one| one.slot == fact.slot && (fact.single || one.id == fact.id));
    all.sort_by_key(|one| (one.began(), one.id));
    let readings: Option<Vec<Reading>> = all
        .iter()
        .filter(|one| matches!(one.status, FactStatus::Active | FactStatus::Superseded))
        .map(|one| {
            let (value, unit) = figure(&one.object)?;
            Some(Reading { at: one.began()?, value, unit, said: one.object.clone() })
        })
        .collect();
    let is_series = fact.single && desk.engine.predicates().get(&fact.predicate).readings;
    if let Some(drawn) =
        readings.filter(|_| is_series).and_then(|readings| plot::maybe_both(|width| plot::readings(width, &readings)))
    {
        return Ok(Some(drawn));
    }
    let lanes: Vec<Lane> = all
        .iter()
        .map(|one| Lane {
            name: one.object.clone(),
            from: one.began(),
            to: one.valid_to,
            look: match one.status {
                FactStatus::Active => "",
                FactStatus::Superseded => "past",
                _ => "never",
            },
        })
        .collect();
    Ok(plot::maybe_both(|width| plot::lanes(width, &lanes, desk.now())))
}

fn own_fields(kind: ItemKind, item: &Value) -> Vec<Field> {
    let text = |name: &str| item.get(name).filter(|value| !value.is_null()).map(shown::value).unwrap_or_default();
    let day = |name: &str| {
        let time = item.get(name).and_then(Value::as_str).and_then(|text| text.parse::<Timestamp>().ok());
        time.map(shown::moment).unwrap_or_default()
    };
    let all = match kind {
        ItemKind::Task => vec![
            field("Kind", text("kind")),
            field("Priority", text("priority")),
            field("Due", day("due")),
            field("First said", day("created_at")),
        ],
        ItemKind::Episode => vec![
            field("From", day("start")),
            field("To", day("end")),
            field("Importance", text("importance")),
            field("Sounds", text("sentiment")),
            field("Session", text("session_id")),
        ],
        ItemKind::Note => vec![field("By", text("origin").replace('_', " ")), field("Votes", text("votes"))],
        ItemKind::Tenet => vec![field("Kind", text("kind")), field("Version", text("version"))],
        ItemKind::Turn | ItemKind::Entry | ItemKind::Document => vec![
            field(
                "Said by",
                [text("author"), text("role")]
                    .into_iter()
                    .filter(|part| !part.is_empty())
                    .collect::<Vec<_>>()
                    .join(", "),
            ),
            field("When", day("said_at")),
            field("Session", text("session_id")),
            field("Topic", text("topic")),
            field("Imported as", text("native_id")),
        ],
        _ => Vec::new(),
    };
    all.into_iter().filter(|one| !one.value.is_empty()).collect()
}

fn item(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let (at, _) = desk.at()?;
    let found: ItemView = look(desk.engine, &user, desk.part("item_id")?, at)?;
    let name = found.id.to_string();
    let f = desk.frame_of(&user, &shown::start(&found.text, 60), "memories")?;
    let story = history(desk.engine, &user, &name)?;
    let is_source = matches!(found.kind, ItemKind::Turn | ItemKind::Entry | ItemKind::Document | ItemKind::Import);
    let fact: Option<Fact> =
        (found.kind == ItemKind::Fact).then(|| serde_json::from_value(found.item.clone()).ok()).flatten();
    let settle = match found.kind {
        ItemKind::Task => serde_json::from_value::<Task>(found.item.clone()).ok().map(|task| {
            let open = tasks(desk.engine, &user, None, false)?;
            let is_retracted = is_open(&task) && open.iter().all(|one| one.id != task.id);
            Ok::<_, Fault>(settle_button(&task, is_retracted))
        }),
        _ => None,
    };
    let settle = settle.transpose()?.flatten();
    let mut quotes: Vec<Quoted> = found.quotes.iter().map(|(id, words)| quoted(desk, &user, *id, words)).collect();
    let mut fields =
        fact.as_ref().map_or_else(|| own_fields(found.kind, &found.item), |fact| fields_of_fact(fact, &f.base));
    if let Some(session) = found.item.get("session_id").and_then(Value::as_str) {
        let to = format!("{}/session?id={}", f.base, super::super::fields::encoded(session));
        fields.iter_mut().filter(|one| one.name == "Session").for_each(|one| one.to.clone_from(&to));
    }
    if found.kind == ItemKind::Episode {
        let sources = found.item.get("sources").and_then(Value::as_array).into_iter().flatten();
        let ids = sources.filter_map(|id| id.as_str()?.parse::<ItemId>().ok()).take(12);
        quotes = ids
            .filter_map(|id| Some((id, quipu_engine::words(desk.engine, &user, id).ok()??)))
            .map(|(id, words)| quoted(desk, &user, id, &words))
            .collect();
    }
    let neighbours = if is_source && at == When::Now {
        let told = why(desk.engine, &user, &name)?;
        let one =
            |what, item: Option<quipu_engine::Item>| item.map(|item| (what, quoted(desk, &user, item.id, &item.text)));
        one("Before it", told.before).into_iter().chain(one("After it", told.after)).collect()
    } else {
        Vec::new()
    };
    let is_open = found.standing != "recorded";
    let can_edit = fact.as_ref().is_some_and(|fact| fact.is_active() || fact.status == FactStatus::Uncertain);
    let standing = match &fact {
        Some(fact) => shown::word(&fact.status),
        None => found.standing.clone(),
    };
    page(&ItemPage {
        id: name,
        kind: shown::kind(found.kind),
        is_long: found.text.len() > 240,
        tone: shown::tone(&standing),
        standing,
        pinned: found.marks.pinned,
        rating: found.marks.rating,
        shown_often: match found.hits.last_hit_at {
            Some(last) => format!("{}, last {}", shown::many(found.hits.hits, "time"), shown::day(last)),
            None => "never, as far as recorded".to_owned(),
        },
        quotes,
        fields,
        lanes: fact.as_ref().map(|fact| succession(desk, &user, fact)).transpose()?.flatten(),
        events: story.events.iter().rev().map(line).collect(),
        json: serde_json::to_string_pretty(&found.item).unwrap_or_default(),
        object: fact.as_ref().filter(|_| can_edit).map(|fact| fact.object.clone()),
        score: fact.as_ref().and_then(|fact| fact.user_fact_score),
        settle,
        can_retract: is_open && !is_source && !matches!(found.kind, ItemKind::Review | ItemKind::Truth),
        is_source,
        neighbours,
        known: super::memories::known_at(desk, &user, at)?,
        text: found.text,
        f,
    })
}

fn done(user: &UserId, id: &str, seq: u64) -> PageResult {
    PageResult::See(format!("{}/items/{id}?done={seq}", base(user)))
}

fn marked(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let (user, id) = (desk.user()?, desk.part("item_id")?);
    let wrong = |_| Fault::invalid("not a number");
    if let Some(score) = desk.sent.get("score") {
        let receipt = score_fact(desk.engine, &user, id, score.parse().map_err(wrong)?)?;
        return Ok(done(&user, id, receipt.seq));
    }
    let pinned = desk.sent.get("pinned").map(|pinned| pinned == "yes");
    let rating = desk.sent.get("rating").map(|rating| rating.parse::<i8>().map_err(wrong)).transpose()?;
    if pinned.is_none() && rating.is_none() {
        return Err(Fault::invalid("nothing to change"));
    }
    let receipt = mark(desk.engine, &user, id, pinned, rating)?;
    Ok(done(&user, id, receipt.seq))
}

/// Replaces a value, either because the world changed or because it was never true.
fn edited(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let (user, id) = (desk.user()?, desk.part("item_id")?.to_owned());
    let object = desk.needs("object", "the new value is missing")?;
    if desk.sent.get("how") == Some("never") {
        let receipt = correct_fact(desk.engine, &user, &id, object)?;
        let made = receipt.items.iter().find(|item| item.kind == ItemKind::Fact).map(ToString::to_string);
        return Ok(done(&user, &made.unwrap_or(id), receipt.seq));
    }
    let since = desk.sent.get("since").map(parsed::<TimeExpression>).transpose()?;
    let found = look(desk.engine, &user, &id, When::Now)?;
    let fact: Fact = serde_json::from_value(found.item).map_err(|_| Fault::invalid(format!("{id} is not a fact")))?;
    if !fact.single {
        let until = desk.engine.time_for(&user, since.unwrap_or(TimeExpression::Now))?;
        close_fact(desk.engine, &user, &id, until)?;
    }
    let fact = FactIn {
        subject: Some(fact.subject),
        predicate: fact.predicate,
        object: object.to_owned(),
        valid_from: since,
        qualifiers: fact.qualifiers,
        ..FactIn::default()
    };
    let request = WriteRequest { facts: vec![fact], ..WriteRequest::default() };
    let report = write(desk.engine, &user, &request, SourceKind::UserEdited)?;
    match (report.accepted.first(), report.rejected.first()) {
        (Some(made), _) => Ok(done(&user, &made.to_string(), quipu_engine::versions::version(desk.engine, &user)?)),
        (None, Some(refused)) => Err(Fault::from(quipu_engine::Error::Refused(refused.reason.clone()))),
        (None, None) => Ok(done(&user, &id, quipu_engine::versions::version(desk.engine, &user)?)),
    }
}

fn retracted(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let (user, id) = (desk.user()?, desk.part("item_id")?);
    let receipt = retract(desk.engine, &user, id, desk.sent.get("reason").unwrap_or("taken back"))?;
    Ok(done(&user, id, receipt.seq))
}
