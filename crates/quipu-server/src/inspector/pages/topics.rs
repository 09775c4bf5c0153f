//! Topics and the memory as a whole: the pages of the plain files.

use askama::Template;
use quipu_core::artifact::TopicMemory;
use quipu_engine::files::glance;
use quipu_engine::ports::Scope;

use super::super::frame::{Frame, Page, PageContext, PageResult, page};
use super::super::shown;
use crate::http::Fault;

pub(super) fn pages() -> Vec<Page> {
    vec![Page::get("/ui/u/{user_id}/topics", Scope::Read, topics)]
}

/// Facts of a topic listed at once, and after a click.
const FACTS_MAX: usize = 6;
const MORE_MAX: usize = 40;

struct Row {
    id: String,
    text: String,
}

struct Topic {
    name: String,
    summary: String,
    entries: String,
    days: String,
    bounds: Vec<String>,
    questions: Vec<String>,
    actions: Vec<String>,
    facts: Vec<Row>,
    more: Vec<Row>,
    earlier: Vec<Row>,
}

struct Group {
    kind: String,
    rows: Vec<Row>,
}

#[derive(Template)]
#[template(path = "topics.html")]
struct Topics {
    f: Frame,
    kept: Vec<Group>,
    topics: Vec<Topic>,
}

/// The sentences of a summary that its facts do not say already.
fn beyond(summary: &str, facts: &[quipu_core::artifact::FactRow]) -> String {
    let is_said = |sentence: &str| facts.iter().any(|fact| fact.text.trim_end_matches('.') == sentence);
    let kept = summary.split_inclusive(". ").filter(|part| !is_said(part.trim().trim_end_matches('.')));
    kept.collect::<String>().trim().to_owned()
}

fn day(date: jiff::civil::Date) -> String {
    date.strftime("%-d %b %Y").to_string()
}

fn topic(one: &TopicMemory) -> Topic {
    let row = |fact: &quipu_core::artifact::FactRow| Row { id: fact.id.to_string(), text: fact.text.clone() };
    Topic {
        name: one.name.clone(),
        summary: beyond(&one.state.summary, &one.facts),
        entries: shown::many(one.entries, "day"),
        days: if one.first_day == one.last_day {
            day(one.first_day)
        } else {
            format!("{} to {}", day(one.first_day), day(one.last_day))
        },
        bounds: one.state.bounds.iter().filter(|text| !text.starts_with("Rests on")).cloned().collect(),
        questions: one.state.open_questions.clone(),
        actions: one.state.next_actions.clone(),
        facts: one.facts.iter().take(FACTS_MAX).map(row).collect(),
        more: one.facts.iter().skip(FACTS_MAX).take(MORE_MAX).map(row).collect(),
        earlier: one.earlier.iter().take(12).map(row).collect(),
    }
}

fn topics(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let f = desk.frame_of(&user, "Topics", "topics")?;
    let found = glance(desk.engine, &user)?;
    let mut topics: Vec<&TopicMemory> = found.topics.iter().collect();
    topics.sort_by_key(|one| std::cmp::Reverse((one.last_day, one.facts.len())));
    let group = |one: &quipu_core::artifact::FactGroup| Group {
        kind: shown::label(&shown::word(&one.fact_type)),
        rows: one.facts.iter().map(|kept| Row { id: kept.id.to_string(), text: kept.text.clone() }).collect(),
    };
    let kept = found
        .global
        .do_not_forget
        .iter()
        .filter(|one| one.tier == quipu_core::artifact::Tier::Core)
        .map(group)
        .collect();
    page(&Topics { f, kept, topics: topics.into_iter().map(topic).collect() })
}
