//! Hook adapter for coding agents. A failure never blocks the agent: the exit code is 0, stdout is empty, and a line in
//! `hooks/hook.log` gives the reason.

mod backend;
mod log;
mod transcript;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use clap::Args;
use quipu_engine::{Error, Result};
use serde::Deserialize;
use serde_json::json;

use crate::global::Global;
use crate::settings::Settings;
use backend::HookBackend;

#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// SessionStart, UserPromptSubmit, Stop, PreCompact or SessionEnd; its data is JSON on standard input
    pub(crate) event: String,
    /// Use this server instead of the data folder
    #[arg(long, env = "QUIPU_SERVER", value_name = "URL")]
    pub(crate) server: Option<String>,
    /// The key for that server
    #[arg(long, env = "QUIPU_API_KEY", hide_env_values = true, value_name = "KEY")]
    pub(crate) api_key: Option<String>,
    /// Token budget of the memory block
    #[arg(long, default_value_t = 800, value_name = "N")]
    pub(crate) max_tokens: usize,
    /// Time limit in milliseconds [default: 2000 before a reply, 20000 after]
    #[arg(long, value_name = "MS")]
    pub(crate) within_ms: Option<u64>,
}

/// Longest input, in bytes.
const INPUT_BYTES_MAX: u64 = 4 << 20;
/// Agents truncate longer context.
const CONTEXT_CHARS_MAX: usize = 10_000;
/// Time limits for events before a reply, and after.
const BEFORE: Duration = Duration::from_millis(2000);
const AFTER: Duration = Duration::from_millis(20_000);

/// The data of an event. Unused fields are left out.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct HookEvent {
    session_id: Option<String>,
    transcript_path: Option<PathBuf>,
    cwd: Option<PathBuf>,
    prompt: Option<String>,
}

/// The action for an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HookAction {
    /// Provide memory for the project at the start of a session.
    Begin,
    /// Provide memory for a prompt.
    Ask,
    /// Record new turns.
    Keep,
}

impl HookAction {
    /// The action for the name of an event.
    fn of(event: &str) -> Option<Self> {
        match event {
            "SessionStart" => Some(Self::Begin),
            "UserPromptSubmit" => Some(Self::Ask),
            "Stop" | "SubagentStop" | "PreCompact" | "SessionEnd" => Some(Self::Keep),
            _ => None,
        }
    }
}

/// Runs a hook within its time limit.
pub(super) fn run(global: Global, args: HookArgs) -> ExitCode {
    let event = args.event.clone();
    let usual = if HookAction::of(&event) == Some(HookAction::Keep) { AFTER } else { BEFORE };
    let within = args.within_ms.map_or(usual, Duration::from_millis);
    // Until the settings are read, the log is in the folder of the flag, if given.
    let mut folder = global.data_dir.clone();
    let (sender, heard) = mpsc::channel();
    std::thread::spawn(move || {
        // After the time limit there is no receiver any more.
        let send = |progress: HookProgress| drop(sender.send(progress));
        match Settings::read(&global) {
            Ok(settings) => {
                send(HookProgress::Folder(settings.data_dir.clone()));
                send(HookProgress::Over(answer(&settings, &args)));
            }
            Err(error) => send(HookProgress::Over(Err(error))),
        }
    });
    let timer = Timer::of(within);
    let why = loop {
        match heard.recv_timeout(timer.left()) {
            Ok(HookProgress::Folder(found)) => folder = Some(found),
            Ok(HookProgress::Over(Ok(None))) => return ExitCode::SUCCESS,
            Ok(HookProgress::Over(Ok(Some(context)))) => {
                let answer = json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}});
                // The agent may have exited.
                let _ = writeln!(std::io::stdout(), "{answer}");
                return ExitCode::SUCCESS;
            }
            Ok(HookProgress::Over(Err(error))) => break error.to_string(),
            Err(RecvTimeoutError::Timeout) => {
                break format!("it took longer than {} ms; what was recorded by then is safe", within.as_millis());
            }
            Err(RecvTimeoutError::Disconnected) => break "it ended without a result".to_owned(),
        }
    };
    log::line(folder.as_deref(), &event, &why);
    ExitCode::SUCCESS
}

/// A message of the worker thread.
enum HookProgress {
    /// The data folder, which has the log.
    Folder(PathBuf),
    Over(Result<Option<String>>),
}

/// A time limit.
struct Timer {
    start: Instant,
    within: Duration,
}

impl Timer {
    #[expect(clippy::disallowed_methods, reason = "limits the time an agent waits; nothing recorded depends on it")]
    fn of(within: Duration) -> Self {
        Self { start: Instant::now(), within }
    }

    fn left(&self) -> Duration {
        self.within.saturating_sub(self.start.elapsed())
    }
}

/// True if the command line is a hook, whose wrong usage must not stop the agent.
pub(crate) fn is_typed() -> bool {
    let typed: Vec<String> = std::env::args().collect();
    // Event names begin with a capital; other words after `hook` make it a value.
    typed.windows(2).any(|words| words[0] == "hook" && words[1].starts_with(|first: char| first.is_ascii_uppercase()))
}

/// The context for the agent, if there is any.
fn answer(settings: &Settings, args: &HookArgs) -> Result<Option<String>> {
    let action = HookAction::of(&args.event)
        .ok_or_else(|| Error::Invalid(format!("{:?} is not a supported event", args.event)))?;
    let mut text = String::new();
    let read = std::io::stdin().lock().take(INPUT_BYTES_MAX).read_to_string(&mut text);
    read.map_err(|error| Error::Invalid(format!("standard input cannot be read: {error}")))?;
    let data: HookEvent = serde_json::from_str(&text)
        .map_err(|error| Error::Invalid(format!("standard input is not the JSON of an event: {error}")))?;
    let question = match action {
        HookAction::Keep => {
            record(settings, args, &data)?;
            return Ok(None);
        }
        HookAction::Begin => format!("What matters for the work in {}?", place(data.cwd.as_deref())),
        HookAction::Ask => match data.prompt {
            // Commands of the agent are not prompts.
            Some(prompt) if !prompt.trim().is_empty() && !prompt.starts_with('/') => prompt,
            _ => return Ok(None),
        },
    };
    let backend = HookBackend::open(settings, args)?;
    // At the start of a session there is no question yet, so any memory of the project is used.
    let must_answer = action == HookAction::Ask;
    let packed = match backend.packed(&settings.user, &question, args.max_tokens, must_answer) {
        // The user has no memory.
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

/// The name of the working folder.
fn place(folder: Option<&Path>) -> String {
    let name = folder.and_then(Path::file_name).and_then(|name| name.to_str());
    name.map_or_else(|| "this project".to_owned(), |name| format!("the project {name}"))
}

/// Records the new turns of a transcript.
fn record(settings: &Settings, args: &HookArgs, data: &HookEvent) -> Result<()> {
    let missing = |what: &str| Error::Invalid(format!("the event has no {what}"));
    let session = data.session_id.as_deref().ok_or_else(|| missing("session_id"))?;
    let path = data.transcript_path.as_deref().ok_or_else(|| missing("transcript_path"))?;
    let position = transcript::TranscriptPosition::of(&settings.data_dir, path);
    let unread = transcript::read(path, position.get())?;
    if !unread.turns.is_empty() {
        let backend = HookBackend::open(settings, args)?;
        for turn in &unread.turns {
            backend.record(&settings.user, session, turn)?;
            position.set(turn.end)?;
        }
        backend.extract(&settings.user, session)?;
    }
    position.set(unread.end)
}
