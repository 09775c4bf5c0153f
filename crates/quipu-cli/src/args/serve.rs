//! How to serve.

use std::net::SocketAddr;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Where to listen [default: 127.0.0.1:7077]; elsewhere than on loopback every request needs a key
    #[arg(long, value_name = "ADDR")]
    pub(crate) addr: Option<SocketAddr>,
    /// Another name the server may be asked by, such as the name of a proxy in front of it
    #[arg(long = "allow-host", value_name = "HOST")]
    pub(crate) allow_hosts: Vec<String>,
    /// What is written to stderr; with `info`, every request and recall with its attributes
    #[arg(long, value_enum, default_value = "warn", value_name = "LEVEL")]
    pub(crate) log_level: Level,
}

/// How much is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Level {
    /// What is lost.
    Error,
    /// And what goes wrong.
    Warn,
    /// And what is done.
    Info,
}
