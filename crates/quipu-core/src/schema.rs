//! JSON schemas of values that serde writes as text, for descriptions of an API.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::id::{ItemId, UserId};
use crate::recall::Arms;

/// The pattern of an item id.
pub const ITEM_ID_PATTERN: &str =
    "^(turn|entry|doc|import|fact|ep|task|note|tenet|review|truth)_[0-9a-f][0-9a-hjkmnp-tv-z]{12}$";
/// The pattern of a user id.
pub const USER_ID_PATTERN: &str = "^[A-Za-z0-9][A-Za-z0-9._@:+-]{0,127}$";

impl JsonSchema for ItemId {
    fn schema_name() -> Cow<'static, str> {
        "ItemId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Id of an item: its kind, an underscore and 13 digits of Crockford's base 32.",
            "type": "string",
            "pattern": ITEM_ID_PATTERN,
        })
    }
}

impl JsonSchema for UserId {
    fn schema_name() -> Cow<'static, str> {
        "UserId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Id of a user: 1 to 128 ASCII letters, digits and `- _ . @ : +`.",
            "type": "string",
            "pattern": USER_ID_PATTERN,
        })
    }
}

impl JsonSchema for Arms {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "RecallArms".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<crate::recall::Arm>::json_schema(generator)
    }
}

/// A BLAKE3 hash, as 64 hexadecimal digits.
#[derive(Debug)]
pub struct HexHash;

impl JsonSchema for HexHash {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "HexHash".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": "^[0-9a-f]{64}$"})
    }
}

/// A JSON Patch (RFC 6902).
#[derive(Debug)]
pub struct JsonPatch;

impl JsonSchema for JsonPatch {
    fn schema_name() -> Cow<'static, str> {
        "JsonPatch".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A JSON Patch (RFC 6902).",
            "type": "array",
            "items": generator.subschema_for::<JsonPatchOperation>(),
        })
    }
}

struct JsonPatchOperation;

impl JsonSchema for JsonPatchOperation {
    fn schema_name() -> Cow<'static, str> {
        "JsonPatchOperation".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let operation = |names: &[&str], operand: &str, schema: Schema| {
            json_schema!({
                "type": "object",
                "properties": {
                    "op": {"type": "string", "enum": names},
                    "path": {"type": "string"},
                    operand: schema,
                },
                "required": ["op", "path", operand],
            })
        };
        let value = json_schema!({"description": "Any JSON value."});
        json_schema!({
            "description": "One operation of a JSON Patch. Paths are JSON Pointers (RFC 6901).",
            "oneOf": [
                operation(&["add", "replace", "test"], "value", value),
                operation(&["move", "copy"], "from", json_schema!({"type": "string"})),
                {
                    "type": "object",
                    "properties": {"op": {"type": "string", "const": "remove"}, "path": {"type": "string"}},
                    "required": ["op", "path"],
                },
            ],
        })
    }
}

/// A part of a text, in bytes of its UTF-8 form.
#[derive(Debug, JsonSchema)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}
