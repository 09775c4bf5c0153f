//! What a strong reader makes of updates in people's own words, replayed: its answers were recorded window by window.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use quipu_fake_model::{FakeScript, FakeServer};
use serde_json::{Value, json};

use super::Place;

/// Pairs that are replayed: the first of the half that is for looking at.
const PAIRS: usize = 60;
/// Of them so many end right, in percent: what was measured when the answers were recorded, less one pair in twenty.
const RIGHT_PERCENT_MIN: u64 = 88;
/// Windows without a recorded answer, in percent. More of them say that prompt or windows have changed.
const UNKNOWN_PERCENT_MAX: usize = 10;

fn data(name: &str) -> String {
    let path = format!("{}/tests/reading/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn updates_in_peoples_own_words_end_right_with_a_recorded_reader() {
    // Given a model that answers each window as it was answered when the windows were recorded
    let answers: HashMap<String, String> = data("updates-cassette.ndjson")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|row| (row["window"].as_str().unwrap().to_owned(), row["answer"].to_string()))
        .collect();
    let (asked, unknown) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (count, misses) = (asked.clone(), unknown.clone());
    let server = FakeServer::start(FakeScript::making(move |asked| {
        count.fetch_add(1, Ordering::Relaxed);
        answers.get(asked.last_user()).cloned().unwrap_or_else(|| {
            misses.fetch_add(1, Ordering::Relaxed);
            json!({"operations": [], "readings": []}).to_string()
        })
    }))
    .unwrap();
    let place = Place::new();
    let mut pairs: Value = serde_json::from_str(&data("updates-look.json")).unwrap();
    pairs["pairs"].as_array_mut().unwrap().truncate(PAIRS);
    let settings = place.0.path().join(".config/quipu");
    std::fs::create_dir_all(&settings).unwrap();
    let extractor = format!(
        "[models.extractor]\nprovider = \"openai\"\nbase_url = \"{}\"\nmodel = \"recorded\"\n",
        server.base_url()
    );
    std::fs::write(settings.join("config.toml"), extractor).unwrap();
    // When the pairs are read
    let read = place.json(&["reading", &place.file("pairs.json", &pairs.to_string()), "--with-model"]);
    // Then most end right
    let (asked, unknown) = (asked.load(Ordering::Relaxed), unknown.load(Ordering::Relaxed));
    assert!(
        asked > PAIRS && unknown * 100 <= asked * UNKNOWN_PERCENT_MAX,
        "{unknown} of {asked} windows have no recorded answer: prompt or windows have changed; record them again"
    );
    let groups = read["groups"].as_object().unwrap();
    let sum = |name: &str| groups.values().filter_map(|group| group[name].as_u64()).sum::<u64>();
    assert_eq!(sum("files"), PAIRS as u64);
    let right = sum("right") * 100 / PAIRS as u64;
    assert!(right >= RIGHT_PERCENT_MIN, "only {right} % of the pairs end right: {read}");
}
