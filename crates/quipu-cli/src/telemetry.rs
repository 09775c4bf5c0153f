//! What a server says of its work: lines on stderr, and spans to a collector of the user's, if one is named.

use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use quipu_engine::{Error, Result};
use tracing_subscriber::filter::{FilterFn, LevelFilter};
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::{Layer, SubscriberExt};

/// How long the collector may take for a batch.
const WITHIN: Duration = Duration::from_secs(5);
/// How long it may take for the last one, at the end: a server is to be gone within ten seconds, of which it takes seven itself.
const LAST_WITHIN: Duration = Duration::from_secs(2);

/// What is to be ended with the process.
pub(crate) struct Telemetry {
    exported: Option<SdkTracerProvider>,
}

/// Begins: lines from a level on, and spans to `collector`, the whole address OTLP is posted to.
///
/// # Errors
/// `Invalid` for an address that is none.
pub(crate) fn start(level: LevelFilter, collector: Option<&str>) -> Result<Telemetry> {
    let exported = collector.map(provider).transpose()?;
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false).with_target(false);
    // A span is written when it is over, with how long it took.
    let lines = lines.with_span_events(FmtSpan::CLOSE).with_filter(level);
    // Our own spans only: those of the client that posts them would never end.
    let ours = FilterFn::new(|seen| seen.is_span() && seen.target().starts_with("quipu"));
    let spans = exported.as_ref().map(|provider| {
        let tracer = provider.tracer("quipu");
        tracing_opentelemetry::layer().with_tracer(tracer).with_location(false).with_threads(false).with_filter(ours)
    });
    // Fails only if somebody listens already.
    let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(lines).with(spans));
    Ok(Telemetry { exported })
}

impl Telemetry {
    /// Sends what is left. Says why, if that fails.
    pub(crate) fn end(self) -> Option<String> {
        let fault = self.exported?.shutdown_with_timeout(LAST_WITHIN).err()?;
        Some(format!("the last spans did not reach the collector: {fault}"))
    }
}

fn provider(collector: &str) -> Result<SdkTracerProvider> {
    let wrong = |why: String| Error::Invalid(format!("serve.otlp_endpoint {collector:?}: {why}"));
    // Fails only if the process has one already, which then serves.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::blocking::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(WITHIN)
        .build()
        .map_err(|error| wrong(error.to_string()))?;
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(client)
        .with_endpoint(collector)
        .with_protocol(Protocol::HttpBinary)
        .with_timeout(WITHIN)
        .build()
        .map_err(|error| wrong(error.to_string()))?;
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let mut resource = Resource::builder().with_attribute(version);
    if std::env::var_os("OTEL_SERVICE_NAME").is_none() {
        resource = resource.with_attribute(KeyValue::new("service.name", "quipu"));
    }
    Ok(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource.build()).build())
}
