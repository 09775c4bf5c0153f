//! Walks through the conversations of a LoCoMo file without holding more than one.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, Read};
use std::marker::PhantomData;

use quipu_core::limit::IMPORT_FILE_BYTES_MAX;
use serde::Deserializer as _;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Error as _, MapAccess, SeqAccess, Visitor};

use crate::import::fault::{Fault, Stop};

const EXPECTED: &str = "a LoCoMo file is an array of objects, each with a \"conversation\" object that holds \
                        \"session_1\", \"session_1_date_time\" and so on";

/// What is done with each sample; the number counts from 1.
type Each<'a, T> = &'a mut dyn FnMut(usize, T) -> Result<(), Stop>;

/// Calls `each` for every element of the top-level array, or for the one top-level object.
///
/// An element is held whole and may have `IMPORT_FILE_BYTES_MAX` bytes; `start` is how many bytes were read before.
///
/// # Errors
/// `each` failed, or the input is empty, cut, not JSON or not an array of such objects.
pub(super) fn each<T: DeserializeOwned>(input: &mut dyn BufRead, start: u64, each: Each<'_, T>) -> Result<(), Stop> {
    let progress = Progress { bytes: Cell::new(start), element_start: Cell::new(start), words: Cell::new(false) };
    let mut numbered = 0;
    let mut stop = None;
    let mut json = serde_json::Deserializer::from_reader(Counted { input, progress: &progress });
    let walk = Walk { each, numbered: &mut numbered, stop: &mut stop, progress: &progress, element: PhantomData };
    let outcome = json.deserialize_any(walk).and_then(|()| json.end());
    let Err(error) = outcome else { return Ok(()) };
    if let Some(stop) = stop {
        return Err(stop);
    }
    if !progress.words.get() && error.is_eof() {
        return Err(Fault::Nothing("the input is empty".to_owned()).into());
    }
    Err(fault(&error, numbered, progress.bytes.get()).into())
}

fn fault(error: &serde_json::Error, read: usize, bytes: u64) -> Fault {
    let place = format!("conversation {}, byte {bytes}", read + 1);
    if let Some(kind) = error.io_error_kind() {
        let reason = error.to_string();
        return match kind {
            io::ErrorKind::FileTooLarge => Fault::invalid(place, reason),
            kind => Fault::unreadable(place, io::Error::new(kind, reason)),
        };
    }
    let line = error.line();
    if error.is_eof() {
        return Fault::invalid(place, format!("the input breaks off in line {line}, in the middle of its JSON"));
    }
    let hint = if error.is_data() { EXPECTED } else { "a LoCoMo file is JSON in UTF-8" };
    Fault::invalid(place, format!("{error}; {hint}"))
}

/// How far reading came.
struct Progress {
    bytes: Cell<u64>,
    element_start: Cell<u64>,
    /// True once something other than white space was read.
    words: Cell<bool>,
}

struct Counted<'a> {
    input: &'a mut dyn BufRead,
    progress: &'a Progress,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Progress { bytes, element_start, words } = self.progress;
        if bytes.get() - element_start.get() > IMPORT_FILE_BYTES_MAX {
            let reason = format!("one conversation is larger than {} MiB; split it", IMPORT_FILE_BYTES_MAX >> 20);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
        }
        let read = self.input.read(buffer)?;
        bytes.set(bytes.get() + read as u64);
        if !words.get() {
            words.set(buffer[..read].iter().any(|byte| !byte.is_ascii_whitespace()));
        }
        Ok(read)
    }
}

struct Walk<'a, 'b, T> {
    each: Each<'b, T>,
    numbered: &'a mut usize,
    stop: &'a mut Option<Stop>,
    progress: &'a Progress,
    element: PhantomData<T>,
}

impl<T> Walk<'_, '_, T> {
    fn hand_on<E: serde::de::Error>(&mut self, element: T) -> Result<(), E> {
        *self.numbered += 1;
        self.progress.element_start.set(self.progress.bytes.get());
        (self.each)(*self.numbered, element).map_err(|stop| {
            *self.stop = Some(stop);
            E::custom("stopped")
        })
    }
}

impl<'de, T: DeserializeOwned> Visitor<'de> for Walk<'_, '_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of conversations or one conversation")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<(), A::Error> {
        while let Some(element) = elements.next_element::<T>()? {
            self.hand_on(element)?;
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, entries: A) -> Result<(), A::Error> {
        let element = T::deserialize(MapAccessDeserializer::new(entries)).map_err(A::Error::custom)?;
        self.hand_on(element)
    }
}
