//! A run that does everything with a data folder, and what it was told.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use quipu_core::id::{Seq, UserId};
use quipu_engine::backup;
use quipu_engine::erase::{EraseTarget, delete_user};
use quipu_engine::files::{self, RestoreOptions};
use quipu_engine::keys::Keys;
use quipu_engine::ports::{KeyStore, LedgerStore, PublicKey, Scope, Signer, StoredKey};
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::{EventRef, When};
use quipu_engine::{
    CoreEdit, Engine, PatchOptions, RememberOptions, Utterance, VaultOptions, edit_core, erase, fork, remember, revert,
    snapshot,
};
use quipu_faults::Recording;
use quipu_files::{FolderVault, KeyFile};
use quipu_models::RuleExtractor;
use quipu_sqlite::{SqliteKeys, SqliteStore, StoreOptions};
use quipu_testkit::{Rng, SeededEntropy, TestEngine};

/// One thing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Open,
    Remember(&'static str),
    Set(&'static str),
    Snapshot(&'static str),
    Erase(&'static str),
    Revert(&'static str),
    Fork(&'static str, &'static str),
    Delete(&'static str),
    Level(&'static str),
    Backup,
    Restore(&'static str),
    RestoreFiles(&'static str),
    NewKey,
    RevokeKey,
    Sign,
}

use Act::{
    Backup, Delete, Erase, Fork, Level, NewKey, Open, Remember, Restore, RestoreFiles, Revert, RevokeKey, Set, Sign,
    Snapshot,
};

/// Everything, in an order in which each act has something to act on.
pub(crate) const SCRIPT: [Act; 37] = [
    Open,
    Remember("ana"),
    Remember("ana"),
    NewKey,
    Set("ana"),
    Remember("ana"),
    Snapshot("ana"),
    Level("ana"),
    Erase("ana"),
    Remember("ana"),
    Level("ana"),
    Backup,
    Remember("ben"),
    Fork("ana", "cleo"),
    Remember("cleo"),
    Remember("ana"),
    Revert("ana"),
    Restore("ana"),
    Remember("ana"),
    Erase("ana"),
    Sign,
    Open,
    Remember("ana"),
    Level("ana"),
    RestoreFiles("ana"),
    Remember("ana"),
    Remember("ben"),
    Erase("ben"),
    Delete("cleo"),
    RevokeKey,
    NewKey,
    Remember("cleo"),
    Snapshot("ben"),
    Backup,
    Level("ben"),
    Delete("ben"),
    Open,
];

/// The shortest script with every act that changes a ledger, for sweeps over every call.
pub(crate) const SHORT: [Act; 16] = [
    Open,
    Remember("ana"),
    NewKey,
    Set("ana"),
    Snapshot("ana"),
    Level("ana"),
    Backup,
    Remember("ana"),
    Erase("ana"),
    Fork("ana", "cleo"),
    Restore("ana"),
    Delete("cleo"),
    RevokeKey,
    Sign,
    Open,
    Remember("ana"),
];

impl Act {
    /// The user whose ledger it replaces, creates as a whole, or removes.
    pub(crate) fn replaces(self) -> Option<&'static str> {
        match self {
            Fork(_, user) | Delete(user) | Restore(user) | RestoreFiles(user) => Some(user),
            _ => None,
        }
    }
}

/// A text that only one event holds, and that an erasure destroyed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Erased {
    pub(crate) user: String,
    /// The version with the erasure.
    pub(crate) at: Seq,
    pub(crate) text: String,
}

/// What was acknowledged.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    /// The hashes of the events of each user, in order.
    pub(crate) users: BTreeMap<String, Vec<String>>,
    pub(crate) erased: Vec<Erased>,
    /// Folders of backups, and the hash of each head in them.
    pub(crate) backups: Vec<(PathBuf, Vec<String>)>,
    pub(crate) keys: BTreeMap<String, StoredKey>,
    pub(crate) signer: Option<PublicKey>,
}

/// What was known before and after an act, and the positions in the recording between which it ran.
#[derive(Debug, Clone)]
pub(crate) struct Span {
    pub(crate) act: Act,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) before: Known,
    pub(crate) after: Known,
}

/// The places below the recorded folder.
#[derive(Debug, Clone)]
pub(crate) struct Places(pub(crate) PathBuf);

impl Places {
    pub(crate) fn memory(&self) -> PathBuf {
        self.0.join("data/quipu/memory")
    }

    pub(crate) fn files(&self) -> PathBuf {
        self.0.join("data/files")
    }

    pub(crate) fn key(&self) -> PathBuf {
        self.0.join("signing.key")
    }

    pub(crate) fn backup(&self, number: usize) -> PathBuf {
        self.0.join(format!("backups/{number}"))
    }
}

pub(crate) fn rig(places: &Places, seed: u64) -> TestEngine {
    static EXTRACTOR: OnceLock<Arc<RuleExtractor>> = OnceLock::new();
    let extractor = EXTRACTOR.get_or_init(|| Arc::new(RuleExtractor::english())).clone();
    TestEngine {
        extractor: Some(extractor),
        vault: Some(Arc::new(FolderVault::new(places.files()))),
        ..TestEngine::new(seed)
    }
}

pub(crate) fn open_store(places: &Places) -> Result<SqliteStore, String> {
    let options = StoreOptions { ballast_bytes: 8192, free_bytes_min: 0, ..StoreOptions::default() };
    SqliteStore::open(&places.memory(), options).map_err(|error| error.to_string())
}

pub(crate) fn open_keys(places: &Places) -> Result<SqliteKeys, String> {
    SqliteKeys::open(&places.memory()).map_err(|error| error.to_string())
}

pub(crate) fn signer(places: &Places, seed: u64) -> KeyFile {
    KeyFile::new(places.key(), Arc::new(SeededEntropy::new(seed)))
}

pub(crate) fn user(name: &str) -> UserId {
    UserId::parse(name).unwrap()
}

/// The hashes of a ledger's events; `None` without a ledger.
pub(crate) fn timeline(store: &SqliteStore, name: &str) -> Result<Option<Vec<String>>, String> {
    use quipu_engine::ports::StoreError;
    let mut ledger = match store.open(&user(name), false) {
        Err(StoreError::NotFound(_)) => return Ok(None),
        other => other.map_err(|error| error.to_string())?,
    };
    let head = ledger.head().map_err(|error| error.to_string())?.seq;
    let mut hashes = Vec::new();
    let read = ledger.read(1..=head, &mut |event| {
        hashes.push(event.hash.to_hex().to_string());
        true
    });
    read.map_err(|error| error.to_string())?;
    Ok(Some(hashes))
}

pub(crate) const USERS: [&str; 3] = ["ana", "ben", "cleo"];

/// The beginning of what the script says if an act has nothing to act on, because an earlier one failed.
pub(crate) const SKIPPED: &str = "skipped: ";

fn skipped(why: &str) -> String {
    format!("{SKIPPED}{why}")
}

/// The run.
pub(crate) struct World {
    pub(crate) places: Places,
    pub(crate) known: Known,
    seed: u64,
    rig: TestEngine,
    opened: Option<(Engine, SqliteStore, Arc<SqliteKeys>)>,
    dice: Rng,
    said: Vec<(String, Seq, String)>,
    /// The texts that the last backup holds: what is restored from it holds them, erased since or not.
    in_backup: Vec<String>,
    texts: usize,
}

impl World {
    pub(crate) fn new(root: &Path, seed: u64) -> Self {
        let places = Places(root.to_owned());
        let rig = rig(&places, seed);
        let dice = Rng::new(seed ^ 0xacce);
        Self {
            places,
            known: Known::default(),
            seed,
            rig,
            opened: None,
            dice,
            said: Vec::new(),
            in_backup: Vec::new(),
            texts: 0,
        }
    }

    /// Runs a script and returns what was known around each act.
    pub(crate) fn run(&mut self, script: &[Act], recording: &Recording) -> Vec<Span> {
        let mut spans = Vec::new();
        let mut from = recording.position();
        for act in script {
            let before = self.known.clone();
            self.take(*act).unwrap_or_else(|error| panic!("{act:?}, seed {}: {error}", self.seed));
            let to = recording.position();
            self.look().unwrap();
            spans.push(Span { act: *act, from, to, before, after: self.known.clone() });
            from = to;
        }
        spans
    }

    /// Ends the process, as far as a test can.
    pub(crate) fn close(&mut self) {
        self.opened = None;
    }

    /// Reads what is there now.
    pub(crate) fn look(&mut self) -> Result<(), String> {
        let Some((_, store, _)) = &self.opened else { return Ok(()) };
        let mut users = BTreeMap::new();
        for name in USERS {
            if let Some(hashes) = timeline(store, name)? {
                users.insert(name.to_owned(), hashes);
            }
        }
        self.known.users = users;
        Ok(())
    }

    fn fresh_text(&mut self) -> (String, String) {
        self.texts += 1;
        let needle = format!("needle-{:08x}-{:04}", self.seed as u32, self.texts);
        let words = ["I live in Lyon. ", "My sister is called Marta. ", "The meeting went well and some words more. "];
        let mut text = format!("{needle} ");
        for _ in 0..self.dice.below(30) {
            text.push_str(words.get(self.dice.below(words.len())).copied().unwrap_or_default());
        }
        (needle, text)
    }

    /// Does one thing. If it succeeds, what it acknowledged is known.
    pub(crate) fn take(&mut self, act: Act) -> Result<(), String> {
        let told = |error: quipu_engine::Error| error.to_string();
        if act == Open {
            self.opened = None;
            let store = open_store(&self.places)?;
            let keys = Arc::new(open_keys(&self.places)?);
            self.opened = Some((self.rig.engine(Box::new(store.clone())), store, keys));
            return Ok(());
        }
        if let Remember(name) = act {
            let (needle, text) = self.fresh_text();
            let is_durable_only = self.dice.once_in(3);
            let Some((engine, ..)) = &self.opened else { return Err(skipped("not open")) };
            let options = RememberOptions { durable_only: is_durable_only, ..RememberOptions::default() };
            let receipt = remember(engine, &user(name), &Utterance::of_user(&text), &options).map_err(told)?;
            self.said.push((name.to_owned(), receipt.seq, needle));
            return Ok(());
        }
        let Some((engine, store, keys)) = &self.opened else { return Err(skipped("not open")) };
        match act {
            Set(name) => {
                let edit = CoreEdit::Set("/uncategorized/colour".to_owned(), serde_json::json!("green"));
                edit_core(engine, &user(name), &edit, &PatchOptions::default()).map_err(told)?;
            }
            Snapshot(name) => drop(snapshot(engine, &user(name)).map_err(told)?),
            Erase(name) => {
                let last = self.said.iter().rposition(|(whose, ..)| whose == name);
                let Some(last) = last else { return Err(skipped("nothing to erase")) };
                let (_, seq, text) = self.said[last].clone();
                let receipt =
                    erase(engine, &user(name), &[EraseTarget::Event(seq)], "asked to", &mut |_| {}).map_err(told)?;
                self.said.remove(last);
                self.known.erased.push(Erased { user: name.to_owned(), at: receipt.event_seq, text });
            }
            Revert(name) => {
                let Some((_, seq, _)) = self.said.iter().rfind(|(whose, ..)| whose == name) else {
                    return Err(skipped("nothing to revert"));
                };
                let selection = Selection::Events(vec![EventRef::Seq(*seq)]);
                revert(engine, &user(name), &selection, &RevertOptions::default(), &mut |_| {}).map_err(told)?;
            }
            Fork(from, into) => {
                fork(engine, &user(from), &user(into), When::Now, &mut |_| {}).map_err(told)?;
                // A text that two ledgers hold is in the files of one when it was erased from the other.
                self.said.retain(|(whose, ..)| whose != from);
            }
            Delete(name) => {
                delete_user(engine, &user(name)).map_err(told)?;
                self.said.retain(|(whose, ..)| whose != name);
                self.known.erased.retain(|erased| erased.user != name);
            }
            Level(name) => drop(files::level(engine, &user(name), VaultOptions::default()).map_err(told)?),
            Backup => {
                let names: Vec<UserId> = store.users().map_err(|error| error.to_string())?;
                let folder = self.places.backup(self.known.backups.len());
                let manifest = backup::backup(engine, &names, &folder).map_err(told)?;
                let heads = manifest.users.into_iter().map(|held| held.head_hash).collect();
                self.known.backups.push((folder, heads));
                self.in_backup = self.said.iter().map(|(.., text)| text.clone()).collect();
            }
            Restore(name) => {
                let Some((folder, _)) = self.known.backups.last() else { return Err(skipped("no backup")) };
                backup::restore(engine, folder, Some(&[user(name)]), true).map_err(told)?;
                let in_backup = &self.in_backup;
                self.known.erased.retain(|erased| erased.user != name || !in_backup.contains(&erased.text));
                self.said.retain(|(whose, ..)| whose != name);
            }
            RestoreFiles(name) => {
                let options = RestoreOptions { dry_run: false, replace: true };
                files::restore(engine, &user(name), options, &mut |_| {}).map_err(told)?;
                self.said.retain(|(whose, ..)| whose != name);
            }
            NewKey => {
                let made = Keys::new(keys.clone(), self.rig.clock.clone(), self.rig.entropy.clone())
                    .create("a key", &[Scope::Read], Some(&user("ana")))
                    .map_err(told)?;
                let stored = keys.find(&made.shown.id).map_err(|error| error.to_string())?;
                self.known.keys.insert(made.shown.id, stored.ok_or("the new key is not there")?);
            }
            RevokeKey => {
                let Some(id) = self.known.keys.keys().next().cloned() else { return Err(skipped("no key")) };
                let at = quipu_engine::ports::Clock::now(&*self.rig.clock);
                let revoked = keys.revoke(&id, at).map_err(|error| error.to_string())?;
                self.known.keys.insert(id, revoked);
            }
            Sign => {
                let key = signer(&self.places, self.seed);
                key.sign(b"a bundle").map_err(|error| error.to_string())?;
                self.known.signer = Some(key.public_key().map_err(|error| error.to_string())?);
            }
            Open | Remember(_) => {}
        }
        Ok(())
    }
}
