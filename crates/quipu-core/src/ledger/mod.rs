//! The ledger: seals events into bytes, reads them back, and verifies their integrity.

mod bundle;
mod exchange;
mod seal;
mod sealed;
mod stored;
mod verify;

pub use bundle::{Seal, Signed, is_bundle, read_bundle, write_bundle};
pub use exchange::{read_line, write_line};
pub use seal::{Position, answers, check_draft, open, open_change, open_header, seal};
pub use sealed::{Salt, SealedChange, SealedEvent};
pub use stored::{FORMAT, FormatError};
pub use verify::{Damage, ErasedChange, Pin, PinOutcome, Verification, Verifier, is_intact};
