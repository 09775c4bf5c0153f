//! Allocates a token budget to the lines with the highest value per token.

use std::collections::BTreeSet;

use crate::id::ItemId;

/// A candidate line.
#[derive(Debug, Clone, Default)]
pub(super) struct Bid {
    /// Value of the line, 0 to 1. A line of value 0 is shown only beside another.
    pub(super) value: f64,
    /// Estimated cost of its shortest form.
    pub(super) weight: usize,
    /// Number of forms, shortest first; at least one.
    pub(super) forms: usize,
    /// Index of its section.
    pub(super) section: usize,
    /// Lines it cannot be understood without.
    pub(super) with: Vec<usize>,
    /// Items it covers. Of lines that cover the same item only one is shown.
    pub(super) covers: Vec<ItemId>,
    /// Indices of the headings and date lines above it. Each is paid for once.
    pub(super) below: Vec<usize>,
}

/// The input of an allocation.
pub(super) struct Market<'a> {
    pub(super) bids: &'a [Bid],
    /// Number of headings and date lines.
    pub(super) headings: usize,
    /// The line that may spend more than the budget, and how many tokens: what is asked for is shown if it fits at all.
    pub(super) best: Option<(usize, usize)>,
    /// Sections with a number of tokens they may spend before the others.
    pub(super) floors: &'a [(usize, usize)],
    pub(super) budget: usize,
}

/// Costs in tokens. Counting tokens is expensive, so costs are computed lazily; they may be queried repeatedly.
pub(super) trait Prices {
    /// Lower bound of a line's cost, in its shortest form.
    fn least(&self, at: usize) -> usize;

    /// Cost of a line in a form.
    fn line(&mut self, at: usize, form: usize) -> usize;

    /// Cost of a heading or date line.
    fn heading(&mut self, at: usize) -> usize;
}

/// The result of an allocation.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Allocation {
    /// For each bid, the form in which it is shown; `None` if it is not.
    pub(super) shown: Vec<Option<usize>>,
    pub(super) spent: usize,
}

/// Added to a line's cost in comparisons, so that short lines are not preferred only for being short.
const ATTENTION: f64 = 24.0;

/// Spends a budget, which only the best line may exceed. Every line of positive value that fits is shown; the remaining
/// tokens buy longer forms.
pub(super) fn allocate(market: &Market<'_>, prices: &mut dyn Prices) -> Allocation {
    let count = market.bids.len();
    let mut desk = AllocationContext {
        market,
        prices,
        shown: vec![None; count],
        told: BTreeSet::new(),
        opened: vec![false; market.headings],
        spent: 0,
    };
    if let Some((at, limit)) = market.best {
        desk.take(at, limit);
    }
    let density = |at: usize| market.bids[at].value / (market.bids[at].weight as f64 + ATTENTION);
    let mut order: Vec<usize> = (0..count).filter(|&at| market.bids[at].value > 0.0).collect();
    order.sort_by(|&a, &b| density(b).total_cmp(&density(a)).then(a.cmp(&b)));
    for &(section, tokens) in market.floors {
        let limit = (desk.spent + tokens).min(market.budget);
        order.iter().filter(|&&at| market.bids[at].section == section).for_each(|&at| desk.take(at, limit));
    }
    // A line that did not fit may fit once another line under the same date is shown.
    loop {
        let before = desk.spent;
        order.iter().for_each(|&at| desk.take(at, market.budget));
        if desk.spent == before {
            break;
        }
    }
    let by_value = |a: &usize, b: &usize| market.bids[*b].value.total_cmp(&market.bids[*a].value).then(a.cmp(b));
    // Includes lines that are shown only beside others.
    let mut all: Vec<usize> = (0..count).collect();
    all.sort_by(by_value);
    all.iter().for_each(|&at| desk.lengthen(at));
    Allocation { spent: desk.spent, shown: desk.shown }
}

struct AllocationContext<'a, 'b> {
    market: &'a Market<'a>,
    prices: &'b mut dyn Prices,
    shown: Vec<Option<usize>>,
    told: BTreeSet<ItemId>,
    opened: Vec<bool>,
    spent: usize,
}

impl AllocationContext<'_, '_> {
    /// Shows a line and those it needs, if all of them fit.
    fn take(&mut self, at: usize, limit: usize) {
        if self.shown[at].is_some() || self.is_told(at) {
            return;
        }
        let bids = self.market.bids;
        let mut bundle = vec![at];
        for &other in &bids[at].with {
            if self.shown[other].is_none() && !self.is_told(other) && !bundle.contains(&other) {
                bundle.push(other);
            }
        }
        let headings: BTreeSet<usize> = bundle
            .iter()
            .flat_map(|&one| bids[one].below.iter().copied())
            .filter(|&heading| !self.opened[heading])
            .collect();
        // A cheap check: near the end of the budget, most lines are too long.
        let least: usize = bundle.iter().map(|&one| self.prices.least(one)).sum();
        if self.spent + least > limit {
            return;
        }
        let mut price: usize = headings.iter().map(|&heading| self.prices.heading(heading)).sum();
        for &one in &bundle {
            if self.spent + price >= limit {
                return;
            }
            price += self.prices.line(one, 0);
        }
        if self.spent + price > limit {
            return;
        }
        self.spent += price;
        headings.into_iter().for_each(|heading| self.opened[heading] = true);
        for one in bundle {
            self.shown[one] = Some(0);
            self.told.extend(&bids[one].covers);
        }
    }

    fn is_told(&self, at: usize) -> bool {
        self.market.bids[at].covers.iter().any(|item| self.told.contains(item))
    }

    /// Shows the longest form that fits in the remaining budget.
    fn lengthen(&mut self, at: usize) {
        let Some(shown) = self.shown[at] else { return };
        for form in (shown + 1..self.market.bids[at].forms).rev() {
            let short = self.prices.line(at, shown);
            let more = self.prices.line(at, form).saturating_sub(short);
            if self.spent + more <= self.market.budget {
                self.spent += more;
                self.shown[at] = Some(form);
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::id::ItemKind;

    fn bid(value: f64, weight: usize) -> Bid {
        Bid { value, weight, forms: 1, ..Bid::default() }
    }

    fn item(bits: u64) -> ItemId {
        ItemId { kind: ItemKind::Turn, bits }
    }

    /// Each longer form costs the weight again.
    struct Weights<'a> {
        bids: &'a [Bid],
        headings: &'a [usize],
        asked: BTreeSet<usize>,
    }

    impl<'a> Weights<'a> {
        fn of(bids: &'a [Bid], headings: &'a [usize]) -> Self {
            Self { bids, headings, asked: BTreeSet::new() }
        }
    }

    impl Prices for Weights<'_> {
        fn least(&self, at: usize) -> usize {
            self.bids[at].weight.saturating_sub(2)
        }

        fn line(&mut self, at: usize, form: usize) -> usize {
            self.asked.insert(at);
            self.bids[at].weight * (form + 1)
        }

        fn heading(&mut self, at: usize) -> usize {
            self.headings[at]
        }
    }

    fn shown(bids: &[Bid], headings: &[usize], floors: &[(usize, usize)], budget: usize) -> Vec<usize> {
        let market = Market { bids, headings: headings.len(), best: None, floors, budget };
        let made = allocate(&market, &mut Weights::of(bids, headings));
        (0..bids.len()).filter(|&at| made.shown[at].is_some()).collect()
    }

    #[test]
    fn the_best_for_its_tokens_comes_first() {
        let with = |bid: Bid, with: &[usize]| Bid { with: with.to_vec(), ..bid };
        let covers = |bid: Bid, bits: &[u64]| Bid { covers: bits.iter().map(|&bits| item(bits)).collect(), ..bid };
        let below = |bid: Bid, heading: usize| Bid { below: vec![heading], ..bid };
        type Case<'a> = (&'a str, Vec<Bid>, &'a [usize], &'a [(usize, usize)], usize, &'a [usize]);
        let cases: [Case<'_>; 10] = [
            ("everything fits", vec![bid(0.9, 20), bid(0.1, 20)], &[], &[], 100, &[0, 1]),
            ("the better one", vec![bid(0.1, 20), bid(0.9, 20)], &[], &[], 30, &[1]),
            ("two short ones before a long one", vec![bid(0.6, 60), bid(0.5, 20), bid(0.5, 20)], &[], &[], 60, &[1, 2]),
            ("what is left is filled", vec![bid(0.9, 50), bid(0.8, 50), bid(0.01, 10)], &[], &[], 65, &[0, 2]),
            ("nothing worthless", vec![bid(0.9, 10), bid(0.0, 10)], &[], &[], 100, &[0]),
            ("what it leans on", vec![with(bid(0.9, 10), &[1]), bid(0.0, 10)], &[], &[], 100, &[0, 1]),
            ("not without it", vec![with(bid(0.9, 10), &[1]), bid(0.0, 30), bid(0.1, 10)], &[], &[], 30, &[2]),
            ("each told once", vec![covers(bid(0.5, 40), &[1, 2]), covers(bid(0.9, 10), &[2])], &[], &[], 100, &[1]),
            ("a floor", vec![bid(0.9, 30), Bid { section: 1, ..bid(0.1, 10) }], &[], &[(1, 10)], 35, &[1]),
            ("headings count", vec![below(bid(0.9, 10), 0), below(bid(0.8, 10), 1)], &[5, 30], &[], 40, &[0]),
        ];
        for (what, bids, headings, floors, budget, expected) in cases {
            assert_eq!(shown(&bids, headings, floors, budget), expected, "{what}");
        }
    }

    #[test]
    fn longer_forms_are_for_what_is_left() {
        let bids = [Bid { forms: 2, ..bid(0.5, 20) }, Bid { forms: 2, ..bid(0.9, 20) }];
        let market = Market { bids: &bids, headings: 0, best: None, floors: &[], budget: 65 };
        assert_eq!(allocate(&market, &mut Weights::of(&bids, &[])).shown, [Some(0), Some(1)]);
    }

    #[test]
    fn what_cannot_fit_at_first_sight_is_not_counted() {
        let bids: Vec<Bid> = (0..50).map(|at| bid(0.9 - f64::from(at) / 100.0, 20)).collect();
        let market = Market { bids: &bids, headings: 0, best: None, floors: &[], budget: 110 };
        let mut prices = Weights::of(&bids, &[]);
        assert_eq!(allocate(&market, &mut prices).spent, 100);
        assert_eq!(prices.asked.len(), 5);
    }

    prop_compose! {
        fn a_bid(count: usize)(
            value in prop_oneof![Just(0.0), 0.01f64..1.0], weight in 1usize..60, forms in 1usize..3, section in 0usize..2,
            with in prop::collection::vec(0..count, 0..2), covers in prop::collection::vec(0u64..12, 0..2),
            below in prop::collection::vec(0usize..3, 0..2),
        ) -> Bid {
            let covers = covers.into_iter().map(item).collect();
            Bid { value, weight, forms, section, with, covers, below }
        }
    }

    proptest! {
        #[test]
        fn a_budget_is_kept_and_used(
            bids in (1usize..14).prop_flat_map(|count| prop::collection::vec(a_bid(count), count)),
            floor in 0usize..50, budget in 0usize..300,
        ) {
            let (headings, floors) = ([3, 7, 5], [(1, floor)]);
            let market = Market { bids: &bids, headings: headings.len(), best: None, floors: &floors, budget };
            let cost = |at: usize, form: usize| bids[at].weight * (form + 1);
            let made = allocate(&market, &mut Weights::of(&bids, &headings));
            prop_assert_eq!(&made, &allocate(&market, &mut Weights::of(&bids, &headings)));
            prop_assert!(made.spent <= budget);
            // The tokens spent are those of the lines shown.
            let mut opened = BTreeSet::new();
            let mut told = BTreeSet::new();
            let mut spent = 0;
            for (at, form) in made.shown.iter().enumerate().filter_map(|(at, form)| Some((at, (*form)?))) {
                spent += cost(at, form);
                opened.extend(bids[at].below.iter().copied());
                told.extend(bids[at].covers.iter().copied());
            }
            spent += opened.iter().map(|&heading: &usize| headings[heading]).sum::<usize>();
            prop_assert_eq!(spent, made.spent);
            // A line of positive value that is not shown did not fit or is already covered.
            for (at, bid) in bids.iter().enumerate().filter(|(at, bid)| made.shown[*at].is_none() && bid.value > 0.0) {
                let is_told = |at: usize| bids[at].covers.iter().any(|item| told.contains(item));
                let others = bid.with.iter().filter(|&&one| one != at && made.shown[one].is_none() && !is_told(one));
                let bundle: BTreeSet<usize> = others.copied().chain([at]).collect();
                let above: BTreeSet<usize> = bundle.iter().flat_map(|&one| bids[one].below.iter().copied()).collect();
                let above = above.difference(&opened).map(|&heading| headings[heading]).sum::<usize>();
                let price: usize = bundle.iter().map(|&one| bids[one].weight).sum::<usize>() + above;
                prop_assert!(is_told(at) || made.shown.iter().flatten().any(|form| *form > 0) || made.spent + price >= budget);
            }
        }
    }
}
