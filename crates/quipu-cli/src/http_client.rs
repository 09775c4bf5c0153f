//! The HTTP client of commands that talk to a server.

use std::sync::Arc;
use std::time::Duration;

use quipu_engine::{Error, Result};
use reqwest::blocking::{Client, ClientBuilder};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use sha2::{Digest, Sha256};

/// The SHA-256 of a certificate (DER).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// That of a certificate (DER).
    pub(crate) fn of(certificate: &[u8]) -> Self {
        Self(Sha256::digest(certificate).into())
    }

    /// Reads 64 hexadecimal digits, with or without colons.
    fn parse(text: &str) -> Option<Self> {
        let digits: String = text.chars().filter(|c| *c != ':').collect::<String>().to_ascii_lowercase();
        let bytes = data_encoding::HEXLOWER.decode(digits.as_bytes()).ok()?;
        Some(Self(bytes.try_into().ok()?))
    }

    /// That of `QUIPU_SERVER_FINGERPRINT`, if it is set.
    ///
    /// # Errors
    /// `Invalid` if it is not a SHA-256.
    pub(crate) fn of_environment() -> Result<Option<Self>> {
        let Some(text) = std::env::var("QUIPU_SERVER_FINGERPRINT").ok().filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        let wrong = || Error::Invalid("QUIPU_SERVER_FINGERPRINT must be a SHA-256: 64 hexadecimal digits".to_owned());
        Self::parse(&text).map(Some).ok_or_else(wrong)
    }
}

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let pairs: Vec<String> = self.0.iter().map(|byte| format!("{byte:02X}")).collect();
        f.write_str(&pairs.join(":"))
    }
}

/// A client that connects to the given address only: no proxy of the environment, no redirects. On a system without root
/// certificates, such as a small container, it reaches http servers only.
///
/// # Errors
/// `Unavailable` if no client can be made.
pub(crate) fn direct(timeout: Duration) -> Result<Client> {
    // Fails only if the process has a provider already.
    let _ = ring::default_provider().install_default();
    let client = builder(timeout).build().or_else(|_| builder(timeout).tls_certs_only([]).build());
    client.map_err(no_client)
}

/// As [`direct`], for a server of Quipu: with a fingerprint it trusts that certificate and no other, whatever its names
/// and dates. Without one, that of `QUIPU_SERVER_FINGERPRINT` is used.
///
/// # Errors
/// As [`direct`], and `Invalid` if the variable is not a SHA-256.
pub(crate) fn to_server(timeout: Duration, pinned: Option<Fingerprint>) -> Result<Client> {
    let Some(fingerprint) = pinned.map_or_else(Fingerprint::of_environment, |known| Ok(Some(known)))? else {
        return direct(timeout);
    };
    let provider = Arc::new(ring::default_provider());
    let verifier = Arc::new(Pinned { fingerprint, provider: provider.clone() });
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Bug(format!("TLS cannot be configured: {error}")))?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    builder(timeout).https_only(true).tls_backend_preconfigured(config).build().map_err(no_client)
}

fn builder(timeout: Duration) -> ClientBuilder {
    Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).timeout(timeout)
}

fn no_client(error: reqwest::Error) -> Error {
    Error::Unavailable(format!("no HTTP client can be made: {error}"))
}

/// Accepts one certificate.
#[derive(Debug)]
struct Pinned {
    fingerprint: Fingerprint,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        let found = Fingerprint::of(certificate);
        if found == self.fingerprint {
            return Ok(ServerCertVerified::assertion());
        }
        Err(rustls::Error::General(format!("the server's certificate has another fingerprint: {found}")))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_read_as_they_are_printed() {
        let one = Fingerprint::of(b"certificate");
        assert_eq!(Fingerprint::parse(&one.to_string()), Some(one));
        assert_eq!(Fingerprint::parse(&one.to_string().replace(':', "").to_lowercase()), Some(one));
        assert_eq!(Fingerprint::parse("00:11"), None);
        assert_eq!(Fingerprint::parse("é"), None);
    }
}
