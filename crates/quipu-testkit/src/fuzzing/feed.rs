//! Runs the bodies of fuzz targets without a fuzzer, on random bytes and on mutations of valid input.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use crate::{Rng, effort, files_below, seed};

/// The files of a folder of the repository, in order.
///
/// # Panics
/// If the folder has no files.
pub fn seeds(folder: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let files: Vec<Vec<u8>> = files_below(&folder).iter().filter_map(|path: &PathBuf| fs::read(path).ok()).collect();
    assert!(!files.is_empty(), "{} has no files", folder.display());
    files
}

/// Numbers, names and marks that tend to expose errors in parsers.
const MORSELS: [&[u8]; 30] = [
    b"0",
    b"-1",
    b"18446744073709551615",
    b"9223372036854775808",
    b"1e400",
    b"null",
    b"\"\"",
    b"{}",
    b"[]",
    b"[[[[[[[[",
    b"\n",
    b"\r\n",
    b"\\u0000",
    b"\\ud800",
    b"\xff",
    b"\xef\xbb\xbf",
    b"~2",
    b"/-",
    b"/00",
    b"/18446744073709551615",
    b"\"op\":\"copy\"",
    b"\"from\":\"\"",
    b"\"seq\":0",
    b"\"control\":true",
    b"---",
    b"# ",
    b"```",
    b"9999-12-31T23:59:60Z",
    b"-009999-01-01",
    b"\xe2\x80\xae",
];

fn morsel(dice: &mut Rng) -> &'static [u8] {
    MORSELS[dice.below(MORSELS.len())]
}

fn mutated(seeds: &[Vec<u8>], dice: &mut Rng) -> Vec<u8> {
    let mut bytes = dice.pick(seeds).cloned().unwrap_or_default();
    if dice.once_in(12) {
        bytes = (0..dice.below(400)).map(|_| dice.roll().to_le_bytes()[0]).collect();
    }
    for _ in 0..=dice.below(6) {
        let at = dice.below(bytes.len() + 1);
        match dice.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << dice.below(8),
            1 => bytes.truncate(at),
            2 => drop(bytes.splice(at..at, morsel(dice).iter().copied())),
            3 => {
                let end = (at + dice.below(40)).min(bytes.len());
                bytes.splice(at..end, morsel(dice).iter().copied());
            }
            4 => drop(bytes.drain(at..(at + dice.below(60)).min(bytes.len()))),
            5 => {
                // A piece of another seed, or a repetition of the same piece.
                let other = dice.pick(seeds).map_or(&[][..], Vec::as_slice);
                let from = dice.below(other.len());
                let piece = other[from..(from + dice.below(300)).min(other.len())].to_vec();
                bytes.splice(at..at, piece);
            }
            _ => digits(&mut bytes, dice),
        }
    }
    bytes
}

/// Replaces a number by an extreme one, since many format errors involve numbers.
fn digits(bytes: &mut Vec<u8>, dice: &mut Rng) {
    let starts: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at].is_ascii_digit()).collect();
    let Some(&at) = dice.pick(&starts) else { return };
    let end = at + bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let extreme = MORSELS[dice.below(5)];
    bytes.splice(at..end, extreme.iter().copied());
}

/// Runs a body on every seed, and then on `cases` mutations of them (times `QUIPU_EFFORT`).
///
/// # Panics
/// If the body does, after printing the input and the seed of the run.
pub fn feed(target: &str, seeds: &[Vec<u8>], cases: u32, body: fn(&[u8])) {
    let (seed, runs) = (seed(), effort(cases));
    let mut dice = Rng::new(seed ^ target.len() as u64);
    let run = |what: &str, bytes: &[u8]| {
        if let Err(cause) = catch_unwind(AssertUnwindSafe(|| body(bytes))) {
            let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(3000)]).into_owned();
            eprintln!("{target}, seed {seed}, {what}, {} bytes: {shown}", bytes.len());
            std::panic::resume_unwind(cause);
        }
    };
    for (number, bytes) in seeds.iter().enumerate() {
        run(&format!("seed file {number}"), bytes);
    }
    for number in 0..runs {
        run(&format!("case {number}"), &mutated(seeds, &mut dice));
    }
    println!("{target}: {} seeds and {runs} inputs, seed {seed}", seeds.len());
}
