//! The commands as a person or a script meets them: what they print, where, and their exit codes.

mod cli;
mod evolve;
mod files;
mod hook;
mod ids;
mod install;
mod mcp;
mod models;
mod place;
mod serve;
mod updates;
