//! The nine tools of the reference memory server, in its format.

use quipu_engine::ports::Scope;
use serde_json::{Value, json};

use super::{Client, rig};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_created_is_read_back_in_the_same_shapes() {
    let rig = rig().await;
    let client = Client::of(&rig).at("/mcp?toolsets=graph");
    let marta = json!({"name": "Marta", "entityType": "person", "observations": ["Plays the cello", "Is from Faro"]});
    let acme = json!({"name": "Acme", "entityType": "company", "observations": []});
    let made = client.call("create_entities", json!({"entities": [marta, acme, marta]})).await;
    assert_eq!(made, json!({"entities": [marta, acme]}));
    assert_eq!(client.call("create_entities", json!({"entities": [marta]})).await, json!({"entities": []}));
    let works = json!({"from": "Marta", "to": "Acme", "relationType": "works at"});
    assert_eq!(
        client.call("create_relations", json!({"relations": [works, works]})).await,
        json!({"relations": [works]})
    );
    assert_eq!(client.call("create_relations", json!({"relations": [works]})).await, json!({"relations": []}));
    let more = json!({"observations": [{"entityName": "Marta", "contents": ["Plays the cello", "Has two cats"]}]});
    let added = client.call("add_observations", more).await;
    assert_eq!(added, json!({"results": [{"entityName": "Marta", "addedObservations": ["Has two cats"]}]}));

    let graph = client.call("read_graph", json!({})).await;
    assert_eq!(graph["relations"], json!([works]), "{graph}");
    let named = |graph: &Value, name: &str| {
        graph["entities"].as_array().unwrap().iter().find(|entity| entity["name"] == name).cloned().unwrap()
    };
    let observed = named(&graph, "Marta");
    assert_eq!(observed["entityType"], "person");
    let mut texts: Vec<&str> =
        observed["observations"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    texts.sort_unstable();
    assert_eq!(texts, ["Has two cats", "Is from Faro", "Plays the cello"]);
    assert_eq!(named(&graph, "Acme"), acme);
    assert_eq!(named(&client.call("search_nodes", json!({"query": "cello"})).await, "Marta"), observed);
    let opened = client.call("open_nodes", json!({"names": ["Acme", "Nobody"]})).await;
    assert_eq!(opened, json!({"entities": [acme], "relations": [works]}));
    // What the user said is included.
    client.call("add_memory", json!({"user_said": "I live in Porto."})).await;
    let graph = client.call("read_graph", json!({})).await.to_string();
    assert!(graph.contains("Porto") && graph.contains("\"user\""), "{graph}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_deleted_before_the_user_agrees() {
    let rig = rig().await;
    let client = Client::of(&rig).at("/mcp?toolsets=graph").with(&[Scope::Read, Scope::Write, Scope::Review], None);
    let marta = json!({"name": "Marta", "entityType": "person", "observations": ["Plays the cello"]});
    client.call("create_entities", json!({"entities": [marta]})).await;
    let graph = client.call("read_graph", json!({})).await;
    let wrong = json!({"deletions": [{"entityName": "Marta", "observations": ["Plays the cello", "Sings"]}]});
    let told = client.call("delete_observations", wrong).await;
    assert_eq!(told["success"], false);
    assert!(told["message"].as_str().unwrap().contains("1 deletions are proposed"), "{told}");
    let told = client.call("delete_entities", json!({"entityNames": ["Marta"]})).await;
    assert!(told["message"].as_str().unwrap().contains("2 deletions are proposed"), "{told}");
    let none = json!({"relations": [{"from": "Marta", "to": "Acme", "relationType": "knows"}]});
    assert!(client.call("delete_relations", none).await["message"].as_str().unwrap().contains("Nothing fits"));
    assert_eq!(client.call("read_graph", json!({})).await, graph);
    let waiting = client.call("review_memories", json!({})).await;
    assert_eq!(waiting["total"], 2, "{waiting}");
    for one in waiting["waiting"].as_array().unwrap() {
        let path = format!("/memory/me/review/{}", one["id"].as_str().unwrap());
        assert_eq!(rig.ask("POST", &path, &[], Some(&json!({"action": "approve"}))).await.status, 200);
    }
    assert_eq!(client.call("read_graph", json!({})).await, json!({"entities": [], "relations": []}));
    // What would require changing the user's words is reported beside the standard fields.
    let about = json!({"entities": [{"name": "user", "entityType": "person", "observations": ["Is vegan"]}]});
    client.call("create_entities", about).await;
}
