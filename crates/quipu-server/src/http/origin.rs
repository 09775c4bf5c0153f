//! Who may ask: programs that mean this server by its own name, and pages of its own.
//!
//! A page of a foreign site can make a browser send requests here. Its name stands in `Origin`; or, if it let its own name
//! point here, in `Host`. Both are checked before anything else.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{HOST, ORIGIN};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::fault::Fault;

/// The names this server goes by, in lower case.
#[derive(Debug)]
pub(crate) struct Hosts {
    own: Vec<String>,
    allowed: Vec<String>,
}

impl Hosts {
    /// Loopback's own names with the port, and those that were allowed.
    pub(crate) fn new(addr: SocketAddr, allowed: &[String]) -> Self {
        let port = addr.port();
        let names = ["127.0.0.1", "localhost", "[::1]"];
        let mut own: Vec<String> = names.iter().map(|name| format!("{name}:{port}")).collect();
        if port == 80 {
            own.extend(names.iter().map(|name| (*name).to_owned()));
        }
        if !addr.ip().is_loopback() {
            own.push(addr.to_string());
        }
        Self { own, allowed: allowed.iter().map(|name| name.to_ascii_lowercase()).collect() }
    }

    fn has(&self, name: &str) -> bool {
        self.own.iter().chain(&self.allowed).any(|known| known.eq_ignore_ascii_case(name))
    }

    fn has_page(&self, origin: &str) -> bool {
        // This server speaks no TLS: only an allowed name can have a page behind it.
        match (origin.strip_prefix("http://"), origin.strip_prefix("https://")) {
            (Some(name), _) => self.has(name),
            (_, Some(name)) => self.allowed.iter().any(|known| known.eq_ignore_ascii_case(name)),
            (None, None) => false,
        }
    }
}

/// Refuses whoever means another server.
pub(super) async fn check(State(hosts): State<Arc<Hosts>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let mut named = headers.get_all(HOST).iter();
    let host = match (named.next(), named.next()) {
        (Some(one), None) => one.to_str().ok(),
        _ => None,
    };
    let meant = host.is_some_and(|host| hosts.has(host))
        && request.uri().authority().is_none_or(|authority| hosts.has(authority.as_str()));
    if !meant {
        return Fault::forbidden("the Host header must name this server, once").into_response();
    }
    let from_own_page =
        headers.get_all(ORIGIN).iter().all(|origin| origin.to_str().is_ok_and(|origin| hosts.has_page(origin)));
    if !from_own_page {
        return Fault::forbidden("pages of other sites may not ask this server").into_response();
    }
    next.run(request).await
}
