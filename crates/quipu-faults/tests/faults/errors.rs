//! System calls that fail, once or from then on: a clear error, nothing that was acknowledged is lost, and the next
//! start finds everything well. After a failed sync, only what a later write and sync covered is taken for durable.

use std::collections::BTreeSet;

use quipu_faults::{CallFault, CallKind, Disk, Plan, Recording, Rules, Style};
use quipu_testkit::{Rng, effort, seed};
use tempfile::TempDir;

use crate::judge::{After, Expected, judged};
use crate::work::{SHORT, SKIPPED, World};

/// The ways in which a kind of call fails.
fn faults(kind: CallKind) -> &'static [CallFault] {
    match kind {
        CallKind::Open => &[CallFault::Io, CallFault::TooManyFiles, CallFault::Full, CallFault::Interrupted],
        CallKind::Read => &[CallFault::Io, CallFault::Interrupted, CallFault::Short],
        CallKind::Write => &[CallFault::Io, CallFault::Full, CallFault::Interrupted, CallFault::Short],
        CallKind::Sync => &[CallFault::Io, CallFault::Full],
        CallKind::Truncate | CallKind::Remove => &[CallFault::Io],
        CallKind::Rename | CallKind::CreateFolder => &[CallFault::Io, CallFault::Full],
    }
}

/// How often a call fails that goes on failing. Callers repeat interrupted calls for ever, as they must.
fn lasting(fault: CallFault) -> u64 {
    if fault == CallFault::Interrupted { 50 } else { u64::MAX }
}

/// Runs the script with failing calls, then starts again and judges, also after a power failure at the end.
fn attempt(seed: u64, plan: Plan) -> Result<(usize, bool), String> {
    let place = TempDir::new().unwrap();
    let root = place.path().canonicalize().unwrap();
    let (recording, before) = Recording::start(&root).unwrap();
    let mut world = World::new(&root, seed);
    let mut replaced = BTreeSet::new();
    let mut errors = 0;
    recording.fail(Some(plan));
    for act in SHORT {
        let known = world.known.users.clone();
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| world.take(act)));
        match outcome {
            Err(_) => return Err(format!("{act:?} panicked")),
            Ok(Ok(())) => {
                recording.without_failures(|| world.look()).map_err(|error| format!("after {act:?}: {error}"))?;
                replaced.extend(act.replaces());
                for (name, events) in known.iter().filter(|(name, _)| !replaced.contains(name.as_str())) {
                    let is_there = world.known.users.get(name).is_some_and(|found| found.starts_with(events));
                    if !is_there {
                        return Err(format!("after {act:?}, acknowledged events of {name} are gone"));
                    }
                }
                if let Some(name) = act.replaces() {
                    replaced.remove(name);
                }
            }
            Ok(Err(error)) if error.starts_with(SKIPPED) => {}
            Ok(Err(error)) => {
                errors += 1;
                replaced.extend(act.replaces());
                clear(&error).map_err(|problem| format!("{act:?}: {problem}: {error}"))?;
            }
        }
    }
    recording.fail(None);
    world.close();
    let is_hit = recording.take_seen().iter().any(|call| call.is_failed);
    let steps = recording.finish();
    let expected = Expected { before: &world.known, after: After::Anything, replaced: replaced.into_iter().collect() };
    for failed_sync_loses in [true, false] {
        let mut disk = Disk::new(before.clone(), Rules { is_journaled: false, failed_sync_loses });
        steps.iter().for_each(|step| disk.apply(step));
        let image = disk.image(Style::Nothing, &mut |_| 0);
        let place = TempDir::new().unwrap();
        image.write_to(place.path()).unwrap();
        judged(place.path(), &expected, true).map_err(|problem| format!("after a power failure: {problem}"))?;
    }
    judged(&root, &expected, true).map_err(|problem| format!("after a restart: {problem}"))?;
    Ok((errors, is_hit))
}

/// An error is a sentence, and no failing call is taken for damage or for a fault of Quipu's.
fn clear(error: &str) -> Result<(), String> {
    // SQLite reports a failed read as damage.
    let error = error.replace("it is damaged, or the disk cannot read it", "");
    let wrong = ["damaged", "is not a Quipu ledger", "Restore a backup", "bug in Quipu"];
    match wrong.iter().find(|wrong| error.contains(*wrong)) {
        Some(wrong) => Err(format!("the error says {wrong:?}")),
        None if error.len() < 40 => Err("the error says nothing".to_owned()),
        None => Ok(()),
    }
}

/// Every call of the script, as its kind and its number among those of this kind.
fn calls(seed: u64) -> Vec<(CallKind, u64)> {
    let place = TempDir::new().unwrap();
    let (recording, _) = Recording::start(&place.path().canonicalize().unwrap()).unwrap();
    let mut world = World::new(&place.path().canonicalize().unwrap(), seed);
    for act in SHORT {
        world.take(act).unwrap_or_else(|error| panic!("{act:?}: {error}"));
        recording.without_failures(|| world.look()).unwrap();
    }
    let seen = recording.take_seen();
    world.close();
    let mut counts = std::collections::BTreeMap::new();
    let numbered = seen.iter().map(|call| {
        let count: &mut u64 = counts.entry(call.kind).or_default();
        *count += 1;
        (call.kind, *count - 1)
    });
    numbered.collect()
}

/// A plan as `QUIPU_IO_ERRORS` takes it: `Write,149,1,Io`.
fn named(plan: &Plan) -> String {
    let Plan { kind, after, times, fault } = plan;
    let kind = kind.map_or_else(String::new, |kind| format!("{kind:?}"));
    format!("{kind},{after},{times},{fault:?}")
}

/// Every call fails if `QUIPU_IO_ERRORS` is `all`, and one in one way if it names that; otherwise a random choice of them, the same number of each kind.
fn points(seed: u64) -> Vec<Plan> {
    let calls = calls(seed);
    let plan =
        |&(kind, after): &(CallKind, u64), fault: CallFault, times: u64| Plan { kind: Some(kind), after, times, fault };
    if let Ok(wanted) = std::env::var("QUIPU_IO_ERRORS") {
        let every = calls.iter().flat_map(|call| {
            faults(call.0).iter().flat_map(move |fault| [1, lasting(*fault)].map(|times| plan(call, *fault, times)))
        });
        return every.filter(|plan| wanted == "all" || named(plan) == wanted).collect();
    }
    let mut dice = Rng::new(seed);
    let mut chosen = Vec::new();
    for kind in CallKind::ALL {
        let own: Vec<_> = calls.iter().filter(|call| call.0 == kind).collect();
        assert!(!own.is_empty(), "the script never does {kind:?}");
        for number in 0..effort(12) {
            let call = own[dice.below(own.len())];
            let fault = faults(kind)[dice.below(faults(kind).len())];
            let times = if number % 2 == 0 { 1 } else { lasting(fault) };
            chosen.push(plan(call, fault, times));
        }
    }
    chosen
}

#[test]
fn a_call_that_fails_loses_nothing_and_is_told() {
    let seed = seed();
    let mut problems = Vec::new();
    let (mut tried, mut hit, mut told) = (0, 0, 0);
    for plan in points(seed) {
        tried += 1;
        match attempt(seed, plan) {
            Ok((errors, is_hit)) => {
                hit += u32::from(is_hit);
                told += u32::from(errors > 0);
            }
            Err(problem) => {
                let command = format!("QUIPU_SEED={seed} QUIPU_IO_ERRORS={} just io-errors", named(&plan));
                problems.push(format!("{command}: {problem}"));
            }
        }
        if problems.len() > 20 {
            break;
        }
    }
    println!("I/O errors: {tried} points, {hit} hit, {told} told as errors, {} wrong, seed {seed}", problems.len());
    assert!(problems.is_empty(), "{problems:#?}");
    assert!(hit * 20 > tried * 19, "planned failures never happened");
    assert!(told * 4 > tried, "hardly any failure was told");
}
