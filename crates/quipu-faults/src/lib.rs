//! Records and fails the system calls by which a process changes files, and models what a power failure leaves of them.
//!
//! For tests only, on Linux. A test binary that uses this crate contains functions with the names of the C library's
//! (`write`, `fsync`, `rename` …). The linker prefers them, so SQLite, the standard library and rustix call them without
//! a change in any of these. Outside of a [`Recording`], and for files outside of its folder, they only pass the call on.
//!
//! - [`Recording`] records the calls below one folder, and fails those that a [`Plan`] names.
//! - [`Disk`] replays recorded calls up to a cut and makes [`Image`]s: everything that a sync has ordered, and any part
//!   of the rest.
//!
//! The model of the disk: a sector of 512 bytes is written wholly or not at all; a rename, a creation and a removal of a
//! name are atomic; what a successful sync covers is on the medium. A disk that lies about a sync is not modelled.

#[cfg(target_os = "linux")]
mod calls;
mod disk;
#[cfg(target_os = "linux")]
mod recorder;
mod step;

pub use disk::{Choose, Disk, Image, Rules, Style};
#[cfg(target_os = "linux")]
pub use recorder::{CallFault, CallSeen, Plan, Recording};
pub use step::{CallKind, FileId, Step};
