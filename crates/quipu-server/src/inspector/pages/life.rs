//! The timeline by the time said: what was learned, changed and planned on each day of a life.

use std::collections::BTreeMap;

use askama::Template;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use quipu_core::extract::{REMARK, TaskKind};
use quipu_core::id::{ItemId, UserId};
use quipu_core::item::{Fact, FactStatus};
use quipu_engine::{FactOptions, episodes, facts, tasks};

use super::super::frame::{Frame, PageContext, PageResult, page, parsed};
use super::super::shown;
use crate::http::Fault;

/// Lines after which a page ends, at the end of the day.
const LINES: usize = 60;
/// Letters of a line.
const LETTERS: usize = 160;

/// What happened to an item on a day.
struct LifeLine {
    id: ItemId,
    kind: &'static str,
    text: String,
    /// What to say of it beside the text.
    note: String,
    is_over: bool,
}

struct LifeDay {
    name: String,
    lines: Vec<LifeLine>,
}

#[derive(Template)]
#[template(path = "life.html")]
struct Life {
    f: Frame,
    days: Vec<LifeDay>,
    /// The first day of the next page.
    next: Option<Date>,
    is_newest: bool,
    with_remarks: bool,
    remarks: usize,
}

type Days = BTreeMap<Date, Vec<LifeLine>>;

fn on(days: &mut Days, time: Option<Timestamp>, line: LifeLine) {
    if let Some(time) = time {
        days.entry(time.to_zoned(TimeZone::UTC).date()).or_default().push(line);
    }
}

fn of_fact(days: &mut Days, fact: &Fact, replacements: &BTreeMap<ItemId, String>) {
    let line = |note: &str, is_over| LifeLine {
        id: fact.id,
        kind: "fact",
        text: shown::start(&fact.text, LETTERS),
        note: note.to_owned(),
        is_over,
    };
    let note = match fact.status {
        FactStatus::Active | FactStatus::Superseded => "",
        FactStatus::Corrected => "was never true",
        FactStatus::Contested => "contested",
        FactStatus::Uncertain => "not sure",
        FactStatus::Retracted => "retracted",
    };
    on(days, fact.first_seen, line(note, matches!(fact.status, FactStatus::Corrected | FactStatus::Retracted)));
    if fact.status == FactStatus::Superseded {
        let by = fact.superseded_by.and_then(|by| replacements.get(&by));
        let note = by.map_or_else(|| "no longer holds".to_owned(), |by| format!("no longer holds: {by}"));
        on(days, fact.valid_to, line(&note, true));
    }
}

/// Everything with a day, by day.
fn collected(desk: &PageContext<'_>, user: &UserId, with_remarks: bool) -> Result<(Days, usize), Fault> {
    let mut days = Days::new();
    for told in episodes(desk.engine, user, None)? {
        // Roles are no names.
        let people = told.participants.iter().filter(|name| !["user", "assistant"].contains(&name.as_str()));
        let (time, note) = (told.start, people.cloned().collect::<Vec<_>>().join(", "));
        let text = shown::start(&told.title, LETTERS);
        on(&mut days, time, LifeLine { id: told.id, kind: "episode", text, note, is_over: false });
    }
    let all = facts(desk.engine, user, &FactOptions { all: true, ..FactOptions::default() })?;
    let names = all.iter().map(|one| (one.fact.id, shown::start(&one.fact.text, LETTERS))).collect();
    let mut remarks = 0;
    for one in &all {
        let is_remark = one.fact.predicate == REMARK;
        remarks += usize::from(is_remark);
        if with_remarks || !is_remark {
            of_fact(&mut days, &one.fact, &names);
        }
    }
    for task in tasks(desk.engine, user, None, true)? {
        let text = shown::start(&task.title, LETTERS);
        let kind = match task.kind {
            TaskKind::Problem => "problem",
            TaskKind::Goal => "goal",
            TaskKind::Task => "task",
        };
        let note = task.due.map(|due| format!("due {}", shown::day(due))).unwrap_or_default();
        on(&mut days, task.created_at, LifeLine { id: task.id, kind, text, note, is_over: false });
        for tried in &task.attempts {
            let note = match tried.successful {
                Some(true) => "helped",
                Some(false) => "did not help",
                None => "tried",
            };
            let text = shown::start(&format!("{}: {}", task.title, tried.approach), LETTERS);
            on(&mut days, tried.date, LifeLine { id: task.id, kind, text, note: note.to_owned(), is_over: false });
        }
    }
    Ok((days, remarks))
}

/// The timeline by the time said.
pub(super) fn life(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let f = desk.frame_of(&user, "Timeline", "timeline")?;
    let until = desk.asked.get("until").map(parsed::<Date>).transpose()?;
    let with_remarks = desk.asked.get("remarks").is_some();
    let (collected, remarks) = collected(desk, &user, with_remarks)?;
    let mut left = collected.into_iter().rev().filter(|(day, _)| until.is_none_or(|until| *day <= until)).peekable();
    let mut days = Vec::new();
    let mut lines = 0;
    while lines < LINES
        && let Some((day, mut found)) = left.next()
    {
        lines += found.len();
        found.sort_by_key(|line| (line.kind != "episode", line.kind, line.id));
        days.push(LifeDay { name: day.strftime("%-d %b %Y").to_string(), lines: found });
    }
    let next = left.peek().map(|(day, _)| *day);
    page(&Life { f, days, next, is_newest: until.is_none(), with_remarks, remarks })
}
