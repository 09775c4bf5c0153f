//! Big memories: a file of many turns is imported, and the memory is opened, asked, reverted and erased from. The import and the
//! rest run in processes of their own, so that the memory of one does not count for the other.

mod chats;
mod stages;

use std::path::Path;
use std::process::Stdio;

use quipu_engine::{Error, Result};
use serde::Serialize;

use self::stages::{Imported, Phase, Used};
use super::{Environment, Measurement, Output};
use crate::args::{BenchOptions, BigStage};
use crate::fit::Line;
use crate::{render, temporary_folder};

#[derive(Debug, Serialize)]
struct Report {
    vectors: &'static str,
    sizes: Vec<Size>,
    /// The exponents with which figures grow with the turns; empty for fewer than three sizes.
    exponents: Vec<Exponent>,
}

/// The figures of one memory.
#[derive(Debug, Serialize)]
struct Size {
    turns: usize,
    file_bytes: u64,
    import: Imported,
    #[serde(flatten)]
    used: Used,
}

#[derive(Debug, Serialize)]
struct Exponent {
    figure: &'static str,
    #[serde(flatten)]
    line: Line,
}

/// Sizes from which an exponent is computed.
const SIZES_MIN: usize = 3;

pub(super) fn big(environment: &dyn Environment, output: &dyn Output, options: &BenchOptions) -> Result<Measurement> {
    let made_up = options.made_up_vectors;
    if let (Some(stage), Some(folder)) = (options.stage, &options.folder) {
        return match stage {
            BigStage::Import => Measurement::of(&stages::import(environment, folder, made_up)?, |_| String::new()),
            BigStage::Use => Measurement::of(&stages::use_memory(environment, folder, made_up)?, |_| String::new()),
        };
    }
    let mut sizes = Vec::new();
    for &turns in &options.turns {
        let folder = temporary_folder()?;
        let file_bytes = chats::write(&stages::file(folder.path()), turns)?;
        let run = |stage| run(environment, stage, turns, folder.path(), made_up);
        output.hint(&format!("importing {turns} turns"));
        let import = parsed(run(BigStage::Import)?)?;
        output.hint(&format!("using the memory of {turns} turns"));
        let used = parsed(run(BigStage::Use)?)?;
        sizes.push(Size { turns, file_bytes, import, used });
    }
    let vectors = if made_up { "made up" } else { "of the model" };
    let exponents = if sizes.len() < SIZES_MIN { Vec::new() } else { exponents(&sizes) };
    Measurement::of(&Report { vectors, sizes, exponents }, in_words)
}

/// Runs a stage in a process of its own and returns its report.
fn run(
    environment: &dyn Environment,
    stage: BigStage,
    turns: usize,
    folder: &Path,
    made_up: bool,
) -> Result<serde_json::Value> {
    let mut command = environment.program()?;
    command.args(["bench", "--turns", &turns.to_string(), "--stage", stage.as_str(), "--folder"]).arg(folder);
    command.args(made_up.then_some("--made-up-vectors")).args(["-o", "json"]);
    let failed = |why: String| Error::Unavailable(format!("the process that measures {}: {why}", stage.as_str()));
    let done = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let done = done.map_err(|error| failed(error.to_string()))?;
    if !done.status.success() {
        return Err(failed(done.status.to_string()));
    }
    serde_json::from_slice(&done.stdout).map_err(|error| failed(error.to_string()))
}

fn parsed<T: serde::de::DeserializeOwned>(json: serde_json::Value) -> Result<T> {
    serde_json::from_value(json).map_err(|error| Error::Bug(error.to_string()))
}

/// A figure of a size.
type Figure = fn(&Size) -> Option<f64>;

/// The figures with an exponent.
const FIGURES: [(&str, Figure); 17] = [
    ("import, time", |size| Some(size.import.seconds)),
    ("import until recorded and read, time", |size| Some(size.import.recorded_seconds)),
    ("import, peak memory", |size| bytes(size.import.peak_bytes)),
    ("on disk", |size| Some(size.import.bytes_on_disk as f64)),
    ("opening, time", |size| Some(size.used.open.ms)),
    ("opening, peak memory", |size| bytes(size.used.open.peak_bytes)),
    ("open, resident", |size| bytes(size.used.resident_bytes)),
    ("recall, p50", |size| Some(size.used.recall_ms.p50)),
    ("recall, p95", |size| Some(size.used.recall_ms.p95)),
    ("pack, p50", |size| Some(size.used.pack_ms.p50)),
    ("pack, p95", |size| Some(size.used.pack_ms.p95)),
    ("recording, p50", |size| Some(size.used.record_ms.p50)),
    ("recording, p95", |size| Some(size.used.record_ms.p95)),
    ("revert, time", |size| Some(size.used.revert.ms)),
    ("revert, peak memory", |size| bytes(size.used.revert.peak_bytes)),
    ("erasure, time", |size| Some(size.used.erase.ms)),
    ("erasure, peak memory", |size| bytes(size.used.erase.peak_bytes)),
];

fn bytes(bytes: Option<u64>) -> Option<f64> {
    bytes.map(|bytes| bytes as f64)
}

fn exponents(sizes: &[Size]) -> Vec<Exponent> {
    let line = |of: Figure| {
        let points: Option<Vec<(f64, f64)>> = sizes.iter().map(|size| Some((size.turns as f64, of(size)?))).collect();
        points.and_then(|points| Line::of_powers(&points))
    };
    FIGURES.iter().filter_map(|&(figure, of)| line(of).map(|line| Exponent { figure, line })).collect()
}

fn in_words(report: &Report) -> String {
    let size = |bytes: Option<u64>| bytes.map_or("?".to_owned(), render::size);
    let time = |ms: f64| if ms < 1e4 { format!("{ms:.1} ms") } else { format!("{:.1} s", ms / 1e3) };
    let phase = |phase: &Phase| format!("{}, {}", time(phase.ms), size(phase.peak_bytes));
    let both = |times: &crate::metrics::Quantiles| format!("{:.2}, {:.2} ms", times.p50, times.p95);
    let rows: Vec<Vec<String>> = report
        .sizes
        .iter()
        .map(|one| {
            let (import, used) = (&one.import, &one.used);
            vec![
                one.turns.to_string(),
                import.facts.to_string(),
                format!("{:.1} s ({:.1}), {}", import.seconds, import.recorded_seconds, size(import.peak_bytes)),
                render::size(import.bytes_on_disk),
                phase(&used.open),
                size(used.resident_bytes),
                both(&used.recall_ms),
                both(&used.pack_ms),
                both(&used.record_ms),
                phase(&used.revert),
                phase(&used.erase),
            ]
        })
        .collect();
    let headings = [
        "turns",
        "facts",
        "import (until read), peak",
        "on disk",
        "opening, peak",
        "resident",
        "recall p50, p95",
        "pack p50, p95",
        "recording p50, p95",
        "revert, peak",
        "erasure, peak",
    ];
    let mut text = format!("vectors: {}\n{}", report.vectors, render::table(&headings, &rows));
    if !report.exponents.is_empty() {
        let row = |one: &Exponent| {
            let error = one.line.slope_error.map_or(String::new(), |error| format!(" ± {error:.2}"));
            vec![one.figure.to_owned(), format!("{:.2}{error}", one.line.slope)]
        };
        let rows: Vec<Vec<String>> = report.exponents.iter().map(row).collect();
        text += &format!("\n{}", render::table(&["grows with the turns", "exponent"], &rows));
    }
    text
}
