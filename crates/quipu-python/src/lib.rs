//! The extension module of the Python package `quipu-memory-embedded`: a memory in the process of a Python program.
//!
//! Results are converted to dictionaries and lists with the field names of the JSON that the command line prints. Calls
//! release the interpreter's lock while they work, so that other threads of the program go on.

mod errors;
mod memory;

use pyo3::prelude::*;

/// The compiled part of the package `quipu_embedded`, which re-exports it.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::memory::Memory;

    #[pymodule_export]
    use super::errors::{Conflict, Corrupt, Invalid, NotFound, QuipuError, Refused, Stale, Unavailable};
}
