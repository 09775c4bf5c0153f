//! Writes golden ledgers of the current format to a folder: `cargo run -p quipu-testkit --example write_golden
//! FOLDER`.
//!
//! Golden files are never edited or overwritten: an existing file is left unchanged and reported. When the stored
//! format changes, write the next folder (`testdata/golden/v2`) and keep the old ones.

#![expect(clippy::expect_used, reason = "a generator stops at what it did not expect")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use quipu_core::core_document;
use quipu_core::event::{Actor, Change, SourceKind};
use quipu_core::evolve::PromotionThresholds;
use quipu_core::extract::window::{ModelReply, RuleVerdict, Window};
use quipu_core::id::{ItemId, ItemKind, UserId};
use quipu_core::item::{ReviewDecision, TruthKind};
use quipu_core::ledger::{FORMAT, SealedEvent};
use quipu_core::source::{Artifact, Role, Source};
use quipu_engine::erase::EraseTarget;
use quipu_engine::ingest::record_sources;
use quipu_engine::ports::{ExtractError, WindowReader};
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::{EventRef, When};
use quipu_engine::{
    ConsolidateOptions, CoreEdit, Engine, EvolveOptions, ExtractWithModelOptions, FactOptions, PatchOptions,
    PromoteRequest, RecallOptions, RememberOptions, Utterance, WriteRequest, chosen, compact, consolidate,
    decide_review, edit_core, end_session, erase, evolve, extract_with_model, facts, flush_hits, fork, mark, merge,
    pick, promote, recall, reflect, remember, retract, revert, reviews, score_fact, set_base_truth, show, status,
    tell_episodes, unset_base_truth, write,
};
use quipu_models::{RuleExtractor, RuleSummarizer};
use quipu_testkit::{MemoryStore, TestEngine, engine, golden};
use serde_json::{Value, json};

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: write_golden FOLDER");
        return ExitCode::FAILURE;
    };
    if folder.file_name() != Some(format!("v{FORMAT}").as_ref()) {
        eprintln!("the folder of format {FORMAT} is called v{FORMAT}");
        return ExitCode::FAILURE;
    }
    fs::create_dir_all(&folder).expect("the folder can be made");
    let store = MemoryStore::new();
    let engine = engine(Box::new(store.clone()));
    let rig = TestEngine { summarizer: Some(Arc::new(RuleSummarizer)), ..TestEngine::new(2) };
    let telling = rig.engine(Box::new(store.clone()));
    let rig = TestEngine { extractor: Some(Arc::new(RuleExtractor::english())), ..TestEngine::new(3) };
    let growing = rig.engine(Box::new(store.clone()));
    let rig = TestEngine { extractor: Some(Arc::new(RuleExtractor::english())), ..TestEngine::new(4) };
    let evolving = rig.engine(Box::new(store.clone()));
    let rig = TestEngine { extractor: Some(Arc::new(RuleExtractor::english())), ..TestEngine::new(5) };
    let understanding = rig.engine(Box::new(store.clone()));
    let rig = TestEngine {
        extractor: Some(Arc::new(RuleExtractor::english())),
        reader: Some(Arc::new(Denier)),
        ..TestEngine::new(6)
    };
    let judging = rig.engine(Box::new(store.clone()));
    let mut kept = 0;
    for (name, make) in &LEDGERS {
        make(match *name {
            "talked" => &telling,
            "grown" => &growing,
            "evolved" => &evolving,
            "fields" => &understanding,
            "misread" => &judging,
            _ => &engine,
        });
        kept += usize::from(!save(&folder, name, &events_of(&store, &user(name))));
    }
    if kept == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Writes a ledger. Returns false if the file exists.
fn save(folder: &Path, name: &str, events: &[SealedEvent]) -> bool {
    let (ledger, folded) = (folder.join(format!("{name}.jsonl")), folder.join(format!("{name}.fold.json")));
    if ledger.exists() || folded.exists() {
        eprintln!("{} is there and is kept: golden files are never written again", ledger.display());
        return false;
    }
    let text = golden::to_lines(events).expect("events can be written as lines");
    let fold = golden::fold(&user(name), events).expect("what was written can be folded");
    let fold = serde_json::to_string_pretty(&fold).expect("a fold is JSON");
    fs::write(&ledger, text).expect("the ledger can be written");
    fs::write(&folded, fold + "\n").expect("the fold can be written");
    println!("{}: {} events", ledger.display(), events.len());
    true
}

type Write = fn(&Engine);

/// Name of the user and the file, and the function that fills the ledger. Later ones build on earlier ones.
const LEDGERS: [(&str, Write); 11] = [
    ("everyday", everyday),
    ("unicode", unicode),
    ("erased", erased),
    ("forked", forked),
    ("picked", picked),
    ("drawn", drawn),
    ("talked", talked),
    ("grown", grown),
    ("evolved", evolved),
    ("fields", fields),
    ("misread", misread),
];

fn user(name: &str) -> UserId {
    UserId::parse(name).expect("a user id")
}

fn events_of(store: &MemoryStore, user: &UserId) -> Vec<SealedEvent> {
    let mut events = Vec::new();
    store.tamper(user, |held| events.clone_from(held));
    events
}

fn say(engine: &Engine, me: &UserId, said: &Utterance, key: Option<&str>, why: Option<&str>) -> ItemId {
    let options = RememberOptions {
        idempotency_key: key.map(str::to_owned),
        rationale: why.map(str::to_owned),
        ..RememberOptions::default()
    };
    remember(engine, me, said, &options).expect("it is remembered").items[0]
}

fn set(engine: &Engine, me: &UserId, pointer: &str, value: Value) {
    let options =
        PatchOptions { rationale: Some("as told".to_owned()), confidence: Some(0.75), ..PatchOptions::default() };
    edit_core(engine, me, &CoreEdit::Set(pointer.to_owned(), value), &options).expect("it is set");
}

fn take_back(engine: &Engine, me: &UserId, seqs: &[u64]) {
    let selection = Selection::Events(seqs.iter().map(|&seq| EventRef::Seq(seq)).collect());
    let why = RevertOptions { rationale: Some("it was a mistake".to_owned()), probes: Vec::new() };
    revert(engine, me, &selection, &why, &mut |_| {}).expect("it is reverted");
}

fn everyday(engine: &Engine) {
    let me = user("everyday");
    let said = |role: Role, author: Option<&str>, text: &str| Utterance {
        role,
        author: author.map(str::to_owned),
        session: Some("monday".to_owned()),
        topic: Some("moving".to_owned()),
        ..Utterance::of_user(text)
    };
    let lyon = say(engine, &me, &said(Role::User, Some("Ana"), "I live in Lyon."), Some("key-1"), Some("first words"));
    say(engine, &me, &said(Role::Assistant, None, "Noted: you live in Lyon."), None, None);
    say(engine, &me, &said(Role::Tool, Some("weather"), "{\"lyon\": \"rain\"}"), None, None);
    say(engine, &me, &said(Role::System, None, "Answer briefly."), None, None);
    let at = "2025-06-10T08:30:00.123456Z".parse().expect("a time");
    let code =
        Artifact { kind: "code".to_owned(), name: Some("route.py".to_owned()), text: "print('Porto')".to_owned() };
    let image = Artifact { kind: "image".to_owned(), name: None, text: "a map of Porto".to_owned() };
    let porto = Utterance {
        said_at: Some(at),
        artifacts: vec![code, image],
        ..said(Role::User, Some("Ana"), "I moved to Porto.")
    };
    let porto = say(engine, &me, &porto, None, None);
    set(engine, &me, "/location/current", json!("Lyon"));
    set(engine, &me, "/location/current", json!("Porto"));
    set(engine, &me, "/identity/name", json!("Ana"));
    set(engine, &me, "/preferences/likes/-", json!("fado"));
    set(engine, &me, "/preferences/likes/-", json!("tea"));
    set(engine, &me, "/uncategorized/numbers", json!([0, -1, 1.5, 1e300, 9007199254740993_i64, true, null]));
    edit_core(engine, &me, &CoreEdit::Unset("/preferences/likes/0".to_owned()), &PatchOptions::default())
        .expect("it is unset");
    let moved = r#"[{"op":"move","from":"/identity/name","path":"/identity/fullName"},
        {"op":"copy","from":"/identity/fullName","path":"/identity/name"},{"op":"test","path":"/identity/name","value":"Ana"}]"#;
    let moved = core_document::parse(moved).expect("a patch");
    edit_core(engine, &me, &CoreEdit::Patch(moved), &PatchOptions::default()).expect("it is patched");
    mark(engine, &me, &porto.to_string(), Some(true), Some(2)).expect("it is marked");
    mark(engine, &me, &lyon.to_string(), None, Some(-2)).expect("it is marked");
    take_back(engine, &me, &[1, 6]);
    take_back(engine, &me, &[2, 3]);
    take_back(engine, &me, &[17]);
}

fn unicode(engine: &Engine) {
    let me = user("unicode");
    let texts = [
        "Ñandú, Zürich, Łódź, e\u{301} and é",
        "\u{1f9f6}\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} \u{202e}right to left\u{202c} \u{feff}",
        "中文 日本語 한국어 עברית العربية",
        "tab\tline\nquote\" backslash\\ slash/ delete\u{7f} separator\u{2028}",
        "\u{10ffff}\u{fffd}\u{e000}",
    ];
    for text in texts {
        let said = Utterance {
            author: Some("Renée \u{1f642}".to_owned()),
            session: Some("séance".to_owned()),
            ..Utterance::of_user(text)
        };
        say(engine, &me, &said, None, Some("pourquoi pas \u{2764}"));
    }
    set(engine, &me, "/uncategorized/clé~1~0", json!({"ключ": "значение \u{1f511}"}));
    say(engine, &me, &Utterance::of_user("with a key"), Some("Schlüssel \u{1f511}"), None);
    let document = |text: &str| Source {
        id: ItemId { kind: ItemKind::Document, bits: 0 },
        session: Some("notes".into()),
        topic: None,
        role: Role::User,
        author: None,
        said_at: None,
        text: text.into(),
        artifacts: Vec::new(),
        native_id: Some("D1:1 – été".into()),
    };
    let sources = ["first part, été", "second part, été"].map(|text| {
        let mut source = document(text);
        source.id = source.content_id();
        source
    });
    record_sources(engine, &me, std::iter::once(sources.to_vec()), "markdown:été.md").expect("it is imported");
}

fn erased(engine: &Engine) {
    let me = user("erased");
    let keep = say(engine, &me, &Utterance::of_user("this stays"), None, None);
    let gone = say(engine, &me, &Utterance::of_user("this goes"), Some("key of what goes"), None);
    set(engine, &me, "/uncategorized/a", json!(1));
    set(engine, &me, "/uncategorized/a", json!(2));
    mark(engine, &me, &gone.to_string(), Some(true), None).expect("it is marked");
    mark(engine, &me, &keep.to_string(), None, Some(1)).expect("it is marked");
    erase(engine, &me, &[EraseTarget::Item(gone), EraseTarget::Event(3)], "asked to", &mut |_| {})
        .expect("it is erased");
    say(engine, &me, &Utterance::of_user("said after the erasure"), None, None);
    set(engine, &me, "/uncategorized/a", json!(3));
}

fn forked(engine: &Engine) {
    let me = user("forked");
    fork(engine, &user("everyday"), &me, When::Seq(12), &mut |_| {}).expect("it is forked");
    say(engine, &me, &Utterance::of_user("my own way"), None, None);
    take_back(engine, &me, &[1]);
}

fn picked(engine: &Engine) {
    let events = [1, 5, 6, 7, 9].map(EventRef::Seq);
    let events = chosen(engine, &user("everyday"), &events).expect("they are there");
    pick(engine, &events, &user("picked"), &mut |_| {}).expect("they are picked");
}

/// Every change that creates or modifies items.
fn drawn(engine: &Engine) {
    let me = user("drawn");
    let put = |body: Value, kind: SourceKind| {
        let request: WriteRequest = serde_json::from_value(body).expect("a request");
        write(engine, &me, &request, kind).expect("it is written")
    };
    let own = SourceKind::UserEdited;
    let bike = json!({"title": "fix the bike", "attempts": [{"approach": "new chain", "outcome": "it slips"}]});
    let note = json!({"text": "Short answers work best in the evening."});
    put(
        json!({"facts": [{"p": "lives_in", "o": "Lyon"}, {"p": "likes", "o": "jazz", "confidence": 0.1},
                {"p": "likes", "o": "tea"}, {"p": "likes", "o": "green tea"}, {"p": "likes", "o": "fado"}],
            "notes": [note], "tasks": [bike]}),
        own,
    );
    put(json!({"facts": [{"p": "lives_in", "o": "Lyon"}], "notes": [note]}), own);
    put(json!({"facts": [{"p": "lives_in", "o": "Porto"}]}), SourceKind::ToolOutput);
    put(json!({"tenets": [{"kind": "value", "text": "Honesty before comfort."}]}), SourceKind::Inferred);
    let why = Some("as asked");
    for waiting in reviews(engine, &me, false).expect("they are listed") {
        let id = waiting.review.id.to_string();
        decide_review(engine, &me, &id, &ReviewDecision::Approved, Actor::User, why).expect("it is decided");
    }
    let held = facts(engine, &me, &FactOptions::default()).expect("they are listed");
    let likes = |what: &str| {
        let found = held.iter().find(|shown| shown.fact.object == what).expect("it is known");
        found.fact.id.to_string()
    };
    score_fact(engine, &me, &likes("fado"), 9).expect("it is scored");
    merge(engine, &me, &[likes("green tea")], &likes("tea")).expect("they are merged");
    retract(engine, &me, &likes("fado"), "no longer").expect("it is retracted");
    let start: jiff::Timestamp = "2025-03-01T08:00:00Z".parse().expect("a time");
    for turn in 0..3 {
        let said = Utterance {
            session: Some("monday".to_owned()),
            said_at: Some(start + jiff::SignedDuration::from_mins(turn)),
            ..Utterance::of_user(format!("Turn {turn} about the garden."))
        };
        say(engine, &me, &said, None, None);
    }
    tell_episodes(engine, &me).expect("it is told");
}

/// Every change that concerns sessions.
fn talked(engine: &Engine) {
    let (me, trip) = (user("talked"), "trip");
    let turn = |role: Role, text: &str| {
        let said = Utterance { role, session: Some(trip.to_owned()), ..Utterance::of_user(text) };
        say(engine, &me, &said, None, None)
    };
    let exchange = |asked: &str, reply: &str| (turn(Role::User, asked), turn(Role::Assistant, reply));
    let by_hand = |kind: TruthKind, text: &str| {
        set_base_truth(engine, &me, trip, (kind, text), Actor::User).expect("it is set");
    };
    by_hand(TruthKind::Exception, "Never mention Bob.");
    exchange("Never fly. Let's go with Lisbon. Budget: 900 euros. We use trains.", "We'll use the train at noon.");
    let (_, reply) = exchange("Budget: 800 euros. We use trains on the coast, the slow ones with windows.", "Fine.");
    exchange("Forget about Lisbon.", "Porto then.\n```text\nDay 1: Ribeira\n```");
    consolidate(engine, &me, trip).expect("it is consolidated");
    by_hand(TruthKind::Goal, "See the sea.");
    unset_base_truth(engine, &me, trip, "Never mention Bob.", Actor::User).expect("it is taken out");
    end_session(engine, &me, trip).expect("it is over");
    let item = EraseTarget::Item(reply);
    erase(engine, &me, &[item], "asked to", &mut |_| {}).expect("it is erased");
}

/// Categories made from patterns of the core document: requested, proposed and approved, declined, reverted.
fn evolved(engine: &Engine) {
    let me = user("evolved");
    say(engine, &me, &Utterance::of_user("I manage my stress with long walks."), None, None);
    promote_as(engine, &me, "stressManagement", None);
    let promoted = status(engine, &me).expect("it is there").version;
    say(engine, &me, &Utterance::of_user("I manage my stress with tea."), None, None);
    set(engine, &me, "/uncategorized/zebra~1gnu", json!(1));
    for (key, text) in [
        ("sleep_note_1", "Having trouble staying asleep"),
        ("sleep_note_2", "Higher BG after poor sleep"),
        ("sleep_note_3", "Started using sleep mask"),
        ("bee_1", "A hive"),
        ("bee_2", "A veil"),
        ("bee_3", "A smoker"),
    ] {
        set(engine, &me, &format!("/uncategorized/{key}"), json!(text));
    }
    let thresholds = PromotionThresholds { days: 1, ..PromotionThresholds::default() };
    evolve(engine, &me, &EvolveOptions { thresholds, ..EvolveOptions::default() }).expect("it is proposed");
    for asked in reviews(engine, &me, false).expect("they are listed") {
        let sleep = asked.review.promotion.as_ref().is_some_and(|promotion| promotion.candidate == "sleep");
        let decision =
            if sleep { ReviewDecision::Edited { text: "nights".to_owned() } } else { ReviewDecision::Declined };
        decide_review(engine, &me, &asked.review.id.to_string(), &decision, Actor::User, None).expect("it is decided");
    }
    set(engine, &me, "/uncategorized/sleep_note_4", json!("Trouble waking up"));
    promote_as(engine, &me, "sleep", None);
    set(engine, &me, "/nights/duration", json!("6-7 hours"));
    promote_as(engine, &me, "bee", Some("bees"));
    let bees = status(engine, &me).expect("it is there").version;
    take_back(engine, &me, &[promoted]);
    take_back(engine, &me, &[bees]);
    take_back(engine, &me, &[bees + 1]);
}

/// Marks every reading with "Lyon" as wrong.
struct Denier;

impl WindowReader for Denier {
    fn id(&self) -> &str {
        "denier/v1"
    }

    fn read(&self, _: &UserId, window: &Window) -> Result<ModelReply, ExtractError> {
        let wrong = window.known.iter().filter(|item| item.text.contains("Lyon"));
        let readings = wrong.map(|item| RuleVerdict { id: item.mark.clone(), right: false }).collect();
        Ok(ModelReply { operations: Vec::new(), readings })
    }
}

/// A model finds that rules misread a message, which restores what the misreading had ended.
fn misread(engine: &Engine) {
    let me = user("misread");
    for text in ["I live in Porto.", "I live in Lyon.", "I like jazz."] {
        say(engine, &me, &Utterance::of_user(text), None, None);
        extract_with_model(engine, &me, &ExtractWithModelOptions::default()).expect("it is read");
    }
}

/// Fields derived from facts, and edits beside them, some of them reverted.
fn fields(engine: &Engine) {
    let me = user("fields");
    let hear = |text: &str| {
        say(engine, &me, &Utterance::of_user(text), None, None);
        status(engine, &me).expect("it is there").version
    };
    let migraines = hear("I get migraines.");
    hear("I'm allergic to penicillin.");
    let jazz = hear("I like jazz.");
    hear("I like jazz.");
    hear("I like chess.");
    hear("I live in Lyon.");
    let moved = hear("I moved to Porto.");
    hear("I no longer live in Porto.");
    hear("My sister Anna lives in Bergen.");
    hear("I manage my stress with long walks.");
    hear("I don't like chess anymore.");
    set(engine, &me, "/healthProfile/other/bloodType", json!("A+"));
    set(engine, &me, "/uncategorized/tools/-", json!("saw"));
    set(engine, &me, "/uncategorized/tools/-", json!("plane"));
    let tools = status(engine, &me).expect("it is there").version - 1;
    set(engine, &me, "/location/current", json!("Braga"));
    take_back(engine, &me, &[migraines - 1, migraines]);
    take_back(engine, &me, &[jazz - 1, jazz]);
    take_back(engine, &me, &[tools]);
    take_back(engine, &me, &[moved - 1, moved]);
    let last = status(engine, &me).expect("it is there").version;
    let reverts: Vec<u64> = (1..=last).filter(|&seq| is_revert(engine, &me, seq)).collect();
    take_back(engine, &me, &reverts[..1]);
}

fn is_revert(engine: &Engine, me: &UserId, seq: u64) -> bool {
    let event = show(engine, me, EventRef::Seq(seq)).expect("it is there");
    event.changes.iter().flatten().any(|change| matches!(change, Change::Reverted { .. }))
}

fn promote_as(engine: &Engine, me: &UserId, candidate: &str, name: Option<&str>) {
    let (candidate, proposed_name) = (candidate.to_owned(), name.map(str::to_owned));
    let request = PromoteRequest { candidate, proposed_name, ..PromoteRequest::default() };
    promote(engine, me, &request).expect("it is promoted");
}

/// Every change that maintenance makes.
fn grown(engine: &Engine) {
    let me = user("grown");
    let said = |session: &str, day: &str, text: &str| {
        let said_at = Some(format!("{day}T18:00:00Z").parse().expect("a time"));
        let said = Utterance { session: Some(session.to_owned()), said_at, ..Utterance::of_user(text) };
        say(engine, &me, &said, None, None)
    };
    said("spring", "2024-03-01", "I love jazz.");
    said("spring", "2024-03-01", "The band played until midnight and the bar was full.");
    said("summer", "2024-06-02", "I love jazz.");
    said("autumn", "2024-09-03", "I love jazz. I love rooftop gardens.");
    said("autumn", "2024-09-03", "I love a rooftop garden.");
    tell_episodes(engine, &me).expect("it is told");
    let asked = |query: &str| {
        recall(engine, &me, &RecallOptions { k: 1, ..RecallOptions::of(query) }).expect("it is recalled");
    };
    asked("who played until midnight");
    flush_hits(engine, &me).expect("it is counted");
    reflect(engine, &me, &ConsolidateOptions::default()).expect("it is reflected on");
    compact(engine, &me, &ConsolidateOptions::default()).expect("it is compacted");
    asked("who loves jazz");
    flush_hits(engine, &me).expect("it is counted");
    take_back(engine, &me, &[1]);
}
