//! Proposals by agents for changes only a person may make. Nothing changes before a person decides the review.

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

/// Proposes to retract an item or to change its text. Returns the open review once it is durable; an open proposal is
/// not repeated. `door` names the interface that was used, for the log.
///
/// # Errors
/// `NotFound` if there is no such item; `Invalid` if several match, or for an empty text; `Refused` for a source, for
/// an item that does not count, and for a new text of anything but a fact.
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
