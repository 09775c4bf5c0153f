//! Weights: what recall is tuned by.

use std::collections::BTreeMap;

use quipu_core::recall::{Profile, Profiles};
use quipu_engine::{Error, Result};
use serde::Serialize;

use crate::output::Printer;
use crate::settings::Settings;

#[derive(Debug, Serialize)]
struct Report<'a> {
    /// The user of this run gets this one.
    used: &'a str,
    profiles: BTreeMap<&'a str, &'a Profile>,
}

/// Lists the profiles, or shows one whole: what is printed can be put under `profiles` in a file of weights, with another
/// name and only what it changes left in.
pub(super) fn weights(settings: &Settings, printer: &Printer, name: Option<&str>) -> Result<()> {
    let all: &Profiles = &settings.profiles;
    let used = all.name_for(&settings.user);
    if let Some(name) = name {
        let profile = all.named(name)?;
        let whole = serde_json::to_string_pretty(profile).map_err(|error| Error::Bug(error.to_string()))?;
        return printer.report(profile, |_| format!("{whole}\n"));
    }
    let profiles = all.names().map(|name| Ok((name, all.named(name)?))).collect::<Result<_>>()?;
    printer.report(&Report { used, profiles }, |report| {
        let line = |name: &&str| {
            let mark = if *name == report.used { "  used" } else { "" };
            format!("{name}{mark}\n")
        };
        report.profiles.keys().map(line).collect()
    })
}
