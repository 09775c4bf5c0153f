//! Asks a running server for its health, for the health check of a container or a supervisor.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use clap::Args;
use quipu_engine::{Error, Result};
use reqwest::StatusCode;
use reqwest::blocking::{Client, Response};
use serde::Serialize;
use serde_json::Value;

use super::self_signed;
use crate::http_client::{self, Fingerprint};
use crate::output::Printer;
use crate::settings::{Settings, TlsArgs, TlsSetting};

#[derive(Debug, Args)]
pub(crate) struct HealthArgs {
    /// The server [default: the address in the settings; name it if `quipu serve` was given another]; its key is in QUIPU_API_KEY
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<String>,
}

/// Longest wait for an answer. The server's own probe takes at most five seconds.
const ANSWER_WITHIN: Duration = Duration::from_secs(8);

/// Health of a server.
#[derive(Debug, Serialize)]
struct Health {
    server: String,
    /// False if the server requires a key for that and none was given: then it is only known to respond.
    readiness_checked: bool,
}

/// Succeeds if the server is ready. Without the key of a server that requires one, succeeds if it responds.
///
/// # Errors
/// `Unavailable` if the server does not answer or is not ready; `Refused` if it does not accept the key; `Invalid` for a
/// wrong address.
pub(super) fn run(settings: &Settings, printer: &Printer, args: &HealthArgs) -> Result<()> {
    let (server, pinned) = match &args.server {
        Some(server) => (server.trim_end_matches('/').to_owned(), None),
        None => own_server(settings)?,
    };
    let key = std::env::var("QUIPU_API_KEY").ok().filter(|key| !key.is_empty());
    let client = http_client::to_server(ANSWER_WITHIN, pinned)?;
    let get = |path: &str| request(&client, &server, path, key.as_deref());

    let answer = get("/health/ready")?;
    let readiness_checked = match (answer.status(), &key) {
        (status, _) if status.is_success() => true,
        (StatusCode::UNAUTHORIZED, None) => {
            let status = get("/health/live")?.status();
            if !status.is_success() {
                return Err(Error::Unavailable(format!("the server at {server} answered {status}")));
            }
            false
        }
        (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, _) => {
            return Err(Error::Refused(format!("the server at {server} refuses the request: {}", reason(answer))));
        }
        _ => return Err(Error::Unavailable(format!("the server at {server} is not ready: {}", reason(answer)))),
    };
    printer.report(&Health { server, readiness_checked }, |health| match health.readiness_checked {
        true => format!("The server at {} is ready\n", health.server),
        false => format!("The server at {} responds; QUIPU_API_KEY is needed to check more\n", health.server),
    })
}

fn request(client: &Client, server: &str, path: &str, key: Option<&str>) -> Result<Response> {
    let url = reqwest::Url::parse(&format!("{server}{path}"))
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"))
        .ok_or_else(|| {
            Error::Invalid(format!("{server:?} is not the address of a server, such as http://127.0.0.1:7077"))
        })?;
    let request = key.into_iter().fold(client.get(url), |request, key| request.bearer_auth(key));
    request.send().map_err(|error| {
        Error::Unavailable(format!("the server at {server} does not answer: {}", cause(&error.without_url())))
    })
}

/// An error with its first cause, such as a certificate that is not trusted.
fn cause(error: &reqwest::Error) -> String {
    let sources = std::iter::successors(std::error::Error::source(error), |error| error.source());
    sources.last().map_or_else(|| error.to_string(), |first| format!("{error}: {first}"))
}

/// Why a server is not ready, or refuses.
fn reason(answer: Response) -> String {
    let status = answer.status();
    let body: Value = answer.text().ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let told = body["reason"].as_str().or_else(|| body["error"]["message"].as_str());
    told.map_or_else(|| status.to_string(), str::to_owned)
}

/// The server of these settings, and its certificate if it speaks TLS: its names need not include the address by which it
/// is reached on this machine.
fn own_server(settings: &Settings) -> Result<(String, Option<Fingerprint>)> {
    let addr = reachable(settings.serving(None, &[])?.addr);
    let files = match settings.tls(&TlsArgs::default())? {
        TlsSetting::Off => return Ok((format!("http://{addr}"), None)),
        TlsSetting::Files(files) => files,
        TlsSetting::SelfSigned => self_signed::files(&settings.data_dir),
    };
    Ok((format!("https://{addr}"), Some(Fingerprint::of(&files.leaf()?))))
}

/// Where a server on this machine is reached that listens on `addr`.
fn reachable(addr: SocketAddr) -> SocketAddr {
    let ip = match addr.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, addr.port())
}
