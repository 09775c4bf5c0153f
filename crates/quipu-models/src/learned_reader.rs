//! Finds statements worth remembering with a network that was trained on messages of many people.
//!
//! The network (`crates/quipu-models/reader`) scores every word of a message, given the end of what the assistant said
//! before it. What it finds where no rule matches is recorded as a remark, in the user's own words. It also tells rules
//! for the assistant that are meant to last from those for a single reply.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use jiff::Timestamp;
use quipu_core::extract::{
    CONSTRAINT, Extraction, FactCandidate, REMARK, Reading, SpokenDate, Stance, USER, UpdateCandidate, UpdateNews,
};
use quipu_engine::ports::{ExtractError, Extractor};

use self::pieces::{Piece, Word, completed, pieces, words};
use self::wording::{is_english, lead_in};
use crate::encoder::token_classifier::TokenClassifier;
use crate::rule_extractor::RuleExtractor;

mod pieces;
mod wording;

/// Minimum mean probability of a piece; see `crates/quipu-models/reader/README.md`.
const PROBABILITY_MIN: f32 = 0.65;
/// Confidence of a remark of [`PROBABILITY_MIN`], and of one that is certain. Below .7 the gate refuses a candidate;
/// from .95 on a person has confirmed it.
const CONFIDENCE: (f64, f64) = (0.75, 0.9);
/// Maximum number of tokens of a message that are read at a time.
const WINDOW_TOKENS_MAX: usize = 200;
/// Maximum number of tokens of what was said before, of which the end is read.
const BEFORE_TOKENS_MAX: usize = 48;
/// Maximum length of the same, in bytes.
const BEFORE_BYTES_MAX: usize = 1_000;
/// Maximum number of windows of a message. Longer texts tend to be pasted.
const WINDOWS_MAX: usize = 10;
/// A piece is left out if rules have read at least this share of it, in bytes.
const READ_BY_RULES: f32 = 0.5;

/// Minimum mean probability of the words of a rule for the assistant. Below it, it is meant for one reply only.
const STANDING_MIN: f32 = 0.2;

/// The network, loaded when the first message of a user is read.
static NETWORK: LazyLock<Result<TokenClassifier, String>> = LazyLock::new(TokenClassifier::new);

/// Extracts by rules, and remarks by a trained network where no rule matches. Offline; deterministic on machines of
/// one kind.
pub struct LearnedReader {
    id: String,
    rules: RuleExtractor,
}

impl LearnedReader {
    /// Combines rules and the network.
    #[must_use]
    pub fn new(rules: RuleExtractor) -> Self {
        Self { id: format!("{} learned/v2", rules.id()), rules }
    }
}

impl Extractor for LearnedReader {
    fn id(&self) -> &str {
        &self.id
    }

    fn read(&self, reading: &Reading<'_>) -> Result<Extraction, ExtractError> {
        let mut read = self.rules.read(reading)?;
        if reading.speaker == USER && reading.is_turn {
            let words = words_of(reading).map_err(|why| ExtractError::Run(format!("the reader's network: {why}")))?;
            read.facts.retain(|fact| fact.predicate != CONSTRAINT || mean(&words, &fact.span) >= STANDING_MIN);
            let taken = Taken::by(&read);
            let found = found(reading, &words);
            let free: Vec<Piece> = found.into_iter().filter(|piece| taken.leaves(&piece.range)).collect();
            let free = completed(reading.text, &words, &free, &taken.aside);
            read.facts.extend(free.iter().filter_map(|piece| remark(reading, piece)));
        }
        Ok(read)
    }

    fn dates(&self, text: &str, said_at: Option<Timestamp>) -> Vec<SpokenDate> {
        self.rules.dates(text, said_at)
    }
}

/// The words of a message with their probabilities.
fn words_of(reading: &Reading<'_>) -> Result<Vec<Word>, String> {
    scored(NETWORK.as_ref().map_err(String::clone)?, reading.text, reading.before.unwrap_or_default())
}

/// The pieces of a message that are worth keeping.
fn found(reading: &Reading<'_>, words: &[Word]) -> Vec<Piece> {
    let mut found = pieces(reading.text, words);
    found.retain(|piece| piece.probability >= PROBABILITY_MIN && is_english(&reading.text[piece.range.clone()]));
    found
}

/// The mean probability of the words in a range; 1 if the network read none of them.
fn mean(words: &[Word], range: &Range<usize>) -> f32 {
    let within = words.iter().filter(|word| word.range.start < range.end && range.start < word.range.end);
    let (sum, count) = within.fold((0.0, 0.0), |(sum, count), word| (sum + word.keep, count + 1.0));
    if count > 0.0 { sum / count } else { 1.0 }
}

/// Scores the words of a text, window by window. A word that does not fit in a window has the probability 0.
fn scored(network: &TokenClassifier, text: &str, before: &str) -> Result<Vec<Word>, String> {
    let end = &before[before.ceil_char_boundary(before.len().saturating_sub(BEFORE_BYTES_MAX))..];
    let mut before = network.tokens(end, usize::MAX);
    before.drain(..before.len().saturating_sub(BEFORE_TOKENS_MAX));
    let mut all: Vec<Word> = Vec::new();
    let mut window: Vec<(Range<usize>, usize)> = Vec::new();
    let mut ids: Vec<i32> = Vec::new();
    let mut windows = 0;
    for range in words(text) {
        let mut tokens = network.tokens(&text[range.clone()], WINDOW_TOKENS_MAX + 1);
        if tokens.len() > WINDOW_TOKENS_MAX {
            tokens.clear();
        }
        if ids.len() + tokens.len() > WINDOW_TOKENS_MAX {
            all.extend(read_window(network, &before, &ids, &window)?);
            // Only the first window follows what was said before.
            before.clear();
            (ids, window) = (Vec::new(), Vec::new());
            windows += 1;
            if windows == WINDOWS_MAX {
                return Ok(all);
            }
        }
        window.push((range, tokens.len()));
        ids.extend(tokens);
    }
    all.extend(read_window(network, &before, &ids, &window)?);
    Ok(all)
}

fn read_window(
    network: &TokenClassifier,
    before: &[i32],
    ids: &[i32],
    words: &[(Range<usize>, usize)],
) -> Result<Vec<Word>, String> {
    let scores = if ids.is_empty() { Vec::new() } else { network.scores(before, ids)? };
    let mut rest = scores.as_slice();
    let mut all = Vec::with_capacity(words.len());
    for (range, tokens) in words {
        let (of_word, others) = rest.split_at_checked(*tokens).ok_or("too few scores")?;
        rest = others;
        all.push(word(range.clone(), of_word));
    }
    Ok(all)
}

/// Combines the scores of the tokens of a word: the mean of being kept, the maximum of being a beginning.
fn word(range: Range<usize>, tokens: &[[f32; 2]]) -> Word {
    let probability = |score: f32| 1.0 / (1.0 + (-score).exp());
    let keep = tokens.iter().map(|[keep, _]| probability(*keep)).sum::<f32>() / tokens.len().max(1) as f32;
    let begin = tokens.iter().map(|[_, begin]| probability(*begin)).fold(0.0, f32::max);
    Word { range, keep, begin }
}

/// The parts of a message of which no remarks are recorded.
struct Taken {
    /// What rules have read.
    read: Vec<Range<usize>>,
    /// What makes no claim of the user: quotations, hypotheses, jokes.
    aside: Vec<Range<usize>>,
}

impl Taken {
    fn by(read: &Extraction) -> Self {
        let facts = read.facts.iter().map(|fact| &fact.span).chain(read.tasks.iter().map(|task| &task.span));
        // Words of what was done are read only if there is a task that they name.
        let is_read = |update: &&UpdateCandidate| !matches!(update.news, UpdateNews::Done { .. });
        let updates = read.updates.iter().filter(is_read).map(|update| &update.span);
        let others = updates.chain(read.notes.iter().map(|note| &note.span));
        let tenets = read.tenets.iter().map(|tenet| &tenet.span);
        let aside = read.passed_over.iter().filter(|passed| passed.reason != "question").map(|passed| &passed.span);
        Self { read: facts.chain(others).chain(tenets).cloned().collect(), aside: aside.cloned().collect() }
    }

    /// True if a remark may be recorded of the range.
    fn leaves(&self, range: &Range<usize>) -> bool {
        let touches = |other: &&Range<usize>| other.start < range.end && range.start < other.end;
        let mut over: Vec<&Range<usize>> = self.read.iter().filter(touches).collect();
        over.sort_by_key(|other| other.start);
        let (mut covered, mut to) = (0, range.start);
        for other in over {
            covered += other.end.min(range.end).saturating_sub(other.start.max(to));
            to = to.max(other.end);
        }
        !self.aside.iter().any(|other| touches(&other)) && (covered as f32) < READ_BY_RULES * range.len() as f32
    }
}

/// A candidate for a remark, which is an event of its day, since it claims nothing beyond that day. `None` if nothing is
/// left of the piece without the words that join it to what stands around it.
fn remark(reading: &Reading<'_>, piece: &Piece) -> Option<FactCandidate> {
    let text = &reading.text[piece.range.clone()];
    let skipped = lead_in(text);
    let object = text[skipped..].trim_end_matches(['.', ';', ',', ' ']);
    let (least, most) = CONFIDENCE;
    let certainty = f64::from((piece.probability - PROBABILITY_MIN) / (1.0 - PROBABILITY_MIN)).clamp(0.0, 1.0);
    (words(object).len() > 1 && object.chars().any(char::is_alphabetic)).then(|| FactCandidate {
        subject: USER.to_owned(),
        predicate: REMARK.to_owned(),
        object: object.to_owned(),
        span: piece.range.start + skipped..piece.range.end,
        stance: Stance::Holds,
        valid_from: reading.said_at,
        valid_to: None,
        confidence: least + certainty * (most - least),
        qualifiers: BTreeMap::new(),
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests {
    use serde::Deserialize;

    use super::*;

    /// What the unquantized network gives for a text, as written by `reader/export.py`.
    #[derive(Deserialize)]
    struct Case {
        text: String,
        /// Each word with its two probabilities.
        words: Vec<(String, f32, f32)>,
    }

    fn reading<'a>(text: &'a str, before: Option<&'a str>) -> Reading<'a> {
        Reading { before, ..Reading::of_user(text, None) }
    }

    fn remarks(reading: &Reading<'_>) -> Vec<String> {
        let reader = LearnedReader::new(RuleExtractor::english());
        let read = reader.read(reading).unwrap();
        read.facts.into_iter().filter(|fact| fact.predicate == REMARK).map(|fact| fact.object).collect()
    }

    #[test]
    fn probabilities_are_close_to_those_of_the_unquantized_network() {
        let cases: Vec<Case> = serde_json::from_str(include_str!("../tests/fixtures/reader_words.json")).unwrap();
        let network = TokenClassifier::new().unwrap();
        let (mut words, mut difference) = (0, 0.0);
        for case in &cases {
            let found = scored(&network, &case.text, "").unwrap();
            assert_eq!(found.len(), case.words.len(), "{}", case.text);
            for (word, (text, keep, begin)) in found.iter().zip(&case.words) {
                assert_eq!(&case.text[word.range.clone()], text);
                words += 2;
                difference += (word.keep - keep).abs() + (word.begin - begin).abs();
            }
        }
        assert!(words > 400, "{words}");
        assert!(difference / (words as f32) < 0.03, "{}", difference / (words as f32));
    }

    #[test]
    fn statements_of_the_users_life_are_kept_in_their_words_and_other_text_is_not() {
        for text in ["dad's hip operation got moved to the spring", "the twins start at the new nursery after easter"] {
            assert_eq!(remarks(&reading(text, None)), [text], "{text}");
        }
        for text in [
            "how long do i roast a chicken for?",
            "write me a short poem about the sea",
            "thanks, that's perfect!",
            "the capital of Australia is Canberra",
            "\"I moved to Rome last year,\" said the old man in my novel.",
            "Wir fahren morgen früh nach Hause zurück",
        ] {
            assert_eq!(remarks(&reading(text, None)), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn a_question_beside_a_statement_is_left_out() {
        let text = "mum finally agreed to see someone about her memory how do i bring it up with dad";
        assert_eq!(remarks(&reading(text, None)), ["mum finally agreed to see someone about her memory"]);
    }

    #[test]
    fn a_long_text_is_read_in_a_bounded_number_of_windows() {
        let network = TokenClassifier::new().unwrap();
        let text = "my sister moved to Lyon in May. ".repeat(2_000);
        assert_eq!(scored(&network, &text, "").unwrap().len(), WINDOWS_MAX * 175);
    }

    #[test]
    fn a_word_of_more_tokens_than_a_window_ends_a_piece() {
        let network = TokenClassifier::new().unwrap();
        for long in ["ab-".repeat(400), "ab-".repeat(100_000), "x".repeat(100_000)] {
            let text = format!("my sister Ana moved to Lyon {long} and my brother Bo sells bikes");
            let words = scored(&network, &text, "").unwrap();
            assert_eq!(words.len(), 13);
            for remark in remarks(&reading(&text, None)) {
                assert!(remark.len() < 60, "{} bytes", remark.len());
            }
        }
        assert_eq!(scored(&network, "", "").unwrap(), []);
    }

    #[test]
    fn the_end_of_what_was_said_before_counts_in_the_first_window() {
        let network = TokenClassifier::new().unwrap();
        let keep = |before: &str| scored(&network, "yes, both of them", before).unwrap()[1].keep;
        let long = format!("{} Are your parents both doctors?", "Ä".repeat(5_000));
        assert_ne!(keep(""), keep("Are your parents both doctors?"));
        assert_ne!(keep(""), keep(&long));
    }

    #[test]
    fn many_threads_read_with_one_network() {
        let text = "my sister Ana moved to Lyon";
        let alone = remarks(&reading(text, None));
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(|| remarks(&reading(text, None)))).collect();
            all.into_iter().for_each(|one| assert_eq!(one.join().unwrap(), alone));
        });
    }

    #[test]
    fn what_rules_read_or_pass_over_is_left_out() {
        let leaves = |read: &[(usize, usize)], aside: &[(usize, usize)]| {
            let ranges = |all: &[(usize, usize)]| all.iter().map(|(start, end)| *start..*end).collect();
            Taken { read: ranges(read), aside: ranges(aside) }.leaves(&(10..20))
        };
        assert!(leaves(&[], &[]));
        assert!(leaves(&[(0, 10), (20, 30)], &[(0, 10), (20, 30)]));
        assert!(leaves(&[(0, 14)], &[]));
        assert!(leaves(&[(0, 13), (11, 14), (10, 14)], &[]));
        assert!(!leaves(&[(0, 13), (12, 15)], &[]));
        assert!(!leaves(&[], &[(19, 30)]));
    }

    #[test]
    fn there_are_no_remarks_of_others_or_where_rules_have_read() {
        let other = Reading { speaker: "Ana", ..reading("dad's hip operation got moved to the spring", None) };
        assert_eq!(remarks(&other), Vec::<String>::new());
        let page = Reading { is_turn: false, ..reading("dad's hip operation got moved to the spring", None) };
        assert_eq!(remarks(&page), Vec::<String>::new());
        assert_eq!(remarks(&reading("I live in Porto.", None)), Vec::<String>::new());
    }
}
