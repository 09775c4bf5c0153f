//! What was drawn from what was said, and what waits for a person.

use quipu_core::event::Actor;

use quipu_core::item::{FactStatus, ReviewDecision, Task};
use quipu_core::reconcile::{Outcome, Understanding};
use quipu_engine::versions::When;
use quipu_engine::{
    Budget, Conflict, Error, FactOptions, FactShown, ItemHistory, MigrateOptions, Receipt, Result, Until, Waiting,
    WriteRequest,
};

use super::{CommandContext, render};
use crate::args::Form;
use crate::args::people::{Close, Facts, Merge, Migrate, Reread, Retract, ReviewAction, Score, Write};

/// What came of something said, a line each.
pub(super) fn understood(all: &Understanding) -> String {
    let mut text = String::new();
    let mut lines = |sign: &str, outcomes: &[Outcome]| {
        for one in outcomes {
            text.push_str(&format!("  {sign} {}  {} ({})\n", one.id, render::excerpt(&one.text, 90), one.what));
        }
    };
    lines("+", &all.asserted);
    lines("=", &all.seen);
    lines("-", &all.ended);
    lines("•", &all.tasks);
    lines("•", &all.notes);
    lines("?", &all.reviews);
    for refused in &all.refused {
        text.push_str(&format!("  × {}: {}\n", render::excerpt(&refused.item, 90), refused.reason));
    }
    if !all.core_paths.is_empty() {
        text.push_str(&format!("  core document: {}\n", all.core_paths.join(", ")));
    }
    text
}

/// A word as it is serialised.
fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word.replace('_', " "),
        _ => String::new(),
    }
}

pub(super) fn fact(shown: &FactShown, now: jiff::Timestamp) -> String {
    let fact = &shown.fact;
    let standing =
        if fact.status == FactStatus::Active { String::new() } else { format!(" · {}", word(&fact.status)) };
    let often = if fact.seen_count > 1 { format!(" · said {} times", fact.seen_count) } else { String::new() };
    let times = fact.times(now).map_or_else(String::new, |times| format!(" · {times}"));
    let mut text = format!("{}{times}{standing}{often}  {}\n", fact.text, fact.id);
    for (source, quote) in shown.quotes.iter().take(2) {
        text.push_str(&format!("    “{}”  {source}\n", render::excerpt(quote, 90)));
    }
    if shown.quotes.is_empty() {
        text.push_str("    entered by hand\n");
    }
    text
}

pub(super) fn facts(session: &CommandContext<'_>, args: &Facts, at: Option<When>) -> Result<()> {
    let options = FactOptions {
        at,
        valid_at: args.valid_at,
        all: args.all,
        subject: args.subject.clone(),
        predicate: args.predicate.clone(),
    };
    let found = quipu_engine::facts(&session.engine, &session.user, &options)?;
    let (form, now) = (session.printer.form(), session.engine.now());
    let lines = |found: &Vec<FactShown>| list(found, "no facts", |one| fact(one, now));
    session.printer.report(&found, |found| if form == Form::Table { table(found) } else { lines(found) })
}

fn table(found: &[FactShown]) -> String {
    let day =
        |time: Option<jiff::Timestamp>| time.map(|time| time.strftime("%Y-%m-%d").to_string()).unwrap_or_default();
    let row = |shown: &FactShown| {
        let fact = &shown.fact;
        let (from, to) = (day(fact.valid_from), day(fact.valid_to));
        let (subject, predicate, object) = (fact.subject.clone(), fact.predicate.clone(), fact.object.clone());
        vec![subject, predicate, object, from, to, word(&fact.status), fact.id.to_string()]
    };
    let rows: Vec<Vec<String>> = found.iter().map(row).collect();
    render::table(&["SUBJECT", "PREDICATE", "OBJECT", "FROM", "TO", "STATUS", "ID"], &rows)
}

/// One after the other, or that there are none.
fn list<T>(all: &[T], none: &str, line: impl Fn(&T) -> String) -> String {
    if all.is_empty() { format!("{none}\n") } else { all.iter().map(line).collect() }
}

pub(super) fn task(task: &Task) -> String {
    let due = task.due.map(|due| format!(" · due {}", due.strftime("%Y-%m-%d"))).unwrap_or_default();
    let mut text = format!("{} · {}{due}  {}  {}\n", word(&task.kind), word(&task.status), task.title, task.id);
    for attempt in &task.attempts {
        let helped = match attempt.successful {
            Some(true) => "helped",
            Some(false) => "did not help",
            None => "outcome not told",
        };
        let day = attempt.date.map(|date| date.strftime("%Y-%m-%d").to_string()).unwrap_or_default();
        let outcome = if attempt.outcome.is_empty() { String::new() } else { format!(": {}", attempt.outcome) };
        text.push_str(&format!("    {day}  {} — {helped}{outcome}\n", attempt.approach));
    }
    text
}

pub(super) fn tasks(session: &CommandContext<'_>, at: Option<When>, all: bool) -> Result<()> {
    let found = quipu_engine::tasks(&session.engine, &session.user, at, all)?;
    session.printer.report(&found, |found| list(found, "no tasks, goals or problems", task))
}

pub(super) fn episodes(session: &CommandContext<'_>, at: Option<When>) -> Result<()> {
    let found = quipu_engine::episodes(&session.engine, &session.user, at)?;
    session.printer.report(&found, |found| {
        list(found, "no episodes", |episode| {
            format!(
                "{}  {}  {}\n    {}\n    {} · importance {} · {}\n",
                render::time(episode.start),
                episode.title,
                episode.id,
                render::excerpt(&episode.summary, 300),
                word(&episode.sentiment),
                episode.importance,
                episode.topics.join(", ")
            )
        })
    })
}

pub(super) fn notes(session: &CommandContext<'_>, at: Option<When>) -> Result<()> {
    let found = quipu_engine::notes(&session.engine, &session.user, at)?;
    session.printer.report(&found, |found| {
        list(found, "no notes", |note| {
            let agreed = if note.is_agreed() { "" } else { " · nobody else has said so yet" };
            format!("{}  {} · {}{agreed}\n", note.text, note.id, word(&note.origin))
        })
    })
}

pub(super) fn tenets(session: &CommandContext<'_>, at: Option<When>, all: bool) -> Result<()> {
    let found = quipu_engine::tenets(&session.engine, &session.user, at, all)?;
    session.printer.report(&found, |found| {
        list(found, "no tenets", |tenet| {
            format!("{} · {}  {}  {}\n", word(&tenet.kind), word(&tenet.status), tenet.text, tenet.id)
        })
    })
}

pub(super) fn conflicts(session: &CommandContext<'_>) -> Result<()> {
    let found = quipu_engine::conflicts(&session.engine, &session.user)?;
    session.printer.report(&found, |found| list(found, "no conflicts", conflict))
}

pub(super) fn conflict(conflict: &Conflict) -> String {
    let side = |shown: &FactShown| {
        let fact = &shown.fact;
        format!("{} ({}, said {})", fact.text, word(&fact.source), render::time(fact.first_seen))
    };
    let against: Vec<String> = conflict.against.iter().map(side).collect();
    let asked = match (&conflict.question, conflict.review) {
        (Some(question), Some(review)) => format!("    {question}  `quipu review approve|decline {review}`\n"),
        _ => String::new(),
    };
    format!("{}\n    against {}\n{asked}", side(&conflict.contested), against.join("; "))
}

fn waiting(one: &Waiting) -> String {
    let review = &one.review;
    let rival = one.rival.as_ref().map(|rival| format!("    against: {rival}\n")).unwrap_or_default();
    let quotes: String =
        one.quotes.iter().map(|(id, quote)| format!("    “{}”  {id}\n", render::excerpt(quote, 90))).collect();
    let decided = match &review.decided {
        Some((decision, seq)) => {
            let what = match decision {
                ReviewDecision::Approved => "approved".to_owned(),
                ReviewDecision::Edited { text } => format!("edited to {text:?}"),
                ReviewDecision::Declined => "declined".to_owned(),
            };
            format!("    {what} by event {seq}\n")
        }
        None => String::new(),
    };
    let moves = one.preview.as_ref().map(super::evolve::preview).unwrap_or_default();
    let (id, question) = (review.id, &review.question);
    format!("{id}  {question}\n    {} — {}\n{rival}{quotes}{moves}{decided}", one.text, review.reason)
}

pub(super) fn review(session: &CommandContext<'_>, action: Option<ReviewAction>) -> Result<()> {
    let (id, decision, because) = match action.unwrap_or(ReviewAction::List { all: false }) {
        ReviewAction::List { all } => {
            let found = quipu_engine::reviews(&session.engine, &session.user, all)?;
            return session.printer.report(&found, |found| list(found, "nothing waits for you", waiting));
        }
        ReviewAction::Approve(decide) => (decide.id, ReviewDecision::Approved, decide.because),
        ReviewAction::Decline(decide) => (decide.id, ReviewDecision::Declined, decide.because),
        ReviewAction::Edit { id, value, because } => (id, ReviewDecision::Edited { text: value }, because),
        ReviewAction::Undo { id } => {
            let receipt = quipu_engine::undo_review(&session.engine, &session.user, &id)?;
            return done(session, &receipt);
        }
    };
    let (engine, user) = (&session.engine, &session.user);
    let receipt = quipu_engine::decide_review(engine, user, &id, &decision, Actor::User, because.as_deref())?;
    done(session, &receipt)
}

/// Prints what an event changed.
pub(super) fn done(session: &CommandContext<'_>, receipt: &Receipt) -> Result<()> {
    let before = When::Seq(receipt.seq.saturating_sub(1));
    let difference = quipu_engine::diff(&session.engine, &session.user, before, When::Now)?;
    session.printer.report(receipt, |receipt| format!("Event {}\n{}", receipt.seq, render::difference(&difference)))?;
    session.say_lag(receipt.lag.as_deref());
    Ok(())
}

pub(super) fn history(session: &CommandContext<'_>, name: &str) -> Result<()> {
    let story = quipu_engine::history(&session.engine, &session.user, name)?;
    session.printer.report(&story, |story: &ItemHistory| {
        let quotes: String =
            story.quotes.iter().map(|(id, quote)| format!("    “{}”  {id}\n", render::excerpt(quote, 90))).collect();
        let events: String = story.events.iter().map(render::entry).collect();
        format!("{}  {} · {}\n{quotes}{events}", story.id, story.text, story.standing)
    })
}

pub(super) fn retract(session: &CommandContext<'_>, args: &Retract) -> Result<()> {
    let receipt = quipu_engine::retract(&session.engine, &session.user, &args.id, &args.because)?;
    done(session, &receipt)
}

pub(super) fn close(session: &CommandContext<'_>, args: &Close) -> Result<()> {
    let receipt = quipu_engine::close_fact(&session.engine, &session.user, &args.id, args.valid_to)?;
    done(session, &receipt)
}

pub(super) fn merge(session: &CommandContext<'_>, args: &Merge) -> Result<()> {
    let receipt = quipu_engine::merge(&session.engine, &session.user, &args.from, &args.into)?;
    done(session, &receipt)
}

pub(super) fn score(session: &CommandContext<'_>, args: &Score) -> Result<()> {
    let receipt = quipu_engine::score_fact(&session.engine, &session.user, &args.id, args.score)?;
    done(session, &receipt)
}

pub(super) fn reread(session: &CommandContext<'_>, args: &Reread) -> Result<()> {
    let (engine, user) = (&session.engine, &session.user);
    let found = if args.unread {
        let done = quipu_engine::process(engine, user, Until::Extracted, &Budget::default())?;
        for fault in &done.failed {
            session.printer.hint(fault);
        }
        done.read
    } else {
        quipu_engine::reread(engine, user)?
    };
    let how = if args.unread { "read" } else { "read again" };
    session
        .printer
        .report(&found, |found| format!("{} sources {how}\n{}", found.sources, understood(&found.understood)))
}

pub(super) fn write(session: &CommandContext<'_>, args: &Write) -> Result<()> {
    let text = super::write::text_of(&args.file)?;
    let mut request: WriteRequest = serde_json::from_str(&text).map_err(|error| {
        Error::Invalid(format!("{}: not a write of facts, notes, tasks, tenets: {error}", args.file.display()))
    })?;
    request.idempotency_key = args.idempotency_key.clone().or(request.idempotency_key);
    let report = quipu_engine::write(&session.engine, &session.user, &request, args.from)?;
    session.printer.report(&report, |report| {
        let (accepted, rejected) = (report.accepted.len(), report.rejected.len());
        let again = if report.replayed { " (it was written already)" } else { "" };
        let ignored = match report.ignored.as_slice() {
            [] => String::new(),
            names => format!("Ignored, as there is no place for it: {}\n", names.join(", ")),
        };
        format!("{accepted} accepted, {rejected} rejected{again}\n{}{ignored}", understood(&report.understood))
    })
}

pub(super) fn migrate(session: &CommandContext<'_>, args: &Migrate) -> Result<()> {
    let text = super::write::text_of(&args.file)?;
    let options =
        MigrateOptions { said_at: args.said_at, dry_run: args.dry_run, idempotency_key: args.idempotency_key.clone() };
    let found = quipu_engine::migrate(&session.engine, &session.user, &text, &options)?;
    session.printer.report(&found, |found| {
        let mut lines = understood(&found.understood);
        for (sentence, paths) in &found.episodes {
            let influenced = if paths.is_empty() { "nothing".to_owned() } else { paths.join(", ") };
            lines.push_str(&format!("  “{}” → {influenced}\n", render::excerpt(sentence, 90)));
        }
        for sentence in &found.not_understood {
            lines.push_str(&format!("  not understood: “{}”\n", render::excerpt(sentence, 90)));
        }
        let core = serde_json::to_string_pretty(&found.core).unwrap_or_default();
        format!("{lines}The core document{}:\n{core}\n", if found.dry_run { " would be" } else { "" })
    })?;
    if args.dry_run {
        session.printer.hint("nothing was changed; leave out --dry-run to migrate");
    }
    Ok(())
}
