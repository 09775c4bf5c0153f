//! Reflect: a few notes on what works for this person, with their evidence, and lines of the self-model that a pattern
//! suggests, put to the user.

use quipu_core::id::UserId;

use crate::engine::Engine;
use crate::error::Result;
use crate::grow::{self, Decide, GrowOptions, GrowReport};
use crate::upkeep;

/// What a reflection decides, in order.
pub(crate) const DECIDES: [Decide; 2] = [|desk, name| desk.reflections(name), |desk, name| desk.tenet_proposals(name)];

/// Looks back once.
///
/// Takes at most as many notes as the knobs say; what else there is waits for the next time. A note is used strongly only
/// once another day, another note or a person agrees; a line of the self-model only once the user confirmed it.
///
/// # Errors
/// `NotFound` without such a user; else as for every append.
pub fn reflect(engine: &Engine, user: &UserId, options: &GrowOptions) -> Result<GrowReport> {
    let keeper = engine.keeper(user, false)?;
    let report = grow::grow_once(engine, &keeper, "reflect", &DECIDES, options)?;
    upkeep::after_append(engine, &keeper, false, &mut |_| {});
    Ok(report)
}
