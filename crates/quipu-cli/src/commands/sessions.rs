//! What conversations know of themselves.

use quipu_core::event::Actor;
use quipu_core::item::TruthKind;
use quipu_core::session::{SessionArtifact, Summarized};
use quipu_engine::versions::When;
use quipu_engine::{
    Consolidated, Receipt, Result, SessionContextOptions, SessionShown, SessionState, SummarizeOptions,
    SummarizeReport, TruthShown, TurnShown,
};

use super::{CommandContext, people, render};
use crate::args::Form;
use crate::args::sessions::{SessionAction, SessionContext};

/// Longest piece of a message or a summary in a list, in characters.
const EXCERPT_CHARS: usize = 100;

pub(super) fn sessions(session: &CommandContext<'_>, at: When) -> Result<()> {
    let found = quipu_engine::sessions(&session.engine, &session.user, at)?;
    let as_table = session.printer.form() == Form::Table;
    session.printer.report(&found, |found| match (found.is_empty(), as_table) {
        (true, _) => "no conversation yet; `quipu add --session NAME` begins one\n".to_owned(),
        (false, true) => table(found),
        (false, false) => found.iter().map(line).collect(),
    })
}

fn line(one: &SessionShown) -> String {
    let over = if one.is_over { " · over" } else { "" };
    let untold = if one.unsummarized > 0 { format!(" · {} not summarised", one.unsummarized) } else { String::new() };
    let hard = if one.exceptions > 0 { format!(", {} hard", one.exceptions) } else { String::new() };
    format!(
        "{} · {} · {} turns · base truth {}{hard}{untold}{over}\n",
        one.session_id,
        render::time(one.last_said_at),
        one.turns,
        one.base_truth
    )
}

fn table(found: &[SessionShown]) -> String {
    let row = |one: &SessionShown| {
        vec![
            one.session_id.clone(),
            one.turns.to_string(),
            one.base_truth.to_string(),
            one.exceptions.to_string(),
            one.unsummarized.to_string(),
            render::time(one.last_said_at),
        ]
    };
    let rows: Vec<Vec<String>> = found.iter().map(row).collect();
    render::table(&["SESSION", "TURNS", "TRUTHS", "HARD", "UNSUMMARISED", "LAST"], &rows)
}

pub(super) fn show(session: &CommandContext<'_>, id: &str, at: When) -> Result<()> {
    let state = quipu_engine::session(&session.engine, &session.user, id, at)?;
    session.printer.report(&state, shown)
}

fn shown(state: &SessionState) -> String {
    let over = if state.is_over { " · over" } else { "" };
    let mut text = format!("{} · version {}{over}\n", state.session_id, state.version);
    let mut section = |title: &str, lines: String| {
        if !lines.is_empty() {
            text.push_str(&format!("{title}\n{lines}"));
        }
    };
    section("Base truth", state.base_truth.iter().map(truth).collect());
    section("Turn log", state.turn_log.iter().map(turn).collect());
    let message = |one: &quipu_core::session::WindowTurn| {
        format!("  {:>3} {}: {}\n", one.turn, one.speaker, render::excerpt(&one.text, EXCERPT_CHARS))
    };
    section("Raw window", state.raw_window.iter().map(message).collect());
    let artifact = |one: &SessionArtifact| {
        let name = one.name.as_deref().map(|name| format!(" {name}")).unwrap_or_default();
        format!("  {:>5} {}{name}: {}\n", one.key, one.kind, render::excerpt(&one.text, EXCERPT_CHARS))
    };
    section("Artifacts", state.artifacts.iter().map(artifact).collect());
    if state.snapshots > 0 {
        let turn = state.consolidated_turn;
        text.push_str(&format!("Consolidated at turn {turn}, {} snapshots kept\n", state.snapshots));
    }
    text
}

fn truth(one: &TruthShown) -> String {
    let from = match (one.turn, one.by_hand) {
        (_, true) => "by hand".to_owned(),
        (Some(turn), false) => format!("turn {turn}"),
        (None, false) => "merged".to_owned(),
    };
    let hard = if one.kind == TruthKind::Exception { "!" } else { " " };
    format!("  {hard} {}  {} ({from}, {})\n", one.id, one.text, one.kind.as_str())
}

fn turn(one: &TurnShown) -> String {
    let flag = match (one.unsummarized, one.raw) {
        (true, _) => "  (not summarised yet)",
        (_, true) => "  (in its own words)",
        _ => "",
    };
    let part = |text: &str| if text.is_empty() { "–".to_owned() } else { render::excerpt(text, EXCERPT_CHARS) };
    let refused: String = one.refused.iter().map(|refused| format!("        × {}\n", refused.reason)).collect();
    format!("  {:>3} {} → {}{flag}\n{refused}", one.turn, part(&one.user_summary), part(&one.assistant_summary))
}

pub(super) fn run(session: &CommandContext<'_>, action: SessionAction) -> Result<()> {
    let (engine, user) = (&session.engine, &session.user);
    match action {
        SessionAction::Show { id } => show(session, &id, When::Now),
        SessionAction::Context(args) => context(session, &args, When::Now),
        SessionAction::Exceptions { id, set: Some(text), .. } => set(session, &id, TruthKind::Exception, &text),
        SessionAction::Exceptions { id, unset: Some(name), .. } => unset(session, &id, &name),
        SessionAction::Exceptions { id, .. } => {
            let mut found = quipu_engine::session(engine, user, &id, When::Now)?.base_truth;
            found.retain(|one| one.kind == TruthKind::Exception);
            session.printer.report(&found, |found| match found.is_empty() {
                true => "no hard exception; --set TEXT sets one\n".to_owned(),
                false => found.iter().map(truth).collect(),
            })
        }
        SessionAction::Set { id, kind, text } => set(session, &id, kind, &text),
        SessionAction::Unset { id, name } => unset(session, &id, &name),
        SessionAction::Summarize { id, again } => {
            let report = quipu_engine::summarize(engine, user, &SummarizeOptions { session: id, again })?;
            session.printer.report(&report, summarized)
        }
        SessionAction::Consolidate { id } => {
            let done = quipu_engine::consolidate(engine, user, &id)?;
            session.printer.report(&done, consolidated)
        }
        SessionAction::Snapshots { id } => {
            let found = quipu_engine::session_snapshots(engine, user, &id)?;
            session.printer.report(&found, |found| {
                let kept = |one: &quipu_core::session::BaseTruthSnapshot| {
                    let truths =
                        one.truths.iter().map(|truth| format!("    {} ({})\n", truth.text, truth.kind.as_str()));
                    format!("turn {} · event {}\n{}", one.turn, one.seq, truths.collect::<String>())
                };
                let none = || "no snapshot yet; `quipu session consolidate` makes one\n".to_owned();
                if found.is_empty() { none() } else { found.iter().map(kept).collect() }
            })
        }
        SessionAction::Artifact { id, key } => {
            let found = quipu_engine::session_artifacts(engine, user, &id, &key, When::Now)?;
            session.printer.report(&found, |found| found.iter().map(|one| one.text.as_str()).collect())
        }
        SessionAction::End { id } => {
            let end = quipu_engine::end_session(engine, user, &id)?;
            session.printer.report(&end, |end| {
                let (told, stories) = (summarized(&end.told), end.episodes);
                format!("Event {}: {id} is over, {stories} episodes told\n{told}", end.receipt.seq)
            })?;
            session.say_lag(end.receipt.lag.as_deref());
            Ok(())
        }
    }
}

fn set(session: &CommandContext<'_>, id: &str, kind: TruthKind, text: &str) -> Result<()> {
    let receipt = quipu_engine::set_base_truth(&session.engine, &session.user, id, (kind, text), Actor::User)?;
    done(session, &receipt)
}

fn unset(session: &CommandContext<'_>, id: &str, name: &str) -> Result<()> {
    let receipt = quipu_engine::unset_base_truth(&session.engine, &session.user, id, name, Actor::User)?;
    done(session, &receipt)
}

fn done(session: &CommandContext<'_>, receipt: &Receipt) -> Result<()> {
    people::done(session, receipt)
}

pub(super) fn context(session: &CommandContext<'_>, args: &SessionContext, at: When) -> Result<()> {
    let options = SessionContextOptions {
        session: args.id.clone(),
        query: args.query.clone(),
        max_tokens: args.max_tokens,
        at,
        intent: args.intent.map(Into::into),
        now: None,
        profile: None,
        tokenizer: args.tokenizer.clone(),
        deadline: None,
    };
    let made = quipu_engine::session_context(&session.engine, &session.user, &options)?;
    session.printer.report(&made, |made| made.text.clone())?;
    let left_out = made.omitted.len() + made.omitted_turns.len();
    let over = if made.over_budget { ", more than asked for: what must stand in it needs that" } else { "" };
    session.printer.hint(&format!("{} tokens ({}), {left_out} left out{over}", made.tokens, made.counted_by));
    if !made.unsummarized.is_empty() {
        let turns: Vec<String> = made.unsummarized.iter().map(ToString::to_string).collect();
        session.printer.hint(&format!("not summarised yet: turns {}", turns.join(", ")));
    }
    Ok(())
}

fn summarized(report: &SummarizeReport) -> String {
    let told: String = report.summarized.iter().map(told).collect();
    let merged: String = report.consolidated.iter().map(consolidated).collect();
    let fault = report.fault.as_ref().map(|fault| format!("not told yet: {fault}\n")).unwrap_or_default();
    if told.is_empty() && fault.is_empty() { "nothing is left to tell\n".to_owned() } else { told + &merged + &fault }
}

/// What came of an exchange, a line each.
pub(super) fn told(one: &Summarized) -> String {
    let how = if one.raw { " in its own words" } else { "" };
    let mut text = format!("  turn {} of {} told{how}\n", one.turn, one.session_id);
    let mut line = |sign: &str, id: &dyn std::fmt::Display, said: &str| {
        text.push_str(&format!("  {sign} {id}  {}\n", render::excerpt(said, EXCERPT_CHARS)));
    };
    one.added.iter().for_each(|(id, said)| line("+", id, said));
    one.updated.iter().for_each(|(id, said, _)| line("~", id, said));
    one.removed.iter().for_each(|(id, said)| line("-", id, said));
    for refused in &one.refused {
        let said = render::excerpt(refused.text.as_deref().unwrap_or_default(), EXCERPT_CHARS);
        text.push_str(&format!("  × {said}: {}\n", refused.reason));
    }
    text
}

fn consolidated(one: &Consolidated) -> String {
    let mut text = format!("Event {}: {} entries merged at turn {}\n", one.event_seq, one.merged.len(), one.turn);
    for (id, said, from) in &one.merged {
        text.push_str(&format!("  + {id}  {said} (of {})\n", from.len()));
    }
    for (merge, reason) in &one.refused {
        text.push_str(&format!("  × {}: {reason}\n", render::excerpt(&merge.text, EXCERPT_CHARS)));
    }
    text
}
