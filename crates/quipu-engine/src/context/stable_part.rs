//! The stable part of a pack: what must never be forgotten, and who the user is. It does not depend on
//! the query, and on the time only through dates of validity.

use std::collections::BTreeSet;

use jiff::Timestamp;
use quipu_core::Memory;
use quipu_core::event::Trust;
use quipu_core::extract::USER;
use quipu_core::id::ItemId;
use quipu_core::item::{Fact, FactType, TaskStatus, TenetKind, TenetStatus, stretch};
use quipu_core::pack::{StableLine, excerpt};
use quipu_core::predicate::Predicates;
use serde_json::Value;

/// Most tokens of a pinned source in a pack.
const PINNED_TOKENS: usize = 100;

/// Fields that describe the user, in order: label and paths in the core document.
const WHO: [(&str, &[&str]); 10] = [
    ("Name", &["/identity/name"]),
    ("Called", &["/identity/nicknames"]),
    ("Pronouns", &["/identity/pronouns"]),
    ("Home", &["/location/current"]),
    ("Work", &["/work/role", "/work/employer"]),
    ("Partner", &["/relationships/partner"]),
    ("Children", &["/relationships/children"]),
    ("Family", &["/relationships/family"]),
    ("Pets", &["/relationships/pets"]),
    ("Born", &["/identity/birthDate"]),
];

/// Relations to family members, whose facts may be included in the stable part as well.
const FAMILY: [&str; 4] = ["child", "partner", "parent", "sibling"];

/// What must never be forgotten: limits, diets, health and standing instructions of the user and the family, confirmed
/// rules, and pinned items.
pub(crate) fn always(memory: &Memory, predicates: &Predicates, now: Timestamp) -> Vec<StableLine> {
    let items = memory.items();
    let may_bind = |fact: &Fact| fact.fact_type == FactType::Constraint || predicates.get(&fact.predicate).always;
    let is_pinned = |fact: &Fact| memory.marks(fact.id).pinned;
    let is_over = |fact: &Fact| fact.valid_to.is_some_and(|to| to <= now);
    let counts = |fact: &Fact| fact.is_active() && !is_over(fact) && !items.is_hidden(fact.id);
    // There may be many facts, so the cheapest tests come first.
    let mut family: BTreeSet<String> = BTreeSet::new();
    let mut facts: Vec<&Fact> = Vec::new();
    for fact in items.facts() {
        let is_of_user = fact.subject == USER;
        if is_of_user && FAMILY.contains(&fact.predicate.as_str()) && counts(fact) {
            family
                .extend(std::iter::once(&fact.object).chain(fact.qualifiers.values()).map(|name| name.to_lowercase()));
        }
        if (may_bind(fact) || is_pinned(fact)) && counts(fact) {
            facts.push(fact);
        }
    }
    // A child may be mentioned without a name, as in "user's son".
    let is_family = |subject: &str| {
        let subject = subject.to_lowercase();
        subject.starts_with("user's ") || family.contains(&subject)
    };
    let binds = |fact: &Fact| may_bind(fact) && (fact.subject == USER || is_family(&fact.subject));
    facts.retain(|fact| binds(fact) || is_pinned(fact));
    let weight = |fact: &Fact| (!binds(fact), -fact.intrinsic_importance);
    let order = |fact: &Fact| items.creation_order(fact.id);
    facts.sort_by(|a, b| {
        let ((free_a, weight_a), (free_b, weight_b)) = (weight(a), weight(b));
        free_a.cmp(&free_b).then(weight_a.total_cmp(&weight_b)).then_with(|| order(a).cmp(&order(b)))
    });
    let facts = facts.into_iter().map(|fact| of_fact(fact, now));
    let rules = items.tenets().filter(|tenet| {
        let counts = tenet.kind == TenetKind::Policy && tenet.status == TenetStatus::Confirmed;
        (counts || memory.marks(tenet.id).pinned && tenet.status != TenetStatus::Outdated) && !items.is_hidden(tenet.id)
    });
    let rules = rules.map(|tenet| kept(vec![tenet.id], USER, Trust::User, tenet.text.clone()));
    let cut = |text: &str| excerpt(text, &[], &BTreeSet::new(), PINNED_TOKENS).text;
    let stands = |id: ItemId| memory.marks(id).pinned && !items.is_hidden(id);
    let tasks = items.tasks().filter(|task| stands(task.id) && task.status != TaskStatus::Dropped).map(|task| {
        let title = if task.status == TaskStatus::Done { format!("{} (done)", task.title) } else { task.title.clone() };
        let due = task.due.map(|due| format!(", due {}", stretch(due))).unwrap_or_default();
        kept(vec![task.id], USER, task.trust, format!("{}: {title}{due}", task.kind.as_str()))
    });
    let notes = items.notes().filter(|note| stands(note.id));
    let notes = notes.map(|note| kept(vec![note.id], USER, note.trust, cut(&note.text)));
    let said = memory.pinned_sources().map(|held| {
        let source = &held.source;
        let text = format!("{}: {}", source.speaker(), cut(&source.text));
        StableLine { said_at: source.said_at, ..kept(vec![source.id], source.speaker(), held.trust, text) }
    });
    facts.chain(rules).chain(tasks).chain(notes).chain(said).collect()
}

/// Who the user is: fields of the core document, then promoted claims.
pub(crate) fn who(memory: &Memory, now: Timestamp) -> Vec<StableLine> {
    let core = memory.core();
    let written = written(memory);
    let mut all = Vec::new();
    for (label, paths) in WHO {
        let values: Vec<String> = paths.iter().filter_map(|path| present(memory, &written, path, now)).collect();
        let value = if values.is_empty() && label == "Name" {
            memory.signed().map(str::to_owned)
        } else {
            (!values.is_empty()).then(|| values.join(" at "))
        };
        let Some(value) = value else { continue };
        let ids: Vec<ItemId> = paths.iter().flat_map(|path| written_at(&written, path)).map(|fact| fact.id).collect();
        let path = paths.iter().find(|path| core.pointer(path).is_some()).map(|path| (*path).to_owned());
        all.push(StableLine { path, ..kept(ids, USER, Trust::User, format!("{label}: {value}")) });
    }
    let told: BTreeSet<ItemId> = all.iter().flat_map(|one| one.ids.iter().copied()).collect();
    let mut often: Vec<&Fact> = promoted(memory).filter(|fact| !told.contains(&fact.id)).collect();
    let order = |fact: &Fact| memory.items().creation_order(fact.id);
    often.sort_by(|a, b| {
        b.intrinsic_importance.total_cmp(&a.intrinsic_importance).then_with(|| order(a).cmp(&order(b)))
    });
    all.extend(often.into_iter().map(|fact| of_fact(fact, now)));
    all
}

/// Claims the user made on so many days that they were promoted to the profile.
fn promoted(memory: &Memory) -> impl Iterator<Item = &Fact> {
    let items = memory.items();
    let held = items.promoted().filter(|id| !items.is_hidden(*id)).filter_map(|id| items.fact(id));
    held.filter(|fact| fact.is_active() && fact.trust == Trust::User)
}

/// Facts whose values are in the core document, in order of creation.
fn written(memory: &Memory) -> Vec<&Fact> {
    let items = memory.items();
    let stands = |fact: &&Fact| fact.core_path.is_some() && fact.is_active() && !items.is_hidden(fact.id);
    let mut facts: Vec<&Fact> = items.facts().filter(stands).collect();
    facts.sort_by_cached_key(|fact| items.creation_order(fact.id));
    facts
}

/// Those of them at or below `place`.
fn written_at<'a>(written: &[&'a Fact], place: &str) -> Vec<&'a Fact> {
    let is_there = |fact: &&&Fact| {
        let below = fact.core_path.as_deref().and_then(|path| path.strip_prefix(place));
        below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    written.iter().filter(is_there).copied().collect()
}

/// The present value at a path of the core document, with the day until which it holds and what follows.
fn present(memory: &Memory, written: &[&Fact], path: &str, now: Timestamp) -> Option<String> {
    let facts = written_at(written, path);
    let value = in_words(memory.core().pointer(path)?)?;
    // The document learns only with the next source that a day has come.
    let is_over = |fact: &Fact| fact.valid_to.is_some_and(|to| to <= now);
    let follows =
        |fact: &&&Fact| facts.iter().any(|one| one.single && one.valid_to.is_some() && one.valid_to == fact.valid_from);
    let next = facts.iter().find(|fact| !fact.single && follows(fact));
    if let Some(next) = next.filter(|next| next.valid_from <= Some(now) && !is_over(next)) {
        return Some(next.object.clone());
    }
    let until = facts.iter().find(|fact| fact.single && !is_over(fact)).and_then(|fact| fact.valid_to);
    if let Some(until) = until {
        let next = next.map(|next| format!(", then {}", next.object)).unwrap_or_default();
        return Some(format!("{value} (until {}{next})", until.strftime("%Y-%m-%d")));
    }
    if !facts.is_empty() && facts.iter().all(|fact| is_over(fact)) {
        return None;
    }
    let begins = facts.iter().filter(|fact| value.contains(&fact.object)).find_map(|fact| begins(fact, now));
    Some(format!("{value}{}", begins.unwrap_or_default()))
}

/// Suffix for a fact that holds only from a later day on.
fn begins(fact: &Fact, now: Timestamp) -> Option<String> {
    fact.valid_from.filter(|from| *from > now).map(|from| format!(" (from {})", from.strftime("%Y-%m-%d")))
}

fn of_fact(fact: &Fact, now: Timestamp) -> StableLine {
    let begins = begins(fact, now).unwrap_or_default();
    let ended = fact.valid_to.map(|to| format!(" (until {})", to.strftime("%Y-%m-%d"))).unwrap_or_default();
    let text = format!("{}{begins}{ended}", fact.text);
    StableLine { said_at: fact.last_seen, ..kept(vec![fact.id], &fact.subject, fact.trust, text) }
}

fn kept(ids: Vec<ItemId>, speaker: &str, trust: Trust, text: String) -> StableLine {
    StableLine { ids, path: None, speaker: speaker.to_owned(), said_at: None, trust, text }
}

/// A value of the core document as text, as in "Marta (sister), Rui (brother)". `None` if it is empty.
fn in_words(value: &Value) -> Option<String> {
    let said = match value {
        Value::Null => return None,
        Value::String(text) => text.trim().to_owned(),
        Value::Array(entries) => entries.iter().filter_map(in_words).collect::<Vec<_>>().join(", "),
        Value::Object(members) => {
            let name = members.get("name").and_then(in_words);
            let others = members.iter().filter(|(key, _)| *key != "name");
            let beside = others.filter_map(|(_, value)| in_words(value)).filter(|one| name.as_ref() != Some(one));
            let beside = beside.collect::<Vec<_>>().join(", ");
            match name {
                Some(name) if beside.is_empty() => name,
                Some(name) => format!("{name} ({beside})"),
                None => beside,
            }
        }
        other => other.to_string(),
    };
    (!said.is_empty()).then_some(said)
}
