//! Finds the inputs of a path: a file, the files of a folder, or the files in an archive.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Cursor, Read, Seek};
use std::path::Path;

use quipu_core::limit::IMPORT_NOTE_BYTES_MAX;

use super::archive::Archive;
use super::report::Report;
use super::walk::{self, FoundFile, unreadable};
use super::{ImportFormat, folder, name};
use crate::error::{Error, Result};

/// An input of an import.
pub struct Input<'a> {
    /// Its name, as passed to [`super::read_with`].
    pub name: &'a str,
    /// Its place, for messages.
    pub place: &'a str,
    /// True if it is one of several, so that an empty one is not an error.
    pub one_of_many: bool,
    /// Its content.
    pub stream: &'a mut dyn BufRead,
}

/// Opens every input of this format at a path, one after the other in a fixed order.
///
/// The report counts files that are no input. Links in a folder are not followed; an archive is read in place, within
/// the limits of `limit`.
///
/// # Errors
/// - `NotFound`: the path or something below it cannot be read, or contains nothing of this format.
/// - `Invalid`: the archive is damaged or over a limit, or the format is not read from a folder.
/// - Any error of `each`; nothing is opened after that.
pub fn each_input(
    format: ImportFormat,
    path: &Path,
    report: &mut Report,
    each: &mut dyn FnMut(Input<'_>) -> Result<()>,
) -> Result<()> {
    let about = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    let place = path.display().to_string();
    if about.is_dir() {
        return each_of_folder(format, path, report, each);
    }
    if format == ImportFormat::Folder {
        let advice = "import a single note with the format markdown or text";
        return Err(Error::Invalid(format!("{place} is not a folder; {advice}")));
    }
    let mut file = File::open(path).map_err(|error| unreadable(path, &error))?;
    if is_export(format) && Archive::is_one(&mut file).map_err(|error| unreadable(path, &error))? {
        return each_of_archive(format, (&called(format, path), &place), file, report, each);
    }
    let name = called(format, path);
    each(Input { name: &name, place: &place, one_of_many: false, stream: &mut BufReader::new(file) })
}

/// As [`each_input`], for a file given by name and content.
///
/// # Errors
/// As [`each_input`]; `Invalid` for a format that is read from a folder.
pub fn each_given(
    format: ImportFormat,
    (name, bytes): (&str, &[u8]),
    report: &mut Report,
    each: &mut dyn FnMut(Input<'_>) -> Result<()>,
) -> Result<()> {
    if format == ImportFormat::Folder {
        return Err(Error::Invalid("a folder is imported note by note, with the format markdown or text".to_owned()));
    }
    let mut file = Cursor::new(bytes);
    let own = called(format, Path::new(name));
    if is_export(format) && Archive::is_one(&mut file).map_err(|error| Error::Bug(error.to_string()))? {
        return each_of_archive(format, (&own, name), file, report, each);
    }
    each(Input { name: &own, place: name, one_of_many: false, stream: &mut file })
}

fn each_of_folder(
    format: ImportFormat,
    path: &Path,
    report: &mut Report,
    each: &mut dyn FnMut(Input<'_>) -> Result<()>,
) -> Result<()> {
    if !is_export(format) && endings(format).is_empty() {
        return Err(Error::Invalid(format!("{} is a folder; {format} is imported from a file", path.display())));
    }
    let mut chosen: Vec<(u8, FoundFile)> = Vec::new();
    for file in walk::files(path, report)? {
        match choose(format, &file.name, report) {
            Some(_) if format == ImportFormat::Folder && file.bytes > IMPORT_NOTE_BYTES_MAX => {
                let bound = IMPORT_NOTE_BYTES_MAX >> 20;
                report.notice(&file.name, format!("it is larger than {bound} MiB and no note; import it as a file"));
                report.leave_out("notes that are too large", 1);
            }
            Some(rank) => chosen.push((rank, file)),
            None => {}
        }
    }
    chosen.sort_by(|(one, a), (other, b)| (one, &a.name).cmp(&(other, &b.name)));
    if chosen.is_empty() {
        return Err(Error::NotFound(format!("{} has no {}", path.display(), looked_for(format))));
    }
    let own = called(format, path);
    for (_, file) in &chosen {
        let opened = File::open(&file.path).map_err(|error| unreadable(&file.path, &error))?;
        let name = match format {
            ImportFormat::Text | ImportFormat::Markdown => {
                file.name.rsplit_once('.').map_or(file.name.as_str(), |(stem, _)| stem)
            }
            format if format == ImportFormat::Folder || format.document().is_some() => &file.name,
            _ => &own,
        };
        let place = file.path.display().to_string();
        each(Input { name, place: &place, one_of_many: chosen.len() > 1, stream: &mut BufReader::new(opened) })?;
    }
    Ok(())
}

fn each_of_archive<F: Read + Seek>(
    format: ImportFormat,
    (name, own): (&str, &str),
    file: F,
    report: &mut Report,
    each: &mut dyn FnMut(Input<'_>) -> Result<()>,
) -> Result<()> {
    let damaged = |fault| Error::Invalid(format!("{own}: {fault}"));
    let mut archive = Archive::open(file).map_err(damaged)?;
    let mut chosen: Vec<(u8, String, usize)> = Vec::new();
    for (index, inside) in archive.names() {
        if let Some(rank) = choose(format, &inside, report) {
            chosen.push((rank, inside, index));
        }
    }
    // Shards are ordered by file name, whatever folder they are in.
    let own_name = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    chosen.sort_by_cached_key(|(rank, inside, index)| (*rank, own_name(inside), *index));
    if chosen.is_empty() {
        return Err(Error::NotFound(format!("{own} has no {} in it", looked_for(format))));
    }
    for (_, inside, index) in &chosen {
        let place = format!("{own}, {}", name::quote(inside));
        let mut stream = archive.entry(*index).map_err(|fault| Error::Invalid(format!("{place}: {fault}")))?;
        each(Input { name, place: &place, one_of_many: chosen.len() > 1, stream: &mut stream })?;
    }
    Ok(())
}

/// Returns true for formats that come as an archive or its folder.
fn is_export(format: ImportFormat) -> bool {
    matches!(format, ImportFormat::ChatGpt | ImportFormat::Claude | ImportFormat::WhatsApp | ImportFormat::Telegram)
}

/// File extensions of the texts of a folder, in lower case.
fn endings(format: ImportFormat) -> Vec<&'static str> {
    match format {
        ImportFormat::Text => folder::TEXT.to_vec(),
        ImportFormat::Markdown => folder::MARKDOWN.to_vec(),
        ImportFormat::Folder => [&folder::MARKDOWN[..], &folder::TEXT].concat(),
        ImportFormat::Html => vec!["html", "htm", "xhtml"],
        ImportFormat::Docx => vec!["docx"],
        ImportFormat::Epub => vec!["epub"],
        ImportFormat::Pdf => vec!["pdf"],
        ImportFormat::Mbox => vec!["mbox", "mbx", "eml"],
        _ => Vec::new(),
    }
}

/// What a folder or archive of this format must contain, for messages.
fn looked_for(format: ImportFormat) -> String {
    match format {
        ImportFormat::ChatGpt | ImportFormat::Claude => "conversations.json".to_owned(),
        ImportFormat::WhatsApp => "_chat.txt".to_owned(),
        ImportFormat::Telegram => "result.json; export the chat as JSON".to_owned(),
        _ => format!("file ending in {}", endings(format).join(" or ")),
    }
}

/// The rank of a file in the order of reading; `None` if it is not read, which is counted.
fn choose(format: ImportFormat, path: &str, report: &mut Report) -> Option<u8> {
    let path = path.replace('\\', "/").to_lowercase();
    let (above, own) = path.rsplit_once('/').unwrap_or(("", &path));
    let (stem, ending) = own.rsplit_once('.').unwrap_or((own, ""));
    let conversations = ending == "json"
        && stem.strip_prefix("conversations").is_some_and(|number| {
            number.is_empty() || number.trim_start_matches(['-', '_']).bytes().all(|byte| byte.is_ascii_digit())
        });
    let rank = match format {
        ImportFormat::ChatGpt | ImportFormat::Claude if conversations => Some(0),
        ImportFormat::Claude => match own {
            "memories.json" => Some(1),
            "projects.json" => Some(2),
            "users.json" => Some(3),
            _ if ending == "json" && above.rsplit('/').next() == Some("projects") => Some(2),
            _ => None,
        },
        ImportFormat::WhatsApp
            if ending == "txt" && (stem == "_chat" || stem.contains("whatsapp") || stem.contains("واتساب")) =>
        {
            Some(0)
        }
        ImportFormat::Telegram if own == "result.json" => Some(0),
        _ if endings(format).contains(&ending) => Some(0),
        _ => None,
    };
    if rank.is_none() {
        if ending == "zip" {
            report.notice(name::quote(&path), "it is an archive of its own; import it by itself");
        }
        report.leave_out(if is_export(format) { "other files of the export" } else { "files of another kind" }, 1);
    }
    rank
}

/// Name of the input: that of the file or folder. For a chat, whose file name is always the same, that of its folder.
fn called(format: ImportFormat, path: &Path) -> String {
    let always_the_same = format == ImportFormat::WhatsApp && path.file_stem().is_some_and(|stem| stem == "_chat");
    let full = path.canonicalize().ok().filter(|_| always_the_same || path.file_name().is_none());
    let path = match full.as_deref() {
        Some(full) if always_the_same => full.parent().unwrap_or(full),
        Some(full) => full,
        None => path,
    };
    // The name of a document is cited, so its ending stays.
    let stem = if path.is_dir() || format.document().is_some() { path.file_name() } else { path.file_stem() };
    stem.map_or_else(|| "import".to_owned(), |stem| stem.to_string_lossy().into_owned())
}
