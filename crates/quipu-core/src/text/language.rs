//! Languages with stems.

/// A language with stems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Language {
    English,
    German,
    French,
    Spanish,
    Portuguese,
    Italian,
    Dutch,
    Swedish,
    Danish,
    Norwegian,
    Russian,
    /// A script without stems, such as Chinese or Thai.
    Other,
}

impl Language {
    /// Every language, in declaration order.
    pub(crate) const ALL: [Self; 12] = [
        Self::English,
        Self::German,
        Self::French,
        Self::Spanish,
        Self::Portuguese,
        Self::Italian,
        Self::Dutch,
        Self::Swedish,
        Self::Danish,
        Self::Norwegian,
        Self::Russian,
        Self::Other,
    ];

    /// Its ISO 639-1 code.
    pub(crate) fn code(self) -> Option<&'static str> {
        Some(match self {
            Self::English => "en",
            Self::German => "de",
            Self::French => "fr",
            Self::Spanish => "es",
            Self::Portuguese => "pt",
            Self::Italian => "it",
            Self::Dutch => "nl",
            Self::Swedish => "sv",
            Self::Danish => "da",
            Self::Norwegian => "no",
            Self::Russian => "ru",
            Self::Other => return None,
        })
    }
}

/// A set of languages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LanguageSet(u16);

impl LanguageSet {
    pub(crate) fn add(&mut self, language: Language) {
        self.0 |= 1 << language as u16;
    }

    pub(crate) fn has(self, language: Language) -> bool {
        self.0 >> language as u16 & 1 == 1
    }

    /// Calls `each` with every language of the set.
    pub(crate) fn each(self, mut each: impl FnMut(Language)) {
        let mut left = self.0;
        while left != 0 {
            if let Some(language) = Language::ALL.get(left.trailing_zeros() as usize) {
                each(*language);
            }
            left &= left - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_added() {
        let mut set = LanguageSet::default();
        set.add(Language::Other);
        set.add(Language::English);
        let mut found = Vec::new();
        set.each(|language| found.push(language));
        assert_eq!(found, [Language::English, Language::Other]);
        assert!(set.has(Language::Other) && !set.has(Language::German));
    }
}
