//! `quipu serve` is killed at random moments under eight streams: every word that was acknowledged is there, and once.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use quipu_models::fake::{FakeServer, Script};

use crate::place::Place;
use crate::{Serving, texts};

const KILLS: u64 = 20;
const STREAMS: usize = 8;
const USERS: usize = 4;
const SEED: u64 = 20_261_123;
/// A kill comes after so many pieces of replies at most.
const PIECES_MAX: u64 = 120;
/// How long nothing may arrive before the test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A number that follows from the seed.
fn scattered(place: u64) -> u64 {
    let mut bits = SEED.wrapping_add(place.wrapping_mul(0x9e37_79b9_7f4a_7c15));
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
}

/// A request is held up by the store for no longer; then it goes on, and the answer says that it is not recorded yet.
const HELD_UP: Duration = Duration::from_secs(5);

impl Run<'_> {
    /// Talks until the server is gone.
    fn talk(&self, stream: usize) {
        for turn in 0.. {
            if self.is_over.load(Ordering::SeqCst) {
                return;
            }
            let words = format!("user-{} says thing {turn} of stream {stream} in round {}", stream % USERS, self.round);
            match self.say(&words, &format!("session-{}-{stream}", self.round)) {
                Some(true) => self.complete.lock().unwrap().push(words),
                Some(false) => {}
                None => return,
            }
        }
    }

    /// Says something and takes the reply: true once it is complete, nothing if the server is gone.
    fn say(&self, words: &str, session: &str) -> Option<bool> {
        let body = format!(r#"{{"model":"m","stream":true,"messages":[{{"role":"user","content":"{words}"}}]}}"#);
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: {}\r\nX-Memory-User: {}\r\nX-Memory-Session: {session}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.addr,
            user_of(words),
            body.len()
        );
        // Before anything is sent: a client that is held up itself must not take a late request for one in time.
        #[expect(clippy::disallowed_methods, reason = "a promise of the server ends after so many seconds")]
        let sent = Instant::now();
        let mut stream = TcpStream::connect(self.addr).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all((head + &body).as_bytes()).ok()?;
        let (mut taken, mut space) = (Vec::new(), [0u8; 4096]);
        loop {
            let read = stream.read(&mut space);
            // The upstream is asked before the first piece comes back.
            if taken.is_empty() && sent.elapsed() >= HELD_UP {
                self.late.lock().unwrap().insert(words.to_owned());
            }
            let read = read.ok()?;
            if read == 0 {
                return None;
            }
            taken.extend_from_slice(&space[..read]);
            self.pieces.fetch_add(1, Ordering::SeqCst);
            let text = String::from_utf8_lossy(&taken);
            // The first sign that a client may take for the end of the reply.
            if text.contains(r#""finish_reason":"stop""#) || text.contains("[DONE]") {
                return Some(true);
            }
        }
    }
}

#[test]
fn every_acknowledged_word_survives_a_kill_and_none_is_there_twice() {
    let script = Script::making(|asked| reply_to(asked.last_user().lines().next().unwrap_or_default()));
    let upstream = FakeServer::start(script.paced(Duration::from_millis(1))).unwrap();
    let place = Place::new(&format!(
        "[[upstream]]\nname = \"fake\"\nkind = \"openai\"\nbase_url = \"{}\"\n",
        upstream.base_url()
    ));
    let (complete, late) = (Mutex::new(Vec::new()), Mutex::new(BTreeSet::new()));
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
                assert!(looks < PATIENCE.as_millis(), "seed {SEED}, round {round}: nothing arrives any more");
            }
            serving.kill();
            run.is_over.store(true, Ordering::SeqCst);
        });
    }

    let (complete, late) = (complete.into_inner().unwrap(), late.into_inner().unwrap());
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for user in 0..USERS {
        let user = format!("user-{user}");
        texts(&place, &user).into_iter().for_each(|text| *found.entry(text).or_default() += 1);
        let verified = place.run(&["-u", &user, "verify"]);
        let printed = String::from_utf8_lossy(&verified.stdout).into_owned();
        assert!(verified.status.success() && printed.contains("INTACT"), "seed {SEED}: {verified:?}");
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
            assert_eq!(count(words), 1, "seed {SEED}: the upstream was asked: {words}");
        }
    }
    assert!(late.len() * 20 <= received.len(), "seed {SEED}: {} of {} were held up", late.len(), received.len());
    for words in complete.iter().filter(|words| !late.contains(*words)) {
        assert_eq!(count(&reply_to(words)), 1, "seed {SEED}: the reply was complete at the client: {words}");
    }
    let twice: Vec<_> = found.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "seed {SEED}: {twice:?}");
    assert!(complete.len() as u64 >= KILLS && received.len() > complete.len(), "seed {SEED}: {}", complete.len());
}
