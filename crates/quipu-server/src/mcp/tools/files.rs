//! Files of an agent: Anthropic's memory tool as a tool of this server, with the same commands and messages.

use quipu_engine::ports::Scope;
use quipu_engine::{Error, Result};

use super::super::call::Call;
use super::super::guest::Toolset;
use super::super::tool::Tool;
use crate::memory_tool::{Command, Ran, Unrun};

pub(super) fn tools() -> Vec<Tool> {
    let about = "Files of your own below /memories, kept from one conversation to the next: view a folder or a file, create, str_replace, \
         insert, delete, rename. Use it for notes on work in progress. What the user says of themselves belongs into add_memory.";
    vec![Tool::writing("memory", "Files", about, run).needs(Scope::Read).telling().of(Toolset::Files)]
}

fn run(call: &Call<'_>, command: Command) -> Result<Ran> {
    if !command.is_reading() && !call.guest.may(Scope::Write) {
        return Err(Error::Refused("this command needs a key with the scope write".to_owned()));
    }
    command.run(call.engine, call.user(), call.guest.key_id.as_deref()).map_err(|unrun| match unrun {
        Unrun::Missing(name) => Error::Invalid(format!("this command needs {name}")),
        Unrun::Fault(error) => error,
    })
}
