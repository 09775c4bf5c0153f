//! Shows the profiles of weights for recall.

use std::collections::BTreeMap;

use quipu_core::recall::{Profile, Profiles};
use quipu_engine::{Error, Result};
use serde::Serialize;

use crate::output::Printer;
use crate::settings::Settings;

#[derive(Debug, Serialize)]
struct Report<'a> {
    /// The profile of the current user.
    used: &'a str,
    profiles: BTreeMap<&'a str, &'a Profile>,
}

/// Lists the profiles, or prints one completely. The output can be copied under `profiles` in a file of weights, under
/// another name and reduced to the values that differ.
pub(super) fn weights(settings: &Settings, printer: &Printer, name: Option<&str>) -> Result<()> {
    let all: &Profiles = &settings.profiles;
    let used = all.name_for(&settings.user);
    if let Some(name) = name {
        let profile = all.named(name)?;
        let json = serde_json::to_string_pretty(profile).map_err(|error| Error::Bug(error.to_string()))?;
        return printer.report(profile, |_| format!("{json}\n"));
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
