//! What a memory makes of itself: tables with their negatives, and a plain model for folding.

mod cases;
mod property;
mod world;
