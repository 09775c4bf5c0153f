//! Names of files and folders, derived from a memory's text but never copied from it.
//!
//! A name consists of lower-case ASCII letters, digits and hyphens, so it means the same on every file system, in an
//! Obsidian link and on a command line. A topic whose name does not fit these rules gets a unique suffix.

use std::fmt;

use crate::id::UserId;
use crate::limit;
use crate::refusal::Refusal;

/// Device names on Windows, which cannot be file names.
const RESERVED: [&str; 4] = ["con", "prn", "aux", "nul"];
/// Length of the suffix of a name.
const TAIL: usize = 8;
/// Digits of the suffix: Crockford's base 32.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The name of a topic's folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slug(String);

impl Slug {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Parses a folder name. None if no topic can have it.
    pub fn parse(name: &str) -> Option<Self> {
        (is_plain(name) && name.len() <= limit::ARTIFACT_NAME_BYTES_MAX).then(|| Self(name.to_owned()))
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// True for lower-case letters and digits with single hyphens between them, unless the name is a device.
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

/// Normalises a topic for comparison: "Race  training", "race_training" and "raceTraining" are equal.
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

/// The key itself if it is a plain name; otherwise its plain part with a suffix derived from all of it.
fn plain_or_marked(key: &str, otherwise: &str) -> String {
    // A plain name that ends like a suffix also gets one, so that it cannot equal another name with its suffix.
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

/// The suffix: the first digits of a hash of the key.
fn tail(key: &str) -> String {
    let hash = blake3::Hasher::new_derive_key("quipu artifact name v1").update(key.as_bytes()).finalize();
    hash.as_bytes().iter().take(TAIL).map(|byte| char::from(DIGITS[usize::from(byte & 31)])).collect()
}

/// The folder of a user.
pub fn folder_of(user: &UserId) -> String {
    plain_or_marked(user.as_str(), "user")
}

/// Display name of a topic: "Stress management".
pub(super) fn title_of(topic: &str) -> String {
    let words = topic_key(topic).replace('-', " ");
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// A file below a user's folder. It consists of plain names only, so it cannot lead out of the folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VaultPath(String);

/// Most components in a path.
const DEPTH_MAX: usize = 8;

impl VaultPath {
    /// Parses names joined by `/`.
    ///
    /// # Errors
    /// `Invalid` if a component is not a valid file name or the path is too deep.
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
            return Err(Refusal::invalid(format!("{path:?} is not a valid file name in a vault")));
        }
        Ok(Self(path.to_owned()))
    }

    /// The path as text, `/` between names.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The components of the path; the last is the file name.
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
