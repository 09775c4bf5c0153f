//! Candidates of a pack: combines the answers of a recall with the statements read from them, each with a value.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use jiff::Timestamp;
use quipu_core::Memory;
use quipu_core::event::Trust;
use quipu_core::extract::REMARK;
use quipu_core::id::{ItemId, ItemKind};
use quipu_core::item::{Evidence, Fact, FactType, Note, TenetStatus, TimeSpan, stretch};
use quipu_core::memory::HeldSource;
use quipu_core::pack::{self, Noted, Offer, Quotation, RequestNeed, Section, TermTable, excerpts};
use quipu_core::predicate::{Predicates, normal};
use quipu_core::recall::{DerivedHit, Intent, QueryPlan};
use quipu_core::source::Source;

use crate::read::answers::{self, Answer};
use crate::read::recall::ReadView;

/// Most items of one kind that are offered in addition to the hits.
const OFFERED_MAX: usize = 16;

/// Confidence from which a statement is shown as fact, and from which as likely; below the second it is left out.
/// Statements the user made themselves are always shown as fact.
const ASSERTED_FROM: f64 = 0.8;
const TOLD_FROM: f64 = 0.6;

/// Messages up to `WHOLE_TOKENS` are shown whole. Of longer ones the sentences that answer are shown, and more of them
/// up to `LONG_TOKENS` if there is room.
const WHOLE_TOKENS: usize = 90;
const LONG_TOKENS: usize = 400;

/// Rank at which a hit is worth half as much as the first.
const HALF_AT: f64 = 5.0;

/// Hits below this share of the best score are ignored.
const SCORE_SHARE_MIN: f64 = 0.35;
/// Most preferences, limits and plans that a task is offered without a word of its matter.
const TASK_BESIDE_MAX: usize = 8;

/// Bytes a message may have in addition to a rule and still count as only the rule, such as "please" and a full stop.
const BESIDE_RULE_BYTES_MAX: usize = 10;

/// Most earlier readings of a measured value shown with the newest one.
const EARLIER_READINGS_MAX: usize = 3;

/// Value of an episode relative to its turns, and of an item that the query did not find.
const STORY: f64 = 0.4;
const UNASKED: f64 = 0.05;

/// Input of [`offers`].
pub(crate) struct PackRequest<'a> {
    pub(crate) plan: &'a QueryPlan,
    pub(crate) need: RequestNeed,
    pub(crate) predicates: &'a Predicates,
    /// Sources the reader already has.
    pub(crate) shown: &'a BTreeSet<ItemId>,
    /// Items that are always in the stable part, and those of it that describe the user.
    pub(crate) always: BTreeSet<ItemId>,
    pub(crate) who: BTreeSet<ItemId>,
}

/// Collects everything that may be shown, best first.
pub(crate) fn offers(
    sight: &ReadView<'_>,
    wanted: &PackRequest<'_>,
    hits: &[Answer],
    drawn: &[DerivedHit],
) -> Vec<Offer> {
    let mut table = TermTable::default();
    let terms = table.terms(&wanted.plan.text);
    let matter = (wanted.need == RequestNeed::Task).then(|| table.terms(&pack::need::matter(&wanted.plan.text)));
    let (offers, of_source, memory) = (Vec::new(), BTreeMap::new(), sight.memory);
    let mut desk = OfferContext { sight, memory, wanted, table, terms, matter, beside: 0, offers, of_source };
    let best = hits.iter().map(|hit| f64::from(hit.score)).fold(f64::MIN_POSITIVE, f64::max);
    for (place, hit) in hits.iter().enumerate() {
        let share = f64::from(hit.score) / best;
        if share >= SCORE_SHARE_MIN {
            desk.add(hit, share / (1.0 + place as f64 / HALF_AT));
        }
    }
    if wanted.plan.intent != Intent::Recall {
        desk.open_tasks(drawn);
        desk.lived_by(drawn);
    }
    desk.side_by_side();
    desk.offers
}

struct OfferContext<'a> {
    sight: &'a ReadView<'a>,
    memory: &'a Memory,
    wanted: &'a PackRequest<'a>,
    table: TermTable,
    /// Term ids of the query.
    terms: Vec<u32>,
    /// Term ids of what a task is about; `None` if the request is no task.
    matter: Option<Vec<u32>>,
    /// Items that were offered for a task without a word of its matter.
    beside: usize,
    offers: Vec<Offer>,
    /// For each source, the index of the offer with its words, and the spans that answer.
    of_source: BTreeMap<ItemId, (usize, Vec<Range<usize>>)>,
}

impl<'a> OfferContext<'a> {
    fn add(&mut self, hit: &Answer, value: f64) {
        match hit.id.kind {
            ItemKind::Fact | ItemKind::Note | ItemKind::Task => {
                let bearing = self.memory.items().fact(hit.id).is_none_or(bears);
                let serves = self.serves(&hit.text, bearing);
                self.add_statement(hit, if serves { value } else { 0.0 });
            }
            ItemKind::Episode => self.add_story(hit, value),
            ItemKind::Tenet => self.add_tenet(hit.id, value),
            _ => {
                let Some(held) = self.memory.get(hit.id) else { return };
                let bears = self.matter.is_some() && (pack::need::bears(&hit.text) || self.read_bears(hit.id));
                let serves = self.serves(&hit.text, bears);
                if let Some(at) = self.words(held, Some(hit.span.clone())) {
                    self.raise(at, if serves { value } else { 0.0 });
                }
            }
        }
    }

    /// Returns true if a text may be of use: for a task, if it has a word of its matter, or bears on it and is among the
    /// first that do. In a memory of one topic everything is about as near to every request.
    fn serves(&mut self, text: &str, bears: bool) -> bool {
        let Some(matter) = &self.matter else { return true };
        if pack::have_common(&self.table.terms(text), matter) {
            return true;
        }
        self.beside += usize::from(bears);
        bears && self.beside <= TASK_BESIDE_MAX
    }

    /// Returns true if a preference, a limit or a plan was read from `source`.
    fn read_bears(&self, source: ItemId) -> bool {
        let facts = self.sight.derived.read_from(source).filter_map(|id| self.memory.items().fact(id));
        facts.filter(|fact| fact.is_active()).any(bears)
    }

    /// Adds a fact, a note or a task, with the words it was read from.
    fn add_statement(&mut self, hit: &Answer, value: f64) {
        let items = self.memory.items();
        let fact = items.fact(hit.id);
        let is_told = hit.id.kind != ItemKind::Fact || hit.trust == Trust::User || hit.confidence >= TOLD_FROM;
        // A fact about somebody else does not answer a question about the person asked about.
        let of_another = self.wanted.plan.about.as_ref().zip(fact).is_some_and(|(about, fact)| about.excludes(fact));
        if !is_told || of_another {
            return;
        }
        let evidence: &[Evidence] = match (fact, items.task(hit.id), items.note(hit.id)) {
            (Some(fact), _, _) => &fact.evidence,
            (_, Some(task), _) => &task.evidence,
            (_, _, Some(note)) => &note.evidence,
            _ => &[],
        };
        let agreed = items.note(hit.id).is_some_and(Note::is_agreed);
        let section = match hit.id.kind {
            ItemKind::Task if self.wanted.plan.intent != Intent::Recall => Section::Goals,
            ItemKind::Note if agreed && self.wanted.plan.intent != Intent::Recall => Section::SelfModel,
            _ => Section::Found,
        };
        let noted = self.noted(hit, agreed);
        // Newest evidence first; one piece of it is enough for a reader.
        let known = evidence.iter().rev().filter_map(|place| Some((place, self.memory.get(place.source)?)));
        // The line of a page of ready-made items says what the item says.
        let mut known = known.filter(|(_, held)| !held.source.is_ready_made());
        let Some((place, held)) = known.next() else {
            return self.push_statement(hit, noted, section, value);
        };
        let near = Range { start: place.start as usize, end: place.end as usize };
        let in_view = self.wanted.shown.contains(&held.source.id);
        if in_view {
            // The reader has the words already, but not the remark that the statement is outdated or contested.
            if noted.remark.is_some() {
                self.push_statement(hit, noted, section, value);
            }
            return;
        }
        let Some(at) = self.words(held, Some(near)) else { return };
        self.raise(at, value);
        let offer = &mut self.offers[at];
        offer.section = offer.section.min(section);
        let is_kept = self.wanted.always.contains(&noted.id) || self.wanted.who.contains(&noted.id);
        if !is_kept || noted.remark.is_some() {
            offer.noted.push(noted);
        }
    }

    fn push_statement(&mut self, hit: &Answer, noted: Noted, section: Section, value: f64) {
        if self.wanted.always.contains(&hit.id) {
            return;
        }
        let place = hit.event_seq;
        let (said_at, with, covers) = (hit.said_at, Vec::new(), vec![hit.id]);
        self.offers.push(Offer { section, words: None, noted: vec![noted], said_at, place, value, with, covers });
    }

    /// A statement as it is shown.
    fn noted(&self, hit: &Answer, agreed: bool) -> Noted {
        let mut remarks: Vec<String> =
            hit.contested_by.iter().map(|(_, text)| format!("contested: elsewhere it says {text}")).collect();
        match hit.id.kind {
            ItemKind::Task => remarks.extend(hit.status.clone()),
            ItemKind::Fact => {
                // Days are stored as they are called, so by the speaker's clock.
                let said_at = hit.said_at.map(|at| self.memory.local(at));
                let news = |time: &Timestamp| Some(stretch(*time)) != said_at.map(stretch);
                let fact = self.memory.items().fact(hit.id);
                let happens = fact.is_some_and(Fact::happens);
                let week = fact.filter(|fact| fact.is_of_a_week());
                remarks.extend(hit.valid_from.filter(news).map(|from| match (week, happens, stretch(from)) {
                    (Some(fact), ..) => fact.week(from),
                    (_, true, day) if day.len() == "2026-03-05".len() => format!("on {day}"),
                    (_, true, part) => format!("in {part}"),
                    (_, false, day) if Some(from) > said_at => format!("from {day}"),
                    (_, false, day) => format!("since {day}"),
                }));
                remarks.extend(hit.valid_to.map(|to| format!("until {}", stretch(to))));
                remarks.extend(self.earlier_readings(hit.id));
            }
            _ => {}
        }
        let unsure = match hit.id.kind {
            ItemKind::Note => !agreed,
            ItemKind::Fact => hit.trust != Trust::User && hit.confidence < ASSERTED_FROM,
            _ => false,
        };
        let text = hit.text.trim_end_matches('.').to_owned();
        let remark = (!remarks.is_empty()).then(|| remarks.join("; "));
        Noted { id: hit.id, text, trust: hit.trust, likely: unsure, remark }
    }

    /// Earlier readings of a measured value, as in "before: 84 kg (2026-03-05), 86 kg (2026-02)".
    fn earlier_readings(&self, id: ItemId) -> Option<String> {
        let items = self.memory.items();
        let told: Vec<String> = items
            .earlier_readings(items.fact(id)?, self.wanted.predicates)
            .into_iter()
            .take(EARLIER_READINGS_MAX)
            .map(|fact| match fact.began() {
                Some(time) => format!("{} ({})", fact.object, stretch(time)),
                None => fact.object.clone(),
            })
            .collect();
        (!told.is_empty()).then(|| format!("before: {}", told.join(", ")))
    }

    /// Returns the offer with the words of a source, including the part in `near`. `None` if the reader or the stable
    /// part already has them.
    fn words(&mut self, held: &HeldSource, near: Option<Range<usize>>) -> Option<usize> {
        let source = &held.source;
        if self.wanted.shown.contains(&source.id) {
            return None;
        }
        if let Some((at, known)) = self.of_source.get_mut(&source.id) {
            let is_new = near.as_ref().is_some_and(|near| !known.contains(near));
            known.extend(near);
            if let Some(words) = &mut self.offers[*at].words
                && is_new
                && words.forms.len() > 1
            {
                words.forms = forms(source, known, (&mut self.table, &self.terms));
            }
            return Some(*at);
        }
        let near: Vec<Range<usize>> = near.into_iter().collect();
        let forms = forms(source, &near, (&mut self.table, &self.terms));
        if forms.len() == 1 && (self.wanted.always.contains(&source.id) || self.is_kept_whole(source)) {
            return None;
        }
        let (id, speaker, trust) = (source.id, source.speaker().to_owned(), held.trust);
        // Whatever the words are shown for, they may also state what holds no longer.
        let over = answers::outdated(self.sight, self.wanted.plan, id);
        let over = over.iter().filter_map(|(fact, _)| self.is_over(source, *fact));
        let waits = answers::unconfirmed(self.sight, id);
        let waits = waits.iter().map(|(_, text)| self.remark(source, "not confirmed", text));
        let remarks: Vec<String> = over.chain(waits).collect();
        let remark = (!remarks.is_empty()).then(|| remarks.join("; "));
        let words = Some(Quotation { id, speaker, trust, forms, remark });
        let at = self.offers.len();
        self.of_source.insert(id, (at, near));
        let place = u64::from(self.memory.find(id).unwrap_or_default());
        let (section, said_at, covers) = (Section::Found, source.said_at, vec![id]);
        self.offers.push(Offer {
            section,
            words,
            noted: Vec::new(),
            said_at,
            place,
            value: 0.0,
            with: Vec::new(),
            covers,
        });
        Some(at)
    }

    /// Says that a statement of a source does not hold, and why.
    fn is_over(&self, source: &Source, fact: ItemId) -> Option<String> {
        let fact = self.memory.items().fact(fact)?;
        let word = answers::why_over(self.memory, fact);
        let text = if fact.predicate == REMARK { &fact.object } else { &fact.text };
        Some(self.remark(source, word, text))
    }

    /// A remark about a statement. The words beside which it stands are not repeated.
    fn remark(&self, source: &Source, word: &str, text: &str) -> String {
        let words = |text: &str| normal(text.trim_end_matches(|c: char| c.is_ascii_punctuation()));
        if words(text) == words(&source.text) { word.to_owned() } else { format!("{word}: {text}") }
    }

    /// Returns true if the stable part contains everything a source says, that is, if the source is only a rule of the
    /// user's.
    fn is_kept_whole(&self, source: &Source) -> bool {
        let read = || self.sight.derived.read_from(source.id).filter_map(|id| self.memory.items().fact(id));
        let mut active = read().filter(|fact| fact.is_active());
        active.all(|fact| self.wanted.always.contains(&fact.id))
            && read().any(|fact| {
                self.wanted.always.contains(&fact.id)
                    && source.text.trim().len() <= fact.object.len() + BESIDE_RULE_BYTES_MAX
            })
    }

    fn raise(&mut self, at: usize, value: f64) {
        let offer = &mut self.offers[at];
        offer.value = offer.value.max(value);
    }

    /// Adds an episode in place of its turns, if none of them is shown.
    fn add_story(&mut self, hit: &Answer, value: f64) {
        let Some(episode) = self.memory.items().episode(hit.id) else { return };
        if episode.sources.iter().any(|source| self.wanted.shown.contains(source)) {
            return;
        }
        let noted = Noted { id: hit.id, text: hit.text.clone(), trust: hit.trust, likely: false, remark: None };
        self.offers.push(Offer {
            section: Section::Found,
            words: None,
            noted: vec![noted],
            said_at: hit.said_at,
            place: hit.event_seq,
            value: value * STORY,
            with: Vec::new(),
            covers: episode.sources.clone(),
        });
    }

    fn add_tenet(&mut self, id: ItemId, value: f64) {
        let told = self.memory.items().tenet(id).is_some_and(|tenet| tenet.status == TenetStatus::Confirmed);
        if told && !self.has(id) {
            let hit = answers::of_unasked(self.sight, id);
            let noted = self.noted(&hit, true);
            self.push_statement(&hit, noted, Section::SelfModel, value);
        }
    }

    fn has(&self, id: ItemId) -> bool {
        self.offers.iter().any(|offer| offer.noted.iter().any(|noted| noted.id == id))
    }

    /// Offers open goals, tasks and problems: first the ones found, then the most urgent.
    fn open_tasks(&mut self, drawn: &[DerivedHit]) {
        let items = self.memory.items();
        let open = |id: &ItemId| {
            let task = items.task(*id).filter(|_| !items.is_hidden(*id));
            task.is_some_and(|task| task.status.is_open())
        };
        let mut rest: Vec<_> = items.tasks().filter(|task| open(&task.id)).collect();
        rest.sort_by_cached_key(|task| {
            (task.due.is_none(), task.due, std::cmp::Reverse(task.priority), items.creation_order(task.id))
        });
        self.beside(drawn, ItemKind::Task, &open, rest.into_iter().map(|task| task.id).collect());
    }

    /// Offers confirmed tenets and agreed notes.
    fn lived_by(&mut self, drawn: &[DerivedHit]) {
        let items = self.memory.items();
        let counts = |id: &ItemId| {
            let confirmed = items.tenet(*id).is_some_and(|tenet| tenet.status == TenetStatus::Confirmed);
            let agreed = items.note(*id).is_some_and(Note::is_agreed);
            (confirmed || agreed) && !items.is_hidden(*id)
        };
        self.beside(drawn, ItemKind::Tenet, &counts, items.tenets().map(|tenet| tenet.id).collect());
        self.beside(drawn, ItemKind::Note, &counts, items.notes().map(|note| note.id).collect());
    }

    /// Offers up to `OFFERED_MAX` items of a kind at a low value: first the ones the query found, then the others.
    fn beside(&mut self, drawn: &[DerivedHit], kind: ItemKind, counts: &dyn Fn(&ItemId) -> bool, rest: Vec<ItemId>) {
        let found = drawn.iter().map(|hit| hit.id).filter(|id| id.kind == kind);
        let mut met = BTreeSet::new();
        let all: Vec<ItemId> = found.chain(rest).filter(|id| counts(id) && met.insert(*id)).take(OFFERED_MAX).collect();
        for (place, id) in all.into_iter().enumerate() {
            let value = UNASKED / (1.0 + place as f64 / HALF_AT);
            match kind {
                _ if self.has(id) => {}
                ItemKind::Tenet => self.add_tenet(id, value),
                _ => self.add_statement(&answers::of_unasked(self.sight, id), value),
            }
        }
    }

    /// Adds to each turn the neighbours needed to understand it: the question to a reply, the line before "it" or
    /// "there", the reply to a question. A turn that says nothing by itself gets no value of its own.
    fn side_by_side(&mut self) {
        for at in 0..self.offers.len() {
            let Some(words) = &self.offers[at].words else { continue };
            let (id, text) = (words.id, words.forms[0].0.as_str());
            if id.kind != ItemKind::Turn || self.offers[at].value <= 0.0 {
                continue;
            }
            let (before, after) = self.memory.neighbours(id);
            let others = |held: &&HeldSource| {
                self.memory.get(id).is_some_and(|own| own.source.speaker() != held.source.speaker())
            };
            let question = before.filter(others).filter(|held| pack::is_short_question(&held.source.text));
            let question = question.filter(|_| pack::needs_its_question(text));
            let asks = pack::is_question(text);
            // Every turn belongs to an episode, so episodes do not count.
            let mut read = self.sight.derived.read_from(id).filter(|item| item.kind != ItemKind::Episode);
            let has_statement = !self.offers[at].noted.is_empty() || read.next().is_some();
            let is_alone = before.is_none() && after.is_none();
            // A turn with a statement is shown anyway, so it is not examined.
            let is_empty = !has_statement && !is_alone && pack::is_backchannel(text);
            if is_empty {
                let replies = question.is_some() && !asks && !pack::is_politeness(text);
                let shares = !replies && !asks && pack::have_common(&self.table.terms(text), &self.terms);
                if !replies && !shares {
                    self.offers[at].value = 0.0;
                    continue;
                }
            }
            let leans = before.filter(|_| question.is_none() && pack::leans_on_before(text));
            let reply = after.filter(|_| asks && pack::is_short_question(text)).filter(others);
            for held in [question.or(leans), reply].into_iter().flatten() {
                let is_new = !self.of_source.contains_key(&held.source.id);
                let Some(other) = self.words(held, None) else { continue };
                self.offers[at].with.push(other);
                // Of a neighbour that was not found the question is enough; the rest is shown if there is room.
                let is_question = question.is_some_and(|question| question.source.id == held.source.id);
                if let Some(words) = self.offers[other].words.as_mut().filter(|_| is_new && is_question) {
                    let question = pack::question_in(&held.source.text);
                    if !question.whole {
                        words.forms.insert(0, (question.text, question.span));
                    }
                }
            }
        }
    }
}

/// The forms in which a source may be shown: whole, or the sentences that answer, in two lengths.
fn forms(source: &Source, near: &[Range<usize>], terms: (&mut TermTable, &[u32])) -> Vec<(String, Range<usize>)> {
    let all = excerpts(&source.searchable(), near, terms, &[WHOLE_TOKENS, LONG_TOKENS]);
    // Text of artifacts was not said, so it is marked.
    let added = || source.artifacts.iter().filter(|artifact| !source.text.contains(&artifact.text));
    let marked = |text: String| {
        added().fold(text, |text, artifact| {
            text.replacen(&artifact.text, &format!("[{}: {}]", artifact.kind, artifact.text), 1)
        })
    };
    all.into_iter().map(|one| (marked(one.text), one.span)).collect()
}

/// Returns true for facts a task must respect: preferences, limits and plans.
fn bears(fact: &Fact) -> bool {
    let heeded = matches!(fact.fact_type, FactType::Preference | FactType::Constraint | FactType::Commitment);
    heeded || fact.time_span == TimeSpan::Future
}
