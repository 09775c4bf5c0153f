use proptest::prelude::*;

use super::super::words::{self, english};
use super::super::{
    AnalysedSession, EXCERPT_CHARS_MAX, EpisodeTurn, SUMMARY_CHARS_MAX, TITLE_CHARS_MAX, TITLE_WORDS_MAX, TOPICS_MAX,
    compose,
};
use super::dialogue;
use crate::id::{ItemId, ItemKind};
use crate::item::Episode;
use crate::source::Role;

/// Speakers with their messages, in order.
type Said<'a> = &'a [(&'a str, &'a str)];

const EPISODE: ItemId = ItemId { kind: ItemKind::Episode, bits: 7 };

fn told(turns: &[EpisodeTurn<'_>]) -> Episode {
    compose(EPISODE, Some("s1"), turns, 0..turns.len(), &[]).expect("an episode")
}

#[test]
fn the_word_lists_are_lower_case() {
    let lists = english();
    for list in [&lists.vague, &lists.before_noun, &lists.before_verb, &lists.first_person, &lists.opening] {
        assert!(list.len() > 10 && list.iter().all(|word| *word == words::lower(word)));
    }
}

#[test]
fn texts_are_cut_into_sentences() {
    let table: [(&str, &[&str]); 12] = [
        ("", &[]),
        ("  One. ", &["One."]),
        ("One. Two! Three? four", &["One.", "Two!", "Three?", "four"]),
        ("Dr. Ohm met J. Watt at 5.30 p.m. today.", &["Dr. Ohm met J. Watt at 5.30 p.m.", "today."]),
        ("He said \"no.\" Then he left...  Really?!", &["He said \"no.\"", "Then he left...", "Really?!"]),
        ("So do I. We agree (mostly.) Fine", &["So do I.", "We agree (mostly.)", "Fine"]),
        ("1. Mix it. 2. Bake it.", &["1. Mix it.", "2. Bake it."]),
        ("We met on 3. may at noon. It rained.", &["We met on 3. may at noon.", "It rained."]),
        ("I have 3. Then it was 2026. Fine", &["I have 3.", "Then it was 2026.", "Fine"]),
        ("first line\nsecond line", &["first line", "second line"]),
        ("See:\n```rust\nfn main() {}\n```\nDone.", &["See:", "Done."]),
        ("今日は寒い。帰ります！", &["今日は寒い。", "帰ります！"]),
    ];
    for (text, expected) in table {
        let found: Vec<&str> = words::sentence_spans(text).into_iter().map(|span| &text[span]).collect();
        assert_eq!(found, expected, "{text:?}");
    }
}

#[test]
fn topics_are_things_not_manners() {
    let table: [(Said<'_>, &[&str]); 7] = [
        (&[("Ada", "Thanks, that's really great!"), ("Ben", "Wow, yes. Have a nice day!")], &[]),
        (&[("Ada", "I adopted a puppy from the animal shelter.")], &["animal shelter", "puppy"]),
        (&[("Ada", "Ben's sourdough bread is great."), ("Ben", "Ada's sourdough bread too!")], &["sourdough bread"]),
        (&[("Mirabel", "Mira here, Mirabel's tax return is late.")], &["tax return"]),
        (&[("Ada", "We want to paint the kids' room.")], &["kids' room"]),
        (&[("Ada", "Je cherche un appartement")], &["cherche un appartement"]),
        (&[("Ada", "The landlord wants 1,160 from June.")], &["landlord"]),
    ];
    for (said, expected) in table {
        assert_eq!(told(&dialogue(said)).topics, expected, "{said:?}");
    }
}

#[test]
fn the_speaker_s_own_life_is_told_before_questions_and_answers() {
    let table: [(Said<'_>, &str); 4] = [
        (&[("Ada", "I moved to the coast in May.")], "I moved to the coast in May."),
        (
            &[("Ada", "How is the new flat? I moved to the coast in May."), ("Ben", "Is the coast windy?")],
            "Ada: I moved to the coast in May.",
        ),
        (
            &[
                ("Ada", "My knee hurts since the marathon in Ghent. The doctor wants an X-ray on Tuesday."),
                ("Ben", "That sounds painful."),
            ],
            "Ada: My knee hurts since the marathon in Ghent. The doctor wants an X-ray on Tuesday.",
        ),
        (&[("Ada", "Hm.")], "Hm."),
    ];
    for (said, expected) in table {
        assert_eq!(told(&dialogue(said)).summary, expected, "{said:?}");
    }
}

#[test]
fn the_assistant_s_words_weigh_less() {
    let mut turns = dialogue(&[
        ("assistant", "Tomatoes need compost, sunlight, water and a stake against the wind in the garden."),
        ("user", "I planted six tomatoes on the balcony."),
    ]);
    turns[0].role = Role::Assistant;
    assert_eq!(told(&turns).title, "I planted six tomatoes on the balcony");
}

#[test]
fn what_comes_later_does_not_change_an_episode() {
    let all = dialogue(&[
        ("Ada", "I bought a cello in Vienna."),
        ("Ben", "A cello! Who teaches you?"),
        ("Ada", "The cello lessons start on Monday."),
        ("Ben", "Monday is a cello day then, and cello, and cello."),
    ]);
    let early = compose(EPISODE, None, &all[..3], 0..3, &[]).expect("an episode");
    assert_eq!(compose(EPISODE, None, &all, 0..3, &[]).expect("an episode"), early);
}

#[test]
fn what_cannot_be_an_episode_is_refused() {
    let turns = dialogue(&[("Ada", "Hello.")]);
    let turn = ItemId { kind: ItemKind::Turn, bits: 1 };
    for (id, range) in [(EPISODE, 0..0), (EPISODE, 0..2), (EPISODE, 1..2), (turn, 0..1)] {
        assert!(compose(id, None, &turns, range.clone(), &[]).is_err(), "{id} {range:?} was taken");
    }
}

#[test]
fn facts_and_their_places_are_named_once() {
    let turns = dialogue(&[("Ada", "I moved to Ghent and work there.")]);
    let fact = |bits| ItemId { kind: ItemKind::Fact, bits };
    let path = |text: &str| Some(text.to_owned());
    let facts = [(fact(2), path("/b")), (fact(1), None), (fact(2), path("/a")), (fact(3), path("/b"))];
    let episode = compose(EPISODE, None, &turns, 0..1, &facts).expect("an episode");
    assert_eq!(episode.facts, [fact(2), fact(1), fact(3)]);
    assert_eq!(episode.related_paths, ["/b", "/a"]);
}

/// Any text, with more words and punctuation than random characters contain.
const TEXT: &str = "(\\PC{0,8}|[ .!?\n]|cat|the |I |Ghent |東|very-long-|```){0,60}";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_conversation_can_be_told(
        said in prop::collection::vec(("[A-C]|Zoë Müller", TEXT), 1..12),
    ) {
        let said: Vec<(&str, &str)> = said.iter().map(|(speaker, text)| (speaker.as_str(), text.as_str())).collect();
        let turns = dialogue(&said);
        let episode = told(&turns);
        prop_assert!(episode.title.split_whitespace().count() <= TITLE_WORDS_MAX);
        prop_assert!(episode.title.chars().count() <= TITLE_CHARS_MAX);
        prop_assert!(episode.summary.chars().count() <= SUMMARY_CHARS_MAX);
        prop_assert!(episode.raw_excerpt.chars().count() <= EXCERPT_CHARS_MAX);
        prop_assert!(episode.topics.len() <= TOPICS_MAX && (1..=10).contains(&episode.importance));
        for topic in &episode.topics {
            prop_assert!(said.iter().any(|(_, text)| text.contains(topic.as_str())), "{topic:?} was never said");
        }
        let session = AnalysedSession::read(&turns);
        let kept = said.iter().zip(&session.sentences).flat_map(|((_, text), all)| {
            all.iter().filter(|sentence| !sentence.words.is_empty()).map(|sentence| &text[sentence.span.clone()])
        });
        // The excerpt contains every chosen sentence verbatim, unless it was too long.
        let verbatim = kept.filter(|sentence| episode.raw_excerpt.contains(sentence)).count();
        prop_assert_eq!(verbatim == 0, episode.summary.is_empty() || episode.raw_excerpt.ends_with('…'));
        prop_assert_eq!(told(&turns), episode);
    }
}
