//! Determines which patterns are due for promotion.

use jiff::Timestamp;
use serde::Serialize;

use super::mine::{Candidate, mine};
use super::name::{ProposedCategory, propose};
use super::thresholds::PromotionThresholds;
use super::written::day_of;
use crate::core_document::Categories;
use crate::growth::TakenBack;
use crate::id::ItemId;
use crate::item::{Review, ReviewDecision, ReviewKind, Support};
use crate::memory::Memory;

/// Status of a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "standing")]
pub enum DueStatus {
    /// It meets every threshold, and no review was opened yet.
    Due,
    /// A review is waiting.
    Waiting {
        /// The review.
        review: ItemId,
    },
    /// A review was declined; another is opened once the support has doubled.
    Declined {
        /// The review.
        review: ItemId,
        /// The number of instances at which it is due again.
        again_at: u32,
    },
    /// It was promoted and reverted; it is due again once the support has doubled.
    TakenBack {
        /// The number of instances at which it is due again.
        again_at: u32,
    },
    /// It misses a threshold.
    Below {
        /// What is missing, as text.
        missing: String,
    },
    /// No name is free for it.
    Nameless,
}

/// A pattern, the category proposed for it, and its status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Survey {
    /// The pattern.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// The proposed category.
    pub proposed: Option<ProposedCategory>,
    /// The status.
    #[serde(flatten)]
    pub standing: DueStatus,
}

impl Survey {
    /// True if it should be proposed now.
    pub fn is_due(&self) -> bool {
        self.standing == DueStatus::Due
    }
}

/// The patterns of a memory with their status, best supported first.
pub fn survey(
    memory: &Memory,
    categories: Categories<'_>,
    thresholds: &PromotionThresholds,
    taken_back: &TakenBack,
    now: Timestamp,
) -> Vec<Survey> {
    let twice = |instances: u32| instances.saturating_mul(2);
    let one = |candidate: Candidate| {
        let proposed = propose(memory, categories, &candidate);
        let asked = latest(memory, &candidate);
        let standing = match (asked, &proposed) {
            (_, None) => DueStatus::Nameless,
            (Some(review), _) if review.decided.is_none() => DueStatus::Waiting { review: review.id },
            (Some(Review { id, decided: Some((ReviewDecision::Declined, _)), promotion: Some(then), .. }), _)
                if candidate.support.instances < twice(then.support.instances) =>
            {
                DueStatus::Declined { review: *id, again_at: twice(then.support.instances) }
            }
            _ => match (taken_back.promoted(&candidate.key), missing(&candidate.support, thresholds, now)) {
                (Some(then), _) if candidate.support.instances < twice(then) => {
                    DueStatus::TakenBack { again_at: twice(then) }
                }
                (_, None) => DueStatus::Due,
                (_, Some(missing)) => DueStatus::Below { missing },
            },
        };
        Survey { candidate, proposed, standing }
    };
    mine(memory).into_iter().map(one).collect()
}

/// The newest review of a pattern.
fn latest<'a>(memory: &'a Memory, candidate: &Candidate) -> Option<&'a Review> {
    let items = memory.items();
    let about = |review: &&Review| {
        review.kind == ReviewKind::SchemaPromotion
            && !items.is_hidden(review.id)
            && review.promotion.as_ref().is_some_and(|promotion| promotion.candidate == candidate.key)
    };
    items.reviews().filter(about).max_by_key(|review| (items.made_by(review.id), review.id))
}

fn missing(support: &Support, thresholds: &PromotionThresholds, now: Timestamp) -> Option<String> {
    let short = |what: &str, found: u32, wanted: u32| (found < wanted).then(|| format!("{found} of {wanted} {what}"));
    let faded = || {
        let age = day_of(now).saturating_sub(day_of(support.last_seen?));
        (age > i64::from(thresholds.recent_days)).then(|| format!("last seen {age} days ago"))
    };
    let found = [
        short("instances", support.instances, thresholds.instances),
        short("days", support.days, thresholds.days),
        short("episodes", support.links, thresholds.links),
        faded(),
    ];
    let found: Vec<String> = found.into_iter().flatten().collect();
    (!found.is_empty()).then(|| found.join(", "))
}

/// The question of a review, and its reason.
pub fn question(candidate: &Candidate, proposed: &ProposedCategory, moving: usize) -> (String, String) {
    let places = |n: usize| if n == 1 { "1 place".to_owned() } else { format!("{n} places") };
    let question = format!(
        "Make {} a category of its own? {} of {} would move there.",
        proposed.name,
        places(moving),
        candidate.key
    );
    (question, reason(&candidate.support))
}

/// The support of a pattern as text.
pub(super) fn reason(support: &Support) -> String {
    let count = |n: u32, one: &str, many: &str| if n == 1 { format!("1 {one}") } else { format!("{n} {many}") };
    let mut parts = vec![format!(
        "{} on {}",
        count(support.instances, "instance", "instances"),
        count(support.days, "day", "days")
    )];
    if let Some(last) = support.last_seen {
        parts.push(format!("last seen {}", last.strftime("%Y-%m-%d")));
    }
    if support.links > 0 {
        parts.push(count(support.links, "episode tells of it", "episodes tell of it"));
    }
    parts.join(", ")
}
