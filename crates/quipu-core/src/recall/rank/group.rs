//! Groups results into answers, so that an item and its source are not listed twice.

use std::cell::OnceCell;

use rustc_hash::FxHashMap;

use crate::id::{ItemId, ItemKind};
use crate::item::Fact;
use crate::limit;
use crate::memory::Memory;
use crate::predicate::normal;
use crate::recall::index::derived::{DerivedIndex, asked_by, sources, terms_in};
use crate::recall::index::passage_index::Index;
use crate::recall::query::plan::QueryPlan;
use crate::recall::rank::items::DerivedHit;
use crate::recall::rank::order::UsageScores;
use crate::recall::rank::select::Hit;

/// The leading item of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum GroupLead {
    /// A source: a turn, an entry, a document.
    Source(Hit),
    /// An item derived from sources.
    Derived(DerivedHit),
}

/// An answer with the items that say the same.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerGroup {
    /// The best of them.
    pub lead: GroupLead,
    /// The others: the source it was read from, items read from it, the episode around it.
    pub also: Vec<ItemId>,
    /// Cosine of the question and its passage, 0 without one.
    pub cosine: f32,
    /// Number of the best passages that agree with this one, including itself.
    pub votes: u32,
    /// Its score, or a value just above that of the words it replaced.
    pub place: f32,
    /// The scores that determine its rank.
    pub standing: UsageScores,
}

/// What may lead an answer.
struct Candidate {
    place: f32,
    /// Its position among the sources or among the derived items, in the order in which they were recorded.
    recorded: u32,
    id: ItemId,
    lead: GroupLead,
}

/// Merges sources and derived items into one list, best first, and groups equivalent ones.
pub(in crate::recall) fn fold(
    memory: &Memory,
    (index, drawn): (&Index, &DerivedIndex),
    hits: Vec<Hit>,
    derived: &[DerivedHit],
    plan: &QueryPlan,
) -> Vec<AnswerGroup> {
    // More than requested, since relevance may reorder them.
    let wanted = plan.k.max(limit::RANKED);
    // Each derived item absorbs at most one source, so this many hits fill every place.
    let ahead = wanted + derived.len();
    let raised = Raising { memory, index, drawn, plan, hits: &hits[..hits.len().min(ahead)], derived }.places();
    let place = |id: ItemId, score: f32| raised.get(&id).map_or(score, |place| place.max(score));
    let mut all: Vec<Candidate> = Vec::new();
    let is_ready_made = |ordinal: u32| memory.sources()[ordinal as usize].source.is_ready_made();
    for hit in hits.into_iter().filter(|hit| !is_ready_made(hit.ordinal)).take(ahead) {
        let id = index.items[hit.ordinal as usize];
        all.push(Candidate { place: place(id, hit.score), recorded: hit.ordinal, id, lead: GroupLead::Source(hit) });
    }
    // An episode is longer than an answer, so it ranks below its matching words.
    let behind = |hit: &DerivedHit| match hit.id.kind {
        ItemKind::Episode if hit.witness.is_some() => (hit.score - hit.contributions.n.max(0.0)).next_down(),
        _ => hit.score,
    };
    all.extend(derived.iter().map(|hit| Candidate {
        place: place(hit.id, behind(hit)),
        recorded: drawn.number(hit.id),
        id: hit.id,
        lead: GroupLead::Derived(hit.clone()),
    }));
    // Among equals, a statement precedes its source, and what was recorded first precedes what came later.
    let order = |one: &Candidate| (matches!(one.lead, GroupLead::Source(_)), one.recorded);
    all.sort_unstable_by(|a, b| b.place.total_cmp(&a.place).then_with(|| order(a).cmp(&order(b))));
    let mut folder = Folder {
        memory,
        drawn,
        groups: Vec::new(),
        of_source: FxHashMap::default(),
        by_wording: FxHashMap::default(),
        said: Vec::new(),
    };
    for Candidate { place, id, lead, .. } in all {
        folder.add(id, lead, place, wanted);
    }
    folder.groups
}

/// Raises current items to the rank of matching words that are outdated.
struct Raising<'a> {
    memory: &'a Memory,
    index: &'a Index,
    drawn: &'a DerivedIndex,
    plan: &'a QueryPlan,
    hits: &'a [Hit],
    derived: &'a [DerivedHit],
}

/// Minimum share of the question's terms, including those of its predicate, that a requested statement has.
const ASKED_SHARE: f32 = 0.5;

impl Raising<'_> {
    /// Minimum ranks of the items that replaced an outdated, requested statement. A question about the past raises
    /// nothing.
    fn places(&self) -> FxHashMap<ItemId, f32> {
        let mut places = FxHashMap::default();
        if self.plan.form.past {
            return places;
        }
        let mut raise = |id: ItemId, score: f32| {
            let place: &mut f32 = places.entry(id).or_default();
            *place = place.max(score.next_up());
        };
        for hit in self.hits {
            let source = self.index.items[hit.ordinal as usize];
            let outdated = self.drawn.read_from(source).filter(|id| !self.plan.admits(self.memory.items(), *id));
            for fact in outdated.filter(|fact| self.is_asked_for(*fact)) {
                self.latest(fact).into_iter().for_each(|id| raise(id, hit.score));
            }
        }
        places
    }

    fn is_asked_for(&self, fact: ItemId) -> bool {
        let items = self.memory.items();
        let Some(fact) = items.fact(fact) else { return false };
        let terms = |fact: &Fact| terms_in(&fact.text, self.plan.language);
        let (relation, own) = (asked_by(&fact.predicate), terms(fact));
        let asked = &self.plan.asked;
        let matched: Vec<&String> =
            asked.iter().filter(|term| relation.contains(*term) || own.contains(term)).collect();
        let share = matched.len() as f32 / asked.len().max(1) as f32;
        // What took its place is about the same: "the premiere" that was moved.
        let goes_on = || {
            let newest = self.newest(fact.id).and_then(|id| items.fact(id)).map(terms);
            newest.is_some_and(|terms| matched.iter().all(|term| terms.contains(term)))
        };
        share >= ASKED_SHARE
            && !matched.is_empty()
            && (matched.iter().any(|term| relation.contains(*term)) || goes_on())
    }

    /// The last statement in a line of replacements that is valid at the requested time.
    fn newest(&self, fact: ItemId) -> Option<ItemId> {
        let items = self.memory.items();
        let newer = |id: &ItemId| items.fact(*id)?.superseded_by;
        let line = std::iter::successors(newer(&fact), newer).take(limit::MERGES_FOLLOWED_MAX);
        line.filter(|id| self.plan.admits(items, *id)).last()
    }

    /// The replacement of a statement: the one valid at the requested time, else the words it was read from; and edits
    /// by a person.
    fn latest(&self, fact: ItemId) -> Vec<ItemId> {
        let items = self.memory.items();
        let last = self.newest(fact);
        let mut found: Vec<ItemId> =
            last.into_iter().filter(|id| self.derived.iter().any(|hit| hit.id == *id)).collect();
        let witnesses = last.filter(|_| found.is_empty()).map(|last| sources(items, last)).unwrap_or_default();
        found.extend(self.hits.iter().filter_map(|hit| {
            let held = &self.memory.sources()[hit.ordinal as usize];
            let is_newer = witnesses.contains(&held.source.id) || held.instead_of() == Some(fact);
            is_newer.then_some(held.source.id)
        }));
        found
    }
}

struct Folder<'a> {
    memory: &'a Memory,
    drawn: &'a DerivedIndex,
    groups: Vec<AnswerGroup>,
    /// The answer that a source leads or belongs to.
    of_source: FxHashMap<ItemId, usize>,
    /// Answers led by derived items, by wording.
    by_wording: FxHashMap<&'a str, usize>,
    /// Answers led by sources, with their text.
    said: Vec<ComparedWords<'a>>,
}

/// The text of an answer, prepared for comparison.
struct ComparedWords<'a> {
    /// Index of the answer.
    at: usize,
    text: &'a str,
    ending: u64,
    /// Computed only if another text has the same ending.
    normal: OnceCell<String>,
}

impl ComparedWords<'_> {
    fn is(&self, wording: &str, end: u64) -> bool {
        // "Twice a week" is normalised to "twice weekly".
        let may_be = self.ending == end || wording.ends_with("ly");
        may_be && self.normal.get_or_init(|| normal(self.text)) == wording
    }
}

impl<'a> Folder<'a> {
    fn add(&mut self, id: ItemId, lead: GroupLead, place: f32, wanted: usize) {
        let witness = match &lead {
            GroupLead::Source(_) => None,
            GroupLead::Derived(hit) => {
                let source = hit.witness.map(|ordinal| &self.memory.sources()[ordinal as usize].source);
                // Each item of a page of them is an answer of its own.
                source.filter(|source| !source.is_ready_made()).map(|source| source.id)
            }
        };
        let known = match &lead {
            GroupLead::Source(_) => self.of_source.get(&id).copied(),
            // An episode joins the answer of its matching turn. Any other item leads an answer if its own words match,
            // unless its source already leads one.
            GroupLead::Derived(hit) => witness.and_then(|source| self.of_source.get(&source).copied()).filter(|&at| {
                let behind = hit.id.kind == ItemKind::Episode || hit.contributions.n <= 0.0;
                behind || matches!(self.groups[at].lead, GroupLead::Source(_))
            }),
        };
        // Most sources come after all places are taken; skip them early.
        if known.is_none() && self.groups.len() == wanted && matches!(lead, GroupLead::Source(_)) {
            return;
        }
        // Different people may say the same words, but a derived item with the same wording is not a new answer.
        // Tasks of one title for several days are told apart by the day.
        let is_told_apart = self.memory.items().task(id).is_some_and(|task| task.due.is_some());
        let is_derived = matches!(lead, GroupLead::Derived(_)) && !is_told_apart;
        let wording = self.drawn.wording(id).filter(|_| is_derived);
        if let Some(at) = known.or_else(|| self.told(wording?)) {
            let group = &mut self.groups[at];
            if !group.also.contains(&id) {
                group.also.push(id);
            }
            return;
        }
        if self.groups.len() == wanted {
            return;
        }
        let at = self.groups.len();
        match wording {
            Some(wording) => {
                self.by_wording.insert(wording, at);
            }
            None if is_told_apart => {}
            None => self.said.extend(self.memory.get(id).map(|held| {
                let text = &*held.source.text;
                ComparedWords { at, text, ending: ending(text), normal: OnceCell::new() }
            })),
        }
        let mut also = Vec::new();
        match &lead {
            GroupLead::Source(_) => {
                self.of_source.insert(id, at);
            }
            GroupLead::Derived(_) if id.kind != ItemKind::Episode => {
                also.extend(witness);
                if let Some(source) = witness {
                    self.of_source.entry(source).or_insert(at);
                }
            }
            GroupLead::Derived(_) => {}
        }
        self.groups.push(AnswerGroup { lead, also, cosine: 0.0, votes: 0, place, standing: UsageScores::default() });
    }

    /// The answer with this wording.
    fn told(&self, wording: &str) -> Option<usize> {
        self.by_wording.get(wording).copied().or_else(|| {
            let end = ending(wording);
            self.said.iter().find(|said| said.is(wording, end)).map(|said| said.at)
        })
    }
}

/// A cheap hash of a text's last characters, compared before [`normal`].
fn ending(text: &str) -> u64 {
    let last = text.chars().rev().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).take(6);
    last.fold(0, |end, c| end << 10 ^ u64::from(u32::from(c)))
}
