//! Test scripts with given, when and then, one step on each line, which run on every store.
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
//! A step may start with `of USER` (default: `me`), and a then-step also with `at VERSION`. `refused KIND STEP`
//! asserts that the step fails and changes nothing. Events are named by position, items by the event that recorded
//! them.
//!
//! | step | |
//! |---|---|
//! | `said "TEXT" [in SESSION] [on DAY] [key KEY]` | records a message |
//! | `asked "QUESTION"`, `kept`, `counted` | recalls one hit; stores the pending hits; records them |
//! | `told`, `compacted` | makes episodes; compacts |
//! | `set POINTER JSON`, `unset POINTER`, `patch JSON` | edits the core document |
//! | `promote PATTERN [NAME]` | makes a pattern of the core document a category |
//! | `pin N`, `unpin N`, `rate N STARS` | marks an item |
//! | `revert N…`, `revert session S`, `revert since N` | reverts |
//! | `erase N…` | erases events |
//! | `fork USER at N`, `pick N… into USER` | makes another memory |
//! | `reopen`, `rebuild`, `snapshot` | restarts; rebuilds from the ledger; takes a snapshot |
//! | `says "TEXT"…`, `says nothing` | all items, in order |
//! | `core POINTER JSON`, `core POINTER nothing` | the value at a pointer |
//! | `orphans N…`, `skipped N…`, `erased N…`, or `none` | the status of events |
//! | `marked N pinned STARS`, `marked N unpinned STARS` | an item's marks |
//! | `recalls "QUESTION" "TEXT"` | the first hit |
//! | `hits N COUNT`, `active N of M` | an item's hits; the size of the active index |
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

/// Runs a script on every store. Panics at the first line that fails.
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
