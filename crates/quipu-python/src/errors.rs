//! Exceptions: one class for each variant of the engine's error.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use quipu::Error;

create_exception!(quipu_embedded, QuipuError, PyException, "Base class of all errors of a memory.");
create_exception!(quipu_embedded, Invalid, QuipuError, "An argument is not allowed. The message names it.");
create_exception!(quipu_embedded, NotFound, QuipuError, "There is no such user, item or version.");
create_exception!(
    quipu_embedded,
    Conflict,
    QuipuError,
    "Other writers were faster each time. Nothing was written; try again."
);
create_exception!(quipu_embedded, Stale, QuipuError, "The memory is not at the expected version. Read it again.");
create_exception!(quipu_embedded, Refused, QuipuError, "The rules of this memory forbid the operation.");
create_exception!(
    quipu_embedded,
    Unavailable,
    QuipuError,
    "Not possible at present: a lock, a full disk, a model that does not respond. The message says what to do."
);
create_exception!(quipu_embedded, Corrupt, QuipuError, "Stored data is damaged. `quipu doctor` says more.");

/// The exception for an error of the engine.
pub(crate) fn raised(error: Error) -> PyErr {
    match error {
        Error::Invalid(text) => Invalid::new_err(text),
        Error::Conflict(text) => Conflict::new_err(text),
        Error::Stale(text) => Stale::new_err(text),
        Error::NotFound(text) => NotFound::new_err(text),
        Error::Refused(text) => Refused::new_err(text),
        Error::Unavailable(text) => Unavailable::new_err(text),
        Error::Corrupt(text) => Corrupt::new_err(text),
        bug @ Error::Bug(_) => QuipuError::new_err(bug.to_string()),
    }
}
