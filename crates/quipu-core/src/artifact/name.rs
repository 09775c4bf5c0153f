//! Names of files and folders: derived from what a memory says, never taken from it.
//!
//! A name is lower-case ASCII letters, digits and hyphens, so it means the same on every file system, in a link of
//! Obsidian and on a command line. A topic whose name cannot be written that way gets a tail that no other topic has.

use std::fmt;

use crate::id::UserId;
use crate::limit;
use crate::refusal::Refusal;

/// Names of devices on Windows: a file of such a name cannot be made there.
const RESERVED: [&str; 4] = ["con", "prn", "aux", "nul"];
/// Length of the tail of a name.
const TAIL: usize = 8;
/// What it is made of: Crockford's base 32.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The name of a topic's folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slug(String);

impl Slug {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Reads back the name of a folder; none if it is not one that is given to topics.
    pub fn parse(name: &str) -> Option<Self> {
        (is_plain(name) && name.len() <= limit::ARTIFACT_NAME_BYTES_MAX).then(|| Self(name.to_owned()))
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Letters, digits and single hyphens between them, and no device.
fn is_plain(name: &str) -> bool {
    let letters = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    let hyphens = !name.starts_with('-') && !name.ends_with('-') && !name.contains("--");
    !name.is_empty() && letters && hyphens && !is_reserved(name)
}

fn is_reserved(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name);
    let port = |kind: &str| {
        stem.strip_prefix(kind).is_some_and(|number| number.len() == 1 && number.as_bytes()[0].is_ascii_digit())
    };
    RESERVED.contains(&stem) || port("com") || port("lpt")
}

/// A topic as it is compared: "Race  training", "race_training" and "raceTraining" are one.
fn topic_key(topic: &str) -> String {
    let mut key = String::with_capacity(topic.len());
    let mut after_lower = false;
    for c in topic.chars() {
        if c.is_whitespace() || c == '_' || c == '-' {
            if !key.ends_with('-') && !key.is_empty() {
                key.push('-');
            }
            after_lower = false;
            continue;
        }
        if c.is_uppercase() && after_lower && !key.ends_with('-') {
            key.push('-');
        }
        after_lower = c.is_lowercase();
        key.extend(c.to_lowercase());
    }
    key.trim_end_matches('-').to_owned()
}

/// The folder of a topic.
pub fn topic_slug(topic: &str) -> Slug {
    Slug(plain_or_marked(&topic_key(topic), "topic"))
}

/// The name itself if it is plain, else what of it is, with a tail that stands for all of it.
fn plain_or_marked(key: &str, otherwise: &str) -> String {
    // A plain name could be another one's with its tail: whatever ends like one gets a tail of its own.
    let is_tail = |last: &str| last.len() == TAIL && last.bytes().all(|byte| DIGITS.contains(&byte));
    let tailed = key.rsplit_once('-').is_some_and(|(_, last)| is_tail(last));
    if is_plain(key) && key.len() <= limit::ARTIFACT_NAME_BYTES_MAX && !tailed {
        return key.to_owned();
    }
    let mut stem = String::new();
    for c in key.chars() {
        match c {
            'a'..='z' | '0'..='9' => stem.push(c),
            _ if !stem.ends_with('-') && !stem.is_empty() => stem.push('-'),
            _ => {}
        }
        if stem.len() >= limit::ARTIFACT_NAME_BYTES_MAX / 2 {
            break;
        }
    }
    let stem = stem.trim_matches('-');
    format!("{}-{}", if stem.is_empty() { otherwise } else { stem }, tail(key))
}

/// What tells one name from every other: digits of a hash of it.
fn tail(key: &str) -> String {
    let hash = blake3::Hasher::new_derive_key("quipu artifact name v1").update(key.as_bytes()).finalize();
    hash.as_bytes().iter().take(TAIL).map(|byte| char::from(DIGITS[usize::from(byte & 31)])).collect()
}

/// The folder of a user.
pub fn folder_of(user: &UserId) -> String {
    plain_or_marked(user.as_str(), "user")
}

/// How a topic is called on a page: "Stress management".
pub(super) fn title_of(topic: &str) -> String {
    let words = topic_key(topic).replace('-', " ");
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// A file below a user's folder. It can only be made of plain names, so it leads nowhere else.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VaultPath(String);

/// Most folders on the way to a file.
const DEPTH_MAX: usize = 8;

impl VaultPath {
    /// Checks a path: names joined by `/`.
    ///
    /// # Errors
    /// `Invalid` if a name in it is none that Quipu gives to files.
    pub fn parse(path: &str) -> Result<Self, Refusal> {
        let well = |part: &str| {
            let letters = part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
            let ends = part.starts_with(|c: char| c.is_ascii_alphanumeric()) && !part.ends_with('.');
            letters
                && ends
                && part.len() <= 2 * limit::ARTIFACT_NAME_BYTES_MAX
                && !part.contains("..")
                && !is_reserved(&part.to_ascii_lowercase())
        };
        let parts = path.split('/');
        if parts.clone().count() > DEPTH_MAX || !parts.clone().all(well) {
            return Err(Refusal::invalid(format!("{path:?} is no name of a file in a vault")));
        }
        Ok(Self(path.to_owned()))
    }

    /// The path as text, `/` between names.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The names on the way, the file's last.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }

    /// `topics/<topic>/<file>`.
    pub fn in_topic(topic: &Slug, file: &str) -> Result<Self, Refusal> {
        Self::parse(&format!("topics/{topic}/{file}"))
    }
}

impl fmt::Display for VaultPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
