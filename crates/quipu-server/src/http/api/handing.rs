//! Export and import.

use axum::http::Method;
use data_encoding::BASE64;
use quipu_engine::export::{ExportFormat, export};
use quipu_engine::import::DateOrder;
use quipu_engine::ports::{Scope, Signer};
use quipu_engine::{Error, IngestReport, bundle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::fault::Fault;
use super::frame::{Answered, Call, Route, parsed, schema};
use crate::imports::{self, ImportChoices};

/// Content types of an export besides JSON: Markdown, and a bundle, which is JSON Lines.
const KINDS: &[&str] = &["text/markdown", "application/jsonl"];

pub(super) fn routes() -> Vec<Route> {
    let export = "Exports a memory";
    vec![
        Route::of_query(Method::GET, "/memory/{user_id}/export", export, KINDS, schema::<ExportedJson>, exported),
        Route::post("/memory/{user_id}/import", "Imports a file of another system", imported).large().grave(),
    ]
}

/// Format of an export.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ShapeIn {
    /// Everything: the core document, every item with its history, every source.
    #[default]
    Json,
    /// The pages of the topics in one text.
    Markdown,
    /// Current memories, as mem0 lists them.
    Mem0,
    /// The whole ledger, signed.
    Bundle,
}

/// Selects the format of an export.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ExportQuery {
    /// `json` (the default), `markdown`, `mem0` or `bundle`.
    #[serde(default)]
    format: ShapeIn,
}

/// The export as JSON: an object for `json`, a list of memories for `mem0`. Free-form: its shape depends on the
/// version it names.
struct ExportedJson;

impl JsonSchema for ExportedJson {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ExportedJson".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "The export in the format of the query. Free-form JSON: an object for `json`, the memories for `mem0`.",
        })
    }
}

fn exported(call: &Call<'_>, asked: ExportQuery) -> Result<Answered, Fault> {
    let user = call.user()?;
    let (text, kind) = match asked.format {
        ShapeIn::Json => (export(call.engine, &user, ExportFormat::Json)?, "application/json"),
        ShapeIn::Markdown => (export(call.engine, &user, ExportFormat::Markdown)?, "text/markdown"),
        ShapeIn::Mem0 => (export(call.engine, &user, ExportFormat::Mem0)?, "application/json"),
        ShapeIn::Bundle => (bundle::bundle(call.engine, &user, signer(call)?)?, "application/jsonl"),
    };
    Ok(Answered { bytes: text.into_bytes(), kind })
}

fn signer<'a>(call: &'a Call<'_>) -> Result<&'a dyn Signer, Fault> {
    let none = || Error::Unavailable("this server has no signing key; use `quipu export bundle`".to_owned());
    Ok(call.app.signer.as_deref().ok_or_else(none)?)
}

/// Order of day and month in dates.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "DateOrder")]
enum OrderIn {
    Dmy,
    Mdy,
}

/// A file of another system to import. One of `text` and `base64` is required.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ImportRequest")]
struct Import {
    /// `chatgpt`, `claude`, `openai`, `mem0`, `memory-jsonl`, `whatsapp`, `telegram`, `markdown`, `text`, `locomo`,
    /// `longmemeval`; documents: `html`, `docx`, `epub`, `pdf`, `mbox`; `bundle` creates a memory from a signed ledger.
    format: String,
    /// The file, if it is text.
    text: Option<String>,
    /// The file in base64, if it is an archive.
    base64: Option<String>,
    /// File name. It names the import and conversations without a name.
    name: Option<String>,
    /// Import this conversation only.
    conversation: Option<String>,
    /// Treat messages of people as the user's own words.
    #[serde(default)]
    mine: bool,
    /// Which author is the user, in a chat between people: the words of the others are not the user's own.
    me: Option<String>,
    /// Store the texts without extracting facts.
    #[serde(default)]
    words_only: bool,
    /// Time zone of local times in the file: `Europe/Lisbon`, `+02:00`.
    timezone: Option<String>,
    /// Order of day and month in dates.
    date_order: Option<OrderIn>,
    /// Report the effect without recording anything.
    #[serde(default)]
    dry_run: bool,
}

/// Report of an import, or the receipt of a restored ledger.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "ImportResult")]
enum Imported {
    Read(Box<IngestReport>),
    Ledger { restored: Box<quipu_engine::files::RestoredFolder>, public_key: String },
}

fn imported(call: &Call<'_>, asked: Import) -> Result<Imported, Fault> {
    let user = call.user()?;
    let bytes = match (&asked.text, &asked.base64) {
        (Some(text), None) => text.as_bytes().to_vec(),
        (None, Some(packed)) => {
            let wrong = |error| Fault::invalid(format!("not base64: {error}")).at("base64");
            BASE64.decode(packed.trim().as_bytes()).map_err(wrong)?
        }
        _ => return Err(Fault::invalid("give the file, as text or base64").at("text")),
    };
    if asked.format == "bundle" {
        call.must(Scope::Admin)?;
        let text = String::from_utf8(bytes).map_err(|_| Fault::invalid("a bundle is text").at("text"))?;
        return taken_up(call, &user, &text, asked.dry_run);
    }
    let choices = ImportChoices {
        own_words: asked.mine,
        me: asked.me,
        words_only: asked.words_only,
        conversation: asked.conversation,
        timezone: asked.timezone.as_deref().map(|zone| parsed(zone, "timezone")).transpose()?,
        date_order: asked.date_order.map(|order| match order {
            OrderIn::Dmy => DateOrder::DayFirst,
            OrderIn::Mdy => DateOrder::MonthFirst,
        }),
        ..ImportChoices::of(parsed(&asked.format, "format")?)
    };
    choices.check().map_err(|error| Fault::from(error).at("mine"))?;
    let file = (asked.name.as_deref().unwrap_or("upload"), bytes.as_slice());
    if asked.dry_run {
        return Ok(Imported::Read(Box::new(imports::preview(call.engine, &user, &choices, file)?)));
    }
    match imports::import(call.engine, &user, &choices, file, &mut |_| {}) {
        (Some(report), None) => Ok(Imported::Read(Box::new(report))),
        (_, Some(fault)) => Err(fault.into()),
        (None, None) => Err(Error::Bug("an import ended without a report".to_owned()).into()),
    }
}

fn taken_up(call: &Call<'_>, user: &quipu_core::id::UserId, text: &str, dry_run: bool) -> Result<Imported, Fault> {
    let signer = signer(call)?;
    let verdict = bundle::verify_bundle(text, None, signer, &[])?;
    let whose = &verdict.ledger.user_id;
    if whose != user {
        let told = format!("this is the ledger of {whose}: post it to that user's memory");
        return Err(Fault::invalid(told).at("user_id"));
    }
    if let Some(why) = verdict.fault() {
        return Err(Fault::invalid(format!("the bundle is not taken up: {why}")).at("text"));
    }
    let (restored, verdict) = bundle::import_bundle(call.engine, text, None, signer, dry_run, &mut |_| {})?;
    Ok(Imported::Ledger { restored: Box::new(restored), public_key: verdict.public_key })
}
