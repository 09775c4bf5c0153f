//! Short stories: one person, one relation, a value, and similar statements about other people.

use quipu_core::extract::USER;
use quipu_engine::{Error, Result};

use super::language::Language;
use super::past::{Asking, Asks};
use super::{Day, ExpectedReading, Slot, World, WorldMessage, WorldRng, WorldSpeaker};

/// The day on which the value is stated.
const TOLD: Day = 200;

/// What happens in a short story, after messages about other people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plot {
    /// Nothing is said about the person.
    Silent,
    /// The value is stated once.
    Told,
    /// It is stated, and an unreliable source contradicts it.
    Contradicted,
    /// A unique value is stated twice.
    Secret,
}

/// A short story.
#[derive(Debug)]
pub(crate) struct Short {
    /// Its first slot is the one in question.
    pub(crate) world: World,
    pub(crate) asks: Asks,
    pub(crate) value: String,
    /// What the other source claims.
    pub(crate) rival: String,
    /// The day after the last one.
    pub(crate) today: Day,
}

impl Short {
    /// Makes the story of a seed and a number; deterministic.
    pub(crate) fn make(seed: u64, number: usize, plot: Plot) -> Result<Self> {
        let (language, asking) = (Language::english()?, Asking::english()?);
        let mut dice = WorldRng::new(seed.wrapping_mul(2_000_003).wrapping_add(number as u64));
        let names = asking.relations();
        let name = dice.pick(&names).copied().unwrap_or_default();
        let missing = || Error::Bug(format!("relation {name:?} lacks people, values or wording for others"));
        let relation = language.relations.get(name).ok_or_else(missing)?;
        let other = relation.other.as_ref().ok_or_else(missing)?;
        let mut people = language.people.clone();
        dice.shuffle(&mut people);
        let subject = if dice.once_in(2) { USER.to_owned() } else { people.pop().ok_or_else(missing)? };
        let mut values = relation.values.clone();
        dice.shuffle(&mut values);
        let mut next = || values.pop().ok_or_else(missing);
        let (mut value, rival) = (next()?, next()?);
        if plot == Plot::Secret {
            value = secret(&value, number);
        }
        let is_user = subject == USER;
        let words = if is_user { &relation.user } else { other };
        let mut story = Draft { world: empty(seed, number), day: TOLD - 100 };
        story.slot(&subject, name);
        let others = people.iter().take(3).map(String::as_str).chain((!is_user).then_some(USER));
        for (slot, person) in others.enumerate() {
            let (value, words) = (next()?, if person == USER { &relation.user } else { other });
            story.slot(person, name);
            let text = filled(dice.pick(&words.first), person, &value).ok_or_else(missing)?;
            story.push(slot + 1, WorldSpeaker::User, text, &value);
        }
        story.day = TOLD;
        let mut say = |story: &mut Draft, wordings: &[String], voice, value: &str| {
            let text = filled(dice.pick(wordings), &subject, value).ok_or_else(missing)?;
            story.push(0, voice, text, value);
            Ok::<(), Error>(())
        };
        if plot != Plot::Silent {
            say(&mut story, &words.first, WorldSpeaker::User, &value)?;
        }
        match plot {
            Plot::Contradicted => {
                let weak = if is_user { &relation.weak_user } else { &relation.weak_other };
                let voice = WorldSpeaker::Import((!is_user).then(|| language.stranger.clone()));
                say(&mut story, weak, voice, &rival)?;
            }
            Plot::Secret => say(&mut story, &words.first, WorldSpeaker::User, &value)?,
            Plot::Silent | Plot::Told => {}
        }
        let asks = asking.about(name, &subject).ok_or_else(missing)?;
        Ok(Self { world: story.world, asks, value, rival, today: story.day })
    }
}

/// A story in the making.
struct Draft {
    world: World,
    day: Day,
}

impl Draft {
    fn slot(&mut self, subject: &str, predicate: &str) {
        let (subject, predicate) = (subject.to_owned(), predicate.to_owned());
        self.world.slots.push(Slot { subject, predicate, ..Slot::default() });
    }

    fn push(&mut self, slot: usize, voice: WorldSpeaker, text: String, value: &str) {
        let claim = Some((value.to_owned(), ExpectedReading::New));
        self.world.tellings.push(WorldMessage { day: self.day, said: self.day, voice, text, slot: Some(slot), claim });
        self.day += 20;
    }
}

fn empty(seed: u64, number: usize) -> World {
    World { name: format!("short-{seed}-{number}"), slots: Vec::new(), tellings: Vec::new(), questions: Vec::new() }
}

fn filled(wording: Option<&String>, subject: &str, value: &str) -> Option<String> {
    Some(wording?.replace("{v}", value).replace("{s}", subject))
}

/// A value that occurs nowhere else, in the letter case of a real one.
fn secret(like: &str, number: usize) -> String {
    let letter = |place: u32| char::from(b'a' + u8::try_from(number / 26_usize.pow(place) % 26).unwrap_or(0));
    let name = format!("quorv{}x{}v{}n", letter(0), letter(1), letter(2));
    if like.starts_with(char::is_uppercase) { name.replacen('q', "Q", 1) } else { name }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
mod tests {
    use super::*;

    #[test]
    fn short_stories_tell_what_their_plot_says() {
        for number in 0..50 {
            let told = |plot| {
                let short = Short::make(3, number, plot).unwrap();
                let of_first = |telling: &&WorldMessage| telling.slot == Some(0);
                (short.world.tellings.iter().filter(of_first).cloned().collect::<Vec<_>>(), short)
            };
            assert!(told(Plot::Silent).0.is_empty());
            assert_eq!(told(Plot::Told).0.len(), 1);
            let (told, short) = told(Plot::Contradicted);
            assert_eq!(told.len(), 2);
            assert!(told[1].voice.is_weak() && told[1].text.contains(&short.rival) && short.rival != short.value);
        }
        let of = |number| Short::make(3, number, Plot::Secret).unwrap();
        assert_ne!(of(0).value, of(1).value);
        assert_eq!(format!("{:?}", of(4)), format!("{:?}", of(4)));
    }
}
