//! Options of session memory.

use serde::Deserialize;

use crate::refusal::Refusal;

/// Options of session memory, with the defaults of the original specification.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionOptions {
    /// Exchanges in the raw window; default 6, recommended 5 to 8.
    pub window_turns: usize,
    /// Number of further exchanges for which the reply of a long exchange stays in it; default 2.
    pub long_extra_turns: usize,
    /// An exchange is short if all its messages have fewer words; default 40.
    pub short_words: usize,
    /// An exchange is long if one of its messages has more words; default 200.
    pub long_words: usize,
    /// Exchanges between two consolidations; default 16, recommended 15 to 20.
    pub consolidate_turns: u32,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self { window_turns: 6, long_extra_turns: 2, short_words: 40, long_words: 200, consolidate_turns: 16 }
    }
}

/// Greatest window and greatest distance between consolidations, in exchanges.
const TURNS_MAX: usize = 200;

impl SessionOptions {
    /// Returns the options if they are valid.
    ///
    /// # Errors
    /// `Invalid` with the option and its bounds.
    pub fn checked(self) -> Result<Self, Refusal> {
        let within = |name: &str, value: usize, least: usize| match (least..=TURNS_MAX).contains(&value) {
            true => Ok(()),
            false => Err(Refusal::invalid(format!("{name} is {least} to {TURNS_MAX}, not {value}"))),
        };
        within("window_turns", self.window_turns, 1)?;
        within("long_extra_turns", self.long_extra_turns, 0)?;
        within("consolidate_turns", self.consolidate_turns as usize, 2)?;
        if self.short_words > self.long_words {
            let (short, long) = (self.short_words, self.long_words);
            return Err(Refusal::invalid(format!("short_words is at most long_words: {short} is more than {long}")));
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knobs_that_make_no_sense_are_refused() {
        let base = SessionOptions::default;
        assert!(base().checked().is_ok());
        for (wrong, named) in [
            (SessionOptions { window_turns: 0, ..base() }, "window_turns is 1 to 200, not 0"),
            (SessionOptions { long_extra_turns: 201, ..base() }, "long_extra_turns is 0 to 200, not 201"),
            (SessionOptions { consolidate_turns: 1, ..base() }, "consolidate_turns is 2 to 200, not 1"),
            (SessionOptions { short_words: 201, ..base() }, "short_words is at most long_words: 201 is more than 200"),
        ] {
            let refused = wrong.clone().checked().err().map(|refusal| refusal.to_string()).unwrap_or_default();
            assert!(refused.contains(named), "{wrong:?}: {refused}");
        }
    }
}
