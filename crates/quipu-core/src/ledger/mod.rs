//! The ledger: sealing events into bytes, reading them back, and proving that nothing was changed.

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
