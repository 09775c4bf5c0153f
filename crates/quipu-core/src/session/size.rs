//! Determines how deeply an exchange is summarised, from its size and content.

use super::exchange::Exchange;
use super::{RuleBook, SessionOptions};
use crate::item::Depth;
use crate::source::Role;

/// The depth for an exchange.
///
/// Short if every message has fewer than `short_words` words, long if one has more than `long_words`. An exchange with
/// code is never short, because code contains constraints that a summary omits. Neither is one in which the user sets a
/// rule or corrects something, because such sentences are short and the base truth needs them.
pub fn depth(exchange: &Exchange<'_>, options: &SessionOptions) -> Depth {
    let words = exchange.sources.iter().map(|held| held.source.text.split_whitespace().count()).max().unwrap_or(0);
    let matters = || RuleBook::english().matters(&exchange.text_of(Role::User));
    match words {
        words if words > options.long_words => Depth::Long,
        words if words >= options.short_words || is_code_heavy(exchange) || matters() => Depth::Medium,
        _ => Depth::Short,
    }
}

/// True if the exchange contains or attaches code.
pub fn is_code_heavy(exchange: &Exchange<'_>) -> bool {
    exchange.sources.iter().any(|held| {
        let fenced = held.source.text.lines().any(|line| line.trim_start().starts_with("```"));
        fenced || held.source.artifacts.iter().any(|artifact| artifact.kind == "code")
    })
}
