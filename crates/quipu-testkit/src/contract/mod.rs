//! The contract of ledger stores, as a suite that runs on each implementation.
//!
//! Requirements that only a crash, a full disk or a damaged file can exercise have separate tests (`kill`,
//! `disk_full`, `damage`).

#![expect(clippy::unwrap_used, reason = "a suite stops at the first thing it did not expect")]

mod derived;
mod erasing;
mod events;
mod keys;
mod resealing;
mod sharing;
mod user_keys;
mod users;

pub use keys::key_store;
use quipu_core::id::{Seq, UserId};
use quipu_core::ledger::SealedEvent;
use quipu_engine::ports::{Head, LedgerStore, UserLedger};
pub use user_keys::user_key_store;

/// Creates a new, empty store on each call.
pub type Make<'a> = &'a dyn Fn() -> Box<dyn LedgerStore>;

/// Opens a new, empty location twice on each call, as two processes would.
pub type MakePair<'a> = &'a dyn Fn() -> (Box<dyn LedgerStore>, Box<dyn LedgerStore>);

/// A requirement and its check.
pub type ContractCase = (&'static str, fn(Make<'_>));

/// Every requirement.
pub fn cases() -> Vec<ContractCase> {
    [events::CASES, erasing::CASES, derived::CASES, users::CASES].concat()
}

/// Checks every requirement. Panics at the first failure, after printing the requirement.
pub fn ledger_store(make: Make<'_>) {
    for (duty, check) in cases() {
        println!("duty: {duty}");
        check(make);
    }
}

/// Checks the requirements that a store under an encrypting one must meet too. Panics like [`ledger_store`].
pub fn sealable_store(make: Make<'_>) {
    for (duty, check) in resealing::CASES {
        println!("duty: {duty}");
        check(make);
    }
}

/// Checks the requirements for several processes at one location. Panics like [`ledger_store`].
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
