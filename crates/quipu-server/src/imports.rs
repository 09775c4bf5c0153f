//! Imports of files that come over HTTP, for the API and the inspector.

use quipu_core::id::UserId;
use quipu_engine::import::{DateOrder, ImportFormat, ReadOptions, Zone};
use quipu_engine::{Engine, Error, IngestOptions, IngestReport, NamedContent, Result, Watch, ingest_given};

/// What a caller chooses about an import.
#[derive(Debug, Clone)]
pub(crate) struct ImportChoices {
    /// The format of the file.
    pub(crate) format: ImportFormat,
    /// Treats messages of people as the user's own words.
    pub(crate) own_words: bool,
    /// Which author is the user, in a chat between people.
    pub(crate) me: Option<String>,
    /// Stores the texts without extracting facts.
    pub(crate) words_only: bool,
    /// Only this conversation.
    pub(crate) conversation: Option<String>,
    /// Time zone of local times in the file.
    pub(crate) timezone: Option<Zone>,
    /// Order of day and month in dates.
    pub(crate) date_order: Option<DateOrder>,
    /// For ChatGPT: also conversations that are marked not to be remembered.
    pub(crate) do_not_remember: bool,
}

impl ImportChoices {
    /// The format with all else as usual.
    pub(crate) fn of(format: ImportFormat) -> Self {
        Self {
            format,
            own_words: false,
            me: None,
            words_only: false,
            conversation: None,
            timezone: None,
            date_order: None,
            do_not_remember: false,
        }
    }

    /// # Errors
    /// `Invalid` for e-mail as the user's own words.
    pub(crate) fn check(&self) -> Result<()> {
        if self.format == ImportFormat::Mbox && (self.own_words || self.me.is_some()) {
            return Err(Error::Invalid("e-mail is by many people and cannot count as your own words".to_owned()));
        }
        Ok(())
    }

    fn options(&self, user: &UserId, dry_run: bool) -> IngestOptions {
        IngestOptions {
            dry_run,
            conversation: self.conversation.clone(),
            extract: !self.words_only,
            own_words: self.own_words || self.me.is_some(),
            me: self.me.clone(),
            into: Some(user.clone()),
            default_user: user.clone(),
            read: ReadOptions {
                timezone: self.timezone.clone(),
                date_order: self.date_order,
                do_not_remember: self.do_not_remember,
            },
        }
    }
}

/// What an import would do, without recording anything.
///
/// # Errors
/// `Invalid` if the file is damaged, of another format or empty: then an import would record a part of it at most.
pub(crate) fn preview(
    engine: &Engine,
    user: &UserId,
    choices: &ImportChoices,
    file: NamedContent<'_>,
) -> Result<IngestReport> {
    choices.check()?;
    let (report, fault) = ingest_given(engine, choices.format, file, &choices.options(user, true), &mut |_| {});
    fault.map_or(Ok(report), Err)
}

/// Imports a file into a user's memory. The report is valid even after an error.
///
/// # Errors
/// Those of the engine. If a part was recorded before, the message says how to take it back.
pub(crate) fn import(
    engine: &Engine,
    user: &UserId,
    choices: &ImportChoices,
    file: NamedContent<'_>,
    watch: Watch<'_>,
) -> (Option<IngestReport>, Option<Error>) {
    if let Err(error) = choices.check() {
        return (None, Some(error));
    }
    let (report, fault) = ingest_given(engine, choices.format, file, &choices.options(user, false), watch);
    let recorded: u64 = report.conversations.iter().map(|part| part.new).sum();
    let reference = &report.reference;
    let fault = fault.map(|fault| match recorded {
        0 => fault,
        // The error must mention the part that was recorded.
        _ => Error::Invalid(format!(
            "{fault}. What came before is recorded ({recorded}); a revert of the source {reference:?} takes it back"
        )),
    });
    (Some(report), fault)
}
