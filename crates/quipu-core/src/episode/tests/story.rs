//! A readable example: one small conversation, split and summarised.

use std::fmt::Write;

use super::super::{AnalysedSession, EpisodeTurn, SegmentOptions};
use super::{at, dialogue};
use crate::id::{ItemId, ItemKind};

/// Mira plans a balcony garden, quarrels with Jonas over a scratched car, and the next day reports on an interview.
const SAID: [(&str, &str); 18] = [
    ("Mira", "Hi Jonas! I finally started the balcony garden this weekend."),
    ("Jonas", "Nice! What did you plant in the garden?"),
    ("Mira", "I planted six tomato seedlings and some basil in the big clay pots."),
    ("Jonas", "Tomato plants need a lot of sun, does the balcony get enough sun?"),
    ("Mira", "The balcony faces south, so the tomatoes get sun until six in the evening."),
    ("Jonas", "My grandmother put coffee grounds in her tomato pots. Her basil was lovely too."),
    ("Mira", "And now the car. You scratched my car door yesterday and you said NOTHING!"),
    ("Jonas", "That is a stupid accusation! I never touched your car and I hate being blamed!"),
    ("Mira", "The neighbour saw you hit the car in the garage. I am furious, this is horrible!"),
    ("Jonas", "Your neighbour is a liar! This is a terrible way to treat a friend, I am so angry!"),
    ("Mira", "The repair of the car door costs 400 euros and it makes me sick!!"),
    ("Jonas", "Fine, it was an awful mistake. I'll pay for the damage by Friday, I promise."),
    ("Mira", "Good morning. I slept well and I have news: the museum in Ghent invited me to an interview."),
    ("Jonas", "Congratulations! Which position is the museum interview for?"),
    ("Mira", "The museum wants a restorer for old maps, and the interview is on 12 March."),
    ("Jonas", "You restored maps during your studies in Ghent, the museum will love that."),
    ("Mira", "I need to prepare a portfolio of five restored maps until then."),
    ("Jonas", "I can photograph the maps for your portfolio on Saturday."),
];

fn said() -> Vec<EpisodeTurn<'static>> {
    let mut turns = dialogue(&SAID);
    for (number, turn) in turns.iter_mut().enumerate() {
        let (day, minute) = if number < 12 { (1, number * 2) } else { (2, number) };
        turn.said_at = Some(at(&format!("2024-03-0{day}T10:{minute:02}:00Z")));
    }
    turns
}

#[test]
fn three_stories_are_told() {
    let turns = said();
    let session = AnalysedSession::read(&turns);
    let mut page = String::new();
    for (number, range) in session.segment(&SegmentOptions::default()).into_iter().enumerate() {
        let id = ItemId { kind: ItemKind::Episode, bits: number as u64 };
        let episode = session.compose(id, Some("s1"), range, &[]).expect("an episode");
        let ((first, last), affect) = (episode.turn_range, episode.affect);
        let _ = writeln!(page, "{} [{first}-{last}, {}]", episode.title, episode.participants.join(" and "));
        let _ = writeln!(page, "  {}", episode.topics.join(" | "));
        let _ = writeln!(
            page,
            "  {:?} {:.2}, arousal {:.2}, importance {}",
            episode.sentiment, affect.valence, affect.arousal, episode.importance
        );
        let _ = writeln!(page, "  {}", episode.raw_excerpt.replace('\n', "\n  ").replace(". ", ".\n    "));
    }
    assert_eq!(page, EXPECTED);
}

const EXPECTED: &str = "\
Mira: I planted six tomato seedlings [0-5, Mira and Jonas]
  tomato pots | balcony garden | basil | sun | grandmother
  Positive 0.09, arousal 0.09, importance 2
  Mira: I planted six tomato seedlings and some basil in the big clay pots.
    The balcony faces south, so the tomatoes get sun until six in the evening.
  Jonas: My grandmother put coffee grounds in her tomato pots.
Mira: The repair of the car door costs 400 euros [6-11, Mira and Jonas]
  car door costs | neighbour | garage | liar | friend
  Negative -0.44, arousal 0.37, importance 4
  Jonas: I never touched your car and I hate being blamed!
  Mira: The repair of the car door costs 400 euros and it makes me sick!!
  Jonas: I'll pay for the damage by Friday, I promise.
Mira: The museum wants a restorer for old maps [12-17, Mira and Jonas]
  museum interview | restored maps | Ghent | portfolio | studies
  Positive 0.30, arousal 0.16, importance 3
  Mira: I slept well and I have news: the museum in Ghent invited me to an interview.
    The museum wants a restorer for old maps, and the interview is on 12 March.
    I need to prepare a portfolio of five restored maps until then.
";
