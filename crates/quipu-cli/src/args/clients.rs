//! How to give memory to the programs a language model runs in.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use quipu_server::Toolset;

#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// Ask a server that runs already, such as http://127.0.0.1:7077, instead of opening the folder; its key is read from
    /// QUIPU_API_KEY
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Tools besides the usual ones: graph, files, admin
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) toolsets: Vec<Toolset>,
}

#[derive(Debug, Args)]
pub(crate) struct Install {
    #[command(flatten)]
    pub(crate) place: ClientLocation,
    /// Let it ask a server that runs already, such as http://127.0.0.1:7077
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// With --server: the variable in which the client finds its key
    #[arg(long, value_name = "NAME", requires = "server")]
    pub(crate) key_env: Option<String>,
    /// Tools besides the usual ones: graph, files, admin
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) toolsets: Vec<Toolset>,
    /// The program to start [default: this one]
    #[arg(long, value_name = "FILE", conflicts_with = "server")]
    pub(crate) program: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ClientLocation {
    /// The client
    #[arg(value_enum)]
    pub(crate) client: Client,
    /// Its settings file [default: where the client keeps it]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// A program that speaks MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "kebab-case")]
pub(crate) enum Client {
    /// Claude Desktop.
    ClaudeDesktop,
    /// Claude Code, for every project.
    ClaudeCode,
    /// Cursor, for every project.
    Cursor,
    /// Codex.
    Codex,
    /// Visual Studio Code, for every workspace.
    #[value(name = "vscode")]
    VsCode,
}
