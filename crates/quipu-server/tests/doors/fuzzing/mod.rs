//! Runs the bodies of the server's fuzz targets on random bytes and on mutations of valid requests.

#[expect(unreachable_pub, reason = "it is also a public module of the fuzz targets")]
mod bodies;

use quipu_testkit::fuzzing::{feed, seeds};

#[test]
fn requests() {
    feed("http", &seeds("fuzz/seeds/http"), 200, bodies::http);
}

#[test]
fn bytes_of_a_connection() {
    feed("http_bytes", &seeds("fuzz/seeds/http_bytes"), 100, bodies::http_bytes);
}

#[test]
fn messages_of_mcp() {
    feed("mcp", &seeds("fuzz/seeds/mcp"), 100, bodies::mcp);
}
