//! Edits of a page by a person wait for a decision, and none is lost.

use quipu_core::event::Actor;
use quipu_core::id::ItemId;
use quipu_core::item::{ReviewDecision, ReviewKind};
use quipu_engine::erase::EraseTarget;
use quipu_engine::{Error, FactOptions, MemoryRef, Waiting, decide_review, erase, facts, files, reviews};

use crate::{House, me};

fn house() -> House {
    let house = House::new();
    house.says("I live in Lyon");
    house.says("My sister is called Marta");
    house.level();
    house
}

fn edit(house: &House, page: &str, from: &str, to: &str) {
    let text = house.page(page);
    assert!(text.contains(from), "no {from:?} in {text}");
    std::fs::write(house.folder().join(page), text.replace(from, to)).unwrap();
}

fn waiting(house: &House) -> Vec<Waiting> {
    reviews(&house.engine, &me(), false)
        .unwrap()
        .into_iter()
        .filter(|one| one.review.kind == ReviewKind::Edit)
        .collect()
}

fn held(house: &House) -> Vec<String> {
    let shown = facts(&house.engine, &me(), &FactOptions::default()).unwrap();
    shown.into_iter().map(|shown| shown.fact.text).collect()
}

fn decide(house: &House, id: ItemId, decision: &ReviewDecision) -> quipu_engine::Receipt {
    decide_review(&house.engine, &me(), &id.to_string(), decision, Actor::User, None).unwrap()
}

#[test]
fn other_words_are_proposed_and_change_nothing_until_they_are_approved() {
    let house = house();
    edit(&house, "GLOBAL_MEMORY.md", "User lives in Lyon", "User lives in Porto");
    let report = house.level();
    assert_eq!(report.edited.len(), 1);
    let found = waiting(&house);
    assert_eq!(found.len(), 1);
    assert!(found[0].review.question.contains("“User lives in Porto” instead of “User lives in Lyon”"));
    assert!(held(&house).contains(&"User lives in Lyon".to_owned()));
    // Quipu owns the page again, and the edited version is preserved.
    assert!(house.page("GLOBAL_MEMORY.md").contains("User lives in Lyon"));
    let kept = report.edited[0].kept.clone().unwrap();
    assert!(house.page(&kept).contains("User lives in Porto"));
    assert!(house.page("topics/location/topic_memory.md").contains("Open questions"));

    let refused = decide_review(
        &house.engine,
        &me(),
        &found[0].review.id.to_string(),
        &ReviewDecision::Approved,
        Actor::Agent,
        None,
    );
    assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
    decide(&house, found[0].review.id, &ReviewDecision::Approved);
    assert!(held(&house).contains(&"User lives in Porto".to_owned()), "{:?}", held(&house));
    assert!(!held(&house).contains(&"User lives in Lyon".to_owned()));
    house.level();
    assert!(house.page("GLOBAL_MEMORY.md").contains("User lives in Porto"));
    assert!(house.rebuild().is_level());
}

#[test]
fn the_same_edit_is_proposed_once() {
    let house = house();
    for _ in 0..2 {
        edit(&house, "GLOBAL_MEMORY.md", "User lives in Lyon", "User lives in Porto");
        edit(&house, "topics/location/topic_memory.md", "- User lives in Lyon", "- User lives in Porto");
        house.level();
    }
    assert_eq!(waiting(&house).len(), 1);
    assert!(house.level().edited.is_empty());
}

#[test]
fn scores_lines_taken_out_and_new_lines_are_proposed() {
    let house = house();
    edit(
        &house,
        "topics/location/topic_memory.json",
        "\"confidence\"",
        "\"user_fact_score\": 9,\n      \"confidence\"",
    );
    let line = house
        .page("topics/relationships/topic_memory.md")
        .lines()
        .find(|line| line.contains("Marta —"))
        .unwrap()
        .to_owned();
    edit(&house, "topics/relationships/topic_memory.md", &format!("{line}\n"), "");
    edit(&house, "GLOBAL_MEMORY.md", "## Do not forget", "## Do not forget\n\n- I like green tea");
    house.level();
    let found = waiting(&house);
    assert_eq!(found.len(), 3, "{found:#?}");
    for one in found {
        decide(&house, one.review.id, &ReviewDecision::Approved);
    }
    assert!(waiting(&house).is_empty());
    let held = held(&house);
    assert!(held.iter().any(|text| text.contains("green tea")), "{held:?}");
    assert!(!held.iter().any(|text| text.contains("Marta")), "{held:?}");
    house.level();
    assert!(house.page("GLOBAL_MEMORY.md").contains("User lives in Lyon (score 9)"));
}

#[test]
fn declined_edits_leave_everything_as_it_was() {
    let house = house();
    let before = held(&house);
    edit(&house, "GLOBAL_MEMORY.md", "User lives in Lyon", "User lives in Rome");
    edit(&house, "GLOBAL_MEMORY.md", "## Do not forget", "I like green tea\n\n## Do not forget");
    house.level();
    for one in waiting(&house) {
        decide(&house, one.review.id, &ReviewDecision::Declined);
    }
    assert_eq!(held(&house), before);
}

#[test]
fn where_the_memory_has_moved_on_both_sides_are_told() {
    let house = house();
    edit(&house, "GLOBAL_MEMORY.md", "User's sister is Marta", "User's sister is Martina");
    let fact = facts(&house.engine, &me(), &FactOptions::default()).unwrap();
    let fact = fact.iter().find(|shown| shown.fact.text.contains("Marta")).unwrap().fact.id;
    // The page was written before the score changed.
    quipu_engine::score_fact(&house.engine, &me(), &fact.to_string(), 3).unwrap();
    edit(
        &house,
        "topics/relationships/topic_memory.md",
        "User's sister is Marta —",
        "User's sister is Marta (score 9) —",
    );
    house.level();
    let found = waiting(&house);
    let scored = found.iter().find(|one| one.review.question.contains("the score 9")).unwrap();
    assert!(scored.review.reason.contains("changed here too"), "{scored:?}");
    assert_eq!(found.len(), 2);
}

#[test]
fn a_trial_and_a_check_take_nothing_up() {
    let house = house();
    edit(&house, "GLOBAL_MEMORY.md", "User lives in Lyon", "User lives in Porto");
    let found = files::verify(&house.engine, &me()).unwrap();
    assert_eq!(found.edited[0].proposed.len(), 1);
    let options = quipu_engine::VaultOptions { dry_run: true, look: true };
    assert_eq!(files::rebuild(&house.engine, &me(), options).unwrap().edited.len(), 1);
    assert!(waiting(&house).is_empty());
    assert!(house.page("GLOBAL_MEMORY.md").contains("User lives in Porto"));
}

#[test]
fn who_only_reads_proposes_nothing() {
    let house = house();
    edit(&house, "GLOBAL_MEMORY.md", "User lives in Lyon", "User lives in Porto");
    let options = quipu_engine::VaultOptions::default();
    assert!(files::level(&house.engine, &me(), options).unwrap().edited.is_empty());
    assert!(house.page("GLOBAL_MEMORY.md").contains("User lives in Porto"));
    house.says("I like tea");
    assert_eq!(files::level(&house.engine, &me(), options).unwrap().edited.len(), 1);
    assert_eq!(waiting(&house).len(), 1);
}

#[test]
fn pages_that_cannot_be_read_are_kept_and_written_again() {
    let house = house();
    std::fs::write(house.folder().join("GLOBAL_MEMORY.json"), "{ not json").unwrap();
    std::fs::write(house.folder().join("GLOBAL_MEMORY.md"), [0xff, 0xfe, b'\n', 0x00]).unwrap();
    let report = house.level();
    assert_eq!(report.edited.len(), 2);
    for taken in &report.edited {
        assert!(house.folder().join(taken.kept.as_ref().unwrap()).exists());
    }
    assert!(house.rebuild().is_level());
}

#[test]
fn an_erasure_empties_what_was_kept_of_edits() {
    let house = house();
    edit(&house, "GLOBAL_MEMORY.md", "User's sister is Marta", "User's sister is Zanzibarina");
    house.level();
    let fact = facts(&house.engine, &me(), &FactOptions::default()).unwrap();
    let fact = fact.iter().find(|shown| shown.fact.text.contains("Marta")).unwrap();
    let words = fact.fact.evidence[0].source;
    erase(&house.engine, &me(), &[EraseTarget::Item(words)], "asked", &mut |_| {}).unwrap();
    for (path, bytes) in house.files() {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("Marta") && !text.contains("Zanzibarina"), "{path}");
    }
}

#[test]
fn an_erasure_that_is_refused_takes_no_edit_up() {
    let house = house();
    edit(&house, "GLOBAL_MEMORY.md", "User lives in Lyon", "User lives in Porto");
    let version = |house: &House| quipu_engine::status(&house.engine, &me()).unwrap().version;
    let (before, page) = (version(&house), house.page("GLOBAL_MEMORY.md"));
    let word = EraseTarget::Event(1);
    let gone = EraseTarget::Event(before + 1);
    let stale = erase(&house.engine, MemoryRef::of(&me()).at_version(Some(before - 1)), &[word], "asked", &mut |_| {})
        .map(drop);
    assert!(matches!(stale, Err(Error::Stale(_))), "{stale:?}");
    let missing = erase(&house.engine, &me(), &[gone], "asked", &mut |_| {}).map(drop);
    assert!(matches!(missing, Err(Error::NotFound(_))), "{missing:?}");
    assert_eq!((version(&house), house.page("GLOBAL_MEMORY.md")), (before, page));
    // Approving the edit records it, and its own words do not prevent that.
    erase(&house.engine, MemoryRef::of(&me()).at_version(Some(before)), &[word], "asked", &mut |_| {})
        .map(drop)
        .unwrap();
    assert!(version(&house) > before + 1);
}

#[test]
fn a_folder_that_a_person_made_is_no_difference() {
    let house = house();
    std::fs::create_dir_all(house.folder().join("topics/recipes")).unwrap();
    std::fs::write(house.folder().join("topics/recipes/soup.md"), "Leeks").unwrap();
    let report = files::verify(&house.engine, &me()).unwrap();
    assert!(report.is_level(), "{report:?}");
    files::rebuild(&house.engine, &me(), files::VaultOptions::default()).unwrap();
    assert_eq!(house.page("topics/recipes/soup.md"), "Leeks");
}
