//! One HTTP exchange, without redirects and with limits on time, silence and size.

use std::ops::ControlFlow;
use std::time::Duration;

use quipu_engine::ports::ModelError;
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use tokio::runtime::Runtime;
use tokio::time::{Instant, timeout_at};

use super::backoff;
use super::endpoint::{ApiKey, Endpoint, Limits};
use super::fault::Failure;

/// Maximum size of an error body that is read.
const ERROR_BYTES_MAX: usize = 64 << 10;

/// The HTTP client and its runtime.
pub(super) struct Transport {
    client: Client,
    /// Taken on drop: a runtime must not be dropped in an asynchronous context.
    runtime: Option<Runtime>,
}

/// The response.
pub(super) enum HttpReply {
    /// A success; its body went to the [`Take`].
    Taken,
    /// A status that signals an error.
    Status { status: u16, after: Option<Duration>, body: String },
}

/// Receives the pieces of a successful body. `Break` ends the exchange.
pub(super) type Take<'a> = &'a mut dyn FnMut(&[u8]) -> ControlFlow<Failure>;

impl Transport {
    pub(super) fn new(limits: &Limits) -> Result<Self, ModelError> {
        let broken = |why: String| ModelError::Invalid(format!("no connection can be made from here: {why}"));
        // The provider is process-wide; if another one is installed already, that one is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = || {
            Client::builder()
                .redirect(Policy::none())
                .connect_timeout(limits.connect)
                .user_agent(concat!("quipu/", env!("CARGO_PKG_VERSION")))
        };
        // A system without root certificates, such as a small container, still reaches models over http.
        let client = builder().build().or_else(|_| builder().tls_certs_only([]).build());
        let client = client.map_err(|error| broken(error.to_string()))?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("quipu-model")
            .enable_io()
            .enable_time()
            .build()
            .map_err(|error| broken(error.to_string()))?;
        Ok(Self { client, runtime: Some(runtime) })
    }

    fn runtime(&self) -> Result<&Runtime, Failure> {
        self.runtime.as_ref().ok_or_else(|| Failure::passing("it is being shut down"))
    }

    /// Sleeps.
    pub(super) fn wait(&self, how_long: Duration) {
        if let Ok(runtime) = self.runtime() {
            runtime.block_on(async { tokio::time::sleep(how_long).await });
        }
    }

    /// Sends a body and passes on the response, piece by piece.
    pub(super) fn post(
        &self,
        endpoint: &Endpoint,
        (place, headers): (&str, Vec<(&'static str, String)>),
        body: Vec<u8>,
        (until, bytes_max): (Instant, usize),
        take: Take<'_>,
    ) -> Result<HttpReply, Failure> {
        let url = endpoint.url(place).map_err(Failure::Final)?;
        let mut request = self.client.post(url).header("content-type", "application/json").body(body);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        self.runtime()?.block_on(async {
            let sent = timeout_at(until, request.send()).await;
            let response = sent.map_err(|_| slow("no answer in time"))?.map_err(|error| unsent(endpoint, error))?;
            let status = response.status().as_u16();
            if status == 200 {
                pieces(endpoint, response, until, bytes_max, take).await?;
                return Ok(HttpReply::Taken);
            }
            let header = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
            let after = backoff::retry_after(header);
            let mut body = Vec::new();
            // An incomplete error body is good enough.
            let _ = pieces(endpoint, response, until, ERROR_BYTES_MAX, &mut |piece| {
                body.extend_from_slice(piece);
                ControlFlow::Continue(())
            })
            .await;
            let body = ApiKey::blotted(endpoint.key.as_ref(), &String::from_utf8_lossy(&body));
            Ok(HttpReply::Status { status, after, body })
        })
    }
}

impl Drop for Transport {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn slow(why: &str) -> Failure {
    Failure::Slow { why: why.to_owned() }
}

/// Describes an error of the client; of the request it contains at most the address.
fn unsent(endpoint: &Endpoint, error: reqwest::Error) -> Failure {
    let what = if error.is_timeout() {
        "no connection in time"
    } else if error.is_connect() {
        "no connection"
    } else {
        "the connection broke before an answer came"
    };
    let cause = std::error::Error::source(&error).map_or_else(String::new, |cause| format!(" ({cause})"));
    Failure::passing(ApiKey::blotted(endpoint.key.as_ref(), &format!("{what}{cause}")))
}

async fn pieces(
    endpoint: &Endpoint,
    mut response: Response,
    until: Instant,
    bytes_max: usize,
    take: Take<'_>,
) -> Result<(), Failure> {
    let mut total = 0usize;
    loop {
        let silence = Instant::now() + endpoint.limits.idle;
        let piece = timeout_at(until.min(silence), response.chunk()).await;
        let piece = piece
            .map_err(|_| match silence < until {
                true => Failure::passing("it fell silent midway"),
                false => slow("the answer was not complete in time"),
            })?
            .map_err(|_| Failure::passing("the connection broke midway"))?;
        let Some(piece) = piece else { return Ok(()) };
        total += piece.len();
        if total > bytes_max {
            return Err(Failure::Final(ModelError::Malformed(format!("it is longer than {bytes_max} bytes"))));
        }
        if let ControlFlow::Break(failure) = take(&piece) {
            return Err(failure);
        }
    }
}
