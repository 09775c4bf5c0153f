//! What open pages listen to, as an event stream: the version of a memory, or how far an import is.

use std::sync::Arc;

use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use quipu_core::id::{Seq, UserId};
use quipu_engine::ports::Scope;

use super::fields::Fields;
use super::uploads::Upload;
use crate::app::App;
use crate::http::{Fault, RequestContext, step_stream, version_stream};

/// `GET /ui/u/{user_id}/live?after=…`, and `?import=…&after=…`
pub(super) async fn stream(
    State(app): State<Arc<App>>,
    Extension(met): Extension<RequestContext>,
    Path(user): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let allowed = || -> Result<(UserId, Seq, Option<Arc<Upload>>), Fault> {
        met.caller.must(Scope::Read)?;
        let user = UserId::parse(&user).map_err(|refusal| Fault::invalid(refusal.to_string()))?;
        met.caller.must_be(&user)?;
        // A browser that comes back says where it was.
        let back = headers.get("last-event-id").and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let asked = Fields::read(uri.query().unwrap_or_default().as_bytes());
        let import = asked.get("import").map(|id| {
            met.caller.must(Scope::Write)?;
            app.uploads.of(&user, id).ok_or_else(|| Fault::not_found("there is no such upload"))
        });
        let after = back.or_else(|| asked.get("after")?.parse().ok()).unwrap_or_default();
        Ok((user, after, import.transpose()?))
    };
    let outcome = match allowed() {
        Ok((user, after, None)) => version_stream(&app, user, after).await,
        Ok((user, after, Some(upload))) => step_stream(&app, user, after, upload.steps.clone()).await,
        Err(fault) => Err(fault),
    };
    outcome.unwrap_or_else(|fault| fault.answer(None, Some(&met.request_id)))
}
