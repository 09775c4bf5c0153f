//! The search debugger: the query plan, the number of candidates after each stage, the parts of every score, and why
//! candidates were left out.

use askama::Template;
use quipu_core::recall::{Contributions, Intent, Trace};
use quipu_engine::ports::Scope;
use quipu_engine::{Answer as Hit, OmittedAnswer, RecallOptions, RecallReport, recall};

use super::super::frame::{Frame, Page, PageContext, PageResult, page};
use super::super::plot::{self, BarPart};
use super::super::shown;
use crate::http::Fault;

pub(super) fn pages() -> Vec<Page> {
    vec![Page::get("/ui/u/{user_id}/search", Scope::Read, search)]
}

struct SearchHits {
    rank: usize,
    id: String,
    kind: &'static str,
    text: String,
    score: String,
    confidence: String,
    meta: Vec<String>,
    bar: String,
    parts: Vec<(&'static str, String)>,
    standing: Vec<(&'static str, String)>,
    evidence: Vec<(String, String, String)>,
    also: Vec<String>,
    against: Vec<String>,
    outdated: Vec<String>,
}

struct Out {
    id: String,
    text: String,
    score: String,
    reason: &'static str,
    bar: String,
}

struct Report {
    verdict: &'static str,
    tone: &'static str,
    probability: String,
    reason: String,
    question: String,
    signals: Vec<(&'static str, String)>,
    terms: Vec<(String, String, u32)>,
    plan: Vec<(&'static str, String)>,
    funnel: String,
    hits: Vec<SearchHits>,
    out: Vec<Out>,
    core: Vec<(String, String, String)>,
    degraded: Option<String>,
    timing: String,
    version: u64,
    profile: String,
}

#[derive(Template)]
#[template(path = "search.html")]
struct Search {
    f: Frame,
    q: String,
    at: String,
    intent: &'static str,
    k: usize,
    report: Option<Report>,
    legend: [(&'static str, usize); 8],
}

/// The features of a score in the order of their colours; similar features share one.
const LEGEND: [(&str, usize); 8] = [
    ("words", 1),
    ("meaning", 2),
    ("neighbours", 3),
    ("session", 4),
    ("date", 5),
    ("speaker", 6),
    ("holds", 7),
    ("form", 8),
];

fn parts(made_of: &Contributions) -> Vec<BarPart> {
    let c = made_of;
    let beside = c.n_prev + c.n_next + c.late_near + c.x_near;
    let told = c.date + c.when + c.late_told + c.early_told;
    let form = c.isq + c.concise + c.brief + c.rule + c.likes + c.number + c.name;
    let values = [c.n + c.code, c.x + c.late, beside, c.n_sess, told, c.spk + c.own + c.reply, c.holds, form];
    let part =
        |((name, colour), value): ((&'static str, usize), f32)| BarPart { name, value: f64::from(value), colour };
    LEGEND.into_iter().zip(values).map(part).collect()
}

fn single(made_of: &Contributions) -> Vec<(&'static str, String)> {
    let c = made_of;
    let all = [
        ("words of the passage", c.n),
        ("has the number or code asked for", c.code),
        ("words before it", c.n_prev),
        ("words after it", c.n_next),
        ("words of the session", c.n_sess),
        ("meaning, whole", c.x),
        ("meaning, token by token", c.late),
        ("meaning of the neighbours", c.late_near),
        ("meaning of what it answers", c.x_near),
        ("speaker", c.spk),
        ("not an assistant's", c.own),
        ("an assistant's, as asked", c.reply),
        ("short", c.concise),
        ("hardly any words", c.brief),
        ("rule for the assistant", c.rule),
        ("likes or avoids", c.likes),
        ("has a number, as asked", c.number),
        ("has a name, as asked", c.name),
        ("told late", c.late_told),
        ("told early", c.early_told),
        ("date", c.date),
        ("names a time", c.when),
        ("is a question", c.isq),
        ("statement that holds", c.holds),
    ];
    all.into_iter()
        .filter(|(_, value)| value.abs() > 1e-4)
        .map(|(name, value)| (name, format!("{value:+.3}")))
        .collect()
}

fn found(rank: usize, hit: &Hit, longest: f64) -> SearchHits {
    let s = &hit.standing;
    let mut meta: Vec<String> = vec![hit.speaker.clone()];
    meta.extend(hit.said_at.map(shown::moment));
    meta.extend(hit.session_id.clone());
    meta.extend(hit.status.clone());
    if hit.valid_from.is_some() || hit.valid_to.is_some() {
        let to = hit.valid_to.map_or_else(|| "now".to_owned(), shown::day);
        meta.push(format!("{} → {to}", shown::maybe_day(hit.valid_from)));
    }
    meta.push(shown::trust(hit.trust).to_owned());
    let number = |value: f64| format!("{value:.3}");
    SearchHits {
        rank,
        id: hit.id.to_string(),
        kind: shown::kind(hit.id.kind),
        text: hit.text.clone(),
        score: format!("{:.3}", hit.score),
        confidence: format!("{:.0} %", hit.confidence * 100.0),
        meta: meta.into_iter().filter(|one| !one.is_empty()).collect(),
        bar: plot::stacked(&parts(&hit.contributions), longest),
        parts: single(&hit.contributions),
        standing: vec![
            ("match", number(s.query)),
            ("goal", number(s.goal)),
            ("emotion", number(s.emotion)),
            ("recency", number(s.recency)),
            ("frequency", number(s.frequency)),
            ("importance", number(s.importance)),
            ("relevance", number(s.relevance)),
            ("confidence", number(s.confidence)),
            ("priority = relevance × confidence", number(s.priority)),
        ],
        evidence: hit
            .evidence
            .iter()
            .map(|quote| (quote.id.to_string(), quote.text.clone(), quote.speaker.clone()))
            .collect(),
        also: hit.also.iter().map(ToString::to_string).collect(),
        against: hit.contested_by.iter().map(|(_, text)| text.clone()).collect(),
        outdated: hit.outdated.iter().map(|(_, text)| text.clone()).collect(),
    }
}

fn left_out(out: &OmittedAnswer, longest: f64) -> Out {
    Out {
        id: out.id.to_string(),
        text: shown::start(&out.text, 140),
        score: format!("{:.3}", out.score),
        reason: match shown::word(&out.reason).as_str() {
            "below the best" => "others score higher",
            _ => "nothing supports it",
        },
        bar: plot::stacked(&parts(&out.contributions), longest),
    }
}

/// The query plan, apart from its terms.
fn plan(trace: &Trace) -> Vec<(&'static str, String)> {
    let Some(detail) = &trace.detail else { return Vec::new() };
    let joined = |list: Vec<String>| list.join(", ");
    let all = [
        ("Intent", shown::word(&detail.intent)),
        ("About", detail.about.join(", ")),
        ("Speaker", detail.speaker.as_deref().unwrap_or_default().to_owned()),
        ("Names", detail.entities.join(", ")),
        ("Times", joined(detail.intervals.iter().map(ToString::to_string).collect())),
        ("Besides", detail.negation.besides.join(", ")),
        ("Compared by meaning", detail.first_person_text.clone()),
        (
            "Active index",
            if trace.fell_back {
                "had no confident answer; all items were searched".to_owned()
            } else {
                "was enough".to_owned()
            },
        ),
    ];
    all.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

fn funnel(trace: &Trace, report: &RecallReport) -> String {
    let mut rows = vec![
        ("Passages in the index".to_owned(), trace.passages),
        ("… that the filter lets through".to_owned(), trace.allowed),
    ];
    rows.extend(trace.arms.iter().map(|arm| (format!("Nominated: {}", arm.arm), arm.nominated)));
    rows.extend([
        ("Scored in full".to_owned(), trace.scored),
        ("Compared token by token".to_owned(), trace.compared),
        ("Drawn items".to_owned(), trace.derived),
        ("… that were scored".to_owned(), trace.derived_scored),
        ("Returned".to_owned(), report.hits.len()),
    ]);
    plot::both(|width| plot::funnel(width, &rows))
}

fn report(found_: RecallReport) -> Report {
    let trace = found_.trace.clone().unwrap_or_default();
    let sum = |made_of: &Contributions| parts(made_of).iter().map(|part| part.value.max(0.0)).sum::<f64>();
    let longest = found_.hits.iter().map(|hit| sum(&hit.contributions)).fold(0.0, f64::max);
    let decision = &found_.decision;
    let verdict = decision.verdict.as_str();
    let signals = [
        ("words", decision.signals.n),
        ("words of the session", decision.signals.n_sess),
        ("cosine", decision.signals.x),
        ("tokens", decision.signals.late),
        ("neighbours", decision.signals.late_near),
        ("lead over the fifth", decision.signals.lead),
        ("terms known", decision.signals.known),
        ("a term is unknown", decision.signals.unknown),
        ("a statement holds", decision.signals.holds),
    ];
    let terms = trace.detail.iter().flat_map(|detail| &detail.terms);
    Report {
        tone: match verdict {
            "answer" => "good",
            "abstain" => "bad",
            _ => "warn",
        },
        verdict,
        probability: format!("{:.0} %", decision.probability * 100.0),
        reason: decision.reason.to_owned(),
        question: decision.question.clone().unwrap_or_default(),
        signals: signals.into_iter().map(|(name, value)| (name, format!("{value:.3}"))).collect(),
        terms: terms.map(|term| (term.term.clone(), format!("{:.2}", term.idf), term.passages)).collect(),
        plan: plan(&trace),
        funnel: funnel(&trace, &found_),
        hits: found_.hits.iter().enumerate().map(|(place, hit)| found(place + 1, hit, longest)).collect(),
        out: found_.left_out.iter().map(|out| left_out(out, longest)).collect(),
        core: found_
            .core
            .iter()
            .map(|field| (field.path.clone(), shown::value(&field.value), format!("{:.2}", field.score)))
            .collect(),
        degraded: found_.degraded.clone(),
        timing: format!(
            "{} to embed the question, {} for the rest",
            plot::seconds(found_.timing.embed_us as f64 / 1e6),
            plot::seconds(found_.timing.recall_us as f64 / 1e6)
        ),
        version: found_.version,
        profile: found_.profile.clone(),
    }
}

/// Parses the intent chosen in a form.
pub(super) fn intent(word: Option<&str>) -> (Option<Intent>, &'static str) {
    match word {
        Some("plan") => (Some(Intent::Plan), "plan"),
        Some("reflect") => (Some(Intent::Reflect), "reflect"),
        Some("recall") => (Some(Intent::Recall), "recall"),
        Some("decide") => (Some(Intent::Decide), "decide"),
        Some("nudge") => (Some(Intent::Nudge), "nudge"),
        _ => (None, ""),
    }
}

fn search(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let mut f = desk.frame_of(&user, "Search debugger", "search")?;
    let (at, named) = desk.at()?;
    let q = desk.asked.get("q").unwrap_or_default().to_owned();
    f.query.clone_from(&q);
    let (wanted, intent) = intent(desk.asked.get("intent"));
    let k = desk.number("k", 8, 50).max(1);
    let found = if q.is_empty() {
        None
    } else {
        let options = RecallOptions { k, at, intent: wanted, explain: true, ..RecallOptions::of(&q) };
        Some(report(recall(desk.engine, &user, &options)?))
    };
    page(&Search { f, q, at: named.unwrap_or_default().to_owned(), intent, k, report: found, legend: LEGEND })
}
