//! Finds what an erasure must include: changes derived from its targets, and changes that repeat their values.

use std::collections::BTreeSet;

use json_patch::PatchOperation;
use quipu_core::core_document::{FieldChange, FieldOp, Patch};
use quipu_core::event::{Change, ChangeRef, Event};
use quipu_core::evolve;
use quipu_core::id::{ItemId, ItemKind, Seq};
use quipu_core::item::{DerivedChange, Fact};
use quipu_core::predicate::{normal, slug};
use serde_json::Value;

use crate::error::Result;
use crate::memory::scan;
use crate::ports::UserLedger;

/// State of one pass over the ledger, from its start, since derived changes come after what they derive from.
#[derive(Default)]
struct Gone {
    changes: BTreeSet<ChangeRef>,
    items: BTreeSet<ItemId>,
    values: BTreeSet<(String, String)>,
    read_from: BTreeSet<ItemId>,
    /// Values that something else also states; they are not secrets of the erased changes.
    kept: BTreeSet<(String, String)>,
    /// Patches near the place of an erased value, decided on at the end.
    patches: Vec<(ChangeRef, Written)>,
    /// Subject, predicate and object of every erased fact.
    claims: BTreeSet<(String, String, String)>,
    /// Sources that repeated an erased fact and remain.
    said_again: BTreeSet<ItemId>,
    /// Places to which promotions moved values, as (from, to).
    moved: Vec<(String, String)>,
    /// Members of the core document written only by erased changes, and members also written by others.
    members: Members,
}

/// Names that people gave to uncategorized members. Erasing a member's value erases its name.
#[derive(Default)]
struct Members {
    gone: BTreeSet<String>,
    kept: BTreeSet<String>,
    /// Changes of promotions that contain a member's name.
    named: Vec<(ChangeRef, String)>,
    /// Reviews of promotions with the names they contain, and the decisions on them.
    asked: Vec<(ChangeRef, ItemId, Vec<String>)>,
    decided: Vec<(ChangeRef, ItemId)>,
}

/// Places in the core document and the values written there.
type Written = Vec<(String, Value)>;

/// What a change writes into the core document; `None` if it does not write there.
fn written(change: &Change) -> Option<Written> {
    let of_patch = |patch: &Patch| patch.0.iter().map(|op| (op.path().to_string(), serde_json::json!(op))).collect();
    match change {
        Change::CorePatched(patch) | Change::Drawn(DerivedChange::CoreEdited { patch, .. }) => Some(of_patch(patch)),
        Change::Drawn(DerivedChange::CoreFieldsChanged { changes }) => {
            let value = |change: &FieldChange| match &change.op {
                FieldOp::Set { value } | FieldOp::Include { value } => value.clone(),
                FieldOp::Exclude { name } | FieldOp::Unset { name: Some(name) } => name.as_str().into(),
                FieldOp::Unset { name: None } => Value::Null,
            };
            Some(changes.iter().map(|change| (change.at.clone(), value(change))).collect())
        }
        _ => None,
    }
}

/// The extent of an erasure.
pub(crate) struct Derived {
    /// The requested changes and all that follow from them.
    pub(crate) changes: BTreeSet<ChangeRef>,
    /// Remaining sources from which erased items were read; the words are still in them.
    pub(crate) sources_left: Vec<ItemId>,
    /// Remaining sources that repeated an erased fact; they can be read again.
    pub(crate) said_again: BTreeSet<ItemId>,
}

/// Adds to the wanted changes all that follow from them.
pub(crate) fn with_derived(ledger: &mut dyn UserLedger, wanted: BTreeSet<ChangeRef>) -> Result<Derived> {
    let head = ledger.head()?.seq;
    let mut gone = Gone { changes: wanted, ..Gone::default() };
    scan::events(ledger, 1..=head, &mut |event| gone.meet(&event))?;
    gone.settle_patches();
    let sources_left = gone.read_from.difference(&gone.items).copied().collect();
    let said_again = gone.said_again.difference(&gone.items).copied().collect();
    Ok(Derived { changes: gone.changes, sources_left, said_again })
}

impl Gone {
    fn meet(&mut self, event: &Event) {
        let seq = event.header.seq;
        // An event derived only from erased sources is erased as a whole.
        let sources = sources_of(event);
        let whole = !sources.is_empty() && sources.is_subset(&self.items);
        for (index, change) in (0u32..).zip(&event.changes) {
            let Some(change) = change else { continue };
            let at = ChangeRef { seq, index };
            // A mark beside other changes goes with its item, so that the others still apply.
            let is_mark = event.changes.len() > 1
                && matches!(change, Change::ItemMarked(mark) if self.items.contains(&mark.item));
            if whole || self.changes.contains(&at) || self.follows(change) || is_mark {
                self.changes.insert(at);
                self.note(change);
            } else if let Change::Drawn(DerivedChange::FactAsserted { fact, .. }) = change
                && let Some(path) = &fact.core_path
            {
                let value = normal(&fact.object);
                self.kept.extend(self.places(path).into_iter().map(|place| (place, value.clone())));
            }
        }
        self.patches(event, seq);
        self.members(event, seq);
    }

    /// A place and the places promotions moved it to.
    fn places(&self, path: &str) -> Vec<String> {
        let mut places = vec![path.to_owned()];
        for (from, to) in &self.moved {
            let rest = |place: &String| place.strip_prefix(from.as_str()).map(str::to_owned);
            let below = |rest: &String| rest.is_empty() || rest.starts_with('/');
            places.extend(places.clone().iter().filter_map(rest).filter(below).map(|rest| format!("{to}{rest}")));
        }
        places
    }

    /// Follows values that a promotion moves, and records the member names it contains.
    fn members(&mut self, event: &Event, seq: Seq) {
        self.questions(event, seq);
        let promotion = event.changes.iter().flatten().find_map(|change| match change {
            Change::Drawn(DerivedChange::SchemaPromoted(promotion)) => Some(promotion),
            _ => None,
        });
        let patches = (0u32..).zip(&event.changes).filter_map(|(index, change)| match change {
            Some(Change::CorePatched(patch)) => Some((ChangeRef { seq, index }, patch)),
            _ => None,
        });
        let Some(promotion) = promotion else {
            let core =
                (0u32..).zip(&event.changes).filter(|(_, change)| change.as_ref().is_some_and(Change::is_of_core));
            for (index, change) in core {
                let at = ChangeRef { seq, index };
                let written = change.iter().flat_map(members_of);
                if self.changes.contains(&at) {
                    self.members.gone.extend(written);
                } else {
                    self.members.kept.extend(written);
                }
            }
            return;
        };
        let moved = evolve::relocations(promotion, patches.clone().map(|(_, patch)| patch));
        let whole = member_named(&promotion.candidate);
        for index in (0u32..).zip(&event.changes).map(|(index, _)| index) {
            self.members.named.push((ChangeRef { seq, index }, whole.clone()));
        }
        for (at, patch) in patches {
            let named = patch.0.iter().filter_map(|op| match op {
                PatchOperation::Move(step) => member_of(step.from.as_str()),
                _ => None,
            });
            self.members.named.extend(named.map(|name| (at, name)));
        }
        self.moved.extend(moved);
        let values: Vec<(String, String)> = self.values.iter().cloned().collect();
        for (path, value) in values {
            self.values.extend(self.places(&path).into_iter().map(|place| (place, value.clone())));
        }
        let kept: Vec<(String, String)> = self.kept.iter().cloned().collect();
        for (path, value) in kept {
            self.kept.extend(self.places(&path).into_iter().map(|place| (place, value.clone())));
        }
    }

    /// Records the member names that reviews of promotions contain.
    fn questions(&mut self, event: &Event, seq: Seq) {
        for (index, change) in (0u32..).zip(&event.changes) {
            let at = ChangeRef { seq, index };
            match change {
                Some(Change::Drawn(DerivedChange::ReviewOpened(review))) => {
                    let Some(asked) = &review.promotion else { continue };
                    let fields = asked.fields.keys().filter_map(|pointer| member_of(pointer));
                    let names = fields.chain([member_named(&asked.candidate)]).collect();
                    self.members.asked.push((at, review.id, names));
                }
                Some(Change::Drawn(DerivedChange::ReviewDecided { review, .. })) => {
                    self.members.decided.push((at, *review))
                }
                _ => {}
            }
        }
    }

    /// Records the items and values of an erased change.
    fn note(&mut self, change: &Change) {
        match change {
            Change::SourceRecorded(source) => {
                self.items.insert(source.id);
            }
            Change::Drawn(drawn) => {
                self.items.extend(drawn.makes());
                match drawn {
                    DerivedChange::FactAsserted { fact, .. } => self.value(fact),
                    DerivedChange::BaseTruthAdded(truth) | DerivedChange::BaseTruthMerged(truth) => {
                        self.read_from.extend(truth.evidence.iter().map(|place| place.source));
                    }
                    DerivedChange::FactSeen { evidence, .. }
                    | DerivedChange::NoteSeconded { evidence: Some(evidence), .. } => {
                        self.read_from.insert(evidence.source);
                        self.said_again.insert(evidence.source);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn value(&mut self, fact: &Fact) {
        self.read_from.extend(fact.evidence.iter().map(|place| place.source));
        self.claims.insert((normal(&fact.subject), fact.predicate.clone(), normal(&fact.object)));
        if let Some(path) = &fact.core_path {
            let value = normal(&fact.object);
            self.values.extend(self.places(path).into_iter().map(|place| (place, value.clone())));
        }
    }

    /// Returns true if a change is derived from an erased item or refers to one.
    fn follows(&self, change: &Change) -> bool {
        let Change::Drawn(drawn) = change else { return false };
        let named = drawn.needs().into_iter().chain(drawn.makes()).any(|item| self.items.contains(&item));
        named
            || matches!(drawn, DerivedChange::ValueRejected(value) if {
                self.claims.contains(&(value.subject.clone(), value.predicate.clone(), value.value.clone()))
            })
    }

    /// Erases a patch if everything else in its event is erased; keeps others for
    /// [`settle_patches`](Self::settle_patches).
    fn patches(&mut self, event: &Event, seq: Seq) {
        for (index, change) in (0u32..).zip(&event.changes) {
            let Some(written) = change.as_ref().and_then(written) else { continue };
            let others = (0u32..).zip(&event.changes).filter(|(other, _)| *other != index);
            let is_drawn = |change: &Change| matches!(change, Change::Drawn(_)) && !change.is_of_core();
            let mut drawn = others.filter(|(_, change)| change.as_ref().is_some_and(is_drawn)).peekable();
            let alone =
                drawn.peek().is_some() && drawn.all(|(index, _)| self.changes.contains(&ChangeRef { seq, index }));
            if alone {
                self.changes.insert(ChangeRef { seq, index });
            } else if self.repeats(&written) {
                self.patches.push((ChangeRef { seq, index }, written));
            }
        }
    }

    /// Erases the kept patches that repeat a value stated nowhere else.
    fn settle_patches(&mut self) {
        let kept = std::mem::take(&mut self.kept);
        self.values.retain(|value| !kept.contains(value));
        for (at, written) in std::mem::take(&mut self.patches) {
            if self.repeats(&written) {
                self.changes.insert(at);
            }
        }
        let Members { gone, kept, named, asked, decided } = std::mem::take(&mut self.members);
        let goes = |name: &String| gone.contains(name) && !kept.contains(name);
        self.changes.extend(named.into_iter().filter(|(_, name)| goes(name)).map(|(at, _)| at));
        // A decision is erased with its review; its effects stay.
        let mut reviews: BTreeSet<ItemId> = BTreeSet::new();
        for (at, review, _) in asked.into_iter().filter(|(_, _, names)| names.iter().any(goes)) {
            self.changes.insert(at);
            reviews.insert(review);
        }
        self.changes.extend(decided.into_iter().filter(|(_, review)| reviews.contains(review)).map(|(at, _)| at));
    }

    /// Returns true if a value written at, above or below the place of an erased value contains that value.
    fn repeats(&self, written: &Written) -> bool {
        written.iter().any(|(at, value)| {
            let near = self
                .values
                .iter()
                .filter(|(place, _)| at.starts_with(place.as_str()) || place.starts_with(at.as_str()));
            let near: Vec<&str> = near.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty()).collect();
            let named = |token: &str| near.iter().any(|value| slug(value) == token);
            !near.is_empty() && (at.split('/').any(named) || holds(value, &near))
        })
    }
}

/// The members of `uncategorized` that a change of the core document names.
fn members_of(change: &Change) -> Vec<String> {
    match change {
        Change::CorePatched(patch) => patch.0.iter().flat_map(members_written).collect(),
        Change::Drawn(DerivedChange::CoreEdited { within, patch }) => {
            let containers = within.iter().filter_map(|container| member_of(&container.at));
            containers.chain(patch.0.iter().flat_map(members_written)).collect()
        }
        Change::Drawn(DerivedChange::CoreFieldsChanged { changes }) => {
            changes.iter().filter_map(|change| member_of(&change.at)).collect()
        }
        _ => Vec::new(),
    }
}

/// The pointer of a member of `uncategorized`.
fn member_named(name: &str) -> String {
    format!("/uncategorized/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// The member of `uncategorized` at or above a pointer.
fn member_of(pointer: &str) -> Option<String> {
    let mut tokens = pointer.strip_prefix("/uncategorized/")?.split('/');
    tokens.next().map(|name| format!("/uncategorized/{name}"))
}

/// The members of `uncategorized` that an operation names.
fn members_written(op: &PatchOperation) -> Vec<String> {
    let value = match op {
        PatchOperation::Add(add) => Some(&add.value),
        PatchOperation::Replace(replace) => Some(&replace.value),
        PatchOperation::Test(test) => Some(&test.value),
        PatchOperation::Remove(_) | PatchOperation::Move(_) | PatchOperation::Copy(_) => None,
    };
    let all = match op.path().as_str() {
        "" => value.and_then(|document| document.get("uncategorized")),
        "/uncategorized" => value,
        below => return member_of(below).into_iter().collect(),
    };
    let names = all.and_then(Value::as_object).into_iter().flat_map(serde_json::Map::keys);
    names.map(|name| member_named(name)).collect()
}

/// Returns true if a string or a member name in `json` is or contains one of the values.
fn holds(json: &Value, values: &[&str]) -> bool {
    let has = |text: &str| {
        let text = normal(text);
        values.iter().any(|value| text.contains(value) || text == slug(value))
    };
    match json {
        Value::String(text) => has(text),
        Value::Array(list) => list.iter().any(|element| holds(element, values)),
        Value::Object(members) => members.iter().any(|(name, member)| has(name) || holds(member, values)),
        _ => false,
    }
}

/// The sources an event was derived from.
pub(crate) fn sources_of(event: &Event) -> BTreeSet<ItemId> {
    let drawn = event.changes.iter().flatten().filter_map(|change| match change {
        Change::Drawn(drawn) => Some(drawn.needs()),
        _ => None,
    });
    let is_source = |item: &ItemId| matches!(item.kind, ItemKind::Turn | ItemKind::Entry | ItemKind::Document);
    drawn.flatten().filter(is_source).collect()
}
