//! A simulated year of one person: twenty turns a day with recurring and passing statements, moves, and notes that
//! another program adds.

use std::collections::BTreeSet;

use quipu_engine::{Error, Result};
use serde::Deserialize;

use super::super::worlds::{Day, WorldRng};

/// Conversations a day, and user messages in each.
const TALKS: i32 = 2;
const ASKED_PER_TALK: usize = 5;
/// Least and most days on which a pattern is stated.
const OFTEN: (i32, i32) = (5, 24);
/// One in this many values of a relation is no pattern.
const PASSING_EVERY: usize = 2;
/// Number of successive values of a single-valued relation.
const MOVES: usize = 3;

#[derive(Debug, Deserialize)]
struct Language {
    people: Vec<String>,
    places: Vec<String>,
    colours: Vec<String>,
    things: Vec<String>,
    idle: Vec<String>,
    replies: Vec<String>,
    chatter: Vec<String>,
    detail: Vec<Wording>,
    statement: Vec<Statement>,
    moving: Vec<Moving>,
    notes: Vec<Notes>,
}

#[derive(Debug, Deserialize)]
struct Wording {
    said: String,
    asked: String,
}

#[derive(Debug, Deserialize)]
struct Statement {
    predicate: String,
    values: Vec<String>,
    first: Vec<String>,
    again: Vec<String>,
    ended: Vec<String>,
    /// The dynamic category of its values, if they have no other place.
    category: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Moving {
    predicate: String,
    values: Vec<String>,
    first: Vec<String>,
    again: Vec<String>,
    changed: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Notes {
    word: String,
    often: bool,
    texts: Vec<String>,
}

/// A user message and its reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Exchange {
    pub(super) day: Day,
    /// In minutes after midnight.
    pub(super) minute: i32,
    pub(super) session: String,
    pub(super) said: String,
    pub(super) answered: String,
    /// The number of the question it answers.
    pub(super) answers: Option<usize>,
}

/// A predicate and a value of the person.
pub(super) type Claim = (String, String);

/// The text form of a claim.
pub(super) fn in_words((predicate, value): &Claim) -> String {
    format!("{predicate} {value}")
}

/// A note added outside the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Noted {
    pub(super) day: Day,
    pub(super) key: String,
    pub(super) text: String,
}

/// A year, and the truth about it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct InventedYear {
    /// In the order of time.
    pub(super) exchanges: Vec<Exchange>,
    pub(super) notes: Vec<Noted>,
    /// One for each detail, in the order in which the details are stated.
    pub(super) questions: Vec<String>,
    /// Claims stated on many days, which a profile should come to hold.
    pub(super) patterns: BTreeSet<Claim>,
    /// Those of them that still hold at the end.
    pub(super) holding: BTreeSet<Claim>,
    /// Recurring themes without a category: words of notes, and dynamic categories.
    pub(super) themes: BTreeSet<String>,
}

/// Sentences by day.
type Days = Vec<Vec<(String, Option<usize>)>>;

impl InventedYear {
    /// Makes the life of a seed; deterministic.
    pub(super) fn make(seed: u64, days: Day) -> Result<Self> {
        let language: Language = toml::from_str(include_str!("english.toml"))
            .map_err(|error| Error::Bug(format!("the language of the year: {error}")))?;
        let mut dice = WorldRng::new(seed);
        let told = vec![Vec::new(); usize::try_from(days).unwrap_or(0)];
        let mut teller = Teller { days, dice: &mut dice, told, patterns: BTreeSet::new(), holding: BTreeSet::new() };
        let questions = teller.details(&language);
        language.statement.iter().for_each(|statement| teller.states(statement));
        language.moving.iter().for_each(|moving| teller.moves(moving));
        let Teller { told, patterns, holding, .. } = teller;
        let (notes, mut themes) = notes(&language, &mut dice, days);
        themes.extend(language.statement.iter().filter_map(|statement| statement.category.clone()));
        let exchanges = exchanges(&language, &mut dice, told)?;
        Ok(Self { exchanges, notes, questions, patterns, holding, themes })
    }
}

/// Generates the messages of one person.
struct Teller<'a> {
    days: Day,
    dice: &'a mut WorldRng,
    told: Days,
    patterns: BTreeSet<Claim>,
    holding: BTreeSet<Claim>,
}

impl Teller<'_> {
    /// One detail for each conversation, as long as there are unused pairs of people and places; returns the questions.
    fn details(&mut self, language: &Language) -> Vec<String> {
        let pairs = language.people.iter().flat_map(|person| language.places.iter().map(move |place| (person, place)));
        let mut meetings: Vec<(&String, &String)> = pairs.collect();
        self.dice.shuffle(&mut meetings);
        let mut questions = Vec::new();
        for (number, (person, place)) in meetings.into_iter().enumerate() {
            let Some(day) = self.told.get_mut(number / 2) else { break };
            let (Some(wording), Some(colour), Some(thing)) =
                (self.dice.pick(&language.detail), self.dice.pick(&language.colours), self.dice.pick(&language.things))
            else {
                break;
            };
            let fill = |text: &str| {
                let text = text.replace("{person}", person).replace("{place}", place);
                text.replace("{colour}", colour).replace("{thing}", thing)
            };
            day.push((fill(&wording.said), Some(questions.len())));
            questions.push(fill(&wording.asked));
        }
        questions
    }

    fn say(&mut self, day: Day, wordings: &[String], value: &str) {
        let text = wording(self.dice, wordings, value);
        if let Some(day) = usize::try_from(day).ok().and_then(|day| self.told.get_mut(day)) {
            day.push((text, None));
        }
    }

    /// As many days between two as a pattern has.
    fn often(&mut self, from: Day, to: Day) -> Vec<Day> {
        let count = self.dice.days(OFTEN.0, OFTEN.1);
        some_days(self.dice, usize::try_from(count).unwrap_or(0), from, to)
    }

    fn states(&mut self, statement: &Statement) {
        for (number, value) in statement.values.iter().enumerate() {
            if number % PASSING_EVERY != 0 {
                self.passing(statement, value);
                continue;
            }
            // A quarter of the patterns ends before the year does.
            let last = if self.dice.once_in(4) { self.days * 3 / 4 } else { self.days };
            for (number, day) in self.often(0, last - 1).into_iter().enumerate() {
                self.say(day, if number == 0 { &statement.first } else { &statement.again }, value);
            }
            let claim = (statement.predicate.clone(), value.clone());
            self.patterns.insert(claim.clone());
            if last < self.days {
                self.say(last, &statement.ended, value);
            } else {
                self.holding.insert(claim);
            }
        }
    }

    /// Stated on one or two days, or three times in one day: no pattern.
    fn passing(&mut self, statement: &Statement, value: &str) {
        let first = self.dice.days(0, self.days - 2);
        self.say(first, &statement.first, value);
        match self.dice.below(3) {
            0 => {}
            1 => {
                let again = self.dice.days(first + 1, self.days - 1);
                self.say(again, &statement.again, value);
            }
            _ => (0..2).for_each(|_| self.say(first, &statement.again, value)),
        }
    }

    /// Several successive values, each stated repeatedly while it holds.
    fn moves(&mut self, moving: &Moving) {
        let mut values = moving.values.clone();
        self.dice.shuffle(&mut values);
        values.truncate(MOVES);
        let share = self.days / Day::try_from(MOVES).unwrap_or(1);
        for (from, value) in (0..).step_by(usize::try_from(share).unwrap_or(1)).zip(&values) {
            self.say(from, if from == 0 { &moving.first } else { &moving.changed }, value);
            for day in self.often(from + 1, from + share) {
                self.say(day, &moving.again, value);
            }
            let claim = (moving.predicate.clone(), value.clone());
            self.patterns.insert(claim.clone());
            if Some(value) == values.last() {
                self.holding.insert(claim);
            }
        }
    }
}

/// Distinct random days between two, in order.
fn some_days(dice: &mut WorldRng, count: usize, from: Day, to: Day) -> Vec<Day> {
    let mut all: Vec<Day> = (from..to).collect();
    dice.shuffle(&mut all);
    all.truncate(count);
    all.sort_unstable();
    all
}

fn wording(dice: &mut WorldRng, from: &[String], value: &str) -> String {
    dice.pick(from).map(|text| text.replace("{v}", value)).unwrap_or_default()
}

fn notes(language: &Language, dice: &mut WorldRng, days: Day) -> (Vec<Noted>, BTreeSet<String>) {
    let (mut all, mut themes) = (Vec::new(), BTreeSet::new());
    for notes in &language.notes {
        let on = if notes.often {
            themes.insert(notes.word.clone());
            some_days(dice, notes.texts.len(), 0, days)
        } else {
            // All of them on one day.
            vec![dice.days(0, days - 1); notes.texts.len()]
        };
        for (number, day) in on.into_iter().enumerate() {
            let Some(text) = notes.texts.get(number) else { continue };
            all.push(Noted { day, key: format!("{}_note_{}", notes.word, number + 1), text: text.clone() });
        }
    }
    all.sort_by(|one, other| (one.day, &one.key).cmp(&(other.day, &other.key)));
    (all, themes)
}

/// Distributes the sentences over the conversations of every day, and fills the rest with small talk.
fn exchanges(language: &Language, dice: &mut WorldRng, told: Days) -> Result<Vec<Exchange>> {
    let mut all = Vec::new();
    for (day, mut sentences) in (0..).zip(told) {
        dice.shuffle(&mut sentences);
        let mut left = usize::try_from(TALKS).unwrap_or(0) * ASKED_PER_TALK;
        if sentences.len() > left {
            return Err(Error::Bug(format!("day {day} has {} things to say, {left} at most", sentences.len())));
        }
        let mut sentences = sentences.into_iter();
        for talk in 0..TALKS {
            for number in 0..ASKED_PER_TALK {
                // Spread over both conversations, as long as there is room.
                let spoken = if number % 2 == 0 || sentences.len() >= left { sentences.next() } else { None };
                left -= 1;
                let (said, answers) = spoken.unwrap_or_else(|| (wording(dice, &language.idle, ""), None));
                let said =
                    if dice.once_in(3) { format!("{said} {}", wording(dice, &language.chatter, "")) } else { said };
                all.push(Exchange {
                    day,
                    minute: 8 * 60 + talk * 11 * 60 + i32::try_from(number).unwrap_or(0) * 2,
                    session: format!("day-{day:03}-{talk}"),
                    said,
                    answered: wording(dice, &language.replies, ""),
                    answers,
                });
            }
        }
    }
    Ok(all)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_year_is_told_whole_and_the_same_every_time() {
        let life = InventedYear::make(1, 365).unwrap();
        assert_eq!(life, InventedYear::make(1, 365).unwrap());
        assert_ne!(life.exchanges, InventedYear::make(2, 365).unwrap().exchanges);
        assert_eq!(life.exchanges.len() * 2, 7_300, "twenty turns a day");
        let answered: BTreeSet<usize> = life.exchanges.iter().filter_map(|one| one.answers).collect();
        assert_eq!(answered.len(), life.questions.len(), "every detail is told");
    }

    #[test]
    fn what_is_a_pattern_is_said_on_days_enough_and_the_rest_is_not() {
        let life = InventedYear::make(3, 365).unwrap();
        let language: Language = toml::from_str(include_str!("english.toml")).unwrap();
        for statement in &language.statement {
            for value in &statement.values {
                let says = |one: &&Exchange| {
                    one.said.contains(&format!(" {value}.")) || one.said.contains(&format!(" {value} "))
                };
                let mut days: BTreeMap<Day, usize> = BTreeMap::new();
                life.exchanges.iter().filter(says).for_each(|one| *days.entry(one.day).or_default() += 1);
                let is_pattern = life.patterns.contains(&(statement.predicate.clone(), value.clone()));
                assert_eq!(days.len() >= 3, is_pattern, "{value}: {days:?}");
            }
        }
        assert_eq!(life.themes.len(), 4);
    }
}
