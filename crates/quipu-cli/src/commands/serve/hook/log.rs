//! Log file for failures of hooks, as agents do not show what a hook prints.

use std::io::Write;
use std::path::Path;

use quipu_engine::ports::Clock;

use quipu::system::SystemClock;

/// A longer log is truncated.
const LOG_BYTES_MAX: u64 = 1 << 20;

/// Appends a line to `hooks/hook.log` in a data folder, or writes it to stderr if that fails.
pub(super) fn line(folder: Option<&Path>, event: &str, what: &str) {
    let now = SystemClock::at(None).now();
    let line = format!("{now} {event}: {}\n", what.replace('\n', " "));
    let written = folder.is_some_and(|folder| append(&folder.join("hooks"), &line).is_ok());
    if !written {
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}

fn append(folder: &Path, text: &str) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let path = folder.join("hook.log");
    let is_long = path.metadata().is_ok_and(|file| file.len() > LOG_BYTES_MAX);
    let mut options = std::fs::OpenOptions::new();
    let mut file = match is_long {
        true => options.write(true).truncate(true).open(path)?,
        false => options.append(true).create(true).open(path)?,
    };
    file.write_all(text.as_bytes())
}
