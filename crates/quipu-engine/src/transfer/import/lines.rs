//! Reads a line-based input, holding one line at a time.

use std::io::{BufRead, Read};

use quipu_core::limit::IMPORT_LINE_BYTES_MAX;

use super::fault::Fault;

/// The lines of an input, counted from 1.
pub(super) struct Lines<'a> {
    input: &'a mut dyn BufRead,
    number: u64,
    line: Vec<u8>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(input: &'a mut dyn BufRead) -> Self {
        Self { input, number: 0, line: Vec::new() }
    }

    /// The next line without its end, and its number; `None` after the last one.
    ///
    /// # Errors
    /// The input cannot be read, the line is longer than `IMPORT_LINE_BYTES_MAX` bytes, or it is not UTF-8.
    pub(super) fn next(&mut self) -> Result<Option<(u64, &str)>, Fault> {
        self.line.clear();
        self.number += 1;
        let place = format!("line {}", self.number);
        let bound = IMPORT_LINE_BYTES_MAX as u64 + 1;
        let read = (&mut *self.input).take(bound).read_until(b'\n', &mut self.line);
        match read {
            Err(source) => return Err(Fault::unreadable(place, source)),
            Ok(0) => return Ok(None),
            Ok(_) => {}
        }
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > IMPORT_LINE_BYTES_MAX {
            let reason = format!("it is longer than {} MiB; split the conversation", IMPORT_LINE_BYTES_MAX >> 20);
            return Err(Fault::invalid(place, reason));
        }
        match std::str::from_utf8(line) {
            Ok(line) => Ok(Some((self.number, line))),
            Err(error) => {
                let at = error.valid_up_to();
                let reason = format!("it is not UTF-8 at byte {at} of the line; convert the file to UTF-8");
                Err(Fault::invalid(place, reason))
            }
        }
    }
}
