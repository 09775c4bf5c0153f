//! Imports a file or folder as events, idempotently.
//!
//! The id of a source is derived from its content, so known sources are skipped, and an interrupted import is completed
//! by running it again.

mod authors;
mod recording;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;

use jiff::Timestamp;
use quipu_core::event::SourceKind;
use quipu_core::id::UserId;
use quipu_core::limit;
use quipu_core::reconcile::Understanding;
use quipu_core::source::{Role, Source};
use serde::Serialize;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::memory::{OpenMemory, index};
use crate::memory::{Progress, Watch, checkpoint};
use crate::process::understand::{self, Cause};
use crate::process::unread::{self, WORDS_ONLY};
use crate::sessions::episodes;
use crate::transfer::import::{self, Batch, Fault, ImportFormat, Input, ReadError, ReadOptions};
use crate::write::{documents, remember};

use authors::{person, sign};
use recording::{ImportedFrom, record, recorded};

pub use recording::record_sources;

/// Options of an import.
#[derive(Debug, Clone)]
pub struct IngestOptions {
    /// Counts what would be recorded, without recording it.
    pub dry_run: bool,
    /// Only this conversation of the input.
    pub conversation: Option<String>,
    /// Extracts facts from what is imported.
    pub extract: bool,
    /// Treats statements of people as the user's own, which may describe the user and their preferences.
    pub own_words: bool,
    /// Which author is the user, for `own_words` in conversations between people. By default the author with the user's
    /// known name.
    pub me: Option<String>,
    /// Imports everything into this user's memory.
    pub into: Option<UserId>,
    /// The user if `into` is not given and the format has no users of its own.
    pub default_user: UserId,
    /// Options for what the input leaves open.
    pub read: ReadOptions,
}

/// Result of importing one conversation.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConversationReport {
    /// Its name in the input.
    pub name: String,
    /// The user it was imported into.
    pub user_id: UserId,
    /// Sources recorded now.
    pub new: u64,
    /// Sources that were known already.
    pub known: u64,
    /// Number of sessions.
    pub sessions: usize,
    /// The earliest known time.
    pub first_said_at: Option<Timestamp>,
    /// The latest known time.
    pub last_said_at: Option<Timestamp>,
    /// Sources without a time.
    pub undated: u64,
}

/// Something that was skipped or repaired.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IngestNotice {
    /// Place in the input.
    pub place: String,
    /// What was wrong, and what was done.
    pub reason: String,
}

/// Result of an import.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IngestReport {
    /// Reference of the import; revert by it to undo the import.
    pub reference: String,
    /// True if nothing was recorded (dry run).
    pub dry_run: bool,
    /// One report per conversation.
    pub conversations: Vec<ConversationReport>,
    /// Facts extracted.
    pub facts: u64,
    /// Sources from which secrets were redacted.
    pub redacted: u64,
    /// Reviews opened.
    pub waiting: u64,
    /// Candidates rejected by the gate.
    pub refused: u64,
    /// People who wrote in it, by name, in the order in which they first appear; at most 50.
    pub authors: Vec<String>,
    /// What was skipped or repaired.
    pub notices: Vec<IngestNotice>,
    /// Number of further notices.
    pub notices_more: u64,
    /// What was left out, counted by reason.
    pub left_out: BTreeMap<Cow<'static, str>, u64>,
    /// The error that stopped the import, if any.
    pub stopped_by: Option<String>,
}

impl IngestReport {
    fn count(&mut self, understood: &Understanding) {
        self.facts += understood.asserted.len() as u64;
        self.waiting += understood.reviews.len() as u64;
        self.refused += understood.refused.len() as u64;
    }
}

/// Imports a file. Texts and notes may also be a folder, and exports an archive or its folder.
///
/// The report is valid even after an error: if the input is damaged, everything before the fault is durable and
/// counted, and the error names the place. Times come from the input; a missing time stays unknown.
pub fn ingest(
    engine: &Engine,
    format: ImportFormat,
    path: &Path,
    options: &IngestOptions,
    watch: Watch<'_>,
) -> (IngestReport, Option<Error>) {
    let called = path.file_name().map_or_else(|| "input".to_owned(), |name| name.to_string_lossy().into_owned());
    let each_input = |about: &mut import::Report, each: &mut dyn FnMut(Input<'_>) -> Result<()>| {
        import::each_input(format, path, about, each)
    };
    run(engine, format, &called, options, &each_input, watch)
}

/// As [`ingest`], for a file given by name and content. There are no folders.
pub fn ingest_given(
    engine: &Engine,
    format: ImportFormat,
    (name, bytes): NamedContent<'_>,
    options: &IngestOptions,
    watch: Watch<'_>,
) -> (IngestReport, Option<Error>) {
    let each_input = |about: &mut import::Report, each: &mut dyn FnMut(Input<'_>) -> Result<()>| {
        import::each_given(format, (name, bytes), about, each)
    };
    run(engine, format, name, options, &each_input, watch)
}

/// Name and content of a file.
pub type NamedContent<'a> = (&'a str, &'a [u8]);

/// Opens every input, one after the other.
type Inputs<'a> = &'a dyn Fn(&mut import::Report, &mut dyn FnMut(Input<'_>) -> Result<()>) -> Result<()>;

fn run(
    engine: &Engine,
    format: ImportFormat,
    called: &str,
    options: &IngestOptions,
    inputs: Inputs<'_>,
    watch: Watch<'_>,
) -> (IngestReport, Option<Error>) {
    let mut run = Run {
        engine,
        format,
        options,
        parts: BTreeMap::new(),
        sessions: BTreeMap::new(),
        authors: BTreeMap::new(),
        recorded: 0,
        report: IngestReport {
            reference: shortened(&format!("{format}:{called}")),
            dry_run: options.dry_run,
            conversations: Vec::new(),
            facts: 0,
            redacted: 0,
            waiting: 0,
            refused: 0,
            authors: Vec::new(),
            notices: Vec::new(),
            notices_more: 0,
            left_out: BTreeMap::new(),
            stopped_by: None,
        },
    };
    let outcome = run.read_all(inputs, watch).and_then(|()| run.finish(watch)).and_then(|()| run.must_have_written());
    run.report.conversations = run.parts.into_values().collect();
    let nothing = outcome.is_ok() && run.report.conversations.is_empty();
    let outcome = if nothing { Err(no_such_conversation(options)) } else { outcome };
    run.report.stopped_by = outcome.as_ref().err().map(ToString::to_string);
    (run.report, outcome.err())
}

fn no_such_conversation(options: &IngestOptions) -> Error {
    match &options.conversation {
        Some(name) => Error::NotFound(format!("the input has no conversation {name:?}")),
        None => Error::Invalid("nothing to import".to_owned()),
    }
}

/// Cuts a reference at a character boundary to its maximum length.
fn shortened(text: &str) -> String {
    let end = (0..=text.len().min(limit::NAME_BYTES_MAX)).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    text[..end].replace('\0', "")
}

struct Run<'a> {
    engine: &'a Engine,
    format: ImportFormat,
    options: &'a IngestOptions,
    parts: BTreeMap<(String, UserId), ConversationReport>,
    sessions: BTreeMap<(String, UserId), BTreeSet<String>>,
    /// The people who wrote in each conversation so far.
    authors: BTreeMap<String, BTreeSet<String>>,
    recorded: u64,
    report: IngestReport,
}

/// Makes what another memory's model wrote about the user a statement of the user.
fn as_own_words(source: &mut Source) {
    let follows = source.id == source.content_id();
    source.role = Role::User;
    source.author = None;
    if follows {
        source.id = source.content_id();
    }
}

impl Run<'_> {
    fn read_all(&mut self, inputs: Inputs<'_>, watch: Watch<'_>) -> Result<()> {
        let mut about = import::Report::default();
        let outcome = inputs(&mut about, &mut |input| self.read_one(input, watch));
        self.note(about);
        outcome
    }

    fn read_one(&mut self, input: Input<'_>, watch: Watch<'_>) -> Result<()> {
        let Input { name, place, one_of_many, stream } = input;
        let (format, options) = (self.format, &self.options.read);
        let mut read = import::Report::default();
        let outcome = match format.document() {
            Some(kind) => {
                let document = match documents::read(self.engine, kind, stream) {
                    Ok(document) => document,
                    // An unreadable document does not stop the import of the others.
                    Err(why) if one_of_many => {
                        read.notice(place, format!("{why}; it was skipped"));
                        read.leave_out("documents that cannot be read", 1);
                        self.note(read);
                        return Ok(());
                    }
                    Err(why) => return Err(Error::Invalid(format!("{place}: {why}"))),
                };
                document.left_out.iter().for_each(|(what, count)| read.leave_out(what.clone(), *count));
                let named = (name, self.options.own_words);
                import::read_document(&document, named, &mut read, &mut |batch| self.take(batch, watch))
            }
            None => import::read_with(format, stream, name, options, &mut read, &mut |batch| self.take(batch, watch)),
        };
        let outcome = match outcome {
            Ok(()) => Ok(()),
            Err(ReadError::Caller(error)) => Err(error),
            Err(ReadError::Fault(Fault::Nothing(_))) if one_of_many => {
                if read.left_out.is_empty() {
                    read.leave_out("files with nothing in them", 1);
                }
                Ok(())
            }
            // An unreadable note does not stop the import of the others.
            Err(ReadError::Fault(fault)) if format == ImportFormat::Folder && read.sources == 0 => {
                read.notice(place, format!("{fault}; it was skipped"));
                read.leave_out("notes that cannot be read", 1);
                Ok(())
            }
            Err(ReadError::Fault(fault)) => Err(Error::Invalid(format!("{place}: {fault}"))),
        };
        self.note(read);
        outcome
    }

    /// Whether facts are extracted: from documents only if they are the user's own words.
    fn extracts(&self) -> bool {
        self.options.extract && (self.options.own_words || self.format.document().is_none())
    }

    /// Adds the notices and omissions of a report.
    fn note(&mut self, read: import::Report) {
        for notice in read.notices {
            if self.report.notices.len() < limit::IMPORT_NOTICES_MAX {
                self.report.notices.push(IngestNotice { place: notice.place, reason: notice.reason });
            } else {
                self.report.notices_more += 1;
            }
        }
        self.report.notices_more += read.notices_more;
        for (reason, count) in read.left_out {
            *self.report.left_out.entry(reason).or_default() += count;
        }
    }

    fn take(&mut self, mut batch: Batch, watch: Watch<'_>) -> Result<()> {
        if self.options.conversation.as_ref().is_some_and(|only| *only != batch.conversation) {
            return Ok(());
        }
        let user = match (&self.options.into, self.format) {
            (Some(user), _) => user.clone(),
            (None, ImportFormat::Locomo | ImportFormat::LongMemEval) => {
                UserId::parse(&batch.conversation).map_err(|refusal| {
                    Error::Invalid(format!(
                        "conversation {:?} cannot name a user: {refusal}; give one with -u",
                        batch.conversation
                    ))
                })?
            }
            (None, _) => self.options.default_user.clone(),
        };
        if self.options.own_words && self.format == ImportFormat::Mem0 {
            batch.sources.iter_mut().for_each(as_own_words);
        }
        batch.sources.iter_mut().for_each(|source| self.redact(source));
        self.note_authors(&batch);
        let own = self.own_author(&user, &batch.conversation)?;
        if let Some(own) = &own
            && let Some(known) = self.other_name(&user, own)
        {
            batch
                .sources
                .iter_mut()
                .filter(|source| person(source) == Some(own))
                .for_each(|source| sign(source, &known));
        }
        let new = if self.options.dry_run {
            self.count_new(&user, &batch.sources)?
        } else {
            self.record(&user, &batch.sources, own.as_deref())?
        };
        self.recorded += new;
        watch(Progress::Imported(self.recorded));
        self.count(batch, user, new);
        Ok(())
    }

    /// Redacts secrets before anything is stored, and updates the id derived from the text.
    fn redact(&mut self, source: &mut Source) {
        let follows = source.id == source.content_id();
        if remember::redact(source).is_empty() {
            return;
        }
        self.report.redacted += 1;
        if follows {
            source.id = source.content_id();
        }
    }

    /// Imported sessions are over, so all their episodes are recorded.
    fn tell(&self, user: &UserId, open: &OpenMemory) -> Result<()> {
        let names = self.sessions.iter().filter(|((_, owner), _)| owner == user).flat_map(|(_, names)| names);
        for session in names {
            episodes::tell(self.engine, open, Some(session), Some(true))?;
        }
        Ok(())
    }

    /// Records new sources and, if requested, extracts from them, after sources left unread by an earlier run.
    fn record(&mut self, user: &UserId, sources: &[Source], own: Option<&str>) -> Result<u64> {
        let reference = self.report.reference.clone();
        let own_words = self.options.own_words;
        let kind_of = |source: &Source| {
            let is_of_another = own.is_some() && person(source).is_some_and(|author| Some(author) != own);
            if own_words && !is_of_another { SourceKind::UserSaid } else { SourceKind::Imported }
        };
        let from = ImportedFrom { reference: &reference, kind_of: &kind_of };
        let open = self.engine.open_or_create(user)?;
        if !self.extracts() {
            return Ok(recorded(&record(self.engine, &open, sources, &from, Some(WORDS_ONLY))?));
        }
        self.catch_up(&open)?;
        let running = unread::begin(self.engine, &open)?;
        let receipts = record(self.engine, &open, sources, &from, None)?;
        let mut traceless = false;
        for receipt in &receipts {
            let cause = Cause { event: Some(receipt.event_id), reference: Some(reference.clone()) };
            for &source in &receipt.items {
                let understood = understand::understand(self.engine, &open, source, &cause)?;
                traceless |= understood.is_empty();
                self.report.count(&understood);
            }
        }
        running.finish(traceless)?;
        Ok(recorded(&receipts))
    }

    fn catch_up(&mut self, open: &OpenMemory) -> Result<()> {
        let report = &mut self.report;
        unread::catch_up(self.engine, open, usize::MAX, &mut |_, understood| report.count(&understood)).map(drop)
    }

    fn count_new(&self, user: &UserId, sources: &[Source]) -> Result<u64> {
        match self.engine.open(user) {
            Ok(open) => {
                let state = open.read();
                Ok(sources.iter().filter(|source| state.memory.find(source.id).is_none()).count() as u64)
            }
            Err(Error::NotFound(_)) => Ok(sources.len() as u64),
            Err(other) => Err(other),
        }
    }

    fn count(&mut self, batch: Batch, user: UserId, new: u64) {
        let key = (batch.conversation.clone(), user.clone());
        let part = self.parts.entry(key.clone()).or_insert_with(|| ConversationReport {
            name: batch.conversation,
            user_id: user,
            new: 0,
            known: 0,
            sessions: 0,
            first_said_at: None,
            last_said_at: None,
            undated: 0,
        });
        part.new += new;
        part.known += batch.sources.len() as u64 - new;
        let times = || batch.sources.iter().filter_map(|source| source.said_at);
        part.undated += batch.sources.iter().filter(|source| source.said_at.is_none()).count() as u64;
        part.first_said_at = part.first_said_at.into_iter().chain(times()).min();
        part.last_said_at = part.last_said_at.into_iter().chain(times()).max();
        let names = self.sessions.entry(key).or_default();
        names.extend(batch.sources.iter().filter_map(|source| source.session.as_deref().map(str::to_owned)));
        part.sessions = names.len();
    }

    /// Tells what the options did not change: whose words they are, if nothing of a conversation was new.
    fn note_known(&mut self) {
        let says_whose = self.options.me.is_some() || (self.options.own_words && self.format.document().is_some());
        let mut read = import::Report::default();
        if self.format == ImportFormat::Mem0 && !self.options.own_words && !self.parts.is_empty() {
            let reason = "memories that a model wrote are kept as words of the assistant, and no facts are read from \
                          them. If they are right about the user, take this import back and repeat it as the user's own words (`--mine`, \
                          `\"mine\": true`)";
            read.notice("all", reason);
        }
        for part in self.parts.values().filter(|part| says_whose && part.new == 0 && part.known > 0) {
            let reason = "all of it was recorded before and stays as it was read then, whoever is the user now. To change \
                          that, take the earlier import back (`quipu revert --source`) and repeat it";
            read.notice(part.name.clone(), reason.to_owned());
        }
        self.note(read);
    }

    /// Embeds everything that was recorded, and writes a checkpoint.
    fn finish(&mut self, watch: Watch<'_>) -> Result<()> {
        self.note_known();
        if self.options.dry_run {
            return Ok(());
        }
        let users: BTreeSet<UserId> = self.parts.keys().map(|(_, user)| user.clone()).collect();
        for user in users {
            let open = self.engine.open(&user)?;
            if self.extracts() {
                self.catch_up(&open)?;
                self.tell(&user, &open)?;
            }
            index::embed(self.engine, &open, watch)?;
            checkpoint::checkpoint(self.engine, &open, true)?;
        }
        Ok(())
    }
}
