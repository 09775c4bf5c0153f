//! Artifacts of a session, keyed by turn: code blocks, drafts and attachments. They are read from the sources and never
//! copied, so "the version from turn 3" is exactly the text of that turn.

use serde::Serialize;

use super::exchange::Exchange;
use crate::id::ItemId;

/// One artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionArtifact {
    /// Its key in the session: the turn, a dot, and its number in the turn from 1.
    pub key: String,
    /// The turn.
    pub turn: u32,
    /// `code`, `draft`, or the kind of the attachment.
    pub kind: String,
    /// The language of a block, or the name of the attachment.
    pub name: Option<String>,
    /// The source that contains it.
    pub source: ItemId,
    /// Its content, byte for byte.
    pub text: String,
}

/// Languages of a fenced block that mark it as prose.
const PROSE: [&str; 5] = ["text", "txt", "md", "markdown", "draft"];

/// The artifacts of a session, by turn.
pub fn artifacts(exchanges: &[Exchange<'_>]) -> Vec<SessionArtifact> {
    let mut all = Vec::new();
    for exchange in exchanges {
        let mut number = 0;
        for held in &exchange.sources {
            let blocks = fenced(&held.source.text).into_iter().map(|(language, text)| {
                let prose = language.is_some_and(|name| PROSE.contains(&name.to_ascii_lowercase().as_str()));
                let kind = if prose { "draft" } else { "code" };
                (kind.to_owned(), language.map(str::to_owned), text.to_owned())
            });
            let attached = held.source.artifacts.iter().filter(|one| !one.is_utc_offset());
            let attached = attached.map(|one| (one.kind.clone(), one.name.clone(), one.text.clone()));
            for (kind, name, text) in blocks.chain(attached) {
                number += 1;
                let (key, turn) = (format!("{}.{number}", exchange.turn), exchange.turn);
                all.push(SessionArtifact { key, turn, kind, name, source: held.source.id, text });
            }
        }
    }
    all
}

/// The fenced blocks of a text with their language. An unclosed block extends to the end of the text.
fn fenced(text: &str) -> Vec<(Option<&str>, &str)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, Option<&str>, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let mark = line.trim();
        let ticks = mark.bytes().take_while(|&byte| byte == b'`').count();
        match open {
            None if ticks >= 3 => {
                let language = mark[ticks..].split_whitespace().next();
                open = Some((ticks, language, at));
            }
            Some((needed, language, from)) if ticks >= needed && mark.len() == ticks => {
                found.push((language, &text[from..start]));
                open = None;
            }
            _ => {}
        }
    }
    if let Some((_, language, from)) = open
        && from < text.len()
    {
        found.push((language, &text[from..]));
    }
    found
}
