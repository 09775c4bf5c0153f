//! Runs the bodies of the fuzz targets on random bytes and on mutations of valid input, without a fuzzer.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use quipu_testkit::{Rng, effort, fuzzing, seed};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(folder: &str) -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.is_file());
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
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
            2 => drop(bytes.splice(at..at, dice.pick(&MORSELS).unwrap().iter().copied())),
            3 => {
                let end = (at + dice.below(40)).min(bytes.len());
                bytes.splice(at..end, dice.pick(&MORSELS).unwrap().iter().copied());
            }
            4 => drop(bytes.drain(at..(at + dice.below(60)).min(bytes.len()))),
            5 => {
                // A piece of another seed, or a repetition of the same piece.
                let other = dice.pick(seeds).unwrap();
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
    bytes.splice(at..end, dice.pick(&MORSELS[..5]).unwrap().iter().copied());
}

fn feed(target: &str, seeds: &[Vec<u8>], body: fn(&[u8])) {
    assert!(!seeds.is_empty(), "{target} has no seeds");
    let (seed, runs) = (seed(), effort(4000));
    let mut dice = Rng::new(seed ^ target.len() as u64);
    seeds.iter().for_each(|seed| body(seed));
    for run in 0..runs {
        let bytes = mutated(seeds, &mut dice);
        if let Err(cause) = catch_unwind(AssertUnwindSafe(|| body(&bytes))) {
            let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(3000)]).into_owned();
            eprintln!("{target}, seed {seed}, run {run}, {} bytes: {shown}", bytes.len());
            std::panic::resume_unwind(cause);
        }
    }
    println!("{target}: {runs} inputs, seed {seed}");
}

#[test]
fn ledger_lines() {
    let mut seeds = files("fuzz/seeds/event_decode");
    // One of them contains every change about items.
    seeds.extend(files("testdata/golden/v1").into_iter().filter(|bytes| bytes.starts_with(b"{\"quipu_ledger\"")));
    feed("event_decode", &seeds, fuzzing::event_decode);
}

#[test]
fn json_patches() {
    feed("json_patch", &files("fuzz/seeds/json_patch"), fuzzing::json_patch);
}

#[test]
fn imports() {
    let mut seeds = files("fuzz/seeds/import");
    for file in files("testdata/import") {
        // Each file in every format, which the first byte selects.
        seeds.extend((0..12).map(|format| [vec![format], file.clone()].concat()));
    }
    feed("import", &seeds, fuzzing::import);
}
