//! Pagination by the id of the last entry of a page.

use schemars::JsonSchema;
use serde::Serialize;

use super::super::fault::Fault;

/// Default and maximum number of entries on a page.
const USUAL: usize = 50;
pub(super) const MOST: usize = 500;

/// A page of a list.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "{T}Page")]
pub(super) struct Page<T> {
    /// The entries.
    items: Vec<T>,
    /// Number of entries on all pages.
    total: usize,
    /// Value of `after` for the next page; null on the last.
    next: Option<String>,
}

/// The page size, checked.
pub(super) fn limit(wanted: Option<usize>) -> Result<usize, Fault> {
    match wanted.unwrap_or(USUAL) {
        fits @ 1..=MOST => Ok(fits),
        other => Err(Fault::invalid(format!("limit goes from 1 to {MOST}, not {other}")).at("limit")),
    }
}

/// The page after a given entry.
pub(super) fn page<T>(
    all: Vec<T>,
    after: Option<&str>,
    wanted: Option<usize>,
    name: impl Fn(&T) -> String,
) -> Result<Page<T>, Fault> {
    let (limit, total) = (limit(wanted)?, all.len());
    let from = match after {
        None => 0,
        Some(after) => {
            let gone = || {
                Fault::not_found(format!("{after:?} is not in this list, or no longer; start again without `after`"))
                    .at("after")
            };
            all.iter().position(|one| name(one) == after).ok_or_else(gone)? + 1
        }
    };
    let shown: Vec<T> = all.into_iter().skip(from).take(limit).collect();
    let next = shown.last().map(&name).filter(|_| from + shown.len() < total);
    Ok(Page { items: shown, total, next })
}
