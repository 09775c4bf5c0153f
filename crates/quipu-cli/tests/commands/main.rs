//! The commands as a person or a script meets them: what they print, where, and their exit codes.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod cli;
mod documents;
mod encryption;
mod evolve;
mod files;
mod hook;
mod ids;
mod init;
mod install;
mod mcp;
mod models;
mod moving;
mod pasted;
mod people;
mod place;
mod serve;
mod updates;
mod zones;

use place::Place;

/// Runs a command and checks the exit code and pieces of what is printed on both streams.
#[track_caller]
fn check(place: &Place, args: &[&str], code: i32, pieces: &[&str]) -> String {
    let output = place.run(args);
    let printed = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{args:?}: {printed}");
    for piece in pieces {
        assert!(printed.contains(piece), "{args:?}: no {piece:?} in {printed}");
    }
    printed
}
