//! Serve: the proxy, health and metrics, until it is interrupted.

use std::process::ExitCode;
use std::sync::Arc;

use quipu_engine::Result;
use quipu_server::{Bound, Options, Parts, Upstream, Wire, serve};
use serde::Serialize;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::app;
use crate::args::{Level, Serve};
use crate::output::Printer;
use crate::settings::Settings;
use crate::system::{SystemClock, SystemEntropy};

/// The first screen.
#[derive(Debug, Serialize)]
struct Screen {
    addr: String,
    data_dir: String,
    user_id: String,
    openai_base_url: String,
    anthropic_base_url: String,
    metrics: String,
    upstreams: Vec<Shown>,
}

#[derive(Debug, Serialize)]
struct Shown {
    name: String,
    base_url: String,
    kind: &'static str,
    has_key: bool,
}

pub(super) fn run(settings: &Settings, printer: &Printer, args: &Serve) -> Result<ExitCode> {
    let options = settings.serving(args.addr, &args.allow_hosts)?;
    say_what_happens(args.log_level);
    let engine = app::open(settings)?;
    engine.warm_up();
    let parts = Parts {
        engine: Arc::new(engine),
        clock: Arc::new(SystemClock { fixed: settings.now }),
        entropy: Arc::new(SystemEntropy),
    };
    let shown = options.clone();
    let drained = serve(parts, options, |bound| {
        // Nobody may be reading; the server serves all the same.
        let _ = printer.report(&screen(settings, &shown, bound), render);
    })?;
    if drained.lost > 0 {
        printer.hint(&format!("{} exchanges could not be recorded before the end", drained.lost));
        return Ok(ExitCode::FAILURE);
    }
    printer.hint("stopped; everything that was said is recorded");
    Ok(ExitCode::SUCCESS)
}

fn screen(settings: &Settings, options: &Options, bound: Bound) -> Screen {
    let addr = bound.addr;
    let shown = |one: &Upstream| Shown {
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
        user_id: settings.user.to_string(),
        openai_base_url: format!("http://{addr}/v1"),
        anthropic_base_url: format!("http://{addr}"),
        metrics: format!("http://{addr}/metrics"),
        upstreams: options.upstreams.iter().map(shown).collect(),
    }
}

fn render(screen: &Screen) -> String {
    let mut text = format!(
        "Quipu listens on {}\n\n  memory     {} (user {} unless a request says otherwise)\n  OpenAI     \
         OPENAI_BASE_URL={}\n  Anthropic  ANTHROPIC_BASE_URL={}\n  metrics    {}\n\n",
        screen.addr, screen.data_dir, screen.user_id, screen.openai_base_url, screen.anthropic_base_url, screen.metrics
    );
    for one in &screen.upstreams {
        let key = if one.has_key { ", with a key of its own" } else { "" };
        text.push_str(&format!("  passes {} requests on to {} ({}{key})\n", one.kind, one.base_url, one.name));
    }
    if screen.upstreams.is_empty() {
        text.push_str(
            "  Requests have nowhere to go: name a model's server in [[upstream]] of config.toml, or set OPENAI_BASE_URL or\n  \
             ANTHROPIC_BASE_URL where quipu runs.\n",
        );
    }
    text.push_str("\nCtrl-C ends it; what was said is recorded first.\n");
    text
}

/// Messages and spans of the server on stderr, from a level on.
fn say_what_happens(level: Level) {
    let level = match level {
        Level::Error => LevelFilter::ERROR,
        Level::Warn => LevelFilter::WARN,
        Level::Info => LevelFilter::INFO,
    };
    let lines = tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).with_target(false);
    // A span is written when it is over, with how long it took.
    let lines = lines.with_max_level(level).with_span_events(FmtSpan::CLOSE);
    // Fails only if somebody listens already.
    let _ = lines.try_init();
}
