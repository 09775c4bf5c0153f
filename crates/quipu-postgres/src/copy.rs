//! Backups: ledger files as `quipu-sqlite` writes them, so that a backup of one store can be restored in the other. And the
//! names of ledgers that were set aside, which stay in the database under their fence, where erasures reach them.

use std::path::{Path, PathBuf};

use quipu_core::event::Hash;
use quipu_core::id::{Seq, UserId};
use quipu_core::ledger::SealedEvent;
use quipu_engine::ports::{BackupFile, Head, StoreError};
use uuid::Uuid;

use crate::connection::{Access, Attempts, Step};
use crate::fault::{Failure, malformed, removed};
use crate::handle::PostgresLedger;
use crate::rows::{self, Selected, column, event_bytes, position};

/// Events and bytes of one append of a restore.
const APPEND_EVENTS: usize = 1024;
const APPEND_BYTES: usize = 16 << 20;

/// Copies a ledger to a new file, at one state of the database. If the connection is lost, the copy starts again.
pub(crate) fn backup(ledger: &PostgresLedger, to: &Path) -> Result<BackupFile, StoreError> {
    let mut attempts = Attempts::default();
    loop {
        let mut failed = None;
        let mut head = None;
        let made = quipu_sqlite::write_backup(&ledger.user, to, &mut |take| {
            copy_events(ledger, take, &mut head).map_err(|failure| match failure {
                Failure::Ours(error) => error,
                failure => {
                    failed = Some(failure);
                    StoreError::Unavailable("the database could not be read".to_owned())
                }
            })
        });
        match (made, failed) {
            (Ok(file), _) if head == Some(file.head) => return Ok(file),
            (Ok(_), _) => {
                return Err(StoreError::Corrupt(format!(
                    "the ledger of {} lacks its newest events. {} is incomplete: delete it, and run a check",
                    ledger.user,
                    to.display()
                )));
            }
            (Err(_), Some(failure)) => match attempts.after(&failure) {
                Some(pause) => ledger.database.pause(pause),
                None => return Err(ledger.tell("copy", failure)),
            },
            (Err(error), None) => return Err(error),
        }
    }
}

fn copy_events(
    ledger: &PostgresLedger,
    take: &mut quipu_sqlite::TakeEvent<'_>,
    copied: &mut Option<Head>,
) -> Result<(), Failure> {
    let mut view = ledger.database.view(ledger.user.as_str())?;
    let answers = view.read(&[ledger.step(include_str!("sql/head.sql"), [])])?;
    let row = answers.iter().flatten().next().ok_or_else(removed)?;
    let hash = Hash::from_hex(column::<&str>(row, 1)?).map_err(|_| malformed("a hash"))?;
    *copied = Some(Head { seq: position(row, 0)?, hash });
    rows::batches(
        &ledger.key(),
        Selected::All,
        1,
        Seq::MAX,
        |steps| view.read(steps),
        |events| {
            events.iter().try_for_each(&mut *take)?;
            Ok(true)
        },
    )
}

/// Appends the events of a backup of `user` to an empty ledger.
pub(crate) fn take_in(from: &Path, user: &UserId, into: &PostgresLedger) -> Result<(), StoreError> {
    let mut expected: Seq = 0;
    let mut append = |events: &[SealedEvent]| {
        into.write(expected, events, None)?;
        expected += events.len() as Seq;
        Ok(())
    };
    let mut waiting = Vec::new();
    let mut bytes = 0;
    quipu_sqlite::read_backup(from, user, &mut |event| {
        bytes += event_bytes(&event);
        waiting.push(event);
        if waiting.len() >= APPEND_EVENTS || bytes >= APPEND_BYTES {
            append(&waiting)?;
            waiting.clear();
            bytes = 0;
        }
        Ok(())
    })?;
    append(&waiting)
}

/// Passes the events of a ledger that was set aside under `name` to `each`.
pub(crate) fn read_aside(
    ledger: &PostgresLedger,
    name: &Path,
    each: &mut dyn FnMut(SealedEvent) -> Result<(), StoreError>,
) -> Result<Head, StoreError> {
    let found = ledger.stored_head()?;
    let head = found.ok_or_else(|| StoreError::NotFound(format!("there is no ledger {}", name.display())))?.head;
    let run = |steps: &[Step<'_>]| ledger.repeat(Access::Read, "read", steps);
    rows::batches(&ledger.key(), Selected::All, 1, head.seq, run, |events| {
        events.into_iter().try_for_each(&mut *each)?;
        Ok::<bool, StoreError>(true)
    })?;
    Ok(head)
}

/// The first part of the name of a ledger that was set aside.
const FOLDER: &str = "postgres-aside";

/// The name of a ledger of `user` that was set aside. `restore` accepts it in place of the path of a backup.
pub(crate) fn aside_name(user: &UserId, fence: Uuid) -> PathBuf {
    Path::new(FOLDER).join(user.as_str()).join(fence.to_string())
}

/// The fence in such a name, if it is one of `user`.
pub(crate) fn aside_fence(name: &Path, user: &UserId) -> Option<Uuid> {
    let text = name.strip_prefix(FOLDER).ok()?.strip_prefix(user.as_str()).ok()?.to_str()?;
    Uuid::parse_str(text).ok()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_back_to_its_ledger_for_its_user_only() {
        let (me, other) = (UserId::parse("me@home").unwrap(), UserId::parse("other").unwrap());
        let name = aside_name(&me, Uuid::from_u128(7));
        assert_eq!(aside_fence(&name, &me), Some(Uuid::from_u128(7)));
        assert_eq!(aside_fence(&name, &other), None);
        assert_eq!(aside_fence(Path::new("backups/me"), &me), None);
    }
}
