//! Pieces of messages with what the judgement of remarks looks at, for `remarks/train.py`: JSON strings on standard input, a line
//! of JSON for each on standard output.

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
