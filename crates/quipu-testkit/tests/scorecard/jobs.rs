//! Jobs of four workers on one folder, one of which is killed again and again: each job has one effect, none is stuck longer than the
//! lease of a dead worker lasts, and what cannot be read, or ends the process that reads it, is given up and holds nothing up.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use quipu_core::extract::window::{ModelReply, Window};
use quipu_core::id::UserId;
use quipu_engine::ports::{ExtractError, WindowReader};
use quipu_engine::{Engine, FactOptions, RememberOptions, Utterance, facts, remember, status, verify};
use quipu_sqlite::{SqliteStore, StoreOptions};
use quipu_testkit::{Rng, TestEngine, effort, seed};
use tempfile::TempDir;

const WORKERS: usize = 4;
const JOBS: u32 = 100;
const JOBS_OF_A_USER: u32 = 20;
/// One message in so many cannot be read.
const POISON: u32 = 50;
/// One message in so many ends the process that reads it.
const DEADLY: u32 = 100;
/// Most readings of such a message: in a window, alone, and some that were killed before.
const DEADLY_READ_MAX: u32 = 12;
/// A worker is killed after so many calls of the model at most.
const CALLS_MAX: usize = 12;

/// Begins the reading by a model at the first message; it is never asked here.
struct Nobody;

impl WindowReader for Nobody {
    fn id(&self) -> &str {
        "job reader/v1"
    }

    fn read(&self, _: &UserId, _: &Window) -> Result<ModelReply, ExtractError> {
        Err(ExtractError::Unavailable("it is not asked here".to_owned()))
    }
}

fn engine(folder: &Path) -> Engine {
    let options = StoreOptions { ballast_bytes: 1 << 16, ..StoreOptions::default() };
    let rig = TestEngine { reader: Some(Arc::new(Nobody)), ..TestEngine::new(seed()) };
    rig.engine(Box::new(SqliteStore::open(folder, options).unwrap()))
}

fn owner(number: u32) -> UserId {
    UserId::parse(&format!("user-{}", number / JOBS_OF_A_USER)).unwrap()
}

fn words(number: u32) -> String {
    let thing = match number {
        _ if number % DEADLY == DEADLY / 2 => "deadly",
        _ if number % POISON == POISON - 1 => "poison",
        _ => "locker",
    };
    format!("At the pool I saw {thing} {number:05}")
}

/// Starts a worker, whose lines are sent with its place.
fn start(folder: &Path, place: usize, number: usize, lines: &Sender<(usize, Option<String>)>) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_job_worker"));
    command.arg(folder).args([number.to_string(), seed().to_string()]).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (out, lines) = (child.stdout.take().unwrap(), lines.clone());
    std::thread::spawn(move || {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            let _ = lines.send((place, Some(line)));
        }
        let _ = lines.send((place, None));
    });
    child
}

/// What the workers did until one of them found nothing left.
struct Run {
    kills: usize,
    calls: usize,
    /// How often each message was given to the model.
    read: BTreeMap<u32, u32>,
}

fn run(folder: &Path) -> Run {
    let mut dice = Rng::new(seed());
    let (sender, lines) = channel();
    let mut started = WORKERS;
    let mut workers: Vec<Child> = (0..WORKERS).map(|place| start(folder, place, place, &sender)).collect();
    let mut run = Run { kills: 0, calls: 0, read: BTreeMap::new() };
    let mut until_kill = 1 + dice.below(CALLS_MAX);
    let mut ended = 0;
    let mut is_done = false;
    while ended < WORKERS {
        match lines.recv().unwrap() {
            (_, Some(line)) if line == "done" => is_done = true,
            (place, Some(line)) => {
                let numbers = line.strip_prefix("read ").unwrap_or_else(|| panic!("{line}")).split(' ');
                numbers.for_each(|number| *run.read.entry(number.parse().unwrap()).or_default() += 1);
                run.calls += 1;
                until_kill -= 1;
                if until_kill == 0 {
                    until_kill = 1 + dice.below(CALLS_MAX);
                    // The one that is at a model now: its window is read, and not recorded.
                    let _ = workers[place].kill();
                    run.kills += 1;
                }
            }
            (place, None) => {
                let status = workers[place].wait().unwrap();
                assert_ne!(status.code(), Some(1), "a worker failed by itself, seed {}", seed());
                if status.success() || is_done {
                    ended += 1;
                } else {
                    workers[place] = start(folder, place, started, &sender);
                    started += 1;
                }
            }
        }
    }
    run
}

#[test]
fn every_job_has_one_effect_whoever_is_killed() {
    let folder = TempDir::new().unwrap();
    let jobs = effort(JOBS);
    {
        let engine = engine(folder.path());
        let options = RememberOptions { durable_only: true, ..RememberOptions::default() };
        for number in 0..jobs {
            remember(&engine, &owner(number), &Utterance::of_user(words(number)), &options).unwrap();
        }
    }
    let run = run(folder.path());
    let engine = engine(folder.path());
    let (mut effects, mut given_up, mut left): (BTreeMap<String, u32>, u64, usize) = Default::default();
    for first in (0..jobs).step_by(JOBS_OF_A_USER as usize) {
        let user = owner(first);
        let all = FactOptions { all: true, ..FactOptions::default() };
        for shown in facts(&engine, &user, &all).unwrap() {
            *effects.entry(shown.fact.object).or_default() += 1;
        }
        let status = status(&engine, &user).unwrap();
        left += status.unstudied.unwrap();
        given_up += status.given_up.unwrap_or(0);
        assert!(verify(&engine, &user, &[], &mut |_| {}).unwrap().is_intact(), "{user}");
    }
    let is_deadly = |number: &u32| words(*number).contains("deadly");
    let deadly = (0..jobs).filter(is_deadly).count();
    let deadly_read = run.read.iter().filter(|(number, _)| is_deadly(number)).map(|(_, times)| *times).max();
    let again: u32 = run.read.values().map(|times| times - 1).sum();
    println!(
        "jobs: {jobs} of {WORKERS} workers, {} kills, {} calls of the model; {} with one effect, {} with several, {} cannot be read, \
         {deadly} end the process (read {} times at most), and {given_up} were given up, {left} left; messages were given to the model {again} times again, in halves or after a kill, seed {}",
        run.kills,
        run.calls,
        effects.values().filter(|times| **times == 1).count(),
        effects.values().filter(|times| **times > 1).count(),
        jobs / POISON,
        deadly_read.unwrap_or_default(),
        seed()
    );
    assert_eq!(given_up, u64::from(jobs / POISON) + deadly as u64);
    assert!(deadly_read.is_some_and(|times| times <= DEADLY_READ_MAX), "{deadly_read:?}");
    assert!(run.kills > 0, "nobody was killed");
    assert_eq!(left, 0, "some jobs are not done");
    let expected: Vec<u32> = (0..jobs).filter(|number| words(*number).contains("locker")).collect();
    let missing: Vec<_> =
        expected.iter().filter(|number| effects.get(&format!("locker {number:05}")) != Some(&1)).collect();
    assert!(missing.is_empty(), "seed {}: without exactly one effect: {missing:?}", seed());
    assert_eq!(effects.len(), expected.len(), "{effects:?}");
}
