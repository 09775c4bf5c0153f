//! The server itself: its figures as plots, and an examination.

use std::collections::BTreeMap;

use askama::Template;
use quipu_engine::ports::Scope;
use quipu_engine::{Error, status};

use super::super::frame::{Answer, Desk, Frame, Page, page};
use super::super::plot;
use super::super::shown;
use crate::http::Fault;

pub(super) fn pages() -> Vec<Page> {
    vec![Page::get("/ui/server/metrics", Scope::Read, metrics), Page::get("/ui/server/doctor", Scope::Read, doctor)]
}

struct Latency {
    name: String,
    outcome: String,
    count: String,
    mean: String,
    p50: String,
    p95: String,
    drawn: String,
}

#[derive(Template)]
#[template(path = "metrics.html")]
struct Metrics {
    f: Frame,
    figures: Vec<(String, &'static str)>,
    latencies: Vec<Latency>,
    counters: Vec<(String, String)>,
}

/// A line of the page of figures: name, labels, value.
fn read(line: &str) -> Option<(&str, BTreeMap<&str, &str>, f64)> {
    let (head, value) = line.rsplit_once(' ')?;
    let value = value.parse().ok()?;
    let Some((name, labels)) = head.split_once('{') else { return Some((head, BTreeMap::new(), value)) };
    let labels = labels.strip_suffix('}')?.split("\",").filter_map(|one| one.split_once("=\""));
    Some((name, labels.map(|(name, value)| (name, value.trim_end_matches('"'))).collect(), value))
}

/// The bound under which a share of all is: the upper end of its bucket.
fn quantile(buckets: &[(f64, u64)], share: f64) -> f64 {
    let all: u64 = buckets.iter().map(|(_, count)| count).sum();
    let mut seen = 0;
    for (bound, count) in buckets {
        seen += count;
        if seen as f64 >= all as f64 * share {
            return *bound;
        }
    }
    f64::INFINITY
}

fn latencies(text: &str) -> Vec<Latency> {
    let mut buckets: BTreeMap<(String, String), Vec<(f64, u64)>> = BTreeMap::new();
    let mut sums: BTreeMap<(String, String), f64> = BTreeMap::new();
    for (name, labels, value) in text.lines().filter_map(read) {
        let Some(rest) = name.strip_prefix("quipu_").and_then(|name| name.split_once("_duration_seconds")) else {
            continue;
        };
        let of = |label: &str| labels.get(label).copied().unwrap_or_default().to_owned();
        let what = match rest.0 {
            "llm" => format!("model: {}", of("purpose")),
            "request" => of("route"),
            _ => of("operation"),
        };
        let key = (what, of("outcome"));
        match rest.1 {
            "_sum" => {
                sums.insert(key, value);
            }
            "_bucket" => {
                let bound = labels.get("le").and_then(|le| le.parse().ok()).unwrap_or(f64::INFINITY);
                buckets.entry(key).or_default().push((bound, value as u64));
            }
            _ => {}
        }
    }
    let one = |((name, outcome), counted): ((String, String), Vec<(f64, u64)>)| {
        // Each bucket counts what is in those below it too.
        let mut before = 0;
        let own: Vec<(f64, u64)> = counted
            .iter()
            .map(|(bound, count)| {
                let own = count.saturating_sub(before);
                before = *count;
                (*bound, own)
            })
            .collect();
        let all: u64 = own.iter().map(|(_, count)| count).sum();
        let sum = sums.get(&(name.clone(), outcome.clone())).copied().unwrap_or_default();
        Latency {
            count: shown::count(all as usize),
            mean: plot::seconds(sum / all.max(1) as f64),
            p50: plot::seconds(quantile(&own, 0.5)),
            p95: plot::seconds(quantile(&own, 0.95)),
            drawn: plot::histogram(&own, &format!("How long {name} took")),
            name: name.replace('_', " "),
            outcome,
        }
    };
    buckets.into_iter().map(one).collect()
}

fn metrics(desk: &Desk<'_>) -> Result<Answer, Fault> {
    desk.must_see_all()?;
    let standing = quipu_engine::standing(desk.engine);
    desk.app.metrics.stands(&standing);
    let text = desk.app.metrics.page().map_err(|error| Error::Bug(error.to_string()))?;
    let counters = text.lines().filter_map(read).filter(|(name, _, value)| name.ends_with("_total") && *value > 0.0);
    let counters = counters
        .map(|(name, labels, value)| {
            let name = name.trim_start_matches("quipu_").trim_end_matches("_total").replace('_', " ");
            let labels: Vec<&str> = labels.values().copied().collect();
            (format!("{name}: {}", labels.join(", ")), shown::count(value as usize))
        })
        .collect();
    let waiting: usize = standing.reviews.values().sum();
    page(&Metrics {
        f: desk.frame("Metrics", "metrics"),
        figures: vec![
            (shown::count(standing.open), "memories open"),
            (shown::bytes(standing.bytes as u64), "held in memory"),
            (shown::count(waiting), "reviews waiting"),
            (shown::count(standing.unsummarized), "exchanges not told"),
            (desk.app.queue.depth().to_string(), "exchanges to record"),
        ],
        latencies: latencies(&text),
        counters,
    })
}

#[derive(Template)]
#[template(path = "doctor.html")]
struct Doctor {
    f: Frame,
    findings: Vec<(bool, String)>,
    was_run: bool,
    users: usize,
    bytes: String,
}

/// Bytes of the first users are added up; of more nobody waits for.
const USERS_MAX: usize = 50;

fn doctor(desk: &Desk<'_>) -> Result<Answer, Fault> {
    desk.must_see_all()?;
    let was_run = desk.asked.get("run").is_some();
    let findings = if was_run { quipu_engine::doctor(desk.engine) } else { Vec::new() };
    let users = quipu_engine::users(desk.engine)?;
    let on_disk = |user| status(desk.engine, user).map_or(0, |status| status.bytes_on_disk);
    let bytes: u64 = users.iter().take(USERS_MAX).map(on_disk).sum();
    page(&Doctor {
        f: desk.frame("Doctor", "doctor"),
        findings: findings.into_iter().map(|one| (one.ok, one.text)).collect(),
        was_run,
        bytes: format!("{}{}", if users.len() > USERS_MAX { "more than " } else { "" }, shown::bytes(bytes)),
        users: users.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_taken_apart() {
        let text = "quipu_operation_duration_seconds_bucket{le=\"0.001\",operation=\"search\",outcome=\"ok\"} 3\n\
                    quipu_operation_duration_seconds_bucket{le=\"0.01\",operation=\"search\",outcome=\"ok\"} 4\n\
                    quipu_operation_duration_seconds_bucket{le=\"+Inf\",operation=\"search\",outcome=\"ok\"} 4\n\
                    quipu_operation_duration_seconds_sum{operation=\"search\",outcome=\"ok\"} 0.008\n";
        let found = latencies(text);
        assert_eq!(found.len(), 1);
        let one = &found[0];
        assert_eq!((one.count.as_str(), one.mean.as_str()), ("4", "2.0 ms"));
        assert_eq!((one.p50.as_str(), one.p95.as_str()), ("1.0 ms", "10 ms"));
    }
}
