//! Import by upload: a file is chosen, looked at, confirmed, and imported while its page shows how far it is.

use std::sync::Arc;

use askama::Template;
use jiff::Timestamp;
use quipu_core::id::UserId;
use quipu_engine::import::{DateOrder, ImportFormat, Zone, detect};
use quipu_engine::ports::Scope;
use quipu_engine::{Error, IngestReport, Progress};

use super::super::frame::{Frame, Page, PageContext, PageResult, base, page, parsed};
use super::super::shown;
use super::super::uploads::{Preview, Upload, UploadState, is_begun};
use crate::http::Fault;
use crate::imports::{self, ImportChoices};

/// Most notices listed of a report.
const NOTICES: usize = 20;

/// Formats that can be uploaded, and what a person calls them.
const FORMATS: [(ImportFormat, &str); 16] = [
    (ImportFormat::ChatGpt, "ChatGPT export"),
    (ImportFormat::Claude, "Claude export"),
    (ImportFormat::WhatsApp, "WhatsApp chat"),
    (ImportFormat::Telegram, "Telegram export (JSON)"),
    (ImportFormat::Mem0, "mem0 memories"),
    (ImportFormat::MemoryJsonl, "MCP reference memory"),
    (ImportFormat::OpenAi, "chat messages, one conversation a line"),
    (ImportFormat::Text, "plain text"),
    (ImportFormat::Markdown, "Markdown"),
    (ImportFormat::Pdf, "PDF"),
    (ImportFormat::Docx, "Word document"),
    (ImportFormat::Epub, "EPUB book"),
    (ImportFormat::Html, "web page"),
    (ImportFormat::Mbox, "e-mail (mbox, eml)"),
    (ImportFormat::Locomo, "LoCoMo benchmark"),
    (ImportFormat::LongMemEval, "LongMemEval benchmark"),
];

pub(super) fn pages() -> Vec<Page> {
    vec![
        Page::get("/ui/u/{user_id}/import", Scope::Read, overview),
        Page::post("/ui/u/{user_id}/import", Scope::Write, uploaded).with_file(),
        Page::get("/ui/u/{user_id}/import/{upload_id}", Scope::Write, upload_page),
        Page::post("/ui/u/{user_id}/import/{upload_id}", Scope::Write, decided),
    ]
}

/// An upload in the list of all.
struct UploadRow {
    id: String,
    name: String,
    tone: &'static str,
    state: &'static str,
}

/// A format in the list of a form.
struct FormatChoice {
    word: &'static str,
    name: &'static str,
    is_chosen: bool,
}

#[derive(Template)]
#[template(path = "import.html")]
struct Import {
    f: Frame,
    formats: Vec<FormatChoice>,
    rows: Vec<UploadRow>,
    most: String,
    most_bytes: usize,
}

/// What an import would do or did.
struct ReportView {
    /// `320 messages in 12 conversations`
    what: String,
    new: u64,
    known: u64,
    span: String,
    undated: u64,
    redacted: u64,
    facts: String,
    waiting: u64,
    refused: u64,
    left_out: Vec<(String, String)>,
    notices: Vec<(String, String)>,
    more: u64,
    reference: String,
    /// That its times are read in a zone that nobody chose.
    zone: Option<&'static str>,
}

/// How far an import is.
struct ProgressView {
    done: u64,
    total: u64,
    text: String,
}

/// The choices in their form.
struct ChoicesView {
    formats: Vec<FormatChoice>,
    mine: bool,
    me: String,
    words_only: bool,
    do_not_remember: bool,
    timezone: String,
    date_order: &'static str,
    has_local_times: bool,
    is_chatgpt: bool,
}

#[derive(Template)]
#[template(path = "import_file.html")]
struct ImportFile {
    f: Frame,
    id: String,
    name: String,
    size: String,
    /// `waiting`, `running`, `ended`.
    state: &'static str,
    kind: &'static str,
    /// Whose words they are.
    words: String,
    /// The people who wrote in it.
    authors: Vec<String>,
    /// True if it may be the user's own export, which was not said.
    may_be_own: bool,
    choices: ChoicesView,
    /// Number of the preview that is shown.
    preview: u64,
    report: Option<ReportView>,
    fault: Option<String>,
    progress: Option<ProgressView>,
}

fn formats(chosen: Option<ImportFormat>) -> Vec<FormatChoice> {
    let choice = |(format, name): (ImportFormat, &'static str)| FormatChoice {
        word: format.as_str(),
        name,
        is_chosen: chosen == Some(format),
    };
    FORMATS.into_iter().map(choice).collect()
}

fn name_of(format: ImportFormat) -> &'static str {
    FORMATS.iter().find(|(known, _)| *known == format).map_or(format.as_str(), |(_, name)| name)
}

fn noun(format: ImportFormat) -> &'static str {
    match format {
        ImportFormat::Text | ImportFormat::Markdown => "passage",
        ImportFormat::Mem0 | ImportFormat::MemoryJsonl => "item",
        _ if format.document().is_some() => "passage",
        _ => "message",
    }
}

/// Formats in which people talk, so that somebody's words may be the user's own.
fn has_talks(format: ImportFormat) -> bool {
    noun(format) == "message"
}

/// Formats of chats between people.
fn has_local_times(format: ImportFormat) -> bool {
    matches!(format, ImportFormat::WhatsApp | ImportFormat::Telegram)
}

fn words(choices: &ImportChoices) -> String {
    if let (Some(me), false) = (&choices.me, choices.words_only) {
        return format!("What {me} wrote counts as your own words; what anybody else wrote does not.");
    }
    let words = match choices.format {
        _ if choices.words_only => "The words are stored and can be found; no facts are read from them.",
        _ if choices.own_words && has_talks(choices.format) => {
            "What people say in it counts as your own words: it may state who you are and what you like without a review."
        }
        _ if choices.own_words => {
            "It counts as your own words: it may state who you are and what you like without a review."
        }
        format if format.document().is_some() => {
            "It counts as nobody's words: it can be found and cited, and no facts are read from it."
        }
        _ => "Nothing in it counts as your own words: what it says of you waits for your review.",
    };
    words.to_owned()
}

fn overview(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let f = desk.frame_of(&user, "Import", "import")?;
    let row = |upload: &Arc<Upload>| {
        let (tone, state) = match upload.state() {
            UploadState::Waiting { .. } => ("warn", "waits for you"),
            UploadState::Running { .. } => ("plain", "is being imported"),
            UploadState::Ended { fault: Some(_), .. } => ("bad", "failed"),
            UploadState::Ended { .. } => ("good", "imported"),
        };
        UploadRow { id: upload.id.clone(), name: upload.name.clone(), tone, state }
    };
    // The names of files may be private to those who may import.
    let rows = if f.may.write { desk.app.uploads.of_user(&user).iter().map(row).collect() } else { Vec::new() };
    let most_bytes = desk.app.options.bounds.upload_bytes_max;
    page(&Import { f, formats: formats(None), rows, most: shown::bytes(most_bytes as u64), most_bytes })
}

/// The choices of a form; `None` if the format is left open.
fn choices(desk: &PageContext<'_>) -> Result<Option<ImportChoices>, Fault> {
    let sent = &desk.sent;
    let Some(word) = sent.get("format") else { return Ok(None) };
    let format: ImportFormat = parsed(word)?;
    if FORMATS.iter().all(|(known, _)| *known != format) {
        return Err(Fault::invalid(format!("{format} cannot be uploaded: `quipu import {format}` imports it")));
    }
    Ok(Some(ImportChoices {
        own_words: sent.get("mine").is_some(),
        me: sent.get("me").map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned),
        words_only: sent.get("words_only").is_some(),
        do_not_remember: sent.get("do_not_remember").is_some(),
        timezone: sent.get("timezone").map(parsed::<Zone>).transpose()?,
        date_order: sent.get("date_order").map(parsed::<DateOrder>).transpose()?,
        ..ImportChoices::of(format)
    }))
}

fn address(user: &UserId, upload: &Upload) -> PageResult {
    PageResult::See(format!("{}/import/{}", base(user), upload.id))
}

/// Looks at a file with the given choices, and keeps what was seen.
fn look(desk: &PageContext<'_>, upload: &Upload, choices: ImportChoices) -> Result<(), Fault> {
    let UploadState::Waiting { content, .. } = upload.state() else { return Err(is_begun().into()) };
    let seen = imports::preview(desk.engine, &upload.user, &choices, (&upload.name, &content));
    let preview = match seen {
        Ok(report) => Ok(Box::new(report)),
        // What the file is like is shown on its page; anything else is an error of the request.
        Err(error @ (Error::Invalid(_) | Error::NotFound(_) | Error::Refused(_))) => Err(error.to_string()),
        Err(error) => return Err(error.into()),
    };
    upload.look(choices, preview)?;
    Ok(())
}

fn uploaded(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let file = desk.file.as_ref().ok_or_else(|| Fault::invalid("no file was sent: choose one first"))?;
    if file.content.is_empty() {
        return Err(Fault::invalid(format!("{} is empty: choose another file", file.name)));
    }
    let name = if file.name.is_empty() { "upload" } else { &file.name };
    let chosen = match choices(desk)? {
        Some(chosen) => Some(chosen),
        None => detect(name, std::io::Cursor::new(&file.content))
            .map(|format| ImportChoices { own_words: desk.sent.get("mine").is_some(), ..ImportChoices::of(format) }),
    };
    let upload = desk.app.uploads.hold(&user, name, file.content.clone())?;
    if let Some(chosen) = chosen {
        look(desk, &upload, chosen)?;
    }
    Ok(address(&user, &upload))
}

fn found(desk: &PageContext<'_>, user: &UserId) -> Result<Arc<Upload>, Fault> {
    let gone = || {
        Fault::not_found(
            "there is no such upload: files wait for half an hour, in the server they came to. Upload it again; if it \
             was imported, it is listed under Upkeep and imports",
        )
    };
    desk.app.uploads.of(user, desk.part("upload_id")?).ok_or_else(gone)
}

fn decided(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let upload = found(desk, &user)?;
    match desk.needs("action", "what to do with the file is missing")? {
        "look" => {
            let chosen = choices(desk)?.ok_or_else(|| Fault::invalid("choose what kind of file it is"))?;
            look(desk, &upload, chosen)?;
        }
        "start" => start(desk, &upload)?,
        "drop" => {
            desk.app.uploads.drop_one(&upload);
            return Ok(PageResult::See(format!("{}/import", base(&user))));
        }
        other => return Err(Fault::invalid(format!("{other:?} cannot be done with a file"))),
    }
    Ok(address(&user, &upload))
}

/// Starts an import that goes on after the answer.
fn start(desk: &PageContext<'_>, upload: &Arc<Upload>) -> Result<(), Fault> {
    let shown: u64 =
        parsed(desk.needs("preview", "the preview to confirm is missing: load the page of the file again")?)?;
    // A place for an operation of a request, so that maintenance waits until it is done.
    let slot = desk.app.verbs.clone().try_acquire_owned();
    let slot = slot.map_err(|_| Fault::busy(desk.app.options.bounds.verb_waits))?;
    let (content, choices) = desk.app.uploads.begin(upload, shown)?;
    let (app, upload) = (desk.app.clone(), upload.clone());
    tokio::runtime::Handle::current().spawn_blocking(move || {
        let _slot = slot;
        // Also if the import panics, it has ended.
        let running = upload.clone().ends();
        let file = (upload.name.as_str(), content.as_ref());
        let (report, fault) =
            imports::import(&app.engine, &upload.user, &choices, file, &mut |progress| upload.went_on(progress));
        if let Some(fault) = &fault {
            tracing::warn!(%fault, "an import of the inspector failed");
        }
        running.with(report, fault.map(|fault| fault.to_string()));
    });
    Ok(())
}

fn report_view(report: &IngestReport, format: ImportFormat) -> ReportView {
    let parts = &report.conversations;
    let (new, known) = (parts.iter().map(|part| part.new).sum::<u64>(), parts.iter().map(|part| part.known).sum());
    let sessions: usize = parts.iter().map(|part| part.sessions).sum();
    let messages = shown::many(new + known, noun(format));
    let first: Option<Timestamp> = parts.iter().filter_map(|part| part.first_said_at).min();
    let last = parts.iter().filter_map(|part| part.last_said_at).max();
    ReportView {
        what: match has_talks(format) && sessions > 0 {
            true => format!("{messages} in {}", shown::many(sessions, "conversation")),
            false => messages,
        },
        new,
        known,
        span: match (first, last) {
            (Some(first), Some(last)) => format!("{} to {}", shown::day(first), shown::day(last)),
            _ => "not known".to_owned(),
        },
        undated: parts.iter().map(|part| part.undated).sum(),
        redacted: report.redacted,
        facts: shown::many(report.facts, "fact"),
        waiting: report.waiting,
        refused: report.refused,
        left_out: report.left_out.iter().map(|(why, number)| (shown::count(number), why.to_string())).collect(),
        notices: report.notices.iter().take(NOTICES).map(|one| (one.place.clone(), one.reason.clone())).collect(),
        more: report.notices_more + report.notices.len().saturating_sub(NOTICES) as u64,
        reference: report.reference.clone(),
        zone: None,
    }
}

fn progress_view(progress: Progress, total: u64, format: ImportFormat) -> ProgressView {
    let (done, total, text) = match progress {
        Progress::Imported(done) => {
            (done, total.max(done), format!("of {} recorded", shown::many(total, noun(format))))
        }
        Progress::Embedded(done, all) => {
            (done, all, format!("of {} passages made ready for searching", shown::count(all)))
        }
        Progress::Events(done, all) => (done, all, format!("of {} events checked", shown::count(all))),
    };
    ProgressView { done, total: total.max(1), text: format!("{} {text}", shown::count(done)) }
}

fn choices_view(chosen: Option<&ImportChoices>) -> ChoicesView {
    let format = chosen.map(|chosen| chosen.format);
    let is = |of: fn(&ImportChoices) -> bool| chosen.is_some_and(of);
    ChoicesView {
        formats: formats(format),
        mine: is(|chosen| chosen.own_words),
        me: chosen.and_then(|chosen| chosen.me.clone()).unwrap_or_default(),
        words_only: is(|chosen| chosen.words_only),
        do_not_remember: is(|chosen| chosen.do_not_remember),
        timezone: chosen.and_then(|chosen| chosen.timezone.as_ref()).map(ToString::to_string).unwrap_or_default(),
        date_order: chosen.and_then(|chosen| chosen.date_order).map(DateOrder::as_str).unwrap_or_default(),
        has_local_times: format.is_some_and(has_local_times),
        is_chatgpt: format == Some(ImportFormat::ChatGpt),
    }
}

fn upload_page(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let upload = found(desk, &user)?;
    let mut f = desk.frame_of(&user, &format!("Import {}", upload.name), "import")?;
    // Read before the state, so that a page that is old by now is loaded again.
    let step = upload.step();
    let (mut report, mut fault, mut progress, mut preview) = (None, None, None, 0);
    let mut authors = Vec::new();
    let (state, chosen) = match upload.state() {
        UploadState::Waiting { preview: None, .. } => ("waiting", None),
        UploadState::Waiting { preview: Some(Preview { number, choices: chosen, seen }), .. } => {
            preview = number;
            match seen {
                Ok(seen) => {
                    let zone = (has_local_times(chosen.format) && chosen.timezone.is_none()).then_some(
                        "Its times have no time zone and are read as UTC. Choose the zone below if they are others.",
                    );
                    authors.clone_from(&seen.authors);
                    report = Some(ReportView { zone, ..report_view(&seen, chosen.format) });
                }
                Err(why) => fault = Some(why),
            }
            ("waiting", Some(chosen))
        }
        UploadState::Running { choices, total, progress: now } => {
            progress = Some(progress_view(now, total, choices.format));
            f.live = Some(format!("{}/live?import={}&after={step}", f.base, upload.id));
            ("running", Some(choices))
        }
        UploadState::Ended { choices, report: done, fault: failed } => {
            report = done.map(|done| report_view(&done, choices.format));
            fault = failed;
            ("ended", Some(choices))
        }
    };
    page(&ImportFile {
        f,
        id: upload.id.clone(),
        name: upload.name.clone(),
        size: shown::bytes(upload.bytes as u64),
        state,
        kind: chosen.as_ref().map(|chosen| name_of(chosen.format)).unwrap_or_default(),
        words: chosen.as_ref().map(words).unwrap_or_default(),
        authors,
        may_be_own: chosen.as_ref().is_some_and(|chosen| {
            !chosen.own_words && matches!(chosen.format, ImportFormat::ChatGpt | ImportFormat::Claude)
        }),
        choices: choices_view(chosen.as_ref()),
        preview,
        report,
        fault,
        progress,
    })
}
