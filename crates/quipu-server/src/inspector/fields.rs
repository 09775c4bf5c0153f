//! What a form or the end of an address says, by name.

use form_urlencoded::{byte_serialize, parse};

/// Names and values, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    pub(super) fn read(text: &[u8]) -> Self {
        Self(parse(text).map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// The first value of a name, without blanks around it; none if there is nothing in it.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name)?;
        Some(found.1.trim()).filter(|value| !value.is_empty())
    }

    /// Every value of a name.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.trim()).filter(|v| !v.is_empty())
    }
}

/// A text as it stands in the query of an address.
pub(super) fn encoded(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect()
}
