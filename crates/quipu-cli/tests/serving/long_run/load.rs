//! The load: users, kinds of requests, and the threads that send them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use quipu_testkit::seed;
use reqwest::blocking::{Client, RequestBuilder};
use serde_json::{Value, json};

use super::now;
use crate::several::client;

/// Items of a user that a later request may correct, revert or erase.
const KNOWN_MAX: usize = 64;
/// Failures of which the text is kept.
const FAILURES_KEPT: usize = 1000;
/// Longest text of a message, in characters.
const TEXT_CHARS_MAX: usize = 600;

/// A kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Remember,
    Recall,
    Pack,
    List,
    Correct,
    Revert,
    Erase,
}

impl Kind {
    pub(crate) const ALL: [Self; 7] =
        [Self::Remember, Self::Recall, Self::Pack, Self::List, Self::Correct, Self::Revert, Self::Erase];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Remember => "remember",
            Self::Recall => "recall",
            Self::Pack => "context pack",
            Self::List => "list",
            Self::Correct => "correction",
            Self::Revert => "revert",
            Self::Erase => "erasure",
        }
    }

    /// Its share of the requests, in percent.
    fn percent(self) -> u64 {
        match self {
            Self::Remember => 35,
            Self::Recall => 25,
            Self::Pack => 20,
            Self::List => 13,
            Self::Correct => 3,
            Self::Revert | Self::Erase => 2,
        }
    }

    fn of(roll: u64) -> Self {
        let mut left = roll % Self::ALL.iter().map(|kind| kind.percent()).sum::<u64>();
        for kind in Self::ALL {
            if left < kind.percent() {
                return kind;
            }
            left -= kind.percent();
        }
        Self::Remember
    }
}

/// When requests are sent.
pub(crate) enum Pace {
    /// Each thread sends the next one when the one before is answered.
    OneAfterTheOther { seconds: f64 },
    /// At a rate, whatever is answered.
    Steady { per_second: f64, seconds: f64 },
}

/// The answered requests of a kind, each with its time in milliseconds.
pub(crate) struct Tally {
    pub(crate) kind: Kind,
    pub(crate) took_ms: Vec<f64>,
}

/// A recorded message: its item, and the position of its event.
type Recorded = (String, u64);

/// What all threads share.
pub(crate) struct Load {
    addr: String,
    known: Vec<Mutex<Vec<Recorded>>>,
    messages_of_people: Vec<String>,
    questions_of_people: Vec<String>,
    next: AtomicUsize,
    /// Messages that were recorded.
    pub(crate) messages: AtomicUsize,
    /// Requests that failed: what, status and answer.
    pub(crate) failures: Mutex<Vec<String>>,
}

/// The name of a user.
pub(crate) fn named(user: usize) -> String {
    format!("user-{user}")
}

/// A number that follows from the seed.
fn scattered(number: usize, salt: u64) -> u64 {
    let place = (number as u64).wrapping_mul(8).wrapping_add(salt);
    let mut bits = seed().wrapping_add(place.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// A number below 1.
fn uniform(roll: u64) -> f64 {
    (roll >> 11) as f64 / (1u64 << 53) as f64
}

/// The messages and questions of the people of `tests/assistant`.
fn people() -> (Vec<String>, Vec<String>) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/assistant/look");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let (mut messages, mut questions) = (Vec::new(), Vec::new());
    let text = |value: &Value| value.as_str().unwrap().chars().take(TEXT_CHARS_MAX).collect::<String>();
    for file in files {
        let person: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let turns =
            person["sessions"].as_array().unwrap().iter().flat_map(|session| session["turns"].as_array().unwrap());
        messages.extend(turns.filter(|turn| turn["role"] == "user").map(|turn| text(&turn["content"])));
        questions.extend(person["questions"].as_array().unwrap().iter().map(|asked| text(&asked["question"])));
    }
    (messages, questions)
}

impl Load {
    pub(crate) fn new(addr: &str, users: usize) -> Self {
        let (messages_of_people, questions_of_people) = people();
        Self {
            addr: addr.to_owned(),
            known: (0..users).map(|_| Mutex::default()).collect(),
            messages_of_people,
            questions_of_people,
            next: AtomicUsize::new(0),
            messages: AtomicUsize::new(0),
            failures: Mutex::default(),
        }
    }

    /// Records a message of each user. Returns how long that took.
    pub(crate) fn create_users(&self, threads: usize) -> Duration {
        let (began, next) = (now(), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let client = client().tls_certs_only([]).build().unwrap();
                    loop {
                        let user = next.fetch_add(1, Ordering::SeqCst);
                        if user >= self.known.len() {
                            return;
                        }
                        self.remember(&client, user, user);
                    }
                });
            }
        });
        began.elapsed()
    }

    /// Sends requests from several threads. Returns what was answered, by kind.
    pub(crate) fn run(&self, threads: usize, pace: &Pace) -> Vec<Tally> {
        let (began, due_next) = (now(), AtomicUsize::new(0));
        let mut all: Vec<Tally> = Kind::ALL.map(|kind| Tally { kind, took_ms: Vec::new() }).into();
        std::thread::scope(|scope| {
            let running: Vec<_> =
                (0..threads).map(|_| scope.spawn(|| self.send_until_over(began, &due_next, pace))).collect();
            for (kind, ms) in running.into_iter().flat_map(|one| one.join().unwrap()) {
                all.iter_mut().filter(|tally| tally.kind == kind).for_each(|tally| tally.took_ms.push(ms));
            }
        });
        all
    }

    fn send_until_over(&self, began: Instant, due_next: &AtomicUsize, pace: &Pace) -> Vec<(Kind, f64)> {
        let client = client().tls_certs_only([]).build().unwrap();
        let mut done = Vec::new();
        loop {
            let (due, place) = match *pace {
                Pace::OneAfterTheOther { seconds } => {
                    let due = now();
                    if (due - began).as_secs_f64() >= seconds {
                        return done;
                    }
                    (due, usize::MAX)
                }
                Pace::Steady { per_second, seconds } => {
                    let place = due_next.fetch_add(1, Ordering::SeqCst);
                    let after = place as f64 / per_second;
                    if after >= seconds {
                        return done;
                    }
                    let due = began + Duration::from_secs_f64(after);
                    std::thread::sleep(due.saturating_duration_since(now()));
                    (due, place)
                }
            };
            // A steady load begins with one request of each kind, so that also a short one has all.
            if let Some(kind) = self.send_next(&client, Kind::ALL.get(place).copied()) {
                done.push((kind, due.elapsed().as_secs_f64() * 1e3));
            }
        }
    }

    /// Sends the next request, of a given kind or one by the seed, and returns its kind if it succeeded. The users have a Zipf-like distribution with exponent 1.
    fn send_next(&self, client: &Client, given: Option<Kind>) -> Option<Kind> {
        let number = self.next.fetch_add(1, Ordering::SeqCst);
        let share = uniform(scattered(number, 1));
        let user = ((self.known.len() as f64 + 1.0).powf(share) as usize - 1).min(self.known.len() - 1);
        let wanted = given.unwrap_or_else(|| Kind::of(scattered(number, 2)));
        // What a user has not said cannot be corrected, but somebody has said something.
        let of_known = matches!(wanted, Kind::Correct | Kind::Revert | Kind::Erase);
        let users = self.known.len();
        let known = |step: usize| {
            let other = (user + step) % users;
            self.known[other].lock().unwrap().pop().map(|item| (other, item))
        };
        let (user, item) = match (0..users).filter(|_| of_known).find_map(known) {
            Some((other, item)) => (other, Some(item)),
            None => (user, None),
        };
        let question = &self.questions_of_people[scattered(number, 3) as usize % self.questions_of_people.len()];
        let path = format!("/memory/{}", named(user));
        let (kind, request) = match (wanted, item) {
            (Kind::Correct, Some((id, _))) => {
                let text = format!("I have to correct this: it was {number}, not what I said.");
                (wanted, body(client.patch(self.url(&format!("{path}/items/{id}"))), &json!({"text": text})))
            }
            (Kind::Revert, Some((_, seq))) => {
                (wanted, self.post(client, &format!("{path}/revert"), &json!({"events": [seq]})))
            }
            (Kind::Erase, Some((id, _))) => {
                (wanted, self.post(client, &format!("{path}/erase"), &json!({"targets": [id], "reason": "load"})))
            }
            (Kind::Recall, _) => {
                let asked = json!({"user_id": named(user), "query": question, "K": 10});
                (wanted, self.post(client, "/memory/retrieve", &asked))
            }
            (Kind::Pack, _) => (wanted, self.post(client, &format!("{path}/context"), &json!({"query": question}))),
            (Kind::List, _) => {
                let list = ["facts", "events", "tasks", "sessions", "review"][number % 5];
                (wanted, client.get(self.url(&format!("{path}/{list}?limit=20"))))
            }
            (Kind::Remember | Kind::Correct | Kind::Revert | Kind::Erase, _) => {
                return self.remember(client, user, number).then_some(Kind::Remember);
            }
        };
        self.answered(kind.as_str(), user, request).map(|_| kind)
    }

    /// Records a message of a user. Returns whether it was acknowledged.
    fn remember(&self, client: &Client, user: usize, number: usize) -> bool {
        let text = &self.messages_of_people[scattered(number, 4) as usize % self.messages_of_people.len()];
        let session = format!("s{}", scattered(number, 5) % 8);
        let said = json!({"messages": [{"role": "user", "content": text}], "session_id": session});
        let request = self.post(client, &format!("/memory/{}/turns", named(user)), &said);
        let Some(told) = self.answered("remember", user, request) else { return false };
        self.messages.fetch_add(1, Ordering::SeqCst);
        let (item, seq) = (told["items"][0].as_str().unwrap().to_owned(), told["events"][0]["seq"].as_u64().unwrap());
        let mut known = self.known[user].lock().unwrap();
        if known.len() < KNOWN_MAX {
            known.push((item, seq));
        }
        true
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }

    fn post(&self, client: &Client, path: &str, content: &Value) -> RequestBuilder {
        body(client.post(self.url(path)), content)
    }

    /// The answer; none if the request failed, which is noted.
    fn answered(&self, what: &str, user: usize, request: RequestBuilder) -> Option<Value> {
        let answer = request.send().and_then(|answer| Ok((answer.status().as_u16(), answer.text()?)));
        let failure = match answer {
            Ok((200, text)) => return Some(serde_json::from_str(&text).unwrap()),
            Ok((status, text)) => format!("{what} of {}: {status} {text}", named(user)),
            Err(error) => format!("{what} of {}: {error:?}", named(user)),
        };
        let mut failures = self.failures.lock().unwrap();
        if failures.len() < FAILURES_KEPT {
            failures.push(failure);
        }
        None
    }
}

fn body(request: RequestBuilder, content: &Value) -> RequestBuilder {
    request.header("Content-Type", "application/json").body(content.to_string())
}
