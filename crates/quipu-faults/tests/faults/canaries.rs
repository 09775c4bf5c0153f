//! The judge finds what it must: without certain syncs, acknowledged events are lost or ledgers damaged.

use std::collections::BTreeSet;

use quipu_faults::{FileId, Step};
use quipu_testkit::seed;

use crate::power_cut::{Run, Tally, cut};

/// Ids of the files whose names end so at any time.
fn files(run: &Run, end: &str) -> BTreeSet<FileId> {
    let named = |step: &Step| match step {
        Step::Create(path, file) | Step::Link(path, file) | Step::Rename(_, path, file) => {
            path.to_string_lossy().ends_with(end).then_some(*file)
        }
        _ => None,
    };
    run.steps.iter().filter_map(named).collect()
}

#[test]
fn without_syncs_the_judge_finds_what_is_lost() {
    let run = Run::new(seed());
    let (logs, databases) = (files(&run, "-wal"), files(&run, ".db"));
    type Keep<'a> = Box<dyn Fn(&Step) -> bool + 'a>;
    let canaries: [(&str, Keep<'_>); 5] = [
        // What `synchronous = NORMAL` does: the log is synced at checkpoints only.
        ("no sync of logs", Box::new(|step| !matches!(step, Step::Sync(file) if logs.contains(file)))),
        // What `synchronous = OFF` does.
        (
            "no sync of databases",
            Box::new(|step| !matches!(step, Step::Sync(file) if databases.contains(file) || logs.contains(file))),
        ),
        ("no sync of folders", Box::new(|step| !matches!(step, Step::SyncFolder(_)))),
        ("no sync at all", Box::new(|step| !matches!(step, Step::Sync(_) | Step::SyncFolder(_) | Step::SyncAll))),
        ("no sync of other files", {
            let named = [&logs, &databases];
            Box::new(move |step| !matches!(step, Step::Sync(file) if !named.iter().any(|known| known.contains(file))))
        }),
    ];
    for (name, keep) in canaries {
        let mut tally = Tally::default();
        cut(&run, seed(), 60, &*keep, &mut tally);
        println!("canary, {name}: {} of {} images wrong", tally.problems.len(), tally.images);
        assert!(!tally.problems.is_empty(), "{name}: the judge saw nothing wrong in {} images", tally.images);
    }
}
