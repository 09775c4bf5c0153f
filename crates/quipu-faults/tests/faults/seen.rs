//! The recorder sees the calls of the standard library, of SQLite and of rustix, and can fail each kind.

use std::fs;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use quipu_faults::{CallFault, CallKind, Disk, Plan, Recording, Rules, Step, Style};
use rustix::fs::{Mode, OFlags};
use tempfile::TempDir;

fn folder() -> (TempDir, PathBuf) {
    let place = TempDir::new().unwrap();
    let path = place.path().canonicalize().unwrap();
    (place, path)
}

/// Changes files in every way the programs under test do.
fn change(root: &Path) -> Result<(), Box<dyn std::error::Error>> {
    fs::DirBuilder::new().mode(0o700).create(root.join("std"))?;
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(root.join("std/file"))?;
    file.write_all(b"standard library")?;
    file.sync_all()?;
    file.set_len(8)?;
    fs::rename(root.join("std/file"), root.join("std/renamed"))?;
    fs::hard_link(root.join("std/renamed"), root.join("std/linked"))?;
    fs::File::open(root.join("std"))?.sync_all()?;
    fs::read(root.join("std/renamed"))?;
    fs::remove_file(root.join("std/linked"))?;

    let folder = rustix::fs::open(root, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?;
    rustix::fs::mkdirat(&folder, "rustix", Mode::RWXU)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    let file = rustix::fs::openat(&folder, "rustix/file", flags, Mode::RUSR | Mode::WUSR)?;
    rustix::io::write(&file, b"rustix")?;
    rustix::fs::fsync(&file)?;
    rustix::fs::renameat(&folder, "rustix/file", &folder, "rustix/renamed")?;
    rustix::fs::syncfs(&folder)?;
    rustix::fs::unlinkat(&folder, "rustix/renamed", rustix::fs::AtFlags::empty())?;
    rustix::fs::unlinkat(&folder, "rustix", rustix::fs::AtFlags::REMOVEDIR)?;

    let connection = rusqlite::Connection::open(root.join("sqlite.db"))?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE line (text); INSERT INTO line VALUES ('sqlite');
         PRAGMA wal_checkpoint(TRUNCATE)",
    )?;
    connection.query_row("SELECT text FROM line", [], |row| row.get::<_, String>(0))?;
    Ok(())
}

#[test]
fn every_change_of_every_library_is_recorded() {
    let (_place, root) = folder();
    let (recording, before) = Recording::start(&root).unwrap();
    change(&root).unwrap();
    let seen = recording.take_seen();
    let steps = recording.finish();
    for kind in CallKind::ALL {
        for (library, own) in [("std", "std"), ("rustix", "rustix"), ("sqlite", "sqlite.db")] {
            let is_there = seen.iter().any(|call| call.kind == kind && call.path.to_string_lossy().starts_with(own));
            let is_expected = match library {
                "std" => true,
                "rustix" => !matches!(kind, CallKind::Read | CallKind::Truncate),
                _ => !matches!(kind, CallKind::Rename | CallKind::CreateFolder),
            };
            assert!(is_there || !is_expected, "{library} was not seen to {kind:?}: {seen:#?}");
        }
    }
    assert!(steps.contains(&Step::SyncAll) && steps.contains(&Step::SyncFolder("std".into())), "{steps:#?}");
    // The model, with everything written, has what the file system has.
    let mut disk = Disk::new(before, Rules { is_journaled: false, failed_sync_loses: true });
    steps.iter().for_each(|step| disk.apply(step));
    let image = disk.image(Style::Everything, &mut |_| 0);
    let mut names: Vec<PathBuf> = Vec::new();
    for path in quipu_testkit::files_below(&root) {
        let below = path.strip_prefix(&root).unwrap();
        assert_eq!(image.file(below), Some(fs::read(&path).unwrap().as_slice()), "{}", below.display());
        names.push(below.to_owned());
    }
    assert_eq!(image.names.into_keys().collect::<Vec<_>>(), names);
}

#[test]
fn every_kind_of_call_can_fail() {
    for kind in CallKind::ALL {
        for fault in [CallFault::Io, CallFault::Full, CallFault::TooManyFiles] {
            let (_place, root) = folder();
            let (recording, _) = Recording::start(&root).unwrap();
            recording.fail(Some(Plan { kind: Some(kind), after: 0, times: 1, fault }));
            let outcome = change(&root);
            assert_eq!(recording.take_seen().iter().filter(|call| call.is_failed).count(), 1, "{kind:?}");
            let error = outcome.unwrap_err().to_string();
            assert!(error.contains("os error") || error.contains("I/O"), "{kind:?}: {error}");
        }
    }
    // Interrupted and short calls are repeated by their callers.
    for fault in [CallFault::Interrupted, CallFault::Short] {
        let (_place, root) = folder();
        let (recording, _) = Recording::start(&root).unwrap();
        recording.fail(Some(Plan { kind: Some(CallKind::Write), after: 0, times: 1, fault }));
        change(&root).unwrap();
        assert_eq!(recording.take_seen().iter().filter(|call| call.is_failed).count(), 1);
    }
}
