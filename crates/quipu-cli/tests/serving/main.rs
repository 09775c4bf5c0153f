//! `quipu serve` in a process of its own: what a kill leaves, and how a signal ends it.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod bombs;
mod deploy;
mod ended;
mod endurance;
mod kill_loop;
mod killed;
mod linearizable;
mod long_run;
#[path = "../commands/place/mod.rs"]
mod place;
mod several;
mod takeover;

use std::io::{BufRead, BufReader};
use std::process::{Child, ExitStatus, Stdio};
use std::time::Duration;

use crate::place::Place;

/// A server in a process that is gone when the test is.
pub(crate) struct Serving {
    child: Child,
    pub(crate) addr: String,
}

impl Serving {
    /// Starts it and waits until it listens.
    pub(crate) fn start(place: &Place) -> Self {
        Self::of(place.command(&["serve", "--addr", "127.0.0.1:0"]))
    }

    /// Starts a command that serves, and waits until it listens.
    pub(crate) fn of(mut command: std::process::Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let first = BufReader::new(child.stdout.take().unwrap()).lines().next().unwrap().unwrap();
        let addr = first.strip_prefix("Quipu listens on ").unwrap().to_owned();
        Self { child, addr }
    }

    /// The id of its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) {
        self.kill_at_once();
    }

    /// `kill -9`, and what was its place stays.
    pub(crate) fn kill_at_once(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends SIGTERM and waits for the end; none if there is none within the time.
    pub(crate) fn terminate(&mut self, patience: Duration) -> Option<ExitStatus> {
        let sent = std::process::Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let pause = Duration::from_millis(20);
        for _ in 0..patience.as_millis() / pause.as_millis() {
            if let Some(status) = self.child.try_wait().unwrap() {
                return Some(status);
            }
            std::thread::sleep(pause);
        }
        None
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The texts of everything a user said or was replied, in order.
pub(crate) fn texts(place: &Place, user: &str) -> Vec<String> {
    let output = place.run(&["-u", user, "list", "--json", "--limit", "1000"]);
    assert!(output.status.success(), "{output:?}");
    let page: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let items = page["items"].as_array().unwrap();
    assert_eq!(page["total"].as_u64().unwrap(), items.len() as u64, "all of them are on one page");
    items.iter().map(|item| item["text"].as_str().unwrap().to_owned()).collect()
}
