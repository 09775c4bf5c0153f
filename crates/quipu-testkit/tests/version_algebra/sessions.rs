//! Commands on the base truth of a session.

use quipu_core::event::Actor;
use quipu_core::item::TruthKind;
use quipu_engine::versions::When;
use quipu_engine::{Engine, Error, end_session, session, set_base_truth, unset_base_truth};

use crate::model::{Event, Fact, Seq, State, Truth};
use crate::world::{World, id};

fn name(session: u8) -> String {
    format!("session {session}")
}

fn said(fact: Fact, session: String) -> Event {
    Event { fact: Some(fact), session: Some(session), key: None, changes: 1 }
}

impl World<'_> {
    pub(crate) fn set_truth(&mut self, user: &'static str, of: u8, text: u8, hard: bool) {
        let (session, text) = (name(of), format!("Rule {}", text % 6));
        let state = self.ledger(user).now();
        let same = state.base_truth(&session).into_iter().find(|(_, truth)| truth.text == text);
        let same = same.map(|(id, truth)| (id.to_owned(), truth.hard));
        let expected = if same.as_ref().is_some_and(|(_, known)| *known == hard) { Err("Refused") } else { Ok(()) };
        let kind = if hard { TruthKind::Exception } else { TruthKind::Fact };
        let found = set_base_truth(&self.engine, &id(user), &session, (kind, &text), Actor::User);
        let Some(receipt) = self.expect(expected, found, &(&session, &text)) else { return };
        let truth = Truth { session: session.clone(), text, hard };
        let fact = Fact::TruthSet { id: receipt.items[0].to_string(), truth, replaces: same.map(|(id, _)| id) };
        self.append_event(user, &receipt, said(fact, session));
    }

    pub(crate) fn unset_truth(&mut self, user: &'static str, of: u8, place: u8) {
        let (session, state) = (name(of), self.ledger(user).now());
        let held = state.base_truth(&session);
        let truth = held.get(usize::from(place) % (held.len() + 1)).map(|(id, _)| (*id).to_owned());
        let named = truth.clone().unwrap_or_else(|| "truth_0000000000000".to_owned());
        let found = unset_base_truth(&self.engine, &id(user), &session, &named, Actor::User);
        let expected = truth.as_ref().map(drop).ok_or("NotFound");
        let Some(receipt) = self.expect(expected, found, &named) else { return };
        self.append_event(user, &receipt, said(Fact::TruthUnset { id: named }, session));
    }

    pub(crate) fn end_session(&mut self, user: &'static str, of: u8) {
        let (session, state) = (name(of), self.ledger(user).now());
        let expected = match (state.has_session(&session), state.is_over(&session)) {
            (false, _) => Err("NotFound"),
            (true, true) => Err("Refused"),
            (true, false) => Ok(()),
        };
        let found = end_session(&self.engine, &id(user), &session).map(|end| end.receipt);
        let Some(receipt) = self.expect(expected, found, &session) else { return };
        self.append_event(user, &receipt, said(Fact::SessionEnded(session.clone()), session));
    }

    pub(crate) fn compare_sessions(&self, engine: &Engine, user: &str, version: Seq, state: &State) {
        for of in 1..3 {
            let of = name(of);
            let found = match session(engine, &id(user), &of, When::Seq(version)) {
                Ok(found) => found,
                Err(Error::NotFound(_)) => {
                    assert!(!state.has_session(&of), "{of} of {user} at {version} is lost");
                    continue;
                }
                Err(other) => panic!("{other:?}"),
            };
            assert!(state.has_session(&of), "{of} of {user} at {version} came from nowhere");
            let hard = |kind| kind == TruthKind::Exception;
            let truths: Vec<_> =
                found.base_truth.iter().map(|one| (one.id.to_string(), one.text.clone(), hard(one.kind))).collect();
            let expected = state.base_truth(&of);
            let expected: Vec<_> =
                expected.into_iter().map(|(id, truth)| (id.to_owned(), truth.text.clone(), truth.hard)).collect();
            assert_eq!(truths, expected, "base truth of {of} of {user} at {version}");
            assert_eq!(found.is_over, state.is_over(&of), "{of} of {user} at {version}");
        }
    }
}
