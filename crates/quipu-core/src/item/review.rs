//! What waits for a person.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Promotion;
use crate::event::Actor;
use crate::id::{ItemId, Seq};

/// Why something waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewKind {
    /// A fact too unsure, or from a source not trusted enough, to be used or to change the core document.
    Fact,
    /// Two values that cannot both hold, with a question.
    Conflict,
    /// A line of the self-model.
    Tenet,
    /// A pattern that could be a category of the core document. It is about nothing but itself.
    SchemaPromotion,
    /// A page that was edited by hand.
    Edit,
}

impl ReviewKind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Fact, Self::Conflict, Self::Tenet, Self::SchemaPromotion, Self::Edit];

    /// Its name, as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fact => "fact",
            Self::Conflict => "conflict",
            Self::Tenet => "tenet",
            Self::SchemaPromotion => "schema_promotion",
            Self::Edit => "edit",
        }
    }
}

/// What an edit by hand would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProposedEdit {
    /// A fact has another value.
    Value {
        /// The value that is right.
        object: String,
    },
    /// A fact has this score.
    Score {
        /// From 0 to 10.
        score: u8,
    },
    /// A fact is taken back.
    Gone,
    /// Something is to be taken up as said.
    Said {
        /// The words.
        text: String,
        /// The fact whose place they take.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instead_of: Option<ItemId>,
    },
}

/// What a person decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewDecision {
    /// Take it as it is.
    Approved,
    /// Take it in other words.
    Edited {
        /// The value, the line or the name that is right.
        text: String,
    },
    /// Leave it.
    Declined,
}

/// One thing that waits, or waited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    /// Its name.
    pub id: ItemId,
    /// Why it waits.
    pub kind: ReviewKind,
    /// The item it is about; itself, if it is about something that is not there yet.
    pub about: ItemId,
    /// What it stands against, in a conflict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<ItemId>,
    /// What is asked.
    pub question: String,
    /// Why the rules did not decide it.
    pub reason: String,
    /// Who proposed it; never the one who decides.
    pub proposer: Actor,
    /// Since when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened_at: Option<Timestamp>,
    /// The category that is proposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promotion: Option<Box<Promotion>>,
    /// What came of it, and the event that says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<(ReviewDecision, Seq)>,
    /// What an edit by hand would change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed: Option<ProposedEdit>,
}
