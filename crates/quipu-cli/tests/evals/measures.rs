//! What reaches the model: recall through statements, packs, certainty as it ships, and answers end to end.

use quipu_fake_model::{FakeRequest, FakeScript, FakeServer, Fault, Repetition};
use serde_json::{Value, json};

use super::{Place, locomo};

/// A chat of two sessions in BEAM's compact form.
fn beam() -> String {
    let turn = |id: usize, session: usize, date: &str, content: &str| {
        let role = if id.is_multiple_of(2) { "user" } else { "assistant" };
        json!({"id": id, "role": role, "session": session, "date": date, "content": content})
    };
    json!([{"id": "100K-1", "title": "t", "category": "c", "turns": [
        turn(0, 1, "March-15-2024", "The first sprint of the greenhouse controller ends on March 29."),
        turn(1, 1, "March-15-2024", "Noted: fourteen days are left for the humidity sensor."),
        turn(2, 2, "April-05-2024", "The humidity sensor averages 250 milliseconds after the cache."),
        turn(3, 2, "April-05-2024", "A violin needs a humidity of about fifty percent."),
    ], "questions": [
        {"ability": "information_extraction", "question": "When does the first sprint of the greenhouse controller end?",
         "answer": "March 29", "rubric": ["says March 29"], "source_chat_ids": [0]},
        {"ability": "knowledge_update", "question": "How many milliseconds does the humidity sensor average?",
         "answer": "250", "rubric": ["says 250", "says cache"], "source_chat_ids": {"new": [2], "old": [7]}},
        {"ability": "summarization", "question": "Can you sum up the greenhouse controller?", "ideal_summary": "s",
         "rubric": ["says sprint"]},
        {"ability": "abstention", "question": "Which parrot did the mayor buy?", "ideal_response": "none",
         "rubric": ["says that nothing is known"]},
    ]}])
    .to_string()
}

/// Somebody who moved once and has a cat.
fn person() -> String {
    let turn = |id: &str, content: &str| {
        let role = if id.ends_with(['1', '3']) { "user" } else { "assistant" };
        json!({"id": id, "role": role, "content": content})
    };
    let asked = |id: &str, kind: &str, question: &str, answer: &str, gold: &[&str], outdated: &[&str]| {
        json!({"id": id, "kind": kind, "question": question, "answer": answer, "gold": gold, "outdated": outdated,
            "why": "other_attribute"})
    };
    json!({"id": "ines", "person": "p", "sessions": [
        {"id": "s01", "date": "2026-02-03T19:10:00Z", "turns": [
            turn("s01-1", "I live in Lisbon."), turn("s01-2", "Lisbon is lovely."),
            turn("s01-3", "My cat Pixel is allergic to chicken."), turn("s01-4", "Try salmon kibble.")]},
        {"id": "s02", "date": "2026-05-03T19:10:00Z", "turns": [
            turn("s02-1", "I moved to Porto."), turn("s02-2", "Enjoy the river.")]},
    ], "questions": [
        asked("q1", "update", "Where do I live?", "Porto", &["s02-1"], &["s01-1"]),
        asked("q2", "fact", "What is my cat Pixel allergic to?", "chicken", &["s01-3"], &[]),
        asked("q3", "assistant_said", "Which kibble did you suggest I try?", "salmon", &["s01-4"], &[]),
        asked("q4", "unanswerable", "Which submarine did the mayor buy?", "", &[], &[]),
    ], "requests": [{"text": "hi", "bears": []}, {"text": "What may my cat Pixel eat?", "bears": ["s01-3"]}]})
    .to_string()
}

#[test]
fn a_statement_counts_as_the_turn_it_was_read_from() {
    let place = Place::new();
    let told = json!([{"sample_id": "conv-1", "conversation": {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"dia_id": "D1:1", "speaker": "Ann", "text": "I live in Cremona. The trains were on strike and the soup was cold."},
            {"dia_id": "D1:2", "speaker": "Bo", "text": "The harbour ferry was late again."},
        ]}, "qa": [{"question": "Where does Ann live?", "answer": "Cremona", "evidence": ["D1:1"], "category": 4}]}]);
    let (file, out) = (place.file("locomo.json", &told.to_string()), place.path("details.jsonl"));
    let read = place.json(&["locomo", &file, "--out", &out]);
    assert_eq!((&read["memory"], &read["turn"]["mrr"]), (&json!("facts read by rules"), &json!(1.0)));
    let line = &place.lines("details.jsonl")[0];
    assert_eq!((&line["found"][0], &line["right"]), (&json!("D1:1"), &json!(true)));
    let found: Vec<&str> = line["found"].as_array().unwrap().iter().map(|turn| turn.as_str().unwrap()).collect();
    assert_eq!(found.len(), found.iter().collect::<std::collections::BTreeSet<_>>().len(), "a turn counts once");
    assert_eq!(place.json(&["locomo", &file, "--words-only"])["memory"], "words only");
    place.text(&["locomo", &file, "--words-only"], &["Memory: words only"]);
}

#[test]
fn beam_counts_messages_packs_and_abstention() {
    let place = Place::new();
    let (file, out) = (place.file("beam.json", &beam()), place.path("details.jsonl"));
    let report = place.json(&["beam", &file, "--out", &out]);
    assert_eq!((&report["questions"], &report["without_evidence"]), (&json!(2), &json!(1)), "{report}");
    assert_eq!(report["turn"]["recall"], json!({"5": 1.0, "10": 1.0, "20": 1.0}));
    assert_eq!(report["turn"]["recall_all"]["10"], 1.0);
    assert_eq!(report["pack"]["2000"], json!({"there": 1.0, "strictly": 1.0}));
    assert_eq!(
        (&report["chats"], &report["messages"], &report["skipped"]["gold_unknown"]),
        (&json!(1), &json!(4), &json!(1))
    );
    let abstention = &report["abstention"];
    assert_eq!((&abstention["questions"], &abstention["others"]), (&json!(1), &json!(3)));
    assert!(abstention["auroc"].as_f64().unwrap() > 0.5 && abstention["auroc_interval"].is_array(), "{abstention}");
    let verdicts = &report["verdicts"]["abstention"];
    assert_eq!(verdicts.as_object().unwrap().values().filter_map(Value::as_u64).sum::<u64>(), 1);
    let lines = place.lines("details.jsonl");
    assert_eq!((lines.len(), &lines[0]["found"][0], &lines[3]["metrics"]), (4, &json!("0"), &json!({})));
    place.text(&["beam", &file, "--words-only"], &["Memory: words only", "knowledge_update", "all@10", "AUROC"]);
    place.refuses(&["beam", &file, "--conversations", "100K-9"], 3, &["100K-9"]);
    place.refuses(&["beam", &place.file("bad.json", &locomo())], 2, &["bad.json"]);
}

#[test]
fn packs_are_measured_for_every_shape_and_size() {
    let place = Place::new();
    // All of it fits, each statement beside the words it was read from.
    for (name, text, kind, questions) in
        [("l.json", locomo(), "locomo", 4), ("b.json", beam(), "beam", 2), ("p.json", person(), "assistant", 3)]
    {
        let (file, out) = (place.file(name, &text), place.path("details.jsonl"));
        let report = place.json(&["packs", &file, "--tokens", "200,1000", "--out", &out]);
        assert_eq!((&report["kind"], &report["questions"]), (&json!(kind), &json!(questions)), "{report}");
        let sizes = report["sizes"].as_array().unwrap();
        assert_eq!(sizes.len(), 3, "the default size is measured too");
        assert!(sizes.iter().any(|size| size["tokens_max"] == report["default_tokens"]));
        for size in sizes {
            let figure = |name: &str| size[name].as_f64().unwrap();
            assert!(figure("strictly") <= figure("there"), "{size}");
            assert!(size["tokens"]["mean"].as_f64().unwrap() <= figure("tokens_max"), "{size}");
        }
        let largest = &sizes[2];
        assert_eq!(largest["there"], 1.0, "{largest}");
        let framing = largest["framing_per_line"].as_f64().unwrap();
        assert!(framing > 5.0 && framing < 120.0, "{largest}");
        assert_eq!(place.lines("details.jsonl").len(), questions);
    }
    place.text(&["packs", &place.path("l.json")], &["(default)", "single-hop", "framing per line"]);
    place.refuses(&["packs", &place.file("bad.json", "{}")], 2, &["unknown format"]);
    place.refuses(&["packs", &place.path("b.json"), "--kind", "locomo"], 2, &["b.json"]);
}

#[test]
fn people_are_asked_and_nothing_they_said_is_shown_unless_asked_for() {
    let place = Place::new();
    std::fs::create_dir(place.path("people")).unwrap();
    place.file("people/ines.json", &person());
    place.file("people/notes.txt", "not a person");
    let (folder, out) = (place.path("people"), place.path("details.jsonl"));
    let report = place.json(&["assistant", &folder, "--out", &out]);
    assert_eq!((&report["people"], &report["turns"], &report["noise_turns"]), (&json!(1), &json!(6), &json!(0)));
    let answerable = &report["answerable"];
    assert_eq!((&answerable["questions"], &answerable["turn"]["recall"]["10"]), (&json!(3), &json!(1.0)), "{report}");
    let first = answerable["first"].as_object().unwrap().values().filter_map(Value::as_f64).sum::<f64>();
    assert!((first - 1.0).abs() < 1e-9, "{answerable}");
    assert_eq!(report["by_kind"]["update"]["outdated_first"], 0.0, "{report}");
    assert_eq!(answerable["pack"]["1500"]["there"], 1.0, "a statement stands beside the words it was read from");
    let requests = &report["requests"];
    assert_eq!((&requests["unrelated"]["requests"], &requests["related"]["requests"]), (&json!(1), &json!(1)));
    assert_eq!(requests["there"]["there"], 1.0, "{requests}");
    let written = std::fs::read_to_string(&out).unwrap();
    for said in ["cat Pixel", "Porto", "mayor", "kibble"] {
        assert!(!written.contains(said) && !report.to_string().contains(said), "{said}");
    }
    let shown = place.json(&["assistant", &folder, "--detail"]);
    assert_eq!(shown["details"][0]["question"], "Where do I live?");
    place.text(&["assistant", &folder, "--detail"], &["ines:q1", "Where do I live?"]);
    place.refuses(&["assistant", &place.path("none")], 3, &["cannot read"]);
}

#[test]
fn noise_is_in_the_same_memory_and_the_same_every_time() {
    let place = Place::new();
    let file = place.file("ines.json", &person());
    let run = || place.json(&["assistant", &file, "--noise", "60"]);
    let (one, other) = (run(), run());
    assert_eq!((&one["turns"], &one["noise_turns"]), (&json!(66), &json!(60)));
    assert_eq!(one["answerable"]["turn"]["recall"]["10"], 1.0, "{one}");
    // Tokens of packs are left out: ids are drawn anew each time, and they are part of a pack.
    for figures in ["turn", "first", "verdict"] {
        assert_eq!(one["answerable"][figures], other["answerable"][figures]);
    }
    assert_eq!((&one["verdicts"], &one["auroc"]), (&other["verdicts"], &other["auroc"]));
}

#[test]
fn the_shipped_calibration_is_judged_without_a_fit() {
    let place = Place::new();
    for (name, text, kind, questions, answerable) in [
        ("l.json", locomo(), "locomo", 8, 4),
        ("b.json", beam(), "beam", 4, 3),
        ("p.json", person(), "assistant", 4, 3),
    ] {
        let (file, out) = (place.file(name, &text), place.path("details.jsonl"));
        let report = place.json(&["calibrate", &file, "--shipped", "--out", &out]);
        assert_eq!(
            (&report["kind"], &report["questions"], &report["answerable"]),
            (&json!(kind), &json!(questions), &json!(answerable))
        );
        let given: u64 =
            report["verdicts"].as_object().unwrap().values().map(|one| one["answerable"].as_u64().unwrap()).sum();
        assert_eq!(given, answerable, "{report}");
        assert!(report["ece"].is_number() && report["brier"].is_number() && report["calibration"].is_null());
        assert_eq!(place.lines("details.jsonl").len() as u64, questions);
    }
    place.refuses(&["calibrate", &place.path("b.json")], 2, &["b.json"]);
}

/// Answers with what memory says, and judges by the words.
fn model(asked: &FakeRequest) -> String {
    let said = asked.last_user();
    if said.contains("Rubric, 2 lines") {
        return json!({"why": "w", "scores": [1, 0.5]}).to_string();
    }
    if said.contains("Rubric,") {
        let is_right = said.contains("1. says March 29") && said.contains("Response:\nMarch 29");
        return json!({"why": "w", "scores": [u8::from(is_right)]}).to_string();
    }
    if said.contains("Answer to judge") {
        return json!({"why": "w", "right": true}).to_string();
    }
    let knows = said.contains("<memory") && said.contains("ends on March 29");
    if knows { "March 29" } else { "nothing" }.to_owned()
}

#[test]
fn answers_are_judged_kept_and_not_asked_again() {
    let place = Place::new();
    let server =
        FakeServer::start(FakeScript::making(model).with(Fault::Unauthorised401, Repetition::After(3))).unwrap();
    std::fs::create_dir_all(place.path(".config/quipu")).unwrap();
    let chat =
        format!("[models.chat]\nprovider = \"openai\"\nbase_url = \"{}\"\nmodel = \"fake\"\n", server.base_url());
    place.file(".config/quipu/config.toml", &chat);
    let (file, out) = (place.file("beam.json", &beam()), place.path("run"));
    let args = ["answers", &file, "--model", "chat", "--out", &out, "--parallel", "1"];
    // The key is no longer accepted in the middle: what was answered is kept.
    place.refuses(&args, 5, &["key", "run the command again to continue"]);
    assert_eq!(place.lines("run/replies.ndjson").len(), 3);
    server.rescript(FakeScript::making(model));
    let report = place.json(&args);
    assert_eq!(server.received().len(), 8 - 3, "two for each question, none twice");
    assert_eq!(
        (&report["questions"], &report["model"], &report["judge"]),
        (&json!(4), &json!("openai/fake"), &json!("openai/fake"))
    );
    assert_eq!(report["by_ability"]["information_extraction"]["score"], 1.0, "{report}");
    assert_eq!(report["by_ability"]["knowledge_update"]["score"], 0.75);
    assert_eq!(report["by_ability"]["abstention"]["score"], 0.0);
    assert!(report["intervals"]["score"].is_array());
    let asked = server.received().len();
    assert_eq!((place.json(&args), server.received().len()), (report, asked), "nothing is left to ask");
    assert_eq!(place.lines("run/details.jsonl").len(), 4);
    place.text(&[&args[..], &["--questions", "2"]].concat(), &["rubric", "judged by openai/fake"]);
    place.refuses(&[&args[..], &["--tokens", "500"]].concat(), 2, &["another run"]);
    let other = place.path("other");
    let named = place.json(&[
        "answers",
        &place.file("l.json", &locomo()),
        "--model",
        "big",
        "--judge",
        "chat",
        "--out",
        &other,
    ]);
    assert_eq!((&named["model"], &named["score"]), (&json!("openai/big"), &json!(1.0)));
    let person = place.file("p.json", &person());
    place.refuses(&["answers", &person, "--model", "chat", "--out", &other], 2, &["LoCoMo and BEAM"]);
}

#[test]
fn statements_are_found_in_every_language() {
    let place = Place::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/languages");
    let out = place.path("details.jsonl");
    let report = place.json(&["languages", folder, "--out", &out]);
    let languages = report["languages"].as_object().unwrap();
    assert_eq!(languages.len(), 8);
    for (language, figures) in languages {
        assert_eq!(figures["questions"], 20, "{language}");
        for figure in ["same", "same_among_all"] {
            assert!(figures[figure].as_f64().unwrap() >= 0.85, "{language}: {figures}");
        }
    }
    assert_eq!(place.lines("details.jsonl").len(), 480);
    place.refuses(&["languages", &place.0.path().display().to_string()], 2, &["details.jsonl, line 1"]);
    place.refuses(&["languages", &place.file("none.txt", "")], 3, &["extension jsonl"]);
}
