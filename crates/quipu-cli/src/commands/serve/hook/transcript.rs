//! Reads the transcript of an agent, a file of JSON lines. Messages of the user and the agent are read; tool calls and
//! results, reasoning, side chains and text inserted by the agent are skipped.

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use quipu_core::limit;
use quipu_core::source::Role;
use quipu_engine::{Error, Result};
use serde::Deserialize;
use serde_json::Value;

/// Most turns recorded for one event; the next event continues.
const TURNS_MAX: usize = 256;
/// Most bytes read for one event.
const BYTES_MAX: u64 = 32 << 20;
/// Tags around text that the agent inserted.
const NOT_SAID: [&str; 5] =
    ["system-reminder", "command-name", "command-message", "command-args", "local-command-stdout"];

/// A message.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TranscriptTurn {
    /// Id of the message in the transcript; makes recording idempotent.
    pub(super) name: String,
    pub(super) role: Role,
    pub(super) text: String,
    pub(super) said_at: Option<Timestamp>,
    /// Position of the next line.
    pub(super) end: u64,
}

/// The new turns of a transcript.
#[derive(Debug)]
pub(super) struct UnreadTurns {
    pub(super) turns: Vec<TranscriptTurn>,
    /// Position up to which the transcript was read.
    pub(super) end: u64,
}

/// The fields used of a line.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct TranscriptLine {
    #[serde(rename = "type")]
    kind: String,
    uuid: Option<String>,
    timestamp: Option<Timestamp>,
    is_meta: bool,
    is_sidechain: bool,
    message: Option<Message>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message {
    content: Value,
}

/// Reads turns from a position on, oldest first. An incomplete last line is left for the next call.
pub(super) fn read(path: &Path, from: u64) -> Result<UnreadTurns> {
    let wrong = |error: std::io::Error| Error::Unavailable(format!("the transcript {}: {error}", path.display()));
    let mut file = std::fs::File::open(path).map_err(wrong)?;
    let length = file.metadata().map_err(wrong)?.len();
    // A transcript shorter than the position is a new one.
    let from = if from > length { 0 } else { from };
    file.seek(SeekFrom::Start(from)).map_err(wrong)?;
    let mut lines = BufReader::new(file.take(BYTES_MAX));
    let mut unread = UnreadTurns { turns: Vec::new(), end: from };
    let mut line = Vec::new();
    while unread.turns.len() < TURNS_MAX {
        line.clear();
        let read = lines.read_until(b'\n', &mut line).map_err(wrong)?;
        if read == 0 || line.last() != Some(&b'\n') {
            // Skip a line longer than the limit, or it would block the rest.
            unread.end += if read as u64 == BYTES_MAX { BYTES_MAX } else { 0 };
            break;
        }
        unread.end += read as u64;
        unread.turns.extend(turn(&line, unread.end));
    }
    Ok(unread)
}

/// The turn of a line, if it has one.
fn turn(line: &[u8], end: u64) -> Option<TranscriptTurn> {
    // Lines of unknown kinds are skipped.
    let line: TranscriptLine = serde_json::from_slice(line).ok()?;
    let role = match line.kind.as_str() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => return None,
    };
    if line.is_meta || line.is_sidechain {
        return None;
    }
    let text = said(&words(&line.message?.content));
    let fits = !text.is_empty() && text.len() <= limit::SOURCE_BYTES_MAX;
    fits.then_some(TranscriptTurn { name: line.uuid?, role, text, said_at: line.timestamp, end })
}

/// The text of a message: a string, or the text parts of an array.
fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter(|part| part["type"] == "text").filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// A text without the parts inserted by the agent.
fn said(text: &str) -> String {
    let mut text = text.replace('\0', "\u{fffd}");
    for name in NOT_SAID {
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        while let Some(start) = text.find(&open) {
            let end = text[start..].find(&close).map_or(text.len(), |at| start + at + close.len());
            text.replace_range(start..end, "");
        }
    }
    text.trim().to_owned()
}

/// Position up to which a transcript is recorded. An optimisation only: recording is idempotent.
pub(super) struct TranscriptPosition(PathBuf);

impl TranscriptPosition {
    pub(super) fn of(data_dir: &Path, transcript: &Path) -> Self {
        let name = blake3::hash(transcript.as_os_str().as_encoded_bytes()).to_hex();
        Self(data_dir.join("hooks").join(format!("{}.mark", &name[..24])))
    }

    pub(super) fn get(&self) -> u64 {
        std::fs::read_to_string(&self.0).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    }

    pub(super) fn set(&self, position: u64) -> Result<()> {
        if position == self.get() {
            return Ok(());
        }
        let written = self.0.parent().map_or(Ok(()), std::fs::create_dir_all);
        let written = written.and_then(|()| std::fs::write(&self.0, format!("{position}\n")));
        written.map_err(|error| Error::Unavailable(format!("{}: {error}", self.0.display())))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_said_is_read_and_a_half_line_waits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let lines = [
            r#"{"type":"summary","summary":"x"}"#,
            r#"{"type":"user","uuid":"a","timestamp":"2026-03-01T10:00:00Z","message":{"role":"user","content":"I use tabs.<system-reminder>be nice</system-reminder>"}}"#,
            r#"{"type":"user","uuid":"b","isMeta":true,"message":{"content":"caveat"}}"#,
            r#"{"type":"user","uuid":"c","message":{"content":[{"type":"tool_result","content":"secret file"}]}}"#,
            r#"{"type":"assistant","uuid":"d","message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Tabs it is."},{"type":"tool_use","name":"Edit"}]}}"#,
            r#"{"type":"assistant","uuid":"e","isSidechain":true,"message":{"content":"aside"}}"#,
            "not json",
            r#"{"type":"user","uuid":"f","message":{"content":"And no"#,
        ];
        std::fs::write(&path, lines.join("\n")).unwrap();
        let unread = read(&path, 0).unwrap();
        let read_of = |unread: &UnreadTurns| -> Vec<(String, Role, String)> {
            unread.turns.iter().map(|turn| (turn.name.clone(), turn.role, turn.text.clone())).collect()
        };
        let expected = [("a", Role::User, "I use tabs."), ("d", Role::Assistant, "Tabs it is.")];
        assert_eq!(read_of(&unread), expected.map(|(name, role, text)| (name.to_owned(), role, text.to_owned())));
        // The last line is completed.
        std::fs::write(&path, format!("{} semicolons.\"}}}}\n", lines.join("\n"))).unwrap();
        let rest = read(&path, unread.end).unwrap();
        assert_eq!(read_of(&rest), [("f".to_owned(), Role::User, "And no semicolons.".to_owned())]);
        assert!(read(&path, rest.end).unwrap().turns.is_empty());
        assert_eq!(read(&path, u64::MAX).unwrap().turns.len(), 3, "a new transcript in the old one's place");
    }
}
