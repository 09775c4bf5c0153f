//! `quipu eval`: figures against what was counted by hand, files that are not what they should be, and what programs read.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod big;
mod measures;
mod reading;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

/// A folder of its own for files, and the binary.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn file(&self, name: &str, content: &str) -> String {
        std::fs::write(self.0.path().join(name), content).unwrap();
        self.path(name)
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quipu"));
        command
            .args(["eval"])
            .args(args)
            .env_clear()
            .env("TZ", "UTC")
            .env("HOME", self.0.path())
            .env("OPENAI_API_KEY", "sk-x")
            .output()
            .unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        let output = self.run(&[args, &["-o", "json"]].concat());
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn text(&self, args: &[&str], pieces: &[&str]) {
        let output = self.run(args);
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        pieces.iter().for_each(|piece| assert!(printed.contains(piece), "no {piece:?} in {printed}"));
    }

    /// Runs what must fail, and checks the exit code and what is said.
    fn refuses(&self, args: &[&str], code: i32, pieces: &[&str]) {
        let output = self.run(args);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        pieces.iter().for_each(|piece| assert!(said.contains(piece), "{args:?}: no {piece:?} in {said}"));
    }

    fn lines(&self, name: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.0.path().join(name)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn testdata(name: &str) -> String {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned();
    root.join("testdata").join(name).to_str().unwrap().to_owned()
}

/// Two conversations of which every right answer is found first, as nothing else shares a word with the question.
fn locomo() -> String {
    let turn = |id: &str, speaker: &str, text: &str| json!({"dia_id": id, "speaker": speaker, "text": text});
    let one = json!({
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            turn("D1:1", "Ann", "My kite got stuck in the cherry tree."),
            turn("D1:2", "Bo", "The harbour ferry was late again."),
        ],
        "session_2_date_time": "9:00 am on 12 June, 2023",
        "session_2": [turn("D2:1", "Ann", "I bought a violin in Cremona.")],
    });
    let other = json!({
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [turn("D1:1", "Cy", "Our telescope shows the rings of Saturn.")],
    });
    let asked = |question: &str, evidence: &[&str], category: u8| json!({"question": question, "answer": "x", "evidence": evidence, "category": category});
    json!([
        {"sample_id": "conv-1", "conversation": one, "qa": [
            asked("Where did the kite get stuck?", &["D1:1"], 4),
            asked("What was said of the harbour ferry?", &["D1:2"], 4),
            asked("When was a violin bought in Cremona?", &["D2:1"], 2),
            asked("What colour is the submarine?", &["D1:1"], 5),
            asked("Who is the mayor?", &[], 1),
        ]},
        {"sample_id": "conv-2", "conversation": other, "qa": [asked("What does the telescope show?", &["D1:1"], 4)]},
    ])
    .to_string()
}

#[test]
fn locomo_keeps_the_shape_programs_read_and_adds_intervals() {
    let place = Place::new();
    let file = place.file("locomo.json", &locomo());
    let out = place.path("details.jsonl");
    let report = place.json(&["locomo", &file, "--out", &out]);
    assert_eq!(report["questions"], 4);
    assert_eq!(report["skipped"]["category_5"], 1);
    assert_eq!(report["skipped"]["without_evidence"], 1);
    assert_eq!(report["turn"]["recall"], json!({"5": 1.0, "10": 1.0, "20": 1.0, "50": 1.0}));
    assert_eq!(report["turn"]["recall_all"], json!({"10": 1.0}));
    assert_eq!(report["turn"]["ndcg"], json!({"10": 1.0}));
    assert_eq!(report["turn"]["mrr"], 1.0);
    assert_eq!(report["session"]["recall"], json!({"1": 1.0, "5": 1.0, "10": 1.0}));
    assert_eq!(report["intervals"]["turn"]["recall"]["10"], json!([1.0, 1.0]));
    assert_eq!(report["intervals"]["turn"]["mrr"], json!([1.0, 1.0]));
    assert_eq!(report["by_category"]["single-hop"]["questions"], 3);
    assert_eq!(report["by_conversation"]["conv-1"]["questions"], 3);
    assert_eq!(report["by_conversation"]["conv-2"]["session"]["recall"]["1"], 1.0);
    for member in ["latency_ms", "ingest", "bytes", "model"] {
        assert!(!report[member].is_null(), "no {member}");
    }
    let lines = place.lines("details.jsonl");
    let ids: Vec<&str> = lines.iter().map(|line| line["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["conv-1:1", "conv-1:2", "conv-1:3", "conv-2:1"]);
    assert_eq!((&lines[0]["eval"], &lines[0]["group"]), (&json!("locomo"), &json!("single-hop")));
    assert_eq!(lines[0]["metrics"]["turn.recall.10"], 1.0);
    assert_eq!((&lines[0]["found"][0], &lines[0]["right"]), (&json!("D1:1"), &json!(true)));
}

#[test]
fn some_conversations_are_evaluated_alone() {
    let place = Place::new();
    let file = place.file("locomo.json", &locomo());
    let report = place.json(&["locomo", &file, "--conversations", "conv-2"]);
    assert_eq!((&report["questions"], &report["ingest"]["conversations"]), (&json!(1), &json!(1)));
    assert_eq!(place.json(&["locomo", &file, "--conversations", "conv-2,conv-1"])["questions"], 4);
    place.text(&["locomo", &file], &["conv-1", "100.0 (100.0–100.0)", "MRR", "2000 resamples of the questions"]);
    place.refuses(&["locomo", &file, "--conversations", "conv-9"], 3, &["conv-9"]);
}

#[test]
fn two_runs_are_compared_question_by_question() {
    let place = Place::new();
    let file = place.file("locomo.json", &locomo());
    let (a, c) = (place.path("a.jsonl"), place.path("c.jsonl"));
    place.json(&["locomo", &file, "--out", &a]);
    place.json(&["locomo", &file, "--out", &c, "--conversations", "conv-1"]);
    // The same run, but that one question found nothing.
    let mut lines = place.lines("a.jsonl");
    for value in lines[2]["metrics"].as_object_mut().unwrap().values_mut() {
        *value = json!(0.0);
    }
    let worse: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let b = place.file("b.jsonl", &worse);
    let report = place.json(&["compare", &a, &b]);
    let mrr = &report["figures"]["turn.mrr"];
    assert_eq!((&mrr["a"], &mrr["b"], &mrr["difference"]), (&json!(1.0), &json!(0.75), &json!(-0.25)));
    assert_eq!((&mrr["wins"], &mrr["losses"], &mrr["ties"]), (&json!(0), &json!(1), &json!(3)));
    assert_eq!(report["by_group"]["temporal"]["turn.mrr"]["difference"], -1.0);
    assert_eq!(report["changed"][0]["id"], "conv-1:3");
    assert_eq!(report, place.json(&["compare", &a, &b]));
    place.text(&["compare", &a, &b], &["−", "-25.0 (", "Changed most", "When was a violin bought"]);
    place.refuses(&["compare", &a, &c], 2, &["not of the same questions", "1 only in", "(conv-2:1)"]);
}

#[test]
fn files_of_details_that_are_none() {
    let place = Place::new();
    let good = r#"{"id":"1","eval":"x","group":"g","question":"q","metrics":{"turn.mrr":1.0}}"#;
    let fine = place.file("good.jsonl", good);
    for (content, said) in [
        ("", "is empty"),
        ("\n\n", "is empty"),
        (&good[..40], "line 1: the line breaks off"),
        (&format!("{good}\n{good}\n"), "line 2: \"1\" occurs twice"),
        ("{\"question\":\"q\"}\n", "line 1: missing field `id`"),
        ("[1]\n", "line 1:"),
    ] {
        let bad = place.file("bad.jsonl", content);
        place.refuses(&["compare", &fine, &bad], 2, &["bad.jsonl", said]);
    }
    place.refuses(&["compare", &fine, &place.path("none.jsonl")], 3, &["cannot read"]);
}

#[test]
fn conversations_that_are_none() {
    let place = Place::new();
    let whole = std::fs::read_to_string(testdata("import/locomo.json")).unwrap();
    for (content, code) in [("", 2), ("{}", 2), ("[]", 2), ("42", 2), (&whole[..whole.len() / 2], 2)] {
        let file = place.file("locomo.json", content);
        place.refuses(&["locomo", &file], code, &["locomo.json"]);
    }
    place.refuses(&["locomo", &place.path("none.json")], 3, &["none.json"]);
}

#[test]
fn longmemeval_counts_sessions_turns_and_abstention_apart() {
    let place = Place::new();
    let (file, out) = (testdata("eval/longmemeval.json"), place.path("details.jsonl"));
    let report = place.json(&["longmemeval", &file, "--out", &out]);
    // Four can be answered, three of them mark turns; every history is so small that all of it is found.
    assert_eq!((&report["questions"], &report["questions_with_turns"]), (&json!(4), &json!(3)));
    assert_eq!(report["session"]["recall"]["10"], 1.0);
    assert_eq!(report["session"]["recall_all"], json!({"5": 1.0, "10": 1.0}));
    assert_eq!(report["turn"]["recall"]["10"], 1.0);
    assert_eq!(report["intervals"]["session"]["recall"]["5"], json!([1.0, 1.0]));
    assert_eq!(report["by_type"]["knowledge-update"]["questions"], 1);
    assert_eq!(report["by_type"]["multi-session"]["session"]["recall"]["1"], 0.5);
    assert_eq!((&report["abstention"]["questions"], &report["turns"]), (&json!(1), &json!(17)));
    assert!(report["abstention"]["best_relevance"]["p50"].as_f64().unwrap() > 0.0);
    let lines = place.lines("details.jsonl");
    assert_eq!(lines.len(), 5);
    assert_eq!((&lines[3]["id"], &lines[3]["group"]), (&json!("q_parrot_abs"), &json!("abstention")));
    assert_eq!((&lines[3]["metrics"], &lines[3]["right"]), (&json!({}), &json!(false)));
    assert_eq!(lines[0]["metrics"]["turn.recall.5"], 1.0);
    assert!(lines[4]["metrics"].get("turn.recall.5").is_none());
    place.text(&["longmemeval", &file], &["any@5", "multi-session", "Abstention: 1 questions, not counted above"]);
    let some = place.json(&["longmemeval", &file, "--limit", "2"]);
    assert_eq!((&some["questions"], &some["skipped"]["beyond_limit"]), (&json!(2), &json!(3)));
}

#[test]
fn longmemeval_refuses_what_is_none() {
    let place = Place::new();
    let whole = std::fs::read_to_string(testdata("eval/longmemeval.json")).unwrap();
    for (content, said) in
        [("", "empty"), ("[]", "no questions"), ("{}", "a list of chats"), (&whole[..whole.len() / 2], "breaks off")]
    {
        let file = place.file("bad.json", content);
        place.refuses(&["longmemeval", &file], 2, &["bad.json", said]);
    }
    place.refuses(&["longmemeval", &place.path("none.json")], 3, &["cannot read"]);
}

#[test]
fn longmemeval_is_imported_a_user_a_question() {
    let place = Place::new();
    let import = |extra: &[&str]| {
        let file = testdata("eval/longmemeval.json");
        let args = [&["import", "longmemeval", &file, "--words-only"], extra].concat();
        let mut command = Command::new(env!("CARGO_BIN_EXE_quipu"));
        let output =
            command.args(args).env_clear().env("TZ", "UTC").env("QUIPU_DATA_DIR", place.path("data")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let done = import(&[]);
    assert!(done.contains("q_kiln → user q_kiln: 4 new"), "{done}");
    assert!(import(&["--conversation", "q_kiln"]).contains("0 new, 4 known"));
}

#[test]
fn efficiency_counts_tokens_times_and_bytes() {
    let place = Place::new();
    let file = place.file("locomo.json", &locomo());
    let report = place.json(&["efficiency", &file, "--questions", "3"]);
    assert_eq!((&report["questions"], &report["ingest"]["turns"]), (&json!(3), &json!(4)));
    for intent in ["plan", "reflect", "recall", "decide", "nudge"] {
        let tokens = &report["pack_tokens"][intent];
        let of = |name: &str| tokens[name].as_u64().unwrap();
        assert!(0 < of("p50") && of("p50") <= of("p95") && of("p95") <= of("max"), "{intent}: {tokens}");
    }
    for add in ["add", "add_durable_only"] {
        assert_eq!(report[add]["never_seen"], 0, "{report}");
    }
    // What add returns from can be recalled: nobody has to wait.
    assert_eq!(report["add"]["seen_at_once"], report["add"]["turns"]);
    assert!(report["bytes_per_item"]["disk"].as_f64().unwrap() > 0.0);
    place.refuses(&["efficiency", &file, "--questions", "0"], 2, &["--questions"]);
    place.refuses(&["efficiency", &file, "--conversations", "conv-9"], 2, &["no questions"]);
}

#[test]
fn worlds_ask_every_family_and_give_the_same_answers_again() {
    let place = Place::new();
    let run = |worlds: &str, stories: &str, lives: &str, out: &str| {
        let counts = ["--seed", "2", "--worlds", worlds, "--stories", stories, "--lives", lives, "--spelling"];
        place.json(&[&["worlds"], &counts[..], &["--out", out]].concat())
    };
    let report = run("1", "6", "1", &place.path("one.jsonl"));
    let families = report["by_family"].as_object().unwrap();
    assert_eq!(
        families.keys().collect::<Vec<_>>(),
        [
            "compaction",
            "conflicts",
            "folding",
            "forgetting",
            "learning",
            "promotion",
            "reflection",
            "silence",
            "temporal"
        ]
    );
    let lines = place.lines("one.jsonl");
    let counted = lines.iter().filter(|line| line["set_aside"] == false).count();
    assert_eq!(report["questions"], counted);
    assert_eq!(lines.len() - counted, report["set_aside"].as_u64().unwrap() as usize);
    // What the engine promises whatever is asked: nothing is left of what was erased, and a weak source changes nothing.
    let figure = |pointer: &str| report.pointer(pointer).and_then(Value::as_f64).unwrap();
    for family in ["forgetting", "conflicts"] {
        assert!(figure(&format!("/by_family/{family}/right")) >= 1.0, "{}", report["by_family"][family]);
    }
    assert!(figure("/by_family/temporal/by_form/facts of a day/value") >= 0.95, "{}", report["by_family"]["temporal"]);
    assert!(figure("/by_family/learning/in the pack") >= 1.0, "{}", report["by_family"]["learning"]);
    assert!(report["by_family"]["temporal"]["intervals"]["right"].is_array());
    // What grows by rules does what the rules say, whatever the embedder; and nothing is lost by compacting.
    for family in ["promotion", "reflection", "folding", "compaction"] {
        assert!(figure(&format!("/by_family/{family}/right")) >= 1.0, "{}", report["by_family"][family]);
    }
    run("0", "2", "0", &place.path("a.jsonl"));
    run("0", "2", "0", &place.path("b.jsonl"));
    assert_eq!((place.lines("a.jsonl").len(), place.lines("a.jsonl")), (8, place.lines("b.jsonl")));
}

#[test]
fn a_page_shows_tables_and_plots_and_needs_nothing_else() {
    let place = Place::new();
    let (file, out) = (place.file("locomo.json", &locomo()), place.path("page.html"));
    std::fs::create_dir(place.path("runs")).unwrap();
    place.refuses(&["report", "--out", &out, &place.path("runs")], 3, &["no .jsonl files"]);
    place.json(&["locomo", &file, "--out", &place.path("runs/a.jsonl")]);
    place.text(&["report", "--out", &out, &place.path("runs")], &["4 questions of 1 files"]);
    let page = std::fs::read_to_string(&out).unwrap();
    for piece in
        ["Recall of turns by depth", "turn.recall.10 by kind of question", "time of recall", "calibration error"]
    {
        assert!(page.contains(&format!("<figcaption>{piece}")) || page.contains(piece), "no {piece:?}");
    }
    assert!(page.contains("<th scope=\"row\">single-hop</th><td>3</td>"));
    assert_eq!(page.matches("<svg").count(), page.matches("aria-label").count());
    assert!(!page.contains("<script") && !page.contains("http") && !page.contains("NaN"), "{page}");
    place.refuses(&["report", "--out", &out, &place.path("none.jsonl")], 3, &["cannot read"]);
    place.refuses(&["report", "--out", &out], 2, &["FILES"]);
}
