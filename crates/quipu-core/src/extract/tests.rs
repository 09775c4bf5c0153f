use super::*;

const EN: &str = include_str!("../../../quipu-models/rules/en.toml");
