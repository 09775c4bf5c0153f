//! Commands that connect a memory to models, agents and other programs.

mod chat;
mod health;
pub(crate) mod hook;
mod init;
mod install;
mod key;
mod man;
mod mcp;
mod self_signed;
mod server;

use std::process::ExitCode;

use clap::Subcommand;
use quipu_engine::Result;

use super::Invocation;

#[derive(Debug, Subcommand)]
pub(crate) enum ServeCommand {
    /// Set Quipu up: asks where the memory is, which model reads it, and which clients use it
    Init(init::InitArgs),
    /// Run the server: proxy for model requests, API, MCP and inspector
    Serve(server::ServeArgs),
    /// Check that a server responds and is ready, for containers and supervisors
    Health(health::HealthArgs),
    /// Serve an MCP client over standard input and output
    Mcp(mcp::McpArgs),
    /// Add Quipu to a client's settings: claude-desktop, claude-code, cursor, codex, vscode
    Install(install::InstallArgs),
    /// Remove Quipu from a client's settings
    Uninstall(install::ClientArgs),
    /// Manage keys for the server: create, list, revoke
    Key(key::KeyArgs),
    /// Hook adapter for coding agents; never blocks the agent
    Hook(hook::HookArgs),
    /// Chat with the configured model, with memory
    Chat(chat::ChatArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write man pages into a folder
    #[command(hide = true)]
    Man(man::ManArgs),
}

/// A client on this machine.
pub(crate) struct FoundClient {
    /// True if it uses Quipu.
    pub(crate) is_connected: bool,
}

/// The clients on this machine.
pub(crate) fn found_clients() -> Vec<FoundClient> {
    install::found().into_iter().map(|client| FoundClient { is_connected: install::is_connected(client) }).collect()
}

impl ServeCommand {
    pub(crate) fn run(self, invocation: Invocation<'_>) -> Result<ExitCode> {
        match self {
            Self::Init(args) => init::run(invocation.global, invocation.printer, &args),
            Self::Serve(args) => invocation.with_settings(|settings, printer| server::run(settings, printer, &args)),
            Self::Health(args) => invocation.with_settings(|settings, printer| health::run(settings, printer, &args)),
            Self::Mcp(args) => invocation.with_settings(|settings, _| mcp::run(settings, args)),
            Self::Install(args) => {
                invocation.with_settings(|settings, printer| install::install(settings, printer, args))
            }
            Self::Uninstall(args) => invocation.with_settings(|_, printer| install::uninstall(printer, &args)),
            Self::Key(args) => invocation.with_settings(|settings, printer| key::run(settings, printer, args.action)),
            Self::Hook(args) => Ok(hook::run(invocation.global, args)),
            Self::Chat(args) => invocation.on_named(|context| chat::chat(context, &args)),
            Self::Completions { shell } => {
                clap_complete::generate(shell, &mut (invocation.command_line)(), "quipu", &mut std::io::stdout());
                Ok(ExitCode::SUCCESS)
            }
            Self::Man(args) => man::write((invocation.command_line)(), &args.folder).map(|()| ExitCode::SUCCESS),
        }
    }
}
