//! Inputs of a path: notes of a folder, files in an archive, and malicious ones.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use quipu_core::limit;
use quipu_engine::import::{ImportFormat, Report, each_input, read};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

const CHATGPT: &[u8] = include_bytes!("../../../../testdata/import/chatgpt.json");

/// Everything read from a path: one line per source with session, topic, native id and text; then what was left out;
/// then the error.
fn all(format: ImportFormat, path: &Path) -> String {
    let mut about = Report::default();
    let mut lines = String::new();
    let mut left_out = std::collections::BTreeMap::new();
    let outcome = each_input(format, path, &mut about, &mut |input| {
        let mut report = Report::default();
        let outcome = read(format, input.stream, input.name, &mut report, &mut |batch| -> Result<(), String> {
            for source in batch.sources {
                let [session, topic] = [source.session, source.topic].map(|name| name.unwrap_or_else(|| "-".into()));
                let native = source.native_id.unwrap_or_default();
                lines += &format!("{session} | {topic} | {native} | {:?}\n", source.text);
            }
            Ok(())
        });
        left_out.append(&mut report.left_out);
        outcome.err().into_iter().for_each(|fault| lines += &format!("X {}: {fault}\n", input.name));
        Ok(())
    });
    left_out.append(&mut about.left_out);
    left_out.iter().for_each(|(reason, count)| lines += &format!("- {count} {reason}\n"));
    outcome.err().into_iter().for_each(|error| lines += &format!("X {error}\n"));
    lines.replace(&path.display().to_string(), "PATH")
}

fn check(format: ImportFormat, path: &Path, expected: &str) {
    let all = all(format, path);
    assert_eq!(all.trim_end(), expected.trim(), "what was read:\n{all}");
}

fn archive(path: &Path, entries: &[(&str, &[u8])]) {
    let mut zip = ZipWriter::new(fs::File::create(path).unwrap());
    for (name, content) in entries {
        zip.start_file(*name, SimpleFileOptions::default().compression_method(CompressionMethod::Deflated)).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap();
}

#[test]
fn a_folder_of_notes_is_read_without_leaving_it() {
    let place = tempfile::tempdir().unwrap();
    let vault = place.path().join("vault");
    let write = |name: &str, content: &[u8]| {
        let path = vault.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    };
    write("trips/porto.md", b"---\ncreated: 2026-03-28\n---\nPack light.\n\n# Flat\n\nThird floor.");
    write("trips/porto.txt", b"Plain words.");
    write("Idea.MD", b"A kiln in the shed.");
    write(".obsidian/workspace.md", b"not a note");
    write("trips/map.png", b"\x89PNG");
    write("empty.md", b"\n");
    write("broken.md", b"ok \xff");
    fs::write(place.path().join("outside.md"), b"secret").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(place.path(), vault.join("link")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(place.path().join("outside.md"), vault.join("outside.md")).unwrap();
    let deep = format!("{}deep.md", "d/".repeat(limit::IMPORT_DEPTH_MAX + 1));
    write(&deep, b"too deep");
    check(
        ImportFormat::Folder,
        &vault,
        r##"
Idea.MD | Idea | Idea#1 | "A kiln in the shed."
X broken.md: byte 3: it is not UTF-8 here; convert the file to UTF-8. Nothing was imported
X empty.md: nothing to import: the input is empty
trips/porto.md | trips/porto | trips/porto#1 | "Pack light."
trips/porto.md | trips/porto / Flat | trips/porto / Flat#1 | "# Flat\n\nThird floor."
trips/porto.txt | trips/porto | p1 | "Plain words."
- 1 files and folders that start with a dot
- 1 files of another kind
- 1 folders that are too deep
- 2 links
"##,
    );
    let note = vault.join("Idea.MD");
    check(ImportFormat::Folder, &note, "X PATH is not a folder; import a single note with the format markdown or text");
    check(ImportFormat::OpenAi, &vault, "X PATH is a folder; openai is imported from a file");
    check(
        ImportFormat::ChatGpt,
        &vault.join("trips"),
        "- 3 other files of the export\nX PATH has no conversations.json",
    );
}

#[test]
fn an_archive_gives_what_its_file_gives() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("export.json");
    fs::write(&file, CHATGPT).unwrap();
    let alone = all(ImportFormat::ChatGpt, &file);
    assert!(alone.contains("My loaf stays flat"), "{alone}");
    let zip = place.path().join("export.zip");
    archive(&zip, &[("export/chat.html", b"<html>"), ("export/conversations.json", CHATGPT)]);
    let beside = "- 1 other files of the export\n";
    assert_eq!(all(ImportFormat::ChatGpt, &zip).replace(beside, ""), alone);
    let folder = place.path().join("export");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("conversations-000.json"), CHATGPT).unwrap();
    assert_eq!(all(ImportFormat::ChatGpt, &folder), alone);
}

#[test]
fn shards_are_read_in_their_order() {
    let place = tempfile::tempdir().unwrap();
    let zip = place.path().join("export.zip");
    let shard = |text: &str| {
        let message =
            format!(r#"{{"author":{{"role":"user"}},"content":{{"content_type":"text","parts":["{text}"]}}}}"#);
        format!(r#"[{{"id":"{text}","current_node":"a","mapping":{{"a":{{"message":{message}}}}}}}]"#)
    };
    let [one, two] = ["one", "two"].map(shard);
    // Names in the archive only select entries and are never used as paths.
    archive(
        &zip,
        &[
            ("../../conversations-001.json", two.as_bytes()),
            ("/etc/conversations-000.json", one.as_bytes()),
            ("a.zip", b""),
        ],
    );
    check(ImportFormat::ChatGpt, &zip, "one | - | a | \"one\"\ntwo | - | a | \"two\"\n- 1 other files of the export");
}

#[test]
fn a_whatsapp_chat_is_called_like_its_archive_or_folder() {
    let place = tempfile::tempdir().unwrap();
    let chat = b"[31/12/2025, 10:00:00] Ana: hi";
    let expected = "Ana | - | 2025-12-31T10:00:00#1 | \"hi\"";
    let zip = place.path().join("WhatsApp Chat - Ana.zip");
    archive(&zip, &[("_chat.txt", chat), ("00000001-PHOTO.jpg", b"")]);
    check(ImportFormat::WhatsApp, &zip, &format!("{expected}\n- 1 other files of the export"));
    let folder = place.path().join("Ana");
    fs::create_dir(&folder).unwrap();
    let android = place.path().join("WhatsApp Chat with Ana.txt");
    for (file, path) in [(folder.join("_chat.txt"), &folder), (folder.join("_chat.txt"), &folder.join("_chat.txt"))] {
        fs::write(&file, chat).unwrap();
        check(ImportFormat::WhatsApp, path, expected);
    }
    fs::write(&android, chat).unwrap();
    check(ImportFormat::WhatsApp, &android, expected);
}

#[test]
fn a_claude_archive_is_read_conversations_first() {
    let place = tempfile::tempdir().unwrap();
    let zip = place.path().join("export.zip");
    let message = r#"[{"uuid":"c","name":"n","chat_messages":[{"uuid":"m","sender":"human","text":"hi"}]}]"#;
    let entries = [
        ("memories.json", r#"{"conversations_memory":"Likes tea."}"#),
        ("users.json", r#"[{"uuid":"u","email_address":"noa@example.com"}]"#),
        ("projects/p.json", r#"{"uuid":"p","docs":[]}"#),
        ("conversations.json", message),
    ];
    archive(&zip, &entries.map(|(name, content)| (name, content.as_bytes())));
    let all = all(ImportFormat::Claude, &zip);
    let kept: Vec<&str> = all.lines().filter(|line| !line.starts_with('X')).collect();
    let expected =
        ["c | n | m | \"hi\"", "claude memories | memory | memory | \"Likes tea.\"", "- 1 accounts", "- 1 projects"];
    assert_eq!(kept, expected, "{all}");
}

#[test]
fn damaged_and_foreign_archives_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let zip = place.path().join("export.zip");
    archive(&zip, &[("notes.txt", b"hello")]);
    check(ImportFormat::ChatGpt, &zip, "- 1 other files of the export\nX PATH has no conversations.json in it");
    archive(&zip, &[("conversations.json", CHATGPT)]);
    let whole = fs::read(&zip).unwrap();
    // The compression method is the fifth field of the local header, and the sixth of the central directory entry.
    let listed = whole.windows(4).rposition(|window| window == b"PK\x01\x02").unwrap();
    let mut foreign = whole.clone();
    [8, listed + 10].into_iter().for_each(|at| foreign[at] = 14);
    fs::write(&zip, &foreign).unwrap();
    let foreign = all(ImportFormat::ChatGpt, &zip);
    assert!(foreign.contains("the file in it cannot be read (it is packed with "), "{foreign}");
    for end in (4..whole.len()).step_by(97) {
        fs::write(&zip, &whole[..end]).unwrap();
        let all = all(ImportFormat::ChatGpt, &zip);
        assert!(all.contains("X PATH: the archive: it is not a zip archive that can be read"), "cut at {end}: {all}");
    }
    for at in (30..whole.len() - 30).step_by(61) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        fs::write(&zip, &damaged).unwrap();
        // Reading a damaged archive terminates; damage covered by the checksum is detected.
        let all = all(ImportFormat::ChatGpt, &zip);
        assert!(all.contains("X ") || all.contains("Newer branch"), "damaged at {at}: {all}");
    }
}

#[test]
fn a_bomb_is_given_up_early() {
    let place = tempfile::tempdir().unwrap();
    let zip = place.path().join("bomb.zip");
    let mut writer = ZipWriter::new(fs::File::create(&zip).unwrap());
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    writer.start_file("conversations.json", options).unwrap();
    writer.write_all(b"[").unwrap();
    std::io::copy(&mut std::io::repeat(b' ').take(limit::IMPORT_UNPACKED_FREE_BYTES + (8 << 20)), &mut writer).unwrap();
    writer.finish().unwrap();
    let all = all(ImportFormat::ChatGpt, &zip);
    let early = ["larger than 64 MiB", "it unpacks to far more than such a file should"];
    assert!(early.iter().any(|reason| all.contains(reason)), "{all}");
}
