//! Records what a recall examined and why.

use std::sync::Arc;

use serde::Serialize;

use crate::calendar::dates::NamedDate;
use crate::calendar::intervals::Interval;
use crate::recall::query::intent::Intent;
use crate::recall::query::negation::Negation;
use crate::recall::query::validity::Validity;
use crate::recall::rank::candidates::{Arm, Arms};
use crate::recall::rank::score::Contributions;

/// The stages of one recall. Counts are always present, lists only with an explanation.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "RecallTrace"))]
pub struct Trace {
    /// Number of passages in the index.
    pub passages: usize,
    /// Number of passages that pass the filter.
    pub allowed: usize,
    /// Number of passages nominated by each arm.
    pub arms: Vec<ArmCount>,
    /// Number of passages scored in full.
    pub scored: usize,
    /// True if the question had a vector that fits this index.
    pub dense: bool,
    /// Number of passages whose tokens were compared with the question's; 0 if the model provides none.
    pub compared: usize,
    /// Number of passages without a vector; their cosine counts as 0.
    pub without_vector: usize,
    /// Number of derived items.
    pub derived: usize,
    /// Number of derived items scored.
    pub derived_scored: usize,
    /// True if the active index had no confident answer, so that everything was searched.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fell_back: bool,
    /// True if an item outside the active index matches the question's words better than any in it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deeper: bool,
    /// The explanation, if requested.
    pub detail: Option<Detail>,
}

/// Number of passages an arm nominated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ArmCount {
    /// The arm.
    pub arm: Arm,
    /// Number of its nominees.
    pub nominated: usize,
}

/// The explanation of a recall.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "RecallTraceDetail"))]
pub struct Detail {
    /// The terms searched for.
    pub terms: Vec<Term>,
    /// The author the question names, if exactly one.
    pub speaker: Option<Arc<str>>,
    /// The person in question, by each name.
    pub about: Vec<String>,
    /// Names in the question.
    pub entities: Vec<String>,
    /// Its negation and exclusions.
    pub negation: Negation,
    /// The dates it names.
    pub dates: Vec<NamedDate>,
    /// Its intent.
    pub intent: Intent,
    /// The time intervals it names.
    pub intervals: Vec<Interval>,
    /// The time for which statements are requested.
    pub validity: Validity,
    /// The text compared by vectors.
    pub first_person_text: String,
    /// The best items that were not returned, best first.
    pub left_out: Vec<LeftOut>,
}

/// A term of the question.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "QueryTerm"))]
pub struct Term {
    /// The stem.
    pub term: String,
    /// Its weight: `ln(1 + (N − df + ½) / (df + ½))`.
    pub idf: f32,
    /// Number of passages that contain it.
    pub passages: u32,
}

/// An item that was scored but not returned.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "OmittedPassage"))]
pub struct LeftOut {
    /// Its position in the memory's list of sources.
    pub ordinal: u32,
    /// The score of its best passage.
    pub score: f32,
    /// The contributions to its score.
    pub contributions: Contributions,
    /// The arms that nominated it.
    pub arms: Arms,
    /// Why it was not returned.
    pub reason: Reason,
}

/// Why an item was not returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "OmissionReason"))]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Enough other items score higher.
    BelowTheBest,
    /// No feature supports it.
    NoEvidence,
}
