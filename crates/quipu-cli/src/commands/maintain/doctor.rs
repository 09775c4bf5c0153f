//! Checks the data folder, and whether the configured language models answer.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use quipu::system::SystemEntropy;
use quipu_engine::status::Finding;
use quipu_engine::{Engine, Error, Result};
use quipu_models::language::Spent;
use serde::Serialize;

use super::next::{self, NextStep};

use crate::app;
use crate::output::Printer;
use crate::settings::{ModelSettings, Settings};

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Test the handling of every fault of a model server instead, offline
    #[arg(long)]
    pub(crate) self_test: bool,
}

/// The findings, and what to do next.
#[derive(Serialize)]
struct DoctorReport {
    items: Vec<Finding>,
    /// `items` by its name in earlier releases.
    entries: Vec<Finding>,
    next: Vec<NextStep>,
}

/// Longest probe, even if the deadline of the model is longer.
const PROBE_WAIT: Duration = Duration::from_secs(20);

/// Seeds for each fault in a self-test.
const SEEDS: u64 = 3;

pub(super) fn doctor(engine: &Engine, settings: &Settings, printer: &Printer) -> Result<ExitCode> {
    let mut findings = quipu_engine::doctor(engine);
    findings.extend(examine(settings)?);
    let well = findings.iter().all(|finding| finding.ok);
    let report =
        DoctorReport { next: next::of_state(engine, settings, !well)?, entries: findings.clone(), items: findings };
    printer.report(&report, |report| {
        let line = |finding: &Finding| format!("{} {}\n", if finding.ok { "ok  " } else { "LOOK" }, finding.text);
        let findings: String = report.items.iter().map(line).collect();
        let steps =
            if report.next.is_empty() { "\nNothing waits for you.\n".to_owned() } else { next::render(&report.next) };
        findings + &steps
    })?;
    Ok(if well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Requests a line of JSON from every configured model.
fn examine(settings: &Settings) -> Result<Vec<Finding>> {
    if settings.models.is_empty() {
        let text = "language models: none is configured; facts are read and sessions summarised by rules".to_owned();
        return Ok(vec![Finding { ok: true, text }]);
    }
    let usage = app::model_usage(&settings.data_dir, settings);
    let mut findings = Vec::new();
    for set in &settings.models {
        let Some(model) = app::model(settings, &usage, set.role)? else { continue };
        #[expect(clippy::disallowed_methods, reason = "the subject of the report")]
        let start = Instant::now();
        let probed = model.probe(PROBE_WAIT);
        let took = start.elapsed().as_millis();
        let place = format!("model {}: {} at {}", set.role.as_str(), set.endpoint.model, set.endpoint.base_url);
        let (ok, what) = match probed {
            Ok(probed) => {
                let attempts =
                    if probed.attempts > 1 { format!(", after {} attempts", probed.attempts) } else { String::new() };
                (true, format!("answers after {took} ms{attempts}; JSON by {}", probed.rung.as_str()))
            }
            Err(error) => (false, format!("{error} (after {took} ms)")),
        };
        let trouble = set.trouble.as_ref().map(|why| format!("; {why}")).unwrap_or_default();
        let text = format!("{place} {what}{trouble}; {}", spent(set, &usage.spent(set.role.as_str())));
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

/// Tests the handling of every fault of a model server, offline.
pub(super) fn self_test(settings: &Settings, printer: &Printer) -> Result<ExitCode> {
    let clock = Arc::new(settings.clock.clone());
    let done = quipu_fake_model::rehearsal::rehearse(SEEDS, clock, Arc::new(SystemEntropy))
        .map_err(|error| Error::Unavailable(format!("no port for the self-test: {error}")))?;
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
