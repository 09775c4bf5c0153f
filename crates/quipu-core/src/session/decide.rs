//! Turns a proposal into changes: every proposed change of the base truth is made or refused with a reason.

use serde::Serialize;

use super::exchange::Exchange;
use super::proposal::{ProposedEntry, SummaryProposal};
use super::{RuleBook, SessionOptions, matching, size};
use crate::Memory;
use crate::event::{Change, Trust};
use crate::guard;
use crate::id::{ItemId, ItemKind};
use crate::item::{Depth, DerivedChange, DiffOp, Evidence, RefusedEntry, Truth, TruthKind, TurnSummary};
use crate::limit;
use crate::predicate::normal;
use crate::refusal::Refusal;
use crate::source::Role;

/// Why a short exchange does not change the base truth.
const SHORT: &str = "the exchange is short: it is summarised only";

/// The input of a decision.
pub struct SessionDecisionInput<'a> {
    /// The current memory.
    pub memory: &'a Memory,
    /// The session.
    pub session: &'a str,
    /// The exchange to summarise.
    pub exchange: &'a Exchange<'a>,
    /// The options.
    pub options: &'a SessionOptions,
}

/// The outcome for an exchange.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "SummarizedTurn"))]
pub struct Summarized {
    /// The session.
    pub session_id: String,
    /// The number of the exchange.
    pub turn: u32,
    /// How deeply it was summarised.
    pub depth: Depth,
    /// True if the summariser failed permanently and the exchange itself is used.
    pub raw: bool,
    /// New entries of the base truth, with their text.
    pub added: Vec<(ItemId, String)>,
    /// Replaced entries: the new one, its text, the old one.
    pub updated: Vec<(ItemId, String, ItemId)>,
    /// Removed entries, with their text.
    pub removed: Vec<(ItemId, String)>,
    /// Refused or adjusted changes, with the proposed text.
    pub refused: Vec<RefusedEntry>,
}

/// A decision under construction.
struct SessionDraft<'a> {
    case: &'a SessionDecisionInput<'a>,
    /// The base truth after the changes so far.
    base_truth: Vec<Truth>,
    ground: String,
    changes: Vec<Change>,
    stored: Vec<RefusedEntry>,
    told: Summarized,
}

/// Decides on a proposal; without one the exchange itself is used as the summary.
///
/// Changes of the base truth are made in the order remove, update, add. An update without a known entry becomes an
/// addition, and is reported. Hard exceptions are never changed, only the user adds binding entries, and an entry from
/// the user changes only by the user's words.
pub fn summarize(
    case: &SessionDecisionInput<'_>,
    proposal: Option<&SummaryProposal>,
    name: &mut dyn FnMut(ItemKind) -> ItemId,
) -> (Vec<Change>, Summarized) {
    let depth = size::depth(case.exchange, case.options);
    let told = Summarized {
        session_id: case.session.to_owned(),
        turn: case.exchange.turn,
        depth,
        raw: proposal.is_none(),
        added: Vec::new(),
        updated: Vec::new(),
        removed: Vec::new(),
        refused: Vec::new(),
    };
    let items = case.memory.items();
    let in_force = items.sessions().base_truth(case.session).filter(|truth| !items.is_hidden(truth.id));
    let mut work = SessionDraft {
        case,
        base_truth: in_force.cloned().collect(),
        ground: case.exchange.text(),
        changes: Vec::new(),
        stored: Vec::new(),
        told,
    };
    let (mut user_summary, mut assistant_summary) = (String::new(), String::new());
    if let Some(proposal) = proposal {
        let (user, reply) = (case.exchange.text_of(Role::User), case.exchange.text_of(Role::Assistant));
        user_summary = work.summary(&proposal.user_summary, &user, limit::USER_SUMMARY_WORDS_MAX);
        assistant_summary = work.summary(&proposal.assistant_summary, &reply, limit::ASSISTANT_SUMMARY_WORDS_MAX);
        work.diff(proposal, depth, name);
    }
    let summary = TurnSummary {
        session: case.session.to_owned(),
        turn: case.exchange.turn,
        sources: case.exchange.sources.iter().map(|held| held.source.id).collect(),
        depth,
        user_summary,
        assistant_summary,
        raw: proposal.is_none(),
        refused: std::mem::take(&mut work.stored),
    };
    let mut changes = vec![Change::Drawn(DerivedChange::TurnSummarized(Box::new(summary)))];
    changes.append(&mut work.changes);
    (changes, work.told)
}

impl SessionDraft<'_> {
    /// A summary within the limits; the start of the original text if the summary is not grounded in it.
    fn summary(&mut self, proposed: &str, said: &str, words_max: usize) -> String {
        let proposed = one_line(proposed);
        let strange = matching::summary_doubt(&proposed, &self.ground);
        if let Some(reason) = strange {
            self.refuse(DiffOp::Summary, &proposed, reason);
            return clipped(&one_line(said), words_max);
        }
        clipped(&proposed, words_max)
    }

    fn diff(&mut self, proposal: &SummaryProposal, depth: Depth, name: &mut dyn FnMut(ItemKind) -> ItemId) {
        let diff = &proposal.base_truth_diff;
        let removals = diff.remove.iter().map(|text| (DiffOp::Remove, ProposedEntry::Text(text.clone())));
        let updates = diff.update.iter().map(|entry| (DiffOp::Update, entry.clone()));
        let additions = diff.add.iter().map(|entry| (DiffOp::Add, entry.clone()));
        for (number, (op, entry)) in removals.chain(updates).chain(additions).enumerate() {
            let outcome = if depth == Depth::Short {
                Err(SHORT.to_owned())
            } else if number >= limit::DIFF_ENTRIES_MAX {
                Err(format!("one exchange changes at most {} entries", limit::DIFF_ENTRIES_MAX))
            } else if op == DiffOp::Remove {
                self.remove(entry.text())
            } else {
                self.put(&entry, op, name)
            };
            if let Err(reason) = outcome {
                self.refuse(op, entry.text(), reason);
            }
        }
    }

    fn refuse(&mut self, op: DiffOp, text: &str, reason: String) {
        // Text that does not occur in the exchange may come from another turn and would survive that turn's erasure
        // here.
        let grounded = matching::doubt(text, &self.ground).is_none() && text.len() <= limit::TRUTH_BYTES_MAX;
        if self.stored.len() < limit::DIFF_ENTRIES_MAX {
            let stored = grounded.then(|| text.to_owned());
            self.stored.push(RefusedEntry { op, text: stored, reason: reason.clone() });
        }
        self.told.refused.push(RefusedEntry { op, text: Some(text.to_owned()), reason });
    }

    fn known(&self) -> Vec<&Truth> {
        self.base_truth.iter().collect()
    }

    fn remove(&mut self, text: &str) -> Result<(), String> {
        let found: Vec<Truth> = matching::removed(&self.known(), text).into_iter().cloned().collect();
        if found.is_empty() {
            return Err("there is no such entry in the base truth".to_owned());
        }
        if let Some(hard) = found.iter().find(|truth| truth.is_hard()) {
            return Err(format!("{} is a hard exception: only the user takes it out, by hand", hard.id));
        }
        if !self.touches(text, &found) {
            return Err("the exchange says nothing about it".to_owned());
        }
        for truth in found {
            self.may_change(&truth)?;
            let exchange = Some(self.case.exchange.opening());
            self.changes.push(Change::Drawn(DerivedChange::BaseTruthRemoved { truth: truth.id, exchange }));
            self.base_truth.retain(|held| held.id != truth.id);
            self.told.removed.push((truth.id, truth.text));
        }
        Ok(())
    }

    /// True if the exchange refers to the entry to remove: the user retracts it, or half of its content words occur.
    fn touches(&self, text: &str, found: &[Truth]) -> bool {
        let about = |text: &str| {
            let own = crate::episode::stems(text);
            let there = crate::episode::stems(&self.ground);
            !own.is_empty() && 2 * own.intersection(&there).count() >= own.len()
        };
        let said = self.case.exchange.text_of(Role::User);
        let taken_back = |truth: &Truth| RuleBook::english().takes_back(&said, &truth.text);
        about(text) || found.iter().any(|truth| about(&truth.text) || taken_back(truth))
    }

    /// An entry from the user, by words or by hand, changes only in an exchange with a message of the user.
    fn may_change(&self, truth: &Truth) -> Result<(), String> {
        let speaks = self.case.exchange.sources.iter().any(|held| Exchange::is_own(held));
        if truth.trust == Trust::User && !speaks {
            return Err(format!("{} is the user's word, and the user says nothing here", truth.id));
        }
        Ok(())
    }

    fn put(
        &mut self,
        entry: &ProposedEntry,
        op: DiffOp,
        name: &mut dyn FnMut(ItemKind) -> ItemId,
    ) -> Result<(), String> {
        let text = one_line(entry.text());
        check_text(&text)?;
        if let Some(same) = self.base_truth.iter().find(|truth| normal(&truth.text) == normal(&text)) {
            return Err(format!("{} says it already", same.id));
        }
        let target = match op {
            DiffOp::Update => matching::updated(&self.known(), &text).cloned(),
            _ => None,
        };
        if let Some(hard) = target.as_ref().filter(|truth| truth.is_hard()) {
            return Err(format!("{} is a hard exception: only the user changes it, by hand", hard.id));
        }
        let (evidence, rests_on) = self.places(&text, target.as_ref())?;
        let by_user = evidence.iter().all(|at| self.is_own(at.source));
        let mut kind = entry.kind();
        if kind.binds() && !by_user {
            return Err(format!("only the user's own words make a {}", kind.as_str()));
        }
        if !by_user && guard::looks_like_instructions(&text) {
            return Err("it reads like an instruction, and the user did not say it".to_owned());
        }
        if let Some(target) = &target {
            self.may_change(target)?;
            if target.trust == Trust::User && !by_user {
                return Err(format!("{} is the user's word, and the user does not say this", target.id));
            }
            // An entry without a kind of its own keeps the kind of the one it replaces.
            if matches!(entry, ProposedEntry::Text(_)) && kind == TruthKind::Fact {
                kind = target.kind;
            }
        }
        self.has_room(kind, target.is_some())?;
        let id = name(ItemKind::Truth);
        let truth = Truth {
            id,
            session: self.case.session.to_owned(),
            kind,
            text: text.clone(),
            evidence,
            exchange: Some(self.case.exchange.opening()),
            rests_on,
            replaces: target.as_ref().map(|truth| truth.id),
            trust: if by_user { Trust::User } else { Trust::Agent },
        };
        self.changes.push(Change::Drawn(DerivedChange::BaseTruthAdded(Box::new(truth.clone()))));
        match target {
            Some(old) => {
                self.base_truth.retain(|held| held.id != old.id);
                self.told.updated.push((id, text, old.id));
            }
            None => {
                if op == DiffOp::Update {
                    let reason = "nothing in the base truth is like it: it was added".to_owned();
                    self.refuse(op, &text, reason);
                }
                self.told.added.push((id, text));
            }
        }
        self.base_truth.push(truth);
        Ok(())
    }

    fn has_room(&self, kind: TruthKind, replaces: bool) -> Result<(), String> {
        let hard = self.base_truth.iter().filter(|truth| truth.is_hard()).count();
        if kind == TruthKind::Exception && hard >= limit::EXCEPTIONS_PER_SESSION_MAX {
            return Err(format!("a session has at most {} hard exceptions", limit::EXCEPTIONS_PER_SESSION_MAX));
        }
        if !replaces && self.base_truth.len() >= limit::TRUTHS_PER_SESSION_MAX {
            let bound = limit::TRUTHS_PER_SESSION_MAX;
            return Err(format!("the base truth is full with {bound} entries: consolidate it"));
        }
        Ok(())
    }

    /// The evidence of an entry: the sentence itself, or else the first message that grounds it, or else the whole
    /// exchange; for an update also the replaced entry.
    fn places(&self, text: &str, target: Option<&Truth>) -> Result<(Vec<Evidence>, Vec<ItemId>), String> {
        let sources = || {
            // The user's own words first, in either order of speaking.
            let own = self.case.exchange.sources.iter().filter(|held| Exchange::is_own(held));
            own.chain(self.case.exchange.sources.iter().filter(|held| !Exchange::is_own(held)))
        };
        for held in sources() {
            if let Some(start) = held.source.text.find(text) {
                return Ok((vec![place(held.source.id, start, start + text.len())], Vec::new()));
            }
        }
        let whole = |held: &crate::memory::HeldSource| place(held.source.id, 0, held.source.text.len());
        for held in sources() {
            if matching::doubt(text, &held.source.text).is_none() {
                return Ok((vec![whole(held)], Vec::new()));
            }
        }
        let all = || sources().map(|held| whole(held)).collect::<Vec<_>>();
        let Some(reason) = matching::doubt(text, &self.ground) else { return Ok((all(), Vec::new())) };
        let Some(target) = target else { return Err(reason) };
        if let Some(reason) = matching::doubt(text, &format!("{}\n{}", self.ground, target.text)) {
            return Err(reason);
        }
        // It contains words of the old entry, so it depends on the same evidence.
        let mut places = all();
        places.extend(&target.evidence);
        places.dedup();
        if places.len() > limit::EVIDENCE_PER_ITEM_MAX {
            return Err("it rests on too many places: say it whole in one exchange".to_owned());
        }
        Ok((places, vec![target.id]))
    }

    fn is_own(&self, source: ItemId) -> bool {
        self.case.memory.get(source).is_some_and(Exchange::is_own)
    }
}

/// An entry written by hand.
///
/// # Errors
/// `Invalid` for an empty or too long text; `Refused` if the entry exists or there is no room.
pub fn by_hand(memory: &Memory, session: &str, kind: TruthKind, text: &str, id: ItemId) -> Result<Change, Refusal> {
    let text = one_line(text);
    check_text(&text).map_err(Refusal::invalid)?;
    crate::id::check_name("session", session)?;
    let items = memory.items();
    let in_force: Vec<&Truth> =
        items.sessions().base_truth(session).filter(|truth| !items.is_hidden(truth.id)).collect();
    let same = in_force.iter().find(|truth| normal(&truth.text) == normal(&text));
    if let Some(same) = same.filter(|same| same.kind == kind) {
        return Err(Refusal::refused(format!("{} says it already", same.id)));
    }
    let hard = in_force.iter().filter(|truth| truth.is_hard()).count();
    if kind == TruthKind::Exception && hard >= limit::EXCEPTIONS_PER_SESSION_MAX {
        let bound = limit::EXCEPTIONS_PER_SESSION_MAX;
        return Err(Refusal::refused(format!("session {session:?} has {bound} hard exceptions: unset one first")));
    }
    if in_force.len() >= limit::TRUTHS_PER_SESSION_MAX + limit::EXCEPTIONS_PER_SESSION_MAX {
        return Err(Refusal::refused(format!("the base truth of session {session:?} is full: consolidate it")));
    }
    let truth = Truth {
        id,
        session: session.to_owned(),
        kind,
        text,
        evidence: Vec::new(),
        exchange: None,
        rests_on: Vec::new(),
        replaces: same.map(|same| same.id),
        trust: Trust::User,
    };
    Ok(Change::Drawn(DerivedChange::BaseTruthAdded(Box::new(truth))))
}

fn place(source: ItemId, start: usize, end: usize) -> Evidence {
    Evidence { source, start: start as u32, end: end as u32 }
}

pub(super) fn check_text(text: &str) -> Result<(), String> {
    match text.len() {
        0 => Err("the entry is empty".to_owned()),
        length if length > limit::TRUTH_BYTES_MAX => {
            Err(format!("the entry has {length} bytes, at most {} are kept", limit::TRUTH_BYTES_MAX))
        }
        _ => Ok(()),
    }
}

/// Joins the words of a text on one line.
pub(super) fn one_line(text: &str) -> String {
    // Control characters separate words too; U+0000 cannot be recorded.
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// The first words, followed by "…" if there are more.
pub(super) fn clipped(text: &str, words_max: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut kept = words[..words.len().min(words_max)].join(" ");
    let cut = kept.len() > limit::SUMMARY_BYTES_MAX;
    if cut {
        kept.truncate(kept.floor_char_boundary(limit::SUMMARY_BYTES_MAX));
    }
    if cut || words.len() > words_max { format!("{}…", kept.trim_end()) } else { kept }
}
