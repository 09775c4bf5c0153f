//! Serves an MCP client over standard input and output.

mod forward;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use quipu_core::id::UserId;
use quipu_engine::{Error, Result};
use quipu_server::{Toolset, serve_stdio};
use tracing_subscriber::filter::LevelFilter;

use crate::app;
use crate::settings::Settings;
use crate::telemetry;

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// Use a running server, such as http://127.0.0.1:7077, instead of the data folder; its key is in QUIPU_API_KEY
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Additional tools: graph, files, admin
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) toolsets: Vec<Toolset>,
}

/// Responds until standard input ends. Only responses are written to standard output.
pub(super) fn run(settings: &Settings, args: McpArgs) -> Result<ExitCode> {
    if let Some(server) = &args.server {
        let user = settings.user_named.as_ref();
        return forward::run(server, user, &args.toolsets).map(|()| ExitCode::SUCCESS);
    }
    let _telemetry = telemetry::start(LevelFilter::WARN, None)?;
    let engine = Arc::new(app::open(settings)?);
    serve_stdio(engine, settings.user.clone(), args.toolsets, &settings.mcp, settings.maintenance.clone())?;
    Ok(ExitCode::SUCCESS)
}

/// The MCP address of a server, for a user and toolsets.
pub(super) fn address(server: &str, user: Option<&UserId>, toolsets: &[Toolset]) -> Result<String> {
    let wrong = || Error::Invalid(format!("{server:?} is not the address of a server, such as http://127.0.0.1:7077"));
    let url = reqwest::Url::parse(server).map_err(|_| wrong())?;
    let plain = matches!(url.scheme(), "http" | "https") && url.has_host() && url.query().is_none();
    if !plain || url.fragment().is_some() || !url.username().is_empty() || url.password().is_some() {
        return Err(wrong());
    }
    let base = url.as_str().trim_end_matches('/');
    let base = base.strip_suffix("/mcp").unwrap_or(base);
    let user = user.map(|user| format!("/{user}")).unwrap_or_default();
    let names: Vec<&str> = toolsets.iter().map(|set| set.as_str()).collect();
    let query = if names.is_empty() { String::new() } else { format!("?toolsets={}", names.join(",")) };
    Ok(format!("{base}/mcp{user}{query}"))
}
