//! Reading: recall, context, get, list, why, core.

use quipu_core::id::ItemKind;
use quipu_core::recall::{Contributions, Negation, Trace, UsageScores, Validity, Verdict};
use quipu_engine::versions::When;
use quipu_engine::{
    Answer, ContextOptions, Error, ItemPage, ItemReceipts, ListOptions, RecallDecision, RecallOptions, RecallReport,
    Result,
};

use serde_json::Value;

use super::{CommandContext, render};
use crate::args::{Context, Form, List, Recall, Time};

pub(super) fn recall(session: &CommandContext<'_>, args: &Recall, at: When) -> Result<()> {
    let options = RecallOptions {
        k: args.k,
        session: session.only_session.clone(),
        kinds: args.kind.iter().map(|word| kind(word)).collect::<Result<_>>()?,
        at,
        validity: validity(&args.time),
        intent: args.intent.map(Into::into),
        deadline: args.patience.deadline(),
        explain: args.explain,
        ..RecallOptions::of(&args.query)
    };
    let report = quipu_engine::recall(&session.engine, &session.user, &options)?;
    session.printer.report(&report, answers)?;
    session.keep_hits(at);
    if report.decision.verdict != Verdict::Answer {
        session.printer.hint(&decided(&report.decision));
    }
    if let Some(reason) = &report.degraded {
        session.printer.hint(&format!("degraded: {reason}"));
    }
    Ok(())
}

/// What to do with what was found, in a line.
fn decided(decision: &RecallDecision) -> String {
    let question = decision.question.as_ref().map(|question| format!("; ask: {question}")).unwrap_or_default();
    let (verdict, reason) = (decision.verdict.as_str(), decision.reason);
    format!("{verdict}: {reason} (answers with a probability of {:.2}){question}", decision.probability)
}

fn kind(word: &str) -> Result<ItemKind> {
    let found = ItemKind::ALL.into_iter().find(|kind| kind.as_str() == word);
    found.ok_or_else(|| {
        let known: Vec<&str> = ItemKind::ALL.iter().map(|kind| kind.as_str()).collect();
        Error::Invalid(format!("{word:?} is no kind; there are {}", known.join(", ")))
    })
}

fn validity(time: &Time) -> Option<Validity> {
    if time.history { Some(Validity::Ever) } else { time.valid_at.map(|at| Validity::Now(Some(at))) }
}

pub(super) fn answers(report: &RecallReport) -> String {
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
            standing(hit),
        ));
        for line in hit.text.lines() {
            text.push_str(&format!("          {line}\n"));
        }
        for quote in &hit.evidence {
            let (said_at, words) = (render::time(quote.said_at), render::excerpt(&quote.text, 100));
            text.push_str(&format!("          from {} · {said_at} · {}: {words}\n", quote.id, quote.speaker));
        }
        for (id, old) in &hit.outdated {
            text.push_str(&format!("          no longer so, {id}: {old}\n"));
        }
        for (id, other) in &hit.contested_by {
            text.push_str(&format!("          contested by {id}: {other}\n"));
        }
        if report.trace.is_some() {
            text.push_str(&format!("          = {:.3}: {}\n", hit.raw_score, parts(&hit.contributions)));
            text.push_str(&format!("          {}\n", stood(&hit.standing)));
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

/// How an answer stands, where there is more to say than that it counts.
fn standing(hit: &Answer) -> String {
    let date = |time: jiff::Timestamp| time.strftime("%Y-%m-%d").to_string();
    let mut words: Vec<String> = hit.status.iter().cloned().collect();
    words.extend(hit.valid_from.map(|from| format!("from {}", date(from))));
    words.extend(hit.valid_to.map(|to| format!("until {}", date(to))));
    if words.is_empty() { String::new() } else { format!(" · {}", words.join(" ")) }
}

/// What each feature adds, the ones that add nothing left out.
fn parts(made_of: &Contributions) -> String {
    let parts = [
        ("words", made_of.n),
        ("code", made_of.code),
        ("words before", made_of.n_prev),
        ("words after", made_of.n_next),
        ("session", made_of.n_sess),
        ("speaker", made_of.spk),
        ("date", made_of.date),
        ("question", made_of.isq),
        ("meaning", made_of.x),
        ("holds", made_of.holds),
        ("time", made_of.when),
        ("tokens", made_of.late),
        ("tokens around", made_of.late_near),
        ("what it answers", made_of.x_near),
        ("own words", made_of.own),
        ("reply", made_of.reply),
        ("short", made_of.concise),
        ("brief", made_of.brief),
        ("rule", made_of.rule),
        ("likes", made_of.likes),
        ("number", made_of.number),
        ("name", made_of.name),
        ("told late", made_of.late_told),
        ("told early", made_of.early_told),
    ];
    let present = parts.iter().filter(|(_, value)| *value != 0.0);
    present.map(|(feature, value)| format!("{feature} {value:+.3}")).collect::<Vec<_>>().join(", ")
}

/// What an answer's place follows from.
fn stood(standing: &UsageScores) -> String {
    let UsageScores { query, goal, emotion, recency, frequency, importance, relevance, confidence, priority } =
        standing;
    format!(
        "relevance {relevance:.3} of similarity {query:.2}, goal {goal:.2}, feeling {emotion:.2}, recency {recency:.2}, \
         frequency {frequency:.2}, importance {importance:.2}; confidence {confidence:.2}; priority {priority:.3}"
    )
}

fn asked_for(validity: Validity) -> String {
    let date = |time: jiff::Timestamp| time.strftime("%Y-%m-%d").to_string();
    match validity {
        Validity::Now(None) => "what holds now".to_owned(),
        Validity::Now(Some(time)) => format!("what held on {}", date(time)),
        Validity::Within(from, until) => {
            format!("what held at some time from {} to before {}", date(from), date(until))
        }
        Validity::Ever => "whatever held at any time".to_owned(),
    }
}

fn says_no(negation: &Negation) -> String {
    let denied = negation.denied.then(|| "asks for what is not so".to_owned());
    let over = negation.over.then(|| "asks for what is over".to_owned());
    let besides = (!negation.besides.is_empty()).then(|| format!("leaves out {}", negation.besides.join(", ")));
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
            line(format!("says no   {}", says_no(&detail.negation)));
        }
        let dates: Vec<String> = detail.dates.iter().map(ToString::to_string).collect();
        line(format!("dates     {}", if dates.is_empty() { "none".to_owned() } else { dates.join(", ") }));
        let intervals: Vec<String> = detail.intervals.iter().map(ToString::to_string).collect();
        if !intervals.is_empty() {
            line(format!("times     {}", intervals.join(", ")));
        }
        line(format!("valid     {}", asked_for(detail.validity)));
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
    line(format!("drawn     {} there, {} scored", trace.derived, trace.derived_scored));
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

pub(super) fn context(session: &CommandContext<'_>, args: &Context, at: When) -> Result<()> {
    if let Some(id) = &args.id {
        let made = quipu_engine::reproduce(&session.engine, &session.user, id)?;
        session.printer.report(&made, |made| made.pack.text.clone())?;
        session.printer.hint(match made.identical {
            true => "the same to the byte",
            false => {
                "not the same: something in it was erased since, its weights or the model are others, or another version of \
                 quipu made it"
            }
        });
        return Ok(());
    }
    let options = ContextOptions {
        max_tokens: args.max_tokens,
        session: session.only_session.clone(),
        at,
        intent: args.intent.map(Into::into),
        tokenizer: args.tokenizer.clone(),
        ids: args.ids,
        cite: args.cite,
        deadline: args.patience.deadline(),
        ..ContextOptions::of(args.query.as_deref().unwrap_or_default())
    };
    let pack = quipu_engine::context(&session.engine, &session.user, &options)?;
    session.printer.report(&pack, |pack| pack.text.clone())?;
    session.keep_hits(at);
    session.printer.hint(&format!(
        "for {}: {} tokens ({}), {} items, {} left out; id {}",
        pack.intent.as_str(),
        pack.tokens,
        pack.counted_by,
        pack.citations.len(),
        pack.omitted.len(),
        pack.id
    ));
    Ok(())
}

pub(super) fn get(session: &CommandContext<'_>, name: &str, at: When) -> Result<()> {
    let item = quipu_engine::get(&session.engine, &session.user, name, at)?;
    session.printer.report(&item, render::item)
}

pub(super) fn list(session: &CommandContext<'_>, args: &List, at: When) -> Result<()> {
    let kind = args.kind.as_deref().map(kind);
    let options = ListOptions {
        at,
        session: session.only_session.clone(),
        kind: kind.transpose()?,
        offset: args.offset,
        limit: args.limit,
    };
    let page = quipu_engine::list(&session.engine, &session.user, &options)?;
    session.printer.report(&page, |page| listing(page, session.printer.form()))?;
    let shown = options.offset + page.items.len();
    if shown < page.total {
        session.printer.hint(&format!("{} of {}; go on with --offset {shown}", page.items.len(), page.total));
    }
    Ok(())
}

fn listing(page: &ItemPage, form: Form) -> String {
    if form != Form::Table {
        return page.items.iter().map(render::item).collect();
    }
    let row = |item: &quipu_engine::Item| {
        vec![
            item.id.to_string(),
            render::time(item.said_at),
            item.author.clone().unwrap_or_else(|| item.role.as_str().to_owned()),
            render::excerpt(&item.text, 70),
        ]
    };
    render::table(&["id", "said", "who", "text"], &page.items.iter().map(row).collect::<Vec<_>>())
}

pub(super) fn why(session: &CommandContext<'_>, name: &str) -> Result<()> {
    let why = quipu_engine::why(&session.engine, &session.user, name)?;
    session.printer.report(&why, explanation)
}

fn explanation(why: &ItemReceipts) -> String {
    let mut text = render::item(&why.item);
    text.push_str("\nRecorded by\n");
    text.push_str(&render::entry(&why.event));
    let state = if why.intact { "intact: the stored bytes match it" } else { "DAMAGED: run `quipu verify`" };
    text.push_str(&format!(
        "       change {}.{}, digest {}…, {state}\n",
        why.event.seq,
        why.change,
        &why.digest[..16.min(why.digest.len())]
    ));
    if !why.evidence.is_empty() {
        text.push_str("\nRead from\n");
        why.evidence.iter().for_each(|item| text.push_str(&render::item(item)));
    }
    if let Some(before) = &why.before {
        text.push_str(&format!("\nSaid before it\n{}", render::item(before)));
    }
    if let Some(after) = &why.after {
        text.push_str(&format!("\nSaid after it\n{}", render::item(after)));
    }
    if !why.later.is_empty() {
        text.push_str("\nLater\n");
        why.later.iter().for_each(|entry| text.push_str(&render::entry(entry)));
    }
    text
}

pub(super) fn core(session: &CommandContext<'_>, pointer: Option<&str>, at: When) -> Result<()> {
    let document = quipu_engine::core_at(&session.engine, &session.user, at)?;
    print_part(session, document, pointer)
}

/// Prints a document, or the part of it at a pointer.
pub(super) fn print_part(session: &CommandContext<'_>, document: Value, pointer: Option<&str>) -> Result<()> {
    let part = match pointer {
        None => document,
        Some(pointer) => document
            .pointer(pointer)
            .cloned()
            .ok_or_else(|| Error::NotFound(format!("the core document has nothing at {pointer:?}")))?,
    };
    session.printer.report(&part, |part| format!("{part:#}\n"))
}
