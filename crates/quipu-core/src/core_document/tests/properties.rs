//! Properties of all documents and patches.

use json_patch::jsonptr::Pointer;
use json_patch::{PatchOperation, RemoveOperation};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::patch;
use crate::core_document::measure::measure;
use crate::core_document::{Patch, apply, describe, diff, guarded, replay};
use crate::limit;

/// Few names, so that documents and patches overlap; they include all that pointers treat specially.
const NAMES: [&str; 9] = ["a", "b", "id", "name", "0", "1", "-", "~/", ""];

fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-2i64..3).prop_map(Value::from),
        prop_oneof![Just(0.0), Just(-0.0), Just(0.1), Just(1.0)].prop_map(|number: f64| json!(number)),
        "[xyé\"\\\\\n]{0,3}".prop_map(Value::from),
    ];
    scalar.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::btree_map(prop::sample::select(&NAMES[..]), inner, 0..5)
                .prop_map(|members| members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    })
}

fn pointer() -> impl Strategy<Value = String> {
    proptest::collection::vec(prop::sample::select(&NAMES[..]), 0..4)
        .prop_map(|tokens| json_patch::jsonptr::PointerBuf::from_tokens(tokens).to_string())
}

fn operation() -> impl Strategy<Value = Value> {
    prop_oneof![
        (pointer(), value()).prop_map(|(path, value)| json!({"op": "add", "path": path, "value": value})),
        (pointer(), value()).prop_map(|(path, value)| json!({"op": "replace", "path": path, "value": value})),
        pointer().prop_map(|path| json!({"op": "remove", "path": path})),
        (pointer(), pointer()).prop_map(|(from, path)| json!({"op": "move", "from": from, "path": path})),
        (pointer(), pointer()).prop_map(|(from, path)| json!({"op": "copy", "from": from, "path": path})),
    ]
}

/// A patch of the operations that apply in sequence, with at most one that does not.
fn fitting(document: &Value, ops: Vec<Value>, keep_first_fault: bool) -> Patch {
    let mut fits = Patch::default();
    for op in ops {
        let mut longer = fits.clone();
        longer.0.extend(patch(json!([op])).0);
        let applies = apply(document, &longer).is_ok();
        if applies || keep_first_fault {
            fits = longer;
        }
        if !applies && keep_first_fault {
            break;
        }
    }
    fits
}

fn operations() -> impl Strategy<Value = Vec<Value>> {
    proptest::collection::vec(operation(), 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_diff_leads_from_one_document_to_the_other(from in value(), to in value()) {
        let found = diff(&from, &to);
        prop_assert_eq!(apply(&from, &found), Ok(to.clone()), "{}", found);
        prop_assert_eq!(found.is_empty(), from == to);
        prop_assert_eq!(describe(&from, &to).is_empty(), from == to);
    }

    #[test]
    fn applying_agrees_with_the_reference_and_stays_in_bounds(document in value(), ops in operations(), strict in any::<bool>()) {
        let patch = fitting(&document, ops, strict);
        let mut reference = document.clone();
        let mut allowed = true;
        for op in patch.iter() {
            allowed &= json_patch::patch(&mut reference, std::slice::from_ref(op)).is_ok() && measure(&reference).is_ok();
            if !allowed {
                break;
            }
        }
        match apply(&document, &patch) {
            Ok(result) => {
                prop_assert_eq!(&result, &reference);
                prop_assert!(result.to_string().len() <= limit::CORE_BYTES_MAX);
            }
            Err(fault) => prop_assert!(!allowed, "{}", fault),
        }
    }

    #[test]
    fn guarding_changes_nothing_on_the_document_at_hand(document in value(), ops in operations(), strict in any::<bool>()) {
        let patch = fitting(&document, ops, strict);
        let plain = apply(&document, &patch);
        let guarded = guarded(&document, &patch);
        match (plain, guarded) {
            (Ok(result), Ok(guarded)) => {
                prop_assert_eq!(apply(&document, &guarded), Ok(result.clone()), "{}", guarded);
                prop_assert_eq!(replay(&document, &guarded), Ok(result), "{}", guarded);
                prop_assert_eq!(crate::core_document::guarded(&document, &guarded), Ok(guarded.clone()), "guarding twice");
            }
            (plain, guarded) => prop_assert_eq!(plain.map(|_| ()), guarded.map(|_| ())),
        }
    }

    #[test]
    fn a_guarded_patch_touches_the_same_values_everywhere(document in value(), before in operations(), ops in operations()) {
        let patch = guarded(&document, &fitting(&document, ops, false));
        let patch = patch.map_err(|fault| TestCaseError::fail(fault.to_string()))?;
        // The other document has a different history, as after a revert.
        let other = apply(&document, &fitting(&document, before, false));
        let other = other.map_err(|fault| TestCaseError::fail(fault.to_string()))?;
        if replay(&other, &patch).is_ok() {
            let (mut here, mut there) = (document, other);
            for op in patch.iter() {
                prop_assert!(same_loss(&here, &there, op), "{} on {} and {}", op, here, there);
                for document in [&mut here, &mut there] {
                    let done = json_patch::patch(document, std::slice::from_ref(op));
                    prop_assert!(done.is_ok());
                }
            }
        }
    }
}

/// True if the operation removes, reads or overwrites the same values in both documents.
fn same_loss(here: &Value, there: &Value, op: &PatchOperation) -> bool {
    let same = |path: &Pointer| here.pointer(path.as_str()) == there.pointer(path.as_str());
    let overwritten = |document: &Value, path: &Pointer| match path.split_back() {
        None => Some(document.clone()),
        Some((parent, last)) => document.pointer(parent.as_str())?.as_object()?.get(last.decoded().as_ref()).cloned(),
    };
    let same_target = |path: &Pointer| {
        let lost = overwritten(there, path);
        lost.is_none() || lost == overwritten(here, path)
    };
    match op {
        PatchOperation::Test(test) => same(&test.path),
        PatchOperation::Remove(remove) => same(&remove.path),
        PatchOperation::Replace(replace) => same(&replace.path),
        PatchOperation::Add(add) => same_target(&add.path),
        PatchOperation::Copy(copy) => same(&copy.from) && same_target(&copy.path),
        PatchOperation::Move(relocation) => {
            let without = |document: &Value| {
                let mut document = document.clone();
                let remove = PatchOperation::Remove(RemoveOperation { path: relocation.from.clone() });
                json_patch::patch(&mut document, &[remove]).is_ok().then_some(document)
            };
            let (Some(here), Some(there)) = (without(here), without(there)) else { return false };
            let lost = overwritten(&there, &relocation.path);
            same(&relocation.from) && (lost.is_none() || lost == overwritten(&here, &relocation.path))
        }
    }
}
