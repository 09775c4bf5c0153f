//! The recorder that the functions of `calls.rs` report to. There is one for the process.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::step::{CallKind, FileId, Step};

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallFault {
    /// `EIO`: the device reports an error.
    Io,
    /// `ENOSPC`: the disk is full.
    Full,
    /// `EINTR`: a signal interrupted the call.
    Interrupted,
    /// `EMFILE`: the process has too many open files.
    TooManyFiles,
    /// A write or read that covers only a part of the bytes; other calls fail with `EIO`.
    Short,
}

/// Which calls fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Only calls of this kind count; `None` for all.
    pub kind: Option<CallKind>,
    /// The number of calls that succeed before the first one fails.
    pub after: u64,
    /// The number of calls that fail then.
    pub times: u64,
    /// How they fail.
    pub fault: CallFault,
}

/// A call that was seen, whether it changed something or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSeen {
    /// Its kind.
    pub kind: CallKind,
    /// The file or folder, relative to the recorded folder.
    pub path: PathBuf,
    /// Whether it was made to fail.
    pub is_failed: bool,
}

static IS_ON: AtomicBool = AtomicBool::new(false);
static STATE: Mutex<Option<State>> = Mutex::new(None);
/// Held by the one recording of the process.
static TURN: Mutex<()> = Mutex::new(());

/// The state of a recording.
#[derive(Debug)]
pub(crate) struct State {
    root: PathBuf,
    steps: Vec<Step>,
    seen: Vec<CallSeen>,
    files: HashMap<u64, FileId>,
    next: FileId,
    plan: Option<Plan>,
}

/// The state, if a recording is active. The lock is held while the call runs, so that calls are recorded in their order.
pub(crate) fn active() -> Option<MutexGuard<'static, Option<State>>> {
    if !IS_ON.load(Ordering::SeqCst) {
        return None;
    }
    let state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    state.is_some().then_some(state)
}

impl State {
    /// The path relative to the recorded folder, if it is below it. SQLite's shared memory files are left out: their
    /// content is rebuilt by whoever opens the database first.
    pub(crate) fn relative(&self, path: &Path) -> Option<PathBuf> {
        let below = path.strip_prefix(&self.root).ok()?;
        (!below.as_os_str().as_encoded_bytes().ends_with(b"-shm")).then(|| below.to_owned())
    }

    /// Records that a call happens, and returns how it must fail.
    pub(crate) fn call(&mut self, kind: CallKind, path: &Path) -> Option<CallFault> {
        let fault = self.plan.as_mut().and_then(|plan| {
            if plan.kind.is_some_and(|only| only != kind) || plan.times == 0 {
                return None;
            }
            if plan.after > 0 {
                plan.after -= 1;
                return None;
            }
            plan.times -= 1;
            Some(plan.fault)
        });
        self.seen.push(CallSeen { kind, path: path.to_owned(), is_failed: fault.is_some() });
        fault
    }

    pub(crate) fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// The id of an existing file by inode.
    pub(crate) fn file(&mut self, inode: u64) -> FileId {
        if let Some(known) = self.files.get(&inode) {
            return *known;
        }
        self.new_file(inode)
    }

    /// A new id for a file that was just created: the inode may have been another file's.
    pub(crate) fn new_file(&mut self, inode: u64) -> FileId {
        let id = self.next;
        self.next += 1;
        self.files.insert(inode, id);
        id
    }
}

/// Records the changes below one folder until it is dropped. A second recording waits for the end of the first.
#[derive(Debug)]
pub struct Recording {
    _turn: MutexGuard<'static, ()>,
}

impl Recording {
    /// Starts to record. The folder must be absolute, without links; its content is the state before the first step.
    /// Returns the content with the ids that the steps use.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn start(root: &Path) -> io::Result<(Self, crate::Image)> {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = State {
            root: root.to_owned(),
            steps: Vec::new(),
            seen: Vec::new(),
            files: HashMap::new(),
            next: 0,
            plan: None,
        };
        let mut before = crate::Image::default();
        walk(root, root, &mut state, &mut before)?;
        *STATE.lock().unwrap_or_else(PoisonError::into_inner) = Some(state);
        IS_ON.store(true, Ordering::SeqCst);
        Ok((Self { _turn: turn }, before))
    }

    /// The number of steps so far.
    pub fn position(&self) -> usize {
        with(|state| state.steps.len())
    }

    /// Makes calls fail from now on; `None` ends that.
    pub fn fail(&self, plan: Option<Plan>) {
        with(|state| state.plan = plan);
    }

    /// Does some work in which nothing fails, and which does not count.
    pub fn without_failures<T>(&self, work: impl FnOnce() -> T) -> T {
        let (plan, seen) = with(|state| (state.plan.take(), state.seen.len()));
        let done = work();
        with(|state| {
            state.plan = plan;
            state.seen.truncate(seen);
        });
        done
    }

    /// Takes the calls seen since the last time.
    pub fn take_seen(&self) -> Vec<CallSeen> {
        with(|state| std::mem::take(&mut state.seen))
    }

    /// Ends the recording and returns its steps.
    pub fn finish(self) -> Vec<Step> {
        with(|state| std::mem::take(&mut state.steps))
    }
}

fn with<T: Default>(work: impl FnOnce(&mut State) -> T) -> T {
    let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    state.as_mut().map(work).unwrap_or_default()
}

impl Drop for Recording {
    fn drop(&mut self) {
        IS_ON.store(false, Ordering::SeqCst);
        *STATE.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

fn walk(root: &Path, folder: &Path, state: &mut State, before: &mut crate::Image) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(below) = path.strip_prefix(root).ok().and_then(|_| state.relative(&path)) else { continue };
        let found = fs::symlink_metadata(&path)?;
        if found.is_dir() {
            before.folders.insert(below);
            walk(root, &path, state, before)?;
        } else {
            let id = state.file(found.ino());
            before.names.insert(below, id);
            before.content.insert(id, std::sync::Arc::new(fs::read(&path)?));
        }
    }
    Ok(())
}
