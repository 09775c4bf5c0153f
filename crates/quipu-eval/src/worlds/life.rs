//! A year of a life: repeated statements, single mentions, troubles with what helped, the places of things, and small
//! talk.

use quipu_core::source::Role;
use quipu_engine::{Error, Result};
use serde::Deserialize;

use super::{Day, WorldRng};

const WORDS: &str = include_str!("life.toml");
/// Days covered.
const YEAR: Day = 365;
/// Days between two evenings of conversation, and the number of messages in one.
const BETWEEN: Day = 9;
const EXCHANGES: usize = 4;
/// Things whose place is mentioned once.
const THINGS: usize = 10;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LifeWords {
    liked: Vec<String>,
    values: Vec<String>,
    helped: Vec<String>,
    failed: Vec<String>,
    asked: String,
    problems: Vec<String>,
    approaches: Vec<String>,
    kept: Vec<String>,
    #[serde(rename = "where")]
    asks_where: String,
    things: Vec<String>,
    places: Vec<String>,
    talk: Vec<String>,
    replies: Vec<String>,
    alike: Vec<(String, String)>,
    unlike: Vec<(String, String)>,
}

/// A message.
#[derive(Debug, Clone)]
pub(crate) struct LifeMessage {
    pub(crate) day: Day,
    pub(crate) role: Role,
    pub(crate) text: String,
}

/// One year.
#[derive(Debug)]
pub(crate) struct WorldYear {
    pub(crate) name: String,
    /// Messages by time.
    pub(crate) said: Vec<LifeMessage>,
    /// Liked values, and whether each was stated on at least three days.
    pub(crate) liked: Vec<(String, bool)>,
    /// What helped, on two days, and what did not.
    pub(crate) helped: String,
    pub(crate) failed: String,
    /// The same trouble, later.
    pub(crate) asked: String,
    /// Questions, each with the place that answers it.
    pub(crate) kept: Vec<(String, String)>,
    /// Two spellings, and whether they mean the same thing.
    pub(crate) pairs: Vec<(String, String, bool)>,
    /// The day after the last one.
    pub(crate) today: Day,
}

impl WorldYear {
    /// Makes the life of a seed and a number; deterministic.
    pub(crate) fn make(seed: u64, number: usize) -> Result<Self> {
        let words: LifeWords =
            toml::from_str(WORDS).map_err(|error| Error::Bug(format!("the words of a life: {error}")))?;
        let mut dice = WorldRng::new(seed.wrapping_mul(3_000_017).wrapping_add(number as u64));
        let mut said = Vec::new();
        let liked = likes(&words, &mut dice, &mut said);
        let (problem, approaches) = (one(&words.problems, &mut dice)?, two(&words.approaches, &mut dice)?);
        let of = |wording: &str, approach: &str| wording.replace("{a}", approach).replace("{p}", &problem);
        for (wordings, approach, days) in
            [(&words.helped, &approaches.0, vec![70, 190]), (&words.failed, &approaches.1, vec![100])]
        {
            for day in days {
                let day = day + dice.days(0, 40);
                said.push(LifeMessage { day, role: Role::User, text: of(&one(wordings, &mut dice)?, approach) });
            }
        }
        let kept = things(&words, &mut dice, &mut said)?;
        talk(&words, &mut dice, &mut said)?;
        said.sort_by_key(|one| one.day);
        let alike = words.alike.iter().map(|(one, other)| (one.clone(), other.clone(), true));
        let pairs = alike.chain(words.unlike.iter().map(|(one, other)| (one.clone(), other.clone(), false)));
        Ok(Self {
            name: format!("life-{seed}-{number}"),
            said,
            liked,
            helped: approaches.0.to_lowercase(),
            failed: approaches.1.to_lowercase(),
            asked: words.asked.replace("{p}", &problem),
            kept,
            pairs: pairs.collect(),
            today: YEAR + 2,
        })
    }
}

fn one(from: &[String], dice: &mut WorldRng) -> Result<String> {
    dice.pick(from).cloned().ok_or_else(|| Error::Bug("a word list of the generated life is empty".to_owned()))
}

fn two(from: &[String], dice: &mut WorldRng) -> Result<(String, String)> {
    let mut all = from.to_vec();
    dice.shuffle(&mut all);
    match (all.pop(), all.pop()) {
        (Some(first), Some(second)) => Ok((first, second)),
        _ => Err(Error::Bug("a word list of the generated life is empty".to_owned())),
    }
}

/// Half of the values are stated on three or four days, the others on one or two, or three times in one day.
fn likes(words: &LifeWords, dice: &mut WorldRng, said: &mut Vec<LifeMessage>) -> Vec<(String, bool)> {
    let mut values = words.values.clone();
    dice.shuffle(&mut values);
    let mut liked = Vec::new();
    for (place, value) in values.into_iter().enumerate() {
        let first = dice.days(5, 60);
        let days: Vec<Day> = match place % 4 {
            0 | 1 => (0..3 + dice.below(2) as Day).map(|turn| first + turn * dice.days(20, 80)).collect(),
            2 => (0..1 + dice.below(2) as Day).map(|turn| first + turn * 70).collect(),
            _ => vec![first; 3],
        };
        let mut apart = days.clone();
        apart.sort_unstable();
        apart.dedup();
        for day in days {
            let text = dice.pick(&words.liked).map(|wording| wording.replace("{v}", &value)).unwrap_or_default();
            said.push(LifeMessage { day: day.min(YEAR), role: Role::User, text });
        }
        liked.push((value, apart.len() >= 3));
    }
    liked
}

fn things(words: &LifeWords, dice: &mut WorldRng, said: &mut Vec<LifeMessage>) -> Result<Vec<(String, String)>> {
    let (mut things, mut places) = (words.things.clone(), words.places.clone());
    dice.shuffle(&mut things);
    dice.shuffle(&mut places);
    let mut kept = Vec::new();
    for (thing, place) in things.iter().zip(&places).take(THINGS) {
        let text = one(&words.kept, dice)?.replace("{t}", thing).replace("{l}", place);
        // On an evening with a conversation, so that it has a context.
        let day = dice.days(0, YEAR / BETWEEN - 1) * BETWEEN;
        said.push(LifeMessage { day, role: Role::User, text });
        kept.push((words.asks_where.replace("{t}", thing), place.clone()));
    }
    Ok(kept)
}

fn talk(words: &LifeWords, dice: &mut WorldRng, said: &mut Vec<LifeMessage>) -> Result<()> {
    for day in (0..YEAR).step_by(BETWEEN as usize) {
        for _ in 0..EXCHANGES {
            said.push(LifeMessage { day, role: Role::User, text: one(&words.talk, dice)? });
            said.push(LifeMessage { day, role: Role::Assistant, text: one(&words.replies, dice)? });
        }
    }
    Ok(())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
mod tests {
    use super::*;

    #[test]
    fn a_life_says_what_it_claims_to_say() {
        for number in 0..20 {
            let life = WorldYear::make(5, number).unwrap();
            for (value, often) in &life.liked {
                let mut days: Vec<Day> = life
                    .said
                    .iter()
                    .filter(|said| said.text.contains(&format!(" {value}.")))
                    .map(|said| said.day)
                    .collect();
                days.dedup();
                assert_eq!(days.len() >= 3, *often, "{value}: {days:?}");
            }
            assert!(life.liked.iter().any(|(_, often)| *often) && life.liked.iter().any(|(_, often)| !often));
            assert_eq!(life.kept.len(), THINGS);
            assert_ne!(life.helped, life.failed);
            assert!(life.said.iter().all(|said| said.day < life.today));
        }
        assert_eq!(format!("{:?}", WorldYear::make(5, 1).unwrap()), format!("{:?}", WorldYear::make(5, 1).unwrap()));
    }
}
