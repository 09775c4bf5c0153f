use super::*;

/// One stream for each dialect.
fn streams() -> [(Dialect, String); 3] {
    let chat = [
        r#"{"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#,
        r#"{"id":"c1","choices":[{"index":0,"delta":{"content":"Porto, as you "}},{"index":1,"delta":{"content":"no"}}]}"#,
        r#"{"id":"c1","choices":[{"index":0,"delta":{"content":"said – yes."}}]}"#,
        r#"{"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
        r#"{"id":"c1","choices":[],"usage":{"total_tokens":1}}"#,
    ];
    let responses = [
        r#"{"type":"response.created","response":{"id":"r1"}}"#,
        r#"{"type":"response.output_text.delta","delta":"Porto, as you "}"#,
        r#"{"type":"response.output_text.delta","delta":"said – yes."}"#,
        r#"{"type":"response.output_text.done","text":"Porto, as you said – yes."}"#,
        r#"{"type":"response.completed","response":{"id":"r1"}}"#,
    ];
    let messages = [
        r#"{"type":"message_start","message":{"id":"m1","content":[]}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Porto, as you "}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"said – yes."}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let of = |events: &[&str], end: &str| {
        let lines: String = events.iter().map(|event| format!("event: x\r\ndata: {event}\r\n\r\n")).collect();
        lines + end
    };
    [
        (Dialect::Chat, of(&chat, "data: [DONE]\n\n")),
        (Dialect::Responses, of(&responses, "")),
        (Dialect::Messages, of(&messages, "")),
    ]
}

fn read(dialect: Dialect, is_stream: bool, pieces: impl Iterator<Item = Vec<u8>>) -> Reply {
    let mut reader = Reader::new(dialect, is_stream, 1000);
    pieces.for_each(|piece| reader.feed(&piece));
    reader.finish()
}

#[test]
fn a_stream_says_the_same_however_it_is_cut() {
    for (dialect, stream) in streams() {
        let bytes = stream.as_bytes();
        for size in [1, 2, 7, 64, bytes.len()] {
            let reply = read(dialect, true, bytes.chunks(size).map(<[u8]>::to_vec));
            assert_eq!(reply.words, "Porto, as you said – yes.", "{dialect:?} in pieces of {size}");
            assert!(reply.is_whole && !reply.is_cut, "{dialect:?} in pieces of {size}");
            assert!(reply.id.is_some(), "{dialect:?}");
        }
    }
}

#[test]
fn a_stream_that_breaks_off_is_not_whole_wherever_it_breaks() {
    for (dialect, stream) in streams() {
        let bytes = stream.as_bytes();
        let half = stream.find("said").unwrap_or(bytes.len());
        for end in 0..half {
            let reply = read(dialect, true, std::iter::once(bytes[..end].to_vec()));
            assert!(!reply.is_whole, "{dialect:?} cut at {end}");
            assert!("Porto, as you".starts_with(&reply.words), "{dialect:?} cut at {end}: {:?}", reply.words);
        }
    }
}

#[test]
fn an_answer_in_one_piece_says_its_words() {
    for (dialect, answer, expected) in [
        (Dialect::Chat, r#"{"id":"c","choices":[{"message":{"content":"Porto."}}]}"#, ("Porto.", true)),
        (Dialect::Chat, r#"{"id":"c","choices":[{"message":{"content":null,"tool_calls":[]}}]}"#, ("", true)),
        (Dialect::Chat, r#"{"choices":[{"message":{"content":"<think>hm</think>\nPorto."}}]}"#, ("Porto.", true)),
        (Dialect::Chat, r#"{"choices":[]}"#, ("", false)),
        (Dialect::Chat, r#"{"error":{"message":"no"}}"#, ("", false)),
        (Dialect::Chat, "<html>", ("", false)),
        (
            Dialect::Responses,
            r#"{"id":"r","output":[{"type":"reasoning"},{"content":[{"type":"output_text","text":"Porto."}]}]}"#,
            ("Porto.", true),
        ),
        (
            Dialect::Messages,
            r#"{"content":[{"type":"text","text":"a"},{"type":"tool_use"},{"type":"text","text":"b"}]}"#,
            ("a\nb", true),
        ),
    ] {
        let reply = read(dialect, false, std::iter::once(answer.as_bytes().to_vec()));
        assert_eq!((reply.words.as_str(), reply.is_whole), expected, "{answer}");
    }
}

#[test]
fn what_is_too_long_is_cut_and_says_so() {
    let event =
        |words: &str| format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{words}\"}}}}]}}\n\n").into_bytes();
    let mut reader = Reader::new(Dialect::Chat, true, 9);
    reader.feed(&event("12345"));
    reader.feed(&event("678éa"));
    let reply = reader.finish();
    assert_eq!(reply.words, "12345678");
    assert!(reply.is_cut);
}

#[test]
fn a_block_of_memory_that_is_said_back_is_left_out() {
    let block =
        "<memory user=\\\"ines\\\" version=\\\"3\\\">\\n- [fact_0000000000000 · x] lives in Porto\\n</memory>\\n";
    let answer = format!("{{\"choices\":[{{\"message\":{{\"content\":\"It says: {block}That is all.\"}}}}]}}");
    let reply = read(Dialect::Chat, false, std::iter::once(answer.into_bytes()));
    assert!(!reply.words.contains("Porto"), "{}", reply.words);
    assert!(reply.words.contains("That is all."), "{}", reply.words);
}
