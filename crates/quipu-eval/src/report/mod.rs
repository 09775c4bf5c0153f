//! Report: files of details as one self-contained page, without network access or scripts.

pub(super) mod svg;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use quipu_engine::{Error, Result};
use serde::Serialize;

use super::lines::{self, ResultLine};
use super::metrics::{Figures, Quantiles, Scores};
use crate::environment::Measurement;

use svg::Point;

const STYLE: &str = include_str!("style.css");

/// Families of figures that differ in depth only.
const CURVES: [(&str, &str); 2] =
    [("turn.recall.", "Recall of turns by depth"), ("session.recall.", "Recall of sessions by depth")];

/// Figures by which groups are compared: the first that a file has.
const MAIN: [&str; 3] = ["turn.recall.10", "session.recall.5", "right"];

/// Bins of a histogram and of stated confidence.
const BINS: usize = 10;

#[derive(Debug, Serialize)]
struct Written {
    out: String,
    files: usize,
    questions: usize,
}

pub(crate) fn report(out: &Path, inputs: &[PathBuf]) -> Result<Measurement> {
    let files = files(inputs)?;
    let read = |path: &PathBuf| {
        let called = path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into());
        Ok((called, lines::read(path)?))
    };
    let runs: Vec<(String, Vec<ResultLine>)> = files.iter().map(read).collect::<Result<_>>()?;
    std::fs::write(out, page(&runs))
        .map_err(|error| Error::Unavailable(format!("cannot write {}: {error}", out.display())))?;
    let questions = runs.iter().map(|(_, lines)| lines.len()).sum();
    let written = Written { out: out.display().to_string(), files: runs.len(), questions };
    Measurement::of(&written, |written| {
        format!("{}: {} questions of {} files\n", written.out, written.questions, written.files)
    })
}

/// The named files, and the `.jsonl` files of the named folders, in the order of their names.
fn files(inputs: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for input in inputs.iter().filter(|input| !input.is_dir()) {
        all.push(input.clone());
    }
    for folder in inputs.iter().filter(|input| input.is_dir()) {
        let cannot = |error: std::io::Error| Error::NotFound(format!("cannot read {}: {error}", folder.display()));
        let entries: std::io::Result<Vec<_>> =
            std::fs::read_dir(folder).map_err(cannot)?.map(|entry| entry.map(|entry| entry.path())).collect();
        let mut found = entries.map_err(cannot)?;
        found.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
        if found.is_empty() {
            let advice = "write some there with --out";
            return Err(Error::NotFound(format!("{} has no .jsonl files; {advice}", folder.display())));
        }
        found.sort();
        all.extend(found);
    }
    Ok(all)
}

/// Escapes text for HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn page(runs: &[(String, Vec<ResultLine>)]) -> String {
    let sections: String = runs.iter().map(|(name, lines)| section(name, lines)).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>Quipu: evaluation</title><style>\n{STYLE}</style></head>\n<body><main><h1>Evaluation</h1>\n\
         <p>Figures are percent, averaged over questions, with the 95 % interval of {} resamples of the questions.</p>\n\
         {sections}</main></body></html>\n",
        super::bootstrap::RESAMPLES
    )
}

fn section(name: &str, lines: &[ResultLine]) -> String {
    let names: BTreeSet<&str> = lines.iter().flat_map(|line| line.metrics.keys().map(String::as_str)).collect();
    let names = by_depth(names.into_iter().collect());
    let rows: Vec<&Scores> = lines.iter().map(|line| &line.metrics).collect();
    let all = Figures::of(&names, &rows);
    let groups = Figures::split(&names, lines.iter().map(|line| (line.group.as_str(), &line.metrics)));
    let evals: BTreeSet<&str> = lines.iter().map(|line| line.eval.as_str()).collect();
    let eval = evals.into_iter().collect::<Vec<_>>().join(", ");
    format!(
        "<section><h2>{}</h2>\n<p>{}: {} questions</p>\n<div class=\"plots\">{}</div>\n{}</section>\n",
        escaped(name),
        escaped(&eval),
        lines.len(),
        plots(lines, &names, &all, &groups),
        table(&names, &all, &groups)
    )
}

/// `recall.5` before `recall.10`.
fn by_depth(mut names: Vec<&str>) -> Vec<&str> {
    names.sort_by_key(|name| {
        let (above, depth) = name.rsplit_once('.').unwrap_or((name, ""));
        depth.parse::<usize>().map_or((*name, 0), |depth| (above, depth))
    });
    names
}

fn plots(lines: &[ResultLine], names: &[&str], all: &Figures, groups: &BTreeMap<String, Figures>) -> String {
    let point = |called: &str, figures: &Figures, name: &str| -> Option<Point> {
        Some((called.to_owned(), figures.mean(name)?, figures.interval(name)))
    };
    let mut made = String::new();
    for (start, title) in CURVES {
        let of = |name: &&str| point(name.strip_prefix(start)?, all, name);
        let points: Vec<Point> = names.iter().filter_map(of).collect();
        if points.len() > 1 {
            made += &svg::curve(title, &points);
        }
    }
    if let Some(main) = MAIN.iter().find(|main| names.contains(*main)) {
        let counted = groups.iter().filter(|(_, figures)| figures.interval(main).is_some());
        let points: Vec<Point> = counted.filter_map(|(group, figures)| point(group, figures, main)).collect();
        made += &svg::bars(&format!("{main} by kind of question"), &points);
    }
    let times: Vec<f64> = lines.iter().filter_map(|line| line.latency_ms).collect();
    if !times.is_empty() {
        let Quantiles { p50, p95 } = Quantiles::of(times.clone());
        let title =
            format!("Questions by time of recall in ms; p50 {p50:.2}, p95 {p95:.2}, the last bin is everything above");
        made += &svg::histogram(&title, &counted(&times, p95));
    }
    let stated: Vec<(f64, bool)> = lines.iter().filter_map(|line| Some((line.confidence?, line.right?))).collect();
    if !stated.is_empty() {
        let gap = calibration_error(&stated);
        let title = format!("Right first answers by stated confidence; expected calibration error {gap:.3}");
        made += &svg::reliability(&title, &binned(&stated));
    }
    made
}

/// Equal bins up to a little over the 95th percentile, and one for all larger values.
fn counted(times: &[f64], p95: f64) -> Vec<(String, usize)> {
    let step = (p95 * 1.1 / (BINS as f64 - 1.0)).max(1e-6);
    let mut counts = vec![0; BINS];
    for time in times {
        counts[((time / step) as usize).min(BINS - 1)] += 1;
    }
    counts.into_iter().enumerate().map(|(place, count)| (format!("{:.1}", place as f64 * step), count)).collect()
}

/// Mean confidence, share that is right, and count of each non-empty bin of confidence.
fn binned(stated: &[(f64, bool)]) -> Vec<(f64, f64, usize)> {
    let mut bins = vec![(0.0, 0.0, 0_usize); BINS];
    for &(confidence, right) in stated {
        let bin = &mut bins[((confidence.clamp(0.0, 1.0) * BINS as f64) as usize).min(BINS - 1)];
        *bin = (bin.0 + confidence, bin.1 + f64::from(u8::from(right)), bin.2 + 1);
    }
    let filled = bins.into_iter().filter(|bin| bin.2 > 0);
    filled.map(|(stated, right, count)| (stated / count as f64, right / count as f64, count)).collect()
}

/// Expected calibration error: mean distance of stated confidence and share that is right (Naeini et al., 2015).
fn calibration_error(stated: &[(f64, bool)]) -> f64 {
    let apart = |(stated, right, count): (f64, f64, usize)| (stated - right).abs() * count as f64;
    binned(stated).into_iter().map(apart).sum::<f64>() / stated.len() as f64
}

fn table(names: &[&str], all: &Figures, groups: &BTreeMap<String, Figures>) -> String {
    let heads: String = names.iter().map(|name| format!("<th scope=\"col\">{}</th>", escaped(name))).collect();
    let mut made = format!(
        "<div class=\"wide\" tabindex=\"0\"><table><caption>Percent, with 95 % intervals</caption><thead><tr><th scope=\"col\">questions \
         about</th><th scope=\"col\">count</th>{heads}</tr></thead><tbody>\n"
    );
    for (about, figures) in groups.iter().chain([(&"all".to_owned(), all)]) {
        let cell = |name: &&str| match (figures.mean(name), figures.interval(name)) {
            (Some(mean), Some([low, high])) => {
                format!("<td>{:.1} <small>{:.1}–{:.1}</small></td>", mean * 100.0, low * 100.0, high * 100.0)
            }
            _ => "<td>–</td>".to_owned(),
        };
        let cells: String = names.iter().map(cell).collect();
        let (about, count) = (escaped(about), figures.questions);
        let _ = writeln!(made, "<tr><th scope=\"row\">{about}</th><td>{count}</td>{cells}</tr>");
    }
    made + "</tbody></table></div>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calibration_by_hand() {
        let stated = [(0.9, true), (0.9, false), (0.15, false), (1.0, true)];
        // .9, .9 and 1 were stated, of which 2 of 3 are right; .15 was stated for one that is wrong.
        let expected = ((2.8 / 3.0 - 2.0 / 3.0) * 3.0 + 0.15) / 4.0;
        assert!((calibration_error(&stated) - expected).abs() < 1e-12);
        assert_eq!(binned(&stated).len(), 2);
    }

    #[test]
    fn times_fall_into_stretches() {
        let counts = counted(&[1.0, 1.0, 9.0, 100.0], 9.0);
        assert_eq!(counts.iter().map(|(_, count)| count).sum::<usize>(), 4);
        assert_eq!((counts[0].1, counts[BINS - 1].1), (2, 1));
    }

    #[test]
    fn depths_stand_in_their_order_and_words_stay_words() {
        assert_eq!(by_depth(vec!["r.10", "r.5", "a"]), ["a", "r.5", "r.10"]);
        let line = ResultLine {
            id: "1".into(),
            group: "<script>".into(),
            metrics: [("right".into(), 1.0)].into(),
            ..ResultLine::default()
        };
        let page = page(&[("a&b".to_owned(), vec![line])]);
        assert!(page.contains("&lt;script&gt;") && page.contains("a&amp;b") && !page.contains("<script"));
    }
}
