//! The `quipu` command. Reads settings and environment, and assembles the concrete components.

mod app;
mod args;
mod commands;
mod help;
mod output;
mod settings;
mod telemetry;

use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match args::Cli::from_process() {
        // An agent treats the exit code of wrong usage as a veto.
        Err(error) if error.use_stderr() && commands::serve::hook::is_typed() => {
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
