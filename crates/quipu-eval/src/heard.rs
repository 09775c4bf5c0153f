//! The turns of a memory under evaluation, by the names in its file, and the turns that an answer covers. Used by every
//! evaluation that counts turns.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use quipu_core::id::{ItemId, ItemKind, UserId};
use quipu_engine::versions::When;
use quipu_engine::{Answer, Engine, ListOptions, Result};

use super::metrics::firsts;

/// How the memory was made: with extraction of facts, as for users, or without.
pub(super) fn reading(words_only: bool) -> &'static str {
    if words_only { "words only" } else { "facts read by rules" }
}

/// The turns of one memory.
#[derive(Debug, Default)]
pub(super) struct MemoryTurns {
    /// The name of each source in its file.
    names: HashMap<ItemId, String>,
    /// The session of each turn.
    pub(super) sessions: HashMap<String, String>,
    /// The text of each turn.
    pub(super) texts: BTreeMap<String, String>,
    /// The turns that each episode covers.
    episodes: HashMap<ItemId, Vec<ItemId>>,
    /// Names of the speakers.
    pub(super) speakers: Vec<String>,
    /// Time of the last turn.
    pub(super) end: Option<Timestamp>,
}

impl MemoryTurns {
    pub(super) fn of(engine: &Engine, user: &UserId) -> Result<Self> {
        let all = ListOptions { at: When::Now, session: None, kind: None, offset: 0, limit: usize::MAX };
        let mut heard = Self::default();
        for item in quipu_engine::list(engine, user, &all)?.items {
            heard.end = heard.end.max(item.said_at);
            if let Some(author) = item.author
                && !heard.speakers.contains(&author)
            {
                heard.speakers.push(author);
            }
            let Some(name) = item.native_id.as_deref().map(whole) else { continue };
            heard.names.insert(item.id, name.to_owned());
            if let Some(session) = item.session_id {
                heard.sessions.insert(name.to_owned(), session);
            }
            let text = heard.texts.entry(name.to_owned()).or_default();
            text.push_str(&item.text);
        }
        heard.speakers.sort_unstable();
        for episode in quipu_engine::episodes(engine, user, None)? {
            heard.episodes.insert(episode.id, episode.sources);
        }
        Ok(heard)
    }

    /// The name of a source in its file.
    pub(super) fn name_of(&self, source: ItemId) -> Option<&str> {
        self.names.get(&source).map(String::as_str)
    }

    pub(super) fn has(&self, turn: &str) -> bool {
        self.texts.contains_key(turn)
    }

    /// The turns that an answer covers: a turn covers itself, a fact or another derived item the sources that the
    /// answer quotes, an episode none.
    pub(super) fn turns_of(&self, answer: &Answer) -> Vec<&str> {
        match answer.id.kind {
            ItemKind::Episode => Vec::new(),
            _ if answer.evidence.is_empty() => self.names.get(&answer.id).map(String::as_str).into_iter().collect(),
            _ => {
                let quoted = answer.evidence.iter().filter_map(|quote| self.names.get(&quote.id));
                firsts(quoted.map(String::as_str))
            }
        }
    }

    /// The turns of a ranking, each once, at its best rank.
    pub(super) fn ranked_turns<'a>(&'a self, answers: &[Answer]) -> Vec<&'a str> {
        firsts(answers.iter().flat_map(|answer| self.turns_of(answer)))
    }

    /// The turns an item comes from, by its id alone: includes turns of an episode, and all sources of a fact.
    pub(super) fn turns_behind(&self, id: ItemId, read_from: &HashMap<ItemId, Vec<ItemId>>) -> Vec<&str> {
        let own = std::slice::from_ref(&id);
        let sources = self.episodes.get(&id).or_else(|| read_from.get(&id)).map_or(own, Vec::as_slice);
        sources.iter().filter_map(|source| self.names.get(source)).map(String::as_str).collect()
    }
}

/// The name of a turn that was split into several sources, without the number of the part.
fn whole(name: &str) -> &str {
    match name.rsplit_once('~') {
        Some((whole, part))
            if !whole.is_empty() && !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            whole
        }
        _ => name,
    }
}

/// The sources of every fact of a memory, including facts that no longer hold.
pub(super) fn read_from(engine: &Engine, user: &UserId) -> Result<HashMap<ItemId, Vec<ItemId>>> {
    let options = quipu_engine::FactOptions { all: true, ..quipu_engine::FactOptions::default() };
    let facts = quipu_engine::facts(engine, user, &options)?;
    Ok(facts.into_iter().map(|shown| (shown.fact.id, shown.source_ids)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_turn_go_by_its_name() {
        for (name, expected) in
            [("7", "7"), ("7~1", "7"), ("D1:3~12", "D1:3"), ("a~b", "a~b"), ("~2", "~2"), ("7~", "7~")]
        {
            assert_eq!(whole(name), expected);
        }
    }
}
