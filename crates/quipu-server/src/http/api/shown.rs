//! What the engine reports, passed on as it is.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

/// A report of the engine's, or part of one. Its fields are described where the engine describes it.
#[derive(Clone, Serialize)]
#[serde(transparent)]
pub(super) struct EngineReport<T>(pub(super) T);

impl<T> JsonSchema for EngineReport<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        let whole = std::any::type_name::<T>();
        let bare = whole.rsplit("::").next().unwrap_or(whole);
        bare.trim_end_matches('>').to_owned().into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "title": Self::schema_name(), "type": "object", "additionalProperties": true })
    }
}
