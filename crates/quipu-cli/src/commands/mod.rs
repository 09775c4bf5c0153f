//! Commands, grouped by purpose. Each converts its arguments, calls one engine function and prints its report.

mod arguments;
pub(crate) mod ask;
mod demo;
pub(crate) mod history;
mod input;
pub(crate) mod maintain;
pub(crate) mod measure;
pub(crate) mod remember;
mod render;
pub(crate) mod review;
pub(crate) mod serve;
pub(crate) mod share;

use std::process::{ExitCode, Termination};

use quipu_core::id::UserId;
use quipu_engine::versions::When;
use quipu_engine::{Engine, Receipt, Result, VaultOptions};

use crate::app;
use crate::global::Global;
use crate::output::Printer;
use crate::settings::Settings;

/// The global flags and the output of one run; opens settings, engine and memory as a command needs them.
pub(crate) struct Invocation<'a> {
    pub(crate) global: Global,
    pub(crate) printer: &'a Printer,
    /// The whole command line, for completion scripts.
    pub(crate) command_line: fn() -> clap::Command,
}

/// Which user a command works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MemoryUser {
    /// The user of the settings, who need not have a memory yet.
    Named,
    /// A user with a memory: see [`app::reader`].
    Existing,
}

impl<'a> Invocation<'a> {
    fn settings(&self) -> Result<Settings> {
        let settings = Settings::read(&self.global)?;
        render::times_in(settings.clock.zone.as_ref());
        Ok(settings)
    }

    /// Runs a command that needs the settings only.
    fn with_settings<T: Termination>(self, run: impl FnOnce(&Settings, &Printer) -> Result<T>) -> Result<ExitCode> {
        run(&self.settings()?, self.printer).map(Termination::report)
    }

    /// Runs a command on the engine, for several users or none.
    fn with_engine<T: Termination>(
        self,
        run: impl FnOnce(&Engine, &Settings, &Printer) -> Result<T>,
    ) -> Result<ExitCode> {
        let settings = self.settings()?;
        run(&app::open(&settings)?, &settings, self.printer).map(Termination::report)
    }

    /// Opens a memory.
    fn open(self, user: MemoryUser) -> Result<CommandContext<'a>> {
        let settings = self.settings()?;
        let engine = app::open(&settings)?;
        let user = match user {
            MemoryUser::Named => settings.user.clone(),
            MemoryUser::Existing => app::reader(&engine, &settings)?,
        };
        let yes = self.global.yes;
        Ok(CommandContext { engine, user, settings, yes, printer: self.printer })
    }

    /// Runs a command on the memory of the user of the settings, then updates its plain files.
    fn on_named<T: Termination>(self, run: impl FnOnce(&CommandContext<'_>) -> Result<T>) -> Result<ExitCode> {
        self.open(MemoryUser::Named)?.run(run)
    }

    /// Runs a command on a memory that exists, then updates its plain files.
    fn on_existing<T: Termination>(self, run: impl FnOnce(&CommandContext<'_>) -> Result<T>) -> Result<ExitCode> {
        self.open(MemoryUser::Existing)?.run(run)
    }
}

/// An open memory, and what a command needs besides.
pub(crate) struct CommandContext<'a> {
    engine: Engine,
    user: UserId,
    settings: Settings,
    /// Confirmed by flag: do not ask.
    yes: bool,
    printer: &'a Printer,
}

impl CommandContext<'_> {
    fn run<T: Termination>(&self, run: impl FnOnce(&Self) -> Result<T>) -> Result<ExitCode> {
        let code = run(self)?.report();
        self.update_files();
        Ok(code)
    }

    /// Updates the plain files of every memory in use. The command has succeeded by then, so a failure is only a hint.
    fn update_files(&self) {
        if !self.engine.keeps_artifacts() {
            return;
        }
        for user in self.engine.users_in_use() {
            if let Err(error) = quipu_engine::files::level(&self.engine, &user, VaultOptions::default()) {
                self.printer.hint(&format!("plain files of {user} are not up to date: {error}"));
            }
        }
    }

    /// Records which items a recall of the current version returned. A failure is only a hint: the answer is printed.
    fn keep_hits(&self, at: When) {
        if at == When::Now
            && let Err(error) = quipu_engine::keep_hits(&self.engine, &self.user)
        {
            self.printer.hint(&format!("the returned items are not counted: {error}"));
        }
    }

    /// A command line for the same memory, for people to paste into a shell.
    fn command(&self, words: &[&str]) -> String {
        let is_default = self.settings.user_named.is_none() && self.user == self.settings.user;
        let prefix = &self.settings.command;
        if is_default { prefix.with(words) } else { prefix.user(self.user.as_str()).with(words) }
    }

    /// Prints why recall lags behind the ledger, if it does.
    fn print_lag(&self, lag: Option<&str>) {
        if let Some(lag) = lag {
            self.printer.hint(lag);
        }
    }

    /// Prints what an event changed.
    fn print_changes(&self, receipt: &Receipt) -> Result<()> {
        let before = When::Seq(receipt.seq.saturating_sub(1));
        let difference = quipu_engine::diff(&self.engine, &self.user, before, When::Now)?;
        let text = |receipt: &Receipt| format!("Event {}\n{}", receipt.seq, render::difference(&difference));
        self.printer.report(receipt, text)?;
        self.print_lag(receipt.lag.as_deref());
        Ok(())
    }
}
