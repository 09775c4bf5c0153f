//! The commands as a person or a script meets them: what they print, where, and their exit codes.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod cli;
mod documents;
mod encryption;
mod evolve;
mod files;
mod hook;
mod ids;
mod init;
mod install;
mod mcp;
mod models;
mod moving;
mod pasted;
mod place;
mod serve;
mod updates;
