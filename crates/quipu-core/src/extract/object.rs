//! Extracts the objects from the words after a verb: finds the end, removes articles and fillers, and splits lists.

use std::collections::BTreeMap;
use std::ops::Range;

use super::language::{Language, ObjectKind};
use super::rules::pattern::{Pattern, Patterns, wrong};
use super::split::MASK;
use crate::refusal::Refusal;

/// Maximum number of words of an object, unless its kind overrides it.
const WORDS_MAX: usize = 9;
/// Maximum number of objects of a verb.
const SEVERAL_MAX: usize = 12;

/// Reads objects.
#[derive(Debug)]
pub(super) struct Objects {
    cut: Pattern,
    lead: Pattern,
    trail: Pattern,
    between: Pattern,
    qualities: Pattern,
    filler: Pattern,
    next_verb: Pattern,
    compounds: Vec<String>,
    joins: Pattern,
    vague: Pattern,
    stand_in: Pattern,
    contrast: Pattern,
    kinds: BTreeMap<String, Kind>,
    tables: BTreeMap<String, BTreeMap<String, String>>,
    lists: BTreeMap<String, Vec<String>>,
}

#[derive(Debug)]
struct Kind {
    words: ObjectKind,
    shape: Option<Pattern>,
    begins: Option<Pattern>,
    plain_shape: Option<Pattern>,
    reject: Option<Pattern>,
    pointing: Option<Pattern>,
    not_before: Option<Pattern>,
    cut: Option<Pattern>,
}

/// One object.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Object {
    /// As stated, or as spelled in its table.
    pub(super) text: String,
    /// The unmodified text up to the cut, with articles.
    pub(super) raw: String,
}

impl Objects {
    pub(super) fn new(language: &Language, patterns: &Patterns<'_>) -> Result<Self, Refusal> {
        let words = &language.object;
        let mut kinds = BTreeMap::new();
        for (name, kind) in &language.objects {
            let owner = format!("objects.{name}");
            let some = |pattern: &Option<String>, start: bool| {
                pattern
                    .as_ref()
                    .map(|p| if start { patterns.start(&owner, p) } else { patterns.one(&owner, p) })
                    .transpose()
            };
            if let Some(table) = kind.table.as_ref().filter(|table| !language.tables.contains_key(*table)) {
                return Err(wrong(&owner, &format!("there is no table {table}")));
            }
            if let Some(list) = kind.in_list.as_ref().filter(|list| !language.lists.contains_key(*list)) {
                return Err(wrong(&owner, &format!("there is no list {list}")));
            }
            let compiled = Kind {
                shape: some(&kind.shape, true)?,
                begins: some(&kind.begins, true)?,
                plain_shape: some(&kind.plain_shape, true)?,
                reject: some(&kind.reject, false)?,
                pointing: some(&kind.pointing, true)?,
                not_before: some(&kind.not_before, true)?,
                cut: some(&kind.cut, false)?,
                words: ObjectKind {
                    table: kind.table.clone(),
                    in_list: kind.in_list.clone(),
                    shape: None,
                    begins: None,
                    plain_shape: None,
                    reject: None,
                    pointing: None,
                    not_before: None,
                    cut: None,
                    ..*kind
                },
            };
            kinds.insert(name.clone(), compiled);
        }
        Ok(Self {
            cut: patterns.one("object.cut", &words.cut)?,
            lead: patterns.start("object.lead", &words.lead)?,
            trail: patterns.one("object.trail", &format!("(?:{})$", words.trail))?,
            between: patterns.one("object.between", &words.between)?,
            qualities: patterns.one("object.qualities", &format!("^(?:{})$", words.qualities))?,
            filler: patterns.one("object.filler", &format!("^(?:{})$", words.filler))?,
            next_verb: patterns.start("object.next_verb", &words.next_verb)?,
            compounds: words.compounds.iter().map(|word| word.to_lowercase()).collect(),
            joins: patterns.one("object.joins", &words.joins)?,
            vague: patterns.one("object.vague", &format!("^(?:{})$", words.vague))?,
            stand_in: patterns.start("object.stand_in", &words.stand_in)?,
            contrast: patterns.one("object.contrast", &words.contrast)?,
            kinds,
            tables: language.tables.clone(),
            lists: language.lists.clone(),
        })
    }

    pub(super) fn has(&self, kind: &str) -> bool {
        self.kinds.contains_key(kind)
    }

    /// Reads the objects in `text[range]`; `others` are times and frequencies, which are not part of an object.
    pub(super) fn read(
        &self,
        kind: &str,
        text: &str,
        range: Range<usize>,
        others: &[Range<usize>],
        casual: bool,
    ) -> Vec<Object> {
        let Some(kind) = self.kinds.get(kind) else { return Vec::new() };
        if kind.words.whole {
            let raw = text[range].trim_matches(is_edge);
            return self.accept(kind, raw, raw).into_iter().collect();
        }
        let end = to_end_of_number(text, self.end(kind, text, range.clone(), others));
        let raw = text[range.start..end].trim_matches(is_edge);
        let is =
            |pattern: &Option<Pattern>, words: &str| pattern.as_ref().is_some_and(|pattern| pattern.is_match(words));
        if is(&kind.pointing, raw) || is(&kind.not_before, text[end..].trim_start()) {
            return Vec::new();
        }
        let parts = if kind.words.several { self.parts(raw, kind) } else { vec![raw] };
        let has_capitals = text.chars().any(char::is_uppercase);
        let read = |part: &&str| {
            let plain = self.plain(part);
            let without = kind.plain_shape.as_ref().filter(|_| casual || !has_capitals);
            let shaped = match (&kind.shape, without) {
                (Some(shape), Some(without)) => shape.find(plain).or_else(|| without.find(plain))?.as_str(),
                (Some(shape), None) | (None, Some(shape)) => shape.find(plain)?.as_str(),
                (None, None) => plain,
            };
            self.accept(kind, shaped.trim_matches(is_edge), part)
        };
        parts.iter().take(SEVERAL_MAX).filter_map(read).collect()
    }

    /// The wrong value in `not …` after an object.
    pub(super) fn contrast(&self, rest: &str) -> Option<String> {
        let wrong = self.contrast.captures(rest)?.name("not")?.as_str().trim_matches(is_edge);
        let wrong = self.plain(wrong);
        (!wrong.is_empty() && !wrong.contains(MASK)).then(|| wrong.to_owned())
    }

    /// Returns true if the words only refer to something said elsewhere.
    pub(super) fn points(&self, words: &str) -> bool {
        self.stand_in.is_match(words)
    }

    /// Returns true if a list contains the object or its last word.
    pub(super) fn is_in(&self, list: &str, object: &str) -> bool {
        let Some(list) = self.lists.get(list) else { return false };
        let lower = object.to_lowercase();
        // An activity with the thing is not the thing: "baking bread".
        let first = lower.split_whitespace().next().unwrap_or_default();
        if first.len() > 4 && first.ends_with("ing") && !list.contains(&lower) {
            return false;
        }
        // The head of "yogurt with honey" is before "with".
        let head = lower.split(" with ").next().unwrap_or(&lower).split(" from ").next().unwrap_or(&lower);
        let head = head.split(" of ").next().unwrap_or(head);
        list.iter().any(|word| is_head(head, word))
    }

    /// Looks up a word in a table.
    pub(super) fn told(&self, table: &str, word: &str) -> Option<&str> {
        let word = word.to_lowercase().replace('’', "'");
        let table = self.tables.get(table)?;
        table.get(&word).or_else(|| table.get(word.trim_end_matches('s'))).map(String::as_str)
    }

    /// Latest possible end of the object.
    fn end(&self, kind: &Kind, text: &str, range: Range<usize>, others: &[Range<usize>]) -> usize {
        let raw = &text[range.clone()];
        let first = |pattern: &Pattern| pattern.find_iter(raw).map(|cut| cut.start()).find(|cut| *cut > 0);
        let cuts = [first(&self.cut), kind.cut.as_ref().and_then(|cut| cut.find(raw)).map(|cut| cut.start())];
        let others = others.iter().map(|other| other.start).filter(|start| range.contains(start));
        cuts.into_iter().flatten().map(|cut| cut + range.start).chain(others).min().unwrap_or(range.end)
    }

    /// Removes leading articles and trailing fillers.
    fn plain<'t>(&self, part: &'t str) -> &'t str {
        let mut plain = part.trim_matches(is_edge);
        while let Some(lead) = self.lead.find(plain).filter(|lead| lead.end() > 0 && lead.end() < plain.len()) {
            plain = plain[lead.end()..].trim_start_matches(is_edge);
        }
        while let Some(trail) = self.trail.find(plain).filter(|trail| !trail.is_empty()) {
            plain = plain[..trail.start()].trim_end_matches(is_edge);
        }
        closed(plain)
    }

    fn accept(&self, kind: &Kind, object: &str, raw: &str) -> Option<Object> {
        let words = object.split_whitespace().count();
        let fits = words > 0 && words <= kind.words.words_max.unwrap_or(WORDS_MAX);
        let open = object.contains(MASK) || !object.chars().any(char::is_alphanumeric);
        if !fits || open || self.vague.is_match(object) || kind.reject.as_ref().is_some_and(|no| no.is_match(object)) {
            return None;
        }
        if kind.words.in_list.as_ref().is_some_and(|list| !self.is_in(list, object)) {
            return None;
        }
        let told = kind.words.table.as_ref().and_then(|table| self.told(table, object));
        if kind.words.in_table && told.is_none() {
            return None;
        }
        Some(Object { text: told.unwrap_or(object).to_owned(), raw: raw.to_owned() })
    }

    /// The members of "a, b and c"; the whole if its parts cannot be separated.
    fn parts<'t>(&self, raw: &'t str, kind: &Kind) -> Vec<&'t str> {
        let lower = raw.to_lowercase();
        let compounds: Vec<Range<usize>> = if lower.len() == raw.len() {
            let found = self.compounds.iter().flat_map(|word| lower.match_indices(word.as_str()));
            found.map(|(at, word)| at..at + word.len()).collect()
        } else {
            Vec::new()
        };
        let mut parts = Vec::new();
        let mut from = 0;
        let mut element = 0;
        for joint in self.between.find_iter(raw) {
            if compounds.iter().any(|compound| compound.contains(&joint.start())) {
                continue;
            }
            if kind.begins.as_ref().is_some_and(|begins| !begins.is_match(&raw[joint.end()..])) {
                continue;
            }
            // "loud, crowded places" are no two things.
            let qualifies = self.qualities.is_match(raw[element..joint.start()].trim_matches(is_edge));
            element = joint.end();
            if qualifies && raw[element..].contains(' ') {
                continue;
            }
            let (before, after) = (&raw[from..joint.start()], &raw[joint.end()..]);
            // "time with friends and family" continues; "reading and spending time with friends" does not.
            let goes_on = self.joins.is_match(before) || (starts_with_gerund(before) && before.contains(' '));
            if goes_on && kind.shape.is_none() && kind.begins.is_none() && !starts_with_gerund(after) {
                continue;
            }
            parts.push(before);
            from = joint.end();
        }
        parts.push(&raw[from..]);
        let is_next_verb = |part: &&str| kind.begins.is_none() && self.next_verb.is_match(part.trim_matches(is_edge));
        let over = parts.iter().skip(1).position(is_next_verb);
        parts.truncate(over.map_or(parts.len(), |at| at + 1));
        let several = parts.len() > 1;
        parts.retain(|part| {
            let part = part.trim_matches(is_edge);
            let filler = several && self.filler.is_match(part);
            !part.is_empty() && !filler
        });
        parts
    }
}

/// Cuts a title whose opening quotation mark was trimmed at its closing mark.
fn closed(object: &str) -> &str {
    let mut marks = object.match_indices('"');
    match (marks.next(), marks.next()) {
        (Some((at, _)), None) if at > 0 && !object[..at].ends_with(' ') => &object[..at],
        _ => object,
    }
}

fn is_head(head: &str, word: &str) -> bool {
    let ends = |text: &str| text.strip_suffix(word).is_some_and(|rest| rest.is_empty() || rest.ends_with([' ', '-']));
    ends(head) || ["s", "es"].iter().any(|end| head.strip_suffix(end).is_some_and(ends))
}

fn starts_with_gerund(text: &str) -> bool {
    text.split_whitespace().next().is_some_and(|word| word.len() > 4 && word.ends_with("ing"))
}

/// Moves the end of a range past the number it would split: "58,000 euros" must not become 58.
pub(super) fn to_end_of_number(text: &str, end: usize) -> usize {
    let is_digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let is_mark = |at: usize| matches!(text.as_bytes().get(at), Some(b',' | b'.'));
    let mut end = end;
    if !end.checked_sub(1).is_some_and(is_digit) {
        return end;
    }
    while is_digit(end) || is_mark(end) && is_digit(end + 1) {
        end += 1;
    }
    end
}

/// Characters that are trimmed from the ends of an object.
pub(super) fn is_edge(c: char) -> bool {
    c.is_whitespace() || ".,;:!?…\"“”‘’'()[]*_–—-~".contains(c) || (!c.is_alphanumeric() && !c.is_ascii() && c != '€')
}
