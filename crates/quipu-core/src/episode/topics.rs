//! Extracts the topics of a stretch as phrases of its speakers.

use std::collections::BTreeMap;

use super::reading::{Reading, is_telling};
use super::words::{Sentence, SentenceWord, english};

/// Maximum number of topics of an episode.
pub const TOPICS_MAX: usize = 5;

/// Maximum number of words of a topic.
const WORDS_MAX: usize = 3;

/// Minimum score of a topic, as a share of the best topic's score.
const SHARE_MIN: f64 = 0.3;

/// Factors for a word in the position of a noun and of a verb.
const AFTER_ARTICLE: f64 = 1.5;
const AFTER_PRONOUN: f64 = 0.3;

/// Factors for a single word without a noun ending ("creative") and for one in -ing, which may be a noun.
const SELDOM_NOUN: f64 = 0.3;
const GERUND: f64 = 0.7;

#[derive(Debug, Default)]
struct Phrase {
    /// Surface form of the first occurrence, preferably not at the start of a sentence.
    shown: String,
    opens: bool,
    stems: Vec<String>,
    /// Rank of the phrase in order of appearance.
    first: usize,
    score: f64,
}

/// Returns at most [`TOPICS_MAX`] phrases of one to three words in their surface form, highest score first, ties by
/// first appearance. Excludes speakers' names and vague words; no two share a word.
///
/// A phrase is a run of content words between stop words and punctuation, as in RAKE (Rose et al. 2010, *Automatic
/// keyword extraction from individual documents*). Its score is the mean `tf · idf` of its words times `√words`, at its
/// best occurrence: ×1.5 after an article, preposition or number (noun position); ×.3 for a single word after a
/// pronoun, auxiliary or "to" (verb position). A single word counts ×.7 if it ends in -ing and ×.3 if it ends like an
/// adjective or participle.
pub(super) fn topics(reading: &Reading<'_>) -> Vec<String> {
    let mut phrases: BTreeMap<Vec<String>, Phrase> = BTreeMap::new();
    for said in &reading.sentences {
        let text = reading.turns[said.turn].text;
        for run in runs(said.sentence, reading) {
            let run = if run.len() > WORDS_MAX { &run[run.len() - WORDS_MAX..] } else { run };
            let stems: Vec<String> = run.iter().filter_map(|word| word.stem.clone()).collect();
            let opens = said.sentence.words[0].span == run[0].span;
            let shown = &text[run[0].span.start..run[run.len() - 1].span.end];
            let score =
                shape(run) * place(said.sentence, run, reading) * mean_weight(run, reading) * (run.len() as f64).sqrt();
            let first = phrases.len();
            let phrase = phrases.entry(stems).or_insert_with_key(|stems| Phrase {
                shown: shown.to_owned(),
                opens,
                stems: stems.clone(),
                first,
                score: 0.0,
            });
            phrase.score = phrase.score.max(score);
            if phrase.opens && !opens {
                phrase.shown = shown.to_owned();
                phrase.opens = false;
            }
        }
    }
    let mut ranked: Vec<Phrase> = phrases.into_values().collect();
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.first.cmp(&b.first)));
    let best = ranked.first().map_or(0.0, |phrase| phrase.score);
    let mut chosen: Vec<Phrase> = Vec::new();
    for phrase in ranked {
        let taken = chosen.iter().any(|other| other.stems.iter().any(|stem| phrase.stems.contains(stem)));
        if !taken && phrase.score >= SHARE_MIN * best && chosen.len() < TOPICS_MAX {
            chosen.push(phrase);
        }
    }
    chosen.into_iter().map(|phrase| phrase.shown).collect()
}

/// Runs of content words of a sentence, separated only by blanks.
fn runs<'s>(sentence: &'s Sentence, reading: &Reading<'_>) -> Vec<&'s [SentenceWord]> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, word) in sentence.words.iter().enumerate() {
        let telling = is_telling(word, &reading.names);
        if !telling || !word.joined {
            found.push(&sentence.words[start..at]);
            start = if telling { at } else { at + 1 };
        }
    }
    found.push(&sentence.words[start..]);
    // The word after a pronoun or "to" is a verb: "I adopted [a puppy]", "to plant tomatoes".
    let mut nouns: Vec<&[SentenceWord]> = found
        .into_iter()
        .map(|run| if run.len() > 1 && follows_verb_sign(sentence, run, reading) { &run[1..] } else { run })
        .collect();
    // Drops a trailing participle: "a vacation lined up" -> "vacation".
    nouns.iter_mut().for_each(|run| {
        if run.len() > 1 && run.last().is_some_and(|word| word.lower.ends_with("ed")) {
            *run = &run[..run.len() - 1];
        }
    });
    nouns.retain(|run| !run.is_empty());
    nouns
}

fn before<'s>(sentence: &'s Sentence, run: &[SentenceWord]) -> Option<&'s SentenceWord> {
    sentence.words.iter().take_while(|word| word.span.end <= run[0].span.start).last()
}

/// Returns true directly after a pronoun, an auxiliary, "to" or a speaker's name; a possessive or a comma separates the
/// two.
fn follows_verb_sign(sentence: &Sentence, run: &[SentenceWord], reading: &Reading<'_>) -> bool {
    before(sentence, run).is_some_and(|word| {
        word.span.end + 1 == run[0].span.start
            && (english().before_verb.contains(word.lower.as_str()) || reading.names.contains(&word.lower))
    })
}

fn place(sentence: &Sentence, run: &[SentenceWord], reading: &Reading<'_>) -> f64 {
    if before(sentence, run).is_some_and(|word| english().before_noun.contains(word.lower.as_str())) {
        AFTER_ARTICLE
    } else if run.len() == 1 && follows_verb_sign(sentence, run, reading) {
        AFTER_PRONOUN
    } else {
        1.0
    }
}

fn shape(run: &[SentenceWord]) -> f64 {
    let [word] = run else { return 1.0 };
    if english().not_noun_endings.iter().any(|ending| word.lower.ends_with(ending.as_str())) {
        SELDOM_NOUN
    } else if word.lower.ends_with("ing") {
        GERUND
    } else {
        1.0
    }
}

fn mean_weight(run: &[SentenceWord], reading: &Reading<'_>) -> f64 {
    run.iter().map(|word| reading.weight(word)).sum::<f64>() / run.len() as f64
}
