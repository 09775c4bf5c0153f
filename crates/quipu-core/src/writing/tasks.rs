//! Tasks, goals and problems: opened once, then moved on by what is told of them.

use std::collections::BTreeSet;

use super::{Outcome, Work};
use crate::extract::{TaskCandidate, TaskKind, TaskNews};
use crate::id::{ItemId, ItemKind};
use crate::item::{Attempt, Drawn, Task, TaskChange, TaskStatus};
use crate::recall::tokens;

/// From this share of common stems on, two titles name one task.
const SAME_TITLE_MIN: f64 = 0.5;
/// Priority of what nobody weighed.
const PRIORITY_DEFAULT: u8 = 5;

impl Work<'_> {
    pub(super) fn task(&mut self, candidate: &TaskCandidate) {
        let evidence = self.case.evidence(&candidate.span);
        let word = match candidate.kind {
            TaskKind::Task => "task",
            TaskKind::Goal => "goal",
            TaskKind::Problem => "problem",
        };
        if (self.case.shown)(self.case.quote(&candidate.span)) {
            return self.refuse(candidate.title.clone(), word, evidence, "it repeats what was recalled");
        }
        if candidate.confidence < self.case.policy.confidence_min {
            return self.refuse(candidate.title.clone(), word, evidence, "not sure enough");
        }
        match self.known(candidate) {
            Some(task) => self.move_on(candidate, &task),
            None => self.open(candidate, word),
        }
    }

    /// The task the candidate is about.
    fn known(&self, candidate: &TaskCandidate) -> Option<Task> {
        let tried = match &candidate.news {
            TaskNews::Tried { approach, .. } => Some(approach.as_str()),
            _ => None,
        };
        let open = |task: &&&Task| matches!(task.status, TaskStatus::Active | TaskStatus::Stalled);
        let all = self.view.open_tasks();
        let score = |task: &Task| {
            let title = likeness(&task.title, &candidate.title);
            // "The mask helped": an attempt that was made before says which problem is meant.
            let again = tried.is_some_and(|approach| {
                task.attempts.iter().any(|attempt| likeness(&attempt.approach, approach) >= SAME_TITLE_MIN)
            });
            if again { title.max(SAME_TITLE_MIN) } else { title }
        };
        let best = all.iter().filter(open).map(|task| (score(task), task.id)).max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((found, id)) = best
            && found >= SAME_TITLE_MIN
        {
            return all.into_iter().find(|task| task.id == id).cloned();
        }
        // Nothing names the problem: it is the one that was spoken of last in this session.
        if candidate.title.is_empty() && tried.is_some() {
            let problems = all.into_iter().filter(|task| task.kind == TaskKind::Problem && open(&task));
            return problems.max_by_key(|task| (task.updated_at, task.id)).cloned();
        }
        None
    }

    fn move_on(&mut self, candidate: &TaskCandidate, task: &Task) {
        let said_before = task.evidence.iter().any(|place| place.source == self.case.source);
        let evidence = self.case.evidence(&candidate.span);
        let mut change = TaskChange {
            task: task.id,
            status: None,
            due: candidate.due.filter(|_| candidate.due != task.due),
            priority: None,
            attempt: None,
            evidence: Some(evidence),
            at: Some(self.case.said_at()),
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
                    date: Some(self.case.said_at()),
                    approach: approach.clone(),
                    outcome: outcome.clone(),
                    successful: *successful,
                    evidence: vec![evidence],
                };
                let same = |before: &Attempt| before.approach == attempt.approach && before.outcome == attempt.outcome;
                if task.attempts.iter().any(same) {
                    return;
                }
                change.attempt = Some(attempt);
                format!("tried: {approach}")
            }
        };
        self.report.tasks.push(Outcome { id: task.id, text: task.title.clone(), what });
        self.draw(Drawn::TaskChanged(change));
    }

    fn open(&mut self, candidate: &TaskCandidate, word: &str) {
        let evidence = self.case.evidence(&candidate.span);
        if candidate.title.is_empty() {
            let item = match &candidate.news {
                TaskNews::Tried { approach, .. } => approach.clone(),
                _ => word.to_owned(),
            };
            return self.refuse(item, word, evidence, "nothing is known that it could be about");
        }
        let id: ItemId = (self.name)(ItemKind::Task);
        let said_at = Some(self.case.said_at());
        let mut task = Task {
            id,
            kind: candidate.kind,
            title: candidate.title.clone(),
            description: String::new(),
            status: TaskStatus::Active,
            priority: PRIORITY_DEFAULT,
            due: candidate.due,
            attempts: Vec::new(),
            created_at: said_at,
            updated_at: said_at,
            evidence: vec![evidence],
            trust: self.case.standing.trust,
            tags: Vec::new(),
            links: Vec::new(),
        };
        match &candidate.news {
            TaskNews::Opened => {}
            TaskNews::Done => task.status = TaskStatus::Done,
            TaskNews::Dropped => task.status = TaskStatus::Dropped,
            TaskNews::Tried { approach, outcome, successful } => task.attempts.push(Attempt {
                date: said_at,
                approach: approach.clone(),
                outcome: outcome.clone(),
                successful: *successful,
                evidence: vec![evidence],
            }),
        }
        self.report.tasks.push(Outcome { id, text: task.title.clone(), what: format!("{word} opened") });
        self.draw(Drawn::TaskOpened(Box::new(task)));
    }
}

/// The share of stems two titles have in common, of the shorter one's.
pub(super) fn likeness(one: &str, other: &str) -> f64 {
    let stems = |text: &str| {
        let mut all = BTreeSet::new();
        tokens::for_each_term(text, |term| {
            all.insert(term.to_owned());
        });
        all
    };
    let (a, b) = (stems(one), stems(other));
    let least = a.len().min(b.len());
    if least == 0 { 0.0 } else { a.intersection(&b).count() as f64 / least as f64 }
}
