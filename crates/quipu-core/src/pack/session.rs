//! The context of a session: base truth, turn log, and the most recent messages verbatim.
//!
//! Hard exceptions are always included, whatever the budget; the rest shares what remains. The recent messages come
//! first, long ones shortened at sentence ends; then the base truth; then the turn log.

use std::collections::{BTreeMap, BTreeSet};

use super::{Count, Packed, estimate_tokens, excerpt, is_backchannel, neutralise, terms};
use crate::id::{ItemId, Seq, UserId};
use crate::item::{Truth, TruthKind};
use crate::session::WindowTurn;
use crate::source::Role;

/// Default budget of a session's context in tokens.
pub const SESSION_TOKENS: usize = 4_000;

/// Fixed headings; three of them are those of the source document.
const EXCEPTIONS: &str = "Hard Exceptions";
const FACTS: &str = "Established Facts & Constraints";
const LOG: &str = "Conversation History Summary";
const RECENT: &str = "Recent Messages";
/// End of the first block.
const GUIDE: &str =
    "The recent messages are the words themselves: rely on them for detail. The summary is for older turns.\n";

/// Shares of the budget in percent. Unused tokens pass to the next part.
const RECENT_PERCENT: usize = 55;
const FACTS_PERCENT: usize = 30;

/// A message of more tokens is long: it is first shortened to [`CUT_TOKENS`] and extended if the others leave room.
const LONG_TOKENS: usize = 160;
const CUT_TOKENS: usize = 120;
/// Percentage of the available tokens that an excerpt fills, as a margin for its estimated size.
const EXCERPT_PERCENT: usize = 90;

/// A line of the turn log.
#[derive(Debug, Clone)]
pub struct LogLine {
    /// Number of the turn.
    pub turn: u32,
    /// The user's request.
    pub user: String,
    /// The reply.
    pub assistant: String,
}

/// The input of a session's context.
#[derive(Debug, Clone)]
pub struct SessionRequest<'a> {
    /// The user whose memory it is.
    pub user: &'a UserId,
    /// The session.
    pub session: &'a str,
    /// The version of the memory.
    pub version: Seq,
    /// The base truth.
    pub base_truth: &'a [Truth],
    /// The turn log, oldest first. Lines of turns whose messages are shown whole are omitted.
    pub log: &'a [LogLine],
    /// The raw window, oldest first.
    pub window: &'a [WindowTurn],
    /// Maximum total cost in tokens.
    pub max_tokens: usize,
    /// Tokens reserved for recall results; only the recent messages may take them.
    pub reserve: usize,
    /// Tokens that stay free for what must never be forgotten.
    pub binding: usize,
}

/// The context of a session, without recall results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPack {
    /// Base truth and turn log, as one delimited block.
    pub told: String,
    /// The raw window as a second block; empty without messages.
    pub recent: String,
    /// Its sections, in order.
    pub sections: Vec<Packed>,
    /// Ids of the base truth entries in it.
    pub cited: Vec<ItemId>,
    /// The messages in it, oldest first, as shown.
    pub messages: Vec<WindowTurn>,
    /// Ids of the shortened messages.
    pub cut: Vec<ItemId>,
    /// Ids of omitted entries and messages.
    pub omitted: Vec<ItemId>,
    /// Numbers of the turns whose line was omitted.
    pub omitted_turns: Vec<u32>,
    /// Tokens left for recall results.
    pub left: usize,
}

/// Builds the context. Deterministic. Counted line by line, it exceeds `max_tokens` only if the hard exceptions and the
/// frame do.
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
        cut: Vec::new(),
        omitted: Vec::new(),
        omitted_turns: Vec::new(),
        left: 0,
    };
    let hard: Vec<&Truth> = request.base_truth.iter().filter(|truth| truth.is_hard()).collect();
    let lines: Vec<String> = hard.iter().map(|truth| line(truth)).collect();
    section(count, &mut told, &mut made, EXCEPTIONS, &lines);
    made.cited.extend(hard.iter().map(|truth| truth.id));

    let frame = count(closing) * 2 + count(&opening("recent")) + count(GUIDE);
    let mut left = request.max_tokens.saturating_sub(count(&told) + frame + request.binding);
    let share = |percent: usize, left: usize| (request.max_tokens * percent / 100).min(left);

    // The recent messages get their share plus what nothing else needs.
    let others =
        request.base_truth.iter().filter(|truth| !truth.is_hard()).map(|truth| estimate_tokens(&line(truth)) + 1);
    let others = others.sum::<usize>().min(share(FACTS_PERCENT, left));
    let log: usize = request.log.iter().map(|one| estimate_tokens(&log_line(one)) + 1).sum();
    let free = left.saturating_sub(request.reserve + others + log);
    let window = window(request.window, count, share(RECENT_PERCENT, left).max(free));
    for (one, shown) in request.window.iter().zip(&window) {
        match shown {
            Some(text) => {
                made.cut.extend((*text != one.text).then_some(one.id));
                made.messages.push(WindowTurn { text: text.clone(), ..one.clone() });
            }
            None => made.omitted.push(one.id),
        }
    }
    let messages: Vec<String> = made.messages.iter().map(message).collect();
    left = left.saturating_sub(messages.iter().map(|text| count(text) + 1).sum::<usize>() + count(RECENT) + 3);

    let mut soft: Vec<&Truth> = request.base_truth.iter().filter(|truth| !truth.is_hard()).collect();
    // Binding kinds come first; among equals the newest entry is the most likely to matter.
    soft.reverse();
    soft.sort_by_key(|truth| truth.kind);
    let lines: Vec<String> = soft.iter().map(|truth| line(truth)).collect();
    let kept = fitting(count, &lines, share(FACTS_PERCENT, left), FACTS);
    for (place, truth) in soft.iter().enumerate() {
        if kept.contains(&place) { made.cited.push(truth.id) } else { made.omitted.push(truth.id) }
    }
    let shown: Vec<String> = kept.iter().map(|&place| lines[place].clone()).collect();
    left = left.saturating_sub(section(count, &mut told, &mut made, FACTS, &shown));

    // Selects the newest lines, mere politeness last, and prints them in order.
    let whole = whole_turns(request.window, &made);
    let log: Vec<&LogLine> = request.log.iter().filter(|one| !whole.contains(&one.turn)).collect();
    let lines: Vec<String> = log.iter().map(|one| log_line(one)).collect();
    let mut order: Vec<usize> = (0..log.len()).rev().collect();
    order.sort_by_key(|&place| is_backchannel(&log[place].user) && is_backchannel(&log[place].assistant));
    let ordered: Vec<String> = order.iter().map(|&place| lines[place].clone()).collect();
    let fits = fitting(count, &ordered, left.saturating_sub(request.reserve), LOG);
    let kept: BTreeSet<usize> = fits.into_iter().map(|at| order[at]).collect();
    made.omitted_turns = (0..log.len()).filter(|place| !kept.contains(place)).map(|place| log[place].turn).collect();
    let shown: Vec<String> = kept.iter().map(|&place| lines[place].clone()).collect();
    left = left.saturating_sub(section(count, &mut told, &mut made, LOG, &shown));

    if made.sections.is_empty() && messages.is_empty() {
        // Nothing is known of it yet.
        told.clear();
    } else {
        told.push_str(GUIDE);
        told.push_str(closing);
    }
    if !messages.is_empty() {
        let mut text = opening("recent");
        section(count, &mut text, &mut made, RECENT, &messages);
        text.push_str(closing);
        made.recent = text;
    }
    made.told = told;
    made.left =
        (left + request.binding).min(request.max_tokens.saturating_sub(count(&made.told) + count(&made.recent)));
    made
}

fn log_line(one: &LogLine) -> String {
    format!("Turn {}: User: {} | You: {}", one.turn, neutralise(&one.user), neutralise(&one.assistant))
}

fn line(truth: &Truth) -> String {
    match truth.kind {
        TruthKind::Exception => format!("- {}", neutralise(&truth.text)),
        kind => format!("- {}: {}", kind.as_str(), neutralise(&truth.text)),
    }
}

/// A message with its line breaks, each line sanitised.
fn kept_lines(text: &str) -> String {
    text.lines().map(|line| indent(line) + &neutralise(line)).collect::<Vec<_>>().join("\n")
}

/// Leading blanks of a line, which matter in code.
fn indent(line: &str) -> String {
    line.chars().take_while(|c| *c == ' ' || *c == '\t').collect()
}

/// Indices of the lines that fit, in order; a line that is too long is skipped, not cut.
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

/// The messages of the window that fit, newest first: short ones whole, long ones shortened, then extended as far as
/// there is room.
fn window(window: &[WindowTurn], count: Count<'_>, budget: usize) -> Vec<Option<String>> {
    let last = window.iter().rposition(|one| one.role == Role::User);
    let asked = last.map(|at| terms(&window[at].text)).unwrap_or_default();
    // The beginning and end of the asking message show what it is and what it asks.
    let excerpt_of = |place: usize, tokens_max: usize| {
        let text = &window[place].text;
        let ends = [0..1, text.len().saturating_sub(1)..text.len()];
        match last == Some(place) {
            true => excerpt(text, &ends, &BTreeSet::new(), tokens_max).text,
            false => excerpt(text, &[], &asked, tokens_max).text,
        }
    };
    let cost = |one: &WindowTurn, text: &str| count(&message(&WindowTurn { text: text.to_owned(), ..one.clone() })) + 1;
    let mut left = budget.saturating_sub(count(RECENT) + 3);
    let mut shown: Vec<Option<String>> = vec![None; window.len()];
    let mut costs = BTreeMap::new();
    for (place, one) in window.iter().enumerate().rev() {
        let is_long = estimate_tokens(&one.text) > LONG_TOKENS;
        let text = if is_long { excerpt_of(place, CUT_TOKENS) } else { one.text.clone() };
        let needed = cost(one, &text);
        if needed <= left {
            left -= needed;
            costs.insert(place, needed);
            shown[place] = Some(text);
        }
    }
    for (place, short) in costs.into_iter().rev() {
        let one = &window[place];
        if shown[place].as_ref() == Some(&one.text) {
            continue;
        }
        let more = cost(one, &one.text).saturating_sub(short);
        let longer = if more <= left {
            one.text.clone()
        } else {
            excerpt_of(place, (CUT_TOKENS + left) * EXCERPT_PERCENT / 100)
        };
        let more = cost(one, &longer).saturating_sub(short);
        if (1..=left).contains(&more) {
            left -= more;
            shown[place] = Some(longer);
        }
    }
    shown
}

/// A message as shown.
fn message(one: &WindowTurn) -> String {
    format!("{}: {}", neutralise(&one.speaker), kept_lines(&one.text))
}

/// Turns with a message of the user, all of whose messages are shown whole.
fn whole_turns(window: &[WindowTurn], made: &SessionPack) -> BTreeSet<u32> {
    let is_whole =
        |one: &&WindowTurn| made.messages.iter().any(|shown| shown.id == one.id) && !made.cut.contains(&one.id);
    let broken: BTreeSet<u32> = window.iter().filter(|one| !is_whole(one)).map(|one| one.turn).collect();
    let asked = window.iter().filter(|one| one.role != Role::Assistant).map(|one| one.turn);
    asked.filter(|turn| !broken.contains(turn)).collect()
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
