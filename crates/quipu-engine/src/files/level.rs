//! Writes the ledger's content into the user's folder: all of it, or what is new.

use std::collections::{BTreeMap, BTreeSet};

use quipu_core::artifact::{
    self, ArtifactEntry, AuditStatus, FileSchema, Meta, Slug, Summary, VAULT, VaultPath, raw_page, to_page,
};
use quipu_core::id::{Seq, UserId};
use quipu_core::ledger::{self, SealedEvent};
use quipu_core::limit;

use super::pages::{self, Files};
use super::report::VaultReport;
use super::trial::DryRunFolder;
use super::{AUDIT, STANDING, UNFINISHED, days, edits, path};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::memory::OpenMemory;
use crate::ports::UserVault;

/// Most files, and approximate number of bytes, written in one durable step.
const BATCH_FILES: usize = 4096;
const BATCH_BYTES: usize = 64 << 20;

/// Options of writing.
#[derive(Debug, Clone, Copy, Default)]
pub struct VaultOptions {
    /// Reports what would be done, without writing.
    pub dry_run: bool,
    /// Looks for pages edited by hand even if nothing else is to be written.
    pub look: bool,
}

/// Updates or creates a user's folder. Rewrites it whole after a revert, an erasure or an interrupted step.
///
/// # Errors
/// `NotFound` without such a user; `Unavailable` without a place for files; `Refused` if a foreign file is in the way.
pub fn level(engine: &Engine, user: &UserId, options: VaultOptions) -> Result<VaultReport> {
    written(engine, user, options, false)
}

/// Rewrites a user's folder from the ledger. Files that are already correct are not touched.
///
/// # Errors
/// As [`level`].
pub fn rebuild(engine: &Engine, user: &UserId, options: VaultOptions) -> Result<VaultReport> {
    written(engine, user, options, true)
}

/// Lists, as files that would be written, how a user's folder differs from the ledger. Changes nothing.
///
/// # Errors
/// `NotFound` if there is no such user or folder.
pub fn verify(engine: &Engine, user: &UserId) -> Result<VaultReport> {
    let open = engine.open(user)?;
    let beneath = super::open(engine, user, false)?.ok_or_else(|| super::missing(user))?;
    let mut trial = DryRunFolder::over(Some(beneath));
    let edited = edits::would_take_up(engine, &open, &mut trial)?;
    Ok(VaultReport { edited, ..anew(&open, user, &mut trial)? })
}

fn written(engine: &Engine, user: &UserId, options: VaultOptions, all: bool) -> Result<VaultReport> {
    let open = engine.open(user)?;
    let _alone = open.files.lock();
    let mut vault: Box<dyn UserVault> = if options.dry_run {
        Box::new(DryRunFolder::over(super::open(engine, user, false)?))
    } else {
        let none = || Error::Unavailable("there is no place for plain files".to_owned());
        super::level_alone(engine, &open)?.ok_or_else(none)?
    };
    if !all && !options.look && is_level(&open, user, vault.as_mut())? {
        let version = open.read().memory.seq();
        return Ok(VaultReport { folder: vault.place(), version, ..VaultReport::default() });
    }
    let edited = if options.dry_run {
        edits::would_take_up(engine, &open, vault.as_mut())?
    } else {
        edits::take_up(engine, &open, vault.as_mut())?
    };
    let report = match if all { None } else { added(&open, user, vault.as_mut())? } {
        Some(report) => report,
        None => anew(&open, user, vault.as_mut())?,
    };
    Ok(VaultReport { edited, ..report })
}

/// Takes up edits by hand before an erasure rewrites the pages. `allowed` is called only if there are edits.
pub(crate) fn before_erasure(
    engine: &Engine,
    open: &OpenMemory,
    user: &UserId,
    allowed: &dyn Fn() -> Result<()>,
) -> Result<()> {
    let _alone = open.files.lock();
    let Some(mut vault) = super::alone(engine, user, false)? else { return Ok(()) };
    if edits::edited(vault.as_mut())?.is_empty() {
        return Ok(());
    }
    allowed()?;
    edits::take_up(engine, open, vault.as_mut()).map(drop)
}

/// Removes erased content from all files after an erasure. Returns the files that changed.
pub(crate) fn after_erasure(engine: &Engine, open: &OpenMemory, user: &UserId) -> Result<Vec<String>> {
    let _alone = open.files.lock();
    let Some(mut vault) = super::alone(engine, user, false)? else { return Ok(Vec::new()) };
    let removed = edits::kept(vault.as_mut())?;
    vault.remove(&removed)?;
    let report = anew(open, user, vault.as_mut())?;
    Ok(report.written.into_iter().chain(report.removed).chain(removed.iter().map(ToString::to_string)).collect())
}

/// Deletes a user's folder. Returns true if there was one.
pub(crate) fn remove_all(engine: &Engine, user: &UserId) -> Result<bool> {
    let Some(mut vault) = super::alone(engine, user, false)? else { return Ok(false) };
    // Without the page that says how far they go, files left by an interrupted deletion are written anew.
    vault.remove(&[path(STANDING)?])?;
    Ok(vault.remove_all().map(|()| true)?)
}

/// Buffers files on their way into a folder and skips those that are already there.
struct FileWriter<'a> {
    vault: &'a mut dyn UserVault,
    report: VaultReport,
    waiting: Vec<(VaultPath, Vec<u8>)>,
    bytes: usize,
    named: BTreeSet<VaultPath>,
}

impl<'a> FileWriter<'a> {
    fn new(vault: &'a mut dyn UserVault, version: Seq, anew: bool) -> Self {
        let report = VaultReport { folder: vault.place(), version, anew, ..VaultReport::default() };
        Self { vault, report, waiting: Vec::new(), bytes: 0, named: BTreeSet::new() }
    }

    fn put(&mut self, at: VaultPath, bytes: Vec<u8>) -> Result<()> {
        if self.vault.read(&at)?.as_ref() == Some(&bytes) {
            self.report.unchanged += 1;
        } else {
            self.report.written.push(at.to_string());
            self.bytes += bytes.len();
            self.waiting.push((at.clone(), bytes));
        }
        self.named.insert(at);
        if self.waiting.len() >= BATCH_FILES || self.bytes >= BATCH_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes a file of a closed entry. A file of an older format version with the same content is not replaced.
    fn put_closed(&mut self, at: VaultPath, bytes: Vec<u8>, schema: &FileSchema) -> Result<()> {
        let there = self.vault.read(&at)?;
        if there.is_some_and(|there| schema.says_the_same(&there, &bytes)) {
            self.report.unchanged += 1;
            self.named.insert(at);
            return Ok(());
        }
        self.put(at, bytes)
    }

    fn put_all(&mut self, files: Files) -> Result<()> {
        files.into_iter().try_for_each(|(at, bytes)| self.put(at, bytes))
    }

    fn flush(&mut self) -> Result<()> {
        if !self.waiting.is_empty() {
            self.vault.write(&self.waiting)?;
        }
        self.waiting.clear();
        self.bytes = 0;
        Ok(())
    }

    fn append(&mut self, at: &VaultPath, from: u64, bytes: &[u8]) -> Result<()> {
        self.vault.append(at, from, bytes)?;
        self.report.written.push(at.to_string());
        Ok(())
    }

    /// Removes those of the files that exist.
    fn remove(&mut self, files: &[VaultPath]) -> Result<()> {
        let mut there = Vec::new();
        for file in files {
            there.extend(self.vault.read(file)?.map(|_| file.clone()));
        }
        if !there.is_empty() {
            self.vault.remove(&there)?;
        }
        self.report.removed.extend(there.iter().map(ToString::to_string));
        Ok(())
    }

    fn entry(&mut self, entry: &ArtifactEntry, open: bool) -> Result<()> {
        let below = if open { "open/" } else { "" };
        let file = |name: &str| VaultPath::in_topic(&entry.topic, &format!("{below}{}/{name}", entry.meta.entry_id));
        self.put(file("raw.md")?, raw_page(entry).into_bytes())?;
        let schemas = self.vault.schemas();
        let meta = Meta { schema: schemas.entry_meta.id(), ..entry.meta.clone() };
        let summary = Summary { schema: schemas.entry_summary.id(), ..entry.summary.clone() };
        let (meta, summary) = (to_page(&meta)?, to_page(&summary)?);
        if open {
            self.put(file("meta.json")?, meta)?;
            return self.put(file("summary.json")?, summary);
        }
        self.put_closed(file("meta.json")?, meta, &schemas.entry_meta)?;
        self.put_closed(file("summary.json")?, summary, &schemas.entry_summary)
    }

    /// The last step: records the version of the folder and removes the mark.
    fn finish(mut self, standing: AuditStatus) -> Result<VaultReport> {
        let standing = AuditStatus { versions: self.vault.schemas().ids(), ..standing };
        self.put(path(STANDING)?, to_page(&standing)?)?;
        self.flush()?;
        self.vault.remove(&[path(UNFINISHED)?])?;
        Ok(self.report)
    }
}

/// Writes the pages of some topics, then those of the whole memory if any of them changed.
fn pages(pen: &mut FileWriter<'_>, user: &UserId, topics: &BTreeSet<Slug>) -> Result<()> {
    pen.flush()?;
    for topic in topics {
        match pages::of_topic(pen.vault, topic)? {
            Some(files) => pen.put_all(files)?,
            None => pen.remove(&pages::files_of(topic)?)?,
        }
    }
    pen.flush()?;
    let files = pages::of_all(pen.vault, user)?;
    pen.put_all(files)?;
    pen.flush()
}

fn anew(open: &OpenMemory, user: &UserId, vault: &mut dyn UserVault) -> Result<VaultReport> {
    let (head, hash) = {
        let state = open.read();
        (state.memory.seq(), state.memory.head())
    };
    vault.write(&[(path(UNFINISHED)?, Vec::new())])?;
    vault.sweep()?;
    let mut pen = FileWriter::new(vault, head, true);
    let (lines_bytes, audit_bytes) = lines(open, head, &mut pen)?;
    let mut used: BTreeMap<(Slug, jiff::civil::Date), usize> = BTreeMap::new();
    let mut topics: BTreeSet<Slug> = BTreeSet::new();
    let mut open_from = 1;
    if head > 0 {
        days::each(open, user, 1, head, &mut |day, before, memory, closed| {
            open_from = day.first();
            let entries = artifact::entries(day, before, memory, &mut |topic, date| {
                let count = used.entry((topic.clone(), date)).or_default();
                *count += 1;
                *count - 1
            });
            for entry in entries {
                topics.insert(entry.topic.clone());
                pen.entry(&entry, !closed)?;
            }
            Ok(())
        })?;
    }
    pen.flush()?;
    // Surplus files are removed before the pages are built from the files there are.
    let surplus = surplus(pen.vault, &pen.named)?;
    pen.remove(&surplus)?;
    topics.extend(pages::topics(pen.vault)?);
    pages(&mut pen, user, &topics)?;
    pen.finish(standing(user, head, &hash.to_hex(), open_from, (lines_bytes, audit_bytes)))
}

fn standing(
    user: &UserId,
    head: Seq,
    hash: &str,
    open_from: Seq,
    (lines_bytes, audit_bytes): (u64, u64),
) -> AuditStatus {
    let (schema, user, head_hash) = (VAULT.id(), user.clone(), hash.to_owned());
    AuditStatus { schema, user, head_seq: head, head_hash, open_from, lines_bytes, audit_bytes, versions: Vec::new() }
}

/// Writes the ledger's lines and the audit log; returns the length of the newest file of each.
fn lines(open: &OpenMemory, head: Seq, pen: &mut FileWriter<'_>) -> Result<(u64, u64)> {
    let mut audit = String::new();
    let mut newest = 0;
    let mut first = 1;
    while first <= head {
        let last = head.min(first + limit::VAULT_SEGMENT_EVENTS - 1);
        let (lines, told) = read_lines(open, first, last)?;
        newest = lines.len() as u64;
        audit.push_str(&told);
        pen.put(path(&artifact::segment_of(first))?, lines.into_bytes())?;
        first = last + 1;
    }
    let audit_bytes = audit.len() as u64;
    pen.put(path(AUDIT)?, audit.into_bytes())?;
    Ok((newest, audit_bytes))
}

/// The ledger lines and the audit lines of a range of events.
fn read_lines(open: &OpenMemory, first: Seq, last: Seq) -> Result<(String, String)> {
    let (mut lines, mut audit) = (String::new(), String::new());
    let mut fault = None;
    let mut take = |event: &SealedEvent| -> Result<()> {
        if !ledger::is_intact(event) {
            return Err(Error::Corrupt(format!("event {} is damaged; `quipu verify` says where", event.seq)));
        }
        lines.push_str(&ledger::write_line(event)?);
        lines.push('\n');
        audit.push_str(&artifact::audit_line(&ledger::open_header(event)?, &event.hash));
        Ok(())
    };
    open.writer()?.ledger.read(first..=last, &mut |event| match take(&event) {
        Ok(()) => true,
        Err(error) => {
            fault = Some(error);
            false
        }
    })?;
    fault.map_or(Ok((lines, audit)), Err)
}

/// Files with names of Quipu's that must not exist. Other files belong to a person and are left alone.
fn surplus(vault: &mut dyn UserVault, named: &BTreeSet<VaultPath>) -> Result<Vec<VaultPath>> {
    let mut found = Vec::new();
    for topic in pages::topics(vault)? {
        for (folder, _) in pages::entry_folders(vault, &topic)? {
            for file in ["raw.md", "meta.json", "summary.json"] {
                found.push(path(&format!("{folder}/{file}"))?);
            }
        }
    }
    let lines = vault.list(Some(&path("index/ledger")?))?;
    for line in lines.iter().filter(|line| !line.is_folder) {
        found.push(path(&format!("index/ledger/{}", line.name))?);
    }
    let mut there = Vec::new();
    for file in found {
        if !named.contains(&file) && vault.read(&file)?.is_some() {
            there.push(file);
        }
    }
    Ok(there)
}

/// Adds what is new; `None` if everything must be rewritten.
fn added(open: &OpenMemory, user: &UserId, vault: &mut dyn UserVault) -> Result<Option<VaultReport>> {
    let Some(was) = standing_of(user, vault)? else { return Ok(None) };
    let (head, hash) = {
        let state = open.read();
        (state.memory.seq(), state.memory.head())
    };
    let controls = || -> Result<Vec<SealedEvent>> { Ok(open.writer()?.ledger.controls(head)?) };
    let known = was.head_seq <= head && hash_at(open, was.head_seq)?.as_deref() == Some(was.head_hash.as_str());
    if !known || controls()?.last().is_some_and(|control| control.seq > was.head_seq) {
        return Ok(None);
    }
    if was.head_seq == head {
        let report = VaultReport { folder: vault.place(), version: head, ..VaultReport::default() };
        return Ok(Some(report));
    }
    vault.write(&[(path(UNFINISHED)?, Vec::new())])?;
    let mut pen = FileWriter::new(vault, head, false);
    let Some((lines_bytes, audit_bytes)) = append_lines(open, &was, head, &mut pen)? else { return Ok(None) };
    let mut topics = BTreeSet::new();
    let opened = open_files(pen.vault)?;
    let mut open_from = was.open_from;
    let mut still_open = BTreeSet::new();
    days::each(open, user, was.open_from, head, &mut |day, before, memory, closed| {
        open_from = day.first();
        let vault = &mut *pen.vault;
        let mut fault = None;
        let entries = artifact::entries(day, before, memory, &mut |topic, date| {
            closed_entries(vault, topic, date).unwrap_or_else(|error| {
                fault = Some(error);
                0
            })
        });
        fault.map_or(Ok(()), Err)?;
        for entry in &entries {
            topics.insert(entry.topic.clone());
            pen.entry(entry, !closed)?;
            if !closed {
                still_open.insert((entry.topic.clone(), entry.meta.entry_id.clone()));
            }
        }
        // The next day counts the entries of this one.
        pen.flush()
    })?;
    for (topic, entry_id, files) in opened {
        if !still_open.contains(&(topic.clone(), entry_id)) {
            pen.remove(&files)?;
            topics.insert(topic);
        }
    }
    pages(&mut pen, user, &topics)?;
    pen.finish(standing(user, head, &hash.to_hex(), open_from, (lines_bytes, audit_bytes))).map(Some)
}

/// Returns true if nothing was recorded since the folder was written.
fn is_level(open: &OpenMemory, user: &UserId, vault: &mut dyn UserVault) -> Result<bool> {
    let was = standing_of(user, vault)?;
    let state = open.read();
    let head = state.memory.head().to_hex();
    Ok(was.is_some_and(|was| was.head_seq == state.memory.seq() && was.head_hash == head.as_str()))
}

/// Returns true if plain files are kept and the folder is behind the ledger; false while the folder is being written.
pub(crate) fn lags(engine: &Engine, open: &OpenMemory) -> Result<bool> {
    if !engine.keeps_artifacts() || open.read().memory.seq() == 0 {
        return Ok(false);
    }
    let Some(_alone) = open.files.try_lock() else { return Ok(false) };
    match super::open(engine, open.user(), false)? {
        Some(mut vault) => Ok(!is_level(open, open.user(), vault.as_mut())?),
        None => Ok(true),
    }
}

/// The recorded version of the folder; `None` if the folder must be rewritten.
fn standing_of(user: &UserId, vault: &mut dyn UserVault) -> Result<Option<AuditStatus>> {
    if vault.read(&path(UNFINISHED)?)?.is_some() {
        return Ok(None);
    }
    let standing = vault.read(&path(STANDING)?)?.and_then(|bytes| VAULT.read::<AuditStatus>(&bytes).ok());
    // Pages of other format versions are rewritten from the entries.
    let versions = vault.schemas().ids();
    let fits =
        |standing: &AuditStatus| standing.user == *user && standing.head_seq > 0 && standing.versions == versions;
    Ok(standing.filter(fits))
}

fn hash_at(open: &OpenMemory, seq: Seq) -> Result<Option<String>> {
    let mut found = None;
    open.writer()?.ledger.read(seq..=seq, &mut |event| {
        found = Some(event.hash.to_hex().to_string());
        false
    })?;
    Ok(found)
}

/// Appends the lines of new events; `None` if the files do not have the expected length.
fn append_lines(
    open: &OpenMemory,
    was: &AuditStatus,
    head: Seq,
    pen: &mut FileWriter<'_>,
) -> Result<Option<(u64, u64)>> {
    let mut newest = was.lines_bytes;
    let mut audit = String::new();
    let mut first = was.head_seq + 1;
    while first <= head {
        let segment = artifact::segment_of(first);
        let begins = segment != artifact::segment_of(first - 1) || first == 1;
        let last = head.min(first + limit::VAULT_SEGMENT_EVENTS - 1 - (first - 1) % limit::VAULT_SEGMENT_EVENTS);
        let (lines, told) = read_lines(open, first, last)?;
        audit.push_str(&told);
        let at = path(&segment)?;
        if begins {
            newest = lines.len() as u64;
            pen.put(at, lines.into_bytes())?;
        } else {
            match pen.append(&at, newest, lines.as_bytes()) {
                Ok(()) => newest += lines.len() as u64,
                Err(Error::Refused(_)) => return Ok(None),
                Err(other) => return Err(other),
            }
        }
        first = last + 1;
    }
    match pen.append(&path(AUDIT)?, was.audit_bytes, audit.as_bytes()) {
        Ok(()) => Ok(Some((newest, was.audit_bytes + audit.len() as u64))),
        Err(Error::Refused(_)) => Ok(None),
        Err(other) => Err(other),
    }
}

fn open_files(vault: &mut dyn UserVault) -> Result<Vec<(Slug, String, Vec<VaultPath>)>> {
    let mut found = Vec::new();
    for topic in pages::topics(vault)? {
        for (folder, open) in pages::entry_folders(vault, &topic)? {
            if open {
                let entry_id = folder.parts().last().unwrap_or_default().to_owned();
                let files = ["raw.md", "meta.json", "summary.json"];
                let files = files.iter().map(|file| path(&format!("{folder}/{file}"))).collect::<Result<Vec<_>>>()?;
                found.push((topic.clone(), entry_id, files));
            }
        }
    }
    Ok(found)
}

fn closed_entries(vault: &mut dyn UserVault, topic: &Slug, date: jiff::civil::Date) -> Result<usize> {
    let of = date.to_string();
    let named = vault.list(Some(&path(&format!("topics/{topic}"))?))?;
    Ok(named
        .iter()
        .filter(|named| named.is_folder && pages::is_entry(&named.name) && named.name.starts_with(&of))
        .count())
}
