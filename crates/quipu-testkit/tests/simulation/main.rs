//! A simulation: many users and processes over one store, with crashes at any call of the store, failing writes, answers
//! that are lost, clocks that jump, models that are slow, silent or lie, and processes that act in the middle of others.
//! After each step every memory is compared with a plain model of what must be known.
//!
//! Everything follows from a seed: a failure prints the command that repeats it, and the steps that are needed for it.
//! `QUIPU_STEPS` sets the number of steps, `QUIPU_LIFE` repeats one life.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

mod action;
mod checks;
mod model;
mod models;
mod schedule;
mod store;
mod world;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};

use quipu_engine::ports::LedgerStore;
use quipu_models::RuleExtractor;
use quipu_sqlite::{SqliteStore, StoreOptions};
use quipu_testkit::{MemoryStore, files_below, seed};

use schedule::{Step, erased_meanwhile, schedule, shrink};
use store::Planted;
use world::World;

/// Steps of one life.
const LIFE: usize = 80;
/// Lives with fewer steps that are tried to shorten a schedule.
const TRIES: usize = 200;

thread_local! {
    /// Whether a panic on this thread is reported by the simulation itself.
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

static HOOK: Once = Once::new();

/// Counts of outcomes.
type Seen = BTreeMap<String, u64>;

/// Where the ledgers of a life are.
#[derive(Debug, Clone, Copy)]
enum Place {
    InMemory,
    OnDisk,
}

/// Lives through a schedule. Returns the hashes of the last events, and what was seen.
fn live(
    place: Place,
    rules: &Arc<RuleExtractor>,
    seed: u64,
    steps: &[Step],
    planted: Option<Planted>,
) -> Result<(String, Seen), String> {
    HOOK.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            // Threads without a name are those of a simulated process.
            if !IS_QUIET.get() && std::thread::current().name().is_some() {
                loud(info);
            }
        }));
    });
    let was_quiet = IS_QUIET.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(|| match place {
        Place::InMemory => {
            let store = MemoryStore::new();
            let open = || -> Box<dyn LedgerStore> { Box::new(store.clone()) };
            run(World::new(&open, rules, seed, planted), steps, Some(&|| store.contents()), &|| store.contents())
        }
        Place::OnDisk => {
            let folder = tempfile::tempdir().unwrap();
            let options = StoreOptions { ballast_bytes: 0, ..StoreOptions::default() };
            let store = SqliteStore::open(folder.path(), options).unwrap();
            let open = || -> Box<dyn LedgerStore> { Box::new(store.clone()) };
            let contents =
                || files_below(folder.path()).into_iter().filter_map(|path| std::fs::read(path).ok()).collect();
            run(World::new(&open, rules, seed, planted), steps, None, &contents)
        }
    }));
    IS_QUIET.set(was_quiet);
    outcome.map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
    })
}

/// All bytes of a store.
type Contents<'a> = &'a dyn Fn() -> Vec<Vec<u8>>;

fn run(mut world: World<'_>, steps: &[Step], after_each: Option<Contents<'_>>, at_end: Contents<'_>) -> (String, Seen) {
    for step in steps {
        world.take(step);
        if let Some(contents) = after_each {
            world.check_contents(&contents());
        }
    }
    world.check_end(at_end);
    let last = world.ledgers.values().filter_map(|ledger| ledger.events.last());
    (last.map(|event| event.hash.to_hex().to_string()).collect(), world.seen)
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// A failure as text: what failed, the shortest schedule that still fails, and the command that repeats it.
fn report(place: Place, name: &str, rules: &Arc<RuleExtractor>, life: u64, failure: &str) -> String {
    let fails = |steps: &[Step]| live(place, rules, life, steps, None).is_err();
    let steps = shrink(schedule(life, LIFE), TRIES, fails);
    let failure = live(place, rules, life, &steps, None).err().unwrap_or_else(|| failure.to_owned());
    let lines: Vec<String> = steps.iter().map(|step| format!("  {step:?}")).collect();
    let many = steps.len();
    format!(
        "{failure}\nafter {many} of {LIFE} steps:\n{}\nTo repeat it:\n  QUIPU_LIFE={life} cargo test -p quipu-testkit --test simulation \
         {name} -- --nocapture",
        lines.join("\n")
    )
}

/// Lives of `steps` steps in all, on all processors. Each life has one thread at a time.
fn simulate(place: Place, name: &str, steps: u64) -> Seen {
    let rules = Arc::new(RuleExtractor::english());
    let steps = number("QUIPU_STEPS").unwrap_or(steps);
    let one = number("QUIPU_LIFE");
    let lives = if one.is_some() { 1 } else { steps.div_ceil(LIFE as u64) as usize };
    let first = one.unwrap_or_else(|| seed().wrapping_mul(1_000_003));
    let next = AtomicUsize::new(0);
    let seen = Mutex::new(Seen::new());
    let failed: Mutex<Option<(u64, String)>> = Mutex::default();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(lives);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= lives {
                        return;
                    }
                    let life = first.wrapping_add(at as u64);
                    match live(place, &rules, life, &schedule(life, LIFE), None) {
                        Ok((_, of_life)) => {
                            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                            of_life.into_iter().for_each(|(what, count)| *seen.entry(what).or_default() += count);
                        }
                        Err(failure) => {
                            next.store(lives, Ordering::Relaxed);
                            failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert((life, failure));
                        }
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some((life, failure)) = failed {
        panic!("{}", report(place, name, &rules, life, &failure));
    }
    let seen = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("{name}: {lives} lives of {LIFE} steps from {first}: {seen:?}");
    seen
}

#[test]
fn in_memory() {
    let seen = simulate(Place::InMemory, "in_memory", 8_000);
    if number("QUIPU_LIFE").is_none() {
        // A simulation in which everything is refused finds nothing.
        for outcome in [
            "Say ok",
            "Say died",
            "Say unavailable",
            "Say refused",
            "Revert ok",
            "Erase ok",
            "Erase died",
            "Correct ok",
            "Retract ok",
            "SetCore ok",
            "Process ok",
            "Ask ok",
            "Pack ok",
            "Snapshot ok",
            "Rebuild ok",
            "Delete ok",
            "crash",
            "meanwhile",
            "facts known",
            "words found in the store",
        ] {
            assert!(seen.get(outcome).is_some_and(|count| *count > 0), "never: {outcome}, in {seen:?}");
        }
    }
}

#[test]
fn on_disk() {
    simulate(Place::OnDisk, "on_disk", 2_000);
}

#[test]
fn a_life_is_the_same_each_time() {
    let rules = Arc::new(RuleExtractor::english());
    for life in 0..4 {
        let steps = schedule(life, LIFE);
        let [first, again] = [(); 2].map(|()| live(Place::InMemory, &rules, life, &steps, None));
        assert_eq!(first, again, "life {life}");
    }
}

#[test]
fn planted_faults_are_found() {
    const LIVES_MAX: u64 = 40;
    let rules = Arc::new(RuleExtractor::english());
    for (planted, by) in [
        (Planted::ForgetsKeys, "key"),
        (Planted::DropsEvents, ""),
        (Planted::KeepsErased, "were erased"),
        (Planted::TakesOldData, "what the model does not"),
        (Planted::NoticesNothing, ""),
    ] {
        let failure = |steps: &[Step], life| live(Place::InMemory, &rules, life, steps, Some(planted)).err();
        let found = match planted {
            // Only a few moments of a life are right for it.
            Planted::TakesOldData => {
                let steps = erased_meanwhile();
                assert_eq!(live(Place::InMemory, &rules, 0, &steps, None).err(), None);
                failure(&steps, 0)
            }
            _ => (0..LIVES_MAX).find_map(|life| failure(&schedule(life, LIFE), life)),
        };
        let found = found.unwrap_or_else(|| panic!("{planted:?} is not found"));
        println!("{planted:?}: {}", found.chars().take(200).collect::<String>());
        assert!(found.contains(by), "{planted:?} is found as {found}");
    }
}
