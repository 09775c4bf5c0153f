//! Reads a large JSON input, holding one element at a time.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::io::{self, BufRead, Read};
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserializer, de};

use super::fault::{Fault, ParseStop};

/// The expected form of the input.
pub(super) struct Shape {
    /// Name of the file in messages: `a LoCoMo file`.
    pub(super) file: &'static str,
    /// Name of an element: `conversation`.
    pub(super) element: &'static str,
    /// Plural of it: `conversations`.
    pub(super) elements: &'static str,
    /// Description of the expected form, for messages.
    pub(super) expected: &'static str,
    /// Keys of a top-level object that contain the elements. If empty, a top-level object is one element.
    pub(super) lists: &'static [&'static str],
    /// Largest element, in bytes.
    pub(super) bytes_max: u64,
}

/// Called with each element and its number from 1.
type Each<'a, T> = &'a mut dyn FnMut(usize, T) -> Result<(), ParseStop>;

/// Calls `each` for every element of the top-level array, of a list in the top-level object, or for the one top-level
/// object.
///
/// One element is held at a time; `start` is the number of bytes read before.
///
/// # Errors
/// `each` failed, or the input is empty, truncated, not JSON, nested too deeply or of another form.
pub(super) fn elements<T: DeserializeOwned>(
    input: &mut dyn BufRead,
    start: u64,
    shape: &Shape,
    each: Each<'_, T>,
) -> Result<(), ParseStop> {
    let walked = Walked::new(start);
    walk(input, shape, &walked, Elements { each, walked: &walked, shape, top: true, element: PhantomData })
}

/// Reads the input with a visitor, which records in `walked` the ends of elements and why it stopped.
///
/// # Errors
/// As [`elements`].
pub(super) fn walk<V>(input: &mut dyn BufRead, shape: &Shape, walked: &Walked, visitor: V) -> Result<(), ParseStop>
where
    V: for<'de> Visitor<'de, Value = ()>,
{
    let mut json = serde_json::Deserializer::from_reader(Counted { input, walked, shape });
    let outcome = json.deserialize_any(visitor).and_then(|()| json.end());
    let Err(error) = outcome else { return Ok(()) };
    if let Some(stop) = walked.stop.take() {
        return Err(stop);
    }
    if !walked.words.get() && error.is_eof() {
        return Err(Fault::Nothing("the input is empty".to_owned()).into());
    }
    Err(fault(&error, shape, walked).into())
}

fn fault(error: &serde_json::Error, shape: &Shape, walked: &Walked) -> Fault {
    let place = format!("{} {}, byte {}", shape.element, walked.numbered.get() + 1, walked.bytes.get());
    if let Some(kind) = error.io_error_kind() {
        let reason = error.to_string();
        return match kind {
            io::ErrorKind::FileTooLarge | io::ErrorKind::InvalidData => Fault::invalid(place, reason),
            kind => Fault::unreadable(place, io::Error::new(kind, reason)),
        };
    }
    let line = error.line();
    if error.is_eof() {
        return Fault::invalid(place, format!("the input breaks off in line {line}, in the middle of its JSON"));
    }
    if error.is_data() {
        return Fault::invalid(place, format!("{error}; {}", shape.expected));
    }
    if error.to_string().starts_with("recursion limit exceeded") {
        return Fault::invalid(place, format!("it is nested far deeper than {} ever is", shape.file));
    }
    Fault::invalid(place, format!("{error}; {} is JSON in UTF-8", shape.file))
}

/// The position of reading, and why it stopped.
pub(super) struct Walked {
    bytes: Cell<u64>,
    element_start: Cell<u64>,
    /// Number of elements read completely.
    numbered: Cell<usize>,
    /// True once something other than white space was read.
    words: Cell<bool>,
    stop: RefCell<Option<ParseStop>>,
}

impl Walked {
    pub(super) fn new(start: u64) -> Self {
        Self {
            bytes: Cell::new(start),
            element_start: Cell::new(start),
            numbered: Cell::new(0),
            words: Cell::new(false),
            stop: RefCell::new(None),
        }
    }

    /// Called after each element. Returns its number, from 1.
    pub(super) fn element(&self) -> usize {
        self.element_start.set(self.bytes.get());
        self.numbered.set(self.numbered.get() + 1);
        self.numbered.get()
    }

    /// Records the reason, and returns the error that stops the parser.
    pub(super) fn stop<E: de::Error>(&self, stop: ParseStop) -> E {
        *self.stop.borrow_mut() = Some(stop);
        E::custom("stopped")
    }
}

struct Counted<'a> {
    input: &'a mut dyn BufRead,
    walked: &'a Walked,
    shape: &'a Shape,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Walked { bytes, element_start, words, .. } = self.walked;
        let Shape { element, bytes_max, .. } = self.shape;
        if bytes.get() - element_start.get() > *bytes_max {
            let reason = format!("one {element} is larger than {} MiB; split it", bytes_max >> 20);
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

struct Elements<'a, 'b, T> {
    each: Each<'b, T>,
    walked: &'a Walked,
    shape: &'a Shape,
    /// True outside a list.
    top: bool,
    element: PhantomData<T>,
}

impl<T> Elements<'_, '_, T> {
    fn hand_on<E: de::Error>(&mut self, element: T) -> Result<(), E> {
        let number = self.walked.element();
        (self.each)(number, element).map_err(|stop| self.walked.stop(stop))
    }
}

impl<'de, T: DeserializeOwned> Visitor<'de> for Elements<'_, '_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { element, elements, .. } = self.shape;
        if self.top {
            write!(f, "an array of {elements} or one {element}")
        } else {
            write!(f, "an array of {elements}")
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<(), A::Error> {
        while let Some(element) = elements.next_element::<T>()? {
            self.hand_on(element)?;
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<(), A::Error> {
        if self.shape.lists.is_empty() {
            let element = T::deserialize(MapAccessDeserializer::new(entries)).map_err(A::Error::custom)?;
            return self.hand_on(element);
        }
        let mut found = false;
        while let Some(key) = entries.next_key::<String>()? {
            if self.shape.lists.contains(&key.as_str()) {
                found = true;
                let Self { walked, shape, .. } = self;
                entries.next_value_seed(Elements {
                    each: &mut *self.each,
                    walked,
                    shape,
                    top: false,
                    element: self.element,
                })?;
            } else {
                entries.next_value::<IgnoredAny>()?;
            }
        }
        if found { Ok(()) } else { Err(A::Error::custom("the list is missing")) }
    }
}

impl<'de, T: DeserializeOwned> DeserializeSeed<'de> for Elements<'_, '_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, list: D) -> Result<(), D::Error> {
        list.deserialize_seq(self)
    }
}
