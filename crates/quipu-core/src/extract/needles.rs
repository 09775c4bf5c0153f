//! What a text must have for a pattern to match: read off the pattern, without compiling it.

/// Bytes of the shortest needle worth looking for.
const LENGTH_MIN: usize = 2;
/// Needles of one pattern, at most.
const COUNT_MAX: usize = 1200;

/// Words of which every match of the pattern has at least one, in lower case; empty if none can be told.
pub(super) fn needles(pattern: &str) -> Vec<String> {
    let mut reading = Reading { rest: pattern };
    let found = reading.alternatives().unwrap_or_default();
    // What is left was not understood.
    if !reading.rest.is_empty() || found.len() > COUNT_MAX {
        return Vec::new();
    }
    found
}

/// A pattern, from left to right.
struct Reading<'a> {
    rest: &'a str,
}

/// What one stretch needs; `None`: nothing that can be told.
type Needs = Option<Vec<String>>;

impl Reading<'_> {
    /// `a|b|c`, up to a closing bracket or the end.
    fn alternatives(&mut self) -> Needs {
        let mut all = Some(Vec::new());
        loop {
            let one = self.sequence();
            all = all.zip(one).map(|(mut all, mut one)| {
                all.append(&mut one);
                all
            });
            match self.rest.strip_prefix('|') {
                Some(rest) => self.rest = rest,
                None => return all,
            }
        }
    }

    /// One alternative: the best of what its parts need.
    fn sequence(&mut self) -> Needs {
        let mut best = None;
        let mut word = String::new();
        while let Some(c) = self.rest.chars().next().filter(|c| !"|)".contains(*c)) {
            self.rest = &self.rest[c.len_utf8()..];
            let needs = match c {
                '(' => self.group(),
                '[' => self.class(),
                '\\' => match self.escaped() {
                    Some(literal) => {
                        self.literal(literal, &mut word, &mut best);
                        continue;
                    }
                    None => None,
                },
                '.' | '^' | '$' | '\'' => None,
                _ => {
                    self.literal(c, &mut word, &mut best);
                    continue;
                }
            };
            keep(&mut word, &mut best);
            if !self.optional() {
                best = better(best, needs);
            }
        }
        keep(&mut word, &mut best);
        best
    }

    /// A letter belongs to the word unless it can be left out.
    fn literal(&mut self, c: char, word: &mut String, best: &mut Needs) {
        let repeated = self.rest.starts_with(['?', '*', '+', '{']);
        if !self.optional() {
            word.extend(c.to_lowercase());
        }
        if repeated {
            keep(word, best);
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
                return None;
            }
        }
        self.rest = "";
        None
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
fn keep(word: &mut String, best: &mut Needs) {
    let word = std::mem::take(word);
    if word.len() >= LENGTH_MIN {
        *best = better(best.take(), Some(vec![word]));
    }
}

/// That of which fewer texts have one.
fn better(one: Needs, other: Needs) -> Needs {
    let worth = |needs: &Vec<String>| {
        let shortest = needs.iter().map(String::len).min().unwrap_or_default().clamp(1, 8);
        needs.len().min(40) as f64 / (shortest * shortest * shortest) as f64
    };
    match (one, other) {
        (Some(one), Some(other)) => Some(if worth(&other) < worth(&one) { other } else { one }),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::needles;

    #[test]
    fn every_match_has_one_of_the_needles() {
        for (pattern, expected) in [
            (r"^(?:works?|working) (?P<object>.+)", vec!["work", "working"]),
            (r"\b(?:i|we) (?:live|reside)s? in", vec!["live", "reside"]),
            (r"(?:please )?remind me", vec!["remind me"]),
            (r"colou?r", vec!["colo"]),
            (r"(?:a|an) [a-z]+", vec![]),
            (r"(?:tea|.+) cup", vec![" cup"]),
            (r"(?-i:Mrs)\.?", vec!["mrs"]),
            (r"tea|", vec![]),
        ] {
            assert_eq!(needles(pattern), expected, "{pattern}");
        }
    }
}
