//! Fields of a form or of a query string, by name.

use form_urlencoded::{byte_serialize, parse};

/// Names and values, in the order received.
#[derive(Debug, Default)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    pub(super) fn read(text: &[u8]) -> Self {
        Self(parse(text).map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// Names and values that were parsed already.
    pub(super) fn of(all: Vec<(String, String)>) -> Self {
        Self(all)
    }

    /// The first value of a name, trimmed; `None` if it is empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name)?;
        Some(found.1.trim()).filter(|value| !value.is_empty())
    }

    /// Every value of a name.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.trim()).filter(|v| !v.is_empty())
    }
}

/// Percent-encodes a text for a query string.
pub(super) fn encoded(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect()
}
