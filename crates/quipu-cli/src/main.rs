//! `quipu`: the only binary, the only reader of settings and environment, the only place that names concrete parts.

mod app;
mod args;
mod commands;
mod output;
mod settings;
mod system;
mod telemetry;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = args::Cli::parse();
    let printer = output::Printer::new(&cli.global);
    match commands::run(cli, &printer) {
        Ok(code) => code,
        Err(error) => printer.fail(&error),
    }
}
