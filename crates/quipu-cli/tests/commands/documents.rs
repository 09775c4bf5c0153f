//! Imports of documents and of one's own exports, and the search for exports.

use super::place::Place;

const PDF: &[u8] = include_bytes!("../../../../testdata/documents/harbour.pdf");
const HTML: &str = "<html><body><h1>Club house</h1><p>I live in Faro and I like pears.</p>\
    <h2>Opening hours</h2><p>The bar is open from nine to five.</p></body></html>";

struct Desk(Place);

impl Desk {
    fn new() -> Self {
        Self(Place::new(""))
    }

    fn file(&self, name: &str, content: &[u8]) -> String {
        let path = self.0.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    }

    fn shown(&self, args: &[&str], code: i32) -> String {
        let output = self.0.run(args);
        let text = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
        text
    }
}

#[test]
fn answers_cite_the_page_of_a_pdf() {
    let desk = Desk::new();
    let file = desk.file("harbour.pdf", PDF);
    let report = desk.shown(&["import", "pdf", &file], 0);
    assert!(report.contains("2 new") && report.contains("1 pages without text"), "{report}");
    let found = desk.shown(&["recall", "What is the mooring fee?"], 0);
    let first = found.lines().next().unwrap();
    assert!(first.contains("harbour.pdf, page 3"), "{found}");
    let pack = desk.shown(&["context", "What is the mooring fee?"], 0);
    assert!(pack.contains("harbour.pdf, page 3"), "{pack}");
    let again = desk.shown(&["import", "pdf", &file], 0);
    assert!(again.contains("0 new, 2 known already"), "{again}");
}

#[test]
fn a_document_says_nothing_about_the_user_unless_it_is_the_users_own() {
    let desk = Desk::new();
    let file = desk.file("club.html", HTML.as_bytes());
    let report = desk.shown(&["import", "html", &file], 0);
    assert!(report.contains("no facts are read from documents"), "{report}");
    assert!(desk.shown(&["facts", "--all"], 0).contains("no facts"));
    desk.shown(&["maintain"], 0);
    desk.shown(&["reread"], 0);
    assert!(desk.shown(&["facts", "--all"], 0).contains("no facts"));
    assert!(desk.shown(&["--json", "review"], 0).contains("\"items\":[]"));
    let found = desk.shown(&["recall", "When is the bar open?"], 0);
    assert!(found.contains("club.html, section 2") && !found.contains("· user ·"), "{found}");

    desk.shown(&["-u", "ana", "import", "html", &file, "--mine"], 0);
    let facts = desk.shown(&["-u", "ana", "facts"], 0);
    assert!(facts.contains("lives in Faro"), "{facts}");
}

#[test]
fn what_is_no_document_is_refused_and_nothing_is_kept() {
    let desk = Desk::new();
    for (format, content) in
        [("pdf", &b"%PDF-1.7\nnothing"[..]), ("docx", b"PK\x03\x04cut"), ("epub", b"x"), ("mbox", b"x")]
    {
        let file = desk.file(&format!("a.{format}"), content);
        let error = desk.shown(&["import", format, &file], 2);
        assert!(error.contains(&format!("a.{format}")), "{error}");
    }
    let file = desk.file("a.mbox", b"From: ana@example.org\n\nhi\n");
    assert!(desk.shown(&["import", "mbox", &file, "--mine"], 2).contains("omit --mine"));
    assert!(desk.shown(&["status"], 0).contains("Nothing is remembered"));
}

const CHATGPT: &str = r#"[
    {"id": "c1", "title": "Home", "current_node": "b", "mapping": {
        "a": {"parent": null, "message": {"id": "m1", "author": {"role": "user"}, "content": {"content_type": "text", "parts": ["I live in Faro."]}}},
        "b": {"parent": "a", "message": {"id": "m2", "author": {"role": "assistant"}, "content": {"content_type": "text",
              "parts": ["Faro is sunny. citeturn0search1turn0search3"]}}}}},
    {"id": "c2", "title": "Secret", "is_do_not_remember": true, "current_node": "a", "mapping": {
        "a": {"parent": null, "message": {"id": "m3", "author": {"role": "user"}, "content": {"content_type": "text", "parts": ["I collect stamps."]}}}}}
]"#;

#[test]
fn ones_own_export_is_found_and_counts_as_ones_own_words() {
    let desk = Desk::new();
    let folder = desk.0.0.path().join("Downloads").display().to_string();
    desk.file("Downloads/WhatsApp Chat with Ana's.txt", b"31.12.2025 klo 18.05 - Aino: hei\n");
    desk.file("Downloads/holiday.txt", b"nothing");
    let file = desk.file("Downloads/conversations.json", CHATGPT.as_bytes());
    let found = desk.shown(&["import", "--find"], 0);
    assert!(found.contains(&format!("quipu import chatgpt {file}")), "{found}");
    assert!(found.contains("import whatsapp") && !found.contains("holiday"), "{found}");
    assert!(desk.shown(&["import", "--find", &folder], 0).contains("import chatgpt"));
    assert!(desk.shown(&["import", "--find", "/nowhere/at/all"], 3).contains("/nowhere/at/all"));

    let report = desk.shown(&["import", "chatgpt", &file], 0);
    assert!(report.contains("1 conversations marked") && report.contains("--mine"), "{report}");
    assert!(!desk.shown(&["list"], 0).contains("turn0search"));
    desk.shown(&["-u", "own", "import", "chatgpt", &file, "--yes"], 0);
    let facts = desk.shown(&["-u", "own", "facts"], 0);
    assert!(facts.contains("lives in Faro"), "{facts}");
    desk.shown(&["-u", "all", "import", "chatgpt", &file, "--mine", "--do-not-remember"], 0);
    assert!(desk.shown(&["-u", "all", "list"], 0).contains("I collect stamps."));
}
