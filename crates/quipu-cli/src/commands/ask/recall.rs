//! Finds what was said, and explains the scores on request.

use clap::Args;
use quipu_core::calendar::TimeExpression;
use quipu_core::item::stretch;
use quipu_core::recall::{Contributions, Negation, Trace, UsageScores, Validity, Verdict};
use quipu_engine::versions::When;
use quipu_engine::{Answer, RecallDecision, RecallOptions, RecallReport, Result};

use super::items::parse_kind;
use crate::commands::arguments::{DeadlineArgs, IntentArg};
use crate::commands::{CommandContext, render};

#[derive(Debug, Args)]
pub(crate) struct RecallArgs {
    /// What to search for
    pub(crate) query: String,
    /// Most results
    #[arg(short, default_value_t = 8)]
    pub(crate) k: usize,
    /// Only these kinds: turn, entry, doc, fact, ep, task, note, tenet
    #[arg(long, value_delimiter = ',', value_name = "KIND")]
    pub(crate) kind: Vec<String>,
    /// Only items of this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) time: ValidityArgs,
    /// What the answer is used for [default: derived from the query]
    #[arg(long, value_enum)]
    pub(crate) intent: Option<IntentArg>,
    #[command(flatten)]
    pub(crate) deadline: DeadlineArgs,
    /// Show how each score was computed
    #[arg(long)]
    pub(crate) explain: bool,
}

/// The time for which statements are wanted.
#[derive(Debug, Args)]
pub(crate) struct ValidityArgs {
    /// Statements valid at this time, such as `2026-07-15` or `last monday` [default: derived from the query, else now]
    #[arg(long, value_name = "TIME", conflicts_with = "history")]
    pub(crate) valid_at: Option<TimeExpression>,
    /// Include statements that are no longer valid
    #[arg(long)]
    pub(crate) history: bool,
}

pub(crate) fn recall(context: &CommandContext<'_>, args: &RecallArgs, at: When) -> Result<()> {
    let options = RecallOptions {
        k: args.k,
        session: args.session.clone(),
        kinds: args.kind.iter().map(|word| parse_kind(word)).collect::<Result<_>>()?,
        at,
        validity: validity(context, &args.time)?,
        intent: args.intent.map(Into::into),
        deadline: args.deadline.deadline(),
        explain: args.explain,
        ..RecallOptions::of(&args.query)
    };
    let report = quipu_engine::recall(&context.engine, &context.user, &options)?;
    context.printer.report(&report, answers)?;
    context.keep_hits(at);
    if report.decision.verdict != Verdict::Answer {
        context.printer.hint(&decided(&report.decision));
    }
    if let Some(reason) = &report.degraded {
        context.printer.hint(&format!("degraded: {reason}"));
    }
    Ok(())
}

/// The decision whether the results answer the query, on one line.
fn decided(decision: &RecallDecision) -> String {
    let question = decision.question.as_ref().map(|question| format!("; ask: {question}")).unwrap_or_default();
    let (verdict, reason) = (decision.verdict.as_str(), decision.reason);
    format!("{verdict}: {reason} (answers with a probability of {:.2}){question}", decision.probability)
}

fn validity(context: &CommandContext<'_>, time: &ValidityArgs) -> Result<Option<Validity>> {
    let at = context.engine.time_of(time.valid_at)?;
    Ok(if time.history { Some(Validity::Ever) } else { at.map(|at| Validity::Now(Some(at))) })
}

pub(crate) fn answers(report: &RecallReport) -> String {
    let mut text = String::new();
    for (place, hit) in report.hits.iter().enumerate() {
        text.push_str(&format!(
            "{:>2}. {:.2}  {} · {} · {}{}{}\n",
            place + 1,
            hit.score,
            hit.id,
            render::time(hit.said_at),
            hit.speaker,
            hit.session_id.as_deref().map(|name| format!(" · {name}")).unwrap_or_default(),
            status(hit),
        ));
        for line in hit.text.lines() {
            text.push_str(&format!("          {line}\n"));
        }
        for quote in &hit.evidence {
            let (said_at, words) = (render::time(quote.said_at), render::excerpt(&quote.text, 100));
            text.push_str(&format!("          from {} · {said_at} · {}: {words}\n", quote.id, quote.speaker));
        }
        for (id, old) in &hit.outdated {
            text.push_str(&format!("          does not hold, {id}: {old}\n"));
        }
        for (id, claim) in &hit.unconfirmed {
            text.push_str(&format!("          not confirmed, {id}: {claim}\n"));
        }
        for (id, other) in &hit.contested_by {
            text.push_str(&format!("          contested by {id}: {other}\n"));
        }
        if report.trace.is_some() {
            text.push_str(&format!("          = {:.3}: {}\n", hit.raw_score, contributions(&hit.contributions)));
            text.push_str(&format!("          {}\n", usage_scores(&hit.standing)));
            if let Some(score) = hit.reranked {
                text.push_str(&format!("          reranked: {score:+.3}\n"));
            }
        }
    }
    for field in &report.core {
        text.push_str(&format!("    {:.2}  {} = {}\n", field.score, field.path, field.value));
    }
    if let Some(trace) = &report.trace {
        text.push_str(&explained(report, trace));
    }
    text
}

/// The status and validity of a result, if it has any.
fn status(hit: &Answer) -> String {
    let mut words: Vec<String> = hit.status.iter().cloned().collect();
    words.extend(hit.valid_from.map(|from| format!("from {}", stretch(from))));
    words.extend(hit.valid_to.map(|to| format!("until {}", stretch(to))));
    if words.is_empty() { String::new() } else { format!(" · {}", words.join(" ")) }
}

/// The contribution of each feature to a score, without zeros.
fn contributions(values: &Contributions) -> String {
    let parts = [
        ("words", values.n),
        ("code", values.code),
        ("words before", values.n_prev),
        ("words after", values.n_next),
        ("session", values.n_sess),
        ("speaker", values.spk),
        ("date", values.date),
        ("question", values.isq),
        ("meaning", values.x),
        ("holds", values.holds),
        ("time", values.when),
        ("tokens", values.late),
        ("tokens around", values.late_near),
        ("what it answers", values.x_near),
        ("own words", values.own),
        ("reply", values.reply),
        ("short", values.concise),
        ("brief", values.brief),
        ("rule", values.rule),
        ("likes", values.likes),
        ("number", values.number),
        ("name", values.name),
        ("told late", values.late_told),
        ("told early", values.early_told),
    ];
    let present = parts.iter().filter(|(_, value)| *value != 0.0);
    present.map(|(feature, value)| format!("{feature} {value:+.3}")).collect::<Vec<_>>().join(", ")
}

/// The usage scores that order a result.
fn usage_scores(scores: &UsageScores) -> String {
    let UsageScores { query, goal, emotion, recency, frequency, importance, relevance, confidence, priority } = scores;
    format!(
        "relevance {relevance:.3} of similarity {query:.2}, goal {goal:.2}, feeling {emotion:.2}, recency {recency:.2}, \
         frequency {frequency:.2}, importance {importance:.2}; confidence {confidence:.2}; priority {priority:.3}"
    )
}

fn validity_text(validity: Validity) -> String {
    let date = |time: jiff::Timestamp| time.strftime("%Y-%m-%d").to_string();
    match validity {
        Validity::Now(None) => "what holds now".to_owned(),
        Validity::Now(Some(time)) => format!("what held on {}", date(time)),
        Validity::Within(from, until) => {
            format!("what held at some time from {} to before {}", date(from), date(until))
        }
        Validity::Ever => "what held at any time".to_owned(),
    }
}

fn negation_text(negation: &Negation) -> String {
    let denied = negation.denied.then(|| "wants what is not so".to_owned());
    let over = negation.over.then(|| "wants what is over".to_owned());
    let besides = (!negation.besides.is_empty()).then(|| format!("excludes {}", negation.besides.join(", ")));
    denied.into_iter().chain(over).chain(besides).collect::<Vec<_>>().join("; ")
}

fn explained(report: &RecallReport, trace: &Trace) -> String {
    let mut text = "\nHow it was found\n".to_owned();
    let mut line = |what: String| text.push_str(&format!("  {what}\n"));
    if let Some(detail) = &trace.detail {
        let term =
            |term: &quipu_core::recall::Term| format!("{} (idf {:.2}, in {})", term.term, term.idf, term.passages);
        line(format!("terms     {}", detail.terms.iter().map(term).collect::<Vec<_>>().join(", ")));
        line(format!("speaker   {}", detail.speaker.as_deref().unwrap_or("none named, or several")));
        if !detail.about.is_empty() {
            line(format!("about     {}", detail.about.join(" or ")));
        }
        if !detail.entities.is_empty() {
            line(format!("names     {}", detail.entities.join(", ")));
        }
        if !detail.negation.is_none() {
            line(format!("negation  {}", negation_text(&detail.negation)));
        }
        let dates: Vec<String> = detail.dates.iter().map(ToString::to_string).collect();
        line(format!("dates     {}", if dates.is_empty() { "none".to_owned() } else { dates.join(", ") }));
        let intervals: Vec<String> = detail.intervals.iter().map(ToString::to_string).collect();
        if !intervals.is_empty() {
            line(format!("times     {}", intervals.join(", ")));
        }
        line(format!("valid     {}", validity_text(detail.validity)));
        line(format!("intent    {}", detail.intent.as_str()));
        line(format!("embedded  {:?}", detail.first_person_text));
    }
    let arms: Vec<String> = trace.arms.iter().map(|arm| format!("{} {}", arm.arm, arm.nominated)).collect();
    line(format!(
        "passages  {} there, {} allowed, {} scored ({})",
        trace.passages,
        trace.allowed,
        trace.scored,
        arms.join(", ")
    ));
    if trace.compared > 0 {
        line(format!("tokens    of the {} best compared with the question's", trace.compared));
    }
    line(format!("decision  {}", decided(&report.decision)));
    line(format!("profile   {}", report.profile));
    line(format!("derived   {} there, {} scored", trace.derived, trace.derived_scored));
    if trace.without_vector > 0 {
        line(format!("meaning   {} passages have no vector yet", trace.without_vector));
    }
    for out in report.left_out.iter().take(5) {
        line(format!("left out  {:.3} {}  {}", out.score, out.id, render::excerpt(&out.text, 60)));
    }
    let timing = &report.timing;
    line(format!("time      embedding the question {} µs, the rest {} µs", timing.embed_us, timing.recall_us));
    text
}
