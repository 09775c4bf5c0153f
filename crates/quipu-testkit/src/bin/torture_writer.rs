//! Writes to a memory in a folder or a PostgreSQL database until it is killed, and prints what was acknowledged. Used by
//! `tests/kill.rs`.
//!
//! `torture_writer PLACE SEED` prints `ready SEQ`, then one line for each call that returned:
//! `wrote SEQ HASH`, `erased SEQ TARGET TEXT`, `snapshot SEQ`.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use quipu_core::id::{Seq, UserId};
use quipu_engine::erase::EraseTarget;
use quipu_engine::ports::LedgerStore;
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::EventRef;
use quipu_engine::{
    CoreEdit, Engine, EngineParts, EngineRules, OptionalParts, PatchOptions, RememberOptions, Utterance, edit_core,
    erase, remember, revert, snapshot, status,
};
use quipu_models::HashedNgrams;
use quipu_postgres::{PostgresOptions, PostgresStore};
use quipu_sqlite::{SqliteStore, StoreOptions};
use quipu_testkit::{FixedClock, Rng, SeededEntropy};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [place, seed] = arguments.as_slice() else {
        eprintln!("usage: torture_writer PLACE SEED");
        return ExitCode::FAILURE;
    };
    match write_until_killed(place, seed.parse().unwrap_or(0)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Large enough to outlast any parent that kills the process, but bounded in case none does.
const STEPS_MAX: u32 = 5000;

fn write_until_killed(place: &str, seed: u64) -> Outcome {
    let me = UserId::parse("me")?;
    let store: Box<dyn LedgerStore> = if quipu_postgres::is_url(place) {
        Box::new(PostgresStore::open(place, PostgresOptions::default())?)
    } else {
        let options = StoreOptions { ballast_bytes: 1 << 16, ..StoreOptions::default() };
        Box::new(SqliteStore::open(Path::new(place), options)?)
    };
    let engine = Engine::new(EngineParts {
        store,
        embedder: Arc::new(HashedNgrams::new()),
        clock: Arc::new(FixedClock::starting(1_767_225_600_000_000 + (seed as u32 as i64) * 1_000_000_000, 1000)),
        entropy: Arc::new(SeededEntropy::new(seed)),
        extractor: None,
        summarizer: None,
        rules: EngineRules::default(),
        optional: OptionalParts::default(),
    });
    let mut dice = Rng::new(seed ^ 0xd1ce);
    let mut said: Vec<(Seq, String)> = Vec::new();
    tell(format_args!("ready {}", status(&engine, &me).map_or(0, |now| now.version)))?;
    for step in 0..STEPS_MAX {
        match dice.below(100) {
            0..70 => {
                let text = format!("needle-{seed:016x}-{step:04} {}", "and some words more ".repeat(dice.below(40)));
                let options = RememberOptions { durable_only: !dice.once_in(8), ..RememberOptions::default() };
                let receipt = remember(&engine, &me, &Utterance::of_user(&text), &options)?;
                tell(format_args!("wrote {} {}", receipt.seq, receipt.hash))?;
                said.push((receipt.seq, text[..28].to_owned()));
            }
            70..84 => {
                let edit =
                    CoreEdit::Set(format!("/uncategorized/k{}", dice.below(5)), serde_json::json!({ "step": step }));
                let receipt = edit_core(&engine, &me, &edit, &PatchOptions::default())?;
                tell(format_args!("wrote {} {}", receipt.seq, receipt.hash))?;
            }
            84..90 => {
                snapshot(&engine, &me).map_or(Ok(()), |seq| tell(format_args!("snapshot {seq}")))?;
            }
            90..94 => {
                let Some((seq, _)) = dice.pick(&said) else { continue };
                let selection = Selection::Events(vec![EventRef::Seq(*seq)]);
                // Reverting an event twice is refused, which is fine.
                let Ok((receipt, _)) = revert(&engine, &me, &selection, &RevertOptions::default(), &mut |_| {}) else {
                    continue;
                };
                tell(format_args!("wrote {} {}", receipt.seq, receipt.hash))?;
            }
            _ if said.is_empty() => {}
            _ => {
                let (seq, text) = said.swap_remove(dice.below(said.len()));
                let receipt = erase(&engine, &me, &[EraseTarget::Event(seq)], "asked to", &mut |_| {})?;
                tell(format_args!("erased {} {seq} {text}", receipt.event_seq))?;
            }
        }
    }
    Ok(())
}

fn tell(line: std::fmt::Arguments<'_>) -> Outcome {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}
