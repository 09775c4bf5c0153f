//! Hook: memory for a coding agent, at its own events. Whatever goes wrong, the agent goes on: the exit code is 0, nothing is on
//! stdout, and a line in `hooks/hook.log` says why.

mod door;
mod log;
mod transcript;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use quipu_engine::{Error, Result};
use serde::Deserialize;
use serde_json::json;

use crate::args::Global;
use crate::args::hook::Hook;
use crate::settings::Settings;
use door::Door;

/// Longest input, in bytes.
const INPUT_BYTES_MAX: u64 = 4 << 20;
/// Agents take so much; of more they show the beginning only.
const CONTEXT_CHARS_MAX: usize = 10_000;
/// How long an agent waits before it answers, and when it is done.
const BEFORE: Duration = Duration::from_millis(2000);
const AFTER: Duration = Duration::from_millis(20_000);

/// What an agent tells of an event. Fields nobody here needs are left out.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct HookEvent {
    session_id: Option<String>,
    transcript_path: Option<PathBuf>,
    cwd: Option<PathBuf>,
    prompt: Option<String>,
}

/// What is to be done at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HookAction {
    /// Tell what is known before the first words.
    Begin,
    /// Tell what is known of what was asked.
    Ask,
    /// Keep what was said.
    Keep,
}

impl HookAction {
    /// The part a hook has, by its name as the agents write it.
    fn of(event: &str) -> Option<Self> {
        match event {
            "SessionStart" => Some(Self::Begin),
            "UserPromptSubmit" => Some(Self::Ask),
            "Stop" | "SubagentStop" | "PreCompact" | "SessionEnd" => Some(Self::Keep),
            _ => None,
        }
    }
}

/// Answers a hook in time, or not at all.
pub(super) fn run(global: Global, args: Hook) -> ExitCode {
    let event = args.event.clone();
    let usual = if HookAction::of(&event) == Some(HookAction::Keep) { AFTER } else { BEFORE };
    let within = args.within_ms.map_or(usual, Duration::from_millis);
    // Without settings, the log is where it was said to be; else nowhere.
    let mut folder = global.data_dir.clone();
    let (sender, heard) = mpsc::channel();
    std::thread::spawn(move || {
        // Nobody listens any more if it took too long.
        let told = |news: News| drop(sender.send(news));
        match Settings::read(&global) {
            Ok(settings) => {
                told(News::Folder(settings.data_dir.clone()));
                told(News::Over(answer(&settings, &args)));
            }
            Err(error) => told(News::Over(Err(error))),
        }
    });
    let timer = Timer::of(within);
    let why = loop {
        match heard.recv_timeout(timer.left()) {
            Ok(News::Folder(found)) => folder = Some(found),
            Ok(News::Over(Ok(None))) => return ExitCode::SUCCESS,
            Ok(News::Over(Ok(Some(context)))) => {
                let answer = json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}});
                // An agent that does not read does not want it.
                let _ = writeln!(std::io::stdout(), "{answer}");
                return ExitCode::SUCCESS;
            }
            Ok(News::Over(Err(error))) => break error.to_string(),
            Err(RecvTimeoutError::Timeout) => {
                break format!("it took longer than {} ms; what was recorded by then is safe", within.as_millis());
            }
            Err(RecvTimeoutError::Disconnected) => break "it stopped without an answer".to_owned(),
        }
    };
    log::line(folder.as_deref(), &event, &why);
    ExitCode::SUCCESS
}

/// What the working thread tells.
enum News {
    /// Where the log is.
    Folder(PathBuf),
    Over(Result<Option<String>>),
}

/// How long there is still time.
struct Timer {
    start: Instant,
    within: Duration,
}

impl Timer {
    #[expect(
        clippy::disallowed_methods,
        reason = "how long an agent waits is measured, nothing is decided by it that is recorded"
    )]
    fn of(within: Duration) -> Self {
        Self { start: Instant::now(), within }
    }

    fn left(&self) -> Duration {
        self.within.saturating_sub(self.start.elapsed())
    }
}

/// True if what was typed is a hook: then what is wrong with it must not stop the agent.
pub(crate) fn is_typed() -> bool {
    let typed: Vec<String> = std::env::args().collect();
    // The names of events begin with a capital; what else may be called `hook` is a value.
    typed.windows(2).any(|words| words[0] == "hook" && words[1].starts_with(|first: char| first.is_ascii_uppercase()))
}

/// What the agent is to be told, if anything.
fn answer(settings: &Settings, args: &Hook) -> Result<Option<String>> {
    let part = HookAction::of(&args.event)
        .ok_or_else(|| Error::Invalid(format!("{:?} is none of the events that are answered", args.event)))?;
    let mut text = String::new();
    let read = std::io::stdin().lock().take(INPUT_BYTES_MAX).read_to_string(&mut text);
    read.map_err(|error| Error::Invalid(format!("standard input cannot be read: {error}")))?;
    let told: HookEvent = serde_json::from_str(&text)
        .map_err(|error| Error::Invalid(format!("what happened is not told as JSON: {error}")))?;
    let question = match part {
        HookAction::Keep => {
            keep(settings, args, &told)?;
            return Ok(None);
        }
        HookAction::Begin => format!("What matters for the work in {}?", place(told.cwd.as_deref())),
        HookAction::Ask => match told.prompt {
            // A command of the agent's own is no question.
            Some(prompt) if !prompt.trim().is_empty() && !prompt.starts_with('/') => prompt,
            _ => return Ok(None),
        },
    };
    let door = Door::open(settings, args)?;
    // Nobody asked anything yet: what there is will do.
    let must_answer = part == HookAction::Ask;
    let packed = match door.packed(&settings.user, &question, args.max_tokens, must_answer) {
        // Nothing was ever said: there is nothing to tell.
        Err(Error::NotFound(_)) => return Ok(None),
        packed => packed?,
    };
    match packed.filter(|text| !text.trim().is_empty()) {
        Some(text) if text.chars().count() > CONTEXT_CHARS_MAX => {
            Err(Error::Invalid(format!("the block has more than {CONTEXT_CHARS_MAX} characters: lower --max-tokens")))
        }
        packed => Ok(packed),
    }
}

/// The folder somebody works in, by its name.
fn place(folder: Option<&Path>) -> String {
    let name = folder.and_then(Path::file_name).and_then(|name| name.to_str());
    name.map_or_else(|| "this project".to_owned(), |name| format!("the project {name}"))
}

/// Records what is new in the conversation.
fn keep(settings: &Settings, args: &Hook, told: &HookEvent) -> Result<()> {
    let missing = |what: &str| Error::Invalid(format!("the event names no {what}"));
    let session = told.session_id.as_deref().ok_or_else(|| missing("session_id"))?;
    let path = told.transcript_path.as_deref().ok_or_else(|| missing("transcript_path"))?;
    let mark = transcript::TranscriptPosition::of(&settings.data_dir, path);
    let news = transcript::read(path, mark.position())?;
    if !news.turns.is_empty() {
        let door = Door::open(settings, args)?;
        for turn in &news.turns {
            door.record(&settings.user, session, turn)?;
            mark.set(turn.end)?;
        }
        door.follow(&settings.user, session)?;
    }
    mark.set(news.end)
}
