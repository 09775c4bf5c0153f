//! The transcript an agent keeps: a JSON object a line, appended to. What people and the agent said is read; calls of tools, what they
//! returned, thoughts, side chains and what the agent added by itself are not.

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use quipu_core::limit;
use quipu_core::source::Role;
use quipu_engine::{Error, Result};
use serde::Deserialize;
use serde_json::Value;

/// Turns recorded at one event; what is left has its turn at the next.
const TURNS_MAX: usize = 256;
/// Bytes read at one event.
const BYTES_MAX: u64 = 32 << 20;
/// What agents put around words that nobody said.
const NOT_SAID: [&str; 5] =
    ["system-reminder", "command-name", "command-message", "command-args", "local-command-stdout"];

/// One thing that was said.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TranscriptTurn {
    /// Its name in the transcript: recorded once, however often it is read.
    pub(super) name: String,
    pub(super) role: Role,
    pub(super) text: String,
    pub(super) said_at: Option<Timestamp>,
    /// Where the next line begins.
    pub(super) end: u64,
}

/// What is new.
#[derive(Debug)]
pub(super) struct News {
    pub(super) turns: Vec<TranscriptTurn>,
    /// Up to where the transcript was read.
    pub(super) end: u64,
}

/// A line; what it has besides is nobody's business here.
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

/// What was said from a position on, oldest first. A last line that is not whole yet is left for the next time.
pub(super) fn read(path: &Path, from: u64) -> Result<News> {
    let wrong = |error: std::io::Error| Error::Unavailable(format!("the transcript {}: {error}", path.display()));
    let mut file = std::fs::File::open(path).map_err(wrong)?;
    let length = file.metadata().map_err(wrong)?.len();
    // A transcript that is shorter than it was is another one.
    let from = if from > length { 0 } else { from };
    file.seek(SeekFrom::Start(from)).map_err(wrong)?;
    let mut lines = BufReader::new(file.take(BYTES_MAX));
    let mut news = News { turns: Vec::new(), end: from };
    let mut line = Vec::new();
    while news.turns.len() < TURNS_MAX {
        line.clear();
        let read = lines.read_until(b'\n', &mut line).map_err(wrong)?;
        if read == 0 || line.last() != Some(&b'\n') {
            // One line that is longer than all that is read at a time would be in the way for ever.
            news.end += if read as u64 == BYTES_MAX { BYTES_MAX } else { 0 };
            break;
        }
        news.end += read as u64;
        news.turns.extend(turn(&line, news.end));
    }
    Ok(news)
}

/// What a line says, if somebody said it.
fn turn(line: &[u8], end: u64) -> Option<TranscriptTurn> {
    // Lines of kinds that are not known yet are none of ours.
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

/// The text of a message: itself, or its parts of text.
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

/// A text without what the agent put into it.
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

/// Up to where a transcript was recorded. It saves work only: a turn is recorded once, with or without it.
pub(super) struct TranscriptPosition(PathBuf);

impl TranscriptPosition {
    pub(super) fn of(data_dir: &Path, transcript: &Path) -> Self {
        let name = blake3::hash(transcript.as_os_str().as_encoded_bytes()).to_hex();
        Self(data_dir.join("hooks").join(format!("{}.mark", &name[..24])))
    }

    pub(super) fn position(&self) -> u64 {
        std::fs::read_to_string(&self.0).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    }

    pub(super) fn set(&self, position: u64) -> Result<()> {
        if position == self.position() {
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
        let news = read(&path, 0).unwrap();
        let read_of = |news: &News| -> Vec<(String, Role, String)> {
            news.turns.iter().map(|turn| (turn.name.clone(), turn.role, turn.text.clone())).collect()
        };
        let expected = [("a", Role::User, "I use tabs."), ("d", Role::Assistant, "Tabs it is.")];
        assert_eq!(read_of(&news), expected.map(|(name, role, text)| (name.to_owned(), role, text.to_owned())));
        // The rest of the last line comes.
        std::fs::write(&path, format!("{} semicolons.\"}}}}\n", lines.join("\n"))).unwrap();
        let rest = read(&path, news.end).unwrap();
        assert_eq!(read_of(&rest), [("f".to_owned(), Role::User, "And no semicolons.".to_owned())]);
        assert!(read(&path, rest.end).unwrap().turns.is_empty());
        assert_eq!(read(&path, u64::MAX).unwrap().turns.len(), 3, "a new transcript in the old one's place");
    }
}
