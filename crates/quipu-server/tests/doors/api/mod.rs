//! Quipu's own API, as a client uses it.

mod destroying;
mod frame;
mod handing;
mod keys;
mod mem0;
mod memory_tool;
mod routes;
pub(crate) mod strangers;
mod tenants;

use quipu_fake_model::FakeScript;
use serde_json::{Value, json};

use crate::rig::{Answer, TestServer};

/// A server with an empty store.
async fn rig() -> TestServer {
    TestServer::new(FakeScript::saying("hello")).await
}

impl TestServer {
    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], None).await
    }

    pub(crate) async fn send(&self, path: &str, body: Value) -> Answer {
        self.ask("POST", path, &[], Some(&body)).await
    }

    /// True if the user has a memory.
    pub(crate) fn knows(&self, user: &str) -> bool {
        quipu_engine::users(&self.engine).unwrap().iter().any(|known| known.as_str() == user)
    }

    /// Deletes a user with confirmation, and returns the receipt.
    pub(crate) async fn deleted(&self, user: &str) -> Value {
        let path = format!("/memory/{user}");
        let announced = self.ask("DELETE", &path, &[], None).await;
        assert_eq!(announced.status, 428);
        let token = announced.json()["error"]["confirm"].as_str().unwrap().to_owned();
        self.ask("DELETE", &format!("{path}?confirm={token}"), &[], None).await.ok()
    }

    /// Records a message of a user, and waits until recall finds it.
    pub(crate) async fn told(&self, user: &str, words: &str) -> Value {
        let body = json!({"messages": [{"role": "user", "content": words}]});
        self.send(&format!("/memory/{user}/turns"), body).await.ok()
    }
}

impl Answer {
    /// The body of a successful response.
    pub(crate) fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.body));
        self.json()
    }

    /// Status, code and parameter of an error, after checking its shape.
    fn refused(&self) -> (u16, String, Value) {
        let body = self.json();
        let error = &body["error"];
        assert_eq!(body["detail"], error["message"], "{body}");
        for field in ["type", "code", "message", "request_id"] {
            assert!(error[field].as_str().is_some_and(|text| !text.is_empty()), "{field} in {body}");
        }
        assert!(error["retryable"].is_boolean() && error.get("param").is_some(), "{body}");
        assert_eq!(error["request_id"], self.header("x-request-id"), "{body}");
        (self.status, error["code"].as_str().unwrap().to_owned(), error["param"].clone())
    }
}
