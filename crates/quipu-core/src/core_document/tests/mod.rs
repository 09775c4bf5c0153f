//! Tests of the core document, with shared helpers.

mod apply;
mod check;
mod diff;
mod guard;
mod properties;

use json_patch::Patch;
use serde_json::Value;

fn patch(ops: Value) -> Patch {
    match serde_json::from_value(ops) {
        Ok(patch) => patch,
        Err(error) => panic!("a test's patch is malformed: {error}"),
    }
}

fn ops(patch: &Patch) -> Vec<String> {
    patch.iter().map(ToString::to_string).collect()
}
