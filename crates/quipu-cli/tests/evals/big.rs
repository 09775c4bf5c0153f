//! `quipu bench --turns`: memories of several sizes, with counts that do not depend on the machine.

use std::process::{Command, Output};

use serde_json::Value;

use super::Place;

fn bench(place: &Place, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quipu"));
    command
        .arg("bench")
        .args(args)
        .env_clear()
        .env("TZ", "UTC")
        .env("HOME", place.0.path())
        .env("TMPDIR", place.0.path());
    command.output().unwrap()
}

#[test]
fn big_memories_are_imported_used_and_compared() {
    let place = Place::new();
    let done = bench(&place, &["--turns", "200,400,800", "--made-up-vectors", "-o", "json"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let report: Value = serde_json::from_slice(&done.stdout).unwrap();
    let sizes = report["sizes"].as_array().unwrap();
    assert_eq!(sizes.iter().map(|size| size["turns"].as_u64().unwrap()).collect::<Vec<_>>(), [200, 400, 800]);
    for pair in sizes.windows(2) {
        for figure in ["/file_bytes", "/import/facts", "/estimated_bytes"] {
            let [less, more] = [0, 1].map(|at| pair[at].pointer(figure).unwrap().as_u64().unwrap());
            assert!(0 < less && less < more, "{figure} of {pair:#?}");
        }
    }
    for size in sizes {
        assert!(size["erased_changes"].as_u64().unwrap() >= 1, "{size:#}");
        for figure in [
            "/import/seconds",
            "/open/ms",
            "/recall_ms/p50",
            "/pack_ms/p95",
            "/record_ms/p50",
            "/revert/ms",
            "/erase/ms",
        ] {
            assert!(size.pointer(figure).unwrap().as_f64().unwrap() > 0.0, "{figure} of {size:#}");
        }
        for figure in ["/import/peak_bytes", "/resident_bytes"] {
            assert_eq!(size.pointer(figure).unwrap().is_u64(), cfg!(target_os = "linux"), "{figure} of {size:#}");
        }
    }
    let exponents = report["exponents"].as_array().unwrap();
    assert!(exponents.iter().any(|one| one["figure"] == "opening, time" && one["slope"].is_number()), "{report:#}");
    let left = std::fs::read_dir(place.0.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with(".tmp")).collect();
    assert!(left.is_empty(), "temporary folders are left: {left:?}");
}

#[test]
fn a_memory_with_the_vectors_of_the_model_has_a_row() {
    let place = Place::new();
    let done = bench(&place, &["--turns", "30"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let printed = String::from_utf8(done.stdout).unwrap();
    assert!(printed.contains("vectors: of the model") && printed.contains("recording p50, p95"), "{printed}");
    assert!(!printed.contains("exponent"), "one size has none: {printed}");
    let refused = bench(&place, &["--made-up-vectors"]);
    assert_eq!(refused.status.code(), Some(2), "{}", String::from_utf8_lossy(&refused.stderr));
}
