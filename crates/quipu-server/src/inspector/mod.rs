//! The inspector: pages on which people see what is remembered and why, decide reviews, correct, revert and erase.
//!
//! Pages are rendered here and work without a script. Each is a row of a table, like a route of the API: it converts,
//! calls a function of the engine, and fills a template of `templates/`, which escapes every text.

mod assets;
mod desks;
mod fields;
mod frame;
mod live;
mod pages;
mod plot;
mod received;
mod security;
mod shown;
mod sign_in;
mod uploads;

use std::sync::Arc;

use axum::Router;
use axum::extract::Extension;
use axum::middleware::from_fn;
use axum::routing::{MethodFilter, get, on};

use crate::app::App;

pub(crate) use desks::Desks;
pub(crate) use sign_in::{Seen, see};
pub(crate) use uploads::Uploads;

/// A router with every page.
pub(crate) fn router() -> Router<Arc<App>> {
    let pages = pages::all().into_iter().fold(Router::new(), |router, page| {
        // Every method in the table can be routed.
        let Ok(method) = MethodFilter::try_from(page.method.clone()) else { return router };
        let path = page.path;
        router.route(path, on(method, frame::answer).layer(Extension(Arc::new(page))))
    });
    pages
        .route("/ui/sign-in", get(sign_in::page).post(sign_in::enter))
        .route("/ui/sign-out", axum::routing::post(sign_in::leave))
        .route("/ui/u/{user_id}/live", get(live::stream))
        .route("/ui/theme", axum::routing::post(frame::theme))
        .route("/ui/assets/{name}", get(assets::one))
        .layer(from_fn(security::headers))
}

/// True for a path of these pages.
pub(crate) fn is_page(path: &str) -> bool {
    path == "/" || path == "/ui" || path.starts_with("/ui/")
}
