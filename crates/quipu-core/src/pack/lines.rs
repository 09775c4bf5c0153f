//! Turns offers into the lines of a pack: removes duplicates, groups what belongs together, and orders by time.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use rustc_hash::FxHashMap;

use super::allocate::{Bid, Market, Prices, allocate};
use super::term_table::{TermTable, is_subset};
use super::{
    Count, Noted, Offer, Pack, PackInput, PackLine, Packed, Quotation, Section, StableLine, estimate_tokens, mix,
    neutralise,
};
use crate::event::Trust;
use crate::extract::USER;
use crate::id::ItemId;
use crate::predicate::normal;

/// Mark before a line: its number in this pack, or the full id.
pub(super) fn mark(ids: bool, number: usize, id: ItemId) -> String {
    if ids { id.to_string() } else { number.to_string() }
}

/// Lower bound of a line's cost: tokenizers do not join words.
pub(super) fn least(line: &str) -> usize {
    line.split_ascii_whitespace().count()
}

/// A line of the stable part, with its newline.
pub(super) fn kept(one: &StableLine, mark: Option<&str>) -> String {
    let mark = mark.map_or_else(|| "-".to_owned(), |mark| format!("[{mark}]"));
    let unconfirmed = if is_unconfirmed(one.trust) { " (not confirmed)" } else { "" };
    format!("{mark} {}{unconfirmed}\n", neutralise(&one.text))
}

/// Ids of the items of some offers, highest value first, without offers that are shown only beside others.
pub(super) fn worth(offers: &[Offer]) -> Vec<ItemId> {
    let mut order: Vec<&Offer> = offers.iter().filter(|offer| offer.value > 0.0).collect();
    order.sort_by(|a, b| b.value.total_cmp(&a.value));
    let mut met = BTreeSet::new();
    order.into_iter().flat_map(ids).filter(|id| met.insert(*id)).collect()
}

/// Items of an offer, its quotation first.
fn ids(offer: &Offer) -> Vec<ItemId> {
    offer.words.iter().map(|words| words.id).chain(offer.noted.iter().map(|noted| noted.id)).collect()
}

/// The sections of the offers, with their cost.
pub(super) fn found(
    request: &PackInput<'_>,
    (settled, unconfirmed): (Vec<SettledOffer<'_>>, Unconfirmed),
    count: Count<'_>,
    (budget, room): (usize, usize),
    made: &mut Pack,
) -> (String, usize) {
    let mut offers = once(settled);
    let best = offers.iter().enumerate().filter(|(_, offer)| offer.value > 0.0).rev();
    let best = best.max_by(|(_, a), (_, b)| a.value.total_cmp(&b.value)).map(|(at, _)| at);
    if let Some(best) = best {
        offers[best].shorten(room.saturating_sub(HEADINGS_TOKENS), count);
    }
    let days: BTreeSet<i32> = offers.iter().filter_map(SettledOffer::day).collect();
    let day_at: BTreeMap<i32, usize> = days.iter().copied().zip(Section::ALL.len()..).collect();
    let mut headings: Vec<String> = Section::ALL.iter().map(|section| format!("## {}\n", section.title())).collect();
    let mut dates: Vec<Option<Timestamp>> = vec![None; days.len()];
    for offer in &offers {
        if let Some(at) = offer.day().and_then(|day| day_at.get(&day)) {
            dates[at - Section::ALL.len()] = offer.said_at;
        }
    }
    headings.extend(dates.into_iter().flatten().map(|time| format!("{}\n", time.strftime("%Y-%m-%d %a"))));
    let bids: Vec<Bid> = offers
        .iter()
        .map(|offer| Bid {
            value: offer.value,
            weight: estimate_tokens(offer.first()),
            forms: offer.forms(),
            section: offer.section as usize,
            with: offer.with.to_vec(),
            covers: offer.covers.to_vec(),
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
    // A note that applies to every line is printed once above them.
    let signs = unconfirmed == Unconfirmed::Some;
    let line = |at: usize, form: usize, number: usize| {
        let mark = mark(request.ids, number, offers[at].id());
        let sign = if signs && offers[at].is_unconfirmed() { "~" } else { "" };
        format!("[{mark}{sign}] {}\n", offers[at].text(form))
    };
    let mut market = Market { bids: &bids, headings: headings.len(), best: None, floors: &floors, budget };
    let mut prices = Counted {
        count,
        // Marks of up to three digits cost the same.
        line: &|at, form| line(at, form, 100),
        headings: &headings,
        leasts: offers.iter().map(|offer| MARK_LEAST + least(offer.first())).collect(),
        lines: BTreeMap::new(),
        costs: vec![None; headings.len()],
    };
    let mut allocation = allocate(&market, &mut prices);
    if let Some(best) = best.filter(|best| allocation.shown[*best].is_none()) {
        market.best = Some((best, room));
        allocation = allocate(&market, &mut prices);
    }
    let Counted { lines: counted, costs, .. } = prices;

    let mut shown: Vec<usize> = (0..offers.len()).filter(|&at| allocation.shown[at].is_some()).collect();
    shown.sort_by_key(|&at| {
        let offer = &offers[at];
        // Sections without dates keep the order of the offers, highest value first.
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
            *spent += costs[offer.section as usize].unwrap_or_default();
        }
        if let Some(at) = offer.day().and_then(|one| day_at.get(&one).copied()).filter(|at| day != Some(*at)) {
            day = Some(at);
            text.push_str(&headings[at]);
            *spent += costs[at].unwrap_or_default();
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

/// What a mark, a section's heading and a date line cost, about.
const HEADINGS_TOKENS: usize = 16;

/// Nanoseconds of a day.
const DAY_NANOSECONDS: i128 = 86_400_000_000_000;

/// Lower bound of a mark's cost: a mark in brackets is a separate word.
const MARK_LEAST: usize = 1;

/// Costs by the tokenizer. Counting is the most expensive step, so each text is counted lazily and once.
struct Counted<'a> {
    count: Count<'a>,
    line: &'a dyn Fn(usize, usize) -> String,
    headings: &'a [String],
    /// Lower bound of each line's cost, in its shortest form.
    leasts: Vec<usize>,
    /// Cached costs: lines by offer and form, and headings.
    lines: BTreeMap<(usize, usize), usize>,
    costs: Vec<Option<usize>>,
}

impl Prices for Counted<'_> {
    fn least(&self, at: usize) -> usize {
        self.leasts[at]
    }

    fn line(&mut self, at: usize, form: usize) -> usize {
        *self.lines.entry((at, form)).or_insert_with(|| (self.count)(&(self.line)(at, form)))
    }

    fn heading(&mut self, at: usize) -> usize {
        *self.costs[at].get_or_insert_with(|| (self.count)(&self.headings[at]))
    }
}

/// An offer with the parts that are shown.
pub(super) struct SettledOffer<'a> {
    section: Section,
    words: Option<&'a Quotation>,
    noted: Vec<&'a Noted>,
    /// Items it covers, including those whose own text adds nothing.
    ids: Vec<ItemId>,
    said_at: Option<Timestamp>,
    place: u64,
    value: f64,
    with: &'a [usize],
    covers: &'a [ItemId],
    /// Cached shortest form of the line, without its mark.
    first: OnceCell<String>,
}

/// Ends of the lead before a statement in somebody's own words: "User wants this kept: …".
const LEADS: [&str; 2] = [" said", " wants this kept"];

/// Settles every offer.
pub(super) fn settled(offers: &[Offer]) -> Vec<SettledOffer<'_>> {
    let mut table = TermTable::default();
    offers.iter().map(|offer| SettledOffer::of(offer, &mut table)).collect()
}

impl<'a> SettledOffer<'a> {
    /// Omits a statement that adds nothing to its quotation, and a quotation whose content a statement repeats and
    /// extends.
    fn of(offer: &'a Offer, table: &mut TermTable) -> Self {
        // A quotation without statements needs no comparison.
        let words = offer.words.as_ref().filter(|_| !offer.noted.is_empty());
        let said = words.map(|words| table.terms(&words.forms[0].0));
        // The word "user" adds nothing.
        let user = said.as_ref().map(|_| table.number_of_term(USER));
        let mut noted = Vec::with_capacity(offer.noted.len());
        let mut is_repeated = false;
        for one in &offer.noted {
            let adds = if let Some(said) = &said {
                let mut terms = table.terms(own_words(&one.text));
                let repeats = is_subset(said, &terms);
                terms.retain(|term| Some(*term) != user);
                let adds = !is_subset(&terms, said) || one.likely || one.remark.is_some();
                is_repeated |= adds && repeats;
                adds
            } else {
                true
            };
            noted.extend(adds.then_some(one));
        }
        is_repeated &= offer.words.as_ref().is_none_or(|words| words.remark.is_none());
        Self {
            section: offer.section,
            words: offer.words.as_ref().filter(|_| !is_repeated),
            noted,
            ids: ids(offer),
            said_at: offer.said_at,
            place: offer.place,
            value: offer.value,
            with: &offer.with,
            covers: &offer.covers,
            first: OnceCell::new(),
        }
    }

    /// The item that identifies the line: the source if its quotation is shown.
    fn id(&self) -> ItemId {
        let noted = self.noted.first().map(|noted| noted.id);
        self.words.map(|words| words.id).or(noted).unwrap_or(self.ids[0])
    }

    /// Leaves the quotation out if even its shortest form costs more than the room, and a statement says what matters
    /// of it.
    fn shorten(&mut self, room: usize, count: Count<'_>) {
        let may_be_long = || estimate_tokens(self.first()) * 2 > room;
        if self.words.is_some() && !self.noted.is_empty() && may_be_long() && count(self.first()) > room {
            (self.words, self.first) = (None, OnceCell::new());
        }
    }

    fn is_unconfirmed(&self) -> bool {
        let trust = self.words.map(|words| words.trust).or_else(|| self.noted.iter().map(|noted| noted.trust).min());
        trust.is_some_and(is_unconfirmed)
    }

    fn forms(&self) -> usize {
        self.words.map_or(1, |words| words.forms.len())
    }

    /// Day under which it is listed, in days since 1970.
    fn day(&self) -> Option<i32> {
        let time = self.said_at.filter(|_| self.section == Section::Found)?;
        i32::try_from(time.as_nanosecond().div_euclid(DAY_NANOSECONDS)).ok()
    }

    /// The line without its mark, in its shortest form.
    fn first(&self) -> &str {
        self.first.get_or_init(|| self.written(0))
    }

    /// The line without its mark.
    fn text(&self, form: usize) -> Cow<'_, str> {
        if form == 0 { Cow::Borrowed(self.first()) } else { Cow::Owned(self.written(form)) }
    }

    fn written(&self, form: usize) -> String {
        let noted = |one: &Noted, origin: &str| {
            let likely = if one.likely { "likely: " } else { "" };
            format!("{likely}{}{origin}{}", neutralise(&one.text), remark(one.remark.as_ref()))
        };
        let Some(words) = self.words else {
            // Without the quotation, the line has to name the origin.
            let from = |one: &Noted| if one.trust == Trust::Agent { " (from an assistant)" } else { "" };
            return self.noted.iter().map(|one| noted(one, from(one))).collect::<Vec<_>>().join("; ");
        };
        let said = words.forms.get(form).map_or("", |(text, _)| text);
        let beside: Vec<String> = self.noted.iter().map(|one| noted(one, "")).collect();
        let beside = if beside.is_empty() { String::new() } else { format!(" (noted: {})", beside.join("; ")) };
        let (speaker, said) = (neutralise(&words.speaker), neutralise(said));
        format!("{speaker}: {said}{}{beside}", remark(words.remark.as_ref()))
    }

    fn line(&self, mark: String, form: usize) -> PackLine {
        let id = self.id();
        let noted = self.noted.first();
        let said = self.words.and_then(|words| words.forms.get(form));
        PackLine {
            mark,
            id,
            kind: id.kind.as_str(),
            speaker: self.words.map(|words| words.speaker.clone()).unwrap_or_default(),
            said_at: self.said_at,
            trust: self.words.map(|words| words.trust).or(noted.map(|noted| noted.trust)).unwrap_or(Trust::Agent),
            span: said.map(|(_, span)| span.clone()),
            text: self.text(form).into_owned(),
            also: self.ids.iter().filter(|other| **other != id).copied().collect(),
        }
    }
}

/// Returns true for content that neither the user nor the assistant said and nobody confirmed.
fn is_unconfirmed(trust: Trust) -> bool {
    trust < Trust::Agent
}

/// How many of the offers are unconfirmed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unconfirmed {
    None,
    Some,
    All,
}

impl Unconfirmed {
    pub(super) fn of(offers: &[SettledOffer<'_>]) -> Self {
        match offers.iter().filter(|offer| offer.is_unconfirmed()).count() {
            0 => Self::None,
            all if all == offers.len() => Self::All,
            _ => Self::Some,
        }
    }
}

/// Removes the lead of a statement: "User said: no nuts" -> "no nuts".
fn own_words(statement: &str) -> &str {
    match statement.split_once(": ") {
        Some((lead, rest)) if LEADS.iter().any(|one| lead.ends_with(one)) => rest,
        _ => statement,
    }
}

fn remark(remark: Option<&String>) -> String {
    remark.map(|remark| format!(" ({})", neutralise(remark))).unwrap_or_default()
}

/// Removes duplicate wordings: of equal lines, the one of highest value stays. The others are shown only beside lines
/// that need them.
fn once(mut all: Vec<SettledOffer<'_>>) -> Vec<SettledOffer<'_>> {
    let mut best: FxHashMap<String, usize> = FxHashMap::default();
    for at in 0..all.len() {
        if all[at].value <= 0.0 {
            continue;
        }
        let wording = normal(all[at].first());
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
