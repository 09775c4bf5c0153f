mod deciding;
mod folding;
mod reading;
mod world;
