//! Quipu's own API (`/memory/…`, `/keys`) and the compatibility routes. Each file holds a family of routes, which
//! convert a request, call one operation and convert the result.

mod context;
mod core;
mod frame;
mod growth;
mod handing;
mod items;
mod keys;
mod lists;
mod live;
mod mem0;
mod memory_tool;
mod openapi;
mod page;
mod people;
mod sent;
mod shape;
mod store;
mod tiers;
mod turns;
mod versions;

use std::sync::Arc;

use axum::Router;
use axum::extract::Extension;
use axum::routing::{MethodFilter, on};

use crate::app::App;

pub(crate) use live::{step_stream, version_stream};
pub(super) use openapi::{document, shown_document};

/// Every route of the API.
fn routes() -> Vec<frame::Route> {
    [
        core::routes(),
        tiers::routes(),
        turns::routes(),
        context::routes(),
        lists::routes(),
        items::routes(),
        versions::routes(),
        people::routes(),
        growth::routes(),
        handing::routes(),
        keys::routes(),
        mem0::routes(),
        memory_tool::routes(),
        store::routes(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The routes as a router.
pub(super) fn router() -> Router<Arc<App>> {
    routes().into_iter().fold(Router::new(), |router, route| {
        // Every method of the table can be routed.
        let Ok(method) = MethodFilter::try_from(route.method.clone()) else { return router };
        let path = route.path;
        router.route(path, on(method, frame::answer).layer(Extension(Arc::new(route))))
    })
}
