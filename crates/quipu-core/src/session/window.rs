//! The raw window: the last exchanges, verbatim.

use jiff::Timestamp;
use serde::Serialize;

use super::SessionOptions;
use super::exchange::Exchange;
use super::size;
use crate::id::ItemId;
use crate::item::Depth;
use crate::source::Role;

/// One message of the raw window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WindowTurn {
    /// The turn it belongs to.
    pub turn: u32,
    /// The source.
    pub id: ItemId,
    /// The role.
    pub role: Role,
    /// The speaker, by name or role.
    pub speaker: String,
    /// When it was said.
    pub said_at: Option<Timestamp>,
    /// The text.
    pub text: String,
}

/// The last `window_turns` exchanges, oldest first. The reply of a long exchange before them stays for
/// `long_extra_turns` more exchanges.
pub fn raw_window(exchanges: &[Exchange<'_>], options: &SessionOptions) -> Vec<WindowTurn> {
    let first = exchanges.len().saturating_sub(options.window_turns);
    let lingering = first.saturating_sub(options.long_extra_turns);
    let mut window = Vec::new();
    for (place, exchange) in exchanges.iter().enumerate().skip(lingering) {
        let left = place < first;
        let depth = || exchange.summary.map_or_else(|| size::depth(exchange, options), |told| told.depth);
        if left && depth() != Depth::Long {
            continue;
        }
        let held = exchange.sources.iter().filter(|held| !left || held.source.role == Role::Assistant);
        window.extend(held.map(|held| WindowTurn {
            turn: exchange.turn,
            id: held.source.id,
            role: held.source.role,
            speaker: held.source.speaker().to_owned(),
            said_at: held.source.said_at,
            text: held.source.text.to_string(),
        }));
    }
    window
}
