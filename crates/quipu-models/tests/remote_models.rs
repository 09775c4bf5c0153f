//! Every fault of a server against a remote model: the kind of error, the number of requests, and the budget.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use quipu_core::id::UserId;
use quipu_engine::ports::{Clock, CompletionRequest, Entropy, LanguageModel, ModelCall, ModelError, ModelWatch};
use quipu_fake_model::rehearsal::{outcome_of, question};
use quipu_fake_model::{FakeScript, FakeServer, Fault, Repetition};
use quipu_models::language::{
    Allowance, ApiKey, Endpoint, JsonMode, Limits, ModelUsage, Prices, Provider, RemoteModel,
};

const GOOD: &str = r#"{"city":"Porto","years":3}"#;

struct SetClock(AtomicI64);

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.load(Ordering::Relaxed)).unwrap()
    }
}

struct Still;

impl Entropy for Still {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

struct World {
    server: FakeServer,
    clock: Arc<SetClock>,
    book: Arc<ModelUsage>,
    model: RemoteModel,
}

fn limits() -> Limits {
    Limits {
        total: Duration::from_millis(900),
        idle: Duration::from_millis(150),
        backoff: Duration::from_millis(2),
        answer_bytes_max: 256 << 10,
        failures_max: 3,
        ..Limits::default()
    }
}

fn world(provider: Provider, script: FakeScript, change: impl FnOnce(&mut Endpoint)) -> World {
    let server = FakeServer::start(FakeScript { oversized_bytes: 1 << 20, ..script }).unwrap();
    let clock = Arc::new(SetClock(AtomicI64::new(1_790_000_000)));
    let book = Arc::new(ModelUsage::in_memory(clock.clone()));
    let mut endpoint = Endpoint { base_url: server.base_url(), limits: limits(), ..Endpoint::new(provider, "m") };
    endpoint.key = Some(ApiKey::new("sk-very-secret"));
    change(&mut endpoint);
    let model = RemoteModel::new("judge", endpoint, book.clone(), Arc::new(Still)).unwrap();
    World { server, clock, book, model }
}

fn request(shaped: bool) -> CompletionRequest {
    let question = question();
    CompletionRequest {
        user: Some(UserId::parse("ana").unwrap()),
        shape: question.shape.clone().filter(|_| shaped),
        ..question
    }
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn every_fault_that_stays_ends_in_its_kind_of_error_and_few_requests() {
    let mut wrong = Vec::new();
    for provider in [Provider::OpenAi, Provider::Anthropic] {
        for &fault in Fault::ALL {
            let script = FakeScript {
                drip: Duration::ZERO,
                ..FakeScript::saying(GOOD).with(fault, Repetition::Always).seeded(5)
            };
            let world = world(provider, script, |_| {});
            let outcome = world.model.complete(&request(true), LONG);
            let told = match &outcome {
                Ok(done) if done.json.as_ref().is_some_and(|json| json.is_null()) => "nothing",
                Ok(_) => "good",
                Err(error) => error.as_str(),
            };
            if let Err(error) = &outcome {
                assert!(!format!("{error:?}").contains("very-secret"), "{}: the key is told", fault.name());
            }
            let (right, most) = outcome_of(fault);
            let requests = world.server.requests();
            // Anthropic's API has no `response_format`.
            let may_differ = provider == Provider::Anthropic
                && [Fault::RejectsFormat400, Fault::RejectsSchema400, Fault::RejectsSchema500].contains(&fault);
            if (told != right && !may_differ) || requests > most || requests == 0 {
                wrong.push(format!("{provider:?} {}: {told} after {requests} requests; {outcome:?}", fault.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn an_answer_that_takes_longer_than_the_limit_is_not_asked_for_again() {
    let slow = |fault, limits: Limits| {
        let script = FakeScript { drip: Duration::from_millis(40), ..FakeScript::saying(GOOD) };
        let world =
            world(Provider::OpenAi, script.with(fault, Repetition::Always), |endpoint| endpoint.limits = limits);
        (world.model.complete(&request(true), LONG).unwrap_err().as_str(), world.server.requests())
    };
    assert_eq!(slow(Fault::Drips, limits()), ("too_slow", 1), "bytes keep coming until the time is over");
    let patient = Limits { idle: Duration::from_secs(5), total: Duration::from_millis(300), ..limits() };
    assert_eq!(slow(Fault::HangsMidway, patient), ("too_slow", 1));
    assert_eq!(slow(Fault::HangsMidway, limits()).0, "unavailable", "silence is a broken connection");
}

#[test]
fn what_passes_is_asked_again_and_answered() {
    for fault in [Fault::Unavailable500, Fault::ResetAtOnce, Fault::Loading503, Fault::ClosesMidway, Fault::NotHttp] {
        let world = world(Provider::OpenAi, FakeScript::saying(GOOD).with(fault, Repetition::First(2)), |_| {});
        let done = world.model.complete(&request(true), LONG).unwrap();
        assert_eq!((done.attempts, world.server.requests()), (3, 3), "{}", fault.name());
        assert_eq!(done.json.unwrap()["city"], "Porto");
    }
    let script = FakeScript::new(quipu_fake_model::Reply::InTurn(vec![
        "{\"city\": 3, \"years\": 1}".to_owned(),
        GOOD.to_owned(),
    ]));
    let world = world(Provider::Ollama, script, |_| {});
    assert!(world.model.complete(&request(true), LONG).is_ok());
    let second = world.server.received()[1].json();
    let said = second["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
    assert!(said.contains("/city") && said.contains("cannot be used"), "{said}");
}

#[test]
fn the_way_json_is_asked_for_is_found_once_and_kept() {
    let rung = |fault: Fault| {
        let world = world(Provider::OpenAi, FakeScript::saying(GOOD).with(fault, Repetition::Always), |_| {});
        let first = world.model.probe(LONG);
        assert!(first.is_err(), "a probe asks for something else than {GOOD}");
        world.model.complete(&request(true), LONG).unwrap();
        let before = world.server.requests();
        world.model.complete(&request(true), LONG).unwrap();
        assert_eq!(world.server.requests(), before + 1, "{}: it is found out again", fault.name());
        let last = world.server.received().pop().unwrap().json();
        last["response_format"]["type"].as_str().unwrap_or("none").to_owned()
    };
    assert_eq!(rung(Fault::Fenced), "json_schema");
    assert_eq!(rung(Fault::RejectsSchema400), "json_object");
    assert_eq!(rung(Fault::RejectsSchema500), "json_object");
    assert_eq!(rung(Fault::RejectsFormat400), "none");
    let capital = world(Provider::Anthropic, FakeScript::saying(r#"{"capital":"Lisbon"}"#), |_| {});
    assert_eq!(capital.model.probe(LONG).unwrap().rung, JsonMode::Schema);
}

#[test]
fn a_budget_is_never_exceeded_and_is_there_again_the_next_day() {
    let allowance = Allowance { tokens_per_day: Some(500), money_per_day: Some(5.0) };
    let prices = Prices { input_per_million: 1.0, output_per_million: 2.0 };
    let world = world(Provider::OpenAi, FakeScript::saying(GOOD), |endpoint| {
        endpoint.allowance = allowance;
        endpoint.prices = prices;
    });
    let mut served = 0;
    let error = loop {
        match world.model.complete(&request(true), LONG) {
            Ok(_) => served += 1,
            Err(error) => break error,
        }
        assert!(served < 100, "nothing ever stops it");
    };
    let spent = world.book.spent("judge");
    assert!(served > 1 && spent.input_tokens + spent.output_tokens <= 500, "{served} served, {spent:?}");
    assert_eq!((error.as_str(), world.server.requests()), ("over_budget", served));
    assert!(spent.money > 0.0);
    let other = CompletionRequest { user: Some(UserId::parse("ben").unwrap()), ..request(true) };
    assert!(world.model.complete(&other, LONG).is_ok(), "one user's budget is not another's");
    world.clock.0.fetch_add(86_400, Ordering::Relaxed);
    assert!(world.model.complete(&request(true), LONG).is_ok());
}

#[test]
fn a_server_that_writes_beyond_its_limit_is_counted_in_full_and_asked_no_more() {
    let world = world(Provider::OpenAi, FakeScript::saying("far too much ".repeat(400)), |endpoint| {
        endpoint.allowance = Allowance { tokens_per_day: Some(500), money_per_day: None };
    });
    let limit = u64::from(request(false).output_tokens_max);
    world.model.complete(&request(false), LONG).unwrap();
    let spent = world.book.spent("judge");
    assert!(spent.output_tokens > limit && spent.output_tokens > 500, "{spent:?}");
    assert_eq!(world.model.complete(&request(false), LONG).unwrap_err().as_str(), "over_budget");
    assert_eq!(world.server.requests(), 1);
}

#[test]
fn figures_outlive_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("models.json");
    let world = world(Provider::OpenAi, FakeScript::saying(GOOD), |_| {});
    for turn in 1..=2 {
        let book = Arc::new(ModelUsage::in_file(world.clock.clone(), &path));
        let model = RemoteModel::new("judge", world.model.endpoint().clone(), book.clone(), Arc::new(Still)).unwrap();
        model.complete(&request(true), LONG).unwrap();
        assert_eq!(book.spent("judge").requests, turn);
    }
    std::fs::write(&path, "{ damaged").unwrap();
    assert_eq!(ModelUsage::in_file(world.clock.clone(), &path).spent("judge").requests, 0);
}

#[test]
fn an_endpoint_that_fails_and_fails_is_left_alone_for_a_while() {
    let world = world(Provider::OpenAi, FakeScript::saying("ok").with(Fault::Loading503, Repetition::First(9)), |_| {});
    for _ in 0..3 {
        assert_eq!(world.model.complete(&request(false), LONG).unwrap_err().as_str(), "unavailable");
    }
    assert_eq!(world.server.requests(), 9);
    assert_eq!(world.model.complete(&request(false), LONG).unwrap_err().as_str(), "unavailable");
    assert_eq!(world.server.requests(), 9, "it is asked although it is left alone");
    world.clock.0.fetch_add(31, Ordering::Relaxed);
    assert_eq!(world.model.complete(&request(false), LONG).unwrap().text, "ok");
}

#[test]
fn a_stream_hands_over_what_came_and_says_how_it_ended() {
    let said = "It is Porto, as you said in May. Grüße!";
    for provider in [Provider::OpenAi, Provider::Anthropic] {
        let told = |fault: Option<Fault>| {
            let mut script = FakeScript { drip: Duration::ZERO, ..FakeScript::saying(said).seeded(9) };
            if let Some(fault) = fault {
                script = script.with(fault, Repetition::Always);
            }
            let world = world(provider, script, |_| {});
            let mut text = String::new();
            let outcome = world.model.stream(&request(false), LONG, &mut |piece| {
                text.push_str(piece);
                ControlFlow::Continue(())
            });
            (text, outcome, world.server.requests())
        };
        for fault in [None, Some(Fault::Drips)] {
            let (text, outcome, _) = told(fault);
            assert_eq!((text.as_str(), outcome.unwrap().text.as_str()), (said, said), "{provider:?} {fault:?}");
        }
        for fault in [Fault::HangsMidway, Fault::ResetMidway, Fault::ClosesMidway, Fault::NoEnd, Fault::ErrorMidway] {
            let (text, outcome, requests) = told(Some(fault));
            assert!(outcome.is_err(), "{provider:?} {}", fault.name());
            // The text passed on is a prefix of the reply, without repetition.
            assert!(said.starts_with(&text) || requests > 1, "{provider:?} {}: {text:?}", fault.name());
            assert!(text.is_empty() || requests == 1, "{provider:?} {}: asked again midway", fault.name());
        }
        for fault in [Fault::GarbledEvents, Fault::HtmlPage, Fault::Unauthorised401, Fault::RefusalField] {
            assert!(told(Some(fault)).1.is_err(), "{provider:?} {}", fault.name());
        }
    }
    let world = world(Provider::OpenAi, FakeScript::saying(said), |_| {});
    let stopped = world.model.stream(&request(false), LONG, &mut |_| ControlFlow::Break(()));
    assert_eq!(stopped, Err(ModelError::Stopped));
}

#[test]
fn each_dialect_is_spoken_as_its_server_wants_it() {
    let spoken = |provider: Provider| {
        let world = world(provider, FakeScript::saying(GOOD), |_| {});
        world.model.complete(&request(true), LONG).unwrap();
        world.server.received().pop().unwrap()
    };
    let openai = spoken(Provider::OpenAi);
    assert_eq!(
        (openai.path.as_str(), openai.header("authorization")),
        ("/v1/chat/completions", Some("Bearer sk-very-secret"))
    );
    assert_eq!(openai.json()["response_format"]["json_schema"]["strict"], true);
    let anthropic = spoken(Provider::Anthropic);
    assert_eq!((anthropic.path.as_str(), anthropic.header("x-api-key")), ("/v1/messages", Some("sk-very-secret")));
    assert_eq!(
        (anthropic.json()["system"].as_str(), anthropic.header("anthropic-version")),
        (Some("Answer."), Some("2023-06-01"))
    );
    assert_eq!(anthropic.json()["output_config"]["format"]["type"], "json_schema");
    let wrong = Endpoint { base_url: "ftp://x".to_owned(), ..Endpoint::new(Provider::OpenAi, "m") };
    let book = Arc::new(ModelUsage::in_memory(Arc::new(SetClock(AtomicI64::new(0)))));
    assert!(matches!(RemoteModel::new("x", wrong, book, Arc::new(Still)), Err(ModelError::Invalid(_))));
}

/// Records the calls.
#[derive(Default)]
struct Counted(Mutex<Vec<(&'static str, String, &'static str, bool)>>);

impl ModelWatch for Counted {
    fn asked(&self, asked: &ModelCall<'_>) {
        let cost = asked.usage.input_tokens > 0 && asked.usage.output_tokens > 0;
        self.0.lock().unwrap().push((asked.purpose.as_str(), asked.model.to_owned(), asked.outcome(), cost));
    }
}

#[test]
fn whoever_counts_is_told_of_every_question_once_with_what_it_cost() {
    let script = FakeScript::saying(GOOD).with(Fault::EmptyContent, Repetition::First(1));
    let world = world(Provider::OpenAi, script, |endpoint| endpoint.allowance.tokens_per_day = Some(8_000));
    let counted = Arc::new(Counted::default());
    world.book.watched_by(counted.clone());
    world.model.complete(&request(true), LONG).unwrap();
    world.model.stream(&request(false), LONG, &mut |_| ControlFlow::Break(())).unwrap_err();
    let large = CompletionRequest { output_tokens_max: 10_000, ..request(true) };
    world.model.complete(&large, LONG).unwrap_err();
    let told = counted.0.lock().unwrap().clone();
    let line = |outcome, cost| (request(true).purpose.as_str(), "openai/m".to_owned(), outcome, cost);
    assert_eq!(told, [line("ok", true), line("stopped", true), line("over_budget", false)]);
}
