//! Updates that name nothing and mean what was told last: "scratch that", "oops, I meant 42".

use jiff::SignedDuration;

use super::DecisionDraft;
use super::updating::{candidate_of, put_in};
use crate::event::Trust;
use crate::extract::{FactCandidate, Stance, TaskNews, UpdateCandidate};
use crate::id::ItemId;
use crate::item::{Evidence, Fact, FactType, Task};
use crate::memory::HeldSource;
use crate::source::Role;

/// Longest time between a message and the next, which takes it back.
const JUST_BEFORE_MAX: SignedDuration = SignedDuration::from_hours(12);
/// Sources among which the message before is looked for.
const LOOKED_BACK_MAX: usize = 64;

impl DecisionDraft<'_> {
    /// The user's message before this one in its session, if it is not long ago. A question of the assistant between them
    /// is what "never mind" answers.
    fn said_just_before(&self) -> Option<ItemId> {
        let memory = self.case.memory;
        let own = memory.get(self.case.source)?;
        let place = memory.find(self.case.source)? as usize;
        let is_of_session = |held: &&HeldSource| held.source.session == own.source.session && held.source.is_item();
        let mut before = memory.sources()[..place].iter().rev().take(LOOKED_BACK_MAX).filter(is_of_session);
        let is_question = |held: &HeldSource| held.source.text.contains('?');
        let last = before.find(|held| held.source.role != Role::Assistant || is_question(held))?;
        let is_theirs = last.source.role == Role::User
            && last.trust == Trust::User
            && last.source.author == own.source.author
            && !last.source.is_ready_made()
            && !is_question(last);
        let elapsed = own.source.said_at?.duration_since(last.source.said_at?);
        (is_theirs && !elapsed.is_negative() && elapsed <= JUST_BEFORE_MAX).then_some(last.source.id)
    }

    /// Drops the only task or plan that the user's message before this one told: "scratch that".
    pub(super) fn last_told_is_over(&mut self, update: &UpdateCandidate) {
        let Some(last) = self.said_just_before() else { return };
        let is_told = |evidence: &[Evidence]| evidence.first().is_some_and(|at| at.source == last);
        let is_plan = |fact: &Fact| fact.fact_type == FactType::Commitment && is_told(&fact.evidence);
        let plans: Vec<Fact> = self.view.holding().into_iter().filter(is_plan).collect();
        let tasks: Vec<Task> = self.view.open_tasks().filter(|task| is_told(&task.evidence)).cloned().collect();
        match (plans.as_slice(), tasks.as_slice()) {
            ([plan], []) => self.end_told(update, plan, None),
            ([], [task]) => self.settle_task(update, task, TaskNews::Dropped),
            _ => {}
        }
    }

    /// Puts a figure in the place of the only figure of the one fact that was said last: "oops, I meant 42".
    pub(super) fn figure_instead(&mut self, update: &UpdateCandidate, is: &str) {
        let told: Vec<Fact> = self.view.holding().into_iter().filter(|fact| !self.is_from_here(fact)).collect();
        let source = |fact: &Fact| fact.evidence.iter().map(|place| place.source).next_back();
        let Some(last) = told.iter().max_by_key(|fact| fact.last_seen).map(|fact| (fact.last_seen, source(fact)))
        else {
            return;
        };
        let figures = |text: &str| -> Vec<String> {
            let words = text.split_whitespace().filter(|word| word.starts_with(|c: char| c.is_ascii_digit()));
            words.map(|word| word.trim_end_matches(|c: char| c.is_ascii_punctuation()).to_owned()).collect()
        };
        let number = |text: &str| text.trim_start_matches(|c: char| !c.is_ascii_digit()).to_owned();
        let has_one = |fact: &&Fact| (fact.last_seen, source(fact)) == last && figures(&fact.object).len() == 1;
        let found: Vec<&Fact> = told.iter().filter(has_one).collect();
        let [fact] = found.as_slice() else { return };
        let (was, is) = (figures(&fact.object), number(is));
        let (Some(was), Some(is)) = (was.first(), is.split_whitespace().next()) else { return };
        let Some(object) = put_in(&fact.object, was, is).filter(|object| *object != fact.object) else { return };
        let stance = Stance::Corrects { not: Some(fact.object.clone()) };
        let candidate = FactCandidate { object, valid_from: fact.valid_from, ..candidate_of(fact, update, stance) };
        self.take_over(&candidate, fact, true);
    }
}
