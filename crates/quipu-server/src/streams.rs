//! Answers connections that did not come through a listener.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use quipu_engine::Result;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::app::{App, ServerParts};
use crate::http::{self, Hosts};
use crate::options::ServerOptions;
use crate::server;

/// Answers requests on streams that its caller has opened, such as one end of a pipe in the same process.
///
/// It answers as a [`Server`](crate::Server) without TLS at the address of its options does. It does no work besides that: no maintenance,
/// and no look at other servers.
pub struct StreamServer {
    app: Arc<App>,
    router: Router,
}

impl StreamServer {
    /// Must be called inside the runtime that does the work.
    ///
    /// # Errors
    /// `Invalid` as [`Server::bind`](crate::Server::bind).
    pub fn new(parts: ServerParts, options: ServerOptions) -> Result<Self> {
        server::check(&options)?;
        let hosts = Hosts::new(options.addr, &options.allow_hosts, false);
        let app = Arc::new(App::new(parts, options)?);
        Ok(Self { router: http::router(app.clone(), hosts), app })
    }

    /// Answers the requests of one stream until either side closes it.
    pub async fn answer<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(&self, stream: S) {
        http::answer_stream(stream, self.router.clone(), &self.app.options.bounds).await;
    }

    /// Waits until what the answered requests left to do is done: messages that are being recorded and read.
    pub async fn settle(&self) {
        while !self.app.queue.is_idle() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}
