//! Runs a whole engine against every fault of a model server: nothing said is lost, nothing invented is stored, no
//! request fails because of a model, and no budget is exceeded.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use quipu_core::event::Actor;
use quipu_core::id::UserId;
use quipu_core::item::TruthKind;
use quipu_core::predicate::Predicates;
use quipu_core::source::Role;
use quipu_engine::ports::LanguageModel;
use quipu_engine::versions::When;
use quipu_engine::{
    Budget, Engine, FactOptions, RecallOptions, RememberOptions, SessionContextOptions, Until, Utterance, facts, get,
    process, recall, remember, session, session_context, set_base_truth, status, verify,
};
use quipu_fake_model::{FakeRequest, FakeScript, FakeServer, Fault, PlannedFault, Repetition};
use quipu_models::language::{Allowance, Endpoint, Limits, ModelUsage, Provider, RemoteModel};
use quipu_models::{ModelReader, ModelSummarizer, RuleExtractor};
use quipu_testkit::{MemoryStore, TestEngine, seed};
use serde_json::{Value, json};

const SEEDS: u64 = 40;
const THREADS: usize = 8;
const S: &str = "chat";
/// Daily token limit of a user, which some faults exhaust.
const TOKENS_PER_DAY: u64 = 30_000;
/// Maximum requests of one world to a model server with a fault. The model is used for two exchanges and three
/// sources, twice, each with at most two attempts for a JSON mode and one request for a corrected answer.
const REQUESTS_MAX: usize = 24;
const DAY_MICROS: i64 = 86_400_000_000;
/// 2026-02-01T00:00:00Z.
const START_MICROS: i64 = 1_769_904_000_000_000;

const CITIES: [&str; 4] = ["Porto", "Lyon", "Graz", "Oslo"];
const HOBBIES: [&str; 4] = ["kayaking", "beekeeping", "pottery", "fencing"];
/// Texts that only faulty replies contain.
const JUNK: [&str; 12] = [
    "Zanzibar",
    "evil.example",
    "previous instructions",
    "developer mode",
    "assist with that request",
    "language model",
    "storing personal information",
    "memory memory",
    "truth_0",
    "delete_all",
    "\u{202e}",
    "\u{0}",
];

/// The messages of a world, with their roles.
fn said(number: u64) -> Vec<(Role, String)> {
    let (city, hobby) = (CITIES[(number % 4) as usize], HOBBIES[(number / 4 % 4) as usize]);
    vec![
        (
            Role::User,
            format!(
                "I live in {city}. My weekends belong to {hobby}. I would like you to help me to plan the next \
                 three months around it without it getting too expensive for me, because last year I spent more than I \
                 wanted. Budget: {} euros a month. Answers must stay short.",
                100 + number
            ),
        ),
        (Role::Assistant, format!("Then let us plan {hobby} in {city} with {} euros a month.", 100 + number)),
        (Role::User, "Thanks, that sounds good to me.".to_owned()),
        (Role::Assistant, "You are welcome.".to_owned()),
        (Role::User, "What do we do first?".to_owned()),
    ]
}

/// A correct reply of the model.
fn good(asked: &FakeRequest) -> String {
    let text = asked.last_user();
    if asked.system.contains("user_summary") {
        let is_long = text.contains("Budget");
        let add = if is_long { json!(["Answers must stay short"]) } else { json!([]) };
        return json!({
            "user_summary": if is_long { "Wants a plan for three months" } else { "Said thanks" },
            "assistant_summary": if is_long { "Planned it" } else { "Welcomed" },
            "base_truth_diff": {"add": add, "update": [], "remove": []},
        })
        .to_string();
    }
    let hobby = HOBBIES.into_iter().find(|hobby| text.contains(&format!("belong to {hobby}")));
    let add = |hobby: &str| {
        let quote = format!("My weekends belong to {hobby}");
        json!({
            "op": "add", "id": "", "kind": "preference", "about": "user", "relation": "hobby", "value": hobby,
            "sentence": format!("User's hobby is {hobby}"), "from": "", "to": "", "outcome": "",
            "message": asked.message_with(&quote), "quote": quote,
        })
    };
    json!({"operations": hobby.map(add).into_iter().collect::<Vec<_>>(), "readings": []}).to_string()
}

struct World {
    server: FakeServer,
    rig: TestEngine,
    engine: Engine,
    book: Arc<ModelUsage>,
}

fn world() -> World {
    let server = FakeServer::start(FakeScript::making(good)).unwrap();
    let mut rig = TestEngine::new(1);
    let book = Arc::new(ModelUsage::in_memory(rig.clock.clone()));
    let limits = Limits {
        total: Duration::from_millis(80),
        idle: Duration::from_millis(30),
        backoff: Duration::from_millis(1),
        attempts_max: 2,
        answer_bytes_max: 256 << 10,
        rest: Duration::from_secs(1),
        ..Limits::default()
    };
    let allowance = Allowance { tokens_per_day: Some(TOKENS_PER_DAY), money_per_day: None };
    let endpoint =
        Endpoint { base_url: server.base_url(), limits, allowance, ..Endpoint::new(Provider::OpenAi, "fake") };
    let model = RemoteModel::new("memory", endpoint, book.clone(), rig.entropy.clone()).unwrap();
    let model: Arc<dyn LanguageModel> = Arc::new(model);
    rig.extractor = Some(Arc::new(RuleExtractor::english()));
    rig.summarizer = Some(Arc::new(ModelSummarizer::new(model.clone())));
    rig.reader = Some(Arc::new(ModelReader::new(model, &Predicates::default_registry())));
    let engine = rig.engine(Box::new(MemoryStore::new()));
    World { server, rig, engine, book }
}

fn script(fault: Option<(Fault, Repetition)>, seed: u64) -> FakeScript {
    let mut script = FakeScript {
        drip: Duration::from_millis(2),
        oversized_bytes: 1 << 20,
        ..FakeScript::making(good).seeded(seed)
    };
    script.plans.extend(fault.map(|(fault, times)| PlannedFault { fault, times, path: None }));
    script
}

#[derive(Default)]
struct Sum {
    events: usize,
    lost: usize,
    junk: Vec<String>,
    failed: Vec<String>,
    over_budget: Vec<String>,
    requests: usize,
    most_requests: usize,
    recovered: usize,
    worlds: usize,
}

/// Everything stored in a world apart from the messages. Its budget, which is unique to the world, is replaced by "N".
fn kept(engine: &Engine, user: &UserId, number: u64) -> Vec<String> {
    let options = FactOptions { all: true, ..FactOptions::default() };
    let mut all: Vec<String> = facts(engine, user, &options)
        .unwrap()
        .iter()
        .map(|shown| format!("{} {} {}", shown.fact.subject, shown.fact.predicate, shown.fact.object))
        .collect();
    all.extend(
        quipu_engine::tasks(engine, user, None, true).unwrap().iter().map(|task| format!("task {}", task.title)),
    );
    let budget = (100 + number).to_string();
    all.into_iter().map(|text| text.replace(&budget, "N")).collect()
}

fn told(engine: &Engine, user: &UserId) -> (Vec<String>, Vec<String>) {
    let state = session(engine, user, S, When::Now).unwrap();
    let entries = state.base_truth.iter().map(|truth| truth.text.clone()).collect();
    let summaries = state.turn_log.iter().filter(|turn| !turn.unsummarized);
    (entries, summaries.flat_map(|turn| [turn.user_summary.clone(), turn.assistant_summary.clone()]).collect())
}

/// Runs the conversation of a user while the server has a fault, and then without it.
fn live(
    world: &World,
    fault: Option<(Fault, Repetition)>,
    number: u64,
    seed: u64,
    healthy: &BTreeSet<String>,
    sum: &mut Sum,
) {
    let name = fault.map_or("none", |(fault, _)| fault.name());
    let user = UserId::parse(&format!("u{number}")).unwrap();
    world.rig.clock.put(START_MICROS + 3 * DAY_MICROS * number as i64);
    world.server.rescript(script(fault, seed.wrapping_add(number)));
    let mut fail = |what: &str, error: String| sum.failed.push(format!("{name} {number}: {what}: {error}"));
    set_base_truth(&world.engine, &user, S, (TruthKind::Exception, "Never book night flights"), Actor::User).unwrap();
    let mut items = Vec::new();
    for (role, text) in said(number) {
        let utterance = Utterance { role, session: Some(S.to_owned()), ..Utterance::of_user(text.as_str()) };
        match remember(&world.engine, &user, &utterance, &RememberOptions::default()) {
            Ok(receipt) => items.push((receipt.items[0], text)),
            Err(error) => fail("remember", error.to_string()),
        }
        if let Err(error) = session_context(&world.engine, &user, &SessionContextOptions::of(S)) {
            fail("context", error.to_string());
        }
    }
    // A late request may belong to the previous world; it lacks the words of this one.
    let own = format!("Budget: {} euros", 100 + number);
    let asked = world.server.received().iter().any(|one| String::from_utf8_lossy(&one.body).contains(&own));
    assert!(!asked, "remembering waited for a model");
    for _ in 0..2 {
        if let Err(error) = process(&world.engine, &user, Until::Everything, &Budget::default()) {
            fail("catch up", error.to_string());
        }
    }
    if let Err(error) = recall(&world.engine, &user, &RecallOptions::of("where do I live?")) {
        fail("recall", error.to_string());
    }
    let requests = world.server.requests();
    sum.requests += requests;
    sum.most_requests = sum.most_requests.max(requests);
    let spent = world.book.spent_by("memory", Some(&user));
    if spent.input_tokens + spent.output_tokens > TOKENS_PER_DAY {
        sum.over_budget.push(format!("{name} {number}: {spent:?}"));
    }
    inspect(world, &user, (name, number), &items, healthy, sum);
    // The fault is over, on another day.
    world.server.rescript(script(None, seed));
    world.rig.clock.put(START_MICROS + DAY_MICROS * (3 * number as i64 + 1));
    for _ in 0..50 {
        process(&world.engine, &user, Until::Everything, &Budget::default()).unwrap();
        let status = status(&world.engine, &user).unwrap();
        if status.unsummarized == 0 && status.unstudied == Some(0) {
            sum.recovered += 1;
            break;
        }
    }
    inspect(world, &user, (name, number), &items, healthy, sum);
    sum.worlds += 1;
}

fn inspect(
    world: &World,
    user: &UserId,
    (fault, number): (&str, u64),
    items: &[(quipu_core::id::ItemId, String)],
    healthy: &BTreeSet<String>,
    sum: &mut Sum,
) {
    let engine = &world.engine;
    sum.events += items.len();
    for (id, text) in items {
        let there = get(engine, user, &id.to_string(), When::Now);
        sum.lost += usize::from(!there.is_ok_and(|item| item.text == *text));
    }
    if !verify(engine, user, &[], &mut |_| {}).is_ok_and(|report| report.is_intact()) {
        sum.lost += 1;
    }
    let mut junk = |what: &str, text: &str| sum.junk.push(format!("{fault} {number}: {what}: {text:?}"));
    for text in kept(engine, user, number).iter().filter(|text| !healthy.contains(*text)) {
        junk("kept", text);
    }
    let (entries, summaries) = told(engine, user);
    if !entries.iter().any(|text| text == "Never book night flights") {
        junk("the hard exception is gone", "");
    }
    if entries.len() > 6 {
        junk("too many entries", &entries.join("; "));
    }
    for text in entries.iter().chain(&summaries) {
        if JUNK.iter().any(|word| text.contains(word)) {
            junk("told", text);
        }
    }
}

#[test]
fn no_fault_of_a_model_loses_or_spoils_anything() {
    let seed = seed();
    // The items stored in a world without faults are the only ones that any world may store.
    let healthy: Vec<BTreeSet<String>> = {
        let world = world();
        let all = (0..16).map(|number| {
            let mut sum = Sum::default();
            live(&world, None, number, seed, &BTreeSet::new(), &mut sum);
            assert_eq!((sum.recovered, sum.lost, sum.failed.len()), (1, 0, 0), "a healthy world");
            let user = UserId::parse(&format!("u{number}")).unwrap();
            kept(&world.engine, &user, number).into_iter().collect::<BTreeSet<_>>()
        });
        all.collect()
    };
    for (number, kept) in healthy.iter().enumerate() {
        let hobby = HOBBIES[number / 4 % 4];
        assert!(kept.iter().any(|text| text.ends_with(&format!("hobby {hobby}"))), "the model adds nothing: {kept:?}");
    }
    let (next, total) = (AtomicUsize::new(0), Mutex::new(Sum::default()));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(&fault) = Fault::ALL.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let world = world();
                    let mut sum = Sum::default();
                    for number in 0..SEEDS {
                        let times = match number % 3 {
                            0 => Repetition::Always,
                            1 => Repetition::First(1 + (number % 5) as u32),
                            _ => Repetition::After((number % 4) as u32),
                        };
                        live(&world, Some((fault, times)), number, seed, &healthy[number as usize % 16], &mut sum);
                    }
                    let mut total = total.lock().unwrap();
                    total.events += sum.events;
                    total.lost += sum.lost;
                    total.junk.extend(sum.junk);
                    total.failed.extend(sum.failed);
                    total.over_budget.extend(sum.over_budget);
                    total.requests += sum.requests;
                    total.most_requests = total.most_requests.max(sum.most_requests);
                    total.recovered += sum.recovered;
                    total.worlds += sum.worlds;
                }
            });
        }
    });
    let sum = total.into_inner().unwrap();
    println!(
        "model faults: {} faults x {SEEDS} seeds = {} worlds, seed {seed}: {} looks at what was said, {} lost; {} junk; {} \
         requests failed; {} budgets exceeded; {} worlds caught up; {} calls, at most {} a world",
        Fault::ALL.len(),
        sum.worlds,
        sum.events,
        sum.lost,
        sum.junk.len(),
        sum.failed.len(),
        sum.over_budget.len(),
        sum.recovered,
        sum.requests,
        sum.most_requests,
    );
    // A few of each kind are enough for a diagnosis.
    let few = |all: &[String]| {
        let kinds: BTreeSet<&str> =
            all.iter().map(|one| one.split(|c: char| c.is_ascii_digit()).next().unwrap()).collect();
        let first = |kind: &&str| all.iter().find(|one| one.starts_with(*kind)).cloned();
        Value::from(kinds.iter().filter_map(first).collect::<Vec<_>>())
    };
    let wrong = [&sum.junk, &sum.failed, &sum.over_budget];
    wrong.iter().filter(|all| !all.is_empty()).for_each(|all| println!("{:#}", few(all)));
    assert!(sum.junk.is_empty(), "{:#}", few(&sum.junk));
    assert!(sum.failed.is_empty(), "{:#}", few(&sum.failed));
    assert!(sum.over_budget.is_empty(), "{:#}", few(&sum.over_budget));
    assert_eq!(sum.lost, 0);
    assert_eq!(sum.recovered, sum.worlds, "a fault that is over still holds something up");
    assert!(sum.most_requests <= REQUESTS_MAX, "{} requests in one world", sum.most_requests);
}
