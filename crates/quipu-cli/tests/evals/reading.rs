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

/// A known item as a window shows it: its short id and its text.
type Known = (String, String);

/// The window without the order of what is known, which is that of random ids where two items fit equally; and what is known.
fn parts(window: &str) -> (String, Vec<Known>) {
    let (messages, known) = window.split_once("<known>").unwrap();
    let known: Vec<Known> = known
        .lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(id, text)| (id.to_owned(), text.to_owned()))
        .collect();
    let mut texts: Vec<&str> = known.iter().map(|(_, text)| text.as_str()).collect();
    texts.sort_unstable();
    (format!("{messages}{}", texts.join("\n")), known)
}

/// An answer with the short ids of another window that shows the same items.
fn with_ids(mut answer: Value, recorded: &[Known], now: &[Known]) -> Value {
    for part in ["operations", "readings"] {
        for item in answer[part].as_array_mut().unwrap() {
            let text = recorded.iter().find(|(id, _)| item["id"] == id.as_str()).map(|(_, text)| text);
            if let Some((id, _)) = now.iter().find(|(_, known)| Some(known) == text) {
                item["id"] = json!(id);
            }
        }
    }
    answer
}

#[test]
fn updates_in_peoples_own_words_end_right_with_a_recorded_reader() {
    // Given a model that answers each window as it was answered when the windows were recorded
    let answers: HashMap<String, (Vec<Known>, Value)> = data("updates-cassette.ndjson")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|row| (parts(row["window"].as_str().unwrap()), row["answer"].clone()))
        .map(|((key, known), answer)| (key, (known, answer)))
        .collect();
    let (asked, unknown) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (count, misses) = (asked.clone(), unknown.clone());
    let server = FakeServer::start(FakeScript::making(move |asked| {
        count.fetch_add(1, Ordering::Relaxed);
        let (key, known) = parts(asked.last_user());
        let Some((recorded, answer)) = answers.get(&key) else {
            misses.fetch_add(1, Ordering::Relaxed);
            return json!({"operations": [], "readings": []}).to_string();
        };
        with_ids(answer.clone(), recorded, &known).to_string()
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
