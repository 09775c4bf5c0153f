//! Power failures at any moment of a run that does everything.

use std::collections::BTreeMap;

use quipu_faults::{Disk, Image, Recording, Rules, Step, Style};
use quipu_testkit::{Rng, effort, seed};
use tempfile::TempDir;

use crate::judge::{After, Expected, judged};
use crate::work::{SCRIPT, Span, World};

/// Images of one run. Another run with another seed makes the next ones.
const IMAGES_OF_A_RUN: u32 = 400;

/// What was recorded of one run.
pub(crate) struct Run {
    pub(crate) before: Image,
    pub(crate) steps: Vec<Step>,
    pub(crate) spans: Vec<Span>,
}

impl Run {
    pub(crate) fn new(seed: u64) -> Self {
        let place = TempDir::new().unwrap();
        let root = place.path().canonicalize().unwrap();
        let (recording, before) = Recording::start(&root).unwrap();
        let mut world = World::new(&root, seed);
        let spans = world.run(&SCRIPT, &recording);
        world.close();
        Self { before, steps: recording.finish(), spans }
    }

    /// What was acknowledged before the step at a position, and what may follow.
    pub(crate) fn span_at(&self, position: usize) -> &Span {
        self.spans.iter().find(|span| position < span.to).unwrap_or_else(|| self.spans.last().unwrap())
    }
}

/// The moments and rules of some images, in order of the moments.
fn cuts(steps: usize, images: u32, dice: &mut Rng) -> Vec<(usize, bool, Style)> {
    let mut cuts: Vec<_> = (0..images)
        .map(|number| (dice.below(steps + 1), dice.once_in(2), Style::ALL[number as usize % Style::ALL.len()]))
        .collect();
    cuts.sort_by_key(|(position, ..)| *position);
    cuts
}

/// Counts of images.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) images: u32,
    pub(crate) second_cuts: u32,
    pub(crate) acts: BTreeMap<String, u32>,
    pub(crate) problems: Vec<String>,
}

/// Makes images of a run and judges each. `keep` says which steps reach the disk: canaries drop syncs.
pub(crate) fn cut(run: &Run, seed: u64, images: u32, keep: &dyn Fn(&Step) -> bool, tally: &mut Tally) {
    let mut dice = Rng::new(seed ^ 0x00c0_ffee);
    let disk = |is_journaled| Disk::new(run.before.clone(), Rules { is_journaled, failed_sync_loses: true });
    let mut disks = [disk(false), disk(true)];
    let mut applied = 0;
    for (position, is_journaled, style) in cuts(run.steps.len(), images, &mut dice) {
        for step in run.steps.get(applied..position).unwrap_or_default().iter().filter(|step| keep(step)) {
            disks.iter_mut().for_each(|disk| disk.apply(step));
        }
        applied = position;
        let span = run.span_at(position);
        let image = disks[usize::from(is_journaled)].image(style, &mut |below| dice.below(below));
        tally.images += 1;
        *tally.acts.entry(format!("{:?}", span.act).split('(').next().unwrap().to_owned()).or_default() += 1;
        let problem = if dice.once_in(6) {
            tally.second_cuts += 1;
            cut_twice(&image, span, is_journaled, &mut dice)
        } else {
            let place = TempDir::new().unwrap();
            image.write_to(place.path()).unwrap();
            judged(place.path(), &Expected::from(span), dice.once_in(4))
        };
        if let Err(problem) = problem {
            let names = if is_journaled { "journaled" } else { "POSIX" };
            tally.problems.push(format!(
                "seed {seed}, cut at {position} in {:?} ({}..{}), {style:?}, {names} names: {problem}",
                span.act, span.from, span.to
            ));
        }
    }
}

/// The power fails again while the image is opened.
fn cut_twice(image: &Image, span: &Span, is_journaled: bool, dice: &mut Rng) -> Result<(), String> {
    let place = TempDir::new().unwrap();
    let root = place.path().canonicalize().unwrap();
    image.write_to(&root).unwrap();
    let (recording, before) = Recording::start(&root).unwrap();
    let first = judged(&root, &Expected::from(span), false);
    let steps = recording.finish();
    first?;
    let mut disk = Disk::new(before, Rules { is_journaled, failed_sync_loses: true });
    steps.iter().take(dice.below(steps.len() + 1)).for_each(|step| disk.apply(step));
    let style = Style::ALL[dice.below(Style::ALL.len())];
    let again = disk.image(style, &mut |below| dice.below(below));
    let place = TempDir::new().unwrap();
    again.write_to(place.path()).unwrap();
    judged(place.path(), &Expected::from(span), true).map_err(|problem| format!("after a second cut: {problem}"))
}

/// Number of kinds of acts that must be cut.
const ACTS: usize = 12;

/// The number of images: `QUIPU_POWER_CUTS`, or 300 times `QUIPU_EFFORT`.
fn images_wanted() -> u32 {
    let wanted = std::env::var("QUIPU_POWER_CUTS").ok().and_then(|text| text.parse().ok());
    wanted.unwrap_or_else(|| effort(300))
}

#[test]
fn a_power_failure_loses_nothing_that_was_acknowledged() {
    let wanted = images_wanted();
    let mut tally = Tally::default();
    for number in 0.. {
        // A short run may meet a rare act late.
        let is_varied = tally.acts.len() >= ACTS || tally.images >= 3 * wanted;
        let left = match wanted.saturating_sub(tally.images) {
            0 if is_varied => break,
            left => left.max(50),
        };
        let seed = seed() + number;
        cut(&Run::new(seed), seed, left.min(IMAGES_OF_A_RUN), &|_| true, &mut tally);
        if tally.problems.len() > 20 {
            break;
        }
    }
    let Tally { images, second_cuts, acts, problems } = &tally;
    println!("power cut: {images} images, {second_cuts} cut twice, {} wrong, seed {}", problems.len(), seed());
    println!("power cut: {acts:?}");
    assert!(problems.is_empty(), "{problems:#?}");
    assert!(acts.len() >= ACTS, "some acts were never cut: {acts:?}");
}

/// An image for each moment is the same as the folder at that moment if everything was written.
#[test]
fn the_model_has_everything_that_was_written() {
    let run = Run::new(seed());
    let mut disk = Disk::new(run.before.clone(), Rules { is_journaled: false, failed_sync_loses: true });
    run.steps.iter().for_each(|step| disk.apply(step));
    let place = TempDir::new().unwrap();
    disk.image(Style::Everything, &mut |_| 0).write_to(place.path()).unwrap();
    let last = run.spans.last().unwrap();
    judged(
        place.path(),
        &Expected { before: &last.after, after: After::UpTo(&last.after), replaced: Vec::new() },
        true,
    )
    .unwrap();
    println!("{} of {} steps were never ordered by a sync", disk.unordered(), run.steps.len());
}
