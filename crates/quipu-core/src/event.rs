//! Events: one recorded step of a ledger with its author, time, origin, reason and changes.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core_document::Patch;
use crate::id::{EventId, ItemId, Seq, UserId};
use crate::item::DerivedChange;
use crate::source::Source;

/// A BLAKE3 hash: of an event, or the salted digest of a change.
pub type Hash = blake3::Hash;

/// `prev` of the first event.
pub const NO_HASH: Hash = Hash::from_bytes([0; 32]);

/// Who made a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// The user, or someone acting for them.
    User,
    /// An assistant or agent.
    Agent,
    /// Quipu itself.
    System,
}

/// Kind of origin. It alone determines the trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// The user said it.
    UserSaid,
    /// The user changed the memory by hand.
    UserEdited,
    /// The assistant said it.
    AssistantSaid,
    /// A tool returned it.
    ToolOutput,
    /// It was read in a document.
    Document,
    /// It was imported from elsewhere.
    Imported,
    /// It was read on a web page.
    Web,
    /// Quipu derived it.
    Inferred,
}

/// How far something may reach, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Anyone could have written it.
    Web,
    /// A tool, a document or an import.
    Tool,
    /// An assistant or agent.
    Agent,
    /// The user.
    User,
}

impl SourceKind {
    /// Share of such claims that are correct, 0 to 1, from experience.
    pub fn reliability(self) -> f64 {
        match self {
            Self::UserSaid | Self::UserEdited => 0.95,
            Self::ToolOutput => 0.94,
            Self::Document | Self::Imported => 0.8,
            Self::AssistantSaid | Self::Inferred => 0.7,
            Self::Web => 0.6,
        }
    }

    /// The trust of this kind. `Inferred` starts at the agent's; the engine lowers it to the least trust of its
    /// sources.
    pub fn trust(self) -> Trust {
        match self {
            Self::UserSaid | Self::UserEdited => Trust::User,
            Self::AssistantSaid | Self::Inferred => Trust::Agent,
            Self::ToolOutput | Self::Document | Self::Imported => Trust::Tool,
            Self::Web => Trust::Web,
        }
    }
}

/// Origin of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The kind that determines the trust.
    pub kind: SourceKind,
    /// The message, file or import; all events of one import share it.
    pub reference: Option<String>,
    /// The session.
    pub session: Option<String>,
    /// The author.
    pub author: Option<String>,
}

impl Origin {
    /// An origin with only a kind.
    pub fn of(kind: SourceKind) -> Self {
        Self { kind, reference: None, session: None, author: None }
    }
}

/// Idempotency key of a request: sending the request twice has one effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idempotency {
    /// Chosen by the caller, unique per user.
    pub key: String,
    /// Hash of the request, salted in a header. The same key with another request is refused.
    pub request: Hash,
}

/// An event without its changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// The user of the ledger.
    pub user: UserId,
    /// Its position.
    pub seq: Seq,
    /// Its globally unique id.
    pub id: EventId,
    /// When it was recorded.
    pub recorded_at: Timestamp,
    /// Who made it.
    pub actor: Actor,
    /// Its origin.
    pub origin: Origin,
    /// Its trust.
    pub trust: Trust,
    /// Confidence, 0 to 1.
    pub confidence: Option<f64>,
    /// The reason.
    pub rationale: Option<String>,
    /// Events that caused it.
    pub caused_by: Vec<EventId>,
    /// The idempotency key, if one was given.
    pub idempotency: Option<Idempotency>,
    /// Hash of the previous event.
    pub prev: Hash,
    /// Salted digest of each change, in order.
    pub digests: Vec<Hash>,
}

/// A stored event. A change that was erased or damaged is `None`.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The header.
    pub header: Header,
    /// Hash of the header; the next event's `prev`.
    pub hash: Hash,
    /// The changes, in order, all or nothing.
    pub changes: Vec<Option<Change>>,
}

/// A reference to one change of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangeRef {
    /// Position of the event.
    pub seq: Seq,
    /// Index of the change.
    pub index: u32,
}

impl std::fmt::Display for ChangeRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.seq, self.index)
    }
}

/// One typed statement, in the past tense.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A source was recorded.
    SourceRecorded(Source),
    /// The core document was patched (RFC 6902).
    CorePatched(Patch),
    /// An item was pinned, unpinned or rated by a person, or takes the place of a pinned one.
    ItemMarked(ItemMark),
    /// An item was derived from sources, or a derived item changed.
    Drawn(DerivedChange),
    /// Earlier events no longer count.
    Reverted {
        /// Their positions, ascending.
        events: Vec<Seq>,
    },
    /// The payloads of earlier changes were destroyed.
    Erased {
        /// The erased changes.
        targets: Vec<ChangeRef>,
        /// The reason, without the erased text.
        reason: String,
    },
    /// This ledger continues another one.
    Forked {
        /// The user of the original ledger.
        from: UserId,
        /// The last shared position.
        at: Seq,
        /// The last shared hash.
        head: Hash,
    },
}

impl Change {
    /// The change's name in the ledger.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::SourceRecorded(_) => "source_recorded",
            Self::CorePatched(_) => "core_patched",
            Self::ItemMarked(_) => "item_marked",
            Self::Drawn(drawn) => drawn.as_str(),
            Self::Reverted { .. } => "reverted",
            Self::Erased { .. } => "erased",
            Self::Forked { .. } => "forked",
        }
    }

    /// True if it creates, changes, or rests on this item.
    pub fn is_about(&self, item: ItemId) -> bool {
        match self {
            Self::SourceRecorded(source) => source.id == item,
            Self::ItemMarked(mark) => mark.item == item,
            Self::Drawn(drawn) => drawn.is_about(item),
            Self::CorePatched(_) | Self::Reverted { .. } | Self::Erased { .. } | Self::Forked { .. } => false,
        }
    }

    /// True if it may change the core document.
    pub fn is_of_core(&self) -> bool {
        let drawn = |drawn: &DerivedChange| {
            matches!(drawn, DerivedChange::CoreFieldsChanged { .. } | DerivedChange::CoreEdited { .. })
        };
        matches!(self, Self::CorePatched(_)) || matches!(self, Self::Drawn(change) if drawn(change))
    }

    /// True for changes about other events: replay must collect them before it starts.
    pub fn is_control(&self) -> bool {
        matches!(self, Self::Reverted { .. } | Self::Erased { .. } | Self::Forked { .. })
    }
}

/// A person's mark on an item. `None` leaves a member unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemMark {
    /// The item.
    pub item: ItemId,
    /// Pins or unpins it.
    pub pinned: Option<bool>,
    /// Rating from −2 (useless) to 2 (precious); 0 removes the rating.
    pub rating: Option<i8>,
}

/// An event that has been decided but not yet sealed into a ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// Who makes it.
    pub actor: Actor,
    /// Its origin.
    pub origin: Origin,
    /// Confidence, 0 to 1.
    pub confidence: Option<f64>,
    /// The reason.
    pub rationale: Option<String>,
    /// Events that caused it.
    pub caused_by: Vec<EventId>,
    /// The idempotency key.
    pub idempotency: Option<Idempotency>,
    /// The changes.
    pub changes: Vec<Change>,
}

impl Draft {
    /// A draft with only an actor, an origin and changes.
    pub fn new(actor: Actor, kind: SourceKind, changes: Vec<Change>) -> Self {
        Self {
            actor,
            origin: Origin::of(kind),
            confidence: None,
            rationale: None,
            caused_by: Vec::new(),
            idempotency: None,
            changes,
        }
    }
}
