//! Schema evolution of the core document: patterns in `uncategorized` and `dynamicCategories` are mined, proposed, and
//! promoted to categories once approved.
//!
//! `mine → due → name → fields → plan → one event`

mod due;
mod fields;
mod mine;
mod name;
mod plan;
mod schema;
mod thresholds;
mod words;
mod written;

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests;

pub use due::{DueStatus, Survey, question, survey};
pub use mine::{Candidate, mine};
pub use name::{ProposedCategory, Suggestion, check_name, propose, suggested};
pub use plan::{Moved, PromotionPlan, PromotionRequest, plan};
pub(crate) use schema::moves;
pub use schema::{Category, GrownSchema, Promoted, relocations};
pub use thresholds::PromotionThresholds;
