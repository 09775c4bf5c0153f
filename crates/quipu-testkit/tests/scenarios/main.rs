//! Scenarios of the engine's operations: given, when, then.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

mod answering;
mod deciding;
mod evolving;
mod forking;
mod growing;
mod interrupted;
mod knowing;
mod limits;
mod looking;
mod maintaining;
mod model_reading;
mod packing;
mod reading;
mod remarks;
mod repeating;
mod rereading;
mod retrying;
mod reverting;
mod rewording;
mod sessions;
mod sharing;
mod talking;
mod telling;
mod unread;
mod verifying;
mod waiting;
mod writing;
mod zones;

use quipu_core::id::UserId;
use quipu_engine::{Engine, RememberOptions, Utterance, remember};

fn me() -> UserId {
    UserId::parse("me").unwrap()
}

fn said(engine: &Engine, texts: &[&str]) {
    for text in texts {
        remember(engine, &me(), &Utterance::of_user(*text), &RememberOptions::default()).unwrap();
    }
}
