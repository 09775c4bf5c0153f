//! One recorded step of a ledger: who did it, when, from what, and the changes it makes.

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

/// Who did it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// The person whose memory it is, or someone acting for them.
    User,
    /// An assistant or agent.
    Agent,
    /// Quipu itself.
    System,
}

/// Where it came from. Trust follows from this and from nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
    /// It stands in a document.
    Document,
    /// It was imported from elsewhere.
    Imported,
    /// It stands on a web page.
    Web,
    /// Quipu derived it.
    Inferred,
}

/// How far something may reach, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
    /// How much of what comes from here is right, 0 to 1, as far as experience tells.
    pub fn reliability(self) -> f64 {
        match self {
            Self::UserSaid | Self::UserEdited => 0.95,
            Self::ToolOutput => 0.94,
            Self::Document | Self::Imported => 0.8,
            Self::AssistantSaid | Self::Inferred => 0.7,
            Self::Web => 0.6,
        }
    }

    /// How far something from here may reach. What is inferred starts at the agent's; the engine lowers it to the least
    /// of its sources.
    pub fn trust(self) -> Trust {
        match self {
            Self::UserSaid | Self::UserEdited => Trust::User,
            Self::AssistantSaid | Self::Inferred => Trust::Agent,
            Self::ToolOutput | Self::Document | Self::Imported => Trust::Tool,
            Self::Web => Trust::Web,
        }
    }
}

/// Where an event came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The class that decides the trust.
    pub kind: SourceKind,
    /// The message, file or import it came from; all events of one import share it.
    pub reference: Option<String>,
    /// The conversation it belongs to.
    pub session: Option<String>,
    /// Who wrote it.
    pub author: Option<String>,
}

impl Origin {
    /// An origin of which only the kind is known.
    pub fn of(kind: SourceKind) -> Self {
        Self { kind, reference: None, session: None, author: None }
    }
}

/// A caller's key for a request, so that sending it twice has one effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idempotency {
    /// Chosen by the caller, unique per user.
    pub key: String,
    /// Hash of the request; the same key with another request is refused. In a header it is salted.
    pub request: Hash,
}

/// What is known of an event besides its changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// Whose ledger.
    pub user: UserId,
    /// Position.
    pub seq: Seq,
    /// Name, unique in the world.
    pub id: EventId,
    /// When Quipu learned it.
    pub recorded_at: Timestamp,
    /// Who did it.
    pub actor: Actor,
    /// From what.
    pub origin: Origin,
    /// How far it may reach.
    pub trust: Trust,
    /// How sure, 0 to 1.
    pub confidence: Option<f64>,
    /// Why.
    pub rationale: Option<String>,
    /// Events that led to it.
    pub caused_by: Vec<EventId>,
    /// The caller's key, if one was given.
    pub idempotency: Option<Idempotency>,
    /// Hash of the event before it.
    pub prev: Hash,
    /// Salted digest of each change, in order.
    pub digests: Vec<Hash>,
}

/// An event as it is read back. A change that was erased (or is damaged) is `None`.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// What is known of it.
    pub header: Header,
    /// Hash of the header, the link the next event holds on to.
    pub hash: Hash,
    /// What it changes, in order, all or nothing.
    pub changes: Vec<Option<Change>>,
}

/// One change of one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ChangeRef {
    /// The event.
    pub seq: Seq,
    /// Which of its changes, from 0.
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
    /// Something was said or imported.
    SourceRecorded(Source),
    /// The core document was patched (RFC 6902).
    CorePatched(Patch),
    /// An item was pinned, unpinned or rated by a person.
    ItemMarked(ItemMark),
    /// Something was drawn from sources, or what was drawn changed.
    Drawn(DerivedChange),
    /// Earlier events no longer count.
    Reverted {
        /// Their positions, ascending.
        events: Vec<Seq>,
    },
    /// The payloads of earlier changes were destroyed.
    Erased {
        /// Which.
        targets: Vec<ChangeRef>,
        /// Why, in words that do not repeat what was erased.
        reason: String,
    },
    /// This ledger continues another one.
    Forked {
        /// Whose ledger it was up to here.
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

    /// True if it makes, changes, or rests on this item.
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

    /// True for changes about other events: replay must know of them before it starts.
    pub fn is_control(&self) -> bool {
        matches!(self, Self::Reverted { .. } | Self::Erased { .. } | Self::Forked { .. })
    }
}

/// What a person said about an item. `None` leaves that aspect as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemMark {
    /// Which item.
    pub item: ItemId,
    /// Keep it in view, or no longer.
    pub pinned: Option<bool>,
    /// From −2 (useless) to 2 (precious); 0 takes a rating back.
    pub rating: Option<i8>,
}

/// An event that has been decided but not yet sealed into a ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// Who does it.
    pub actor: Actor,
    /// From what.
    pub origin: Origin,
    /// How sure, 0 to 1.
    pub confidence: Option<f64>,
    /// Why.
    pub rationale: Option<String>,
    /// Events that led to it.
    pub caused_by: Vec<EventId>,
    /// The caller's key.
    pub idempotency: Option<Idempotency>,
    /// What it changes.
    pub changes: Vec<Change>,
}

impl Draft {
    /// A draft with nothing but an actor, an origin and its changes.
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
