//! Tests the built-in calibration on a file; nothing is fitted.

use std::collections::BTreeMap;

use quipu_core::recall::ReliabilityBin;
use quipu_engine::{Engine, Result};
use serde::Serialize;

use super::super::certainty::{self, Certainty, Stated, VerdictCount};
use super::super::lines::Out;
use super::putting::Put;
use super::{drawn, line, write};
use crate::args::CorpusKind;
use crate::environment::Measurement;
use crate::render;

#[derive(Debug, Serialize)]
struct Report {
    kind: CorpusKind,
    questions: usize,
    answerable: usize,
    #[serde(flatten)]
    certainty: Certainty,
    verdicts: BTreeMap<&'static str, VerdictCount>,
    reliability: Vec<ReliabilityBin>,
}

pub(super) fn shipped(
    engine: &Engine,
    kind: CorpusKind,
    all: &[Put<'_>],
    mut out: Out,
    plot: Option<&std::path::Path>,
) -> Result<Measurement> {
    let (mut stated, mut verdicts): (Vec<Stated>, Vec<_>) = (Vec::new(), Vec::new());
    for put in all {
        let decision = quipu_engine::recall(engine, &put.to.told.user, &put.to.usual(&put.question))?.decision;
        out.push(&line((&put.id, &put.question, put.answerable), decision.probability))?;
        stated.push((decision.probability, put.answerable));
        verdicts.push((decision.verdict, put.answerable));
    }
    out.finish()?;
    let report = Report {
        kind,
        questions: all.len(),
        answerable: all.iter().filter(|put| put.answerable).count(),
        certainty: Certainty::of(&stated),
        verdicts: certainty::verdicts(verdicts.into_iter()),
        reliability: certainty::bins(&stated),
    };
    if let Some(path) = plot {
        write(path, &drawn(&report.reliability))?;
    }
    Measurement::of(&report, in_words)
}

fn in_words(report: &Report) -> String {
    format!(
        "{} questions of {}, {} of them answerable; the calibration as it ships\n\n{}\n{}\n{}",
        report.questions,
        report.kind.as_str(),
        report.answerable,
        render::table(&["", "AUROC", "ECE", "Brier"], &[report.certainty.row("shipped")]),
        render::table(&["verdict", "answerable", "not"], &certainty::verdict_rows(&report.verdicts)),
        super::curve(&report.reliability),
    )
}
