//! Messages that the protocol library would pass over, or refuse without saying why.

use serde_json::{Value, json};

/// JSON-RPC codes: no JSON, no request, and parameters that the method does not take.
const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const INVALID_PARAMS: i32 = -32602;

/// The answer to a message that is no JSON object, or that calls a tool without naming it. `None` for every other
/// message. `what` is what the error calls the message: "the line".
pub(crate) fn answer(what: &str, message: &[u8]) -> Option<Value> {
    let read: Value = match serde_json::from_slice(message) {
        Ok(read) => read,
        Err(error) => return Some(refusal(&Value::Null, PARSE_ERROR, &format!("{what} is no JSON: {error}"))),
    };
    if !read.is_object() {
        return Some(refusal(&Value::Null, INVALID_REQUEST, &format!("{what} is no JSON object, which a message is")));
    }
    let params = &read["params"];
    let why = match (&params["name"], &params["arguments"]) {
        _ if read["method"] != "tools/call" || read["id"].is_null() => return None,
        (Value::String(_), Value::Object(_) | Value::Null) => return None,
        (Value::String(_), _) => "params.arguments must be an object",
        _ => "params.name must be the name of a tool; tools/list names them",
    };
    Some(refusal(&read["id"], INVALID_PARAMS, &format!("tools/call: {why}")))
}

/// The answer to a message of more than so many bytes.
pub(super) fn too_long(bytes_max: u64) -> Value {
    refusal(&Value::Null, PARSE_ERROR, &format!("the line is longer than {bytes_max} bytes"))
}

/// An error response.
fn refusal(id: &Value, code: i32, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_that_nobody_could_carry_out_are_answered_here() {
        for (message, code) in [
            ("", Some(PARSE_ERROR)),
            ("{\"id\":", Some(PARSE_ERROR)),
            ("[]", Some(INVALID_REQUEST)),
            ("\"tools/list\"", Some(INVALID_REQUEST)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, None),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall"}}"#, None),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall","arguments":{}}}"#, None),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, Some(INVALID_PARAMS)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#, Some(INVALID_PARAMS)),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":[]}}"#,
                Some(INVALID_PARAMS),
            ),
            // A notification has no answer.
            (r#"{"jsonrpc":"2.0","method":"tools/call"}"#, None),
        ] {
            let told = answer("the line", message.as_bytes());
            let found = told.as_ref().and_then(|told| told["error"]["code"].as_i64());
            assert_eq!(found, code.map(i64::from), "{message}");
        }
    }
}
