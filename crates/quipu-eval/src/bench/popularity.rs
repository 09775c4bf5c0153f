//! A Zipf-like distribution of requests over users, and the share of requests that finds a memory open if a number of memories
//! is kept open, the least recently used ones being closed.

use std::collections::HashMap;

/// Users by popularity: the chance of the user of rank `r`, from 1, is proportional to `r^-skew`.
pub(super) struct Popularity {
    /// Chance of a user or a more popular one.
    up_to: Vec<f64>,
    state: u64,
}

impl Popularity {
    pub(super) fn new(users: usize, skew: f64, seed: u64) -> Self {
        let mut sum = 0.0;
        let mut up_to: Vec<f64> = (1..=users)
            .map(|rank| {
                sum += (rank as f64).powf(-skew);
                sum
            })
            .collect();
        up_to.iter_mut().for_each(|share| *share /= sum);
        Self { up_to, state: seed | 1 }
    }

    /// The user of the next request, the most popular one being 0.
    pub(super) fn next(&mut self) -> usize {
        // xorshift64*
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        let uniform = (self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 53) as f64;
        self.up_to.partition_point(|&share| share <= uniform).min(self.up_to.len() - 1)
    }
}

/// The share of requests that finds its user among the `open` users that were used last, for each of several numbers. The first
/// `warming` requests are not counted.
///
/// A request finds it if fewer than `open` other users were used since its user was. These counts do not depend on `open`
/// (Mattson et al., 1970), so one pass is enough.
pub(super) fn found_open(requests: &[usize], warming: usize, open: &[usize]) -> Vec<f64> {
    // A one at the place of the last request of each user, in a Fenwick tree.
    let mut ones = vec![0u32; requests.len() + 1];
    let mut last: HashMap<usize, usize> = HashMap::new();
    let mut found = vec![0u64; open.len()];
    for (place, user) in requests.iter().enumerate() {
        if let Some(before) = last.insert(*user, place) {
            let others = (up_to(&ones, place) - up_to(&ones, before + 1)) as usize;
            if place >= warming {
                for (count, &open) in found.iter_mut().zip(open) {
                    *count += u64::from(others < open);
                }
            }
            add(&mut ones, before, u32::MAX);
        }
        add(&mut ones, place, 1);
    }
    let counted = requests.len().saturating_sub(warming).max(1) as f64;
    found.into_iter().map(|count| count as f64 / counted).collect()
}

/// Sum of the places before `end`.
fn up_to(tree: &[u32], end: usize) -> u32 {
    let (mut at, mut sum) = (end, 0u32);
    while at > 0 {
        sum = sum.wrapping_add(tree[at]);
        at &= at - 1;
    }
    sum
}

/// Adds to a place; `u32::MAX` subtracts one.
fn add(tree: &mut [u32], place: usize, value: u32) {
    let mut at = place + 1;
    while let Some(sum) = tree.get_mut(at) {
        *sum = sum.wrapping_add(value);
        at += at & at.wrapping_neg();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(one: f64, other: f64, within: f64) {
        assert!((one - other).abs() < within, "{one} is not {other}");
    }

    #[test]
    fn popular_users_have_their_share() {
        let mut popularity = Popularity::new(1000, 1.0, 7);
        let mut counts = vec![0u32; 1000];
        for _ in 0..200_000 {
            counts[popularity.next()] += 1;
        }
        // 1 / H(1000), and half of it.
        near(f64::from(counts[0]) / 200_000.0, 0.1336, 0.004);
        near(f64::from(counts[1]) / 200_000.0, 0.0668, 0.003);
        assert!(counts[900..].iter().sum::<u32>() > 1000, "the tail is asked as well");
    }

    #[test]
    fn shares_found_open_by_hand() {
        // The second and third 1 are 0 and 2 other users after the one before, the second 2 is 1 after.
        let requests = [1, 1, 2, 3, 2, 1];
        let shares = found_open(&requests, 0, &[1, 2, 3]);
        near(shares[0], 1.0 / 6.0, 1e-12);
        near(shares[1], 2.0 / 6.0, 1e-12);
        near(shares[2], 3.0 / 6.0, 1e-12);
        near(found_open(&requests, 5, &[3])[0], 1.0, 1e-12);
    }

    #[test]
    fn the_pass_agrees_with_a_queue() {
        let mut popularity = Popularity::new(300, 0.9, 3);
        let requests: Vec<usize> = (0..5_000).map(|_| popularity.next()).collect();
        for open in [1, 10, 100] {
            let (mut queue, mut found) = (Vec::<usize>::new(), 0u32);
            for user in &requests {
                if let Some(place) = queue.iter().position(|one| one == user) {
                    found += 1;
                    queue.remove(place);
                }
                queue.insert(0, *user);
                queue.truncate(open);
            }
            near(found_open(&requests, 0, &[open])[0], f64::from(found) / 5_000.0, 1e-12);
        }
    }
}
