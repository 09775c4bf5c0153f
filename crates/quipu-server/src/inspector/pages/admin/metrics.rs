//! Metrics: counters since the server started, and durations as plots.

use std::collections::BTreeMap;

use askama::Template;
use quipu_engine::Error;
use quipu_engine::ports::Scope;

use crate::http::Fault;
use crate::inspector::frame::{Frame, Page, PageContext, PageResult, page};
use crate::inspector::plot::{self, Percentiles};
use crate::inspector::shown;

/// Number of routes plotted and listed: the most requested ones.
const DRAWN: usize = 12;
const ROWS: usize = 40;

pub(in crate::inspector::pages) fn pages() -> Vec<Page> {
    vec![Page::get("/ui/server/metrics", Scope::Read, metrics)]
}

struct Latency {
    name: String,
    outcome: String,
    count: String,
    mean: String,
    p50: String,
    p95: String,
    /// The plot; empty for a request, because all requests share one plot.
    drawn: String,
}

#[derive(Template)]
#[template(path = "metrics.html")]
struct Metrics {
    f: Frame,
    figures: Vec<(String, &'static str)>,
    latencies: Vec<Latency>,
    requests: Vec<Latency>,
    drawn: Option<String>,
    /// Rows omitted from the table of requests.
    more: usize,
    counters: Vec<(String, String)>,
}

/// Parses a line of the metrics text: name, labels, value.
fn read(line: &str) -> Option<(&str, BTreeMap<&str, &str>, f64)> {
    let (head, value) = line.rsplit_once(' ')?;
    let value = value.parse().ok()?;
    let Some((name, labels)) = head.split_once('{') else { return Some((head, BTreeMap::new(), value)) };
    let labels = labels.strip_suffix('}')?.split("\",").filter_map(|one| one.split_once("=\""));
    Some((name, labels.map(|(name, value)| (name, value.trim_end_matches('"'))).collect(), value))
}

/// The upper end of the bucket that contains a quantile.
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

/// The durations of one operation.
#[derive(Default)]
struct Timed {
    /// The upper bound of each bucket, and its own count.
    buckets: Vec<(f64, u64)>,
    sum: f64,
}

/// An operation and its outcome.
type OperationOutcome = (String, String);

impl Timed {
    fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, count)| count).sum()
    }

    fn shown(&self, (name, outcome): OperationOutcome, drawn: String) -> Latency {
        Latency {
            count: shown::count(self.count()),
            mean: plot::seconds(self.sum / self.count().max(1) as f64),
            p50: plot::seconds(quantile(&self.buckets, 0.5)),
            p95: plot::seconds(quantile(&self.buckets, 0.95)),
            drawn,
            name,
            outcome,
        }
    }
}

/// All histograms whose names have this prefix and suffix; `what` reads the operation from the labels.
fn timed(
    text: &str,
    what: impl Fn(&str, &BTreeMap<&str, &str>) -> Option<OperationOutcome>,
) -> Vec<(OperationOutcome, Timed)> {
    let mut all: BTreeMap<OperationOutcome, Timed> = BTreeMap::new();
    let mut before: BTreeMap<OperationOutcome, u64> = BTreeMap::new();
    for (name, labels, value) in text.lines().filter_map(read) {
        let Some((name, part)) = name.split_once("_duration_seconds_") else { continue };
        let Some(done) = what(name, &labels) else { continue };
        match part {
            "sum" => all.entry(done).or_default().sum = value,
            "bucket" => {
                let bound = labels.get("le").and_then(|le| le.parse().ok()).unwrap_or(f64::INFINITY);
                // Buckets are cumulative.
                let below = before.entry(done.clone()).or_default();
                all.entry(done).or_default().buckets.push((bound, (value as u64).saturating_sub(*below)));
                *below = value as u64;
            }
            _ => {}
        }
    }
    all.into_iter().collect()
}

fn label(labels: &BTreeMap<&str, &str>, name: &str) -> String {
    labels.get(name).copied().unwrap_or_default().to_owned()
}

fn latencies(text: &str) -> Vec<Latency> {
    let found = timed(text, |name, labels| match name {
        "quipu_llm" => Some((format!("model: {}", label(labels, "purpose")), String::new())),
        "quipu_operation" => Some((label(labels, "operation").replace('_', " "), label(labels, "outcome"))),
        _ => None,
    });
    let shown = |(done, timed): (OperationOutcome, Timed)| {
        let label = format!("How long {} took", done.0);
        let drawn = plot::both(|width| plot::histogram(width, &timed.buckets, &label));
        timed.shown(done, drawn)
    };
    found.into_iter().map(shown).collect()
}

/// Requests by route, the most frequent first.
fn requests(text: &str) -> Vec<(OperationOutcome, Timed)> {
    let mut found = timed(text, |name, labels| {
        let route = label(labels, "http_route");
        let route = if route.is_empty() { "no route".to_owned() } else { route };
        let done = format!("{} {route}", label(labels, "http_request_method"));
        (name == "http_server_request").then(|| (done, label(labels, "http_response_status_class")))
    });
    found.sort_by_key(|(_, timed)| std::cmp::Reverse(timed.count()));
    found
}

fn drawn(requests: &[(OperationOutcome, Timed)]) -> Option<String> {
    let reach = |((name, class), timed): &(OperationOutcome, Timed)| Percentiles {
        name: format!("{name} {class}"),
        half: quantile(&timed.buckets, 0.5),
        most: quantile(&timed.buckets, 0.95),
    };
    let rows: Vec<Percentiles> = requests.iter().take(DRAWN).map(reach).collect();
    (!rows.is_empty())
        .then(|| plot::both(|width| plot::reaches(width, &rows, "How long requests took, route by route")))
}

fn metrics(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    desk.must_see_all()?;
    let standing = quipu_engine::gauges(desk.engine);
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
    let requests = requests(&text);
    page(&Metrics {
        f: desk.frame("Metrics", "metrics"),
        figures: vec![
            (shown::count(standing.open), "memories open"),
            (shown::bytes(standing.bytes as u64), "held in memory"),
            (shown::count(waiting), "reviews waiting"),
            (shown::count(standing.unsummarized), "exchanges not summarised"),
            (desk.app.queue.depth().to_string(), "exchanges to record"),
        ],
        latencies: latencies(&text),
        drawn: drawn(&requests),
        more: requests.len().saturating_sub(ROWS),
        requests: requests.into_iter().take(ROWS).map(|(done, timed)| timed.shown(done, String::new())).collect(),
        counters,
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

    #[test]
    fn requests_are_those_of_the_page_of_figures() {
        let metrics = crate::metrics::Metrics::new();
        let asked = |route: &str, class, times, seconds| {
            let request = crate::metrics::RouteLabel {
                http_request_method: "GET",
                http_route: route.to_owned(),
                http_response_status_class: class,
            };
            (0..times).for_each(|_| metrics.answered(&request, seconds));
        };
        asked("/memory/{user_id}/facts", "2xx", 3, 0.004);
        asked("/memory/{user_id}/facts", "4xx", 1, 0.0002);
        asked("", "4xx", 5, 60.0);
        let text = metrics.page().unwrap_or_default();
        let found = requests(&text);
        let shown: Vec<_> =
            found.iter().map(|((name, class), one)| (name.as_str(), class.as_str(), one.count())).collect();
        let facts = "GET /memory/{user_id}/facts";
        assert_eq!(shown, [("GET no route", "4xx", 5), (facts, "2xx", 3), (facts, "4xx", 1)]);
        assert!((found[1].1.sum - 0.012).abs() < 1e-9);
        assert_eq!(quantile(&found[1].1.buckets, 0.95), 0.005);
        assert!(latencies(&text).is_empty(), "requests are not operations");
        let drawn = drawn(&found).unwrap_or_default();
        assert!(drawn.contains("no route") && drawn.contains("more"), "{drawn}");
    }
}
