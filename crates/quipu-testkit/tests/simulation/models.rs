//! The models of one process, with the behaviour that the schedule asks for: they time out, take long, answer what
//! does not fit the input, or invent.

use std::sync::{Arc, Mutex, PoisonError};

use quipu_core::extract::window::{ModelReply, Op, Operation, RuleVerdict, Window};
use quipu_core::extract::{Extraction, FactCandidate, Reading, SpokenDate, Stance, USER};
use quipu_core::id::UserId;
use quipu_core::session::{KnownEntry, MergeProposed, RuleBook, SummaryProposal, TruthDiff};
use quipu_engine::ports::{Clock, ExtractError, Extractor, SummarizeError, Summarizer, SummaryInput, WindowReader};
use quipu_models::RuleExtractor;
use quipu_testkit::{FixedClock, Rng};

use crate::schedule::Mood;
use crate::store::Calls;

/// A word in everything that a model invents. Nobody says it.
pub(crate) const LIE: &str = "Zuqliek";

struct Behaviour {
    mood: Mood,
    dice: Rng,
}

/// What the models of one process share.
#[derive(Clone)]
pub(crate) struct Models {
    rules: Arc<RuleExtractor>,
    behaviour: Arc<Mutex<Behaviour>>,
    calls: Calls,
    clock: Arc<FixedClock>,
}

impl Models {
    pub(crate) fn new(rules: Arc<RuleExtractor>, calls: Calls, clock: Arc<FixedClock>) -> Self {
        let behaviour = Arc::new(Mutex::new(Behaviour { mood: Mood::Well, dice: Rng::new(0) }));
        Self { rules, behaviour, calls, clock }
    }

    /// Sets the behaviour during a step.
    pub(crate) fn behave(&self, mood: Mood, seed: u64) {
        *self.behaviour.lock().unwrap_or_else(PoisonError::into_inner) = Behaviour { mood, dice: Rng::new(seed) };
    }

    /// A call of a model: time passes, and other processes act.
    fn called(&self) -> (Mood, u64) {
        let (mood, random) = {
            let mut behaviour = self.behaviour.lock().unwrap_or_else(PoisonError::into_inner);
            (behaviour.mood, behaviour.dice.roll())
        };
        if let Mood::Slow(seconds) = mood {
            self.clock.put(self.clock.now().as_microsecond() + i64::from(seconds) * 1_000_000);
        }
        self.calls.pass();
        (mood, random)
    }
}

const OUT: &str = "simulated: no answer in time";

impl Extractor for Models {
    fn id(&self) -> &str {
        self.rules.id()
    }

    fn read(&self, reading: &Reading<'_>) -> Result<Extraction, ExtractError> {
        let (mood, random) = self.called();
        let mut found = self.rules.read(reading)?;
        match mood {
            Mood::Out | Mood::Garbled => return Err(ExtractError::Unavailable(OUT.to_owned())),
            Mood::Lying => {
                // Spans within the text, across its end, and beyond it.
                let start = random as usize % (reading.text.len() + 8);
                let end = start + (random >> 32) as usize % 12;
                found.facts.push(FactCandidate {
                    subject: USER.to_owned(),
                    predicate: "lives_in".to_owned(),
                    object: format!("{LIE}{}", random % 3),
                    span: start..end,
                    stance: Stance::Holds,
                    valid_from: None,
                    valid_to: None,
                    confidence: 1.0,
                    qualifiers: Default::default(),
                });
            }
            Mood::Well | Mood::Slow(_) => {}
        }
        Ok(found)
    }

    fn dates(&self, text: &str, said_at: Option<jiff::Timestamp>) -> Vec<SpokenDate> {
        self.rules.dates(text, said_at)
    }
}

impl WindowReader for Models {
    fn id(&self) -> &str {
        "simulated reader/v1"
    }

    fn read(&self, _: &UserId, window: &Window) -> Result<ModelReply, ExtractError> {
        let (mood, random) = self.called();
        let mut reply = ModelReply::default();
        match mood {
            Mood::Out => return Err(ExtractError::Unavailable(OUT.to_owned())),
            Mood::Garbled => return Err(ExtractError::Run("simulated: no JSON".to_owned())),
            Mood::Lying => reply = lies(window, random),
            Mood::Well | Mood::Slow(_) => {}
        }
        Ok(reply)
    }
}

/// Operations that no text supports: on items that were not shown, with words that were not said, without a quotation.
fn lies(window: &Window, random: u64) -> ModelReply {
    let mark = window.messages.last().map_or("m1", |message| message.mark.as_str()).to_owned();
    let known = window.known.first().map_or("f1", |known| known.mark.as_str()).to_owned();
    let quote = match random % 3 {
        0 => String::new(),
        1 => format!("I moved to {LIE}"),
        _ => window.messages.last().map(|message| message.text.clone()).unwrap_or_default(),
    };
    let lie = Operation {
        about: "user".to_owned(),
        relation: "lives_in".to_owned(),
        value: LIE.to_owned(),
        sentence: format!("The user lives in {LIE}"),
        message: mark,
        quote,
        ..Operation::default()
    };
    let operations = vec![
        lie.clone(),
        Operation { op: Op::Update, id: "f99".to_owned(), ..lie.clone() },
        Operation { op: Op::Update, id: known.clone(), ..lie.clone() },
        Operation { op: Op::End, id: known, quote: format!("no more {LIE}"), ..lie.clone() },
        Operation { message: "m77".to_owned(), ..lie },
    ];
    ModelReply { operations, readings: vec![RuleVerdict { id: "f98".to_owned(), right: false }] }
}

impl Summarizer for Models {
    fn id(&self) -> &str {
        "simulated summariser/v1"
    }

    fn summarize(&self, input: &SummaryInput) -> Result<SummaryProposal, SummarizeError> {
        let (mood, random) = self.called();
        match mood {
            Mood::Out => Err(SummarizeError::Unavailable(OUT.to_owned())),
            Mood::Garbled => Err(SummarizeError::Malformed("simulated: no JSON".to_owned())),
            Mood::Lying => {
                let shown = input.base_truth.first().map(|entry| entry.id.to_string());
                let remove = vec![shown.filter(|_| random.is_multiple_of(2)).unwrap_or_else(|| "t99".to_owned())];
                let base_truth_diff = TruthDiff { remove, ..TruthDiff::default() };
                Ok(SummaryProposal {
                    base_truth_diff,
                    ..RuleBook::english().propose(&input.user, &input.assistant, input.depth, &input.base_truth)
                })
            }
            Mood::Well | Mood::Slow(_) => {
                Ok(RuleBook::english().propose(&input.user, &input.assistant, input.depth, &input.base_truth))
            }
        }
    }

    fn consolidate(&self, _: &UserId, base_truth: &[KnownEntry]) -> Result<Vec<MergeProposed>, SummarizeError> {
        let (mood, _) = self.called();
        match mood {
            Mood::Out => Err(SummarizeError::Unavailable(OUT.to_owned())),
            Mood::Garbled => Err(SummarizeError::Malformed("simulated: no JSON".to_owned())),
            Mood::Lying | Mood::Well | Mood::Slow(_) => Ok(RuleBook::english().merges(base_truth)),
        }
    }
}
