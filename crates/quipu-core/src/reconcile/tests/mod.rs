//! Reconciling, checked on a small world: what is said comes as candidates, the memory is folded from the decided events.

mod cases;
mod people;
mod property;
mod world;
