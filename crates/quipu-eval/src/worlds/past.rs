//! Questions about the past in natural language, with the one right value and its period.

use std::collections::BTreeMap;

use quipu_core::extract::USER;
use quipu_engine::{Error, Result};
use serde::Deserialize;

use super::day::{self, Day};
use super::{LAST, Slot, Span, World, WorldRng};

const ASKING: &str = include_str!("asking.toml");

/// The wordings of questions about a relation.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asks {
    pub(crate) now: String,
    then: String,
    before: String,
}

/// Wordings for the user and for others.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Both {
    user: Asks,
    other: Asks,
}

/// The wordings for every relation with questions.
#[derive(Debug)]
pub(crate) struct Asking(BTreeMap<String, Both>);

impl Asking {
    pub(crate) fn english() -> Result<Self> {
        let read = toml::from_str(ASKING).map(Self);
        read.map_err(|error| Error::Bug(format!("the questions of the worlds: {error}")))
    }

    pub(super) fn relations(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    /// The wordings for one person; `None` for a relation without questions.
    pub(crate) fn about(&self, relation: &str, subject: &str) -> Option<Asks> {
        let both = self.0.get(relation)?;
        let asks = if subject == USER { &both.user } else { &both.other };
        let named = |text: &String| text.replace("{s}", subject);
        Some(Asks { now: named(&asks.now), then: named(&asks.then), before: named(&asks.before) })
    }
}

/// Not a question in words: the list of facts of a day.
pub(crate) const FACTS_AT: &str = "facts of a day";

/// A question about the past.
#[derive(Debug, Clone)]
pub(crate) struct Past {
    pub(crate) slot: usize,
    /// The form of its time expression.
    pub(crate) form: &'static str,
    pub(crate) text: String,
    /// The day on which it is asked.
    pub(crate) today: Day,
    /// The day it is about, if given separately from the text.
    pub(crate) valid_at: Option<Day>,
    /// The value and its period.
    pub(crate) span: Span,
}

/// Two questions with different time expressions for every span of every value, where the messages decide the answer.
pub(crate) fn about(world: &World, asking: &Asking, dice: &mut WorldRng) -> Vec<Past> {
    let mut all = Vec::new();
    for (number, slot) in world.slots.iter().enumerate() {
        let Some(asks) = asking.about(&slot.predicate, &slot.subject) else { continue };
        for (place, span) in slot.spans.iter().enumerate() {
            let past =
                |form, text, today, valid_at| Past { slot: number, form, text, today, valid_at, span: span.clone() };
            let Some(day) = inside(slot, span, dice) else { continue };
            let then = |when: &str| asks.then.replace("{when}", when);
            all.push(past("on a day", then(&format!("on {}", day::in_words(day))), LAST, None));
            all.push(past("two weeks ago", then("two weeks ago"), day + 14, None));
            all.push(past(FACTS_AT, asks.now.clone(), LAST, Some(day)));
            all.push(past("valid at", asks.now.clone(), LAST, Some(day)));
            let (first, next) = day::month_of(day);
            if (first..next).all(|day| slot.is_sure(day) && slot.on(day) == [span.value.as_str()]) {
                let month = day::month_in_words(day);
                all.push(past("in a month", then(&format!("in {month}")), LAST, None));
            }
            let later = slot.spans.get(place + 1).filter(|later| span.to == Some(later.from) && is_once(slot, later));
            if let Some(later) = later {
                all.push(past("before a change", asks.before.replace("{v}", &later.value), LAST, None));
            }
        }
    }
    all
}

/// A day that the messages decide, and after which something else was said or could have been.
fn inside(slot: &Slot, span: &Span, dice: &mut WorldRng) -> Option<Day> {
    let to = span.to.unwrap_or(LAST - 14).min(LAST - 14);
    let sure: Vec<Day> =
        (span.from..to).filter(|&day| slot.is_sure(day) && slot.on(day) == [span.value.as_str()]).collect();
    dice.pick(&sure).copied()
}

fn is_once(slot: &Slot, span: &Span) -> bool {
    slot.spans.iter().filter(|other| other.value == span.value).count() == 1
}

impl Past {
    /// Days near the ends of the span for which it is decided whether the value held, and whether it did.
    pub(crate) fn ends(&self, slot: &Slot) -> Vec<(Day, bool)> {
        let around = |day: Day| day - 30..=day + 30;
        let days = around(self.span.from).chain(self.span.to.map(around).into_iter().flatten());
        let held = |day: Day| self.span.from <= day && self.span.to.is_none_or(|to| day < to);
        // Another span of the same value has its own statement.
        let own = |day: &Day| held(*day) || !slot.on(*day).contains(&self.span.value.as_str());
        days.filter(|day| slot.is_sure(*day)).filter(own).map(|day| (day, held(day))).collect()
    }
}
