//! Tests what is folded, promoted, noted, proposed and demoted, and what is not.

use super::super::{GrowthSubject, priority};
use super::world::{World, bytes, claim, day};
use crate::event::SourceKind;
use crate::id::{ItemId, ItemKind};
use crate::item::episode::Sentiment;
use crate::item::{
    DerivedChange, Fact, FactChange, FactStatus, FactType, ItemHits, NoteOrigin, TenetChange, TenetStatus, TimeSpan,
};

#[test]
fn priority_is_the_formula_of_the_seed() {
    let mut world = World::new();
    let tea = world.claims(&[0], Fact { intrinsic_importance: 0.4, ..claim("likes", "tea") });
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
    near(priority(&world.memory, tea, day(0)), 0.5 + 0.3 * 0.4);
    near(priority(&world.memory, tea, day(30)), 0.5 * (-1f64).exp() + 0.3 * 0.4);
    world.shown(tea, 10, 30);
    near(priority(&world.memory, tea, day(30)), 0.5 + 0.3 * 0.4 + 0.2);
    world.shown(tea, 1_000_000, 30);
    near(priority(&world.memory, tea, day(30)), 0.5 + 0.3 * 0.4 + 0.2);
    world.marked(tea, None, Some(2));
    near(priority(&world.memory, tea, day(30)), 0.5 + 0.3 + 0.2);
    let trip = world.claims(&[0], claim("visited", "Porto"));
    near(priority(&world.memory, trip, day(7)), 0.5 * (-1f64).exp() + 0.3 * 0.4);
}

#[test]
fn hits_are_added_up_and_what_is_gone_has_none() {
    let mut world = World::new();
    let tea = world.claims(&[0], claim("likes", "tea"));
    let gone = ItemId { kind: ItemKind::Turn, bits: 999 };
    let at = world.hears(1, SourceKind::UserSaid, "hello").source;
    for (count, on) in [(2, 5), (1, 3)] {
        let hits = [tea, gone, at].map(|item| ItemHits { item, count, last_at: day(on) }).to_vec();
        world.draw(DerivedChange::HitsCounted { hits });
    }
    for (item, hits, last) in [(tea, 3, Some(day(5))), (at, 3, Some(day(5))), (gone, 0, None)] {
        let found = world.memory.items().hits(item);
        assert_eq!((found.hits, found.last_hit_at), (hits, last), "{item}");
    }
}

#[test]
fn only_the_same_value_is_folded() {
    let porto = |object: &str| claim("visited", object);
    let of = |subject: &str, object: &str| Fact {
        subject: subject.to_owned(),
        slot: format!("{subject}|likes"),
        ..claim("likes", object)
    };
    let sure = |fact: Fact, name: &str| Fact {
        qualifiers: [("since".to_owned(), name.to_owned())].into_iter().collect(),
        ..fact
    };
    for (one, other, folded) in [
        (claim("likes", "long walks"), claim("likes", "long walk"), true),
        (claim("likes", "the sea"), claim("likes", "sea"), true),
        (claim("likes", "hobbies"), claim("likes", "hobby"), true),
        (claim("likes", "the office"), claim("likes", "The Office"), false),
        (claim("likes", "Rolling Stone"), claim("likes", "Rolling Stones"), false),
        (claim("likes", "C"), claim("likes", "C++"), false),
        (claim("likes", "C#"), claim("likes", "C++"), false),
        (claim("likes", "spicy food"), claim("likes", "not spicy food"), false),
        (claim("likes", "green tea"), claim("likes", "tea"), false),
        (claim("likes", "route 66"), claim("likes", "route 67"), false),
        (claim("likes", "news"), claim("likes", "new"), false),
        (claim("likes", "his dog"), claim("likes", "her dog"), false),
        (claim("likes", "dogs of friends"), claim("likes", "friends of dogs"), false),
        (claim("likes", "jazz"), claim("dislikes", "jazz"), false),
        (of("Marta", "walks"), of("Rui", "walk"), false),
        (of("Marta", "walks"), of("Marta", "walk"), true),
        (porto("Porto"), porto("porto"), true),
        (sure(claim("likes", "walks"), "2001"), sure(claim("likes", "walk"), "2002"), false),
        (Fact { valid_to: Some(day(1)), ..porto("lakes") }, Fact { valid_from: Some(day(3)), ..porto("lake") }, false),
        (Fact { status: FactStatus::Superseded, ..claim("likes", "walks") }, claim("likes", "walk"), false),
        (Fact { status: FactStatus::Uncertain, ..claim("likes", "walks") }, claim("likes", "walk"), false),
    ] {
        let mut world = World::new();
        let said = format!("{} {} and {}", one.subject, one.object, other.object);
        let (one, other) = (world.claims(&[1], one), world.claims(&[2], other));
        let found = world.desk(3, |desk, _| desk.duplicates());
        assert_eq!(!found.is_empty(), folded, "{said}");
        if folded {
            assert_eq!(found[0].items, [one, other], "{said}");
            let before = bytes(&world.memory);
            let events = world.take(found);
            assert_eq!(world.memory.items().fact(one).unwrap().seen_count, 2);
            assert_eq!(world.memory.items().merged_into(other), Some(one));
            assert!(world.desk(3, |desk, _| desk.duplicates()).is_empty(), "{said}: it is folded once");
            assert_eq!(world.bytes_without(&events), before, "{said}");
        }
    }
}

#[test]
fn what_a_person_marked_is_not_folded_away() {
    let mut world = World::new();
    let walk = world.claims(&[1], claim("likes", "walk"));
    let walks = world.claims(&[2], claim("likes", "walks"));
    world.marked(walks, Some(true), None);
    let found = world.desk(3, |desk, _| desk.duplicates());
    assert_eq!(found[0].items, [walks, walk], "the pinned one stays");
    world.marked(walk, None, Some(1));
    assert!(world.desk(3, |desk, _| desk.duplicates()).is_empty());
}

#[test]
fn a_claim_reaches_no_further_by_being_folded() {
    let mut world = World::new();
    let web = world.claimed_by(&[1, 1, 1, 1], SourceKind::Imported, claim("likes", "walks"));
    let own = world.claims(&[2], claim("likes", "walk"));
    let found = world.desk(3, |desk, _| desk.duplicates());
    assert_eq!(found[0].items, [own, web], "the one with more trust stays");
}

#[test]
fn notes_that_say_the_same_are_one_and_another_voice_agrees() {
    let mut world = World::new();
    let one = world.note(1, "Short answers work best.", NoteOrigin::Rule);
    let two = world.note(2, "short answers work best", NoteOrigin::ModelReflection);
    let other = world.note(3, "Short answers do not work best.", NoteOrigin::Rule);
    let found = world.desk(4, |desk, _| desk.duplicates());
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].items, [one, two]);
    world.take(found);
    assert!(world.memory.items().note(one).unwrap().is_agreed());
    assert!(!world.memory.items().is_hidden(other));
}

#[test]
fn what_is_said_on_three_days_is_of_the_profile() {
    let light = |object: &str| Fact { intrinsic_importance: 0.2, ..claim("likes", object) };
    for (what, fact, days, kind, promoted) in [
        ("three days", claim("likes", "tea"), vec![1, 2, 9], SourceKind::UserSaid, true),
        ("two days", claim("likes", "tea"), vec![1, 2], SourceKind::UserSaid, false),
        ("three times on a day", claim("likes", "tea"), vec![1, 1, 1], SourceKind::UserSaid, false),
        ("of little weight, on three days", light("tea"), vec![1, 2, 3], SourceKind::UserSaid, false),
        ("of little weight, on four days", light("tea"), vec![1, 2, 3, 4], SourceKind::UserSaid, true),
        ("said by others", claim("likes", "tea"), vec![1, 2, 3], SourceKind::Imported, false),
        ("something that happened", claim("visited", "Porto"), vec![1, 2, 3], SourceKind::UserSaid, false),
        (
            "of somebody else",
            Fact { subject: "Marta".to_owned(), ..claim("likes", "tea") },
            vec![1, 2, 3],
            SourceKind::UserSaid,
            false,
        ),
        (
            "not sure",
            Fact { status: FactStatus::Uncertain, ..claim("likes", "tea") },
            vec![1, 2, 3],
            SourceKind::UserSaid,
            false,
        ),
    ] {
        let mut world = World::new();
        let id = world.claimed_by(&days, kind, fact);
        let found = world.desk(10, |desk, _| desk.promotions());
        assert_eq!(!found.is_empty(), promoted, "{what}");
        let before = bytes(&world.memory);
        let events = world.take(found);
        assert_eq!(world.memory.items().is_promoted(id), promoted, "{what}");
        if promoted {
            assert_eq!(world.memory.items().fact(id).unwrap().time_span, TimeSpan::LongTerm);
            assert!(world.desk(10, |desk, _| desk.promotions()).is_empty(), "{what}: once");
            assert_eq!(world.bytes_without(&events), before, "{what}");
        }
    }
}

#[test]
fn who_repeats_what_the_user_said_adds_no_day() {
    let mut world = World::new();
    let tea = world.claims(&[1, 2], claim("likes", "tea"));
    let evidence = world.hears(3, SourceKind::Web, "You like tea.");
    world.draw(DerivedChange::FactChanged(FactChange { evidence: Some(evidence), ..FactChange::of(tea) }));
    assert!(world.desk(5, |desk, _| desk.promotions()).is_empty());
}

#[test]
fn what_worked_is_noted_and_a_second_day_agrees() {
    let mut world = World::new();
    world.problem("migraine", &[(1, "dark room", Some(true)), (1, "coffee", Some(false)), (2, "music", None)]);
    let found = world.desk(3, |desk, name| desk.reflections(name));
    let text = |word: &str| format!("What {word} with migraine: ");
    assert_eq!(
        World::told(&found),
        [(GrowthSubject::Noted, text("helped") + "dark room"), (GrowthSubject::Noted, text("did not help") + "coffee")]
    );
    let note = found[0].items[0];
    world.take(found);
    assert!(!world.memory.items().note(note).unwrap().is_agreed(), "one voice alone");
    assert!(world.desk(3, |desk, name| desk.reflections(name)).is_empty(), "nothing new");

    world.problem("Migraine", &[(8, "dark room", Some(true))]);
    let found = world.desk(9, |desk, name| desk.reflections(name));
    assert_eq!(World::told(&found), [(GrowthSubject::Seconded, text("helped") + "dark room")]);
    world.take(found);
    assert!(world.memory.items().note(note).unwrap().is_agreed());
    assert!(world.desk(9, |desk, name| desk.reflections(name)).is_empty());
}

#[test]
fn a_note_speaks_of_a_problem_as_people_do() {
    for (title, spoken) in
        [("keep waking up", "waking up"), ("keep the dog", "keep the dog"), ("knee pain", "knee pain")]
    {
        let mut world = World::new();
        world.problem(title, &[(1, "rest", Some(true))]);
        let found = world.desk(2, |desk, name| desk.reflections(name));
        assert_eq!(found[0].text, format!("What helped with {spoken}: rest"));
    }
}

#[test]
fn what_turned_out_otherwise_is_taken_back_and_not_noted_again() {
    let mut world = World::new();
    world.problem("migraine", &[(1, "coffee", Some(true))]);
    let found = world.desk(2, |desk, name| desk.reflections(name));
    world.take(found);
    let attempt = world.hears(5, SourceKind::UserSaid, "coffee made it worse");
    let task = world.memory.items().tasks().next().unwrap().id;
    let failed = crate::item::Attempt {
        date: Some(day(5)),
        approach: "coffee".to_owned(),
        outcome: "worse".to_owned(),
        successful: Some(false),
        evidence: vec![attempt],
    };
    let (status, due, priority) = (None, None, None);
    let change =
        crate::item::TaskChange { task, status, due, priority, attempt: Some(failed), evidence: None, at: None };
    world.draw(DerivedChange::TaskChanged(change));
    let found = world.desk(6, |desk, name| desk.reflections(name));
    let said = World::told(&found);
    assert!(said.contains(&(GrowthSubject::Pruned, "What helped with migraine: coffee".to_owned())), "{said:?}");
    assert!(said.contains(&(GrowthSubject::Noted, "What did not help with migraine: coffee".to_owned())), "{said:?}");
    world.take(found);
    assert!(world.desk(6, |desk, name| desk.reflections(name)).is_empty());
}

#[test]
fn a_mood_on_three_days_is_an_insight() {
    use Sentiment::{Negative, Neutral, Positive};
    for (moods, days, expected) in [
        (vec![Negative, Negative, Negative], vec![1, 2, 3], Some("When work comes up, it is mostly in a low mood")),
        (vec![Positive, Positive, Positive], vec![1, 2, 3], Some("When work comes up, it is mostly in a good mood")),
        (vec![Negative, Negative, Negative], vec![1, 1, 1], None),
        (vec![Negative, Negative, Negative, Positive, Positive], vec![1, 2, 3, 4, 5], None),
        (vec![Neutral, Neutral, Neutral], vec![1, 2, 3], None),
    ] {
        let mut world = World::new();
        world.knobs.insight_days_min = 3;
        for (mood, on) in moods.iter().zip(&days) {
            let source = world.hears(*on, SourceKind::UserSaid, "About work.").source;
            world.episode(*on, vec![source], &["work"], *mood);
        }
        let found = world.desk(9, |desk, name| desk.reflections(name));
        assert_eq!(found.first().map(|one| one.text.as_str()), expected, "{moods:?} on {days:?}");
    }
}

#[test]
fn a_mood_that_is_the_usual_one_is_no_insight() {
    for (others, found) in [(Sentiment::Negative, 0), (Sentiment::Neutral, 1)] {
        let mut world = World::new();
        for on in 1..12 {
            let source = world.hears(on, SourceKind::UserSaid, "About it.").source;
            let (topic, mood) = if on < 6 { ("work", Sentiment::Negative) } else { ("rain", others) };
            world.episode(on, vec![source], &[topic], mood);
        }
        let noted = world.desk(20, |desk, name| desk.reflections(name));
        assert_eq!(noted.len(), found, "{others:?}: {:?}", World::told(&noted));
    }
}

#[test]
fn notes_are_few_and_the_least_makes_room() {
    let mut world = World::new();
    world.knobs.notes_max = 2;
    for number in 0..3 {
        world.problem(&format!("trouble {number}"), &[(number, "rest", Some(true))]);
    }
    let found = world.desk(5, |desk, name| desk.reflections(name));
    assert_eq!(found.len(), 2, "two a pass");
    world.take(found);
    let found = world.desk(5, |desk, name| desk.reflections(name));
    assert_eq!(found.len(), 1, "the rest with the next");
    world.take(found);
    for number in 3..crate::limit::NOTES_MAX {
        world.note(0, &format!("Note number {number}."), NoteOrigin::HumanFeedback);
    }
    world.problem("the last straw", &[(20, "rest", Some(true))]);
    let found = world.desk(21, |desk, name| desk.reflections(name));
    assert_eq!(found.iter().map(|one| one.what).collect::<Vec<_>>(), [GrowthSubject::Pruned, GrowthSubject::Noted]);
    assert_eq!(found[0].text, "What helped with trouble 0: rest", "the one that is not agreed with, longest ago");
}

#[test]
fn a_pattern_is_put_to_the_user_once() {
    let mut world = World::new();
    let tea = world.claims(&[1, 2, 3], claim("likes", "tea"));
    world.claims(&[1, 2], claim("likes", "jazz"));
    world.claims(&[1, 2, 3], claim("visited", "Porto"));
    world.claimed_by(&[1, 2, 3], SourceKind::Imported, claim("likes", "golf"));
    let found = world.desk(4, |desk, name| desk.tenet_proposals(name));
    let text = world.memory.items().text(tea).unwrap().to_owned();
    assert_eq!(World::told(&found), [(GrowthSubject::Proposed, text.clone())]);
    let tenet = found[0].items[0];
    world.take(found);
    assert_eq!(world.memory.items().tenet(tenet).unwrap().status, TenetStatus::Proposed);
    assert_eq!(world.memory.items().waiting().count(), 1);
    assert!(world.desk(4, |desk, name| desk.tenet_proposals(name)).is_empty());
    // A declined tenet stays declined.
    let declined = TenetChange { tenet, status: Some(TenetStatus::Outdated), text: None };
    world.draw(DerivedChange::TenetChanged(declined));
    assert!(world.desk(50, |desk, name| desk.tenet_proposals(name)).is_empty());
    assert_eq!(world.memory.items().waiting().count(), 0, "nothing is asked about what is outdated");
    // It rested on the fact and three sources: four more sources double its support.
    for on in 51..55 {
        assert!(world.desk(60, |desk, name| desk.tenet_proposals(name)).is_empty(), "day {on}");
        let evidence = world.hears(on, SourceKind::UserSaid, "tea");
        world.draw(DerivedChange::FactSeen { fact: tea, evidence, at: Some(day(on)) });
    }
    let again = world.desk(60, |desk, name| desk.tenet_proposals(name));
    assert_eq!(World::told(&again), [(GrowthSubject::Proposed, text)]);
}

#[test]
fn a_line_that_lost_its_ground_is_outdated() {
    let mut world = World::new();
    let tea = world.claims(&[1, 2, 3], claim("likes", "teas"));
    let found = world.desk(4, |desk, name| desk.tenet_proposals(name));
    let tenet = found[0].items[0];
    world.take(found);
    assert!(world.desk(5, |desk, _| desk.outdated()).is_empty());
    // It stays valid while the fact it was merged into is active.
    world.claims(&[1, 2, 3, 4], claim("likes", "tea"));
    let folded = world.desk(5, |desk, _| desk.duplicates());
    assert_eq!(folded[0].items[1], tea);
    let stays = folded[0].items[0];
    world.take(folded);
    assert!(world.desk(5, |desk, _| desk.outdated()).is_empty());
    let ended = FactChange { status: Some(FactStatus::Superseded), ..FactChange::of(stays) };
    world.draw(DerivedChange::FactChanged(ended));
    let found = world.desk(6, |desk, _| desk.outdated());
    assert_eq!(found.iter().map(|one| one.items[0]).collect::<Vec<_>>(), [tenet]);
    world.take(found);
    assert!(world.desk(6, |desk, _| desk.outdated()).is_empty());
}

#[test]
fn what_is_cold_and_told_leaves_the_active_index() {
    let mut world = World::new();
    let old: Vec<ItemId> = (0..4).map(|_| world.hears(0, SourceKind::UserSaid, "words").source).collect();
    world.episode(0, old[..3].to_vec(), &["words"], Sentiment::Neutral);
    world.episode(0, old[3..].to_vec(), &["alone"], Sentiment::Neutral);
    let fresh =
        [world.hears(300, SourceKind::UserSaid, "a").source, world.hears(300, SourceKind::UserSaid, "b").source];
    world.episode(300, fresh.to_vec(), &["now"], Sentiment::Neutral);
    let untold = world.hears(0, SourceKind::UserSaid, "untold").source;
    world.marked(old[1], Some(true), None);
    world.shown(old[2], 1, 280);
    let found = world.desk(310, |desk, _| desk.demotions());
    assert_eq!(found.iter().map(|one| one.items.clone()).collect::<Vec<_>>(), [vec![old[0]]]);
    let before = bytes(&world.memory);
    let events = world.take(found);
    assert!(world.memory.items().is_demoted(old[0]) && !world.memory.items().is_demoted(untold));
    assert!(world.desk(310, |desk, _| desk.demotions()).is_empty());
    assert_eq!(world.bytes_without(&events), before);
    let counted = super::super::active_index(&world.memory);
    assert_eq!((counted.items, counted.active), (9, 8), "a story of one source is that source");
    world.shown(old[0], 1, 311);
    assert!(!world.memory.items().is_demoted(old[0]), "what is asked for comes back");
}

#[test]
fn a_cold_story_leaves_with_the_last_of_its_words() {
    for (what, importance, act, leaves) in [
        ("a story of little weight", 3, 0, true),
        ("one that matters", 8, 0, false),
        ("one of which a turn is pinned", 3, 1, false),
        ("one of which a turn was shown", 3, 2, false),
        ("one that is pinned", 3, 3, false),
        ("one that was shown", 3, 4, false),
        ("one that is young", 3, 5, false),
    ] {
        let mut world = World::new();
        let on = if act == 5 { 250 } else { 0 };
        let turns: Vec<ItemId> = (0..2).map(|_| world.hears(on, SourceKind::UserSaid, "words").source).collect();
        let story = world.episode_of(on, turns.clone(), importance);
        match act {
            1 => world.marked(turns[1], Some(true), None),
            2 => world.shown(turns[1], 1, 280),
            3 => world.marked(story, Some(true), None),
            4 => world.shown(story, 1, 280),
            _ => {}
        }
        let found = world.desk(310, |desk, _| desk.demotions());
        assert_eq!(found.iter().any(|one| one.items.contains(&story)), leaves, "{what}");
        if !leaves {
            continue;
        }
        assert_eq!(World::told(&found), [(GrowthSubject::Demoted, "2 old turns and 1 old story".to_owned())]);
        let before = bytes(&world.memory);
        let events = world.take(found);
        assert!(world.memory.items().is_demoted(story));
        assert!(world.desk(310, |desk, _| desk.demotions()).is_empty(), "once is enough");
        assert_eq!(world.bytes_without(&events), before, "taken back, it is as it was");
        world.shown(story, 1, 311);
        assert!(!world.memory.items().is_demoted(story), "what is asked for comes back");
        assert!(world.desk(320, |desk, _| desk.demotions()).is_empty(), "and stays a while");
    }
}

#[test]
fn claims_of_little_weight_collapse_into_the_episode_that_tells_them() {
    let told = |world: &mut World, fact: ItemId| {
        let source = world.memory.items().fact(fact).unwrap().evidence[0].source;
        let beside = world.hears(0, SourceKind::UserSaid, "and more").source;
        world.episode(0, vec![source, beside], &["trip"], Sentiment::Neutral);
    };
    let lasting = |fact: Fact| Fact { core_path: Some("/preferences/likes".to_owned()), ..fact };
    for (what, fact, is_told, leaves) in [
        ("a trip", claim("visited", "Porto"), true, true),
        ("a trip nobody tells", claim("visited", "Porto"), false, false),
        ("what stands in the profile", lasting(claim("likes", "tea")), true, false),
        ("a limit", Fact { fact_type: FactType::Constraint, ..claim("visited", "Porto") }, true, false),
        ("what matters", Fact { intrinsic_importance: 0.9, ..claim("visited", "Porto") }, true, false),
        ("what the user scored", Fact { user_fact_score: Some(0), ..claim("visited", "Porto") }, true, false),
    ] {
        let mut world = World::new();
        let id = world.claims(&[0], fact);
        if is_told {
            told(&mut world, id);
        }
        let early = world.desk(60, |desk, _| desk.demotions());
        assert!(early.iter().all(|one| !one.items.contains(&id)), "{what}: too early");
        let found = world.desk(200, |desk, _| desk.demotions());
        assert_eq!(found.iter().any(|one| one.items.contains(&id)), leaves, "{what}");
        world.take(found);
        assert_eq!(world.memory.items().is_demoted(id), leaves, "{what}");
        let again = world.hears(201, SourceKind::UserSaid, "again");
        world.draw(DerivedChange::FactSeen { fact: id, evidence: again, at: Some(day(201)) });
        assert!(!world.memory.items().is_demoted(id), "{what}: what is said again is active again");
    }
}

#[test]
fn of_past_values_the_last_few_stay() {
    let mut world = World::new();
    let homes: Vec<ItemId> = ["Oslo", "Lyon", "Porto", "Rome", "Paris", "Bonn"]
        .iter()
        .enumerate()
        .map(|(number, city)| {
            let from = Some(day(number as i64 * 10));
            world.claims(&[number as i64 * 10], Fact { valid_from: from, ..claim("lives_in", city) })
        })
        .collect();
    let found = world.desk(60, |desk, _| desk.demotions());
    assert_eq!(found.iter().map(|one| one.items.clone()).collect::<Vec<_>>(), [homes[..2].to_vec()]);
}
