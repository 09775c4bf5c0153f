//! One PostgreSQL server for all tests of a program, and databases in it. It is the machine's (Debian package `postgresql`)
//! and ends with the program.

#![expect(clippy::unwrap_used, reason = "a test stops at the first thing it did not expect")]

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tempfile::TempDir;
use tokio_postgres::{Client, NoTls};

/// The role of the store, which is no superuser, so row-level security applies to it.
pub const ROLE: &str = "quipu";

/// A running server.
#[derive(Debug)]
pub struct PostgresServer {
    /// Its port on 127.0.0.1.
    pub port: u16,
    /// The certificate of the authority that signed the server's, which is for `localhost`.
    pub authority: PathBuf,
}

/// The server, started at the first call.
pub fn server() -> &'static PostgresServer {
    static SERVER: OnceLock<PostgresServer> = OnceLock::new();
    SERVER.get_or_init(|| {
        let server = start();
        let mut admin = Admin::connect(&server, "postgres");
        admin.run(&format!("CREATE ROLE {ROLE} LOGIN PASSWORD 'pass-word'"));
        server
    })
}

/// The URL of a database. Without TLS, so that a proxy can read the messages.
pub fn url(port: u16, database: &str) -> String {
    format!("postgres://{ROLE}:pass-word@127.0.0.1:{port}/{database}?sslmode=disable")
}

/// A new database without tables.
pub fn bare_database() -> String {
    create(&format!("OWNER {ROLE}"))
}

/// A new database with the tables of another one, which nobody is connected to.
pub fn copied_database(template: &str) -> String {
    create(&format!("OWNER {ROLE} TEMPLATE {template}"))
}

fn create(how: &str) -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let server = server();
    let name = format!("test_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let mut admin = Admin::connect(server, "postgres");
    // The connection that made the template may take a moment to end.
    for attempt in 0.. {
        match admin.try_run(&format!("CREATE DATABASE {name} {how}")) {
            Ok(()) => break,
            Err(error) if attempt < 50 && error.to_string().contains("being accessed") => {
                std::thread::sleep(Duration::from_millis(100));
            }
            Err(error) => panic!("{error:?}"),
        }
    }
    name
}

/// A plain connection, as the superuser or as the store's role.
#[derive(Debug)]
pub struct Admin {
    runtime: tokio::runtime::Runtime,
    client: Client,
}

impl Admin {
    /// Connects as the superuser.
    pub fn connect(server: &PostgresServer, database: &str) -> Self {
        Self::open(&format!("postgres://admin@127.0.0.1:{}/{database}", server.port))
    }

    /// Connects to a URL.
    pub fn open(url: &str) -> Self {
        Self::try_open(url).unwrap()
    }

    fn try_open(url: &str) -> Result<Self, tokio_postgres::Error> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (client, connection) = runtime.block_on(tokio_postgres::connect(url, NoTls))?;
        runtime.spawn(connection);
        Ok(Self { runtime, client })
    }

    /// Runs statements without values.
    pub fn run(&mut self, sql: &str) {
        self.try_run(sql).unwrap();
    }

    /// Runs statements without values.
    ///
    /// # Errors
    /// The error of the server.
    pub fn try_run(&mut self, sql: &str) -> Result<(), tokio_postgres::Error> {
        self.runtime.block_on(self.client.batch_execute(sql))
    }

    /// The rows of statements without values, as texts.
    pub fn rows(&mut self, sql: &str) -> Vec<Vec<String>> {
        let messages = self.runtime.block_on(self.client.simple_query(sql)).unwrap();
        let rows = messages.iter().filter_map(|message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => {
                Some((0..row.len()).map(|at| row.get(at).unwrap_or("null").to_owned()).collect())
            }
            _ => None,
        });
        rows.collect()
    }
}

/// A folder for a server, owned by a user that may run one, and removed with its process.
pub fn server_folder() -> PathBuf {
    let folder = TempDir::with_prefix("quipu-postgres-").unwrap().keep();
    if is_root() {
        let given = Command::new("chown").arg(USER).arg(&folder).status().unwrap();
        assert!(given.success(), "cannot give {} to the user {USER}", folder.display());
    }
    folder
}

/// The user that Debian's package makes.
const USER: &str = "postgres";

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    id.stdout.trim_ascii() == b"0"
}

/// A command that runs as a user who is not root: servers refuse to run as root.
pub fn command(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", USER, "--regid", USER, "--clear-groups", "--"]).arg(program);
    command
}

/// Starts a program that ends, and loses its folder, when this process ends, however it ends.
pub fn spawn_bound(program: &Path, arguments: &[&str], folder: &Path, end: &str) -> BoundProcess {
    let script = format!(
        "\"$@\" & server=$!; trap 'kill -{end} $server; wait $server; rm -rf '\"'\"'{0}'\"'\"'' EXIT; cat >/dev/null",
        folder.display()
    );
    let log = fs::File::create(folder.join("log")).unwrap();
    let mut child = command(Path::new("/bin/sh"))
        .args(["-c", &script, "sh"])
        .arg(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap();
    // The shell waits for the end of its input, which comes with the end of this process.
    std::mem::forget(child.stdin.take());
    BoundProcess(child)
}

/// A program that ends with this process.
#[derive(Debug)]
pub struct BoundProcess(Child);

impl BoundProcess {
    /// How it ended, if it did.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().unwrap()
    }
}

/// A port on which nothing listens at this moment.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn start() -> PostgresServer {
    let folder = server_folder();
    let data = folder.join("data");
    let made = command(&find("initdb"))
        .args(["--auth=trust", "--username=admin", "--encoding=UTF8", "--locale=C", "--no-sync", "--pgdata"])
        .arg(&data)
        .output()
        .unwrap();
    assert!(made.status.success(), "initdb failed: {}", String::from_utf8_lossy(&made.stderr));
    // Passwords are asked for on one database only, so that a test can give a wrong one.
    let mut rules = fs::OpenOptions::new().append(true).open(data.join("pg_hba.conf")).unwrap();
    let text = fs::read_to_string(data.join("pg_hba.conf")).unwrap();
    writeln!(rules).unwrap();
    fs::write(data.join("pg_hba.conf"), format!("host needs_password all 127.0.0.1/32 scram-sha-256\n{text}")).unwrap();
    let authority = certify(&folder, &data);
    let port = free_port();
    let (port_text, data_text, sockets) =
        (port.to_string(), data.display().to_string(), format!("unix_socket_directories={}", folder.display()));
    let mut arguments = vec!["-D", &data_text, "-p", &port_text, "-c", &sockets];
    for setting in [
        "listen_addresses=127.0.0.1",
        "fsync=on",
        "shared_buffers=64MB",
        "max_connections=200",
        "max_wal_size=256MB",
        "log_min_messages=fatal",
        "ssl=on",
    ] {
        arguments.extend(["-c", setting]);
    }
    let mut child = spawn_bound(&find("postgres"), &arguments, &folder, "QUIT");
    for _ in 0..600 {
        if Admin::try_open(&format!("postgres://admin@127.0.0.1:{port}/postgres")).is_ok() {
            return PostgresServer { port, authority };
        }
        if let Some(ended) = child.ended() {
            let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
            panic!("the server ended with {ended}: {log}");
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("the server did not start: {}", fs::read_to_string(folder.join("log")).unwrap_or_default());
}

/// Makes an authority, and a certificate of the server for `localhost`. Returns the path of the authority's certificate.
fn certify(folder: &Path, data: &Path) -> PathBuf {
    let authority = folder.join("authority.crt");
    let script = "set -e; cd \"$1\"; new='-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'; \
        openssl req -x509 $new -keyout authority.key -out authority.crt -days 30 -subj /CN=authority; \
        openssl req $new -keyout \"$2/server.key\" -out server.csr -subj /CN=localhost; \
        echo subjectAltName=DNS:localhost >names; \
        openssl x509 -req -in server.csr -CA authority.crt -CAkey authority.key -CAcreateserial -days 30 -extfile names \
            -out \"$2/server.crt\"; chmod 600 \"$2/server.key\"; chmod 755 .";
    let made = command(Path::new("/bin/sh")).args(["-c", script, "sh"]).arg(folder).arg(data).output().unwrap();
    assert!(made.status.success(), "openssl (Debian package openssl): {}", String::from_utf8_lossy(&made.stderr));
    authority
}

/// A program of a server, from Debian's folders or the search path.
pub fn find(name: &str) -> PathBuf {
    let mut folders: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
        .collect();
    folders.sort();
    folders.reverse();
    folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    folders.push(PathBuf::from("/usr/sbin"));
    let found = folders.into_iter().map(|folder| folder.join(name)).find(|path| path.is_file());
    found.unwrap_or_else(|| panic!("there is no {name}: install the Debian packages postgresql, pgbouncer and haproxy"))
}
