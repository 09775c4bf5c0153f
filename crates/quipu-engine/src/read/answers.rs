//! Answers of a recall: what was found, with its receipts.

use std::ops::Range;

use jiff::Timestamp;
use quipu_core::Memory;
use quipu_core::event::Trust;
use quipu_core::id::{ItemId, ItemKind, Seq};
use quipu_core::item::{Evidence, Fact, FactStatus, Hits, Task};
use quipu_core::recall::{self as stages, AnswerGroup, GroupLead, Validity};
use serde::Serialize;

use crate::read::recall::ReadView;

/// One answer.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// The item.
    pub id: ItemId,
    /// What it is: `turn`, `fact`, `ep` …
    pub kind: &'static str,
    /// From 0 to 1: the raw score as a share of the highest possible.
    pub score: f32,
    /// The sum of the contributions.
    pub raw_score: f32,
    /// What each feature adds.
    pub contributions: stages::Contributions,
    /// Who said it; of a fact, whom it is about.
    pub speaker: String,
    /// When; of a fact, when it was last said.
    pub said_at: Option<Timestamp>,
    /// Since when it holds, as far as known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// Until when it held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<Timestamp>,
    /// How it stands, if there is more to say than that it counts: `contested`, `superseded`, `open`, `completed` …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The conversation or file.
    pub session_id: Option<String>,
    /// Its name where it was imported from.
    pub native_id: Option<String>,
    /// The part of the item that answers best.
    pub text: String,
    /// Where that part stands in the item's searchable text, in bytes.
    pub span: Range<usize>,
    /// How far it may reach.
    pub trust: Trust,
    /// The event that recorded it.
    pub event_seq: Seq,
    /// How often it was shown before, and when last, as far as that is written down.
    #[serde(flatten)]
    pub hits: Hits,
    /// The words it was read from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Quote>,
    /// Items that say the same, or stand around it, and take no place of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<ItemId>,
    /// What is said against it and not settled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contested_by: Vec<(ItemId, String)>,
    /// What its words say that holds no longer, or never did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outdated: Vec<(ItemId, String)>,
    /// How sure it is as an answer to this question, 0 to 1.
    pub confidence: f64,
    /// Of a fact: the field of the core document it is written to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core_path: Option<String>,
    /// What its place in the list follows from.
    pub standing: stages::UsageScores,
    /// What the reranker said of it, on its own scale: then the list is in that order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reranked: Option<f32>,
}

/// Words of a source.
#[derive(Debug, Clone, Serialize)]
pub struct Quote {
    /// The source.
    pub id: ItemId,
    /// Who said it.
    pub speaker: String,
    /// When.
    pub said_at: Option<Timestamp>,
    /// The words.
    pub text: String,
}

/// An item that was scored and not returned.
#[derive(Debug, Clone, Serialize)]
pub struct OmittedAnswer {
    /// The item.
    pub id: ItemId,
    /// The start of its text.
    pub text: String,
    /// Its score.
    pub score: f32,
    /// What each feature adds.
    pub contributions: stages::Contributions,
    /// Why it was not returned.
    pub reason: stages::Reason,
}

/// Quotes beside one answer.
const QUOTES_MAX: usize = 3;

/// Longest piece of an item's text beside a score, in characters.
const EXCERPT_CHARS: usize = 120;

/// Whether the words an answer was read from are told beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quotes {
    Told,
    /// The reader has no use for them.
    LeftOut,
}

/// The answer a group stands for.
pub(crate) fn of_group(sight: &ReadView<'_>, validity: &Validity, quotes: Quotes, group: &AnswerGroup) -> Answer {
    let memory = sight.memory;
    let answer = match &group.lead {
        GroupLead::Source(hit) => Answer {
            outdated: outdated(sight, validity, memory.sources()[hit.ordinal as usize].source.id),
            ..of_source(memory, group, hit)
        },
        GroupLead::Derived(hit) => of_derived(memory, quotes, group, hit),
    };
    Answer { also: group.also.clone(), ..answer }
}

/// What a drawn item says, apart from the list of answers.
pub(crate) fn of_item(sight: &ReadView<'_>, hit: &stages::DerivedHit) -> Answer {
    let standing = stages::unasked(sight.memory, hit);
    let (lead, also) = (GroupLead::Derived(hit.clone()), Vec::new());
    let group = AnswerGroup { lead, also, cosine: 0.0, votes: 1, place: hit.score, standing };
    of_derived(sight.memory, Quotes::LeftOut, &group, hit)
}

/// An item nobody asked for by its words: an open goal, a rule.
pub(crate) fn of_unasked(sight: &ReadView<'_>, id: ItemId) -> Answer {
    let witness = sight.derived.sources(sight.memory.items(), id).first().and_then(|source| sight.memory.find(*source));
    let (score, relevance, contributions) = (0.0, 0.0, stages::Contributions::default());
    let arms = stages::Arms::default();
    of_item(sight, &stages::DerivedHit { id, score, relevance, contributions, witness, arms })
}

fn of_source(memory: &Memory, group: &AnswerGroup, hit: &stages::Hit) -> Answer {
    let held = &memory.sources()[hit.ordinal as usize];
    let source = &held.source;
    let searchable = source.searchable();
    Answer {
        id: source.id,
        kind: source.id.kind.as_str(),
        score: hit.relevance,
        raw_score: hit.score,
        contributions: hit.contributions,
        speaker: source.speaker().to_owned(),
        said_at: source.said_at,
        valid_from: None,
        valid_to: None,
        status: None,
        session_id: source.session.as_deref().map(str::to_owned),
        native_id: source.native_id.as_deref().map(str::to_owned),
        text: searchable.get(hit.span.clone()).unwrap_or(&searchable).to_owned(),
        span: hit.span.clone(),
        trust: held.trust,
        event_seq: held.seq,
        hits: memory.items().hits(source.id),
        evidence: Vec::new(),
        also: Vec::new(),
        contested_by: Vec::new(),
        outdated: Vec::new(),
        confidence: group.standing.confidence,
        core_path: None,
        standing: group.standing,
        reranked: None,
    }
}

fn of_derived(memory: &Memory, told: Quotes, group: &AnswerGroup, hit: &stages::DerivedHit) -> Answer {
    let quotes = |evidence: &[Evidence]| if told == Quotes::Told { quotes(memory, evidence) } else { Vec::new() };
    let items = memory.items();
    let witness = hit.witness.and_then(|ordinal| memory.sources().get(ordinal as usize));
    let text = items.text(hit.id).unwrap_or_default().to_owned();
    let mut answer = Answer {
        id: hit.id,
        kind: hit.id.kind.as_str(),
        score: hit.relevance,
        raw_score: hit.score,
        contributions: hit.contributions,
        speaker: hit.id.kind.as_str().to_owned(),
        said_at: witness.and_then(|held| held.source.said_at),
        valid_from: None,
        valid_to: None,
        status: None,
        session_id: witness.and_then(|held| held.source.session.as_deref()).map(str::to_owned),
        native_id: None,
        span: 0..text.len(),
        text,
        trust: witness.map_or(Trust::User, |held| held.trust),
        event_seq: items.made_by(hit.id).unwrap_or_default(),
        hits: items.hits(hit.id),
        evidence: Vec::new(),
        also: Vec::new(),
        contested_by: Vec::new(),
        outdated: Vec::new(),
        confidence: group.standing.confidence,
        core_path: None,
        standing: group.standing,
        reranked: None,
    };
    match hit.id.kind {
        ItemKind::Fact => {
            if let Some(fact) = items.fact(hit.id) {
                fill_fact(memory, &mut answer, fact);
                answer.evidence = quotes(&fact.evidence);
            }
        }
        ItemKind::Task => {
            if let Some(task) = items.task(hit.id) {
                answer.text = task_text(task);
                answer.span = 0..answer.text.len();
                let due = task.due.map(|due| format!(", due {}", due.strftime("%Y-%m-%d"))).unwrap_or_default();
                answer.status = word(&task.status).map(|status| status + &due);
                answer.speaker = word(&task.kind).unwrap_or_default();
                answer.said_at = task.updated_at.or(task.created_at);
                answer.trust = task.trust;
                answer.evidence = quotes(&task.evidence);
            }
        }
        ItemKind::Episode => {
            if let Some(one) = items.episode(hit.id) {
                answer.text = format!("{}: {}", one.title, one.summary);
                answer.span = 0..answer.text.len();
                (answer.said_at, answer.session_id) = (one.start, one.session_id.clone());
                answer.speaker = one.participants.join(", ");
            }
        }
        ItemKind::Note => {
            if let Some(note) = items.note(hit.id) {
                answer.trust = note.trust;
                answer.evidence = quotes(&note.evidence);
            }
        }
        _ => answer.status = items.tenet(hit.id).and_then(|tenet| word(&tenet.status)),
    }
    answer
}

fn fill_fact(memory: &Memory, answer: &mut Answer, fact: &Fact) {
    // A whole sentence: quoted beside others it stays one.
    answer.text = format!("{}.", fact.text);
    answer.span = 0..fact.text.len();
    answer.speaker.clone_from(&fact.subject);
    answer.said_at = fact.last_seen;
    (answer.valid_from, answer.valid_to) = (fact.valid_from, fact.valid_to);
    answer.core_path = fact.core_path.clone().filter(|_| fact.is_active());
    answer.status = (fact.status != FactStatus::Active).then(|| word(&fact.status)).flatten();
    answer.trust = fact.trust;
    // Both sides of what is contested, whichever of them was found.
    let other = |other: &&Fact| match fact.status {
        FactStatus::Contested => other.is_active() && (other.single || against(memory, fact.id) == Some(other.id)),
        _ => other.status == FactStatus::Contested,
    };
    let items = memory.items();
    let sides = items.in_slot(&fact.slot).filter(|side| side.id != fact.id && !items.is_hidden(side.id)).filter(other);
    answer.contested_by = sides.map(|side| (side.id, side.text.clone())).collect();
}

/// Statements read from a source that hold no longer: its words are still what was said.
fn outdated(sight: &ReadView<'_>, validity: &Validity, source: ItemId) -> Vec<(ItemId, String)> {
    let items = sight.memory.items();
    let facts = sight.derived.read_from(source).filter(|fact| !validity.admits(items, *fact));
    let known = facts.filter_map(|fact| items.fact(fact)).filter(|fact| {
        // What was told as past is past in the words too.
        !fact.tells_of_past() && matches!(fact.status, FactStatus::Superseded | FactStatus::Corrected)
            || fact.status == FactStatus::Retracted
    });
    known.map(|fact| (fact.id, fact.text.clone())).collect()
}

/// What a contested fact stands against.
fn against(memory: &Memory, contested: ItemId) -> Option<ItemId> {
    memory.items().waiting_about(contested).find_map(|review| review.against)
}

fn task_text(task: &Task) -> String {
    let tried = task.attempts.iter().map(|attempt| {
        let outcome = match (attempt.outcome.is_empty(), attempt.successful) {
            (false, _) => format!(": {}", attempt.outcome),
            (true, Some(true)) => ": it helped".to_owned(),
            (true, Some(false)) => ": it did not help".to_owned(),
            (true, None) => String::new(),
        };
        format!("; tried {}{outcome}", attempt.approach)
    });
    format!("{}{}", task.title, tried.collect::<String>())
}

fn word(value: &impl Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}

fn quotes(memory: &Memory, evidence: &[Evidence]) -> Vec<Quote> {
    let quote = |place: &Evidence| {
        let source = &memory.get(place.source)?.source;
        let words = sentences_around(&source.text, place.start as usize..place.end as usize);
        let (speaker, text) = (source.speaker().to_owned(), words.trim().to_owned());
        Some(Quote { id: source.id, speaker, said_at: source.said_at, text })
    };
    evidence.iter().rev().filter_map(quote).take(QUOTES_MAX).collect()
}

/// The whole sentences a place stands in; a short text whole. What was read out of a clause may leave out what the rest of the
/// sentence says.
fn sentences_around(text: &str, place: Range<usize>) -> &str {
    /// A text that is no longer is quoted whole, in bytes.
    const WHOLE_MAX: usize = 240;
    if text.len() <= WHOLE_MAX || text.get(place.clone()).is_none() {
        return text;
    }
    let is_end = |(at, mark): &(usize, &str)| {
        let after = &text[at + mark.len()..];
        *mark == "\n" || after.starts_with(char::is_whitespace)
    };
    let ends = || text.match_indices(['.', '!', '?', '\n']).filter(is_end);
    let start = ends().map(|(at, mark)| at + mark.len()).take_while(|end| *end <= place.start).last().unwrap_or(0);
    let end = ends().map(|(at, mark)| at + mark.len()).find(|end| *end >= place.end).unwrap_or(text.len());
    &text[start..end]
}

/// The runner-up behind the answers.
pub(crate) fn left_out(memory: &Memory, out: &stages::LeftOut) -> OmittedAnswer {
    let source = &memory.sources()[out.ordinal as usize].source;
    OmittedAnswer {
        id: source.id,
        text: source.text.chars().take(EXCERPT_CHARS).collect(),
        score: out.score,
        contributions: out.contributions,
        reason: out.reason,
    }
}

#[cfg(test)]
mod tests {
    use super::sentences_around;

    #[test]
    fn a_quote_has_whole_sentences() {
        let short = "We adopted a cat, her name is Pixel.";
        assert_eq!(sentences_around(short, 0..16), short);
        let long = format!("{} I like tea, e.g. green tea. Bye!", "Nothing to see here. ".repeat(20));
        let at = long.find("like").unwrap_or_default();
        assert_eq!(sentences_around(&long, at..at + 8).trim(), "I like tea, e.g.");
        assert_eq!(sentences_around(&long, long.len() - 4..long.len()).trim(), "Bye!");
    }
}
