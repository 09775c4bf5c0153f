//! Builds the answers of a recall, with evidence and scores.

use std::collections::BTreeSet;
use std::ops::Range;

use jiff::Timestamp;
use quipu_core::Memory;
use quipu_core::beginning::beginning;
use quipu_core::event::Trust;
use quipu_core::id::{ItemId, ItemKind, Seq};
use quipu_core::item::{Evidence, Fact, FactStatus, Hits, Task};
use quipu_core::recall::{self as stages, AnswerGroup, GroupLead, QueryPlan, Validity};
use serde::Serialize;

use crate::read::recall::ReadView;

/// An answer of a recall.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answer {
    /// The item.
    pub id: ItemId,
    /// Its kind: `turn`, `fact`, `ep` …
    pub kind: &'static str,
    /// Score from 0 to 1: the raw score as a share of the highest possible one.
    pub score: f32,
    /// Sum of the contributions.
    pub raw_score: f32,
    /// Contribution of each feature.
    pub contributions: stages::Contributions,
    /// The speaker; for a fact, its subject.
    pub speaker: String,
    /// Time of the message; for a fact, when it was last stated.
    pub said_at: Option<Timestamp>,
    /// Start of validity, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// End of validity, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<Timestamp>,
    /// Status, unless it is simply active: `contested`, `superseded`, `open`, `completed` …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The session.
    pub session_id: Option<String>,
    /// Its id in the imported data.
    pub native_id: Option<String>,
    /// The part of the item that answers best.
    pub text: String,
    /// Byte range of that part in the item's searchable text.
    #[cfg_attr(feature = "schema", schemars(with = "quipu_core::schema::Span"))]
    pub span: Range<usize>,
    /// Trust of its source.
    pub trust: Trust,
    /// The event that recorded it.
    pub event_seq: Seq,
    /// How often and when it was shown before, as far as recorded.
    #[serde(flatten)]
    pub hits: Hits,
    /// Quotes from the sources it was read from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Quote>,
    /// Items grouped with this answer, because they state the same or are next to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<ItemId>,
    /// Unsettled statements that contradict it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contested_by: Vec<(ItemId, String)>,
    /// Statements in its text that no longer hold or never did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outdated: Vec<(ItemId, String)>,
    /// Statements of others in its text that wait for the user's decision: item and text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unconfirmed: Vec<(ItemId, String)>,
    /// How far what it says can be relied on, 0 to 1: from its source, agreement and likeness to the question.
    pub confidence: f64,
    /// The field of the core document a fact is written to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core_path: Option<String>,
    /// Scores that determine its rank.
    pub standing: stages::UsageScores,
    /// Score of the reranker on its own scale, if the list is in that order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reranked: Option<f32>,
}

/// A quote from a source.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Quote {
    /// The source.
    pub id: ItemId,
    /// The speaker.
    pub speaker: String,
    /// Time of the message.
    pub said_at: Option<Timestamp>,
    /// The quoted text.
    pub text: String,
}

/// A scored item that was not returned.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OmittedAnswer {
    /// The item.
    pub id: ItemId,
    /// The start of its text.
    pub text: String,
    /// Its score.
    pub score: f32,
    /// Contribution of each feature.
    pub contributions: stages::Contributions,
    /// Why it was not returned.
    pub reason: stages::Reason,
}

/// Most quotes per answer.
const QUOTES_MAX: usize = 3;

/// Longest excerpt of an omitted item, in characters.
const EXCERPT_CHARS: usize = 120;

/// Whether answers include quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quotes {
    Told,
    /// Without quotes.
    LeftOut,
}

/// Builds the answer of a group.
pub(crate) fn of_group(sight: &ReadView<'_>, plan: &QueryPlan, quotes: Quotes, group: &AnswerGroup) -> Answer {
    let memory = sight.memory;
    let answer = match &group.lead {
        GroupLead::Source(hit) => {
            let source = memory.sources()[hit.ordinal as usize].source.id;
            Answer {
                outdated: outdated(sight, plan, source),
                unconfirmed: unconfirmed(sight, source),
                ..of_source(memory, group, hit)
            }
        }
        GroupLead::Derived(hit) => {
            let answer = of_derived(memory, quotes, group, hit);
            // The quotations may state more than what they are quoted for.
            let quoted: BTreeSet<ItemId> = answer.evidence.iter().map(|quote| quote.id).collect();
            let over = quoted.into_iter().flat_map(|source| outdated(sight, plan, source));
            Answer { outdated: over.filter(|(id, _)| *id != answer.id).collect(), ..answer }
        }
    };
    Answer { also: group.also.clone(), ..answer }
}

/// A derived item as an answer outside the ranked list.
pub(crate) fn of_item(sight: &ReadView<'_>, hit: &stages::DerivedHit) -> Answer {
    let standing = stages::unasked(sight.memory, hit);
    let (lead, also) = (GroupLead::Derived(hit.clone()), Vec::new());
    let group = AnswerGroup { lead, also, cosine: 0.0, votes: 1, place: hit.score, standing };
    of_derived(sight.memory, Quotes::LeftOut, &group, hit)
}

/// An item as an answer although no query found it, such as an open goal or a rule.
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
        unconfirmed: Vec::new(),
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
        unconfirmed: Vec::new(),
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
    // With a full stop, so that it remains a sentence among quotes.
    answer.text = format!("{}.", fact.text);
    answer.span = 0..fact.text.len();
    answer.speaker.clone_from(&fact.subject);
    answer.said_at = fact.last_seen;
    (answer.valid_from, answer.valid_to) = (fact.valid_from, fact.valid_to);
    answer.core_path = fact.core_path.clone().filter(|_| fact.is_active());
    answer.status = (fact.status != FactStatus::Active).then(|| word(&fact.status)).flatten();
    answer.trust = fact.trust;
    // Includes both sides of a conflict, whichever was found.
    let other = |other: &&Fact| match fact.status {
        FactStatus::Contested => other.is_active() && (other.single || against(memory, fact.id) == Some(other.id)),
        _ => other.status == FactStatus::Contested,
    };
    let items = memory.items();
    let sides = items.in_slot(&fact.slot).filter(|side| side.id != fact.id && !items.is_hidden(side.id)).filter(other);
    answer.contested_by = sides.map(|side| (side.id, side.text.clone())).collect();
}

/// Statements read from a source that no longer hold, although its text states them.
pub(crate) fn outdated(sight: &ReadView<'_>, plan: &QueryPlan, source: ItemId) -> Vec<(ItemId, String)> {
    let items = sight.memory.items();
    let said_at = sight.memory.get(source).and_then(|held| held.source.local_time());
    // The words that ended a statement are evidence of it too, and do not state it.
    let is_end = |fact: &Fact| {
        let replacement = fact.superseded_by.and_then(|by| items.fact(by));
        let is_stated = replacement.is_some_and(|by| by.evidence.iter().any(|place| place.source == source));
        let is_first = fact.evidence.first().is_some_and(|place| place.source == source);
        !is_first && (is_stated || (fact.valid_to.is_some() && said_at >= fact.valid_to))
    };
    let facts = sight.derived.read_from(source).filter(|fact| !plan.admits(items, *fact));
    let known = facts.filter_map(|fact| items.fact(fact)).filter(|fact| {
        if fact.status != FactStatus::Retracted && is_end(fact) {
            return false;
        }
        // A statement about the past is not outdated by being past.
        !fact.tells_of_past() && matches!(fact.status, FactStatus::Superseded | FactStatus::Corrected)
            || fact.status == FactStatus::Retracted
            // It has ended, and nothing took its place.
            || fact.is_active() && plan.validity == Validity::Now(None)
    });
    let remark = |fact: &Fact| match fact.status {
        FactStatus::Corrected | FactStatus::Retracted => format!("{} ({})", fact.text, why_over(sight.memory, fact)),
        _ => fact.text.clone(),
    };
    known.map(|fact| (fact.id, remark(fact))).collect()
}

/// Why a statement does not hold.
pub(crate) fn why_over(memory: &Memory, fact: &Fact) -> &'static str {
    let next = fact.superseded_by.and_then(|next| memory.items().fact(next));
    let is_same = next.is_some_and(|next| next.predicate == fact.predicate && next.object == fact.object);
    match fact.status {
        // The same thing on another day.
        FactStatus::Corrected if is_same => "moved",
        FactStatus::Corrected => "never so",
        FactStatus::Retracted => "taken back",
        _ => "no longer so",
    }
}

/// Statements of others read from a source that wait for the user's decision, although its text states them.
pub(crate) fn unconfirmed(sight: &ReadView<'_>, source: ItemId) -> Vec<(ItemId, String)> {
    let items = sight.memory.items();
    let facts = sight.derived.read_from(source).filter_map(|fact| items.fact(fact));
    let waits = |fact: &&Fact| {
        matches!(fact.status, FactStatus::Uncertain | FactStatus::Contested)
            && fact.trust < Trust::User
            && items.waiting_about(fact.id).next().is_some()
    };
    facts.filter(waits).map(|fact| (fact.id, fact.text.clone())).collect()
}

/// The fact that a contested fact contradicts.
fn against(memory: &Memory, contested: ItemId) -> Option<ItemId> {
    let items = memory.items();
    items.waiting_about(contested).find_map(|review| items.rival(review)).map(|fact| fact.id)
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

/// The sentences around a span, or all of a short text. The rest of a sentence may qualify the clause a fact was read
/// from.
fn sentences_around(text: &str, place: Range<usize>) -> &str {
    /// Longest text that is quoted whole, in bytes.
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

/// The best omitted item.
pub(crate) fn left_out(memory: &Memory, out: &stages::LeftOut) -> OmittedAnswer {
    let source = &memory.sources()[out.ordinal as usize].source;
    OmittedAnswer {
        id: source.id,
        text: beginning(&source.text, EXCERPT_CHARS).to_owned(),
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
