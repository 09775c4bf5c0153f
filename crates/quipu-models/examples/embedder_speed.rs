//! Prints how fast the built-in embedder and the reader load and run on this machine, and how much memory they use.
//!
//! `cargo run --release -p quipu-models --example embedder_speed`
#![expect(clippy::disallowed_methods, reason = "it measures real time")]

use std::num::NonZeroUsize;
use std::time::Instant;

use quipu_core::extract::Reading;
use quipu_engine::ports::Extractor;
use quipu_engine::ports::embedder::{EmbedError, Embedder};
use quipu_models::{LearnedReader, MiniLm, RuleExtractor, threads_default};

const SHORT: &str = "My sister Ana has just moved from Valencia to Porto with her two old cats.";
const MESSAGE: &str = "so my sister ana moved to porto last week with her two old cats and i said i would drive up with the rest of \
    her things on the 14th, the van is booked, what should i check before a long drive";
const RUNS: usize = 200;

fn main() -> Result<(), EmbedError> {
    println!("memory before            {}", memory());
    let started = Instant::now();
    let embedder = MiniLm::new();
    println!("make                     {:>8.2?}", started.elapsed());
    let started = Instant::now();
    let tokens = embedder.count_tokens(SHORT);
    println!("read vocabulary          {:>8.2?}", started.elapsed());
    let started = Instant::now();
    embedder.load()?;
    println!("read weights             {:>8.2?}", started.elapsed());
    println!("memory loaded            {}", memory());

    let started = Instant::now();
    embedder.embed(&[SHORT])?;
    println!("first vector             {:>8.2?}", started.elapsed());
    let long = SHORT.repeat(11);
    println!("{tokens} tokens {}", times(&embedder, SHORT)?);
    println!("{} tokens {}", embedder.count_tokens(&long), times(&embedder, &long)?);

    let turns = turns();
    let texts: Vec<&str> = turns.iter().map(String::as_str).collect();
    let total: usize = texts.iter().map(|text| embedder.count_tokens(text)).sum();
    println!("batch of {} texts, {} tokens each on average", texts.len(), total / texts.len());
    for threads in [NonZeroUsize::MIN, threads_default()] {
        let embedder = MiniLm::with_threads(threads);
        embedder.load()?;
        let started = Instant::now();
        embedder.embed(&texts)?;
        let rate = texts.len() as f64 / started.elapsed().as_secs_f64();
        println!("  {threads} thread(s)            {rate:>8.0} texts/s");
    }
    println!("memory after, two models {}", memory());
    read()
}

/// Reads a message of forty words, without and with what the assistant said before.
fn read() -> Result<(), EmbedError> {
    let rules = RuleExtractor::english();
    let before = "That sounds like a lot at once. Do you have somebody who can look after the cats while you are away?";
    let read = |extractor: &dyn Extractor, before| {
        let reading = Reading { before, ..Reading::of_user(MESSAGE, None) };
        extractor.read(&reading).map_err(|error| EmbedError::Model(error.to_string()))
    };
    let started = Instant::now();
    read(&rules, None)?;
    println!("rules' first message     {:>8.2?}", started.elapsed());
    measure("rules alone", &|| read(&rules, None))?;
    println!("memory with rules        {}", memory());
    // The rules are taken over, not loaded a second time.
    let reader = LearnedReader::new(rules);
    let started = Instant::now();
    read(&reader, None)?;
    println!("network's first message  {:>8.2?}", started.elapsed());
    measure("reader", &|| read(&reader, None))?;
    measure("reader, with before", &|| read(&reader, Some(before)))?;
    println!("memory with both         {}", memory());
    Ok(())
}

/// Prints the times of a reading.
fn measure<T>(name: &str, read: &dyn Fn() -> Result<T, EmbedError>) -> Result<(), EmbedError> {
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let started = Instant::now();
        read()?;
        times.push(started.elapsed());
    }
    times.sort_unstable();
    println!("{name:<24} median {:.2?}, 95 of 100 below {:.2?}", times[RUNS / 2], times[RUNS * 95 / 100]);
    Ok(())
}

/// Reports the median, which is the usual time, and the minimum, which is the time without other load.
fn times(embedder: &MiniLm, text: &str) -> Result<String, EmbedError> {
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let started = Instant::now();
        embedder.embed(&[text])?;
        times.push(started.elapsed());
    }
    times.sort_unstable();
    Ok(format!("median {:.2?}, best {:.2?}", times[RUNS / 2], times[0]))
}

/// Five hundred turns of a conversation, from a few words to a few sentences long.
fn turns() -> Vec<String> {
    let parts = [
        "That sounds great!",
        "I finally signed up for the pottery class you told me about last week.",
        "How was the camping trip with your kids?",
        "We spent the whole weekend by the lake and saw more stars than I can remember seeing before.",
        "Thanks, it really means a lot to me.",
        "I have been looking into adoption agencies since March, and two of them have called back.",
        "Maybe next month, work is busy until the audit is done.",
    ];
    (0..500)
        .map(|turn| {
            let sentences = 1 + turn % 3;
            let words: Vec<&str> = (0..sentences).map(|at| parts[(turn + at * 2) % parts.len()]).collect();
            format!("{turn}: {}", words.join(" "))
        })
        .collect()
}

/// Resident memory, current and peak, on systems that report it.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name));
        let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
        kilobytes.map_or("?".to_owned(), |kilobytes| format!("{:.0} MB", kilobytes / 1024.0))
    };
    format!("{}, at most {}", field("VmRSS"), field("VmHWM"))
}
