//! Propose: an agent asks for what only a person may do. Nothing changes before a person decides in the review.

use quipu_core::event::{Actor, Change, Draft, Origin, SourceKind};
use quipu_core::guard;
use quipu_core::id::{ItemKind, UserId};
use quipu_core::item::{DerivedChange, Review};
pub use quipu_core::reconcile::ProposedAction;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::memory::checkpoint;
use crate::memory::commit;
use crate::read::items;

/// Asks that an item be taken back, or say something else. Returns what waits once it is durable; what waits already is not asked
/// twice. `door` says where it was asked, for the log.
///
/// # Errors
/// `NotFound` without such an item; `Invalid` if several fit, and for no words; `Refused` for what was said or imported, for what
/// does not count, and for other words for anything but a fact.
pub fn propose(
    engine: &Engine,
    user: &UserId,
    name: &str,
    wanted: &ProposedAction,
    reason: &str,
    door: &str,
) -> Result<Review> {
    let open = engine.open(user)?;
    let (wanted, reason) = match wanted {
        ProposedAction::Gone => (ProposedAction::Gone, guard::redact(reason)),
        ProposedAction::Reworded(text) => {
            (ProposedAction::Reworded(guard::redact(text).text.into_owned()), guard::redact(reason))
        }
    };
    let mut asked = None;
    commit::commit(engine, &open, None, &mut |state| {
        let item = items::find_id(&state.memory, name)?;
        let id = engine.new_item_id(ItemKind::Review);
        let review = engine.desk(&state.memory).propose(item, &wanted, &reason.text, id)?;
        asked = Some(review.clone());
        if review.id != id {
            return Ok(Vec::new());
        }
        let opened = Change::Drawn(DerivedChange::ReviewOpened(Box::new(review)));
        Ok(vec![Draft {
            origin: Origin { reference: Some(door.to_owned()), ..Origin::of(SourceKind::AssistantSaid) },
            rationale: Some("an agent asked for it".to_owned()),
            ..Draft::new(Actor::Agent, SourceKind::AssistantSaid, vec![opened])
        }])
    })?;
    checkpoint::after_append(engine, &open, false, &mut |_| {});
    asked.ok_or_else(|| Error::Bug("a proposal was made of nothing".to_owned()))
}
