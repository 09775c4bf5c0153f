//! Stories of relations that hold many values side by side.

use super::day;
use super::teller::{NamedDays, SlotStory};
use super::{ExpectedReading, LAST, START};

impl SlotStory<'_, '_> {
    pub(super) fn of_many(&mut self) {
        for _ in 0..2 + self.teller.dice.below(2) {
            self.at = START + self.teller.dice.days(0, 500);
            let Some(value) = self.take_up() else { return };
            self.at += self.teller.dice.days(40, 300);
            if self.teller.dice.once_in(2)
                && let Some(text) = self.word(&self.words.again, &value, "", &NamedDays::default())
            {
                self.say(text, &value, ExpectedReading::New);
            }
            self.at = (self.at + self.teller.dice.days(40, 300)).min(LAST - 1);
            match self.teller.dice.below(4) {
                0 | 1 => self.give_up(&value),
                2 => self.turn_around(&value),
                _ => {}
            }
        }
    }

    /// A value begins to hold; its statement may have to be corrected soon.
    fn take_up(&mut self) -> Option<String> {
        let value = self.fresh()?;
        let (words, monday) = (self.words, day::monday_before(self.at));
        let exact = self.at - self.teller.dice.days(0, 20);
        let month = day::month_of(self.at - self.teller.dice.days(60, 400));
        let ways = [
            (monday, monday + 7, &words.week, NamedDays::default()),
            (exact, exact, &words.day, NamedDays::day(exact)),
            (month.0, month.1, &words.late, NamedDays::month(month.0)),
        ];
        let at = self.at;
        let chosen = ways.into_iter().find(|(_, _, wordings, _)| !wordings.is_empty() && self.teller.dice.once_in(3));
        let (from, until, wordings, named) = chosen.unwrap_or((at - 1, at, &words.first, NamedDays::default()));
        let from_said = if std::ptr::eq(wordings, &words.first) { at } else { from };
        let text = self.word(wordings, &value, "", &named)?;
        self.unsure(from, until);
        self.hold(&value, from_said, None);
        self.say(text, &value, ExpectedReading::New);
        if !words.corrected.is_empty() && self.teller.dice.once_in(3) {
            let right = self.fresh()?;
            self.at += self.teller.dice.days(1, 20);
            self.correct(&value, &right);
            return Some(right);
        }
        Some(value)
    }

    fn give_up(&mut self, value: &str) {
        if let Some(text) = self.word(&self.words.ended, value, "", &NamedDays::default()) {
            self.say(text, value, ExpectedReading::Ended);
            self.close(value);
        }
    }

    /// "I hate …": ends a liked value.
    fn turn_around(&mut self, value: &str) {
        let Some(text) = self.word(&self.words.opposite, value, "", &NamedDays::default()) else { return };
        let Some(opposite) = self.opposite() else { return };
        self.close(value);
        let own = self.turn_to(opposite);
        let at = self.at;
        self.unsure(at - 1, at);
        self.hold(value, at, None);
        self.say(text, value, ExpectedReading::New);
        self.turn_to(own);
    }

    fn close(&mut self, value: &str) {
        let at = self.at;
        self.unsure(at - 1, at);
        if let Some(span) = self.slot().spans.iter_mut().find(|span| span.to.is_none() && span.value == value) {
            span.to = Some(at);
        }
    }
}
