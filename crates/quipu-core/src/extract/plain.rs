//! Casual spelling put right before reading: "im" is "i'm", "maya" after "my sister" is "Maya". What is read keeps its place
//! in the source.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::Deserialize;

use super::Extraction;
use super::rules::language::Language;
use super::rules::pattern::{Pattern, Patterns};
use crate::refusal::Refusal;

/// Shorter words are no names without a capital.
const NAME_BYTES_MIN: usize = 3;
/// What stands directly beside a word and makes it part of something else: an address, a path, a tag.
const JOINS: [char; 7] = ['@', '#', '/', '_', '\\', '=', '~'];

/// Casual spelling.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlainWords {
    /// Word to what stands for it.
    pub(super) words: BTreeMap<String, String>,
    /// The same where certain words follow.
    #[serde(default)]
    pub(super) before: BTreeMap<String, PlainBefore>,
    /// Where a name stands without its capital. Group `name`.
    pub(super) names: Vec<String>,
    /// Words that are no names there.
    pub(super) not_names: String,
    /// Words that look like a verb or an adverb, and are no names there but for those listed.
    pub(super) verb_like: String,
    pub(super) names_like_verbs: Vec<String>,
    /// Places without their capitals.
    pub(super) places: String,
}

/// What a word stands for where certain words follow.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlainBefore {
    pub(super) next: String,
    pub(super) is: String,
}

/// Puts casual spelling right.
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

/// A text with its spelling put right.
#[derive(Debug)]
pub(super) struct Plained {
    pub(super) text: String,
    /// It does not begin with a capital, so the lack of one says nothing.
    pub(super) casual: bool,
    /// What was replaced: where it stands now, and where it stood.
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

    /// The text as it would be spelled with care. `known` are people whose names need no capital.
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

    /// Gives names their capitals: of people introduced by what they are, of people who are known, and of places.
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
    /// Puts what was read back to its places in the source.
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

    /// Where a place of the text stands in the source; within a replaced word, its beginning or its end.
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

/// Runs of letters and digits with the apostrophes and dots of short forms within.
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
