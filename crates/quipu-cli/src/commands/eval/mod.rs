//! Eval: how much of what a question needs is found, and whether what changed is answered as it is.

mod locomo;
mod metrics;
mod updates;
mod worlds;

use std::io::Write;
use std::path::Path;

use quipu_engine::{Error, Result};

pub(super) use locomo::locomo;
pub(super) use metrics::Quantiles;
pub(super) use updates::updates;

/// Writes one line a question.
fn write_details(path: &Path, lines: &[String]) -> Result<()> {
    let cannot = |error: std::io::Error| Error::Unavailable(format!("cannot write {}: {error}", path.display()));
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).map_err(cannot)?);
    for line in lines {
        writeln!(file, "{line}").map_err(cannot)?;
    }
    file.flush().map_err(cannot)
}
