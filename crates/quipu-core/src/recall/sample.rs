//! Facts for tests.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::event::{SourceKind, Trust};
use crate::id::{ItemId, ItemKind};
use crate::item::{Fact, FactStatus, FactType, TimeSpan};
use crate::predicate::Predicates;

/// A day as a time; `None` for "…".
pub(super) fn day(date: &str) -> Option<Timestamp> {
    (date != "…").then(|| format!("{date}T00:00:00Z").parse().unwrap_or_else(|_| panic!("{date}")))
}

/// A fact first stated when it began.
pub(crate) fn fact(number: u64, (subject, predicate, object): (&str, &str, &str), (from, to): (&str, &str)) -> Fact {
    let text = Predicates::default_registry().say(subject, predicate, object, &BTreeMap::new());
    Fact {
        id: ItemId { kind: ItemKind::Fact, bits: number },
        subject: subject.to_owned(),
        predicate: predicate.to_owned(),
        object: object.to_owned(),
        text,
        fact_type: FactType::Trait,
        time_span: TimeSpan::Current,
        slot: format!("{subject} {predicate}"),
        single: true,
        valid_from: day(from),
        valid_to: day(to),
        first_seen: day(from),
        last_seen: day(from),
        seen_count: 1,
        evidence: Vec::new(),
        source: SourceKind::UserSaid,
        trust: Trust::User,
        confidence_base: 0.9,
        user_fact_score: None,
        intrinsic_importance: 0.5,
        domain: "other".to_owned(),
        topic: None,
        tags: Vec::new(),
        qualifiers: BTreeMap::new(),
        links: Vec::new(),
        core_path: None,
        status: if day(to).is_some() { FactStatus::Superseded } else { FactStatus::Active },
        superseded_by: None,
    }
}
