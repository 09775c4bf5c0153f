//! Seed and length of a test run, and a list of the files it wrote.

use std::fs;
use std::path::{Path, PathBuf};

/// The seed of this run: `QUIPU_SEED`, or a fixed default, so that failures can be reproduced.
pub fn seed() -> u64 {
    number("QUIPU_SEED").unwrap_or(20_260_101)
}

/// The number of cases to try: `cases` times `QUIPU_EFFORT`, which is 1 by default.
pub fn effort(cases: u32) -> u32 {
    cases.saturating_mul(number("QUIPU_EFFORT").unwrap_or(1).clamp(1, 10_000) as u32)
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Every file below a folder, sorted. Unreadable folders count as empty.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}
