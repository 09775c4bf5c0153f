//! The executor of Anthropic's memory tool: its commands on an agent's files, with its exact messages. Files are
//! attributed to the agent, and every version stays in the history.

mod files;

use quipu_core::id::UserId;
use quipu_engine::agent_files::{AgentFiles, FileChange, arrange, shelf};
use quipu_engine::{Engine, EntryPoint, Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use files::{Files, Outcome, ROOT};

/// Name of this interface in the headers of events.
const INTERFACE: &str = "memory-tool";
/// Prefix of the names under which files are stored.
const FILE: &str = "file:";

/// A command of the memory tool.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "MemoryToolCommand")]
pub(crate) enum CommandName {
    View,
    Create,
    StrReplace,
    Insert,
    Delete,
    Rename,
}

/// Input of the tool.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Command {
    pub(crate) command: CommandName,
    /// With view, create, str_replace, insert and delete: the file or folder, below /memories.
    #[serde(default)]
    pub(crate) path: Option<String>,
    /// With view: first and last line; -1 is the end.
    #[serde(default)]
    pub(crate) view_range: Option<(i64, i64)>,
    /// With create: the whole file.
    #[serde(default)]
    pub(crate) file_text: Option<String>,
    /// With str_replace: the text to replace; it must occur exactly once.
    #[serde(default)]
    pub(crate) old_str: Option<String>,
    /// With str_replace: the replacement. Defaults to the empty text.
    #[serde(default)]
    pub(crate) new_str: Option<String>,
    /// With insert: the line after which to insert; 0 is the beginning.
    #[serde(default)]
    pub(crate) insert_line: Option<i64>,
    /// With insert: the text to insert.
    #[serde(default)]
    pub(crate) insert_text: Option<String>,
    /// With rename: the current path.
    #[serde(default)]
    pub(crate) old_path: Option<String>,
    /// With rename: the new path.
    #[serde(default)]
    pub(crate) new_path: Option<String>,
}

/// The changes of a command, and its message once they are made.
type Plan = (Vec<FileChange>, String);
/// Plans a command on the current files.
type Planner = dyn Fn(&Files) -> Outcome<Plan>;

/// The content of the tool's result.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MemoryToolResult")]
pub(crate) struct Ran {
    pub(crate) content: String,
    /// True if the command failed; the content gives the reason.
    pub(crate) is_error: bool,
}

/// Why a command was not run.
pub(crate) enum Unrun {
    /// A required input is missing.
    Missing(&'static str),
    /// An error of the engine.
    Fault(Error),
}

impl From<Error> for Unrun {
    fn from(error: Error) -> Self {
        Self::Fault(error)
    }
}

impl Command {
    /// True if the command changes nothing.
    pub(crate) fn is_reading(&self) -> bool {
        self.command == CommandName::View
    }

    /// Runs the command on a user's files; `key_id` identifies the caller's key.
    pub(crate) fn run(self, engine: &Engine, user: &UserId, key_id: Option<&str>) -> std::result::Result<Ran, Unrun> {
        let needed = |field: Option<String>, name: &'static str| field.ok_or(Unrun::Missing(name));
        let planned: Box<Planner> = match self.command {
            CommandName::View => {
                let path = needed(self.path, "path")?;
                let files = files_of(&shelf(engine, user, FILE)?);
                return Ok(ran(files::view(&files, &path, self.view_range)));
            }
            CommandName::Create => {
                let (path, text) = (needed(self.path, "path")?, needed(self.file_text, "file_text")?);
                Box::new(move |files| create(files, &path, &text))
            }
            CommandName::StrReplace => {
                let (path, old) = (needed(self.path, "path")?, needed(self.old_str, "old_str")?);
                let new = self.new_str.unwrap_or_default();
                Box::new(move |files| {
                    let whole = files::path(&path)?;
                    let (text, told) = files::replaced(files::content(files, &whole, &path)?, &path, &old, &new)?;
                    Ok((vec![put(&whole, text)], told))
                })
            }
            CommandName::Insert => {
                let (path, text) = (needed(self.path, "path")?, needed(self.insert_text, "insert_text")?);
                let line = self.insert_line.ok_or(Unrun::Missing("insert_line"))?;
                Box::new(move |files| {
                    let whole = files::path(&path)?;
                    let text = files::inserted(files::content(files, &whole, &path)?, line, &text)?;
                    Ok((vec![put(&whole, text)], format!("The file {path} has been edited.")))
                })
            }
            CommandName::Delete => {
                let path = needed(self.path, "path")?;
                Box::new(move |files| delete(files, &path))
            }
            CommandName::Rename => {
                let (old, new) = (needed(self.old_path, "old_path")?, needed(self.new_path, "new_path")?);
                Box::new(move |files| rename(files, &old, &new))
            }
        };
        Ok(changed(engine, user, &EntryPoint::new(INTERFACE, key_id), &*planned)?)
    }
}

fn ran(outcome: Outcome<String>) -> Ran {
    match outcome {
        Ok(content) => Ran { content, is_error: false },
        Err(content) => Ran { content, is_error: true },
    }
}

fn files_of(shelf: &AgentFiles) -> Files {
    shelf.values().filter_map(|kept| Some((kept.name.strip_prefix(FILE)?.to_owned(), kept.text.clone()))).collect()
}

/// Plans and applies a command on the same version of the files.
fn changed(engine: &Engine, user: &UserId, entry: &EntryPoint, planned: &Planner) -> Result<Ran> {
    let mut outcome = Err(String::new());
    let done = arrange(engine, user, FILE, entry, &mut |shelf| match planned(&files_of(shelf)) {
        Ok((steps, told)) => {
            outcome = Ok(told);
            Ok(steps)
        }
        Err(told) => {
            outcome = Err(told);
            Ok(Vec::new())
        }
    });
    match done {
        Ok(_) => Ok(ran(outcome)),
        // The model can correct content that cannot be stored.
        Err(Error::Invalid(told)) => Ok(ran(Err(told))),
        Err(other) => Err(other),
    }
}

/// The topic of a file: its directory, else its own name.
fn topic(path: &str) -> Option<String> {
    let inside = path.strip_prefix(ROOT)?.trim_start_matches('/');
    let word = inside
        .split_once('/')
        .map_or_else(|| inside.rsplit_once('.').map_or(inside, |(stem, _)| stem), |(folder, _)| folder);
    (!word.trim().is_empty() && word.len() <= quipu_core::limit::NAME_BYTES_MAX).then(|| word.to_owned())
}

fn put(path: &str, text: String) -> FileChange {
    FileChange::Put { name: format!("{FILE}{path}"), text, topic: topic(path) }
}

/// Fails if a parent of the path is a file.
fn in_the_way(files: &Files, path: &str) -> Outcome<()> {
    let above = path.match_indices('/').map(|(at, _)| &path[..at]);
    match above.into_iter().find(|above| files.contains_key(*above)) {
        Some(file) => Err(format!("The path {file} is a file, not a directory.")),
        None => Ok(()),
    }
}

fn create(files: &Files, path: &str, text: &str) -> Outcome<Plan> {
    let whole = files::path(path)?;
    if files.contains_key(&whole) || files::is_folder(files, &whole) {
        return Err(format!("File {path} already exists"));
    }
    in_the_way(files, &whole)?;
    Ok((vec![put(&whole, text.to_owned())], format!("File created successfully at: {path}")))
}

fn delete(files: &Files, path: &str) -> Outcome<Plan> {
    let whole = files::path(path)?;
    if whole == ROOT {
        return Err("Cannot delete the /memories directory itself".to_owned());
    }
    let own = files.get_key_value(&whole).into_iter();
    let gone: Vec<FileChange> =
        own.chain(files::below(files, &whole)).map(|(name, _)| FileChange::Take(format!("{FILE}{name}"))).collect();
    if gone.is_empty() {
        return Err(format!("The path {path} does not exist"));
    }
    Ok((gone, format!("Successfully deleted {path}")))
}

fn rename(files: &Files, old: &str, new: &str) -> Outcome<Plan> {
    let (from, to) = (files::path(old)?, files::path(new)?);
    if from == ROOT {
        return Err("Cannot rename the /memories directory itself".to_owned());
    }
    if files.contains_key(&to) || files::is_folder(files, &to) {
        return Err(format!("The destination {new} already exists"));
    }
    if to.starts_with(&format!("{from}/")) {
        return Err(format!("The destination {new} lies in {old}"));
    }
    in_the_way(files, &to)?;
    let own = files.get_key_value(&from).into_iter();
    let moved: Vec<FileChange> = own
        .chain(files::below(files, &from))
        .map(|(name, _)| {
            let there = format!("{to}{}", &name[from.len()..]);
            FileChange::Move { from: format!("{FILE}{name}"), topic: topic(&there), to: format!("{FILE}{there}") }
        })
        .collect();
    if moved.is_empty() {
        return Err(format!("The path {old} does not exist"));
    }
    Ok((moved, format!("Successfully renamed {old} to {new}")))
}
