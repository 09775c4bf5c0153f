//! Language models: what is configured, whether it answers, and the work that waits for it.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quipu_engine::ports::Usage;
use quipu_engine::status::Finding;
use quipu_engine::{Budget, Error, ExtractWithModelOptions, Processed, ReadingCost, Result, Until};
use quipu_models::language::Spent;

use super::history::says_yes;
use super::{CommandContext, people};
use crate::app;
use crate::args::models::CatchUp;
use crate::args::people::Reread;
use crate::output::Printer;
use crate::settings::{ModelRole, ModelSettings, Settings};
use quipu::system::{SystemClock, SystemEntropy};

/// How long a probe may take, whatever the deadline of its model is.
const PROBE_WAIT: Duration = Duration::from_secs(20);
/// Seeds of each fault in a self-test.
const SEEDS: u64 = 3;

/// Asks every configured model for a line of JSON. Without a configured model nobody is contacted.
pub(super) fn examine(settings: &Settings) -> Result<Vec<Finding>> {
    if settings.models.is_empty() {
        let text = "language models: none is configured; facts are read and sessions told by rules".to_owned();
        return Ok(vec![Finding { ok: true, text }]);
    }
    let book = app::book(&settings.data_dir, settings);
    let mut findings = Vec::new();
    for set in &settings.models {
        let Some(model) = app::model(settings, &book, set.role)? else { continue };
        #[expect(clippy::disallowed_methods, reason = "the subject of the report")]
        let start = Instant::now();
        let probed = model.probe(PROBE_WAIT);
        let took = start.elapsed().as_millis();
        let place = format!("model {}: {} at {}", set.role.as_str(), set.endpoint.model, set.endpoint.base_url);
        let (ok, what) = match probed {
            Ok(probed) => {
                let asked =
                    if probed.attempts > 1 { format!(", asked {} times", probed.attempts) } else { String::new() };
                (true, format!("answers after {took} ms{asked}; JSON by {}", probed.rung.as_str()))
            }
            Err(error) => (false, format!("{error} (after {took} ms)")),
        };
        let trouble = set.trouble.as_ref().map(|why| format!("; {why}")).unwrap_or_default();
        let text = format!("{place} {what}{trouble}; {}", spent(set, &book.spent(set.role.as_str())));
        findings.push(Finding { ok: ok && set.trouble.is_none(), text });
    }
    Ok(findings)
}

fn spent(set: &ModelSettings, spent: &Spent) -> String {
    let of = |most: Option<String>| most.map(|most| format!(" of {most} a user")).unwrap_or_default();
    let tokens = spent.input_tokens + spent.output_tokens;
    let allowance = set.endpoint.allowance;
    let money = match set.endpoint.prices {
        prices if prices.input_per_million + prices.output_per_million > 0.0 => {
            format!(", {:.4}{}", spent.money, of(allowance.money_per_day.map(|most| most.to_string())))
        }
        _ => String::new(),
    };
    format!(
        "today {} requests, {tokens} tokens{}{money}",
        spent.requests,
        of(allowance.tokens_per_day.map(|most| most.to_string()))
    )
}

/// Rehearses every fault of a model server, offline, and prints one line.
pub(super) fn self_test(settings: &Settings, printer: &Printer) -> Result<ExitCode> {
    let clock = Arc::new(SystemClock { fixed: settings.now });
    let done = quipu_models::self_test::rehearse(SEEDS, clock, Arc::new(SystemEntropy))
        .map_err(|error| Error::Unavailable(format!("no port for a rehearsal: {error}")))?;
    printer.report(&done, |done| {
        format!(
            "{} {} faults of a model server, {} questions, {} requests: {} came out wrong{}\n",
            if done.wrong.is_empty() { "ok  " } else { "LOOK" },
            done.faults,
            done.questions,
            done.requests,
            done.wrong.len(),
            done.wrong.iter().map(|wrong| format!("; {wrong}")).collect::<String>()
        )
    })?;
    Ok(if done.wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

pub(super) fn catch_up(session: &CommandContext<'_>, args: &CatchUp) -> Result<()> {
    let (engine, user) = (&session.engine, &session.user);
    let sources_max = args.sources.unwrap_or(usize::MAX);
    let mut report = Processed::default();
    if args.from_the_start {
        report.studied = Some(quipu_engine::extract_with_model(
            engine,
            user,
            &ExtractWithModelOptions { sources_max, from_the_start: true },
        )?);
    } else {
        let budget = Budget { sources_max, session: session.only_session.clone(), ..Budget::default() };
        report = quipu_engine::process(engine, user, Until::Everything, &budget)?;
    }
    session.printer.report(&report, in_words)?;
    for fault in report.faults() {
        session.printer.hint(&format!("not everything could be done now: {fault}"));
    }
    Ok(())
}

/// Lets the model read everything that was ever said, once somebody has agreed to what that costs.
pub(super) fn reread(session: &CommandContext<'_>, settings: &Settings, args: &Reread, yes: bool) -> Result<()> {
    if session.only_session.is_some() {
        let text = "`reread --with-model` reads everything that was said: leave out --session; --sources bounds how much is read now";
        return Err(Error::Invalid(text.to_owned()));
    }
    let (engine, user) = (&session.engine, &session.user);
    let sources_max = args.sources.unwrap_or(usize::MAX);
    let options = ExtractWithModelOptions { sources_max, from_the_start: true };
    let cost = quipu_engine::reading_cost(engine, user, &options)?;
    let announced = announced(&cost, settings);
    if !yes && cost.requests > 0 {
        if !std::io::stdin().is_terminal() {
            return Err(Error::Invalid(format!("{announced}. Nothing was sent: agree with --yes")));
        }
        if !says_yes(&format!("{announced}. Go on?"))? {
            session.printer.hint("nothing was sent");
            return Ok(());
        }
    }
    let read = quipu_engine::extract_with_model(engine, user, &options)?;
    let fault = read.fault.clone();
    session.printer.report(&Processed { studied: Some(read), ..Processed::default() }, in_words)?;
    if let Some(fault) = fault {
        session.printer.hint(&format!("not everything could be read now: {fault}; the same command goes on"));
    }
    Ok(())
}

/// What reading costs, in words and in money where the settings have prices.
fn announced(cost: &ReadingCost, settings: &Settings) -> String {
    let set = settings.models.iter().find(|set| set.role == ModelRole::Extractor);
    let usage = Usage { input_tokens: cost.prompt_tokens, output_tokens: cost.answer_tokens, estimated: true };
    let money = set.map(|set| set.endpoint.prices.of(&usage)).filter(|money| *money > 0.0);
    let money = money.map_or_else(
        || "; the settings have no prices, so what it costs in money is not known".to_owned(),
        |money| format!("; {money:.2} at the prices of the settings"),
    );
    format!(
        "{} would read {} messages in {} requests: about {} tokens of prompts, most of them the same part at the beginning \
         of each, and about {} of answers{money}",
        cost.reader, cost.sources, cost.requests, cost.prompt_tokens, cost.answer_tokens
    )
}

fn in_words(report: &Processed) -> String {
    let mut text = String::new();
    if report.read.sources > 0 {
        text.push_str(&format!(
            "{} messages read by rules\n{}",
            report.read.sources,
            people::understood(&report.read.understood)
        ));
    }
    if let Some(told) = &report.told {
        text.push_str(&format!("{} exchanges summarised\n", told.summarized.len()));
    }
    if let Some(studied) = &report.studied {
        text.push_str(&format!("{} messages read by {}", studied.sources, studied.reader));
        for (count, what) in [(studied.given_up.len(), "it cannot read"), (studied.waiting, "still wait")] {
            if count > 0 {
                text.push_str(&format!(", {count} {what}"));
            }
        }
        text.push('\n');
        text.push_str(&people::understood(&studied.understood));
    }
    text
}
