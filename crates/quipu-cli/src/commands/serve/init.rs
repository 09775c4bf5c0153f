//! Sets Quipu up: asks where the memory is, which language model reads it if any, and which clients use it.

use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use quipu_engine::{Error, Result};
use quipu_models::language::Provider;
use serde::Serialize;
use similar::TextDiff;

use super::install::{self, Client, SettingsFile};
use crate::app;
use crate::commands::maintain::next;
use crate::global::Global;
use crate::output::Printer;
use crate::settings::{self, ModelRole, Settings};

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The language model that reads messages: none, or PROVIDER:NAME, such as ollama:llama3.2 or openai:gpt-5-mini
    #[arg(long, value_name = "MODEL", value_parser = parse_model)]
    model: Option<ModelChoice>,
    /// The clients to connect, separated by commas; none, or found: those on this machine
    #[arg(long, value_name = "NAMES", value_parser = parse_clients)]
    clients: Option<ClientChoice>,
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
}

/// The chosen language model.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ModelChoice {
    None,
    Named { provider: &'static str, name: String },
}

/// The chosen clients.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ClientChoice {
    /// Those on this machine.
    Found,
    These(Vec<Client>),
}

/// What was done, or would be.
#[derive(Serialize)]
struct InitReport {
    data_dir: PathBuf,
    config: PathBuf,
    /// True if the settings file changed.
    changed: bool,
    dry_run: bool,
    diff: String,
    model: Option<String>,
    clients: Vec<install::Report>,
    /// Clients whose settings could not be changed, and why.
    failed: Vec<String>,
    next: Vec<next::NextStep>,
}

fn parse_model(text: &str) -> std::result::Result<ModelChoice, String> {
    let text = text.trim();
    if text.is_empty() || text.eq_ignore_ascii_case("none") {
        return Ok(ModelChoice::None);
    }
    let wrong = || format!("{text:?} is not a model: give none, ollama:NAME, openai:NAME or anthropic:NAME");
    let (provider, name) = text.split_once(':').ok_or_else(wrong)?;
    let provider = ["ollama", "openai", "anthropic"].into_iter().find(|known| *known == provider);
    match provider.filter(|provider| Provider::named(provider).is_some() && !name.trim().is_empty()) {
        Some(provider) => Ok(ModelChoice::Named { provider, name: name.trim().to_owned() }),
        None => Err(wrong()),
    }
}

fn parse_clients(text: &str) -> std::result::Result<ClientChoice, String> {
    match text.trim() {
        "found" => return Ok(ClientChoice::Found),
        "none" => return Ok(ClientChoice::These(Vec::new())),
        _ => {}
    }
    let names = text.split([',', ' ']).filter(|name| !name.is_empty());
    let all = names.map(|name| {
        Client::from_str(name, true).map_err(|_| {
            let known: Vec<String> = Client::value_variants().iter().map(name_of).collect();
            format!("{name:?} is not a client Quipu knows: give none, found, or some of {}", known.join(", "))
        })
    });
    all.collect::<std::result::Result<_, _>>().map(ClientChoice::These)
}

fn name_of(client: &Client) -> String {
    client.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// Asks on the terminal. Without one, or with `--yes` or `--dry-run`, every question has its default answer.
struct Questions {
    asks: bool,
}

impl Questions {
    /// Asks until the answer can be parsed; an empty one is the default.
    fn ask<T>(&self, question: &str, usual: T, parse: impl Fn(&str) -> std::result::Result<T, String>) -> Result<T> {
        if !self.asks {
            return Ok(usual);
        }
        loop {
            eprint!("{question} ");
            let mut answer = String::new();
            let read = std::io::stdin().lock().read_line(&mut answer);
            if read.map_err(|error| Error::Unavailable(error.to_string()))? == 0 {
                return Err(Error::Invalid("the input ended before the answer; nothing was changed".to_owned()));
            }
            match answer.trim() {
                "" => return Ok(usual),
                answer => match parse(answer) {
                    Ok(parsed) => return Ok(parsed),
                    Err(why) => eprintln!("{why}"),
                },
            }
        }
    }
}

/// Sets up the settings file, the data folder and the clients. Repeating it changes nothing that is there already.
///
/// # Errors
/// `Invalid` without a terminal if neither `--yes` nor `--dry-run` is given. `Refused` for settings that cannot be
/// edited. A client whose settings cannot be changed does not stop the others.
pub(super) fn run(mut global: Global, printer: &Printer, args: &InitArgs) -> Result<ExitCode> {
    let settings = Settings::read(&global)?;
    let is_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if !is_terminal && !global.yes && !args.dry_run {
        return Err(Error::Invalid(
            "there is no terminal to ask on: give --yes for the default answers, with --data-dir, --model and --clients for \
             others; --dry-run shows what would change"
                .to_owned(),
        ));
    }
    let questions = Questions { asks: is_terminal && !global.yes && !args.dry_run };
    if global.data_dir.is_none() && !settings::is_there() {
        let question = format!("Where should the memory be? [{}]", settings.data_dir.display());
        global.data_dir = questions.ask(&question, None, |answer| absolute(answer).map(Some))?;
    }
    let model = match &args.model {
        Some(model) => model.clone(),
        None if !settings.models.is_empty() => ModelChoice::None,
        None => questions.ask(
            "Which language model should read messages? It finds more than the built-in rules. Type ollama:NAME, openai:NAME \
             or anthropic:NAME [none]",
            ModelChoice::None,
            parse_model,
        )?,
    };
    let found = install::found();
    let choice = match &args.clients {
        Some(choice) => choice.clone(),
        None if found.is_empty() => ClientChoice::Found,
        None => {
            let names: Vec<String> = found.iter().map(name_of).collect();
            let question = format!("Which clients should use it? Type none or their names [{}]", names.join(", "));
            questions.ask(&question, ClientChoice::Found, parse_clients)?
        }
    };
    let chosen = match choice {
        ClientChoice::Found => found,
        ClientChoice::These(these) => these,
    };

    let mut file = SettingsFile::open(settings::path()?)?;
    let before = file.text().unwrap_or_default().to_owned();
    let named = global.data_dir.clone().filter(|folder| *folder != settings::default_folder().unwrap_or_default());
    let after = edited(&before, named.as_deref(), &model).map_err(|why| install::refused(file.path(), why))?;
    let shown = file.path().display().to_string();
    let mut diff = TextDiff::from_lines(&before, &after).unified_diff().header(&shown, &shown).to_string();
    if before == after {
        diff.clear();
    } else if !args.dry_run {
        file.write(&after)?;
    }
    // As a later run reads them.
    let settings = Settings::read(&global)?;
    if !args.dry_run {
        app::create_folder(&settings.data_dir)?;
    }
    let (mut clients, mut failed) = (Vec::new(), Vec::new());
    for client in chosen {
        match install::connect(&settings, client, args.dry_run) {
            Ok(report) => clients.push(report),
            Err(error) => failed.push(format!("{}: {error}", name_of(&client))),
        }
    }
    let next = if args.dry_run { Vec::new() } else { next::after_setup(&settings) };
    let reads = settings.models.iter().find(|set| set.role == ModelRole::Extractor);
    if matches!(model, ModelChoice::None) && !settings.models.is_empty() {
        printer
            .hint("language models are configured already and stay so; remove [models] from the settings to use none");
    }
    let report = InitReport {
        data_dir: settings.data_dir.clone(),
        config: file.path().to_owned(),
        changed: before != after,
        dry_run: args.dry_run,
        diff,
        model: match (&model, args.dry_run) {
            (ModelChoice::Named { name, .. }, true) => Some(name.clone()),
            _ => reads.map(|set| set.endpoint.model.clone()),
        },
        clients,
        failed,
        next,
    };
    printer.report(&report, render)?;
    if args.dry_run {
        printer.hint("nothing was changed; omit --dry-run to set it up");
    }
    Ok(if report.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A folder as typed; `~` is the home folder.
fn absolute(answer: &str) -> std::result::Result<PathBuf, String> {
    let path = match answer.strip_prefix("~/") {
        Some(rest) => settings::home().map_err(|error| error.to_string())?.join(rest),
        None => PathBuf::from(answer),
    };
    let path = std::path::absolute(&path).map_err(|error| error.to_string())?;
    if path.is_file() { Err(format!("{} is a file; give a folder", path.display())) } else { Ok(path) }
}

/// The settings with the folder and the model. Comments and everything else stay.
fn edited(text: &str, folder: Option<&std::path::Path>, model: &ModelChoice) -> std::result::Result<String, String> {
    let mut document: toml_edit::DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    if let Some(folder) = folder {
        let folder = folder.to_str().ok_or_else(|| format!("{} is not UTF-8", folder.display()))?;
        if document.get("data_dir").and_then(|there| there.as_str()) != Some(folder) {
            document["data_dir"] = toml_edit::value(folder);
        }
    }
    if let ModelChoice::Named { provider, name } = model {
        let there = |key: &str| document.get("models")?.get("default")?.get(key)?.as_str();
        let is_same = there("provider") == Some(*provider) && there("model") == Some(name.as_str());
        if document.contains_key("models") && !is_same {
            return Err("it has [models] already; change the model there".to_owned());
        }
        if !is_same {
            let mut models = toml_edit::Table::new();
            models.set_implicit(true);
            let mut default = toml_edit::Table::new();
            default["provider"] = toml_edit::value(*provider);
            default["model"] = toml_edit::value(name.as_str());
            models["default"] = toml_edit::Item::Table(default);
            for role in ["extractor", "summarizer", "reflector", "chat"] {
                models[role] = toml_edit::table();
            }
            document["models"] = toml_edit::Item::Table(models);
        }
    }
    Ok(document.to_string())
}

fn render(report: &InitReport) -> String {
    let mut text = format!("The memory is in {}\n", report.data_dir.display());
    match (&report.model, report.changed) {
        (Some(model), _) => text.push_str(&format!("Messages are read by {model} and the built-in rules\n")),
        (None, _) => text.push_str("Messages are read by the built-in rules, which need no network\n"),
    }
    if report.changed {
        let did = if report.dry_run { "would be changed" } else { "is changed" };
        text.push_str(&format!("\n{}\n{} {did}.\n", report.diff.trim_end(), report.config.display()));
    }
    if report.clients.is_empty() && report.failed.is_empty() {
        text.push_str("No client is connected; `quipu install --help` lists those that can be\n");
    }
    for client in &report.clients {
        text.push('\n');
        text.push_str(&install::render(client));
    }
    for failed in &report.failed {
        text.push_str(&format!("\nnot connected: {failed}\n"));
    }
    text + &next::render(&report.next)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn settings_keep_what_is_there() {
        let before = "# mine\nuser = \"ana\"   # that is me\n\n[sessions]\nwindow_turns = 7\n";
        let model = ModelChoice::Named { provider: "ollama", name: "llama3.2".to_owned() };
        let after = edited(before, Some(Path::new("/data/memory")), &model).unwrap_or_else(|why| panic!("{why}"));
        for part in [
            "# mine",
            "# that is me",
            "window_turns = 7",
            "data_dir = \"/data/memory\"",
            "[models.default]\nprovider = \"ollama\"\nmodel = \"llama3.2\"",
            "[models.extractor]",
            "[models.chat]",
        ] {
            assert!(after.contains(part), "{part} in {after}");
        }
        assert_eq!(edited(&after, Some(Path::new("/data/memory")), &model).as_ref(), Ok(&after), "the same again");
        let other = ModelChoice::Named { provider: "openai", name: "gpt".to_owned() };
        assert!(edited(&after, None, &other).is_err_and(|why| why.contains("already")));
        assert_eq!(edited("", None, &ModelChoice::None).as_deref(), Ok(""));
        assert!(edited("user = ", None, &ModelChoice::None).is_err());
    }

    #[test]
    fn answers_are_parsed_or_explained() {
        assert_eq!(parse_model("none"), Ok(ModelChoice::None));
        let named = |provider, name: &str| Ok(ModelChoice::Named { provider, name: name.to_owned() });
        assert_eq!(parse_model("ollama:llama3.2:3b"), named("ollama", "llama3.2:3b"));
        for wrong in ["gpt-5", "openai:", "other:x"] {
            assert!(parse_model(wrong).is_err_and(|why| why.contains("ollama:NAME")), "{wrong}");
        }
        assert_eq!(parse_clients("none"), Ok(ClientChoice::These(Vec::new())));
        assert_eq!(parse_clients("cursor, codex"), Ok(ClientChoice::These(vec![Client::Cursor, Client::Codex])));
        assert!(parse_clients("emacs").is_err_and(|why| why.contains("claude-code")));
    }
}
