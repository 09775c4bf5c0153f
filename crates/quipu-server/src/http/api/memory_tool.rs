//! Anthropic's memory tool over HTTP.

use quipu_engine::ports::Scope;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::fault::Fault;
use super::frame::{Call, Route};
use crate::memory_tool::{Command, CommandName, Ran, Unrun};

pub(super) fn routes() -> Vec<Route> {
    let about = "Runs a command of Anthropic's memory tool";
    vec![Route::post("/v1/memory-tool", about, run).needs(Scope::Read)]
}

/// Input of the tool, and the user whose files it works on.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MemoryToolRequest {
    command: CommandName,
    /// User whose memory it is. Defaults to the user of the key, then of the server.
    user_id: Option<String>,
    path: Option<String>,
    /// First and last line; -1 is the end.
    view_range: Option<(i64, i64)>,
    file_text: Option<String>,
    old_str: Option<String>,
    new_str: Option<String>,
    insert_line: Option<i64>,
    insert_text: Option<String>,
    old_path: Option<String>,
    new_path: Option<String>,
}

fn run(call: &Call<'_>, asked: MemoryToolRequest) -> Result<Ran, Fault> {
    let user = call.own_user(asked.user_id.as_deref())?;
    let MemoryToolRequest { command, path, view_range, file_text, old_str, new_str, .. } = asked;
    let MemoryToolRequest { insert_line, insert_text, old_path, new_path, .. } = asked;
    let command = Command {
        command,
        path,
        view_range,
        file_text,
        old_str,
        new_str,
        insert_line,
        insert_text,
        old_path,
        new_path,
    };
    if !command.is_reading() {
        call.must(Scope::Write)?;
    }
    command.run(call.engine, &user, call.key_id()).map_err(|unrun| match unrun {
        Unrun::Missing(name) => Fault::invalid(format!("this command needs {name}")).code("missing_field").at(name),
        Unrun::Fault(error) => error.into(),
    })
}
