//! Renders Markdown pages with Obsidian links: an entry's sources, a topic, and the whole memory.
//!
//! A fact's line ends with its block id (`^fact-0r5k…`), so that an edited line can be matched to its fact.

use std::fmt::Write as _;

use jiff::civil::Date;

use super::entry::ArtifactEntry;
use super::global::{FactGroup, GlobalMemory, PermanentFact, Snapshot, Tier};
use super::markdown::{day, day_of, escape, quote};
use super::rows::FactRow;
use super::sentences::{says_more, whole};
use super::topic::{EntryLine, State, TopicMemory};
use crate::id::{ItemId, ItemKind};
use crate::item::FactType;
use crate::limit;
use crate::source::Source;

/// The block id of an item's line: `fact-0r5k2m9c4t7wz`.
pub fn block_id(id: ItemId) -> String {
    id.to_string().replace('_', "-")
}

/// The fact that a block id names.
pub fn fact_of_block(block: &str) -> Option<ItemId> {
    let id: ItemId = block.replacen('-', "_", 1).parse().ok()?;
    (id.kind == ItemKind::Fact).then_some(id)
}

fn front(schema: &str, members: &[(&str, String)]) -> String {
    let lines: String = members.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
    format!("---\nschema: {schema}\n{lines}---\n")
}

/// `raw.md`: the sources of an entry, verbatim.
pub fn raw_page(entry: &ArtifactEntry) -> String {
    let meta = &entry.meta;
    let members = [("topic", meta.topic.clone()), ("entry", meta.entry_id.clone()), ("day", meta.day.to_string())];
    let mut page = front("entry_raw.v1", &members);
    let _ = write!(
        page,
        "# {}, {}\n\nTopic: {}\n",
        escape(&meta.topic_name),
        day(meta.day),
        topic_link(&meta.topic, &meta.topic_name)
    );
    let mut session: Option<&str> = None;
    for source in &entry.words {
        if source.session.as_deref() != session {
            session = source.session.as_deref();
            let name = session.map_or_else(|| "Without a conversation".to_owned(), escape);
            let _ = write!(page, "\n## {name}\n");
        }
        words(&mut page, source, meta.day);
    }
    if entry.words.is_empty() {
        page.push_str("\nNothing was said; what changed was changed by hand or followed from something else.\n");
    }
    page
}

fn words(page: &mut String, source: &Source, of: Date) {
    let time = source.local_time().map(|at| {
        let at = at.to_zoned(jiff::tz::TimeZone::UTC);
        if at.date() == of { at.strftime(", %H:%M").to_string() } else { at.strftime(", %-d %B %Y %H:%M").to_string() }
    });
    let who = escape(source.speaker());
    let who = capitalised(&who);
    let _ = write!(page, "\n**{who}**{} ^{}\n\n", time.unwrap_or_default(), block_id(source.id));
    page.push_str(&quote(&source.text));
    for artifact in source.artifacts.iter().filter(|artifact| !source.text.contains(&artifact.text)) {
        let name = artifact.name.as_deref().map(|name| format!(" {}", escape(name))).unwrap_or_default();
        let _ = write!(page, "\n{}{name}:\n\n{}", escape(&artifact.kind), quote(&artifact.text));
    }
}

/// Capitalises the first letter.
pub(super) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect()
}

fn topic_link(topic: &str, name: &str) -> String {
    format!("[[topics/{topic}/topic_memory|{}]]", link_text(name))
}

/// Text for a link, without characters that would end it.
fn link_text(text: &str) -> String {
    escape(&text.replace(['[', ']', '|', '#', '^'], " ")).trim().to_owned()
}

/// Most entries listed on a page.
const ENTRIES_SHOWN: usize = 12;

/// `topic_memory.md`.
pub fn topic_page(topic: &TopicMemory) -> String {
    let members = [("topic", topic.topic.clone()), ("last_day", topic.last_day.to_string())];
    let mut page = front(&topic.schema, &members);
    let _ = writeln!(page, "# {}", escape(&topic.name));
    if !topic.facts.is_empty() && says_more(&topic.state.summary, topic.facts.iter().map(|row| row.text.as_str())) {
        let _ = writeln!(page, "\n{}", escape(&capitalised(&topic.state.summary)));
    }
    state(&mut page, &topic.state, "##");
    learned(&mut page, topic.tenets.iter().map(|row| &row.text), topic.notes.iter().map(|row| (&row.text, row.agreed)));
    if !topic.facts.is_empty() {
        page.push_str("\n## Facts\n\n");
    }
    for row in &topic.facts {
        page.push_str(&fact_line(row, &topic.topic, &topic.latest));
    }
    if topic.facts_left_out > 0 {
        let more = topic.facts_left_out;
        let stand = if more == 1 { "stands" } else { "stand" };
        let _ = write!(page, "\n{more} more {stand} in the entries.\n");
    }
    if !topic.earlier.is_empty() {
        page.push_str("\n## What held before\n\n");
        for row in &topic.earlier {
            let until = row.valid_to.map(|to| format!(" — until {}", day_of(to))).unwrap_or_default();
            let _ = writeln!(page, "* {}{until}", escape(&row.text));
        }
    }
    if !topic.stories.is_empty() {
        page.push_str("\n## Stories\n\n");
        for row in &topic.stories {
            let when = row.start.map(|start| format!("{}: ", day_of(start))).unwrap_or_default();
            let _ = writeln!(page, "* {when}{}", escape(&capitalised(whole(&row.summary, usize::MAX))));
        }
    }
    let _ = write!(page, "\n## Entries\n\n{}", escape(&topic.state.bounds.join(" ")));
    page.push_str("\n\n");
    for line in topic.latest.iter().take(ENTRIES_SHOWN) {
        let counts = [(line.sources, "source", "sources"), (line.facts, "fact", "facts")];
        let mut notes: Vec<String> = counts
            .into_iter()
            .filter(|(number, ..)| *number > 0)
            .map(|(number, one, many)| count(number, one, many))
            .collect();
        if line.open {
            notes.push("still open".to_owned());
        }
        let notes = if notes.is_empty() { String::new() } else { format!(": {}", notes.join(", ")) };
        let _ = writeln!(page, "* {}{notes}", entry_link(&topic.topic, line));
    }
    if topic.latest.len() > ENTRIES_SHOWN || topic.entries > limit::TOPIC_ENTRIES_LISTED {
        page.push_str("* older ones in this folder\n");
    }
    page.push_str("\n[[GLOBAL_MEMORY|Everything at a glance]]\n");
    page
}

fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

fn entry_link(topic: &str, line: &EntryLine) -> String {
    let open = if line.open { "open/" } else { "" };
    let number = line.entry_id.splitn(4, '-').nth(3).map(|number| format!(" ({number})")).unwrap_or_default();
    format!("[[topics/{topic}/{open}{}/raw|{}{number}]]", line.entry_id, day(line.day))
}

/// `- User lives in Porto (score 9) — since 2 March 2024, [[…|12 March 2024]] ^fact-…`
fn fact_line(row: &FactRow, topic: &str, known: &[EntryLine]) -> String {
    let mut notes = Vec::new();
    notes.extend(row.valid_from.map(|from| format!("from {}", day_of(from))));
    if row.confidence < 0.8 {
        notes.push("not quite sure".to_owned());
    }
    if row.pinned {
        notes.push("pinned".to_owned());
    }
    let line = known.iter().find(|line| Some(&line.entry_id) == row.entry_id.as_ref());
    notes.extend(line.map(|line| entry_link(topic, line)));
    let notes = if notes.is_empty() { String::new() } else { format!(" — {}", notes.join(", ")) };
    format!("- {}{}{notes} ^{}\n", escape(&row.text), score(row.user_fact_score), block_id(row.id))
}

fn score(score: Option<u8>) -> String {
    score.map(|score| format!(" (score {score})")).unwrap_or_default()
}

fn state(page: &mut String, state: &State, level: &str) {
    if !state.next_actions.is_empty() {
        let _ = write!(page, "\n{level} To do\n\n");
        for line in &state.next_actions {
            let _ = writeln!(page, "* [ ] {}", escape(line));
        }
    }
    if !state.open_questions.is_empty() {
        let _ = write!(page, "\n{level} Open questions\n\n");
        for line in &state.open_questions {
            let _ = writeln!(page, "* {}", escape(line));
        }
    }
}

/// Tenets and notes. Notes without a second vote are marked.
fn learned<'a>(
    page: &mut String,
    tenets: impl Iterator<Item = &'a String>,
    notes: impl Iterator<Item = (&'a String, bool)>,
) {
    let tenets: String = tenets.map(|text| format!("* {}\n", escape(text))).collect();
    let once = |agreed| if agreed { "" } else { " — seen once so far" };
    let notes: String = notes.map(|(text, agreed)| format!("* {}{}\n", escape(text), once(agreed))).collect();
    for (heading, lines) in [("Lives by", tenets), ("Learned", notes)] {
        if !lines.is_empty() {
            let _ = write!(page, "\n## {heading}\n\n{lines}");
        }
    }
}

/// `GLOBAL_MEMORY.md`.
pub fn global_page(global: &GlobalMemory) -> String {
    let mut page = front(&global.schema, &[("user", format!("\"{}\"", global.user))]);
    let _ = writeln!(page, "# Memory of {}", escape(global.user.as_str()));
    tier(&mut page, global, Tier::Core, "Do not forget");
    let notes = global.notes.iter().map(|note| (&note.text, note.agreed));
    learned(&mut page, global.tenets.iter().map(|tenet| &tenet.text), notes);
    tier(&mut page, global, Tier::Secondary, "Good to know");
    topics(&mut page, global);
    page
}

fn tier(page: &mut String, global: &GlobalMemory, tier: Tier, heading: &str) {
    let groups: Vec<&FactGroup> = global.do_not_forget.iter().filter(|group| group.tier == tier).collect();
    if groups.is_empty() {
        return;
    }
    let _ = write!(page, "\n## {heading}\n");
    for group in groups {
        let _ = write!(page, "\n### {}\n\n", type_heading(group.fact_type));
        group.facts.iter().for_each(|kept| page.push_str(&kept_line(kept)));
    }
}

/// Active topics: first those with something not listed above, then the others with one line each.
fn topics(page: &mut String, global: &GlobalMemory) {
    if global.topics == 0 {
        page.push_str("\nNothing is remembered yet.\n");
        return;
    }
    page.push_str("\n## Topics\n");
    let above = || global.do_not_forget.iter().flat_map(|group| &group.facts).map(|kept| kept.text.as_str());
    let tells = |topic: &&Snapshot| {
        let state = &topic.state;
        says_more(&state.summary, above()) || !state.next_actions.is_empty() || !state.open_questions.is_empty()
    };
    let (telling, plain): (Vec<&Snapshot>, Vec<&Snapshot>) = global.active_topics.iter().partition(tells);
    for topic in telling {
        snapshot(page, topic, says_more(&topic.state.summary, above()));
    }
    if !plain.is_empty() {
        page.push('\n');
    }
    for topic in plain {
        let _ = writeln!(page, "* {}: {}", topic_link(&topic.topic, &topic.name), standing(topic));
    }
    if global.topics > global.active_topics.len() {
        let _ = write!(page, "\n{} more under `topics/`.\n", global.topics - global.active_topics.len());
    }
}

fn kept_line(kept: &PermanentFact) -> String {
    let link = topic_link(&kept.topic, &kept.topic_name);
    format!("- {}{} — {link} ^{}\n", escape(&kept.text), score(kept.user_fact_score), block_id(kept.id))
}

fn type_heading(fact_type: FactType) -> &'static str {
    match fact_type {
        FactType::Identity | FactType::Location => "Identity",
        FactType::Commitment => "Commitments",
        FactType::Constraint => "Constraints",
        FactType::Preference => "Preferences",
        FactType::Trait => "Traits and habits",
        FactType::Event => "Events",
    }
}

fn snapshot(page: &mut String, topic: &Snapshot, summary: bool) {
    let _ = write!(page, "\n### {}\n\n", topic_link(&topic.topic, &topic.name));
    if summary {
        let _ = writeln!(page, "{}\n", escape(&capitalised(&topic.state.summary)));
    }
    for line in &topic.state.next_actions {
        let _ = writeln!(page, "* [ ] {}", escape(line));
    }
    for line in &topic.state.open_questions {
        let _ = writeln!(page, "* Open: {}", escape(line));
    }
    if !topic.state.next_actions.is_empty() || !topic.state.open_questions.is_empty() {
        page.push('\n');
    }
    let _ = writeln!(page, "*{}*", standing(topic));
}

/// `3 facts, last on 2 March 2026`.
fn standing(topic: &Snapshot) -> String {
    let facts = if topic.facts == 0 { String::new() } else { format!("{}, ", count(topic.facts, "fact", "facts")) };
    format!("{facts}last on {}", day(topic.last_day))
}
