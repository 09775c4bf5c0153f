//! Patches of the core document.

use std::sync::LazyLock;

use quipu_core::core_document::{self, Registry};
use quipu_core::limit;

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::default_registry);

/// A document and a patch, separated by the first line feed.
///
/// Applying a patch gives a document within the limits that reads back identically. Guarding does not change the
/// result, and a checked patch replays to the same document.
pub fn json_patch(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Some((document, patch)) = text.split_once('\n') else { return };
    let Ok(patch) = core_document::parse(patch) else { return };
    let Ok(document) = serde_json::from_str::<serde_json::Value>(document) else { return };
    let applied = core_document::apply(&document, &patch);
    if let Ok(result) = &applied {
        let stored = result.to_string();
        assert!(stored.len() <= limit::CORE_BYTES_MAX, "the result has {} bytes", stored.len());
        let Ok(again) = serde_json::from_str::<serde_json::Value>(&stored) else {
            panic!("the result cannot be read back")
        };
        assert_eq!(again, *result, "the result reads back differently");
    }
    if let Ok(guarded) = core_document::guarded(&document, &patch) {
        assert_eq!(applied.as_ref(), Ok(&again_applied(&document, &guarded)), "guarding changed what the patch does");
        assert_eq!(core_document::replay(&document, &guarded), applied, "replaying gives something else");
    }
    if REGISTRY.validate(&document).is_ok()
        && let Ok((guarded, result)) = core_document::check(&*REGISTRY, &document, &patch)
    {
        assert!(REGISTRY.validate(&result).is_ok(), "a checked patch leads to an invalid document");
        assert_eq!(core_document::replay(&document, &guarded).as_ref(), Ok(&result));
    }
}

fn again_applied(document: &serde_json::Value, guarded: &core_document::Patch) -> serde_json::Value {
    match core_document::apply(document, guarded) {
        Ok(result) => result,
        Err(fault) => panic!("a guarded patch does not apply where it was guarded: {fault}"),
    }
}
