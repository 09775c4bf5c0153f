//! Normalises casual spelling before extraction: "im" becomes "i'm", "maya" after "my sister" becomes "Maya". Spans are
//! mapped back to the source.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::Deserialize;

use super::Extraction;
use super::language::Language;
use super::rules::pattern::{Pattern, Patterns};
use crate::refusal::Refusal;

/// Minimum length of a name without a capital.
const NAME_BYTES_MIN: usize = 3;
/// Characters that make an adjacent word part of an address, a path or a tag.
const JOINS: [char; 7] = ['@', '#', '/', '_', '\\', '=', '~'];

/// Spelling rules of the data file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlainWords {
    /// Words with their replacements.
    pub(super) words: BTreeMap<String, String>,
    /// Replacements that apply only before certain words.
    #[serde(default)]
    pub(super) before: BTreeMap<String, PlainBefore>,
    /// Patterns for names without a capital. Group `name`.
    pub(super) names: Vec<String>,
    /// Words that are never names there.
    pub(super) not_names: String,
    /// Words that look like verbs or adverbs and are not names there, except those in `names_like_verbs`.
    pub(super) verb_like: String,
    pub(super) names_like_verbs: Vec<String>,
    /// Places without capitals.
    pub(super) places: String,
}

/// The replacement of a word before certain words.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlainBefore {
    pub(super) next: String,
    pub(super) is: String,
}

/// Normalises casual spelling.
#[derive(Debug)]
pub(super) struct Plain {
    words: BTreeMap<String, String>,
    before: BTreeMap<String, (Pattern, String)>,
    names: Vec<Pattern>,
    not_names: Pattern,
    verb_like: Pattern,
    names_like_verbs: BTreeSet<String>,
    places: Pattern,
}

/// A normalised text.
#[derive(Debug)]
pub(super) struct Plained {
    pub(super) text: String,
    /// True if it does not begin with a capital, so that missing capitals carry no information.
    pub(super) casual: bool,
    /// The replacements: range in the new text and in the source.
    replaced: Vec<(Range<usize>, Range<usize>)>,
}

impl Plain {
    pub(super) fn new(language: &Language, patterns: &Patterns<'_>) -> Result<Self, Refusal> {
        let PlainWords { words, before, names, not_names, verb_like, names_like_verbs, places } = &language.plain;
        let compile = |(word, next): (&String, &PlainBefore)| {
            let pattern = patterns.start("plain.before", &format!(r"\s+(?:{})", next.next))?;
            Ok((word.clone(), (pattern, next.is.clone())))
        };
        Ok(Self {
            words: words.clone(),
            before: before.iter().map(compile).collect::<Result<_, Refusal>>()?,
            names: names.iter().map(|name| patterns.one("plain.names", name)).collect::<Result<_, _>>()?,
            not_names: patterns.one("plain.not_names", &format!("^(?:{not_names})$"))?,
            verb_like: patterns.one("plain.verb_like", &format!("^(?:{verb_like})$"))?,
            names_like_verbs: names_like_verbs.iter().cloned().collect(),
            places: patterns.one("plain.places", places)?,
        })
    }

    /// Normalises a text. `known` are names that may lack their capitals.
    pub(super) fn of(&self, source: &str, known: &[String]) -> Plained {
        let casual = source.chars().find(|c| c.is_alphabetic()).is_some_and(char::is_lowercase);
        let mut plained = self.spelled(source, casual);
        if casual {
            self.capitalise(&mut plained.text, known);
        }
        plained
    }

    fn spelled(&self, source: &str, casual: bool) -> Plained {
        let mut text = String::with_capacity(source.len() + 32);
        let mut replaced = Vec::new();
        let mut copied = 0;
        for word in words(source) {
            let said = &source[word.clone()];
            let joined = source[..word.start].ends_with(JOINS) || source[word.end..].starts_with(JOINS);
            if joined {
                continue;
            }
            let lower = said.to_lowercase();
            let right = self.words.get(&lower).or_else(|| {
                let (next, right) = self.before.get(&lower)?;
                next.is_match(&source[word.end..]).then_some(right)
            });
            let Some(right) = right else { continue };
            text.push_str(&source[copied..word.start]);
            let from = text.len();
            if said.starts_with(char::is_uppercase) {
                let mut letters = right.chars();
                text.extend(letters.next().into_iter().flat_map(char::to_uppercase));
                text.push_str(letters.as_str());
            } else {
                text.push_str(right);
            }
            replaced.push((from..text.len(), word.clone()));
            copied = word.end;
        }
        text.push_str(&source[copied..]);
        Plained { text, casual, replaced }
    }

    /// Capitalises names: of people introduced by a relation, of known people, and of places.
    fn capitalise(&self, text: &mut String, known: &[String]) {
        let mut titles = Vec::new();
        let mut names: BTreeSet<String> = known.iter().map(|name| name.to_lowercase()).collect();
        for pattern in &self.names {
            for groups in pattern.captures_iter(text) {
                let Some(name) = groups.name("name").map(|name| name.as_str()) else { continue };
                if self.may_be_name(name) {
                    names.insert(name.to_lowercase());
                    titles.extend(groups.name("title").map(|title| title.start()));
                }
            }
        }
        let mut starts: BTreeSet<usize> = self
            .places
            .captures_iter(text)
            .filter_map(|groups| Some(starts_of(text, groups.name("place")?.range())))
            .flatten()
            .collect();
        starts.extend(titles);
        if !names.is_empty() {
            let is_name = |word: &str| {
                let whole = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
                names.contains(whole)
                    || whole.strip_suffix('s').is_some_and(|one| one.len() > NAME_BYTES_MIN && names.contains(one))
            };
            starts.extend(words(text).into_iter().filter(|word| is_name(&text[word.clone()])).map(|word| word.start));
        }
        for start in starts {
            let Some(first) = text[start..].chars().next() else { continue };
            let mut upper = first.to_uppercase();
            if let (Some(upper), None) = (upper.next(), upper.next())
                && upper.len_utf8() == first.len_utf8()
            {
                let mut letter = [0; 4];
                text.replace_range(start..start + first.len_utf8(), upper.encode_utf8(&mut letter));
            }
        }
    }

    fn may_be_name(&self, word: &str) -> bool {
        let letters = word.len() >= NAME_BYTES_MIN && word.starts_with(char::is_lowercase);
        letters
            && !self.not_names.is_match(word)
            && (self.names_like_verbs.contains(word) || !self.verb_like.is_match(word))
    }
}

impl Plained {
    /// Maps the spans of what was read back to the source.
    pub(super) fn restore(&self, read: &mut Extraction) {
        if self.replaced.is_empty() {
            return;
        }
        let spans = read.facts.iter_mut().map(|fact| &mut fact.span);
        let spans = spans.chain(read.tasks.iter_mut().map(|task| &mut task.span));
        let spans = spans.chain(read.updates.iter_mut().map(|update| &mut update.span));
        let spans = spans.chain(read.passed_over.iter_mut().map(|passed| &mut passed.span));
        for span in spans {
            *span = self.place(span.start, false)..self.place(span.end, true);
        }
    }

    /// Maps a position of the text to the source; within a replaced word, to its start or end.
    fn place(&self, at: usize, end: bool) -> usize {
        let before = self.replaced.partition_point(|(now, _)| now.start < at);
        let Some((now, then)) = before.checked_sub(1).and_then(|last| self.replaced.get(last)) else { return at };
        match at < now.end {
            true if end => then.end,
            true => then.start,
            false => at - now.end + then.end,
        }
    }
}

/// Runs of letters and digits, including apostrophes inside a word.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices() {
        let inside = c.is_alphanumeric()
            || (start.is_some()
                && matches!(c, '\'' | '’')
                && text[at + c.len_utf8()..].starts_with(char::is_alphanumeric));
        match (inside, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                found.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    found.extend(start.map(|from| from..text.len()));
    found
}

fn starts_of(text: &str, range: Range<usize>) -> Vec<usize> {
    words(&text[range.clone()]).into_iter().map(|word| word.start + range.start).collect()
}
