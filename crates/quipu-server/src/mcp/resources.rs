//! Resources, which a person may give to a model without asking a question.

use quipu_engine::ports::Scope;
use quipu_engine::versions::When;
use quipu_engine::{Error, Result, users, versions};
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use serde::Serialize;
use serde_json::json;

use super::call::Call;
use super::guest::McpCaller;
use super::tools;

/// Number of items in `memory://recent`.
const RECENT: usize = 30;
const ITEM: &str = "memory://item/";
const JSON: &str = "application/json";

/// The resources that a caller may read.
pub(super) fn listed(guest: &McpCaller) -> Vec<Resource> {
    let one = |uri: &str, title: &str, about: &str| {
        Resource::new(uri, uri.trim_start_matches("memory://"))
            .with_title(title)
            .with_description(about)
            .with_mime_type(JSON)
    };
    let mut all = Vec::new();
    if guest.may(Scope::Read) {
        all.push(one("memory://profile", "Profile", "The core document: who the user is, what they like, what holds"));
        all.push(one("memory://recent", "Recent", "What was said and understood lately, newest first"));
    }
    if guest.may(Scope::Review) {
        all.push(one("memory://review", "Review", "What waits for the user's decision"));
    }
    all
}

/// Templates of resources.
pub(super) fn templates(guest: &McpCaller) -> Vec<ResourceTemplate> {
    let item = ResourceTemplate::new("memory://item/{id}", "item")
        .with_title("Item")
        .with_description("One item with the words it was read from, by its id")
        .with_mime_type(JSON);
    if guest.may(Scope::Read) { vec![item] } else { Vec::new() }
}

/// Reads a resource.
///
/// # Errors
/// `NotFound` for an address that does not exist or that the caller may not read.
pub(super) fn read(call: &Call<'_>, uri: &str) -> Result<ResourceContents> {
    let missing = || Error::NotFound(format!("there is no resource {uri:?}"));
    let needs = |scope: Scope| if call.guest.may(scope) { Ok(()) } else { Err(missing()) };
    let text = match uri {
        "memory://profile" => {
            needs(Scope::Read)?;
            match users(call.engine)?.contains(call.user()) {
                true => text(&versions::core_at(call.engine, call.user(), When::Now)?)?,
                false => text(&json!({}))?,
            }
        }
        "memory://recent" => {
            needs(Scope::Read)?;
            text(&tools::recent(call, RECENT)?)?
        }
        "memory://review" => {
            needs(Scope::Review)?;
            text(&tools::waiting(call)?)?
        }
        _ => {
            needs(Scope::Read)?;
            let id = uri.strip_prefix(ITEM).filter(|id| !id.is_empty()).ok_or_else(missing)?;
            text(&tools::item(call, id)?)?
        }
    };
    Ok(ResourceContents::text(text, uri).with_mime_type(JSON))
}

fn text(value: &impl Serialize) -> Result<String> {
    serde_json::to_string_pretty(value).map_err(|error| Error::Bug(format!("cannot write a resource as JSON: {error}")))
}
