//! Files that people upload to import them: held in memory until they are confirmed, and what became of them.
//!
//! Nothing is written to disk. A file is dropped when its import begins or is given up, when its user is deleted, after
//! some time, or when newer files need its place; a user's only file keeps its place.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use data_encoding::HEXLOWER;
use quipu_core::id::UserId;
use quipu_engine::ports::Entropy;
use quipu_engine::{Error, IngestReport, Progress};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::imports::ImportChoices;
use crate::word_caches::{Gone, WordCache};

/// Most files held at a time; beyond that, the oldest one of the user who has most of them is dropped.
pub(super) const WAITING_MAX: usize = 4;
/// How long a file waits to be confirmed.
pub(super) const WAITS_FOR: Duration = Duration::from_secs(30 * 60);
/// Most files that are received at the same time; each is held in memory.
const RECEIVED_MAX: usize = 4;
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
#[derive(Clone)]
pub(super) struct Preview {
    /// Differs from that of every earlier preview of the file. Who confirms an import names the one that was shown.
    pub(super) number: u64,
    pub(super) choices: ImportChoices,
    pub(super) seen: Result<Box<IngestReport>, String>,
}

/// What became of a file.
#[derive(Clone)]
pub(super) enum UploadState {
    /// It waits for a person's decision.
    Waiting { content: Bytes, preview: Option<Preview> },
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
        let UploadState::Waiting { preview, .. } = &mut *self.locked() else { return Err(is_begun()) };
        let number = preview.as_ref().map_or(1, |before| before.number + 1);
        *preview = Some(Preview { number, choices, seen });
        Ok(())
    }

    /// Takes the file to import it as its preview of this number says, once.
    fn begin(&self, number: u64) -> Result<(Bytes, ImportChoices), Error> {
        let mut state = self.locked();
        let UploadState::Waiting { content, preview } = &*state else { return Err(is_begun()) };
        let Some(Preview { choices, seen: Ok(report), .. }) = preview.as_ref().filter(|shown| shown.number == number)
        else {
            return Err(Error::Conflict(
                "other choices were made for this file since this page was shown: load it again, and confirm what it \
                 says"
                    .to_owned(),
            ));
        };
        let (content, choices) = (content.clone(), choices.clone());
        let total = report.conversations.iter().map(|part| part.new).sum();
        *state = UploadState::Running { choices: choices.clone(), total, progress: Progress::Imported(0) };
        drop(state);
        self.steps.fetch_add(1, Ordering::SeqCst);
        Ok((content, choices))
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
    /// Permits for files that are being received.
    pub(super) receiving: Semaphore,
    all: Mutex<Vec<Arc<Upload>>>,
}

impl Uploads {
    pub(crate) fn new(entropy: Arc<dyn Entropy>) -> Self {
        Self { entropy, waits_for: WAITS_FOR, receiving: Semaphore::new(RECEIVED_MAX), all: Mutex::default() }
    }

    fn all(&self) -> MutexGuard<'_, Vec<Arc<Upload>>> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| !one.is_waiting() || one.since.elapsed() < self.waits_for);
        all
    }

    /// Holds a file until it is confirmed.
    ///
    /// # Errors
    /// `Unavailable` if other users' files have all places and none of them has more than one.
    pub(super) fn hold(&self, user: &UserId, name: &str, content: Bytes) -> Result<Arc<Upload>, Error> {
        let mut id = [0u8; 12];
        self.entropy.fill(&mut id);
        let upload = Arc::new(Upload {
            id: HEXLOWER.encode(&id),
            user: user.clone(),
            name: name.to_owned(),
            bytes: content.len(),
            since: Instant::now(),
            steps: Arc::default(),
            state: Mutex::new(UploadState::Waiting { content, preview: None }),
        });
        let mut all = self.all();
        let waiting = || all.iter().filter(|one| one.is_waiting());
        if waiting().count() >= WAITING_MAX {
            let held = |user: &UserId| waiting().filter(|one| one.user == *user).count();
            let own = held(user);
            // The user's own files give way before those of others with as many; `max_by_key` returns the oldest of them.
            let most = waiting().rev().max_by_key(|one| (held(&one.user), one.user == *user)).cloned();
            let most = most.filter(|one| one.user == *user || held(&one.user) > own + 1);
            let most = most.ok_or_else(|| {
                Error::Unavailable("other people's files wait to be imported: try again in some minutes".to_owned())
            })?;
            all.retain(|one| one.id != most.id);
        }
        all.push(upload.clone());
        forget_ended(&mut all);
        Ok(upload)
    }

    /// Takes a file to import it as its preview of this number says. One file is imported into a memory at a time.
    ///
    /// # Errors
    /// `Conflict` if another file is being imported into the memory, if this one is already, or if its preview is another
    /// one by now.
    pub(super) fn begin(&self, upload: &Upload, number: u64) -> Result<(Bytes, ImportChoices), Error> {
        let all = self.all();
        if all.iter().any(|one| one.id != upload.id && one.user == upload.user && one.is_running()) {
            let busy = "another file is being imported into this memory: wait until it is done";
            return Err(Error::Conflict(busy.to_owned()));
        }
        upload.begin(number)
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

/// Drops the oldest results beyond those that are kept.
fn forget_ended(all: &mut Vec<Arc<Upload>>) {
    let has_ended = |one: &Arc<Upload>| !one.is_waiting() && !one.is_running();
    let mut over = all.iter().filter(|one| has_ended(one)).count().saturating_sub(ENDED_MAX);
    all.retain(|one| {
        let goes = over > 0 && has_ended(one);
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

    fn held(uploads: &Uploads, name: &str) -> Arc<Upload> {
        let upload = uploads.hold(&user(name), "a", Bytes::from_static(b"a")).unwrap();
        upload.look(text(), Ok(Box::default())).unwrap();
        upload
    }

    #[tokio::test]
    async fn few_files_wait_and_whoever_has_most_gives_way() {
        let uploads = uploads();
        let first = held(&uploads, "ines");
        uploads.begin(&first, 1).unwrap();
        let second = held(&uploads, "ines");
        let others: Vec<_> = (0..WAITING_MAX).map(|_| held(&uploads, "otto")).collect();
        assert!(uploads.of(&user("ines"), &first.id).is_some(), "it is being imported");
        assert!(uploads.of(&user("ines"), &second.id).is_some(), "nobody pushes out a user's only file");
        assert_eq!(uploads.of_user(&user("otto")).len(), WAITING_MAX - 1);
        assert!(uploads.of(&user("otto"), &others[0].id).is_none(), "his oldest one gave way");
        // Those who have more give way to those who have fewer, until nobody has more than one.
        for name in ["ada", "bo"] {
            held(&uploads, name);
        }
        assert_eq!(uploads.of_user(&user("otto")).len(), 1);
        assert!(matches!(uploads.hold(&user("cy"), "a", Bytes::new()), Err(Error::Unavailable(_))));
        let again = held(&uploads, "ada");
        assert_eq!(uploads.of_user(&user("ada")).len(), 1, "one's own file gives way to one's next");
        assert!(uploads.of(&user("ada"), &again.id).is_some());
        uploads.drop_one(&first);
        assert!(uploads.of(&user("ines"), &first.id).is_some(), "what runs cannot be given up");
    }

    #[tokio::test]
    async fn a_file_is_imported_as_it_was_shown_and_one_at_a_time() {
        let uploads = uploads();
        let (one, other) = (held(&uploads, "ines"), held(&uploads, "ines"));
        // Another page has looked again, with other choices.
        one.look(ImportChoices { own_words: true, ..text() }, Ok(Box::default())).unwrap();
        assert!(matches!(uploads.begin(&one, 1), Err(Error::Conflict(_))));
        let (_, choices) = uploads.begin(&one, 2).unwrap();
        assert!(choices.own_words);
        assert!(matches!(uploads.begin(&other, 1), Err(Error::Conflict(_))), "one is being imported");
        assert!(uploads.begin(&held(&uploads, "otto"), 1).is_ok());
        drop(one.ends());
        assert!(uploads.begin(&other, 1).is_ok());
        // What cannot be imported is not begun.
        let broken = held(&uploads, "ada");
        broken.look(text(), Err("it is damaged".to_owned())).unwrap();
        assert!(matches!(uploads.begin(&broken, 2), Err(Error::Conflict(_))));
    }

    #[tokio::test]
    async fn a_file_is_of_one_user_is_begun_once_and_goes_with_its_user() {
        let uploads = uploads();
        let one = held(&uploads, "ines");
        assert!(uploads.of(&user("otto"), &one.id).is_none());
        uploads.forget(&user("ines"), Gone::Erased);
        assert_eq!(uploads.held(&user("ines")), 1, "it is not recorded yet");
        assert_eq!(uploads.begin(&one, 1).unwrap().0, "a");
        assert!(matches!(uploads.begin(&one, 1), Err(Error::Conflict(_))));
        drop(one.clone().ends());
        assert!(matches!(one.state(), UploadState::Ended { fault: Some(_), .. }), "an import that stops has failed");
        uploads.forget(&user("ines"), Gone::Erased);
        assert_eq!(uploads.held(&user("ines")), 0);
        held(&uploads, "ines");
        uploads.forget(&user("otto"), Gone::Deleted);
        assert_eq!(uploads.held(&user("ines")), 1);
        uploads.forget(&user("ines"), Gone::Deleted);
        assert_eq!(uploads.held(&user("ines")), 0);
    }

    #[tokio::test]
    async fn a_file_waits_for_some_time_only() {
        let uploads = Uploads { waits_for: Duration::ZERO, ..uploads() };
        let one = held(&uploads, "ines");
        assert!(uploads.of(&user("ines"), &one.id).is_none());
    }
}
