//! Sources: what was said or imported, verbatim. Everything else is derived from them.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::Offset;
use serde::{Deserialize, Serialize};

use crate::calendar;
use crate::event::Trust;
use crate::id::{ItemId, ItemKind, check_name};
use crate::limit;
use crate::refusal::Refusal;

/// `native_id` of sources with ready-made items.
pub const READY_MADE: &str = "write";

/// Kind of the artifact that holds the UTC offset of the speaker's clock.
const UTC_OFFSET: &str = "utc_offset";

/// Role of a speaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A person.
    User,
    /// The assistant or agent.
    Assistant,
    /// Instructions for the conversation.
    System,
    /// Output of a tool.
    Tool,
}

impl Role {
    /// Greatest trust of text in this role, whoever delivered it.
    pub fn trust_max(self) -> Trust {
        match self {
            Self::User => Trust::User,
            Self::Assistant | Self::System => Trust::Agent,
            Self::Tool => Trust::Tool,
        }
    }

    /// The role as text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
            Self::Tool => "tool",
        }
    }
}

/// An artifact of a source: an image's caption, a code block, an attached file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Artifact {
    /// Its kind: `image`, `code`, `file`.
    pub kind: String,
    /// Its location or name, if known.
    pub name: Option<String>,
    /// Its text: the code, the caption.
    pub text: String,
}

impl Artifact {
    /// The UTC offset of the clock on which a source was said; its name is `+02:00`, its text is empty.
    #[must_use]
    pub fn of_utc_offset(offset: Offset) -> Self {
        Self { kind: UTC_OFFSET.to_owned(), name: Some(calendar::offset_text(offset)), text: String::new() }
    }

    /// True if it holds a UTC offset: it says something of the time, and is nothing that was attached.
    pub fn is_utc_offset(&self) -> bool {
        self.kind == UTC_OFFSET
    }

    /// The UTC offset it holds, if it is such an artifact.
    pub fn utc_offset(&self) -> Option<Offset> {
        self.name.as_deref().filter(|_| self.is_utc_offset()).and_then(calendar::offset_of)
    }
}

/// One source, verbatim. The derived serialisation is for snapshots, not for the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Its id, which includes the kind.
    pub id: ItemId,
    /// The session or file.
    pub session: Option<Arc<str>>,
    /// The topic, if given.
    pub topic: Option<Arc<str>>,
    /// Role of the speaker.
    pub role: Role,
    /// Name of the speaker.
    pub author: Option<Arc<str>>,
    /// When it was said. Unknown stays unknown.
    #[serde(with = "crate::calendar::micros")]
    pub said_at: Option<Timestamp>,
    /// The text.
    pub text: Box<str>,
    /// The artifacts.
    pub artifacts: Vec<Artifact>,
    /// Its id in the system it was imported from.
    pub native_id: Option<Box<str>>,
}

impl Source {
    /// Its kind.
    pub fn kind(&self) -> ItemKind {
        self.id.kind
    }

    /// The speaker: the name, or else the role.
    pub fn speaker(&self) -> &str {
        self.author.as_deref().unwrap_or_else(|| self.role.as_str())
    }

    /// True for a page of ready-made items, or of an edit by hand. The items are what it says; its lines are only their
    /// evidence.
    pub fn is_ready_made(&self) -> bool {
        self.native_id.as_deref() == Some(READY_MADE)
    }

    /// True if recall can return it.
    pub fn is_item(&self) -> bool {
        self.kind() != ItemKind::Import
    }

    /// The text for search, followed by the artifacts it does not already contain.
    pub fn searchable(&self) -> String {
        let mut all = self.text.to_string();
        for artifact in self.artifacts.iter().filter(|artifact| !self.text.contains(&artifact.text)) {
            all.push('\n');
            all.push_str(&artifact.text);
        }
        all
    }

    /// The UTC offset of the speaker's clock, if known.
    pub fn utc_offset(&self) -> Option<Offset> {
        self.artifacts.iter().find_map(Artifact::utc_offset)
    }

    /// What the speaker's clock showed when it was said, written as if it were UTC, as named days are stored.
    /// "Tomorrow" is the day after this one. Without a known offset the same as `said_at`.
    pub fn local_time(&self) -> Option<Timestamp> {
        let said_at = self.said_at?;
        Some(self.utc_offset().map_or(said_at, |offset| calendar::local(said_at, offset)))
    }

    /// BLAKE3 hash of the content, speaker and time, without the id: equal sources have equal hashes. The UTC offset is
    /// left out: the same words at the same moment are the same.
    pub fn content_hash(&self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_derive_key("quipu source content v1");
        let mut field = |bytes: Option<&[u8]>| {
            let length = bytes.map_or(u64::MAX, |b| b.len() as u64);
            hasher.update(&length.to_le_bytes());
            hasher.update(bytes.unwrap_or_default());
        };
        field(Some(self.kind().as_str().as_bytes()));
        field(self.session.as_deref().map(str::as_bytes));
        field(self.topic.as_deref().map(str::as_bytes));
        field(Some(self.role.as_str().as_bytes()));
        field(self.author.as_deref().map(str::as_bytes));
        field(self.said_at.map(|t| t.as_microsecond().to_le_bytes()).as_ref().map(<[u8; 8]>::as_slice));
        field(Some(self.text.as_bytes()));
        for artifact in self.artifacts.iter().filter(|artifact| !artifact.is_utc_offset()) {
            field(Some(artifact.kind.as_bytes()));
            field(artifact.name.as_deref().map(str::as_bytes));
            field(Some(artifact.text.as_bytes()));
        }
        field(self.native_id.as_deref().map(str::as_bytes));
        hasher.finalize()
    }

    /// The id derived from the content, so that a repeated import gives the same id.
    pub fn content_id(&self) -> ItemId {
        let hash = self.content_hash();
        let mut bits = [0u8; 8];
        bits.copy_from_slice(&hash.as_bytes()[..8]);
        ItemId { kind: self.kind(), bits: u64::from_le_bytes(bits) }
    }

    /// Checks limits and characters before the source may enter a ledger.
    ///
    /// # Errors
    /// `Invalid` with the reason.
    pub fn check(&self) -> Result<(), Refusal> {
        check_text("the text", &self.text)?;
        if self.text.trim().is_empty() && self.artifacts.iter().all(Artifact::is_utc_offset) {
            return Err(Refusal::invalid("the text is empty"));
        }
        if self.artifacts.len() > limit::ARTIFACTS_MAX {
            return Err(Refusal::invalid(format!("at most {} artifacts go with one text", limit::ARTIFACTS_MAX)));
        }
        for artifact in &self.artifacts {
            check_name("an artifact's kind", &artifact.kind)?;
            check_text("an artifact", &artifact.text)?;
            if let Some(name) = &artifact.name {
                check_text("an artifact's name", name)?;
            }
        }
        for (field, value) in [("session", &self.session), ("topic", &self.topic), ("author", &self.author)] {
            if let Some(value) = value {
                check_name(field, value)?;
            }
        }
        match &self.native_id {
            Some(native) if native.len() > limit::NOTE_BYTES_MAX || native.contains('\0') => {
                Err(Refusal::invalid("the imported id is too long or contains U+0000"))
            }
            _ => Ok(()),
        }
    }
}

fn check_text(what: &str, text: &str) -> Result<(), Refusal> {
    if text.len() > limit::SOURCE_BYTES_MAX {
        let bound = limit::SOURCE_BYTES_MAX;
        return Err(Refusal::invalid(format!("{what} has {} bytes, at most {bound} are kept; split it", text.len())));
    }
    match text.find('\0') {
        Some(at) => Err(Refusal::invalid(format!("{what} contains the character U+0000 at byte {at}; remove it"))),
        None => Ok(()),
    }
}
