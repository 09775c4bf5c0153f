//! The style, script and icon of the pages, embedded in the program. File names contain a hash of the content.

use std::sync::LazyLock;

use axum::extract::{Path, Request};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

use crate::http::Fault;

const STYLE: &str = include_str!("assets/style.css");
const SCRIPT: &str = include_str!("assets/script.js");
const ICON: &str = include_str!("assets/icon.svg");

/// File names, for templates.
pub(super) struct Names {
    pub(super) style: String,
    pub(super) script: String,
}

/// The names under which the files are served.
pub(super) static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let mark = |text: &str| blake3::hash(text.as_bytes()).to_hex()[..12].to_owned();
    Names { style: format!("{}.css", mark(STYLE)), script: format!("{}.js", mark(SCRIPT)) }
});

pub(super) async fn one(Path(name): Path<String>, _: Request) -> Response {
    let (kind, body) = match name.as_str() {
        "icon.svg" => ("image/svg+xml", ICON),
        name if name == NAMES.style => ("text/css; charset=utf-8", STYLE),
        name if name == NAMES.script => ("text/javascript; charset=utf-8", SCRIPT),
        _ => return Fault::not_found("there is no such file").into_response(),
    };
    ([(CONTENT_TYPE, kind), (CACHE_CONTROL, "private, max-age=604800, immutable")], body).into_response()
}
