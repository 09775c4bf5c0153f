//! Reflection: derives a few notes on what works for the user, with evidence, and proposes tenets for confirmation.
//! Notes come from rules and, if configured, from a language model.

use std::collections::BTreeSet;
use std::time::Duration;

use quipu_core::Memory;
use quipu_core::event::Trust;
use quipu_core::growth::GrowthContext;
use quipu_core::id::{ItemId, ItemKind, Seq, UserId};
use quipu_core::limit;
use quipu_core::memory::HeldSource;

use crate::engine::Engine;
use crate::error::Result;
use crate::growth::consolidate::{self, ConsolidateOptions, ConsolidateReport, Decide};
use crate::lock::before_slow_call;
use crate::memory::OpenMemory;
use crate::memory::checkpoint;
use crate::memory::commit;
use crate::memory::cursor::{Cursor, Position};
use crate::memory::lease::{self, Lease};
use crate::ports::{Looked, Projection, ReflectError, ReflectionInput, Reflector};

/// The decisions of a reflection, in order.
pub(crate) const DECIDES: [Decide; 2] = [|desk, name| desk.reflections(name), |desk, name| desk.tenet_proposals(name)];

/// Name of the position among a ledger's projections.
const REFLECTED: &str = "reflected";
/// Name of the lease under which a model reflects.
const REFLECT: &str = "reflect";

/// The last event a model has reflected on. Without a position it starts with the last few messages.
pub(crate) type ReflectionCursorState = Cursor<ReflectionCursor>;

/// The last event a model has reflected on.
#[derive(Clone, Copy, Default)]
pub(crate) struct ReflectionCursor(Option<Seq>);

impl Position for ReflectionCursor {
    const NAME: &'static str = REFLECTED;

    fn load(saved: Option<Projection>, _: Seq) -> Self {
        Self(saved.map(|saved| saved.seq))
    }

    fn stored(&self, _: Seq) -> Option<Projection> {
        self.0.map(|seq| Projection { seq, tag: "1".to_owned(), bytes: Vec::new() })
    }
}

impl Cursor<ReflectionCursor> {
    /// Turns recorded since, oldest first.
    fn since<'a>(&self, memory: &'a Memory) -> impl Iterator<Item = &'a HeldSource> {
        let position = self.get().0.unwrap_or(0);
        let first = memory.sources().partition_point(|held| held.seq <= position);
        memory.sources().iter().skip(first).filter(|held| held.source.kind() == ItemKind::Turn)
    }
}

/// Returns true if a model is configured and enough was said since it last reflected.
pub(crate) fn is_due(engine: &Engine, open: &OpenMemory, memory: &Memory) -> bool {
    let own = || open.reflected.since(memory).filter(|held| held.trust == Trust::User);
    engine.optional.reflector.is_some()
        && own().take(engine.growth.reflect_turns).count() >= engine.growth.reflect_turns
}

/// Reflects once.
///
/// Records at most as many notes as the options allow and leaves the rest for the next run. A note is used strongly
/// only once another day, another note or a person confirms it, a tenet only once the user does. The model is called if
/// one is configured and something was said since the last call. Its proposals are checked; a failure of the model is
/// not an error but part of the report.
///
/// # Errors
/// `NotFound` if there is no such user; otherwise as for every append.
pub fn reflect(engine: &Engine, user: &UserId, options: &ConsolidateOptions) -> Result<ConsolidateReport> {
    let open = engine.open(user)?;
    let mut report = consolidate::grow_once(engine, &open, "reflect", &DECIDES, options)?;
    if let Some(reflector) = engine.optional.reflector.clone().filter(|_| !options.dry_run) {
        let _order = open.turns.reflect.lock();
        match lease::take(engine, &open, REFLECT)? {
            Some(lease) => ask(engine, &open, &lease, reflector.as_ref(), options, &mut report)?,
            None => report.fault = Some(lease::HELD_ELSEWHERE.to_owned()),
        }
    }
    checkpoint::after_append(engine, &open, false, &mut |_| {});
    Ok(report)
}

/// Calls the model, and decides on its proposals with the memory as it is after the call.
fn ask(
    engine: &Engine,
    open: &OpenMemory,
    lease: &Lease<'_>,
    reflector: &dyn Reflector,
    options: &ConsolidateOptions,
    report: &mut ConsolidateReport,
) -> Result<()> {
    {
        // Another process may have reflected since.
        let mut writer = open.writer()?;
        let head = writer.ledger.head()?.seq;
        open.reflected.refresh(writer.ledger.as_mut(), head)?;
    }
    let (looked, head) = {
        let state = open.read();
        (look(engine, open, &state.memory), state.memory.seq())
    };
    if looked.said.is_empty() || report.done.len() >= options.events_max {
        return Ok(());
    }
    before_slow_call("the model that reflects");
    let proposed = match reflector.reflect(&looked) {
        Ok(proposed) => proposed,
        Err(ReflectError::Unavailable(fault)) => {
            report.fault = Some(fault);
            return Ok(());
        }
        Err(ReflectError::Malformed(fault)) => {
            // The same call would fail, and cost, again and again.
            report.fault = Some(fault);
            return open.reflected.save_under(lease, open, ReflectionCursor(Some(head)));
        }
    };
    if !lease.prolong()? {
        // Another process has reflected on the same messages meanwhile.
        report.fault = Some(lease::HELD_ELSEWHERE.to_owned());
        return Ok(());
    }
    let shown: BTreeSet<ItemId> = looked.said.iter().map(|said| said.id).collect();
    let taken_back = consolidate::taken_back(open)?;
    let reference = report.reference.clone().unwrap_or_else(|| format!("reflect:{head}"));
    let room = options.events_max - report.done.len();
    let mut taken = Vec::new();
    let receipts = commit::commit(engine, open, None, &mut |state| {
        let desk = GrowthContext { base: engine.desk(&state.memory), knobs: &engine.growth, taken_back: &taken_back };
        let (found, refused) = desk.judged(&proposed, &shown, &mut |kind| engine.new_item_id(kind));
        report.refused = refused;
        taken = desk.fresh(found);
        taken.truncate(room);
        for one in &mut taken {
            one.because = format!("{} ({})", one.because, reflector.id());
        }
        Ok(taken.iter().map(|one| consolidate::draft(one, &reference)).collect())
    })?;
    if !receipts.is_empty() {
        report.reference = Some(reference);
    }
    report
        .done
        .extend(taken.into_iter().zip(receipts).map(|(one, receipt)| consolidate::grown(one, Some(receipt.seq))));
    open.reflected.save_under(lease, open, ReflectionCursor(Some(head)))
}

fn look(engine: &Engine, open: &OpenMemory, memory: &Memory) -> Looked {
    let said: Vec<&HeldSource> = open.reflected.since(memory).collect();
    let last = said.len().saturating_sub(limit::REFLECTED_SOURCES_MAX);
    let shown = |held: &&HeldSource| ReflectionInput {
        id: held.source.id,
        speaker: held.source.speaker().to_owned(),
        said_at: held.source.said_at,
        text: held.source.text.chars().take(limit::REFLECTED_CHARS_MAX).collect(),
    };
    let items = memory.items();
    let own = said.iter().any(|held| held.trust == Trust::User);
    Looked {
        whose: memory.user().clone(),
        said: if own { said[last..].iter().map(shown).collect() } else { Vec::new() },
        notes: items.notes().filter(|note| !items.is_hidden(note.id)).map(|note| note.text.clone()).collect(),
        notes_max: engine.growth.notes_max,
        within: Duration::from_secs(limit::REFLECT_SECONDS_MAX),
    }
}
