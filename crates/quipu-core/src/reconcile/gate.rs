//! The gate: decides what may be recorded. Provenance is checked before content, because an attacker controls the
//! content.

use super::ReconcileInput;
use crate::event::Trust;
use crate::extract::window::ModelClaim;
use crate::extract::{FactCandidate, REMARK, USER};
use crate::guard;
use crate::item::{FactType, RejectedValue};
use crate::items::Items;
use crate::predicate::{Predicate, Sensitivity, normal};

/// A verdict of the gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It may be recorded.
    Pass,
    /// It may be recorded, but is not used before a person has reviewed it.
    Wait(&'static str),
    /// It is refused.
    Refuse(String),
}

/// Why a text may not become a task, note or tenet; `None` if it may.
pub(super) fn objection(case: &ReconcileInput<'_>, quote: &str, text: &str) -> Option<&'static str> {
    if (case.shown)(quote) {
        return Some("it repeats what was recalled");
    }
    let sensitive = guard::sensitivity(quote).is_some() || guard::sensitivity(text).is_some();
    if sensitive && !case.policy.keep_sensitive {
        return Some("sensitive, and storing sensitive statements is not enabled");
    }
    let instructs = guard::looks_like_instructions(quote) || guard::looks_like_instructions(text);
    (instructs && case.standing.trust < Trust::User).then_some("it reads like an instruction, and not from you")
}

/// Judges a language model's claim. A sensitive claim waits for the user instead of being refused.
pub(super) fn judge_model(
    case: &ReconcileInput<'_>,
    items: &Items,
    predicate: &Predicate,
    claim: &ModelClaim,
) -> Verdict {
    let verdict = judge_open(case, items, predicate, &claim.candidate);
    let sensitive = is_sensitive(case, predicate, &claim.candidate) || guard::sensitivity(&claim.sentence).is_some();
    if verdict == Verdict::Pass && sensitive && !case.policy.keep_sensitive {
        return Verdict::Wait("it is sensitive: it counts once you say so");
    }
    verdict
}

fn is_sensitive(case: &ReconcileInput<'_>, predicate: &Predicate, candidate: &FactCandidate) -> bool {
    // A remark may begin within a sentence, whose other words say that it is sensitive.
    let quote =
        if candidate.predicate == REMARK { case.sentences(&candidate.span) } else { case.quote(&candidate.span) };
    predicate.sensitivity == Sensitivity::Sensitive || guard::sensitivity(quote).is_some()
}

/// Judges one candidate.
pub(super) fn judge(
    case: &ReconcileInput<'_>,
    items: &Items,
    predicate: &Predicate,
    candidate: &FactCandidate,
) -> Verdict {
    if is_sensitive(case, predicate, candidate) && !case.policy.keep_sensitive {
        return Verdict::Refuse("sensitive, and storing sensitive statements is not enabled".to_owned());
    }
    judge_open(case, items, predicate, candidate)
}

/// Judges a candidate without regard to sensitivity.
fn judge_open(case: &ReconcileInput<'_>, items: &Items, predicate: &Predicate, candidate: &FactCandidate) -> Verdict {
    let quote = case.quote(&candidate.span);
    if (case.shown)(quote) {
        return Verdict::Refuse("it repeats what was recalled".to_owned());
    }
    if candidate.confidence < case.policy.confidence_min {
        let (found, least) = (candidate.confidence, case.policy.confidence_min);
        return Verdict::Refuse(format!("not sure enough: {found:.2}, at least {least:.2}"));
    }
    if let (Some(from), Some(to)) = (candidate.valid_from, candidate.valid_to)
        && to < from
    {
        return Verdict::Refuse(format!("it would end at {to}, before it begins at {from}"));
    }
    let value = RejectedValue {
        subject: normal(&candidate.subject),
        predicate: candidate.predicate.clone(),
        value: normal(&candidate.object),
    };
    let is_said_again = |value: &RejectedValue| {
        items.facts().any(|fact| {
            fact.is_active()
                && fact.trust == Trust::User
                && fact.predicate == value.predicate
                && normal(&fact.object) == value.value
                && normal(&fact.subject) == value.subject
        })
    };
    if let Some(taken_back) = items.rejected_at(&value).filter(|_| !is_said_again(&value)) {
        // The user may say it again, but a source recorded before the rejection does not count.
        let said_in = case.memory.get(case.source).map_or(0, |held| held.seq);
        if case.standing.trust < Trust::User || said_in < taken_back {
            return Verdict::Refuse("you took this value back".to_owned());
        }
    }
    if case.standing.trust == Trust::User {
        return Verdict::Pass;
    }
    if guard::looks_like_instructions(quote) {
        return Verdict::Wait("it reads like an instruction, and not from you");
    }
    let binding = matches!(
        predicate.fact_type,
        FactType::Identity | FactType::Preference | FactType::Constraint | FactType::Location
    );
    if candidate.subject == USER && (binding || case.predicates.stands_in_core(&candidate.predicate)) {
        return Verdict::Wait("only your own words may say this about you");
    }
    if predicate.sensitivity != Sensitivity::None && case.standing.trust < Trust::Tool {
        return Verdict::Wait("personal, and from a source anyone could have written");
    }
    Verdict::Pass
}
