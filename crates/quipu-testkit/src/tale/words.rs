//! Parses a line of a script.

/// The rest of a line.
pub(super) struct LineRest<'a>(&'a str);

impl<'a> LineRest<'a> {
    pub(super) fn of(line: &'a str) -> Self {
        Self(line.trim())
    }

    /// The next word, without consuming it.
    pub(super) fn peek(&self) -> Option<&'a str> {
        self.0.split_whitespace().next()
    }

    /// Consumes the next word.
    pub(super) fn next(&mut self) -> Option<&'a str> {
        let word = self.peek()?;
        self.0 = self.0[word.len()..].trim_start();
        Some(word)
    }

    /// Consumes the next word if it is this one.
    pub(super) fn takes(&mut self, word: &str) -> bool {
        let there = self.peek() == Some(word);
        if there {
            self.next();
        }
        there
    }

    /// Consumes the next word, which the step requires.
    pub(super) fn need(&mut self, what: &str) -> Result<&'a str, String> {
        self.next().ok_or_else(|| format!("{what} is missing"))
    }

    /// Consumes a number.
    pub(super) fn number<T: std::str::FromStr>(&mut self) -> Result<T, String> {
        let word = self.need("a number")?;
        word.parse().map_err(|_| format!("{word:?} is not a number"))
    }

    /// Consumes all numbers that follow; `none` stands for an empty list.
    pub(super) fn numbers(&mut self) -> Result<Vec<u64>, String> {
        let mut numbers = Vec::new();
        if self.takes("none") {
            return Ok(numbers);
        }
        while self.peek().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit())) {
            numbers.push(self.number()?);
        }
        Ok(numbers)
    }

    /// Consumes a text in quotation marks.
    pub(super) fn quoted(&mut self) -> Result<String, String> {
        let inside = self.0.strip_prefix('"').ok_or("a text in quotation marks is missing")?;
        let end = inside.find('"').ok_or("a quotation mark is missing")?;
        self.0 = inside[end + 1..].trim_start();
        Ok(inside[..end].to_owned())
    }

    /// Consumes all quoted texts that follow; `nothing` stands for an empty list.
    pub(super) fn all_quoted(&mut self) -> Result<Vec<String>, String> {
        let mut texts = Vec::new();
        if self.takes("nothing") {
            return Ok(texts);
        }
        while !self.0.is_empty() {
            texts.push(self.quoted()?);
        }
        Ok(texts)
    }

    /// Consumes the rest as JSON; `nothing` stands for no value.
    pub(super) fn json(&mut self) -> Result<Option<serde_json::Value>, String> {
        if self.takes("nothing") {
            return Ok(None);
        }
        let rest = std::mem::take(&mut self.0);
        serde_json::from_str(rest).map(Some).map_err(|error| format!("{rest:?} is not JSON: {error}"))
    }
}
