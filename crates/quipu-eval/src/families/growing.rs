//! Consolidation of a simulated year: promotion, reflection, folding and compaction, and whether recall finds
//! everything as before.

use std::sync::Arc;

use quipu_core::event::SourceKind;
use quipu_core::id::UserId;
use quipu_core::item::NoteOrigin;
use quipu_core::predicate::normal;
use quipu_engine::ports::{EmbedError, Embedder, EmbeddingModel};
use quipu_engine::versions::When;
use quipu_engine::{
    ConsolidateOptions, ContextOptions, Engine, Error, FactOptions, MaintainOptions, RecallOptions, RememberOptions,
    Result, Utterance, WriteRequest,
};

use super::super::updates::place::SeededEngine;
use super::super::worlds::{WorldYear, at};
use super::Verdict;

/// Evenings begin at 20:00.
const EVENING: i32 = 20 * 60;
/// Largest share of the items in the active index after a year (design target).
const ACTIVE_MAX: f64 = 0.4;

/// All questions about one year.
pub(super) fn ask(embedder: &Arc<dyn Embedder>, seed: u64, number: usize) -> Result<Vec<Verdict>> {
    let life = WorldYear::make(seed, number)?;
    let place = SeededEngine::make(seed.wrapping_add(number as u64), embedder.clone())?;
    let user = UserId::parse(&life.name)?;
    let year = Year { life: &life, engine: &place.engine, user: &user };
    year.tell(&place)?;
    let apart = SeededEngine::make(seed.wrapping_add(number as u64), Arc::new(Apart::new()))?;
    apart.put(at(life.today, EVENING));
    let mut verdicts = Year { engine: &apart.engine, ..year }.folding()?;
    place.put(at(life.today, EVENING));
    let before = year.found(When::Seq(quipu_engine::status(year.engine, &user)?.version))?;
    let tended = quipu_engine::maintain(year.engine, &user, &MaintainOptions::default())?;
    if let Some(fault) = tended.steps.iter().find_map(|step| step.fault.clone()) {
        return Err(Error::Bug(fault));
    }
    verdicts.extend(year.kept(&before)?);
    verdicts.extend(year.promotion()?);
    verdicts.push(year.reflection()?);
    verdicts.iter_mut().for_each(|verdict| verdict.world.clone_from(&life.name));
    Ok(verdicts)
}

/// An embedder for which no two texts are similar: the gate accepts each spelling as a value of its own, so that
/// compaction has something to fold.
struct Apart(EmbeddingModel);

impl Apart {
    fn new() -> Self {
        let id = "apart/v1".to_owned();
        Self(EmbeddingModel { id, dimensions: 256, tokens_max: 512, english_only: true })
    }
}

impl Embedder for Apart {
    fn model(&self) -> &EmbeddingModel {
        &self.0
    }

    fn embed(&self, texts: &[&str]) -> std::result::Result<Vec<Vec<f32>>, EmbedError> {
        let vector = |text: &&str| {
            let bits = blake3::hash(text.as_bytes());
            let signs = bits.as_bytes().iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1));
            signs.map(|sign| if sign == 1 { 0.0625 } else { -0.0625 }).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }

    fn count_tokens(&self, text: &str) -> usize {
        text.split_whitespace().count()
    }
}

#[derive(Clone, Copy)]
struct Year<'a> {
    life: &'a WorldYear,
    engine: &'a Engine,
    user: &'a UserId,
}

impl Year<'_> {
    fn tell(&self, place: &SeededEngine) -> Result<()> {
        for (number, said) in self.life.said.iter().enumerate() {
            let time = at(said.day, EVENING + i32::try_from(number % 25).unwrap_or(0));
            place.put(time);
            let said = Utterance {
                role: said.role,
                session: Some(format!("day {}", said.day)),
                said_at: Some(time),
                ..Utterance::of_user(said.text.clone())
            };
            let receipt = quipu_engine::remember(self.engine, self.user, &said, &RememberOptions::default())?;
            receipt.lag.map_or(Ok(()), |lag| Err(Error::Bug(lag)))?;
        }
        Ok(())
    }

    fn verdict(&self, family: &str, form: &'static str, question: &str, parts: &[(&str, bool)]) -> Verdict {
        Verdict::of(family, form, format!("{}:{question}", self.life.name), question, parts)
    }

    /// For each place, whether recall finds it among the first answers.
    fn found(&self, when: When) -> Result<Vec<bool>> {
        let found = |(question, place): &(String, String)| {
            let options = RecallOptions { at: when, ..RecallOptions::of(question) };
            let report = quipu_engine::recall(self.engine, self.user, &options)?;
            Ok(report.hits.iter().any(|hit| hit.text.contains(place.as_str())))
        };
        self.life.kept.iter().map(found).collect()
    }

    /// After a year most items are out of the active index, and no answer is lost.
    fn kept(&self, before: &[bool]) -> Result<Vec<Verdict>> {
        let index = quipu_engine::status(self.engine, self.user)?.active_index;
        let small = index.active as f64 <= ACTIVE_MAX * index.items as f64;
        let after = self.found(When::Now)?;
        let asked = self.life.kept.iter().zip(before.iter().zip(&after));
        Ok(asked
            .map(|((question, place), (before, after))| Verdict {
                wanted: vec![place.clone()],
                found: vec![format!("{} of {} items active", index.active, index.items)],
                ..self
                    .verdict(
                        "compaction",
                        "what was said once",
                        question,
                        &[("not lost", *after || !*before), ("small", small)],
                    )
                    .beside(&[("before", *before), ("after", *after)])
            })
            .collect())
    }

    /// Values stated on three days are promoted to the profile, others are not.
    fn promotion(&self) -> Result<Vec<Verdict>> {
        let facts = quipu_engine::facts(self.engine, self.user, &FactOptions::default())?;
        let mut verdicts = Vec::new();
        for (value, often) in &self.life.liked {
            let known = facts
                .iter()
                .find(|shown| shown.fact.predicate == "likes" && normal(&shown.fact.object) == normal(value));
            let promoted = known.is_some_and(|shown| shown.promoted);
            let form = if *often { "on three days" } else { "on fewer" };
            let mut parts = Vec::new();
            // Counts towards precision if promoted, and towards recall if it should be.
            parts.extend(promoted.then_some(("precision", *often)));
            parts.extend(often.then_some(("recall", promoted)));
            let verdict = self.verdict("promotion", form, value, &[("as it should", promoted == *often)]);
            let (wanted, found) = (vec![often.to_string()], vec![promoted.to_string()]);
            verdicts.push(Verdict { wanted, found, ..verdict.beside(&parts) }.aside(known.is_none()));
        }
        Ok(verdicts)
    }

    /// What helped becomes a note that two days support, and the pack for the same trouble contains it; what failed
    /// does not.
    fn reflection(&self) -> Result<Verdict> {
        let notes = quipu_engine::notes(self.engine, self.user, None)?;
        let of = |approach: &str, word: &str| {
            let says = |text: &str| {
                let text = text.to_lowercase();
                text.starts_with(word) && text.contains(approach)
            };
            notes.iter().find(|note| note.origin == NoteOrigin::Rule && says(&note.text))
        };
        let (helped, failed) = (&self.life.helped, &self.life.failed);
        let good = of(helped, "what helped");
        let pack = quipu_engine::context(self.engine, self.user, &ContextOptions::of(&self.life.asked))?;
        let parts = [
            ("noted", good.is_some()),
            ("agreed", good.is_some_and(quipu_core::item::Note::is_agreed)),
            // The sources of the note contain the same words.
            ("in the pack", pack.text.to_lowercase().contains(&helped.to_lowercase())),
            ("not the failed one", of(failed, "what helped").is_none()),
            ("pitfall noted", of(failed, "what did not help").is_some()),
        ];
        let read = quipu_engine::tasks(self.engine, self.user, None, true)?;
        let tried = read.iter().flat_map(|task| &task.attempts).filter(|attempt| attempt.successful.is_some()).count();
        let found = notes.iter().map(|note| note.text.clone()).collect();
        let verdict = self.verdict("reflection", "the same trouble", &self.life.asked, &parts);
        Ok(Verdict { wanted: vec![helped.clone()], found, ..verdict }.aside(tried < 3))
    }

    /// Two spellings of one thing are merged; two things are not.
    fn folding(&self) -> Result<Vec<Verdict>> {
        let user = UserId::parse(&format!("{}-pairs", self.life.name))?;
        let likes: Vec<_> = self
            .life
            .pairs
            .iter()
            .flat_map(|(one, other, _)| [one, other])
            .map(|value| serde_json::json!({"p": "likes", "o": value}))
            .collect();
        let request: WriteRequest = serde_json::from_value(serde_json::json!({"facts": likes}))
            .map_err(|error| Error::Bug(format!("the pairs cannot be written: {error}")))?;
        quipu_engine::write(self.engine, &user, &request, SourceKind::UserEdited)?;
        let holding = || -> Result<Vec<String>> {
            let facts = quipu_engine::facts(self.engine, &user, &FactOptions::default())?;
            Ok(facts.into_iter().map(|shown| shown.fact.object).collect())
        };
        let before = holding()?;
        quipu_engine::compact(self.engine, &user, &ConsolidateOptions::default())?;
        let after = holding()?;
        let both = |held: &[String], one: &String, other: &String| held.contains(one) && held.contains(other);
        let verdict = |(one, other, alike): &(String, String, bool)| {
            // Pairs that the gate merged when they were written are not counted.
            let apart = both(&before, one, other);
            let folded = !both(&after, one, other);
            let form = if *alike { "one thing" } else { "two things" };
            let mut parts = Vec::new();
            parts.extend(folded.then_some(("precision", *alike)));
            parts.extend(alike.then_some(("recall", folded)));
            let question = format!("{one} / {other}");
            let verdict = self.verdict("folding", form, &question, &[("as it should", folded == *alike)]);
            let (wanted, found) = (vec![alike.to_string()], vec![folded.to_string()]);
            Verdict { wanted, found, ..verdict.beside(&parts) }.aside(!apart)
        };
        Ok(self.life.pairs.iter().map(verdict).collect())
    }
}
