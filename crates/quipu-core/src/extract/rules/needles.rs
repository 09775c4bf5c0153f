//! What a text must have for a pattern to match: read off the pattern, without compiling it.

/// Bytes of the shortest needle worth looking for.
const LENGTH_MIN: usize = 2;
/// Needles for one need, at most.
const COUNT_MAX: usize = 1200;
/// Needs of one pattern, at most.
const NEEDS_MAX: usize = 3;
/// A second need that more texts meet tells too little; see [`worth`].
const WORTH_MAX: f64 = 2.5;

/// Lists of words, in lower case: of each of them every match of the pattern has at least one word. Empty if none can be
/// told.
pub(in crate::extract) fn needles(pattern: &str) -> Vec<Vec<String>> {
    let mut reading = Reading { rest: pattern };
    let mut found = reading.alternatives();
    // What is left was not understood.
    if !reading.rest.is_empty() {
        return Vec::new();
    }
    found.retain(|needs| needs.len() <= COUNT_MAX);
    found
}

/// A pattern, from left to right.
struct Reading<'a> {
    rest: &'a str,
}

/// What one stretch needs, the rarest first; empty: nothing that can be told.
type Needs = Vec<Vec<String>>;

impl Reading<'_> {
    /// `a|b|c`, up to a closing bracket or the end.
    fn alternatives(&mut self) -> Needs {
        let mut all = self.sequence();
        while let Some(rest) = self.rest.strip_prefix('|') {
            self.rest = rest;
            let one = self.sequence();
            // Of several alternatives only one need each can be told, and together they are one.
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

    /// One alternative: the rarest of what its parts need.
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

    /// A letter belongs to the word unless it can be left out.
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

    /// The character meant by a backslash and what follows it, if it is one.
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

    /// Passes over a repetition; true if what it repeats can be left out.
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

/// The end of a word.
fn keep(word: &mut String, all: &mut Needs) {
    let word = std::mem::take(word);
    if word.len() >= LENGTH_MIN {
        all.push(vec![word]);
    }
}

/// Those that the fewest texts meet, and of the others only what tells much.
fn rarest(mut all: Needs) -> Needs {
    all.sort_by(|one, other| worth(one).total_cmp(&worth(other)));
    let mut first = true;
    all.retain(|needs| std::mem::take(&mut first) || worth(needs) <= WORTH_MAX);
    all.truncate(NEEDS_MAX);
    all
}

/// How many texts meet a need, roughly: less is better.
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
