//! Imports of chat and memory exports: results, omissions, and malicious input.

use proptest::prelude::*;
use quipu_core::limit;
use quipu_engine::import::{ImportFormat, ReadOptions};
use serde_json::json;

use super::{Outcome, run, run_with, shown};

const CHATGPT: &str = include_str!("../../../../testdata/import/chatgpt.json");
const CLAUDE: &str = include_str!("../../../../testdata/import/claude.json");
const MEM0: &str = include_str!("../../../../testdata/import/mem0.json");
const GRAPH: &str = include_str!("../../../../testdata/import/memory.jsonl");
const IOS: &str = include_str!("../../../../testdata/import/whatsapp-ios.txt");
const ANDROID: &str = include_str!("../../../../testdata/import/whatsapp-android.txt");
const TELEGRAM: &str = include_str!("../../../../testdata/import/telegram.json");
const TELEGRAM_ALL: &str = include_str!("../../../../testdata/import/telegram-all.json");
const FIXTURES: [(ImportFormat, &str); 8] = [
    (ImportFormat::ChatGpt, CHATGPT),
    (ImportFormat::Claude, CLAUDE),
    (ImportFormat::Mem0, MEM0),
    (ImportFormat::MemoryJsonl, GRAPH),
    (ImportFormat::WhatsApp, IOS),
    (ImportFormat::WhatsApp, ANDROID),
    (ImportFormat::Telegram, TELEGRAM),
    (ImportFormat::Telegram, TELEGRAM_ALL),
];

/// The sources read, then what was left out.
fn all(outcome: &Outcome) -> String {
    let left_out = outcome.report.left_out.iter().map(|(reason, count)| format!("- {count} {reason}\n"));
    shown(outcome) + &left_out.collect::<String>()
}

fn check_with(format: ImportFormat, input: &str, options: &ReadOptions, expected: &str) {
    let all = all(&run_with(format, input.as_bytes(), options));
    assert_eq!(all.trim_end(), expected.trim(), "what was read:\n{all}");
}

fn check(format: ImportFormat, input: &str, expected: &str) {
    check_with(format, input, &ReadOptions::default(), expected);
}

fn zone(name: &str) -> ReadOptions {
    ReadOptions { timezone: name.parse().ok(), ..ReadOptions::default() }
}

#[test]
fn a_chatgpt_export_is_read_along_its_current_branch() {
    check(
        ImportFormat::ChatGpt,
        CHATGPT,
        r##"
[notes]
c-1 | Bread that rises | user - | 2026-01-01T10:00:00.25Z | m1 | "My loaf stays flat. Why?\nIt is a rye loaf."
  + file recipe.pdf ""
  + image file-service://file-loaf ""
c-1 | Bread that rises | assistant - | 2026-01-01T10:00:30Z | m3 | "print(500 * 0.7)"
  + code python "print(500 * 0.7)"
c-1 | Bread that rises | tool python | - | m4 | "350.0"
c-1 | Bread that rises | assistant - | - | m5 | "Use 350 g of water:\n```text\n70 %\n```"
  + code text "70 %\n"
[notes]
notes:2 | - | user - | 2026-01-02T10:01:00Z | b | "Newer branch"
! conversation 1 "Bread that rises", message 7: "soon" is not a time Quipu can read; it was kept without a time
! conversation 1 "Bread that rises", message 8: the content type "hologram" is not known; it was skipped
! conversation 2 "": it does not say which branch is current; the one with the newest message was taken
- 1 messages of an unknown content type
- 1 messages of hidden reasoning
- 2 messages on branches that were not taken
- 1 messages that ChatGPT does not show
"##,
    );
}

#[test]
fn a_claude_export_gives_messages_files_and_memories() {
    check(
        ImportFormat::Claude,
        CLAUDE,
        r##"
[notes]
c0ffee01 | A shelf for the hall | user - | 2026-01-05T09:00:01.5Z | m1 | "How deep should it be?"
  + file hall.txt "The hall is 110 cm wide."
  + file photo.jpg ""
c0ffee01 | A shelf for the hall | assistant - | 2026-01-05T09:00:09Z | m2 | "Let me see. Take 25 cm."
  + document Plan "1 board, 4 brackets"
c0ffee01 | A shelf for the hall | tool web_search | 2026-01-05T09:00:09Z | m2/tool1 | "Shelves are 20 to 30 cm deep."
c0ffee01 | A shelf for the hall | user - | - | m3 | "Thanks, 25 cm it is, in oak."
[notes]
claude memories | memory | assistant - | - | memory | "**Home**: plans an oak shelf for the hall."
claude memories | memory of project p1 | assistant - | - | memory of project p1 | "The house has two floors."
! conversation 1 "A shelf for the hall", message 3: "never" is not a time Quipu can read; it was kept without a time
! conversation 1 "A shelf for the hall", message 5: the sender "moderator" is neither human nor assistant; it was skipped
- 1 accounts
- 1 calls of tools
- 1 conversations without anything said
- 2 documents of projects
- 1 empty messages
- 1 messages of an unknown sender
- 1 parts of hidden reasoning
- 1 projects
- 2 shorter ones of two differing texts of a message
- 1 summaries of conversations
"##,
    );
}

#[test]
fn mem0_memories_become_entries_of_the_assistant() {
    check(
        ImportFormat::Mem0,
        MEM0,
        r##"
[noa]
- | travel | assistant - | 2026-02-01T18:00:00.123456Z | a1 | "Prefers trains to planes"
r7 | - | assistant butler | 2026-02-02T10:00:00Z | a2 | "Has a cat called Pixel"
[lev]
- | - | assistant - | - | a4 | "Is allergic to walnuts"
! memory 3, "a3": it has no text under "memory" or "content"; it was skipped
! memory 4, "a4": the file holds memories of several users; import one at a time with --conversation USER if they are not to share one memory
! memory 4, "a4": "someday" is not a time Quipu can read; it was kept without a time
- 1 memories without text
"##,
    );
}

#[test]
fn a_graph_of_entities_becomes_entries() {
    check(
        ImportFormat::MemoryJsonl,
        GRAPH,
        r##"
[notes]
- | Noa | assistant - | - | - | "Noa: plays the cello"
  + entity_type - "person"
- | Noa | assistant - | - | - | "Noa: lives in Porto"
  + entity_type - "person"
- | - | assistant - | - | - | "Noa owns Pixel"
- | Atlas | assistant - | - | - | "Atlas: is due in May"
  + entity_type - "project"
! line 5: an observation is empty or not text; it was skipped
! line 6: it is neither an entity nor a relation; it was skipped; a line is {"type":"entity","name":…,"entityType":…,"observations":[…]} or {"type":"relation","from":…,"to":…,"relationType":…}
- 1 entities without observations
- 1 lines that are neither an entity nor a relation
- 1 observations without text
"##,
    );
}

#[test]
fn whatsapp_from_ios_with_a_time_zone() {
    check_with(
        ImportFormat::WhatsApp,
        IOS,
        &zone("Europe/Lisbon"),
        r##"
[notes]
notes | - | user Noa | 2026-03-28T23:58:10Z | 2026-03-28T23:58:10#2 | "Who waters on Sunday?\nI am away,\n- sorry - until Monday"
  + utc_offset +00:00 ""
notes | - | user Óscar | 2026-03-29T02:30:00Z | 2026-03-29T03:30:00#1 | "Me. Same as last time: at eight."
  + utc_offset +01:00 ""
notes | - | user Noa | 2026-03-29T02:30:00Z | 2026-03-29T03:30:00#2 | ""
  + image 00000004-PHOTO-2026-03-29.jpg ""
  + utc_offset +01:00 ""
notes | - | user Noa | 2026-03-29T08:00:00Z | 2026-03-29T09:00:00#1 | "ok"
  + utc_offset +01:00 ""
notes | - | user Noa | 2026-03-29T08:00:00Z | 2026-03-29T09:00:00#2 | "ok"
  + utc_offset +01:00 ""
- 1 lines of the system
- 1 media that the export does not hold
"##,
    );
}

#[test]
fn whatsapp_from_android_with_the_month_first() {
    check(
        ImportFormat::WhatsApp,
        ANDROID,
        r##"
[notes]
notes | - | user Lev | 2026-03-09T09:16:00Z | 2026-03-09T09:16:00#1 | "Did the parcel come?"
notes | - | user Ana | 2026-03-10T12:01:00Z | 2026-03-10T12:01:00#1 | "here it is"
  + image IMG-20260310-WA0001.jpg ""
notes | - | user Ana | 2026-03-14T20:02:00Z | 2026-03-14T20:02:00#1 | "Pi day!"
! the times: they are local and no time zone was given, so they were taken as UTC; if that is wrong, undo the import and repeat it with a time zone (--timezone)
- 2 lines of the system
- 1 media that the export does not hold
"##,
    );
}

#[test]
fn a_telegram_chat_keeps_what_came_with_its_messages() {
    check(
        ImportFormat::Telegram,
        TELEGRAM,
        r##"
[Climbing]
telegram:4021 | Climbing | user Lev | 2026-04-01T17:01:00Z | 2 | "Wall at seven?"
telegram:4021 | Climbing | user Ana | 2026-04-01T18:02:00Z | 3 | "Yes, see the map and bring chalk"
  + link https://example.com/wall "the map"
telegram:4021 | Climbing | user user3 | 2026-04-01T17:03:00Z | 4 | ""
  + image - ""
telegram:4021 | Climbing | user Ana | 2026-04-01T17:04:00Z | 5 | "Closed on Monday"
  + file hours.pdf ""
  + forwarded_from - "Gym"
telegram:4021 | Climbing | user Ana | - | 6 | "Which day?\nTue\nThu"
! the times: they are local and no time zone was given, so they were taken as UTC; if that is wrong, undo the import and repeat it with a time zone (--timezone)
! message 6, id "6": "tomorrow" is not a time Quipu can read; it was kept without a time
! message 8, id "8": the type "bulletin" is neither message nor service; it was skipped
- 1 messages of an unknown type
- 1 messages of the service
- 1 messages without text
"##,
    );
}

#[test]
fn a_telegram_export_of_all_chats() {
    check(
        ImportFormat::Telegram,
        TELEGRAM_ALL,
        r##"
[Ana]
telegram:7 | Ana | user Ana | 2026-04-01T17:01:00Z | 1 | "one"
[telegram:8]
telegram:8 | - | user Noa | 2026-04-01T17:01:01Z | 1 | "two"
- 1 sections without messages
"##,
    );
}

#[test]
fn inputs_of_another_shape_are_answered_with_place_and_advice() {
    let deep = format!("[{}", "[".repeat(200));
    let deep_chat = format!(r#"{{"messages":[{{"text":{}"#, "[".repeat(200));
    let ambiguous = "01/02/2026, 10:00 - Ana: hi\n03/04/2026, 10:00 - Ana: ho";
    let contradicting = "13/02/2026, 10:00 - Ana: hi\n02/13/2026, 10:00 - Ana: ho";
    let cases: &[(ImportFormat, &str, &str)] = &[
        (ImportFormat::ChatGpt, "", "nothing to import: the input is empty"),
        (ImportFormat::ChatGpt, "[]", "nothing to import: the input is empty"),
        (ImportFormat::ChatGpt, CLAUDE, "missing field `mapping`"),
        (ImportFormat::ChatGpt, r#"[{"mapping":{}}]"#, "such as 1 conversations without anything said"),
        (
            ImportFormat::ChatGpt,
            &deep,
            "conversation 1, byte 128: it is nested far deeper than conversations.json ever is",
        ),
        (ImportFormat::ChatGpt, &deep.replace("[[", r#"[{"mapping":{"a":["#), "it is nested far deeper than"),
        (
            ImportFormat::Claude,
            CHATGPT,
            "everything was skipped, first object 1: it is no conversation; conversations.json is",
        ),
        (ImportFormat::Claude, "[1]", "conversations.json is an array of objects, each with \"chat_messages\""),
        (ImportFormat::Mem0, "{}", "the list is missing"),
        (ImportFormat::Mem0, r#"{"results":7}"#, "expected an array of memories"),
        (ImportFormat::Mem0, "[7]", "everything was skipped, first memory 1: it has no text"),
        (
            ImportFormat::MemoryJsonl,
            "{\"type\":\"en",
            "line 1: it breaks off after 11 bytes, in the middle of its JSON",
        ),
        (ImportFormat::MemoryJsonl, "nope", "line 1: it is not JSON at byte 2; a line is {\"type\":\"entity\""),
        (
            ImportFormat::WhatsApp,
            "hello\nthere",
            "line 1: no line starts with a date and a time; a chat has lines like",
        ),
        (
            ImportFormat::WhatsApp,
            ambiguous,
            "line 1: its date can be read in two ways, and no other line settles it; say",
        ),
        (ImportFormat::WhatsApp, contradicting, "line 2: its date can only start with the month, that of line 1"),
        (ImportFormat::Telegram, "{}", "there are neither messages nor chats"),
        (ImportFormat::Telegram, "[]", "expected a chat or an export of chats"),
        (ImportFormat::Telegram, &deep_chat, "it is nested far deeper than"),
        (ImportFormat::Folder, "", "nothing to import: the input is empty"),
    ];
    for (format, input, expected) in cases {
        let fault = run(*format, input.as_bytes()).fault.unwrap_or_default();
        assert!(fault.contains(expected), "{format} {input:.80}: {fault}");
    }
}

#[test]
fn the_order_of_dates_can_be_said() {
    let chat = "01/02/2026, 10:00 - Ana: hi\n13/02/2026, 10:00 - Ana: ho";
    for (order, expected) in [(None, "2026-02-01"), (Some("dmy"), "2026-02-01"), (Some("mdy"), "2026-01-02")] {
        let options = ReadOptions { date_order: order.and_then(|order| order.parse().ok()), ..ReadOptions::default() };
        let outcome = run_with(ImportFormat::WhatsApp, chat.as_bytes(), &options);
        let times: Vec<_> = outcome.sources().iter().map(|source| source.said_at).collect();
        assert!(times[0].is_some_and(|time| time.to_string().starts_with(expected)), "{order:?}: {times:?}");
        // Month 13 does not exist, so the message is kept without a time.
        assert_eq!((times[1].is_none(), outcome.report.undated == 1), (order == Some("mdy"), order == Some("mdy")));
    }
}

/// A later export of the same chat has more messages; existing ones keep their ids.
#[test]
fn a_chat_that_went_on_keeps_its_ids() {
    for (format, text) in [(ImportFormat::WhatsApp, IOS), (ImportFormat::MemoryJsonl, GRAPH)] {
        let whole = run(format, text.as_bytes()).ids();
        for (at, _) in text.match_indices('\n').skip(4) {
            let ids = run(format, &text.as_bytes()[..=at]).ids();
            let settled = ids.len().saturating_sub(usize::from(format == ImportFormat::WhatsApp));
            assert!(!ids.is_empty() && whole.starts_with(&ids[..settled]), "{format} cut at {at}");
        }
    }
}

/// A truncated input delivers the same sources as the whole up to the cut, and reports the fault.
#[test]
fn an_export_cut_anywhere_gives_what_came_before() {
    for (format, text) in FIXTURES {
        let whole = run(format, text.as_bytes()).ids();
        for end in (0..text.trim_end().len()).step_by(7) {
            let outcome = run(format, &text.as_bytes()[..end]);
            let ids = outcome.ids();
            let settled = if format == ImportFormat::WhatsApp { ids.len().saturating_sub(1) } else { ids.len() };
            assert!(whole.starts_with(&ids[..settled]), "{format} cut at {end}: {}", shown(&outcome));
            let told = outcome.fault.is_some() || matches!(format, ImportFormat::WhatsApp | ImportFormat::MemoryJsonl);
            assert!(told, "{format} cut at {end}: {}", shown(&outcome));
        }
    }
}

#[test]
fn an_element_over_the_bound_ends_the_import() {
    let blank = " ".repeat(limit::IMPORT_ELEMENT_BYTES_MAX as usize);
    let input = format!(r#"[{{"memory":"kept"}},{{"memory":{blank} "lost"}}]"#);
    let outcome = run(ImportFormat::Mem0, input.as_bytes());
    assert_eq!(outcome.report.sources, 1);
    let fault = outcome.fault.unwrap_or_default();
    assert!(fault.starts_with("memory 2, byte ") && fault.contains("one memory is larger than 64 MiB"), "{fault}");
}

#[test]
fn what_no_source_can_hold_is_counted() {
    let memories = json!([{"memory": "a\u{0}b"}, {"memory": "same"}, {"memory": "same"}, {"memory": "\u{1b}[31mred"}]);
    let outcome = run(ImportFormat::Mem0, memories.to_string().as_bytes());
    let left_out: Vec<_> = outcome.report.left_out.iter().map(|(reason, count)| (reason.as_ref(), *count)).collect();
    assert_eq!(left_out, [("repetitions", 1), ("texts with the character U+0000", 1)]);
    assert_eq!(outcome.report.sources, 2);
}

#[test]
fn a_tree_that_bites_its_tail_ends() {
    let message =
        |text: &str| json!({"author": {"role": "user"}, "content": {"content_type": "text", "parts": [text]}});
    let ring = json!({"id": "r", "current_node": "a", "mapping": {
        "a": {"parent": "b", "message": message("second")}, "b": {"parent": "a", "message": message("first")}}});
    let outcome = run(ImportFormat::ChatGpt, ring.to_string().as_bytes());
    let texts: Vec<_> = outcome.sources().iter().map(|source| &*source.text).collect();
    assert_eq!((texts, outcome.report.notices.len()), (vec!["first", "second"], 1));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_exports_never_panic(which in 0..FIXTURES.len(), at in any::<prop::sample::Index>(), bytes in prop::collection::vec(any::<u8>(), 0..5)) {
        let (format, text) = FIXTURES[which];
        let mut damaged = text.as_bytes().to_vec();
        let at = at.index(damaged.len());
        damaged.splice(at..(at + bytes.len() / 2).min(damaged.len()), bytes);
        run(format, &damaged);
    }

    #[test]
    fn arbitrary_chats_never_panic(text in "([\\[\\]0-9/:., -]{0,3}|1/2/26, 3:04 - |\\[13/2/26, 3:04:05 PM\\] |A: |<|>|\u{200e}|\\(|\n|\\PC){0,60}") {
        run_with(ImportFormat::WhatsApp, text.as_bytes(), &zone("America/New_York"));
    }
}
