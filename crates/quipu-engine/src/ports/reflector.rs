//! Looks back at what was said and proposes notes. It decides nothing.

use std::time::Duration;

use jiff::Timestamp;
use quipu_core::evolve::ProposedCategory;
use quipu_core::growth::NoteProposed;
use quipu_core::id::{ItemId, UserId};
use thiserror::Error;

/// Why nothing is proposed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReflectError {
    /// Not now; the same is asked another time.
    #[error("{0}")]
    Unavailable(String),
    /// It answered, and the answer is none.
    #[error("{0}")]
    Malformed(String),
}

/// Something that was said, as whoever looks back is shown it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReflectionInput {
    /// Its name, to be given as evidence.
    pub id: ItemId,
    /// Who said it.
    pub speaker: String,
    /// When.
    pub said_at: Option<Timestamp>,
    /// The words.
    pub text: String,
}

/// What to look back at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looked {
    /// Whose memory it is, and who pays for it.
    pub whose: UserId,
    /// What was said since the last time, oldest first.
    pub said: Vec<ReflectionInput>,
    /// Notes that are kept already.
    pub notes: Vec<String>,
    /// At most so many notes.
    pub notes_max: usize,
    /// How long it may take.
    pub within: Duration,
}

/// A pattern of the core document that nobody has named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unnamed {
    /// Whose memory it is, and who pays for it.
    pub whose: UserId,
    /// The word or category that recurs.
    pub key: String,
    /// What belongs to it: the place and what stands there.
    pub members: Vec<String>,
    /// What it is called if nobody knows better.
    pub by_rule: ProposedCategory,
    /// Names of categories there are.
    pub taken: Vec<String>,
    /// How long it may take.
    pub within: Duration,
}

/// What a pattern is called, and where its members belong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NameProposed {
    /// What the category is called.
    pub name: String,
    /// What it is about.
    pub description: String,
    /// The field of a member, by its place among those that were shown, from 0.
    pub fields: Vec<(usize, String)>,
}

/// Proposes notes and names.
pub trait Reflector: Send + Sync {
    /// What proposes, with its version: recorded with everything that came of it.
    fn id(&self) -> &str;

    /// Looks back once. Blocks, but not longer than `within`.
    ///
    /// # Errors
    /// Any [`ReflectError`]; nothing is lost then.
    fn reflect(&self, looked: &Looked) -> Result<Vec<NoteProposed>, ReflectError>;

    /// Says what a category of a pattern should be called, what it is about, and in which field each member belongs. Blocks, but
    /// not longer than `within`.
    ///
    /// # Errors
    /// Any [`ReflectError`]; the rule's name and fields are used then.
    fn name(&self, unnamed: &Unnamed) -> Result<NameProposed, ReflectError>;
}
