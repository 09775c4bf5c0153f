//! Sessions: their state after failures, reverts and erasures.

use std::sync::Arc;

use quipu_core::event::Actor;
use quipu_core::item::TruthKind;
use quipu_core::source::Role;
use quipu_engine::erase::EraseTarget;
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::{EventRef, When};
use quipu_engine::{
    Engine, Error, Receipt, RememberOptions, SessionContextOptions, SessionState, SummarizeOptions, Utterance,
    consolidate, end_session, erase, rebuild, remember, retract, revert, session, session_artifacts, session_context,
    session_snapshots, sessions, set_base_truth, status, summarize, unset_base_truth, verify,
};
use quipu_models::RuleExtractor;
use quipu_testkit::{MemoryStore, ScriptedAnswer, ScriptedSummarizer, TestEngine};
use serde_json::json;

use crate::me;

const S: &str = "trip";
const NEVER: &str = "Never book a night train.";

struct House {
    rig: TestEngine,
    store: MemoryStore,
    script: Arc<ScriptedSummarizer>,
}

impl House {
    fn new() -> Self {
        let script = Arc::new(ScriptedSummarizer::default());
        let rig = TestEngine { summarizer: Some(script.clone()), ..TestEngine::new(1) };
        Self { rig, store: MemoryStore::new(), script }
    }

    /// Starts another process.
    fn start(&self) -> Engine {
        self.rig.engine(Box::new(self.store.clone()))
    }
}

fn says(engine: &Engine, role: Role, text: &str) -> Receipt {
    let said = Utterance { role, session: Some(S.to_owned()), ..Utterance::of_user(text) };
    remember(engine, &me(), &said, &RememberOptions::default()).unwrap()
}

/// One exchange: events for the message, the reply and the summary.
fn exchange(engine: &Engine, user: &str, reply: &str) -> Receipt {
    says(engine, Role::User, user);
    says(engine, Role::Assistant, reply)
}

fn state(engine: &Engine) -> SessionState {
    session(engine, &me(), S, When::Now).unwrap()
}

fn truths(engine: &Engine) -> Vec<String> {
    state(engine).base_truth.into_iter().map(|truth| truth.text).collect()
}

fn undo(engine: &Engine, seq: u64) -> u64 {
    let selection = Selection::Events(vec![EventRef::Seq(seq)]);
    revert(engine, &me(), &selection, &RevertOptions::default(), &mut |_| {}).unwrap().0.seq
}

/// Checks that the memory in use, a replay from the first event, and another process agree.
fn check(house: &House, engine: &Engine) {
    let here = serde_json::to_value(state(engine)).unwrap();
    assert_eq!(here, serde_json::to_value(state(&house.start())).unwrap(), "after a restart");
    assert!(rebuild(engine, &me(), &mut |_| {}).unwrap().identical);
    assert_eq!(here, serde_json::to_value(state(engine)).unwrap(), "after a rebuild");
    assert!(verify(engine, &me(), &[], &mut |_| {}).unwrap().is_intact());
}

#[test]
fn a_conversation_is_told_as_it_goes_on() {
    // given an exchange with a rule, a fact and code
    let house = House::new();
    let engine = house.start();
    says(&engine, Role::User, &format!("{NEVER} Let's go with Lisbon. Budget: 900 euros"));
    assert_eq!(state(&engine).turn_log.len(), 0, "it waits for the reply");
    // when it is answered
    let receipt = says(&engine, Role::Assistant, "Lisbon it is.\n```text\nDay 1: Alfama\n```");
    // then it is summarized, and the base truth has its entries, hard exceptions first
    assert_eq!(receipt.summarized.len(), 1);
    let now = state(&engine);
    assert_eq!(truths(&engine), [NEVER, "Let's go with Lisbon.", "Budget: 900 euros"]);
    assert_eq!(now.base_truth[0].kind, TruthKind::Exception);
    assert_eq!((now.turn_log[0].turn, now.turn_log[0].unsummarized), (1, false));
    assert_eq!(now.raw_window.len(), 2);
    // when the conversation continues
    exchange(
        &engine,
        "Budget: 800 euros. Please change the plan accordingly, thank you.",
        "```text\nDay 1: Belem\n```",
    );
    // then the base truth is updated, not appended to, and each turn keeps its version of the draft
    assert_eq!(truths(&engine), [NEVER, "Let's go with Lisbon.", "Budget: 800 euros."]);
    let draft = |key| session_artifacts(&engine, &me(), S, key, When::Now).unwrap()[0].text.clone();
    assert_eq!((draft("1"), draft("2.1")), ("Day 1: Alfama\n".to_owned(), "Day 1: Belem\n".to_owned()));
    assert!(matches!(session_artifacts(&engine, &me(), S, "3", When::Now), Err(Error::NotFound(_))));
    // and the earlier state can still be read
    let before = session(&engine, &me(), S, When::Seq(3)).unwrap();
    assert!(before.base_truth.iter().any(|truth| truth.text == "Budget: 900 euros"));
    assert_eq!(sessions(&engine, &me(), When::Now).unwrap()[0].turns, 2);
    check(&house, &engine);
}

#[test]
fn what_cannot_be_told_now_is_told_later() {
    let house = House::new();
    let engine = house.start();
    // given a summarizer that does not answer in time
    house.script.will([ScriptedAnswer::Late]);
    let receipt = exchange(&engine, "Never fly.", "Fine.");
    assert!(receipt.lag.unwrap().contains("turn 1"), "it says so");
    let now = state(&engine);
    assert_eq!(now.unsummarized, [1]);
    assert_eq!((now.turn_log[0].user_summary.as_str(), now.turn_log[0].unsummarized), ("Never fly.", true));
    // when another process continues
    let engine = house.start();
    house.script.take_asked();
    exchange(&engine, "Let's go with trains.", "Good.");
    // then both turns are summarized, in order and once
    assert_eq!(house.script.take_asked(), [1, 2]);
    assert_eq!(state(&engine).unsummarized, [] as [u32; 0]);
    assert_eq!(truths(&engine), ["Never fly."]);
    check(&house, &engine);
    // given malformed answers only: the summarizer is called twice, then the original words are used
    house.script.will([ScriptedAnswer::Garbled, ScriptedAnswer::Garbled]);
    exchange(&engine, "Never walk.", "Fine.");
    assert_eq!(house.script.take_asked(), [3, 3]);
    let now = state(&engine);
    assert_eq!((now.turn_log[2].raw, now.turn_log[2].user_summary.as_str()), (true, "Never walk."));
    assert_eq!((now.unsummarized.len(), now.base_truth.len()), (0, 1));
    // one malformed answer is followed by a good one
    house.script.will([ScriptedAnswer::Garbled]);
    exchange(&engine, "Never swim.", "Fine.");
    assert_eq!(truths(&engine), ["Never fly.", "Never swim."]);
    check(&house, &engine);
}

#[test]
fn turns_recorded_in_haste_are_told_by_a_later_command() {
    let house = House::new();
    let engine = house.start();
    let haste = RememberOptions { durable_only: true, ..RememberOptions::default() };
    for number in 0..20 {
        for (role, text) in [(Role::User, format!("Never take train {number}.")), (Role::Assistant, "Fine.".to_owned())]
        {
            let said = Utterance { role, session: Some(S.to_owned()), ..Utterance::of_user(text) };
            remember(&engine, &me(), &said, &haste).unwrap();
        }
    }
    assert_eq!(state(&engine).unsummarized.len(), 20);
    exchange(&engine, "Go on.", "Yes.");
    // The message triggered eight summaries, and so did the reply.
    assert_eq!(state(&engine).unsummarized.len(), 5);
    let report = summarize(&engine, &me(), &SummarizeOptions::default()).unwrap();
    assert_eq!(report.summarized.len(), 5);
    // Sixteen turns triggered a consolidation, which left the base truth unchanged.
    assert_eq!(state(&engine).consolidated_turn, 16);
    assert_eq!(session_snapshots(&engine, &me(), S).unwrap()[0].truths.len(), 16);
    check(&house, &engine);
}

#[test]
fn hard_exceptions_stand_in_every_context() {
    let house = House::new();
    let engine = house.start();
    let by_hand = |text: &str| set_base_truth(&engine, &me(), S, (TruthKind::Exception, text), Actor::User);
    let set = by_hand("Never mention the surprise party.").unwrap();
    assert!(matches!(by_hand("Never mention the surprise party."), Err(Error::Refused(_))));
    let agent = set_base_truth(&engine, &me(), S, (TruthKind::Exception, "x"), Actor::Agent);
    assert!(matches!(agent, Err(Error::Refused(_))));
    for number in 0..12 {
        exchange(
            &engine,
            &format!("We use train {number} to town {number}, which is nice and long."),
            "A fine choice.",
        );
    }
    for tokens in [0, 60, 200, 1000, 4000] {
        let options = SessionContextOptions { max_tokens: tokens, ..SessionContextOptions::of(S) };
        let found = session_context(&engine, &me(), &options).unwrap();
        assert!(found.text.contains("Never mention the surprise party."), "{tokens}: {}", found.text);
        assert!(found.tokens <= tokens || found.over_budget, "{tokens}: {}", found.tokens);
        assert!(tokens < 200 || !found.over_budget, "{tokens}: {}", found.tokens);
    }
    // The headings are fixed, and the newest messages are complete.
    let whole = session_context(&engine, &me(), &SessionContextOptions::of(S)).unwrap();
    for heading in ["## Hard Exceptions", "## Conversation History Summary", "## Recent Messages"] {
        assert!(whole.text.contains(heading), "{heading}: {}", whole.text);
    }
    assert_eq!(whole.messages.len(), 12);
    assert!(whole.text.contains("Turn 1: User: "), "{}", whole.text);
    assert!(!whole.text.contains("Turn 12: "), "it stands in the window");
    let own = quipu_core::guard::strip_packs(&whole.text);
    assert!(own.iter().all(|part| whole.text[part.clone()].trim().is_empty()), "an echo of it is no news: {own:?}");
    // Only the user can remove it.
    let id = set.items[0].to_string();
    assert!(matches!(unset_base_truth(&engine, &me(), S, &id, Actor::Agent), Err(Error::Refused(_))));
    unset_base_truth(&engine, &me(), S, &id, Actor::User).unwrap();
    assert!(matches!(unset_base_truth(&engine, &me(), S, &id, Actor::User), Err(Error::NotFound(_))));
    assert!(!session_context(&engine, &me(), &SessionContextOptions::of(S)).unwrap().text.contains("surprise"));
    check(&house, &engine);
}

#[test]
fn a_refused_change_is_named_with_its_reason() {
    let house = House::new();
    let engine = house.start();
    exchange(&engine, NEVER, "Understood.");
    let proposal = json!({
        "user_summary": "Asked about trains",
        "assistant_summary": "Named two",
        "base_truth_diff": {"add": ["The user owns 3 boats."], "remove": [NEVER], "update": []}
    });
    house.script.will([ScriptedAnswer::Says(serde_json::from_value(proposal).unwrap())]);
    let asked = "Which night train is there? ".repeat(10);
    let receipt = exchange(&engine, &asked, "Never mind the night train: take two.");
    let reasons: Vec<&str> = receipt.summarized[0].refused.iter().map(|one| one.reason.as_str()).collect();
    assert!(reasons[0].contains("hard exception") && reasons[1].contains("\"3\""), "{reasons:?}");
    assert_eq!(truths(&engine), [NEVER]);
    // The refusal can be read later, without text that may have another origin.
    let refused = &state(&engine).turn_log[1].refused;
    assert_eq!((refused.len(), refused[1].text.as_deref()), (2, None));
    check(&house, &engine);
}

#[test]
fn reverting_an_event_of_a_session_reverts_its_effect() {
    let house = House::new();
    let engine = house.start();
    exchange(&engine, "Let's go with Lisbon. Never take a bus.", "Fine.");
    exchange(&engine, "Never take a taxi.", "Fine.");
    assert_eq!(truths(&engine), ["Never take a bus.", "Never take a taxi.", "Let's go with Lisbon."]);
    // when the summary of the second turn (event 6) is reverted
    let undone = undo(&engine, 6);
    assert_eq!(truths(&engine), ["Never take a bus.", "Let's go with Lisbon."]);
    assert_eq!(state(&engine).unsummarized, [2]);
    // then it is not summarized again automatically
    house.script.take_asked();
    exchange(&engine, "Never take a plane.", "Fine.");
    assert_eq!(house.script.take_asked(), [3]);
    assert_eq!(state(&engine).unsummarized, [2]);
    check(&house, &engine);
    // but on request
    let again = SummarizeOptions { session: Some(S.to_owned()), again: true };
    assert_eq!(summarize(&engine, &me(), &again).unwrap().summarized[0].turn, 2);
    // and once the revert is reverted, the first summary counts and the second does not
    undo(&engine, undone);
    let mut found = truths(&engine);
    found.sort();
    assert_eq!(found, ["Let's go with Lisbon.", "Never take a bus.", "Never take a plane.", "Never take a taxi."]);
    check(&house, &engine);
    // when a reply is reverted, the message is summarized again without it
    undo(&engine, 2);
    assert_eq!(state(&engine).turn_log[0].sources.len(), 1);
    assert_eq!(state(&engine).unsummarized, [] as [u32; 0]);
    check(&house, &engine);
    // and a whole session can be reverted and restored
    let all = Selection::Session(S.to_owned());
    let gone = revert(&engine, &me(), &all, &RevertOptions::default(), &mut |_| {}).unwrap().0.seq;
    assert!(matches!(session(&engine, &me(), S, When::Now), Err(Error::NotFound(_))));
    undo(&engine, gone);
    check(&house, &engine);
}

#[test]
fn erasing_a_turn_erases_what_was_summarised_out_of_it() {
    // given base truth, turn log, a merge and a snapshot with a canary in each
    let house = House::new();
    let engine = house.start();
    exchange(&engine, "We use Canary. Constraint: at most two Canaryas", "Done with Canaryum.");
    exchange(&engine, "We use Canary on the balcony beside three old flower pots. It must stay at home.", "Noted.");
    exchange(&engine, "Never sell it.", "Never.");
    assert!(consolidate(&engine, &me(), S).is_ok_and(|done| done.merged.len() == 1));
    set_base_truth(&engine, &me(), S, (TruthKind::Exception, "Never ask why."), Actor::User).unwrap();
    let before = serde_json::to_string(&state(&engine)).unwrap();
    assert!(before.contains("Canaryas") && before.contains("Canaryum"));
    // when the messages of the first two turns are erased, and the first reply
    let sources = |turn: usize| state(&engine).turn_log[turn].sources.clone();
    let targets = [sources(0), sources(1)].concat().into_iter().map(EraseTarget::Item).collect::<Vec<_>>();
    erase(&engine, &me(), &targets, "asked to", &mut |_| {}).unwrap();
    // then nothing of it remains in memory, snapshots or the ledger
    let shown = serde_json::to_string(&state(&engine)).unwrap();
    let kept = serde_json::to_string(&session_snapshots(&engine, &me(), S).unwrap()).unwrap();
    for text in [&shown, &kept] {
        assert!(!text.contains("Canary"), "{text}");
    }
    for seq in 1..=status(&engine, &me()).unwrap().version {
        let event = quipu_engine::show(&engine, &me(), EventRef::Seq(seq)).unwrap();
        assert!(!format!("{event:?}").contains("Canary"), "event {seq}");
    }
    // and everything else stays
    assert_eq!(truths(&engine), ["Never sell it.", "Never ask why."]);
    assert_eq!(state(&engine).turn_log.iter().map(|one| one.turn).collect::<Vec<_>>(), [3]);
    check(&house, &engine);
}

#[test]
fn an_erased_reply_leaves_the_message_told() {
    let house = House::new();
    let engine = house.start();
    exchange(&engine, "Never take a bus.", "The Canary line it is.");
    let reply = state(&engine).turn_log[0].sources[1];
    erase(&engine, &me(), &[EraseTarget::Item(reply)], "asked to", &mut |_| {}).unwrap();
    let now = state(&engine);
    assert_eq!(truths(&engine), ["Never take a bus."]);
    assert!(!serde_json::to_string(&now).unwrap().contains("Canary"));
    says(&engine, Role::User, "And then?");
    assert_eq!(state(&engine).turn_log[0].user_summary, "Never take a bus.");
    assert_eq!(truths(&engine), ["Never take a bus."]);
    check(&house, &engine);
}

#[test]
fn a_session_ends_and_goes_on() {
    let mut house = House::new();
    house.rig.extractor = Some(Arc::new(RuleExtractor::english()));
    let engine = house.start();
    exchange(&engine, "Let's go with Lisbon.", "Fine.");
    says(&engine, Role::User, "Never take a bus.");
    assert_eq!(state(&engine).turn_log.len(), 1);
    let end = end_session(&engine, &me(), S).unwrap();
    assert_eq!((end.told.summarized.len(), end.episodes), (1, 1));
    assert!(state(&engine).is_over && truths(&engine) == ["Never take a bus."]);
    assert!(matches!(end_session(&engine, &me(), S), Err(Error::Refused(_))));
    assert!(matches!(end_session(&engine, &me(), "another"), Err(Error::NotFound(_))));
    exchange(&engine, "One more thing.", "Yes?");
    assert!(!state(&engine).is_over);
    check(&house, &engine);
}

#[test]
fn an_entry_the_user_takes_back_is_in_force_no_longer() {
    let house = House::new();
    let engine = house.start();
    exchange(&engine, NEVER, "Fine.");
    let id = state(&engine).base_truth[0].id.to_string();
    retract(&engine, &me(), &id, "no longer").unwrap();
    assert_eq!(truths(&engine), [] as [&str; 0]);
    check(&house, &engine);
}

#[test]
fn sessions_wait_for_each_other_and_lose_nothing() {
    let house = House::new();
    let engine = house.start();
    says(&engine, Role::User, "Begin.");
    std::thread::scope(|scope| {
        for number in 0..4 {
            let engine = &engine;
            scope.spawn(move || says(engine, Role::User, &format!("Never take train {number}.")));
        }
    });
    end_session(&engine, &me(), S).unwrap();
    assert_eq!(truths(&engine).len(), 4);
    assert_eq!(state(&engine).unsummarized, [] as [u32; 0]);
    check(&house, &engine);
}
