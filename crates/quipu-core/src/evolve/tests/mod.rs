//! Tests of patterns, names, fields and plans, as tables and as properties of random documents.

mod mining;
mod moving;
mod property;
mod world;
