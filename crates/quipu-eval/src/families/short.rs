//! Short stories for the families *conflicts*, *forgetting*, *silence* and *learning*.

use std::path::Path;
use std::sync::Arc;

use quipu_core::id::{ItemKind, UserId};
use quipu_core::predicate::normal;
use quipu_engine::erase::EraseTarget;
use quipu_engine::ports::Embedder;
use quipu_engine::versions::When;
use quipu_engine::{
    Answer, ContextOptions, Engine, Error, FactOptions, FactShown, ListOptions, RecallOptions, RecallReport, Result,
};

use super::super::updates::place::SeededEngine;
use super::super::updates::telling;
use super::super::worlds::{Plot, Short, Slot, at};
use super::Verdict;

/// No event of a story is at noon.
const NOON: i32 = 12 * 60;

/// Tests a story after it was imported.
type Judge = fn(&StoryMemory<'_>) -> Result<Verdict>;

/// One question of every family but *temporal*.
pub(super) fn ask(embedder: &Arc<dyn Embedder>, seed: u64, number: usize) -> Result<Vec<Verdict>> {
    let plots: [(Plot, Judge); 4] =
        [(Plot::Contradicted, contradicted), (Plot::Secret, forgotten), (Plot::Silent, silent), (Plot::Told, learnt)];
    let one = |(plot, judge): (Plot, Judge)| {
        let short = Short::make(seed, number, plot)?;
        // A folder of its own, so that anything left on disk is of this story.
        let place = SeededEngine::make(seed.wrapping_add(number as u64), embedder.clone())?;
        let user = UserId::parse(&short.world.name)?;
        let heard = telling::tell(&place, &user, &short.world)?;
        place.put(at(short.today, NOON));
        let verdict = judge(&StoryMemory { place: &place, user: &user, short: &short })?;
        let world = short.world.name.clone();
        Ok(Verdict { world, ..verdict }.aside(!heard.set_aside.is_empty()))
    };
    plots.into_iter().map(one).collect()
}

/// A story in memory.
struct StoryMemory<'a> {
    place: &'a SeededEngine,
    user: &'a UserId,
    short: &'a Short,
}

impl StoryMemory<'_> {
    fn engine(&self) -> &Engine {
        &self.place.engine
    }

    fn slot(&self) -> &Slot {
        &self.short.world.slots[0]
    }

    fn verdict(&self, family: &str, found: Vec<String>, parts: &[(&str, bool)]) -> Verdict {
        let (id, form) = (self.short.world.name.clone(), if self.is_users() { "the user" } else { "somebody else" });
        let wanted = vec![self.short.value.clone()];
        Verdict { wanted, found, ..Verdict::of(family, form, id, &self.short.asks.now, parts) }
    }

    fn is_users(&self) -> bool {
        self.slot().subject == quipu_core::extract::USER
    }

    fn recall(&self) -> Result<RecallReport> {
        quipu_engine::recall(self.engine(), self.user, &RecallOptions::of(&self.short.asks.now))
    }

    fn pack(&self) -> Result<quipu_core::pack::Pack> {
        quipu_engine::context(self.engine(), self.user, &ContextOptions::of(&self.short.asks.now))
    }

    fn facts(&self, all: bool) -> Result<Vec<FactShown>> {
        quipu_engine::facts(self.engine(), self.user, &FactOptions { all, ..FactOptions::default() })
    }
}

fn texts<'a>(hits: impl IntoIterator<Item = &'a Answer>) -> Vec<String> {
    hits.into_iter().map(|hit| format!("{}: {}", hit.kind, hit.text)).collect()
}

/// Both sides are shown, a question is asked, and the user's statement stays in force meanwhile.
fn contradicted(told: &StoryMemory<'_>) -> Result<Verdict> {
    let (slot, short) = (told.slot(), told.short);
    let report = told.recall()?;
    let all: String = report
        .hits
        .iter()
        .flat_map(|hit| std::iter::once(&hit.text).chain(hit.contested_by.iter().map(|(_, text)| text)))
        .fold(String::new(), |all, text| all + text + "\n");
    let conflicts = quipu_engine::conflicts(told.engine(), told.user)?;
    let is = |shown: &FactShown, value: &str| {
        let fact = &shown.fact;
        fact.subject == slot.subject && fact.predicate == slot.predicate && normal(&fact.object) == normal(value)
    };
    let listed = conflicts.iter().find(|conflict| {
        is(&conflict.contested, &short.rival) && conflict.against.iter().any(|other| is(other, &short.value))
    });
    let question = listed.and_then(|conflict| conflict.question.clone());
    let pack = told.pack()?.text;
    let holds: Vec<FactShown> = told.facts(false)?;
    let parts = [
        ("listed", listed.is_some()),
        ("both sides recalled", all.contains(&short.value) && all.contains(&short.rival)),
        ("asked", question.as_ref().is_some_and(|question| !question.is_empty())),
        ("in the pack", pack.contains(&short.value) && pack.contains(&short.rival)),
        ("stands", holds.iter().any(|fact| is(fact, &short.value)) && !holds.iter().any(|fact| is(fact, &short.rival))),
    ];
    Ok(told.verdict("conflicts", texts(report.hits.iter().take(3)), &parts))
}

/// After every source with it is erased, nothing finds it and no file contains it.
fn forgotten(told: &StoryMemory<'_>) -> Result<Verdict> {
    let value = &told.short.value;
    let options = ListOptions { at: When::Now, session: None, kind: None, offset: 0, limit: usize::MAX };
    let page = quipu_engine::list(told.engine(), told.user, &options)?;
    let holding = page.items.iter().filter(|item| item.text.contains(value.as_str()));
    let said: Vec<EraseTarget> = holding
        .filter(|item| matches!(item.id.kind, ItemKind::Turn | ItemKind::Entry | ItemKind::Document))
        .map(|item| EraseTarget::Item(item.id))
        .collect();
    quipu_engine::erase(told.engine(), told.user, &said, "the story asks for it", &mut |_| {})?;
    let report = told.recall()?;
    let again = quipu_engine::recall(told.engine(), told.user, &RecallOptions::of(value))?;
    let found: Vec<&Answer> = report.hits.iter().chain(&again.hits).filter(|hit| says(hit, value)).collect();
    let facts = told.facts(true)?;
    let parts = [
        ("was there", !said.is_empty()),
        ("not recalled", found.is_empty()),
        ("not in a pack", !told.pack()?.text.contains(value.as_str())),
        ("no fact", !facts.iter().any(|shown| normal(&shown.fact.object) == normal(value))),
        ("no byte on disk", !is_in(&told.place.folder.path().join("data"), value.as_bytes())?),
    ];
    Ok(told.verdict("forgetting", texts(found), &parts))
}

fn says(hit: &Answer, value: &str) -> bool {
    let beside = hit.evidence.iter().map(|quote| &quote.text).chain(hit.contested_by.iter().map(|(_, text)| text));
    std::iter::once(&hit.text).chain(beside).any(|text| text.contains(value))
}

/// True if a file below a folder contains these bytes.
fn is_in(folder: &Path, bytes: &[u8]) -> Result<bool> {
    let cannot = |error: std::io::Error| Error::Unavailable(format!("cannot read {}: {error}", folder.display()));
    for entry in std::fs::read_dir(folder).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        let holds = if path.is_dir() {
            is_in(&path, bytes)?
        } else {
            std::fs::read(&path).map_err(cannot)?.windows(bytes.len()).any(|window| window == bytes)
        };
        if holds {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Nothing is known about the person in question, and facts about others are not offered as an answer.
fn silent(told: &StoryMemory<'_>) -> Result<Verdict> {
    let slot = told.slot();
    let (report, pack) = (told.recall()?, told.pack()?);
    let facts = told.facts(true)?;
    let cited = facts.iter().filter(|shown| pack.citations.contains(&shown.fact.id));
    let of_others = cited.filter(|shown| shown.fact.predicate == slot.predicate && shown.fact.subject != slot.subject);
    let found: Vec<String> = of_others.map(|shown| shown.fact.text.clone()).collect();
    let best = report.hits.first();
    let declined = report.decision.verdict != quipu_core::recall::Verdict::Answer;
    let parts = [("nothing of others in the pack", found.is_empty()), ("declined", declined)];
    let mut verdict = told.verdict("silence", found, &parts);
    verdict.wanted.clear();
    verdict.line.relevance = best.map(|hit| f64::from(hit.score));
    verdict.line.confidence = best.map(|hit| hit.confidence);
    Ok(verdict)
}

/// Stated once and asked at once.
fn learnt(told: &StoryMemory<'_>) -> Result<Verdict> {
    let value = &told.short.value;
    let report = told.recall()?;
    let parts = [
        ("first", report.hits.first().is_some_and(|hit| hit.text.contains(value.as_str()))),
        ("in the pack", told.pack()?.text.contains(value.as_str())),
    ];
    let mut verdict = told.verdict("learning", texts(report.hits.iter().take(3)), &parts);
    verdict.line.confidence = report.hits.first().map(|hit| hit.confidence);
    verdict.line.relevance = report.hits.first().map(|hit| f64::from(hit.score));
    Ok(verdict)
}
