//! Translates system errors into messages.

use std::path::Path;

use quipu_engine::ports::VaultError;
use rustix::io::Errno;

/// The error for a failed call on a file or folder.
pub(crate) fn of(place: &Path, verb: &str, errno: Errno) -> VaultError {
    let place = place.display();
    match errno {
        Errno::LOOP | Errno::MLINK => {
            VaultError::Refused(format!("{place} is a link, and links are not followed here; take it away"))
        }
        Errno::NOTDIR => VaultError::Refused(format!("{place} is a link or no folder; take it away")),
        Errno::ISDIR => VaultError::Refused(format!("{place} is a folder where a file belongs; take it away")),
        Errno::NOSPC | Errno::DQUOT => VaultError::Unavailable(format!("cannot {verb} {place}: the disk is full")),
        Errno::ACCESS | Errno::PERM | Errno::ROFS => {
            VaultError::Unavailable(format!("cannot {verb} {place}: {errno}; make it writable for this user"))
        }
        other => VaultError::Unavailable(format!("cannot {verb} {place}: {other}")),
    }
}
