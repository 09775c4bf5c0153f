//! Case by case: same, new, earlier, corrected, negated, contested, opposite.

use serde_json::json;

use super::world::{World, claim, day};
use crate::event::SourceKind;
use crate::extract::{Extraction, FactCandidate, REMARK, Stance, TaskCandidate, TaskKind, TaskNews};
use crate::item::{FactStatus, TaskStatus};

fn lives(object: &str, stance: Stance) -> FactCandidate {
    claim("lives_in", object, stance)
}

fn lives_since(object: &str, stance: Stance, since: &str) -> FactCandidate {
    FactCandidate { valid_from: Some(day(since)), ..lives(object, stance) }
}

fn corrects(not: &str) -> Stance {
    Stance::Corrects { not: (!not.is_empty()).then(|| not.to_owned()) }
}

#[test]
fn a_hundred_times_the_same_is_one_fact() {
    let mut world = World::new();
    for n in 0..100 {
        world.says(&format!("2024-{:02}-{:02}", n / 28 + 1, n % 28 + 1), lives("Porto", Stance::Holds));
    }
    assert_eq!(world.active("lives_in"), ["Porto"]);
    let facts: Vec<_> = world.memory.items().facts().collect();
    assert_eq!((facts.len(), facts[0].seen_count), (1, 100));
    assert_eq!(facts[0].evidence.len(), crate::limit::EVIDENCE_PER_ITEM_MAX);
    assert_eq!(world.core("/location/current"), Some(json!("Porto")));
}

#[test]
fn what_no_text_says_is_not_made_true_by_repeating_it() {
    let mut world = World::new();
    for day in ["2024-03-01", "2024-03-02", "2024-03-03"] {
        let found = Extraction { facts: vec![lives("Porto", Stance::Holds)], ..Extraction::default() };
        world.hears_text(day, SourceKind::UserSaid, "I like tea.", found);
    }
    assert_eq!(world.active("lives_in"), [""; 0]);
    assert_eq!(world.objects("lives_in", FactStatus::Uncertain), ["Porto"]);
    assert_eq!(world.core("/location/current"), None);
    world.says("2024-03-04", lives("Porto", Stance::Holds));
    assert_eq!(world.active("lives_in"), ["Porto"], "the user's own words settle it");
}

#[test]
fn a_new_value_ends_the_old_one() {
    let mut world = World::new();
    world.says("2024-03-01", lives("Lyon", Stance::Holds));
    let report = world.says("2025-06-10", lives("Porto", Stance::Changed));
    assert_eq!(report.core_paths, ["/location/current"]);
    assert_eq!(world.active("lives_in"), ["Porto"]);
    assert_eq!(world.held_at("lives_in", "2024-06-01"), ["Lyon"]);
    assert_eq!(world.held_at("lives_in", "2025-07-01"), ["Porto"]);
    assert_eq!(world.core("/location/current"), Some(json!("Porto")));
}

#[test]
fn a_correction_is_not_an_update() {
    let mut world = World::new();
    world.says("2024-03-01", lives("Lyon", Stance::Holds));
    world.says("2024-03-02", lives("Porto", corrects("Lyon")));
    assert_eq!(world.active("lives_in"), ["Porto"]);
    assert_eq!(world.objects("lives_in", FactStatus::Corrected), ["Lyon"]);
    assert_eq!(world.held_at("lives_in", "2024-03-01"), ["Porto"], "what was corrected never held");
}

#[test]
fn a_correction_of_the_past_leaves_the_present() {
    let mut world = World::new();
    world.says("2020-01-01", lives_since("Lyon", Stance::Changed, "2020-01-01"));
    world.says("2022-01-01", lives_since("Rome", Stance::Changed, "2022-01-01"));
    world.says("2023-01-01", lives("Nice", corrects("Lyon")));
    assert_eq!(world.active("lives_in"), ["Rome"]);
    assert_eq!(world.held_at("lives_in", "2021-01-01"), ["Nice"]);
    assert_eq!(world.core("/location/current"), Some(json!("Rome")));
}

#[test]
fn late_news_goes_into_history() {
    let mut world = World::new();
    world.says("2020-01-01", lives_since("Lyon", Stance::Changed, "2020-01-01"));
    world.says("2024-01-05", lives_since("Rome", Stance::Changed, "2024-01-01"));
    world.says("2025-01-01", lives_since("Porto", Stance::Changed, "2022-05-01"));
    assert_eq!(world.active("lives_in"), ["Rome"]);
    for (when, place) in [("2021-01-01", "Lyon"), ("2023-01-01", "Porto"), ("2024-06-01", "Rome")] {
        assert_eq!(world.held_at("lives_in", when), [place], "{when}");
    }
}

#[test]
fn a_fresh_move_is_news_even_if_the_old_place_was_named_in_between() {
    let mut world = World::new();
    world.says("2025-01-10", lives("Lyon", Stance::Holds));
    world.says("2025-01-12", lives_since("Porto", Stance::Changed, "2025-01-05"));
    assert_eq!(world.active("lives_in"), ["Porto"]);
}

#[test]
fn what_was_said_earlier_and_arrives_later_is_history() {
    let mut world = World::new();
    world.says("2025-01-01", lives("Rome", Stance::Holds));
    world.says("2021-01-01", lives("Lyon", Stance::Holds));
    assert_eq!(world.active("lives_in"), ["Rome"]);
    assert_eq!(world.held_at("lives_in", "2022-01-01"), ["Lyon"]);
}

#[test]
fn late_news_of_what_was_over_does_not_hold_again() {
    let mut world = World::new();
    world.says("2020-01-01", lives_since("Lyon", Stance::Changed, "2020-01-01"));
    world.says("2023-01-01", lives_since("Rome", Stance::Changed, "2023-01-01"));
    world.says("2023-06-01", lives("Rome", Stance::Ended));
    world.says("2024-01-01", lives_since("Porto", Stance::Changed, "2022-05-01"));
    world.says("2019-01-01", lives("Nice", Stance::Holds));
    assert_eq!(world.active("lives_in"), Vec::<String>::new());
    assert_eq!(world.core("/location"), None);
    for (when, places) in [
        ("2019-06-01", vec!["Nice"]),
        ("2021-01-01", vec!["Lyon"]),
        ("2022-06-01", vec!["Porto"]),
        ("2023-03-01", vec!["Rome"]),
        ("2024-06-01", vec![]),
    ] {
        assert_eq!(world.held_at("lives_in", when), places, "{when}");
    }
    // A job that began before the end of the old one is still new information.
    world.says("2023-01-01", claim("works_at", "Acme", Stance::Holds));
    world.says("2025-05-20", claim("works_at", "Acme", Stance::Ended));
    let since = Some(day("2025-05-01"));
    world.says("2025-05-22", FactCandidate { valid_from: since, ..claim("works_at", "Globex", Stance::Changed) });
    assert_eq!(world.active("works_at"), ["Globex"]);
}

#[test]
fn late_news_told_a_hundred_times_is_one_fact() {
    let mut world = World::new();
    world.says("2020-01-01", lives_since("Lyon", Stance::Changed, "2020-01-01"));
    world.says("2024-01-05", lives_since("Rome", Stance::Changed, "2024-01-01"));
    for n in 0..100 {
        let told = format!("2025-{:02}-{:02}", n / 28 + 1, n % 28 + 1);
        world.says(&told, lives_since("Porto", Stance::Changed, "2022-05-01"));
    }
    assert_eq!(world.memory.items().facts().count(), 3);
    assert_eq!(world.held_at("lives_in", "2023-01-01"), ["Porto"]);
}

#[test]
fn no_longer_ends_and_leaves_the_core_document() {
    let mut world = World::new();
    world.says("2024-01-01", claim("likes_food", "kale", Stance::Holds));
    world.says("2024-01-02", claim("likes_food", "beans", Stance::Holds));
    world.says("2024-02-01", claim("likes_food", "kale", Stance::Ended));
    assert_eq!(world.active("likes_food"), ["beans"]);
    assert_eq!(world.core("/dietaryProfile/preferences/likes"), Some(json!(["beans"])));
    world.says("2024-02-02", claim("likes_food", "beans", Stance::Ended));
    assert_eq!(world.core("/dietaryProfile"), None, "an empty category leaves no trace");
}

#[test]
fn ending_without_a_name_ends_whatever_held() {
    let mut world = World::new();
    world.says("2024-01-01", claim("works_at", "Acme", Stance::Holds));
    world.says("2024-06-01", claim("works_at", "", Stance::Ended));
    assert_eq!(world.active("works_at"), Vec::<String>::new());
    assert_eq!(world.held_at("works_at", "2024-03-01"), ["Acme"]);
    assert_eq!(world.held_at("works_at", "2024-07-01"), Vec::<String>::new());
}

#[test]
fn denying_what_was_never_known_is_refused_and_recorded() {
    let mut world = World::new();
    let report = world.says("2024-01-01", lives("Lyon", Stance::Denied));
    assert_eq!(report.refused.len(), 1);
    assert_eq!(world.memory.items().refused_count(), 1);
    assert_eq!(world.memory.items().facts().count(), 0);
}

#[test]
fn opposites_do_not_hold_together() {
    let mut world = World::new();
    world.says("2024-01-01", claim("likes", "jazz", Stance::Holds));
    world.says("2024-05-01", claim("dislikes", "Jazz", Stance::Holds));
    assert_eq!(world.active("likes"), Vec::<String>::new());
    assert_eq!(world.active("dislikes"), ["Jazz"]);
    assert_eq!(world.core("/preferences"), Some(json!({"dislikes": ["Jazz"]})));
}

#[test]
fn a_weak_source_contests_and_does_not_end() {
    let mut world = World::new();
    let of_anna = |object: &str| FactCandidate { subject: "Anna".to_owned(), ..lives(object, Stance::Holds) };
    world.says("2024-01-01", of_anna("Oslo"));
    let weak = Extraction { facts: vec![of_anna("Bergen")], ..Extraction::default() };
    let report = world.hears("2024-06-01", SourceKind::Web, weak);
    assert_eq!(world.active("lives_in"), ["Oslo"]);
    assert_eq!(world.objects("lives_in", FactStatus::Contested), ["Bergen"]);
    assert_eq!(world.held_at("lives_in", "2024-07-01"), ["Oslo"], "nobody settled what is contested");
    assert_eq!(report.reviews.len(), 1);
    assert!(report.reviews[0].text.contains("Oslo") && report.reviews[0].text.contains("Bergen"), "{report:?}");
}

#[test]
fn what_was_contested_holds_from_the_users_own_word_on() {
    let mut world = World::new();
    let of_anna = |predicate: &str, object: &str| FactCandidate {
        subject: "Anna".to_owned(),
        ..claim(predicate, object, Stance::Holds)
    };
    for (predicate, was, is) in [("lives_in", "Oslo", "Bergen"), ("likes", "jazz", "jazz")] {
        let opposite = if predicate == "likes" { "dislikes" } else { predicate };
        world.says("2024-01-01", of_anna(predicate, was));
        let weak = Extraction { facts: vec![of_anna(opposite, is)], ..Extraction::default() };
        world.hears("2024-03-01", SourceKind::Web, weak);
        assert_eq!(world.active(predicate), [was]);
        world.says("2024-06-01", of_anna(opposite, is));
        assert_eq!(world.active(opposite), [is]);
        assert_eq!(world.held_at(predicate, "2024-04-01"), [was], "what a web page says ends nothing");
        assert_eq!(world.held_at(opposite, "2024-07-01"), [is]);
    }
    assert_eq!(world.active("likes"), Vec::<String>::new());
    assert_eq!(world.held_at("dislikes", "2024-04-01"), Vec::<String>::new());
    // From then on it equals a fact the user said.
    let weak = Extraction { facts: vec![of_anna("lives_in", "Rome")], ..Extraction::default() };
    world.hears("2024-08-01", SourceKind::Imported, weak);
    let ended = FactCandidate { stance: Stance::Ended, ..of_anna("lives_in", "Bergen") };
    world.hears("2024-08-02", SourceKind::Imported, Extraction { facts: vec![ended], ..Extraction::default() });
    assert_eq!(world.active("lives_in"), ["Bergen"]);
}

#[test]
fn a_correction_may_name_what_waited() {
    let mut world = World::new();
    let since = Some(day("2022-09-01"));
    world.says("2022-10-17", FactCandidate { valid_from: since, ..claim("diet", "keto", Stance::Changed) });
    let found = Extraction { facts: vec![claim("diet", "vegan", Stance::Holds)], ..Extraction::default() };
    world.hears("2022-11-02", SourceKind::Imported, found);
    world.says("2022-11-04", claim("diet", "vegan", corrects("keto")));
    assert_eq!(world.active("diet"), ["vegan"]);
    assert_eq!(world.objects("diet", FactStatus::Corrected), ["keto"]);
    assert_eq!(world.held_at("diet", "2022-10-01"), ["vegan"]);
}

#[test]
fn only_the_users_own_words_say_who_the_user_is() {
    let mut world = World::new();
    for kind in [SourceKind::Web, SourceKind::ToolOutput, SourceKind::Imported, SourceKind::Document] {
        let found = Extraction { facts: vec![lives("Oslo", Stance::Holds)], ..Extraction::default() };
        world.hears("2024-06-01", kind, found);
    }
    assert_eq!(world.active("lives_in"), Vec::<String>::new());
    assert_eq!(world.core("/location"), None);
    assert_eq!(world.waiting().len(), 1, "it waits once");
    world.says("2024-07-01", lives("Oslo", Stance::Holds));
    assert_eq!(world.active("lives_in"), ["Oslo"], "the user's own word settles it");
    assert_eq!(world.waiting(), []);
    assert_eq!(world.core("/location/current"), Some(json!("Oslo")));
}

#[test]
fn sensitive_things_stay_out_unless_wanted() {
    let mut world = World::new();
    let report = world.says("2024-01-01", claim("religion", "Buddhist", Stance::Holds));
    assert_eq!(report.refused.len(), 1);
    assert_eq!(world.active("religion"), Vec::<String>::new());
    world.policy.keep_sensitive = true;
    world.says("2024-01-02", claim("religion", "Buddhist", Stance::Holds));
    assert_eq!(world.active("religion"), ["Buddhist"]);
}

#[test]
fn what_does_not_stand_in_the_words_is_kept_aside() {
    let mut world = World::new();
    let found = Extraction { facts: vec![lives("Lisbon", Stance::Holds)], ..Extraction::default() };
    world.hears_text("2024-01-01", SourceKind::UserSaid, "I live in Porto", found);
    assert_eq!(world.active("lives_in"), Vec::<String>::new());
    assert_eq!(world.objects("lives_in", FactStatus::Uncertain), ["Lisbon"]);
    assert_eq!(world.core("/location"), None);
}

#[test]
fn one_favourite_a_kind_of_thing() {
    let mut world = World::new();
    let favourite = |of: &str, object: &str| FactCandidate {
        qualifiers: [("of".to_owned(), of.to_owned())].into(),
        ..claim("favourite", object, Stance::Holds)
    };
    world.says("2024-01-01", favourite("colour", "green"));
    world.says("2024-01-02", favourite("book", "Middlemarch"));
    world.says("2024-01-03", favourite("colour", "blue"));
    assert_eq!(world.active("favourite"), ["Middlemarch", "blue"]);
    assert_eq!(world.core("/preferences/favorites"), Some(json!({"book": "Middlemarch", "colour": "blue"})));
}

#[test]
fn the_seeds_flat_summary_comes_out_as_the_seed_shows_it() {
    let mut world = World::new();
    let with = |candidate: FactCandidate, name: &str, value: &str| FactCandidate {
        qualifiers: [(name.to_owned(), value.to_owned())].into(),
        ..candidate
    };
    let facts = vec![
        with(claim("has_condition", "type 2 diabetes", Stance::Holds), "since", "2018"),
        claim("takes_medication", "Metformin", Stance::Holds),
        claim("likes_food", "Greek yogurt", Stance::Holds),
        claim("dislikes_food", "kale", Stance::Holds),
        with(claim("exercises", "walking", Stance::Holds), "frequency", "daily"),
    ];
    world.hears("", SourceKind::UserSaid, Extraction { facts, ..Extraction::default() });
    let wanted = json!({
        "healthProfile": {
            "conditions": [{"name": "Type 2 Diabetes", "since": "2018"}],
            "medications": [{"name": "Metformin"}],
        },
        "dietaryProfile": {"preferences": {"likes": ["greek yogurt"], "dislikes": ["kale"]}},
        "dynamicCategories": {
            "exerciseRoutine": {"description": "User's exercise habits", "data": {"walking": "daily"}},
        },
    });
    assert_eq!(*world.memory.core(), wanted);
}

fn told(title: &str, kind: TaskKind, news: TaskNews) -> TaskCandidate {
    TaskCandidate { kind, title: title.to_owned(), span: 0..0, news, due: None, confidence: 0.9 }
}

#[test]
fn tasks_of_other_numbers_are_other_tasks() {
    let mut world = World::new();
    for title in ["pay invoice 12", "pay invoice 13", "pay the invoice 13", "order 4 bulbs"] {
        world.tells("2024-01-01", told(title, TaskKind::Task, TaskNews::Opened));
    }
    let mut titles: Vec<&str> = world.memory.items().tasks().map(|task| task.title.as_str()).collect();
    titles.sort_unstable();
    assert_eq!(titles, ["order 4 bulbs", "pay invoice 12", "pay invoice 13"]);
}

#[test]
fn tasks_about_something_else_are_other_tasks() {
    for (one, other, is_same) in [
        ("call Anna about the lease", "call Anna about the party", false),
        ("finish the grant application draft", "finish the grant application budget", false),
        ("water the plants in the kitchen", "water the plants in the hall", false),
        ("buy a birthday present for mum", "get a birthday present for mum", true),
        ("renew my passport", "renew the passport online", true),
        ("fix the leaking tap in the kitchen", "fix the kitchen tap", true),
    ] {
        let mut world = World::new();
        for title in [one, other] {
            world.tells("2024-01-01", told(title, TaskKind::Task, TaskNews::Opened));
        }
        assert_eq!(world.memory.items().tasks().count() == 1, is_same, "{one}; {other}");
    }
}

#[test]
fn one_message_may_open_a_task_for_each_of_several_days() {
    let due =
        |on: &str| TaskCandidate { due: Some(day(on)), ..told("water the plants", TaskKind::Task, TaskNews::Opened) };
    let mut world = World::new();
    let found = Extraction { tasks: vec![due("2024-02-01"), due("2024-02-04")], ..Extraction::default() };
    world.hears_text("2024-01-01", SourceKind::UserSaid, "water the plants", found);
    let dues = |world: &World| world.memory.items().tasks().map(|task| task.due.unwrap()).collect::<Vec<_>>();
    assert_eq!(dues(&world), [day("2024-02-01"), day("2024-02-04")]);
    // Said again later, another day is news of the task.
    world.tells("2024-01-02", due("2024-02-06"));
    let found = dues(&world);
    assert!(found.len() == 2 && found.contains(&day("2024-02-06")), "{found:?}");
}

#[test]
fn a_problem_gathers_attempts_until_it_is_done() {
    let mut world = World::new();
    let tried = |approach: &str, outcome: &str, successful| TaskNews::Tried {
        approach: approach.to_owned(),
        outcome: outcome.to_owned(),
        successful,
    };
    world.tells("2023-11-01", told("post-dinner glucose spikes", TaskKind::Problem, TaskNews::Opened));
    world.tells(
        "2023-11-20",
        told("glucose spikes", TaskKind::Problem, tried("walking after dinner", "20 points less", Some(true))),
    );
    world.tells("2023-11-25", told("", TaskKind::Problem, tried("fewer carbs", "", None)));
    world.tells("2023-11-02", told("post-dinner glucose spikes", TaskKind::Problem, TaskNews::Opened));
    let tasks: Vec<_> = world.memory.items().tasks().cloned().collect();
    assert_eq!(tasks.len(), 1);
    let approaches: Vec<&str> = tasks[0].attempts.iter().map(|attempt| attempt.approach.as_str()).collect();
    assert_eq!(approaches, ["walking after dinner", "fewer carbs"]);
    world.tells("2024-01-01", told("glucose spikes after dinner", TaskKind::Problem, TaskNews::Done));
    assert_eq!(world.memory.items().tasks().next().map(|task| task.status), Some(TaskStatus::Done));
}

#[test]
fn a_remark_ends_with_what_was_read_in_the_same_words() {
    let mut world = World::new();
    let hears = |world: &mut World, when: &str, text: &str, facts: Vec<FactCandidate>, tasks: Vec<TaskCandidate>| {
        let remark = FactCandidate { confidence: 0.8, ..claim(REMARK, text, Stance::Holds) };
        let facts = facts.into_iter().chain([remark]).collect();
        world.hears_text(when, SourceKind::UserSaid, text, Extraction { facts, tasks, ..Extraction::default() })
    };
    let home = "we live in Lyon, next to the market";
    let near = "the market in Lyon is loud on Sundays";
    let chore = "I must repaint the fence, the neighbours lend me a ladder";
    hears(&mut world, "2025-01-01", home, vec![claim("lives_in", "Lyon", Stance::Holds)], Vec::new());
    hears(&mut world, "2025-01-02", near, Vec::new(), Vec::new());
    hears(
        &mut world,
        "2025-01-03",
        chore,
        Vec::new(),
        vec![told("repaint the fence", TaskKind::Task, TaskNews::Opened)],
    );
    assert_eq!(world.objects(REMARK, FactStatus::Active), [home, near, chore]);

    let moved = "we moved to Porto, the children like it";
    let report = hears(&mut world, "2025-03-01", moved, vec![claim("lives_in", "Porto", Stance::Changed)], Vec::new());
    assert_eq!(world.objects(REMARK, FactStatus::Superseded), [home]);
    assert_eq!(report.ended.len(), 2, "the fact, and its remark: {report:?}");

    world.tells("2025-03-02", told("repaint the fence", TaskKind::Task, TaskNews::Done));
    assert_eq!(world.objects(REMARK, FactStatus::Superseded), [home, chore]);
    assert_eq!(world.objects(REMARK, FactStatus::Active), [near, moved]);
}
