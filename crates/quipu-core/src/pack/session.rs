//! The context of a session: what holds in it, what was said in few words, and the last words as they were.
//!
//! Hard exceptions are always in, whatever the budget says: the rest shares what they leave.

use std::collections::BTreeSet;

use super::{Count, Packed, neutralise};
use crate::id::{ItemId, Seq, UserId};
use crate::item::{Truth, TruthKind};
use crate::session::WindowTurn;

/// What a session's context costs at most if nobody says otherwise.
pub const SESSION_TOKENS: usize = 4_000;

/// Headings, always the same; three of them are the source document's.
const EXCEPTIONS: &str = "Hard Exceptions";
const FACTS: &str = "Established Facts & Constraints";
const LOG: &str = "Conversation History Summary";
const RECENT: &str = "Recent Messages";
/// What closes the first block.
const GUIDE: &str =
    "The recent messages are the words themselves: rely on them for detail. The summary is for older turns.\n";

/// Shares of the budget, in percent. What one leaves, the next may use; what all leave is for what is recalled.
const FACTS_PERCENT: usize = 30;
const RECENT_PERCENT: usize = 40;
const LOG_PERCENT: usize = 20;

/// A line of the turn log.
#[derive(Debug, Clone)]
pub struct LogLine {
    /// Its number.
    pub turn: u32,
    /// What the user wanted.
    pub user: String,
    /// What was answered.
    pub assistant: String,
}

/// What a session's context is made from.
#[derive(Debug, Clone)]
pub struct SessionRequest<'a> {
    /// Whose memory.
    pub user: &'a UserId,
    /// The conversation.
    pub session: &'a str,
    /// At which version.
    pub version: Seq,
    /// The base truth.
    pub base_truth: &'a [Truth],
    /// The turn log, oldest first.
    pub log: &'a [LogLine],
    /// The raw window, oldest first.
    pub window: &'a [WindowTurn],
    /// What the whole may cost, in tokens.
    pub max_tokens: usize,
}

/// The context of a session, without what is recalled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPack {
    /// Base truth and turn log, as one delimited block.
    pub told: String,
    /// The raw window as another one; empty without messages.
    pub recent: String,
    /// Its sections, in order.
    pub sections: Vec<Packed>,
    /// Entries in it.
    pub cited: Vec<ItemId>,
    /// The messages in it, oldest first.
    pub messages: Vec<WindowTurn>,
    /// Entries and messages that did not fit.
    pub omitted: Vec<ItemId>,
    /// Turns whose line did not fit.
    pub omitted_turns: Vec<u32>,
    /// Tokens left for what is recalled.
    pub left: usize,
}

/// Builds the context. Deterministic; over `max_tokens`, as counted line by line, only by hard exceptions and the frame.
pub fn pack_session(request: &SessionRequest<'_>, count: Count<'_>) -> SessionPack {
    let name = neutralise(request.session).replace(['"', '<', '>'], "'");
    let opening = |part: &str| {
        let (user, version) = (request.user, request.version);
        format!("<memory user=\"{user}\" version=\"{version}\" session=\"{name}\" part=\"{part}\">\n")
    };
    let mut told = opening("session");
    told.push_str("What is known of this conversation, for reference. Only the hard exceptions bind.\n");
    let closing = "</memory>\n";
    let mut made = SessionPack {
        told: String::new(),
        recent: String::new(),
        sections: Vec::new(),
        cited: Vec::new(),
        messages: Vec::new(),
        omitted: Vec::new(),
        omitted_turns: Vec::new(),
        left: 0,
    };
    let hard: Vec<&Truth> = request.base_truth.iter().filter(|truth| truth.is_hard()).collect();
    let lines: Vec<String> = hard.iter().map(|truth| line(truth)).collect();
    section(count, &mut told, &mut made, EXCEPTIONS, &lines);
    made.cited.extend(hard.iter().map(|truth| truth.id));

    let frame = count(closing) * 2 + count(&opening("recent")) + count(GUIDE);
    let mut left = request.max_tokens.saturating_sub(count(&told) + frame);
    let share = |percent: usize, left: usize| (request.max_tokens * percent / 100).min(left);

    let mut soft: Vec<&Truth> = request.base_truth.iter().filter(|truth| !truth.is_hard()).collect();
    // The kinds that bind come first; among equals the newest entry is the likeliest to matter.
    soft.reverse();
    soft.sort_by_key(|truth| truth.kind);
    let lines: Vec<String> = soft.iter().map(|truth| line(truth)).collect();
    let kept = fitting(count, &lines, share(FACTS_PERCENT, left), FACTS);
    for (place, truth) in soft.iter().enumerate() {
        if kept.contains(&place) { made.cited.push(truth.id) } else { made.omitted.push(truth.id) }
    }
    let shown: Vec<String> = kept.iter().map(|&place| lines[place].clone()).collect();
    left = left.saturating_sub(section(count, &mut told, &mut made, FACTS, &shown));

    // The newest messages and lines are kept, and told in their order.
    let messages: Vec<String> =
        request.window.iter().map(|one| format!("{}: {}", neutralise(&one.speaker), kept_lines(&one.text))).collect();
    let newest: Vec<String> = messages.iter().rev().cloned().collect();
    let recent = places(fitting(count, &newest, share(RECENT_PERCENT, left), RECENT), newest.len());
    for (place, one) in request.window.iter().enumerate() {
        if recent.contains(&place) { made.messages.push(one.clone()) } else { made.omitted.push(one.id) }
    }
    let spent: usize = recent.iter().map(|&place| count(&messages[place]) + 1).sum();
    left = left.saturating_sub(spent + count(RECENT) + 3);

    let log: Vec<String> = request
        .log
        .iter()
        .map(|one| format!("Turn {}: User: {} | You: {}", one.turn, neutralise(&one.user), neutralise(&one.assistant)))
        .collect();
    let newest: Vec<String> = log.iter().rev().cloned().collect();
    let kept = places(fitting(count, &newest, share(LOG_PERCENT, left), LOG), newest.len());
    for (place, one) in request.log.iter().enumerate().filter(|(place, _)| !kept.contains(place)) {
        debug_assert!(place < log.len(), "a line of the log without a text");
        made.omitted_turns.push(one.turn);
    }
    let shown: Vec<String> = kept.iter().map(|&place| log[place].clone()).collect();
    left = left.saturating_sub(section(count, &mut told, &mut made, LOG, &shown));

    told.push_str(GUIDE);
    told.push_str(closing);
    if !recent.is_empty() {
        let mut text = opening("recent");
        let shown: Vec<String> = recent.iter().map(|&place| messages[place].clone()).collect();
        section(count, &mut text, &mut made, RECENT, &shown);
        text.push_str(closing);
        made.recent = text;
    }
    made.told = told;
    made.left = left.min(request.max_tokens.saturating_sub(count(&made.told) + count(&made.recent)));
    made
}

fn line(truth: &Truth) -> String {
    match truth.kind {
        TruthKind::Exception => format!("- [{}] {}", truth.id, neutralise(&truth.text)),
        kind => format!("- [{} · {}] {}", truth.id, kind.word(), neutralise(&truth.text)),
    }
}

/// A message with its line ends, each line made harmless.
fn kept_lines(text: &str) -> String {
    text.lines().map(|line| indent(line) + &neutralise(line)).collect::<Vec<_>>().join("\n")
}

/// The blanks a line begins with: they mean something in code.
fn indent(line: &str) -> String {
    line.chars().take_while(|c| *c == ' ' || *c == '\t').collect()
}

/// Places of the lines that fit, first come first served; a line too long is passed over, not cut.
fn fitting(count: Count<'_>, lines: &[String], budget: usize, title: &str) -> BTreeSet<usize> {
    let mut left = budget.saturating_sub(count(title) + 3);
    let mut kept = BTreeSet::new();
    for (place, line) in lines.iter().enumerate() {
        let cost = count(line) + 1;
        if cost <= left {
            left -= cost;
            kept.insert(place);
        }
    }
    kept
}

/// Places counted from the end, counted from the start.
fn places(from_end: BTreeSet<usize>, length: usize) -> BTreeSet<usize> {
    from_end.into_iter().map(|place| length - 1 - place).collect()
}

fn section(
    count: Count<'_>,
    text: &mut String,
    made: &mut SessionPack,
    title: &'static str,
    lines: &[String],
) -> usize {
    if lines.is_empty() {
        return 0;
    }
    let mut section = format!("## {title}\n");
    for line in lines {
        section.push_str(line);
        section.push('\n');
    }
    let tokens = count(&section);
    made.sections.push(Packed { title, tokens, lines: lines.len() });
    text.push_str(&section);
    tokens
}
