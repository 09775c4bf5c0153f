//! TLS: reads certificate and key, and reads them again when the files change.

use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use quipu_engine::{Error, Result};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// The files of the server's certificate, both PEM. They may be the same file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, followed by its intermediate ones.
    pub certificate: PathBuf,
    /// Its private key, unencrypted (PKCS#8, PKCS#1 or SEC1).
    pub key: PathBuf,
}

/// The bytes of both files.
#[derive(Clone, PartialEq, Eq)]
struct Read {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

/// The certificate in use.
pub(crate) struct Certificates {
    files: TlsFiles,
    config: RwLock<Arc<ServerConfig>>,
}

fn read(what: &str, path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path)
        .map_err(|error| Error::Invalid(format!("the {what} {} cannot be read: {error}", path.display())))
}

impl TlsFiles {
    fn read(&self) -> Result<Read> {
        Ok(Read { certificate: read("TLS certificate", &self.certificate)?, key: read("TLS key", &self.key)? })
    }

    /// Reads the server's own certificate, without intermediate ones, as DER.
    ///
    /// # Errors
    /// `Invalid`, naming the file, if it cannot be read or has no certificate.
    pub fn leaf(&self) -> Result<Vec<u8>> {
        let chain = self.chain(&read("TLS certificate", &self.certificate)?)?;
        Ok(chain.first().map(|leaf| leaf.to_vec()).unwrap_or_default())
    }

    /// At least one certificate.
    fn chain(&self, certificate: &[u8]) -> Result<Vec<CertificateDer<'static>>> {
        let path = self.certificate.display();
        let chain = CertificateDer::pem_slice_iter(certificate).collect::<std::result::Result<Vec<_>, _>>();
        let chain = chain.map_err(|error| Error::Invalid(format!("the TLS certificate {path} is not PEM: {error}")))?;
        if chain.is_empty() {
            return Err(Error::Invalid(format!("{path} has no certificate: expected PEM with BEGIN CERTIFICATE")));
        }
        Ok(chain)
    }

    fn config(&self, read: &Read) -> Result<ServerConfig> {
        let (certificate, key) = (self.certificate.display(), self.key.display());
        let chain = self.chain(&read.certificate)?;
        let secret = PrivateKeyDer::from_pem_slice(&read.key).map_err(|error| {
            let is_encrypted = read.key.windows(9).any(|part| part == b"ENCRYPTED");
            Error::Invalid(match error {
                PemError::NoItemsFound if is_encrypted => {
                    format!(
                        "the TLS key {key} is encrypted: give a key without a passphrase, readable by its owner alone"
                    )
                }
                PemError::NoItemsFound => format!("{key} has no private key: expected PEM with BEGIN PRIVATE KEY"),
                error => format!("the TLS key {key} is not PEM: {error}"),
            })
        })?;
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::Bug(format!("TLS cannot be configured: {error}")))?;
        let config = builder.with_no_client_auth().with_single_cert(chain, secret);
        let mut config = config.map_err(|error| {
            Error::Invalid(match error {
                rustls::Error::InconsistentKeys(_) => {
                    format!("the TLS key {key} does not belong to the certificate {certificate}")
                }
                error => format!("the TLS certificate {certificate} with the key {key} cannot be used: {error}"),
            })
        })?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}

impl Certificates {
    /// Reads the files.
    ///
    /// # Errors
    /// `Invalid`, naming the file: it cannot be read, is not PEM, lacks a certificate or key, or the two do not match.
    pub(crate) fn open(files: TlsFiles) -> Result<Self> {
        let config = files.config(&files.read()?)?;
        Ok(Self { files, config: RwLock::new(Arc::new(config)) })
    }

    /// Reads the files again at SIGHUP, and whenever their bytes have changed, until the server stops. Files that cannot
    /// be used are reported in the log, and the previous certificate stays in use.
    pub(crate) async fn follow(self: Arc<Self>, every: Duration, mut stopping: watch::Receiver<bool>) {
        let mut hangups = Hangups::new();
        let mut known = self.files.read().ok();
        loop {
            let asked = tokio::select! {
                _ = stopping.wait_for(|stopping| *stopping) => return,
                () = hangups.next() => true,
                () = tokio::time::sleep(every) => false,
            };
            let certificates = self.clone();
            let read = tokio::task::spawn_blocking(move || certificates.files.read()).await;
            let read =
                read.unwrap_or_else(|_| Err(Error::Bug("reading the TLS files stopped without an answer".into())));
            // A file that is missing for a moment while it is replaced is not worth a message.
            let Ok(read) = read else {
                if asked {
                    tracing::error!("the TLS files cannot be read: the previous certificate stays in use");
                }
                continue;
            };
            if !asked && known.as_ref() == Some(&read) {
                continue;
            }
            match self.files.config(&read) {
                Ok(config) => {
                    *self.config.write().unwrap_or_else(std::sync::PoisonError::into_inner) = Arc::new(config);
                    tracing::info!(certificate = %self.files.certificate.display(), "the TLS certificate was read again");
                }
                Err(error) => tracing::error!(%error, "the previous TLS certificate stays in use"),
            }
            known = Some(read);
        }
    }

    /// Completes the handshake of a connection. `None` if it fails, or is not TLS; plain HTTP is answered with a sentence.
    pub(crate) async fn accept(&self, mut stream: TcpStream, within: Duration) -> Option<TlsStream<TcpStream>> {
        let config = self.config.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        let handshake = async {
            let mut first = [0; 1];
            match stream.peek(&mut first).await {
                Ok(1) if first[0].is_ascii_alphabetic() => {
                    refuse_plain(&mut stream).await;
                    None
                }
                Ok(1) => TlsAcceptor::from(config).accept(stream).await.ok(),
                _ => None,
            }
        };
        tokio::time::timeout(within, handshake).await.ok().flatten()
    }
}

/// Bytes of a plain request that are read before the connection is closed; a close with unread bytes would reset it
/// before the client has read the answer.
const PLAIN_BYTES_MAX: usize = 64 << 10;
/// How long a plain client may take to close its side.
const PLAIN_WITHIN: Duration = Duration::from_secs(2);

async fn refuse_plain(stream: &mut TcpStream) {
    const TEXT: &str = "This port speaks TLS: use https:// instead of http://.\n";
    let answer = format!(
        "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{TEXT}",
        TEXT.len()
    );
    let talk = async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await?;
        let (mut buffer, mut read) = ([0; 4 << 10], 0);
        while read < PLAIN_BYTES_MAX {
            match stream.read(&mut buffer).await? {
                0 => break,
                count => read += count,
            }
        }
        Ok::<(), std::io::Error>(())
    };
    // Errors concern this client only.
    let _ = tokio::time::timeout(PLAIN_WITHIN, talk).await;
}

/// Signals to read the files again.
#[cfg(unix)]
struct Hangups(Option<tokio::signal::unix::Signal>);

#[cfg(unix)]
impl Hangups {
    fn new() -> Self {
        Self(tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup()).ok())
    }

    async fn next(&mut self) {
        let received = match &mut self.0 {
            Some(signal) => signal.recv().await,
            None => None,
        };
        if received.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

/// Signals to read the files again: there are none on this platform.
#[cfg(not(unix))]
struct Hangups;

#[cfg(not(unix))]
impl Hangups {
    fn new() -> Self {
        Self
    }

    async fn next(&mut self) {
        std::future::pending::<()>().await;
    }
}
