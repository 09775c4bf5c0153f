//! Asks the questions and computes their figures.

use std::collections::{BTreeMap, HashMap};

use quipu_core::id::{ItemId, ItemKind};
use quipu_core::recall::{Verdict, terms};
use quipu_engine::{Answer, Engine, Result};
use serde::Serialize;

use super::super::certainty::Stated;
use super::super::corpus::{EvalQuestion, EverydayRequest, PreparedMemory};
use super::super::heard;
use super::super::lines::ResultLine;
use super::super::metrics::{self, Scores};
use super::super::packed::Packed;
use super::shares_a_word;
use crate::render;

/// Pack sizes in tokens.
pub(super) const PACK_SIZES: [usize; 2] = [500, 1500];
/// Longest excerpt in the list of questions, in characters.
const EXCERPT_CHARS: usize = 70;
const DEPTHS: [usize; 3] = [1, 5, 10];
/// The kind of question that needs all of its turns.
const TOGETHER: &str = "several";

/// Kind of the first hit of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum First {
    /// A statement extracted from an answering turn, or containing the answer.
    Statement,
    /// A turn that answers.
    Turn,
    /// An episode that covers a turn that answers.
    Episode,
    /// Anything else, or nothing.
    Wrong,
}

impl First {
    pub(super) const ALL: [Self; 4] = [Self::Statement, Self::Turn, Self::Episode, Self::Wrong];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Statement => "statement",
            Self::Turn => "turn",
            Self::Episode => "episode",
            Self::Wrong => "wrong",
        }
    }
}

/// A question that was asked.
pub(super) struct Answered {
    pub(super) asked: EvalQuestion,
    /// Its figures, including those of which less is better.
    pub(super) scores: Scores,
    pub(super) shares_a_word: bool,
    pub(super) verdict: Verdict,
    pub(super) stated: Stated,
    pub(super) pack_tokens: BTreeMap<usize, usize>,
    pub(super) first: First,
    first_text: String,
    latency_ms: f64,
    found: Vec<String>,
}

/// One question's line in the file of details.
#[derive(Debug, Serialize)]
pub(super) struct Detail<'a> {
    #[serde(flatten)]
    pub(super) line: ResultLine,
    /// Figures of which less is better.
    costs: Scores,
    verdict: Verdict,
    first: First,
    shares_a_word: bool,
    pack_tokens: &'a BTreeMap<usize, usize>,
    #[serde(flatten)]
    words: Option<ShownWords<'a>>,
}

/// Personal content, shown on request only.
#[derive(Debug, Serialize)]
struct ShownWords<'a> {
    answer: Option<&'a str>,
    gold: &'a [String],
    outdated: &'a [String],
    first_text: &'a str,
    found: &'a [String],
}

impl Detail<'_> {
    /// The row that `--detail` prints.
    pub(super) fn row(&self) -> Vec<String> {
        let found = self.line.metrics.get("turn.recall.10").map_or("–".to_owned(), |share| format!("{share:.2}"));
        let first = self.words.as_ref().map(|words| render::excerpt(words.first_text, EXCERPT_CHARS));
        vec![
            self.line.id.clone(),
            self.line.group.clone(),
            found,
            self.verdict.as_str().to_owned(),
            self.first.as_str().to_owned(),
            render::excerpt(&self.line.question, EXCERPT_CHARS),
            first.unwrap_or_default(),
        ]
    }
}

/// True for figures of which less is better.
fn is_cost(name: &str) -> bool {
    name == "outdated_first" || name == "first.wrong" || name.ends_with(".noise")
}

impl Answered {
    pub(super) fn detail(&self, with_words: bool) -> Detail<'_> {
        let (costs, metrics) = self.scores.clone().into_iter().partition(|(name, _)| is_cost(name));
        let words = || ShownWords {
            answer: self.asked.answer.as_deref(),
            gold: &self.asked.gold,
            outdated: &self.asked.outdated,
            first_text: &self.first_text,
            found: &self.found,
        };
        Detail {
            line: ResultLine {
                id: self.asked.id.clone(),
                eval: "assistant".to_owned(),
                group: self.asked.group.clone(),
                question: if with_words { self.asked.question.clone() } else { String::new() },
                metrics,
                latency_ms: Some(self.latency_ms),
                relevance: None,
                confidence: Some(self.stated.0),
                right: Some(self.first != First::Wrong),
            },
            costs,
            verdict: self.verdict,
            first: self.first,
            shares_a_word: self.shares_a_word,
            pack_tokens: &self.pack_tokens,
            words: with_words.then(words),
        }
    }
}

/// A request, and what was injected into its prompt.
pub(super) struct Requested {
    pub(super) bears: bool,
    pub(super) tokens: usize,
    /// The share of the relevant turns that was injected.
    pub(super) there: Option<f64>,
}

/// The memory of one person, with everything needed to ask it.
pub(super) struct Asking<'a> {
    engine: &'a Engine,
    subject: &'a PreparedMemory<'a>,
    /// The sources of every fact.
    read_from: HashMap<ItemId, Vec<ItemId>>,
}

impl<'a> Asking<'a> {
    pub(super) fn of(engine: &'a Engine, subject: &'a PreparedMemory<'a>) -> Result<Self> {
        Ok(Self { engine, subject, read_from: heard::read_from(engine, &subject.told.user)? })
    }

    pub(super) fn ask(&self, asked: &EvalQuestion) -> Result<Answered> {
        let (user, heard) = (&self.subject.told.user, &self.subject.heard);
        let usual = quipu_engine::recall(self.engine, user, &self.subject.usual(&asked.question))?;
        let best = usual.hits.first();
        let first = best.map_or(First::Wrong, |hit| self.kind_of(hit, asked));
        let verdict = usual.decision.verdict;
        let right = (verdict == Verdict::Answer) == asked.answerable;
        let mut scores = Scores::from([("verdict.right".to_owned(), share(right))]);
        let (mut found, mut pack_tokens) = (Vec::new(), BTreeMap::new());
        let gold: Vec<&str> = asked.gold.iter().map(String::as_str).collect();
        if asked.answerable {
            let deep = quipu_engine::recall(self.engine, user, &self.subject.deep(&asked.question))?;
            let turns = heard.ranked_turns(&deep.hits);
            // Any one of several turns that answer will do, unless the question needs all of them.
            let share_of = if asked.group == TOGETHER { metrics::recall } else { metrics::any_of };
            for depth in DEPTHS {
                scores.insert(format!("turn.recall.{depth}"), share_of(&turns, &gold, depth));
            }
            for kind in First::ALL {
                scores.insert(format!("first.{}", kind.as_str()), share(kind == first));
            }
            if !asked.outdated.is_empty() {
                scores.insert("outdated_first".to_owned(), share(self.outdated_first(&deep.hits, asked)));
            }
            for size in PACK_SIZES {
                let packed = Packed::of(self.engine, self.subject, &asked.question, Some(size))?;
                pack_tokens.insert(size, packed.tokens);
                if let Some(coverage) = packed.coverage(self.subject, &asked.gold) {
                    scores.insert(format!("pack.{size}.there"), coverage.there);
                    scores.insert(format!("pack.{size}.strictly"), coverage.strictly);
                }
                if let Some(noise) = self.noise(&packed, &gold) {
                    scores.insert(format!("pack.{size}.noise"), noise);
                }
            }
            found = turns.iter().take(DEPTHS[2]).map(|turn| (*turn).to_owned()).collect();
        }
        let texts = asked.gold.iter().filter_map(|turn| heard.texts.get(turn));
        Ok(Answered {
            shares_a_word: texts.into_iter().any(|text| shares_a_word(&asked.question, text)),
            asked: asked.clone(),
            scores,
            verdict,
            stated: (usual.decision.probability, asked.answerable),
            pack_tokens,
            first,
            first_text: best.map(|hit| hit.text.clone()).unwrap_or_default(),
            latency_ms: (usual.timing.recall_us + usual.timing.embed_us) as f64 / 1e3,
            found,
        })
    }

    fn kind_of(&self, hit: &Answer, asked: &EvalQuestion) -> First {
        let is_gold = |turn: &&str| asked.gold.iter().any(|gold| gold == turn);
        let from_gold = |turns: Vec<&str>| turns.iter().any(is_gold);
        match hit.id.kind {
            ItemKind::Turn | ItemKind::Entry | ItemKind::Document => {
                if from_gold(self.subject.heard.turns_of(hit)) {
                    First::Turn
                } else {
                    First::Wrong
                }
            }
            ItemKind::Episode => {
                if from_gold(self.subject.heard.turns_behind(hit.id, &self.read_from)) {
                    First::Episode
                } else {
                    First::Wrong
                }
            }
            _ => {
                let answer = asked.answer.as_deref().map(terms).unwrap_or_default();
                let says_it = asked.answerable && !answer.is_empty() && answer.is_subset(&terms(&hit.text));
                if says_it || from_gold(self.subject.heard.turns_of(hit)) { First::Statement } else { First::Wrong }
            }
        }
    }

    /// Whether an outdated turn, or an item read from such turns only, ranks above the first that answers.
    fn outdated_first(&self, hits: &[Answer], asked: &EvalQuestion) -> bool {
        let is_in = |turns: &[&str], wanted: &[String]| wanted.iter().any(|turn| turns.contains(&turn.as_str()));
        let decided = hits.iter().find_map(|hit| {
            let turns = self.subject.heard.turns_of(hit);
            let (gold, outdated) = (is_in(&turns, &asked.gold), is_in(&turns, &asked.outdated));
            (gold || outdated).then_some(!gold)
        });
        decided.unwrap_or(false)
    }

    /// The share of a pack's items that come from no turn that answers.
    fn noise(&self, packed: &Packed, gold: &[&str]) -> Option<f64> {
        let from = |id: &ItemId| self.subject.heard.turns_behind(*id, &self.read_from);
        let is_noise = |id: &&ItemId| !from(id).iter().any(|turn| gold.contains(turn));
        let items = packed.citations.len();
        (items > 0).then(|| packed.citations.iter().filter(is_noise).count() as f64 / items as f64)
    }

    pub(super) fn request(&self, request: &EverydayRequest) -> Result<Requested> {
        let packed = Packed::of(self.engine, self.subject, &request.text, None)?;
        let there = packed.coverage(self.subject, &request.bears).map(|coverage| coverage.there);
        Ok(Requested { bears: !request.bears.is_empty(), tokens: packed.tokens, there })
    }
}

fn share(is: bool) -> f64 {
    f64::from(u8::from(is))
}
