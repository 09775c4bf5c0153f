//! Port for models that propose notes and names of categories.

use std::time::Duration;

use jiff::Timestamp;
use quipu_core::evolve::ProposedCategory;
use quipu_core::growth::NoteProposed;
use quipu_core::id::{ItemId, UserId};
use thiserror::Error;

/// Why nothing is proposed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReflectError {
    /// Temporarily unavailable; retried later.
    #[error("{0}")]
    Unavailable(String),
    /// The answer is not valid.
    #[error("{0}")]
    Malformed(String),
}

/// A turn as shown to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReflectionInput {
    /// Id to cite as evidence.
    pub id: ItemId,
    /// The speaker.
    pub speaker: String,
    /// Time of the turn, if known.
    pub said_at: Option<Timestamp>,
    /// The text.
    pub text: String,
}

/// Input of a reflection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looked {
    /// The user, whose budget is charged.
    pub whose: UserId,
    /// Turns since the last reflection, oldest first.
    pub said: Vec<ReflectionInput>,
    /// Existing notes.
    pub notes: Vec<String>,
    /// Most notes to propose.
    pub notes_max: usize,
    /// Time limit.
    pub within: Duration,
}

/// A pattern of the core document without a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unnamed {
    /// The user, whose budget is charged.
    pub whose: UserId,
    /// The recurring word or category.
    pub key: String,
    /// Its members: pointer and value.
    pub members: Vec<String>,
    /// The category derived by rule, used without a better proposal.
    pub by_rule: ProposedCategory,
    /// Names of existing categories.
    pub taken: Vec<String>,
    /// Time limit.
    pub within: Duration,
}

/// A proposed category.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NameProposed {
    /// Name of the category.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Fields for members, by index into [`Unnamed::members`].
    pub fields: Vec<(usize, String)>,
}

/// Proposes notes and names of categories. Proposals are validated by the engine.
pub trait Reflector: Send + Sync {
    /// Name and version, recorded with everything it proposed.
    fn id(&self) -> &str;

    /// Reflects once. Blocks for at most `within`.
    ///
    /// # Errors
    /// Any [`ReflectError`]; nothing is lost.
    fn reflect(&self, looked: &Looked) -> Result<Vec<NoteProposed>, ReflectError>;

    /// Proposes a name, a description and fields for a pattern. Blocks for at most `within`.
    ///
    /// # Errors
    /// Any [`ReflectError`]; the category derived by rule is used.
    fn name(&self, unnamed: &Unnamed) -> Result<NameProposed, ReflectError>;
}
