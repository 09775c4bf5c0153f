//! Binary format of an index: flat little-endian columns, delta-coded postings, and a checksum.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_bytes::{ByteBuf, Bytes};
use thiserror::Error;

use crate::id::{ItemId, ItemKind};
use crate::limit;
use crate::recall::index::dense::{DenseRows, EmbeddingKey, sign_words};
use crate::recall::index::passage_index::{Index, NO_DAY, NONE, PassageColumns, REPLY};
use crate::recall::index::token_code::TokenCode;
use crate::recall::index::words::{Posting, Texts, WordIndex};
use crate::text::language::Language;

/// Identifies the layout. An image with another tag is ignored and rebuilt from the sources.
pub const IMAGE_TAG: &[u8; 8] = b"qpindx04";

const CHECKSUM_BYTES: usize = 16;

/// Maximum dimensions of a vector; see the sums in `scan.rs`.
const DIMENSIONS_MAX: usize = 65_536;

/// The bytes are not a valid index of this version. Rebuild the index from the sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("not a whole search index of this format: {0}")]
pub struct ImageError(&'static str);

type Result<T> = std::result::Result<T, ImageError>;

#[derive(Serialize, Deserialize)]
struct Image<'a> {
    model: &'a str,
    dimensions: u32,
    item_kinds: ByteBuf,
    item_bits: ByteBuf,
    ordinal: ByteBuf,
    start: ByteBuf,
    end: ByteBuf,
    session: ByteBuf,
    author: ByteBuf,
    day: ByteBuf,
    #[serde(borrow)]
    marks: &'a Bytes,
    #[serde(borrow)]
    sessions: Vec<&'a str>,
    #[serde(borrow)]
    authors: Vec<&'a str>,
    #[serde(borrow)]
    terms: Vec<&'a str>,
    languages: Vec<u32>,
    passage_lengths: ByteBuf,
    session_lengths: ByteBuf,
    passage_postings: ByteBuf,
    session_postings: ByteBuf,
    #[serde(borrow)]
    steps: &'a Bytes,
    scales: ByteBuf,
    #[serde(borrow)]
    keys: &'a Bytes,
    signs: ByteBuf,
    present: ByteBuf,
    code_counts: ByteBuf,
    codes: ByteBuf,
}

impl Index {
    /// Encodes the index: equal indexes give equal bytes.
    pub fn encode(&self) -> Vec<u8> {
        let columns = &self.passages;
        let mut terms = vec![""; self.words.terms.len()];
        self.words.terms.iter().for_each(|(term, &number)| terms[number as usize] = term);
        let image = Image {
            model: &self.model,
            dimensions: self.dense.dimensions as u32,
            item_kinds: ByteBuf::from(self.items.iter().map(|item| kind_byte(item.kind)).collect::<Vec<u8>>()),
            item_bits: flat(self.items.iter().map(|item| item.bits.to_le_bytes())),
            ordinal: flat(columns.ordinal.iter().map(|n| n.to_le_bytes())),
            start: flat(columns.start.iter().map(|n| n.to_le_bytes())),
            end: flat(columns.end.iter().map(|n| n.to_le_bytes())),
            session: flat(columns.session.iter().map(|n| n.to_le_bytes())),
            author: flat(columns.author.iter().map(|n| n.to_le_bytes())),
            day: flat(columns.day.iter().map(|n| n.to_le_bytes())),
            marks: Bytes::new(&columns.marks),
            sessions: self.sessions.iter().map(AsRef::as_ref).collect(),
            authors: self.authors.iter().map(AsRef::as_ref).collect(),
            terms,
            languages: self.words.languages.to_vec(),
            passage_lengths: flat(self.words.passages.lengths.iter().map(|n| n.to_le_bytes())),
            session_lengths: flat(self.words.sessions.lengths.iter().map(|n| n.to_le_bytes())),
            passage_postings: write_postings(&self.words.passages.postings),
            session_postings: write_postings(&self.words.sessions.postings),
            steps: Bytes::new(bytemuck::cast_slice(&self.dense.steps)),
            scales: flat(self.dense.scales.iter().map(|n| n.to_le_bytes())),
            keys: Bytes::new(bytemuck::cast_slice(&self.dense.keys)),
            signs: flat(self.dense.signs.iter().map(|n| n.to_le_bytes())),
            present: flat(self.dense.present.iter().map(|n| n.to_le_bytes())),
            code_counts: flat(self.dense.codes.iter().map(|codes| (codes.len() as u32).to_le_bytes())),
            codes: flat(self.dense.codes.iter().flat_map(|codes| codes.as_flattened()).map(|n| n.to_le_bytes())),
        };
        let mut bytes = IMAGE_TAG.to_vec();
        bytes.extend([0; CHECKSUM_BYTES]);
        // Writing to memory cannot fail. If it did, the checksum would not match and the image would be rejected.
        let mut bytes = postcard::to_extend(&image, bytes).unwrap_or_default();
        if bytes.len() > IMAGE_TAG.len() + CHECKSUM_BYTES {
            let sum = checksum(&bytes[IMAGE_TAG.len() + CHECKSUM_BYTES..]);
            bytes[IMAGE_TAG.len()..][..CHECKSUM_BYTES].copy_from_slice(&sum);
        }
        bytes
    }

    /// Decodes an index.
    ///
    /// # Errors
    /// [`ImageError`] for any bytes not written by [`Index::encode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let rest = bytes.strip_prefix(IMAGE_TAG.as_slice()).ok_or(ImageError("unknown tag"))?;
        let (sum, body) = rest.split_at_checked(CHECKSUM_BYTES).ok_or(ImageError("truncated"))?;
        if checksum(body) != sum {
            return Err(ImageError("wrong checksum"));
        }
        let (image, left) = postcard::take_from_bytes::<Image<'_>>(body).map_err(|_| ImageError("unknown layout"))?;
        if !left.is_empty() {
            return Err(ImageError("bytes after the end"));
        }
        Self::from_image(&image)
    }

    fn from_image(image: &Image<'_>) -> Result<Self> {
        let mut index = Self::new(image.dimensions as usize, image.model);
        index.items = read_items(&image.item_kinds, &image.item_bits)?;
        for (number, session) in (0..).zip(&image.sessions) {
            check(index.intern_session(&Arc::from(*session)) == number, "duplicate session")?;
        }
        for (number, author) in (0..).zip(&image.authors) {
            check(index.intern_author(&Arc::from(*author)) == number, "duplicate author")?;
        }
        let ordinal = u32s(&image.ordinal)?;
        let count = ordinal.len();
        index.passages = PassageColumns {
            previous: Vec::with_capacity(count),
            next: vec![NONE; count],
            start: u32s(&image.start)?,
            end: u32s(&image.end)?,
            session: u32s(&image.session)?,
            author: u32s(&image.author)?,
            day: array(&image.day)?.map(i32::from_le_bytes).collect(),
            marks: image.marks.to_vec(),
            ordinal,
        };
        index.check_columns()?;
        index.link_neighbours();
        index.words = read_words(image, count)?;
        check(index.words.sessions.lengths.len() <= index.sessions.len(), "sessions without a name")?;
        index.dense = read_dense(image, count)?;
        Ok(index)
    }

    fn check_columns(&self) -> Result<()> {
        let columns = &self.passages;
        let count = columns.ordinal.len();
        let lengths = [
            columns.start.len(),
            columns.end.len(),
            columns.session.len(),
            columns.author.len(),
            columns.day.len(),
            columns.marks.len(),
        ];
        check(lengths.iter().all(|&length| length == count), "columns of different lengths")?;
        check(columns.ordinal.is_sorted(), "passages out of order")?;
        check(
            columns.ordinal.last().is_none_or(|&last| (last as usize) < self.items.len()),
            "a passage without an item",
        )?;
        check(
            columns.start.iter().zip(&columns.end).all(|(start, end)| start <= end),
            "a span that ends before it starts",
        )?;
        let known =
            |numbers: &[u32], count: usize| numbers.iter().all(|&number| number == NONE || (number as usize) < count);
        check(
            known(&columns.session, self.sessions.len()) && known(&columns.author, self.authors.len()),
            "an unknown session or author",
        )
    }

    /// Derives neighbours, conversation statistics and days from the columns.
    fn link_neighbours(&mut self) {
        let columns = &mut self.passages;
        for (number, &session) in (0..).zip(&columns.session) {
            let previous =
                self.session_last.get_mut(session as usize).map_or(NONE, |last| std::mem::replace(last, number));
            if let Some(next) = columns.next.get_mut(previous as usize) {
                *next = number;
            }
            columns.previous.push(previous);
        }
        for ((&session, &author), marks) in columns.session.iter().zip(&columns.author).zip(&columns.marks) {
            self.talk.add(session, author, marks & REPLY != 0);
        }
        let days = || columns.day.iter().copied().filter(|&day| day != NO_DAY);
        self.days = days().min().zip(days().max());
    }
}

fn checksum(body: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let mut sum = [0; CHECKSUM_BYTES];
    sum.copy_from_slice(&blake3::hash(body).as_bytes()[..CHECKSUM_BYTES]);
    sum
}

fn check(holds: bool, otherwise: &'static str) -> Result<()> {
    if holds { Ok(()) } else { Err(ImageError(otherwise)) }
}

fn flat<const N: usize>(numbers: impl Iterator<Item = [u8; N]>) -> ByteBuf {
    let mut bytes = Vec::with_capacity(numbers.size_hint().0 * N);
    numbers.for_each(|number| bytes.extend_from_slice(&number));
    ByteBuf::from(bytes)
}

fn array<const N: usize>(bytes: &[u8]) -> Result<impl Iterator<Item = [u8; N]>> {
    let (numbers, rest) = bytes.as_chunks::<N>();
    check(rest.is_empty(), "truncated number")?;
    Ok(numbers.iter().copied())
}

fn u32s(bytes: &[u8]) -> Result<Vec<u32>> {
    Ok(array(bytes)?.map(u32::from_le_bytes).collect())
}

fn u64s(bytes: &[u8]) -> Result<Vec<u64>> {
    Ok(array(bytes)?.map(u64::from_le_bytes).collect())
}

fn kind_byte(kind: ItemKind) -> u8 {
    ItemKind::ALL.iter().position(|&other| other == kind).unwrap_or_default() as u8
}

fn read_items(kinds: &[u8], bits: &[u8]) -> Result<Vec<ItemId>> {
    let bits = u64s(bits)?;
    check(bits.len() == kinds.len(), "ids without a kind")?;
    let item = |(&kind, bits)| {
        ItemKind::ALL.get(usize::from(kind)).map(|&kind| ItemId { kind, bits }).ok_or(ImageError("an unknown kind"))
    };
    kinds.iter().zip(bits).map(item).collect()
}

/// For each term: the number of texts, then for each text the distance from the previous one and the count; LEB128.
fn write_postings(lists: &[Vec<Posting>]) -> ByteBuf {
    let mut bytes = Vec::with_capacity(lists.iter().map(|list| 2 * list.len() + 2).sum());
    for list in lists {
        write_number(&mut bytes, list.len() as u32);
        let mut before = 0;
        for posting in list {
            write_number(&mut bytes, posting.text - before);
            write_number(&mut bytes, u32::from(posting.count));
            before = posting.text;
        }
    }
    ByteBuf::from(bytes)
}

fn read_postings(mut bytes: &[u8], terms: usize, texts: usize) -> Result<Vec<Vec<Posting>>> {
    let mut lists = Vec::with_capacity(terms.min(bytes.len()));
    for _ in 0..terms {
        let length = read_number(&mut bytes)? as usize;
        check(length <= bytes.len() / 2, "a list longer than its bytes")?;
        let mut list = Vec::with_capacity(length);
        let mut before = 0u32;
        for at in 0..length {
            let distance = read_number(&mut bytes)?;
            let count = u16::try_from(read_number(&mut bytes)?).map_err(|_| ImageError("a count too large"))?;
            let text = before
                .checked_add(distance)
                .filter(|&text| (text as usize) < texts && (distance > 0 || at == 0) && count > 0);
            before = text.ok_or(ImageError("an impossible posting"))?;
            list.push(Posting { text: before, count });
        }
        lists.push(list);
    }
    check(bytes.is_empty(), "postings without a term")?;
    Ok(lists)
}

fn write_number(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn read_number(bytes: &mut &[u8]) -> Result<u32> {
    let mut number = 0u64;
    for shift in (0..35).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or(ImageError("truncated postings"))?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return u32::try_from(number).map_err(|_| ImageError("a number too large"));
        }
    }
    Err(ImageError("a number too long"))
}

fn read_words(image: &Image<'_>, passages: usize) -> Result<WordIndex> {
    let terms: HashMap<Box<str>, u32> = image.terms.iter().map(|term| Box::from(*term)).zip(0..).collect();
    check(terms.len() == image.terms.len(), "duplicate term")?;
    let texts = |lengths: &[u8], postings: &[u8]| {
        let lengths = u32s(lengths)?;
        let length_sum = lengths.iter().map(|&length| u64::from(length)).sum();
        Ok(Texts { postings: read_postings(postings, image.terms.len(), lengths.len())?, lengths, length_sum })
    };
    let languages = <[u32; Language::ALL.len()]>::try_from(&*image.languages);
    let words = WordIndex {
        languages: languages.map_err(|_| ImageError("another number of languages"))?,
        terms,
        passages: texts(&image.passage_lengths, &image.passage_postings)?,
        sessions: texts(&image.session_lengths, &image.session_postings)?,
    };
    check(words.passages.lengths.len() == passages, "lengths without a passage")?;
    Ok(words)
}

fn read_dense(image: &Image<'_>, passages: usize) -> Result<DenseRows> {
    let dimensions = image.dimensions as usize;
    check(dimensions <= DIMENSIONS_MAX, "vectors too long")?;
    let keys: Vec<EmbeddingKey> = array(image.keys)?.collect();
    let present = u64s(&image.present)?;
    let dense = DenseRows {
        dimensions,
        steps: bytemuck::cast_slice(image.steps).to_vec(),
        scales: array(&image.scales)?.map(f32::from_le_bytes).collect(),
        signs: u64s(&image.signs)?,
        keys,
        codes: read_codes(image)?,
        present_count: present.iter().map(|word| word.count_ones() as usize).sum(),
        present,
    };
    let rows = |width: usize| width.checked_mul(passages);
    check(
        Some(dense.steps.len()) == rows(dimensions) && Some(dense.signs.len()) == rows(sign_words(dimensions)),
        "vectors of another length",
    )?;
    let lengths = [dense.scales.len(), dense.keys.len(), dense.codes.len()];
    check(lengths.iter().all(|&length| length == passages), "vectors without a passage")?;
    check(dense.present.len() == passages.div_ceil(64), "a mask of another length")?;
    let beyond = dense.present.last().is_some_and(|last| !passages.is_multiple_of(64) && last >> (passages % 64) != 0);
    check(!beyond, "a vector without a passage")?;
    check(dense.scales.iter().all(|scale| scale.is_finite()), "a vector without a length")?;
    Ok(dense)
}

fn read_codes(image: &Image<'_>) -> Result<Vec<Box<[TokenCode]>>> {
    let words = u64s(&image.codes)?;
    let (mut rest, left) = words.as_chunks();
    check(left.is_empty(), "truncated code")?;
    let mut take = |count: u32| {
        let (own, after) = rest
            .split_at_checked(count as usize)
            .filter(|_| count as usize <= limit::TOKEN_CODES_MAX)
            .ok_or(ImageError("truncated codes"))?;
        rest = after;
        Ok(own.into())
    };
    let codes = u32s(&image.code_counts)?.into_iter().map(&mut take).collect::<Result<_>>()?;
    check(rest.is_empty(), "codes without a passage")?;
    Ok(codes)
}
