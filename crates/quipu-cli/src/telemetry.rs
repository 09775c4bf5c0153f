//! Telemetry of a server: messages on stderr, and spans to an OTLP collector, if one is set.

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

use crate::http_client;

/// Longest request to the collector.
const WITHIN: Duration = Duration::from_secs(5);
/// Longest request at the end. A server has to exit within ten seconds, of which it may use seven itself.
const LAST_WITHIN: Duration = Duration::from_secs(2);

/// Telemetry that has to be ended with the process.
pub(crate) struct Telemetry {
    exported: Option<SdkTracerProvider>,
}

/// Starts telemetry: messages from a level on, and spans to `collector`, the complete address for OTLP.
///
/// # Errors
/// `Invalid` for a wrong address.
pub(crate) fn start(level: LevelFilter, collector: Option<&str>) -> Result<Telemetry> {
    let exported = collector.map(provider).transpose()?;
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false).with_target(false);
    // A span is written when it ends, with its duration.
    let lines = lines.with_span_events(FmtSpan::CLOSE).with_filter(level);
    // Spans of this project only: exporting spans of the HTTP client would create new ones.
    let ours = FilterFn::new(|seen| seen.is_span() && seen.target().starts_with("quipu"));
    let spans = exported.as_ref().map(|provider| {
        let tracer = provider.tracer("quipu");
        tracing_opentelemetry::layer().with_tracer(tracer).with_location(false).with_threads(false).with_filter(ours)
    });
    // Fails only if a subscriber is set already.
    let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(lines).with(spans));
    Ok(Telemetry { exported })
}

impl Telemetry {
    /// Sends the remaining spans. Returns a message if that fails.
    pub(crate) fn end(self) -> Option<String> {
        let fault = self.exported?.shutdown_with_timeout(LAST_WITHIN).err()?;
        Some(format!("the last spans did not reach the collector: {fault}"))
    }
}

fn provider(collector: &str) -> Result<SdkTracerProvider> {
    let wrong = |why: String| Error::Invalid(format!("serve.otlp_endpoint {collector:?}: {why}"));
    let client = http_client::direct(WITHIN).map_err(|error| wrong(error.to_string()))?;
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
