//! Finds exports of other programs in the download folder, by their names and by what their archives contain.

use std::fs::File;
use std::path::{Path, PathBuf};

use quipu_engine::import::{ImportFormat, detect, detect_inside};
use quipu_engine::{Error, Result};
use serde::Serialize;

use crate::commands::CommandContext;
use crate::settings;

/// Most entries of the folder that are looked at.
const ENTRIES_MAX: usize = 20_000;

/// Formats that are exports of another program, which somebody may want to take along.
const EXPORTS: [ImportFormat; 5] =
    [ImportFormat::ChatGpt, ImportFormat::Claude, ImportFormat::WhatsApp, ImportFormat::Telegram, ImportFormat::Mem0];

/// An export that can be imported.
#[derive(Debug, Serialize)]
struct Export {
    format: &'static str,
    path: PathBuf,
    command: String,
}

/// What was found, and where.
#[derive(Debug, Serialize)]
struct Found {
    folder: PathBuf,
    exports: Vec<Export>,
    /// True if the folder has more entries than were looked at.
    more: bool,
}

/// Lists the exports in a folder, each with the command that imports it. Nothing is imported.
pub(super) fn find(context: &CommandContext<'_>, folder: Option<&Path>) -> Result<()> {
    let folder = match folder {
        Some(folder) => folder.to_owned(),
        None => downloads()?,
    };
    let unreadable = |error| Error::NotFound(format!("cannot read {}: {error}", folder.display()));
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(unreadable)?.take(ENTRIES_MAX + 1) {
        paths.push(entry.map_err(unreadable)?.path());
    }
    let more = paths.len() > ENTRIES_MAX;
    paths.truncate(ENTRIES_MAX);
    paths.sort();
    let export = |path: PathBuf| {
        let format = format_of(&path)?.as_str();
        let command = context.command(&["import", format, &path.display().to_string()]);
        Some(Export { format, path, command })
    };
    let exports = paths.into_iter().filter_map(export).collect();
    context.printer.report(&Found { folder, exports, more }, |found| {
        let folder = found.folder.display();
        let more = if found.more { format!("only the first {ENTRIES_MAX} entries were looked at\n") } else { String::new() };
        if found.exports.is_empty() {
            return format!(
                "no export of ChatGPT, Claude, WhatsApp, Telegram or mem0 in {folder}; give a folder with `quipu import --find FOLDER`\n{more}"
            );
        }
        let line = |export: &Export| format!("  {}\n", export.command);
        format!("Found in {folder}; --dry-run shows what each would import:\n{}{more}", found.exports.iter().map(line).collect::<String>())
    })
}

/// The download folder: `$XDG_DOWNLOAD_DIR`, else `Downloads` in the home folder.
fn downloads() -> Result<PathBuf> {
    let named = std::env::var_os("XDG_DOWNLOAD_DIR").map(PathBuf::from).filter(|folder| folder.is_absolute());
    named.map_or_else(|| Ok(settings::home()?.join("Downloads")), Ok)
}

/// The format of an export; `None` if it is none. A file that cannot be read is none.
fn format_of(path: &Path) -> Option<ImportFormat> {
    let format = if path.is_dir() {
        let entries = std::fs::read_dir(path).ok()?.take(ENTRIES_MAX).flatten();
        let inside: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        detect_inside(inside.iter().map(String::as_str))?
    } else {
        detect(&path.file_name()?.to_string_lossy(), File::open(path).ok()?)?
    };
    EXPORTS.contains(&format).then_some(format)
}
