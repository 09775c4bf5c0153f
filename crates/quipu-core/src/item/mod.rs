//! Derived items: facts, episodes, tasks, notes, tenets, reviews, a session's base truth and turn log, and promoted
//! categories.
//!
//! The ledger stores these types as they are serialised here (format 1): new fields must have a default.

mod drawn;
pub mod episode;
pub mod evidence;
pub mod fact;
pub mod note;
pub mod promotion;
pub mod review;
pub mod standing;
pub mod task;
pub mod tenet;
pub mod truth;
pub mod turn_summary;

pub use drawn::{DerivedChange, FactChange, Refused, RejectedValue, TaskChange, TenetChange};
pub use episode::Episode;
pub use evidence::{Evidence, Link};
pub use fact::{Fact, FactStatus, FactType, TimeSpan, stretch};
pub use note::{Note, NoteOrigin};
pub use promotion::{Promotion, Support};
pub use review::{ProposedEdit, Review, ReviewDecision, ReviewKind};
pub use standing::{Demotion, Hits, ItemHits};
pub use task::{Attempt, Task, TaskStatus};
pub use tenet::{Tenet, TenetKind, TenetStatus};
pub use truth::{Truth, TruthKind};
pub use turn_summary::{Depth, DiffOp, RefusedEntry, TurnSummary};
