//! Opens what a fault left with the real store and engine, and compares it with what was acknowledged.

use std::fs;
use std::path::Path;

use quipu_core::id::Seq;
use quipu_core::ledger::Pin;
use quipu_engine::ports::{KeyStore, Signer};
use quipu_engine::versions::When;
use quipu_engine::{
    ListOptions, RememberOptions, Utterance, VaultOptions, backup, doctor, files, list, rebuild, remember, status,
    verify,
};
use quipu_sqlite::SqliteStore;
use quipu_testkit::files_below;

use crate::work::{Known, Places, Span, USERS, open_keys, open_store, rig, signer, timeline, user};

/// What a fault may leave.
pub(crate) struct Expected<'a> {
    /// What was acknowledged.
    pub(crate) before: &'a Known,
    /// What it may have become.
    pub(crate) after: After<'a>,
    /// The users whose ledgers are the one before or the one after as a whole, or of which nothing is known.
    pub(crate) replaced: Vec<&'static str>,
}

/// What may follow what was acknowledged.
#[derive(Clone, Copy)]
pub(crate) enum After<'a> {
    /// At most this, up to any event.
    UpTo(&'a Known),
    /// Any more events: acts failed, and may have had an effect.
    Anything,
}

impl<'a> From<&'a Span> for Expected<'a> {
    fn from(span: &'a Span) -> Self {
        let replaced = span.act.replaces().into_iter().collect();
        Self { before: &span.before, after: After::UpTo(&span.after), replaced }
    }
}

fn holds(what: bool, text: impl FnOnce() -> String) -> Result<(), String> {
    if what { Ok(()) } else { Err(text()) }
}

/// Fails with the first thing that is wrong.
pub(crate) fn judge(root: &Path, expected: &Expected<'_>, thorough: bool) -> Result<(), String> {
    let places = Places(root.to_owned());
    let store = open_store(&places).map_err(|error| format!("the store cannot be opened: {error}"))?;
    let rig = rig(&places, 99);
    let engine = rig.engine(Box::new(store.clone()));
    if let Some(problem) = doctor(&engine).into_iter().find(|finding| !finding.ok) {
        return Err(format!("doctor: {}", problem.text));
    }
    let mut versions = Vec::new();
    for name in USERS {
        let found =
            ledger(&store, &engine, name, expected, thorough).map_err(|problem| format!("{name}: {problem}"))?;
        versions.push((name, found));
    }
    keys(&places, expected)?;
    backups(root, expected)?;
    let signed = signer(&places, 7).public_key().map_err(|error| format!("the signing key: {error}"))?;
    if let Some(known) = expected.before.signer {
        holds(signed == known, || "the signing key is another".to_owned())?;
    }
    drop((engine, store));
    erased(&places, expected, &versions)
}

fn log_of(engine: &quipu_engine::Engine, who: &quipu_core::id::UserId) -> Vec<String> {
    let options = quipu_engine::LogOptions { before: None, limit: 4, reference: None };
    let entries = quipu_engine::log(engine, who, &options).unwrap_or_default();
    entries.into_iter().map(|entry| format!("{entry:?}")).collect()
}

/// Returns the version that was found.
fn ledger(
    store: &SqliteStore,
    engine: &quipu_engine::Engine,
    name: &str,
    expected: &Expected<'_>,
    thorough: bool,
) -> Result<Seq, String> {
    let who = user(name);
    let before = expected.before.users.get(name);
    let is_replaced = expected.replaced.contains(&name);
    let found = timeline(store, name)?;
    let is_expected = match (expected.after, &found) {
        (After::Anything, found) => {
            is_replaced || before.is_none_or(|before| found.as_ref().is_some_and(|found| found.starts_with(before)))
        }
        (After::UpTo(after), None) => before.is_none() || !after.users.contains_key(name),
        (After::UpTo(after), Some(found)) if is_replaced => {
            before == Some(found) || after.users.get(name) == Some(found)
        }
        (After::UpTo(after), Some(found)) => {
            let grows = after.users.get(name).is_some_and(|after| after.starts_with(found));
            grows && found.len() >= before.map_or(0, Vec::len)
        }
    };
    holds(is_expected, || {
        let after = match expected.after {
            After::Anything => "anything".to_owned(),
            After::UpTo(after) => format!("{:?}", after.users.get(name).map(Vec::len)),
        };
        let (found, before) = (found.as_ref().map(Vec::len), before.map(Vec::len));
        format!("found {found:?} events, acknowledged {before:?}, then {after} ({:?})", expected.replaced)
    })?;
    let Some(found) = found else { return Ok(0) };
    let pins: Vec<Pin> = (1..)
        .zip(&found)
        .filter_map(|(seq, hash)| Some(Pin { seq, hash: quipu_core::event::Hash::from_hex(hash).ok()? }))
        .collect();
    let report = verify(engine, &who, &pins, &mut |_| {}).map_err(|error| format!("verify: {error}"))?;
    holds(report.is_intact(), || format!("verify: {:?} {:?}", report.ledger.damage, report.medium))?;
    let all = ListOptions { at: When::Now, session: None, kind: None, offset: 0, limit: usize::MAX };
    list(engine, &who, &all).map_err(|error| format!("list: {error}"))?;
    if !found.is_empty() {
        let report = files::level(engine, &who, VaultOptions::default()).map_err(|error| format!("files: {error}"))?;
        // Known: pages of an interrupted step may be taken for edited, and are kept as copies. If the memory changed
        // between, their lines are proposed in a review. Nothing is lost.
        let may_propose = matches!(expected.after, After::Anything);
        let proposals = if may_propose { report.edited.len() as Seq } else { 0 };
        let report = files::verify(engine, &who).map_err(|error| format!("files: {error}"))?;
        holds(report.is_level(), || format!("files differ from the ledger: {report:?}"))?;
        holds(report.edited.is_empty(), || format!("files were taken for edited: {report:?}"))?;
        let now = status(engine, &who).map_err(|error| error.to_string())?.version;
        holds(now <= found.len() as Seq + proposals, || {
            format!("reading and writing files appended {}: {:?}", now - found.len() as Seq, log_of(engine, &who))
        })?;
    }
    if thorough {
        let rebuilt = rebuild(engine, &who, &mut |_| {}).map_err(|error| format!("rebuild: {error}"))?;
        holds(rebuilt.identical, || "the memory differs from its ledger".to_owned())?;
        let said = Utterance::of_user("It goes on.");
        remember(engine, &who, &said, &RememberOptions::default()).map_err(|error| format!("remember: {error}"))?;
    }
    Ok(found.len() as Seq)
}

fn keys(places: &Places, expected: &Expected<'_>) -> Result<(), String> {
    let keys = open_keys(places).map_err(|error| format!("the keys: {error}"))?;
    let all = keys.all().map_err(|error| format!("the keys: {error}"))?;
    for (id, key) in &expected.before.keys {
        let found = all.iter().find(|found| found.id == *id);
        let is_known = match (expected.after, found) {
            (_, None) => false,
            (After::UpTo(after), Some(found)) => found == key || Some(found) == after.keys.get(id),
            // Its revocation may have failed after it had an effect.
            (After::Anything, Some(found)) => found == key || (key.revoked_at.is_none() && found.digest == key.digest),
        };
        holds(is_known, || format!("the key {id} is {found:?}, acknowledged was {key:?}"))?;
    }
    let is_whole = all.iter().all(|key| !key.scopes.is_empty() && key.user.is_some());
    let is_known = match expected.after {
        After::UpTo(after) => all.len() <= after.keys.len(),
        After::Anything => true,
    };
    holds(is_whole && is_known, || format!("keys: {all:?}"))
}

fn backups(root: &Path, expected: &Expected<'_>) -> Result<(), String> {
    let place = |folder: &Path| {
        let below = folder.components().rev().take(2).collect::<Vec<_>>().into_iter().rev();
        root.join(below.collect::<std::path::PathBuf>())
    };
    let after = match expected.after {
        After::UpTo(after) => after,
        After::Anything => expected.before,
    };
    for (folder, heads) in &after.backups {
        let is_acknowledged = expected.before.backups.iter().any(|(known, _)| known == folder);
        let manifest = match backup::read_manifest(&place(folder)) {
            Err(error) if is_acknowledged => return Err(format!("the backup: {error}")),
            Err(_) => continue,
            Ok(manifest) => manifest,
        };
        let found: Vec<&String> = manifest.users.iter().map(|held| &held.head_hash).collect();
        holds(found == heads.iter().collect::<Vec<_>>(), || "the backup has other heads".to_owned())?;
        for held in &manifest.users {
            let read = quipu_sqlite::read_backup(&place(folder).join(&held.file), &held.user_id, &mut |_| Ok(()));
            let head = read.map_err(|error| format!("the backup of {}: {error}", held.user_id))?;
            holds(head.hash.to_hex().to_string() == held.head_hash, || "the backup ends elsewhere".to_owned())?;
        }
    }
    Ok(())
}

/// Looks for erased texts in every file of the data folder and of the plain files.
fn erased(places: &Places, expected: &Expected<'_>, versions: &[(&str, Seq)]) -> Result<(), String> {
    let after = match expected.after {
        After::UpTo(after) => after,
        After::Anything => expected.before,
    };
    let gone = after.erased.iter().filter(|erased| {
        let is_acknowledged = expected.before.erased.contains(erased);
        let is_done = versions.iter().any(|(name, version)| erased.user == *name && *version >= erased.at);
        (is_acknowledged && !expected.replaced.contains(&erased.user.as_str())) || (is_done && !is_acknowledged)
    });
    let gone: Vec<&str> = gone.map(|erased| erased.text.as_str()).collect();
    if gone.is_empty() {
        return Ok(());
    }
    for path in [places.memory(), places.files()].iter().flat_map(|place| files_below(place)) {
        let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        for text in &gone {
            let is_there = bytes.windows(text.len()).any(|window| window == text.as_bytes());
            holds(!is_there, || format!("{} holds {text}, which was erased", path.display()))?;
        }
    }
    Ok(())
}

/// Judges in another thread's stead: a panic is a problem like any other.
pub(crate) fn judged(root: &Path, expected: &Expected<'_>, thorough: bool) -> Result<(), String> {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| judge(root, expected, thorough)));
    outcome.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        Err(format!("panicked: {}", text.unwrap_or_else(|| "without a text".to_owned())))
    })
}
