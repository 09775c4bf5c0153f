//! What every ledger store must do: one suite, run on each of them.
//!
//! Duties only a crash, a full disk or a damaged file can show have tests of their own (`kill`, `disk_full`, `damage`).

#![expect(clippy::unwrap_used, reason = "a suite stops at the first thing it did not expect")]

mod derived;
mod erasing;
mod events;
mod keys;
mod sharing;
mod users;

pub use keys::key_store;
use quipu_core::id::{Seq, UserId};
use quipu_core::ledger::SealedEvent;
use quipu_engine::ports::{Head, LedgerStore, UserLedger};

/// Makes an empty store; each call a new one.
pub type Make<'a> = &'a dyn Fn() -> Box<dyn LedgerStore>;

/// Opens an empty place twice, as two processes do; each call a new place.
pub type MakePair<'a> = &'a dyn Fn() -> (Box<dyn LedgerStore>, Box<dyn LedgerStore>);

/// One duty of a store and the check for it.
pub type ContractCase = (&'static str, fn(Make<'_>));

/// Every duty.
pub fn cases() -> Vec<ContractCase> {
    [events::CASES, erasing::CASES, derived::CASES, users::CASES].concat()
}

/// Checks every duty, one after the other. Panics at the first that is not met, after naming it.
pub fn ledger_store(make: Make<'_>) {
    for (duty, check) in cases() {
        println!("duty: {duty}");
        check(make);
    }
}

/// Checks what a store owes to several processes at one place. Panics as [`ledger_store`] does.
pub fn shared_store(make: MakePair<'_>) {
    for (duty, check) in sharing::CASES {
        println!("duty: {duty}");
        check(make);
    }
}

fn me() -> UserId {
    UserId::parse("me").unwrap()
}

fn other() -> UserId {
    UserId::parse("other").unwrap()
}

fn open(store: &dyn LedgerStore, user: &UserId) -> Box<dyn UserLedger> {
    store.open(user, true).unwrap()
}

fn everything(ledger: &mut dyn UserLedger) -> Vec<SealedEvent> {
    between(ledger, 1, Seq::MAX >> 1)
}

fn between(ledger: &mut dyn UserLedger, first: Seq, last: Seq) -> Vec<SealedEvent> {
    let mut events = Vec::new();
    ledger
        .read(first..=last, &mut |event| {
            events.push(event);
            true
        })
        .unwrap();
    events
}

fn head_of(event: &SealedEvent) -> Head {
    Head { seq: event.seq, hash: event.hash }
}
