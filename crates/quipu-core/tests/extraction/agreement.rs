//! When a find is what a label says.

use std::collections::BTreeSet;

use frostem::{Algorithm, Stemmer};
use jiff::Timestamp;
use quipu_core::extract::{FactCandidate, Stance, TaskCandidate, TaskKind, TaskNews};
use quipu_core::predicate::normal;

use crate::label::{FactLabel, TaskLabel, any_of};

/// Same subject, predicate and object, a stance of the same family, and whatever else the label states.
pub(crate) fn fact_agrees(found: &FactCandidate, label: &FactLabel, predicate: &str) -> bool {
    any_of(&label.subject).any(|subject| subject.to_lowercase() == found.subject.to_lowercase())
        && predicate == found.predicate
        && any_of(&label.object).any(|object| object_agrees(&found.object, object))
        && any_of(label.stance()).any(|stance| stance_agrees(&found.stance, stance))
        && label.not.as_deref().is_none_or(|not| {
            let Stance::Corrects { not: Some(wrong) } = &found.stance else { return false };
            any_of(not).any(|not| object_agrees(wrong, not))
        })
        && begins(found.valid_from, label.from.as_deref())
        && begins(found.valid_to, label.to.as_deref())
        && label.qualifiers.iter().all(|(name, value)| {
            let Some(found) = found.qualifiers.get(name) else { return false };
            any_of(value).any(|value| object_agrees(found, value))
        })
}

/// Same kind and news, half of the words of the title, and whatever else the label states.
pub(crate) fn task_agrees(found: &TaskCandidate, label: &TaskLabel) -> bool {
    let kind = match found.kind {
        TaskKind::Task => "task",
        TaskKind::Goal => "goal",
        TaskKind::Problem => "problem",
    };
    let (news, approach, successful) = match &found.news {
        TaskNews::Opened => ("opened", None, None),
        TaskNews::Done => ("done", None, None),
        TaskNews::Dropped => ("dropped", None, None),
        TaskNews::Tried { approach, successful, .. } => ("tried", Some(approach), *successful),
    };
    any_of(&label.kind).any(|name| name == kind)
        && any_of(&label.news).any(|name| name == news)
        && any_of(&label.title).any(|title| title_agrees(&found.title, title))
        && begins(found.due, label.due.as_deref())
        // What was tried is asked only of a find that says that something was.
        && approach.is_none_or(|found| {
            label.approach.as_deref().is_none_or(|label| any_of(label).any(|label| title_agrees(found, label)))
                && (label.successful.is_none() || label.successful == successful)
        })
}

/// Equal as the registry compares values, or one within the other by whole words and at least half as long.
pub(crate) fn object_agrees(found: &str, label: &str) -> bool {
    let (found, label) = (normal(found), normal(label));
    if found == label {
        return true;
    }
    let words = [found.as_str(), label.as_str()].map(|value| value.split_whitespace().collect::<Vec<_>>());
    let [shorter, longer] =
        if words[0].len() <= words[1].len() { [&words[0], &words[1]] } else { [&words[1], &words[0]] };
    !shorter.is_empty()
        && shorter.len() * 2 >= longer.len()
        && longer.windows(shorter.len()).any(|part| part == shorter.as_slice())
}

fn stance_agrees(found: &Stance, label: &str) -> bool {
    match found {
        Stance::Holds | Stance::Changed => matches!(label, "holds" | "changed"),
        Stance::Held | Stance::Ended => matches!(label, "held" | "ended"),
        Stance::Denied => label == "denied",
        Stance::Corrects { .. } => label == "corrects",
    }
}

/// A title in other words: half of the label's words that mean something, and a third of its own.
pub(crate) fn title_agrees(found: &str, label: &str) -> bool {
    let (found, label) = (content(found), content(label));
    let shared = found.intersection(&label).count();
    shared > 0 && shared * 2 >= label.len() && shared * 3 >= found.len()
}

/// The stems of the words that mean something; of all words if none does.
fn content(text: &str) -> BTreeSet<String> {
    let stemmer = Stemmer::new(Algorithm::English);
    let lower = text.to_lowercase().replace(['\'', '’'], "");
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let common = stop_words::lookup("en").unwrap_or_default();
    let telling: Vec<&str> = words.iter().copied().filter(|word| !common.contains(word)).collect();
    let words = if telling.is_empty() { words } else { telling };
    words.iter().map(|word| stemmer.stem(word).to_string()).collect()
}

/// The time begins with one of the prefixes; without prefixes anything will do.
fn begins(time: Option<Timestamp>, prefixes: Option<&str>) -> bool {
    let Some(prefixes) = prefixes else { return true };
    let Some(time) = time else { return false };
    any_of(prefixes).any(|prefix| time.to_string().starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::{Case, as_fact, as_task};

    /// Whether the find, written as a label, agrees with the label.
    fn agrees(found: &str, label: &str) -> bool {
        let case = |facts: &str| format!(r#"{{"id":"d0","text":"","speaker":"user","facts":[{facts}],"tasks":[]}}"#);
        let found: Case = serde_json::from_str(&case(found)).unwrap();
        let label: Case = serde_json::from_str(&case(label)).unwrap();
        let find = as_fact(&found.facts[0], &found);
        label.facts[0].predicates().any(|predicate| fact_agrees(&find, &label.facts[0], predicate))
    }

    #[test]
    fn objects_agree_by_whole_words_and_half_the_length() {
        for (found, label, expected) in [
            ("the Greek yogurt", "greek yogurt", true),
            ("Greek yogurt", "Greek yogurt with honey", true),
            ("yogurt", "Greek yogurt with honey", false),
            ("Greek yogurt with honey and nuts", "Greek yogurt", false),
            ("port", "Porto", false),
            ("Porto, Portugal", "Porto", true),
            ("", "", true),
            ("", "Porto", false),
            ("Porto", "", false),
        ] {
            assert_eq!(object_agrees(found, label), expected, "{found:?} {label:?}");
        }
    }

    #[test]
    fn facts_agree_in_what_the_label_states() {
        let label = r#"{"s":"user","p":"lives_in","o":"Porto","from":"2026-03"}"#;
        for (found, expected) in [
            (r#"{"s":"User","p":"lives_in","o":"porto","from":"2026-03-07"}"#, true),
            (r#"{"s":"user","p":"lives_in","o":"Porto","stance":"changed","from":"2026-03-07"}"#, true),
            (r#"{"s":"user","p":"lives_in","o":"Porto","from":"2026-03-07","q":{"since":"March"}}"#, true),
            (r#"{"s":"user","p":"lives_in","o":"Porto","from":"2026-04"}"#, false),
            (r#"{"s":"user","p":"lives_in","o":"Porto"}"#, false),
            (r#"{"s":"user","p":"lives_in","o":"Porto","stance":"held","from":"2026-03"}"#, false),
            (r#"{"s":"Anna","p":"lives_in","o":"Porto","from":"2026-03"}"#, false),
            (r#"{"s":"user","p":"from","o":"Porto","from":"2026-03"}"#, false),
        ] {
            assert_eq!(agrees(found, label), expected, "{found}");
        }
    }

    #[test]
    fn a_label_may_leave_room() {
        let label = r#"{"s":"user","p":"hobby|exercises","o":"run|running","stance":"ended|denied","q":{"frequency":"daily|every day"}}"#;
        for (found, expected) in [
            (r#"{"s":"user","p":"hobby","o":"run","stance":"denied","q":{"frequency":"daily"}}"#, true),
            (r#"{"s":"user","p":"exercises","o":"running","stance":"held","q":{"frequency":"every day"}}"#, true),
            (r#"{"s":"user","p":"exercises","o":"running","stance":"held"}"#, false),
            (r#"{"s":"user","p":"habit","o":"running","stance":"held","q":{"frequency":"daily"}}"#, false),
            (r#"{"s":"user","p":"hobby","o":"run","stance":"holds","q":{"frequency":"daily"}}"#, false),
        ] {
            assert_eq!(agrees(found, label), expected, "{found}");
        }
    }

    #[test]
    fn a_denial_is_no_end_and_a_correction_nothing_else() {
        for (found, label, expected) in [
            ("denied", "ended", false),
            ("ended", "denied", false),
            ("ended", "held", true),
            ("corrects", "holds", false),
            ("changed", "corrects", false),
            ("corrects", "corrects", true),
        ] {
            let fact = |stance: &str| format!(r#"{{"s":"user","p":"uses","o":"Vim","stance":"{stance}"}}"#);
            assert_eq!(agrees(&fact(found), &fact(label)), expected, "{found} {label}");
        }
    }

    #[test]
    fn a_wrong_value_that_the_label_names_must_be_named() {
        let label = r#"{"s":"user","p":"age","o":"41","stance":"corrects","not":"40"}"#;
        assert!(agrees(label, label));
        assert!(!agrees(r#"{"s":"user","p":"age","o":"41","stance":"corrects"}"#, label));
        assert!(!agrees(r#"{"s":"user","p":"age","o":"41","stance":"corrects","not":"39"}"#, label));
    }

    #[test]
    fn titles_agree_by_half_of_their_words() {
        for (found, label, expected) in [
            ("renewing the passport", "renew my passport", true),
            ("passport", "renew my passport", true),
            ("renew my licence", "renew my passport", true),
            ("waking up at four", "keep waking at four in the morning", true),
            ("call the bank", "renew my passport", false),
            ("and then I went to renew some things at the office near the river in town", "renew", false),
        ] {
            assert_eq!(title_agrees(found, label), expected, "{found:?} {label:?}");
        }
    }

    #[test]
    fn tasks_agree_in_what_the_label_states() {
        let read = |task: &str| -> Case {
            serde_json::from_str(&format!(r#"{{"id":"d0","text":"","speaker":"user","facts":[],"tasks":[{task}]}}"#))
                .unwrap()
        };
        let label = read(
            r#"{"kind":"problem","news":"tried","title":"glucose spikes","approach":"walking after dinner","successful":true}"#,
        );
        for (found, expected) in [
            (r#"{"kind":"problem","news":"tried","title":"spikes","approach":"walking","successful":true}"#, true),
            (r#"{"kind":"problem","news":"tried","title":"spikes","approach":"walking","successful":false}"#, false),
            (r#"{"kind":"problem","news":"tried","title":"spikes","approach":"insulin","successful":true}"#, false),
            (r#"{"kind":"problem","news":"opened","title":"glucose spikes"}"#, false),
            (r#"{"kind":"goal","news":"tried","title":"spikes","approach":"walking","successful":true}"#, false),
        ] {
            let found = read(found);
            let find = as_task(&found.tasks[0], &found);
            assert_eq!(task_agrees(&find, &label.tasks[0]), expected, "{find:?}");
        }
    }
}
