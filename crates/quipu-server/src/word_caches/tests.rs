use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use quipu_core::id::{EventId, UserId};
use quipu_engine::erase::delete_user;
use quipu_engine::ports::StoreError;
use quipu_engine::{
    Engine, EngineParts, EngineRules, ErasureEpoch, OptionalParts, RememberOptions, Utterance, erasure_epoch, remember,
};
use quipu_models::HashedNgrams;
use quipu_testkit::{FixedClock, MemoryStore, RecordingStore, SeededEntropy};

use super::{Gone, WordCache, WordCaches};
use crate::memory::{Block, Blocks};
use crate::metrics::Metrics;
use crate::options::Bounds;
use crate::progress::Progress;
use crate::proxy::{ResponseChain, SaidTurn};
use crate::queue::{Appended, Durability, Exchange, Queue};

/// An engine whose appends wait for a lock, and fail a given number of times.
fn engine(shut: Arc<Mutex<()>>, failing: Arc<AtomicU32>) -> Arc<Engine> {
    engine_over(&MemoryStore::new(), shut, failing)
}

fn engine_over(store: &MemoryStore, shut: Arc<Mutex<()>>, failing: Arc<AtomicU32>) -> Arc<Engine> {
    let store = RecordingStore::new(Box::new(store.clone())).before(move |call| {
        if call == "append" {
            drop(shut.lock().unwrap());
            if failing.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok() {
                return Err(StoreError::Unavailable("the disk is full".to_owned()));
            }
        }
        Ok(())
    });
    Arc::new(Engine::new(EngineParts {
        store: Box::new(store),
        embedder: Arc::new(HashedNgrams::new()),
        clock: Arc::new(FixedClock::new()),
        entropy: Arc::new(SeededEntropy::new(1)),
        extractor: None,
        summarizer: None,
        rules: EngineRules::default(),
        optional: OptionalParts::default(),
    }))
}

fn queue(engine: &Arc<Engine>) -> Arc<Queue> {
    let (bounds, metrics) = (Bounds::default(), Arc::<Metrics>::default());
    let progress = Arc::new(Progress::new(&bounds, metrics.clone()));
    Arc::new(Queue::new(engine.clone(), &bounds, metrics, progress))
}

fn user(name: &str) -> UserId {
    UserId::parse(name).unwrap()
}

fn exchange(whose: &str, words: &str) -> Exchange {
    exchange_in(None, whose, words)
}

fn exchange_in(ledger: Option<EventId>, whose: &str, words: &str) -> Exchange {
    Exchange {
        user: user(whose),
        session: "s".to_owned(),
        turns: vec![SaidTurn { key: format!("key of {words}"), words: words.to_owned() }],
        said_at: "2026-08-22T12:00:00Z".parse().unwrap(),
        reply: String::new(),
        partial: None,
        agent: None,
        note: "a test".to_owned(),
        appended: Appended::nothing(ledger),
    }
}

fn epoch(ledger: u128, erasures: usize) -> Option<ErasureEpoch> {
    Some(ErasureEpoch { ledger: EventId::from_u128(ledger), erasures, reverts: 0, hidden: 0 })
}

fn block(words: &str) -> Arc<Block> {
    Arc::new(Block { changing: words.to_owned(), ..Block::default() })
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::await_holding_lock, reason = "the appends that wait for it are on other threads, which is the test")]
async fn every_cache_forgets_the_user_it_is_told_of_and_nobody_else() {
    let shut = Arc::new(Mutex::new(()));
    let engine = engine(shut.clone(), Arc::default());
    let (blocks, chain, queue) = (Arc::<Blocks>::default(), Arc::<ResponseChain>::default(), queue(&engine));
    let caches = WordCaches::new(vec![blocks.clone(), chain.clone(), queue.clone()]);
    let guard = shut.lock().unwrap();
    for name in ["ines", "otto"] {
        blocks.put((user(name), "turn".to_owned(), 100), epoch(1, 0), block("Porto"));
        chain.keep(&user(name), "reply-1", "s", Some(EventId::from_u128(1)));
        // The first append hangs; the second waits behind it.
        for words in ["I live in Porto.", "I moved."] {
            let place = queue.place(Duration::from_secs(20)).await.unwrap();
            drop(queue.push(exchange(name, words), place, true));
        }
    }
    while caches.held(&user("ines")) != [1, 1, 1] || caches.held(&user("otto")) != [1, 1, 1] {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    caches.forget(&user("ines"), Gone::Erased);
    assert_eq!(caches.held(&user("ines")), [0, 1, 1], "what was not recorded yet was not erased");
    caches.forget(&user("ines"), Gone::Deleted);
    assert_eq!(caches.held(&user("ines")), [0, 0, 0]);
    assert_eq!(caches.held(&user("otto")), [1, 1, 1]);
    drop(guard);
    assert_eq!(queue.drain(Duration::from_secs(20)).await, 0);
    assert_eq!(quipu_engine::versions::version(&engine, &user("otto")).unwrap(), 2);
    assert_eq!(quipu_engine::versions::version(&engine, &user("ines")).unwrap(), 1, "what waited is gone");
}

#[test]
fn nothing_is_used_after_an_erasure_or_in_another_ledger_also_if_nobody_told() {
    let (blocks, chain) = (Blocks::default(), ResponseChain::default());
    let purpose = || (user("ines"), "turn".to_owned(), 100);
    for (now, used) in [(epoch(1, 2), true), (epoch(1, 3), false), (epoch(2, 2), false), (None, false)] {
        blocks.put(purpose(), epoch(1, 2), block("Porto"));
        assert_eq!(blocks.get(&purpose(), now).is_some(), used, "{now:?}");
        assert_eq!(blocks.get(&purpose(), epoch(1, 2)).is_some(), used, "what is stale is dropped: {now:?}");
        chain.keep(&user("ines"), "reply-1", "s", Some(EventId::from_u128(1)));
        let ledger = now.map(|epoch| epoch.ledger);
        let same = ledger == Some(EventId::from_u128(1));
        assert_eq!(chain.session(&user("ines"), "reply-1", ledger).is_some(), same, "{now:?}");
    }
    blocks.put(purpose(), None, block(""));
    assert!(blocks.get(&purpose(), epoch(1, 0)).is_some(), "an empty block holds no words");
}

#[tokio::test(flavor = "multi_thread")]
async fn words_that_wait_are_not_recorded_for_a_user_who_was_deleted_meanwhile() {
    let failing = Arc::new(AtomicU32::new(0));
    let engine = engine(Arc::default(), failing.clone());
    let queue = queue(&engine);
    let ines = user("ines");
    let options = RememberOptions { durable_only: true, ..RememberOptions::default() };
    remember(&engine, &ines, &Utterance::of_user("I live in Porto."), &options).unwrap();
    let before = erasure_epoch(&engine, &ines).unwrap().unwrap();
    failing.store(1, Ordering::SeqCst);
    let place = queue.place(Duration::from_secs(20)).await.unwrap();
    let pending = queue.push(exchange("ines", "I moved."), place, false);
    assert_eq!(pending.settled().await, Durability::Delayed, "it is tried again");
    delete_user(&engine, &ines).unwrap();
    remember(&engine, &ines, &Utterance::of_user("Somebody else."), &options).unwrap();
    assert_ne!(erasure_epoch(&engine, &ines).unwrap().unwrap().ledger, before.ledger);
    assert_eq!(queue.drain(Duration::from_secs(20)).await, 0);
    assert_eq!(quipu_engine::versions::version(&engine, &ines).unwrap(), 1, "only what was said since");
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::await_holding_lock, reason = "the appends that wait for it are on other threads, which is the test")]
async fn words_that_wait_do_not_make_a_user_again_whom_another_process_deleted() {
    let (store, shut) = (MemoryStore::new(), Arc::new(Mutex::new(())));
    let engine = engine_over(&store, shut.clone(), Arc::default());
    let elsewhere = engine_over(&store, Arc::default(), Arc::default());
    let queue = queue(&engine);
    let ines = user("ines");
    let options = RememberOptions { durable_only: true, ..RememberOptions::default() };
    remember(&engine, &ines, &Utterance::of_user("I live in Porto."), &options).unwrap();
    let ledger = erasure_epoch(&engine, &ines).unwrap().map(|epoch| epoch.ledger);
    // An append hangs, and others wait behind it
    let guard = shut.lock().unwrap();
    for words in ["I moved.", "I moved again."] {
        let place = queue.place(Duration::from_secs(20)).await.unwrap();
        drop(queue.push(exchange_in(ledger, "ines", words), place, true));
    }
    while queue.held(&ines) != 1 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // When another process deletes the user
    delete_user(&elsewhere, &ines).unwrap();
    drop(guard);
    assert_eq!(queue.drain(Duration::from_secs(20)).await, 0);
    // Then the user does not exist again
    assert_eq!(quipu_engine::users(&elsewhere).unwrap(), []);
}
