//! Files that people upload to import them: held in memory until they are confirmed, and what became of them.
//!
//! Nothing is written to disk. A file is dropped when its import begins or is given up, when its user is deleted, after
//! some time, or when newer files need its place.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use data_encoding::HEXLOWER;
use quipu_core::id::UserId;
use quipu_engine::ports::Entropy;
use quipu_engine::{Error, IngestReport, Progress};
use tokio::time::Instant;

use crate::imports::ImportChoices;
use crate::word_caches::{Gone, WordCache};

/// Most files held at a time; beyond that, the oldest one that waits is dropped.
pub(super) const WAITING_MAX: usize = 4;
/// How long a file waits to be confirmed.
pub(super) const WAITS_FOR: Duration = Duration::from_secs(30 * 60);
/// Most ended imports whose result is shown.
const ENDED_MAX: usize = 32;

/// A file that was uploaded.
pub(super) struct Upload {
    pub(super) id: String,
    pub(super) user: UserId,
    /// Name of the file.
    pub(super) name: String,
    pub(super) bytes: usize,
    since: Instant,
    /// Counts what changed, for those who listen.
    pub(super) steps: Arc<AtomicU64>,
    state: Mutex<UploadState>,
}

/// What an import with some choices would do, or why it cannot be done.
pub(super) type Looked = (ImportChoices, Result<Box<IngestReport>, String>);

/// What became of a file.
#[derive(Clone)]
pub(super) enum UploadState {
    /// It waits for a person's decision.
    Waiting { content: Bytes, looked: Option<Looked> },
    /// It is being imported.
    Running { choices: ImportChoices, total: u64, progress: Progress },
    /// It is imported, or the import failed.
    Ended { choices: ImportChoices, report: Option<Box<IngestReport>>, fault: Option<String> },
}

impl Upload {
    fn locked(&self) -> MutexGuard<'_, UploadState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn state(&self) -> UploadState {
        self.locked().clone()
    }

    /// How often something changed.
    pub(super) fn step(&self) -> u64 {
        self.steps.load(Ordering::SeqCst)
    }

    /// Keeps what was seen of a file that waits.
    pub(super) fn look(&self, choices: ImportChoices, seen: Result<Box<IngestReport>, String>) -> Result<(), Error> {
        let UploadState::Waiting { looked, .. } = &mut *self.locked() else { return Err(is_begun()) };
        *looked = Some((choices, seen));
        Ok(())
    }

    /// Takes the file to import it, once.
    pub(super) fn begin(&self, choices: &ImportChoices, total: u64) -> Result<Bytes, Error> {
        let mut state = self.locked();
        let UploadState::Waiting { content, .. } = &*state else {
            return Err(is_begun());
        };
        let content = content.clone();
        *state = UploadState::Running { choices: choices.clone(), total, progress: Progress::Imported(0) };
        drop(state);
        self.steps.fetch_add(1, Ordering::SeqCst);
        Ok(content)
    }

    pub(super) fn went_on(&self, now: Progress) {
        if let UploadState::Running { progress, .. } = &mut *self.locked() {
            *progress = now;
        }
        self.steps.fetch_add(1, Ordering::SeqCst);
    }

    /// Ends the import when it is dropped, whatever happened.
    pub(super) fn ends(self: Arc<Self>) -> RunningImport {
        RunningImport(self)
    }

    fn end(&self, done: Option<Box<IngestReport>>, failed: Option<String>) {
        let mut state = self.locked();
        if let UploadState::Running { choices, .. } = &*state {
            *state = UploadState::Ended { choices: choices.clone(), report: done, fault: failed };
        }
        drop(state);
        self.steps.fetch_add(1, Ordering::SeqCst);
    }

    fn is_waiting(&self) -> bool {
        matches!(*self.locked(), UploadState::Waiting { .. })
    }

    fn is_running(&self) -> bool {
        matches!(*self.locked(), UploadState::Running { .. })
    }
}

/// The file does not wait any more.
pub(super) fn is_begun() -> Error {
    Error::Conflict("this file is imported already: load its page again".to_owned())
}

/// An import that runs.
pub(super) struct RunningImport(Arc<Upload>);

impl RunningImport {
    /// Ends it with its result.
    pub(super) fn with(self, report: Option<IngestReport>, fault: Option<String>) {
        self.0.end(report.map(Box::new), fault);
    }
}

impl Drop for RunningImport {
    fn drop(&mut self) {
        if self.0.is_running() {
            let why = "the import stopped by an error of Quipu; importing the file again continues it";
            self.0.end(None, Some(why.to_owned()));
        }
    }
}

/// All uploads of this process, oldest first.
pub(crate) struct Uploads {
    entropy: Arc<dyn Entropy>,
    waits_for: Duration,
    all: Mutex<Vec<Arc<Upload>>>,
}

impl Uploads {
    pub(crate) fn new(entropy: Arc<dyn Entropy>) -> Self {
        Self { entropy, waits_for: WAITS_FOR, all: Mutex::default() }
    }

    fn all(&self) -> MutexGuard<'_, Vec<Arc<Upload>>> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| !one.is_waiting() || one.since.elapsed() < self.waits_for);
        all
    }

    /// Holds a file until it is confirmed.
    pub(super) fn hold(&self, user: &UserId, name: &str, content: Bytes) -> Arc<Upload> {
        let mut id = [0u8; 12];
        self.entropy.fill(&mut id);
        let upload = Arc::new(Upload {
            id: HEXLOWER.encode(&id),
            user: user.clone(),
            name: name.to_owned(),
            bytes: content.len(),
            since: Instant::now(),
            steps: Arc::default(),
            state: Mutex::new(UploadState::Waiting { content, looked: None }),
        });
        let mut all = self.all();
        all.push(upload.clone());
        trim(&mut all, WAITING_MAX, Upload::is_waiting);
        trim(&mut all, ENDED_MAX, |one| !one.is_waiting() && !one.is_running());
        upload
    }

    /// An upload of a user.
    pub(super) fn of(&self, user: &UserId, id: &str) -> Option<Arc<Upload>> {
        self.all().iter().find(|one| one.user == *user && one.id == id).cloned()
    }

    /// The uploads of a user, newest first.
    pub(super) fn of_user(&self, user: &UserId) -> Vec<Arc<Upload>> {
        self.all().iter().rev().filter(|one| one.user == *user).cloned().collect()
    }

    pub(super) fn drop_one(&self, upload: &Upload) {
        self.all().retain(|one| one.id != upload.id || one.is_running());
    }

    /// True while a file is imported into a user's memory.
    pub(super) fn is_importing(&self, user: &UserId) -> bool {
        self.all().iter().any(|one| one.user == *user && one.is_running())
    }
}

/// Drops the oldest of a kind until at most so many are left.
fn trim(all: &mut Vec<Arc<Upload>>, most: usize, is_of_kind: impl Fn(&Upload) -> bool) {
    let mut over = all.iter().filter(|one| is_of_kind(one)).count().saturating_sub(most);
    all.retain(|one| {
        let goes = over > 0 && is_of_kind(one);
        over -= usize::from(goes);
        !goes
    });
}

impl WordCache for Uploads {
    /// A file that waits is not recorded yet, so an erasure does not affect it; the notices of an ended import may
    /// quote what was erased.
    fn forget(&self, user: &UserId, gone: Gone) {
        self.all().retain(|one| one.user != *user || (gone == Gone::Erased && one.is_waiting()) || one.is_running());
    }

    #[cfg(test)]
    fn held(&self, user: &UserId) -> usize {
        self.of_user(user).len()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests {
    use super::*;

    struct Counting(AtomicU64);

    impl Entropy for Counting {
        fn fill(&self, bytes: &mut [u8]) {
            let number = self.0.fetch_add(1, Ordering::SeqCst).to_be_bytes();
            bytes.iter_mut().zip(number.iter().cycle()).for_each(|(byte, part)| *byte = *part);
        }
    }

    fn user(name: &str) -> UserId {
        UserId::parse(name).unwrap()
    }

    fn uploads() -> Uploads {
        Uploads::new(Arc::new(Counting(0.into())))
    }

    fn text() -> ImportChoices {
        ImportChoices::of(quipu_engine::import::ImportFormat::Text)
    }

    #[tokio::test]
    async fn few_files_wait_and_the_oldest_gives_way() {
        let uploads = uploads();
        let first = uploads.hold(&user("ines"), "a", Bytes::from_static(b"a"));
        first.begin(&text(), 1).unwrap();
        let second = uploads.hold(&user("ines"), "b", Bytes::from_static(b"b"));
        for _ in 0..WAITING_MAX {
            uploads.hold(&user("otto"), "c", Bytes::from_static(b"c"));
        }
        assert!(uploads.of(&user("ines"), &first.id).is_some(), "it is being imported");
        assert!(uploads.of(&user("ines"), &second.id).is_none());
        assert_eq!(uploads.of_user(&user("otto")).len(), WAITING_MAX);
        assert!(uploads.is_importing(&user("ines")) && !uploads.is_importing(&user("otto")));
        uploads.drop_one(&first);
        assert!(uploads.of(&user("ines"), &first.id).is_some(), "what runs cannot be given up");
    }

    #[tokio::test]
    async fn a_file_is_of_one_user_is_begun_once_and_goes_with_its_user() {
        let uploads = uploads();
        let one = uploads.hold(&user("ines"), "a", Bytes::from_static(b"a"));
        assert!(uploads.of(&user("otto"), &one.id).is_none());
        uploads.forget(&user("ines"), Gone::Erased);
        assert_eq!(uploads.held(&user("ines")), 1, "it is not recorded yet");
        assert_eq!(one.begin(&text(), 1).unwrap(), "a");
        assert!(matches!(one.begin(&text(), 1), Err(Error::Conflict(_))));
        drop(one.clone().ends());
        assert!(matches!(one.state(), UploadState::Ended { fault: Some(_), .. }), "an import that stops has failed");
        uploads.forget(&user("ines"), Gone::Erased);
        assert_eq!(uploads.held(&user("ines")), 0);
        uploads.hold(&user("ines"), "a", Bytes::from_static(b"a"));
        uploads.forget(&user("otto"), Gone::Deleted);
        assert_eq!(uploads.held(&user("ines")), 1);
        uploads.forget(&user("ines"), Gone::Deleted);
        assert_eq!(uploads.held(&user("ines")), 0);
    }

    #[tokio::test]
    async fn a_file_waits_for_some_time_only() {
        let uploads = Uploads { waits_for: Duration::ZERO, ..uploads() };
        let one = uploads.hold(&user("ines"), "a", Bytes::from_static(b"a"));
        assert!(uploads.of(&user("ines"), &one.id).is_none());
    }
}
