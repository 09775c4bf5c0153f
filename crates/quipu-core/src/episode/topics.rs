//! What a stretch is about, in a few phrases of its speakers.

use std::collections::BTreeMap;

use super::reading::{Reading, is_telling};
use super::words::{Sentence, SentenceWord, english};

/// Most topics of an episode.
pub const TOPICS_MAX: usize = 5;

/// Most words of one topic.
const WORDS_MAX: usize = 3;

/// Share of the best topic's score a topic must have.
const SHARE_MIN: f64 = 0.3;

/// What a word counts where a noun stands, and where a verb does.
const AFTER_ARTICLE: f64 = 1.5;
const AFTER_PRONOUN: f64 = 0.3;

/// What a single word counts that does not end like a noun ("creative"), and one in -ing, which may be one.
const SELDOM_NOUN: f64 = 0.3;
const GERUND: f64 = 0.7;

#[derive(Debug, Default)]
struct Phrase {
    /// As first said, where possible not at the start of a sentence.
    shown: String,
    opens: bool,
    stems: Vec<String>,
    /// Number of the phrase in the order of appearance.
    first: usize,
    score: f64,
}

/// At most [`TOPICS_MAX`] phrases of one to three words as they were said, most telling first, the earlier of equals
/// first; no speaker's name, no vague word, no two with a word in common.
///
/// A phrase is a run of telling words between stop words and marks, as in RAKE (Rose et al. 2010, *Automatic keyword
/// extraction from individual documents*). It scores the mean `tf · idf` of its words times `√words`, the best of its
/// places: ×1.5 after an article, preposition or number, where a noun stands; ×.3 for a single word after a pronoun,
/// auxiliary or "to", where a verb does. A single word counts ×.7 if it ends in -ing and ×.3 if it ends like an
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

/// Runs of telling words of a sentence, nothing but a blank between them.
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
    // What follows a pronoun or "to" is a verb: "I adopted [a puppy]", "to plant tomatoes".
    let mut nouns: Vec<&[SentenceWord]> = found
        .into_iter()
        .map(|run| if run.len() > 1 && follows_verb_sign(sentence, run, reading) { &run[1..] } else { run })
        .collect();
    // "a vacation lined up" is a vacation.
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

/// True directly after a pronoun, an auxiliary, "to" or a speaker's name; a possessive and a comma part the two.
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
