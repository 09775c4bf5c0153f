//! Bench: speed and size on this machine, with synthetic conversations and synthetic vectors of the default model's
//! size.
//!
//! Vectors with arbitrary values do not distort times, because a scan costs the same for any values. The real model is
//! timed separately.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use quipu_core::Memory;
use quipu_core::event::{Actor, Change, Draft, Event, NO_HASH, SourceKind};
use quipu_core::id::{ItemId, ItemKind, UserId};
use quipu_core::ledger::{self, Position};
use quipu_core::source::{Role, Source};
use quipu_engine::ports::{EmbedError, Embedded, Embedder, EmbeddingModel, Entropy, Extractor, Token};
use quipu_engine::{
    ContextOptions, Engine, EngineRules, Error, FactOptions, OpenLimits, OptionalParts, RecallOptions, RememberOptions,
    Result, Utterance,
};
use quipu_models::RuleExtractor;
use serde::Serialize;

mod big;
mod contention;
mod machine;
mod popularity;
mod stores;
mod transactions;
mod users;

use self::contention::Contention;
use crate::args::BenchOptions;
use crate::environment::{Environment, Measurement, Output};
use crate::metrics::Quantiles;
use crate::render;
use crate::temporary_folder;
use quipu::Components;
use quipu::system::{SystemClock, SystemEntropy};

/// Appends timed on each side.
const APPENDS: usize = 400;
/// Events folded.
const FOLDED: usize = 200_000;
/// Questions asked of each memory.
const QUESTIONS: usize = 200;
/// Turns and statements of the memory that packs are made from.
const PACKED_TURNS: usize = 8_000;
const PACKED_STATEMENTS: usize = 2_000;
/// Questions embedded with the real model.
const EMBEDDED: usize = 100;

#[derive(Debug, Serialize)]
struct Report {
    append: Append,
    fold_events_per_second: f64,
    recall: Vec<Scale>,
    packs: Packs,
    contention: Contention,
    query_embedding_ms: Quantiles,
}

#[derive(Debug, Serialize)]
struct Append {
    bare_commits_per_second: f64,
    events_per_second: f64,
    share: f64,
}

#[derive(Debug, Serialize)]
struct Scale {
    items: usize,
    recall_ms: Quantiles,
    open_ms: f64,
    bytes_per_item_beyond_text: f64,
    bytes_on_disk: u64,
}

/// Packs of a memory with extracted statements.
#[derive(Debug, Serialize)]
struct Packs {
    items: usize,
    facts: usize,
    pack_ms: Quantiles,
    tokens: Quantiles,
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
fn now() -> Instant {
    Instant::now()
}

fn seconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64()
}

/// Measures speed and size on this machine, of a folder or of a database.
///
/// # Errors
/// `Unavailable` without a temporary folder; `Invalid` for a database with memories; otherwise as the functions of the
/// engine.
pub fn bench(environment: &dyn Environment, output: &dyn Output, options: &BenchOptions) -> Result<Measurement> {
    if !options.turns.is_empty() {
        return big::big(environment, output, options);
    }
    if let Some(users) = options.users {
        return users::users(environment, output, options, users as usize);
    }
    if let Some(address) = &options.store {
        return stores::stores(environment, output, address);
    }
    let (folder, items) = (temporary_folder()?, options.items);
    let bar = output.progress();
    let append = append(folder.path())?;
    let fold_events_per_second = fold()?;
    let mut recall = Vec::new();
    for items in [10_000, items] {
        if recall.iter().all(|scale: &Scale| scale.items != items) {
            recall.push(scale(&folder.path().join(items.to_string()), items)?);
        }
    }
    let packs = packs(&folder.path().join("packs"))?;
    let contention = contention::contention(&folder.path().join("contention"))?;
    let query_embedding_ms = embedding(environment)?;
    drop(bar);
    let report = Report { append, fold_events_per_second, recall, packs, contention, query_embedding_ms };
    Measurement::of(&report, in_words)
}

fn in_words(report: &Report) -> String {
    let append = &report.append;
    let mut rows = vec![
        vec!["bare one-row SQLite commits".to_owned(), format!("{:.0}/s", append.bare_commits_per_second)],
        vec![
            "durable single-event appends".to_owned(),
            format!("{:.0}/s ({:.0} % of bare)", append.events_per_second, append.share * 100.0),
        ],
        vec!["events folded from memory".to_owned(), format!("{:.0}/s", report.fold_events_per_second)],
        vec![
            "query embedding".to_owned(),
            format!("p50 {:.2} ms, p95 {:.2} ms", report.query_embedding_ms.p50, report.query_embedding_ms.p95),
        ],
    ];
    for scale in &report.recall {
        rows.push(vec![
            format!("recall at {} items", scale.items),
            format!("p50 {:.3} ms, p95 {:.3} ms, without the embedding", scale.recall_ms.p50, scale.recall_ms.p95),
        ]);
        rows.push(vec![format!("opening {} items", scale.items), format!("{:.0} ms from a snapshot", scale.open_ms)]);
        rows.push(vec![
            format!("size of {} items", scale.items),
            format!(
                "{:.0} B per item beyond its text in memory, {} on disk",
                scale.bytes_per_item_beyond_text,
                render::size(scale.bytes_on_disk)
            ),
        ]);
    }
    let packs = &report.packs;
    rows.push(vec![
        format!("a pack of {} items, {} of them facts", packs.items, packs.facts),
        format!("p50 {:.3} ms, p95 {:.3} ms, without the embedding", packs.pack_ms.p50, packs.pack_ms.p95),
    ]);
    rows.push(vec![
        "tokens of these packs".to_owned(),
        format!("p50 {:.0}, p95 {:.0}", packs.tokens.p50, packs.tokens.p95),
    ]);
    rows.extend(report.contention.rows());
    render::table(&["what", "figure"], &rows)
}

/// Makes vectors from a text's hash.
struct MadeUpVectors(EmbeddingModel);

impl MadeUpVectors {
    fn new() -> Self {
        let id = "bench/made-up".to_owned();
        Self(EmbeddingModel { id, dimensions: 384, tokens_max: 256, english_only: true })
    }
}

impl Embedder for MadeUpVectors {
    fn model(&self) -> &EmbeddingModel {
        &self.0
    }

    fn embed(&self, texts: &[&str]) -> std::result::Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| unit_vector(text, self.0.dimensions)).collect())
    }

    fn embed_tokens(&self, texts: &[&str]) -> std::result::Result<Vec<Embedded>, EmbedError> {
        let token = |word: &str| Token { word: word.to_owned(), vector: unit_vector(word, TOKEN_DIMENSIONS) };
        let embedded = |text: &&str| Embedded {
            vector: unit_vector(text, self.0.dimensions),
            tokens: text.split_whitespace().map(token).collect(),
        };
        Ok(texts.iter().map(embedded).collect())
    }

    fn count_tokens(&self, text: &str) -> usize {
        text.split_whitespace().count()
    }
}

/// The built-in model's size after projection.
const TOKEN_DIMENSIONS: usize = 192;

fn unit_vector(text: &str, dimensions: usize) -> Vec<f32> {
    let mut bytes = vec![0u8; dimensions];
    blake3::Hasher::new().update(text.as_bytes()).finalize_xof().fill(&mut bytes);
    let vector: Vec<f32> = bytes.iter().map(|&byte| f32::from(byte) - 127.5).collect();
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter().map(|x| x / length).collect()
}

fn engine(folder: &Path, extractor: Option<Arc<dyn Extractor>>) -> Result<Engine> {
    quipu::open_engine(folder, components(extractor, OpenLimits::default()))
}

fn components(extractor: Option<Arc<dyn Extractor>>, open_limits: OpenLimits) -> Components {
    Components {
        embedder: Arc::new(MadeUpVectors::new()),
        clock: Arc::new(SystemClock::at(None)),
        entropy: Arc::new(SystemEntropy),
        extractor,
        summarizer: None,
        rules: EngineRules { open_limits, ..EngineRules::default() },
        optional: OptionalParts { tokenizers: quipu_models::tokenizers(), ..OptionalParts::default() },
    }
}

/// A text of 8 to 31 words with a Zipf-like distribution over a vocabulary of 20,000. As after the removal of stop
/// words, the most frequent word is in about one text in eight.
fn sentence(number: usize) -> String {
    let mut state = number as u64 ^ 0x9e37_79b9_7f4a_7c15;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let length = 8 + next() % 24;
    let words = (0..length).map(|_| {
        let uniform = (next() % 1_000_000) as f64 / 1e6;
        format!("w{}", (20.0 * 1000f64.powf(uniform)) as u64)
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Times durable single-event appends and bare one-row commits of the same size, interleaved so that the disk's state
/// affects both.
fn append(folder: &Path) -> Result<Append> {
    let sql = |error: rusqlite::Error| Error::Unavailable(format!("the bare database: {error}"));
    let bare = rusqlite::Connection::open(folder.join("bare.db")).map_err(sql)?;
    bare.execute_batch("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE row(seq INTEGER PRIMARY KEY, bytes BLOB) STRICT;")
        .map_err(sql)?;
    let engine = engine(&folder.join("append"), None)?;
    let user = UserId::parse("bench")?;
    let options = RememberOptions { durable_only: true, ..RememberOptions::default() };
    let (mut bare_times, mut event_times) = (Vec::new(), Vec::new());
    for number in 0..APPENDS {
        let text = sentence(number);
        let row = vec![0u8; 700 + text.len()];
        let start = now();
        bare.execute("INSERT INTO row(bytes) VALUES (?1)", [&row]).map_err(sql)?;
        bare_times.push(seconds(start));
        let start = now();
        quipu_engine::remember(&engine, &user, &Utterance::of_user(text), &options)?;
        event_times.push(seconds(start));
    }
    // The first append of each kind creates files.
    let rate = |times: &[f64]| (times.len() - 1) as f64 / times[1..].iter().sum::<f64>();
    let (bare_rate, event_rate) = (rate(&bare_times), rate(&event_times));
    Ok(Append { bare_commits_per_second: bare_rate, events_per_second: event_rate, share: event_rate / bare_rate })
}

fn turn(number: usize) -> Source {
    Source {
        id: ItemId { kind: ItemKind::Turn, bits: number as u64 },
        session: Some(format!("session {}", number / 25).into()),
        topic: None,
        role: Role::User,
        author: Some(if number.is_multiple_of(2) { "Ada" } else { "Ben" }.into()),
        said_at: jiff::Timestamp::from_second(1_600_000_000 + number as i64 * 3600).ok(),
        text: sentence(number).into(),
        artifacts: Vec::new(),
        native_id: None,
    }
}

/// Times the folding of decoded events: turns, with one change of the core document in twenty.
fn fold() -> Result<f64> {
    let user = UserId::parse("bench")?;
    let mut events: Vec<Event> = Vec::with_capacity(FOLDED);
    let mut prev = NO_HASH;
    for number in 1..=FOLDED {
        let change = if number % 20 == 0 {
            let patch = serde_json::json!([{"op": "add", "path": format!("/uncategorized/k{}", number % 200), "value": number}]);
            let patch = if number == 20 {
                serde_json::json!([{"op": "add", "path": "/uncategorized", "value": {}}])
            } else {
                patch
            };
            Change::CorePatched(serde_json::from_value(patch).map_err(|error| Error::Bug(error.to_string()))?)
        } else {
            Change::SourceRecorded(turn(number))
        };
        let draft = Draft::new(Actor::User, SourceKind::UserSaid, vec![change]);
        let mut id = [0u8; 16];
        SystemEntropy.fill(&mut id);
        let position = Position {
            user: user.clone(),
            seq: number as u64,
            id: quipu_core::id::EventId::from_bytes(id),
            recorded_at: jiff::Timestamp::UNIX_EPOCH,
            prev,
        };
        let (sealed, _) = ledger::seal(&draft, position, &[[7; 32]])?;
        prev = sealed.hash;
        events.push(ledger::open(&sealed)?);
    }
    let mut memory = Memory::new(user, std::collections::BTreeSet::new());
    let start = now();
    for event in events {
        memory.apply(event);
    }
    Ok(FOLDED as f64 / seconds(start))
}

fn scale(folder: &Path, items: usize) -> Result<Scale> {
    let user = UserId::parse("bench")?;
    let text_bytes: usize = (0..items).map(|number| turn(number).text.len()).sum();
    {
        let engine = engine(folder, None)?;
        let batches = (0..items).step_by(6400).map(|from| (from..items.min(from + 6400)).map(turn).collect::<Vec<_>>());
        quipu_engine::ingest::record_sources(&engine, &user, batches, "bench")?;
        quipu_engine::snapshot(&engine, &user)?;
    }
    let engine = engine(folder, None)?;
    let start = now();
    let status = quipu_engine::status(&engine, &user)?;
    let open_ms = seconds(start) * 1e3;
    let mut times = Vec::with_capacity(QUESTIONS);
    for number in 0..QUESTIONS + 20 {
        // A question has about six content words.
        let question = sentence(number * 31 + 5).split(' ').take(6).collect::<Vec<_>>().join(" ");
        let options = RecallOptions { k: 10, ..RecallOptions::of(&question) };
        let report = quipu_engine::recall(&engine, &user, &options)?;
        // The first 20 warm the caches.
        if number >= 20 {
            times.push(report.timing.recall_us as f64 / 1e3);
        }
    }
    Ok(Scale {
        items,
        recall_ms: Quantiles::of(times),
        open_ms,
        bytes_per_item_beyond_text: (status.bytes_in_memory.saturating_sub(text_bytes)) as f64 / items as f64,
        bytes_on_disk: status.bytes_on_disk,
    })
}

/// A synthetic name.
fn name(number: usize) -> String {
    const SYLLABLES: [&str; 12] = ["ba", "do", "ki", "lu", "me", "na", "po", "ra", "si", "te", "vo", "zu"];
    let syllable = |at: usize| SYLLABLES[number / 12usize.pow(at as u32) % 12];
    let name = format!("{}{}{}n", syllable(0), syllable(1), syllable(2));
    name[..1].to_uppercase() + &name[1..]
}

fn statement(number: usize) -> String {
    let (who, place) = (name(number % 300), name(number * 7 % 1_000 + 500));
    match number % 5 {
        0 => format!("{who} lives in {place}."),
        1 => format!("{who} works at {place}."),
        2 => format!("{who} likes {}.", sentence(number).split(' ').next().unwrap_or_default()),
        3 => format!("I visited {place} with {who}."),
        _ => format!("I like {}.", sentence(number).split(' ').next().unwrap_or_default()),
    }
}

/// Times packs for questions about people, some of whom are in memory, among unrelated turns.
fn packs(folder: &Path) -> Result<Packs> {
    let user = UserId::parse("bench")?;
    let engine = engine(folder, Some(Arc::new(RuleExtractor::english())))?;
    let turns = std::iter::once((0..PACKED_TURNS).map(turn).collect::<Vec<_>>());
    quipu_engine::ingest::record_sources(&engine, &user, turns, "bench")?;
    for number in 0..PACKED_STATEMENTS {
        let session = Some(format!("talk {}", number / 20));
        let said = Utterance { session, ..Utterance::of_user(statement(number)) };
        quipu_engine::remember(&engine, &user, &said, &RememberOptions::default())?;
    }
    let embedder = MadeUpVectors::new();
    let (mut times, mut tokens) = (Vec::new(), Vec::new());
    for number in 0..QUESTIONS + 20 {
        let who = name(number * 3 % 400);
        let question = match number % 4 {
            0 => format!("Where does {who} live?"),
            1 => format!("What does {who} like?"),
            2 => format!("Where did I go with {who}?"),
            _ => sentence(number * 31 + 5).split(' ').take(6).collect::<Vec<_>>().join(" "),
        };
        let start = now();
        embedder.embed_tokens(&[&question]).map_err(|error| Error::Bug(error.to_string()))?;
        let embedding = seconds(start);
        let start = now();
        let pack = quipu_engine::context(&engine, &user, &ContextOptions::of(&question))?;
        if number >= 20 {
            times.push((seconds(start) - embedding).max(0.0) * 1e3);
            tokens.push(pack.tokens as f64);
        }
    }
    let items = quipu_engine::status(&engine, &user)?.items;
    let facts = quipu_engine::facts(&engine, &user, &FactOptions::default())?.len();
    Ok(Packs { items, facts, pack_ms: Quantiles::of(times), tokens: Quantiles::of(tokens) })
}

fn embedding(environment: &dyn Environment) -> Result<Quantiles> {
    let embedder = environment.embedder()?;
    let questions = [
        "When did Ines move to Porto?",
        "What did the doctor say about her back?",
        "Which flight did she book in the end?",
    ];
    embedder.embed(&questions)?;
    let mut times = Vec::with_capacity(EMBEDDED);
    for number in 0..EMBEDDED {
        let question = format!("{} {number}", questions[number % questions.len()]);
        let start = now();
        embedder.embed(&[&question])?;
        times.push(seconds(start) * 1e3);
    }
    Ok(Quantiles::of(times))
}
