//! Identifiers: users, items, events and positions.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::limit;
use crate::refusal::Refusal;

/// Position of an event in its user's ledger: 1, 2, 3 … without gaps. 0 is the empty ledger.
pub type Seq = u64;

/// Globally unique id of an event: a UUIDv7.
pub type EventId = uuid::Uuid;

/// Id of a user.
///
/// 1 to 128 ASCII letters, digits and `- _ . @ : +`, starting with a letter or digit, so that it is safe in a log line,
/// a header and a shell command. It is never used as a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct UserId(Arc<str>);

impl UserId {
    /// Parses an id.
    ///
    /// # Errors
    /// `Invalid` names the violated rule.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        if text.is_empty() || text.len() > limit::NAME_BYTES_MAX {
            let bound = limit::NAME_BYTES_MAX;
            return Err(Refusal::invalid(format!("a user id has 1 to {bound} characters, this has {}", text.len())));
        }
        let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.@:+".contains(c);
        if let Some(bad) = text.chars().find(|&c| !allowed(c)) {
            return Err(Refusal::invalid(format!(
                "a user id has ASCII letters, digits and - _ . @ : + only; {:?} is not allowed",
                bad
            )));
        }
        if !text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            return Err(Refusal::invalid("a user id starts with a letter or digit"));
        }
        Ok(Self(text.into()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for UserId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for UserId {
    type Error = Refusal;
    fn try_from(text: String) -> Result<Self, Refusal> {
        Self::parse(&text)
    }
}

impl From<UserId> for String {
    fn from(id: UserId) -> Self {
        id.0.as_ref().to_owned()
    }
}

/// Kind of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    /// One utterance of a conversation.
    Turn,
    /// A journal-like entry under a topic.
    Entry,
    /// A piece of a longer text.
    Document,
    /// The record of an import.
    Import,
    /// An atomic claim.
    Fact,
    /// A stretch of turns with a summary.
    Episode,
    /// A task, a goal or a problem.
    Task,
    /// A reflective note or insight.
    Note,
    /// A tenet.
    Tenet,
    /// A review.
    Review,
    /// An entry of a session's base truth.
    Truth,
}

impl ItemKind {
    /// Every kind, in declaration order.
    pub const ALL: [Self; 11] = [
        Self::Turn,
        Self::Entry,
        Self::Document,
        Self::Import,
        Self::Fact,
        Self::Episode,
        Self::Task,
        Self::Note,
        Self::Tenet,
        Self::Review,
        Self::Truth,
    ];

    /// True for sources; other kinds are derived from them.
    pub fn is_source(self) -> bool {
        matches!(self, Self::Turn | Self::Entry | Self::Document | Self::Import)
    }

    /// The prefix of an item id.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Entry => "entry",
            Self::Document => "doc",
            Self::Import => "import",
            Self::Fact => "fact",
            Self::Episode => "ep",
            Self::Task => "task",
            Self::Note => "note",
            Self::Tenet => "tenet",
            Self::Review => "review",
            Self::Truth => "truth",
        }
    }
}

/// Id of an item within one user's memory, displayed as `turn_0r5k2m9c4t7wz`.
///
/// The suffix is 64 bits in Crockford's base 32: random for messages, a hash of the content for imports, so that a
/// repeated import gives the same ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemId {
    /// The kind of item.
    pub kind: ItemKind,
    /// The 64 bits after the underscore.
    pub bits: u64,
}

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const DIGITS: usize = 13;

impl fmt::Display for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits = [0u8; DIGITS];
        let mut rest = self.bits;
        for digit in digits.iter_mut().rev() {
            *digit = ALPHABET[(rest & 31) as usize];
            rest >>= 5;
        }
        write!(f, "{}_", self.kind.as_str())?;
        digits.iter().try_for_each(|&digit| fmt::Write::write_char(f, char::from(digit)))
    }
}

impl FromStr for ItemId {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let wrong = || Refusal::invalid(format!("{:?} is not an item id; one looks like turn_0r5k2m9c4t7wz", text));
        let (word, tail) = text.split_once('_').ok_or_else(wrong)?;
        let kind = ItemKind::ALL.into_iter().find(|kind| kind.as_str() == word).ok_or_else(wrong)?;
        if tail.len() != DIGITS {
            return Err(wrong());
        }
        let mut bits: u64 = 0;
        for byte in tail.bytes() {
            let digit = ALPHABET.iter().position(|&letter| letter == byte).ok_or_else(wrong)? as u64;
            bits = bits.checked_mul(32).and_then(|b| b.checked_add(digit)).ok_or_else(wrong)?;
        }
        Ok(Self { kind, bits })
    }
}

impl Serialize for ItemId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            (self.kind, self.bits).serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for ItemId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
            text.parse().map_err(de::Error::custom)
        } else {
            let (kind, bits) = Deserialize::deserialize(deserializer)?;
            Ok(Self { kind, bits })
        }
    }
}

/// Checks a caller's name for a session, author or topic: not empty, bounded, without control characters.
///
/// # Errors
/// `Invalid` names the field and the rule.
pub fn check_name(field: &str, text: &str) -> Result<(), Refusal> {
    if text.trim().is_empty() || text.len() > limit::NAME_BYTES_MAX {
        let bound = limit::NAME_BYTES_MAX;
        return Err(Refusal::invalid(format!("{field} has 1 to {bound} bytes, this has {}", text.len())));
    }
    if let Some(bad) = text.chars().find(|c| c.is_control()) {
        return Err(Refusal::invalid(format!("{field} may not contain the control character {:?}", bad)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn item_ids_read_back_as_written() {
        for bits in [0, 1, 31, 32, u64::MAX, 0x0123_4567_89ab_cdef] {
            for kind in ItemKind::ALL {
                let id = ItemId { kind, bits };
                assert_eq!(id.to_string().parse::<ItemId>(), Ok(id));
            }
        }
    }

    #[test]
    fn wrong_item_ids_are_refused() {
        for text in [
            "",
            "turn",
            "turn_",
            "turn_0",
            "fish_0000000000000",
            "turn_000000000000u",
            "turn_zzzzzzzzzzzzz",
            "TURN_0000000000000",
        ] {
            assert!(text.parse::<ItemId>().is_err(), "{text:?} was taken");
        }
    }

    #[test]
    fn user_ids_are_plain_ascii() {
        for good in ["me", "alice@example.com", "conv-26", "a:b+c_d.e", "7"] {
            assert!(UserId::parse(good).is_ok(), "{good:?} was refused");
        }
        let long = "a".repeat(129);
        for bad in ["", "../x", "-rf", ".git", "a b", "аdmin", "a\0", "a/b", "a\\b", "a\u{202e}b", long.as_str()] {
            assert!(UserId::parse(bad).is_err(), "{bad:?} was taken");
        }
    }
}
