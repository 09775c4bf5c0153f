//! Reviews: the queue of decisions for a person.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Promotion;
use crate::event::Actor;
use crate::id::{ItemId, Seq};

/// Kind of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReviewKind {
    /// A fact whose confidence or trust is too low to be used or to change the core document.
    Fact,
    /// Two values that cannot both hold.
    Conflict,
    /// A tenet.
    Tenet,
    /// A pattern that could become a category of the core document. It is about itself.
    SchemaPromotion,
    /// A page that was edited by hand.
    Edit,
}

impl ReviewKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Fact, Self::Conflict, Self::Tenet, Self::SchemaPromotion, Self::Edit];

    /// Its stored name.
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

/// The change proposed by a manual edit of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProposedEdit {
    /// Changes the value of a fact.
    Value {
        /// The new value.
        object: String,
    },
    /// Sets the score of a fact.
    Score {
        /// From 0 to 10.
        score: u8,
    },
    /// Retracts a fact.
    Gone,
    /// Records a statement.
    Said {
        /// The statement.
        text: String,
        /// The fact it replaces.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instead_of: Option<ItemId>,
    },
}

/// A person's decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReviewDecision {
    /// Accept as proposed.
    Approved,
    /// Accept with another text.
    Edited {
        /// The correct value, text or name.
        text: String,
    },
    /// Decline.
    Declined,
}

/// A waiting or decided review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Review {
    /// Its id.
    pub id: ItemId,
    /// Its kind.
    pub kind: ReviewKind,
    /// The item it is about; the review itself if there is no such item yet.
    pub about: ItemId,
    /// The opposing item of a conflict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<ItemId>,
    /// The question to the user.
    pub question: String,
    /// Why the rules did not decide.
    pub reason: String,
    /// Who proposed it; never the one who decides.
    pub proposer: Actor,
    /// When it was opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened_at: Option<Timestamp>,
    /// The proposed category.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promotion: Option<Box<Promotion>>,
    /// The decision and its event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<(ReviewDecision, Seq)>,
    /// The change proposed by a manual edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed: Option<ProposedEdit>,
}
