//! The open memory: folds a user's ledger into the state readers see, commits decisions, and follows other processes.
//!
//! The order of locks is defined in [`crate::lock`]; builds with debug assertions check it.

mod absent;
mod catalog;
pub(crate) mod checkpoint;
pub(crate) mod commit;
pub(crate) mod cursor;
pub(crate) mod entry_point;
pub(crate) mod fold;
mod freshness;
pub(crate) mod index;
pub(crate) mod lease;
mod lease_keeper;
mod open;
pub(crate) mod precondition;
mod progress;
pub(crate) mod scan;
mod shown_texts;
mod state;
mod watched;

pub(crate) use absent::AbsentLedger;
pub use catalog::OpenLimits;
pub(crate) use catalog::{Catalog, Totals};
pub use commit::Receipt;
pub use freshness::Freshness;
pub(crate) use lease_keeper::LeaseKeeper;
pub(crate) use open::{Followed, OpenMemory, SharedMemory};
pub use precondition::MemoryRef;
pub(crate) use progress::GoOn;
pub use progress::{Progress, Watch};
pub(crate) use state::{State, Writer};
