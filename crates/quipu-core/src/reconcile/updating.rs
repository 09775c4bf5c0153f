//! Updates of known facts and tasks: resolves what is meant and applies the change. Ambiguous updates are ignored.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::DecisionDraft;
use super::claim::{Claim, outcome};
use super::gate::{self, Verdict};
use super::same::same_value;
use super::tasks::{common_with, contained, has_several, is_for_another, telling};
use crate::event::Trust;
use crate::extract::{
    CONSTRAINT, FactCandidate, REMARK, Stance, TaskCandidate, TaskKind, TaskNews, USER, UpdateCandidate, UpdateNews,
};
use crate::item::{DerivedChange, Evidence, Fact, FactStatus, FactType, Task};
use crate::items::figure;
use crate::predicate::normal;

/// Most facts that one noun can name.
const NAMED_MAX: usize = 3;
/// Shorter words must be equal; a longer word may be a prefix or suffix of another: "gym" and "puregym".
const PART_BYTES_MIN: usize = 3;
/// How long after its date a plan can still be moved.
const OVERDUE_MAX: SignedDuration = SignedDuration::from_hours(36);
/// Greatest relative distance of a reading from the one before, with and without a unit.
const FARTHEST_READING: f64 = 0.4;
const FARTHEST_WITHOUT_UNIT: f64 = 0.12;
/// First words of tasks that are debts.
const DEBTS: [&str; 3] = ["owe", "pay", "repay"];

/// Words of instructions against something.
const FORBIDDING: [&str; 13] =
    ["no", "not", "never", "don't", "dont", "don", "stop", "without", "avoid", "skip", "quit", "less", "fewer"];

impl DecisionDraft<'_> {
    pub(super) fn update(&mut self, update: &UpdateCandidate) {
        let quote = self.case.quote(&update.span);
        if self.case.standing.trust < Trust::User || gate::objection(self.case, quote, &update.what).is_some() {
            return;
        }
        match &update.news {
            UpdateNews::Over => self.over(update),
            UpdateNews::Allowed => {
                self.end_named(update, |fact, _| fact.predicate == CONSTRAINT && forbids(&fact.object));
            }
            UpdateNews::Moved => self.moved(update),
            UpdateNews::Begins => self.begins_on(update),
            UpdateNews::Kept => self.kept(update),
            UpdateNews::Done { did } => self.done(update, did),
            UpdateNews::Instead { not, is, corrects } => self.instead(update, not, is, *corrects),
            UpdateNews::Reading { value } => self.reading(update, value),
        }
    }

    fn over(&mut self, update: &UpdateCandidate) {
        if update.what.is_empty() {
            return self.last_told_is_over(update);
        }
        let what = update.what.clone();
        // "We don't have a dog any more" ends the pet; "the dog is off" says something else.
        let quote = normal(self.case.quote(&update.span));
        let has_none = quote.split(' ').any(|word| matches!(word, "have" | "got" | "own"));
        let is_gone = move |kind: &str| has_none && same_value(kind, &what);
        let may_end = |fact: &Fact, work: &Self| {
            let predicate = work.case.predicates.get(&fact.predicate);
            let is_pet = fact.subject == USER
                && fact.predicate == "pet"
                && fact.qualifiers.get("species").is_some_and(|kind| is_gone(kind));
            !predicate.outlives && (predicate.roles.is_empty() || is_pet) && fact.fact_type != FactType::Event
        };
        // "Lisbon is off" is a plan, and not who lives there.
        let is_plan = |fact: &Fact, work: &Self| may_end(fact, work) && fact.fact_type == FactType::Commitment;
        let has_plans = !self.named(&update.what, is_plan).is_empty();
        let is_ended = self.end_named(update, |fact, work| {
            let is_of_life = matches!(fact.fact_type, FactType::Location | FactType::Identity);
            may_end(fact, work) && !(has_plans && is_of_life)
        });
        self.end_remark_of(update);
        // What is owed for something stays owed when that is off.
        let is_debt = |task: &Task| {
            let first = task.title.split_whitespace().next().unwrap_or_default();
            DEBTS.iter().any(|word| first.eq_ignore_ascii_case(word))
        };
        if !is_ended && let Some(task) = self.task_named(&update.what).filter(|task| !is_debt(task)) {
            // "Dropped the keys off" does what was to be dropped.
            let is_drop = task.title.to_lowercase().starts_with("drop ");
            let is_done =
                task.kind == TaskKind::Problem || is_drop && normal(self.case.quote(&update.span)).contains("dropped");
            self.settle_task(update, &task, if is_done { TaskNews::Done } else { TaskNews::Dropped });
        }
    }

    /// Records that a known task is done or dropped.
    pub(super) fn settle_task(&mut self, update: &UpdateCandidate, task: &Task, news: TaskNews) {
        let (kind, title) = (task.kind, task.title.clone());
        let (span, confidence) = (update.span.clone(), update.confidence);
        self.move_on(&TaskCandidate { kind, title, span, news, due: None, confidence }, task);
    }

    /// Ends a fact that an update names.
    pub(super) fn end_told(&mut self, update: &UpdateCandidate, fact: &Fact, when: Option<Timestamp>) {
        let candidate = candidate_of(fact, update, Stance::Ended);
        let claim = self.claim_about(&candidate, fact);
        self.close(&claim, fact, when, &Verdict::Pass);
    }

    /// Ticks off the open task that an update names, if it is the only one.
    fn done(&mut self, update: &UpdateCandidate, did: &[String]) {
        let sentence = self.case.sentences(&update.span).to_lowercase();
        if sentence.contains("still owe") {
            return;
        }
        let (what, did) = (telling(&update.what), telling(&did.join(" ")));
        let mut best: Vec<(usize, &Task)> = Vec::new();
        for task in self.view.open_tasks().filter(|task| task.kind != TaskKind::Problem) {
            let common = common_with(&what, &did, &task.title);
            if is_for_another(self.case.quote(&update.span), &task.title) {
                continue;
            }
            if common > 0 && best.first().is_none_or(|(most, _)| common >= *most) {
                best.retain(|(most, _)| *most == common);
                best.push((common, task));
            }
        }
        let [(_, task)] = best.as_slice() else { return };
        let task = (*task).clone();
        self.done_here.push(update.span.clone());
        self.settle_task(update, &task, TaskNews::Done);
    }

    /// Ends the facts that an update names, of those it may end. True if there are any.
    fn end_named(&mut self, update: &UpdateCandidate, may_be: impl Fn(&Fact, &Self) -> bool) -> bool {
        let facts = self.named(&update.what, may_be);
        for fact in &facts {
            self.end_told(update, fact, update.day);
        }
        !facts.is_empty()
    }

    /// Ends the remark that has all words of what is over, if it is the only one.
    fn end_remark_of(&mut self, update: &UpdateCandidate) {
        let what = telling(&update.what);
        let is_meant = |fact: &Fact| {
            fact.predicate == REMARK && !self.is_from_here(fact) && what.is_subset(&telling(&fact.object))
        };
        let found: Vec<Fact> = self.view.holding().into_iter().filter(is_meant).collect();
        let [fact] = found.as_slice() else { return };
        if !what.is_empty() {
            self.end_told(update, fact, None);
        }
    }

    fn moved(&mut self, update: &UpdateCandidate) {
        let Some(day) = update.day else { return };
        let earliest = self.case.said_at().checked_sub(OVERDUE_MAX).unwrap_or(Timestamp::MIN);
        let is_ahead = |fact: &Fact| fact.fact_type == FactType::Commitment && fact.valid_from >= Some(earliest);
        let is_said_here = |fact: &Fact| {
            let own = self.case.evidence(&update.span);
            is_ahead(fact)
                && fact.evidence.iter().any(|at| at.source == own.source && at.start < own.end && own.start < at.end)
        };
        let facts = match update.what.as_str() {
            // "The dentist moved me to Thursday" says itself what is on Thursday.
            "" if self.view.holding().iter().any(is_said_here) => Vec::new(),
            "" => self.view.holding().into_iter().filter(|fact| is_ahead(fact) && !self.is_from_here(fact)).collect(),
            // The same may have been read in this message again.
            what => {
                let is_new = |fact: &Fact| {
                    self.is_from_here(fact) && fact.evidence.iter().all(|at| at.source == self.case.source)
                };
                self.named_among(what, |fact| is_ahead(fact) && !is_new(fact))
            }
        };
        let [fact] = facts.as_slice() else { return };
        if fact.valid_from == Some(day) {
            return;
        }
        let candidate = FactCandidate { valid_from: Some(day), ..candidate_of(fact, update, Stance::Changed) };
        self.take_over(&candidate, fact, false);
    }

    /// Moves the beginning of the only value of work or study that has not begun, and of what is planned for that day in
    /// the same words.
    fn begins_on(&mut self, update: &UpdateCandidate) {
        let Some(day) = update.day else { return };
        let is_plan = |fact: &Fact| matches!(fact.fact_type, FactType::Commitment | FactType::Event);
        let is_ahead = |fact: &Fact| self.has_not_begun(fact) && !self.is_from_here(fact);
        let ahead = self.view.holding().into_iter().filter(is_ahead);
        let (plans, mut values): (Vec<Fact>, Vec<Fact>) = ahead.partition(is_plan);
        values.retain(|fact| matches!(self.case.predicates.get(&fact.predicate).domain.as_str(), "work" | "education"));
        let [value] = values.as_slice() else { return };
        let is_of_value = |plan: &Fact| {
            let is_shared = |at: &Evidence| value.evidence.iter().any(|own| own.source == at.source);
            plan.valid_from == value.valid_from && plan.evidence.iter().any(is_shared)
        };
        for fact in plans.iter().filter(|plan| is_of_value(plan)).chain([value]) {
            let candidate = FactCandidate { valid_from: Some(day), ..candidate_of(fact, update, Stance::Changed) };
            if fact.id == value.id {
                let held = self.view.in_slot(&fact.slot);
                self.again_ahead(&Claim { held, ..self.claim_about(&candidate, fact) }, fact);
                self.report.seen.push(outcome(fact, "begins on another day"));
            } else {
                self.take_over(&candidate, fact, false);
            }
        }
    }

    /// Lifts the end that was announced for the fact that an update names. What was to take its place does not begin.
    fn kept(&mut self, update: &UpdateCandidate) {
        let said_at = self.case.said_at();
        let facts = self.named(&update.what, |fact, _| fact.valid_to > Some(said_at));
        let [fact] = facts.as_slice() else { return };
        let evidence = self.case.evidence(&update.span);
        for next in self.view.in_slot(&fact.slot) {
            if next.is_active() && self.has_not_begun(&next) && next.valid_from >= fact.valid_to {
                self.settle(next.id, FactStatus::Superseded, next.valid_from, evidence);
                self.report.ended.push(outcome(&next, "does not begin"));
            }
        }
        self.draw(DerivedChange::FactRestored { fact: fact.id });
        self.report.seen.push(outcome(fact, "holds on"));
    }

    fn instead(&mut self, update: &UpdateCandidate, not: &str, is: &str, corrects: bool) {
        if not.is_empty() {
            return self.figure_instead(update, is);
        }
        let holds = |fact: &Fact| {
            !self.is_from_here(fact)
                // A remark is what the user said.
                && fact.predicate != REMARK
                && put_in(&fact.object, not, is).is_some()
                && !normal(&fact.object).contains(&normal(is))
        };
        let mut facts: Vec<Fact> = self.view.holding().into_iter().filter(holds).collect();
        facts.sort_by_key(|fact| std::cmp::Reverse(fact.last_seen));
        if facts.len() > NAMED_MAX {
            return;
        }
        for fact in &facts {
            let Some(object) = put_in(&fact.object, not, is) else { continue };
            let stance = if corrects { Stance::Corrects { not: Some(fact.object.clone()) } } else { Stance::Changed };
            let valid_from = fact.valid_from.filter(|_| corrects).or(update.day);
            // Another rule has read the new value already.
            let is_known = |other: &Fact| {
                self.is_from_here(other) && other.predicate == fact.predicate && contained(&other.object, &object)
            };
            if !corrects && self.view.holding().iter().any(is_known) {
                self.end_told(update, fact, update.day.filter(|day| *day <= self.case.said_at()));
                continue;
            }
            let mut candidate = FactCandidate { object, valid_from, ..candidate_of(fact, update, stance) };
            if !corrects && fact.predicate == "takes_medication" {
                // The dose of another medicine is its own.
                candidate.qualifiers.retain(|name, _| name != "dosage" && name != "frequency");
                let object = candidate.object.clone();
                let digit = object.find(|c: char| c.is_ascii_digit()).filter(|at| object[..*at].ends_with(' '));
                // "Vitamin B 12" has no unit.
                if let Some((name, dose)) = digit.map(|at| object.split_at(at))
                    && figure(dose).is_some_and(|(_, unit)| !unit.is_empty())
                {
                    candidate.object = name.trim().to_owned();
                    candidate.qualifiers.insert("dosage".to_owned(), dose.to_owned());
                }
            }
            self.take_over(&candidate, fact, corrects);
        }
    }

    /// A bare figure continues a series of readings if exactly one is close enough, in the same unit if one is given.
    fn reading(&mut self, update: &UpdateCandidate, value: &str) {
        let Some((number, unit)) = figure(value) else { return };
        let told_at = Some(self.case.told_at());
        let continues = |fact: &Fact| {
            let is_series = fact.single && self.case.predicates.get(&fact.predicate).readings;
            if !is_series || fact.subject != USER || self.is_from_here(fact) || fact.last_seen > told_at {
                return false;
            }
            let Some((before, unit_before)) = figure(&fact.object) else { return false };
            let farthest = if unit.is_empty() { FARTHEST_WITHOUT_UNIT } else { FARTHEST_READING };
            (unit.is_empty() || unit == unit_before) && (number - before).abs() <= before.abs() * farthest
        };
        let facts: Vec<Fact> = self.view.holding().into_iter().filter(continues).collect();
        let [fact] = facts.as_slice() else { return };
        let unit_before = figure(&fact.object).map(|(_, unit)| unit).unwrap_or_default();
        let is_missing = unit.is_empty() && unit_before.starts_with(char::is_alphabetic);
        let object = if is_missing { format!("{value} {unit_before}") } else { value.to_owned() };
        let valid_from = Some(self.case.said_at());
        let candidate = FactCandidate { object, valid_from, ..candidate_of(fact, update, Stance::Changed) };
        self.take_over(&candidate, fact, false);
    }

    /// Records the candidate in place of a fact.
    pub(super) fn take_over(&mut self, candidate: &FactCandidate, target: &Fact, corrects: bool) {
        let predicate = self.case.predicates.get(&candidate.predicate);
        if gate::judge(self.case, self.view.items(), predicate, candidate) != Verdict::Pass
            || !self.is_credible(target, candidate.confidence)
        {
            return;
        }
        let claim = self.claim_about(candidate, target);
        let fact = self.new_fact(&claim);
        if self.is_ahead(&claim) {
            return self.begins_later(&claim, fact);
        }
        if corrects {
            return self.correct(&claim, fact, target);
        }
        self.core.take(self.case.predicates, target);
        self.put(&fact);
        // What was to be on another day was never so.
        let is_moved = self.has_not_begun(target);
        self.report.ended.push(outcome(target, if is_moved { "is on another day" } else { "held until now" }));
        self.assert(fact, vec![target.id], is_moved, "new value");
    }

    pub(super) fn claim_about<'c>(&self, candidate: &'c FactCandidate, target: &Fact) -> Claim<'c>
    where
        Self: 'c,
    {
        let predicate = self.case.predicates.get(&candidate.predicate);
        let evidence = self.case.evidence(&candidate.span);
        let (slot, held) = (target.slot.clone(), vec![target.clone()]);
        Claim { candidate, predicate, evidence, slot, held, told: None, now: self.case.present() }
    }

    /// The active facts named by a noun; empty if it names too many.
    fn named(&self, what: &str, may_be: impl Fn(&Fact, &Self) -> bool) -> Vec<Fact> {
        self.named_among(what, |fact| may_be(fact, self) && !self.is_from_here(fact))
    }

    fn named_among(&self, what: &str, may_be: impl Fn(&Fact) -> bool) -> Vec<Fact> {
        let what = telling(what);
        let is_meant = |fact: &Fact| !what.is_empty() && may_be(fact) && is_named(&what, fact);
        let found: Vec<Fact> = self.view.holding().into_iter().filter(is_meant).collect();
        if found.len() > NAMED_MAX { Vec::new() } else { found }
    }

    fn task_named(&self, what: &str) -> Option<Task> {
        let what = telling(what);
        // "Never mind the lock" leaves the helmet of "get a helmet and a lock".
        let is_whole = |title: &str| !has_several(title) || telling(title).len() <= what.len() + 1;
        let is_named = |title: &str| !what.is_empty() && covers(&what, &telling(title)) && is_whole(title);
        let mut named = self.view.open_tasks().filter(|task| is_named(&task.title));
        let one = named.next()?.clone();
        named.next().is_none().then_some(one)
    }

    pub(super) fn is_from_here(&self, fact: &Fact) -> bool {
        fact.evidence.iter().any(|place| place.source == self.case.source)
    }
}

pub(super) fn candidate_of(fact: &Fact, update: &UpdateCandidate, stance: Stance) -> FactCandidate {
    FactCandidate {
        subject: fact.subject.clone(),
        predicate: fact.predicate.clone(),
        object: fact.object.clone(),
        span: update.span.clone(),
        stance,
        valid_from: None,
        valid_to: None,
        confidence: update.confidence,
        qualifiers: fact.qualifiers.clone(),
    }
}

/// The text with one part replaced; `None` if the part does not occur as whole words.
pub(super) fn put_in(text: &str, not: &str, is: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let (from, not) = (lower.find(&not.to_lowercase())?, not.len());
    if lower.len() != text.len() {
        return None;
    }
    let open = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    let (before, after) = (&text[..from], &text[from + not..]);
    let whole = open(before.chars().next_back()) && open(after.chars().next());
    whole.then(|| format!("{before}{is}{after}"))
}

/// True for an instruction against something.
fn forbids(instruction: &str) -> bool {
    normal(instruction).split(' ').any(|word| FORBIDDING.contains(&word))
}

fn is_named(what: &BTreeSet<String>, fact: &Fact) -> bool {
    let kinds = ["species", "kind", "of", "relation"].iter().filter_map(|kind| fact.qualifiers.get(*kind));
    let words: Vec<&str> = kinds.map(String::as_str).chain([fact.object.as_str()]).collect();
    covers(what, &telling(&words.join(" ")))
}

/// True if each word equals one of the other words, or one is part of the other.
fn covers(what: &BTreeSet<String>, words: &BTreeSet<String>) -> bool {
    let is_part = |one: &str, other: &str| {
        let rest = if one.len() > PART_BYTES_MIN + 1 { 2 } else { 4 };
        one.len() >= PART_BYTES_MIN
            && other.len() >= one.len() + rest
            && (other.starts_with(one) || other.ends_with(one))
    };
    what.iter().all(|term| {
        words
            .iter()
            .any(|word| word == term || is_part(term, word) || (is_part(word, term) && word.len() > PART_BYTES_MIN))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_put_in_the_place_of_whole_words() {
        for (text, not, is, result) in [
            ("surgery at St Anne's", "st anne's", "the Royal", Some("surgery at the Royal")),
            ("rent 740", "740", "704", Some("rent 704")),
            ("carport", "car", "van", None),
            ("Lyon", "Porto", "Lille", None),
        ] {
            assert_eq!(put_in(text, not, is).as_deref(), result, "{text}");
        }
    }

    #[test]
    fn a_noun_names_what_has_it() {
        for (what, words, named) in [
            ("the gym thing", "puregym", true),
            ("the old car", "company car", true),
            ("corsa", "2011 corsa", true),
            ("the cargo bike", "bike", false),
            ("the thing", "thing", false),
            ("art", "start-up", false),
        ] {
            let what = telling(what);
            assert_eq!(!what.is_empty() && covers(&what, &telling(words)), named, "{what:?} {words}");
        }
    }
}
