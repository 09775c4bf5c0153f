//! Commands: each converts what was typed, calls one verb, and prints its report.

mod admin;
mod bench;
mod chat;
mod demo;
mod eval;
mod evolve;
mod export;
mod growing;
mod history;
pub(crate) mod hook;
mod install;
mod keys;
mod mcp;
mod models;
mod people;
mod read;
mod render;
mod serve;
mod sessions;
mod vault;
mod weights;
mod write;

use std::process::ExitCode;

use clap::CommandFactory;
use quipu_core::id::UserId;
use quipu_engine::versions::When;
use quipu_engine::{Engine, Result, VaultOptions};

use crate::app;
use crate::args::sessions::SessionAction;
use crate::args::vault::{VaultAction, VaultCommand};
use crate::args::{Cli, Command, Completions, Read};
use crate::output::Printer;
use crate::settings::Settings;

/// What every command works with.
struct CommandContext<'a> {
    engine: Engine,
    user: UserId,
    only_session: Option<String>,
    printer: &'a Printer,
}

impl CommandContext<'_> {
    /// Keeps in mind what was shown. That it cannot be kept, on a full disk for one, is no reason not to have answered.
    fn keep_hits(&self, at: When) {
        if at == When::Now
            && let Err(error) = quipu_engine::keep_hits(&self.engine, &self.user)
        {
            self.printer.hint(&format!("what was shown is not counted: {error}"));
        }
    }

    /// Tells why recall lags behind what was recorded, if it does.
    fn say_lag(&self, lag: Option<&str>) {
        if let Some(lag) = lag {
            self.printer.hint(lag);
        }
    }
}

/// Runs what was typed.
pub(crate) fn run(cli: Cli, printer: &Printer) -> Result<ExitCode> {
    let Cli { global, command } = cli;
    if let Command::Completions(Completions { shell }) = command {
        clap_complete::generate(shell, &mut Cli::command(), "quipu", &mut std::io::stdout());
        return Ok(ExitCode::SUCCESS);
    }
    if let Command::Hook(args) = command {
        return Ok(hook::run(global, args));
    }
    let settings = Settings::read(&global)?;
    match command {
        Command::Demo => return demo::run(&settings, printer).map(|()| ExitCode::SUCCESS),
        Command::Eval(args) => return eval::run(&settings, printer, &args.dataset).map(|()| ExitCode::SUCCESS),
        Command::Weights { name } => {
            return weights::weights(&settings, printer, name.as_deref()).map(|()| ExitCode::SUCCESS);
        }
        Command::Doctor(args) if args.self_test => return models::self_test(&settings, printer),
        Command::Key(args) => return keys::run(&settings, printer, args.action),
        Command::Install(args) => return install::install(&settings, printer, args),
        Command::Uninstall(place) => return install::uninstall(printer, &place),
        Command::Mcp(args) => return mcp::run(&settings, args),
        Command::Serve(args) => return serve::run(&settings, printer, &args),
        Command::Vault(VaultCommand { action: VaultAction::Watch(args) }) => {
            return vault::watch(&settings, printer, &args);
        }
        Command::Bench(bench) => return bench::run(&settings, printer, bench.items).map(|()| ExitCode::SUCCESS),
        _ => {}
    }
    let engine = app::open(&settings)?;
    match command {
        Command::Status => return admin::status(&engine, &settings, printer),
        Command::Doctor(_) => return admin::doctor(&engine, &settings, printer),
        Command::Backup(args) => return admin::backup(&engine, &settings, printer, &args),
        Command::Restore(args) => return admin::restore(&engine, &settings, printer, &args),
        _ => {}
    }
    let writes = matches!(
        command,
        Command::Add(_)
            | Command::Chat(_)
            | Command::Import(_)
            | Command::Core(_)
            | Command::Write(_)
            | Command::Migrate(_)
    );
    let begins = matches!(
        &command,
        Command::Session(args) if matches!(args.action, SessionAction::Set { .. } | SessionAction::Exceptions { set: Some(_), .. })
    );
    let verifies_file = matches!(&command, Command::Verify(args) if args.file.is_some());
    let restores = matches!(&command, Command::Vault(args) if matches!(args.action, VaultAction::Restore(_)));
    let user = if writes || begins || verifies_file || restores {
        settings.user.clone()
    } else {
        app::reader(&engine, &settings)?
    };
    let session = CommandContext { engine, user, only_session: global.session, printer };
    // What is about the files sees to them itself, or is not to touch them.
    let about_files = matches!(command, Command::Vault(_));
    let code = dispatch(&session, &settings, command, global.yes)?;
    if !about_files {
        keep_files(&session);
    }
    Ok(code)
}

/// Brings plain files level with what the command recorded. It is recorded whatever comes of this.
fn keep_files(session: &CommandContext<'_>) {
    if !session.engine.keeps_artifacts() {
        return;
    }
    for user in session.engine.users_in_use() {
        if let Err(error) = quipu_engine::files::level(&session.engine, &user, VaultOptions::default()) {
            session.printer.hint(&format!("plain files of {user} lag behind: {error}"));
        }
    }
}

fn dispatch(session: &CommandContext<'_>, settings: &Settings, command: Command, yes: bool) -> Result<ExitCode> {
    match command {
        Command::Add(args) => write::add(session, args)?,
        Command::Import(args) => write::import(session, settings, &args)?,
        Command::Core(args) => write::core(session, settings, args.action)?,
        Command::Evolve(args) => evolve::evolve(session, &args)?,
        Command::Schema(args) => evolve::schema(session, args.action)?,
        Command::Pin(name) => write::mark(session, &name.id, Some(true), None)?,
        Command::Unpin(name) => write::mark(session, &name.id, Some(false), None)?,
        Command::Rate(rate) => write::mark(session, &rate.id, None, Some(rate.rating))?,
        Command::Facts(args) => people::facts(session, &args, None)?,
        Command::Tasks(args) => people::tasks(session, None, args.all)?,
        Command::Episodes => people::episodes(session, None)?,
        Command::Notes => people::notes(session, None)?,
        Command::Tenets(args) => people::tenets(session, None, args.all)?,
        Command::Conflicts => people::conflicts(session)?,
        Command::Review(args) => people::review(session, args.action)?,
        Command::Sessions => sessions::sessions(session, When::Now)?,
        Command::Session(args) => sessions::run(session, args.action)?,
        Command::History(name) => people::history(session, &name.id)?,
        Command::Retract(args) => people::retract(session, &args)?,
        Command::Close(args) => people::close(session, &args)?,
        Command::Merge(args) => people::merge(session, &args)?,
        Command::Score(args) => people::score(session, &args)?,
        Command::Reread(args) if args.with_model => models::reread(session, settings, &args, yes)?,
        Command::Reread(args) => people::reread(session, &args)?,
        Command::Write(args) => people::write(session, &args)?,
        Command::Migrate(args) => people::migrate(session, &args)?,
        Command::Recall(args) => read::recall(session, &args, When::Now)?,
        Command::Context(args) => read::context(session, &args, When::Now)?,
        Command::Get(name) => read::get(session, &name.id, When::Now)?,
        Command::List(args) => read::list(session, &args, When::Now)?,
        Command::Why(name) => read::why(session, &name.id)?,
        Command::At(at) => match at.read {
            Read::Recall(args) => read::recall(session, &args, at.when)?,
            Read::Context(args) => read::context(session, &args, at.when)?,
            Read::Get(name) => read::get(session, &name.id, at.when)?,
            Read::List(args) => read::list(session, &args, at.when)?,
            Read::Facts(args) => people::facts(session, &args, Some(at.when))?,
            Read::Tasks(args) => people::tasks(session, Some(at.when), args.all)?,
            Read::Episodes => people::episodes(session, Some(at.when))?,
            Read::Notes => people::notes(session, Some(at.when))?,
            Read::Tenets(args) => people::tenets(session, Some(at.when), args.all)?,
            Read::Sessions => sessions::sessions(session, at.when)?,
            Read::Session { id } => sessions::show(session, &id, at.when)?,
            Read::Core { pointer } => read::core(session, pointer.as_deref(), at.when)?,
        },
        Command::CatchUp(args) => models::catch_up(session, &args)?,
        Command::Tend(args) => growing::tend(session, &args)?,
        Command::Reflect(args) => growing::reflect(session, &args)?,
        Command::Compact(args) => growing::compact(session, &args)?,
        Command::Chat(args) => chat::chat(session, settings, &args)?,
        Command::Log(args) => history::log(session, &args)?,
        Command::Show(args) => history::show(session, &args.event)?,
        Command::Blame(args) => history::blame(session, &args.what)?,
        Command::Diff(args) => history::diff(session, &args)?,
        Command::Revert(args) => history::revert(session, args)?,
        Command::Pick(args) => history::pick(session, &args)?,
        Command::Fork(args) => history::fork(session, &args)?,
        Command::Erase(args) => history::erase(session, settings, &args, yes)?,
        Command::Verify(args) => return history::verify(session, settings, &args),
        Command::Export(args) => export::export(session, settings, &args)?,
        Command::Topic(args) => vault::topic(session, args.action)?,
        Command::Global => vault::global(session)?,
        Command::Vault(args) => return vault::run(session, args.action),
        Command::Snapshot => history::snapshot(session)?,
        Command::Rebuild => history::rebuild(session)?,
        Command::Demo
        | Command::Eval(_)
        | Command::Bench(_)
        | Command::Hook(_)
        | Command::Install(_)
        | Command::Key(_)
        | Command::Mcp(_)
        | Command::Serve(_)
        | Command::Status
        | Command::Uninstall(_)
        | Command::Weights { .. }
        | Command::Doctor(_)
        | Command::Backup(_)
        | Command::Restore(_)
        | Command::Completions(_) => {}
    }
    Ok(ExitCode::SUCCESS)
}
