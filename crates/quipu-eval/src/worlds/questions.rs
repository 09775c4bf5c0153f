//! Questions about a world, with the right answers.

use super::day::Day;
use super::{LAST, Slot, WorldRng};

/// Days asked about in one slot.
const DAYS_ASKED: usize = 4;

/// A question about a slot.
#[derive(Debug, Clone)]
pub(crate) enum Ask {
    /// Which values hold now.
    Now,
    /// Which values held on a day.
    On(Day),
    /// Whether a value was ever claimed.
    Ever(String),
}

/// A question and its answer.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) slot: usize,
    pub(crate) ask: Ask,
    /// The values that held; for [`Ask::Ever`] the value, if it was claimed.
    pub(crate) wanted: Vec<String>,
}

pub(super) fn about(slots: &[Slot], dice: &mut WorldRng) -> Vec<Question> {
    let mut all = Vec::new();
    for (slot, story) in slots.iter().enumerate().filter(|(_, story)| !story.said.is_empty()) {
        let owned = |values: Vec<&str>| values.into_iter().map(str::to_owned).collect();
        all.push(Question { slot, ask: Ask::Now, wanted: owned(story.now()) });
        for day in days(story, dice) {
            all.push(Question { slot, ask: Ask::On(day), wanted: owned(story.on(day)) });
        }
        let mut said = story.said.clone();
        said.sort();
        said.dedup();
        dice.shuffle(&mut said);
        said.truncate(2);
        said.extend(story.corrected.first().cloned());
        said.dedup();
        let claimed = said.into_iter().map(|value| (value.clone(), vec![value]));
        let unsaid = story.unsaid.iter().map(|value| (value.clone(), Vec::new()));
        all.extend(claimed.chain(unsaid).map(|(value, wanted)| Question { slot, ask: Ask::Ever(value), wanted }));
    }
    all
}

/// Decided days: one inside every span, up to the limit, and one before anything is known.
fn days(story: &Slot, dice: &mut WorldRng) -> Vec<Day> {
    let mut found = Vec::new();
    for span in &story.spans {
        let to = span.to.unwrap_or(LAST + 1);
        let sure: Vec<Day> = (span.from..to).filter(|&day| story.is_sure(day)).collect();
        found.extend(dice.pick(&sure).copied());
    }
    dice.shuffle(&mut found);
    found.truncate(DAYS_ASKED - 1);
    let first = story.spans.iter().map(|span| span.from).min().unwrap_or(0);
    let before: Vec<Day> = (first - 90..first).filter(|&day| story.is_sure(day)).collect();
    found.extend(dice.pick(&before).copied());
    found.sort_unstable();
    found.dedup();
    found
}
