//! Rule-based sentiment of a text, by VADER (Hutto and Gilbert 2014, *VADER: A Parsimonious Rule-based Model for
//! Sentiment Analysis of Social Media Text*, ICWSM-14). English only: text in other languages scores as neutral and
//! calm.

use std::ops::Range;
use std::sync::LazyLock;

use vader_parity::SentimentIntensityAnalyzer;

use super::words::{english, sentence_spans};
use crate::item::episode::{Affect, Sentiment};

/// A valence of at least this is positive, of at most its negative is negative. The threshold recommended by VADER's
/// authors.
pub const SENTIMENT_CUT: f64 = 0.05;

/// Contribution of each signal to a sentence's arousal.
const AROUSAL_FEELING: f64 = 0.5;
const AROUSAL_EXCLAMATION: f64 = 0.15;
const AROUSAL_CAPITALS: f64 = 0.2;
const AROUSAL_INTENSIFIER: f64 = 0.1;

static VADER: LazyLock<SentimentIntensityAnalyzer> = LazyLock::new(SentimentIntensityAnalyzer::new);

/// Returns the affect of one turn: the mean over its sentences, as VADER's authors advise for longer texts, or zeros if
/// there are none.
///
/// The valence of a sentence is VADER's compound score, −1 to 1. Arousal is 0 to 1 and is derived rather than looked
/// up, because the known arousal lexicons (NRC VAD; Warriner et al. 2013) are licensed for non-commercial use only. It
/// is the following sum, capped at 1:
///
/// | signal | adds |
/// |---|---|
/// | strength of feeling | ½ · absolute compound score |
/// | exclamation marks, at most 3 | .15 each |
/// | two words in capitals, or one and an exclamation mark | .2 |
/// | intensifiers ("so", "absolutely"), at most 2 | .1 each |
///
/// The weights are a rule of thumb, not measured. Arousal separates shouts from statements, not fear from sadness.
pub fn of_text(text: &str) -> Affect {
    of_sentences(text, sentence_spans(text))
}

/// Like [`of_text`], for sentence spans that are already computed.
pub(super) fn of_sentences(text: &str, spans: impl IntoIterator<Item = Range<usize>>) -> Affect {
    mean(spans.into_iter().map(|span| of_sentence(&text[span])))
}

/// Returns the mean, or zeros if there are no values.
pub fn mean(affects: impl IntoIterator<Item = Affect>) -> Affect {
    let (mut sum, mut count) = (Affect::default(), 0.0);
    for affect in affects {
        sum.valence += affect.valence;
        sum.arousal += affect.arousal;
        count += 1.0;
    }
    if count == 0.0 {
        return sum;
    }
    Affect { valence: rounded(sum.valence / count), arousal: rounded(sum.arousal / count) }
}

/// Classifies a valence by [`SENTIMENT_CUT`].
pub fn sentiment(valence: f64) -> Sentiment {
    if valence >= SENTIMENT_CUT {
        Sentiment::Positive
    } else if valence <= -SENTIMENT_CUT {
        Sentiment::Negative
    } else {
        Sentiment::Neutral
    }
}

fn of_sentence(sentence: &str) -> Affect {
    let valence = VADER.polarity_scores(sentence).compound;
    let exclamations = sentence.bytes().filter(|&byte| byte == b'!').count().min(3) as f64;
    let intensifiers = sentence
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| english().intensifiers.contains(word.to_lowercase().as_str()))
        .count()
        .min(2) as f64;
    let arousal = AROUSAL_FEELING * valence.abs()
        + AROUSAL_EXCLAMATION * exclamations
        + if shouts(sentence) { AROUSAL_CAPITALS } else { 0.0 }
        + AROUSAL_INTENSIFIER * intensifiers;
    Affect { valence, arousal: arousal.min(1.0) }
}

/// Returns true if the sentence is shouted. A word in capitals may be a name ("LGBTQ"), so a single one counts only
/// beside an exclamation mark.
fn shouts(sentence: &str) -> bool {
    let loud = sentence
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() > 1 && word.chars().all(char::is_uppercase))
        .count();
    loud > 1 || (loud == 1 && sentence.contains('!'))
}

/// Rounds to four digits, so that equal affects have equal bytes.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn feelings_have_a_sign_and_a_strength() {
        use Sentiment::{Negative, Neutral, Positive};
        let table = [
            ("", Neutral, 0.0..=0.0),
            ("The meeting is at ten.", Neutral, 0.0..=0.0),
            ("The chairs are in the room.", Neutral, 0.0..=0.0),
            ("I like the new room.", Positive, 0.1..=0.3),
            ("I am SO happy about this, it is absolutely wonderful!!!", Positive, 0.9..=1.0),
            ("I'm not happy with it.", Negative, 0.1..=0.4),
            ("This is awful. You ruined it and I HATE it!", Negative, 0.3..=0.8),
            ("He joined the LGBTQ group.", Neutral, 0.0..=0.0),
            ("Das ist ein Tisch.", Neutral, 0.0..=0.0),
        ];
        for (text, expected, arousal) in table {
            let affect = of_text(text);
            assert_eq!(sentiment(affect.valence), expected, "{text:?}: {affect:?}");
            assert!(arousal.contains(&affect.arousal), "{text:?}: {affect:?}");
        }
    }

    #[test]
    fn the_usual_cut_holds_at_its_edges() {
        for (valence, expected) in [
            (0.05, Sentiment::Positive),
            (0.0499, Sentiment::Neutral),
            (-0.0499, Sentiment::Neutral),
            (-0.05, Sentiment::Negative),
        ] {
            assert_eq!(sentiment(valence), expected, "{valence}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_a_bounded_affect(text in "(\\PC|[!?. \n]|good|HATE|very|```){0,60}") {
            let affect = of_text(&text);
            prop_assert!((-1.0..=1.0).contains(&affect.valence) && (0.0..=1.0).contains(&affect.arousal));
        }
    }
}
