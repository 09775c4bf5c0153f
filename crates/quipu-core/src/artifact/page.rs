//! Pages for people: an entry's words, a topic, and the memory as a whole, in Markdown that Obsidian links.
//!
//! A line about a fact ends with its block id (`^fact-0r5k…`), so that a changed line is known to be about it.

use std::fmt::Write as _;

use jiff::civil::Date;

use super::entry::Entry;
use super::global::{GlobalMemory, Group, Kept, Snapshot, Tier};
use super::markdown::{day, day_of, escape, quote};
use super::rows::FactRow;
use super::topic::{EntryLine, State, TopicMemory};
use crate::id::{ItemId, ItemKind};
use crate::item::FactType;
use crate::source::Source;

/// The block id of an item's line: `fact-0r5k2m9c4t7wz`.
pub fn block_id(id: ItemId) -> String {
    id.to_string().replace('_', "-")
}

/// The fact a block id names.
pub fn fact_of_block(block: &str) -> Option<ItemId> {
    let id: ItemId = block.replacen('-', "_", 1).parse().ok()?;
    (id.kind == ItemKind::Fact).then_some(id)
}

fn front(schema: &str, members: &[(&str, String)]) -> String {
    let lines: String = members.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
    format!("---\nschema: {schema}\n{lines}---\n")
}

/// `raw.md`: the words of an entry, as they were said.
pub fn raw_page(entry: &Entry) -> String {
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
    let time = source.said_at.map(|at| {
        let at = at.to_zoned(jiff::tz::TimeZone::UTC);
        if at.date() == of { at.strftime(", %H:%M").to_string() } else { at.strftime(", %-d %B %Y %H:%M").to_string() }
    });
    let who = escape(source.speaker());
    let mut chars = who.chars();
    let who: String = chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect();
    let _ = write!(page, "\n**{who}**{} ^{}\n\n", time.unwrap_or_default(), block_id(source.id));
    page.push_str(&quote(&source.text));
    for artifact in source.artifacts.iter().filter(|artifact| !source.text.contains(&artifact.text)) {
        let name = artifact.name.as_deref().map(|name| format!(" {}", escape(name))).unwrap_or_default();
        let _ = write!(page, "\n{}{name}:\n\n{}", escape(&artifact.kind), quote(&artifact.text));
    }
}

fn topic_link(topic: &str, name: &str) -> String {
    format!("[[topics/{topic}/topic_memory|{}]]", link_text(name))
}

/// Text of a link: what would end it is taken out.
fn link_text(text: &str) -> String {
    escape(&text.replace(['[', ']', '|', '#', '^'], " ")).trim().to_owned()
}

/// `topic_memory.md`.
pub fn topic_page(topic: &TopicMemory) -> String {
    let members = [("topic", topic.topic.clone()), ("last_day", topic.last_day.to_string())];
    let mut page = front(&topic.schema, &members);
    let _ = write!(page, "# {}\n\n{}\n", escape(&topic.name), escape(&topic.state.summary));
    state(&mut page, &topic.state, "##");
    page.push_str("\n## Facts\n\n");
    if topic.facts.is_empty() {
        page.push_str("None yet.\n");
    }
    for row in &topic.facts {
        page.push_str(&fact_line(row, &topic.topic, &topic.latest));
    }
    if topic.facts_left_out > 0 {
        let _ = write!(page, "\n{} more stand in the entries.\n", topic.facts_left_out);
    }
    if !topic.earlier.is_empty() {
        page.push_str("\n## What held before\n\n");
        for row in &topic.earlier {
            let until = row.valid_to.map(|to| format!(" — until {}", day_of(to))).unwrap_or_default();
            let _ = writeln!(page, "* {}{until}", escape(&row.text));
        }
    }
    let _ = write!(page, "\n## Entries\n\n{}", escape(&topic.state.bounds.join(" ")));
    page.push_str("\n\n");
    for line in &topic.latest {
        let of = count(line.sources, "source", "sources");
        let told = count(line.facts, "fact", "facts");
        let open = if line.open { ", still open" } else { "" };
        let link = entry_link(&topic.topic, line);
        let _ = writeln!(page, "* {link}: {of}, {told}{open}");
    }
    if topic.entries > topic.latest.len() {
        let _ = writeln!(page, "* {} older ones in this folder", topic.entries - topic.latest.len());
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

/// `GLOBAL_MEMORY.md`.
pub fn global_page(global: &GlobalMemory) -> String {
    let mut page = front(&global.schema, &[("user", format!("\"{}\"", global.user))]);
    let _ = writeln!(page, "# Memory of {}", escape(global.user.as_str()));
    for (tier, heading) in [(Tier::Core, "Do not forget"), (Tier::Secondary, "Good to know")] {
        let groups: Vec<&Group> = global.do_not_forget.iter().filter(|group| group.tier == tier).collect();
        if groups.is_empty() {
            continue;
        }
        let _ = write!(page, "\n## {heading}\n");
        for group in groups {
            let _ = write!(page, "\n### {}\n\n", type_heading(group.fact_type));
            group.facts.iter().for_each(|kept| page.push_str(&kept_line(kept)));
        }
    }
    if !global.active_topics.is_empty() {
        page.push_str("\n## Topics\n");
        global.active_topics.iter().for_each(|topic| snapshot(&mut page, topic));
        if global.topics > global.active_topics.len() {
            let _ = write!(page, "\n{} more under `topics/`.\n", global.topics - global.active_topics.len());
        }
    } else {
        page.push_str("\nNothing is remembered yet.\n");
    }
    page
}

fn kept_line(kept: &Kept) -> String {
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

fn snapshot(page: &mut String, topic: &Snapshot) {
    let facts = if topic.facts == 0 { String::new() } else { format!(", {}", count(topic.facts, "fact", "facts")) };
    let link = topic_link(&topic.topic, &topic.name);
    let _ = write!(page, "\n### {link}\n\n{}\n", escape(&topic.state.summary));
    for line in &topic.state.next_actions {
        let _ = writeln!(page, "* [ ] {}", escape(line));
    }
    for line in &topic.state.open_questions {
        let _ = writeln!(page, "* Open: {}", escape(line));
    }
    let _ = writeln!(page, "\n*Last: {}{facts}*", day(topic.last_day));
}
