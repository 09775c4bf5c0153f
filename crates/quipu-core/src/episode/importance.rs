//! Computes the importance of an episode from verifiable signals.

use super::words::{english, lower};
use crate::item::episode::Affect;

/// Signals of a stretch of turns from which its importance is computed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ImportanceSignals {
    /// Facts extracted from it.
    pub facts: usize,
    /// Its mean affect.
    pub affect: Affect,
    /// Turns with a promise, a plan or a due date, see [`is_commitment`].
    pub commitments: usize,
    /// Total number of turns.
    pub turns: usize,
    /// Turns of people, as opposed to the assistant or a tool.
    pub user_turns: usize,
}

/// Importance from 1 to 10: a base of 2, plus
///
/// | signal | adds |
/// |---|---|
/// | facts: 1, 2–3, 4 or more | 1, 2, 3 |
/// | valence at or beyond ±.3, ±.6 | 1, 2 |
/// | arousal of .6 or more | 1 |
/// | commitments: 1, 2 or more | 1, 2 |
/// | eight turns or more | 1 |
/// | no turn of a person | −1 |
///
/// The numbers are a rule of thumb, not measured. A person's rating replaces the result.
pub fn importance(signals: &ImportanceSignals) -> u8 {
    let facts = match signals.facts {
        0 => 0,
        1 => 1,
        2..=3 => 2,
        _ => 3,
    };
    let strength = signals.affect.valence.abs();
    let valence = i32::from(strength >= 0.3) + i32::from(strength >= 0.6);
    let arousal = i32::from(signals.affect.arousal >= 0.6);
    let commitments = signals.commitments.min(2) as i32;
    let length = i32::from(signals.turns >= 8);
    let nobody = i32::from(signals.user_turns == 0);
    (2 + facts + valence + arousal + commitments + length - nobody).clamp(1, 10) as u8
}

/// Returns true if a text commits its speaker or names something due, by the phrases of `english.toml`, matched as
/// whole words. Questions ("should I promise?") may be false positives.
pub fn is_commitment(text: &str) -> bool {
    let lower = lower(text);
    english().commitments.iter().any(|phrase| {
        lower.match_indices(phrase.as_str()).any(|(at, found)| {
            let inside = |c: char| c.is_alphanumeric() || c == '\'';
            !lower[..at].ends_with(inside) && !lower[at + found.len()..].starts_with(inside)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_add_up() {
        let table = [
            // facts, valence, arousal, commitments, turns, user turns, expected
            ((0, 0.0, 0.0, 0, 2, 1), 2),
            ((0, 0.0, 0.0, 0, 2, 0), 1),
            ((1, 0.0, 0.0, 0, 4, 2), 3),
            ((3, 0.0, 0.0, 0, 4, 2), 4),
            ((4, 0.0, 0.0, 0, 4, 2), 5),
            ((40, 0.0, 0.0, 0, 4, 2), 5),
            ((0, -0.3, 0.2, 0, 4, 2), 3),
            ((0, -0.7, 0.7, 0, 4, 2), 5),
            ((0, 0.0, 0.0, 1, 4, 2), 3),
            ((0, 0.0, 0.0, 9, 4, 2), 4),
            ((0, 0.0, 0.0, 0, 8, 4), 3),
            ((9, 0.9, 0.9, 9, 9, 9), 10),
        ];
        for ((facts, valence, arousal, commitments, turns, user_turns), expected) in table {
            let affect = Affect { valence, arousal };
            let signals = ImportanceSignals { facts, affect, commitments, turns, user_turns };
            assert_eq!(importance(&signals), expected, "{signals:?}");
        }
    }

    #[test]
    fn commitments_are_told_from_talk() {
        let table = [
            ("I'll send the draft tonight.", true),
            ("I\u{2019}ll be there", true),
            ("Remind me to call the bank.", true),
            ("The rent is due on the third.", true),
            ("The deadline is near", true),
            ("Hi, illness is no fun", false),
            ("Will you come?", false),
            ("We walked by the river.", false),
            ("", false),
        ];
        for (text, expected) in table {
            assert_eq!(is_commitment(text), expected, "{text:?}");
        }
    }
}
