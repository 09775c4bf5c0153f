//! A certificate signed by itself, for a network without a certificate authority.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use quipu_engine::{Error, Result};
use quipu_server::TlsFiles;
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose, date_time_ymd};
use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::ParsedCertificate;

/// Validity in years.
const YEARS: i16 = 10;

/// The certificate of this data folder.
pub(crate) struct SelfSigned {
    pub(crate) files: TlsFiles,
    /// The certificate without the key, for clients.
    pub(crate) certificate: PathBuf,
    /// Names and addresses of the server that the certificate lacks, because it was made for others.
    pub(crate) missing: Vec<String>,
    /// Names and addresses of the server.
    pub(crate) names: Vec<String>,
}

/// The certificate in `tls` of the data folder, which is made at the first call and used by later ones. It names
/// `localhost`, this machine and the addresses that the server listens on.
///
/// # Errors
/// `Unavailable` if the folder cannot be written; `Invalid` if the file there is not a certificate.
pub(crate) fn certificate(data_dir: &Path, addr: SocketAddr, now: Timestamp) -> Result<SelfSigned> {
    let folder = data_dir.join("tls");
    let files = files(data_dir);
    let names = names(addr);
    if !files.key.exists() {
        make(&folder, &files.key, &names, now)?;
    }
    let leaf = files.leaf()?;
    let certificate = folder.join("certificate.pem");
    let text = pem(&leaf);
    if fs::read_to_string(&certificate).is_ok_and(|kept| kept == text) {
        // Already there.
    } else {
        replace(&folder, &certificate, &text, true)?;
    }
    let leaf = CertificateDer::from(leaf);
    let parsed = ParsedCertificate::try_from(&leaf)
        .map_err(|error| Error::Invalid(format!("{} is not a certificate: {error}", certificate.display())))?;
    let is_named = |name: &&String| {
        ServerName::try_from(name.as_str()).is_ok_and(|name| verify_server_name(&parsed, &name).is_ok())
    };
    let missing = names.iter().filter(|name| !is_named(name)).cloned().collect();
    Ok(SelfSigned { files, certificate, missing, names })
}

/// The file with certificate and key, which need not exist yet.
pub(crate) fn files(data_dir: &Path) -> TlsFiles {
    let whole = data_dir.join("tls").join("self-signed.pem");
    TlsFiles { certificate: whole.clone(), key: whole }
}

/// The names and addresses by which clients reach a server that listens on `addr`.
fn names(addr: SocketAddr) -> Vec<String> {
    let mut names = vec!["localhost".to_owned()];
    if let Ok(host) = whoami::hostname() {
        let host = host.to_ascii_lowercase();
        // Names for multicast DNS, as in most home networks.
        let local = (!host.contains('.')).then(|| format!("{host}.local"));
        names.extend(std::iter::once(host).chain(local));
    }
    let mut addresses = vec![IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
    if addr.ip().is_unspecified() {
        addresses.extend(outgoing());
    } else {
        addresses.push(addr.ip());
    }
    names.extend(addresses.iter().map(ToString::to_string));
    names.retain(|name| ServerName::try_from(name.as_str()).is_ok());
    let mut met = Vec::new();
    names.retain(|name| {
        !met.contains(name) && {
            met.push(name.clone());
            true
        }
    });
    names
}

/// The addresses of this machine from which packets to other networks would be sent. Sends none.
fn outgoing() -> impl Iterator<Item = IpAddr> {
    // Addresses reserved for documentation.
    let towards = [("0.0.0.0:0", "192.0.2.1:9"), ("[::]:0", "[2001:db8::1]:9")];
    towards.into_iter().filter_map(|(from, to)| {
        let socket = UdpSocket::bind(from).ok()?;
        socket.connect(to).ok()?;
        Some(socket.local_addr().ok()?.ip()).filter(|ip| !ip.is_unspecified())
    })
}

fn make(folder: &Path, whole: &Path, names: &[String], now: Timestamp) -> Result<()> {
    let cannot = |error: rcgen::Error| Error::Bug(format!("a certificate cannot be made: {error}"));
    let mut params = CertificateParams::new(names.to_vec()).map_err(cannot)?;
    params.distinguished_name.push(DnType::CommonName, "Quipu");
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let today = now.to_zoned(TimeZone::UTC).date();
    let ymd = |date: jiff::civil::Date| {
        date_time_ymd(date.year().into(), date.month().unsigned_abs(), date.day().unsigned_abs())
    };
    // From the day before, for clients whose clock is slow.
    let yesterday = today.yesterday().unwrap_or(today);
    params.not_before = ymd(yesterday);
    params.not_after =
        ymd(yesterday.with().year(yesterday.year() + YEARS).day(yesterday.day().min(28)).build().unwrap_or(today));
    let key = KeyPair::generate().map_err(cannot)?;
    let certificate = params.self_signed(&key).map_err(cannot)?;
    replace(folder, whole, &(certificate.pem() + &key.serialize_pem()), false)
}

/// Writes a file that is readable by its owner alone. Without `over`, a file that another process made first stays.
fn replace(folder: &Path, path: &Path, text: &str, over: bool) -> Result<()> {
    let cannot = |error: std::io::Error| Error::Unavailable(format!("{} cannot be written: {error}", path.display()));
    private_folder(folder).map_err(cannot)?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(cannot)?;
    file.write_all(text.as_bytes()).map_err(cannot)?;
    file.as_file().sync_all().map_err(cannot)?;
    let kept: std::result::Result<File, std::io::Error> = if over {
        file.persist(path).map_err(|failed| failed.error)
    } else {
        file.persist_noclobber(path).map_err(|failed| failed.error)
    };
    match kept {
        Ok(_) => Ok(()),
        Err(error) if !over && error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(cannot(error)),
    }
}

/// Creates a folder, and those above it, that only its owner can enter. One that exists stays as it is.
fn private_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// A certificate as PEM.
fn pem(der: &[u8]) -> String {
    let encoded = data_encoding::BASE64.encode(der);
    let mut text = "-----BEGIN CERTIFICATE-----\n".to_owned();
    let mut rest = encoded.as_str();
    while !rest.is_empty() {
        let (line, left) = rest.split_at(rest.len().min(64));
        text.push_str(line);
        text.push('\n');
        rest = left;
    }
    text + "-----END CERTIFICATE-----\n"
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_made_once_and_names_the_server() {
        let folder = tempfile::tempdir().unwrap();
        let now: Timestamp = "2026-07-15T12:00:00Z".parse().unwrap();
        let addr: SocketAddr = "192.168.7.9:7077".parse().unwrap();
        let data_dir = folder.path().join("new/data");
        let first = certificate(&data_dir, addr, now).unwrap();
        assert!(first.missing.is_empty(), "{:?}", first.missing);
        for name in ["localhost", "127.0.0.1", "::1", "192.168.7.9"] {
            assert!(first.names.iter().any(|one| one == name), "{name}");
        }
        let again = certificate(&data_dir, "10.0.0.1:7077".parse().unwrap(), now).unwrap();
        assert_eq!(first.files.leaf().unwrap(), again.files.leaf().unwrap());
        assert_eq!(again.missing, ["10.0.0.1"]);
        assert!(!fs::read_to_string(&first.certificate).unwrap().contains("PRIVATE KEY"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&first.files.key), 0o600);
            assert_eq!(mode(&data_dir.join("tls")), 0o700);
        }
    }

    #[test]
    fn a_damaged_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("tls")).unwrap();
        fs::write(folder.path().join("tls/self-signed.pem"), "nothing").unwrap();
        let error = certificate(folder.path(), "127.0.0.1:1".parse().unwrap(), Timestamp::UNIX_EPOCH).err().unwrap();
        assert!(error.to_string().contains("self-signed.pem has no certificate"), "{error}");
    }
}
