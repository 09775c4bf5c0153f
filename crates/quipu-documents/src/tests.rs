//! Small documents of each format, and damaged and malicious ones.

use std::io::{Cursor, Write};

use quipu_engine::ports::{Document, DocumentKind};
use zip::write::SimpleFileOptions;

use super::read;

const KINDS: [DocumentKind; 5] =
    [DocumentKind::Html, DocumentKind::Docx, DocumentKind::Epub, DocumentKind::Pdf, DocumentKind::Mbox];

/// A PDF with a page for each text.
fn pdf(pages: &[&str]) -> Vec<u8> {
    let kids: Vec<String> = (0..pages.len()).map(|at| format!("{} 0 R", 4 + 2 * at)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    for (at, text) in pages.iter().enumerate() {
        let drawn = format!("BT /F1 12 Tf 72 720 Td ({text}) Tj ET");
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {} 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
            5 + 2 * at
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{drawn}\nendstream", drawn.len()));
    }
    let (mut file, mut places) = (b"%PDF-1.4\n".to_vec(), Vec::new());
    for (at, object) in objects.iter().enumerate() {
        places.push(file.len());
        file.extend(format!("{} 0 obj\n{object}\nendobj\n", at + 1).bytes());
    }
    let table = file.len();
    file.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).bytes());
    places.iter().for_each(|place| file.extend(format!("{place:010} 00000 n \n").bytes()));
    file.extend(format!("trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1).bytes());
    file
}

fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        archive.start_file(*name, SimpleFileOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        archive.write_all(content).unwrap_or_else(|error| panic!("{error}"));
    }
    archive.finish().unwrap_or_else(|error| panic!("{error}")).into_inner()
}

const WORD: &str = r#"<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>
<w:p><w:r><w:t>Before any heading.</w:t></w:r></w:p>
<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>The </w:t></w:r><w:r><w:t>boat</w:t></w:r></w:p>
<w:p><w:r><w:t xml:space="preserve">It has two masts &amp; </w:t></w:r><w:r><w:t>a red &#233;toile.</w:t></w:r></w:p>
<w:tbl><w:tr><w:tc><w:p><w:r><w:t>length</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>9 m</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
</w:body></w:document>"#;

fn docx() -> Vec<u8> {
    archive(&[("word/document.xml", WORD.as_bytes()), ("word/footnotes.xml", b"<w:footnotes/>")])
}

fn epub(chapter: &[u8]) -> Vec<u8> {
    archive(&[
        ("mimetype", b"application/epub+zip"),
        ("META-INF/container.xml", br#"<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>"#),
        (
            "OPS/book.opf",
            br#"<package><manifest><item id="b" href="text/two.xhtml"/><item id="a" href="text/one%20.xhtml#start"/></manifest>
                <spine><itemref idref="a"/><itemref idref="b"/><itemref idref="missing"/></spine></package>"#,
        ),
        ("OPS/text/one .xhtml", b"<html><body><h1>Leaving</h1><p>She left at dawn.</p></body></html>"),
        ("OPS/text/two.xhtml", chapter),
    ])
}

const MBOX: &str = "From ana@example.org Mon Jul 13 10:00:00 2026
From: Ana Prata <ana@example.org>
To: me@example.org
Subject: =?utf-8?q?The_caf=C3=A9?=
Date: Mon, 13 Jul 2026 10:00:00 +0200
Message-ID: <one@example.org>

The caf opens at nine.
> What did you ask?
From ben@example.org Tue Jul 14 10:00:00 2026
From: ben@example.org
Date: Tue, 14 Jul 2026 10:00:00 +0000
Content-Type: text/html

<html><body><p>See <b>you</b> there.</p></body></html>
";

fn shown(document: &Document) -> String {
    let line = |section: &quipu_engine::ports::DocumentSection| {
        let (title, author) = (section.title.as_deref().unwrap_or("-"), section.author.as_deref().unwrap_or("-"));
        let (time, id) = (section.said_at.as_deref().unwrap_or("-"), section.id.as_deref().unwrap_or("-"));
        format!("{} | {title} | {author} | {time} | {id} | {:?}\n", section.place, section.text.trim())
    };
    let left_out = document.left_out.iter().map(|(what, count)| format!("- {count} {what}\n"));
    document.sections.iter().map(line).chain(left_out).collect()
}

#[track_caller]
fn check(kind: DocumentKind, bytes: &[u8], expected: &str) {
    match read(kind, bytes) {
        Ok(document) => assert_eq!(shown(&document).trim_end(), expected.trim(), "{}", shown(&document)),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn pages_of_a_pdf() {
    check(
        DocumentKind::Pdf,
        &pdf(&["The harbour opens in May.", "", "The fee is 40 euros."]),
        r#"
page 1 | - | - | - | - | "The harbour opens in May."
page 3 | - | - | - | - | "The fee is 40 euros."
- 1 pages without text, such as scanned ones"#,
    );
}

#[test]
fn headings_of_a_word_document() {
    check(
        DocumentKind::Docx,
        &docx(),
        r#"
section 1 | - | - | - | - | "Before any heading."
section 2 | The boat | - | - | - | "The boat\n\nIt has two masts & a red étoile.\n\nlength\n\n9 m"
- 1 parts with footnotes"#,
    );
}

#[test]
fn headings_of_a_page() {
    check(
        DocumentKind::Html,
        b"<html><head><title>T</title><style>p{}</style><script>alert(1)</script></head><body><p>Intro with <a href='http://x'>a link</a>.</p>\
          <hr><h2>Opening hours</h2><p>From nine<br>to five.</p><ul><li>closed on Monday</li></ul></body></html>",
        r#"
section 1 | - | - | - | - | "Intro with a link."
section 2 | Opening hours | - | - | - | "Opening hours\n\n\nFrom nine\nto five.\n* closed on Monday""#,
    );
}

#[test]
fn chapters_of_a_book_in_their_order() {
    check(
        DocumentKind::Epub,
        &epub(b"<html><body><h1>Arriving</h1><p>It rained.</p></body></html>"),
        r#"
chapter 1 | Leaving | - | - | - | "Leaving\n\n\nShe left at dawn."
chapter 2 | Arriving | - | - | - | "Arriving\n\n\nIt rained."
- 1 chapters that are not in the file"#,
    );
}

#[test]
fn messages_of_a_mailbox() {
    check(
        DocumentKind::Mbox,
        MBOX.as_bytes(),
        r#"
message 1 | The café | Ana Prata | 2026-07-13T10:00:00+02:00 | one@example.org | "The caf opens at nine."
message 2 | - | ben@example.org | 2026-07-14T10:00:00Z | - | "See you there."
- 1 quoted lines"#,
    );
    let single = MBOX.lines().skip(1).take(8).collect::<Vec<_>>().join("\r\n");
    let document = read(DocumentKind::Mbox, single.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(document.sections.len(), 1, "{}", shown(&document));
}

#[test]
fn a_bomb_is_refused_with_a_reason() {
    // 100 MiB of blanks, packed a thousandfold.
    let bomb = epub(&vec![b' '; 100 << 20]);
    assert!(bomb.len() < 1 << 20);
    let error = read(DocumentKind::Epub, &bomb).err().unwrap_or_default();
    assert!(error.contains("unpacks to"), "{error}");
    let mut body = b"<w:document><w:p><w:r><w:t>".to_vec();
    body.extend(std::iter::repeat_n(b' ', 100 << 20));
    let error = read(DocumentKind::Docx, &archive(&[("word/document.xml", &body)])).err().unwrap_or_default();
    assert!(error.contains("unpacks to"), "{error}");
}

#[test]
fn what_is_damaged_is_an_error_or_less_text_and_never_a_panic() {
    let whole = [
        (DocumentKind::Pdf, pdf(&["The harbour opens in May.", "The fee is 40 euros."])),
        (DocumentKind::Docx, docx()),
        (DocumentKind::Epub, epub(b"<p>x</p>")),
        (DocumentKind::Html, b"<h1>a</h1><p>b".to_vec()),
        (DocumentKind::Mbox, MBOX.as_bytes().to_vec()),
    ];
    for (kind, bytes) in &whole {
        for end in (0..bytes.len()).step_by(1 + bytes.len() / 60) {
            let _ = read(*kind, &bytes[..end]);
        }
        for at in (0..bytes.len()).step_by(1 + bytes.len() / 60) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x55;
            let _ = read(*kind, &damaged);
        }
        for other in KINDS {
            let _ = read(other, bytes);
        }
    }
    for kind in [DocumentKind::Docx, DocumentKind::Epub, DocumentKind::Pdf, DocumentKind::Mbox] {
        let error = read(kind, b"no document at all").err().unwrap_or_default();
        assert!(!error.is_empty(), "{kind:?}");
    }
}
