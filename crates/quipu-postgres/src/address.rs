//! The address of a database: a URL, read into the settings of a connection, and shown without its password.

use std::path::PathBuf;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use quipu_engine::ports::StoreError;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// How long a connection attempt to one host may take, unless the URL says otherwise.
const CONNECT_WAIT: Duration = Duration::from_secs(5);
/// After this time without an answer to sent data, a connection counts as lost.
const SILENCE_MAX: Duration = Duration::from_secs(30);
const KEEPALIVE_IDLE: Duration = Duration::from_secs(30);

/// What is checked of the server's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verification {
    /// Nothing: the connection is encrypted, but the server may be anyone's.
    Nothing,
    /// That a known authority signed it.
    Authority,
    /// That a known authority signed it for this host.
    Host,
}

/// A parsed URL.
#[derive(Debug)]
pub(crate) struct Address {
    pub(crate) config: Config,
    pub(crate) verification: Verification,
    /// A file with the certificates of authorities; those of the system without one.
    pub(crate) authorities: Option<PathBuf>,
    /// Whether statements are prepared once for each connection.
    pub(crate) prepares: bool,
    /// Host, port, database and user.
    pub(crate) shown: String,
}

/// Whether a text is the URL of a PostgreSQL database.
pub fn is_url(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

/// A URL with its password replaced, for messages. A text that is not such a URL is not shown at all.
pub fn shown_url(url: &str) -> String {
    Address::parse(url).map_or_else(|_| "a PostgreSQL URL that cannot be read".to_owned(), |address| address.shown)
}

impl Address {
    /// Parses a URL: `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full&sslrootcert=FILE`. The modes mean
    /// what they mean to other clients of PostgreSQL. With `prepared_statements=on`, the server plans each statement once for a
    /// connection, which a pool in transaction mode must support.
    ///
    /// # Errors
    /// `Unavailable` names the part that is wrong, and never the password.
    pub(crate) fn parse(url: &str) -> Result<Self, StoreError> {
        let wrong = |what: &str| StoreError::Unavailable(format!("the URL of the PostgreSQL store is wrong: {what}"));
        if !is_url(url) {
            return Err(wrong("it does not start with postgres://"));
        }
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut mode, mut authorities, mut rest) = (None, None, Vec::new());
        let (mut is_system, mut prepares) = (false, false);
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = percent_decode_str(value).decode_utf8_lossy().into_owned();
            match name {
                "sslmode" => mode = Some(value),
                "sslrootcert" => {
                    is_system = value == "system";
                    authorities = Some(value).filter(|_| !is_system).map(PathBuf::from);
                }
                "prepared_statements" => match value.as_str() {
                    "on" => prepares = true,
                    "off" => prepares = false,
                    _ => return Err(wrong("prepared_statements is on or off")),
                },
                "sslcert" | "sslkey" => return Err(wrong("certificates of the client are not supported")),
                _ => rest.push(pair),
            }
        }
        let plain = if rest.is_empty() { base.to_owned() } else { format!("{base}?{}", rest.join("&")) };
        // The parser's own message may quote a part of the URL, and with it the password.
        let mut config: Config = plain.parse().map_err(|_| {
            wrong(
                "expected postgres://USER:PASSWORD@HOST:PORT/DATABASE, special characters as %XX, and known parameters",
            )
        })?;
        if config.get_hosts().iter().any(|host| matches!(host, Host::Tcp(name) if !is_host(name))) {
            return Err(wrong("it has no valid host name. Special characters in the password are written as %XX"));
        }
        let (ssl, verification) = match mode.as_deref() {
            None if is_system => (SslMode::Require, Verification::Host),
            Some("disable" | "allow" | "prefer" | "require" | "verify-ca") if is_system => {
                return Err(wrong(
                    "sslrootcert=system needs sslmode=verify-full, since anyone can get a certificate from such an authority",
                ));
            }
            Some("disable") => (SslMode::Disable, Verification::Nothing),
            None | Some("prefer" | "allow") => (SslMode::Prefer, Verification::Nothing),
            // With a file of authorities, `require` checks the certificate against it, as in libpq.
            Some("require") if authorities.is_some() => (SslMode::Require, Verification::Authority),
            Some("require") => (SslMode::Require, Verification::Nothing),
            Some("verify-ca") if authorities.is_none() => {
                return Err(wrong("sslmode=verify-ca needs sslrootcert=FILE; sslmode=verify-full does not"));
            }
            Some("verify-ca") => (SslMode::Require, Verification::Authority),
            Some("verify-full") => (SslMode::Require, Verification::Host),
            Some(_) => return Err(wrong("sslmode is disable, allow, prefer, require, verify-ca or verify-full")),
        };
        config.ssl_mode(ssl);
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_WAIT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(SILENCE_MAX);
        }
        config.keepalives_idle(KEEPALIVE_IDLE);
        if config.get_application_name().is_none() {
            config.application_name("quipu");
        }
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(wrong("it has no host"));
        }
        let shown = shown(&config);
        Ok(Self { config, verification, authorities, prepares, shown })
    }
}

/// Whether a text can be the name or the address of a host. If it cannot, it may be a part of the password.
fn is_host(name: &str) -> bool {
    let is_clean = !name.is_empty() && !name.contains(['@', '/', '%']);
    is_clean && (!name.contains(':') || name.parse::<std::net::Ipv6Addr>().is_ok())
}

/// The parts of a configuration that may be shown.
fn shown(config: &Config) -> String {
    let ports = config.get_ports();
    let hosts: Vec<String> = config
        .get_hosts()
        .iter()
        .enumerate()
        .map(|(at, host)| {
            let port = ports.get(at).or(ports.first()).copied().unwrap_or(5432);
            match host {
                Host::Tcp(name) => format!("{name}:{port}"),
                #[cfg(unix)]
                Host::Unix(folder) => format!("{}:{port}", folder.display()),
            }
        })
        .collect();
    let user = config.get_user().map(|user| format!("{user}@")).unwrap_or_default();
    let database = config.get_dbname().or(config.get_user()).unwrap_or_default();
    format!("postgres://{user}{}/{database}", hosts.join(","))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_without_its_password() {
        let check = |url: &str, expected: &str| assert_eq!(shown_url(url), expected, "{url}");
        check("postgres://me:s3cret@db.example:6432/memory", "postgres://me@db.example:6432/memory");
        check("postgresql://db.example/memory?sslmode=verify-full", "postgres://db.example:5432/memory");
        check("postgres://me:s3cret@a,b:5433/m", "postgres://me@a:5432,b:5433/m");
        check("postgres://me:s3cret@%2Frun%2Fpg/m", "postgres://me@/run/pg:5432/m");
        check("postgres://me:s3cret@db/m?sslmode=s3cret", "a PostgreSQL URL that cannot be read");
        check("me:s3cret@db", "a PostgreSQL URL that cannot be read");
        check("postgres://me:s3cret%zz@db:port/x", "a PostgreSQL URL that cannot be read");
    }

    #[test]
    fn errors_never_contain_the_password() {
        for url in [
            "postgres://me:s3cret@db:s3cret/m",
            "postgres://me:s3cret@db/m?s3cret=1",
            "postgres://me:s3cret@db/m?sslmode=s3cret",
            "mysql://me:s3cret@db/m",
            "postgres://me:pass@s3cret@db/m",
            "postgres://me:pass@s3cret%3Aone@db/m",
            "postgres://me:pass@s3cret%3Aone/m",
            "postgres://me:pass@word:s3cret@db/m",
        ] {
            let told = Address::parse(url).map(|address| address.shown).unwrap_err().to_string();
            assert!(!told.contains("s3cret"), "{told}");
        }
    }

    #[test]
    fn the_modes_of_tls_mean_what_they_mean_elsewhere() {
        let check = |query: &str, mode: SslMode, verification: Verification| {
            let address = Address::parse(&format!("postgres://me@db/m{query}")).unwrap();
            assert_eq!((address.config.get_ssl_mode(), address.verification), (mode, verification), "{query}");
        };
        check("", SslMode::Prefer, Verification::Nothing);
        check("?sslmode=disable", SslMode::Disable, Verification::Nothing);
        check("?sslmode=require&connect_timeout=3", SslMode::Require, Verification::Nothing);
        check("?sslmode=require&sslrootcert=%2Fca.pem", SslMode::Require, Verification::Authority);
        check("?sslmode=verify-ca&sslrootcert=%2Fca.pem", SslMode::Require, Verification::Authority);
        check("?sslmode=verify-full", SslMode::Require, Verification::Host);
        check("?sslmode=verify-full&sslrootcert=system", SslMode::Require, Verification::Host);
        check("?sslrootcert=system", SslMode::Require, Verification::Host);
        for weaker in ["disable", "allow", "prefer", "require", "verify-ca"] {
            let parsed = Address::parse(&format!("postgres://me@db/m?sslmode={weaker}&sslrootcert=system"));
            assert!(parsed.is_err(), "{weaker}");
        }
        assert!(Address::parse("postgres://me@db/m?sslmode=verify-ca").is_err());
    }

    #[test]
    fn statements_are_prepared_on_request_only() {
        let check = |query: &str, expected: Option<bool>| {
            let parsed = Address::parse(&format!("postgres://me@db/m{query}")).ok();
            assert_eq!(parsed.map(|address| address.prepares), expected, "{query}");
        };
        check("", Some(false));
        check("?prepared_statements=on", Some(true));
        check("?sslmode=disable&prepared_statements=off", Some(false));
        check("?prepared_statements=yes", None);
    }

    #[test]
    fn a_password_that_looks_like_a_part_of_the_host_is_explained() {
        let told = Address::parse("postgres://me:s3c@ret@db/m").unwrap_err().to_string();
        assert!(told.contains("Special characters in the password are written as %XX"), "{told}");
        assert!(!told.contains("ret@db") && !told.contains("s3c"), "{told}");
        assert_eq!(shown_url("postgres://me:s3c%40ret@db/m"), "postgres://me@db:5432/m");
        assert_eq!(shown_url("postgres://me@[::1]:5433/m"), "postgres://me@::1:5433/m");
    }
}
