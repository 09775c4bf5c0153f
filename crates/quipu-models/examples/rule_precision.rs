//! Counts for every rule of English how often what it reads in labelled messages is labelled as worth keeping.
//!
//! `cargo run --release -p quipu-models --example rule_precision testdata/reader/[01]*.jsonl`
//!
//! A fact or task is right if a label's quote overlaps its clause, both are about the user or both about somebody else,
//! the label shares a word of its value, and what the rule reads as true is not labelled as over, hearsay or called off.
//! The labels are not complete, so the share is a lower bound that compares rules.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use quipu_core::extract::{FactCandidate, LanguageRules, Reading, Stance, TaskCandidate, USER};
use serde::Deserialize;

const ENGLISH: &str = include_str!("../rules/en.toml");
/// Name of the qualifier that the rules get for their id.
const RULE: &str = "rule";
/// Examples printed for a rule that is wrong more often than one time in ten.
const EXAMPLES: usize = 14;

#[derive(Deserialize)]
struct Message {
    date: String,
    before: String,
    text: String,
    keep: Vec<Label>,
}

#[derive(Deserialize)]
struct Label {
    quote: String,
    about: String,
    value: String,
    stance: String,
}

#[derive(Default)]
struct Count {
    all: usize,
    right: usize,
    wrong: Vec<String>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rules = MarkedRules::new()?;
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    for file in std::env::args().skip(1) {
        for line in std::fs::read_to_string(&file)?.lines() {
            let message: Message = serde_json::from_str(line)?;
            count(&rules, &message, &mut counts)?;
        }
    }
    let mut rows: Vec<(&String, &Count)> = counts.iter().collect();
    rows.sort_by_key(|(rule, count)| (std::cmp::Reverse(count.all - count.right), (*rule).clone()));
    let (all, right) = rows.iter().fold((0, 0), |(all, right), (_, count)| (all + count.all, right + count.right));
    println!("{right} of {all} are right, by {} rules", rows.len());
    for (rule, count) in rows {
        println!("{:>5} of {:>5}  {rule}", count.right, count.all);
        if count.right * 10 < count.all * 9 {
            count.wrong.iter().take(EXAMPLES).for_each(|example| println!("                  {example}"));
        }
    }
    Ok(())
}

/// The rules of English, changed so that what they read says which rule read it.
struct MarkedRules {
    rules: LanguageRules,
    /// The rules for tasks; each has a confidence of its own.
    of_tasks: Vec<String>,
}

impl MarkedRules {
    /// Less than the confidence of any subject, so that it is that of the task.
    const CONFIDENCE_LEAST: f64 = 0.5;
    const CONFIDENCE_STEP: f64 = 0.001;

    fn new() -> Result<Self, Box<dyn std::error::Error>> {
        let mut document: toml_edit::DocumentMut = ENGLISH.parse()?;
        let rules = document.get_mut("rules").and_then(toml_edit::Item::as_array_of_tables_mut).ok_or("no rules")?;
        let mut of_tasks = Vec::new();
        for rule in rules.iter_mut() {
            let id = rule.get("id").and_then(toml_edit::Item::as_str).ok_or("a rule without an id")?.to_owned();
            if rule.contains_key("task") {
                let confidence = Self::CONFIDENCE_LEAST + of_tasks.len() as f64 * Self::CONFIDENCE_STEP;
                rule.insert("confidence", toml_edit::value(confidence));
                of_tasks.push(id);
                continue;
            }
            let empty = toml_edit::Item::Value(toml_edit::InlineTable::new().into());
            let qualifiers = rule.entry("qualifiers").or_insert(empty).as_table_like_mut();
            qualifiers.ok_or("qualifiers that are no table")?.insert(RULE, toml_edit::value(id));
        }
        Ok(Self { rules: LanguageRules::parse(&document.to_string())?, of_tasks })
    }

    fn rule_of_fact(&self, fact: &FactCandidate) -> String {
        fact.qualifiers.get(RULE).cloned().unwrap_or_else(|| format!("(no rule) {}", fact.predicate))
    }

    fn rule_of_task(&self, task: &TaskCandidate) -> String {
        let at = ((task.confidence - Self::CONFIDENCE_LEAST) / Self::CONFIDENCE_STEP).round() as usize;
        self.of_tasks.get(at).cloned().unwrap_or_else(|| "(no rule) task".to_owned())
    }
}

fn count(
    rules: &MarkedRules,
    message: &Message,
    counts: &mut BTreeMap<String, Count>,
) -> Result<(), Box<dyn std::error::Error>> {
    let said_at = format!("{}T12:00:00Z", message.date).parse()?;
    let before = Some(message.before.as_str()).filter(|before| !before.is_empty());
    let read = rules.rules.read(&Reading { before, ..Reading::of_user(&message.text, Some(said_at)) });
    let mut note = |rule: String, is_right: bool, what: String| {
        let count = counts.entry(rule).or_default();
        count.all += 1;
        count.right += usize::from(is_right);
        if !is_right {
            count.wrong.push(format!("{what} <- {}", message.text.replace('\n', " / ")));
        }
    };
    for fact in &read.facts {
        let is_right = message.keep.iter().any(|label| states(label, &message.text, fact));
        note(
            rules.rule_of_fact(fact),
            is_right,
            format!("{} {} {} ({:?})", fact.subject, fact.predicate, fact.object, fact.stance),
        );
    }
    for task in &read.tasks {
        let is_right = message.keep.iter().any(|label| opens(label, &message.text, task));
        note(rules.rule_of_task(task), is_right, task.title.clone());
    }
    Ok(())
}

fn states(label: &Label, text: &str, fact: &FactCandidate) -> bool {
    let is_so = matches!(fact.stance, Stance::Holds | Stance::Changed | Stance::Corrects { .. });
    let is_over = ["ended", "was", "hearsay", "off"].contains(&label.stance.as_str());
    let about_user = [label.about == "user" || label.about == "assistant", fact.subject == USER];
    overlaps(label, text, &fact.span)
        && about_user[0] == about_user[1]
        && !(is_so && is_over)
        && shares(label, &fact.object)
}

fn opens(label: &Label, text: &str, task: &TaskCandidate) -> bool {
    overlaps(label, text, &task.span) && shares(label, &task.title)
}

fn overlaps(label: &Label, text: &str, span: &Range<usize>) -> bool {
    text.find(&label.quote).is_some_and(|at| at < span.end && span.start < at + label.quote.len())
}

/// True if the label has a word of the value, or the value has none.
fn shares(label: &Label, value: &str) -> bool {
    let [value, label] = [value.to_owned(), format!("{} {}", label.quote, label.value)].map(|text| words(&text));
    value.is_empty() || value.intersection(&label).next().is_some()
}

fn words(text: &str) -> BTreeSet<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| word.len() > 2 || word.contains(|c: char| c.is_ascii_digit())).map(str::to_owned).collect()
}
