//! The timeline by the time recorded: events by day, what each did, and reverting events after a preview.

mod life;

use askama::Template;
use quipu_core::difference::{Difference, ItemChange};
use quipu_core::id::{ItemId, Seq, UserId};
use quipu_engine::log::{EventStatus, LogEntry, LogOptions, log};
use quipu_engine::ports::Scope;
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::{EventRef, When};
use quipu_engine::{diff, preview_revert, revert, show};

use super::super::fields::encoded;
use super::super::frame::{Frame, Page, PageContext, PageResult, base, page, parsed};
use super::super::shown;
use super::core::{Change, change};
use crate::http::Fault;

/// Events on a page.
const EVENTS: usize = 60;
/// Most items listed of a difference.
const ITEMS_MAX: usize = 60;

pub(super) fn pages() -> Vec<Page> {
    vec![
        Page::get("/ui/u/{user_id}/timeline", Scope::Read, timeline),
        Page::get("/ui/u/{user_id}/events/{seq}", Scope::Read, event),
        Page::get("/ui/u/{user_id}/revert", Scope::Read, preview),
        Page::post("/ui/u/{user_id}/revert", Scope::Write, reverted),
    ]
}

/// An event on one line.
pub(super) struct TimelineLine {
    pub(super) seq: Seq,
    pub(super) summary: String,
    pub(super) day: String,
    pub(super) clock: String,
    pub(super) who: &'static str,
    pub(super) source: &'static str,
    pub(super) rationale: String,
    pub(super) reference: String,
    /// Its status, unless it counts normally.
    pub(super) state: &'static str,
    pub(super) look: &'static str,
}

pub(super) fn line(entry: &LogEntry) -> TimelineLine {
    let counts = entry.standing == EventStatus::Counts;
    TimelineLine {
        seq: entry.seq,
        summary: entry.summary.clone(),
        day: shown::day(entry.recorded_at),
        clock: shown::clock(entry.recorded_at),
        who: shown::actor(entry.actor),
        source: shown::source(entry.source),
        rationale: entry.rationale.clone().unwrap_or_default(),
        reference: came_with(entry).unwrap_or_default().to_owned(),
        state: match entry.standing {
            EventStatus::Counts if entry.erased > 0 => "erased",
            EventStatus::Counts => "",
            EventStatus::Reverted => "reverted",
            EventStatus::Orphaned => "no longer applies",
        },
        look: match entry.actor {
            _ if !counts => "off-now",
            quipu_core::event::Actor::User => "user",
            quipu_core::event::Actor::Agent => "agent",
            quipu_core::event::Actor::System => "",
        },
    }
}

/// The import or file an event came with; not the item it was read from.
pub(super) fn came_with(entry: &LogEntry) -> Option<&str> {
    entry.reference.as_deref().filter(|reference| reference.parse::<ItemId>().is_err())
}

struct Day {
    name: String,
    lines: Vec<TimelineLine>,
}

#[derive(Template)]
#[template(path = "timeline.html")]
struct Timeline {
    f: Frame,
    days: Vec<Day>,
    source: String,
    next: Option<Seq>,
    is_newest: bool,
}

fn timeline(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    // A part of the ledger, or one source of it, is about events; without one, a life is by days.
    if ["by", "before", "source"].iter().all(|name| desk.asked.get(name).is_none()) {
        return life::life(desk);
    }
    let user = desk.user()?;
    let f = desk.frame_of(&user, "Timeline", "timeline")?;
    let before = desk.asked.get("before").map(parsed::<Seq>).transpose()?;
    let source = desk.asked.get("source").unwrap_or_default().to_owned();
    let reference = (!source.is_empty()).then(|| source.clone());
    let entries = log(desk.engine, &user, &LogOptions { before, limit: EVENTS, reference })?;
    let next = entries.last().map(|entry| entry.seq).filter(|seq| *seq > 1 && entries.len() == EVENTS);
    let mut days: Vec<Day> = Vec::new();
    for one in entries.iter().map(line) {
        match days.last_mut() {
            Some(day) if day.name == one.day => day.lines.push(one),
            _ => days.push(Day { name: one.day.clone(), lines: vec![one] }),
        }
    }
    page(&Timeline { f, days, source, next, is_newest: before.is_none() })
}

/// A difference, as pages show it.
struct DifferenceView {
    core: Vec<Change>,
    items: Vec<(&'static str, &'static str, String, String, String)>,
    more: usize,
    orphans: Vec<Seq>,
    healed: Vec<Seq>,
}

fn shown_difference(difference: &Difference) -> DifferenceView {
    let item = |change: &ItemChange| match change {
        ItemChange::Added { id, text } => ("add", "+", id.to_string(), text.clone(), String::new()),
        ItemChange::Removed { id, text } => ("gone", "−", id.to_string(), text.clone(), String::new()),
        ItemChange::Changed { id, text, before, after } => {
            ("change", "~", id.to_string(), text.clone(), format!("{before} → {after}"))
        }
        ItemChange::Marked { id, before, after } => {
            let said = |marks: &quipu_core::memory::Marks| {
                format!("{}, rated {:+}", if marks.pinned { "pinned" } else { "not pinned" }, marks.rating)
            };
            ("change", "~", id.to_string(), String::new(), format!("{} → {}", said(before), said(after)))
        }
    };
    let core = |one: &quipu_core::core_document::PathChange| change(&one.path, one.before.as_ref(), one.after.as_ref());
    DifferenceView {
        core: difference.core_changes.iter().map(core).collect(),
        items: difference.items.iter().take(ITEMS_MAX).map(item).collect(),
        more: difference.items.len().saturating_sub(ITEMS_MAX),
        orphans: difference.orphans_new.iter().map(|orphan| orphan.seq).collect(),
        healed: difference.orphans_healed.iter().map(|orphan| orphan.seq).collect(),
    }
}

#[derive(Template)]
#[template(path = "event.html")]
struct EventPage {
    f: Frame,
    line: TimelineLine,
    hash: String,
    prev: String,
    id: String,
    trust: &'static str,
    session: String,
    causes: Vec<String>,
    changes: Vec<(usize, &'static str, String)>,
    d: DifferenceView,
    can_revert: bool,
    before: Option<Seq>,
    after: Option<Seq>,
}

fn event(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let seq: Seq = parsed(desk.part("seq")?)?;
    let f = desk.frame_of(&user, &format!("Event {seq}"), "timeline")?;
    let found = show(desk.engine, &user, EventRef::Seq(seq))?;
    let entry = log(desk.engine, &user, &LogOptions { before: seq.checked_add(1), limit: 1, reference: None })?;
    let entry = entry.first().ok_or_else(|| Fault::not_found(format!("there is no event {seq}")))?;
    let difference = diff(desk.engine, &user, When::Seq(seq - 1), When::Seq(seq))?;
    let header = &found.header;
    let changes = found.changes.iter().enumerate().map(|(place, change)| match change {
        None => (place, "erased", String::new()),
        Some(change) => (place, change.as_str(), format!("{change:#?}")),
    });
    let is_fixed = found.changes.iter().flatten().any(|change| matches!(change.as_str(), "erased" | "forked"));
    page(&EventPage {
        line: line(entry),
        hash: entry.hash.clone(),
        prev: header.prev.to_hex().to_string(),
        id: entry.id.to_string(),
        trust: shown::trust(entry.trust),
        session: header.origin.session.clone().unwrap_or_default(),
        causes: header.caused_by.iter().map(ToString::to_string).collect(),
        changes: changes.collect(),
        d: shown_difference(&difference),
        can_revert: f.may.write && !is_fixed && entry.standing == EventStatus::Counts,
        before: (seq > 1).then(|| seq - 1),
        after: (seq < f.version).then(|| seq + 1),
        f,
    })
}

#[derive(Template)]
#[template(path = "revert.html")]
struct Preview {
    f: Frame,
    fields: Hidden,
    events: String,
    number: usize,
    d: DifferenceView,
    probe: String,
    answers: Vec<(String, String)>,
}

/// Names and values of a form's hidden fields.
type Hidden = Vec<(&'static str, String)>;

/// The events selected by the query string or a form.
fn selection(desk: &PageContext<'_>, found: &super::super::fields::Fields) -> Result<(Selection, Hidden), Fault> {
    if let Some(source) = found.get("source") {
        return Ok((Selection::Reference(source.to_owned()), vec![("source", source.to_owned())]));
    }
    if let Some(session) = found.get("session") {
        return Ok((Selection::Session(session.to_owned()), vec![("session", session.to_owned())]));
    }
    if let Some(since) = found.get("since") {
        return Ok((Selection::Since(desk.version(since)?), vec![("since", since.to_owned())]));
    }
    let named: Vec<String> = found.all("events").map(str::to_owned).collect();
    let parts = named.iter().flat_map(|list| list.split(',')).map(str::trim).filter(|part| !part.is_empty());
    let events: Vec<EventRef> = parts.map(parsed).collect::<Result<_, _>>()?;
    if events.is_empty() {
        return Err(Fault::invalid("which events? name some"));
    }
    Ok((Selection::Events(events), vec![("events", named.join(","))]))
}

fn preview(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let f = desk.frame_of(&user, "Revert", "timeline")?;
    let (selection, fields) = selection(desk, &desk.asked)?;
    let probe = desk.asked.get("probe").unwrap_or_default().to_owned();
    let probes = if probe.is_empty() { Vec::new() } else { vec![probe.clone()] };
    let found = preview_revert(desk.engine, &user, &selection, &RevertOptions { rationale: None, probes })?;
    let said = |answer: &Option<(String, String)>| {
        answer.as_ref().map_or_else(|| "nothing".to_owned(), |(_, text)| shown::start(text, 200))
    };
    page(&Preview {
        f,
        fields,
        number: found.events.len(),
        events: quipu_engine::log::ranges(&found.events),
        d: shown_difference(&found.difference),
        answers: found.probes.iter().map(|one| (said(&one.before), said(&one.after))).collect(),
        probe,
    })
}

fn reverted(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user: UserId = desk.user()?;
    let (selection, _) = selection(desk, &desk.sent)?;
    let options = RevertOptions { rationale: desk.sent.get("rationale").map(str::to_owned), probes: Vec::new() };
    let (receipt, _) = revert(desk.engine, &user, &selection, &options, &mut |_| {})?;
    let to = format!("{}/events/{}?done={}", base(&user), receipt.seq, encoded(&receipt.seq.to_string()));
    Ok(PageResult::See(to))
}
