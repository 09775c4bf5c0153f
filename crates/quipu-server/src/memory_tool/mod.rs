//! The executor of Anthropic's memory tool: its commands over files an agent keeps, its sentences word for word. What is kept is
//! the agent's own word, and every version stays in the history.

mod files;

use quipu_core::id::UserId;
use quipu_engine::Error;
use quipu_engine::ports::Scope;
use quipu_engine::shelf::{Shelf, Step, arrange, shelf};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::fault::Fault;
use super::frame::{Call, Route};
use files::{Files, Outcome, ROOT};

/// Begins the name under which a file is kept.
const FILE: &str = "file:";

pub(super) fn routes() -> Vec<Route> {
    let about = "Runs a command of Anthropic's memory tool";
    vec![Route::post("/v1/memory-tool", about, run).needs(Scope::Read)]
}

/// Which command.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Word {
    View,
    Create,
    StrReplace,
    Insert,
    Delete,
    Rename,
}

/// The tool's input, as the model gave it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Command {
    command: Word,
    /// Whose memory; the key's user, or the server's, if it is not said.
    user_id: Option<String>,
    path: Option<String>,
    /// First and last line; -1 is the end.
    view_range: Option<(i64, i64)>,
    file_text: Option<String>,
    old_str: Option<String>,
    new_str: Option<String>,
    insert_line: Option<i64>,
    insert_text: Option<String>,
    old_path: Option<String>,
    new_path: Option<String>,
}

/// The steps of a command, and what it says once they are done.
type Plan = (Vec<Step>, String);
/// Plans a command on the files as they are.
type Planner = dyn Fn(&Files) -> Outcome<Plan>;

/// The content of the tool's result.
#[derive(Serialize, JsonSchema)]
struct Ran {
    content: String,
    /// True if the command could not be done; the content says why, to the model.
    is_error: bool,
}

fn run(call: &Call<'_>, asked: Command) -> Result<Ran, Fault> {
    let user = call.own_user(asked.user_id.as_deref())?;
    let needed = |field: &Option<String>, name: &str| {
        field.clone().ok_or_else(|| Fault::invalid(format!("this command needs {name}")).code("missing_field").at(name))
    };
    if asked.command == Word::View {
        let path = needed(&asked.path, "path")?;
        let files = files_of(&shelf(call.engine, &user, FILE)?);
        return Ok(ran(files::view(&files, &path, asked.view_range)));
    }
    call.must(Scope::Write)?;
    let planned: Box<Planner> = match asked.command {
        Word::View | Word::Create => {
            let (path, text) = (needed(&asked.path, "path")?, needed(&asked.file_text, "file_text")?);
            Box::new(move |files| create(files, &path, &text))
        }
        Word::StrReplace => {
            let (path, old) = (needed(&asked.path, "path")?, needed(&asked.old_str, "old_str")?);
            let new = asked.new_str.clone().unwrap_or_default();
            Box::new(move |files| {
                let whole = files::path(&path)?;
                let (text, told) = files::replaced(files::content(files, &whole, &path)?, &path, &old, &new)?;
                Ok((vec![put(&whole, text)], told))
            })
        }
        Word::Insert => {
            let (path, text) = (needed(&asked.path, "path")?, needed(&asked.insert_text, "insert_text")?);
            let missing = || Fault::invalid("this command needs insert_line").code("missing_field").at("insert_line");
            let line = asked.insert_line.ok_or_else(missing)?;
            Box::new(move |files| {
                let whole = files::path(&path)?;
                let text = files::inserted(files::content(files, &whole, &path)?, line, &text)?;
                Ok((vec![put(&whole, text)], format!("The file {path} has been edited.")))
            })
        }
        Word::Delete => {
            let path = needed(&asked.path, "path")?;
            Box::new(move |files| delete(files, &path))
        }
        Word::Rename => {
            let (old, new) = (needed(&asked.old_path, "old_path")?, needed(&asked.new_path, "new_path")?);
            Box::new(move |files| rename(files, &old, &new))
        }
    };
    changed(call, &user, &*planned)
}

fn ran(outcome: Outcome<String>) -> Ran {
    match outcome {
        Ok(content) => Ran { content, is_error: false },
        Err(content) => Ran { content, is_error: true },
    }
}

fn files_of(shelf: &Shelf) -> Files {
    shelf.values().filter_map(|kept| Some((kept.name.strip_prefix(FILE)?.to_owned(), kept.text.clone()))).collect()
}

/// Does what is planned on the files as they are when it is done.
fn changed(call: &Call<'_>, user: &UserId, planned: &Planner) -> Result<Ran, Fault> {
    let mut outcome = Err(String::new());
    let done = arrange(call.engine, user, FILE, &mut |shelf| match planned(&files_of(shelf)) {
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
        // What cannot be kept is the model's to mend.
        Err(Error::Invalid(told)) => Ok(ran(Err(told))),
        Err(other) => Err(other.into()),
    }
}

/// What a file is about: the folder it lies in, else its own name.
fn topic(path: &str) -> Option<String> {
    let inside = path.strip_prefix(ROOT)?.trim_start_matches('/');
    let word = inside
        .split_once('/')
        .map_or_else(|| inside.rsplit_once('.').map_or(inside, |(stem, _)| stem), |(folder, _)| folder);
    (!word.trim().is_empty() && word.len() <= quipu_core::limit::NAME_BYTES_MAX).then(|| word.to_owned())
}

fn put(path: &str, text: String) -> Step {
    Step::Put { name: format!("{FILE}{path}"), text, topic: topic(path) }
}

/// A file in the way of a path's folders.
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
    let gone: Vec<Step> =
        own.chain(files::below(files, &whole)).map(|(name, _)| Step::Take(format!("{FILE}{name}"))).collect();
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
    let moved: Vec<Step> = own
        .chain(files::below(files, &from))
        .map(|(name, _)| {
            let there = format!("{to}{}", &name[from.len()..]);
            Step::Move { from: format!("{FILE}{name}"), topic: topic(&there), to: format!("{FILE}{there}") }
        })
        .collect();
    if moved.is_empty() {
        return Err(format!("The path {old} does not exist"));
    }
    Ok((moved, format!("Successfully renamed {old} to {new}")))
}
