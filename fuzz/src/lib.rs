//! The bodies that are in the tests of other crates than `quipu-testkit`.

#[cfg(feature = "documents")]
#[path = "../../crates/quipu-documents/tests/fuzz_smoke/bodies.rs"]
pub mod documents;
#[cfg(feature = "server")]
#[path = "../../crates/quipu-server/tests/doors/fuzzing/bodies.rs"]
pub mod server;
