//! Splits text into sentences and clauses, and masks code, quotations and songs.

use std::ops::Range;

use super::PassedOver;
use super::language::Split;
use super::rules::pattern::{Pattern, Patterns, either, wrong};
use crate::limit::SENTENCE_BYTES_MAX;
use crate::refusal::Refusal;

/// Replaces every byte of masked text, so that no pattern matches there and offsets are preserved.
pub(super) const MASK: char = '\u{1}';
/// Quotation marks around fewer words mark a title or a name.
const QUOTED_WORDS_MIN: usize = 3;
/// Maximum distance of a closing quotation mark in bytes.
const QUOTED_BYTES_MAX: usize = 2000;
/// Number of bytes after a full stop that show whether it ends an ordinal.
const ORDINAL_BYTES_MAX: usize = 64;

/// Splits texts of one language.
#[derive(Debug, Clone)]
pub(super) struct Splitter {
    abbreviation: Pattern,
    clauses: Vec<Pattern>,
    verbs: Pattern,
    ordinal: Pattern,
    cut: Pattern,
    unfinished: Pattern,
    relative: Pattern,
    question_tail: Pattern,
    instructions: Pattern,
}

impl Splitter {
    pub(super) fn new(words: &Split, patterns: &Patterns<'_>) -> Result<Self, Refusal> {
        let abbreviations = either(words.abbreviations.iter().map(String::as_str));
        let clauses = words.clauses.iter().map(|pattern| patterns.one("split.clauses", pattern));
        let clauses = clauses.collect::<Result<Vec<_>, _>>()?;
        let instructions = patterns.one("split.instructions", &words.instructions)?;
        if clauses.iter().chain([&instructions]).any(|cutting| cutting.groups().all(|name| name != "cut")) {
            return Err(wrong("split.clauses", "a pattern has no group named cut"));
        }
        Ok(Self {
            abbreviation: patterns.one("split.abbreviations", &format!(r"(?:^|[\s(])(?:{abbreviations}|\p{{L}})$"))?,
            clauses,
            verbs: patterns.one("split.verbs", &words.verbs)?,
            cut: patterns.one("split.cut", &words.cut)?,
            ordinal: patterns.one("split.ordinal", &words.ordinal)?,
            unfinished: patterns.start("split.unfinished", &words.unfinished)?,
            relative: patterns.one("split.relative", &words.relative)?,
            question_tail: patterns.one("split.question_tail", &words.question_tail)?,
            instructions,
        })
    }

    /// The sentences of a masked text, without leading spaces and bullets.
    pub(super) fn sentences(&self, text: &str) -> Vec<Range<usize>> {
        let mut sentences = Vec::new();
        let mut from = 0;
        for (at, c) in text.char_indices() {
            let end = at + c.len_utf8();
            let ends = match c {
                '\n' => true,
                '!' | '?' | '…' => rest_is_open(&text[end..]),
                '.' => {
                    let counts = text[from..at].ends_with(char::is_numeric)
                        && self.ordinal.is_match(first_bytes(&text[end..], ORDINAL_BYTES_MAX));
                    rest_is_open(&text[end..]) && !counts && !self.is_abbreviated(text, from, at)
                }
                _ => false,
            };
            if ends {
                sentences.push(from..end);
                from = end;
            }
        }
        sentences.push(from..text.len());
        let whole = sentences.into_iter().map(|range| trim(text, range));
        whole.flat_map(|range| self.one_by_one(text, range)).filter(|range| !range.is_empty()).collect()
    }

    /// The instructions of a sentence that gives several: "call me Ren, and always answer in metric units". Any other
    /// sentence as it is.
    fn one_by_one(&self, text: &str, sentence: Range<usize>) -> Vec<Range<usize>> {
        let (mut found, mut from) = (Vec::new(), sentence.start);
        while sentence.end - from <= SENTENCE_BYTES_MAX
            && let Some(cut) =
                self.instructions.captures(&text[from..sentence.end]).and_then(|groups| groups.name("cut"))
        {
            found.push(trim(text, from..from + cut.start()));
            from += cut.end();
        }
        found.push(trim(text, from..sentence.end));
        found
    }

    /// The clauses of a sentence.
    pub(super) fn clauses(&self, text: &str, sentence: Range<usize>) -> Vec<Range<usize>> {
        let mut cuts: Vec<Range<usize>> = Vec::new();
        for clause in &self.clauses {
            let found = clause.captures_iter(&text[sentence.clone()]).filter_map(|groups| groups.name("cut"));
            cuts.extend(found.map(|cut| cut.start() + sentence.start..cut.end() + sentence.start));
        }
        cuts.sort_by_key(|cut| cut.start);
        let mut clauses = Vec::new();
        let mut from = sentence.start;
        for cut in cuts {
            if cut.start >= from && !self.unfinished.is_match(&text[from..cut.end]) {
                clauses.push(from..cut.start);
                from = cut.end;
            }
        }
        clauses.push(from..sentence.end);
        clauses.into_iter().map(|range| trim(text, range)).filter(|range| !range.is_empty()).collect()
    }

    /// Ranges of the conjunctions after which a verb without a subject may begin.
    pub(super) fn joints(&self, clause: &str) -> Vec<Range<usize>> {
        self.verbs.find_iter(clause).map(|found| found.range()).collect()
    }

    /// Returns true if the words end in a truncated phrase.
    pub(super) fn is_cut(&self, words: &str) -> bool {
        self.cut.is_match(words)
    }

    /// Returns true if the separator begins a relative clause.
    pub(super) fn is_relative(&self, cut: &str) -> bool {
        self.relative.is_match(cut)
    }

    /// Start of a trailing question in a sentence that did not begin as one.
    pub(super) fn question_tail(&self, sentence: &str) -> Option<usize> {
        self.question_tail.find(sentence).map(|found| found.start())
    }

    fn is_abbreviated(&self, text: &str, from: usize, dot: usize) -> bool {
        let before = &text[from..dot];
        let start = before.char_indices().rev().take(12).last().map_or(0, |(at, _)| at);
        // "I" is a word, not an initial.
        !before.ends_with(" I") && self.abbreviation.is_match(&before[start..])
    }
}

/// Returns true if nothing, space, or only closing marks follow.
fn rest_is_open(rest: &str) -> bool {
    let rest = rest.trim_start_matches(['"', '”', '’', ')', '*']);
    rest.chars().next().is_none_or(|c| c.is_whitespace() || (!c.is_alphanumeric() && !c.is_ascii()))
}

/// The beginning of a text, of at most `bytes` bytes. Bounds what is searched again at each place of a text.
fn first_bytes(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// Trims spaces at both ends and a bullet at the beginning.
pub(super) fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let left = part.trim_start_matches(|c: char| c.is_whitespace() || "-*•–—,;:+#".contains(c));
    let start = range.end - left.len();
    let right = left.trim_end_matches(|c: char| c.is_whitespace() || ",;:–—".contains(c));
    start..start + right.len()
}

/// Replaces every byte that is not the speaker's own text by [`MASK`]; returns the masked ranges.
pub(super) fn mask(text: &str) -> (String, Vec<PassedOver>) {
    let mut hidden = hidden_lines(text);
    hidden.extend(paired(text, '`', '`', 0));
    hidden.extend(paired(text, '"', '"', QUOTED_WORDS_MIN));
    hidden.extend(paired(text, '“', '”', QUOTED_WORDS_MIN));
    hidden.extend(single_quoted(text));
    hidden.sort_by_key(|range| range.start);
    let mut bytes = text.as_bytes().to_vec();
    for range in &hidden {
        for byte in &mut bytes[range.clone()] {
            if *byte != b'\n' {
                *byte = MASK as u8;
            }
        }
    }
    let passed = hidden.into_iter().map(|span| PassedOver { span, reason: "quoted".to_owned() }).collect();
    // Only whole characters were replaced, so the bytes are valid UTF-8.
    (String::from_utf8(bytes).unwrap_or_default(), passed)
}

/// Fenced code, quoted lines and song lines.
fn hidden_lines(text: &str) -> Vec<Range<usize>> {
    let mut hidden = Vec::new();
    let mut fenced = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let plain = line.trim_start();
        let fence = plain.starts_with("```") || plain.starts_with("~~~");
        let song = plain.contains(['🎵', '🎶', '♪', '♫']);
        let comment = ["//", "/*", "#include", "#!"].iter().any(|mark| plain.starts_with(mark));
        if fence || fenced || song || comment || plain.starts_with('>') {
            hidden.push(at..at + line.trim_end().len());
        }
        fenced ^= fence;
        at += line.len();
    }
    hidden.retain(|range| !range.is_empty());
    hidden
}

/// Text between single quotation marks, as opposed to apostrophes.
fn single_quoted(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let opens = |at: usize| text[..at].ends_with([' ', '(', '\n', ':']) && !text[at + 1..].starts_with(' ');
    let closes = |at: usize| !text[at + 1..].starts_with(char::is_alphanumeric) && !text[..at].ends_with(' ');
    let marks: Vec<usize> = text.match_indices('\'').map(|(at, _)| at).collect();
    for (at, open) in marks.iter().enumerate().filter(|(_, open)| opens(**open)) {
        let mut near = marks[at + 1..].iter().copied().take_while(|close| close - open <= QUOTED_BYTES_MAX);
        let after = near.find(|close| closes(*close) && !opens(*close));
        let Some(close) = after.filter(|close| !text[*open..*close].contains('\n')) else { continue };
        let apart = found.last().is_none_or(|last| last.end <= *open);
        if apart && text[*open..close].split_whitespace().count() >= QUOTED_WORDS_MIN {
            found.push(*open..close + 1);
        }
    }
    found
}

/// Text between two marks in one line, with at least `words_min` words.
fn paired(text: &str, open: char, close: char, words_min: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find(open).map(|at| at + from) {
        let inside = start + open.len_utf8();
        let near = first_bytes(&text[inside..], QUOTED_BYTES_MAX + close.len_utf8());
        let length = near.find(['\n', close]).filter(|length| near[*length..].starts_with(close));
        let Some(length) = length else {
            from = inside;
            continue;
        };
        let end = inside + length + close.len_utf8();
        let quoted = &text[inside..inside + length];
        if quoted.split_whitespace().count() >= words_min {
            found.push(start..end);
        }
        from = end;
    }
    found
}
