//! Runs the server (proxy, API, MCP, inspector, health and metrics) until it is interrupted.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use quipu::system::SystemEntropy;
use quipu_engine::Result;
use quipu_engine::ports::Clock;
use quipu_server::{Bound, ChatModel, Metrics, ServerOptions, ServerParts, Upstream, Wire, serve};
use serde::Serialize;
use tracing_subscriber::filter::LevelFilter;

use super::self_signed;
use crate::app;
use crate::commands::demo;
use crate::http_client::Fingerprint;
use crate::output::Printer;
use crate::settings::{ModelRole, Settings, StoreSetting, TlsArgs, TlsSetting};
use crate::telemetry;

/// The port that clients leave out of addresses with TLS.
const HTTPS_PORT: u16 = 443;

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Address to listen on [default: 127.0.0.1:7077]; on any but loopback every request needs a key
    #[arg(long, value_name = "ADDR")]
    pub(crate) addr: Option<SocketAddr>,
    /// Another host name of the server, such as that of a proxy in front of it
    #[arg(long = "allow-host", value_name = "HOST")]
    pub(crate) allow_hosts: Vec<String>,
    #[command(flatten)]
    pub(crate) tls: TlsArgs,
    /// Messages on stderr; `info` has every request and recall with its attributes
    #[arg(long, value_enum, default_value = "warn", value_name = "LEVEL")]
    pub(crate) log_level: LogLevel,
}

/// Messages on stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// Lost work.
    Error,
    /// And failures.
    Warn,
    /// And completed work.
    Info,
}

/// The report at the start.
#[derive(Debug, Serialize)]
struct Screen {
    addr: String,
    data_dir: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<String>,
    user_id: String,
    inspector: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<ShownCertificate>,
    needs_key: bool,
    openai_base_url: String,
    anthropic_base_url: String,
    mcp: String,
    metrics: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    otlp_endpoint: Option<String>,
    upstreams: Vec<ServerAddress>,
}

/// The certificate of the server.
#[derive(Debug, Serialize)]
struct ShownCertificate {
    /// The file that clients may trust.
    path: String,
    /// Its fingerprint.
    sha256: String,
}

#[derive(Debug, Serialize)]
struct ServerAddress {
    name: String,
    base_url: String,
    kind: &'static str,
    has_key: bool,
}

pub(super) fn run(settings: &Settings, printer: &Printer, args: &ServeArgs) -> Result<ExitCode> {
    let mut options = ServerOptions { demo: Some(demo::load), ..settings.serving(args.addr, &args.allow_hosts)? };
    let tls = settings.tls(&args.tls)?;
    let collector = settings.collector()?;
    let telemetry = telemetry::start(filter(args.log_level), collector.as_deref())?;
    let usage = app::model_usage(&settings.data_dir, settings);
    let metrics = Arc::new(Metrics::of_server(&options.name));
    usage.watched_by(metrics.clone());
    let engine = app::open_with(&settings.data_dir, settings, &usage)?;
    let certificate = speak_tls(settings, printer, &tls, &mut options)?;
    engine.warm_up();
    let parts = ServerParts {
        engine: Arc::new(engine),
        clock: Arc::new(settings.clock.clone()),
        entropy: Arc::new(SystemEntropy),
        keys: Arc::new(app::keys(settings)?),
        signer: Some(Arc::new(app::signer(settings))),
        metrics,
        chat: app::model(settings, &usage, ModelRole::Chat)?
            .map(|model| ChatModel { model, prompt: quipu_models::CHAT.text }),
    };
    let shown = options.clone();
    let drained = serve(parts, options, |bound| {
        // The server runs even if the report cannot be printed.
        let _ = printer.report(&screen(settings, &shown, bound, (collector, certificate)), render);
    })?;
    if let Some(fault) = telemetry.end() {
        printer.hint(&fault);
    }
    if drained.lost > 0 {
        let exchanges = if drained.lost == 1 { "exchange" } else { "exchanges" };
        printer.hint(&format!("{} {exchanges} could not be recorded before the end", drained.lost));
        return Ok(ExitCode::FAILURE);
    }
    printer.hint("stopped; every exchange is recorded");
    Ok(ExitCode::SUCCESS)
}

/// Sets the certificate and, for one signed by itself, accepts its names as hosts. Returns its fingerprint.
fn speak_tls(
    settings: &Settings,
    printer: &Printer,
    tls: &TlsSetting,
    options: &mut ServerOptions,
) -> Result<Option<ShownCertificate>> {
    let (files, path) = match tls {
        TlsSetting::Off => return Ok(None),
        TlsSetting::Files(files) => (files.clone(), files.certificate.clone()),
        TlsSetting::SelfSigned => {
            let now = settings.clock.now();
            let made = self_signed::certificate(&settings.data_dir, options.addr, now)?;
            if !made.missing.is_empty() {
                printer.hint(&format!(
                    "the certificate was made for other names and lacks {}: clients that check names need another. To make \
                     one, remove {} and start again; every client must then learn its new fingerprint",
                    made.missing.join(", "),
                    made.files.certificate.display()
                ));
            }
            let port = options.addr.port();
            let bracketed = |name: &String| if name.contains(':') { format!("[{name}]") } else { name.clone() };
            options.allow_hosts.extend(made.names.iter().map(|name| format!("{}:{port}", bracketed(name))));
            if port == HTTPS_PORT {
                // Clients leave the default port out.
                options.allow_hosts.extend(made.names.iter().map(bracketed));
            }
            (made.files, made.certificate)
        }
    };
    let sha256 = Fingerprint::of(&files.leaf()?).to_string();
    options.tls = Some(files);
    Ok(Some(ShownCertificate { path: path.display().to_string(), sha256 }))
}

fn screen(
    settings: &Settings,
    options: &ServerOptions,
    bound: Bound,
    (collector, certificate): (Option<String>, Option<ShownCertificate>),
) -> Screen {
    let addr = bound.addr;
    let base = format!("{}://{addr}", if certificate.is_some() { "https" } else { "http" });
    let shown = |one: &Upstream| ServerAddress {
        name: one.name.clone(),
        base_url: one.base_url.clone(),
        kind: match one.wire {
            Wire::OpenAi => "openai",
            Wire::Anthropic => "anthropic",
        },
        has_key: one.key.is_some(),
    };
    Screen {
        addr: addr.to_string(),
        data_dir: settings.data_dir.display().to_string(),
        store: match &settings.store {
            StoreSetting::Folder => None,
            StoreSetting::Postgres(url) => Some(url.to_string()),
        },
        user_id: settings.user.to_string(),
        inspector: format!("{base}/"),
        certificate,
        needs_key: options.needs_key || !addr.ip().is_loopback(),
        openai_base_url: format!("{base}/v1"),
        anthropic_base_url: base.clone(),
        mcp: format!("{base}/mcp"),
        metrics: format!("{base}/metrics"),
        otlp_endpoint: collector,
        upstreams: options.upstreams.iter().map(shown).collect(),
    }
}

fn render(screen: &Screen) -> String {
    let with_key = if screen.needs_key { " (sign in with a key: `quipu key create`)" } else { "" };
    let mut text = format!(
        "Quipu listens on {}\n\n  inspector   {}{with_key}\n  memory      {} (user {} unless a request says otherwise)\n  \
         OpenAI      OPENAI_BASE_URL={}\n  Anthropic   ANTHROPIC_BASE_URL={}\n  MCP         {} (quipu install CLIENT --server)\n  \
         metrics     {}\n\n",
        screen.addr,
        screen.inspector,
        screen.store.as_ref().unwrap_or(&screen.data_dir),
        screen.user_id,
        screen.openai_base_url,
        screen.anthropic_base_url,
        screen.mcp,
        screen.metrics
    );
    if let Some(certificate) = &screen.certificate {
        text.push_str(&format!("  certificate {}\n  SHA-256     {}\n\n", certificate.path, certificate.sha256));
    }
    if let Some(collector) = &screen.otlp_endpoint {
        text.push_str(&format!("  spans go to {collector}\n"));
    }
    for one in &screen.upstreams {
        let key = if one.has_key { ", with its own key" } else { "" };
        text.push_str(&format!("  passes {} requests to {} ({}{key})\n", one.kind, one.base_url, one.name));
    }
    if screen.upstreams.is_empty() {
        text.push_str(
            "  model requests have no upstream: name a model's server in [[upstream]] of config.toml, or set OPENAI_BASE_URL or\n  \
             ANTHROPIC_BASE_URL where quipu runs.\n",
        );
    }
    text.push_str("\nCtrl-C stops the server after recording pending exchanges.\n");
    text
}

fn filter(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
    }
}
