//! Prints data on stdout and messages on stderr, with recorded text escaped for a terminal.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use quipu_core::pack::escape_for_terminal;
use quipu_engine::{Error, Progress, Result};
use serde::Serialize;
use serde_json::Value;

use crate::global::{Form, Global};

/// Version of the JSON output.
const SCHEMA_VERSION: u32 = 1;

/// Prints in the chosen form.
pub(crate) struct Printer {
    form: Form,
    quiet: bool,
}

impl Printer {
    pub(crate) fn new(global: &Global) -> Self {
        let form = if global.json { Form::Json } else { global.output.unwrap_or(Form::Text) };
        Self { form, quiet: global.quiet }
    }

    pub(crate) fn form(&self) -> Form {
        self.form
    }

    /// Prints a report as JSON, or as the text `render` returns.
    pub(crate) fn report<T: Serialize>(&self, report: &T, render: impl FnOnce(&T) -> String) -> Result<()> {
        match self.form {
            Form::Json => {
                let value = serde_json::to_value(report).map_err(|error| Error::Bug(error.to_string()))?;
                let mut members = match value {
                    Value::Object(members) => members,
                    // Lists are `items`; `entries` is the name in earlier releases.
                    Value::Array(rows) => serde_json::Map::from_iter([
                        ("items".to_owned(), Value::Array(rows.clone())),
                        ("entries".to_owned(), Value::Array(rows)),
                    ]),
                    other => serde_json::Map::from_iter([("value".to_owned(), other)]),
                };
                members.insert("schema_version".to_owned(), SCHEMA_VERSION.into());
                self.out(&format!("{}\n", Value::Object(members)))
            }
            Form::Text | Form::Table => self.out(&escape_for_terminal(&render(report))),
        }
    }

    /// Writes to stdout without escaping.
    pub(crate) fn out(&self, text: &str) -> Result<()> {
        let mut stdout = std::io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Ok(()) => Ok(()),
            // The reader of a pipe may close it early.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            Err(error) => Err(Error::Unavailable(format!("cannot write the output: {error}"))),
        }
    }

    /// Prints a message for a person at the terminal, unless the output is quiet or JSON.
    pub(crate) fn hint(&self, text: &str) {
        if !self.quiet && self.form != Form::Json {
            eprintln!("{}", escape_for_terminal(text));
        }
    }

    /// Prints an error and returns the exit code for its kind.
    pub(crate) fn fail(&self, error: &Error) -> ExitCode {
        let (kind, code) = match error {
            Error::Invalid(_) => ("invalid", 2),
            Error::NotFound(_) => ("not_found", 3),
            Error::Unavailable(_) => ("unavailable", 5),
            Error::Conflict(_) => ("conflict", 1),
            Error::Stale(_) => ("stale", 1),
            Error::Refused(_) => ("refused", 1),
            Error::Corrupt(_) => ("corrupt", 1),
            Error::Bug(_) => ("bug", 1),
        };
        if self.form == Form::Json {
            eprintln!("{}", serde_json::json!({"error": {"type": kind, "message": error.to_string()}}));
        } else {
            eprintln!("quipu: {}", escape_for_terminal(&error.to_string()));
        }
        ExitCode::from(code)
    }

    /// A progress bar, hidden without a terminal. Its length is set with each update.
    pub(crate) fn progress(&self) -> Bar {
        let shown = !self.quiet && std::io::stderr().is_terminal();
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        let style = ProgressStyle::with_template("{msg} {wide_bar} {human_pos}/{human_len} {eta}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Bar(bar)
    }
}

/// A progress bar that is cleared when it is dropped.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    pub(crate) fn show(&self, progress: Progress) {
        let (what, done, total) = match progress {
            Progress::Imported(done) => ("importing", done, done),
            Progress::Embedded(done, total) => ("embedding", done, total),
            Progress::Events(done, total) => ("events", done, total),
        };
        self.0.set_message(what);
        self.0.set_length(total);
        self.0.set_position(done);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
