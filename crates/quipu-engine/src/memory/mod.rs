//! The open memory: how a user's ledger becomes what readers see, how a decision becomes durable, and how several processes
//! on one folder follow each other.
//!
//! The order of locks is written in [`crate::lock`]; builds with debug assertions check it.

mod absent;
mod catalog;
pub(crate) mod checkpoint;
pub(crate) mod commit;
pub(crate) mod cursor;
pub(crate) mod fold;
pub(crate) mod index;
pub(crate) mod lease;
mod open;
pub(crate) mod precondition;
mod progress;
pub(crate) mod scan;
mod state;
mod watched;

pub(crate) use absent::AbsentLedger;
pub use catalog::OpenLimits;
pub(crate) use catalog::{Catalog, Totals};
pub use commit::Receipt;
pub(crate) use open::{Followed, OpenMemory, SharedMemory};
pub use precondition::MemoryRef;
pub use progress::{Progress, Watch};
pub(crate) use state::{State, Writer};
