//! Tests of reconciliation on a small world: statements are given as candidates, and the memory is folded from the
//! events.

mod ahead;
mod cases;
mod named;
mod people;
mod property;
mod world;
