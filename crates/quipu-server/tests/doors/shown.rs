//! What the server reports about itself.

use quipu_fake_model::FakeScript;
use serde_json::Value;

use crate::rig::TestServer;

#[tokio::test(flavor = "multi_thread")]
async fn health_version_and_figures() {
    let rig = TestServer::new(FakeScript::saying("In Porto.")).await;
    rig.say("ines", "s", "I live in Porto.").await;
    let get = async |path: &str| {
        let answer = rig.client.get(rig.url(path)).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    assert_eq!(get("/health/live").await, (200, "alive\n".to_owned()));
    let (status, ready) = get("/health/ready").await;
    let ready: Value = ready.parse().unwrap();
    assert_eq!((status, &ready["ready"], &ready["store"]), (200, &Value::Bool(true), &Value::from("ok")));
    let (_, version) = get("/version").await;
    assert_eq!(version.parse::<Value>().unwrap()["version"], env!("CARGO_PKG_VERSION"));
    let (_, page) = get("/metrics").await;
    for line in [
        "quipu_proxy_requests_total{upstream=\"open\",status=\"200\",memory_status=\"ok\"} 1",
        "quipu_proxy_turns_total{outcome=\"recorded\"} 2",
        "quipu_queue_depth 0",
        "quipu_operation_duration_seconds_count{operation=\"search_memory\",outcome=\"ok\"} 1",
        "quipu_operation_duration_seconds_count{operation=\"create_memory\",outcome=\"ok\"} 2",
        "quipu_recall_results_count 1",
        "quipu_context_tokens_count 1",
        "quipu_open_memories 1",
        "quipu_memories_opened_total 1",
        "quipu_review_pending{kind=\"fact\"} 0",
        "# EOF",
    ] {
        assert!(page.lines().any(|found| found == line), "{line}\n{page}");
    }
    assert!(!page.contains("ines"), "no user stands in figures");
    assert_eq!(rig.upstream.requests(), 1, "no model was asked for any of it");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_counted_by_route_and_never_by_path() {
    let rig = TestServer::new(FakeScript::saying("In Porto.")).await;
    rig.told("ines", "I live in Porto.").await;
    for _ in 0..3 {
        rig.get("/memory/ines/facts").await.ok();
    }
    let secret = "/memory/no-such-name/items/fact_0000000000000";
    for path in [secret, "/memory/no-such-name/nowhere", "/no-such-name", "/ui/u/no-such-name/items/fact_0000000000000"]
    {
        assert_eq!(rig.get(path).await.status, 404, "{path}");
    }
    rig.client.request("BREW".parse().unwrap(), rig.url("/memory/ines")).send().await.unwrap();
    let page = rig.client.get(rig.url("/metrics")).send().await.unwrap().text().await.unwrap();
    let count = |method: &str, route: &str, class: &str| {
        format!(
            "http_server_request_duration_seconds_count{{http_request_method=\"{method}\",http_route=\"{route}\",\
             http_response_status_class=\"{class}\"}}"
        )
    };
    for (line, times) in [
        (count("GET", "/memory/{user_id}/facts", "2xx"), 3),
        (count("POST", "/memory/{user_id}/turns", "2xx"), 1),
        (count("GET", "/memory/{user_id}/items/{item_id}", "4xx"), 1),
        (count("GET", "/ui/u/{user_id}/items/{item_id}", "4xx"), 1),
        (count("GET", "", "4xx"), 2),
        (count("_OTHER", "/memory/{user_id}", "4xx"), 1),
    ] {
        assert!(page.lines().any(|found| found == format!("{line} {times}")), "{line} {times}\n{page}");
    }
    assert!(!page.contains("no-such-name") && !page.contains("ines"), "nobody stands in figures: {page}");
    assert_eq!(page.matches("# EOF").count(), 1);
    let shown = rig.get("/ui/server/metrics").await;
    let shown = String::from_utf8(shown.body).unwrap();
    assert!(shown.contains("GET /memory/{user_id}/facts") && shown.contains("Requests"), "{shown}");
}
