//! `quipu`: the only binary, the only reader of settings and environment, the only place that names concrete parts.

mod app;
mod args;
mod commands;
mod output;
mod settings;
mod telemetry;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = match args::Cli::try_parse() {
        // An agent takes the code of wrong usage for a veto.
        Err(error) if error.use_stderr() && commands::hook::is_typed() => {
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        typed => typed.unwrap_or_else(|error| error.exit()),
    };
    let printer = output::Printer::new(&cli.global);
    match commands::run(cli, &printer) {
        Ok(code) => code,
        Err(error) => printer.fail(&error),
    }
}
