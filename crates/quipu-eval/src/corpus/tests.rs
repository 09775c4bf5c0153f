#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use super::*;

fn written(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file.json");
    std::fs::write(&file, text).unwrap();
    (folder, file)
}

#[test]
fn the_shape_of_a_file_is_found_out() {
    for (text, kind) in [
        (r#"[{"conversation": {}}]"#, Some(CorpusKind::Locomo)),
        (r#"{"conversation": {}}"#, Some(CorpusKind::Locomo)),
        (r#"[{"turns": [], "questions": []}]"#, Some(CorpusKind::Beam)),
        (r#"{"sessions": [], "questions": []}"#, Some(CorpusKind::Assistant)),
        ("[]", None),
        ("42", None),
        ("[", None),
    ] {
        let (folder, file) = written(text);
        assert_eq!(found_out(&file).ok(), kind, "{text}");
        assert_eq!(found_out(folder.path()).ok(), Some(CorpusKind::Assistant));
    }
}

#[test]
fn a_person_is_asked_a_day_later_and_their_ids_are_checked() {
    let person = |gold: &str, kind: &str| {
        json!({
            "id": "ann",
            "sessions": [{"id": "s1", "date": "2026-02-03T19:10:00Z", "turns": [
                {"id": "s1-1", "role": "user", "content": "my cat is called Pixel"},
                {"id": "s1-2", "role": "assistant", "content": "Nice."}]}],
            "questions": [{"id": "q1", "question": "What is my cat called?", "kind": kind, "answer": "Pixel",
                "gold": if gold.is_empty() { json!([]) } else { json!([gold]) }}],
            "requests": [{"text": "hi", "bears": []}],
        })
        .to_string()
    };
    let (_folder, file) = written(&person("s1-1", "fact"));
    let corpus = Corpus::open(&file, None, &[]).unwrap();
    let told = &corpus.told[0];
    assert_eq!((told.asked[0].id.as_str(), told.asked[0].answerable), ("ann:q1", true));
    assert_eq!((told.later, told.requests.len()), (SignedDuration::from_hours(24), 1));
    assert_eq!(told.chats[0]["messages"][1]["created_at"], "2026-02-03T19:11:00Z");
    assert_eq!(told.begins().unwrap().to_string(), "2026-02-03T19:10:00Z");
    for (gold, kind, piece) in
        [("s1-9", "fact", "no turn \"s1-9\""), ("", "fact", "exactly where"), ("s1-1", "unanswerable", "exactly where")]
    {
        let (_folder, file) = written(&person(gold, kind));
        let error = Corpus::open(&file, None, &[]).unwrap_err().to_string();
        assert!(error.contains(piece), "{error}");
    }
}

#[test]
fn beam_is_read_with_its_evidence_at_any_depth() {
    let turn = |id: usize, session: usize, date: &str| json!({"id": id, "role": if id.is_multiple_of(2) { "user" } else { "assistant" }, "session": session, "date": date, "content": "words"});
    let file = json!([{"id": "100K-1", "turns": [turn(0, 1, "March-15-2024"), turn(1, 1, "March-15-2024"),
        turn(2, 2, "April-05-2024")], "questions": [
        {"ability": "knowledge_update", "question": "q", "answer": "a", "rubric": ["r"],
         "source_chat_ids": {"old": [0], "new": [2, 9]}},
        {"ability": "abstention", "question": "q", "ideal_response": "none", "rubric": ["r"]}]}]);
    let (_folder, file) = written(&file.to_string());
    let corpus = Corpus::open(&file, None, &["100K-1".to_owned()]).unwrap();
    let [told] = corpus.told.as_slice() else { panic!("one chat") };
    assert_eq!((told.chats.len(), corpus.skipped.gold_unknown), (2, 1));
    assert_eq!(
        told.asked[0].gold.iter().map(String::as_str).collect::<std::collections::BTreeSet<_>>(),
        ["0", "2"].into()
    );
    assert_eq!((told.asked[1].answerable, told.asked[1].answer.as_deref()), (false, Some("none")));
    let missing = Corpus::open(&file, None, &["x".to_owned()]).unwrap_err();
    assert!(matches!(missing, Error::NotFound(_)), "{missing}");
}
