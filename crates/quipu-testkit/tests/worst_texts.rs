//! Much of the worst text through the ways in for messages and files. What is stored and embedded grows in proportion to the text, and
//! each call ends: a step whose time grew with the square of the text would not.
//!
//! CI takes 24 KiB; `QUIPU_WORST_BYTES=1048576` takes a megabyte.
//!
//! With `--nocapture --test-threads 1` a line is printed after each call, so that they can be timed from outside.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::collections::BTreeMap;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use quipu_core::id::UserId;
use quipu_core::source::Role;
use quipu_engine::import::{ImportFormat, ReadOptions};
use quipu_engine::ingest::{IngestOptions, NamedContent, ingest_given};
use quipu_engine::{Engine, RecallOptions, RememberOptions, Utterance, recall, remember, status};
use quipu_models::{RuleExtractor, RuleSummarizer};
use quipu_testkit::{CountingEmbedder, MemoryStore, TestEngine};
use serde_json::json;

/// The longer text, by default. It is compared with a quarter of it.
const LARGE: usize = 24 << 10;
/// How long a call may take before it counts as one that never ends.
const PATIENCE: Duration = Duration::from_secs(240);

/// `unit`, repeated until `bytes` bytes are full.
fn repeated(unit: &str, bytes: usize) -> String {
    unit.repeat(bytes / unit.len())
}

/// `line` for each number, until `bytes` bytes are full.
fn numbered(bytes: usize, line: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for number in 0.. {
        let line = line(number);
        if text.len() + line.len() > bytes {
            break;
        }
        text.push_str(&line);
    }
    text
}

/// A kind of text, and the text of a size.
type Worst = (&'static str, fn(usize) -> String);

const WORST: [Worst; 26] = [
    ("one word", |bytes| repeated("a", bytes)),
    ("one word of digits", |bytes| repeated("7", bytes)),
    ("one word of random letters", |bytes| {
        numbered(bytes, |number| format!("{:x}q", number.wrapping_mul(0x9e37_79b9)))
    }),
    ("and", |bytes| repeated("and ", bytes)),
    ("I", |bytes| repeated("I ", bytes)),
    ("my sister's sister's", |bytes| format!("My {} lives in Porto.", repeated("sister's ", bytes - 32))),
    ("open brackets", |bytes| repeated("(", bytes)),
    ("deep brackets", |bytes| format!("{}{}", repeated("([{", bytes / 2), repeated("}])", bytes / 2))),
    ("nested quotations", |bytes| repeated("\"'“‘", bytes)),
    ("quoting lines", |bytes| numbered(bytes, |number| format!("{} I said so\n", ">".repeat(number % 200 + 1)))),
    ("dates", |bytes| {
        numbered(bytes, |number| format!("{}-0{}-1{} ", 1900 + number % 200, number % 9 + 1, number % 9))
    }),
    ("spoken dates", |bytes| repeated("next Tuesday two weeks ago on the 3rd of May ", bytes)),
    ("names", |bytes| numbered(bytes, |number| format!("Anna{number} Berg{number} "))),
    ("capitals", |bytes| repeated("A B C D ", bytes)),
    ("Chinese", |bytes| repeated("我住在波尔图她喜欢茶", bytes)),
    ("right to left", |bytes| repeated("אני גר בפורטו \u{202e}شاي ", bytes)),
    ("combining marks", |bytes| format!("a{}", repeated("\u{301}", bytes - 1))),
    ("emoji", |bytes| repeated("👩\u{200d}👩\u{200d}👧\u{200d}👦", bytes)),
    ("spaces", |bytes| format!("a{}a", repeated(" ", bytes - 2))),
    ("line ends", |bytes| format!("a{}a", repeated("\n", bytes - 2))),
    ("full stops", |bytes| repeated(".", bytes)),
    ("short lines", |bytes| repeated("I like tea\n", bytes)),
    ("claims", |bytes| numbered(bytes, |number| format!("I live in Town{number}. I like Tea{number}. "))),
    ("tasks", |bytes| numbered(bytes, |number| format!("I have to call Bob{number} tomorrow. "))),
    ("clauses", |bytes| format!("I like {} tea.", repeated("tea, because I like ", bytes - 32))),
    // What replaces a secret may be longer than it.
    ("secrets", |bytes| repeated("password password: sk-ant-", bytes / 4 * 3)),
];

/// Text of a Markdown file or of an export.
const MARKED_UP: [Worst; 6] = [
    ("headings", |bytes| numbered(bytes, |number| format!("# Heading {number}\n"))),
    ("deep lists", |bytes| numbered(bytes, |number| format!("{}- one\n", " ".repeat(number % 400)))),
    ("links", |bytes| repeated("[[", bytes)),
    ("open links", |bytes| repeated("[a](", bytes)),
    ("fences", |bytes| repeated("```\n", bytes)),
    ("front matter", |bytes| format!("---\n{}", repeated("a: [", bytes - 4))),
];

/// What was done for a text.
type Work = BTreeMap<&'static str, u64>;

fn user() -> UserId {
    UserId::parse("ada").unwrap()
}

/// An engine as the program has it, with the rules of all it reads.
fn engine() -> (Engine, Arc<CountingEmbedder>, MemoryStore) {
    let mut ports = TestEngine::new(1);
    ports.extractor = Some(Arc::new(RuleExtractor::english()));
    ports.summarizer = Some(Arc::new(RuleSummarizer));
    let store = MemoryStore::new();
    (ports.engine(Box::new(store.clone())), ports.embedder.clone(), store)
}

/// Ways in.
#[derive(Debug, Clone, Copy)]
enum Door {
    Add,
    AddReply,
    Import(ImportFormat),
}

impl Door {
    fn take(self, engine: &Engine, text: &str) {
        match self {
            Self::Add => {
                let said = Utterance { session: Some("s".to_owned()), ..Utterance::of_user(text) };
                remember(engine, &user(), &said, &RememberOptions::default()).unwrap();
                let next = Utterance { session: Some("s".to_owned()), ..Utterance::of_user("I live in Porto.") };
                remember(engine, &user(), &next, &RememberOptions::default()).unwrap();
            }
            Self::AddReply => {
                let said = Utterance { session: Some("s".to_owned()), ..Utterance::of_user("What do you think?") };
                remember(engine, &user(), &said, &RememberOptions::default()).unwrap();
                let reply = Utterance { role: Role::Assistant, ..Utterance::of_user(text) };
                let reply = Utterance { session: Some("s".to_owned()), ..reply };
                remember(engine, &user(), &reply, &RememberOptions::default()).unwrap();
                let next = Utterance { session: Some("s".to_owned()), ..Utterance::of_user("I see.") };
                remember(engine, &user(), &next, &RememberOptions::default()).unwrap();
            }
            Self::Import(format) => {
                let options = IngestOptions {
                    dry_run: false,
                    conversation: None,
                    extract: true,
                    own_words: true,
                    me: None,
                    into: Some(user()),
                    default_user: user(),
                    read: ReadOptions::default(),
                };
                let bytes = if format == ImportFormat::OpenAi {
                    json!({"messages": [{"role": "user", "content": text}]}).to_string().into_bytes()
                } else {
                    text.as_bytes().to_vec()
                };
                let content: NamedContent<'_> = ("worst", &bytes);
                // Text that is no file of the format is refused, which must not take long either.
                let (_, _refused) = ingest_given(engine, format, content, &options, &mut |_| {});
            }
        }
        if status(engine, &user()).is_ok() {
            recall(engine, &user(), &RecallOptions::of("Where do I live?")).unwrap();
        }
    }
}

/// Takes a text in, and returns what was done for it.
fn work(door: Door, name: &'static str, text: String) -> Work {
    let (tell, told) = mpsc::channel();
    let size = text.len();
    std::thread::Builder::new()
        .name(format!("{door:?} {name}"))
        .spawn(move || {
            let (engine, embedder, store) = engine();
            door.take(&engine, &text);
            let stored: usize = store.contents().iter().map(Vec::len).sum();
            let work = Work::from([("texts embedded", embedder.texts()), ("bytes stored", stored as u64)]);
            drop(tell.send(work));
        })
        .unwrap();
    match told.recv_timeout(PATIENCE) {
        Ok(work) => {
            println!("{size} bytes, {door:?}, {name}: {work:?}");
            work
        }
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{door:?}, {name}: no end after {PATIENCE:?}"),
        Err(mpsc::RecvTimeoutError::Disconnected) => panic!("{door:?}, {name}: see the panic above"),
    }
}

/// Four times the text is at most about four times the work.
fn is_linear(door: Door, worst: &[Worst]) {
    let set = std::env::var("QUIPU_WORST_BYTES").ok();
    let large_bytes = set.map_or(LARGE, |bytes| bytes.parse().unwrap()).min(quipu_core::limit::SOURCE_BYTES_MAX);
    let small_bytes = large_bytes / 4;
    let mut wrong = Vec::new();
    for (name, text) in worst {
        let [small, large] = [small_bytes, large_bytes].map(|bytes| work(door, name, text(bytes)));
        for (what, count) in large {
            let few = small.get(what).copied().unwrap_or_default();
            if count > few * 5 + 10_000 {
                wrong.push(format!(
                    "{door:?}, {name}: {what} {few} of {small_bytes} bytes, and {count} of {large_bytes}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_message() {
    is_linear(Door::Add, &WORST);
}

#[test]
fn a_reply() {
    is_linear(Door::AddReply, &WORST);
}

#[test]
fn a_text_file() {
    is_linear(Door::Import(ImportFormat::Text), &WORST);
}

#[test]
fn a_markdown_file() {
    is_linear(Door::Import(ImportFormat::Markdown), &WORST);
    is_linear(Door::Import(ImportFormat::Markdown), &MARKED_UP);
}

#[test]
fn a_chat() {
    is_linear(Door::Import(ImportFormat::OpenAi), &WORST);
}

#[test]
fn text_that_is_no_file_of_the_format() {
    for format in [ImportFormat::WhatsApp, ImportFormat::MemoryJsonl, ImportFormat::ChatGpt] {
        is_linear(Door::Import(format), &WORST[..6]);
    }
}
