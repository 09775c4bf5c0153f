//! Tests as tales: given, when, then, one step a line, told on every store.
//!
//! ```
//! quipu_testkit::tale::check("a revert takes back what was said", r#"
//! given said "I live in Lyon"
//! when  revert 1
//! then  says nothing
//!       at 1 says "I live in Lyon"
//! "#);
//! ```
//!
//! A step may start with `of USER` (else it is about `me`); a then-step also with `at VERSION`. `refused KIND STEP` says
//! that the step fails and changes nothing. Events are named by position, an item by the event that recorded it.
//!
//! | step | |
//! |---|---|
//! | `said "TEXT" [in SESSION] [on DAY] [key KEY]` | remembers |
//! | `asked "QUESTION"`, `kept`, `counted` | asks for one answer; keeps what was shown; writes it down |
//! | `told`, `compacted` | tells episodes; compacts |
//! | `set POINTER JSON`, `unset POINTER`, `patch JSON` | edit the core document |
//! | `promote PATTERN [NAME]` | makes a pattern of the core document a category |
//! | `pin N`, `unpin N`, `rate N STARS` | mark an item |
//! | `revert N…`, `revert session S`, `revert since N` | revert |
//! | `erase N…` | erase events |
//! | `fork USER at N`, `pick N… into USER` | make another memory |
//! | `reopen`, `rebuild`, `snapshot` | as after a restart; from the ledger alone; now |
//! | `says "TEXT"…`, `says nothing` | all items, in order |
//! | `core POINTER JSON`, `core POINTER nothing` | what stands there |
//! | `orphans N…`, `skipped N…`, `erased N…`, or `none` | the standing of events |
//! | `marked N pinned STARS`, `marked N unpinned STARS` | an item's marks |
//! | `recalls "QUESTION" "TEXT"` | the first answer |
//! | `hits N COUNT`, `active N of M` | how often an item was shown; how much is looked at first |
//! | `version N`, `replayed`, `left-out N…`, `intact` | position, last receipt, last pick, verification |

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a tale stops where it does not go as told")]

mod growing;
mod steps;
mod words;
mod world;

use quipu_engine::ports::LedgerStore;
use quipu_sqlite::{SqliteStore, StoreOptions};

use crate::memory_store::MemoryStore;
use words::LineRest;
use world::World;

/// Tells a tale on every store. Panics at the first line that does not hold.
pub fn check(title: &str, script: &str) {
    let memory = MemoryStore::new();
    tell(&format!("{title}, in memory"), script, Box::new(move || Box::new(memory.clone())));
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions { ballast_bytes: 1 << 16, ..StoreOptions::default() };
    let sqlite = SqliteStore::open(folder.path(), options).unwrap();
    tell(&format!("{title}, on disk"), script, Box::new(move || Box::new(sqlite.clone())));
}

fn tell(title: &str, script: &str, store: Box<dyn Fn() -> Box<dyn LedgerStore>>) {
    let mut world = World::new(store);
    for (number, line) in script.lines().enumerate() {
        let mut words = LineRest::of(line);
        if matches!(words.peek(), Some("given" | "when" | "then" | "and")) {
            words.next();
        }
        if words.peek().is_none_or(|word| word.starts_with('#')) {
            continue;
        }
        if let Err(reason) = steps::take(&mut world, &mut words) {
            panic!("{title}\nline {number}: {}\n{reason}", line.trim());
        }
    }
}
