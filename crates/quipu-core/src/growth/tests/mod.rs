//! Tests of consolidation: tables with negative cases, and a plain model for folding.

mod cases;
mod property;
mod world;
