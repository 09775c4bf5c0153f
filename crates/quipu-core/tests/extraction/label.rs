//! The labels, as they stand in the files.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use quipu_core::extract::{Extraction, FactCandidate, Stance, TaskCandidate, TaskKind, TaskNews};
use quipu_core::predicate::Predicates;
use serde::Deserialize;

/// A text and what is to be found in it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) speaker: String,
    pub(crate) addressee: Option<String>,
    pub(crate) said_at: Option<Timestamp>,
    pub(crate) facts: Vec<FactLabel>,
    pub(crate) tasks: Vec<TaskLabel>,
    #[serde(default)]
    pub(crate) optional: Vec<Label>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Label {
    Fact(FactLabel),
    Task(TaskLabel),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FactLabel {
    #[serde(rename = "s")]
    pub(crate) subject: String,
    #[serde(rename = "p")]
    pub(crate) predicate: String,
    #[serde(rename = "o")]
    pub(crate) object: String,
    stance: Option<String>,
    pub(crate) not: Option<String>,
    pub(crate) from: Option<String>,
    pub(crate) to: Option<String>,
    #[serde(rename = "q", default)]
    pub(crate) qualifiers: BTreeMap<String, String>,
    #[serde(rename = "or", default)]
    pub(crate) others: Vec<Label>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskLabel {
    pub(crate) kind: String,
    pub(crate) news: String,
    pub(crate) title: String,
    pub(crate) due: Option<String>,
    pub(crate) approach: Option<String>,
    pub(crate) successful: Option<bool>,
    #[serde(rename = "or", default)]
    pub(crate) others: Vec<Label>,
}

impl FactLabel {
    pub(crate) fn stance(&self) -> &str {
        self.stance.as_deref().unwrap_or("holds")
    }

    pub(crate) fn predicates(&self) -> impl Iterator<Item = &str> {
        any_of(&self.predicate)
    }
}

/// The values of which any will do.
pub(crate) fn any_of(values: &str) -> impl Iterator<Item = &str> {
    values.split('|')
}

fn first(values: &str) -> &str {
    any_of(values).next().unwrap_or_default()
}

/// The texts of a file.
pub(crate) fn cases(file: &str) -> Vec<Case> {
    let read = |(at, line)| {
        serde_json::from_str(line).unwrap_or_else(|error: serde_json::Error| panic!("line {}: {error}", at + 1))
    };
    file.lines().enumerate().map(read).collect()
}

/// The labels of a text as if they had been found in it.
pub(crate) fn as_extraction<'a>(
    facts: impl Iterator<Item = &'a FactLabel>,
    tasks: impl Iterator<Item = &'a TaskLabel>,
    case: &Case,
) -> Extraction {
    Extraction {
        facts: facts.map(|fact| as_fact(fact, case)).collect(),
        tasks: tasks.map(|task| as_task(task, case)).collect(),
        ..Extraction::default()
    }
}

pub(crate) fn as_fact(label: &FactLabel, case: &Case) -> FactCandidate {
    FactCandidate {
        subject: first(&label.subject).to_owned(),
        predicate: first(&label.predicate).to_owned(),
        object: first(&label.object).to_owned(),
        span: 0..case.text.len(),
        stance: match first(label.stance()) {
            "changed" => Stance::Changed,
            "held" => Stance::Held,
            "ended" => Stance::Ended,
            "denied" => Stance::Denied,
            "corrects" => Stance::Corrects { not: label.not.as_deref().map(|not| first(not).to_owned()) },
            _ => Stance::Holds,
        },
        valid_from: label.from.as_deref().and_then(time),
        valid_to: label.to.as_deref().and_then(time),
        confidence: 1.0,
        qualifiers: label.qualifiers.iter().map(|(name, value)| (name.clone(), first(value).to_owned())).collect(),
    }
}

pub(crate) fn as_task(label: &TaskLabel, case: &Case) -> TaskCandidate {
    TaskCandidate {
        kind: match first(&label.kind) {
            "goal" => TaskKind::Goal,
            "problem" => TaskKind::Problem,
            _ => TaskKind::Task,
        },
        title: first(&label.title).to_owned(),
        span: 0..case.text.len(),
        news: match first(&label.news) {
            "done" => TaskNews::Done,
            "dropped" => TaskNews::Dropped,
            "tried" => TaskNews::Tried {
                approach: first(label.approach.as_deref().unwrap_or_default()).to_owned(),
                outcome: String::new(),
                successful: label.successful,
            },
            _ => TaskNews::Opened,
        },
        due: label.due.as_deref().and_then(time),
        confidence: 1.0,
    }
}

/// The first moment of the day, month or year.
fn time(prefixes: &str) -> Option<Timestamp> {
    let mut day = first(prefixes).to_owned();
    while day.len() < "2026-01-01".len() {
        day.push_str("-01");
    }
    let date: Date = day.parse().ok()?;
    Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

/// What is wrong with the labels of a text.
pub(crate) fn faults(case: &Case) -> Vec<String> {
    let mut faults = Vec::new();
    for fact in &case.facts {
        fact_faults(fact, &mut faults);
    }
    for task in &case.tasks {
        task_faults(task, &mut faults);
    }
    for label in &case.optional {
        label_faults(label, &mut faults);
    }
    faults
}

fn label_faults(label: &Label, faults: &mut Vec<String>) {
    match label {
        Label::Fact(fact) => fact_faults(fact, faults),
        Label::Task(task) => task_faults(task, faults),
    }
}

fn fact_faults(fact: &FactLabel, faults: &mut Vec<String>) {
    let registry = Predicates::default_registry();
    let unknown = fact.predicates().filter(|name| !registry.has(name));
    faults.extend(unknown.map(|name| format!("{name} is not in the registry")));
    let stances = ["holds", "changed", "held", "ended", "denied", "corrects"];
    let unknown = any_of(fact.stance()).filter(|stance| !stances.contains(stance));
    faults.extend(unknown.map(|stance| format!("{stance} is not a stance")));
    if fact.object.is_empty() && fact.stance() != "ended" {
        faults.push("an empty object stands with an end only".to_owned());
    }
    if fact.not.is_some() && fact.stance() != "corrects" {
        faults.push("only a correction names a wrong value".to_owned());
    }
    date_faults([&fact.from, &fact.to], faults);
    for other in &fact.others {
        label_faults(other, faults);
    }
}

fn task_faults(task: &TaskLabel, faults: &mut Vec<String>) {
    let among = |names: &str, known: &[&str]| any_of(names).all(|name| known.contains(&name));
    if !among(&task.kind, &["task", "goal", "problem"]) || !among(&task.news, &["opened", "done", "dropped", "tried"]) {
        faults.push(format!("no such kind or news: {} {}", task.kind, task.news));
    }
    if task.approach.is_some() && !any_of(&task.news).any(|news| news == "tried") {
        faults.push("an approach belongs to an attempt".to_owned());
    }
    date_faults([&task.due], faults);
    for other in &task.others {
        label_faults(other, faults);
    }
}

fn date_faults<'a>(dates: impl IntoIterator<Item = &'a Option<String>>, faults: &mut Vec<String>) {
    for date in dates.into_iter().flatten().flat_map(|dates| any_of(dates)) {
        if time(date).is_none() {
            faults.push(format!("{date} is not the beginning of a date"));
        }
    }
}
