//! Reading: compares extracted statements with manual labels, and tests which statements hold after updates.
//!
//! A statement matches a label if it was read from the label's message and has a word of each of its groups. Statements
//! that match no label are shown, not judged: the share that matches is a lower bound of precision.

mod files;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::Timestamp;
use quipu_core::id::UserId;
use quipu_core::item::FactStatus;
use quipu_engine::{Engine, Error, ExtractWithModelOptions, FactOptions, Result};
use serde::Serialize;

use self::files::{Job, Label, Pair, Person, Score, jobs};
use super::corpus;
use super::heard::MemoryTurns;
use crate::environment::{Environment, Measurement, Output};

/// What is measured.
pub(super) struct ReadingOptions<'a> {
    pub(super) place: &'a Path,
    /// Also read with the configured language model.
    pub(super) with_model: bool,
    /// People or pairs processed at a time.
    pub(super) parallel: usize,
    /// Whether personal content may be printed.
    pub(super) detail: bool,
}

/// A statement in a memory.
#[derive(Debug, Clone)]
struct KeptStatement {
    subject: String,
    text: String,
    messages: BTreeSet<String>,
    holds: bool,
    waits: bool,
}

impl KeptStatement {
    fn is(&self, label: &Label) -> bool {
        let there = self.text.to_lowercase();
        let has = |group: &Vec<String>| group.iter().any(|word| there.contains(&word.to_lowercase()));
        (label.message.is_empty() || self.messages.contains(&label.message)) && label.words.iter().all(has)
    }

    /// True if it is about the subject of the label, as far as the two can be distinguished.
    fn is_about(&self, label: &Label) -> bool {
        label.about.is_empty()
            || (label.about == quipu_core::extract::USER) == (self.subject == quipu_core::extract::USER)
    }
}

/// Counts of one kind.
#[derive(Debug, Clone, Default, Serialize)]
struct Sums {
    /// People, pairs or situations.
    files: usize,
    /// Labels that should be remembered, and those that are, or wait for review.
    should: usize,
    kept: usize,
    waiting: usize,
    /// Statements, and those that match a label.
    statements: usize,
    labelled: usize,
    /// Remembered labels that hold at the end, and those whose statement holds.
    should_hold: usize,
    hold: usize,
    /// Remembered labels that ended later, and those whose statement no longer holds.
    should_end: usize,
    ended: usize,
    /// Pairs with the right state at the end; with an outdated statement that still holds; with only something missing.
    right: usize,
    stale: usize,
    unread: usize,
    /// Situations after which a false statement is remembered.
    misled: usize,
}

impl Sums {
    fn add(&mut self, other: &Self) {
        let pairs = [
            (&mut self.files, other.files),
            (&mut self.should, other.should),
            (&mut self.kept, other.kept),
            (&mut self.waiting, other.waiting),
            (&mut self.statements, other.statements),
            (&mut self.labelled, other.labelled),
            (&mut self.should_hold, other.should_hold),
            (&mut self.hold, other.hold),
            (&mut self.should_end, other.should_end),
            (&mut self.ended, other.ended),
            (&mut self.right, other.right),
            (&mut self.stale, other.stale),
            (&mut self.unread, other.unread),
            (&mut self.misled, other.misled),
        ];
        pairs.into_iter().for_each(|(sum, more)| *sum += more);
    }
}

#[derive(Debug, Default, Serialize)]
struct Report {
    reader: String,
    groups: BTreeMap<String, Sums>,
    /// Refused operations of the model, by reason.
    refused: BTreeMap<String, usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    details: Vec<String>,
}

pub(super) fn reading(
    environment: &dyn Environment,
    output: &dyn Output,
    wanted: &ReadingOptions<'_>,
) -> Result<Measurement> {
    let jobs = jobs(wanted.place)?;
    let (_folder, engine) = super::scratch(environment)?;
    if wanted.with_model && !engine.reads_with_model() {
        return Err(Error::Invalid("no model for reading: set [models.extractor] in config.toml".to_owned()));
    }
    let (next, report, fault) = (AtomicUsize::new(0), Mutex::new(Report::default()), Mutex::new(None));
    std::thread::scope(|scope| {
        for _ in 0..wanted.parallel {
            scope.spawn(|| {
                while let Some((number, job)) = {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    jobs.get(number).map(|job| (number, job))
                } {
                    let outcome = run(&engine, job, number, wanted);
                    match (outcome, report.lock(), fault.lock()) {
                        (Ok(one), Ok(mut all), _) => merge(&mut all, one),
                        (Err(error), _, Ok(mut fault)) => *fault = Some(error),
                        _ => {}
                    }
                    output.hint(&format!("{} of {}: {}", number + 1, jobs.len(), job.name));
                }
            });
        }
    });
    if let Some(error) = fault.into_inner().ok().flatten() {
        return Err(error);
    }
    let mut report = report.into_inner().unwrap_or_default();
    report.reader = if wanted.with_model { "rules, and the configured model" } else { "rules" }.to_owned();
    Measurement::of(&report, in_words)
}

fn merge(all: &mut Report, one: Report) {
    for (group, sums) in one.groups {
        all.groups.entry(group).or_default().add(&sums);
    }
    for (reason, count) in one.refused {
        *all.refused.entry(reason).or_default() += count;
    }
    all.details.extend(one.details);
}

fn run(engine: &Engine, job: &Job, number: usize, wanted: &ReadingOptions<'_>) -> Result<Report> {
    let user = UserId::parse(&format!("u{number}"))?;
    corpus::import_chats(engine, &user, &job.chats, false, &mut |_| {})?;
    let mut report = Report::default();
    if wanted.with_model {
        let options = ExtractWithModelOptions { from_the_start: true, ..ExtractWithModelOptions::default() };
        let read = quipu_engine::extract_with_model(engine, &user, &options)?;
        if let Some(fault) = read.fault {
            return Err(Error::Unavailable(format!("{}: {fault}", job.name)));
        }
        for refused in &read.understood.refused {
            *report.refused.entry(refused.reason.clone()).or_default() += 1;
            if wanted.detail {
                report.details.push(format!("{} refused: {} ({})", job.name, refused.item, refused.reason));
            }
        }
        for (_, fault) in &read.given_up {
            *report.refused.entry(format!("not read: {fault}")).or_default() += 1;
        }
    }
    let kept = kept(engine, &user)?;
    let (group, sums, details) = match &job.score {
        Score::Person(person) => ("people".to_owned(), score_person(person, &kept), details_of(person, &kept)),
        Score::Pair(pair) => {
            let sums = score_pair(pair, &kept);
            let is_right = sums.right == 1;
            let said: Vec<&str> = pair.said.iter().chain(&pair.then).map(|said| said.text.as_str()).collect();
            let now: Vec<&str> = kept.iter().filter(|kept| kept.holds).map(|kept| kept.text.as_str()).collect();
            let line = format!(
                "{} {}: {} => {}",
                pair.id,
                if sums.stale == 1 { "stale" } else { "unread" },
                said.join(" | "),
                now.join("; ")
            );
            (format!("pairs, {}", pair.kind), sums, if is_right { Vec::new() } else { vec![line] })
        }
        Score::Trap(trap) => {
            let wrong = |kept: &&KeptStatement| {
                kept.holds && trap.never.iter().any(|never| kept.is(never) && kept.is_about(never))
            };
            let false_ones: Vec<String> =
                kept.iter().filter(wrong).map(|kept| format!("{} misled: {}", trap.id, kept.text)).collect();
            let found = trap.keep.iter().filter(|label| kept.iter().any(|kept| kept.is(label))).count();
            let sums = Sums {
                files: 1,
                misled: usize::from(!false_ones.is_empty()),
                should: trap.keep.len(),
                kept: found,
                ..Sums::default()
            };
            (format!("traps, {}", trap.kind), sums, false_ones)
        }
    };
    report.groups.insert(group, sums);
    if wanted.detail {
        report.details.extend(details.into_iter().map(|line| format!("{}: {line}", job.name)));
    }
    Ok(report)
}

fn kept(engine: &Engine, user: &UserId) -> Result<Vec<KeptStatement>> {
    let heard = MemoryTurns::of(engine, user)?;
    let names = |ids: &mut dyn Iterator<Item = quipu_core::id::ItemId>| -> BTreeSet<String> {
        ids.filter_map(|id| heard.name_of(id)).map(str::to_owned).collect()
    };
    let mut all = Vec::new();
    for shown in quipu_engine::facts(engine, user, &FactOptions { all: true, ..FactOptions::default() })? {
        let fact = shown.fact;
        let waits = matches!(fact.status, FactStatus::Uncertain | FactStatus::Contested);
        if !waits && !matches!(fact.status, FactStatus::Active | FactStatus::Superseded) {
            continue;
        }
        let qualifiers: Vec<&str> = fact.qualifiers.values().map(String::as_str).collect();
        let day =
            |at: Option<Timestamp>| at.map(|at| at.strftime("%Y-%m-%d %-d %B %B %-d").to_string()).unwrap_or_default();
        all.push(KeptStatement {
            text: format!(
                "{}{} [{} {} {}] {}",
                fact.text,
                // As lists and packs show it.
                if fact.status == FactStatus::Superseded { " (no longer so)" } else { "" },
                fact.predicate.replace('_', " "),
                fact.object,
                qualifiers.join(" "),
                day(fact.valid_from)
            ),
            messages: names(&mut fact.evidence.iter().map(|place| place.source)),
            holds: fact.status == FactStatus::Active,
            waits,
            subject: fact.subject,
        });
    }
    for task in quipu_engine::tasks(engine, user, None, true)? {
        let tried: Vec<String> = task.attempts.iter().map(|one| format!("{} {}", one.approach, one.outcome)).collect();
        let attempts = task.attempts.iter().flat_map(|one| one.evidence.iter().map(|place| place.source));
        let open = matches!(task.status, quipu_core::item::TaskStatus::Active | quipu_core::item::TaskStatus::Stalled);
        all.push(KeptStatement {
            subject: quipu_core::extract::USER.to_owned(),
            text: format!(
                "{} {} {}",
                serde_json::to_string(&task.kind).unwrap_or_default(),
                task.title,
                tried.join("; ")
            ),
            messages: names(&mut task.evidence.iter().map(|place| place.source).chain(attempts)),
            holds: open,
            waits: false,
        });
    }
    Ok(all)
}

fn score_person(person: &Person, kept: &[KeptStatement]) -> Sums {
    let mut sums = Sums { files: 1, should: person.keep.len(), ..Sums::default() };
    for label in &person.keep {
        let found: Vec<&KeptStatement> = kept.iter().filter(|kept| kept.is(label)).collect();
        if found.iter().all(|kept| kept.waits) {
            sums.waiting += usize::from(!found.is_empty());
            continue;
        }
        sums.kept += 1;
        let holds = found.iter().any(|kept| kept.holds);
        if label.until.is_some() {
            sums.should_end += 1;
            sums.ended += usize::from(!holds);
        } else {
            sums.should_hold += 1;
            sums.hold += usize::from(holds);
        }
    }
    let counted = || kept.iter().filter(|kept| !kept.waits);
    sums.statements = counted().count();
    sums.labelled = counted().filter(|kept| is_labelled(person, kept)).count();
    sums
}

fn is_labelled(person: &Person, kept: &KeptStatement) -> bool {
    person.keep.iter().chain(&person.may).any(|label| kept.is(label))
}

fn details_of(person: &Person, kept: &[KeptStatement]) -> Vec<String> {
    let missed = person.keep.iter().filter(|label| !kept.iter().any(|kept| kept.is(label)));
    let missed = missed.map(|label| format!("missed {}: {}", label.message, label.sentence));
    let beside = kept.iter().filter(|kept| !kept.waits && !is_labelled(person, kept));
    let over = person.keep.iter().filter_map(|label| {
        let until = label.until.as_ref()?;
        let held = kept.iter().find(|kept| kept.holds && kept.is(label))?;
        Some(format!("still holds, ended by {until}: {}", held.text))
    });
    missed.chain(over).chain(beside.map(|kept| format!("unlabelled {:?}: {}", kept.messages, kept.text))).collect()
}

fn score_pair(pair: &Pair, kept: &[KeptStatement]) -> Sums {
    let now = || kept.iter().filter(|kept| kept.holds);
    // "Fridays no more, now Sundays" names both.
    let tells_present = |kept: &KeptStatement| pair.holds.iter().any(|label| kept.is(label));
    let stale = pair.gone.iter().any(|label| now().any(|kept| kept.is(label) && !tells_present(kept)));
    let all = pair.holds.iter().all(|label| kept.iter().any(|kept| !kept.waits && kept.is(label)));
    let one = |is: bool| usize::from(is);
    Sums { files: 1, right: one(!stale && all), stale: one(stale), unread: one(!stale && !all), ..Sums::default() }
}

fn in_words(report: &Report) -> String {
    let share = |part: usize, of: usize| {
        if of == 0 { "–".to_owned() } else { format!("{:.1}", 100.0 * part as f64 / of as f64) }
    };
    let mut text = format!("Read by {}\n", report.reader);
    let mut all = Sums::default();
    report.groups.values().for_each(|sums| all.add(sums));
    for (group, sums) in report.groups.iter().map(|(group, sums)| (group.as_str(), sums)).chain([("all", &all)]) {
        text.push_str(&format!("\n{group} ({})", sums.files));
        if sums.should > 0 {
            text.push_str(&format!(
                ": kept {} of {} labels, {} more wait for review",
                share(sums.kept, sums.should),
                sums.should,
                sums.waiting
            ));
        }
        if sums.statements > 0 {
            text.push_str(&format!(
                "; {} statements, {} match a label; still holding: {} of {}; ended: {} of {}",
                sums.statements,
                share(sums.labelled, sums.statements),
                share(sums.hold, sums.should_hold),
                sums.should_hold,
                share(sums.ended, sums.should_end),
                sums.should_end
            ));
        }
        if sums.right + sums.stale + sums.unread > 0 {
            let of = sums.right + sums.stale + sums.unread;
            text.push_str(&format!(
                ": right {}, outdated statement still holds {}, only something missing {}",
                share(sums.right, of),
                share(sums.stale, of),
                share(sums.unread, of)
            ));
        }
        if group.starts_with("traps") {
            text.push_str(&format!("; false statement kept after {}", share(sums.misled, sums.files)));
        }
    }
    text.push('\n');
    for (reason, count) in &report.refused {
        text.push_str(&format!("refused {count}: {reason}\n"));
    }
    for line in &report.details {
        text.push_str(&format!("{line}\n"));
    }
    text.push_str("Percent\n");
    text
}
