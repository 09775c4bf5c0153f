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

use super::super::super::frame::{Frame, PageContext, PageResult, page, parsed};
use super::super::super::shown;
use crate::http::Fault;

/// Lines after which a page ends, at the end of the day.
const LINES: usize = 60;
/// Most lines of a page. A day that does not fit continues on the next one.
const LINES_MAX: usize = 120;
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
    /// True if the day began on an earlier page.
    is_continued: bool,
    lines: Vec<LifeLine>,
}

/// Where a page begins: a day, and how many of its lines are on earlier pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PageStart {
    day: Date,
    from: usize,
}

#[derive(Template)]
#[template(path = "life.html")]
struct Life {
    f: Frame,
    days: Vec<LifeDay>,
    next: Option<PageStart>,
    is_newest: bool,
    with_remarks: bool,
    remarks: usize,
}

/// The lines of each day, with their times.
type Days = BTreeMap<Date, Vec<(Timestamp, LifeLine)>>;

fn on(days: &mut Days, time: Option<Timestamp>, line: LifeLine) {
    if let Some(time) = time {
        days.entry(time.to_zoned(TimeZone::UTC).date()).or_default().push((time, line));
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
        let note = by.map_or_else(|| "no longer holds".to_owned(), |by| format!("no longer holds; now: {by}"));
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
    let from = desk.number("from", 0, usize::MAX);
    let start = until.map(|day| PageStart { day, from });
    let (days, next) = paged(collected, start);
    page(&Life { f, days, next, is_newest: until.is_none(), with_remarks, remarks })
}

/// The days of a page, newest first, and where the next page begins.
fn paged(collected: Days, start: Option<PageStart>) -> (Vec<LifeDay>, Option<PageStart>) {
    let reached = |day: &Date| start.is_none_or(|start| *day <= start.day);
    let mut days = Vec::new();
    let mut room = LINES_MAX;
    for (day, mut found) in collected.into_iter().rev().filter(|(day, _)| reached(day)) {
        let from = start.filter(|start| start.day == day).map_or(0, |start| start.from);
        if found.len() <= from {
            continue;
        }
        if LINES_MAX - room >= LINES {
            return (days, Some(PageStart { day, from }));
        }
        found.sort_by_key(|(time, line)| (line.kind != "episode", line.kind, *time));
        let left = found.len() - from;
        let lines: Vec<LifeLine> = found.into_iter().map(|(_, line)| line).skip(from).take(room).collect();
        let taken = lines.len();
        days.push(LifeDay { name: day.strftime("%-d %b %Y").to_string(), is_continued: from > 0, lines });
        if taken < left {
            return (days, Some(PageStart { day, from: from + taken }));
        }
        room -= taken;
    }
    (days, None)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests {
    use quipu_core::id::ItemKind;

    use super::*;

    fn days(all: &[(&str, usize)]) -> Days {
        let line = |bits| LifeLine {
            id: ItemId { kind: ItemKind::Fact, bits },
            kind: "fact",
            text: String::new(),
            note: String::new(),
            is_over: false,
        };
        all.iter()
            .map(|(day, number)| {
                (day.parse().unwrap(), (0..*number as u64).map(|bits| (Timestamp::UNIX_EPOCH, line(bits))).collect())
            })
            .collect()
    }

    /// The lines of each day of all pages in turn, the newest page first.
    fn pages(all: &[(&str, usize)]) -> Vec<Vec<(String, bool, usize)>> {
        let (mut found, mut start) = (Vec::new(), None);
        loop {
            let (shown, next) = paged(days(all), start);
            found.push(shown.into_iter().map(|day| (day.name, day.is_continued, day.lines.len())).collect());
            if next.is_none() {
                return found;
            }
            start = next;
        }
    }

    #[test]
    fn a_page_ends_with_a_day_if_the_day_fits() {
        let day = |name: &str, number| (name.to_owned(), false, number);
        let found = pages(&[("2024-01-01", 5), ("2024-01-02", 70), ("2024-01-03", 50)]);
        assert_eq!(found, [vec![day("3 Jan 2024", 50), day("2 Jan 2024", 70)], vec![day("1 Jan 2024", 5)]]);
        assert_eq!(pages(&[]), [vec![]]);
    }

    #[test]
    fn a_day_of_an_import_goes_on_over_pages_and_no_line_is_lost() {
        let found = pages(&[("2024-01-01", 3), ("2024-01-02", 1_000)]);
        assert!(found.iter().all(|page| page.iter().map(|(_, _, number)| number).sum::<usize>() <= LINES_MAX));
        let all: usize = found.iter().flatten().map(|(_, _, number)| number).sum();
        assert_eq!(all, 1_003);
        assert!(!found[0][0].1 && found[1][0].1, "{found:?}");
        let last = found.last().unwrap();
        assert_eq!(last.last().unwrap(), &("1 Jan 2024".to_owned(), false, 3));
    }

    #[test]
    fn a_place_that_is_gone_is_passed_over() {
        let start = |from| Some(PageStart { day: "2024-01-02".parse().unwrap(), from });
        let (shown, next) = paged(days(&[("2024-01-01", 3), ("2024-01-02", 5)]), start(9));
        assert_eq!((shown.len(), next), (1, None));
        assert_eq!(shown[0].name, "1 Jan 2024");
        assert_eq!(paged(days(&[("2024-01-02", 5)]), start(usize::MAX)).0.len(), 0);
    }
}
