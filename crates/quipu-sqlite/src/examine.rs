//! Examines the data folder for `quipu doctor`: one line for each finding, `Err` for problems.

use std::fs;

use quipu_core::id::UserId;
use quipu_engine::ports::StoreError;

use crate::data_folder::disk;
use crate::folder::Folder;
use crate::ledger_store;

type Finding = Result<String, String>;

pub(crate) fn store(folder: &Folder, users: &[Result<UserId, StoreError>]) -> Vec<Finding> {
    let mut findings = vec![Ok(format!("SQLite {}", rusqlite::version())), lock(folder), permissions(folder)];
    findings.extend(space(folder));
    let owners: Vec<&UserId> = users.iter().flatten().collect();
    findings.push(Ok(format!("{} ledgers in {}", owners.len(), folder.users.display())));
    findings.extend(users.iter().filter_map(|user| user.as_ref().err()).map(|error| Err(error.to_string())));
    if let (Some(user), false) = (owners.first(), folder.options.read_only) {
        findings.push(match ledger_store::settings_of(folder, &folder.path_of(user)) {
            Ok((all, None)) => Ok(format!("settings: {all}")),
            Ok((_, Some(wrong))) => Err(format!("settings: {wrong}")),
            Err(error) => Err(format!("settings: {error}")),
        });
    }
    findings.extend(folder.told().into_iter().map(Ok));
    findings.extend(copies(folder));
    for name in folder.strangers() {
        findings.push(Err(format!("{} does not belong there: move it away", folder.users.join(name).display())));
    }
    findings
}

fn lock(folder: &Folder) -> Finding {
    let root = folder.root.display();
    let others: Vec<String> = folder.lock.others().iter().map(u32::to_string).collect();
    let beside = match others.as_slice() {
        [] => "no other process".to_owned(),
        pids => format!("the processes {}", pids.join(", ")),
    };
    match (folder.options.read_only, folder.lock.is_held()) {
        (false, _) => Ok(format!("{root} is open in this process (pid {}) and {beside}", std::process::id())),
        (true, true) => Ok(format!("{root} is open for reading in this process, and open in {beside}")),
        (true, false) if disk::is_read_only(&folder.root) => {
            Ok(format!("{root} is open for reading, and nobody can write to its disk"))
        }
        (true, false) => {
            Err(format!("{root} is open for reading without a lock: make sure that no other process writes to it"))
        }
    }
}

fn permissions(folder: &Folder) -> Finding {
    let root = folder.root.display();
    match disk::mode(&folder.root) {
        Some(mode) if mode & 0o077 != 0 => {
            Err(format!("other users of this computer may enter {root} (mode {mode:03o}): chmod 700 it"))
        }
        Some(mode) => Ok(format!("{root} is closed to other users (mode {mode:03o})")),
        None => Ok(format!("{root}: this system has no permission bits to look at")),
    }
}

fn space(folder: &Folder) -> Vec<Finding> {
    let free = disk::free_bytes(&folder.root);
    let (wanted, present) = (folder.ballast.wanted_bytes(), folder.ballast.present_bytes());
    let mut findings = Vec::new();
    if let Some(free) = free {
        let line = format!("{} MiB free on the disk of {}", free >> 20, folder.root.display());
        // With less, the ballast would not be recreated after use.
        findings.push(if free < wanted.saturating_mul(4) { Err(format!("{line}: free some space")) } else { Ok(line) });
    }
    if !folder.options.read_only {
        findings.push(if present == wanted {
            Ok(format!("ballast: {} MiB", present >> 20))
        } else {
            Err(format!(
                "ballast: {present} of {wanted} bytes: erasing may fail on a full disk. It is made when the store is opened \
                 with four times as much free"
            ))
        });
    }
    findings
}

fn copies(folder: &Folder) -> Option<Finding> {
    let copies = folder.all_copies();
    let bytes: u64 = copies.iter().filter_map(|copy| fs::metadata(copy).ok()).map(|found| found.len()).sum();
    let first = copies.first()?;
    Some(Ok(format!(
        "{} ledgers set aside, {} MiB, such as {}: delete what is not needed any more",
        copies.len(),
        bytes >> 20,
        first.display()
    )))
}
