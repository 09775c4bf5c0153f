//! The reliability diagram.

use std::fmt::Write;

use quipu_core::recall::ReliabilityBin;

use super::svg::{Width, framed, text};

/// The 95 % Wilson score interval (1927) of a share.
pub(in crate::inspector) fn between(share: f64, of: usize) -> (f64, f64) {
    const Z: f64 = 1.96;
    let number = of.max(1) as f64;
    let widened = 1.0 + Z * Z / number;
    let middle = (share + Z * Z / (2.0 * number)) / widened;
    let reach = Z / widened * (share * (1.0 - share) / number + Z * Z / (4.0 * number * number)).sqrt();
    ((middle - reach).max(0.0), (middle + reach).min(1.0))
}

/// A reliability diagram: stated probability against the share that is answered; on the dashed line they agree.
/// `limits` are probabilities with labels.
pub(in crate::inspector) fn reliability(
    width: Width,
    curve: &[ReliabilityBin],
    limits: &[(f64, &str)],
    label: &str,
) -> String {
    const HEIGHT: f64 = 340.0;
    const FOOT: f64 = HEIGHT - 40.0;
    let x = |share: f64| 52.0 + share * (width.units() - 68.0);
    let y = |share: f64| FOOT - share * (FOOT - 24.0);
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let mut inside = String::new();
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let _ = write!(
            inside,
            "<path class=\"axis\" d=\"M52 {:.1}H{:.0}\"/><text x=\"44\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <text x=\"{:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{}</text>",
            y(share),
            width.units() - 16.0,
            y(share) + 4.0,
            percent(share),
            x(share),
            FOOT + 18.0,
            percent(share)
        );
    }
    for (place, (limit, name)) in limits.iter().enumerate() {
        // Labels of neighbours point away from each other.
        let anchor = match place {
            _ if limits.len() == 1 => "middle",
            0 => "end",
            _ => "start",
        };
        let at = x(*limit);
        let _ = write!(
            inside,
            "<path class=\"limit\" d=\"M{at:.1} 24V{FOOT:.0}\"/><text x=\"{:.1}\" y=\"18\" text-anchor=\"{anchor}\">{}</text>",
            at,
            text(name)
        );
    }
    let _ = write!(inside, "<path class=\"ideal\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"/>", x(0.0), y(0.0), x(1.0), y(1.0));
    let mut line = String::new();
    let mut points = String::new();
    for one in curve {
        let (at, high) = (x(one.stated), y(one.answerable));
        let _ = write!(line, "{}{at:.1} {high:.1}", if line.is_empty() { "M" } else { "L" });
        let (least, most) = between(one.answerable, one.questions);
        let radius = 3.0 + (one.questions as f64).sqrt().min(21.0) / 4.0;
        let _ = write!(
            points,
            "<path class=\"reach\" d=\"M{at:.1} {:.1}V{:.1}\"/>\
             <circle class=\"point\" cx=\"{at:.1}\" cy=\"{high:.1}\" r=\"{radius:.1}\"><title>{} questions: {} stated, {} answered</title></circle>",
            y(least),
            y(most),
            one.questions,
            percent(one.stated),
            percent(one.answerable)
        );
    }
    let _ = write!(
        inside,
        "<path class=\"mark-line\" d=\"{line}\"/>{points}<text x=\"{:.1}\" y=\"{:.0}\" text-anchor=\"end\">stated</text>\
         <text x=\"0\" y=\"4\">answered</text>",
        width.units() - 16.0,
        FOOT + 36.0
    );
    framed(width, HEIGHT, label, &inside)
}
