//! Remarks: sentences in the user's words are listed on their day, while recall finds the turn that contains them.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use quipu_core::extract::window::{ModelReply, Operation, RuleVerdict, Window};
use quipu_core::extract::{Extraction, FactCandidate, REMARK, Reading, Stance, USER};
use quipu_core::id::{ItemKind, UserId};
use quipu_core::source::Role;
use quipu_engine::import::{ImportFormat, ReadOptions};
use quipu_engine::ports::{ExtractError, Extractor, WindowReader};
use quipu_engine::{
    ContextOptions, Engine, ExtractWithModelOptions, FactOptions, IngestOptions, RecallOptions, RememberOptions,
    Utterance, context, extract_with_model, facts, ingest_given, recall, remember, reread,
};
use quipu_testkit::{MemoryStore, TestEngine};

use crate::me;

const SAID: &str = "knee's playing up again since the half marathon";

fn remark(reading: &Reading<'_>, span: Range<usize>) -> FactCandidate {
    FactCandidate {
        subject: USER.to_owned(),
        predicate: REMARK.to_owned(),
        object: reading.text[span.clone()].to_owned(),
        span,
        stance: Stance::Holds,
        valid_from: reading.said_at,
        valid_to: None,
        confidence: 0.9,
        qualifiers: Default::default(),
    }
}

/// Reports the first sentence of every text as a remark.
struct Everything;

impl Extractor for Everything {
    fn id(&self) -> &str {
        "everything/v1"
    }

    fn read(&self, reading: &Reading<'_>) -> Result<Extraction, ExtractError> {
        let text = reading.text.split_once(". ").map_or(reading.text, |(first, _)| first);
        let remark = remark(reading, 0..text.len());
        Ok(Extraction { facts: vec![remark], ..Extraction::default() })
    }
}

/// A model with a fixed answer for every window.
struct Model(ModelReply);

impl WindowReader for Model {
    fn id(&self) -> &str {
        "model/v1"
    }

    fn read(&self, _: &UserId, window: &Window) -> Result<ModelReply, ExtractError> {
        assert!(window.known.is_empty(), "a remark is nothing to be judged: {:?}", window.known);
        Ok(self.0.clone())
    }
}

fn engine(reader: Option<Arc<dyn WindowReader>>) -> Engine {
    TestEngine { extractor: Some(Arc::new(Everything)), reader, ..TestEngine::new(1) }
        .engine(Box::new(MemoryStore::new()))
}

fn held(engine: &Engine) -> Vec<String> {
    facts(engine, &me(), &FactOptions::default()).unwrap().into_iter().map(|shown| shown.fact.text).collect()
}

fn say(engine: &Engine, text: &str) {
    remember(engine, &me(), &Utterance::of_user(text), &RememberOptions::default()).unwrap();
}

#[test]
fn a_remark_is_listed_and_its_turn_is_found() {
    // Given a sentence recorded as a remark
    let engine = engine(None);
    say(&engine, SAID);
    // Then it is listed
    assert_eq!(held(&engine), [format!("User said: {SAID}")]);
    // and recall returns its turn, once
    let found = recall(&engine, &me(), &RecallOptions::of("How is my knee?")).unwrap();
    let kinds: Vec<ItemKind> = found.hits.iter().map(|hit| hit.id.kind).collect();
    assert_eq!(kinds, [ItemKind::Turn]);
    // also where the remark is the smaller part of a message, and in packs
    say(&engine, "My knee got worse. A physio called Bram Wouters says it's runner's knee and that I must not run.");
    let found = recall(&engine, &me(), &RecallOptions::of("Who looks after my knee?")).unwrap();
    assert!(found.hits.iter().all(|hit| hit.id.kind == ItemKind::Turn), "{:?}", found.hits);
    let pack = context(&engine, &me(), &ContextOptions::of("Who looks after my knee?")).unwrap().text;
    assert!(pack.contains("Bram Wouters") && !pack.contains("noted"), "{pack}");
}

#[test]
fn there_are_no_remarks_in_documents_and_of_what_is_not_the_users_own_word() {
    let engine = engine(None);
    let options = IngestOptions {
        dry_run: false,
        conversation: None,
        extract: true,
        own_words: true,
        me: None,
        into: Some(me()),
        default_user: me(),
        read: ReadOptions::default(),
    };
    let page = format!("# Running\n\n{SAID}\n");
    let (_, fault) =
        ingest_given(&engine, ImportFormat::Markdown, ("notes.md", page.as_bytes()), &options, &mut |_| {});
    assert!(fault.is_none(), "{fault:?}");
    assert_eq!(held(&engine), Vec::<String>::new());
}

#[test]
fn a_model_that_reads_the_turn_takes_the_place_of_its_remark() {
    // Given a model that returns nothing, possibly because it failed
    let silent = engine(Some(Arc::new(Model(ModelReply::default()))));
    say(&silent, SAID);
    extract_with_model(&silent, &me(), &ExtractWithModelOptions::default()).unwrap();
    // Then the remark stays
    assert_eq!(held(&silent).len(), 1);
    // Given a model that has judged the window
    let judged =
        ModelReply { readings: vec![RuleVerdict { id: "f9".to_owned(), right: true }], ..ModelReply::default() };
    let engine = engine(Some(Arc::new(Model(judged))));
    say(&engine, SAID);
    extract_with_model(&engine, &me(), &ExtractWithModelOptions::default()).unwrap();
    // Then its reading counts instead of the remark
    assert_eq!(held(&engine), Vec::<String>::new());
}

#[test]
fn a_model_that_says_what_is_not_there_takes_the_place_of_no_remark() {
    // Given a model whose operations are refused
    let invented = Operation {
        relation: "likes".to_owned(),
        value: "anion gaps".to_owned(),
        sentence: "User likes anion gaps.".to_owned(),
        message: "m1".to_owned(),
        quote: "I like anion gaps".to_owned(),
        ..Operation::default()
    };
    let told = ModelReply { operations: vec![invented], ..ModelReply::default() };
    let engine = engine(Some(Arc::new(Model(told))));
    say(&engine, SAID);
    let read = extract_with_model(&engine, &me(), &ExtractWithModelOptions::default()).unwrap();
    // Then what was read before stays
    assert_eq!(read.understood.refused.len(), 1, "{read:?}");
    assert_eq!(held(&engine), [format!("User said: {SAID}")]);
}

/// Reports everything, or only what follows the first word.
#[derive(Default)]
struct Partly(AtomicBool);

impl Extractor for Partly {
    fn id(&self) -> &str {
        "partly/v1"
    }

    fn read(&self, reading: &Reading<'_>) -> Result<Extraction, ExtractError> {
        let whole = 0..reading.text.len();
        let part = reading.text.find(' ').map_or(whole.clone(), |at| at + 1..whole.end);
        let span = if self.0.load(Ordering::Relaxed) { part } else { whole };
        Ok(Extraction { facts: vec![remark(reading, span)], ..Extraction::default() })
    }
}

#[test]
fn words_that_a_remark_has_are_not_recorded_again() {
    // Given a remark
    let reader = Arc::new(Partly::default());
    let engine =
        TestEngine { extractor: Some(reader.clone()), ..TestEngine::new(1) }.engine(Box::new(MemoryStore::new()));
    say(&engine, SAID);
    // When the message is read again, and another part of it is found
    reader.0.store(true, Ordering::Relaxed);
    reread(&engine, &me()).unwrap();
    // Then the first one stays
    assert_eq!(held(&engine), [format!("User said: {SAID}")]);
}

#[test]
fn a_remark_is_as_sensitive_as_the_sentence_it_is_part_of() {
    let reader = Arc::new(Partly(AtomicBool::new(true)));
    let engine = TestEngine { extractor: Some(reader), ..TestEngine::new(1) }.engine(Box::new(MemoryStore::new()));
    // Given a remark whose sentence says something sensitive before it
    say(&engine, "I'm HIV positive and the doctor visits on Monday");
    // Then it is refused, and others are not
    assert_eq!(held(&engine), Vec::<String>::new());
    say(&engine, "we saw a film on Monday with my brother");
    assert_eq!(held(&engine).len(), 1);
}

/// Records what it is shown of what was said before.
#[derive(Default)]
struct Listens(Mutex<Vec<Option<String>>>);

impl Extractor for Listens {
    fn id(&self) -> &str {
        "listens/v1"
    }

    fn read(&self, reading: &Reading<'_>) -> Result<Extraction, ExtractError> {
        assert!(reading.is_turn);
        self.0.lock().unwrap().push(reading.before.map(str::to_owned));
        Ok(Extraction::default())
    }
}

#[test]
fn a_reader_is_shown_the_end_of_what_the_assistant_said_directly_before() {
    // Given a conversation
    let reader = Arc::new(Listens::default());
    let engine =
        TestEngine { extractor: Some(reader.clone()), ..TestEngine::new(1) }.engine(Box::new(MemoryStore::new()));
    let tell = |role, session: &str, text: &str| {
        let said = Utterance { role, session: Some(session.to_owned()), ..Utterance::of_user(text) };
        remember(&engine, &me(), &said, &RememberOptions::default()).unwrap();
    };
    tell(Role::User, "one", "my parents retire this year");
    tell(Role::Assistant, "one", "Are they both doctors?");
    tell(Role::User, "one", "yes, both");
    tell(Role::User, "one", "and my aunt");
    tell(Role::User, "two", "hello again");
    tell(Role::Assistant, "two", &"ä".repeat(1_000));
    tell(Role::User, "two", "ok");
    // Then the user's messages are read with the assistant's message before them, at most 400 bytes of its end
    let shown = reader.0.lock().unwrap().clone();
    assert_eq!(shown, [None, Some("Are they both doctors?".to_owned()), None, None, Some("ä".repeat(200))]);
}
