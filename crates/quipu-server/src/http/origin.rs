//! Checks `Host` and `Origin` before anything else.
//!
//! A page of a foreign site can make a browser send requests to this server. Its name is then in `Origin`, or in `Host`
//! if its own name resolves to this address (DNS rebinding).

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{HOST, ORIGIN};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::fault::Fault;

/// The names of this server, in lower case.
#[derive(Debug)]
pub(crate) struct Hosts {
    own: Vec<String>,
    allowed: Vec<String>,
    /// True if the server speaks TLS itself.
    is_tls: bool,
}

impl Hosts {
    /// The loopback names with the port, and the names that were allowed.
    pub(crate) fn new(addr: SocketAddr, allowed: &[String], is_tls: bool) -> Self {
        let port = addr.port();
        let names = ["127.0.0.1", "localhost", "[::1]"];
        let mut own: Vec<String> = names.iter().map(|name| format!("{name}:{port}")).collect();
        if !addr.ip().is_loopback() {
            own.push(addr.to_string());
        }
        let default = if is_tls { ":443" } else { ":80" };
        // Clients leave the default port out.
        let bare: Vec<String> = own.iter().filter_map(|name| name.strip_suffix(default).map(str::to_owned)).collect();
        own.extend(bare);
        Self { own, allowed: allowed.iter().map(|name| name.to_ascii_lowercase()).collect(), is_tls }
    }

    fn has(&self, name: &str) -> bool {
        self.own.iter().chain(&self.allowed).any(|known| known.eq_ignore_ascii_case(name))
    }

    fn has_page(&self, origin: &str) -> bool {
        match (origin.strip_prefix("http://"), origin.strip_prefix("https://")) {
            (Some(name), _) => !self.is_tls && self.has(name),
            (_, Some(name)) if self.is_tls => self.has(name),
            // Without TLS of its own, only an allowed name can have an https page behind it.
            (_, Some(name)) => self.allowed.iter().any(|known| known.eq_ignore_ascii_case(name)),
            (None, None) => false,
        }
    }
}

/// Rejects requests addressed to another server or sent by a foreign page.
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
        return Fault::forbidden("requests from pages of other sites are not allowed").into_response();
    }
    next.run(request).await
}
