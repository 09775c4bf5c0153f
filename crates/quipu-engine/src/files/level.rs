//! Level: writing what the ledger says into the folder, all of it or what came since.

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

/// Files written in one durable step.
const BATCH_FILES: usize = 4096;
/// Bytes written in one durable step, about.
const BATCH_BYTES: usize = 64 << 20;

/// How to write.
#[derive(Debug, Clone, Copy, Default)]
pub struct VaultOptions {
    /// Only say what would be done.
    pub dry_run: bool,
    /// Look for pages that were edited by hand also where nothing else is to be written.
    pub look: bool,
}

/// Brings a user's folder level with the ledger, and makes it if there is none. What came since is added where that is
/// enough; after a revert, an erasure or an interrupted step everything is made anew.
///
/// # Errors
/// `NotFound` without such a user; `Unavailable` without a place for files; `Refused` if something foreign is in the way.
pub fn level(engine: &Engine, user: &UserId, options: VaultOptions) -> Result<VaultReport> {
    written(engine, user, options, false)
}

/// Makes everything in a user's folder anew from the ledger. Files that are as they should be are left alone.
///
/// # Errors
/// As [`level`].
pub fn rebuild(engine: &Engine, user: &UserId, options: VaultOptions) -> Result<VaultReport> {
    written(engine, user, options, true)
}

/// Compares a user's folder with what the ledger says it should hold. Nothing is changed: what would be written is what
/// differs.
///
/// # Errors
/// `NotFound` without such a user or folder.
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
    // Before a page is written, what a person changed on it is taken up.
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

/// Before an erasure: what a person changed on pages is taken up, for the pages are written anew after it. `allowed` says
/// whether the erasure will be; it is asked only where something was changed.
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

/// After an erasure: no file holds what was erased. Names the files that changed.
pub(crate) fn after_erasure(engine: &Engine, open: &OpenMemory, user: &UserId) -> Result<Vec<String>> {
    let _alone = open.files.lock();
    let Some(mut vault) = super::alone(engine, user, false)? else { return Ok(Vec::new()) };
    let mut removed = edits::kept(vault.as_mut())?;
    vault.remove(&removed)?;
    let report = anew(open, user, vault.as_mut())?;
    let removed = removed.drain(..).map(|path| path.to_string());
    Ok(report.written.into_iter().chain(report.removed).chain(removed).collect())
}

/// Takes away a user's folder. True if there was one.
pub(crate) fn remove_all(engine: &Engine, user: &UserId) -> Result<bool> {
    let Some(vault) = super::alone(engine, user, false)? else { return Ok(false) };
    vault.remove_all()?;
    Ok(true)
}

/// Files on their way into a folder: what is there already is not written again.
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

    /// A file of a closed entry: one of an older version that says the same stays as it is.
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

    fn remove(&mut self, files: &[VaultPath]) -> Result<()> {
        if !files.is_empty() {
            self.vault.remove(files)?;
        }
        self.report.removed.extend(files.iter().map(ToString::to_string));
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

    /// The last step: says what the folder is level with, and takes the mark away.
    fn finish(mut self, standing: AuditStatus) -> Result<VaultReport> {
        let standing = AuditStatus { versions: self.vault.schemas().ids(), ..standing };
        self.put(path(STANDING)?, to_page(&standing)?)?;
        self.flush()?;
        self.vault.remove(&[path(UNFINISHED)?])?;
        Ok(self.report)
    }
}

/// The pages of some topics, then those of the whole memory if any of them changed.
fn pages(pen: &mut FileWriter<'_>, user: &UserId, topics: &BTreeSet<Slug>) -> Result<()> {
    pen.flush()?;
    for topic in topics {
        match pages::of_topic(pen.vault, topic)? {
            Some(files) => pen.put_all(files)?,
            None => {
                let page = |name: &str| VaultPath::in_topic(topic, name);
                let pages = [page("topic_memory.json")?, page("topic_memory.md")?];
                let copies = [pages::written_copy(&pages[0])?, pages::written_copy(&pages[1])?];
                pen.remove(&[pages, copies].concat())?;
            }
        }
    }
    pen.flush()?;
    let files = pages::of_all(pen.vault, user)?;
    pen.put_all(files)?;
    pen.flush()
}

/// Everything, from the first event on.
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
    // What must not be there goes before the pages are made of what is.
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
    // Which versions they are in is known to the folder.
    AuditStatus { schema, user, head_seq: head, head_hash, open_from, lines_bytes, audit_bytes, versions: Vec::new() }
}

/// The ledger's own lines and the audit log; returns the length of the newest file of each.
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

/// The lines of a stretch, and what the audit log says of it.
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

/// Files Quipu names that must not be there. What it would never name is left alone: it is a person's.
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

/// What came since; `None` if that is not enough and everything must be made anew.
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

/// True if nothing was recorded since the folder was written.
fn is_level(open: &OpenMemory, user: &UserId, vault: &mut dyn UserVault) -> Result<bool> {
    let was = standing_of(user, vault)?;
    let state = open.read();
    let head = state.memory.head().to_hex();
    Ok(was.is_some_and(|was| was.head_seq == state.memory.seq() && was.head_hash == head.as_str()))
}

/// True if plain files are kept and the folder is behind the ledger. One that is being written just now is not.
///
/// # Errors
/// What the place for files says.
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

/// What the folder says it is level with; none if it cannot be built upon.
fn standing_of(user: &UserId, vault: &mut dyn UserVault) -> Result<Option<AuditStatus>> {
    if vault.read(&path(UNFINISHED)?)?.is_some() {
        return Ok(None);
    }
    let standing = vault.read(&path(STANDING)?)?.and_then(|bytes| VAULT.read::<AuditStatus>(&bytes).ok());
    // Pages of other versions are made anew, of the entries there are.
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

/// Adds the lines of new events; none if the files are not as long as they should be.
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

/// The entries that are open in the folder, with their files.
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

/// How many closed entries a topic has of a day.
fn closed_entries(vault: &mut dyn UserVault, topic: &Slug, date: jiff::civil::Date) -> Result<usize> {
    let of = date.to_string();
    let named = vault.list(Some(&path(&format!("topics/{topic}"))?))?;
    Ok(named
        .iter()
        .filter(|named| named.is_folder && pages::is_entry(&named.name) && named.name.starts_with(&of))
        .count())
}
