//! Names in a question, of people and of anything else.

use crate::recall::index::names::NamedPerson;
use crate::recall::index::names::is_name_here;
use crate::recall::index::when::says_when;
use crate::text::tokens::{TextToken, is_stop_word};

/// The people a question names and its other capitalised names, each once and in order.
pub(in crate::recall) fn of(text: &str, words: &[TextToken], people: &[NamedPerson]) -> Vec<String> {
    let is_capital = |at: &usize| {
        let word = &words[*at];
        let plain = is_stop_word(&word.lower) || says_when(std::slice::from_ref(word));
        text[word.start..].starts_with(char::is_uppercase) && !plain
    };
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let person = people.iter().filter(|one| one.words.start == at).max_by_key(|one| one.words.len());
        let end = match person {
            Some(one) => one.words.end,
            // The first word of a question is always capitalised.
            None if at > 0 && is_capital(&at) && is_name_here(text, words, &(at..at + 1)) => (at + 1..words.len())
                .find(|at| !is_capital(at) || people.iter().any(|one| one.words.start == *at))
                .unwrap_or(words.len()),
            None => {
                at += 1;
                continue;
            }
        };
        let name = text[words[at].start..words[end - 1].end].to_owned();
        if !found.iter().any(|(_, known)| known.eq_ignore_ascii_case(&name)) {
            found.push((at, name));
        }
        at = end;
    }
    found.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tokens::words;

    #[test]
    fn names_of_people_places_and_things() {
        for (text, expected) in [
            ("What did Anna buy in Sagres?", vec!["Anna", "Sagres"]),
            ("who gave anna the Blue Note record?", vec!["anna", "Blue Note"]),
            ("Did Anna's sister see Anna in May?", vec!["Anna"]),
            ("Where is the key?", vec![]),
            ("What Happened On Monday?", vec!["Happened"]),
        ] {
            let all = words(text);
            let people: Vec<NamedPerson> = all
                .iter()
                .enumerate()
                .filter(|(_, word)| word.lower == "anna")
                .map(|(at, word)| NamedPerson { words: at..at + 1, name: word.lower.clone() })
                .collect();
            assert_eq!(of(text, &all, &people), expected, "{text:?}");
        }
    }
}
