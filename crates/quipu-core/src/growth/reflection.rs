//! Reflection by rules: what worked for this person, what did not, and which topics recur in one mood.
//!
//! A note is recorded once, with its evidence, and gets a vote for every further day that confirms it. A note that is
//! refuted later is retracted.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::{GrowthContext, GrowthProposal, GrowthSubject, Name, priority};
use crate::calendar::day_number;
use crate::event::{Change, Trust};
use crate::extract::TaskKind;
use crate::guard;
use crate::id::{ItemId, ItemKind};
use crate::item::episode::Sentiment;
use crate::item::{Attempt, DerivedChange, Episode, Evidence, FactType, Note, NoteOrigin, Task};
use crate::limit;
use crate::memory::Memory;
use crate::predicate::normal;

/// Confidence of a reflected note.
pub(super) const CONFIDENCE: f64 = 0.7;
/// Least share of a topic's episodes with the same mood, and its least excess over the share among all other episodes.
const ALIKE_MIN: f64 = 0.75;
const ALIKE_MORE_MIN: f64 = 0.3;

/// A possible note and the days that support it, with the first evidence of each.
struct Insight {
    text: String,
    tags: Vec<String>,
    days: BTreeMap<i32, Evidence>,
    /// True if a later day refutes it.
    refuted: bool,
    /// Sort key: number of days, then the latest day.
    weight: (usize, i32),
}

impl GrowthContext<'_> {
    /// Notes to record, votes to add and notes to retract, best supported first.
    pub fn reflections(&self, name: Name<'_>) -> Vec<GrowthProposal> {
        let mut insights = self.problems_tell();
        insights.extend(self.moods_tell());
        insights.sort_by(|a, b| b.weight.cmp(&a.weight).then_with(|| a.text.cmp(&b.text)));
        let mut room = Room::of(self.memory(), limit::NOTES_MAX);
        let mut taken = 0;
        let mut found = Vec::new();
        for insight in insights {
            let known = self.known(&insight.text);
            match known {
                Some(note) => found.extend(self.seconded(note, &insight)),
                None if insight.refuted || taken == self.knobs.notes_max => {}
                None if self.was_taken_back(&insight.text) => {}
                None => {
                    let Some(made) = room.make() else { continue };
                    found.extend(made);
                    found.push(self.noted(insight, name));
                    taken += 1;
                }
            }
        }
        found
    }

    /// The visible note with this text.
    pub(super) fn known(&self, text: &str) -> Option<&Note> {
        let items = self.memory().items();
        items.notes().find(|note| !items.is_hidden(note.id) && normal(&note.text) == normal(text))
    }

    /// True if such a note was retracted: it is not recorded again automatically.
    pub(super) fn was_taken_back(&self, text: &str) -> bool {
        let items = self.memory().items();
        items.notes().any(|note| items.is_hidden(note.id) && normal(&note.text) == normal(text))
    }

    /// The event for an insight that already is a note: a retraction or votes.
    fn seconded(&self, note: &Note, insight: &Insight) -> Option<GrowthProposal> {
        let (items, text) = (vec![note.id], note.text.clone());
        if insight.refuted {
            if note.origin != NoteOrigin::Rule || self.memory().marks(note.id).pinned {
                return None;
            }
            let reason = "it turned out otherwise later";
            let change = DerivedChange::ItemRetracted { item: note.id, reason: reason.to_owned() };
            let changes = vec![Change::Drawn(change)];
            return Some(GrowthProposal {
                what: GrowthSubject::Pruned,
                items,
                text,
                because: reason.to_owned(),
                changes,
            });
        }
        let said = |at: &Evidence| self.memory().get(at.source).and_then(|held| held.source.said_at).map(day_number);
        let known: BTreeSet<i32> = note.evidence.iter().filter_map(said).collect();
        let fresh: Vec<Evidence> =
            insight.days.iter().filter(|(day, _)| !known.contains(day)).map(|(_, at)| *at).collect();
        let second = |at: &Evidence| Change::Drawn(DerivedChange::NoteSeconded { note: note.id, evidence: Some(*at) });
        let room = limit::EVIDENCE_PER_ITEM_MAX.saturating_sub(note.evidence.len());
        let changes: Vec<Change> = fresh.iter().take(room).map(second).collect();
        let because = format!("{} more days say the same", changes.len());
        (!changes.is_empty()).then_some(GrowthProposal { what: GrowthSubject::Seconded, items, text, because, changes })
    }

    fn noted(&self, insight: Insight, name: Name<'_>) -> GrowthProposal {
        let days = insight.days.len();
        let evidence: Vec<Evidence> = insight.days.into_values().take(limit::EVIDENCE_PER_ITEM_MAX).collect();
        let least = evidence.iter().filter_map(|at| self.memory().get(at.source)).map(|held| held.trust).min();
        let note = Note {
            id: name(ItemKind::Note),
            text: insight.text.clone(),
            origin: NoteOrigin::Rule,
            confidence_base: CONFIDENCE,
            votes: u32::try_from(days.saturating_sub(1)).unwrap_or(u32::MAX),
            evidence,
            // Inferred items reach at most as far as an agent.
            trust: least.unwrap_or(Trust::Web).min(Trust::Agent),
            tags: insight.tags,
        };
        let because = if days > 1 { format!("on {days} days") } else { "once so far".to_owned() };
        let (items, changes) = (vec![note.id], vec![Change::Drawn(DerivedChange::NoteRecorded(Box::new(note)))]);
        GrowthProposal { what: GrowthSubject::Noted, items, text: insight.text, because, changes }
    }

    /// Attempts that helped with each problem, and those that did not.
    fn problems_tell(&self) -> Vec<Insight> {
        let items = self.memory().items();
        let problems = items.tasks().filter(|task| task.kind == TaskKind::Problem && !items.is_hidden(task.id));
        problems.flat_map(|problem| self.problem_tells(problem)).collect()
    }

    fn problem_tells(&self, problem: &Task) -> Vec<Insight> {
        let mut approaches: BTreeMap<String, Vec<&Attempt>> = BTreeMap::new();
        for attempt in problem.attempts.iter().filter(|attempt| attempt.successful.is_some()) {
            approaches.entry(normal(&attempt.approach)).or_default().push(attempt);
        }
        let of = |tried: &Vec<&Attempt>, helped: bool| {
            let (alike, other): (Vec<&Attempt>, Vec<&Attempt>) =
                tried.iter().partition(|attempt| attempt.successful == Some(helped));
            let days = self.days(alike.iter().flat_map(|attempt| attempt.evidence.iter()));
            let against = self.days(other.iter().flat_map(|attempt| attempt.evidence.iter()));
            let approach = alike.first()?.approach.trim();
            let trouble = trouble(&problem.title);
            let text = match helped {
                true => format!("What helped with {trouble}: {approach}"),
                false => format!("What did not help with {trouble}: {approach}"),
            };
            let last = *days.keys().last()?;
            let refuted = against.keys().last().is_some_and(|other| *other >= last);
            let strange = guard::looks_like_instructions(&text) || guard::sensitivity(&text).is_some();
            let tags = vec![if helped { "strategy" } else { "pitfall" }.to_owned()];
            let weight = (days.len() + usize::from(helped), last);
            (!strange).then_some(Insight { text, tags, days, refuted, weight })
        };
        approaches.values().flat_map(|tried| [of(tried, true), of(tried, false)]).flatten().collect()
    }

    /// Topics that recur on several days, nearly always in one mood.
    fn moods_tell(&self) -> Vec<Insight> {
        let items = self.memory().items();
        let mut topics: BTreeMap<String, Vec<&Episode>> = BTreeMap::new();
        for episode in items.episodes().filter(|episode| !items.is_hidden(episode.id)) {
            for topic in &episode.topics {
                topics.entry(topic.to_lowercase()).or_default().push(episode);
            }
        }
        // A known preference is not an insight.
        let liked = items.facts().filter(|fact| fact.is_active() && fact.fact_type == FactType::Preference);
        let liked: Vec<String> = liked.map(|fact| format!(" {} ", normal(&fact.object))).collect();
        let known = |topic: &str| liked.iter().any(|object| object.contains(&format!(" {} ", normal(topic))));
        let insights = topics.iter().filter(|(topic, _)| !known(topic));
        insights.filter_map(|(topic, told)| self.mood_tells(topic, told)).collect()
    }

    fn mood_tells(&self, topic: &str, told: &[&Episode]) -> Option<Insight> {
        let of = |mood: Sentiment| told.iter().filter(|one| one.sentiment == mood).count();
        let (mood, word) = match of(Sentiment::Negative) >= of(Sentiment::Positive) {
            true => (Sentiment::Negative, "a low"),
            false => (Sentiment::Positive, "a good"),
        };
        let own = |one: &&&Episode| {
            one.sources.iter().filter_map(|id| self.memory().get(*id)).any(|held| held.trust == Trust::User)
        };
        let alike: Vec<&Episode> = told.iter().filter(|one| one.sentiment == mood).filter(own).copied().collect();
        let first = |one: &&Episode| one.sources.first().and_then(|id| self.whole(*id));
        let places: Vec<Evidence> = alike.iter().filter_map(first).collect();
        let days = self.days(places.iter());
        let share = alike.len() as f64 / told.len() as f64;
        let enough = days.len() >= self.knobs.insight_days_min && share >= ALIKE_MIN;
        let enough = enough && share - self.usual(mood, told) >= ALIKE_MORE_MIN;
        let last = *days.keys().last()?;
        let text = format!("When {topic} comes up, it is mostly in {word} mood");
        let strange = guard::looks_like_instructions(&text) || guard::sensitivity(&text).is_some();
        let (weight, tags) = ((days.len(), last), vec!["insight".to_owned()]);
        (enough && !strange).then_some(Insight { text, tags, days, refuted: false, weight })
    }

    /// The share of a mood among all other episodes; 0 if there are none.
    fn usual(&self, mood: Sentiment, told: &[&Episode]) -> f64 {
        let items = self.memory().items();
        let others = items.episodes().filter(|one| told.iter().all(|of_topic| of_topic.id != one.id));
        let (mut all, mut alike) = (0.0, 0.0);
        for other in others {
            all += 1.0;
            alike += f64::from(u8::from(other.sentiment == mood));
        }
        if all > 0.0 { alike / all } else { 0.0 }
    }

    /// Evidence that spans a whole source.
    pub(super) fn whole(&self, source: ItemId) -> Option<Evidence> {
        let held = self.memory().get(source)?;
        Some(Evidence { source, start: 0, end: u32::try_from(held.source.text.len()).unwrap_or(u32::MAX) })
    }

    /// The days of the evidence, with the first evidence of each.
    fn days<'e>(&self, places: impl Iterator<Item = &'e Evidence>) -> BTreeMap<i32, Evidence> {
        let mut days = BTreeMap::new();
        for at in places {
            if let Some(said_at) = self.memory().get(at.source).and_then(|held| held.source.said_at) {
                days.entry(day_number(said_at)).or_insert(*at);
            }
        }
        days
    }
}

/// A problem as a noun phrase: "keeps waking up" gives "waking up".
fn trouble(title: &str) -> &str {
    let rest = ["keep ", "keeps ", "kept "].iter().find_map(|kept| title.strip_prefix(kept));
    rest.filter(|rest| rest.split_whitespace().next().is_some_and(|word| word.ends_with("ing"))).unwrap_or(title)
}

/// Capacity for notes: at the limit, the weakest note makes room.
pub(super) struct Room {
    kept: usize,
    max: usize,
    /// Notes without agreement or marks, weakest last.
    weakest: Vec<(ItemId, String)>,
}

impl Room {
    pub(super) fn of(memory: &Memory, max: usize) -> Self {
        let items = memory.items();
        let kept: Vec<&Note> = items.notes().filter(|note| !items.is_hidden(note.id)).collect();
        let mut idle: Vec<&&Note> =
            kept.iter().filter(|note| !note.is_agreed() && memory.marks(note.id) == Default::default()).collect();
        let last = |note: &Note| priority::last_used(memory, note.id);
        // Importance and aging of notes are equal, so the priority depends on the last use and the hits.
        idle.sort_by_cached_key(|note| {
            (Reverse(last(note)), Reverse(items.hits(note.id).hits), Reverse(items.creation_order(note.id)))
        });
        let weakest = idle.into_iter().map(|note| (note.id, note.text.clone())).collect();
        Self { kept: kept.len(), max, weakest }
    }

    /// Makes room for one more note: the retraction needed, if any; `None` if no note may be removed.
    pub(super) fn make(&mut self) -> Option<Option<GrowthProposal>> {
        if self.kept < self.max {
            self.kept += 1;
            return Some(None);
        }
        let (id, text) = self.weakest.pop()?;
        let reason = "made room for another note";
        let changes = vec![Change::Drawn(DerivedChange::ItemRetracted { item: id, reason: reason.to_owned() })];
        let because = reason.to_owned();
        Some(Some(GrowthProposal { what: GrowthSubject::Pruned, items: vec![id], text, because, changes }))
    }
}
