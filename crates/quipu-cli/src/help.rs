//! Help of the program as a whole: its commands by group, each group under a heading.

use std::ffi::OsString;
use std::io::IsTerminal;

use clap::{Command, CommandFactory, FromArgMatches, Subcommand};

use crate::args::Cli;
use crate::commands::ask::AskCommand;
use crate::commands::history::HistoryCommand;
use crate::commands::maintain::MaintainCommand;
use crate::commands::measure::MeasureCommand;
use crate::commands::remember::RememberCommand;
use crate::commands::review::ReviewCommand;
use crate::commands::serve::ServeCommand;
use crate::commands::share::ShareCommand;
use crate::settings;

/// The command line with the help text of the whole program.
pub(crate) fn command() -> Command {
    let command = Cli::command();
    let template = template(&command);
    command.help_template(template)
}

/// Parses the arguments of the process.
///
/// # Errors
/// What clap reports: wrong usage, or a request for help or the version.
pub(crate) fn parse() -> Result<Cli, clap::Error> {
    let mut command = command();
    let mut typed: Vec<OsString> = std::env::args_os().collect();
    if typed.len() == 1 && is_first_start() {
        typed.push("init".into());
    }
    // `quipu help add` is `quipu add --help`.
    if typed.get(1).is_some_and(|word| word == "help") {
        typed.remove(1);
        typed.push("--help".into());
    }
    let mut matches = command.try_get_matches_from_mut(typed)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// True on a terminal, if nothing is set up yet: no settings file and no data folder.
fn is_first_start() -> bool {
    let on_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let has_data = settings::default_folder().map_or(true, |folder| folder.exists());
    on_terminal && !has_data && !settings::is_there() && std::env::var_os("QUIPU_DATA_DIR").is_none()
}

/// Heading and commands of each group, in the order of the help text.
fn groups() -> [(&'static str, Command); 8] {
    let of = |augment: fn(Command) -> Command| augment(Command::new("group"));
    [
        ("Remember", of(RememberCommand::augment_subcommands)),
        ("Ask", of(AskCommand::augment_subcommands)),
        ("Review", of(ReviewCommand::augment_subcommands)),
        ("History", of(HistoryCommand::augment_subcommands)),
        ("Share", of(ShareCommand::augment_subcommands)),
        ("Serve", of(ServeCommand::augment_subcommands)),
        ("Maintain", of(MaintainCommand::augment_subcommands)),
        ("Measure", of(MeasureCommand::augment_subcommands)),
    ]
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|one| !one.is_hide_set())
}

/// clap's default template, with the groups in place of one list of commands.
fn template(command: &Command) -> String {
    let (header, literal) = (command.get_styles().get_header(), command.get_styles().get_literal());
    let groups = groups();
    let names = groups.iter().flat_map(|(_, group)| visible(group)).map(|one| one.get_name().len());
    let width = names.max().unwrap_or(0);
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (heading, group) in &groups {
        text.push_str(&format!("\n{header}{heading}:{header:#}\n"));
        for one in visible(group) {
            let about = one.get_about().map(ToString::to_string).unwrap_or_default();
            let (name, gap) = (one.get_name(), width - one.get_name().len());
            text.push_str(&format!("  {literal}{name}{literal:#}{:gap$}  {about}\n", ""));
        }
    }
    text.push_str(&format!("\n{header}Options:{header:#}\n{{options}}{{after-help}}"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_visible_command_is_in_exactly_one_group() {
        let groups = groups();
        for one in visible(&Cli::command()) {
            let name = one.get_name();
            let of = |(_, group): &&(&str, Command)| group.get_subcommands().any(|other| other.get_name() == name);
            assert_eq!(groups.iter().filter(of).count(), 1, "groups with `{name}`");
        }
    }

    #[test]
    fn the_help_text_has_every_visible_command_once_and_no_hidden_name() {
        let help = command().render_help().to_string();
        for one in visible(&Cli::command()) {
            let line = |line: &&str| line.starts_with("  ") && line.split_whitespace().next() == Some(one.get_name());
            assert_eq!(help.lines().filter(line).count(), 1, "lines of `{}` in {help}", one.get_name());
        }
        for (heading, _) in groups() {
            assert!(help.contains(&format!("\n{heading}:\n")), "no heading {heading} in {help}");
        }
        for (alias, name) in [("vault", "files"), ("tend", "maintain")] {
            assert_eq!(Cli::command().find_subcommand(alias).map(Command::get_name), Some(name));
            assert!(!help.contains(&format!("  {alias} ")), "{alias} is shown in {help}");
        }
    }

    #[test]
    fn the_definition_of_the_command_line_is_consistent() {
        command().debug_assert();
    }
}
