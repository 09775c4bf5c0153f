//! Stories of relations that hold one value at a time: moves, jobs, corrections, late news.

use super::day::{self, Day};
use super::teller::{NamedDays, SlotStory};
use super::{ExpectedReading, LAST, WorldSpeaker};

/// Uncertainty of an undated "just", in days.
const JUST: Day = 10;

impl SlotStory<'_, '_> {
    pub(super) fn of_one(&mut self) {
        let archived = self.is_users() && self.teller.dice.once_in(6) && self.archive();
        self.begin(archived);
        let mut told_before = false;
        loop {
            self.at += self.teller.dice.days(45, 220);
            if self.at > LAST - 30 {
                break;
            }
            let holds = self.current().is_some();
            match self.teller.dice.below(16) {
                0..=2 if holds => self.again(),
                3 | 4 if holds => self.mistake(),
                5 if holds => self.end(),
                6..=8 => self.late(),
                9 if !told_before && !archived => told_before = self.before(),
                10 | 11 if holds => self.rumour(),
                _ => {
                    let value = self.next_value();
                    self.change(value.as_deref());
                }
            }
        }
        self.at = LAST;
        self.late();
    }

    fn begin(&mut self, archived: bool) {
        let Some(value) = self.fresh() else { return };
        let (words, month) = (self.words, day::month_of(-self.teller.dice.days(450, 1300)));
        if !archived
            && self.teller.dice.once_in(4)
            && let Some(text) = self.word(&words.since, &value, "", &NamedDays::month(month.0))
        {
            self.unsure(month.0, month.1);
            self.hold(&value, month.0, None);
            return self.say(text, &value, ExpectedReading::New);
        }
        let Some(text) = self.word(&words.first, &value, "", &NamedDays::default()) else { return };
        self.unsure(self.at - JUST, self.at);
        self.hold(&value, self.at, None);
        self.say(text, &value, ExpectedReading::New);
    }

    /// A message of the user from long ago, imported much later.
    fn archive(&mut self) -> bool {
        let Some(value) = self.fresh() else { return false };
        let Some(text) = self.word(&self.words.first, &value, "", &NamedDays::default()) else { return false };
        let said = -self.teller.dice.days(100, 380);
        let arrives = self.at + self.teller.dice.days(1, 500);
        self.hold(&value, said, Some(self.at));
        self.unsure(said - JUST, said);
        // No message says when it ended.
        self.unsure(said + 1, self.at);
        self.push(WorldSpeaker::Archive, arrives.min(LAST), said, text, Some((&value, ExpectedReading::New)));
        true
    }

    /// An unreliable source claims another value, which turns out to be right, or confirms the value.
    fn rumour(&mut self) {
        let Some(current) = self.current().map(|span| span.value.clone()) else { return };
        let agrees = self.teller.dice.once_in(4);
        let Some(value) = (if agrees { Some(current) } else { self.fresh() }) else { return };
        if !self.hear(&value, self.at) || agrees {
            return;
        }
        self.at += self.teller.dice.days(20, 60);
        self.change(Some(&value));
    }

    fn again(&mut self) {
        let Some(value) = self.current().map(|span| span.value.clone()) else { return };
        if let Some(text) = self.word(&self.words.again, &value, "", &NamedDays::default()) {
            self.say(text, &value, ExpectedReading::New);
        }
    }

    /// A value that does not hold; sometimes one that held before.
    fn next_value(&mut self) -> Option<String> {
        let past: Vec<String> =
            self.slot().spans.iter().filter(|span| span.to.is_some()).map(|span| span.value.clone()).collect();
        let current = self.current().map(|span| span.value.clone());
        let back = self.teller.dice.pick(&past).filter(|value| Some(*value) != current.as_ref()).cloned();
        if back.is_some() && self.teller.dice.once_in(6) { back } else { self.fresh() }
    }

    /// Changes the value, with one of many wordings. True if a message was made.
    fn change(&mut self, value: Option<&str>) -> bool {
        let Some(value) = value else { return false };
        let (words, at) = (self.words, self.at);
        let way = self.teller.dice.below(5);
        let monday = day::monday_before(at);
        // A late statement is about the distant past, and nothing was said in between.
        let exact = at
            - if self.teller.dice.once_in(3) { self.teller.dice.days(60, 140) } else { self.teller.dice.days(0, 20) };
        let month = day::month_of(at - self.teller.dice.days(0, 60));
        let (from, until, wordings, named) = match way {
            0 => (monday, monday + 7, &words.week, NamedDays::default()),
            1 | 2 => (exact, exact, &words.day, NamedDays::day(exact)),
            3 => (month.0, month.1, &words.month, NamedDays::month(month.0)),
            _ => (at, at, &words.changed, NamedDays::default()),
        };
        let fits = from > self.touched + 2 && until <= at && !wordings.is_empty();
        let (from, open, wordings, named) = if fits && way < 4 {
            (from, (from, until), wordings, named)
        } else {
            (at, (at - JUST, at), &words.changed, NamedDays::default())
        };
        let Some(text) = self.word(wordings, value, "", &named) else { return false };
        if let Some(span) = self.current() {
            span.to = Some(from);
        }
        self.unsure(open.0, open.1);
        self.hold(value, from, None);
        self.say(text, value, ExpectedReading::New);
        true
    }

    /// A wrong value is stated and soon corrected.
    fn mistake(&mut self) {
        if self.words.corrected.is_empty() {
            return;
        }
        let (Some(wrong), Some(right)) = (self.fresh(), self.fresh()) else { return };
        if self.change(Some(&wrong)) {
            self.at += self.teller.dice.days(1, 20);
            if self.teller.dice.once_in(3) {
                self.again();
                self.at += 1;
            }
            self.correct(&wrong, &right);
        }
    }

    /// The current value was stated wrongly.
    pub(super) fn correct(&mut self, wrong: &str, right: &str) {
        let Some(text) = self.word(&self.words.corrected, right, wrong, &NamedDays::default()) else { return };
        let found = self.slot().spans.iter_mut().find(|span| span.to.is_none() && span.value == wrong);
        if let Some(span) = found {
            span.value = right.to_owned();
        }
        self.slot().corrected.push(wrong.to_owned());
        self.say(text, right, ExpectedReading::Corrects);
    }

    fn end(&mut self) {
        let at = self.at;
        let Some(value) = self.current().map(|span| span.value.clone()) else { return };
        let Some(text) = self.word(&self.words.ended, &value, "", &NamedDays::default()) else { return };
        self.say(text, &value, ExpectedReading::Ended);
        self.unsure(at - JUST, at);
        if let Some(span) = self.current() {
            span.to = Some(at);
        }
    }

    /// "Back in May 2022 I moved to …": between two values that were stated long ago.
    fn late(&mut self) {
        let spans = self.slot().spans.clone();
        for pair in spans.windows(2) {
            let [one, next] = pair else { continue };
            let month = day::month_of(one.last.max(one.from) + 40);
            if one.to != Some(next.from) || one.from < 0 || month.1 > next.from - 15 {
                continue;
            }
            let Some(value) = self.fresh() else { return };
            let Some(text) = self.word(&self.words.late, &value, "", &NamedDays::month(month.0)) else { return };
            if let Some(span) = self.slot().spans.iter_mut().find(|span| span.from == one.from) {
                span.to = Some(month.0);
            }
            self.unsure(month.0, month.1);
            self.hold(&value, month.0, Some(next.from));
            self.say(text.clone(), &value, ExpectedReading::New);
            if self.teller.dice.once_in(3) {
                self.at += 5;
                self.say(text, &value, ExpectedReading::New);
            }
            return;
        }
    }

    /// "I lived in … from 2012 to 2014."
    fn before(&mut self) -> bool {
        let first = 2006 + i16::try_from(self.teller.dice.below(7)).unwrap_or(0);
        let last = first + 1 + i16::try_from(self.teller.dice.below(3)).unwrap_or(0);
        let named = NamedDays { from: first.to_string(), to: last.to_string(), ..NamedDays::default() };
        let Some(value) = self.fresh() else { return false };
        let Some(text) = self.word(&self.words.before, &value, "", &named) else { return false };
        let (from, to) = (day::year(first), day::year(last));
        self.unsure(from, day::year(first + 1));
        self.unsure(to, day::year(last + 1));
        self.hold(&value, from, Some(to));
        self.say(text, &value, ExpectedReading::Held);
        true
    }
}
