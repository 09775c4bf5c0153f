//! Prompts, which a person may choose in a client.

use quipu_engine::ports::Scope;
use quipu_engine::{ContextOptions, Error, Result};
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

use super::call::Call;
use super::guest::McpCaller;
use super::tools;

/// The prompts that a caller may use.
pub(super) fn listed(guest: &McpCaller) -> Vec<Prompt> {
    let argument = |name: &str, about: &str, required: bool| {
        PromptArgument::new(name).with_description(about).with_required(required)
    };
    let mut all = Vec::new();
    if guest.may(Scope::Read) {
        let query = argument("query", "The task or question", true);
        all.push(
            Prompt::new("context", Some("Everything memory has for a task, as a block"), Some(vec![query]))
                .with_title("Context from memory"),
        );
    }
    if guest.may(Scope::Write) {
        let text = argument("text", "What to remember; what was said last, if it is not given", false);
        all.push(
            Prompt::new("remember", Some("Have something remembered"), Some(vec![text])).with_title("Remember this"),
        );
    }
    if guest.may(Scope::Review) {
        all.push(
            Prompt::new("review", Some("Go through what waits for your decision"), None).with_title("Review memory"),
        );
    }
    all
}

/// Fills a prompt.
///
/// # Errors
/// `NotFound` for a prompt that does not exist or that the caller may not use; `Invalid` for a missing argument.
pub(super) fn filled(call: &Call<'_>, name: &str, given: &JsonObject) -> Result<GetPromptResult> {
    let given = |name: &str| given.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    let may = |scope: Scope| call.guest.may(scope);
    let text = match name {
        "context" if may(Scope::Read) => {
            let query = given("query").ok_or_else(|| Error::Invalid("query: the task or question".to_owned()))?;
            let block = tools::block(call, &ContextOptions::of(query))?;
            format!("{}\n\n{query}", block.text)
        }
        "remember" if may(Scope::Write) => match given("text") {
            Some(text) => format!("Remember this with add_memory; these are my own words, so give them in user_said:\n\n{text}"),
            None => "Remember with add_memory what I have said in this conversation that will matter later: my own words, word for word, in \
                     user_said, one call for each; what you concluded yourself in text. Then tell me what was recorded and what waits for me."
                .to_owned(),
        },
        "review" if may(Scope::Review) => "Go through what waits in review_memories with me, one at a time: show me the question, why it \
                                           waits and the words it was read from; wait for my answer; then hand it on with what I said. \
                                           Decide nothing yourself."
            .to_owned(),
        _ => return Err(Error::NotFound(format!("there is no prompt {name:?}"))),
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}
