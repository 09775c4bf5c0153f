//! The connections of a store, and transactions on them.
//!
//! A transaction is sent as a whole, with its beginning, its settings and its end, before the first answer arrives. Nothing
//! outlives it on the server: statements have no names, and settings end with the transaction. So a pool between this
//! program and the server may give every transaction another connection. With `prepared_statements=on` in the URL, statements
//! are prepared once for each connection, so that the server need not plan them again.
//!
//! The beginning and the settings are one message, and so is a whole transaction that reads one row by names. Statements of
//! such messages contain their values, which are names and numbers. Payloads are always sent beside a statement, never in
//! it, since servers log statements.

mod statement;

use std::cell::RefCell;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quipu_engine::ports::StoreError;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_postgres::{Error, Row, SimpleQueryMessage, SimpleQueryRow as TextRow};

use crate::address::Address;
use crate::fault::Failure;
use crate::migration::{self, Schema};
use crate::tls::Connector;
use crate::wait::{Worker, in_order};

pub(crate) use statement::{Answers, Step, Value};
use statement::{Connection, Sent, control, filled_in, query};

/// How long a transaction may be idle on the server, where it holds locks, before the server ends it. Reached only if this
/// process or the network stops in the middle of one.
const IDLE_WAIT: Duration = Duration::from_secs(20);
/// How often the time of a TCP connection, which comes from the URL, a new connection may take with all that follows:
/// encryption, authentication, and a look at the version of the schema.
const OPEN_FACTOR: u32 = 4;
/// How long another process may take to create or upgrade the schema, or this one.
const CLIMB_WAIT: Duration = Duration::from_secs(120);
/// Pauses before a transaction is repeated after its connection was lost.
const PAUSES_MS: [u64; 4] = [0, 100, 400, 1500];
/// The name that stands for the whole store in place of a user. No user id can have it.
pub(crate) const WHOLE_STORE: &str = "*";

/// Options of [`PostgresStore::open`](crate::PostgresStore::open).
#[derive(Debug, Clone)]
pub struct PostgresOptions {
    /// Maximum number of connections to the server for reading and writing. Default 16. Watches have up to 4 more.
    pub connections_max: usize,
    /// How long a statement may run before the server stops it. Default 30 s.
    pub statement_wait: Duration,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self { connections_max: 16, statement_wait: Duration::from_secs(30) }
    }
}

/// Connections kept for one purpose.
#[derive(Debug)]
struct Lane {
    idle: Mutex<Vec<Connection>>,
    permits: Semaphore,
}

impl Lane {
    fn new(connections_max: usize) -> Self {
        Self { idle: Mutex::default(), permits: Semaphore::new(connections_max.max(1)) }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a transaction is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Reads, all statements at the same state of the database.
    Read,
    /// Reads, on a connection that never waits for other work.
    Watch,
    /// Reads and writes; each statement sees what was committed before it.
    Write,
}

/// One database with Quipu's schema.
#[derive(Debug)]
pub(crate) struct Database {
    address: Address,
    connector: Connector,
    options: PostgresOptions,
    work: Lane,
    watches: Lane,
    worker: Worker,
    schema: &'static Schema,
}

impl Database {
    /// Connects to a database, and creates or upgrades a schema.
    pub(crate) fn open(url: &str, options: PostgresOptions, schema: &'static Schema) -> Result<Self, StoreError> {
        let address = Address::parse(url)?;
        let database = Self {
            connector: Connector::new(&address)?,
            work: Lane::new(options.connections_max),
            watches: Lane::new(4),
            worker: Worker::start()?,
            address,
            options,
            schema,
        };
        let mut attempts = Attempts::default();
        loop {
            let opened = database.worker.wait(async {
                let client = database.connect().await?;
                let climbed = tokio::time::timeout(CLIMB_WAIT, migration::climb(&client, database.at(), schema)).await;
                climbed.unwrap_or_else(|_| Err(database.silent()))?;
                database.work.idle().push(client);
                Ok(())
            });
            match opened {
                Ok(()) => return Ok(database),
                Err(failure) => match attempts.after(&failure) {
                    Some(pause) => database.pause(pause),
                    None => return Err(failure.tell(database.at(), "open", "the store")),
                },
            }
        }
    }

    /// Host, port, database and user, for messages.
    pub(crate) fn at(&self) -> &str {
        &self.address.shown
    }

    pub(crate) fn pause(&self, pause: Duration) {
        std::thread::sleep(pause);
    }

    fn lane(&self, access: Access) -> &Lane {
        if access == Access::Watch { &self.watches } else { &self.work }
    }

    /// Opens a connection, which the worker drives until the client is dropped.
    async fn connect(&self) -> Result<Connection, Failure> {
        let opening = self.address.config.connect(self.connector.clone());
        let opened = tokio::time::timeout(self.open_wait(), opening).await.map_err(|_| self.silent())?;
        let (client, connection) = opened.map_err(|error| Failure::of_connecting(self.at(), &error))?;
        self.worker.handle().spawn(async move {
            // The statements in progress report the error.
            let _ = connection.await;
        });
        Ok(Connection { client, prepared: self.address.prepares.then(RefCell::default) })
    }

    /// How long opening a connection may take, with all hosts of the URL.
    fn open_wait(&self) -> Duration {
        let config = &self.address.config;
        let hosts = config.get_hosts().len().max(config.get_hostaddrs().len()).max(1);
        let connect_wait = config.get_connect_timeout().copied().unwrap_or_default();
        connect_wait.saturating_mul(OPEN_FACTOR.saturating_mul(u32::try_from(hosts).unwrap_or(1)))
    }

    /// How long one call may wait for the server. The server itself stops a statement earlier.
    fn answer_wait(&self) -> Duration {
        self.options.statement_wait * 4 + Duration::from_secs(30)
    }

    /// The failure to open a connection to a server that accepts it and then says nothing.
    fn silent(&self) -> Failure {
        Failure::Unreachable {
            is_passing: true,
            reason: format!("cannot connect to {}: the server does not answer", self.at()),
            advice: "Check the server and the network, then try again",
        }
    }

    /// A connection from the pool, or a new one, whose database has the schema of this version.
    async fn take(&self, access: Access) -> Result<Pooled<'_>, Failure> {
        let lane = self.lane(access);
        let permit = tokio::time::timeout(self.options.statement_wait, lane.permits.acquire()).await;
        let Ok(Ok(permit)) = permit else {
            return Err(Failure::Ours(StoreError::Unavailable(format!(
                "all {} connections to {} are in use. Nothing was changed. Try again",
                self.options.connections_max,
                self.at()
            ))));
        };
        let kept = {
            let mut idle = lane.idle();
            idle.retain(|client| !client.is_closed());
            idle.pop()
        };
        let client = match kept {
            Some(client) => client,
            None => {
                let client = self.connect().await?;
                let checking = migration::check(&client, self.at(), self.schema);
                let checked = tokio::time::timeout(self.open_wait(), checking).await;
                checked.unwrap_or_else(|_| Err(self.silent()))?;
                client
            }
        };
        Ok(Pooled { client: Some(client), lane, _permit: permit })
    }

    /// Runs statements in one transaction of a user, once.
    pub(crate) fn transact(&self, access: Access, user: &str, steps: &[Step<'_>]) -> Result<Answers, Failure> {
        self.on_connection(access, async |client| self.run(client, access, user, steps, true).await)
    }

    /// Runs something on a connection that is not used otherwise meanwhile.
    fn on_connection<T>(
        &self,
        access: Access,
        run: impl AsyncFnOnce(&Connection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.worker.wait(async {
            let mut pooled = self.take(access).await?;
            let ran = answered(self.answer_wait(), run(pooled.client()?)).await;
            match &ran {
                // The connections that were opened before it are likely lost as well.
                Err(failure) if failure.is_lost() => pooled.lane.idle().clear(),
                // The next attempt prepares its statements on another connection.
                Err(failure) if failure.is_about_prepared() => {}
                _ => pooled.give_back(),
            }
            ran
        })
    }

    /// The first row of a statement that reads one table by names, in one message: the server runs the statements of a
    /// message in one transaction.
    fn row_once(&self, access: Access, user: &str, sql: &str, names: &[&str]) -> Result<Option<TextRow>, Failure> {
        let message = [self.settings(user), filled_in(sql, names)].join(";\n");
        self.on_connection(access, async |client| {
            let answers = client.simple_query(&message).await.map_err(Failure::of_statement)?;
            // The first row is that of the settings.
            let mut rows = answers.into_iter().filter_map(|answer| match answer {
                SimpleQueryMessage::Row(row) => Some(row),
                _ => None,
            });
            Ok(rows.nth(1))
        })
    }

    /// As [`Self::row_once`], until an answer arrives.
    pub(crate) fn row(
        &self,
        access: Access,
        user: &str,
        doing: &str,
        (sql, names): (&str, &[&str]),
    ) -> Result<Option<TextRow>, StoreError> {
        self.until_answered(access, user, doing, &mut || self.row_once(access, user, sql, names))
    }

    /// The statement that names the user of a transaction and limits its time.
    fn settings(&self, user: &str) -> String {
        let (statement_wait, idle_wait) = (milliseconds(self.options.statement_wait), milliseconds(IDLE_WAIT));
        filled_in(include_str!("sql/transaction/settings.sql"), &[user, &statement_wait, &idle_wait])
    }

    async fn run(
        &self,
        client: &Connection,
        access: Access,
        user: &str,
        steps: &[Step<'_>],
        is_whole: bool,
    ) -> Result<Answers, Failure> {
        let begin = match access {
            Access::Read | Access::Watch => include_str!("sql/transaction/begin_read.sql"),
            Access::Write => include_str!("sql/transaction/begin_write.sql"),
        };
        let begin = [begin.trim_end(), &self.settings(user)].join(";\n");
        client.prepare(steps).await?;
        let mut sent: Vec<Sent<'_>> = vec![control(client, &begin)];
        sent.extend(steps.iter().map(|step| query(client, step)));
        if is_whole {
            // After an error of a statement this rolls back.
            sent.push(control(client, include_str!("sql/transaction/commit.sql")));
        }
        let mut answers = Vec::new();
        for answer in in_order(sent).await {
            answers.push(answer.map_err(Failure::of_statement)?);
        }
        answers.remove(0);
        answers.truncate(steps.len());
        Ok(answers)
    }

    /// Runs a transaction whose repetition changes nothing that the first run did, until an answer arrives.
    pub(crate) fn repeat(
        &self,
        access: Access,
        user: &str,
        doing: &str,
        steps: &[Step<'_>],
    ) -> Result<Answers, StoreError> {
        self.until_answered(access, user, doing, &mut || self.transact(access, user, steps))
    }

    fn until_answered<T>(
        &self,
        access: Access,
        user: &str,
        doing: &str,
        run: &mut dyn FnMut() -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let mut attempts = Attempts::default();
        loop {
            match run() {
                Ok(answers) => return Ok(answers),
                Err(failure) => {
                    let Some(pause) = attempts.after(&failure) else {
                        let is_unknown = access == Access::Write && attempts.was_lost();
                        return Err(failure.after(is_unknown).tell(self.at(), doing, &whose(user)));
                    };
                    self.pause(pause);
                }
            }
        }
    }

    /// Starts a transaction that reads in several round trips, all at the same state of the database.
    pub(crate) fn view<'d>(&'d self, user: &str) -> Result<View<'d>, Failure> {
        self.worker.wait(async {
            let pooled = self.take(Access::Read).await?;
            answered(self.answer_wait(), self.run(pooled.client()?, Access::Read, user, &[], false)).await?;
            Ok(View { database: self, pooled })
        })
    }

    /// Runs a statement that needs no user and no transaction.
    pub(crate) fn ask(&self, sql: &'static str) -> Result<Vec<Row>, Failure> {
        self.worker.wait(async {
            let mut pooled = self.take(Access::Read).await?;
            let step = Step::new(sql, []);
            let asked = async { query(pooled.client()?, &step).await.map_err(Failure::of_statement) };
            let rows = answered(self.answer_wait(), asked).await?;
            pooled.give_back();
            Ok(rows)
        })
    }
}

/// The attempts at one operation.
#[derive(Debug, Default)]
pub(crate) struct Attempts {
    made: usize,
    was_lost: bool,
}

impl Attempts {
    /// The pause before the next attempt, or `None` if there should be none: the failure is final, or there were enough.
    pub(crate) fn after(&mut self, failure: &Failure) -> Option<Duration> {
        self.was_lost |= failure.is_lost();
        // A server that was never reached is reported at once. One that was lost may be about to come back.
        if !(failure.is_lost() || failure.is_outpaced() || (self.was_lost && failure.is_unreachable())) {
            return None;
        }
        let pause = PAUSES_MS.get(self.made).copied()?;
        self.made += 1;
        Some(Duration::from_millis(pause))
    }

    /// Whether an answer was lost, so that the outcome of an attempt is unknown.
    pub(crate) fn was_lost(&self) -> bool {
        self.was_lost
    }
}

/// A transaction that reads. It is given up when it is dropped.
pub(crate) struct View<'d> {
    database: &'d Database,
    pooled: Pooled<'d>,
}

impl View<'_> {
    /// Runs statements.
    pub(crate) fn read(&mut self, steps: &[Step<'_>]) -> Result<Answers, Failure> {
        let client = self.pooled.client()?;
        self.database.worker.wait(async {
            answered(self.database.answer_wait(), async {
                client.prepare(steps).await?;
                let sent = steps.iter().map(|step| query(client, step)).collect();
                let answers: Result<Answers, Error> = in_order(sent).await.into_iter().collect();
                answers.map_err(Failure::of_statement)
            })
            .await
        })
    }
}

/// A connection taken from the pool. It is closed when it is dropped, unless it was given back.
struct Pooled<'d> {
    client: Option<Connection>,
    lane: &'d Lane,
    _permit: SemaphorePermit<'d>,
}

impl Pooled<'_> {
    fn client(&self) -> Result<&Connection, Failure> {
        self.client.as_ref().ok_or_else(|| Failure::Lost("the connection was given back".to_owned()))
    }

    fn give_back(&mut self) {
        if let Some(client) = self.client.take().filter(|client| !client.is_closed()) {
            self.lane.idle().push(client);
        }
    }
}

/// Waits for answers of the server for a limited time.
async fn answered<T>(limit: Duration, asked: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let answer = tokio::time::timeout(limit, asked).await;
    answer.unwrap_or_else(|_| Err(Failure::Lost("the server does not answer".to_owned())))
}

fn milliseconds(duration: Duration) -> String {
    duration.as_millis().to_string()
}

/// The subject of a message about a user.
pub(crate) fn whose(user: &str) -> String {
    if user == WHOLE_STORE { "the store".to_owned() } else { format!("the ledger of {user}") }
}
