//! `quipu serve` is killed at random moments under eight streams: every word that was acknowledged is there, and once.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use quipu_fake_model::{FakeScript, FakeServer};
use quipu_testkit::seed;

use crate::place::Place;
use crate::{Serving, texts};

const KILLS: u64 = 20;
const STREAMS: usize = 8;
const USERS: usize = 4;
/// A kill comes after so many pieces of replies at most.
const PIECES_MAX: u64 = 120;
/// How long nothing may arrive before the test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A number that follows from the seed.
fn scattered(place: u64) -> u64 {
    let mut bits = seed().wrapping_add(place.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

fn reply_to(words: &str) -> String {
    format!("I have heard {words:?}, which was said just now, and I will go on as before.")
}

/// Whose words they are: the user stands in them.
fn user_of(words: &str) -> &str {
    words.split(' ').next().unwrap()
}

/// What all streams share.
struct Run<'a> {
    addr: &'a str,
    round: u64,
    is_over: AtomicBool,
    /// Pieces of replies that arrived at any client.
    pieces: AtomicU64,
    /// Words whose reply was complete at the client.
    complete: &'a Mutex<Vec<String>>,
    /// Words that may have gone on without being durable, see [`HELD_UP`].
    late: &'a Mutex<BTreeSet<String>>,
    /// Words whose reply may have ended without being durable.
    late_replies: &'a Mutex<BTreeSet<String>>,
    /// When each request of this round began and ended, with its user.
    requests: Mutex<Vec<(String, Instant, Option<Instant>)>>,
}

/// A request is held up by the store for no longer; then it goes on, and the answer says that it is not recorded yet. A request
/// behind another one of its user waits for what is left of the other's time.
const HELD_UP: Duration = Duration::from_secs(5);

#[expect(clippy::disallowed_methods, reason = "a promise of the server ends after so many seconds")]
fn now() -> Instant {
    Instant::now()
}

impl Run<'_> {
    /// Talks until the server is gone.
    fn talk(&self, stream: usize) {
        for turn in 0.. {
            if self.is_over.load(Ordering::SeqCst) {
                return;
            }
            let words = format!("user-{} says thing {turn} of stream {stream} in round {}", stream % USERS, self.round);
            let mut taken = Vec::new();
            // Before anything is sent: a client that is held up itself must not take a late request for one in time.
            let began = now();
            let place = self.began(user_of(&words), began);
            let is_complete = self.say(&words, &format!("session-{}-{stream}", self.round), &mut taken);
            let ended = now();
            let was_held_up = self.was_held_up(user_of(&words), began, ended);
            if was_held_up && !says_that_it_is_recorded(&taken) {
                self.late.lock().unwrap().insert(words.clone());
            }
            if !is_complete {
                return;
            }
            self.requests.lock().unwrap()[place].2 = Some(ended);
            // The end of a reply waits for the store no longer than the beginning does.
            if was_held_up {
                self.late_replies.lock().unwrap().insert(words.clone());
            }
            self.complete.lock().unwrap().push(words);
        }
    }

    fn began(&self, user: &str, at: Instant) -> usize {
        let mut requests = self.requests.lock().unwrap();
        requests.push((user.to_owned(), at, None));
        requests.len() - 1
    }

    /// True if some request of the user that was open between `began` and `ended` had been open for [`HELD_UP`] by then. One that the kill
    /// ended counts as open.
    fn was_held_up(&self, user: &str, began: Instant, ended: Instant) -> bool {
        let requests = self.requests.lock().unwrap();
        let mut beside = requests.iter().filter(|(other, _, until)| other == user && until.is_none_or(|at| at > began));
        beside.any(|(_, from, until)| until.unwrap_or(ended).min(ended).duration_since(*from) >= HELD_UP)
    }

    /// Says something and takes the reply. True once it is complete, false if the server is gone.
    fn say(&self, words: &str, session: &str, taken: &mut Vec<u8>) -> bool {
        let body = format!(r#"{{"model":"m","stream":true,"messages":[{{"role":"user","content":"{words}"}}]}}"#);
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: {}\r\nX-Memory-User: {}\r\nX-Memory-Session: {session}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.addr,
            user_of(words),
            body.len()
        );
        let Ok(mut stream) = TcpStream::connect(self.addr) else { return false };
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        if stream.write_all((head + &body).as_bytes()).is_err() {
            return false;
        }
        let mut space = [0u8; 4096];
        while let Ok(read @ 1..) = stream.read(&mut space) {
            taken.extend_from_slice(&space[..read]);
            self.pieces.fetch_add(1, Ordering::SeqCst);
            let text = String::from_utf8_lossy(taken);
            // The first sign that a client may take for the end of the reply.
            if text.contains(r#""finish_reason":"stop""#) || text.contains("[DONE]") {
                return true;
            }
        }
        false
    }
}

/// True if the answer came and does not say that something is not as it should be.
fn says_that_it_is_recorded(taken: &[u8]) -> bool {
    let text = String::from_utf8_lossy(taken).to_lowercase();
    let status = text.lines().find_map(|line| line.strip_prefix("x-memory-status: "));
    status.is_some_and(|status| status != "degraded" && status != "error")
}

#[test]
fn every_acknowledged_word_survives_a_kill_and_none_is_there_twice() {
    let seed = seed();
    let script = FakeScript::making(|asked| reply_to(asked.last_user().lines().next().unwrap_or_default()));
    let upstream = FakeServer::start(script.paced(Duration::from_millis(1))).unwrap();
    let place = Place::new(&format!(
        "[[upstream]]\nname = \"fake\"\nkind = \"openai\"\nbase_url = \"{}\"\n",
        upstream.base_url()
    ));
    let (complete, late, late_replies) = (Mutex::new(Vec::new()), Mutex::default(), Mutex::default());
    for round in 0..KILLS {
        let serving = Serving::start(&place);
        let addr = serving.addr.clone();
        let run = Run {
            addr: &addr,
            round,
            is_over: AtomicBool::new(false),
            pieces: AtomicU64::new(0),
            complete: &complete,
            late: &late,
            late_replies: &late_replies,
            requests: Mutex::default(),
        };
        let due = 1 + scattered(round) % PIECES_MAX;
        std::thread::scope(|scope| {
            for stream in 0..STREAMS {
                let run = &run;
                scope.spawn(move || run.talk(stream));
            }
            let mut looks = 0;
            while run.pieces.load(Ordering::SeqCst) < due {
                std::thread::sleep(Duration::from_millis(1));
                looks += 1;
                assert!(looks < PATIENCE.as_millis(), "seed {seed}, round {round}: nothing arrives any more");
            }
            serving.kill();
            run.is_over.store(true, Ordering::SeqCst);
        });
    }

    let (complete, late) = (complete.into_inner().unwrap(), late.into_inner().unwrap());
    let late_replies: BTreeSet<String> = late_replies.into_inner().unwrap();
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for user in 0..USERS {
        let user = format!("user-{user}");
        texts(&place, &user).into_iter().for_each(|text| *found.entry(text).or_default() += 1);
        let verified = place.run(&["-u", &user, "verify"]);
        let printed = String::from_utf8_lossy(&verified.stdout).into_owned();
        assert!(verified.status.success() && printed.contains("INTACT"), "seed {seed}: {verified:?}");
    }
    let count = |text: &str| found.get(text).copied().unwrap_or(0);
    let received = upstream.received();
    for sent in &received {
        let body = sent.json();
        let content = &body["messages"].as_array().unwrap().last().unwrap()["content"];
        let said = content.as_str().or_else(|| content.as_array()?.first()?["text"].as_str()).unwrap();
        // The user's own words come first; what memory adds follows them.
        let words = said.lines().next().unwrap();
        if !late.contains(words) {
            assert_eq!(count(words), 1, "seed {seed}: the upstream was asked: {words}");
        }
    }
    let held_up = late.union(&late_replies).count();
    assert!(held_up * 20 <= received.len(), "seed {seed}: {held_up} of {} were held up", received.len());
    for words in complete.iter().filter(|words| !late_replies.contains(*words)) {
        assert_eq!(count(&reply_to(words)), 1, "seed {seed}: the reply was complete at the client: {words}");
    }
    let twice: Vec<_> = found.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "seed {seed}: {twice:?}");
    assert!(complete.len() as u64 >= KILLS && received.len() > complete.len(), "seed {seed}: {}", complete.len());
}
