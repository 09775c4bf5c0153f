//! What the server's process uses, as the operating system counts it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::now;

/// Samples of a run.
const SAMPLES: f64 = 400.0;
/// Shortest and longest time between two.
const PAUSE_SECONDS: (f64, f64) = (0.25, 10.0);

/// What was used at a moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    /// Since the first one.
    pub(crate) seconds: f64,
    pub(crate) resident_bytes: f64,
    pub(crate) handles: usize,
    pub(crate) threads: usize,
    /// The largest log of a ledger, and all of them.
    pub(crate) log_bytes_max: u64,
    pub(crate) log_bytes: u64,
}

/// A thread that takes samples.
pub(crate) struct Sampler {
    is_over: Arc<AtomicBool>,
    taking: JoinHandle<Vec<Sample>>,
}

impl Sampler {
    pub(crate) fn start(pid: u32, data: &Path, run_seconds: f64) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let (ends, users) = (is_over.clone(), data.join("users"));
        let pause = Duration::from_secs_f64((run_seconds / SAMPLES).clamp(PAUSE_SECONDS.0, PAUSE_SECONDS.1));
        let taking = std::thread::spawn(move || {
            let (began, mut all) = (now(), Vec::new());
            while !ends.load(Ordering::SeqCst) {
                all.push(sample(pid, &users, began.elapsed().as_secs_f64()));
                std::thread::sleep(pause);
            }
            all
        });
        Self { is_over, taking }
    }

    pub(crate) fn stop(self) -> Vec<Sample> {
        self.is_over.store(true, Ordering::SeqCst);
        self.taking.join().unwrap()
    }
}

fn sample(pid: u32, users: &Path, seconds: f64) -> Sample {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let number = |name: &str| -> u64 {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    };
    let logs = logs(users);
    Sample {
        seconds,
        resident_bytes: number("VmRSS:") as f64 * 1024.0,
        handles: fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count(),
        threads: number("Threads:") as usize,
        log_bytes_max: logs.iter().copied().max().unwrap_or(0),
        log_bytes: logs.iter().sum(),
    }
}

/// Sizes of the write-ahead logs. A log may be removed meanwhile.
fn logs(users: &Path) -> Vec<u64> {
    let Ok(entries) = fs::read_dir(users) else { return Vec::new() };
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let logs = paths.filter(|path| path.to_string_lossy().ends_with("-wal"));
    logs.filter_map(|path| fs::metadata(path).ok()).map(|file| file.len()).collect()
}

/// Bytes of the blocks of all files below a folder. A file may be removed meanwhile.
pub(crate) fn bytes_below(folder: &Path) -> u64 {
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    let mut bytes = 0;
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())) {
            match fs::symlink_metadata(&path) {
                Ok(file) if file.is_dir() => folders.push(path),
                Ok(file) => bytes += file.blocks() * 512,
                Err(_) => {}
            }
        }
    }
    bytes
}
