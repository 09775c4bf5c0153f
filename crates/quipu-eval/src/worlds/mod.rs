//! Simulated worlds with fixed seeds: a user and a few people over three years, the facts about them, and the messages.
//!
//! The truth is decided first. Then it is stated at once or long after, with and without dates, repeated, corrected,
//! denied, and contradicted by unreliable sources. A question about a day is asked only where the messages decide the
//! answer.

mod day;
mod dice;
mod language;
mod life;
mod many;
mod past;
mod questions;
mod short;
mod single;
mod teller;

use quipu_core::extract::USER;
use quipu_engine::Result;

pub(super) use day::{Day, at, date_of};
pub(super) use dice::WorldRng;
pub(super) use life::WorldYear;
pub(super) use past::{Asking, FACTS_AT, Past, about as about_the_past};
pub(super) use questions::{Ask, Question};
pub(super) use short::{Plot, Short};

use language::Language;
use teller::Teller;

/// The last day of a story.
const LAST: Day = 1250;
/// The day of the first messages.
const START: Day = 20;

/// Who says something, and how it reaches the memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WorldSpeaker {
    /// The user, when it happens.
    User,
    /// The user, long ago: imported as the user's own words.
    Archive,
    /// Somebody else, imported; with or without a name.
    Import(Option<String>),
    /// A tool.
    Tool,
    /// The assistant.
    Assistant,
}

impl WorldSpeaker {
    /// True if it may not change what the user said.
    pub(super) fn is_weak(&self) -> bool {
        !matches!(self, Self::User | Self::Archive)
    }
}

/// How a claim should be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpectedReading {
    /// It holds, or holds from now on.
    New,
    /// It held once.
    Held,
    /// It no longer holds.
    Ended,
    /// It holds, and what was said before was wrong.
    Corrects,
}

/// A message.
#[derive(Debug, Clone)]
pub(super) struct WorldMessage {
    /// When it reaches the memory.
    pub(super) day: Day,
    /// When it was said.
    pub(super) said: Day,
    pub(super) voice: WorldSpeaker,
    pub(super) text: String,
    /// Its slot; `None` for small talk.
    pub(super) slot: Option<usize>,
    /// What should be read in it; `None` for nothing.
    pub(super) claim: Option<(String, ExpectedReading)>,
}

/// A value and the days on which it held.
#[derive(Debug, Clone)]
pub(super) struct Span {
    pub(super) value: String,
    pub(super) from: Day,
    pub(super) to: Option<Day>,
    /// The first and the last day on which the user said so.
    told: Day,
    last: Day,
}

/// The truth about one person in one relation, and what was said about it.
#[derive(Debug, Clone, Default)]
pub(super) struct Slot {
    pub(super) subject: String,
    pub(super) predicate: String,
    pub(super) of: Option<String>,
    pub(super) spans: Vec<Span>,
    /// Periods in which the messages leave the value open, both ends included.
    unsure: Vec<(Day, Day)>,
    /// Values that were stated and corrected: never true.
    pub(super) corrected: Vec<String>,
    /// Values that were claimed.
    said: Vec<String>,
    /// Values that nobody claimed, though some were mentioned.
    unsaid: Vec<String>,
}

impl Slot {
    /// The values on a day.
    pub(super) fn on(&self, day: Day) -> Vec<&str> {
        let held = |span: &&Span| span.from <= day && span.to.is_none_or(|to| day < to);
        sorted(self.spans.iter().filter(held).map(|span| span.value.as_str()).collect())
    }

    /// The values at the end.
    pub(super) fn now(&self) -> Vec<&str> {
        sorted(self.spans.iter().filter(|span| span.to.is_none()).map(|span| span.value.as_str()).collect())
    }

    fn is_sure(&self, day: Day) -> bool {
        !self.unsure.iter().any(|&(from, to)| from <= day && day <= to)
    }
}

fn sorted(mut values: Vec<&str>) -> Vec<&str> {
    values.sort_unstable();
    values.dedup();
    values
}

/// One world.
#[derive(Debug)]
pub(super) struct World {
    pub(super) name: String,
    pub(super) slots: Vec<Slot>,
    /// Messages in the order in which they reach the memory.
    pub(super) tellings: Vec<WorldMessage>,
    pub(super) questions: Vec<Question>,
}

impl World {
    /// Makes the world of a seed and a number; deterministic.
    pub(super) fn make(seed: u64, number: usize) -> Result<Self> {
        let language = Language::english()?;
        let mut dice = WorldRng::new(seed.wrapping_mul(1_000_003).wrapping_add(number as u64));
        let mut people = language.people.clone();
        dice.shuffle(&mut people);
        people.truncate(2 + dice.below(2));
        let mut teller = Teller::new(&language, &mut dice);
        for (name, relation) in &language.relations {
            teller.tell(name, relation, USER);
            for person in people.iter().filter(|_| relation.other.is_some()) {
                teller.tell(name, relation, person);
            }
        }
        teller.idle();
        let (slots, mut tellings) = teller.finish();
        tellings.sort_by_key(|telling| telling.day);
        let questions = questions::about(&slots, &mut dice);
        Ok(Self { name: format!("world-{seed}-{number}"), slots, tellings, questions })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_world() {
        let told = |seed| format!("{:?}", World::make(seed, 0).unwrap());
        assert_eq!(told(1), told(1));
        assert_ne!(told(1), told(2));
    }

    #[test]
    fn one_value_at_a_time_where_one_may_hold() {
        let language = Language::english().unwrap();
        for number in 0..20 {
            let world = World::make(7, number).unwrap();
            let single = |slot: &&Slot| language.relations.get(&slot.predicate).is_some_and(|relation| relation.single);
            for slot in world.slots.iter().filter(single) {
                for day in (0..LAST).filter(|&day| slot.is_sure(day)) {
                    assert!(slot.on(day).len() <= 1, "{slot:?} on {}", date_of(day));
                }
                assert!(slot.now().len() <= 1, "{slot:?}");
                assert!(slot.corrected.iter().all(|wrong| slot.spans.iter().all(|span| span.value != *wrong)));
            }
        }
    }
}
