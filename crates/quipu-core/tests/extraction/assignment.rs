//! Which find stands for which label, one to one.

/// A label may be met in several shapes; each shape is a slot. `agrees[slot][find]` says what may stand for what;
/// `required` lists the slots of each label that must be met. Returns the find in each slot.
///
/// As many required labels as possible are met, then as many finds as possible are placed.
pub(crate) fn assign(agrees: &[Vec<bool>], finds: usize, required: &[Vec<usize>]) -> Vec<Option<usize>> {
    let mut slot_of = vec![None; finds];
    for slots in required {
        // A path that places one slot never empties another.
        slots.iter().any(|&slot| place(slot, agrees, &mut vec![false; finds], &mut slot_of));
    }
    for slot in 0..agrees.len() {
        if !slot_of.contains(&Some(slot)) {
            place(slot, agrees, &mut vec![false; finds], &mut slot_of);
        }
    }
    let mut find_in = vec![None; agrees.len()];
    for (find, slot) in slot_of.iter().enumerate() {
        if let Some(slot) = slot {
            find_in[*slot] = Some(find);
        }
    }
    find_in
}

/// Places a find in the slot, moving those already placed to other slots where that helps.
fn place(slot: usize, agrees: &[Vec<bool>], seen: &mut [bool], slot_of: &mut [Option<usize>]) -> bool {
    for find in 0..slot_of.len() {
        if !agrees[slot][find] || seen[find] {
            continue;
        }
        seen[find] = true;
        let free = match slot_of[find] {
            None => true,
            Some(other) => place(other, agrees, seen, slot_of),
        };
        if free {
            slot_of[find] = Some(slot);
            return true;
        }
    }
    false
}

#[test]
fn a_slot_takes_one_find() {
    let agrees = [vec![true, true]];
    assert_eq!(assign(&agrees, 2, &[vec![0]]), [Some(0)]);
}

#[test]
fn a_find_moves_over_for_another() {
    // The first find fits both labels, the second only the first.
    let agrees = [vec![true, true], vec![true, false]];
    assert_eq!(assign(&agrees, 2, &[vec![0], vec![1]]), [Some(1), Some(0)]);
}

#[test]
fn what_is_required_comes_before_what_is_optional() {
    // Slot 0 is optional, slot 1 required; there is one find, which fits both.
    let agrees = [vec![true], vec![true]];
    assert_eq!(assign(&agrees, 1, &[vec![1]]), [None, Some(0)]);
}

#[test]
fn one_shape_of_a_label_does_not_take_the_only_find_of_another_label() {
    // Label A has slots 0 and 1, label B slot 2. Find 0 fits all three, find 1 only slot 1.
    let agrees = [vec![true, false], vec![true, true], vec![true, false]];
    let placed = assign(&agrees, 2, &[vec![0, 1], vec![2]]);
    assert!(placed[2].is_none() || placed[0].is_none());
    assert_eq!(placed.iter().flatten().count(), 2);
}

#[test]
fn nothing_found_is_nothing_placed() {
    assert_eq!(assign(&[vec![], vec![]], 0, &[vec![0], vec![1]]), [None, None]);
}
