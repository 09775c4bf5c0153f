//! LongMemEval: histories become turns, and questions keep references to their answers.

use quipu_engine::import::longmemeval::questions::{self, BenchmarkCase};
use quipu_engine::import::{Fault, ImportFormat, ReadError};

use super::{check, run};

pub(crate) const FILE: &str = include_str!("../../../../testdata/eval/longmemeval.json");

fn cases(input: &str) -> Result<Vec<BenchmarkCase>, ReadError<String>> {
    let mut cases = Vec::new();
    questions::read(&mut input.as_bytes(), &mut |case| {
        cases.push(case);
        Ok(())
    })?;
    Ok(cases)
}

/// The first and the last question of the file.
#[test]
fn a_history_becomes_turns_in_the_order_of_time() {
    let all: Vec<serde_json::Value> = serde_json::from_str(FILE).unwrap_or_default();
    check(
        ImportFormat::LongMemEval,
        serde_json::json!([all[0], all[4]]).to_string(),
        r#"
[q_kiln]
chat_bread | - | user - | 2023-05-20T02:21:00Z | chat_bread_1 | "How long should sourdough rest before baking?"
chat_bread | - | assistant - | 2023-05-20T02:21:00Z | chat_bread_2 | "Between one and four hours at room temperature."
answer_kiln | - | user - | 2023-05-28T18:05:00Z | answer_kiln_1 | "The first thing I fired in the kiln was a teapot."
answer_kiln | - | assistant - | 2023-05-28T18:05:00Z | answer_kiln_2 | "A teapot is a brave choice for a first firing."
[q_unmarked]
answer_key | - | user - | 2023-01-09T08:00:00Z | answer_key_1 | "I keep the spare bicycle key in the blue tin now."
! q_unmarked chat_odd: "not a date" is not a time Quipu can read; its turns were kept without a time
! q_unmarked chat_odd_1: its role is none of user, assistant and system; it was skipped
! q_unmarked chat_odd_2: the text is empty; it was skipped
"#,
    );
}

#[test]
fn questions_know_their_evidence() -> Result<(), ReadError<String>> {
    let cases = cases(FILE)?;
    let shown: Vec<String> = cases
        .iter()
        .map(|case| {
            let (sessions, turns) = (case.sessions.join(" "), case.turns.join(" "));
            let asked = case.asked_at.map_or("-".to_owned(), |time| time.to_string());
            let answer = case.answer.as_deref().unwrap_or("-");
            format!("{} {} {asked} {} [{sessions}] [{turns}] {answer}", case.id, case.kind, case.abstention)
        })
        .collect();
    let expected = [
        "q_kiln single-session-user 2023-06-20T09:30:00Z false [answer_kiln] [answer_kiln_1] a teapot",
        "q_marathon multi-session 2023-09-01T12:00:00Z false [answer_run_1 answer_run_2] [answer_run_1_1 answer_run_2_1] 3",
        "q_recipe single-session-assistant 2023-02-10T07:10:00Z false [answer_stew] [answer_stew_2] smoked paprika",
        "q_parrot_abs single-session-user 2023-05-05T16:00:00Z true [] [] You never spoke of a parrot.",
        "q_unmarked knowledge-update - false [answer_key] [] in the blue tin",
    ];
    assert_eq!(shown, expected);
    let kept = |case: &BenchmarkCase| case.history.as_ref().map_or(0, |batch| batch.sources.len());
    assert_eq!(cases.iter().map(kept).collect::<Vec<_>>(), [4, 6, 4, 2, 1]);
    assert_eq!(cases[3].sessions_absent, 1);
    Ok(())
}

#[test]
fn what_is_no_such_file_is_refused_with_what_was_expected() {
    for (input, said) in [
        ("", "the input is empty"),
        ("[]", "no questions"),
        ("[1]", "haystack_sessions"),
        (r#"{"question_id": "a", "question": "b"}"#, "haystack_sessions"),
        (r#"[{"question_id": "a", "question": "b", "haystack_sessions": 3}]"#, "haystack_sessions"),
        (&FILE[..FILE.len() / 2], "breaks off"),
    ] {
        let fault = match cases(input) {
            Err(ReadError::Fault(fault @ (Fault::Invalid { .. } | Fault::Nothing(_)))) => fault.to_string(),
            other => format!("{other:?}"),
        };
        assert!(fault.contains(said), "{input:.40}: {fault}");
    }
    assert_eq!(run(ImportFormat::LongMemEval, FILE.as_bytes()).report.batches, 5);
}
