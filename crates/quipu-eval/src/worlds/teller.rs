//! Generates the messages about what happens in a slot.

use quipu_core::extract::USER;

use super::day::{self, Day};
use super::dice::WorldRng;
use super::language::{Language, Relation, Wordings};
use super::{ExpectedReading, LAST, START, Slot, Span, WorldMessage, WorldSpeaker};

/// Generates a whole world, slot by slot.
pub(super) struct Teller<'a> {
    language: &'a Language,
    pub(super) dice: &'a mut WorldRng,
    slots: Vec<Slot>,
    tellings: Vec<WorldMessage>,
}

/// The story of one slot.
pub(super) struct SlotStory<'t, 'a> {
    pub(super) teller: &'t mut Teller<'a>,
    pub(super) relation: &'a Relation,
    pub(super) words: &'a Wordings,
    slot: usize,
    /// Values not mentioned yet.
    fresh: Vec<String>,
    /// The current day of the story.
    pub(super) at: Day,
    /// The day of the last message.
    pub(super) touched: Day,
}

/// The days that a sentence names, in words.
#[derive(Default)]
pub(super) struct NamedDays {
    pub(super) day: String,
    pub(super) month: String,
    pub(super) from: String,
    pub(super) to: String,
}

impl NamedDays {
    pub(super) fn day(day: Day) -> Self {
        Self { day: day::in_words(day), ..Self::default() }
    }

    pub(super) fn month(day: Day) -> Self {
        Self { month: day::month_in_words(day), ..Self::default() }
    }
}

impl<'a> Teller<'a> {
    pub(super) fn new(language: &'a Language, dice: &'a mut WorldRng) -> Self {
        Self { language, dice, slots: Vec::new(), tellings: Vec::new() }
    }

    pub(super) fn finish(self) -> (Vec<Slot>, Vec<WorldMessage>) {
        (self.slots, self.tellings)
    }

    /// Generates the messages about one relation of one person.
    pub(super) fn tell(&mut self, name: &str, relation: &'a Relation, subject: &str) {
        let words = if subject == USER { Some(&relation.user) } else { relation.other.as_ref() };
        let Some(words) = words else { return };
        let slot = self.open(name, relation, subject);
        let mut fresh = relation.values.clone();
        self.dice.shuffle(&mut fresh);
        let at = START + self.dice.days(0, 200);
        let mut story = SlotStory { teller: self, relation, words, slot, fresh, at, touched: at - 1 };
        if relation.single {
            story.of_one()
        } else {
            story.of_many()
        }
        story.set_aside();
    }

    fn open(&mut self, predicate: &str, relation: &Relation, subject: &str) -> usize {
        let (subject, predicate) = (subject.to_owned(), predicate.to_owned());
        let slot = Slot { subject, predicate, of: relation.of.clone(), ..Slot::default() };
        self.slots.push(slot);
        self.slots.len() - 1
    }

    /// Small talk.
    pub(super) fn idle(&mut self) {
        for day in (START..LAST).step_by(60) {
            let day = day + self.dice.days(0, 50);
            let Some(text) = self.dice.pick(&self.language.idle) else { return };
            let text = text.clone();
            self.tellings.push(WorldMessage {
                day,
                said: day,
                voice: WorldSpeaker::User,
                text,
                slot: None,
                claim: None,
            });
        }
    }

    /// Puts a sentence among others, sometimes about forty words in all.
    fn among_others(&mut self, sentence: String) -> String {
        let mut text = sentence;
        for place in 0..self.dice.below(4) {
            let Some(chatter) = self.dice.pick(&self.language.chatter) else { break };
            text = if place == 1 { format!("{text} {chatter}") } else { format!("{chatter} {text}") };
        }
        text
    }
}

impl SlotStory<'_, '_> {
    pub(super) fn slot(&mut self) -> &mut Slot {
        &mut self.teller.slots[self.slot]
    }

    pub(super) fn is_users(&mut self) -> bool {
        self.slot().subject == USER
    }

    /// The slot of the opposite relation, made on first use.
    pub(super) fn opposite(&mut self) -> Option<usize> {
        let name = self.relation.opposite.as_ref()?;
        let subject = self.slot().subject.clone();
        let same = |slot: &Slot| slot.predicate == *name && slot.subject == subject;
        match self.teller.slots.iter().position(same) {
            Some(found) => Some(found),
            None => {
                self.teller.slots.push(Slot { subject, predicate: name.clone(), ..Slot::default() });
                Some(self.teller.slots.len() - 1)
            }
        }
    }

    /// Switches to another slot; returns the previous one.
    pub(super) fn turn_to(&mut self, slot: usize) -> usize {
        std::mem::replace(&mut self.slot, slot)
    }

    pub(super) fn fresh(&mut self) -> Option<String> {
        self.fresh.pop()
    }

    /// The current span.
    pub(super) fn current(&mut self) -> Option<&mut Span> {
        self.slot().spans.iter_mut().find(|span| span.to.is_none())
    }

    pub(super) fn unsure(&mut self, from: Day, to: Day) {
        self.slot().unsure.push((from, to));
    }

    /// Adds a span, in the order of time.
    pub(super) fn hold(&mut self, value: &str, from: Day, to: Option<Day>) {
        let told = self.at;
        let spans = &mut self.slot().spans;
        spans.push(Span { value: value.to_owned(), from, to, told, last: told });
        spans.sort_by_key(|span| span.from);
    }

    /// One of the wordings, filled in; `None` if there is none.
    pub(super) fn word(&mut self, wordings: &[String], value: &str, wrong: &str, named: &NamedDays) -> Option<String> {
        let subject = self.slot().subject.clone();
        let wording = self.teller.dice.pick(wordings)?;
        let filled = wording.replace("{v}", value).replace("{x}", value).replace("{w}", wrong).replace("{s}", &subject);
        let dated = filled.replace("{day}", &named.day).replace("{month}", &named.month);
        Some(dated.replace("{from}", &named.from).replace("{to}", &named.to))
    }

    /// The user says it now.
    pub(super) fn say(&mut self, sentence: String, value: &str, told: ExpectedReading) {
        let text = self.teller.among_others(sentence);
        self.push(WorldSpeaker::User, self.at, self.at, text, Some((value, told)));
        self.touched = self.at;
        let last = self.at;
        if let Some(span) = self.slot().spans.iter_mut().find(|span| span.to.is_none() && span.value == value) {
            span.last = last;
        }
    }

    pub(super) fn push(
        &mut self,
        voice: WorldSpeaker,
        day: Day,
        said: Day,
        text: String,
        claim: Option<(&str, ExpectedReading)>,
    ) {
        let claim = claim.map(|(value, told)| (value.to_owned(), told));
        if let Some((value, _)) = &claim {
            let value = value.clone();
            self.slot().said.push(value);
        }
        let slot = Some(self.slot);
        self.teller.tellings.push(WorldMessage { day, said, voice, text, slot, claim });
    }

    /// Messages that are no claims of the user: questions, hypotheses, reported speech, output of tools.
    fn set_aside(&mut self) {
        let users = self.is_users();
        let (asks, weak) = if users {
            (&self.relation.if_user, &self.relation.weak_user)
        } else {
            (&self.relation.if_other, &self.relation.weak_other)
        };
        if let Some(value) = self.fresh()
            && let Some(text) = self.word(asks, &value, "", &NamedDays::default())
        {
            let day = self.teller.dice.days(START, LAST);
            self.push(WorldSpeaker::User, day, day, text, None);
            self.slot().unsaid.push(value);
        }
        self.hearsay(weak);
        if users && let Some(value) = self.fresh() {
            let voice = if self.teller.dice.once_in(2) { WorldSpeaker::Tool } else { WorldSpeaker::Assistant };
            let day = self.teller.dice.days(START, LAST);
            if let Some(text) = self.word(&self.relation.aside, &value, "", &NamedDays::default()) {
                self.push(voice, day, day, text, None);
            }
        }
        if let Some(value) = self.fresh() {
            self.slot().unsaid.push(value);
        }
    }

    /// The name of an imported speaker. Without a name the message reads as if the user had said it.
    fn stranger(&mut self) -> Option<String> {
        (!self.is_users()).then(|| self.teller.language.stranger.clone())
    }

    /// An unreliable source claims a value. False if there is no wording for it.
    pub(super) fn hear(&mut self, value: &str, day: Day) -> bool {
        let weak = if self.is_users() { &self.relation.weak_user } else { &self.relation.weak_other };
        let Some(text) = self.word(weak, value, "", &NamedDays::default()) else { return false };
        let author = self.stranger();
        self.push(WorldSpeaker::Import(author), day, day, text, Some((value, ExpectedReading::New)));
        true
    }

    /// An unreliable source claims another value while the user's statement holds.
    fn hearsay(&mut self, weak: &[String]) {
        let author = self.stranger();
        let open = |span: &&Span| span.to.is_none_or(|to| span.told + 1 < to);
        let spans: Vec<Span> = self.slot().spans.iter().filter(open).cloned().collect();
        let Some(span) = self.teller.dice.pick(&spans).cloned() else { return };
        let day = self.teller.dice.days(span.told + 1, span.to.unwrap_or(LAST) - 1);
        let words = self.words;
        let (wordings, value, told) = match self.teller.dice.below(4) {
            0 if !words.ended.is_empty() => (&words.ended[..], Some(span.value), None),
            _ if !self.relation.single && author.is_some() => (&words.opposite[..], Some(span.value), None),
            _ => (weak, self.fresh(), Some(ExpectedReading::New)),
        };
        let Some(value) = value else { return };
        let Some(text) = self.word(wordings, &value, "", &NamedDays::default()) else { return };
        self.push(WorldSpeaker::Import(author), day, day, text, told.map(|told| (value.as_str(), told)));
    }
}
