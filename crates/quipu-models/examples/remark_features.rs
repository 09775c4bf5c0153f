//! Computes the features of remarks for `remarks/train.py`. Reads JSON strings from standard input and writes, for
//! each, a line of JSON with its pieces and their features to standard output.

use std::io::{BufRead, Write};

use quipu_models::{MiniLm, RemarkReader};
use serde_json::json;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = MiniLm::new();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let text: String = serde_json::from_str(&line?)?;
        let pieces: Vec<_> = RemarkReader::pieces(&model, &text)?
            .into_iter()
            .map(
                |piece| json!({"at": [piece.range.start, piece.range.end], "vector": piece.vector, "form": piece.form}),
            )
            .collect();
        writeln!(out, "{}", serde_json::to_string(&pieces)?)?;
    }
    Ok(())
}
