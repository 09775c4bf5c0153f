//! Commands that record something.

pub(crate) mod add;
pub(crate) mod core;
mod find;
pub(crate) mod import;
mod migrate;
mod write;

use std::process::ExitCode;

use clap::Subcommand;
use quipu_engine::Result;

use super::{Invocation, demo};
use crate::document_process;

#[derive(Debug, Subcommand)]
pub(crate) enum RememberCommand {
    /// Record a month of someone's life, then ask about it, change it, undo it and verify it
    Demo,
    /// Record a message
    #[command(alias = "remember")]
    Add(add::AddArgs),
    /// Import conversations, chats, memories, notes and documents
    Import(import::ImportArgs),
    /// Write ready-made facts, tasks, notes and tenets from a JSON file
    Write(write::WriteArgs),
    /// Turn flat summaries into facts, core document fields and episodes
    Migrate(migrate::MigrateArgs),
    /// Show or edit the core document
    Core(core::CoreArgs),
    /// Read a document from standard input, as a process of its own
    #[command(hide = true)]
    ReadDocument(document_process::ReadDocumentArgs),
}

impl RememberCommand {
    pub(crate) fn run(self, invocation: Invocation<'_>) -> Result<ExitCode> {
        match self {
            Self::Demo => invocation.with_settings(demo::run),
            Self::Add(args) => invocation.on_named(|context| add::add(context, args)),
            Self::Import(args) => invocation.on_named(|context| import::import(context, &args)),
            Self::Write(args) => invocation.on_named(|context| write::write(context, &args)),
            Self::Migrate(args) => invocation.on_named(|context| migrate::migrate(context, &args)),
            Self::ReadDocument(args) => document_process::run(&args),
            Self::Core(args) => invocation.on_named(|context| core::core(context, args.action)),
        }
    }
}
