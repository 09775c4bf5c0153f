//! Derives the substrings a text must contain for a pattern to match, without compiling the pattern.

/// Minimum length of a needle in bytes.
const LENGTH_MIN: usize = 2;
/// Maximum number of needles of one need.
const COUNT_MAX: usize = 1200;
/// Maximum number of needs of a pattern.
const NEEDS_MAX: usize = 3;
/// Maximum [`worth`] of a second need; more frequent needs filter too little.
const WORTH_MAX: f64 = 2.5;

/// Returns lists of lower-case words; every match of the pattern contains at least one word of each list. Empty if none
/// can be derived.
pub(in crate::extract) fn needles(pattern: &str) -> Vec<Vec<String>> {
    let mut reading = Reading { rest: pattern };
    let mut found = reading.alternatives();
    // The remainder could not be parsed.
    if !reading.rest.is_empty() {
        return Vec::new();
    }
    found.retain(|needs| needs.len() <= COUNT_MAX);
    found
}

/// The unread rest of a pattern.
struct Reading<'a> {
    rest: &'a str,
}

/// The needs of a part of a pattern, rarest first; empty if unknown.
type Needs = Vec<Vec<String>>;

impl Reading<'_> {
    /// Parses `a|b|c`, up to a closing bracket or the end.
    fn alternatives(&mut self) -> Needs {
        let mut all = self.sequence();
        while let Some(rest) = self.rest.strip_prefix('|') {
            self.rest = rest;
            let one = self.sequence();
            // Takes one need of each alternative and merges them into a single need.
            all = match (all.into_iter().next(), one.into_iter().next()) {
                (Some(mut all), Some(mut one)) => {
                    all.append(&mut one);
                    vec![all]
                }
                _ => Vec::new(),
            };
        }
        all
    }

    /// Parses one alternative and returns the rarest needs of its parts.
    fn sequence(&mut self) -> Needs {
        let mut all = Vec::new();
        let mut word = String::new();
        while let Some(c) = self.rest.chars().next().filter(|c| !"|)".contains(*c)) {
            self.rest = &self.rest[c.len_utf8()..];
            let needs = match c {
                '(' => self.group(),
                '[' => self.class(),
                '\\' => match self.escaped() {
                    Some(literal) => {
                        self.literal(literal, &mut word, &mut all);
                        continue;
                    }
                    None => Vec::new(),
                },
                '.' | '^' | '$' | '\'' => Vec::new(),
                _ => {
                    self.literal(c, &mut word, &mut all);
                    continue;
                }
            };
            keep(&mut word, &mut all);
            if !self.optional() {
                all.extend(needs);
            }
        }
        keep(&mut word, &mut all);
        rarest(all)
    }

    /// Appends a letter to the word unless it is optional.
    fn literal(&mut self, c: char, word: &mut String, all: &mut Needs) {
        let repeated = self.rest.starts_with(['?', '*', '+', '{']);
        if !self.optional() {
            word.extend(c.to_lowercase());
        }
        if repeated {
            keep(word, all);
        }
    }

    fn group(&mut self) -> Needs {
        for (opening, closing) in [("?P<", '>'), ("?", ':')] {
            if let Some((_, rest)) = self.rest.strip_prefix(opening).and_then(|rest| rest.split_once(closing)) {
                self.rest = rest;
                break;
            }
        }
        let needs = self.alternatives();
        self.rest = self.rest.strip_prefix(')').unwrap_or(self.rest);
        needs
    }

    fn class(&mut self) -> Needs {
        let mut escaped = false;
        let mut depth = 1;
        for (at, c) in self.rest.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '[' => depth += 1,
                ']' if at > 0 => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.rest = &self.rest[at + 1..];
                return Vec::new();
            }
        }
        self.rest = "";
        Vec::new()
    }

    /// The character an escape sequence denotes, if it is a literal.
    fn escaped(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        if "pP".contains(c) && self.rest.starts_with('{') {
            self.rest = self.rest.split_once('}').map_or("", |(_, rest)| rest);
        } else if c == 'x' {
            let digits = self.rest.len() - self.rest.trim_start_matches(|c: char| c.is_ascii_hexdigit()).len();
            self.rest = &self.rest[digits.min(2)..];
        }
        (!c.is_alphanumeric()).then_some(c)
    }

    /// Skips a repetition; returns true if the repeated part is optional.
    fn optional(&mut self) -> bool {
        let mut optional = false;
        while let Some(c) = self.rest.chars().next().filter(|c| "?*+{".contains(*c)) {
            self.rest = match c {
                '{' => self.rest.split_once('}').map_or("", |(_, rest)| rest),
                _ => &self.rest[1..],
            };
            optional |= c != '+';
        }
        optional
    }
}

/// Ends a word.
fn keep(word: &mut String, all: &mut Needs) {
    let word = std::mem::take(word);
    if word.len() >= LENGTH_MIN {
        all.push(vec![word]);
    }
}

/// Returns the rarest need, and others only if they are selective.
fn rarest(mut all: Needs) -> Needs {
    all.sort_by(|one, other| worth(one).total_cmp(&worth(other)));
    let mut first = true;
    all.retain(|needs| std::mem::take(&mut first) || worth(needs) <= WORTH_MAX);
    all.truncate(NEEDS_MAX);
    all
}

/// Estimated frequency of a need; lower is better.
fn worth(needs: &[String]) -> f64 {
    needs.iter().map(|needle| needle.len().clamp(1, 8)).map(|length| 1.0 / (length * length * length) as f64).sum()
}

#[cfg(test)]
mod tests {
    use super::needles;

    #[test]
    fn every_match_has_one_of_each_of_the_needles() {
        for (pattern, expected) in [
            (r"^(?:works?|working) (?P<object>.+)", vec![vec!["work", "working"]]),
            (r"\b(?:i|we) (?:live|reside)s? in", vec![vec!["live", "reside"], vec![" in"]]),
            (r"(?:please )?remind me", vec![vec!["remind me"]]),
            (r"colou?r", vec![vec!["colo"]]),
            (r"(?:a|an) [a-z]+", vec![]),
            (
                r"\b(?:tea|coffee) (?:.*)in the (?:cup|mug)",
                vec![vec!["in the "], vec!["tea", "coffee"], vec!["cup", "mug"]],
            ),
            (r"(?:tea|.+) cup", vec![vec![" cup"]]),
            (r"(?-i:Mrs)\.?", vec![vec!["mrs"]]),
            (r"tea|", vec![]),
            (r"(?:drinks|sips) (?:green tea|black tea)|eats", vec![vec!["green tea", "black tea", "eats"]]),
        ] {
            assert_eq!(needles(pattern), expected, "{pattern}");
        }
    }
}
