//! The file of details: one line for each question, written by every evaluation and read by `compare` and `report`.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use quipu_engine::{Error, Result};
use serde::{Deserialize, Serialize};

use super::metrics::Scores;

/// The common fields of the lines of all evaluations; each evaluation adds its own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ResultLine {
    /// Id of the question: the same for the same file or seed in every run.
    pub(super) id: String,
    /// The evaluation.
    pub(super) eval: String,
    /// The kind of question.
    pub(super) group: String,
    pub(super) question: String,
    /// Its figures, each from 0 to 1, higher is better.
    pub(super) metrics: Scores,
    /// Duration of recall, including the embedding of the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) latency_ms: Option<f64>,
    /// Relevance of the best answer to the question, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) relevance: Option<f64>,
    /// Confidence of the best answer, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) confidence: Option<f64>,
    /// Whether the best answer is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) right: Option<bool>,
}

/// Serialises a line.
pub(super) fn written(line: &impl Serialize) -> Result<String> {
    serde_json::to_string(line).map_err(|error| Error::Bug(error.to_string()))
}

/// The output of lines during an evaluation, so that an aborted run keeps its results.
pub(super) struct Out(Option<(BufWriter<File>, String)>);

impl Out {
    /// Writes nothing without a path.
    pub(super) fn to(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else { return Ok(Self(None)) };
        let file = File::create(path).map_err(|error| cannot_write(&path.display().to_string(), &error))?;
        Ok(Self(Some((BufWriter::new(file), path.display().to_string()))))
    }

    pub(super) fn push(&mut self, line: &impl Serialize) -> Result<()> {
        let Some((file, place)) = &mut self.0 else { return Ok(()) };
        writeln!(file, "{}", written(line)?).map_err(|error| cannot_write(place, &error))
    }

    pub(super) fn finish(self) -> Result<()> {
        let Some((mut file, place)) = self.0 else { return Ok(()) };
        file.flush().map_err(|error| cannot_write(&place, &error))
    }
}

fn cannot_write(place: &str, error: &std::io::Error) -> Error {
    Error::Unavailable(format!("cannot write {place}: {error}"))
}

/// Reads a file of details.
///
/// # Errors
/// `NotFound` if it cannot be opened; `Invalid` if it is empty, or has a malformed line or a duplicate id.
pub(super) fn read(path: &Path) -> Result<Vec<ResultLine>> {
    let place = path.display();
    let file = File::open(path).map_err(|error| Error::NotFound(format!("cannot read {place}: {error}")))?;
    let mut lines = Vec::new();
    let mut ids = HashSet::new();
    for (number, line) in BufReader::new(file).lines().enumerate() {
        let number = number + 1;
        let text = line.map_err(|error| Error::Invalid(format!("{place}, line {number}: {error}")))?;
        if text.trim().is_empty() {
            continue;
        }
        let line: ResultLine = serde_json::from_str(&text).map_err(|error| {
            let why = if error.is_eof() { "the line breaks off".to_owned() } else { error.to_string() };
            let advice = "expected a file written with --out by an evaluation of this version; create it again";
            Error::Invalid(format!("{place}, line {number}: {why}; {advice}"))
        })?;
        if !ids.insert(line.id.clone()) {
            let advice = "a file holds each question once; was something appended to it?";
            return Err(Error::Invalid(format!("{place}, line {number}: {:?} occurs twice; {advice}", line.id)));
        }
        lines.push(line);
    }
    if lines.is_empty() {
        return Err(Error::Invalid(format!("{place} is empty; write one with --out")));
    }
    Ok(lines)
}
