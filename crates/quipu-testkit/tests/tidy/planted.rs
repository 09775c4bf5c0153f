//! The planted faults of `mutants/`: each applies to today's source and names a test that exists.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use super::{files, root, short};

/// The patches that are planted at least.
const PLANTED_MIN: usize = 40;

#[test]
fn every_planted_fault_applies_and_names_its_test() {
    let folder = root().join("crates/quipu-testkit/mutants");
    let patches: Vec<_> =
        files(&folder).into_iter().filter(|path| path.extension().is_some_and(|end| end == "patch")).collect();
    assert!(patches.len() >= PLANTED_MIN, "only {} faults are planted", patches.len());
    let mut wrong = Vec::new();
    let mut bodies = BTreeSet::new();
    for patch in &patches {
        let text = fs::read_to_string(patch).unwrap();
        let name = short(patch);
        let mut head = text.lines();
        let breaks = head.next().and_then(|line| line.strip_prefix("Breaks: "));
        if !breaks.is_some_and(|breaks| breaks.ends_with('.')) {
            wrong.push(format!("{name} does not say what it breaks"));
        }
        let words: Vec<&str> = match head.next().and_then(|line| line.strip_prefix("Test: cargo test ")) {
            Some(test) => test.split(' ').collect(),
            None => Vec::new(),
        };
        let is_there = match words.as_slice() {
            ["-p", krate, "--test", name, ..] => {
                let tests = root().join("crates").join(krate).join("tests");
                tests.join(format!("{name}.rs")).exists() || tests.join(name).join("main.rs").exists()
            }
            ["-p", krate, "--lib", ..] => root().join("crates").join(krate).join("src/lib.rs").exists(),
            _ => false,
        };
        if !is_there {
            wrong.push(format!("{name} names no test: {words:?}"));
        }
        if !bodies.insert(text.split_once("\n\n").map(|(_, body)| body.to_owned())) {
            wrong.push(format!("{name} is another one's twin"));
        }
        let checked = Command::new("git").args(["apply", "--check"]).arg(patch).current_dir(root()).output().unwrap();
        if !checked.status.success() {
            wrong.push(format!("{name} does not apply: {}", String::from_utf8_lossy(&checked.stderr).trim()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
