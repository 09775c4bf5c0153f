//! Whether what a model claims stands in the words it quotes: who it is about, what it says, and that nothing turns it round.

use std::collections::BTreeSet;
use std::ops::Range;

use quipu_core::extract::{Stance, USER};
use quipu_core::guard;
use quipu_core::predicate::normal;
use serde::Deserialize;

use crate::rules::RULES_EN;

/// Longest quote, in bytes: a long one grounds anything.
const QUOTE_BYTES_MAX: usize = 300;
/// Longest value, in bytes.
const OBJECT_BYTES_MAX: usize = 120;

/// A claim as a model makes it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Claim {
    pub(crate) subject: String,
    pub(crate) predicate: String,
    pub(crate) object: String,
    pub(crate) stance: Stance,
    pub(crate) quote: String,
}

/// The words of a language that claims are checked by.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Words {
    first_person: BTreeSet<String>,
    possessive: BTreeSet<String>,
    negation: BTreeSet<String>,
    negation_after: Vec<String>,
    past: BTreeSet<String>,
    hedges: BTreeSet<String>,
    relations_of_people: BTreeSet<String>,
    others: BTreeSet<String>,
    contractions: BTreeSet<String>,
}

impl Words {
    /// Those of English, with the relatives and animals of the rules.
    pub(crate) fn english() -> Result<Self, String> {
        let mut words: Self =
            toml::from_str(include_str!("../prompts/grounding.en.toml")).map_err(|error| error.to_string())?;
        let rules: toml::Table = toml::from_str(RULES_EN).map_err(|error| error.to_string())?;
        let tables = rules.get("tables").and_then(toml::Value::as_table);
        for name in ["relations", "species"] {
            let table = tables.and_then(|tables| tables.get(name)).and_then(toml::Value::as_table);
            words.others.extend(table.ok_or_else(|| format!("the rules have no table {name}"))?.keys().cloned());
        }
        Ok(words)
    }
}

/// Where a quote stands in a text, letter for letter; white space may differ.
pub(crate) fn place(text: &str, quote: &str) -> Option<Range<usize>> {
    let quote = quote.trim();
    if quote.is_empty() || quote.len() > QUOTE_BYTES_MAX {
        return None;
    }
    if let Some(start) = text.find(quote) {
        return Some(start..start + quote.len());
    }
    let parts: Vec<&str> = quote.split_whitespace().collect();
    let first = parts.first()?;
    let starts = text.match_indices(first).map(|(start, _)| start);
    starts.into_iter().find_map(|start| follows(text, start, &parts).map(|end| start..end))
}

/// Where these parts end that begin at a place and have only white space between them.
fn follows(text: &str, start: usize, parts: &[&str]) -> Option<usize> {
    let mut at = start;
    for (number, part) in parts.iter().enumerate() {
        let rest = &text[at..];
        let trimmed = if number == 0 { rest } else { rest.trim_start() };
        if number > 0 && trimmed.len() == rest.len() {
            return None;
        }
        at += rest.len() - trimmed.len();
        at += trimmed.strip_prefix(part).map(|_| part.len())?;
    }
    Some(at)
}

fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase().replace('\u{2019}', "'");
    let split = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    split.map(|word| word.trim_matches('\'').to_owned()).filter(|word| !word.is_empty()).collect()
}

/// The sentence a span stands in.
fn sentence<'a>(text: &'a str, span: &Range<usize>) -> &'a str {
    let ends = ['.', '!', '?', '\n', ';'];
    let start = text[..span.start].rfind(ends).map_or(0, |at| at + 1);
    let end = text[span.end..].find(ends).map_or(text.len(), |at| span.end + at + 1);
    &text[start..end]
}

/// Says why a claim does not follow from its quote.
///
/// # Errors
/// The reason, for a report. Where it is not certain, the claim fails: a claim lost is better than one turned round.
pub(crate) fn check(lists: &Words, text: &str, span: &Range<usize>, claim: &Claim) -> Result<(), &'static str> {
    let quote = &text[span.clone()];
    let around = sentence(text, span);
    if guard::looks_like_instructions(quote) || guard::looks_like_instructions(&claim.object) {
        return Err("it reads like an instruction");
    }
    if around.trim_end().ends_with('?') {
        return Err("it is a question");
    }
    let there = words(quote);
    let value = words(&claim.object);
    if value.is_empty() || claim.object.len() > OBJECT_BYTES_MAX || claim.object.chars().any(char::is_control) {
        return Err("it has no value of a usable length");
    }
    let Some(at) = run(&there, &value) else { return Err("its value does not stand in its quote") };
    subject(lists, &there[..at], &there, claim)?;
    polarity(lists, &there, at..at + value.len(), &words(around), &claim.stance)
}

/// Where words stand as a run, the last of them perhaps in the plural.
fn run(there: &[String], value: &[String]) -> Option<usize> {
    let same = |held: &String, word: &String| held == word || held.strip_suffix("'s") == Some(word);
    there.windows(value.len()).position(|window| window.iter().zip(value).all(|(held, word)| same(held, word)))
}

fn subject(lists: &Words, before: &[String], there: &[String], claim: &Claim) -> Result<(), &'static str> {
    if normal(&claim.subject) != USER {
        let name = words(&claim.subject);
        let is_name = claim.subject.trim().chars().next().is_some_and(char::is_uppercase);
        return if is_name && run(there, &name).is_some() {
            Ok(())
        } else {
            Err("its subject does not stand in its quote")
        };
    }
    if !there.iter().any(|word| lists.first_person.contains(word)) {
        return Err("the speaker does not speak of themself there");
    }
    let of_another = before.iter().enumerate().any(|(at, word)| {
        let owned = before[..at].iter().rev().take(3).any(|one| lists.possessive.contains(one));
        owned && lists.others.contains(word.strip_suffix("'s").unwrap_or(word))
    });
    let is_owner = |word: &&String| word.ends_with("'s") && !lists.contractions.contains(*word);
    if lists.relations_of_people.contains(&claim.predicate) && before.iter().any(|word| is_owner(&word)) {
        return Err("it is somebody else's");
    }
    if of_another && !lists.relations_of_people.contains(&claim.predicate) {
        return Err("it is said of somebody else");
    }
    Ok(())
}

fn polarity(
    lists: &Words,
    there: &[String],
    value: Range<usize>,
    around: &[String],
    stance: &Stance,
) -> Result<(), &'static str> {
    let before = &there[..value.start];
    if around.iter().take_while(|word| Some(*word) != there.get(value.start)).any(|word| lists.hedges.contains(word)) {
        return Err("nobody says that it is so");
    }
    let after = there[value.end..].join(" ");
    let denied = before.iter().any(|word| lists.negation.contains(word) || word.ends_with("n't"))
        || lists.negation_after.iter().any(|words| format!(" {after} ").contains(&format!(" {words} ")));
    let past = there.iter().any(|word| lists.past.contains(word));
    match stance {
        Stance::Holds | Stance::Changed if denied => Err("its words say the opposite"),
        Stance::Ended | Stance::Denied if !denied => Err("nothing in its words denies it"),
        Stance::Held if !(denied || past) => Err("nothing in its words says that it is over"),
        Stance::Corrects { .. } => Err("a model may not correct what is known"),
        _ => Ok(()),
    }
}

/// True if a task is the speaker's own and said to be there.
pub(crate) fn is_own_task(lists: &Words, text: &str, span: &Range<usize>, title: &str) -> bool {
    let (quote, around) = (&text[span.clone()], sentence(text, span));
    let (there, named) = (words(quote), words(title));
    let listed = |list: &BTreeSet<String>| words(around).iter().any(|word| list.contains(word));
    !named.is_empty()
        && title.len() <= OBJECT_BYTES_MAX
        && !title.chars().any(char::is_control)
        && named.iter().all(|word| there.contains(word))
        && there.iter().any(|word| lists.first_person.contains(word))
        && !around.trim_end().ends_with('?')
        && !listed(&lists.hedges)
        && !listed(&lists.negation)
        && !guard::looks_like_instructions(quote)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests {
    use super::*;

    #[test]
    fn typical_errors_of_models_are_caught_and_what_is_right_is_kept() {
        let words = Words::english().unwrap();
        for (text, subject, predicate, object, stance, kept) in [
            ("My daughter Anika is allergic to peanuts.", "user", "allergic_to", "peanuts", "holds", false),
            ("My daughter Anika is allergic to peanuts.", "Anika", "allergic_to", "peanuts", "holds", true),
            ("My daughter Anika is allergic to peanuts.", "user", "child", "Anika", "holds", true),
            ("I am in Manchester now, not Leeds.", "user", "lives_in", "Leeds", "holds", false),
            ("I am in Manchester now, not Leeds.", "user", "lives_in", "Manchester", "holds", true),
            ("I no longer eat meat.", "user", "likes_food", "meat", "holds", false),
            ("I no longer eat meat.", "user", "likes_food", "meat", "ended", true),
            ("I don't live in Lyon anymore.", "user", "lives_in", "Lyon", "changed", false),
            ("I love my bike.", "user", "likes", "bike", "denied", false),
            ("Would I like Porto?", "user", "likes", "Porto", "holds", false),
            ("If I lived in Porto, I would swim.", "user", "lives_in", "Porto", "holds", false),
            ("He lives in Porto.", "user", "lives_in", "Porto", "holds", false),
            ("I work as a nurse in Porto.", "user", "works_as", "doctor", "holds", false),
            ("I work as a nurse in Porto.", "Zanzibar", "works_as", "nurse", "holds", false),
            ("I work as a nurse in Porto.", "user", "works_as", "nurse", "held", false),
            ("I used to work as a nurse.", "user", "works_as", "nurse", "held", true),
            ("My boss's dog bites me.", "user", "pet", "dog", "holds", false),
            ("That's my dog, I love it.", "user", "pet", "dog", "holds", true),
            ("I have 3 cats.", "user", "pet", "4 cats", "holds", false),
        ] {
            let stance: Stance = serde_json::from_str(&format!("{stance:?}")).unwrap();
            let claim = Claim {
                subject: subject.to_owned(),
                predicate: predicate.to_owned(),
                object: object.to_owned(),
                stance,
                quote: text.to_owned(),
            };
            let span = place(text, text).unwrap();
            let verdict = check(&words, text, &span, &claim);
            assert_eq!(verdict.is_ok(), kept, "{subject} {predicate} {object} in {text:?}: {verdict:?}");
        }
    }

    #[test]
    fn a_quote_is_found_only_where_it_stands() {
        let text = "Well.  I moved\nto Porto in May.";
        assert_eq!(place(text, "I moved to Porto").map(|span| &text[span]), Some("I moved\nto Porto"));
        assert_eq!(place(text, "to Porto in May."), Some(15..31));
        for absent in ["I moved to Lisbon", "i moved", "", "I movedto Porto", &"a".repeat(400)] {
            assert_eq!(place(text, absent), None, "{absent:?}");
        }
    }

    #[test]
    fn a_task_is_the_speakers_own() {
        let words = Words::english().unwrap();
        for (text, title, own) in [
            ("I need to renew my passport.", "renew my passport", true),
            ("Should I renew my passport?", "renew my passport", false),
            ("I need to renew my passport.", "renew my visa", false),
            ("Ana needs to renew her passport.", "renew her passport", false),
            ("I don't need to renew my passport.", "renew my passport", false),
        ] {
            assert_eq!(is_own_task(&words, text, &(0..text.len()), title), own, "{title} in {text}");
        }
    }
}
