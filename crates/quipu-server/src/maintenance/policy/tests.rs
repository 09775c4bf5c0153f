//! Tests of the policy with a manual clock.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use quipu_engine::StepReport;

use super::*;

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// Pauses with round numbers.
fn options() -> MaintenanceOptions {
    MaintenanceOptions {
        quiet: seconds(10),
        session_end: seconds(100),
        sweep_pause: seconds(5),
        sweep_interval: seconds(1000),
        backoff: seconds(20),
        backoff_max: seconds(100),
        ..MaintenanceOptions::default()
    }
}

fn user(name: &str) -> UserId {
    UserId::parse(name).unwrap()
}

/// Open memories and their versions, as the engine lists them.
fn open(versions: &[(&str, Seq)]) -> Vec<(UserId, Seq)> {
    versions.iter().map(|(name, version)| (user(name), *version)).collect()
}

fn step(step: MaintenanceStep, due: usize, left: usize, fault: Option<&str>) -> StepReport {
    StepReport { step, due, left, reference: None, fault: fault.map(str::to_owned) }
}

fn report(steps: Vec<StepReport>) -> MaintenanceReport {
    MaintenanceReport { steps, ..MaintenanceReport::default() }
}

/// Runs the next job with a report of these steps. Returns its user and its steps.
fn run(policy: &mut Policy, now: u64, steps: Vec<StepReport>, version: Option<Seq>) -> (String, Vec<MaintenanceStep>) {
    let job = policy.next(seconds(now)).unwrap();
    policy.finished(&job, Outcome::Ran(&report(steps)), version, seconds(now));
    (job.user.to_string(), job.steps)
}

fn quiet_steps() -> Vec<MaintenanceStep> {
    Stage::Quiet.steps().collect()
}

#[test]
fn a_user_who_talks_is_left_alone_until_the_pause_and_told_to_the_end_after_the_session() {
    let mut policy = Policy::new(options());
    policy.observe(open(&[("ada", 3)]), seconds(0));
    assert_eq!(policy.next(seconds(9)), None);
    let (whose, steps) = run(&mut policy, 10, Vec::new(), Some(3));
    assert_eq!((whose.as_str(), steps), ("ada", quiet_steps()));
    assert_eq!(policy.next(seconds(11)), None, "nothing was due");
    let (_, steps) = run(&mut policy, 100, vec![step(MaintenanceStep::Episodes, 1, 0, None)], Some(4));
    assert_eq!(steps, MaintenanceStep::ALL);
    policy.observe(open(&[("ada", 4)]), seconds(101));
    let (_, steps) = run(&mut policy, 101, Vec::new(), Some(4));
    assert!(steps.contains(&MaintenanceStep::Episodes), "what was told is looked at once more");
    assert!(!steps.contains(&MaintenanceStep::Reflect), "a silence is reflected on once");
    assert_eq!(policy.next(seconds(500)), None);
    policy.observe(open(&[("ada", 5)]), seconds(500));
    assert_eq!(policy.next(seconds(505)), None, "new words begin a new silence");
    assert_eq!(run(&mut policy, 510, Vec::new(), Some(5)).1, quiet_steps());
}

#[test]
fn of_several_users_the_one_whose_last_run_is_longest_ago_is_next() {
    let mut policy = Policy::new(options());
    policy.observe(open(&[("ada", 1), ("bob", 1), ("eve", 1)]), seconds(0));
    let more = || vec![step(MaintenanceStep::Study, 9, 5, None)];
    let order: Vec<String> = (10..16).map(|now| run(&mut policy, now, more(), Some(1)).0).collect();
    assert_eq!(order, ["ada", "bob", "eve", "ada", "bob", "eve"]);
}

#[test]
fn a_step_that_fails_is_asked_again_later_and_later_and_holds_up_no_other() {
    let mut policy = Policy::new(options());
    policy.observe(open(&[("ada", 1)]), seconds(0));
    let failed = || vec![step(MaintenanceStep::Summarize, 2, 2, Some("it took more than 8 s"))];
    assert!(run(&mut policy, 10, failed(), Some(1)).1.contains(&MaintenanceStep::Summarize));
    let (_, steps) = run(&mut policy, 11, Vec::new(), Some(1));
    assert!(!steps.contains(&MaintenanceStep::Summarize) && steps.contains(&MaintenanceStep::Read), "{steps:?}");
    assert_eq!(policy.tally().backing_off, 1);
    let mut retried = Vec::new();
    for now in 12..99 {
        if policy.next(seconds(now)).is_some() {
            assert_eq!(run(&mut policy, now, failed(), Some(1)).1, [MaintenanceStep::Summarize]);
            retried.push(now);
        }
    }
    assert_eq!(retried, [30, 70], "after 20 s, then after 40");
    assert_eq!(policy.tally().left[&MaintenanceStep::Summarize], 2);

    let mut pauses = Vec::new();
    let mut failure = None;
    for _ in 0..5 {
        let next = BackOff::after(failure.as_ref(), seconds(0), &options());
        pauses.push(next.until.as_secs());
        failure = Some(next);
    }
    assert_eq!(pauses, [20, 40, 80, 100, 100], "never longer than the bound");
    let many = BackOff { times: u32::MAX, until: seconds(0) };
    assert_eq!(BackOff::after(Some(&many), seconds(0), &options()).until, seconds(100));
}

#[test]
fn a_step_that_recovers_goes_on_until_nothing_is_left() {
    let mut policy = Policy::new(options());
    policy.observe(open(&[("ada", 1)]), seconds(0));
    run(&mut policy, 10, vec![step(MaintenanceStep::Summarize, 9, 9, Some("down"))], Some(1));
    run(&mut policy, 11, Vec::new(), Some(1));
    let (_, steps) = run(&mut policy, 30, vec![step(MaintenanceStep::Summarize, 9, 4, None)], Some(6));
    assert_eq!(steps, [MaintenanceStep::Summarize]);
    assert_eq!(policy.tally().backing_off, 0);
    let (_, steps) = run(&mut policy, 31, vec![step(MaintenanceStep::Summarize, 4, 0, None)], Some(9));
    assert_eq!(steps, quiet_steps(), "the rest needs no new words");
    run(&mut policy, 32, Vec::new(), Some(9));
    assert_eq!(policy.next(seconds(33)), None);
}

#[test]
fn a_step_that_gets_no_further_without_a_fault_is_not_asked_at_each_round() {
    let mut policy = Policy::new(options());
    policy.observe(open(&[("ada", 1)]), seconds(0));
    run(&mut policy, 10, vec![step(MaintenanceStep::Read, 3, 3, None)], Some(1));
    let (_, steps) = run(&mut policy, 11, Vec::new(), Some(1));
    assert!(!steps.contains(&MaintenanceStep::Read));
    assert_eq!(policy.next(seconds(12)), None);
}

#[test]
fn a_run_that_was_stopped_counts_as_no_failure_and_goes_on_later() {
    let mut policy = Policy::new(options());
    policy.observe(open(&[("ada", 1)]), seconds(0));
    let job = policy.next(seconds(10)).unwrap();
    let stopped = MaintenanceReport { stopped: true, ..report(vec![step(MaintenanceStep::Read, 3, 3, None)]) };
    policy.finished(&job, Outcome::Ran(&stopped), Some(1), seconds(10));
    assert_eq!(policy.tally().backing_off, 0);
    assert_eq!(policy.next(seconds(11)), Some(job));
}

#[test]
fn what_another_process_does_is_looked_at_again_after_a_pause() {
    let mut policy = Policy::new(options());
    policy.observe(open(&[("ada", 1)]), seconds(0));
    for now in [10, 30, 50] {
        let job = policy.next(seconds(now)).unwrap();
        let held = MaintenanceReport {
            fault: Some("held".to_owned()),
            ..report(vec![step(MaintenanceStep::Read, 3, 3, None)])
        };
        policy.finished(&job, Outcome::Ran(&held), Some(1), seconds(now));
        assert_eq!(policy.next(seconds(now + 19)), None, "the pause does not grow");
    }
    assert_eq!(run(&mut policy, 70, Vec::new(), Some(1)).1, quiet_steps());
    assert_eq!(policy.next(seconds(71)), None);
}

#[test]
fn a_memory_that_cannot_be_opened_waits_longer_each_time() {
    let mut policy = Policy::new(options());
    policy.observe(open(&[("ada", 1)]), seconds(0));
    let mut tried = Vec::new();
    for now in 0..99 {
        if let Some(job) = policy.next(seconds(now)) {
            policy.finished(&job, Outcome::Failed, None, seconds(now));
            tried.push(now);
        }
    }
    assert_eq!(tried, [10, 30, 70]);
}

#[test]
fn the_sweep_comes_after_those_who_were_active_one_user_a_pause() {
    let mut policy = Policy::new(options());
    policy.observe(open(&[("bob", 1)]), seconds(0));
    assert!(policy.wants_users(seconds(0)));
    policy.users(vec![user("ada"), user("bob"), user("eve")], seconds(0));
    assert!(!policy.wants_users(seconds(1)));
    assert_eq!(run(&mut policy, 1, Vec::new(), Some(7)).0, "ada");
    assert_eq!(policy.next(seconds(5)), None, "a pause between two");
    assert_eq!(run(&mut policy, 10, Vec::new(), Some(1)).0, "bob", "who was active comes first");
    assert_eq!(run(&mut policy, 10, Vec::new(), Some(7)).0, "eve", "bob comes by himself: his session is not over");
    assert_eq!(policy.next(seconds(50)), None);
    assert!(!policy.wants_users(seconds(999)) && policy.wants_users(seconds(1000)));
}

#[test]
fn the_sweep_lets_go_of_a_memory_once_nothing_is_left_and_keeps_nothing_of_it() {
    let mut policy = Policy::new(options());
    policy.users(vec![user("ada")], seconds(0));
    let job = policy.next(seconds(0)).unwrap();
    assert_eq!(job.steps, MaintenanceStep::ALL);
    let told = report(vec![step(MaintenanceStep::Episodes, 1, 0, None)]);
    assert!(!policy.finished(&job, Outcome::Ran(&told), Some(4), seconds(0)));
    policy.observe(open(&[("ada", 4)]), seconds(1));
    let job = policy.next(seconds(1)).unwrap();
    assert!(policy.finished(&job, Outcome::Ran(&report(Vec::new())), Some(4), seconds(1)));
    policy.observe(Vec::new(), seconds(2));
    assert!(policy.users.is_empty());

    policy.observe(open(&[("ada", 4)]), seconds(3));
    let job = policy.next(seconds(103)).unwrap();
    let keeps = !policy.finished(&job, Outcome::Ran(&report(Vec::new())), Some(4), seconds(103));
    assert!(keeps, "somebody else has opened it");
}

#[test]
fn switched_off_it_does_nothing() {
    let mut policy = Policy::new(MaintenanceOptions { enabled: false, ..options() });
    policy.observe(open(&[("ada", 1)]), seconds(0));
    policy.users(vec![user("eve")], seconds(0));
    assert_eq!(policy.next(seconds(1000)), None);
    assert!(!policy.wants_users(seconds(2000)));
}
