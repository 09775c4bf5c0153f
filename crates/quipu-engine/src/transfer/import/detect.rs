//! Tells the format of a file by its name and its content.

use std::io::{Read, Seek};

use super::ImportFormat;
use super::archive::Archive;
use super::folder;

/// Bytes of a file that are looked at.
const START: u64 = 64 << 10;

/// The format of a file; `None` if neither its name nor its start tells it. The file is left at any place.
///
/// Only the formats of benchmarks, ledgers and bundles are never told: they have to be named.
pub fn detect(name: &str, mut file: impl Read + Seek) -> Option<ImportFormat> {
    let name = name.to_lowercase();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    match ending {
        "pdf" => return Some(ImportFormat::Pdf),
        "docx" => return Some(ImportFormat::Docx),
        "epub" => return Some(ImportFormat::Epub),
        "html" | "htm" | "xhtml" => return Some(ImportFormat::Html),
        "mbox" | "mbx" | "eml" => return Some(ImportFormat::Mbox),
        _ => {}
    }
    if Archive::is_one(&mut file).ok()? {
        let inside: Vec<String> = Archive::open(file).ok()?.names().into_iter().map(|(_, path)| path).collect();
        return detect_inside(inside.iter().map(String::as_str));
    }
    let mut start = Vec::new();
    file.take(START).read_to_end(&mut start).ok()?;
    if start.starts_with(b"%PDF-") {
        return Some(ImportFormat::Pdf);
    }
    let start = String::from_utf8_lossy(&start);
    match ending {
        "json" | "jsonl" | "ndjson" => of_json(&start),
        ending if folder::MARKDOWN.contains(&ending) => Some(ImportFormat::Markdown),
        ending if folder::TEXT.contains(&ending) => {
            Some(if is_whatsapp(&name) { ImportFormat::WhatsApp } else { ImportFormat::Text })
        }
        _ => None,
    }
}

/// The format of an export by the names of the files in its archive or folder; `None` if it is none.
pub fn detect_inside<'a>(paths: impl Iterator<Item = &'a str>) -> Option<ImportFormat> {
    let own_name = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or_default().to_lowercase();
    let inside: Vec<String> = paths.map(own_name).collect();
    let has = |wanted: &str| inside.iter().any(|name| name == wanted);
    let talks = inside.iter().any(|name| name.starts_with("conversations") && name.ends_with(".json"));
    match () {
        // Both have conversations; the other files are those of one of them.
        () if talks && (has("users.json") || has("memories.json") || has("projects.json")) => {
            Some(ImportFormat::Claude)
        }
        () if talks => Some(ImportFormat::ChatGpt),
        () if inside.iter().any(|name| is_whatsapp(name)) => Some(ImportFormat::WhatsApp),
        () if has("result.json") => Some(ImportFormat::Telegram),
        () => None,
    }
}

/// True for the file of a chat, by its name in lower case.
fn is_whatsapp(name: &str) -> bool {
    name == "_chat.txt" || (name.ends_with(".txt") && (name.contains("whatsapp") || name.contains("واتساب")))
}

/// The format of JSON, by the names of members that only one format has together.
fn of_json(start: &str) -> Option<ImportFormat> {
    let has = |words: &[&str]| words.iter().all(|word| start.contains(word));
    match () {
        () if has(&["\"mapping\"", "\"title\""]) => Some(ImportFormat::ChatGpt),
        () if has(&["\"chat_messages\""]) => Some(ImportFormat::Claude),
        () if has(&["\"messages\"", "\"type\"", "\"date\""]) || has(&["\"messages\"", "\"date_unixtime\""]) => {
            Some(ImportFormat::Telegram)
        }
        () if has(&["\"messages\"", "\"role\"", "\"content\""]) => Some(ImportFormat::OpenAi),
        () if has(&["\"entityType\"", "\"observations\""]) => Some(ImportFormat::MemoryJsonl),
        () if has(&["\"memory\"", "\"id\""]) => Some(ImportFormat::Mem0),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn told(name: &str, content: &[u8]) -> Option<ImportFormat> {
        detect(name, Cursor::new(content))
    }

    #[test]
    fn the_files_of_every_format_are_told_apart() {
        let file = |name: &str| {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/import").join(name);
            std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        for (name, called, format) in [
            ("chatgpt.json", "conversations.json", Some(ImportFormat::ChatGpt)),
            ("claude.json", "conversations.json", Some(ImportFormat::Claude)),
            ("mem0.json", "memories.json", Some(ImportFormat::Mem0)),
            ("memory.jsonl", "memory.jsonl", Some(ImportFormat::MemoryJsonl)),
            ("note.md", "note.md", Some(ImportFormat::Markdown)),
            ("notes.txt", "Notes.TXT", Some(ImportFormat::Text)),
            ("openai.jsonl", "fine-tuning.jsonl", Some(ImportFormat::OpenAi)),
            ("telegram-all.json", "result.json", Some(ImportFormat::Telegram)),
            ("telegram.json", "result.json", Some(ImportFormat::Telegram)),
            ("whatsapp-android.txt", "WhatsApp Chat with Ana.txt", Some(ImportFormat::WhatsApp)),
            ("whatsapp-ios.txt", "_chat.txt", Some(ImportFormat::WhatsApp)),
            ("locomo.json", "locomo.json", None),
        ] {
            assert_eq!(told(called, &file(name)), format, "{name}");
        }
    }

    #[test]
    fn what_cannot_be_told_is_not_guessed() {
        for (name, content) in [
            ("data.json", &b"{\"a\": 1}"[..]),
            ("broken.zip", b"PK\x03\x04 and no more"),
            ("program.exe", b"MZ\x90"),
            ("noname", b""),
            ("a.json", b"\xff\xfe\x00"),
        ] {
            assert_eq!(told(name, content), None, "{name}");
        }
        assert_eq!(told("report", b"%PDF-1.7"), Some(ImportFormat::Pdf));
        let inside = |names: &[&str]| detect_inside(names.iter().copied());
        assert_eq!(inside(&["x/conversations.json", "x/users.json"]), Some(ImportFormat::Claude));
        assert_eq!(inside(&["conversations-001.json", "chat.html"]), Some(ImportFormat::ChatGpt));
        assert_eq!(inside(&["WhatsApp Chat with Ana.txt", "IMG.jpg"]), Some(ImportFormat::WhatsApp));
        assert_eq!(inside(&["ChatExport/result.json"]), Some(ImportFormat::Telegram));
        assert_eq!(inside(&["a.txt", "b.md"]), None);
    }
}
