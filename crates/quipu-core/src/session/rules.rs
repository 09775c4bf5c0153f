//! The rule-based summariser: selects original sentences and classifies them by patterns from a data file.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{RegexSet, RegexSetBuilder};
use serde::Deserialize;

use super::decide::{clipped, one_line};
use super::matching;
use super::proposal::{KnownEntry, MergeProposed, ProposedEntry, SummaryProposal, TruthDiff};
use crate::episode;
use crate::item::{Depth, TruthKind};
use crate::limit;
use crate::source::Role;

/// Least similarity at which a sentence replaces an entry of its kind.
const UPDATES_FROM: f64 = 0.5;
/// The same for a sentence that marks itself as a correction.
const CORRECTS_FROM: f64 = 0.25;
/// Least similarity at which two entries are merged.
const MERGES_FROM: f64 = 0.75;
/// Longest line `key: value` that counts as a fact, in words; a longer one is a sentence with a colon.
const KEYED_WORDS_MAX: usize = 30;

/// The patterns of one language.
#[derive(Debug)]
pub struct RuleBook {
    kinds: Vec<Kind>,
    openers: Vec<String>,
    drops: RegexSet,
    corrects: RegexSet,
    idle: RegexSet,
}

#[derive(Debug)]
struct Kind {
    kind: TruthKind,
    from: Vec<Role>,
    patterns: RegexSet,
    unless: RegexSet,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    openers: Vec<String>,
    drops: Vec<String>,
    corrects: Vec<String>,
    idle: Vec<String>,
    kind: Vec<KindFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KindFile {
    kind: TruthKind,
    from: Vec<Role>,
    patterns: Vec<String>,
    #[serde(default)]
    unless: Vec<String>,
}

static ENGLISH: LazyLock<RuleBook> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the patterns are part of the program and tests read them")]
    RuleBook::parse(include_str!("english.toml")).expect("the built-in patterns are well formed")
});

/// A sentence of an exchange.
struct ExchangeSentence<'a> {
    text: &'a str,
    role: Role,
    /// Lower case with straight apostrophes, without openers and the final full stop.
    plain: String,
    /// Its relative position in the message, 0 to 1.
    place: f64,
}

impl RuleBook {
    /// The built-in patterns.
    pub fn english() -> &'static Self {
        &ENGLISH
    }

    fn parse(text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        let set = |patterns: &[String]| {
            RegexSetBuilder::new(patterns).size_limit(16 << 20).build().map_err(|error| error.to_string())
        };
        let kind = |one: &KindFile| {
            Ok(Kind {
                kind: one.kind,
                from: one.from.clone(),
                patterns: set(&one.patterns)?,
                unless: set(&one.unless)?,
            })
        };
        Ok(Self {
            kinds: file.kind.iter().map(kind).collect::<Result<_, String>>()?,
            openers: file.openers,
            drops: set(&file.drops)?,
            corrects: set(&file.corrects)?,
            idle: set(&file.idle)?,
        })
    }

    /// The kind of an entry, whoever said it; a fact by default.
    pub fn kind_of(&self, text: &str) -> TruthKind {
        let plain = self.plain(text);
        let fits = |kind: &&Kind| kind.patterns.is_match(&plain) && !kind.unless.is_match(&plain);
        self.kinds.iter().find(fits).map_or(TruthKind::Fact, |kind| kind.kind)
    }

    /// True if a sentence of the user adds a binding rule, retracts something or sets a value, so that even a short
    /// exchange must update the base truth.
    pub fn matters(&self, text: &str) -> bool {
        said(self, text, Role::User).iter().any(|one| {
            let changes = self.drops.is_match(&one.plain) || self.corrects.is_match(&one.plain);
            changes || self.sorted(one).is_some_and(|kind| kind.binds() || matching::key(one.text).is_some())
        })
    }

    /// True if the user explicitly retracts an entry.
    pub fn takes_back(&self, text: &str, entry: &str) -> bool {
        said(self, text, Role::User).iter().any(|one| self.dropped(one, entry) >= UPDATES_FROM)
    }

    /// How certainly a sentence retracts an entry, 0 to 1.
    fn dropped(&self, one: &ExchangeSentence<'_>, entry: &str) -> f64 {
        if one.role != Role::User || !self.drops.is_match(&one.plain) {
            return 0.0;
        }
        let rest = self.without_drop(&one.plain);
        if matching::is_within(&rest, entry) { 1.0 } else { matching::similarity(&rest, entry) }
    }

    /// Summarises an exchange in its own sentences. A short exchange does not change the base truth.
    pub fn propose(&self, user: &str, assistant: &str, depth: Depth, known: &[KnownEntry]) -> SummaryProposal {
        let (asked, replied) = (said(self, user, Role::User), said(self, assistant, Role::Assistant));
        let base_truth_diff = match depth {
            Depth::Short => TruthDiff::default(),
            Depth::Medium | Depth::Long => self.diff(&asked, &replied, known),
        };
        SummaryProposal {
            user_summary: self.summary(&asked, user, limit::USER_SUMMARY_WORDS_MAX),
            assistant_summary: self.summary(&replied, assistant, limit::ASSISTANT_SUMMARY_WORDS_MAX),
            base_truth_diff,
        }
    }

    /// Proposes merges of entries of one kind that are equivalent or contained in each other; the newer or fuller text
    /// is used.
    pub fn merges(&self, known: &[KnownEntry]) -> Vec<MergeProposed> {
        let mut all: Vec<MergeProposed> = Vec::new();
        let mut used = Vec::new();
        for (place, one) in known.iter().enumerate() {
            if used.contains(&one.id) {
                continue;
            }
            let (mut from, mut text) = (vec![one.id], one.text.as_str());
            for other in known.iter().skip(place + 1).filter(|other| other.kind == one.kind) {
                let keys = (matching::key(text), matching::key(&other.text));
                let same = match &keys {
                    (Some(own), Some(others)) => own == others,
                    (None, None) => {
                        matching::similarity(text, &other.text) >= MERGES_FROM
                            || matching::is_within(text, &other.text)
                            || matching::is_within(&other.text, text)
                    }
                    _ => false,
                };
                // A negated sentence does not equal its affirmation.
                if same && !used.contains(&other.id) && denies(text) == denies(&other.text) {
                    from.push(other.id);
                    let fuller = matching::is_within(&other.text, text) && !matching::is_within(text, &other.text);
                    text = if fuller { text } else { &other.text };
                }
            }
            if from.len() > 1 {
                used.extend(&from);
                all.push(MergeProposed { from, text: text.to_owned() });
            }
        }
        all
    }

    fn plain(&self, sentence: &str) -> String {
        let lower = one_line(&sentence.to_lowercase().replace('’', "'"));
        let mut plain = lower.trim_start_matches(['-', '*', '•', '>', ' ']).trim_end_matches(['.', '!', ' ']);
        loop {
            let rest = self.openers.iter().find_map(|opener| {
                let rest = plain.strip_prefix(opener.as_str())?;
                // "Actually" alone marks a correction, so it is kept.
                (opener != "actually" && rest.starts_with([' ', ',', ':'])).then_some(rest)
            });
            match rest.map(|rest| rest.trim_start_matches([' ', ',', ':'])).filter(|rest| !rest.is_empty()) {
                Some(rest) => plain = rest,
                None => return plain.to_owned(),
            }
        }
    }

    /// The kind of a sentence worth an entry.
    fn sorted(&self, one: &ExchangeSentence<'_>) -> Option<TruthKind> {
        let plain =
            one.plain.strip_prefix("actually").map_or(one.plain.as_str(), |rest| rest.trim_start_matches([',', ' ']));
        let fits = |kind: &&Kind| {
            kind.from.contains(&one.role) && kind.patterns.is_match(plain) && !kind.unless.is_match(plain)
        };
        let by_pattern = self.kinds.iter().find(fits).map(|kind| kind.kind);
        let keyed = || {
            let short = one.text.split_whitespace().count() <= KEYED_WORDS_MAX;
            (one.role == Role::User && short && matching::key(one.text).is_some()).then_some(TruthKind::Fact)
        };
        by_pattern.or_else(keyed)
    }

    fn diff(
        &self,
        asked: &[ExchangeSentence<'_>],
        replied: &[ExchangeSentence<'_>],
        known: &[KnownEntry],
    ) -> TruthDiff {
        let mut diff = TruthDiff::default();
        for one in asked.iter().chain(replied) {
            let text = one_line(one.text);
            if text.len() > limit::TRUTH_BYTES_MAX {
                continue;
            }
            let meant = known.iter().filter(|entry| entry.kind != TruthKind::Exception);
            let scored = meant.map(|entry| (self.dropped(one, &entry.text), entry));
            let best = scored.reduce(|best, one| if one.0 > best.0 { one } else { best });
            if let Some((_, entry)) = best.filter(|(score, _)| *score >= UPDATES_FROM) {
                diff.remove.push(entry.text.clone());
                continue;
            }
            let Some(kind) = self.sorted(one) else { continue };
            let entry = ProposedEntry::Entry { kind, text: text.clone() };
            if known.iter().any(|held| crate::predicate::normal(&held.text) == crate::predicate::normal(&text)) {
                continue;
            }
            if self.is_update(one, kind, &text, known) { diff.update.push(entry) } else { diff.add.push(entry) }
        }
        diff
    }

    fn is_update(&self, one: &ExchangeSentence<'_>, kind: TruthKind, text: &str, known: &[KnownEntry]) -> bool {
        if kind == TruthKind::Exception {
            return false;
        }
        let from = if self.corrects.is_match(&one.plain) { CORRECTS_FROM } else { UPDATES_FROM };
        let own = matching::key(text);
        known.iter().filter(|entry| entry.kind == kind).any(|entry| match (&own, matching::key(&entry.text)) {
            (Some(own), Some(other)) => *own == other,
            (None, None) => matching::similarity(text, &entry.text) >= from && denies(text) == denies(&entry.text),
            _ => false,
        })
    }

    /// The sentence without the words of the retraction.
    fn without_drop(&self, plain: &str) -> String {
        let mut rest = plain.to_owned();
        for words in [
            "no longer",
            "any more",
            "anymore",
            "forget about",
            "forget",
            "never mind",
            "nevermind",
            "drop ",
            "scrap ",
            "not ",
        ] {
            rest = rest.replace(words, " ");
        }
        rest
    }

    /// The most significant sentences that fit, in their original order.
    fn summary(&self, sentences: &[ExchangeSentence<'_>], text: &str, words_max: usize) -> String {
        let words = |one: &ExchangeSentence<'_>| one.text.split_whitespace().count();
        let mut order: Vec<(usize, f64)> = sentences
            .iter()
            .enumerate()
            .map(|(place, one)| (place, self.weight(one)))
            .filter(|(_, w)| *w > 0.0)
            .collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let Some(&(best, _)) = order.first() else {
            return clipped(&code_named(text, &one_line(text)), words_max);
        };
        let (mut chosen, mut left) = (vec![best], words_max.saturating_sub(words(&sentences[best])));
        for (place, _) in order.into_iter().skip(1) {
            let cost = words(&sentences[place]);
            if cost <= left {
                left -= cost;
                chosen.push(place);
            }
        }
        chosen.sort_unstable();
        let told = chosen.iter().map(|&place| one_line(sentences[place].text)).collect::<Vec<_>>().join(" ");
        clipped(&told, words_max)
    }

    /// Weight of a sentence: binding rules first, then decisions and questions; early sentences weigh more, because a
    /// constraint at the start of a long message is easily lost.
    fn weight(&self, one: &ExchangeSentence<'_>) -> f64 {
        if self.idle.is_match(&one.plain) {
            return 0.0;
        }
        let kind = match self.sorted(one) {
            Some(kind) if kind.binds() => 3.0,
            Some(TruthKind::Decision | TruthKind::Goal | TruthKind::Task) => 2.0,
            Some(_) => 1.5,
            None => 1.0,
        };
        let asks = if one.role == Role::User && one.text.trim_end().ends_with('?') { 0.8 } else { 0.0 };
        let exact = if one.text.contains(|c: char| c.is_ascii_digit() || c == '`' || c == '_') { 0.3 } else { 0.0 };
        let early = if one.place <= 0.25 { 0.5 } else { 0.0 };
        kind + asks + exact + early - 0.2 * one.place
    }
}

fn denies(text: &str) -> bool {
    let plain = text.to_lowercase().replace('’', "'");
    plain
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .any(|word| matches!(word, "not" | "no" | "never" | "cannot" | "without") || word.ends_with("n't"))
}

/// The summary of a message that is only code: language and number of lines.
fn code_named(text: &str, rest: &str) -> String {
    match text.trim_start().strip_prefix("```") {
        Some(inside) => {
            let language = inside.lines().next().unwrap_or_default().trim();
            let lines = inside.lines().skip(1).filter(|line| !line.starts_with("```")).count();
            one_line(&format!("Code {language} with {lines} lines"))
        }
        None => rest.to_owned(),
    }
}

/// The sentences of a message without quoted packs and fenced code.
fn said<'a>(rules: &RuleBook, text: &'a str, role: Role) -> Vec<ExchangeSentence<'a>> {
    let own: Vec<Range<usize>> = crate::guard::strip_packs(text);
    let mut all = Vec::new();
    for part in own {
        for span in episode::sentences(&text[part.clone()]) {
            let start = part.start + span.start;
            let sentence = &text[start..part.start + span.end];
            let place = start as f64 / text.len().max(1) as f64;
            all.push(ExchangeSentence { text: sentence, role, plain: rules.plain(sentence), place });
        }
    }
    all
}
