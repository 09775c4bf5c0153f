//! Where trouble is told: nobody looks at what a hook prints.

use std::io::Write;
use std::path::Path;

use quipu_engine::ports::Clock;

use quipu::system::SystemClock;

/// A log that is longer begins anew.
const LOG_BYTES_MAX: u64 = 1 << 20;

/// Adds a line to `hooks/hook.log` of a data folder; if that cannot be, on stderr.
pub(super) fn line(folder: Option<&Path>, event: &str, what: &str) {
    let now = SystemClock { fixed: None }.now();
    let told = format!("{now} {event}: {}\n", what.replace('\n', " "));
    let written = folder.is_some_and(|folder| append(&folder.join("hooks"), &told).is_ok());
    if !written {
        let _ = std::io::stderr().write_all(told.as_bytes());
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
