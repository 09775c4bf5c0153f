//! The entry in the settings of a client: a program to start, or the address of a server.

use quipu_engine::{Error, Result};

use super::InstallArgs;
use super::clients::KnownClient;
use crate::commands::serve::mcp;
use crate::settings::Settings;

/// How a client reaches the memory.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Entry {
    /// It starts a program.
    Program {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
    },
    /// It connects to a server.
    Server {
        /// The complete address.
        url: String,
        /// The environment variable with the key, if one is needed.
        key_env: Option<String>,
    },
    /// An existing entry, as it is in the file.
    Found(serde_json::Value),
}

impl Entry {
    /// # Errors
    /// `Invalid` for a wrong address, and for a path that is not UTF-8.
    pub(super) fn of(settings: &Settings, args: &InstallArgs, known: &KnownClient) -> Result<Self> {
        let own = || {
            std::env::current_exe()
                .map_err(|error| Error::Unavailable(format!("cannot find the path of this program: {error}")))
        };
        let program = match &args.program {
            Some(path) => path.clone(),
            None => own()?,
        };
        let text = |path: &std::path::Path| {
            let wrong = || Error::Invalid(format!("{} is not UTF-8, so settings cannot contain it", path.display()));
            path.to_str().map(str::to_owned).ok_or_else(wrong)
        };
        if let (Some(server), true) = (&args.server, known.connects_to_servers) {
            let url = mcp::address(server, settings.user_named.as_ref(), &args.toolsets)?;
            return Ok(Self::Server { url, key_env: args.key_env.clone() });
        }
        if args.key_env.is_some() {
            let why =
                "it starts a program that reads the key from QUIPU_API_KEY; add that to `env` of the entry by hand";
            return Err(Error::Invalid(format!("--key-env is not for {}: {why}", known.name)));
        }
        // A client starts the program without this environment, and its files are no place for a password.
        if args.server.is_none() && settings.store_only_in_environment {
            return Err(Error::Invalid(
                "the store is named by QUIPU_STORE, which the client would not pass on: set `store` in config.toml instead"
                    .to_owned(),
            ));
        }
        let mut given = vec!["mcp".to_owned()];
        let mut give = |flag: &str, value: String| given.extend([flag.to_owned(), value]);
        if let Some(server) = &args.server {
            // The client can only start a program, which forwards to the server. Check the address now.
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
