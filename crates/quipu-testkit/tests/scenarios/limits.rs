//! Refused requests change nothing; repeated requests have one effect.

use quipu_core::{core_document, limit};
use quipu_engine::{CoreEdit, Error, PatchOptions, RememberOptions, Utterance, edit_core, remember, status};
use quipu_testkit::{MemoryStore, engine, tale::check};
use serde_json::json;

use crate::{me, said};

#[test]
fn a_key_answers_the_same_request_again_and_refuses_another() {
    check(
        "idempotency keys",
        r#"
given said "I live in Lyon" key k1
when  said "I live in Lyon" key k1
then  replayed
      version 1
      says "I live in Lyon"
      refused Refused said "I live in Porto" key k1
when  said "I live in Porto" key k2
then  version 2
given reopen
when  said "I live in Lyon" key k1
then  replayed
      version 2
when  revert 1
and   said "I live in Lyon" key k1
then  replayed
      version 3
      says "I live in Porto"
when  erase 2
then  refused Refused said "I live in Porto" key k2
      version 4
      says nothing
"#,
    );
}

#[test]
fn a_key_of_the_core_document_replays_too() {
    let engine = engine(Box::new(MemoryStore::new()));
    let options = PatchOptions { idempotency_key: Some("k".to_owned()), ..PatchOptions::default() };
    let set = |value: i32| CoreEdit::Set("/uncategorized/n".to_owned(), json!(value));
    let first = edit_core(&engine, &me(), &set(1), &options).unwrap();
    edit_core(&engine, &me(), &set(2), &PatchOptions::default()).unwrap();
    let again = edit_core(&engine, &me(), &set(1), &options).unwrap();
    assert_eq!((again.seq, again.hash, again.replayed), (first.seq, first.hash, true));
    assert!(matches!(edit_core(&engine, &me(), &set(3), &options), Err(Error::Refused(_))));
    assert_eq!(status(&engine, &me()).unwrap().version, 2);
}

#[test]
fn a_document_that_would_not_be_valid_is_refused() {
    check(
        "schemas",
        r#"
given set /identity/name "Ana"
then  refused Refused set /identity/age -1
      refused Refused set /identity/name ""
      refused Refused set /shoes {"size": 40}
      refused Refused set /identity/name/first "Ana"
      refused Invalid set /_meta/version 7
      refused Invalid set identity "no pointer"
      refused NotFound unset /identity/age
      refused Refused patch [{"op": "test", "path": "/identity/name", "value": "Bea"}]
      refused Refused patch [{"op": "replace", "path": "/identity/name", "value": "Bea"}, {"op": "remove", "path": "/x"}]
      core /identity {"name": "Ana"}
      version 1
"#,
    );
}

#[test]
fn a_patch_over_its_bounds_is_refused() {
    // given a core document
    let engine = engine(Box::new(MemoryStore::new()));
    edit_core(&engine, &me(), &CoreEdit::Set("/uncategorized/a".to_owned(), json!("x")), &PatchOptions::default())
        .unwrap();
    let before = status(&engine, &me()).unwrap();
    let many = vec![json!({"op": "test", "path": "/uncategorized/a", "value": "x"}); limit::PATCH_OPS_MAX];
    let adding = |n: usize| json!({"op": "add", "path": format!("/uncategorized/k{n}"), "value": n});
    let doubling =
        |n: usize| json!({"op": "copy", "from": "/uncategorized", "path": format!("/uncategorized/copy{n}")});
    let deep = (0..limit::CORE_DEPTH_MAX + 2).fold(json!(0), |inner, _| json!({ "d": inner }));
    let patches = [
        (0..=limit::PATCH_OPS_MAX).map(adding).collect::<Vec<_>>(),
        (0..30).map(doubling).collect(),
        vec![json!({"op": "add", "path": "/uncategorized/deep", "value": deep})],
        vec![json!({"op": "add", "path": "/uncategorized/big", "value": "x".repeat(limit::CORE_BYTES_MAX)})],
        vec![json!({"op": "add", "path": "/uncategorized/nul", "value": "\u{0}"})],
    ];
    for patch in patches {
        // when a patch exceeds the limits
        let text = serde_json::Value::Array(patch).to_string();
        let outcome = match core_document::parse(&text) {
            Ok(patch) => edit_core(&engine, &me(), &CoreEdit::Patch(patch), &PatchOptions::default()),
            Err(refusal) => Err(refusal.into()),
        };
        // then it is refused and nothing is appended
        let start: String = text.chars().take(100).collect();
        assert!(matches!(outcome, Err(Error::Invalid(_) | Error::Refused(_))), "{start}: {outcome:?}");
        let after = status(&engine, &me()).unwrap();
        assert_eq!((&after.head, after.version), (&before.head, before.version), "{start}");
    }
    // and a patch at the limits is accepted
    let patch = core_document::parse(&serde_json::Value::Array(many).to_string()).unwrap();
    edit_core(&engine, &me(), &CoreEdit::Patch(patch), &PatchOptions::default()).unwrap();
}

#[test]
fn texts_no_memory_takes_are_refused() {
    let engine = engine(Box::new(MemoryStore::new()));
    said(&engine, &["first"]);
    let long = "x".repeat(limit::SOURCE_BYTES_MAX + 1);
    for text in ["", " \n\t ", "nul \u{0} inside", &long] {
        let outcome = remember(&engine, &me(), &Utterance::of_user(text), &RememberOptions::default());
        assert!(
            matches!(outcome, Err(Error::Invalid(_))),
            "{:?}…: {outcome:?}",
            text.chars().take(20).collect::<String>()
        );
    }
    let author = Utterance { author: Some("a\nb".to_owned()), ..Utterance::of_user("hello") };
    assert!(matches!(remember(&engine, &me(), &author, &RememberOptions::default()), Err(Error::Invalid(_))));
    let why = RememberOptions { rationale: Some("x".repeat(limit::NOTE_BYTES_MAX + 1)), ..RememberOptions::default() };
    assert!(matches!(remember(&engine, &me(), &Utterance::of_user("hello"), &why), Err(Error::Invalid(_))));
    assert_eq!(status(&engine, &me()).unwrap().version, 1);
}

#[test]
fn a_first_command_that_is_refused_makes_no_memory() {
    let engine = engine(Box::new(MemoryStore::new()));
    let age = CoreEdit::Set("/identity/age".to_owned(), json!(-1));
    assert!(matches!(edit_core(&engine, &me(), &age, &PatchOptions::default()), Err(Error::Refused(_))));
    assert!(matches!(
        remember(&engine, &me(), &Utterance::of_user(""), &RememberOptions::default()),
        Err(Error::Invalid(_))
    ));
    assert_eq!(quipu_engine::users(&engine).unwrap(), []);
}
