//! Starts a PostgreSQL server of the machine for measurements, with files in the folder for temporary ones, and prints the URLs of
//! empty databases. Everything is removed when its input ends (Ctrl-D), or it is ended.
//!
//! ```text
//! TMPDIR=/var/tmp cargo run -p quipu-testkit --example postgres
//! ```

use quipu_testkit::postgres_server::{bare_database, server, url};

/// One for each measurement.
const DATABASES: usize = 4;

fn main() -> std::io::Result<()> {
    for _ in 0..DATABASES {
        println!("{}", url(server().port, &bare_database()));
    }
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    Ok(())
}
