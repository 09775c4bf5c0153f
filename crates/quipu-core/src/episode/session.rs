//! A session, analysed once for segmentation and summaries.

use std::ops::Range;

use super::importance::ImportanceSignals;
use super::reading::Reading;
use super::segment::{self, SegmentOptions, Segmentation};
use super::words::{self, Sentence};
use super::{EpisodeTurn, affect, importance, summary, topics};
use crate::id::{ItemId, ItemKind};
use crate::item::Episode;
use crate::item::episode::Affect;
use crate::refusal::Refusal;
use crate::source::Role;

/// All turns of one session, in order, with their sentences and affects. Analysis is the most expensive step, so
/// segmentation and summaries share it.
#[derive(Debug)]
pub struct AnalysedSession<'a> {
    pub(super) turns: &'a [EpisodeTurn<'a>],
    /// By turn.
    pub(super) sentences: Vec<Vec<Sentence>>,
    /// By turn.
    pub(super) affects: Vec<Affect>,
}

/// Analyses a session and calls [`AnalysedSession::compose`].
///
/// # Errors
/// As [`AnalysedSession::compose`].
pub fn compose(
    id: ItemId,
    session_id: Option<&str>,
    turns: &[EpisodeTurn<'_>],
    range: Range<usize>,
    facts: &[(ItemId, Option<String>)],
) -> Result<Episode, Refusal> {
    AnalysedSession::read(turns).compose(id, session_id, range, facts)
}

impl<'a> AnalysedSession<'a> {
    /// Analyses a session. Only the first 8 KiB of each turn are read.
    pub fn read(turns: &'a [EpisodeTurn<'a>]) -> Self {
        let sentences: Vec<Vec<Sentence>> = turns.iter().map(|turn| words::read(turn.text)).collect();
        let affects = turns
            .iter()
            .zip(&sentences)
            .map(|(turn, sentences)| {
                affect::of_sentences(turn.text, sentences.iter().map(|sentence| sentence.span.clone()))
            })
            .collect();
        Self { turns, sentences, affects }
    }

    /// See [`segment()`](super::segment()).
    pub fn segment(&self, options: &SegmentOptions) -> Vec<Range<usize>> {
        segment::all(self, options)
    }

    /// See [`segment_so_far()`](super::segment_so_far()).
    pub fn segment_so_far(&self, options: &SegmentOptions) -> Segmentation {
        segment::so_far(self, options)
    }

    /// Builds the episode of the turns of `range`.
    ///
    /// Later turns are ignored, so the episode does not change when the session continues. `facts` are those extracted
    /// from the range's turns, each with its path in the core document. Start and end are the first and last known
    /// time. Topics, summary, affect and importance follow the rules of this module. `domain` and `tags` are empty.
    ///
    /// # Errors
    /// `Invalid`: the range is empty or exceeds the turns, or the id is not an episode id.
    pub fn compose(
        &self,
        id: ItemId,
        session_id: Option<&str>,
        range: Range<usize>,
        facts: &[(ItemId, Option<String>)],
    ) -> Result<Episode, Refusal> {
        if id.kind != ItemKind::Episode {
            return Err(Refusal::invalid(format!("{id} does not name an episode")));
        }
        if range.is_empty() || range.end > self.turns.len() {
            return Err(Refusal::invalid(format!(
                "turns {} to {} of {} cannot be an episode",
                range.start,
                range.end,
                self.turns.len()
            )));
        }
        let reading = Reading::of(self, range.clone());
        let own = reading.turns;
        let feeling = affect::mean(self.affects[range.clone()].iter().copied());
        let topics = topics::topics(&reading);
        let told = summary::tell(&reading, &topics);
        let importance = importance::importance(&ImportanceSignals {
            facts: facts.len(),
            affect: feeling,
            commitments: own.iter().filter(|turn| importance::is_commitment(turn.text)).count(),
            turns: own.len(),
            user_turns: own.iter().filter(|turn| turn.role == Role::User).count(),
        });
        Ok(Episode {
            id,
            session_id: session_id.map(str::to_owned),
            sources: own.iter().map(|turn| turn.id).collect(),
            turn_range: (position(range.start), position(range.end - 1)),
            title: told.title,
            summary: told.summary,
            raw_excerpt: told.excerpt,
            start: own.iter().filter_map(|turn| turn.said_at).min(),
            end: own.iter().filter_map(|turn| turn.said_at).max(),
            participants: distinct(own.iter().map(|turn| turn.speaker.to_owned())),
            topics,
            sentiment: affect::sentiment(feeling.valence),
            affect: feeling,
            importance,
            related_paths: distinct(facts.iter().filter_map(|(_, path)| path.clone())),
            facts: distinct(facts.iter().map(|&(fact, _)| fact)),
            domain: None,
            tags: Vec::new(),
        })
    }
}

fn position(turn: usize) -> u32 {
    u32::try_from(turn).unwrap_or(u32::MAX)
}

/// Removes duplicates, in order of first appearance.
fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for one in all {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}
