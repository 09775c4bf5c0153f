//! Changes acknowledged by one engine are visible to the other at once.

use quipu_core::id::{ItemKind, UserId};
use quipu_engine::erase::EraseTarget;
use quipu_engine::versions::When;
use quipu_engine::{
    ContextOptions, Engine, ListOptions, MemoryRef, RecallOptions, RememberOptions, Result, context, erase, list,
    recall,
};
use quipu_testkit::{MemoryStore, RecordingStore, TestEngine};

use crate::said::Word;
use crate::verb::{Verb, verb};
use crate::worker::Worker;
use crate::world::user;

/// Only used with two engines; not an exported function.
pub(crate) const SEEN_AT_ONCE: Verb = verb("seen at once", 0, seen_at_once);

/// Users without deletions and reverts, for whom every acknowledged text must be present.
const CALM: usize = 6;

fn seen_at_once(w: &mut Worker<'_>) -> Result<()> {
    let calm = user(&format!("calm-{}", w.dice.below(CALM)));
    w.about = calm.to_string();
    let durable_only = w.dice.once_in(2);
    let word = w.says(MemoryRef::of(&calm), &RememberOptions { durable_only, ..RememberOptions::default() })?;
    assert!(is_listed(w.other, &calm, &word)?, "{calm}: {} is not listed by the other engine", word.word);
    // A fact or an episode may replace its sentence, so only turns are requested.
    let options = RecallOptions { kinds: vec![ItemKind::Turn], ..RecallOptions::of(&word.word) };
    let found = recall(w.other, &calm, &options)?;
    // Not compared with the newest version: it may come from an event that the other engine has not acknowledged yet.
    assert!(found.version >= word.seq, "{calm}: recall is at {}, not at {}", found.version, word.seq);
    let texts: Vec<&str> = found.hits.iter().map(|hit| &*hit.text).collect();
    // Until a passage has its vector, others with similar spelling may rank before it.
    let is_found = found.degraded.is_some() || found.hits.iter().any(|hit| hit.id == word.item);
    assert!(is_found, "{calm}: {} is not recalled: {texts:?}", word.word);
    if w.dice.once_in(4) {
        w.world.said.register().kept.retain(|kept| kept.item != word.item);
        // Both engines now have the words in their caches.
        context(w.engine, &calm, &ContextOptions::of(&word.word))?;
        context(w.other, &calm, &ContextOptions::of(&word.word))?;
        let receipt = erase(w.engine, &calm, &[EraseTarget::Item(word.item)], "asked to", &mut |_| {})?;
        w.lags(receipt.lag.as_deref());
        for engine in [w.other, w.engine] {
            assert!(!is_listed(engine, &calm, &word)?, "{calm}: {} is listed after its erasure", word.word);
            let found = recall(engine, &calm, &RecallOptions::of(&word.word))?;
            assert!(!found.hits.iter().any(|hit| word.is_in(&hit.text)), "{calm}: {} recalled", word.word);
            let pack = context(engine, &calm, &ContextOptions::of(&word.word))?;
            assert!(!told(&pack.text, &word), "{calm}: {} in {}", word.word, pack.text);
        }
        w.world.said.register().erased.push(word);
    }
    Ok(())
}

/// Whether a pack contains the word other than by repeating the question.
fn told(text: &str, word: &Word) -> bool {
    text.lines().any(|line| word.is_in(line) && line.len() > word.word.len() + 20)
}

fn is_listed(engine: &Engine, user: &UserId, word: &Word) -> Result<bool> {
    let options = ListOptions { at: When::Now, session: None, kind: None, offset: 0, limit: usize::MAX };
    let page = list(engine, user, &options)?;
    Ok(page.items.iter().any(|item| word.is_in(&item.text)))
}

fn says(engine: &Engine, of: &str, text: &str) {
    let said = quipu_engine::Utterance::of_user(text);
    quipu_engine::remember(engine, &user(of), &said, &RememberOptions::default()).unwrap();
}

fn listed(engine: &Engine, of: &str) -> Vec<String> {
    let options = ListOptions { at: When::Now, session: None, kind: None, offset: 0, limit: usize::MAX };
    list(engine, &user(of), &options).unwrap().items.into_iter().map(|item| item.text).collect()
}

#[test]
fn who_was_deleted_and_made_anew_elsewhere_is_seen_anew() {
    let world = crate::world::World::new("made anew", 2);
    let (one, two) = (&world.engines[0], &world.engines[1]);
    for (before, after) in [(1, 1), (2, 1), (1, 2)] {
        // Given a user whose ledger one engine has closed, because of requests for others
        let name = format!("passing-{before}-{after}");
        (0..before).for_each(|_| says(one, &name, "I live in Porto."));
        (0..crate::world::LIMITS.ledgers_max + 1).for_each(|other| says(one, &format!("other-{other}"), "I like tea."));
        // When another engine deletes the user, who then says something else
        quipu_engine::erase::delete_user(two, &user(&name)).unwrap();
        (0..after).for_each(|_| says(two, &name, "I live in Lyon."));
        // Then the first engine sees that and appends after it
        assert_eq!(listed(one, &name), vec!["I live in Lyon."; after]);
        says(one, &name, "I like fado.");
        assert_eq!(listed(two, &name).len(), after + 1);
        for engine in [one, two] {
            assert!(quipu_engine::verify(engine, &user(&name), &[], &mut |_| {}).unwrap().is_intact());
        }
    }
}

#[test]
fn what_another_engine_has_appended_is_no_difference_of_a_rebuild() {
    let world = crate::world::World::new("rebuild", 2);
    let (one, two) = (&world.engines[0], &world.engines[1]);
    says(one, "ines", "I live in Porto.");
    std::thread::scope(|scope| {
        scope.spawn(|| (0..20).for_each(|number| says(two, "ines", &format!("I like tea number {number}."))));
        for _ in 0..20 {
            assert!(quipu_engine::rebuild(one, &user("ines"), &mut |_| {}).unwrap().identical);
        }
    });
    assert_eq!(listed(one, "ines").len(), 21);
}

#[test]
fn what_another_engine_appends_during_a_backup_is_in_it() {
    // Given a store in which another engine appends just before a ledger is copied
    let inner = MemoryStore::new();
    let other = TestEngine::new(2).engine(Box::new(inner.clone()));
    let store = RecordingStore::new(Box::new(inner)).before(move |call| {
        if call == "backup" {
            // As another process: the order of locks is checked for each thread.
            std::thread::scope(|scope| scope.spawn(|| says(&other, "ines", "I live in Lyon.")).join()).unwrap();
        }
        Ok(())
    });
    let engine = quipu_testkit::engine(Box::new(store));
    says(&engine, "ines", "I live in Porto.");
    // When a backup is made
    let folder = tempfile::tempdir().unwrap();
    let manifest = quipu_engine::backup::backup(&engine, &[user("ines")], &folder.path().join("backup")).unwrap();
    // Then it has both, and can be restored
    assert_eq!(manifest.users[0].head_seq, 2);
    let restored = quipu_testkit::engine(Box::new(MemoryStore::new()));
    quipu_engine::backup::restore(&restored, &folder.path().join("backup"), None, false).unwrap();
    assert_eq!(listed(&restored, "ines"), ["I live in Porto.", "I live in Lyon."]);
}

#[test]
fn an_erasure_while_a_ledger_is_verified_is_no_damage() {
    let world = crate::world::World::new("verified", 1);
    let engine = &world.engines[0];
    // Given a ledger that is read in several batches
    let turns: Vec<_> = (0..200).map(|number| quipu_engine::Utterance::of_user(format!("note {number}"))).collect();
    let options = RememberOptions { durable_only: true, ..RememberOptions::default() };
    for _ in 0..6 {
        quipu_engine::remember_all(engine, &user("ines"), &turns, ItemKind::Turn, &options).unwrap();
    }
    // When a change that has been read is erased before the end is read
    let mut is_erased = false;
    let report = quipu_engine::verify(engine, &user("ines"), &[], &mut |_| {
        if !std::mem::replace(&mut is_erased, true) {
            erase(engine, &user("ines"), &[EraseTarget::Event(3)], "asked to", &mut |_| {}).unwrap();
        }
    })
    .unwrap();
    // Then the verdict is on the ledger after the erasure
    assert!(is_erased && report.is_intact(), "{:?}", report.ledger.damage);
    assert_eq!(report.ledger.erased.len(), 1);
}
