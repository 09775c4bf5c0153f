//! The supported clients: location and format of the settings of each.

use std::path::{Path, PathBuf};

use quipu_engine::{Error, Result};
use serde_json::{Value, json};

use super::Client;
use super::entry::Entry;
use super::{json, toml};

/// A supported client.
pub(super) struct KnownClient {
    pub(super) name: &'static str,
    /// Path of its settings file.
    pub(super) place: fn() -> Result<PathBuf>,
    /// True if it connects to servers itself; otherwise it starts a program.
    pub(super) connects_to_servers: bool,
    /// What the user has to do next.
    pub(super) next: &'static str,
    form: Form,
}

/// Format of a settings file.
enum Form {
    Json {
        /// The member with the servers.
        servers: &'static str,
        /// Comments and trailing commas are allowed.
        comments: bool,
        /// Entries have a `type`.
        typed: bool,
        /// Syntax of an environment variable in a header.
        variable: fn(&str) -> String,
    },
    Toml,
}

impl KnownClient {
    pub(super) fn of(client: Client) -> Self {
        let of_json = |servers, comments, typed, variable| Form::Json { servers, comments, typed, variable };
        let of_env: fn(&str) -> String = |name| format!("${{env:{name}}}");
        let plain: fn(&str) -> String = |name| format!("${{{name}}}");
        match client {
            Client::ClaudeDesktop => Self {
                name: "claude-desktop",
                place: || Ok(applications()?.join("Claude/claude_desktop_config.json")),
                connects_to_servers: false,
                next: "Quit Claude Desktop and start it again.",
                form: of_json("mcpServers", false, false, plain),
            },
            Client::ClaudeCode => Self {
                name: "claude-code",
                place: || {
                    let own = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|folder| !folder.is_empty());
                    Ok(own.map_or_else(home, |folder| Ok(folder.into()))?.join(".claude.json"))
                },
                connects_to_servers: true,
                next: "Start a new session of Claude Code; /mcp shows the connection.",
                form: of_json("mcpServers", false, true, plain),
            },
            Client::Cursor => Self {
                name: "cursor",
                place: || Ok(home()?.join(".cursor/mcp.json")),
                connects_to_servers: true,
                next: "Cursor asks whether to enable the new server.",
                form: of_json("mcpServers", true, false, of_env),
            },
            Client::Codex => Self {
                name: "codex",
                place: || {
                    let own = std::env::var_os("CODEX_HOME").filter(|folder| !folder.is_empty());
                    let folder = match own {
                        Some(folder) => PathBuf::from(folder),
                        None => home()?.join(".codex"),
                    };
                    Ok(folder.join("config.toml"))
                },
                connects_to_servers: true,
                next: "Start a new session of Codex.",
                form: Form::Toml,
            },
            Client::VsCode => Self {
                name: "vscode",
                place: || Ok(applications()?.join("Code/User/mcp.json")),
                connects_to_servers: true,
                next: "Run “MCP: List Servers” in Visual Studio Code and start it.",
                form: of_json("servers", true, true, of_env),
            },
        }
    }

    /// True if it seems to be on this machine: its settings, or a folder of its own for them, are there.
    pub(super) fn is_there(&self) -> bool {
        let Ok(path) = (self.place)() else { return false };
        let own_folder = path.parent().filter(|folder| home().is_ok_and(|home| *folder != home));
        path.is_file() || own_folder.is_some_and(Path::is_dir)
    }

    /// The settings with this entry; it replaces an earlier one.
    pub(super) fn with(&self, text: Option<&str>, entry: &Entry, path: &Path) -> Result<String> {
        let value = self.value(entry);
        match &self.form {
            Form::Json { servers, comments, .. } => json::with(text, servers, &value, *comments, path),
            Form::Toml => toml::with(text, &value, path),
        }
    }

    /// The settings without the entry of Quipu.
    pub(super) fn without(&self, text: &str, path: &Path) -> Result<String> {
        match &self.form {
            Form::Json { servers, comments, .. } => json::without(text, servers, *comments, path),
            Form::Toml => toml::without(text, path),
        }
    }

    /// The entry of Quipu in the settings.
    pub(super) fn entry(&self, text: &str, path: &Path) -> Result<Option<Entry>> {
        let found = match &self.form {
            Form::Json { servers, comments, .. } => json::entry(text, servers, *comments, path)?,
            Form::Toml => toml::entry(text, path)?,
        };
        Ok(found.map(Entry::Found))
    }

    fn value(&self, entry: &Entry) -> Value {
        let typed = |kind: &str, mut value: Value| {
            if matches!(self.form, Form::Json { typed: true, .. }) {
                value["type"] = kind.into();
            }
            value
        };
        match entry {
            Entry::Found(value) => value.clone(),
            Entry::Program { command, args } => typed("stdio", json!({"command": command, "args": args})),
            Entry::Server { url, key_env } => {
                let mut value = json!({"url": url});
                match (&self.form, key_env) {
                    (Form::Json { variable, .. }, Some(name)) => {
                        value["headers"] = json!({"Authorization": format!("Bearer {}", variable(name))});
                    }
                    (Form::Toml, Some(name)) => value["bearer_token_env_var"] = name.as_str().into(),
                    (_, None) => {}
                }
                typed("http", value)
            }
        }
    }
}

fn home() -> Result<PathBuf> {
    let variable = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    let home = std::env::var_os(variable).filter(|home| !home.is_empty());
    home.map(PathBuf::from).ok_or_else(|| Error::Invalid(format!("{variable} is not set; give --config")))
}

/// The folder for settings of desktop programs.
fn applications() -> Result<PathBuf> {
    let named = |variable| std::env::var_os(variable).map(PathBuf::from).filter(|folder| folder.is_absolute());
    if cfg!(windows) {
        return named("APPDATA").ok_or_else(|| Error::Invalid("APPDATA is not set; give --config".to_owned()));
    }
    if cfg!(target_os = "macos") {
        return Ok(home()?.join("Library/Application Support"));
    }
    named("XDG_CONFIG_HOME").map_or_else(|| Ok(home()?.join(".config")), Ok)
}
