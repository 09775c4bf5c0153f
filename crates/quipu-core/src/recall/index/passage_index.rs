//! The index of a memory's sources: passages with their words, neighbours, days and vectors.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::calendar::day_number;
use crate::id::{ItemId, ItemKind};
use crate::limit;
use crate::memory::HeldSource;
use crate::recall::index::cues;
use crate::recall::index::dense::{DenseRows, EmbeddingKey, StoredVector, embedding_key, quantise};
use crate::recall::index::filter::Filter;
use crate::recall::index::passages::{self, searchable};
use crate::recall::index::talk::Talk;
use crate::recall::index::token_code::TokenCode;
use crate::recall::index::when;
use crate::recall::index::words::WordIndex;
use crate::source::{Role, Source};
use crate::text::language::Language;
use crate::text::tokens;

/// Marks a missing neighbour, session or author.
pub(in crate::recall) const NONE: u32 = u32::MAX;
/// Marks a missing day.
pub(in crate::recall) const NO_DAY: i32 = i32::MIN;

/// Marks of a passage, as a bit set; [`cues`] has more.
pub(in crate::recall) const ASKS: u8 = 1;
pub(in crate::recall) const SAYS_WHEN: u8 = 2;
/// The passage is an assistant's.
pub(in crate::recall) const REPLY: u8 = 4;

/// Maximum length of an embedder's input in bytes, about 256 tokens of English. The preceding passage is cut to fit;
/// the passage itself never is.
const EMBEDDING_INPUT_BYTES: usize = 1000;

/// The input of an embedder for a passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingInput {
    /// The preceding passage of the session, then the passage, each with its speaker.
    pub text: String,
    /// Start of the passage itself.
    pub own: usize,
}

/// The sources an index was built from, by ordinal.
pub trait Sources {
    /// The source at a position; `None` beyond the end.
    fn source(&self, ordinal: u32) -> Option<&Source>;
}

impl Sources for [Source] {
    fn source(&self, ordinal: u32) -> Option<&Source> {
        self.get(ordinal as usize)
    }
}

impl Sources for [HeldSource] {
    fn source(&self, ordinal: u32) -> Option<&Source> {
        self.get(ordinal as usize).map(|held| &held.source)
    }
}

/// One column entry per passage, in ledger order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::recall) struct PassageColumns {
    pub(in crate::recall) ordinal: Vec<u32>,
    /// Byte range in [`Source::searchable`].
    pub(in crate::recall) start: Vec<u32>,
    pub(in crate::recall) end: Vec<u32>,
    /// The previous and next passage of the same session, or [`NONE`].
    pub(in crate::recall) previous: Vec<u32>,
    pub(in crate::recall) next: Vec<u32>,
    pub(in crate::recall) session: Vec<u32>,
    pub(in crate::recall) author: Vec<u32>,
    /// Days since 1970, or [`NO_DAY`].
    pub(in crate::recall) day: Vec<i32>,
    /// [`ASKS`] for a final question mark, [`SAYS_WHEN`] if it names a time, [`REPLY`], and those of [`cues`].
    pub(in crate::recall) marks: Vec<u8>,
}

/// An author's name in lower-case words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::recall) struct AuthorName {
    pub(in crate::recall) number: u32,
    pub(in crate::recall) name: Vec<String>,
}

/// The search index of one memory: a projection that can be rebuilt from the sources.
///
/// Adding sources one by one gives the same index as building it at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Index {
    pub(in crate::recall) model: String,
    /// By ordinal.
    pub(in crate::recall) items: Vec<ItemId>,
    pub(in crate::recall) passages: PassageColumns,
    pub(in crate::recall) sessions: Vec<Arc<str>>,
    /// The newest passage of each session.
    pub(in crate::recall) session_last: Vec<u32>,
    pub(in crate::recall) session_numbers: HashMap<Arc<str>, u32>,
    pub(in crate::recall) authors: Vec<Arc<str>>,
    author_numbers: HashMap<String, u32>,
    authors_by_first: HashMap<String, Vec<AuthorName>>,
    /// Conversation statistics.
    pub(in crate::recall) talk: Talk,
    /// First and last day of any passage.
    pub(in crate::recall) days: Option<(i32, i32)>,
    pub(in crate::recall) words: WordIndex,
    pub(in crate::recall) dense: DenseRows,
}

impl Index {
    /// Creates an empty index for vectors of one model. With 0 dimensions there are no vectors, and recall uses words
    /// alone.
    pub fn new(dimensions: usize, model_id: impl Into<String>) -> Self {
        Self {
            model: model_id.into(),
            items: Vec::new(),
            passages: PassageColumns::default(),
            sessions: Vec::new(),
            session_last: Vec::new(),
            session_numbers: HashMap::new(),
            authors: Vec::new(),
            author_numbers: HashMap::new(),
            authors_by_first: HashMap::new(),
            talk: Talk::default(),
            days: None,
            words: WordIndex::default(),
            dense: DenseRows::new(dimensions),
        }
    }

    /// Id of the model that made the vectors.
    pub fn model_id(&self) -> &str {
        &self.model
    }

    /// Dimensions of a vector.
    pub fn dimensions(&self) -> usize {
        self.dense.dimensions
    }

    /// Number of sources added, including those without passages; also the next ordinal.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns true if no source was added.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Number of passages of all sources.
    pub fn passage_count(&self) -> usize {
        self.passages.ordinal.len()
    }

    /// Number of passages with a vector.
    pub fn vector_count(&self) -> usize {
        self.dense.present_count
    }

    /// Adds the source at position `ordinal` of the memory's list: the next one, or a later one if those between are
    /// not searchable. Does nothing if it is already indexed.
    pub fn add(&mut self, ordinal: u32, source: &Source) {
        if (ordinal as usize) < self.items.len() {
            return;
        }
        self.items.resize(ordinal as usize, ItemId { kind: ItemKind::Import, bits: 0 });
        self.items.push(source.id);
        if !source.is_item() {
            return;
        }
        let session = source.session.as_ref().map(|session| self.intern_session(session));
        let author = source.author.as_ref().map_or(NONE, |author| self.intern_author(author));
        let day = source.local_time().map_or(NO_DAY, day_number);
        if day != NO_DAY {
            self.days = Some(self.days.map_or((day, day), |(first, last)| (first.min(day), last.max(day))));
        }
        let text = searchable(source);
        let language = Language::of_text(&text).unwrap_or_else(|| self.words.main_language());
        for range in passages::cut(&text) {
            // A question is recognised by the end of the text, not of the captions after it.
            let words_end = if range.contains(&source.text.len()) { source.text.len() } else { range.end };
            let asks = if passages::is_question(&text[range.start..words_end]) { ASKS } else { 0 };
            let says = if when::says_when(&tokens::words(&text[range.clone()])) { SAYS_WHEN } else { 0 };
            self.words.add(session, &text[range.clone()], language);
            self.dense.push_empty();
            let reply = if source.role == Role::Assistant { REPLY } else { 0 };
            let form = cues::marks_of(&text[range.clone()], reply != 0);
            self.push(ordinal, range, session.unwrap_or(NONE), author, day, asks | says | reply | form);
        }
    }

    fn push(&mut self, ordinal: u32, range: Range<usize>, session: u32, author: u32, day: i32, marks: u8) {
        self.talk.add(session, author, marks & REPLY != 0);
        let columns = &mut self.passages;
        let number = columns.ordinal.len() as u32;
        let mut previous = NONE;
        if let Some(last) = self.session_last.get_mut(session as usize) {
            previous = std::mem::replace(last, number);
        }
        if let Some(next) = columns.next.get_mut(previous as usize) {
            *next = number;
        }
        columns.ordinal.push(ordinal);
        columns.start.push(range.start as u32);
        columns.end.push(range.end as u32);
        columns.previous.push(previous);
        columns.next.push(NONE);
        columns.session.push(session);
        columns.author.push(author);
        columns.day.push(day);
        columns.marks.push(marks);
    }

    pub(in crate::recall) fn intern_session(&mut self, session: &Arc<str>) -> u32 {
        if let Some(&number) = self.session_numbers.get(session) {
            return number;
        }
        let number = self.sessions.len() as u32;
        self.session_numbers.insert(session.clone(), number);
        self.sessions.push(session.clone());
        self.session_last.push(NONE);
        number
    }

    /// Names that differ only in case are one author.
    pub(in crate::recall) fn intern_author(&mut self, author: &Arc<str>) -> u32 {
        let lower = author.to_lowercase();
        if let Some(&number) = self.author_numbers.get(&lower) {
            return number;
        }
        let number = self.authors.len() as u32;
        self.authors.push(author.clone());
        let name: Vec<String> = tokens::words(author).into_iter().map(|word| word.lower).collect();
        let is_role = matches!(lower.as_str(), "user" | "assistant" | "system" | "tool");
        if let Some(first) = name.first().filter(|_| !is_role) {
            self.authors_by_first.entry(first.clone()).or_default().push(AuthorName { number, name });
        }
        self.author_numbers.insert(lower, number);
        number
    }

    /// The number of an author by lower-case name.
    pub(in crate::recall) fn author_called(&self, lower: &str) -> Option<u32> {
        self.author_numbers.get(lower).copied()
    }

    pub(in crate::recall) fn author(&self, number: u32) -> Option<&Arc<str>> {
        self.authors.get(number as usize)
    }

    pub(in crate::recall) fn authors_starting_with(&self, first: &str) -> &[AuthorName] {
        self.authors_by_first.get(first).map_or(&[], Vec::as_slice)
    }

    /// The passage that this one answers, or that answers it, or [`NONE`]: for a reply the last words before it, for
    /// other words the start of the reply after them.
    pub(in crate::recall) fn beside(&self, passage: u32) -> u32 {
        let columns = &self.passages;
        let is_reply = |at: u32| columns.marks.get(at as usize).is_some_and(|marks| marks & REPLY != 0);
        let ordinal = columns.ordinal[passage as usize];
        let step = if is_reply(passage) { &columns.previous } else { &columns.next };
        let mut at = step[passage as usize];
        while columns.ordinal.get(at as usize) == Some(&ordinal) {
            at = step[at as usize];
        }
        if is_reply(at) == is_reply(passage) { NONE } else { at }
    }

    /// Byte range of a passage in its source's searchable text.
    pub(in crate::recall) fn span(&self, passage: u32) -> Range<usize> {
        self.passages.start[passage as usize] as usize..self.passages.end[passage as usize] as usize
    }

    /// Bit mask of the passages that pass a filter, excluding some sources.
    pub(in crate::recall) fn mask(&self, filter: &Filter, sources: &[u32]) -> Vec<u64> {
        self.without(self.admitted(filter), sources)
    }

    /// Clears the passages of these sources in a mask.
    pub(in crate::recall) fn without(&self, mut mask: Vec<u64>, sources: &[u32]) -> Vec<u64> {
        let ordinals = &self.passages.ordinal;
        for ordinal in sources {
            let first = ordinals.partition_point(|other| other < ordinal);
            let own = (first..ordinals.len()).take_while(|&at| ordinals[at] == *ordinal);
            own.for_each(|passage| mask[passage / 64] &= !(1 << (passage % 64)));
        }
        mask
    }

    fn admitted(&self, filter: &Filter) -> Vec<u64> {
        let count = self.passage_count();
        let mut mask = vec![0u64; count.div_ceil(64)];
        if filter.is_open() {
            mask.fill(u64::MAX);
            if let Some(last) = mask.last_mut().filter(|_| !count.is_multiple_of(64)) {
                *last = (1 << (count % 64)) - 1;
            }
            return mask;
        }
        let mut set = |passage: u32| {
            let kind = self.items[self.passages.ordinal[passage as usize] as usize].kind;
            let is_of_kind = filter.source_kinds().is_empty() || filter.source_kinds().contains(&kind);
            if is_of_kind && filter.admits_day(self.passages.day[passage as usize]) {
                mask[passage as usize / 64] |= 1 << (passage % 64);
            }
        };
        if filter.sessions.is_empty() {
            (0..count as u32).for_each(&mut set);
        }
        for session in filter.sessions.iter().filter_map(|session| self.session_numbers.get(session)) {
            self.session_passages(*session).for_each(&mut set);
        }
        mask
    }

    /// A session's passages, newest first.
    pub(in crate::recall) fn session_passages(&self, session: u32) -> impl Iterator<Item = u32> {
        let real = |passage: u32| (passage != NONE).then_some(passage);
        let last = self.session_last.get(session as usize).copied().and_then(real);
        std::iter::successors(last, move |&passage| real(self.passages.previous[passage as usize]))
    }

    /// The text to embed for a passage. In conversations among people: the preceding passage of the session and the
    /// passage, each with its speaker. The passage is whole; the preceding one is cut at its start to fit. In
    /// conversations with an assistant each passage stands alone, since long replies would dominate the user's words
    /// (measured in docs/benchmarks.md).
    ///
    /// `None` if there is no such passage or its source is not in `sources`.
    pub fn embedding_input<S: Sources + ?Sized>(&self, sources: &S, passage: u32) -> Option<EmbeddingInput> {
        let (source, text) = self.passage_text(sources, passage)?;
        let own = format!("{}: {text}", source.speaker());
        let previous = self.passages.previous[passage as usize];
        let alone = |text| Some(EmbeddingInput { text, own: 0 });
        let is_reply = |at: u32| self.passages.marks.get(at as usize).is_some_and(|marks| marks & REPLY != 0);
        if is_reply(passage) || is_reply(previous) {
            return alone(own);
        }
        let Some((before, before_text)) = self.passage_text(sources, previous) else { return alone(own) };
        let room = EMBEDDING_INPUT_BYTES.saturating_sub(own.len() + before.speaker().len() + 3);
        let from = before_text.len().saturating_sub(room);
        let kept = &before_text[passages::ceil_char_boundary(&before_text, from)..];
        if kept.is_empty() {
            return alone(own);
        }
        let before = format!("{}: {kept}\n", before.speaker());
        Some(EmbeddingInput { own: before.len(), text: before + &own })
    }

    fn passage_text<'a, S: Sources + ?Sized>(
        &self,
        sources: &'a S,
        passage: u32,
    ) -> Option<(&'a Source, Cow<'a, str>)> {
        let ordinal = *self.passages.ordinal.get(passage as usize)?;
        let source = sources.source(ordinal).filter(|source| source.id == self.items[ordinal as usize])?;
        let span = self.span(passage);
        let text = match searchable(source) {
            Cow::Borrowed(text) => Cow::Borrowed(text.get(span)?),
            Cow::Owned(text) => Cow::Owned(text.get(span)?.to_owned()),
        };
        Some((source, text))
    }

    /// Passages without a vector, ascending from passage `from`, with the text to embed for each.
    pub fn missing<'a, S: Sources + ?Sized>(
        &'a self,
        sources: &'a S,
        from: u32,
    ) -> impl Iterator<Item = (u32, EmbeddingInput)> + 'a {
        let until = if self.dimensions() == 0 { 0 } else { self.passage_count() as u32 };
        let absent = (from..until).filter(|&passage| !self.dense.is_present(passage));
        absent.filter_map(move |passage| Some((passage, self.embedding_input(sources, passage)?)))
    }

    /// Stores the vector of a passage and the codes of its tokens, made from exactly `embedded`. The vector need not
    /// have length 1.
    ///
    /// Returns false and stores nothing if there is no such passage, the length is wrong or the vector is zero.
    pub fn set_vector(&mut self, passage: u32, embedded: &str, vector: &[f32], codes: &[TokenCode]) -> bool {
        match quantise(vector) {
            Some((scale, steps)) => {
                self.set_stored(passage, &StoredVector { key: embedding_key(embedded), scale, steps: &steps, codes })
            }
            None => false,
        }
    }

    /// Stores an already quantised vector. Returns false and stores nothing if it does not fit.
    pub fn set_stored(&mut self, passage: u32, vector: &StoredVector<'_>) -> bool {
        self.dense.set(passage, vector)
    }

    /// A passage's stored vector, if any.
    pub fn vector(&self, passage: u32) -> Option<StoredVector<'_>> {
        self.dense.get(passage)
    }

    /// Copies every vector of an older index whose text this index needs; returns their number.
    ///
    /// After a revert, only changed texts need to be embedded again. Copies nothing from the index of another model.
    pub fn reuse_vectors<S: Sources + ?Sized>(&mut self, old: &Index, sources: &S) -> usize {
        if (old.model_id(), old.dimensions()) != (self.model_id(), self.dimensions()) {
            return 0;
        }
        let present = (0..old.passage_count() as u32).filter_map(|passage| Some((old.vector(passage)?.key, passage)));
        let by_key: HashMap<EmbeddingKey, u32> = present.collect();
        let wanted: Vec<(u32, EmbeddingKey)> =
            self.missing(sources, 0).map(|(passage, input)| (passage, embedding_key(&input.text))).collect();
        let found = wanted.into_iter().filter_map(|(passage, key)| Some((passage, old.vector(*by_key.get(&key)?)?)));
        found.filter(|(passage, vector)| self.dense.set(*passage, vector)).count()
    }

    /// Bytes in memory, estimated from capacities.
    pub fn memory_bytes(&self) -> usize {
        let columns = &self.passages;
        let numbers = [
            &columns.ordinal,
            &columns.start,
            &columns.end,
            &columns.previous,
            &columns.next,
            &columns.session,
            &columns.author,
        ];
        let numbers: usize = numbers.iter().map(|column| column.capacity() * 4).sum();
        let names: usize = self.sessions.iter().map(|name| name.len() + 64).sum::<usize>()
            + self.authors.iter().map(|name| 4 * name.len() + 160).sum::<usize>();
        let items = self.items.capacity() * size_of::<ItemId>();
        numbers
            + columns.day.capacity() * 4
            + columns.marks.capacity()
            + names
            + items
            + self.words.bytes()
            + self.dense.bytes()
    }
}

const _: () = assert!(limit::SOURCE_BYTES_MAX * (limit::ARTIFACTS_MAX + 1) < u32::MAX as usize);
