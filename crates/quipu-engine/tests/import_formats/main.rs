//! Import formats: results, reports, and robustness against any input.

mod exports;
mod inputs;
mod longmemeval;

use std::fmt::Write as _;

use proptest::prelude::*;
use quipu_core::limit;
use quipu_core::source::Source;
use quipu_engine::import::locomo::questions::{self, QuestionSet};
use quipu_engine::import::{Batch, Fault, ImportFormat, ReadError, ReadOptions, Report, read, read_with};
use serde_json::json;

const LOCOMO: &str = include_str!("../../../../testdata/import/locomo.json");
const OPENAI: &str = include_str!("../../../../testdata/import/openai.jsonl");
const NOTES: &str = include_str!("../../../../testdata/import/notes.txt");
const NOTE: &str = include_str!("../../../../testdata/import/note.md");
const DEMO: &str = include_str!("../../../quipu-cli/assets/demo.jsonl");
const FIXTURES: [(ImportFormat, &str); 5] = [
    (ImportFormat::Locomo, LOCOMO),
    (ImportFormat::OpenAi, OPENAI),
    (ImportFormat::Text, NOTES),
    (ImportFormat::Markdown, NOTE),
    (ImportFormat::LongMemEval, longmemeval::FILE),
];

/// Result of reading: everything delivered, the report, and the error message.
struct Outcome {
    batches: Vec<Batch>,
    report: Report,
    fault: Option<String>,
}

impl Outcome {
    fn sources(&self) -> Vec<&Source> {
        self.batches.iter().flat_map(|batch| &batch.sources).collect()
    }

    fn ids(&self) -> Vec<String> {
        self.sources().iter().map(|source| source.id.to_string()).collect()
    }
}

fn run(format: ImportFormat, input: &[u8]) -> Outcome {
    run_with(format, input, &ReadOptions::default())
}

/// Reads the input, and checks the invariants of every result.
fn run_with(format: ImportFormat, input: &[u8], options: &ReadOptions) -> Outcome {
    let mut report = Report::default();
    let mut batches = Vec::new();
    let mut reader = input;
    let result = read_with(format, &mut reader, "notes", options, &mut report, &mut |batch| -> Result<(), String> {
        batches.push(batch);
        Ok(())
    });
    let outcome = Outcome { batches, report, fault: result.err().map(|error| error.to_string()) };
    let sources = outcome.sources();
    for source in &sources {
        assert_eq!(source.check(), Ok(()));
        assert_eq!(source.id, source.content_id());
    }
    assert_eq!(outcome.report.sources, sources.len() as u64);
    assert_eq!(outcome.report.batches, outcome.batches.len() as u64);
    outcome
}

/// One line per source: session, topic, speaker, time, native id, text; then its artifacts. Then notices and the error.
fn shown(outcome: &Outcome) -> String {
    let mut all = String::new();
    let mut line = |text: String| {
        let _ = writeln!(all, "{text}");
    };
    for batch in &outcome.batches {
        line(format!("[{}]", batch.conversation));
        for source in &batch.sources {
            let time = source.said_at.map_or("-".to_owned(), |time| time.to_string());
            let [session, topic] = [&source.session, &source.topic].map(|name| name.as_deref().unwrap_or("-"));
            let (role, who, native) = (source.role.as_str(), source.author.as_deref(), source.native_id.as_deref());
            let (who, native) = (who.unwrap_or("-"), native.unwrap_or("-"));
            line(format!("{session} | {topic} | {role} {who} | {time} | {native} | {:?}", source.text));
            for artifact in &source.artifacts {
                line(format!("  + {} {} {:?}", artifact.kind, artifact.name.as_deref().unwrap_or("-"), artifact.text));
            }
        }
    }
    outcome.report.notices.iter().for_each(|notice| line(format!("! {notice}")));
    outcome.fault.iter().for_each(|fault| line(format!("X {fault}")));
    all
}

fn check(format: ImportFormat, input: impl AsRef<[u8]>, expected: &str) {
    let all = shown(&run(format, input.as_ref()));
    assert_eq!(all.trim_end(), expected.trim(), "what was read:\n{all}");
}

fn message(content: serde_json::Value) -> String {
    json!({"messages": [{"role": "user", "content": content}]}).to_string()
}

#[test]
fn locomo_becomes_dated_turns_in_order() {
    check(
        ImportFormat::Locomo,
        LOCOMO,
        r#"
[conv-1]
conv-1:session_1 | - | user Nadia | 2023-05-08T13:56:00Z | D1:1 | "I signed up for the pottery class on Tuesdays."
conv-1:session_1 | - | user Óscar | 2023-05-08T13:56:00Z | D1:2 | "Finally! Here is the bowl I told you about."
  + image https://example.com/bowl.jpg "a photo of a blue bowl on a window sill"
conv-1:session_1 | - | user Nadia | 2023-05-08T13:56:00Z | D1:2 | "I want one. Same id, other words."
conv-1:session_2 | - | user Óscar | - | D2:1 | "My sister moves to Tromsø in June. 🎉"
conv-1:session_3 | - | user Nadia | - | D3:1 | "No date on this one, sorry."
conv-1:session_10 | - | user Nadia | 2024-02-29T00:05:00Z | D10:1 | "The kiln arrived! It fills half the garage."
conv-1:session_10 | - | user Óscar | 2024-02-29T00:05:00Z | D10:2 | "Half? Where does the car sleep now?"
[conversation-2]
conversation-2:session_1 | - | user Lev | 2022-03-02T19:30:00Z | D1:1 | "This conversation has no name."
! conv-1 D1:2: the id "D1:2" occurs twice with different content; both were kept
! conv-1 D1:1: the same was already there; the repetition was skipped
! conv-1 D1:3: the text is empty; it was skipped
! conv-1 D1:4: the text contains the character U+0000 at byte 3; it was skipped
! conv-1 session_2: "9:00 am on 31 February, 2023" is not a time Quipu can read; its turns were kept without a time
! conv-1 session_3: it has no date; its turns were kept without a time
"#,
    );
}

#[test]
fn one_locomo_conversation_needs_no_array() {
    check(
        ImportFormat::Locomo,
        r#"{"sample_id": 7, "conversation": {"session_1": [{"text": "Hi."}, 3], "session_1_date_time": "2023-05-08"}}"#,
        r#"
[7]
7:session_1 | - | user - | 2023-05-08T00:00:00Z | - | "Hi."
! 7 session_1, turn 2: the text is empty; it was skipped
"#,
    );
}

#[test]
fn openai_messages_keep_their_roles_times_and_code() {
    check(
        ImportFormat::OpenAi,
        OPENAI,
        r#"
[notes]
kitchen | Dinner on Friday | system - | - | k1 | "You are a helpful cook."
kitchen | Dinner on Friday | user Tomás | 2026-03-06T17:00:00Z | k2 | "I am allergic to walnuts. What goes with beetroot?"
kitchen | Dinner on Friday | assistant - | 2026-03-06T17:01:00Z | k3 | "Goat's cheese, orange or horseradish."
kitchen | Dinner on Friday | user - | 2026-03-06T17:02:00Z | k4 | "This is what I have.\nEnough?"
  + image https://example.com/fridge.jpg ""
[notes]
notes:3 | - | system - | - | #1 | "Answer briefly."
notes:3 | - | user - | - | #2 | "Sort a list in place?\n```python\nitems.sort()\n```\n"
  + code python "items.sort()\n"
notes:3 | - | tool - | - | #4 | "ok"
notes:3 | - | user - | - | #5 | "ok"
notes:3 | - | user - | - | #6 | "ok"
notes:3 | - | user - | - | #10 | ""
  + image - ""
[notes]
últim | - | user - | 2026-03-06T17:02:00.25Z | #1 | "On va à Porto 🚆, \u{202e}right to left\u{202c}."
! line 3, message 3: it only calls tools; it was skipped
! line 3, message 7: the role "narrator" is none of user, assistant, system, developer, tool and function; it was skipped
! line 3, message 8: the text is empty; it was skipped
! line 3, message 9: the text contains the character U+0000 at byte 3; it was skipped
! line 3, message 10: "31 February 2026" is not a time Quipu can read; it was kept without a time
! line 3, message 10: the image is inside a data: address of 34 bytes; it is not kept
! line 4: it has no messages
"#,
    );
}

#[test]
fn the_demo_is_read_without_a_notice() {
    let outcome = run(ImportFormat::OpenAi, DEMO.as_bytes());
    let code = outcome.sources().iter().map(|source| source.artifacts.len()).sum::<usize>();
    let Report { batches, sources, undated, notices, .. } = outcome.report;
    assert_eq!((batches, sources, undated, notices, code, outcome.fault), (10, 59, 0, vec![], 2, None));
}

#[test]
fn plain_text_becomes_passages() {
    let outcome = run(ImportFormat::Text, NOTES.as_bytes());
    let sources = outcome.sources();
    assert_eq!((sources.len(), &outcome.fault, outcome.report.undated), (3, &None, 3));
    for (index, source) in sources.iter().enumerate() {
        assert_eq!(source.native_id.as_deref(), Some(format!("p{}", index + 1).as_str()));
        assert_eq!((source.kind().as_str(), source.session.as_deref(), source.said_at), ("doc", Some("notes"), None));
        assert!(source.text.len() <= limit::PASSAGE_BYTES_MAX && NOTES.contains(&*source.text), "{}", source.text);
    }
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(NOTES), sources.iter().flat_map(|source| words(&source.text)).collect::<Vec<_>>());
}

#[test]
fn markdown_becomes_sections_under_their_headings() {
    check(
        ImportFormat::Markdown,
        NOTE,
        r###"
[notes]
notes | Porto | user - | 2026-03-28T00:00:00Z | Porto#1 | "What I must not forget."
  + front_matter - "title: Porto\ncreated: 2026-03-28\ntags: [flat, move]\n"
notes | Porto / Flat | user - | 2026-03-28T00:00:00Z | Porto / Flat#1 | "# Flat\n\nThe viewing is at 17:30 in Rua do Almada. Third floor, no lift. Bring the *recibo*."
notes | Porto / Flat / Questions | user - | 2026-03-28T00:00:00Z | Porto / Flat / Questions#1 | "## Questions\n\n- Is the deposit one month or two?\n- Who pays the water?"
notes | Porto / Flat / Arithmetic | user - | 2026-03-28T00:00:00Z | Porto / Flat / Arithmetic#1 | "## Arithmetic\n\n```python\ndef months(deposit, rent):\n    return deposit / rent\n```\n\nThat is all there is to it."
  + code python "def months(deposit, rent):\n    return deposit / rent\n"
notes | Porto / Packing / Empty | user - | 2026-03-28T00:00:00Z | Porto / Packing / Empty#1 | "# Packing\n\nEmpty\n-----"
notes | Porto / Ferry | user - | 2026-03-28T00:00:00Z | Porto / Ferry#1 | "# Ferry\n\nThe ferry is not a plan, it is a mood. See [the timetable][1].\n\n[1]: https://example.com/timetable"
"###,
    );
    check(
        ImportFormat::Markdown,
        "---\ntitle: Alone\n---\n",
        "[notes]\nnotes | Alone | user - | - | #1 | \"\"\n  + front_matter - \"title: Alone\\n\"",
    );
}

#[test]
fn bad_input_is_answered_with_place_and_advice() {
    let cases: &[(ImportFormat, &[u8], &str)] = &[
        (ImportFormat::Locomo, b"", "nothing to import: the input is empty"),
        (ImportFormat::Locomo, b"[]", "nothing to import: the input is empty"),
        (ImportFormat::OpenAi, b"\n\n", "nothing to import: the input is empty"),
        (ImportFormat::Text, b" \r\n\t", "nothing to import: the input is empty"),
        (ImportFormat::Markdown, b"", "nothing to import: the input is empty"),
        (
            ImportFormat::OpenAi,
            br#"{"messages":[]}"#,
            "nothing to import: everything was skipped, first line 1: it has no messages",
        ),
        (
            ImportFormat::Text,
            b"\xef\xbb\xbfok \xff",
            "byte 6: it is not UTF-8 here; convert the file to UTF-8. Nothing was imported",
        ),
        (ImportFormat::Markdown, b"# A\n\xc3", "byte 4: it is not UTF-8 here"),
        (
            ImportFormat::OpenAi,
            b"\n{\"a\xff",
            "line 2: it is not UTF-8 at byte 3 of the line; convert the file to UTF-8",
        ),
        (ImportFormat::OpenAi, b"{\"messages\":[", "line 1: it breaks off after 13 bytes, in the middle of its JSON"),
        (ImportFormat::OpenAi, b"{x", "line 1: it is not JSON at byte 2; a line is a JSON object like {\"messages\""),
        (ImportFormat::OpenAi, b"[]", "line 1: it is not an object; a line is a JSON object like"),
        (ImportFormat::OpenAi, b"{}", "line 1: it has no list of messages; a line is a JSON object like"),
        (ImportFormat::Locomo, br#"[{"a":1}]"#, "conversation 1, byte 9: missing field `conversation`"),
        (ImportFormat::Locomo, b"\"x\"", "expected an array of conversations or one conversation"),
        (
            ImportFormat::Locomo,
            br#"{"conversation":[]}"#,
            "a LoCoMo file is an array of objects, each with a \"conversation\" object",
        ),
        (ImportFormat::Locomo, b"[{\"conversation\":{\"\xff\":1}}]", "a LoCoMo file is JSON in UTF-8"),
        (ImportFormat::Ledger, b"anything", "a ledger is not read as sources"),
    ];
    for (format, input, expected) in cases {
        let fault = run(*format, input).fault.unwrap_or_default();
        assert!(fault.contains(expected), "{format} {:?}: {fault}", String::from_utf8_lossy(input));
    }
}

#[test]
fn a_fault_says_what_was_read_before_and_how_to_go_on() {
    let cut = &LOCOMO.as_bytes()[..LOCOMO.len() - 100];
    let fault = run(ImportFormat::Locomo, cut).fault.unwrap_or_default();
    assert!(fault.starts_with("conversation 2, byte "), "{fault}");
    assert!(fault.contains("the input breaks off in line"), "{fault}");
    assert!(fault.contains("7 sources before it were read"), "{fault}");
    assert!(fault.ends_with("the import continues where it stopped"), "{fault}");
    let bad_line = format!("{}\nnot json\n{}", message(json!("one")), message(json!("two")));
    let outcome = run(ImportFormat::OpenAi, bad_line.as_bytes());
    assert_eq!(outcome.report.sources, 1);
    assert!(outcome.fault.unwrap_or_default().starts_with("line 2: it is not JSON"));
}

#[test]
fn a_byte_order_mark_is_dropped() {
    for (format, text) in FIXTURES {
        let marked = format!("\u{feff}{text}");
        assert_eq!(run(format, marked.as_bytes()).ids(), run(format, text.as_bytes()).ids(), "{format}");
    }
}

#[test]
fn reading_stops_when_the_caller_fails() {
    for (format, text) in FIXTURES {
        let mut report = Report::default();
        let mut calls = 0;
        let mut input = text.as_bytes();
        let result = read(format, &mut input, "notes", &mut report, &mut |_| {
            calls += 1;
            Err("disk full")
        });
        assert!(matches!(result, Err(ReadError::Caller("disk full"))), "{format}");
        assert_eq!((calls, report.sources), (1, 0), "{format}");
    }
}

#[test]
fn a_text_over_the_bound_is_split_and_nothing_is_lost() {
    let text = "Not a word of this may get lost. ".repeat(80_000);
    let outcome = run(ImportFormat::OpenAi, message(json!(text)).as_bytes());
    let sources = outcome.sources();
    let natives: Vec<_> = sources.iter().filter_map(|source| source.native_id.as_deref()).collect();
    assert_eq!(natives, ["#1~1", "#1~2", "#1~3"]);
    assert_eq!(sources.iter().map(|source| &*source.text).collect::<String>(), text);
    assert_eq!(outcome.report.notices.len(), 1);
}

#[test]
fn more_artifacts_than_one_source_holds_are_spread() {
    let parts: Vec<_> =
        (0..100).map(|n| json!({"type": "image_url", "image_url": format!("https://example.com/{n}")})).collect();
    let outcome = run(ImportFormat::OpenAi, message(json!(parts)).as_bytes());
    let counts: Vec<usize> = outcome.sources().iter().map(|source| source.artifacts.len()).collect();
    assert_eq!(counts, [64, 36]);
    let code = format!("```rust\n{}```", "let a = 1;\n".repeat(120_000));
    let outcome = run(ImportFormat::OpenAi, message(json!(code)).as_bytes());
    let kept: String = outcome.sources().iter().flat_map(|source| &source.artifacts).map(|code| &*code.text).collect();
    assert_eq!(kept, "let a = 1;\n".repeat(120_000));
}

#[test]
fn names_over_the_bound_are_shortened_with_a_notice() {
    let long = "ñ".repeat(600);
    let line = json!({"session_id": long, "title": long, "messages": [
        {"role": "user", "name": "a\u{1b}[31m", "id": long, "content": [{"type": "file", "file": {"filename": long}}]},
    ]});
    let outcome = run(ImportFormat::OpenAi, line.to_string().as_bytes());
    assert_eq!(outcome.report.sources, 1);
    assert_eq!(outcome.report.notices.len(), 5, "{:?}", outcome.report.notices);
}

#[test]
fn a_line_over_the_bound_ends_the_import() {
    let long = " ".repeat(limit::IMPORT_LINE_BYTES_MAX + 1);
    let input = format!("{}\n{long}\n", message(json!("kept")));
    let outcome = run(ImportFormat::OpenAi, input.as_bytes());
    assert_eq!(outcome.report.sources, 1);
    assert!(outcome.fault.unwrap_or_default().starts_with("line 2: it is longer than 16 MiB"));
}

#[test]
fn notices_are_counted_beyond_the_bound() {
    let messages = vec![json!({"role": "user", "content": ""}); limit::IMPORT_NOTICES_MAX + 20];
    let outcome = run(ImportFormat::OpenAi, json!({ "messages": messages }).to_string().as_bytes());
    assert_eq!((outcome.report.notices.len(), outcome.report.notices_more), (limit::IMPORT_NOTICES_MAX, 20));
}

#[test]
fn bad_times_are_unknown_times() {
    for time in [
        json!("31 February"),
        json!("275760-09-13"),
        json!("-000001-01-01T00:00:00Z"),
        json!(""),
        json!(1e300),
        json!([]),
    ] {
        let line = json!({"messages": [{"role": "user", "content": "x", "created_at": time}]}).to_string();
        let outcome = run(ImportFormat::OpenAi, line.as_bytes());
        assert_eq!((outcome.report.undated, outcome.report.notices.len()), (1, 1), "{time}");
    }
}

#[test]
fn locomo_questions_come_with_clean_evidence() -> Result<(), ReadError<String>> {
    let mut sets: Vec<QuestionSet> = Vec::new();
    questions::read(&mut LOCOMO.as_bytes(), &mut |set| {
        sets.push(set);
        Ok(())
    })?;
    let names: Vec<_> = sets.iter().map(|set| (set.conversation.as_str(), set.questions.len())).collect();
    assert_eq!(names, [("conv-1", 5), ("conversation-2", 0)]);
    let set = &sets[0];
    let counts = (set.evidence_parsed, set.evidence_mended, set.evidence_skipped, set.evidence_absent);
    assert_eq!(counts, (6, 4, 1, 1));
    let asked: Vec<_> = set.questions.iter().map(|q| (q.category, q.answer.as_deref(), q.evidence.join(" "))).collect();
    let expected = [
        (4, Some("Tuesdays"), "D1:1"),
        (1, Some("1"), "D10:1 D10:2 D1:2"),
        (3, Some("Tromsø"), "D2:1"),
        (5, None, ""),
        (2, Some("Yes"), ""),
    ];
    assert_eq!(asked, expected.map(|(category, answer, evidence)| (category, answer, evidence.to_owned())));
    Ok(())
}

#[test]
fn questions_of_something_else_are_refused() {
    let result = questions::read(&mut "[1]".as_bytes(), &mut |_| Ok::<(), String>(()));
    assert!(matches!(result, Err(ReadError::Fault(Fault::Invalid { .. }))), "{result:?}");
}

/// A truncated conversation gives the start of the whole one. A truncated text differs in its last passage.
#[test]
fn an_input_cut_anywhere_gives_what_came_before() {
    for (format, text) in FIXTURES {
        let whole = run(format, text.as_bytes()).ids();
        for end in (0..text.len()).step_by(7) {
            let outcome = run(format, &text.as_bytes()[..end]);
            let ids = outcome.ids();
            let settled = match format {
                ImportFormat::Text | ImportFormat::Markdown => ids.len().saturating_sub(1),
                _ => ids.len(),
            };
            assert!(whole.starts_with(&ids[..settled]), "{format} cut at {end}: {}", shown(&outcome));
            assert!(outcome.fault.is_some() || !ids.is_empty(), "{format} cut at {end} gave nothing and no fault");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        ImportFormat::ALL.iter().for_each(|format| drop(run(*format, &bytes)));
        drop(questions::read(&mut &bytes[..], &mut |_| Ok::<(), String>(())));
    }

    #[test]
    fn arbitrary_text_never_panics(text in "([#>\\-*`~|\\[\\]:{}\",. \r\n\t]|---\n|```|\\PC|[\u{0}-\u{1f}]){0,200}") {
        ImportFormat::ALL.iter().for_each(|format| drop(run(*format, text.as_bytes())));
        let line = json!({"session_id": text, "messages": [{"role": "user", "name": text, "content": text, "date": text}]});
        run(ImportFormat::OpenAi, line.to_string().as_bytes());
        let turn = json!({"dia_id": text, "speaker": text, "text": text, "blip_caption": text, "img_url": [text]});
        let sample = json!({"sample_id": text, "conversation": {"session_1": [turn], "session_1_date_time": text}});
        run(ImportFormat::Locomo, sample.to_string().as_bytes());
    }

    #[test]
    fn damaged_fixtures_never_panic(which in 0..4_usize, at in any::<prop::sample::Index>(), bytes in prop::collection::vec(any::<u8>(), 0..5)) {
        let (format, text) = FIXTURES[which];
        let mut damaged = text.as_bytes().to_vec();
        let at = at.index(damaged.len());
        damaged.splice(at..(at + bytes.len() / 2).min(damaged.len()), bytes);
        run(format, &damaged);
        drop(questions::read(&mut &damaged[..], &mut |_| Ok::<(), String>(())));
    }

    #[test]
    fn reading_twice_gives_the_same(text in "(\\PC|\n){0,3000}") {
        for format in [ImportFormat::Text, ImportFormat::Markdown] {
            prop_assert_eq!(run(format, text.as_bytes()).ids(), run(format, text.as_bytes()).ids());
        }
    }
}
