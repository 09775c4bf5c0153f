//! Seeded schedules: the steps of one life, as small numbers that are reduced to valid choices when a step is taken, so
//! that steps can be left out of a schedule.

use quipu_testkit::Rng;

/// Processes over one store.
pub(crate) const PROCESSES: usize = 3;
/// Users of a life. The last is only told things and processed, so that its facts are known.
pub(crate) const USERS: [&str; 4] = ["ada", "bo", "cy", "dee"];
/// The user whose history is never changed.
pub(crate) const PLAIN: usize = USERS.len() - 1;

/// What a process is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    Say,
    /// Records and leaves the rest for later.
    SayOnly,
    /// Says it under an idempotency key.
    SayKeyed,
    /// Sends an earlier request again.
    Repeat,
    /// Sends something else under an earlier key.
    Misuse,
    Revert,
    Erase,
    Correct,
    Retract,
    SetCore,
    Process,
    Ask,
    Pack,
    Snapshot,
    Rebuild,
    Delete,
    /// Ends without another call of the store.
    Crash,
}

/// How a call of the store fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A write is refused, and so are all later ones of the step: the disk is full.
    Full,
    /// One write is refused.
    Refused,
    /// One write is made, and reported as failed.
    AnswerLost,
    /// One read fails.
    Unreadable,
    /// The process ends before a write.
    DiesBefore,
    /// The process ends after a write, before it hears of it.
    DiesAfter,
}

/// How models behave during a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    Well,
    /// They time out.
    Out,
    /// They answer after this many seconds.
    Slow(u16),
    /// They answer what does not fit the input: spans beyond it, ids that nobody showed, words that nobody said.
    Lying,
    /// They answer nothing usable.
    Garbled,
}

/// An action of one process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Act {
    pub(crate) process: usize,
    pub(crate) user: usize,
    pub(crate) what: What,
    pub(crate) pick: u32,
}

/// One step of a schedule.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) act: Act,
    pub(crate) mood: Mood,
    /// The fault, and the number of calls before it.
    pub(crate) fault: Option<(Fault, u8)>,
    /// What another process does meanwhile, and the number of calls of store and models before it.
    pub(crate) meanwhile: Option<(Act, u8)>,
    /// Seconds by which the clock moves before the step; it may move back.
    pub(crate) clock: i64,
}

impl What {
    /// Whether it may be done to the plain user.
    fn is_plain(self) -> bool {
        !matches!(self, Self::Revert | Self::Erase | Self::Correct | Self::Retract | Self::SetCore | Self::Delete)
    }
}

fn what(dice: &mut Rng) -> What {
    const DRAWN: [(What, usize); 17] = [
        (What::Say, 22),
        (What::SayOnly, 8),
        (What::SayKeyed, 10),
        (What::Repeat, 10),
        (What::Misuse, 2),
        (What::Revert, 8),
        (What::Erase, 7),
        (What::Correct, 4),
        (What::Retract, 3),
        (What::SetCore, 4),
        (What::Process, 10),
        (What::Ask, 8),
        (What::Pack, 4),
        (What::Snapshot, 5),
        (What::Rebuild, 2),
        (What::Delete, 1),
        (What::Crash, 5),
    ];
    let mut at = dice.below(DRAWN.iter().map(|(_, weight)| weight).sum());
    for (what, weight) in DRAWN {
        match at.checked_sub(weight) {
            Some(left) => at = left,
            None => return what,
        }
    }
    What::Say
}

fn act(dice: &mut Rng) -> Act {
    let user = dice.below(USERS.len()).min(dice.below(USERS.len() + 1));
    let mut what = what(dice);
    while user == PLAIN && !what.is_plain() {
        what = self::what(dice);
    }
    Act { process: dice.below(PROCESSES), user, what, pick: dice.roll() as u32 }
}

fn step(dice: &mut Rng) -> Step {
    let mood = match dice.below(10) {
        0 => Mood::Out,
        1 => Mood::Slow(dice.below(400) as u16),
        2 => Mood::Lying,
        3 => Mood::Garbled,
        _ => Mood::Well,
    };
    let faults =
        [Fault::Full, Fault::Refused, Fault::AnswerLost, Fault::Unreadable, Fault::DiesBefore, Fault::DiesAfter];
    let fault = dice.once_in(4).then(|| (faults[dice.below(faults.len())], dice.below(7).min(dice.below(7)) as u8));
    let own = act(dice);
    // Mostly on the same memory, and mostly early.
    let meanwhile = dice.once_in(4).then(|| {
        let other = act(dice);
        let user = if own.user == PLAIN || dice.once_in(3) { other.user } else { own.user };
        let is_allowed = user != PLAIN || other.what.is_plain();
        let user = if is_allowed { user } else { 0 };
        (Act { user, ..other }, dice.below(8).min(dice.below(8)) as u8)
    });
    let clock = match dice.below(20) {
        0 => dice.below(400 * 86_400) as i64,
        1 => -(dice.below(400 * 86_400) as i64),
        2 => dice.below(86_400) as i64,
        3 => -(dice.below(86_400) as i64),
        4 => 0,
        _ => 1 + dice.below(120) as i64,
    };
    Step { act: own, mood, fault, meanwhile, clock }
}

/// The schedule of a seed.
pub(crate) fn schedule(seed: u64, steps: usize) -> Vec<Step> {
    let mut dice = Rng::new(seed);
    (0..steps).map(|_| step(&mut dice)).collect()
}

/// Two messages, and an erasure by another process while a snapshot with both is being stored.
pub(crate) fn erased_meanwhile() -> Vec<Step> {
    let act = |process, what, pick| Act { process, user: 0, what, pick };
    let step = |act| Step { act, mood: Mood::Well, fault: None, meanwhile: None, clock: 1 };
    let erasure = act(1, What::Erase, 1);
    let snapshot = Step { meanwhile: Some((erasure, 0)), ..step(act(0, What::Snapshot, 0)) };
    vec![step(act(0, What::Say, 0)), step(act(0, What::Say, 1)), snapshot]
}

/// Leaves out steps for as long as what is left still fails, for at most `tries` tries.
pub(crate) fn shrink(mut steps: Vec<Step>, tries: usize, fails: impl Fn(&[Step]) -> bool) -> Vec<Step> {
    let mut left = tries;
    let mut length = steps.len().div_ceil(2);
    while length > 0 {
        let mut from = 0;
        let mut is_shorter = false;
        while from < steps.len() {
            if left == 0 {
                return steps;
            }
            left -= 1;
            let mut shorter = steps.clone();
            shorter.drain(from..(from + length).min(steps.len()));
            if fails(&shorter) {
                (steps, is_shorter) = (shorter, true);
            } else {
                from += length;
            }
        }
        if !is_shorter || length > 1 {
            length /= 2;
        }
    }
    steps
}
