//! The ledgers of many users in one database.

mod servers;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use quipu_core::event::NO_HASH;
use quipu_core::id::{Seq, UserId};
use quipu_core::ledger::SealedEvent;
use quipu_engine::ports::{Head, LedgerStore, LedgerWatch, ServerRegistry, StoreError, StoreServer, UserLedger};
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::connection::{Access, Attempts, Database, PostgresOptions, Step, WHOLE_STORE, whose};
use crate::copy;
use crate::examine;
use crate::fault::{Failure, malformed, removed};
use crate::handle::PostgresLedger;
use crate::key_store::PostgresKeys;
use crate::migration;
use crate::rows::{column, position, stored};
use crate::watch::PostgresWatch;

/// How often an operation is retried if other processes remove and create the same ledger in the meantime.
const ROUNDS_MAX: u32 = 8;
/// The `state` of the ledger that a user's id leads to, and of one that is being built.
const LIVE: i32 = 0;
const BUILDING: i32 = 1;

/// Ledgers in a PostgreSQL database.
#[derive(Debug, Clone)]
pub struct PostgresStore {
    database: Arc<Database>,
}

impl PostgresStore {
    /// Connects to the database of a URL, `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, and creates the schema `quipu`
    /// in it if it is missing. Any number of processes on any number of machines may have it open.
    ///
    /// `sslmode` and `sslrootcert` in the URL have the meaning that they have for other clients of PostgreSQL.
    ///
    /// # Errors
    /// - `Unavailable`: the URL is wrong, the server cannot be reached or refuses the user, or lacks a resource.
    /// - `Corrupt`: the schema was written by a newer Quipu, or belongs to another program.
    pub fn open(url: &str, options: PostgresOptions) -> Result<Self, StoreError> {
        Ok(Self { database: Arc::new(Database::open(url, options, &migration::LEDGERS)?) })
    }

    /// The access keys in the same database, on the same connections.
    pub fn keys(&self) -> PostgresKeys {
        PostgresKeys::new(Arc::clone(&self.database))
    }

    /// Whether any user has a ledger.
    ///
    /// # Errors
    /// As every call that reads.
    pub fn has_users(&self) -> Result<bool, StoreError> {
        let step = Step::new(include_str!("sql/any_user.sql"), []);
        let answers = self.database.repeat(Access::Read, WHOLE_STORE, "look at", &[step])?;
        Ok(answers.iter().flatten().next().is_some())
    }

    /// Whether the database has a store of users' keys.
    ///
    /// # Errors
    /// As every call that reads.
    pub fn has_user_keys(&self) -> Result<bool, StoreError> {
        let step = Step::new(include_str!("sql/schema/has_user_keys.sql"), []);
        let answers = self.database.repeat(Access::Read, WHOLE_STORE, "look at", &[step])?;
        Ok(answers.iter().flatten().next().is_some())
    }

    /// Fence and position of a user's live ledger.
    fn live(&self, user: &UserId) -> Result<Option<(Uuid, Seq)>, StoreError> {
        let name = user.as_str();
        let step = Step::new(include_str!("sql/live.sql"), [(&name as _, Type::TEXT)]);
        let answers = self.database.repeat(Access::Read, name, "open", &[step])?;
        let found = answers.iter().flatten().next();
        found.map(|row| Ok((column(row, 0)?, position(row, 1)?))).transpose()
    }

    /// Whether a ledger is there: the live one, or one that was set aside or is being built.
    fn is_kept(&self, user: &UserId, fence: Uuid) -> Result<bool, StoreError> {
        Ok(PostgresLedger::new(&self.database, user, fence).stored_head()?.is_some())
    }

    /// Creates an empty ledger; `None` if the user has a live one and this would be another.
    fn make(&self, user: &UserId, state: i32) -> Result<Option<Uuid>, StoreError> {
        let (name, hash) = (user.as_str(), NO_HASH.as_bytes().as_slice());
        let values = [(&name as _, Type::TEXT), (&state as _, Type::INT4), (&hash as _, Type::BYTEA)];
        let steps = [lock_user(&name), Step::new(include_str!("sql/create.sql"), values)];
        let answers = self.database.repeat(Access::Write, name, "create", &steps)?;
        answers.get(1).and_then(|rows| rows.first()).map(|row| column(row, 0)).transpose()
    }

    /// Builds a ledger with `fill` out of sight and puts it in place.
    fn put(
        &self,
        user: &UserId,
        replace: bool,
        fill: &mut dyn FnMut(&mut PostgresLedger) -> Result<(), StoreError>,
    ) -> Result<Option<PathBuf>, StoreError> {
        let before = self.live(user)?.map(|(fence, _)| fence);
        if before.is_some() && !replace {
            return Err(kept(user));
        }
        let fence = self.make(user, BUILDING)?.ok_or_else(|| malformed("a fence"))?;
        let mut ledger = PostgresLedger::new(&self.database, user, fence);
        let put = fill(&mut ledger).and_then(|()| self.place(&ledger, replace, before));
        // Also removes what earlier processes left unfinished. A ledger that is in place is not touched.
        let swept = ledger.step(include_str!("sql/drop_built.sql"), []);
        let swept = ledger.repeat(Access::Write, "sweep", &[swept]);
        // The next one removes the rest.
        drop(swept);
        put
    }

    /// Puts a built ledger in place of the live one, or of none, in one transaction.
    fn place(
        &self,
        ledger: &PostgresLedger,
        replace: bool,
        before: Option<Uuid>,
    ) -> Result<Option<PathBuf>, StoreError> {
        let user = &ledger.user;
        let name = user.as_str();
        let steps = [
            lock_user(&name),
            Step::new(include_str!("sql/lock_live.sql"), [(&name as _, Type::TEXT)]),
            ledger.step(include_str!("sql/set_aside.sql"), [(&replace as _, Type::BOOL)]),
            ledger.step(include_str!("sql/place.sql"), []),
        ];
        let answers = ledger.repeat(Access::Write, "put in place", &steps)?;
        let first = |at: usize| answers.get(at).and_then(|rows| rows.first());
        if first(3).is_some() {
            let aside = first(2).map(|row| column(row, 0)).transpose()?;
            return Ok(aside.map(|fence| copy::aside_name(user, fence)));
        }
        // If the answer of an earlier attempt was lost, the ledger may be in place already.
        match self.live(user)? {
            Some((fence, _)) if fence == ledger.fence => Ok(before.map(|fence| copy::aside_name(user, fence))),
            Some(_) if !replace => Err(kept(user)),
            _ => Err(removed()),
        }
    }
}

impl LedgerStore for PostgresStore {
    fn users(&self) -> Result<Vec<UserId>, StoreError> {
        let step = Step::new(include_str!("sql/users.sql"), []);
        let answers = self.database.repeat(Access::Read, WHOLE_STORE, "list the users of", &[step])?;
        let user = |row| UserId::parse(column(row, 0)?).map_err(|_| malformed("a user id"));
        answers.iter().flatten().map(user).collect()
    }

    fn open(&self, user: &UserId, create: bool) -> Result<Box<dyn UserLedger>, StoreError> {
        for _ in 0..ROUNDS_MAX {
            if let Some((fence, _)) = self.live(user)? {
                return Ok(Box::new(PostgresLedger::new(&self.database, user, fence)));
            }
            if !create {
                return Err(no_ledger(user));
            }
            self.make(user, LIVE)?;
        }
        Err(contested(user))
    }

    fn watch(&self, user: &UserId) -> Result<Box<dyn LedgerWatch>, StoreError> {
        let (fence, _) = self.live(user)?.ok_or_else(|| no_ledger(user))?;
        Ok(Box::new(PostgresWatch::new(&self.database, user, fence)))
    }

    fn remove(&self, user: &UserId, expected: Option<Seq>) -> Result<(), StoreError> {
        let name = user.as_str();
        let at = expected.map(stored);
        let mut attempts = Attempts::default();
        let tell = |failure: Failure, attempts: &Attempts| {
            failure.after(attempts.was_lost()).tell(self.database.at(), "remove", &whose(name))
        };
        let is_kept =
            |fence, attempts: &Attempts| self.is_kept(user, fence).map_err(|error| tell(error.into(), attempts));
        let (mut fence, _) = self.live(user)?.ok_or_else(|| no_ledger(user))?;
        for _ in 0..ROUNDS_MAX {
            let steps = [
                lock_user(&name),
                Step::new(include_str!("sql/lock_heads.sql"), [(&name as _, Type::TEXT)]),
                Step::new(
                    include_str!("sql/remove.sql"),
                    [(&name as _, Type::TEXT), (&fence as _, Type::UUID), (&at as _, Type::INT8)],
                ),
            ];
            match self.database.transact(Access::Write, name, &steps) {
                Ok(answers) if answers.get(2).is_some_and(|rows| !rows.is_empty()) => return Ok(()),
                Ok(_) => match self.live(user).map_err(|error| tell(error.into(), &attempts))? {
                    // A lost attempt removed it, and perhaps another process made a new one.
                    None if attempts.was_lost() => return Ok(()),
                    Some((other, _)) if attempts.was_lost() && other != fence && !is_kept(fence, &attempts)? => {
                        return Ok(());
                    }
                    None => return Err(no_ledger(user)),
                    Some((_, head)) if expected.is_some() => {
                        return Err(StoreError::Conflict { expected: expected.unwrap_or(head), head });
                    }
                    Some((other, _)) => fence = other,
                },
                Err(failure) => match attempts.after(&failure) {
                    Some(pause) => self.database.pause(pause),
                    None => {
                        return Err(tell(failure, &attempts));
                    }
                },
            }
        }
        Err(contested(user))
    }

    /// A ledger that is set aside stays in the database, in a place that [`LedgerStore::users`] does not list. The returned
    /// path is no file: it is a name that [`LedgerStore::restore`] accepts.
    fn build(
        &self,
        user: &UserId,
        replace: bool,
        fill: &mut dyn FnMut(&mut dyn UserLedger) -> Result<(), StoreError>,
    ) -> Result<Option<PathBuf>, StoreError> {
        self.put(user, replace, &mut |ledger| fill(ledger))
    }

    /// Puts a backup in place, which may come from a folder of `quipu-sqlite`, or a ledger of this database that was set
    /// aside, given by its name.
    fn restore(&self, user: &UserId, from: &Path, replace: bool) -> Result<Option<PathBuf>, StoreError> {
        let Some(source) = copy::aside_fence(from, user) else {
            return self.put(user, replace, &mut |ledger| copy::take_in(from, user, ledger));
        };
        self.put(user, replace, &mut |ledger| {
            let values =
                [(&user.as_str() as _, Type::TEXT), (&source as _, Type::UUID), (&ledger.fence as _, Type::UUID)];
            let step = Step::new(include_str!("sql/copy_ledger.sql"), values);
            let answers = ledger.repeat(Access::Write, "copy", &[step])?;
            let is_copied = answers.iter().flatten().next().is_some();
            // The answer of an earlier attempt may have been lost.
            if is_copied || ledger.live_head()?.seq > 0 {
                return Ok(());
            }
            Err(StoreError::NotFound(format!("there is no ledger {}, or it is empty", from.display())))
        })
    }

    fn read_copy(
        &self,
        user: &UserId,
        from: &Path,
        each: &mut dyn FnMut(SealedEvent) -> Result<(), StoreError>,
    ) -> Result<Head, StoreError> {
        match copy::aside_fence(from, user) {
            Some(fence) => copy::read_aside(&PostgresLedger::new(&self.database, user, fence), from, each),
            None => quipu_sqlite::read_backup(from, user, each),
        }
    }

    fn cleaned(&self) -> Vec<&'static str> {
        vec!["ledger", "snapshots", "recall index", "vectors", "copies set aside"]
    }

    fn examine(&self) -> Vec<Result<String, String>> {
        let mut lines = examine::store(&self.database);
        lines.extend(servers::lines(self));
        lines
    }

    fn ready(&self) -> Result<Option<StoreServer>, StoreError> {
        servers::ready(&self.database).map(Some)
    }

    fn registry(&self) -> Option<&dyn ServerRegistry> {
        Some(self)
    }
}

/// The first statement of a transaction that makes, places or removes ledgers of a user.
fn lock_user<'a>(name: &'a &'a str) -> Step<'a> {
    Step::new(include_str!("sql/lock_user.sql"), [(name as _, Type::TEXT)])
}

fn kept(user: &UserId) -> StoreError {
    StoreError::Exists(format!(
        "{user} has a ledger, and it is kept. To put another in its place, ask for that (`--replace` on the command line): the ledger that is there is set aside"
    ))
}

fn no_ledger(user: &UserId) -> StoreError {
    StoreError::NotFound(format!("{user} has no ledger here"))
}

fn contested(user: &UserId) -> StoreError {
    StoreError::Unavailable(format!(
        "the ledger of {user} is made and removed again and again by others. Nothing was changed. Try again"
    ))
}
