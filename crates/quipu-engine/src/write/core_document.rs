//! Changes the core document by guarded patches.

use quipu_core::core_document::{self, Patch};
use quipu_core::event::{Actor, Draft, Origin, SourceKind};
use serde_json::Value;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::memory::MemoryRef;
use crate::memory::State;
use crate::memory::checkpoint;
use crate::memory::{Receipt, commit};

/// Options of an edit.
#[derive(Debug, Clone, Default)]
pub struct PatchOptions {
    /// A repeated edit with the same key has no second effect.
    pub idempotency_key: Option<String>,
    /// Why the document changes.
    pub rationale: Option<String>,
    /// Confidence, 0 to 1.
    pub confidence: Option<f64>,
    /// Reference of the event, such as a message or tool.
    pub reference: Option<String>,
}

/// An edit of the document.
#[derive(Debug, Clone)]
pub enum CoreEdit {
    /// An RFC 6902 patch.
    Patch(Patch),
    /// Sets the value at a pointer, creating missing parents.
    Set(String, Value),
    /// Removes the value at a pointer.
    Unset(String),
}

/// Edits the core document.
///
/// The recorded patch has `test` operations for everything it replaces or removes, so that it cannot change another
/// value when it is replayed on a history with reverts. It does not depend on the events that created the objects and
/// lists it adds to. Returns once the event is durable.
///
/// # Errors
/// - `Invalid`, `Refused` or `NotFound`: the patch is malformed, too large, does not apply, or makes the document
///   invalid under its category's schema. The text names the operation or path. Nothing is changed.
/// - `Conflict`, `Unavailable`: as for every append.
pub fn edit_core<'a>(
    engine: &Engine,
    memory: impl Into<MemoryRef<'a>>,
    edit: &CoreEdit,
    options: &PatchOptions,
) -> Result<Receipt> {
    let memory = memory.into();
    let request = match edit {
        CoreEdit::Patch(patch) => serde_json::to_string(patch),
        CoreEdit::Set(pointer, value) => serde_json::to_string(&("set", pointer, value)),
        CoreEdit::Unset(pointer) => serde_json::to_string(&("unset", pointer)),
    }
    .map_err(|error| Error::Invalid(error.to_string()))?;
    let idempotency = commit::idempotency(options.idempotency_key.as_deref(), &[request.as_bytes()]);
    let kind = SourceKind::UserEdited;
    let mut decide = |state: &State| {
        let document = state.memory.core();
        let (within, wanted) = match edit {
            CoreEdit::Patch(patch) => (core_document::containers(document, patch), patch.clone()),
            CoreEdit::Set(pointer, value) => core_document::set_within(document, pointer, value.clone())?,
            CoreEdit::Unset(pointer) => (Vec::new(), core_document::unset(document, pointer)?),
        };
        // Values set by the user are authoritative, so the facts are adjusted in the same event.
        let desk = engine.desk(&state.memory);
        let changes = desk.edit(within, &wanted, &mut |kind| engine.new_item_id(kind))?;
        Ok(Draft {
            origin: Origin { reference: options.reference.clone(), ..Origin::of(kind) },
            rationale: options.rationale.clone(),
            confidence: options.confidence,
            ..Draft::new(Actor::User, kind, changes)
        })
    };
    let open = commit::open_or_create(engine, memory, &mut decide)?;
    let mut receipt = commit::commit_one(engine, &open, idempotency.as_ref(), &mut decide)?;
    receipt.finish(&open, checkpoint::after_append(engine, &open, false, &mut |_| {}));
    Ok(receipt)
}
