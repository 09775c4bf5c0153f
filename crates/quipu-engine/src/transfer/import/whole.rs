//! Reads a file as a whole.

use std::io::{BufRead, Read};

use quipu_core::limit::IMPORT_FILE_BYTES_MAX;

use super::fault::Fault;

/// Reads the whole input as text. `start` is the number of bytes read before, for messages.
///
/// # Errors
/// The input cannot be read, is larger than `IMPORT_FILE_BYTES_MAX` bytes, or is not UTF-8.
pub(super) fn read(input: &mut dyn BufRead, start: u64) -> Result<String, Fault> {
    let mut bytes = Vec::new();
    if let Err(source) = input.take(IMPORT_FILE_BYTES_MAX + 1).read_to_end(&mut bytes) {
        return Err(Fault::unreadable(format!("byte {}", start + bytes.len() as u64), source));
    }
    if bytes.len() as u64 > IMPORT_FILE_BYTES_MAX {
        let reason = format!("it is larger than {} MiB; split it", IMPORT_FILE_BYTES_MAX >> 20);
        return Err(Fault::invalid("the file", reason));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = start + error.utf8_error().valid_up_to() as u64;
        let reason = "it is not UTF-8 here; convert the file to UTF-8".to_owned();
        Fault::invalid(format!("byte {at}"), reason)
    })
}
