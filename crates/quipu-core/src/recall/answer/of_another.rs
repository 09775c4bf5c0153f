//! Detects results that are about someone other than the person in question.

use std::collections::BTreeSet;

use crate::episode;
use crate::event::SourceKind;
use crate::id::ItemKind;
use crate::item::{Evidence, Fact};
use crate::memory::{HeldSource, Memory};
use crate::recall::answer::trace::Term;
use crate::recall::index::cues;
use crate::recall::index::derived::{DerivedIndex, asked_by, terms};
use crate::recall::query::about::About;
use crate::recall::query::plan::QueryPlan;
use crate::recall::rank::group::{AnswerGroup, GroupLead};
use crate::source::Role;
use crate::text::tokens;

/// Number of answers examined.
const NEAR_THE_BEST: usize = 5;
/// Minimum share of the question's terms found only in statements about others. Of 442 questions to people's chats with
/// an assistant, it is reached for one in a hundred answerable ones and for one in eleven others.
const APART_FROM: f64 = 0.5;
/// Pronouns for a person named before.
const PRONOUNS: [&str; 8] = ["he", "she", "they", "his", "her", "their", "him", "them"];

/// Returns true if the best answer rests on statements about someone else and no answer near it on statements about the
/// person in question.
pub(in crate::recall) fn is_of_another(
    memory: &Memory,
    derived: &DerivedIndex,
    plan: &QueryPlan,
    groups: &[AnswerGroup],
) -> bool {
    let Some(about) = &plan.about else { return false };
    let asked = |fact: &&Fact| plan.asked.iter().any(|term| asked_by(&fact.predicate).contains(term));
    let mut told = groups.iter().take(NEAR_THE_BEST).map(|group| {
        let facts = facts_of(memory, derived, group);
        facts.into_iter().filter(asked).collect::<Vec<_>>()
    });
    let best = told.next().unwrap_or_default();
    // "Dentist appointment for Mira" is a fact about the user, and its words name Mira.
    let names_them = |fact: &Fact| {
        let words = |at: &Evidence| memory.get(at.source)?.source.text.get(at.start as usize..at.end as usize);
        fact.evidence.iter().filter_map(words).any(|words| about.is_named_in(words))
    };
    let of_others = !best.is_empty() && best.iter().all(|fact| about.excludes(fact) && !names_them(fact));
    of_others && !told.flatten().any(|fact| about.is_of(fact))
}

/// Returns true if a sentence near the best matches the question, but none about the person in question: "My son Leo is
/// 6. I am allergic to shellfish." does not say what Leo is allergic to.
pub(in crate::recall) fn is_said_of_others(
    memory: &Memory,
    derived: &DerivedIndex,
    (plan, weights): (&QueryPlan, &[Term]),
    groups: &[AnswerGroup],
) -> bool {
    let Some(about) = &plan.about else { return false };
    let names: BTreeSet<String> = about.names().iter().flat_map(|name| terms(name)).collect();
    let asked: Vec<(&str, f64)> = weights
        .iter()
        .filter(|one| plan.asked.contains(&one.term) && !names.contains(&one.term))
        .map(|one| (one.term.as_str(), f64::from(one.idf)))
        .collect();
    let whole: f64 = asked.iter().map(|(_, weight)| weight).sum();
    let (mut of_them, mut of_anybody) = (0.0, 0.0);
    let mut note = |is_theirs: bool, has: &dyn Fn(&str) -> bool| {
        let share = asked.iter().filter(|(term, _)| has(term)).map(|(_, weight)| weight).sum::<f64>() / whole;
        of_anybody = share.max(of_anybody);
        of_them = if is_theirs { share.max(of_them) } else { of_them };
    };
    for group in groups.iter().take(NEAR_THE_BEST) {
        for fact in facts_of(memory, derived, group) {
            let (relation, own) = (asked_by(&fact.predicate), terms(&fact.text));
            let is_theirs = about.is_of(fact) || about.is_named_in(&fact.text);
            note(is_theirs, &|term| relation.contains(term) || own.iter().any(|one| one == term));
        }
        let Some(source) = source_of(memory, group) else { continue };
        for (sentence, is_theirs) in sentences(source, Some(about)) {
            let own = terms(sentence);
            note(is_theirs, &|term| own.iter().any(|one| one == term));
        }
    }
    whole > 0.0 && of_anybody - of_them >= APART_FROM
}

/// Returns true if the question asks for a kind of value, such as an age, and no sentence near the best about the
/// person in question may contain one: "Tom works at Delta." does not say how old Tom is.
pub(in crate::recall) fn lacks_the_value(
    memory: &Memory,
    derived: &DerivedIndex,
    plan: &QueryPlan,
    groups: &[AnswerGroup],
) -> bool {
    let Some(kind) = cues::value_kind(&plan.text) else { return false };
    let about = plan.about.as_ref();
    let is_theirs = |fact: &Fact| about.is_none_or(|about| !about.excludes(fact));
    !groups.iter().take(NEAR_THE_BEST).any(|group| {
        let drawn = match &group.lead {
            GroupLead::Derived(hit) if hit.id.kind != ItemKind::Fact => memory.items().text(hit.id),
            _ => None,
        };
        let facts = facts_of(memory, derived, group).into_iter().filter(|fact| is_theirs(fact));
        let said = source_of(memory, group).into_iter().flat_map(|source| sentences(source, about));
        let theirs = said.filter(|(_, is_theirs)| *is_theirs).map(|(sentence, _)| sentence);
        facts.map(|fact| fact.text.as_str()).chain(drawn).chain(theirs).any(|text| kind.may_be_in(text))
    })
}

/// The source of an answer, or the one it was found by.
fn source_of<'a>(memory: &'a Memory, group: &AnswerGroup) -> Option<&'a HeldSource> {
    let ordinal = match &group.lead {
        GroupLead::Source(hit) => Some(hit.ordinal),
        GroupLead::Derived(hit) => hit.witness,
    };
    ordinal.map(|ordinal| &memory.sources()[ordinal as usize])
}

/// The facts of an answer.
fn facts_of<'a>(memory: &'a Memory, derived: &DerivedIndex, group: &AnswerGroup) -> Vec<&'a Fact> {
    let (source, drawn) = match &group.lead {
        GroupLead::Source(_) => (source_of(memory, group), None),
        GroupLead::Derived(hit) => (None, Some(hit.id)),
    };
    let read = source.into_iter().flat_map(|held| derived.read_from(held.source.id));
    read.chain(drawn).chain(group.also.iter().copied()).filter_map(|id| memory.items().fact(id)).collect()
}

/// The sentences of a source, each with whether it is by or about the person in question; true for all if there is no
/// such person.
fn sentences<'a>(held: &'a HeldSource, about: Option<&About>) -> impl Iterator<Item = (&'a str, bool)> {
    let mut is_theirs = false;
    episode::sentences(&held.source.text).into_iter().map(move |sentence| {
        let sentence = &held.source.text[sentence];
        is_theirs = about.is_none_or(|about| speaks_of(about, held, sentence, is_theirs));
        (sentence, is_theirs)
    })
}

/// Returns true for words by or about the person; `before` is the result for the preceding sentence.
fn speaks_of(about: &About, held: &HeldSource, sentence: &str, before: bool) -> bool {
    let source = &held.source;
    let speaker = source.speaker().to_lowercase();
    // In an imported chat others have the role of a user too.
    let is_own = source.role == Role::User && (source.author.is_none() || held.from == SourceKind::UserSaid);
    let is_speaker = about.names().contains(&speaker) || about.is_user() && is_own;
    let goes_on = || before && tokens::words(sentence).iter().any(|word| PRONOUNS.contains(&word.lower.as_str()));
    is_speaker || about.is_named_in(sentence) || goes_on()
}
