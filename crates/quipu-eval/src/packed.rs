//! The share of the evidence in a pack, and the pack's cost.

use std::collections::BTreeSet;

use quipu_core::id::{ItemId, UserId};
use quipu_core::pack::{Pack, PackLine, estimate_tokens};
use quipu_core::recall::terms;
use quipu_engine::{ContextOptions, Engine, Result};

use super::corpus::PreparedMemory;

/// A turn is in a pack if this share of its terms is; the stricter threshold follows.
const THERE_FROM: f64 = 0.6;
const STRICTLY_FROM: f64 = 0.9;

/// A pack with its measurements.
pub(super) struct Packed {
    pub(super) tokens: usize,
    /// Lines that quote something.
    pub(super) lines: usize,
    /// Tokens outside quoted text, per line.
    pub(super) framing_per_line: Option<f64>,
    pub(super) citations: Vec<ItemId>,
    terms: BTreeSet<String>,
}

/// The share of the evidence in a pack.
pub(super) struct Coverage {
    pub(super) there: f64,
    pub(super) strictly: f64,
}

impl Packed {
    /// The pack for a question, of this size or of the default size.
    pub(super) fn of(
        engine: &Engine,
        subject: &PreparedMemory<'_>,
        question: &str,
        size: Option<usize>,
    ) -> Result<Self> {
        Ok(Self::measured(&pack(engine, &subject.told.user, subject, question, size)?))
    }

    fn measured(pack: &Pack) -> Self {
        let quotes: Vec<&str> = pack.lines.iter().map(quoted).collect();
        let counter = quipu_models::tokenizers().into_iter().find(|one| one.name() == pack.counted_by);
        let count = |text: &&str| counter.as_ref().map_or_else(|| estimate_tokens(text), |one| one.count(text));
        let quoted: usize = quotes.iter().map(count).sum();
        let framing = pack.tokens.saturating_sub(quoted) as f64;
        Self {
            tokens: pack.tokens,
            lines: quotes.len(),
            framing_per_line: (!quotes.is_empty()).then(|| framing / quotes.len() as f64),
            citations: pack.citations.clone(),
            terms: terms(&pack.text),
        }
    }

    /// Coverage of these turns; `None` if none of them has a term.
    pub(super) fn coverage(&self, subject: &PreparedMemory<'_>, gold: &[String]) -> Option<Coverage> {
        let texts = gold.iter().filter_map(|id| subject.heard.texts.get(id)).map(|text| terms(text));
        let shares: Vec<f64> = texts.filter_map(|wanted| share(&wanted, &self.terms)).collect();
        let from = |least: f64| shares.iter().filter(|share| **share >= least).count() as f64 / shares.len() as f64;
        (!shares.is_empty()).then(|| Coverage { there: from(THERE_FROM), strictly: from(STRICTLY_FROM) })
    }
}

/// The pack itself.
pub(super) fn pack(
    engine: &Engine,
    user: &UserId,
    subject: &PreparedMemory<'_>,
    question: &str,
    size: Option<usize>,
) -> Result<Pack> {
    let mut options = ContextOptions { now: subject.now, ..ContextOptions::of(question) };
    options.max_tokens = size.unwrap_or(options.max_tokens);
    quipu_engine::context(engine, user, &options)
}

/// The share of the wanted terms that is there; `None` if there are no wanted terms.
fn share(wanted: &BTreeSet<String>, there: &BTreeSet<String>) -> Option<f64> {
    (!wanted.is_empty()).then(|| wanted.intersection(there).count() as f64 / wanted.len() as f64)
}

/// The quoted text of a line, without the speaker.
fn quoted(line: &PackLine) -> &str {
    line.text.strip_prefix(line.speaker.as_str()).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(&line.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_distinct_terms() {
        let share = |wanted: &str, there: &str| share(&terms(wanted), &terms(there));
        assert_eq!(share("The cat, the cats and a dog", "a cat"), Some(0.5));
        assert_eq!(share("and the", "a cat"), None);
    }
}
