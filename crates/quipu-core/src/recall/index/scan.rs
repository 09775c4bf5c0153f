//! The loops over all vectors: integer dot products and Hamming distances.
//!
//! Plain loops, compiled once for each instruction set and selected at run time. All give the same integers.
#![expect(
    unsafe_code,
    reason = "a function compiled for an instruction set may only be called where the processor has it"
)]

/// Dot products of a query with consecutive rows of the same length; `rows` is a whole number of rows.
///
/// The result fits an `i32` up to 131,071 dimensions.
pub(in crate::recall) fn dots(query: &[i8], rows: &[i8], found: &mut Vec<i32>) {
    found.clear();
    if query.is_empty() {
        return;
    }
    match level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `level` found the instruction set.
        Level::Avx512 => unsafe { dots_avx512(query, rows, found) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `level` found the instruction set.
        Level::Avx2 => unsafe { dots_avx2(query, rows, found) },
        Level::Portable => dots_portable(query, rows, found),
    }
}

/// Dot products of a query with the chosen rows, in the order of `chosen`. A missing row gives 0.
pub(in crate::recall) fn dots_at(query: &[i8], rows: &[i8], chosen: &[u32], found: &mut Vec<i32>) {
    found.clear();
    match level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `level` found the instruction set.
        Level::Avx512 => unsafe { dots_at_avx512(query, rows, chosen, found) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `level` found the instruction set.
        Level::Avx2 => unsafe { dots_at_avx2(query, rows, chosen, found) },
        Level::Portable => dots_at_portable(query, rows, chosen, found),
    }
}

/// Hamming distances of a query to every row.
pub(in crate::recall) fn hammings(query: &[u64], rows: &[u64], found: &mut Vec<u16>) {
    found.clear();
    if query.is_empty() {
        return;
    }
    match level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `level` found the instruction set.
        Level::Avx512 => unsafe { hammings_avx512(query, rows, found) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `level` found the instruction set.
        Level::Avx2 => unsafe { hammings_avx2(query, rows, found) },
        Level::Portable => hammings_portable(query, rows, found),
    }
}

/// For every code, the number of its set bits, and the number that are also set in each plane, weighted by powers of
/// two.
pub(in crate::recall) fn overlaps(planes: &[[u64; 3]; 4], codes: &[[u64; 3]], found: &mut Vec<(u32, u32)>) {
    found.clear();
    match level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `level` found the instruction set.
        Level::Avx512 => unsafe { overlaps_avx512(planes, codes, found) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `level` found the instruction set.
        Level::Avx2 => unsafe { overlaps_avx2(planes, codes, found) },
        Level::Portable => overlaps_portable(planes, codes, found),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Portable,
}

fn level() -> Level {
    #[cfg(target_arch = "x86_64")]
    {
        if has_avx512() {
            return Level::Avx512;
        }
        if has_avx2() {
            return Level::Avx2;
        }
    }
    Level::Portable
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    has_avx2()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vpopcntdq")
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt")
}

/// Compiles a loop for every instruction set.
macro_rules! compiled_for_each_level {
    ($body:ident, $portable:ident, $avx2:ident, $avx512:ident, ($($name:ident: $type:ty),*)) => {
        fn $portable($($name: $type),*) {
            $body($($name),*);
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,popcnt")]
        fn $avx2($($name: $type),*) {
            $body($($name),*);
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,popcnt,avx512f,avx512bw,avx512vl,avx512vpopcntdq")]
        fn $avx512($($name: $type),*) {
            $body($($name),*);
        }
    };
}

compiled_for_each_level!(dots_body, dots_portable, dots_avx2, dots_avx512, (query: &[i8], rows: &[i8], found: &mut Vec<i32>));
compiled_for_each_level!(dots_at_body, dots_at_portable, dots_at_avx2, dots_at_avx512, (query: &[i8], rows: &[i8], chosen: &[u32], found: &mut Vec<i32>));
compiled_for_each_level!(hammings_body, hammings_portable, hammings_avx2, hammings_avx512, (query: &[u64], rows: &[u64], found: &mut Vec<u16>));

compiled_for_each_level!(overlaps_body, overlaps_portable, overlaps_avx2, overlaps_avx512, (planes: &[[u64; 3]; 4], codes: &[[u64; 3]], found: &mut Vec<(u32, u32)>));

// Plain loops without closures: a closure passed to an adapter becomes a separate function, compiled without the
// instruction set. Nothing wraps up to 131,071 dimensions; overflow checks would prevent vectorisation.

#[inline(always)]
fn dot(a: &[i8], b: &[i8]) -> i32 {
    // Whole blocks first: their length is constant, so they compile to straight-line code.
    let (blocks_a, rest_a) = a.as_chunks::<64>();
    let (blocks_b, rest_b) = b.as_chunks::<64>();
    let mut sum = products(rest_a, rest_b);
    for (a, b) in blocks_a.iter().zip(blocks_b) {
        sum = sum.wrapping_add(products(a, b));
    }
    sum
}

#[inline(always)]
fn products(a: &[i8], b: &[i8]) -> i32 {
    let mut sum = 0i32;
    for (&a, &b) in a.iter().zip(b) {
        sum = sum.wrapping_add(i32::from(a).wrapping_mul(i32::from(b)));
    }
    sum
}

#[inline(always)]
fn dots_body(query: &[i8], rows: &[i8], found: &mut Vec<i32>) {
    found.resize(rows.len() / query.len(), 0);
    for (found, row) in found.iter_mut().zip(rows.chunks_exact(query.len())) {
        *found = dot(query, row);
    }
}

#[inline(always)]
fn dots_at_body(query: &[i8], rows: &[i8], chosen: &[u32], found: &mut Vec<i32>) {
    found.resize(chosen.len(), 0);
    for (found, &number) in found.iter_mut().zip(chosen) {
        let start = (number as usize).wrapping_mul(query.len());
        if let Some(row) = rows.get(start..start.wrapping_add(query.len())) {
            *found = dot(query, row);
        }
    }
}

#[inline(always)]
fn hammings_body(query: &[u64], rows: &[u64], found: &mut Vec<u16>) {
    found.resize(rows.len() / query.len(), 0);
    // A loop of constant length for 384 dimensions, those of the default model.
    if let (Ok(query), (rows, [])) = (<&[u64; 6]>::try_from(query), rows.as_chunks::<6>()) {
        for (found, row) in found.iter_mut().zip(rows) {
            *found = differing(query, row);
        }
    } else {
        for (found, row) in found.iter_mut().zip(rows.chunks_exact(query.len())) {
            *found = differing(query, row);
        }
    }
}

#[inline(always)]
fn differing(a: &[u64], b: &[u64]) -> u16 {
    let mut sum = 0u32;
    for (&a, &b) in a.iter().zip(b) {
        sum = sum.wrapping_add((a ^ b).count_ones());
    }
    sum as u16
}

#[inline(always)]
fn overlaps_body(planes: &[[u64; 3]; 4], codes: &[[u64; 3]], found: &mut Vec<(u32, u32)>) {
    found.resize(codes.len(), (0, 0));
    for (found, code) in found.iter_mut().zip(codes) {
        let (mut ones, mut weighted) = (0u32, 0u32);
        for word in 0..3 {
            ones = ones.wrapping_add(code[word].count_ones());
            for (weight, plane) in planes.iter().enumerate() {
                weighted = weighted.wrapping_add((plane[word] & code[word]).count_ones() << weight);
            }
        }
        *found = (ones, weighted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(seed: u64, count: usize) -> Vec<i8> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as i8
        };
        (0..count).map(|_| next().max(-127)).collect()
    }

    #[test]
    fn every_instruction_set_gives_the_same_integers() {
        for dimensions in [1, 7, 63, 64, 65, 256, 384, 1000] {
            let query = bytes(1, dimensions);
            let rows = bytes(2, dimensions * 9);
            let expected: Vec<i32> = rows
                .chunks_exact(dimensions)
                .map(|row| row.iter().zip(&query).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum())
                .collect();
            let chosen = [8, 0, 3, 9];
            let expected_at = [expected[8], expected[0], expected[3], 0];
            let (mut found, mut found_at) = (Vec::new(), Vec::new());
            dots(&query, &rows, &mut found);
            dots_at(&query, &rows, &chosen, &mut found_at);
            assert_eq!((&found, found_at.as_slice()), (&expected, expected_at.as_slice()));
            found.clear();
            dots_portable(&query, &rows, &mut found);
            assert_eq!(found, expected);
            #[cfg(target_arch = "x86_64")]
            if has_avx2() {
                found.clear();
                // SAFETY: checked in the line before.
                unsafe { dots_avx2(&query, &rows, &mut found) };
                assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn every_instruction_set_counts_the_same_bits() {
        for words in [1, 2, 6, 7, 12] {
            let row = |seed| {
                bytes(seed, words * 8)
                    .chunks_exact(8)
                    .map(|b| b.iter().fold(0, |all, &x| all << 8 | u64::from(x as u8)))
                    .collect::<Vec<u64>>()
            };
            let query = row(1);
            let rows: Vec<u64> = (2..9).flat_map(row).collect();
            let expected: Vec<u16> = rows
                .chunks_exact(words)
                .map(|row| row.iter().zip(&query).map(|(a, b)| (a ^ b).count_ones() as u16).sum())
                .collect();
            let mut found = Vec::new();
            hammings(&query, &rows, &mut found);
            assert_eq!(found, expected);
            found.clear();
            hammings_portable(&query, &rows, &mut found);
            assert_eq!(found, expected);
            #[cfg(target_arch = "x86_64")]
            if has_avx2() {
                found.clear();
                // SAFETY: checked in the line before.
                unsafe { hammings_avx2(&query, &rows, &mut found) };
                assert_eq!(found, expected);
            }
        }
    }
}
