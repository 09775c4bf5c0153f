//! What was said or imported, verbatim: the lowest layer, from which everything else is drawn.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::event::Trust;
use crate::id::{ItemId, ItemKind, check_name};
use crate::limit;
use crate::refusal::Refusal;

/// Who spoke, in the model's sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A person.
    User,
    /// The assistant or agent.
    Assistant,
    /// Instructions around the conversation.
    System,
    /// What a tool answered.
    Tool,
}

impl Role {
    /// How far words in this role may reach at most, whoever delivered them.
    pub fn trust_max(self) -> Trust {
        match self {
            Self::User => Trust::User,
            Self::Assistant | Self::System => Trust::Agent,
            Self::Tool => Trust::Tool,
        }
    }

    /// The role as one word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
            Self::Tool => "tool",
        }
    }
}

/// Something that came with a text: an image's caption, a block of code, an attached file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Artifact {
    /// What it is: `image`, `code`, `file`.
    pub kind: String,
    /// Where it is or what it is called, if known.
    pub name: Option<String>,
    /// Its text: the code, the caption.
    pub text: String,
}

/// One source, verbatim. The derived serialisation is the snapshot's, never the ledger's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Its name; the kind is part of it.
    pub id: ItemId,
    /// The conversation or file it belongs to.
    pub session: Option<Arc<str>>,
    /// What it is about, when someone said so.
    pub topic: Option<Arc<str>>,
    /// Who spoke, in the model's sense.
    pub role: Role,
    /// Who spoke, by name.
    pub author: Option<Arc<str>>,
    /// When it was said. Unknown stays unknown.
    #[serde(with = "crate::time::micros")]
    pub said_at: Option<Timestamp>,
    /// The words.
    pub text: Box<str>,
    /// What came with them.
    pub artifacts: Vec<Artifact>,
    /// Its name in the system it was imported from.
    pub native_id: Option<Box<str>>,
}

impl Source {
    /// What kind of source it is.
    pub fn kind(&self) -> ItemKind {
        self.id.kind
    }

    /// Who spoke: the name, else the role.
    pub fn speaker(&self) -> &str {
        self.author.as_deref().unwrap_or_else(|| self.role.as_str())
    }

    /// True for what recall can return.
    pub fn is_item(&self) -> bool {
        self.kind() != ItemKind::Import
    }

    /// What a search sees: the words, then the captions and contents of what came with them and does not stand in
    /// them already.
    pub fn searchable(&self) -> String {
        let mut all = self.text.to_string();
        for artifact in self.artifacts.iter().filter(|artifact| !self.text.contains(&artifact.text)) {
            all.push('\n');
            all.push_str(&artifact.text);
        }
        all
    }

    /// BLAKE3 of everything that was said, by whom and when, without the id: equal sources have equal hashes.
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
        for artifact in &self.artifacts {
            field(Some(artifact.kind.as_bytes()));
            field(artifact.name.as_deref().map(str::as_bytes));
            field(Some(artifact.text.as_bytes()));
        }
        field(self.native_id.as_deref().map(str::as_bytes));
        hasher.finalize()
    }

    /// The id that follows from the content: importing the same thing again meets it.
    pub fn content_id(&self) -> ItemId {
        let hash = self.content_hash();
        let mut bits = [0u8; 8];
        bits.copy_from_slice(&hash.as_bytes()[..8]);
        ItemId { kind: self.kind(), bits: u64::from_le_bytes(bits) }
    }

    /// Checks bounds and characters before the source may enter a ledger.
    ///
    /// # Errors
    /// `Invalid` says what is wrong with it.
    pub fn check(&self) -> Result<(), Refusal> {
        check_text("the text", &self.text)?;
        if self.text.trim().is_empty() && self.artifacts.is_empty() {
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
