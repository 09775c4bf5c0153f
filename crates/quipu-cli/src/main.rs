//! The `quipu` command. Reads settings and environment, and assembles the concrete components.

mod app;
mod args;
mod commands;
mod document_process;
mod encryption;
mod global;
mod help;
mod http_client;
mod output;
mod settings;
mod shell;
mod telemetry;

use std::process::ExitCode;

use clap::CommandFactory;
use quipu_engine::Result;

use args::{Cli, Command};
use commands::Invocation;
use output::Printer;

fn main() -> ExitCode {
    let cli = match help::parse() {
        // An agent treats the exit code of wrong usage as a veto.
        Err(error) if error.use_stderr() && commands::serve::hook::is_typed() => {
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        typed => typed.unwrap_or_else(|error| error.exit()),
    };
    let printer = output::Printer::new(&cli.global);
    match run(cli, &printer) {
        Ok(code) => code,
        Err(error) => printer.fail(&error),
    }
}

/// Runs the command of a parsed command line.
fn run(cli: Cli, printer: &Printer) -> Result<ExitCode> {
    let invocation = Invocation { global: cli.global, printer, command_line: Cli::command };
    match cli.command {
        Command::Remember(command) => command.run(invocation),
        Command::Ask(command) => command.run(invocation),
        Command::Review(command) => command.run(invocation),
        Command::History(command) => command.run(invocation),
        Command::Share(command) => command.run(invocation),
        Command::Serve(command) => command.run(invocation),
        Command::Maintain(command) => command.run(invocation),
        Command::Measure(command) => command.run(invocation),
    }
}
