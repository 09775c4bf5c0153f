//! Imports by upload: what is shown before anything is recorded, what is recorded then, and how it is undone.

use std::sync::Arc;
use std::time::Duration;

use quipu_core::id::UserId;
use quipu_engine::ports::Scope;
use quipu_engine::{FactOptions, facts};
use quipu_fake_model::FakeScript;
use quipu_models::HashedNgrams;

use super::{OWN, rig};
use crate::rig::{Answer, TestServer};

const BOUNDARY: &str = "----quipu-test-boundary";

const CHATGPT: &str = r#"[
    {"id": "c1", "title": "Home", "current_node": "b", "mapping": {
        "a": {"parent": null, "message": {"id": "m1", "author": {"role": "user"}, "create_time": 1767261600.0,
              "content": {"content_type": "text", "parts": ["I live in Faro."]}}},
        "b": {"parent": "a", "message": {"id": "m2", "author": {"role": "assistant"}, "create_time": 1767261700.0,
              "content": {"content_type": "text", "parts": ["Faro is <b>sunny</b>."]}}}}},
    {"id": "c2", "title": "Secret", "is_do_not_remember": true, "current_node": "a", "mapping": {
        "a": {"parent": null, "message": {"id": "m3", "author": {"role": "user"},
              "content": {"content_type": "text", "parts": ["I collect stamps."]}}}}}
]"#;

/// The body of a form with a file.
fn multipart(fields: &[(&str, &str)], (name, content): (&str, &[u8])) -> Vec<u8> {
    let mut body = Vec::new();
    for (field, value) in fields {
        let head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{field}\"\r\n\r\n{value}\r\n");
        body.extend(head.as_bytes());
    }
    let head = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n"
    );
    body.extend(head.as_bytes());
    body.extend(content);
    body.extend(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
    body
}

impl TestServer {
    async fn send_multipart(&self, path: &str, headers: &[(&str, &str)], body: Vec<u8>) -> Answer {
        let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let kind = format!("multipart/form-data; boundary={BOUNDARY}");
        let mut request = client.post(self.url(path)).header("content-type", kind);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Answer::of(request.body(body).send().await.unwrap()).await
    }

    /// Uploads a file for ines, as a browser does.
    async fn uploads(&self, fields: &[(&str, &str)], name: &str, content: &[u8]) -> Answer {
        let token = self.token(&[]).await;
        let fields = [&[("token", token.as_str())], fields].concat();
        self.send_multipart("/ui/u/ines/import", &[OWN], multipart(&fields, (name, content))).await
    }

    /// Decides about an uploaded file.
    async fn decides(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let token = self.token(&[]).await;
        self.form(path, &[OWN], &[&[("token", token.as_str())], fields].concat()).await
    }

    /// The number of the preview that the page of a file shows.
    async fn shown(&self, path: &str) -> String {
        let page = self.page(path, &[]).await.html();
        let (_, rest) = page.split_once("name=\"preview\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }

    /// Confirms the import of a file as its page shows it.
    async fn confirms(&self, path: &str) -> Answer {
        self.decides(path, &[("action", "start"), ("preview", &self.shown(path).await)]).await
    }

    /// Loads the page of an import, without a script, until it has ended.
    async fn ended(&self, path: &str) -> String {
        let ended = async {
            loop {
                let page = self.page(path, &[]).await.html();
                if !page.contains("<h1>Importing ") {
                    return page;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), ended).await.unwrap()
    }

    fn version(&self) -> u64 {
        quipu_engine::versions::version(&self.engine, &UserId::parse("ines").unwrap()).unwrap()
    }

    fn known(&self) -> Vec<String> {
        let all = facts(&self.engine, &UserId::parse("ines").unwrap(), &FactOptions::default()).unwrap();
        all.into_iter().map(|one| one.fact.text).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_is_looked_at_confirmed_imported_and_undone_as_a_whole() {
    let rig = rig().await;
    let path =
        rig.uploads(&[("format", ""), ("mine", "yes")], "conversations.json", CHATGPT.as_bytes()).await.sent_to();
    assert_eq!(rig.version(), 0, "nothing is recorded yet");
    let page = rig.page(&path, &[]).await.html();
    for part in [
        "Import conversations.json?",
        "ChatGPT export",
        "2 messages in 1 conversation",
        "counts as your own words",
        "1 conversations marked",
        "1 Jan 2026",
        "Import 2</button>",
        "value=\"drop\"",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("data-live"), "nothing happens yet");
    assert!(rig.page("/ui/u/ines/import", &[]).await.html().contains("waits for you"));
    // Who else it may concern has another page.
    assert_eq!(rig.page(&path.replace("/ines/", "/otto/"), &[]).await.status, 404);
    assert_eq!(rig.confirms(&path).await.sent_to(), path);
    let page = rig.ended(&path).await;
    for part in ["conversations.json is imported", "2 messages in 1 conversation", "1 fact", "Undo all of it…"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(rig.known().iter().any(|text| text.contains("lives in Faro")), "{:?}", rig.known());
    // It is begun once.
    assert_eq!(rig.decides(&path, &[("action", "start"), ("preview", "1")]).await.status, 409);
    assert_eq!(rig.decides(&path, &[("action", "look"), ("format", "text")]).await.status, 409);
    assert!(rig.page("/ui/u/ines/upkeep", &[]).await.html().contains("chatgpt:conversations.json"));
    // The same file again is known already, and has no button.
    let again = rig.uploads(&[("mine", "yes")], "conversations.json", CHATGPT.as_bytes()).await.sent_to();
    let page = rig.page(&again, &[]).await.html();
    assert!(page.contains("Everything in it is known already") && !page.contains("value=\"start\""), "{page}");
    // The link that undoes it shows first what it does.
    let page = rig.page(&path, &[]).await.html();
    let undo = page.split("href=\"").find(|rest| rest.contains("/revert?source=")).unwrap();
    let undo = undo.split('"').next().unwrap();
    assert!(rig.page(undo, &[]).await.html().contains("What would change"));
    let source = [("source", "chatgpt:conversations.json")];
    rig.decides("/ui/u/ines/revert", &source).await.sent_to();
    assert!(rig.known().is_empty(), "{:?}", rig.known());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_kind_and_whose_words_they_are_can_be_chosen() {
    let rig = rig().await;
    // A file that tells nothing of itself.
    let path = rig.uploads(&[], "export.dat", b"I live in Faro.").await.sent_to();
    let page = rig.page(&path, &[]).await.html();
    assert!(page.contains("What kind of file is it?") && !page.contains("value=\"start\""), "{page}");
    assert_eq!(rig.decides(&path, &[("action", "start")]).await.status, 400);
    assert_eq!(rig.decides(&path, &[("action", "start"), ("preview", "1")]).await.status, 409);
    assert_eq!(rig.decides(&path, &[("action", "look"), ("format", "")]).await.status, 400);
    for (format, status) in [("fish", 400), ("ledger", 400), ("folder", 400)] {
        assert_eq!(rig.decides(&path, &[("action", "look"), ("format", format)]).await.status, status, "{format}");
    }
    // What it is not is said, with the reason.
    rig.decides(&path, &[("action", "look"), ("format", "chatgpt")]).await.sent_to();
    let page = rig.page(&path, &[]).await.html();
    assert!(page.contains("It cannot be imported as “ChatGPT export”"), "{page}");
    assert!(!page.contains("value=\"start\""), "{page}");
    rig.decides(&path, &[("action", "look"), ("format", "text"), ("mine", "yes")]).await.sent_to();
    let page = rig.page(&path, &[]).await.html();
    assert!(page.contains("It counts as your own words") && page.contains("1 passage"), "{page}");
    rig.decides(&path, &[("action", "look"), ("format", "text"), ("words_only", "yes")]).await.sent_to();
    assert!(rig.page(&path, &[]).await.html().contains("no facts are read from them"));
    assert_eq!(rig.decides(&path, &[("action", "look"), ("format", "mbox"), ("mine", "yes")]).await.status, 303);
    assert!(rig.page(&path, &[]).await.html().contains("e-mail is by many people"));
    let zone = [("action", "look"), ("format", "whatsapp"), ("timezone", "Lisbon")];
    assert_eq!(rig.decides(&path, &zone).await.status, 400);
    // Given up, it is gone.
    assert_eq!(rig.decides(&path, &[("action", "drop")]).await.sent_to(), "/ui/u/ines/import");
    assert_eq!(rig.page(&path, &[]).await.status, 404);
    assert_eq!(rig.version(), 0);
    // An export that may be one's own asks.
    let path = rig.uploads(&[], "conversations.json", CHATGPT.as_bytes()).await.sent_to();
    let page = rig.page(&path, &[]).await.html();
    assert!(page.contains("If this is your own export, say so below"), "{page}");
    assert!(page.contains("Nothing in it counts as your own words"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_is_old_by_now_confirms_nothing() {
    let rig = rig().await;
    let path = rig.uploads(&[], "notes.txt", b"I live in Faro.").await.sent_to();
    let shown = rig.shown(&path).await;
    // In another tab it is made one's own words.
    rig.decides(&path, &[("action", "look"), ("format", "text"), ("mine", "yes")]).await.sent_to();
    let refused = rig.decides(&path, &[("action", "start"), ("preview", &shown)]).await;
    assert!(refused.status == 409 && refused.text().contains("load it again"), "{}", refused.text());
    assert_eq!(rig.version(), 0, "nothing was imported");
    rig.confirms(&path).await.sent_to();
    rig.ended(&path).await;
    assert!(rig.known().iter().any(|text| text.contains("lives in Faro")), "{:?}", rig.known());
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_broken_file_or_upload_is_kept() {
    let rig = rig().await;
    let cut = &CHATGPT.as_bytes()[..CHATGPT.len() / 2];
    let path = rig.uploads(&[], "conversations.json", cut).await.sent_to();
    let page = rig.page(&path, &[]).await.html();
    assert!(page.contains("It cannot be imported") && page.contains("Nothing of it was recorded"), "{page}");
    assert_eq!(rig.decides(&path, &[("action", "start"), ("preview", "1")]).await.status, 409);
    // A body without its end.
    let token = rig.token(&[]).await;
    let whole = multipart(&[("token", &token)], ("conversations.json", CHATGPT.as_bytes()));
    let broken = rig.send_multipart("/ui/u/ines/import", &[OWN], whole[..whole.len() / 2].to_vec()).await;
    assert!(broken.status == 400 && broken.text().contains("nothing of it was kept"), "{}", broken.text());
    let empty = rig.uploads(&[], "a.txt", b"").await;
    assert!(empty.status == 400 && empty.text().contains("is empty"), "{}", empty.text());
    let none = rig.form("/ui/u/ines/import", &[OWN], &[("token", &token)]).await;
    assert!(none.status == 400 && none.text().contains("choose one first"), "{}", none.text());
    // Without its token, a form is not accepted, whatever its encoding.
    let foreign = multipart(&[("token", "guessed")], ("a.txt", b"I live in Faro."));
    assert_eq!(rig.send_multipart("/ui/u/ines/import", &[OWN], foreign).await.status, 403);
    assert_eq!(rig.version(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_too_large_is_refused_with_the_bound_and_a_way_out() {
    let small = |options: &mut quipu_server::ServerOptions| options.bounds.upload_bytes_max = 100_000;
    let rig = TestServer::with(FakeScript::saying("hello"), Arc::new(HashedNgrams::new()), small).await;
    assert!(rig.page("/ui/u/ines/import", &[]).await.html().contains("at most 100 kB"));
    let refused = rig.uploads(&[], "a.txt", &vec![b'a'; 3_000_000]).await;
    assert_eq!(refused.status, 413);
    assert!(
        refused.text().contains("larger than 100 kB") && refused.text().contains("quipu import"),
        "{}",
        refused.text()
    );
    rig.uploads(&[], "a.txt", "I like tea. ".repeat(8_000).as_bytes()).await.sent_to();
    assert_eq!(rig.version(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn few_files_are_received_at_a_time() {
    let rig = rig().await;
    let token = rig.token(&[]).await;
    let whole = multipart(&[("token", &token)], ("a.txt", b"I live in Faro."));
    // Uploads that have begun and do not end.
    let slow: Vec<_> = (0..4)
        .map(|_| {
            let head = format!(
                "POST /ui/u/ines/import HTTP/1.1\r\nhost: {}\r\n{}: {}\r\ncontent-length: {}\r\n\
                 content-type: multipart/form-data; boundary={BOUNDARY}\r\n\r\n",
                rig.addr,
                OWN.0,
                OWN.1,
                whole.len()
            );
            let mut stream = std::net::TcpStream::connect(rig.addr).unwrap();
            std::io::Write::write_all(&mut stream, head.as_bytes()).unwrap();
            stream
        })
        .collect();
    let refused = async {
        loop {
            let answer = rig.uploads(&[], "a.txt", b"I live in Faro.").await;
            if answer.status == 503 {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let refused = tokio::time::timeout(Duration::from_secs(30), refused).await.unwrap();
    assert!(refused.text().contains("busy"), "{}", refused.text());
    // Once they are given up, there is room again.
    drop(slow);
    let received = async {
        while rig.uploads(&[], "a.txt", b"I live in Faro.").await.status != 303 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), received).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_page_hears_how_far_its_import_is() {
    let rig = rig().await;
    let path = rig.uploads(&[], "notes.txt", b"I live in Faro.\n\nI like tea.").await.sent_to();
    let id = path.rsplit('/').next().unwrap();
    let live = |id: &str| format!("/ui/u/ines/live?import={id}&after=0");
    let mut response = rig.client.get(rig.url(&live(id))).send().await.unwrap();
    assert_eq!(response.status(), 200);
    rig.confirms(&path).await.sent_to();
    rig.ended(&path).await;
    let mut seen = String::new();
    while !seen.contains("event: version") {
        let piece = tokio::time::timeout(Duration::from_secs(30), response.chunk()).await.unwrap();
        seen += std::str::from_utf8(&piece.unwrap().unwrap()).unwrap();
    }
    assert!(!seen.contains("Faro"), "{seen}");
    assert_eq!(rig.page(&live("000000000000000000000000"), &[]).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_only_read_imports_nothing_and_sees_no_file() {
    let rig = TestServer::with(FakeScript::saying("hello"), Arc::new(HashedNgrams::new()), |options| {
        options.needs_key = true;
    })
    .await;
    let cookie = rig.signed_in(&rig.key(&[Scope::Read], Some("ines"))).await;
    let headers = [("cookie", cookie.as_str()), OWN];
    let page = rig.page("/ui/u/ines/import", &headers[..1]).await.html();
    assert!(page.contains("needs a key with the scope write") && !page.contains("type=\"file\""), "{page}");
    let body = multipart(&[("token", "x")], ("a.txt", b"I live in Faro."));
    assert_eq!(rig.send_multipart("/ui/u/ines/import", &headers, body).await.status, 403);
    assert_eq!(rig.page("/ui/u/ines/import/x", &headers[..1]).await.status, 403);
    assert_eq!(rig.page("/ui/u/ines/live?import=x&after=0", &headers[..1]).await.status, 403);
}
