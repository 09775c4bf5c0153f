//! The bodies of the fuzz targets. No input may cause a panic, and the stated properties must hold.
//!
//! `fuzz/` runs them under a fuzzer; [`feed`] runs them with random and mutated bytes in every test run. The bodies of the document readers
//! and of the server are in the tests of their crates.

mod core_document;
mod feed;
mod folder;
mod import;
mod ledger;
mod pages;
mod talk;

use std::sync::{Arc, LazyLock};

use quipu_models::RuleExtractor;

pub use core_document::json_patch;
pub use feed::{feed, seeds};
pub use import::{check_batch, import, import_file};
pub use ledger::{bundle, event_decode, forged};
pub use pages::{folder, pages};
pub use talk::{conversation, model_reply, question, reading};

/// The rules of all engines here. Compiling them takes longer than most cases.
fn rules() -> Arc<RuleExtractor> {
    static RULES: LazyLock<Arc<RuleExtractor>> = LazyLock::new(|| Arc::new(RuleExtractor::english()));
    RULES.clone()
}
