//! Sessions: conversations with their base truth and turn log; people edit the base truth and end a session.

use askama::Template;
use quipu_core::event::Actor;
use quipu_core::id::UserId;
use quipu_core::item::TruthKind;
use quipu_core::source::Role;
use quipu_engine::ports::Scope;
use quipu_engine::{
    ListOptions, SessionShown, SessionState, end_session, list, session, sessions, set_base_truth, unset_base_truth,
    versions::When,
};

use super::super::fields::encoded;
use super::super::frame::{Frame, Page, PageContext, PageResult, base, page};
use super::super::shown;
use crate::http::Fault;

/// Sessions on a page.
const ROWS: usize = 40;

pub(super) fn pages() -> Vec<Page> {
    vec![
        Page::get("/ui/u/{user_id}/sessions", Scope::Read, all),
        Page::get("/ui/u/{user_id}/session", Scope::Read, one),
        Page::post("/ui/u/{user_id}/session", Scope::Write, edit),
    ]
}

/// Messages looked at for a title, and letters of one.
const TITLE_MESSAGES: usize = 3;
const TITLE_LETTERS: usize = 80;

/// How pages name a session: the first words a person said in it. Its id where there are none.
pub(super) fn title(desk: &PageContext<'_>, user: &UserId, id: &str) -> Result<String, Fault> {
    let options =
        ListOptions { at: When::Now, session: Some(id.to_owned()), kind: None, offset: 0, limit: TITLE_MESSAGES };
    let first = list(desk.engine, user, &options)?.items.into_iter().find(|item| item.role == Role::User);
    let words = first.map(|item| shown::start(&item.text, TITLE_LETTERS));
    Ok(words.filter(|words| !words.is_empty()).unwrap_or_else(|| id.to_owned()))
}

struct Row {
    title: String,
    name: String,
    to: String,
    turns: String,
    last: String,
    truths: usize,
    exceptions: usize,
    is_over: bool,
}

#[derive(Template)]
#[template(path = "sessions.html")]
struct Sessions {
    f: Frame,
    rows: Vec<Row>,
    total: usize,
    next: Option<usize>,
}

fn all(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let f = desk.frame_of(&user, "Sessions", "sessions")?;
    let mut found: Vec<SessionShown> = sessions(desk.engine, &user, When::Now)?;
    found.sort_by_key(|one| std::cmp::Reverse(one.last_said_at));
    let (total, from) = (found.len(), desk.number("from", 0, 1_000_000));
    let row = |one: SessionShown| -> Result<Row, Fault> {
        Ok(Row {
            title: title(desk, &user, &one.session_id)?,
            to: format!("{}/session?id={}", f.base, encoded(&one.session_id)),
            turns: shown::many(one.turns, "exchange"),
            last: shown::maybe_day(one.last_said_at),
            truths: one.base_truth,
            exceptions: one.exceptions,
            is_over: one.is_over,
            name: one.session_id,
        })
    };
    let rows: Vec<Row> = found.into_iter().skip(from).take(ROWS).map(row).collect::<Result<_, _>>()?;
    let next = (from + rows.len() < total).then_some(from + rows.len());
    page(&Sessions { rows, total, next, f })
}

fn kind_name(kind: TruthKind) -> &'static str {
    match kind {
        TruthKind::Exception => "Must never happen",
        TruthKind::Constraint => "Rule",
        TruthKind::Goal => "Aim",
        TruthKind::Decision => "Decision",
        TruthKind::Preference => "Preference",
        TruthKind::Fact => "Fact",
        TruthKind::Task => "To do",
        TruthKind::Question => "Open question",
    }
}

struct Truth {
    id: String,
    kind: &'static str,
    text: String,
    from: String,
    is_hard: bool,
}

struct SessionRow {
    turn: u32,
    when: String,
    user: String,
    assistant: String,
    how: String,
    refused: usize,
    source: String,
}

struct TurnRow {
    id: String,
    speaker: String,
    text: String,
    when: String,
}

struct Artifact {
    key: String,
    kind: String,
    name: String,
    text: String,
}

#[derive(Template)]
#[template(path = "session.html")]
struct SessionPage {
    f: Frame,
    title: String,
    name: String,
    between: String,
    kinds: Vec<(&'static str, &'static str)>,
    is_over: bool,
    truths: Vec<Truth>,
    log: Vec<SessionRow>,
    window: Vec<TurnRow>,
    artifacts: Vec<Artifact>,
    untold: usize,
    snapshots: usize,
}

fn one(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let name = desk.asked.get("id").ok_or_else(|| Fault::invalid("which session?"))?.to_owned();
    let title = title(desk, &user, &name)?;
    let f = desk.frame_of(&user, &title, "sessions")?;
    let found: SessionState = session(desk.engine, &user, &name, When::Now)?;
    let truth = |one: &quipu_engine::TruthShown| Truth {
        id: one.id.to_string(),
        kind: kind_name(one.kind),
        text: one.text.clone(),
        from: match one.turn {
            Some(turn) => format!("turn {turn}"),
            None if one.by_hand => "by hand".to_owned(),
            None => "merged".to_owned(),
        },
        is_hard: one.kind == quipu_core::item::TruthKind::Exception,
    };
    let told = |one: &quipu_engine::TurnShown| SessionRow {
        turn: one.turn,
        when: one.said_at.map(shown::moment).unwrap_or_default(),
        user: shown::start(&one.user_summary, 400),
        assistant: shown::start(&one.assistant_summary, 400),
        how: match (one.raw, one.unsummarized) {
            (true, _) => "verbatim".to_owned(),
            (_, true) => "not summarised yet".to_owned(),
            _ => shown::word(&one.depth),
        },
        refused: one.refused.len(),
        source: one.sources.first().map(ToString::to_string).unwrap_or_default(),
    };
    let times = || found.turn_log.iter().filter_map(|one| one.said_at);
    page(&SessionPage {
        title,
        between: match (times().min(), times().max()) {
            (Some(from), Some(to)) if shown::day(from) != shown::day(to) => {
                format!("{} to {}", shown::day(from), shown::day(to))
            }
            (from, _) => shown::maybe_day(from),
        },
        kinds: TruthKind::ALL.into_iter().map(|kind| (kind.as_str(), kind_name(kind))).collect(),
        is_over: found.is_over,
        truths: found.base_truth.iter().map(truth).collect(),
        log: found.turn_log.iter().rev().take(200).map(told).collect(),
        window: found
            .raw_window
            .iter()
            .map(|one| TurnRow {
                id: one.id.to_string(),
                speaker: one.speaker.clone(),
                text: one.text.clone(),
                when: one.said_at.map(shown::moment).unwrap_or_default(),
            })
            .collect(),
        artifacts: found
            .artifacts
            .iter()
            .rev()
            .take(40)
            .map(|one| Artifact {
                key: one.key.clone(),
                kind: one.kind.clone(),
                name: one.name.clone().unwrap_or_default(),
                text: shown::start_exact(&one.text, 4000),
            })
            .collect(),
        untold: found.unsummarized.len(),
        snapshots: found.snapshots,
        name,
        f,
    })
}

/// Adds to the base truth, changes or removes an entry of it, or ends the session.
fn edit(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let name = desk.needs("id", "the session is missing")?;
    let receipt = match desk.needs("action", "what to do is missing")? {
        "end" => end_session(desk.engine, &user, name)?.receipt,
        "remove" => {
            unset_base_truth(desk.engine, &user, name, desk.needs("truth", "the entry is missing")?, Actor::User)?
        }
        "add" => {
            let kind = desk.needs("kind", "the kind of the entry is missing")?;
            let kind = TruthKind::ALL.into_iter().find(|one| one.as_str() == kind);
            let kind = kind.ok_or_else(|| Fault::invalid("there is no such kind of entry"))?;
            let text = desk.needs("text", "the entry is empty: say what holds in this conversation")?;
            set_base_truth(desk.engine, &user, name, (kind, text), Actor::User)?
        }
        other => return Err(Fault::invalid(format!("{other:?} is not something a session can do"))),
    };
    Ok(PageResult::See(format!("{}/session?id={}&done={}", base(&user), encoded(name), receipt.seq)))
}
