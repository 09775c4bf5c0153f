//! Records the duration of requests, by route and status class.

use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use tokio::time::Instant;

use crate::app::App;
use crate::metrics::{self, Metrics};

/// Label of a method, by OpenTelemetry's convention: unknown methods share one label.
fn method(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "_OTHER",
    }
}

fn class(status: StatusCode) -> &'static str {
    match status.as_u16() {
        ..200 => "1xx",
        200..300 => "2xx",
        300..400 => "3xx",
        400..500 => "4xx",
        500.. => "5xx",
    }
}

/// A request in progress. A panic counts as `5xx`.
struct Running<'a> {
    metrics: &'a Metrics,
    start: Instant,
    method: &'static str,
    route: String,
    class: Option<&'static str>,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // A request whose client disconnected before the response has no meaningful duration.
        let Some(class) = self.class.or(std::thread::panicking().then_some("5xx")) else { return };
        let request = metrics::RouteLabel {
            http_request_method: self.method,
            http_route: std::mem::take(&mut self.route),
            http_response_status_class: class,
        };
        self.metrics.answered(&request, self.start.elapsed().as_secs_f64());
    }
}

/// Records a request when its response begins.
pub(super) async fn count(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map(|route| route.as_str().to_owned());
    let mut running = Running {
        metrics: &app.metrics,
        start: Instant::now(),
        method: method(request.method()),
        route: route.unwrap_or_default(),
        class: None,
    };
    let response = next.run(request).await;
    running.class = Some(class(response.status()));
    response
}
