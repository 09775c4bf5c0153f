//! Reads JSON in place: every value refers to its bytes in the text.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A value and its text.
#[derive(Debug, Clone, Copy)]
pub(super) struct JsonSpan<'a>(&'a str);

/// The members of an object, in order.
pub(super) struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> JsonSpan<'a> {
    /// Parses a whole text; `None` if it is not JSON.
    pub(super) fn whole(text: &'a str) -> Option<Self> {
        serde_json::from_str::<&RawValue>(text).ok().map(|raw| Self(raw.get()))
    }

    /// Offset of the value in the text it was read from.
    pub(super) fn start_in(self, text: &str) -> usize {
        self.0.as_ptr() as usize - text.as_ptr() as usize
    }

    /// The text of the value.
    pub(super) fn written(self) -> &'a str {
        self.0
    }

    /// The members of an object; `None` for other values and for an object with a duplicate key, whose meaning is
    /// ambiguous.
    pub(super) fn members(self) -> Option<Members<'a>> {
        if !self.0.starts_with('{') {
            return None;
        }
        serde_json::from_str(self.0).ok()
    }

    /// The elements of an array; `None` for other values.
    pub(super) fn elements(self) -> Option<Vec<Self>> {
        if !self.0.starts_with('[') {
            return None;
        }
        serde_json::from_str::<Elements<'a>>(self.0).ok().map(|found| found.0)
    }

    /// The text of a string; `None` for other values.
    pub(super) fn text(self) -> Option<String> {
        self.is_text().then(|| serde_json::from_str(self.0).ok()).flatten()
    }

    /// True for a string.
    pub(super) fn is_text(self) -> bool {
        self.0.starts_with('"')
    }

    /// True for an array.
    pub(super) fn is_list(self) -> bool {
        self.0.starts_with('[')
    }

    /// True for `null`.
    pub(super) fn is_null(self) -> bool {
        self.0 == "null"
    }
}

impl<'a> Members<'a> {
    /// A member by name.
    pub(super) fn get(&self, name: &str) -> Option<JsonSpan<'a>> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, raw)| JsonSpan(raw.get()))
    }

    /// The text of a member; `None` if it is missing, empty or not a string.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.get(name).and_then(JsonSpan::text).filter(|text| !text.is_empty())
    }

    /// The members of an object member.
    pub(super) fn within(&self, name: &str) -> Option<Members<'a>> {
        self.get(name).and_then(JsonSpan::members)
    }

    /// True if there are no members.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Vec<(Cow<'de, str>, &'de RawValue)>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object without duplicate keys")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut all: Self::Value = Vec::new();
                while let Some(key) = map.next_key::<Key<'de>>()? {
                    if all.iter().any(|(known, _)| *known == key.0) {
                        return Err(serde::de::Error::custom("duplicate key"));
                    }
                    all.push((key.0, map.next_value()?));
                }
                Ok(all)
            }
        }
        deserializer.deserialize_map(Each).map(Self)
    }
}

/// A key, borrowed if it has no escapes.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

struct Elements<'a>(Vec<JsonSpan<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Elements<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Vec<JsonSpan<'de>>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some(raw) = list.next_element::<&'de RawValue>()? {
                    all.push(JsonSpan(raw.get()));
                }
                Ok(all)
            }
        }
        deserializer.deserialize_seq(Each).map(Self)
    }
}
