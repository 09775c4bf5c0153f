//! What must never be forgotten, read in stories by strangers: `testdata/standing`.

use std::collections::BTreeSet;
use std::path::Path;

use quipu_core::extract::{FactCandidate, LanguageRules, Reading, Stance, USER, UpdateNews};
use serde::Deserialize;

/// Floors of recall and precision, of limits and of wishes, for stories the rules were written with and for those they have not
/// seen: just under what was reached.
const FLOORS: [(&str, [f64; 2], [f64; 2]); 2] =
    [("look", [0.74, 0.86], [0.86, 0.95]), ("held", [0.59, 0.93], [0.63, 0.91])];

#[derive(Deserialize)]
struct Story {
    id: String,
    messages: Vec<String>,
    limits: Vec<String>,
    rules: Vec<String>,
}

/// Labels, labels that were found, statements that match none, statements.
#[derive(Default)]
struct Sums {
    labels: usize,
    found: usize,
    wrong: usize,
    read: usize,
}

impl Sums {
    /// `besides` may be what a label asks for, and is not wrong if it is not.
    fn count(&mut self, labels: &[String], read: &[String], besides: &[String]) -> bool {
        let found = labels.iter().filter(|label| read.iter().chain(besides).any(|one| shares(label, one))).count();
        let wrong = read.iter().filter(|one| !labels.iter().any(|label| shares(label, one))).count();
        (self.labels, self.found) = (self.labels + labels.len(), self.found + found);
        (self.wrong, self.read) = (self.wrong + wrong, self.read + read.len());
        found == labels.len() && wrong == 0
    }

    fn recall(&self) -> f64 {
        self.found as f64 / self.labels.max(1) as f64
    }

    fn precision(&self) -> f64 {
        (self.read - self.wrong) as f64 / self.read.max(1) as f64
    }
}

/// The first letters of the words that tell something.
fn stems(text: &str) -> BTreeSet<String> {
    const EMPTY: [&str; 15] = [
        "the", "and", "for", "not", "don", "with", "dont", "that", "when", "you", "never", "always", "any", "your",
        "from",
    ];
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_lowercase()).filter(|word| word.len() > 2 && !EMPTY.contains(word));
    words.map(|word| word.chars().take(5).collect()).collect()
}

fn shares(one: &str, other: &str) -> bool {
    !stems(one).is_disjoint(&stems(other))
}

/// The limits and wishes that hold after a story, and the conditions, which stand beside limits in every pack.
fn told(rules: &LanguageRules, story: &Story) -> [Vec<String>; 3] {
    let said_at = "2026-06-15T12:00:00Z".parse().ok();
    let [mut limits, mut wishes, mut conditions] = [Vec::new(), Vec::new(), Vec::new()];
    for text in &story.messages {
        let read = rules.read(&Reading::of_user(text, said_at));
        for FactCandidate { predicate, object, stance, .. } in
            read.facts.into_iter().filter(|fact| fact.subject == USER)
        {
            let (kind, words) = match predicate.as_str() {
                "allergic_to" | "avoids_food" | "diet" | "restriction" => (&mut limits, object),
                "has_condition" => (&mut conditions, object),
                "constraint" => (&mut wishes, object),
                "nickname" => (&mut wishes, format!("call me {object}")),
                _ => continue,
            };
            match stance {
                Stance::Holds | Stance::Changed | Stance::Corrects { .. } => kind.push(words),
                Stance::Ended => kind.retain(|known| !shares(known, &words)),
                Stance::Held | Stance::Denied => {}
            }
        }
        for over in read.updates.iter().filter(|update| update.news == UpdateNews::Over) {
            limits.retain(|known| !shares(known, &over.what));
            wishes.retain(|known| !shares(known, &over.what));
        }
    }
    [limits, wishes, conditions]
}

#[test]
fn limits_and_wishes_in_stories_by_strangers_are_never_forgotten() {
    let rules = LanguageRules::parse(super::RULES).unwrap();
    for (half, limits_min, wishes_min) in FLOORS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/standing").join(half);
        let [mut limits, mut wishes] = [Sums::default(), Sums::default()];
        let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for line in files.iter().flat_map(|file| {
            let text = std::fs::read_to_string(file).unwrap();
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        }) {
            let story: Story = serde_json::from_str(&line).unwrap();
            let [limited, wished, conditions] = told(&rules, &story);
            let right = [limits.count(&story.limits, &limited, &conditions), wishes.count(&story.rules, &wished, &[])];
            if half == "look" && right.contains(&false) {
                println!("{} {limited:?} {wished:?}", story.id);
            }
        }
        for (kind, sums, [recall_min, precision_min]) in
            [("limits", limits, limits_min), ("wishes", wishes, wishes_min)]
        {
            let (recall, precision) = (sums.recall(), sums.precision());
            println!("{half}: {kind}: {} of {} found ({recall:.2}), precision {precision:.2}", sums.found, sums.labels);
            assert!(recall >= recall_min && precision >= precision_min, "{half}: {kind}: {recall:.3} {precision:.3}");
        }
    }
}
