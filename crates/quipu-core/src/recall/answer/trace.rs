//! What a recall looked at and why it answered as it did.

use std::sync::Arc;

use serde::Serialize;

use crate::recall::answer::validity::Validity;
use crate::recall::query::dates::NamedDate;
use crate::recall::query::intent::Intent;
use crate::recall::query::intervals::Interval;
use crate::recall::query::negation::Negation;
use crate::recall::rank::candidates::{Arm, Arms};
use crate::recall::rank::score::Contributions;

/// The stages of one recall. Counts are always there, lists only when an explanation was asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Trace {
    /// Passages in the index.
    pub passages: usize,
    /// Those the filter let through.
    pub allowed: usize,
    /// How many each arm nominated.
    pub arms: Vec<ArmCount>,
    /// Passages scored in full.
    pub scored: usize,
    /// True if meaning counted: the question had a vector that fits this index.
    pub dense: bool,
    /// Passages whose tokens were compared with the question's; 0 if the model hands out none.
    pub compared: usize,
    /// Passages without a vector; for them meaning counts 0.
    pub without_vector: usize,
    /// Items drawn from sources.
    pub derived: usize,
    /// Those of them that were scored.
    pub derived_scored: usize,
    /// True if the active index had no sure answer, and everything was looked at.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fell_back: bool,
    /// True if something out of the active index has more of the question's words than anything in it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deeper: bool,
    /// What was looked for and what was left out, if asked for.
    pub detail: Option<Detail>,
}

/// How many passages an arm nominated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ArmCount {
    /// The arm.
    pub arm: Arm,
    /// Its nominees.
    pub nominated: usize,
}

/// The explanation.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Detail {
    /// What was looked for.
    pub terms: Vec<Term>,
    /// The one author the question names.
    pub speaker: Option<Arc<str>>,
    /// The one person it asks about, by each name.
    pub about: Vec<String>,
    /// Names in it.
    pub entities: Vec<String>,
    /// What it says no to.
    pub negation: Negation,
    /// The dates it names.
    pub dates: Vec<NamedDate>,
    /// What it is for.
    pub intent: Intent,
    /// The stretches of time it names.
    pub intervals: Vec<Interval>,
    /// For which time statements are asked.
    pub validity: Validity,
    /// What was compared by meaning.
    pub first_person_text: String,
    /// The best of what was not returned, best first.
    pub left_out: Vec<LeftOut>,
}

/// A term of the question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Term {
    /// The stem.
    pub term: String,
    /// Its weight: `ln(1 + (N − df + ½) / (df + ½))`.
    pub idf: f32,
    /// Passages that have it.
    pub passages: u32,
}

/// An item that was scored and not returned.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeftOut {
    /// Its position in the memory's list of sources.
    pub ordinal: u32,
    /// The score of its best passage.
    pub score: f32,
    /// What it is made of.
    pub contributions: Contributions,
    /// Who nominated it.
    pub arms: Arms,
    /// Why it was not returned.
    pub reason: Reason,
}

/// Why an item was not returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Enough others score higher.
    BelowTheBest,
    /// Nothing speaks for it.
    NoEvidence,
}
