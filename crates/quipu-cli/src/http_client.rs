//! The HTTP client of commands that talk to a server.

use std::time::Duration;

use quipu_engine::{Error, Result};
use reqwest::blocking::Client;

/// A client that connects to the given address only: no proxy of the environment, no redirects. On a system without root
/// certificates, such as a small container, it reaches http servers only.
///
/// # Errors
/// `Unavailable` if no client can be made.
pub(crate) fn direct(timeout: Duration) -> Result<Client> {
    // Fails only if the process has a provider already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = || Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).timeout(timeout);
    let client = builder().build().or_else(|_| builder().tls_certs_only([]).build());
    client.map_err(|error| Error::Unavailable(format!("no HTTP client can be made: {error}")))
}
