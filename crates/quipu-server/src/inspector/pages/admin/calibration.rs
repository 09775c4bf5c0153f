//! Calibration: how reliable the stated probability is that memory answers, as measured.

use askama::Template;
use quipu_core::recall::{Profile, ReliabilityBin, VerdictThresholds, calibration_error};
use quipu_engine::Error;
use quipu_engine::ports::Scope;

use crate::http::Fault;
use crate::inspector::frame::{Frame, Page, PageContext, PageResult, page};
use crate::inspector::plot;
use crate::inspector::shown;

pub(in crate::inspector::pages) fn pages() -> Vec<Page> {
    vec![Page::get("/ui/server/calibration", Scope::Read, calibration)]
}

/// A profile in use, and its measurements.
struct Measured {
    profile: String,
    /// The plot; `None` if nothing was measured.
    drawn: Option<String>,
    questions: String,
    error: String,
    rows: Vec<Row>,
    abstain_below: String,
    answer_from: String,
}

struct Row {
    stated: String,
    answered: String,
    between: String,
    questions: String,
    /// What recall does at this stated probability.
    done: &'static str,
}

#[derive(Template)]
#[template(path = "calibration.html")]
struct Calibration {
    f: Frame,
    measured: Vec<Measured>,
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn row(one: &ReliabilityBin, limits: &VerdictThresholds) -> Row {
    let (least, most) = plot::between(one.answerable, one.questions);
    Row {
        stated: percent(one.stated),
        answered: percent(one.answerable),
        between: format!("{} to {}", percent(least), percent(most)),
        questions: shown::count(one.questions),
        done: match one.stated {
            stated if stated < limits.abstain_below => "declines",
            stated if stated < limits.answer_from => "asks back, or verifies",
            _ => "answers",
        },
    }
}

fn measured(name: &str, profile: &Profile) -> Measured {
    let (curve, limits) = (&profile.reliability, &profile.decision);
    let error = calibration_error(curve);
    let questions: usize = curve.iter().map(|one| one.questions).sum();
    let marks = [(limits.abstain_below, "declines below"), (limits.answer_from, "answers from")];
    let label = format!(
        "Stated probability and the share that is answered, for the profile {name}: {} bins, apart by {:.3} on average",
        curve.len(),
        error
    );
    Measured {
        profile: name.to_owned(),
        drawn: (!curve.is_empty()).then(|| plot::both(|width| plot::reliability(width, curve, &marks, &label))),
        questions: shown::count(questions),
        error: format!("{error:.3}"),
        rows: curve.iter().map(|one| row(one, limits)).collect(),
        abstain_below: percent(limits.abstain_below),
        answer_from: percent(limits.answer_from),
    }
}

fn calibration(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    desk.must_see_all()?;
    let profiles = desk.engine.profiles();
    let named = |name: &str| Ok(measured(name, profiles.named(name).map_err(Error::from)?));
    let measured = profiles.in_use().into_iter().map(named).collect::<Result<Vec<_>, Fault>>()?;
    page(&Calibration { f: desk.frame("Calibration", "calibration"), measured })
}
