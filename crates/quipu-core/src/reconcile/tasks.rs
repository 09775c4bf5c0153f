//! Tasks, goals and problems: opened once, then updated by later mentions.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use super::same::negates;
use super::{DecisionDraft, Outcome, gate};
use crate::calendar::day_number;
use crate::extract::{TaskCandidate, TaskKind, TaskNews};
use crate::id::{ItemId, ItemKind};
use crate::item::{Attempt, DerivedChange, Task, TaskChange, TaskStatus};
use crate::predicate::normal;
use crate::text::tokens;

/// Least share of common stems of two titles of one task.
const SAME_TITLE_MIN: f64 = 0.5;
/// Words that identify nothing by themselves.
const EMPTY: [&str; 12] =
    ["thing", "stuff", "old", "new", "whole", "business", "situation", "idea", "place", "one", "bit", "time"];
/// Default priority.
const PRIORITY_DEFAULT: u8 = 5;

impl DecisionDraft<'_> {
    pub(super) fn task(&mut self, candidate: &TaskCandidate) {
        let evidence = self.case.evidence(&candidate.span);
        let word = candidate.kind.as_str();
        if let Some(reason) = gate::objection(self.case, self.case.quote(&candidate.span), &candidate.title) {
            return self.refuse(candidate.title.clone(), word, evidence, reason);
        }
        // Updates of a refused task are dropped.
        if candidate.news != TaskNews::Opened && self.refused_tasks.contains(&candidate.title) {
            return;
        }
        if let Some(reason) = self.unfit(&candidate.span) {
            self.refused_tasks.insert(candidate.title.clone());
            return self.refuse(candidate.title.clone(), word, evidence, &reason);
        }
        let overlaps = |done: &Range<usize>| done.start < candidate.span.end && candidate.span.start < done.end;
        let is_done_here = candidate.news == TaskNews::Done && self.done_here.iter().any(overlaps);
        if self.is_told(candidate) || is_done_here {
            return;
        }
        if candidate.confidence < self.case.policy.confidence_min {
            return self.refuse(candidate.title.clone(), word, evidence, "not sure enough");
        }
        match self.known(candidate) {
            Some(task) => self.move_on(candidate, &task),
            None if self.is_closed_already(candidate) => {}
            None => self.open(candidate, word),
        }
    }

    /// True if an earlier reading of this source already opened or finished this task.
    fn is_told(&self, candidate: &TaskCandidate) -> bool {
        let source = self.case.source;
        let from_here = |task: &&Task| task.evidence.iter().any(|place| place.source == source);
        let mut known = self.case.memory.items().tasks().filter(from_here);
        let is_exact = self.besides(&candidate.span).is_named_exactly;
        match &candidate.news {
            TaskNews::Tried { .. } => false,
            TaskNews::Opened if is_exact => {
                known.any(|task| normal(&task.title) == normal(&candidate.title) && task.due == candidate.due)
            }
            _ if is_exact => false,
            _ => known.any(|task| overlap(&task.title, &candidate.title) >= SAME_TITLE_MIN),
        }
    }

    /// True if a ready-made task is closed again: the known one of its title and day is not opened for that.
    fn is_closed_already(&mut self, candidate: &TaskCandidate) -> bool {
        let status = match candidate.news {
            TaskNews::Done => TaskStatus::Done,
            TaskNews::Dropped => TaskStatus::Dropped,
            TaskNews::Opened | TaskNews::Tried { .. } => return false,
        };
        let is_exact = self.besides(&candidate.span).is_named_exactly;
        let is_same = |task: &&Task| {
            task.status == status
                && normal(&task.title) == normal(&candidate.title)
                && (candidate.due.is_none() || task.due == candidate.due)
        };
        let items = self.case.memory.items();
        let found = items.tasks().find(|task| is_exact && is_same(task) && !items.is_hidden(task.id));
        let Some(task) = found else { return false };
        let (id, text, evidence) = (task.id, task.title.clone(), self.case.evidence(&candidate.span));
        let what = format!("{} already", news_word(&candidate.news));
        self.report.tasks.push(Outcome { id, text, what });
        // A trace, by which a repeated request is known.
        let at = Some(self.case.told_at());
        let (status, due, priority, attempt) = (None, None, None, None);
        let evidence = Some(evidence);
        self.draw(DerivedChange::TaskChanged(TaskChange { task: id, status, due, priority, attempt, evidence, at }));
        true
    }

    /// The known task that the candidate is about.
    fn known(&self, candidate: &TaskCandidate) -> Option<Task> {
        let tried = match &candidate.news {
            TaskNews::Tried { approach, .. } => Some(approach.as_str()),
            _ => None,
        };
        let all: Vec<&Task> = self.view.open_tasks().collect();
        let opened = candidate.news == TaskNews::Opened;
        let (source, is_exact) = (self.case.source, self.besides(&candidate.span).is_named_exactly);
        let other_day = |task: &Task| {
            let days = task.due.zip(candidate.due).map(|(one, other)| (day_number(one), day_number(other)));
            days.is_some_and(|(one, other)| one != other)
        };
        let score = |task: &Task| {
            if is_exact && normal(&task.title) != normal(&candidate.title) {
                return 0.0;
            }
            // In a later message, another due day is news of the task.
            if (is_exact || task.evidence.iter().any(|place| place.source == source)) && other_day(task) {
                return 0.0;
            }
            // A new task must nearly equal a known one to be the same; an update may use fewer words.
            let title = match opened {
                true if differ_in_matter(&task.title, &candidate.title) => 0.0,
                true => overlap(&task.title, &candidate.title),
                false if differ_in_name(&task.title, &candidate.title) => 0.0,
                false => named_by(&task.title, &candidate.title),
            };
            // "The mask helped": an earlier attempt identifies the problem.
            let again = tried.is_some_and(|approach| {
                task.attempts.iter().any(|attempt| overlap(&attempt.approach, approach) >= SAME_TITLE_MIN)
            });
            if again { title.max(SAME_TITLE_MIN) } else { title }
        };
        let weighed = all.iter().map(|task| {
            let is_same = task.title == candidate.title && task.due == candidate.due;
            // Of several days, the first is meant.
            let first = Reverse(task.due.filter(|_| candidate.due.is_none()));
            (score(task), (is_same, first, task.updated_at, task.id))
        });
        let best = weighed.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        if let Some((found, (_, _, _, id))) = best
            && found >= SAME_TITLE_MIN
        {
            return all.into_iter().find(|task| task.id == id).cloned();
        }
        // Without a title, it is the problem mentioned last.
        if candidate.title.is_empty() && tried.is_some() {
            let problems = all.into_iter().filter(|task| task.kind == TaskKind::Problem);
            return problems.max_by_key(|task| (task.updated_at, task.id)).cloned();
        }
        None
    }

    pub(super) fn move_on(&mut self, candidate: &TaskCandidate, task: &Task) {
        let settles = matches!(candidate.news, TaskNews::Done | TaskNews::Dropped);
        if settles && self.case.standing.trust < task.trust {
            let reason = "only its author or you may close it";
            return self.refuse(task.title.clone(), "task", self.case.evidence(&candidate.span), reason);
        }
        let said_before = task.evidence.iter().any(|place| place.source == self.case.source);
        let evidence = self.case.evidence(&candidate.span);
        let (besides, may) = (self.besides(&candidate.span), self.case.standing.trust >= task.trust);
        let status = match (besides.is_stalled, task.status) {
            (Some(true), TaskStatus::Active) => Some(TaskStatus::Stalled),
            (Some(false), TaskStatus::Stalled) => Some(TaskStatus::Active),
            _ => None,
        };
        let mut change = TaskChange {
            task: task.id,
            status: status.filter(|_| may),
            due: candidate.due.filter(|_| candidate.due != task.due && may),
            priority: besides.priority.filter(|priority| *priority != task.priority && may),
            attempt: None,
            evidence: Some(evidence),
            at: Some(self.case.told_at()),
        };
        let what = match &candidate.news {
            TaskNews::Opened if said_before => return,
            TaskNews::Opened => "spoken of again".to_owned(),
            TaskNews::Done => {
                change.status = Some(TaskStatus::Done);
                "done".to_owned()
            }
            TaskNews::Dropped => {
                change.status = Some(TaskStatus::Dropped);
                "dropped".to_owned()
            }
            TaskNews::Tried { approach, outcome, successful } => {
                let attempt = Attempt {
                    date: besides.at.or(Some(self.case.said_at())),
                    approach: approach.clone(),
                    outcome: outcome.clone(),
                    successful: *successful,
                    evidence: vec![evidence],
                };
                // The same attempt on another day is a new one.
                let day = |attempt: &Attempt| attempt.date.map(day_number);
                let same = |before: &Attempt| {
                    before.approach == attempt.approach
                        && before.outcome == attempt.outcome
                        && (day(before) == day(&attempt)
                            || before.evidence.iter().any(|at| at.source == self.case.source))
                };
                if task.attempts.iter().any(same) {
                    return;
                }
                change.attempt = Some(attempt);
                format!("tried: {approach}")
            }
        };
        self.report.tasks.push(Outcome { id: task.id, text: task.title.clone(), what });
        self.draw(DerivedChange::TaskChanged(change));
    }

    fn open(&mut self, candidate: &TaskCandidate, word: &str) {
        let evidence = self.case.evidence(&candidate.span);
        if candidate.title.is_empty() {
            let item = match &candidate.news {
                TaskNews::Tried { approach, .. } => approach.clone(),
                _ => word.to_owned(),
            };
            return self.refuse(item, word, evidence, "it refers to no known task");
        }
        let id: ItemId = (self.name)(ItemKind::Task);
        let (told_at, besides) = (Some(self.case.told_at()), self.besides(&candidate.span));
        let mut task = Task {
            id,
            kind: candidate.kind,
            title: candidate.title.clone(),
            description: besides.description,
            status: if besides.is_stalled == Some(true) { TaskStatus::Stalled } else { TaskStatus::Active },
            priority: besides.priority.unwrap_or(PRIORITY_DEFAULT),
            due: candidate.due,
            attempts: Vec::new(),
            created_at: besides.at.filter(|_| candidate.news == TaskNews::Opened).or(told_at),
            updated_at: told_at,
            evidence: vec![evidence],
            trust: self.case.standing.trust,
            tags: besides.tags,
            links: besides.links,
        };
        match &candidate.news {
            TaskNews::Opened => {}
            TaskNews::Done => task.status = TaskStatus::Done,
            TaskNews::Dropped => task.status = TaskStatus::Dropped,
            TaskNews::Tried { approach, outcome, successful } => task.attempts.push(Attempt {
                date: besides.at.or(Some(self.case.said_at())),
                approach: approach.clone(),
                outcome: outcome.clone(),
                successful: *successful,
                evidence: vec![evidence],
            }),
        }
        self.report.tasks.push(Outcome {
            id,
            text: task.title.clone(),
            what: format!("{word} {}", news_word(&candidate.news)),
        });
        self.draw(DerivedChange::TaskOpened(Box::new(task)));
    }
}

/// What happened to a task that was not known.
fn news_word(news: &TaskNews) -> &'static str {
    match news {
        TaskNews::Done => "done",
        TaskNews::Dropped => "dropped",
        TaskNews::Opened | TaskNews::Tried { .. } => "opened",
    }
}

/// Jaccard similarity of the stems of two texts.
pub(super) fn overlap(one: &str, other: &str) -> f64 {
    let (a, b) = (stems(one), stems(other));
    let all = a.union(&b).count();
    if all == 0 { 0.0 } else { a.intersection(&b).count() as f64 / all as f64 }
}

/// True if each text has a word that the other lacks, besides the first word of both, which says what is done: "call Anna
/// about the lease" is not "call Anna about the party", and "get a gift for Ann" may be "buy a gift for Ann". Also true if
/// only one of them has a negation.
fn differ_in_matter(one: &str, other: &str) -> bool {
    let (a, b) = (ordered_stems(one), ordered_stems(other));
    let lacks = |own: &[String], others: &[String]| own.iter().skip(1).any(|stem| !others.contains(stem));
    negates(one) != negates(other) || lacks(&a, &b) && lacks(&b, &a)
}

/// True if each text has a name or number that the other lacks: the invoice for Bob is not the one for Alice.
fn differ_in_name(one: &str, other: &str) -> bool {
    let lacks = |own: &str, other: &str| {
        let known = stems(other);
        let named = own
            .split_whitespace()
            .skip(1)
            .filter(|word| word.starts_with(|c: char| c.is_uppercase() || c.is_numeric()));
        named.flat_map(ordered_stems).any(|stem| !known.contains(&stem))
    };
    lacks(one, other) && lacks(other, one)
}

/// True if the stems of one text are a non-empty subset of the other's.
pub(super) fn contained(one: &str, other: &str) -> bool {
    let (a, b) = (stems(one), stems(other));
    !a.is_empty() && !b.is_empty() && (a.is_subset(&b) || b.is_subset(&a))
}

/// How well a shorter text names a title: the common share of the smaller set of stems, or 0 if only one of several is
/// common.
fn named_by(title: &str, name: &str) -> f64 {
    let (a, b) = (stems(title), stems(name));
    let (least, common) = (a.len().min(b.len()), a.intersection(&b).count());
    if least == 0 || (common < 2 && common < least) { 0.0 } else { common as f64 / least as f64 }
}

fn stems(text: &str) -> BTreeSet<String> {
    ordered_stems(text).into_iter().collect()
}

fn ordered_stems(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    tokens::for_each_term(text, |term| all.push(term.to_owned()));
    all
}

/// True for a title that names several things.
pub(super) fn has_several(title: &str) -> bool {
    [" and ", ", ", " & ", " + "].iter().any(|joint| title.contains(joint))
}

/// True if what was done is for somebody or something else than the task: "booked the MOT for dad's Fiesta" is not "book
/// the MOT for the bike".
pub(super) fn is_for_another(quote: &str, title: &str) -> bool {
    let whom = |text: &str| {
        let (_, after) = text.split_once(" for ")?;
        Some(telling(after.split([',', '.', ';', '!']).next().unwrap_or_default()))
    };
    let both = whom(&quote.to_lowercase()).zip(whom(&title.to_lowercase()));
    both.is_some_and(|(said, told)| !said.is_empty() && !told.is_empty() && said.is_disjoint(&told))
}

/// How many words of a task's title are said of what was done, verbs aside; 0 if the task is not meant: it says another
/// verb, or too much of either is missing in the other.
pub(super) fn common_with(what: &BTreeSet<String>, did: &BTreeSet<String>, title: &str) -> usize {
    // "Bought the bread" leaves the milk of "buy bread and milk".
    let has_several = has_several(title);
    let title = telling(title);
    if !did.is_empty() && did.is_disjoint(&title) {
        return 0;
    }
    let named: BTreeSet<&String> = title.difference(did).collect();
    let common = what.iter().filter(|word| named.contains(word)).count();
    let is_all = common == what.len() || (!did.is_empty() && common == named.len());
    let is_most = !did.is_empty() && common >= 2 && 2 * common >= named.len();
    let number = |words: &mut dyn Iterator<Item = &String>| {
        words.filter(|word| word.contains(|c: char| c.is_ascii_digit())).cloned().collect::<BTreeSet<String>>()
    };
    let (own, said) = (number(&mut named.iter().copied()), number(&mut what.iter()));
    let differs = !own.is_empty() && !said.is_empty() && own != said;
    let is_part = has_several && common < named.len();
    if differs || is_part || !(is_all || is_most) { 0 } else { common }
}

/// The stems that identify something.
pub(super) fn telling(text: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    tokens::for_each_term(text, |term| {
        all.insert(term.to_owned());
    });
    all.retain(|term| !EMPTY.contains(&term.as_str()));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_done_if_its_verb_and_all_of_what_it_names_were_said() {
        for (what, did, title, common) in [
            ("passport", "renew", "renew my passport before June", 1),
            ("the plumber", "call phone ring", "ring the plumber", 1),
            ("the invoice", "", "email Tom about the invoice", 1),
            ("bread", "buy get", "buy bread and milk", 0),
            ("bread and milk", "buy get", "buy bread and milk", 2),
            ("invoice 12", "pay", "pay invoice 13", 0),
            ("the dentist", "book make", "call the dentist", 0),
            ("it", "do", "do the dishes", 0),
        ] {
            assert_eq!(common_with(&telling(what), &telling(did), title), common, "{what} / {did} / {title}");
        }
    }
}
