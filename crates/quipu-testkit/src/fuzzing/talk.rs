//! What people and models say: messages, questions, and a model's reply about a conversation.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use jiff::Timestamp;
use quipu_core::calendar::TimeExpression;
use quipu_core::extract::window::{self, KnownItem, ModelReply, Speaker, Window, WindowView};
use quipu_core::extract::{Extraction, Reading};
use quipu_core::guard::{Echo, looks_like_instructions, redact, sensitivity, strip_packs};
use quipu_core::id::{ItemId, ItemKind, UserId};
use quipu_core::item::Depth;
use quipu_core::limit;
use quipu_core::pack::{escape_for_terminal, excerpt, neutralise};
use quipu_core::predicate::Predicates;
use quipu_core::session::{KnownEntry, RuleBook};
use quipu_core::source::Role;
use quipu_engine::ports::Extractor;
use quipu_engine::{
    ContextOptions, Engine, Error, RecallOptions, RememberOptions, SessionContextOptions, Utterance, context, rebuild,
    recall, remember, session_context, verify,
};
use quipu_models::{RuleExtractor, RuleSummarizer};

use crate::{MemoryStore, TestEngine};

static RULES: LazyLock<Arc<RuleExtractor>> = LazyLock::new(super::rules);

/// A message is no longer than this; long texts are the subject of `worst_texts.rs`.
const MESSAGE_BYTES_MAX: usize = 4 << 10;
const MESSAGES_MAX: usize = 8;

fn said_at() -> Option<Timestamp> {
    Timestamp::from_second(1_770_000_000).ok()
}

fn user() -> UserId {
    match UserId::parse("ada") {
        Ok(user) => user,
        Err(refusal) => panic!("{refusal}"),
    }
}

/// A message of the user, after an empty line if one of the assistant comes before it.
///
/// It is read by the rules of extraction and of sessions, and searched for secrets, sensitive statements, instructions and repetitions. Every
/// span is a part of the text. Redaction is idempotent. What is shown to a model or on a terminal has no control characters.
pub fn reading(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (before, text) = match text.split_once("\n\n") {
        Some((before, text)) => (Some(before), text),
        None => (None, text),
    };
    let known = ["Ana".to_owned(), "Rex".to_owned()];
    let reading = Reading { before, known: &known, ..Reading::of_user(text, said_at()) };
    match RULES.read(&reading) {
        Ok(found) => spans_are_in(text, &found),
        Err(error) => panic!("the rules cannot read: {error}"),
    }
    for date in RULES.dates(text, said_at()) {
        is_in(text, &date.range);
        assert!(date.back.start() <= date.back.end() && date.ahead.start() <= date.ahead.end(), "{date:?}");
    }
    guards(text);
    let book = RuleBook::english();
    let entry = |bits, text: &str| KnownEntry {
        id: ItemId { kind: ItemKind::Truth, bits },
        kind: book.kind_of(text),
        text: text.to_owned(),
    };
    let known =
        [entry(1, "Use PostgreSQL"), entry(2, "The budget is 40 euros"), entry(3, before.unwrap_or("Be brief"))];
    for depth in [Depth::Short, Depth::Long] {
        let proposed = book.propose(text, before.unwrap_or_default(), depth, &known);
        let words = proposed.user_summary.split_whitespace().count();
        assert!(words <= limit::USER_SUMMARY_WORDS_MAX, "a summary of {words} words");
    }
    let _ = (book.matters(text), book.takes_back(text, &known[0].text), book.merges(&known));
}

fn guards(text: &str) {
    let redacted = redact(text);
    for redaction in &redacted.found {
        let marker = redacted.text.get(redaction.span.clone()).unwrap_or_default();
        assert_eq!(marker, format!("[REDACTED:{}]", redaction.kind), "a span of no marker");
    }
    assert_eq!(redact(&redacted.text).text, redacted.text, "redacted twice, it is another text");
    let _ = (sensitivity(text), looks_like_instructions(text), strip_packs(text));
    let _ = Echo::new(text.lines()).covers(text);
    let plain = neutralise(text);
    assert!(!plain.chars().any(char::is_control), "a control character is shown to a model");
    assert!(!plain.to_ascii_lowercase().contains("<memory"), "a delimiter is shown to a model");
    assert_eq!(neutralise(&plain), plain, "neutralised twice, it is another text");
    let shown = escape_for_terminal(text);
    assert!(!shown.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "a control character on a terminal");
    let wanted = BTreeSet::from(["tea".to_owned()]);
    is_in(text, &excerpt(text, &[], &wanted, 20).span);
}

fn is_in(text: &str, span: &Range<usize>) {
    assert!(text.get(span.clone()).is_some(), "{span:?} is no part of a text of {} bytes", text.len());
}

fn spans_are_in(text: &str, found: &Extraction) {
    found.facts.iter().for_each(|one| is_in(text, &one.span));
    found.tasks.iter().for_each(|one| is_in(text, &one.span));
    found.updates.iter().for_each(|one| is_in(text, &one.span));
    found.notes.iter().for_each(|one| is_in(text, &one.span));
    found.tenets.iter().for_each(|one| is_in(text, &one.span));
    found.claims.iter().for_each(|one| is_in(text, &one.candidate.span));
    found.task_claims.iter().for_each(|one| is_in(text, &one.candidate.span));
    found.refused.iter().for_each(|one| is_in(text, &one.span));
    found.passed_over.iter().for_each(|one| is_in(text, &one.span));
}

/// An engine as the program has it, with the rules of all it reads.
fn engine() -> Engine {
    let mut ports = TestEngine::new(1);
    ports.extractor = Some(super::rules());
    ports.summarizer = Some(Arc::new(RuleSummarizer));
    ports.engine(Box::new(MemoryStore::new()))
}

/// A memory with a little of everything that questions may be about.
static TOLD: LazyLock<Engine> = LazyLock::new(|| {
    let engine = engine();
    for text in [
        "I live in Porto. My sister Ana moved to Graz in March 2024.",
        "I used to work at Siemens until 2021; now I'm a nurse.",
        "I have to renew my passport by next Friday.",
        "I'm allergic to peanuts and I like tea, but not green tea.",
        "Yesterday I went hiking with Tom in the Alps.",
    ] {
        let said = Utterance { session: Some("s".to_owned()), ..Utterance::of_user(text) };
        if let Err(error) = remember(&engine, &user(), &said, &RememberOptions::default()) {
            panic!("{error}");
        }
    }
    engine
});

/// A question about a small memory, or a time as people type it.
///
/// Only invalid questions are refused. What is found is within the limits, and a pack stays within its budget of tokens.
pub fn question(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let (Ok(time), Some(now)) = (text.parse::<TimeExpression>(), said_at())
        && let (Ok(start), Ok(end)) = (time.at(now), time.last_moment(now, &|_| jiff::tz::Offset::UTC))
    {
        assert!(start <= end, "{text:?} ends before it begins");
    }
    let options = RecallOptions { explain: true, now: said_at(), ..RecallOptions::of(text) };
    match recall(&TOLD, &user(), &options) {
        Ok(found) => assert!(found.hits.len() <= options.k, "more hits than asked for"),
        Err(Error::Invalid(_)) => return,
        Err(error) => panic!("recall: {error}"),
    }
    let options = ContextOptions { max_tokens: 300, now: said_at(), ..ContextOptions::of(text) };
    match context(&TOLD, &user(), &options) {
        Ok(pack) => assert!(pack.tokens <= options.max_tokens, "a pack of {} tokens", pack.tokens),
        Err(error) => panic!("context: {error}"),
    }
}

/// A conversation: a message in each line, of the assistant if it begins with `>`. The last one is also asked as a question.
///
/// Only invalid messages are refused. The ledger is intact, and its replay gives the same bytes as the live memory.
pub fn conversation(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let engine = engine();
    let mut last = "";
    for line in text.lines().filter(|line| line.len() <= MESSAGE_BYTES_MAX).take(MESSAGES_MAX) {
        let (role, words) = match line.strip_prefix('>') {
            Some(words) => (Role::Assistant, words),
            None => (Role::User, line),
        };
        let said = Utterance { role, session: Some("s".to_owned()), ..Utterance::of_user(words) };
        match remember(&engine, &user(), &said, &RememberOptions::default()) {
            Ok(_) => last = words,
            Err(Error::Invalid(_) | Error::Refused(_)) => {}
            Err(error) => panic!("remember: {error}"),
        }
    }
    if last.is_empty() {
        return;
    }
    for outcome in [
        recall(&engine, &user(), &RecallOptions::of(last)).map(drop),
        session_context(&engine, &user(), &SessionContextOptions::of("s")).map(drop),
    ] {
        match outcome {
            Ok(()) | Err(Error::Invalid(_)) => {}
            Err(error) => panic!("reading: {error}"),
        }
    }
    match verify(&engine, &user(), &[], &mut |_| {}) {
        Ok(report) => assert!(report.is_intact(), "the ledger is damaged"),
        Err(error) => panic!("verify: {error}"),
    }
    match rebuild(&engine, &user(), &mut |_| {}) {
        Ok(rebuilt) => assert!(rebuilt.identical, "the replay differs from the live memory"),
        Err(error) => panic!("rebuild: {error}"),
    }
}

/// A message in the first line, and a model's reply about it as JSON after it.
///
/// Every operation is accepted or refused with a reason, and every span is a part of the message.
pub fn model_reply(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Some((message, reply)) = text.split_once('\n') else { return };
    let Ok(reply) = serde_json::from_str::<ModelReply>(reply) else { return };
    let id = |kind, bits| ItemId { kind, bits };
    let known = |mark: &str, bits, text: &str, claim: [&str; 3]| KnownItem {
        mark: mark.to_owned(),
        id: id(ItemKind::Fact, bits),
        text: text.to_owned(),
        claim: Some(claim.map(str::to_owned)),
        read_in: (mark == "f2").then(|| "m2".to_owned()),
    };
    let shown = |mark: &str, bits, text: &str, speaker, is_new| WindowView {
        mark: mark.to_owned(),
        source: id(ItemKind::Turn, bits),
        text: text.to_owned(),
        speaker,
        said_at: said_at(),
        is_new,
        dates: RULES.dates(text, said_at()),
    };
    let window = Window {
        messages: vec![
            shown("m1", 1, "Do you still live in Porto?", Speaker::Assistant, false),
            shown("m2", 2, message, Speaker::User, true),
        ],
        known: vec![
            known("f1", 11, "User lives in Porto", ["user", "lives_in", "Porto"]),
            known("f2", 12, "User has Dell", ["user", "owns_device", "Dell"]),
            KnownItem { claim: None, ..known("t1", 13, "renew the passport", ["", "", ""]) },
        ],
    };
    for (source, found) in window::check(&window, &PREDICATES, &reply) {
        assert_eq!(source, id(ItemKind::Turn, 2), "something is attributed to a message that is not new");
        spans_are_in(message, &found);
    }
}

static PREDICATES: LazyLock<Predicates> = LazyLock::new(Predicates::default_registry);
