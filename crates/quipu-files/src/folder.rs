//! A vault in a folder, with one folder for each user.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use quipu_core::artifact::{VaultPath, folder_of};
use quipu_core::id::UserId;
use quipu_core::limit;
use quipu_engine::ports::{FolderEntry, UserVault, Vault, VaultError};
use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::fs::{flock, fstat, fsync, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

use crate::{fault, tree};

/// Suffix of an incomplete file.
const UNFINISHED: &str = ".partial";
/// With more files than this, the whole file system is synced once instead of each file.
const SINGLY_MAX: usize = 16;

/// Number of attempts to lock a folder that another process writes to: 30 seconds in total.
const LOCK_TRIES: u32 = 1_500;
const LOCK_PAUSE: Duration = Duration::from_millis(20);

const FOLDER_MODE: Mode = Mode::RWXU;
const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);

type Result<T> = std::result::Result<T, VaultError>;

/// A folder with one folder for each user.
#[derive(Debug)]
pub struct FolderVault {
    root: PathBuf,
}

impl FolderVault {
    /// Creates nothing until the first user is opened.
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Opens the root folder. It may be a link, since the user configured it.
    fn root(&self, create: bool) -> Result<Option<OwnedFd>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match rustix::fs::open(&self.root, flags, Mode::empty()) {
            Ok(root) => Ok(Some(root)),
            Err(Errno::NOENT) if create => {
                create_durably(&self.root).map_err(|error| {
                    VaultError::Unavailable(format!("cannot make the folder {}: {error}", self.root.display()))
                })?;
                let opened = rustix::fs::open(&self.root, flags, Mode::empty());
                opened.map(Some).map_err(|errno| fault::of(&self.root, "open", errno))
            }
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(fault::of(&self.root, "open", errno)),
        }
    }
}

/// Creates a folder and its missing parents for this user alone, and makes each name durable.
fn create_durably(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.is_dir();
    let mut missing: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
    while let Some(folder) = missing.pop() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let above = folder.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(above).and_then(|above| above.sync_all()).inspect_err(|_| {
            // Otherwise the next attempt would find the folder and take its name for durable.
            let _ = std::fs::remove_dir(folder);
        })?;
    }
    Ok(())
}

impl Vault for FolderVault {
    fn open(&self, user: &UserId, create: bool) -> Result<Option<Box<dyn UserVault>>> {
        let Some(root) = self.root(create)? else { return Ok(None) };
        let name = folder_of(user);
        let place = self.root.join(&name);
        let folder = match tree::enter(root.as_fd(), &name) {
            Err(Errno::NOENT) if create => made(root.as_fd(), &name, &place)?,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(fault::of(&place, "open", errno)),
            Ok(folder) => folder,
        };
        Ok(Some(Box::new(UserFolder { root, name, place, folder })))
    }
}

/// The open folder of one user.
#[derive(Debug)]
struct UserFolder {
    root: OwnedFd,
    name: String,
    place: PathBuf,
    folder: OwnedFd,
}

/// Creates a folder in another one, durably, and opens it.
fn made(above: BorrowedFd<'_>, name: &str, place: &Path) -> Result<OwnedFd> {
    match mkdirat(above, name, FOLDER_MODE) {
        Ok(()) => fsync(above).map_err(|errno| {
            // Otherwise the next attempt would find the folder and take its name for durable.
            let _ = unlinkat(above, name, AtFlags::REMOVEDIR);
            fault::of(place, "make durable", errno)
        })?,
        Err(Errno::EXIST) => {}
        Err(errno) => return Err(fault::of(place, "make", errno)),
    }
    tree::enter(above, name).map_err(|errno| fault::of(place, "open", errno))
}

/// Makes everything written to a file system durable at once.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn flush(folder: &OwnedFd) -> rustix::io::Result<bool> {
    rustix::fs::syncfs(folder).map(|()| true)
}

/// Other systems have no such call.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn flush(_: &OwnedFd) -> rustix::io::Result<bool> {
    Ok(false)
}

/// The folders of a path, and its last component.
fn split(path: &VaultPath) -> (Vec<&str>, &str) {
    let mut parts: Vec<&str> = path.parts().collect();
    let name = parts.pop().unwrap_or_default();
    (parts, name)
}

impl UserFolder {
    /// Whether the path still leads to this open folder.
    fn is_in_place(&self) -> rustix::io::Result<bool> {
        let there = match statat(&self.root, self.name.as_str(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(there) => there,
            Err(Errno::NOENT) => return Ok(false),
            Err(errno) => return Err(errno),
        };
        let own = fstat(&self.folder)?;
        Ok((there.st_dev, there.st_ino) == (own.st_dev, own.st_ino))
    }

    fn at(&self, path: &VaultPath) -> PathBuf {
        self.place.join(path.as_str())
    }

    /// Opens a nested folder; `None` if a part is missing and `create` is off.
    fn descend(&self, parts: &[&str], create: bool) -> Result<Option<OwnedFd>> {
        let mut place = self.place.clone();
        let again = |errno| fault::of(&self.place, "open", errno);
        let mut folder =
            self.folder.try_clone().map_err(|error| again(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
        for part in parts {
            place.push(part);
            folder = match tree::enter(folder.as_fd(), part) {
                Ok(below) => below,
                Err(Errno::NOENT) if create => made(folder.as_fd(), part, &place)?,
                Err(Errno::NOENT) => return Ok(None),
                Err(errno) => return Err(fault::of(&place, "open", errno)),
            };
        }
        Ok(Some(folder))
    }

    /// Opens the parent folder of a file, creating it if necessary.
    fn parent(&self, path: &VaultPath) -> Result<OwnedFd> {
        let (parts, _) = split(path);
        let gone = || fault::of(&self.at(path), "open", Errno::NOENT);
        self.descend(&parts, true)?.ok_or_else(gone)
    }

    /// Writes the content to a temporary file beside the target.
    fn prepare(&self, parent: BorrowedFd<'_>, path: &VaultPath, bytes: &[u8], sync: bool) -> Result<()> {
        let (_, name) = split(path);
        let wrong = |errno| fault::of(&self.at(path), "write", errno);
        match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => match FileType::from_raw_mode(found.st_mode) {
                FileType::RegularFile => {}
                FileType::Directory => return Err(wrong(Errno::ISDIR)),
                _ => return Err(wrong(Errno::LOOP)),
            },
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(wrong(errno)),
        }
        let partial = partial(name);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = match openat(parent, partial.as_str(), flags, FILE_MODE) {
            // Left by a process that died, or a planted link. Only the name is removed; the target of a link stays.
            Err(Errno::EXIST) => unlinkat(parent, partial.as_str(), AtFlags::empty())
                .and_then(|()| openat(parent, partial.as_str(), flags, FILE_MODE)),
            other => other,
        };
        let mut file = File::from(opened.map_err(wrong)?);
        let failed = |error: std::io::Error| wrong(Errno::from_io_error(&error).unwrap_or(Errno::IO));
        let written = file.write_all(bytes).and_then(|()| if sync { file.sync_all() } else { Ok(()) });
        written.map_err(|error| {
            let _ = unlinkat(parent, partial.as_str(), AtFlags::empty());
            failed(error)
        })
    }

    fn put_in_place(&self, parent: BorrowedFd<'_>, path: &VaultPath) -> Result<()> {
        let (_, name) = split(path);
        renameat(parent, partial(name).as_str(), parent, name)
            .map_err(|errno| fault::of(&self.at(path), "put in place", errno))
    }

    /// Writes a few files, syncing each.
    fn write_singly(&self, files: &[(VaultPath, Vec<u8>)]) -> Result<()> {
        for (path, bytes) in files {
            let parent = self.parent(path)?;
            self.prepare(parent.as_fd(), path, bytes, true)?;
            self.put_in_place(parent.as_fd(), path)?;
            fsync(&parent).map_err(|errno| fault::of(&self.at(path), "make durable", errno))?;
        }
        Ok(())
    }

    /// Writes many files. All contents are durable before the first rename, and all renames before the return.
    fn write_together(&self, files: &[(VaultPath, Vec<u8>)]) -> Result<bool> {
        let durable = || flush(&self.folder).map_err(|errno| fault::of(&self.place, "make durable", errno));
        for (path, bytes) in files {
            self.prepare(self.parent(path)?.as_fd(), path, bytes, false)?;
        }
        if !durable()? {
            return Ok(false);
        }
        for (path, _) in files {
            self.put_in_place(self.parent(path)?.as_fd(), path)?;
        }
        durable()
    }
}

fn partial(name: &str) -> String {
    format!(".{name}{UNFINISHED}")
}

impl UserVault for UserFolder {
    fn place(&self) -> PathBuf {
        self.place.clone()
    }

    fn alone(&self) -> Result<bool> {
        for _ in 0..LOCK_TRIES {
            match flock(&self.folder, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return self.is_in_place().map_err(|errno| fault::of(&self.place, "look at", errno)),
                Err(Errno::WOULDBLOCK | Errno::INTR) => std::thread::sleep(LOCK_PAUSE),
                Err(errno) => return Err(fault::of(&self.place, "lock", errno)),
            }
        }
        let place = self.place.display();
        Err(VaultError::Unavailable(format!("another process goes on writing in {place}; try again")))
    }

    fn read(&mut self, path: &VaultPath) -> Result<Option<Vec<u8>>> {
        let (parts, name) = split(path);
        let Some(parent) = self.descend(&parts, false)? else { return Ok(None) };
        let wrong = |errno| fault::of(&self.at(path), "read", errno);
        // Non-blocking, so that a pipe in place of a file does not block the caller.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(&parent, name, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(wrong(errno)),
        };
        let found = fstat(&file).map_err(wrong)?;
        let size = u64::try_from(found.st_size).unwrap_or(0);
        match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile if size <= limit::VAULT_FILE_BYTES_MAX => {}
            FileType::RegularFile => {
                let text = format!("{} has {size} bytes; no file of Quipu's is so large", self.at(path).display());
                return Err(VaultError::Refused(text));
            }
            FileType::Directory => return Err(wrong(Errno::ISDIR)),
            _ => return Err(wrong(Errno::LOOP)),
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        let read = File::from(file).take(limit::VAULT_FILE_BYTES_MAX).read_to_end(&mut bytes);
        read.map_err(|error| wrong(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
        Ok(Some(bytes))
    }

    fn list(&mut self, folder: Option<&VaultPath>) -> Result<Vec<FolderEntry>> {
        let parts: Vec<&str> = folder.into_iter().flat_map(VaultPath::parts).collect();
        let Some(opened) = self.descend(&parts, false)? else { return Ok(Vec::new()) };
        let found = tree::names(opened.as_fd()).map_err(|errno| fault::of(&self.place, "list", errno))?;
        let named = found.into_iter().filter_map(|(name, kind)| {
            let name = name.into_string().ok()?;
            let kept = matches!(kind, FileType::RegularFile | FileType::Directory) && VaultPath::parse(&name).is_ok();
            kept.then_some(FolderEntry { name, is_folder: kind == FileType::Directory })
        });
        Ok(named.collect::<BTreeSet<FolderEntry>>().into_iter().collect())
    }

    fn write(&mut self, files: &[(VaultPath, Vec<u8>)]) -> Result<()> {
        if files.len() > SINGLY_MAX && self.write_together(files)? {
            return Ok(());
        }
        self.write_singly(files)
    }

    fn append(&mut self, path: &VaultPath, at: u64, bytes: &[u8]) -> Result<()> {
        let (_, name) = split(path);
        let parent = self.parent(path)?;
        let wrong = |errno| fault::of(&self.at(path), "add to", errno);
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = match openat(&parent, name, flags, Mode::empty()) {
            Err(Errno::NOENT) => {
                return Err(VaultError::Refused(format!("{} is gone", self.at(path).display())));
            }
            other => other.map_err(wrong)?,
        };
        let found = fstat(&opened).map_err(wrong)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile || u64::try_from(found.st_size) != Ok(at) {
            let text = format!("{} has {} bytes, not {at}", self.at(path).display(), found.st_size);
            return Err(VaultError::Refused(text));
        }
        let mut file = File::from(opened);
        let added = file.write_all(bytes).and_then(|()| file.sync_all());
        added.map_err(|error| wrong(Errno::from_io_error(&error).unwrap_or(Errno::IO)))
    }

    fn remove(&mut self, files: &[VaultPath]) -> Result<()> {
        for path in files {
            let (mut parts, name) = split(path);
            let Some(parent) = self.descend(&parts, false)? else { continue };
            match unlinkat(&parent, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(errno) => return Err(fault::of(&self.at(path), "remove", errno)),
            }
            let mut durable = parent;
            // Removes folders that are now empty, up to the user's own.
            while let Some(folder) = parts.pop() {
                let Some(above) = self.descend(&parts, false)? else { break };
                if unlinkat(&above, folder, AtFlags::REMOVEDIR).is_err() {
                    break;
                }
                durable = above;
            }
            if files.len() <= SINGLY_MAX {
                fsync(&durable).map_err(|errno| fault::of(&self.at(path), "make durable", errno))?;
            }
        }
        if files.len() > SINGLY_MAX {
            flush(&self.folder).map_err(|errno| fault::of(&self.place, "make durable", errno))?;
        }
        Ok(())
    }

    fn sweep(&mut self) -> Result<()> {
        let is_partial = |name: &[u8]| name.starts_with(b".") && name.ends_with(UNFINISHED.as_bytes());
        tree::sweep(self.folder.as_fd(), &is_partial, 0).map_err(|errno| fault::of(&self.place, "tidy up", errno))
    }

    fn remove_all(self: Box<Self>) -> Result<()> {
        let wrong = |errno| fault::of(&self.place, "remove", errno);
        tree::empty(self.folder.as_fd(), 0).map_err(wrong)?;
        unlinkat(&self.root, self.name.as_str(), AtFlags::REMOVEDIR).map_err(wrong)?;
        fsync(&self.root).map_err(wrong)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn one_at_a_time_writes_in_a_folder_and_one_that_is_gone_is_noticed() {
        let place = tempfile::tempdir().unwrap();
        let vault = FolderVault::new(place.path().join("vault"));
        let user = UserId::parse("ines").unwrap();
        let opened = || vault.open(&user, true).unwrap().unwrap();
        let mut first = opened();
        assert!(first.alone().unwrap());
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let second = scope.spawn(|| {
                let second = opened();
                let is_in_place = second.alone().unwrap();
                assert!(is_done.load(Ordering::SeqCst), "the first one is still writing");
                is_in_place
            });
            let path = VaultPath::parse("page.md").unwrap();
            for text in ["one", "two", "three"] {
                first.write(&[(path.clone(), text.into())]).unwrap();
                std::thread::yield_now();
            }
            is_done.store(true, Ordering::SeqCst);
            drop(first);
            assert!(second.join().unwrap());
        });
        let (gone, waiting) = (opened(), opened());
        gone.remove_all().unwrap();
        assert!(!waiting.alone().unwrap());
        assert!(opened().alone().unwrap(), "it was made anew");
    }
}
