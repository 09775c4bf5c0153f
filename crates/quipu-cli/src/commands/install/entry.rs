//! What is entered: how the client starts Quipu, or where it asks.

use quipu_engine::{Error, Result};

use super::clients::KnownClient;
use crate::args::clients::Install;
use crate::commands::mcp;
use crate::settings::Settings;

/// How a client gets at the memory.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Entry {
    /// It starts a program.
    Program {
        /// The program.
        command: String,
        /// What it is given.
        args: Vec<String>,
    },
    /// It asks a server.
    Server {
        /// The whole address.
        url: String,
        /// The variable that holds the key, if one is needed.
        key_env: Option<String>,
    },
    /// What stands in the file, in the file's own words.
    Found(serde_json::Value),
}

impl Entry {
    /// # Errors
    /// `Invalid` for an address that is none, and for a path or name that cannot be written as text.
    pub(super) fn of(settings: &Settings, args: &Install, known: &KnownClient) -> Result<Self> {
        let own =
            || std::env::current_exe().map_err(|error| Error::Unavailable(format!("where is this program? {error}")));
        let program = match &args.program {
            Some(path) => path.clone(),
            None => own()?,
        };
        let text = |path: &std::path::Path| {
            let wrong = || Error::Invalid(format!("{} is no plain text; settings cannot name it", path.display()));
            path.to_str().map(str::to_owned).ok_or_else(wrong)
        };
        if let (Some(server), true) = (&args.server, known.asks_servers) {
            let url = mcp::address(server, settings.user_named.as_ref(), &args.toolsets)?;
            return Ok(Self::Server { url, key_env: args.key_env.clone() });
        }
        if args.key_env.is_some() {
            let why =
                "it starts a program, which reads the key from QUIPU_API_KEY: put that into `env` of the entry by hand";
            return Err(Error::Invalid(format!("--key-env is not for {}: {why}", known.name)));
        }
        let mut given = vec!["mcp".to_owned()];
        let mut give = |flag: &str, value: String| given.extend([flag.to_owned(), value]);
        if let Some(server) = &args.server {
            // It knows programs only: ours hands on what it says. The address is looked at now, not when nobody is looking.
            mcp::address(server, None, &[])?;
            give("--server", server.clone());
        } else if settings.data_dir_named {
            give("--data-dir", text(&std::path::absolute(&settings.data_dir).unwrap_or(settings.data_dir.clone()))?);
        }
        if let Some(user) = &settings.user_named {
            give("--user", user.to_string());
        }
        if !args.toolsets.is_empty() {
            let names: Vec<&str> = args.toolsets.iter().map(|set| set.as_str()).collect();
            give("--toolsets", names.join(","));
        }
        Ok(Self::Program { command: text(&program)?, args: given })
    }
}
