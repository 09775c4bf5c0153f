//! Assistant: people who chat with their assistant over months, the questions they and their agents ask later, and what
//! reaches the model.

mod asking;
mod noise;
mod report;

use std::path::Path;

use quipu_core::recall::terms;
use quipu_engine::{Error, Result};

use super::corpus::{Corpus, CorpusKind};
use super::heard;
use super::lines::Out;
use crate::environment::{Environment, Measurement, Output};

pub(super) use noise::Noise;

/// Base seed of the noise; it differs between people.
const SEED: u64 = 2_026;

/// What is measured.
pub(super) struct AssistantOptions<'a> {
    pub(super) place: &'a Path,
    /// Unrelated turns added to each memory.
    pub(super) noise: usize,
    pub(super) words_only: bool,
    /// Whether personal content may be printed.
    pub(super) detail: bool,
    pub(super) out: Option<&'a Path>,
}

pub(super) fn assistant(
    environment: &dyn Environment,
    output: &dyn Output,
    wanted: &AssistantOptions<'_>,
) -> Result<Measurement> {
    let mut corpus = Corpus::open(wanted.place, Some(CorpusKind::Assistant), &[])?;
    if wanted.noise > 0 {
        for (seed, told) in (SEED..).zip(&mut corpus.told) {
            let begins = told.begins().ok_or_else(|| Error::Invalid(format!("{} said nothing", told.user)))?;
            told.precede(noise::chats(seed, wanted.noise, begins)?);
        }
    }
    let mut out = Out::to(wanted.out)?;
    let (_folder, engine) = super::scratch(environment)?;
    let subjects = corpus.tell(&engine, output, wanted.words_only)?;
    let (mut answers, mut requests) = (Vec::new(), Vec::new());
    for subject in &subjects {
        let asking = asking::Asking::of(&engine, subject)?;
        for asked in &subject.told.asked {
            let answer = asking.ask(asked)?;
            out.push(&answer.detail(wanted.detail))?;
            answers.push(answer);
        }
        for request in &subject.told.requests {
            requests.push(asking.request(request)?);
        }
    }
    out.finish()?;
    let turns: usize = subjects.iter().map(|subject| subject.heard.texts.len()).sum();
    let about = report::About {
        memory: heard::reading(wanted.words_only),
        people: subjects.len(),
        turns,
        noise_turns: wanted.noise * subjects.len(),
        model: engine.embedder().model().id.clone(),
    };
    Measurement::of(&report::Report::of(about, &answers, &requests, wanted.detail), report::in_words)
}

/// True if a question and a text share a content word, apart from names in the question.
fn shares_a_word(question: &str, text: &str) -> bool {
    let is_name = |word: &&str| word.starts_with(char::is_uppercase);
    let names: String = question.split_whitespace().filter(is_name).collect::<Vec<_>>().join(" ");
    let (words, names, there) = (terms(question), terms(&names), terms(text));
    words.iter().any(|word| !names.contains(word) && there.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_count_as_shared_words() {
        for (question, text, shared) in [
            ("Where does Jana work?", "Jana moved to Porto", false),
            ("Where does Jana work?", "Jana works at the port", true),
            ("what is my pet called", "the cat is called Pixel", true),
            ("what is my pet's name", "the cat is called Pixel", false),
        ] {
            assert_eq!(shares_a_word(question, text), shared, "{question} / {text}");
        }
    }
}
