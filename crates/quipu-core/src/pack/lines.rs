//! From what was found to the lines that are shown: what says the same once, what belongs together side by side, in the
//! order of time.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::allocate::{Bid, Market, allocate};
use super::words::{say_all_of, terms};
use super::{Count, Kept, Line, Noted, Offer, Pack, Packed, Request, Section, Words, estimate_tokens, mix, neutralise};
use crate::event::Trust;
use crate::id::ItemId;
use crate::predicate::normal;

/// What stands before a line: a number in this pack, or the whole id.
pub(super) fn mark(ids: bool, number: usize, id: ItemId) -> String {
    if ids { id.to_string() } else { number.to_string() }
}

/// What a line costs at least: no tokenizer joins words.
pub(super) fn least(line: &str) -> usize {
    line.split_ascii_whitespace().count()
}

/// A line of the stable part, with its end.
pub(super) fn kept(one: &Kept, mark: Option<&str>) -> String {
    let mark = mark.map_or_else(|| "-".to_owned(), |mark| format!("[{mark}]"));
    let unconfirmed = if is_unconfirmed(one.trust) { " (not confirmed)" } else { "" };
    format!("{mark} {}{unconfirmed}\n", neutralise(&one.text))
}

/// What the items of some offers are called, those worth most first; what is only shown beside others left out.
pub(super) fn worth(offers: &[Offer]) -> Vec<ItemId> {
    let mut order: Vec<&Offer> = offers.iter().filter(|offer| offer.value > 0.0).collect();
    order.sort_by(|a, b| b.value.total_cmp(&a.value));
    let mut met = BTreeSet::new();
    order.into_iter().flat_map(ids).filter(|id| met.insert(*id)).collect()
}

/// The items an offer tells, its words first.
fn ids(offer: &Offer) -> Vec<ItemId> {
    offer.words.iter().map(|words| words.id).chain(offer.noted.iter().map(|noted| noted.id)).collect()
}

/// The sections of what was found, with what they cost.
pub(super) fn found(request: &Request<'_>, count: Count<'_>, budget: usize, made: &mut Pack) -> (String, usize) {
    let offers: Vec<Settled<'_>> = once(request.offers.iter().map(Settled::of).collect());
    let mut headings: Vec<String> = Section::ALL.iter().map(|section| format!("## {}\n", section.title())).collect();
    let days: BTreeSet<String> = offers.iter().filter_map(Settled::day).collect();
    let day_at: BTreeMap<&String, usize> = days.iter().zip(headings.len()..).collect();
    headings.extend(days.iter().map(|day| format!("{day}\n")));
    let costs: Vec<usize> = headings.iter().map(|heading| count(heading)).collect();
    let bids: Vec<Bid> = offers
        .iter()
        .map(|offer| Bid {
            value: offer.value,
            weight: estimate_tokens(&offer.text(0)),
            forms: offer.forms(),
            section: offer.section as usize,
            with: offer.with.clone(),
            covers: offer.covers.clone(),
            below: std::iter::once(offer.section as usize)
                .chain(offer.day().and_then(|day| day_at.get(&day).copied()))
                .collect(),
        })
        .collect();
    let floors: Vec<(usize, usize)> = mix::floors(request.intent)
        .iter()
        .map(|(section, percent)| (*section as usize, budget * percent / 100))
        .collect();
    let marked = request.always.iter().chain(&request.who).filter(|kept| !kept.ids.is_empty()).count();
    // What is so of every line is said once, above them.
    let signs = Unconfirmed::of(&request.offers) == Unconfirmed::Some;
    let line = |at: usize, form: usize, number: usize| {
        let mark = mark(request.ids, number, offers[at].id());
        let sign = if signs && offers[at].is_unconfirmed() { "~" } else { "" };
        format!("[{mark}{sign}] {}\n", offers[at].text(form))
    };
    let market = Market { bids: &bids, headings: &costs, floors: &floors, budget };
    // Counting costs more than anything else here: each line is counted once, and marks of up to three digits cost the same.
    let mut counted = BTreeMap::new();
    let allocation =
        allocate(&market, &mut |at, form| *counted.entry((at, form)).or_insert_with(|| count(&line(at, form, 100))));

    let mut shown: Vec<usize> = (0..offers.len()).filter(|&at| allocation.shown[at].is_some()).collect();
    shown.sort_by_key(|&at| {
        let offer = &offers[at];
        // Within a section of no days the order is that of worth, which is that of the offers.
        let time = offer.day().map(|_| (offer.said_at, offer.place));
        (offer.section, time, at)
    });
    let (mut text, mut day, mut number) = (String::new(), None, marked);
    let mut tokens = BTreeMap::<Section, (usize, usize)>::new();
    let mut open = BTreeSet::new();
    for at in shown {
        let offer = &offers[at];
        let Some(form) = allocation.shown[at] else { continue };
        let (spent, lines) = tokens.entry(offer.section).or_default();
        if open.insert(offer.section) {
            text.push_str(&headings[offer.section as usize]);
            *spent += costs[offer.section as usize];
        }
        if let Some(at) = offer.day().and_then(|day| day_at.get(&day).copied()).filter(|at| day != Some(*at)) {
            day = Some(at);
            text.push_str(&headings[at]);
            *spent += costs[at];
        }
        number += 1;
        let written = line(at, form, number);
        *spent += counted.get(&(at, form)).copied().unwrap_or_default();
        *lines += 1;
        text.push_str(&written);
        made.lines.push(offer.line(mark(request.ids, number, offer.id()), form));
        made.citations.extend(offer.ids.iter().filter(|id| !made.citations.contains(id)).copied().collect::<Vec<_>>());
    }
    let whole = tokens.values().map(|(tokens, _)| tokens).sum();
    for (section, (tokens, lines)) in tokens {
        made.sections.push(Packed { title: section.title(), tokens, lines });
    }
    let shown: BTreeSet<ItemId> = made.citations.iter().chain(&made.omitted).copied().collect();
    made.omitted.extend(worth(&request.offers).into_iter().filter(|id| !shown.contains(id)));
    (text, whole)
}

/// An offer with what of it is told.
struct Settled<'a> {
    section: Section,
    words: Option<&'a Words>,
    noted: Vec<&'a Noted>,
    /// Items it tells, also those whose own words say nothing more than the others.
    ids: Vec<ItemId>,
    said_at: Option<Timestamp>,
    place: u64,
    value: f64,
    with: Vec<usize>,
    covers: Vec<ItemId>,
}

impl<'a> Settled<'a> {
    /// A statement that says nothing but what its words say is left out; words are left out where a statement has all
    /// their content, and more.
    fn of(offer: &'a Offer) -> Self {
        let said = offer.words.as_ref().map(|words| terms(&words.forms[0].0));
        let adds = |noted: &&Noted| {
            let is_said = said.as_ref().is_some_and(|said| say_all_of(said, &noted.text));
            !is_said || noted.likely || noted.remark.is_some()
        };
        let noted: Vec<&Noted> = offer.noted.iter().filter(adds).collect();
        let repeats = |noted: &&Noted| said.as_ref().is_some_and(|said| say_all_in(said, &noted.text));
        let is_repeated = noted.iter().any(repeats) && offer.words.as_ref().is_none_or(|words| words.remark.is_none());
        Self {
            section: offer.section,
            words: offer.words.as_ref().filter(|_| !is_repeated),
            noted,
            ids: ids(offer),
            said_at: offer.said_at,
            place: offer.place,
            value: offer.value,
            with: offer.with.clone(),
            covers: offer.covers.clone(),
        }
    }

    /// The item that leads the line: the source where its words are shown.
    fn id(&self) -> ItemId {
        let noted = self.noted.first().map(|noted| noted.id);
        self.words.map(|words| words.id).or(noted).unwrap_or(self.ids[0])
    }

    fn is_unconfirmed(&self) -> bool {
        let trust = self.words.map(|words| words.trust).or_else(|| self.noted.iter().map(|noted| noted.trust).min());
        trust.is_some_and(is_unconfirmed)
    }

    fn forms(&self) -> usize {
        self.words.map_or(1, |words| words.forms.len())
    }

    /// The day it stands under.
    fn day(&self) -> Option<String> {
        let time = self.said_at.filter(|_| self.section == Section::Found)?;
        Some(time.strftime("%Y-%m-%d").to_string())
    }

    /// The line without its mark.
    fn text(&self, form: usize) -> String {
        let noted = |one: &Noted, origin: &str| {
            let likely = if one.likely { "likely: " } else { "" };
            format!("{likely}{}{origin}{}", neutralise(&one.text), remark(one.remark.as_ref()))
        };
        let Some(words) = self.words else {
            // The words are not shown, so the line has to say whose they were.
            let from = |one: &Noted| if one.trust == Trust::Agent { " (from an assistant)" } else { "" };
            return self.noted.iter().map(|one| noted(one, from(one))).collect::<Vec<_>>().join("; ");
        };
        let said = words.forms.get(form).map_or("", |(text, _)| text);
        let beside: Vec<String> = self.noted.iter().map(|one| noted(one, "")).collect();
        let beside = if beside.is_empty() { String::new() } else { format!(" (noted: {})", beside.join("; ")) };
        let (speaker, said) = (neutralise(&words.speaker), neutralise(said));
        format!("{speaker}: {said}{}{beside}", remark(words.remark.as_ref()))
    }

    fn line(&self, mark: String, form: usize) -> Line {
        let id = self.id();
        let noted = self.noted.first();
        let said = self.words.and_then(|words| words.forms.get(form));
        Line {
            mark,
            id,
            kind: id.kind.word(),
            speaker: self.words.map(|words| words.speaker.clone()).unwrap_or_default(),
            said_at: self.said_at,
            trust: self.words.map(|words| words.trust).or(noted.map(|noted| noted.trust)).unwrap_or(Trust::Agent),
            span: said.map(|(_, span)| span.clone()),
            text: self.text(form),
            also: self.ids.iter().filter(|other| **other != id).copied().collect(),
        }
    }
}

/// True if a statement has every content word of the sentence.
fn say_all_in(sentence: &BTreeSet<String>, statement: &str) -> bool {
    sentence.is_subset(&terms(statement))
}

/// True for what neither the user nor the assistant said, and nobody vouches for.
fn is_unconfirmed(trust: Trust) -> bool {
    trust < Trust::Agent
}

/// How many of the offers are of that kind.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unconfirmed {
    None,
    Some,
    All,
}

impl Unconfirmed {
    pub(super) fn of(offers: &[Offer]) -> Self {
        match offers.iter().filter(|offer| Settled::of(offer).is_unconfirmed()).count() {
            0 => Self::None,
            all if all == offers.len() => Self::All,
            _ => Self::Some,
        }
    }
}

fn remark(remark: Option<&String>) -> String {
    remark.map(|remark| format!(" ({})", neutralise(remark))).unwrap_or_default()
}

/// Each wording once: of lines that say the same, the one worth most. The others are still shown beside what leans on them.
fn once(mut all: Vec<Settled<'_>>) -> Vec<Settled<'_>> {
    let mut best: BTreeMap<String, usize> = BTreeMap::new();
    for at in 0..all.len() {
        if all[at].value <= 0.0 {
            continue;
        }
        let wording = normal(&all[at].text(0));
        let held = best.entry(wording).or_insert(at);
        if *held == at {
            continue;
        }
        let (kept, same) = if all[*held].value >= all[at].value { (*held, at) } else { (at, *held) };
        *held = kept;
        all[same].value = 0.0;
        let ids = all[same].ids.clone();
        let kept = &mut all[kept].ids;
        kept.extend(ids.into_iter().filter(|id| !kept.contains(id)).collect::<Vec<_>>());
    }
    all
}
