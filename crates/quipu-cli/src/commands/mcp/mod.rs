//! Memory for a client that speaks MCP, over standard input and output.

mod forward;

use std::process::ExitCode;
use std::sync::Arc;

use quipu_engine::Result;
use quipu_server::serve_stdio;
use tracing_subscriber::filter::LevelFilter;

use crate::app;
use crate::args::clients::Mcp;
use crate::settings::Settings;
use crate::telemetry;

/// Answers until standard input ends. Only answers go to standard output.
pub(super) fn run(settings: &Settings, args: Mcp) -> Result<ExitCode> {
    if let Some(server) = &args.server {
        let user = settings.user_named.as_ref();
        return forward::run(server, user, &args.toolsets).map(|()| ExitCode::SUCCESS);
    }
    let _telemetry = telemetry::start(LevelFilter::WARN, None)?;
    let engine = Arc::new(app::open(settings)?);
    serve_stdio(engine, settings.user.clone(), args.toolsets, &settings.mcp, settings.maintenance.clone())?;
    Ok(ExitCode::SUCCESS)
}

/// The path of MCP on a server: for one user, with these toolsets.
pub(super) fn address(
    server: &str,
    user: Option<&quipu_core::id::UserId>,
    toolsets: &[quipu_server::Toolset],
) -> Result<String> {
    let wrong =
        || quipu_engine::Error::Invalid(format!("{server:?} is no address of a server, such as http://127.0.0.1:7077"));
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
