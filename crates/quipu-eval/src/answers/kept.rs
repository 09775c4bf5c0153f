//! The folder of prompts and replies, from which an interrupted run continues without repeating paid requests.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use quipu_engine::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Identifies the run of a folder. Another run needs another folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RunIs {
    pub(super) kind: String,
    /// Hash of the file of questions.
    pub(super) file: String,
    pub(super) memory: String,
    pub(super) model: String,
    pub(super) judge: String,
    pub(super) tokens: usize,
    /// Hash of the instructions.
    pub(super) prompts: String,
}

/// The purpose of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Step {
    Answer,
    Judge,
}

impl Step {
    pub(super) const ALL: [Self; 2] = [Self::Answer, Self::Judge];
}

/// One request and its result: a line of `replies.ndjson`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Reply {
    /// Id of the question.
    pub(super) id: String,
    pub(super) step: Step,
    pub(super) system: String,
    pub(super) prompt: String,
    pub(super) text: String,
    /// The structured reply, if JSON was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) json: Option<Value>,
    /// Why there is no reply, if the model refuses permanently.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) fault: Option<String>,
    /// Tokens of the pack in the prompt for an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) pack_tokens: Option<usize>,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
}

/// The folder.
pub(super) struct AnswerFolder {
    folder: PathBuf,
    state: Mutex<State>,
}

struct State {
    file: File,
    replies: HashMap<(String, Step), Reply>,
}

impl AnswerFolder {
    /// Opens or creates a folder. Removes a truncated last line.
    ///
    /// # Errors
    /// `Invalid` if the folder belongs to another run or has a malformed line; `Unavailable` if it cannot be written.
    pub(super) fn open(folder: &Path, run: &RunIs) -> Result<Self> {
        let cannot = |path: &Path, error: &std::io::Error| {
            Error::Unavailable(format!("cannot write {}: {error}", path.display()))
        };
        std::fs::create_dir_all(folder).map_err(|error| cannot(folder, &error))?;
        let about = folder.join("run.json");
        let written = serde_json::to_string_pretty(run).map_err(|error| Error::Bug(error.to_string()))?;
        match std::fs::read_to_string(&about) {
            Ok(text) if serde_json::from_str::<RunIs>(&text).ok().as_ref() == Some(run) => {}
            Ok(_) => {
                let advice = "the file, the models, the size of packs or the prompts differ; give another folder";
                return Err(Error::Invalid(format!("{} belongs to another run: {advice}", about.display())));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                std::fs::write(&about, written).map_err(|error| cannot(&about, &error))?;
            }
            Err(error) => return Err(Error::Unavailable(format!("cannot read {}: {error}", about.display()))),
        }
        let path = folder.join("replies.ndjson");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Error::Invalid(format!("cannot read {}: {error}", path.display()))),
        };
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut replies = HashMap::new();
        for (number, line) in text[..whole].lines().enumerate() {
            let reply: Reply = serde_json::from_str(line)
                .map_err(|error| Error::Invalid(format!("{}, line {}: {error}", path.display(), number + 1)))?;
            replies.insert((reply.id.clone(), reply.step), reply);
        }
        let file = OpenOptions::new().create(true).append(true).open(&path).map_err(|error| cannot(&path, &error))?;
        file.set_len(whole as u64).map_err(|error| cannot(&path, &error))?;
        Ok(Self { folder: folder.to_owned(), state: Mutex::new(State { file, replies }) })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn get(&self, id: &str, step: Step) -> Option<Reply> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.replies.get(&(id.to_owned(), step)).cloned()
    }

    pub(super) fn push(&self, reply: Reply) -> Result<()> {
        let line = format!("{}\n", super::super::lines::written(&reply)?);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let written = state.file.write_all(line.as_bytes()).and_then(|()| state.file.flush());
        written.map_err(|error| Error::Unavailable(format!("cannot write to {}: {error}", self.folder.display())))?;
        state.replies.insert((reply.id.clone(), reply.step), reply);
        Ok(())
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
mod tests {
    use super::*;

    fn run(model: &str) -> RunIs {
        let text = str::to_owned;
        RunIs {
            kind: text("beam"),
            file: text("f"),
            memory: text("m"),
            model: text(model),
            judge: text("j"),
            tokens: 5,
            prompts: text("p"),
        }
    }

    fn reply(id: &str) -> Reply {
        Reply {
            id: id.to_owned(),
            step: Step::Answer,
            system: "s".to_owned(),
            prompt: "p".to_owned(),
            text: "t".to_owned(),
            json: None,
            fault: None,
            pack_tokens: Some(3),
            input_tokens: 1,
            output_tokens: 1,
        }
    }

    #[test]
    fn what_was_kept_is_there_again_also_after_a_cut() {
        let folder = tempfile::tempdir().unwrap();
        let kept = AnswerFolder::open(folder.path(), &run("a")).unwrap();
        kept.push(reply("1")).unwrap();
        kept.push(reply("2")).unwrap();
        drop(kept);
        let path = folder.path().join("replies.ndjson");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 9]).unwrap();
        let kept = AnswerFolder::open(folder.path(), &run("a")).unwrap();
        assert_eq!((kept.get("1", Step::Answer), kept.get("2", Step::Answer)), (Some(reply("1")), None));
        assert_eq!(kept.get("1", Step::Judge), None);
        kept.push(reply("2")).unwrap();
        drop(kept);
        assert!(AnswerFolder::open(folder.path(), &run("a")).unwrap().get("2", Step::Answer).is_some());
        assert!(matches!(AnswerFolder::open(folder.path(), &run("b")), Err(Error::Invalid(_))));
    }
}
