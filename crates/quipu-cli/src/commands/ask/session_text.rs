//! Text forms of sessions.

use quipu_core::item::TruthKind;
use quipu_core::session::{SessionArtifact, WindowTurn};
use quipu_engine::{Consolidated, SessionShown, SessionState, SummarizeReport, TruthShown, TurnShown};

use crate::commands::render;

/// Longest excerpt of a message or a summary, in characters.
const EXCERPT_CHARS: usize = 100;

pub(super) fn line(one: &SessionShown) -> String {
    let over = if one.is_over { " · over" } else { "" };
    let pending = if one.unsummarized > 0 { format!(" · {} not summarised", one.unsummarized) } else { String::new() };
    let hard = if one.exceptions > 0 { format!(", {} hard", one.exceptions) } else { String::new() };
    format!(
        "{} · {} · {} turns · base truth {}{hard}{pending}{over}\n",
        one.session_id,
        render::time(one.last_said_at),
        one.turns,
        one.base_truth
    )
}

pub(super) fn table(found: &[SessionShown]) -> String {
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

pub(super) fn state(state: &SessionState) -> String {
    let over = if state.is_over { " · over" } else { "" };
    let mut text = format!("{} · version {}{over}\n", state.session_id, state.version);
    let mut section = |title: &str, lines: String| {
        if !lines.is_empty() {
            text.push_str(&format!("{title}\n{lines}"));
        }
    };
    section("Base truth", state.base_truth.iter().map(truth).collect());
    section("Turn log", state.turn_log.iter().map(turn).collect());
    let message = |one: &WindowTurn| {
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

pub(super) fn truth(one: &TruthShown) -> String {
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
        (_, true) => "  (verbatim)",
        _ => "",
    };
    let part = |text: &str| if text.is_empty() { "–".to_owned() } else { render::excerpt(text, EXCERPT_CHARS) };
    let refused: String = one.refused.iter().map(|refused| format!("        × {}\n", refused.reason)).collect();
    format!("  {:>3} {} → {}{flag}\n{refused}", one.turn, part(&one.user_summary), part(&one.assistant_summary))
}

pub(super) fn summarized(report: &SummarizeReport) -> String {
    let summarized: String = report.summarized.iter().map(render::summarized).collect();
    let merged: String = report.consolidated.iter().map(consolidated).collect();
    let fault = report.fault.as_ref().map(|fault| format!("not summarised yet: {fault}\n")).unwrap_or_default();
    if summarized.is_empty() && fault.is_empty() {
        "nothing to summarise\n".to_owned()
    } else {
        summarized + &merged + &fault
    }
}

pub(super) fn consolidated(one: &Consolidated) -> String {
    let mut text = format!(
        "Event {}: {} merged at turn {}\n",
        one.event_seq,
        render::counted(one.merged.len(), ["entry", "entries"]),
        one.turn
    );
    for (id, said, from) in &one.merged {
        text.push_str(&format!("  + {id}  {said} (of {})\n", from.len()));
    }
    for (merge, reason) in &one.refused {
        text.push_str(&format!("  × {}: {reason}\n", render::excerpt(&merge.text, EXCERPT_CHARS)));
    }
    text
}
