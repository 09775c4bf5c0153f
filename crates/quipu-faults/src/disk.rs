//! The model of a disk that loses power.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::step::{FileId, Step};

/// The unit that a disk writes wholly or not at all, in bytes.
const SECTOR: u64 = 512;

/// The content of a folder.
#[derive(Debug, Clone, Default)]
pub struct Image {
    /// Folders, relative to the root.
    pub folders: BTreeSet<PathBuf>,
    /// Files by name.
    pub names: BTreeMap<PathBuf, FileId>,
    /// Contents of files, also of those without a name.
    pub content: BTreeMap<FileId, Arc<Vec<u8>>>,
}

impl Image {
    /// The content of a file.
    pub fn file(&self, path: &Path) -> Option<&[u8]> {
        let named = self.names.get(path)?;
        Some(self.content.get(named).map_or(&[], |bytes| bytes.as_slice()))
    }

    /// Writes the image into an empty folder. Files and folders below a folder that is not in the image are left out.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write_to(&self, root: &Path) -> io::Result<()> {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        for folder in &self.folders {
            match fs::DirBuilder::new().mode(0o700).create(root.join(folder)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        for (path, file) in &self.names {
            let path = root.join(path);
            if !path.parent().is_some_and(Path::is_dir) {
                continue;
            }
            let mut opened = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
            opened.write_all(self.content.get(file).map_or(&[], |bytes| bytes.as_slice()))?;
        }
        Ok(())
    }

    fn change(&mut self, file: FileId, change: &Change) {
        let bytes = Arc::make_mut(self.content.entry(file).or_default());
        match change {
            Change::Truncate(length) => bytes.resize(usize_of(*length), 0),
            Change::Write(at, new) => put(bytes, *at, new),
        }
    }

    fn name(&mut self, change: &NameChange) {
        match change {
            NameChange::Folder(path) => drop(self.folders.insert(path.clone())),
            NameChange::Name(path, file) => drop(self.names.insert(path.clone(), *file)),
            NameChange::Move(from, to, file) => {
                if self.names.get(from) == Some(file) {
                    self.names.remove(from);
                }
                self.names.insert(to.clone(), *file);
            }
            NameChange::Remove(path) => {
                self.names.remove(path);
                self.folders.remove(path);
            }
        }
    }
}

fn usize_of(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn put(bytes: &mut Vec<u8>, at: u64, new: &[u8]) {
    let start = usize_of(at);
    let end = start + new.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    if let Some(old) = bytes.get_mut(start..end) {
        old.copy_from_slice(new);
    }
}

#[derive(Debug, Clone)]
enum Change {
    Write(u64, Arc<[u8]>),
    Truncate(u64),
}

#[derive(Debug, Clone)]
enum NameChange {
    Folder(PathBuf),
    Name(PathBuf, FileId),
    Move(PathBuf, PathBuf, FileId),
    Remove(PathBuf),
}

impl NameChange {
    fn paths(&self) -> impl Iterator<Item = &Path> {
        let (first, second) = match self {
            Self::Folder(path) | Self::Name(path, _) | Self::Remove(path) => (path, None),
            Self::Move(from, to, _) => (from, Some(to)),
        };
        std::iter::once(first).chain(second).map(PathBuf::as_path)
    }

    fn is_in(&self, folder: &Path) -> bool {
        self.paths().any(|path| path.parent() == Some(folder))
    }
}

/// A change that no sync has ordered yet.
#[derive(Debug, Clone)]
enum Pending {
    Data(FileId, Change),
    Name(NameChange),
}

/// What a file system promises beyond POSIX.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// Every sync makes all earlier changes of names durable, in their order, as the journals of ext4 and XFS do.
    /// Otherwise only a sync of the folder does.
    pub is_journaled: bool,
    /// A failed sync throws away what was to be synced, as some systems do. Otherwise it stays unordered.
    pub failed_sync_loses: bool,
}

/// Which of the changes that no sync has ordered are in an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// None.
    Nothing,
    /// All, as after the death of the process alone.
    Everything,
    /// The first ones, the last of which is torn.
    Prefix,
    /// Any, sector by sector and name by name.
    Reordered,
    /// All names, and no content.
    NamesOnly,
    /// All content, and no names.
    ContentOnly,
    /// All names and lengths, with zeros in the place of the content.
    LengthsOnly,
}

impl Style {
    /// Every style.
    pub const ALL: [Self; 7] = [
        Self::Nothing,
        Self::Everything,
        Self::Prefix,
        Self::Reordered,
        Self::NamesOnly,
        Self::ContentOnly,
        Self::LengthsOnly,
    ];
}

/// Chooses a number below its argument.
pub type Choose<'a> = dyn FnMut(usize) -> usize + 'a;

/// A disk to which recorded steps are applied one after the other.
#[derive(Debug, Clone)]
pub struct Disk {
    rules: Rules,
    durable: Image,
    pending: Vec<Pending>,
}

impl Disk {
    /// A disk with this durable content.
    pub fn new(before: Image, rules: Rules) -> Self {
        Self { rules, durable: before, pending: Vec::new() }
    }

    /// The number of changes that no sync has ordered.
    pub fn unordered(&self) -> usize {
        self.pending.len()
    }

    /// Applies the next step.
    pub fn apply(&mut self, step: &Step) {
        let name = |change| Pending::Name(change);
        match step {
            Step::Create(path, file) | Step::Link(path, file) => {
                self.pending.push(name(NameChange::Name(path.clone(), *file)));
            }
            Step::CreateFolder(path) => self.pending.push(name(NameChange::Folder(path.clone()))),
            Step::Rename(from, to, file) => {
                self.pending.push(name(NameChange::Move(from.clone(), to.clone(), *file)));
            }
            Step::Remove(path) => self.pending.push(name(NameChange::Remove(path.clone()))),
            Step::Write(file, at, bytes) => {
                self.pending.push(Pending::Data(*file, Change::Write(*at, Arc::clone(bytes))));
            }
            Step::Truncate(file, length) => self.pending.push(Pending::Data(*file, Change::Truncate(*length))),
            Step::Sync(file) => {
                self.settle(|pending| matches!(pending, Pending::Data(of, _) if of == file));
                if self.rules.is_journaled {
                    self.settle(|pending| matches!(pending, Pending::Name(_)));
                }
            }
            Step::FailedSync(file) if self.rules.failed_sync_loses => {
                self.pending.retain(|pending| !matches!(pending, Pending::Data(of, _) if of == file));
            }
            Step::FailedSync(_) => {}
            Step::SyncFolder(_) if self.rules.is_journaled => {
                self.settle(|pending| matches!(pending, Pending::Name(_)));
            }
            Step::SyncFolder(folder) => {
                let chosen: Vec<bool> = (self.pending.iter())
                    .map(|pending| matches!(pending, Pending::Name(change) if change.is_in(folder)))
                    .collect();
                let chosen = with_earlier(&self.pending, chosen);
                let mut chosen = chosen.into_iter();
                self.settle(|_| chosen.next().unwrap_or(false));
            }
            Step::SyncAll => self.settle(|_| true),
        }
    }

    /// Makes the chosen changes durable, in their order.
    fn settle(&mut self, mut is_chosen: impl FnMut(&Pending) -> bool) {
        let durable = &mut self.durable;
        self.pending.retain(|pending| {
            let chosen = is_chosen(pending);
            if chosen {
                make(durable, pending);
            }
            !chosen
        });
    }

    /// What a power failure leaves at this moment.
    pub fn image(&self, style: Style, choose: &mut Choose<'_>) -> Image {
        let mut image = self.durable.clone();
        match style {
            Style::Nothing => {}
            Style::Everything => self.pending.iter().for_each(|pending| make(&mut image, pending)),
            Style::Prefix => {
                let whole = choose(self.pending.len() + 1);
                self.pending.iter().take(whole).for_each(|pending| make(&mut image, pending));
                if let Some(Pending::Data(file, change)) = self.pending.get(whole) {
                    torn(&mut image, *file, change, 2, choose);
                }
            }
            Style::Reordered => {
                // One change in `odds` is lost, or all but one.
                let odds = [2, 2, 8, 30].get(choose(4)).copied().unwrap_or(2);
                let is_mostly_lost = choose(2) == 0;
                let is_kept = |choose: &mut Choose<'_>| (choose(odds) == 0) == is_mostly_lost;
                let chosen = self.pending.iter().map(|_| is_kept(choose)).collect();
                let chosen = with_earlier(&self.pending, chosen);
                for (pending, chosen) in self.pending.iter().zip(chosen) {
                    match pending {
                        Pending::Name(_) if chosen => make(&mut image, pending),
                        Pending::Name(_) => {}
                        Pending::Data(file, change) => torn(&mut image, *file, change, odds, choose),
                    }
                }
            }
            Style::NamesOnly | Style::ContentOnly => {
                for pending in &self.pending {
                    if matches!(pending, Pending::Name(_)) == (style == Style::NamesOnly) {
                        make(&mut image, pending);
                    }
                }
            }
            Style::LengthsOnly => {
                for pending in &self.pending {
                    match pending {
                        Pending::Data(file, Change::Write(at, bytes)) => {
                            let end = at + bytes.len() as u64;
                            let now = image.content.get(file).map_or(0, |bytes| bytes.len() as u64);
                            if end > now {
                                image.change(*file, &Change::Truncate(end));
                            }
                        }
                        other => make(&mut image, other),
                    }
                }
            }
        }
        image
    }
}

fn make(image: &mut Image, pending: &Pending) {
    match pending {
        Pending::Data(file, change) => image.change(*file, change),
        Pending::Name(change) => image.name(change),
    }
}

/// Adds to the chosen changes of names all earlier ones of the same names: a name is never older than what was made of it.
fn with_earlier(pending: &[Pending], mut chosen: Vec<bool>) -> Vec<bool> {
    let mut wanted: BTreeSet<&Path> = BTreeSet::new();
    for (pending, chosen) in pending.iter().zip(&mut chosen).rev() {
        let Pending::Name(change) = pending else { continue };
        *chosen |= change.paths().any(|path| wanted.contains(path));
        if *chosen {
            wanted.extend(change.paths());
        }
    }
    chosen
}

/// Applies a random part of a change: each sector with probability 1 in `odds`, or all but that.
fn torn(image: &mut Image, file: FileId, change: &Change, odds: usize, choose: &mut Choose<'_>) {
    let is_mostly_lost = choose(2) == 0;
    let mut is_kept = || (choose(odds) == 0) == is_mostly_lost;
    match change {
        Change::Truncate(_) => {
            if is_kept() {
                image.change(file, change);
            }
        }
        Change::Write(at, bytes) => {
            let mut start = *at;
            let end = at + bytes.len() as u64;
            while start < end {
                let next = ((start / SECTOR + 1) * SECTOR).min(end);
                if is_kept() {
                    let part = bytes.get(usize_of(start - at)..usize_of(next - at)).unwrap_or_default();
                    image.change(file, &Change::Write(start, part.into()));
                }
                start = next;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POSIX: Rules = Rules { is_journaled: false, failed_sync_loses: true };

    fn image(rules: Rules, steps: &[Step], style: Style) -> Image {
        let mut disk = Disk::new(Image::default(), rules);
        steps.iter().for_each(|step| disk.apply(step));
        disk.image(style, &mut |_| 0)
    }

    fn path(name: &str) -> PathBuf {
        name.into()
    }

    fn write(at: u64, length: usize) -> Step {
        Step::Write(0, at, vec![7; length].into())
    }

    #[test]
    fn only_what_a_sync_covers_is_durable() {
        let named = [Step::Create(path("a"), 0), write(0, 600), Step::Sync(0)];
        assert!(image(POSIX, &named, Style::Nothing).names.is_empty(), "the folder was not synced");
        let journaled = Rules { is_journaled: true, ..POSIX };
        assert_eq!(image(journaled, &named, Style::Nothing).file(Path::new("a")), Some([7; 600].as_slice()));
        let synced = [&named[..], &[Step::SyncFolder(path("")), write(600, 600)]].concat();
        assert_eq!(image(POSIX, &synced, Style::Nothing).file(Path::new("a")), Some([7; 600].as_slice()));
        assert_eq!(image(POSIX, &synced, Style::Everything).file(Path::new("a")), Some([7; 1200].as_slice()));
        let lengths = [[7; 600], [0; 600]].concat();
        assert_eq!(image(POSIX, &synced, Style::LengthsOnly).file(Path::new("a")), Some(lengths.as_slice()));
    }

    #[test]
    fn a_failed_sync_loses_what_it_was_to_make_durable_for_good() {
        let steps =
            [Step::Create(path("a"), 0), Step::SyncFolder(path("")), write(0, 9), Step::FailedSync(0), Step::Sync(0)];
        assert_eq!(image(POSIX, &steps, Style::Everything).file(Path::new("a")), Some([].as_slice()));
        let kept = Rules { failed_sync_loses: false, ..POSIX };
        assert_eq!(image(kept, &steps, Style::Nothing).file(Path::new("a")), Some([7; 9].as_slice()));
    }

    #[test]
    fn a_write_is_torn_between_sectors_only() {
        let mut disk = Disk::new(Image::default(), POSIX);
        for step in [Step::Create(path("a"), 0), Step::SyncFolder(path("")), Step::Truncate(0, 1536), Step::Sync(0)] {
            disk.apply(&step);
        }
        disk.apply(&write(100, 1300));
        let mut seed = 0_usize;
        let mut kinds = BTreeSet::new();
        for _ in 0..300 {
            let image = disk.image(Style::Reordered, &mut |below| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (seed >> 33) % below
            });
            let bytes = image.file(Path::new("a")).unwrap_or_default();
            let parts = [&bytes[100..512], &bytes[512..1024], &bytes[1024..1400]];
            for part in parts {
                assert!(part.iter().all(|byte| *byte == part[0]), "torn within a sector");
            }
            assert!(bytes[..100].iter().chain(&bytes[1400..]).all(|byte| *byte == 0));
            kinds.insert(parts.map(|part| part[0]));
        }
        assert_eq!(kinds.len(), 8, "every part with and without the others");
    }

    #[test]
    fn a_rename_is_durable_with_what_it_moves_or_not_at_all() {
        let steps = [
            Step::CreateFolder(path("x")),
            Step::CreateFolder(path("y")),
            Step::SyncFolder(path("")),
            Step::Create(path("x/new"), 0),
            Step::Rename(path("x/new"), path("y/name"), 0),
        ];
        assert!(image(POSIX, &steps, Style::Nothing).names.is_empty());
        let synced = [&steps[..], &[Step::SyncFolder(path("y"))]].concat();
        let names = image(POSIX, &synced, Style::Nothing).names;
        assert_eq!(names.into_keys().collect::<Vec<_>>(), [path("y/name")]);
    }
}
