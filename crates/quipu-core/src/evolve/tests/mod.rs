//! Patterns, names, fields, plans: as tables, and as a property of random documents.

mod mining;
mod moving;
mod property;
mod world;
