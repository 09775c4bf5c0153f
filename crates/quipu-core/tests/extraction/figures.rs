//! Precision and recall, in all and for each domain.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use quipu_core::extract::{Extraction, FactCandidate, TaskCandidate};
use quipu_core::predicate::Predicates;

use crate::agreement::{fact_agrees, task_agrees};
use crate::assignment::assign;
use crate::label::{Case, FactLabel, Label, TaskLabel, any_of};

/// Where tasks, goals and problems are counted.
const TASKS: &str = "tasks";

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Count {
    /// What the extractor found.
    pub(crate) found: usize,
    /// What of it a label allows.
    pub(crate) right: usize,
    /// Labels that must be met.
    pub(crate) required: usize,
    /// Those that were.
    pub(crate) met: usize,
}

impl Count {
    /// Share of what was found that is right; one if nothing was found.
    pub(crate) fn precision(&self) -> f64 {
        share(self.right, self.found)
    }

    /// Share of what had to be found that was; one if nothing had to be.
    pub(crate) fn recall(&self) -> f64 {
        share(self.met, self.required)
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// The comparison of a file.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    pub(crate) texts: usize,
    /// Texts in which nothing has to be found.
    pub(crate) empty: usize,
    domains: BTreeMap<String, Count>,
    /// Every miss and every false alarm, with its text.
    pub(crate) mistakes: Vec<String>,
}

/// One shape in which a label may be met.
enum Shape<'a> {
    Fact(&'a FactLabel, &'a str),
    Task(&'a TaskLabel),
}

enum Find<'a> {
    Fact(&'a FactCandidate),
    Task(&'a TaskCandidate),
}

impl Figures {
    pub(crate) fn total(&self) -> Count {
        self.domains.values().fold(Count::default(), |sum, count| Count {
            found: sum.found + count.found,
            right: sum.right + count.right,
            required: sum.required + count.required,
            met: sum.met + count.met,
        })
    }

    /// Compares what was found in a text with its labels.
    pub(crate) fn count(&mut self, case: &Case, extraction: &Extraction, registry: &Predicates) {
        let mut finds: Vec<Find<'_>> = extraction.facts.iter().map(Find::Fact).collect();
        finds.extend(extraction.tasks.iter().map(Find::Task));
        let mut shapes = Vec::new();
        // Slots, domain and wording of each label that must be met.
        let mut required = Vec::new();
        for fact in &case.facts {
            let begin = shapes.len();
            fact_shapes(fact, &mut shapes);
            let domain = registry.get(any_of(&fact.predicate).next().unwrap_or_default()).domain.clone();
            let wording = format!("{} {} {:?} {}", fact.subject, fact.predicate, fact.object, describe(fact));
            required.push((begin..shapes.len(), domain, wording));
        }
        for task in &case.tasks {
            let begin = shapes.len();
            task_shapes(task, &mut shapes);
            let wording = format!("{} {} {:?} {:?}", task.kind, task.news, task.title, task.due);
            required.push((begin..shapes.len(), TASKS.to_owned(), wording));
        }
        for label in &case.optional {
            label_shapes(label, &mut shapes);
        }
        let agrees: Vec<Vec<bool>> =
            shapes.iter().map(|shape| finds.iter().map(|find| agree(shape, find)).collect()).collect();
        let slots: Vec<Vec<usize>> = required.iter().map(|(slots, ..)| slots.clone().collect()).collect();
        let find_in = assign(&agrees, finds.len(), &slots);

        self.texts += 1;
        self.empty += usize::from(required.is_empty());
        for (slots, domain, wording) in required {
            let met = slots.into_iter().any(|slot| find_in[slot].is_some());
            let count = self.domains.entry(domain).or_default();
            count.required += 1;
            count.met += usize::from(met);
            if !met {
                self.mistakes.push(format!("{} missed       {wording}\n    {:?}", case.id, case.text));
            }
        }
        for (at, find) in finds.iter().enumerate() {
            let right = find_in.contains(&Some(at));
            let (domain, wording) = match find {
                Find::Fact(fact) => (registry.get(&fact.predicate).domain.clone(), describe_find(fact)),
                Find::Task(task) => {
                    (TASKS.to_owned(), format!("{:?} {:?} {:?} {:?}", task.kind, task.news, task.title, task.due))
                }
            };
            let count = self.domains.entry(domain).or_default();
            count.found += 1;
            count.right += usize::from(right);
            if !right {
                self.mistakes.push(format!("{} false alarm  {wording}\n    {:?}", case.id, case.text));
            }
        }
    }

    /// A line for each domain and one for all of them.
    pub(crate) fn table(&self) -> String {
        let mut table = String::from("domain          found  right  precision  required    met  recall\n");
        let total = self.total();
        let lines = self.domains.iter().map(|(domain, count)| (domain.as_str(), count));
        for (name, count) in lines.chain([("all", &total)]) {
            let (precision, recall) = (count.precision(), count.recall());
            let Count { found, right, required, met } = count;
            // Writing to a string cannot fail.
            let _ = writeln!(
                table,
                "{name:<14} {found:>6} {right:>6} {precision:>10.3} {required:>9} {met:>6} {recall:>7.3}"
            );
        }
        table
    }
}

fn fact_shapes<'a>(fact: &'a FactLabel, shapes: &mut Vec<Shape<'a>>) {
    shapes.extend(fact.predicates().map(|predicate| Shape::Fact(fact, predicate)));
    for other in &fact.others {
        label_shapes(other, shapes);
    }
}

fn task_shapes<'a>(task: &'a TaskLabel, shapes: &mut Vec<Shape<'a>>) {
    shapes.push(Shape::Task(task));
    for other in &task.others {
        label_shapes(other, shapes);
    }
}

fn label_shapes<'a>(label: &'a Label, shapes: &mut Vec<Shape<'a>>) {
    match label {
        Label::Fact(fact) => fact_shapes(fact, shapes),
        Label::Task(task) => task_shapes(task, shapes),
    }
}

fn agree(shape: &Shape<'_>, find: &Find<'_>) -> bool {
    match (shape, find) {
        (Shape::Fact(label, predicate), Find::Fact(found)) => fact_agrees(found, label, predicate),
        (Shape::Task(label), Find::Task(found)) => task_agrees(found, label),
        _ => false,
    }
}

/// What is checked besides subject, predicate and object.
fn describe(fact: &FactLabel) -> String {
    let mut said = fact.stance().to_owned();
    for (name, value) in [("not", &fact.not), ("from", &fact.from), ("to", &fact.to)] {
        if let Some(value) = value {
            let _ = write!(said, " {name}={value}");
        }
    }
    for (name, value) in &fact.qualifiers {
        let _ = write!(said, " {name}={value}");
    }
    said
}

fn describe_find(fact: &FactCandidate) -> String {
    let mut said = format!("{} {} {:?} {:?}", fact.subject, fact.predicate, fact.object, fact.stance);
    for (name, time) in [("from", fact.valid_from), ("to", fact.valid_to)] {
        if let Some(time) = time {
            let _ = write!(said, " {name}={time}");
        }
    }
    for (name, value) in &fact.qualifiers {
        let _ = write!(said, " {name}={value}");
    }
    said
}
