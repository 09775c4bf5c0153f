//! All tools. The default ones are few, because models choose better among few.

mod admin;
mod asking;
mod connector;
mod files;
mod graph;
mod keeping;
mod looking;
mod review;

use super::tool::Tool;

/// All tools, in the order of the list.
pub(super) fn all() -> Vec<Tool> {
    [
        keeping::tools(),
        asking::tools(),
        looking::tools(),
        connector::tools(),
        review::tools(),
        graph::tools(),
        files::tools(),
        admin::tools(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

pub(super) use asking::block;
pub(super) use looking::recent;
pub(super) use review::shown as waiting;

/// An item as a resource.
pub(super) fn item(call: &super::call::Call<'_>, id: &str) -> quipu_engine::Result<impl serde::Serialize + use<>> {
    looking::whole(call, id, quipu_engine::versions::When::Now)
}
