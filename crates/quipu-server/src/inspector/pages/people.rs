//! People: who is who to the user, and what is known of each, from the facts that hold.

use std::collections::BTreeMap;

use askama::Template;
use quipu_core::extract::REMARK;
use quipu_core::id::ItemId;
use quipu_core::item::{Fact, FactStatus};
use quipu_core::predicate::Predicates;
use quipu_engine::ports::Scope;
use quipu_engine::{FactOptions, facts};

use super::super::frame::{Frame, Page, PageContext, PageResult, page};
use super::super::shown;
use crate::http::Fault;

/// The subject of facts about the user.
const USER: &str = "user";
/// Facts of a person listed at once; the others are behind a click, up to a bound.
const FACTS_MAX: usize = 6;
const MORE_MAX: usize = 60;
/// People of a group listed.
const PEOPLE_MAX: usize = 200;
/// Least letters of a name that is looked for in other facts.
const NAME_LETTERS_MIN: usize = 3;

/// The groups in their order, and the relations in each. The last one is for those without a relation.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Partner", &["partner"]),
    ("Family", &["child", "parent", "sibling", "relative"]),
    ("Friends and neighbours", &["friend"]),
    ("Work and services", &["colleague"]),
    ("Pets", &["pet"]),
    ("No longer together", &["former_partner"]),
    ("Others who came up", &[]),
];

pub(super) fn pages() -> Vec<Page> {
    vec![Page::get("/ui/u/{user_id}/people", Scope::Read, people)]
}

/// A fact on a line, which leads to its item.
struct PersonFact {
    id: ItemId,
    text: String,
    /// Its status, unless it is active.
    state: String,
    tone: &'static str,
}

/// A person, and what is known of them.
struct Person {
    name: String,
    /// What they are to the user: `sister`, `friend`. Empty without a relation.
    roles: Vec<(String, PersonFact)>,
    facts: Vec<PersonFact>,
    more: Vec<PersonFact>,
    /// What was so once.
    earlier: Vec<PersonFact>,
}

struct PeopleGroup {
    name: &'static str,
    people: Vec<Person>,
    /// Number of people not listed.
    more: usize,
}

#[derive(Template)]
#[template(path = "people.html")]
struct People {
    f: Frame,
    groups: Vec<PeopleGroup>,
}

/// A person while facts are collected.
#[derive(Default)]
struct Collected<'a> {
    name: String,
    relations: Vec<&'a Fact>,
    own: Vec<&'a Fact>,
    earlier: Vec<&'a Fact>,
}

fn line(fact: &Fact) -> PersonFact {
    let state = if fact.status == FactStatus::Active { String::new() } else { shown::word(&fact.status) };
    PersonFact { id: fact.id, text: fact.text.clone(), tone: shown::tone(&state), state }
}

/// The relation of a fact, if it says who somebody is to its subject.
fn relation<'a>(known: &'a Predicates, fact: &'a Fact) -> Option<&'a str> {
    let name = known.of_role(&fact.predicate).unwrap_or(&fact.predicate);
    GROUPS.iter().any(|(_, relations)| relations.contains(&name)).then_some(name)
}

/// What somebody is to the user, as it was said: a sister and not a sibling.
fn role(fact: &Fact) -> String {
    let said = fact.qualifiers.get("relation").or_else(|| fact.qualifiers.get("species"));
    said.map_or(fact.predicate.as_str(), String::as_str).replace('_', " ").to_lowercase()
}

/// True if a text has a name as whole words.
fn names(text: &str, name: &str) -> bool {
    let is_edge = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric());
    name.chars().count() >= NAME_LETTERS_MIN
        && text
            .match_indices(name)
            .any(|(at, _)| is_edge(text[..at].chars().next_back()) && is_edge(text[at + name.len()..].chars().next()))
}

fn key(name: &str) -> String {
    name.trim().to_lowercase()
}

/// Everybody by name, from the facts that hold and those that did.
fn collected<'a>(known: &Predicates, all: &'a [Fact]) -> BTreeMap<String, Collected<'a>> {
    let mut people: BTreeMap<String, Collected<'a>> = BTreeMap::new();
    let holds = |fact: &Fact| matches!(fact.status, FactStatus::Active | FactStatus::Contested | FactStatus::Uncertain);
    for fact in all.iter().filter(|fact| holds(fact)) {
        let of = relation(known, fact);
        if fact.subject != USER {
            let person = people.entry(key(&fact.subject)).or_default();
            person.name.clone_from(&fact.subject);
            person.own.push(fact);
        }
        if of.is_some() {
            let person = people.entry(key(&fact.object)).or_default();
            if person.name.is_empty() {
                person.name.clone_from(&fact.object);
            }
            match fact.subject == USER {
                true => person.relations.push(fact),
                false => person.own.push(fact),
            }
        }
    }
    // What was said of the user together with them; and what somebody was once.
    for fact in all.iter().filter(|fact| fact.subject == USER) {
        let is_relation = relation(known, fact).is_some();
        if holds(fact) && !is_relation {
            people.values_mut().filter(|one| names(&fact.text, &one.name)).for_each(|one| one.own.push(fact));
        }
        if fact.status == FactStatus::Superseded && is_relation {
            let person = people.entry(key(&fact.object)).or_default();
            if person.name.is_empty() {
                person.name.clone_from(&fact.object);
            }
            person.earlier.push(fact);
        }
    }
    people
}

fn person(found: Collected<'_>) -> Person {
    let lines: Vec<PersonFact> = found.own.iter().take(FACTS_MAX + MORE_MAX).map(|fact| line(fact)).collect();
    let mut lines = lines.into_iter();
    Person {
        name: found.name,
        roles: found.relations.iter().map(|fact| (role(fact), line(fact))).collect(),
        facts: lines.by_ref().take(FACTS_MAX).collect(),
        more: lines.collect(),
        earlier: found.earlier.iter().map(|fact| line(fact)).collect(),
    }
}

fn groups(known: &Predicates, all: &[Fact]) -> Vec<PeopleGroup> {
    let mut groups = GROUPS.map(|(name, _)| PeopleGroup { name, people: Vec::new(), more: 0 });
    let last = GROUPS.len() - 1;
    for found in collected(known, all).into_values() {
        let of = |fact: &&Fact| {
            let relation = relation(known, fact)?;
            GROUPS.iter().position(|(_, relations)| relations.contains(&relation))
        };
        let place = found.relations.iter().filter_map(of).min().unwrap_or(last);
        let Some(group) = groups.get_mut(place) else { continue };
        match group.people.len() < PEOPLE_MAX {
            true => group.people.push(person(found)),
            false => group.more += 1,
        }
    }
    groups.into_iter().filter(|group| !group.people.is_empty()).collect()
}

fn people(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let f = desk.frame_of(&user, "People", "people")?;
    let all = facts(desk.engine, &user, &FactOptions { all: true, ..FactOptions::default() })?;
    let all: Vec<Fact> = all.into_iter().map(|one| one.fact).filter(|fact| fact.predicate != REMARK).collect();
    page(&People { f, groups: groups(desk.engine.predicates(), &all) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_as_a_word() {
        let found = ["User sails with Ana.", "Ana and Rui", "User likes bananas", "User ate (Ana's) cake"]
            .map(|text| names(text, "Ana"));
        assert_eq!(found, [true, true, false, true]);
        assert!(!names("User is at Bo's", "Bo"), "two letters are too few to look for");
    }

    #[test]
    fn every_relation_is_in_one_group_and_known() {
        let known = Predicates::default_registry();
        let all: Vec<&str> = GROUPS.iter().flat_map(|(_, relations)| relations.iter().copied()).collect();
        assert!(all.iter().all(|name| known.has(name)), "{all:?}");
        let once: std::collections::BTreeSet<&str> = all.iter().copied().collect();
        assert_eq!(once.len(), all.len());
    }
}
