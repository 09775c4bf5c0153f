//! Flags text that addresses the model, for quarantine.
//!
//! This is not the defence against planted memories: filters of this kind miss most attacks. The defence is that the
//! origin of a text limits what it may become (see [`crate::event::Trust`]). The flag only presents obvious attempts to
//! a person.

use std::sync::LazyLock;

use regex::{RegexSet, RegexSetBuilder};
use serde::Deserialize;

/// The built-in patterns.
const FILE: &str = include_str!("instructions.toml");
/// Size limit of the compiled patterns and their automaton, in bytes.
const COMPILED_BYTES_MAX: usize = 32 << 20;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    patterns: Vec<String>,
    invisible_max: usize,
}

struct Signs {
    set: RegexSet,
    invisible_max: usize,
}

static SIGNS: LazyLock<Signs> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the signs are part of the program and tests read them")]
    parse(FILE).expect("the built-in signs are well formed")
});

/// True if a text reads like instructions to a model: it overrides earlier instructions, takes over the role, imitates
/// a chat template or a tool call, manipulates the memory, or hides text.
///
/// Meant for web pages, tool output, documents and imports. The user's own text is exempt.
pub fn looks_like_instructions(text: &str) -> bool {
    let (plain, hidden) = seen(text);
    hidden.tagged || hidden.count > SIGNS.invisible_max || SIGNS.set.is_match(&plain)
}

/// Invisible characters of a text.
struct Hidden {
    count: usize,
    /// True if letters are written in the tag block. Flags of regions, which use it after a black flag, do not count.
    tagged: bool,
}

/// The text in lower case without invisible characters, with line breaks kept and other white space single; and the
/// invisible characters.
fn seen(text: &str) -> (String, Hidden) {
    let mut plain = String::with_capacity(text.len());
    let mut hidden = Hidden { count: 0, tagged: false };
    let mut in_flag = false;
    for c in text.chars() {
        match c {
            '\u{e0020}'..='\u{e007e}' => hidden.tagged |= !in_flag,
            '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
            | '\u{ad}' => {
                hidden.count += 1;
            }
            // Joiners are part of some scripts and of emoji.
            '\u{200c}' | '\u{200d}' | '\u{fe0f}' | '\u{e007f}' => {}
            '\n' => {
                in_flag = false;
                plain.truncate(plain.trim_end_matches(' ').len());
                plain.push('\n');
            }
            '’' => plain.push('\''),
            c if c.is_whitespace() => {
                if !plain.ends_with(' ') {
                    plain.push(' ');
                }
            }
            c => {
                in_flag = c == '\u{1f3f4}';
                plain.extend(c.to_lowercase());
            }
        }
    }
    (plain, hidden)
}

fn parse(text: &str) -> Result<Signs, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    // A space in a pattern also matches a line break; the start of a line is written `\n`.
    let spelled = file.patterns.iter().map(|pattern| pattern.replace(r"\b", r"(?-u:\b)").replace(' ', r"[ \n]"));
    let spelled = spelled.map(|pattern| pattern.replace(r"\w", "[a-z0-9_]"));
    let set = RegexSetBuilder::new(spelled)
        .size_limit(COMPILED_BYTES_MAX)
        .dfa_size_limit(COMPILED_BYTES_MAX)
        .build()
        .map_err(|error| error.to_string())?;
    Ok(Signs { set, invisible_max: file.invisible_max })
}
