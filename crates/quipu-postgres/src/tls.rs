//! TLS connections to the server, by rustls with the provider `ring`.

use std::fmt;
use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use quipu_engine::ports::StoreError;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

use crate::address::{Address, Verification};

/// Opens TLS sessions for `tokio-postgres`.
#[derive(Clone)]
pub(crate) struct Connector(Arc<ClientConfig>);

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connector")
    }
}

impl Connector {
    /// A connector that verifies what the address asks for.
    ///
    /// # Errors
    /// `Unavailable` if there are no certificates of authorities to verify with.
    pub(crate) fn new(address: &Address) -> Result<Self, StoreError> {
        let provider = Arc::new(ring::default_provider());
        let unusable = |error: &dyn fmt::Display| {
            StoreError::Unavailable(format!("cannot use TLS for {}: {error}. Nothing was changed", address.shown))
        };
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable(&error))?;
        let verifier = match address.verification {
            Verification::Nothing => None,
            Verification::Authority | Verification::Host => {
                let roots = Arc::new(roots(address.authorities.as_deref())?);
                let verifier = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider)).build();
                Some(verifier.map_err(|error| unusable(&error))?)
            }
        };
        let verifier =
            LenientVerifier { provider, verifier, is_host_verified: address.verification == Verification::Host };
        let mut config = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth();
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(Self(Arc::new(config)))
    }
}

/// The certificates of authorities: those of a PEM file, or the system's.
fn roots(file: Option<&Path>) -> Result<RootCertStore, StoreError> {
    let mut roots = RootCertStore::empty();
    match file {
        Some(path) => {
            let at = path.display();
            let unreadable = |error: &dyn fmt::Display| {
                StoreError::Unavailable(format!("cannot read the certificates in {at} (sslrootcert): {error}"))
            };
            for found in CertificateDer::pem_file_iter(path).map_err(|error| unreadable(&error))? {
                let found = found.map_err(|error| unreadable(&error))?;
                roots.add(found).map_err(|error| unreadable(&error))?;
            }
        }
        None => {
            let found = rustls_native_certs::load_native_certs().certs;
            roots.add_parsable_certificates(found);
        }
    }
    if roots.is_empty() {
        return Err(StoreError::Unavailable(
            "there are no certificates of authorities to verify the PostgreSQL server with: give sslrootcert=FILE in the \
             URL, or install the system's (Debian: ca-certificates)"
                .to_owned(),
        ));
    }
    Ok(roots)
}

/// Verifies as much of a certificate as the `sslmode` of the URL asks for.
#[derive(Debug)]
struct LenientVerifier {
    provider: Arc<CryptoProvider>,
    /// `None` accepts every certificate.
    verifier: Option<Arc<WebPkiServerVerifier>>,
    is_host_verified: bool,
}

impl ServerCertVerifier for LenientVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(verifier) = &self.verifier else { return Ok(ServerCertVerified::assertion()) };
        match verifier.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            // The name is checked last, after the chain.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.is_host_verified => Ok(ServerCertVerified::assertion()),
            outcome => outcome,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

impl<S> MakeTlsConnect<S> for Connector
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type TlsConnect = HostConnector;
    type Error = rustls::pki_types::InvalidDnsNameError;

    fn make_tls_connect(&mut self, host: &str) -> Result<HostConnector, Self::Error> {
        // A socket file has no name; `tokio-postgres` never encrypts it.
        let name = if host.is_empty() { "localhost" } else { host };
        Ok(HostConnector { config: Arc::clone(&self.0), name: ServerName::try_from(name)?.to_owned() })
    }
}

/// Opens a TLS session with one host.
pub(crate) struct HostConnector {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl<S> TlsConnect<S> for HostConnector
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let session = TlsConnector::from(self.config).connect(self.name, stream).await?;
            Ok(Encrypted(Box::new(session)))
        })
    }
}

/// An encrypted stream.
pub(crate) struct Encrypted<S>(Box<tokio_rustls::client::TlsStream<S>>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
