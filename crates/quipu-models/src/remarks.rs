//! Finds remarks: sentences of the user that are worth remembering but match no rule, recorded verbatim.
//!
//! A logistic regression classifies sentences by their embedding and by features of their form (`form.rs`).
//! `crates/quipu-models/remarks/train.py` trained it on messages of people (testdata/remarks).

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use jiff::Timestamp;
use quipu_core::extract::{Extraction, FactCandidate, REMARK, Reading, SpokenDate, Stance, USER};
use quipu_engine::ports::{EmbedError, Embedder, ExtractError, Extractor};
use serde::Deserialize;

use self::form::{form, words};
use crate::rule_extractor::RuleExtractor;

mod form;

/// Maximum number of pieces considered in a text. Each costs an embedding, and longer texts tend to be pasted.
const PIECES_MAX: usize = 64;
/// Length of a piece in bytes. Shorter ones say too little on their own; longer ones are not a single remark.
const BYTES: std::ops::RangeInclusive<usize> = 8..=400;
/// Longer pieces, in bytes, are also split at commas.
const CUT_AT_COMMAS: usize = 220;
/// Weight of the embedding, whose length is 1, relative to the features of the form.
const EMBEDDING_SCALE: f32 = 6.0;

/// Confidence from .95 on means that a person confirmed the item, which is not so for remarks.
const CONFIDENCE_MAX: f64 = 0.9;

/// The weights, as written by `train.py`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Weights {
    /// Id of the embedding model they were trained with.
    embedder: String,
    /// Minimum probability of a remark.
    threshold: f32,
    bias: f32,
    embedding: Vec<f32>,
    form: Vec<f32>,
}

static WEIGHTS: LazyLock<Result<Weights, String>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../remarks/weights.json"))
        .map_err(|error| format!("remarks/weights.json: {error}"))
});

/// Extracts by rules, and remarks where no rule matches. Offline; deterministic on machines of one kind.
pub struct RemarkReader {
    id: String,
    rules: RuleExtractor,
    embedder: Arc<dyn Embedder>,
}

impl RemarkReader {
    /// Combines rules and the built-in embedding model. Returns `None` for any other embedder, since the weights do
    /// not fit it.
    #[must_use]
    pub fn new(rules: RuleExtractor, embedder: Arc<dyn Embedder>) -> Option<Self> {
        let fits = WEIGHTS.as_ref().is_ok_and(|weights| weights.embedder == embedder.model().id);
        let id = format!("{} remarks/v1", rules.id());
        fits.then_some(Self { id, rules, embedder })
    }

    /// The pieces of a text that may be remarks, with their features.
    ///
    /// # Errors
    /// Errors of the embedder.
    pub fn pieces(embedder: &dyn Embedder, text: &str) -> Result<Vec<RemarkPiece>, EmbedError> {
        looked_at(embedder, text, pieces(text))
    }

    fn remarks(&self, reading: &Reading<'_>, read: &Extraction) -> Result<Vec<FactCandidate>, ExtractError> {
        let weights = WEIGHTS.as_ref().map_err(|why| ExtractError::Run(why.clone()))?;
        let taken = taken(read);
        let is_free =
            |range: &Range<usize>| taken.iter().all(|other| other.end <= range.start || range.end <= other.start);
        let free = pieces(reading.text).into_iter().filter(is_free).take(PIECES_MAX).collect();
        let looked_at =
            looked_at(&*self.embedder, reading.text, free).map_err(|error| ExtractError::Run(error.to_string()))?;
        let kept = looked_at.into_iter().map(|piece| (weights.probability(&piece), piece));
        let kept = kept.filter(|(probability, _)| *probability >= weights.threshold);
        Ok(kept.map(|(probability, piece)| remark(reading, &piece.range, probability)).collect())
    }
}

/// A piece of a text with the features for classification.
#[derive(Debug, Clone)]
pub struct RemarkPiece {
    /// Its position in the text, in bytes.
    pub range: Range<usize>,
    /// Its embedding.
    pub vector: Vec<f32>,
    /// The features of its form.
    pub form: Vec<f32>,
}

fn looked_at(embedder: &dyn Embedder, text: &str, ranges: Vec<Range<usize>>) -> Result<Vec<RemarkPiece>, EmbedError> {
    if ranges.is_empty() {
        return Ok(Vec::new());
    }
    let texts: Vec<&str> = ranges.iter().map(|range| &text[range.clone()]).collect();
    let vectors = embedder.embed(&texts)?;
    let forms: Vec<Vec<f32>> = texts.iter().map(|text| form(text)).collect();
    let pieces = ranges.into_iter().zip(vectors).zip(forms);
    Ok(pieces.map(|((range, vector), form)| RemarkPiece { range, vector, form }).collect())
}

impl Extractor for RemarkReader {
    fn id(&self) -> &str {
        &self.id
    }

    fn read(&self, reading: &Reading<'_>) -> Result<Extraction, ExtractError> {
        let mut read = self.rules.read(reading)?;
        if reading.speaker == USER {
            let remarks = self.remarks(reading, &read)?;
            read.facts.extend(remarks);
        }
        Ok(read)
    }

    fn dates(&self, text: &str, said_at: Option<Timestamp>) -> Vec<SpokenDate> {
        self.rules.dates(text, said_at)
    }
}

impl Weights {
    fn probability(&self, piece: &RemarkPiece) -> f32 {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        let sum = self.bias + EMBEDDING_SCALE * dot(&self.embedding, &piece.vector) + dot(&self.form, &piece.form);
        1.0 / (1.0 + (-sum).exp())
    }
}

/// The ranges matched by rules, and those that make no claim of the user: quotations, hypotheses, jokes.
fn taken(read: &Extraction) -> Vec<Range<usize>> {
    let facts = read.facts.iter().map(|fact| &fact.span).chain(read.tasks.iter().map(|task| &task.span));
    let others = read.updates.iter().map(|update| &update.span).chain(read.notes.iter().map(|note| &note.span));
    let aside = read.passed_over.iter().filter(|passed| passed.reason != "question").map(|passed| &passed.span);
    facts.chain(others).chain(read.tenets.iter().map(|tenet| &tenet.span)).chain(aside).cloned().collect()
}

/// A candidate for a remark. It is an event of its day, since it claims nothing beyond that day.
fn remark(reading: &Reading<'_>, range: &Range<usize>, probability: f32) -> FactCandidate {
    let text = &reading.text[range.clone()];
    let skipped = lead_in(text);
    FactCandidate {
        subject: USER.to_owned(),
        predicate: REMARK.to_owned(),
        object: text[skipped..].trim_end_matches(['.', ';', ',']).to_owned(),
        span: range.start + skipped..range.end,
        stance: Stance::Holds,
        valid_from: reading.said_at,
        valid_to: None,
        confidence: f64::from(probability).min(CONFIDENCE_MAX),
        qualifiers: BTreeMap::new(),
    }
}

/// Words that only connect a piece with the preceding one.
const JOINS: [&str; 9] = ["also", "and", "but", "anyway", "so", "oh", "well", "btw", "plus"];

/// Length of the connecting words at the beginning, in bytes.
fn lead_in(text: &str) -> usize {
    let mut skipped = 0;
    while let Some((word, rest)) = text[skipped..].split_once(' ') {
        let bare = word.trim_start_matches(['-', '*', '•']).trim_end_matches([',', ':']).to_lowercase();
        if !bare.is_empty() && !JOINS.contains(&bare.as_str()) {
            break;
        }
        skipped = text.len() - rest.trim_start().len();
    }
    skipped
}

/// Splits a text into sentences. Also splits before questions and asides without a preceding full stop, and long
/// pieces at commas.
fn pieces(text: &str) -> Vec<Range<usize>> {
    let sentences = cut(text, 0..text.len(), |piece, at, _| at == '\n' || piece.ends_with(['.', '!', '?', ';']));
    let begins = |piece: &str, rest: &str| {
        let rest = rest.trim_start().as_bytes();
        let starts =
            |start: &&str| rest.get(..start.len()).is_some_and(|word| word.eq_ignore_ascii_case(start.as_bytes()));
        piece.split_whitespace().nth(WORDS_BEFORE - 1).is_some() && BEGINS.iter().any(starts)
    };
    let mut all: Vec<Range<usize>> = Vec::new();
    for sentence in sentences {
        for clause in cut(text, sentence, |piece, _, rest| begins(piece, rest)) {
            if clause.len() > CUT_AT_COMMAS {
                all.extend(cut(text, clause, |piece, _, _| piece.ends_with(',')));
            } else {
                all.push(clause);
            }
        }
    }
    all.retain(|range| BYTES.contains(&range.len()) && is_english(&text[range.clone()]));
    all
}

/// With fewer words before it, a beginning does not start a new clause.
const WORDS_BEFORE: usize = 3;

/// Beginnings of a new clause, also without punctuation: people often add a question to a statement.
const BEGINS: [&str; 36] = [
    "anyway",
    "can you ",
    "can u ",
    "could you ",
    "can i ",
    "could i ",
    "should i ",
    "shall i ",
    "do i ",
    "do you ",
    "does it ",
    "is it ",
    "is there ",
    "are there ",
    "how do ",
    "how does ",
    "how long ",
    "how much ",
    "how many ",
    "how can ",
    "how should ",
    "what do ",
    "what does ",
    "what is ",
    "what are ",
    "what's the ",
    "whats the ",
    "what time ",
    "what would ",
    "which one ",
    "who is ",
    "where can ",
    "please ",
    "pls ",
    "also ",
    "but ",
];

/// Splits a range at each blank for which `is_cut` holds and trims the parts. `is_cut` receives the piece so far, the
/// blank, and the rest.
fn cut(text: &str, whole: Range<usize>, is_cut: impl Fn(&str, char, &str) -> bool) -> Vec<Range<usize>> {
    let (mut all, mut from) = (Vec::new(), whole.start);
    for (at, blank) in text[whole.clone()].char_indices().filter(|(_, c)| c.is_whitespace()) {
        let at = whole.start + at;
        if is_cut(&text[from..at], blank, &text[at..whole.end]) {
            all.push(from..at);
            from = at;
        }
    }
    all.push(from..whole.end);
    let trimmed = |range: Range<usize>| {
        let part = &text[range.clone()];
        let start = range.start + (part.len() - part.trim_start().len());
        start..start + part.trim().len()
    };
    all.into_iter().map(trimmed).filter(|range| !range.is_empty()).collect()
}

/// Frequent English words. A long piece with none of them is in another language or no sentence.
const ENGLISH: [&str; 46] = [
    "the", "a", "an", "i", "im", "i'm", "ive", "i've", "my", "me", "we", "our", "it", "its", "it's", "is", "was",
    "are", "am", "to", "of", "and", "in", "on", "at", "for", "with", "not", "no", "but", "so", "that", "this", "have",
    "has", "had", "got", "do", "did", "he", "she", "they", "from", "be", "been", "just",
];
/// Minimum number of words from which a piece must contain one of them.
const ENGLISH_FROM: usize = 4;

fn is_english(text: &str) -> bool {
    let words = words(text);
    text.chars().filter(|c| c.is_alphabetic()).all(|c| c < '\u{250}')
        && (words.len() < ENGLISH_FROM || words.iter().any(|word| ENGLISH.contains(&word.as_str())))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests {
    use super::*;
    use crate::MiniLm;

    fn read(text: &str) -> Vec<String> {
        let reader = RemarkReader::new(RuleExtractor::english(), Arc::new(MiniLm::new())).unwrap();
        let reading = Reading { text, speaker: USER, addressee: None, said_at: None, known: &[] };
        let read = reader.read(&reading).unwrap();
        read.facts.into_iter().filter(|fact| fact.predicate == REMARK).map(|fact| fact.object).collect()
    }

    #[test]
    fn the_weights_fit_the_features_and_the_model() {
        let weights = WEIGHTS.as_ref().unwrap();
        assert_eq!(weights.form.len(), form("I had soup.").len());
        assert_eq!(weights.embedding.len(), MiniLm::new().model().dimensions);
        assert!(weights.threshold > 0.7, "less is not sure enough for the gate");
    }

    #[test]
    fn texts_are_cut_at_sentences_lines_and_long_ones_at_commas() {
        let parts = |text: &str| pieces(text).into_iter().map(|range| text[range].to_owned()).collect::<Vec<_>>();
        assert_eq!(
            parts("Knee is bad again. Off to the gym?\n\n- bought a kayak\nok"),
            ["Knee is bad again.", "Off to the gym?", "- bought a kayak"]
        );
        let long = format!(
            "{}, {}",
            "we drove to the lake and back ".repeat(6).trim(),
            "then the car broke down on the way home in the rain"
        );
        assert_eq!(parts(&long).len(), 2);
        assert_eq!(
            parts("legs are gone after the derby how long should i rest them"),
            ["legs are gone after the derby", "how long should i rest them"]
        );
        assert_eq!(parts("Wir fahren morgen früh nach Hause zurück"), Vec::<String>::new());
        assert_eq!(parts("350 cada una gastos"), Vec::<String>::new());
        assert_eq!(parts("猫が大好きです。とても"), Vec::<String>::new());
    }

    #[test]
    fn what_is_of_the_users_life_is_kept_in_their_words_and_what_asks_is_not() {
        for text in [
            "dad's hip operation got moved to the spring",
            "the twins start at the new nursery after easter and I'm already dreading the drive",
            "mum finally agreed to see someone about her memory",
        ] {
            assert_eq!(read(text), [text], "{text}");
        }
        for text in [
            "how long do i roast a chicken for?",
            "write me a short poem about the sea",
            "thanks, that's perfect!",
            "the capital of Australia is Canberra",
            "\"I moved to Rome last year,\" said the old man in my novel.",
        ] {
            assert_eq!(read(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn a_long_text_costs_no_more_embeddings_than_a_long_message() {
        struct Counting(MiniLm, std::sync::atomic::AtomicUsize);
        impl Embedder for Counting {
            fn model(&self) -> &quipu_engine::ports::EmbeddingModel {
                self.0.model()
            }
            fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
                self.1.fetch_add(texts.len(), std::sync::atomic::Ordering::Relaxed);
                self.0.embed(texts)
            }
            fn count_tokens(&self, text: &str) -> usize {
                self.0.count_tokens(text)
            }
        }
        let embedder = Arc::new(Counting(MiniLm::new(), Default::default()));
        let reader = RemarkReader::new(RuleExtractor::english(), embedder.clone()).unwrap();
        let text = "The weather is grey in this part of town. ".repeat(500);
        let reading = Reading { text: &text, speaker: USER, addressee: None, said_at: None, known: &[] };
        reader.read(&reading).unwrap();
        assert_eq!(embedder.1.load(std::sync::atomic::Ordering::Relaxed), PIECES_MAX);
    }

    #[test]
    fn what_joins_a_remark_to_what_was_said_before_is_left_out() {
        let rest = |text: &'static str| &text[lead_in(text)..];
        assert_eq!(rest("also, and my car failed its mot"), "my car failed its mot");
        assert_eq!(rest("- bought a kayak"), "bought a kayak");
        assert_eq!(rest("so"), "so");
        assert_eq!(rest("Android is what I use"), "Android is what I use");
    }

    #[test]
    fn of_others_and_of_what_rules_read_there_are_no_remarks() {
        let reader = RemarkReader::new(RuleExtractor::english(), Arc::new(MiniLm::new())).unwrap();
        let text = "dad's hip operation got moved to the spring";
        let reading = Reading { text, speaker: "Ana", addressee: None, said_at: None, known: &[] };
        assert!(reader.read(&reading).unwrap().facts.iter().all(|fact| fact.predicate != REMARK));
        assert_eq!(read("I live in Porto."), Vec::<String>::new());
    }
}
