//! Long-term memory for assistants and agents, embedded in a Rust program: one folder, no account, no network.
//!
//! ```
//! # fn main() -> quipu::Result<()> {
//! # let folder = tempfile::tempdir().expect("a temporary folder");
//! # let folder = folder.path();
//! let memory = quipu::Memory::open(folder)?;
//! memory.remember("I moved to Porto in May.")?;
//! let found = memory.recall("Where do I live?")?;
//! assert!(found.hits[0].text.contains("Porto"));
//! println!("{}", memory.context("Suggest something for the weekend.")?.text); // a block for a model's prompt
//! # Ok(())
//! # }
//! ```
//!
//! [`Memory`] covers the common operations. All others are functions of [`engine`] that take [`Memory::engine`] and
//! [`Memory::user`]: tasks, sessions, the core document, review, history, import, export, backup.
//! Programs with their own store, embedding model, clock or reader implement the traits in [`ports`] and pass them in
//! [`OpenOptions`], or build an [`Engine`](engine::Engine) themselves.
//!
//! All calls block. They append to the ledger before they return, and can be made from several threads and processes at
//! once.

pub mod system;

mod memory;
mod options;

/// The data types of arguments and results, such as items, facts and events.
pub use quipu_core as core;
/// The operations of the engine, including those without a method of [`Memory`].
pub use quipu_engine as engine;
/// The traits that stores, models, clocks and readers implement.
pub use quipu_engine::ports;

pub use memory::Memory;
pub use options::{Components, OpenOptions, open_engine, open_engine_on};
pub use quipu_core::pack::Pack;
pub use quipu_engine::erase::{EraseTarget, ErasureReceipt};
pub use quipu_engine::{
    Answer, ContextOptions, Error, FactOptions, FactShown, ItemReceipts, RecallOptions, RecallReport, Receipt, Result,
    Utterance,
};
