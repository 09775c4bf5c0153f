//! Chats with the configured model, with memory. A message is durable before it is sent to the model. Summaries and
//! extraction run in the background, and what is left of them at the end of the chat.

use std::io::{BufRead, IsTerminal, Write};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

use quipu_core::id::{ItemId, Seq};
use quipu_core::pack::escape_for_terminal;
use quipu_core::source::Role;
use quipu_engine::log::LogOptions;
use quipu_engine::ports::{Clock, CompletionRequest, LanguageModel, Message, ModelError, PromptRole, Purpose};
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::{EventRef, When};
use quipu_engine::{
    Budget, ContextOptions, Error, FactOptions, Processed, Receipt, RememberOptions, Result, SessionContextOptions,
    Until, Utterance,
};
use quipu_models::language::RemoteModel;
use signal_hook::consts::SIGINT;
use signal_hook::flag;

use clap::Args;

use crate::app;
use crate::commands::CommandContext;
use crate::commands::render;
use crate::settings::ModelRole;

#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// Token budget of the memory in each prompt
    #[arg(long, default_value_t = quipu_core::pack::SESSION_TOKENS, value_name = "N")]
    pub(crate) memory_tokens: usize,
    /// The session (conversation) to begin or continue [default: a new one]
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// The longest answer, in tokens
    #[arg(long, default_value_t = 1500, value_name = "N")]
    pub(crate) answer_tokens: u32,
}

/// Exit code of an interrupted process, by the convention of shells.
const EXIT_INTERRUPTED: i32 = 130;
/// Sampling temperature of replies.
const TEMPERATURE: f32 = 0.7;
/// Most items that `/why` and `/memory` list.
const LISTED_MAX: usize = 20;
/// Longest excerpt of an item, in characters.
const EXCERPT_CHARS: usize = 160;

const HELP: &str = "\
/why        items of memory in the last prompt, with their ids
/memory     facts about you, and the base truth of this session
/forget ID  retract an item (it stays in the history; `quipu erase` destroys it)
/undo       revert the last exchange and everything derived from it
/help       this list
/quit       end the chat; Ctrl-C during a reply stops the reply

";

const NOT_CONFIGURED: &str =
    "no chat model is configured. In quipu/config.toml of your configuration folder, for example:

  [models.chat]
  provider = \"ollama\"              # or \"openai\" (any compatible server), \"anthropic\"
  model = \"qwen3:8b\"
  # base_url = \"http://127.0.0.1:11434/v1\"
  # api_key_env = \"OPENAI_API_KEY\"  # name of the variable, not the key

`quipu doctor` checks whether it answers";

/// A chat at this terminal.
struct Chat<'a> {
    context: &'a CommandContext<'a>,
    model: Arc<RemoteModel>,
    args: &'a ChatArgs,
    /// The session id.
    name: String,
    /// The items of memory in the last prompt.
    given: Vec<ItemId>,
    /// The last exchange: the version before it, and its receipts.
    last: Option<(Seq, Vec<Receipt>)>,
    interrupt: Interrupt,
}

/// Handles Ctrl-C: during a reply the first one stops the reply and the second one the process; otherwise the first one
/// stops the process.
struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    fn listen() -> Result<Self> {
        let came = Arc::new(AtomicBool::new(true));
        // The order matters: the first handler reads the flag that the second one sets.
        flag::register_conditional_shutdown(SIGINT, EXIT_INTERRUPTED, came.clone())
            .and_then(|_| flag::register(SIGINT, came.clone()))
            .map_err(|error| Error::Unavailable(format!("cannot handle Ctrl-C: {error}")))?;
        Ok(Self(came))
    }

    fn stop_reply_only(&self) {
        self.0.store(false, Ordering::SeqCst);
    }

    fn stop_process(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn came(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// The memory for a prompt.
struct PromptMemory {
    system: String,
    messages: Vec<Message>,
}

pub(super) fn chat(context: &CommandContext<'_>, args: &ChatArgs) -> Result<()> {
    let settings = &context.settings;
    let usage = app::model_usage(&settings.data_dir, settings);
    let Some(model) = app::model(settings, &usage, ModelRole::Chat)? else {
        return Err(Error::Invalid(NOT_CONFIGURED.to_owned()));
    };
    let name = match &args.session {
        Some(name) => name.clone(),
        None => format!("chat-{}", settings.clock.now()),
    };
    let interrupt = Interrupt::listen()?;
    let mut chat = Chat { context, model, args, name, given: Vec::new(), last: None, interrupt };
    let hint = |text: &str| context.printer.hint(text);
    hint(&format!("{} with the memory of {}, session {}; /help", chat.model.id(), context.user, chat.name));
    std::thread::scope(|scope| {
        let mut background: Option<ScopedJoinHandle<'_, Result<Processed>>> = None;
        let outcome = loop {
            prompt();
            let Some(line) = read_line()? else { break Ok(()) };
            let line = line.trim();
            let done = match line.split_once(' ').unwrap_or((line, "")) {
                ("", _) => Ok(()),
                ("/quit" | "/exit", _) => break Ok(()),
                ("/help", _) => chat.print(HELP),
                ("/why", _) => chat.why(),
                ("/memory", _) => chat.memory(),
                ("/forget", id) => chat.forget(id.trim()),
                ("/undo", _) => chat.undo(),
                (command, _) if command.starts_with('/') => {
                    chat.print(&format!("unknown command {command}; see /help\n"))
                }
                _ => {
                    let said = chat.exchange(line);
                    if background.as_ref().is_none_or(ScopedJoinHandle::is_finished) {
                        background = Some(work_in_background(scope, context));
                    }
                    said
                }
            };
            match done {
                // These errors do not end the chat.
                Err(error @ (Error::NotFound(_) | Error::Refused(_) | Error::Invalid(_) | Error::Conflict(_))) => {
                    hint(&error.to_string());
                }
                Err(error) => break Err(error),
                Ok(()) => {}
            }
        };
        if let Some(background) = background {
            if !background.is_finished() {
                hint("processing pending messages; if stopped, `quipu catch-up` continues");
            }
            let _ = background.join();
            // Messages recorded since the background work began.
            let last = quipu_engine::process(&context.engine, &context.user, Until::Everything, &Budget::default());
            let faults: Vec<String> = match &last {
                Ok(report) => report.faults().map(str::to_owned).collect(),
                Err(error) => vec![error.to_string()],
            };
            for fault in faults {
                hint(&format!("everything is recorded; `quipu catch-up` does the rest: {fault}"));
            }
        }
        outcome
    })
}

fn prompt() {
    if std::io::stdin().is_terminal() {
        print!("> ");
        // A closed terminal is noticed at the next read.
        let _ = std::io::stdout().flush();
    }
}

fn read_line() -> Result<Option<String>> {
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    let read = read.map_err(|error| Error::Unavailable(format!("cannot read standard input: {error}")))?;
    Ok((read > 0).then_some(line))
}

/// Processes pending messages in the background.
fn work_in_background<'scope>(
    scope: &'scope Scope<'scope, '_>,
    context: &'scope CommandContext<'_>,
) -> ScopedJoinHandle<'scope, Result<Processed>> {
    let (engine, user) = (&context.engine, &context.user);
    scope.spawn(move || quipu_engine::process(engine, user, Until::Everything, &Budget::default()))
}

impl Chat<'_> {
    fn print(&self, text: &str) -> Result<()> {
        self.context.printer.out(&escape_for_terminal(text))
    }

    /// One exchange: recalls memory, records the message, streams the reply and records it.
    fn exchange(&mut self, text: &str) -> Result<()> {
        let (engine, user) = (&self.context.engine, &self.context.user);
        let memory = self.recall(text)?;
        let before = quipu_engine::status(engine, user).map_or(0, |status| status.version);
        let utterance =
            |role, text: &str| Utterance { role, session: Some(self.name.clone()), ..Utterance::of_user(text) };
        let receipt = quipu_engine::remember(engine, user, &utterance(Role::User, text), &RememberOptions::default())?;
        self.last = Some((before, vec![receipt]));
        let mut messages = memory.messages;
        messages.push(Message::of_user(text));
        let request = CompletionRequest {
            user: Some(user.clone()),
            purpose: Purpose::Chat,
            system: format!("{}\n{}", quipu_models::CHAT.text, memory.system),
            messages,
            shape: None,
            output_tokens_max: self.args.answer_tokens,
            temperature: TEMPERATURE,
        };
        let mut answer = String::new();
        self.interrupt.stop_reply_only();
        let outcome = self.model.stream(&request, Duration::MAX, &mut |piece| {
            // Stored texts must not contain NUL.
            answer.extend(piece.chars().filter(|&c| c != '\0'));
            // Stop if the terminal is closed.
            let goes_on = self.print(piece).is_ok() && !self.interrupt.came();
            if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        self.interrupt.stop_process();
        self.print("\n")?;
        let interrupted = match &outcome {
            Ok(done) if done.cut => Some("the reply was cut off at its length limit".to_owned()),
            Ok(_) => None,
            Err(ModelError::Stopped) if !answer.trim().is_empty() => Some("you stopped the reply".to_owned()),
            Err(error) if answer.trim().is_empty() => {
                self.context.printer.hint(&format!("no reply: {error}. Your message is recorded"));
                return Ok(());
            }
            Err(error) => Some(format!("the reply broke off: {error}")),
        };
        if let Some(why) = &interrupted {
            self.context.printer.hint(&format!("{why}. The part received is recorded and marked as partial"));
        }
        if answer.trim().is_empty() {
            self.context.printer.hint("the reply is empty");
            return Ok(());
        }
        let options = RememberOptions { rationale: interrupted, ..RememberOptions::default() };
        let receipt = quipu_engine::remember(engine, user, &utterance(Role::Assistant, &answer), &options)?;
        if let Some((_, receipts)) = &mut self.last {
            receipts.push(receipt);
        }
        Ok(())
    }

    /// The memory for a prompt. Without a session it is a pack; without a user it is empty.
    fn recall(&mut self, query: &str) -> Result<PromptMemory> {
        let (engine, user) = (&self.context.engine, &self.context.user);
        let options = SessionContextOptions {
            query: Some(query.to_owned()),
            max_tokens: self.args.memory_tokens,
            ..SessionContextOptions::of(&self.name)
        };
        match quipu_engine::session_context(engine, user, &options) {
            Ok(context) => {
                self.given = context.citations;
                Ok(PromptMemory { system: context.system, messages: window(context.messages) })
            }
            Err(Error::NotFound(_)) => {
                let options = ContextOptions { max_tokens: self.args.memory_tokens, ..ContextOptions::of(query) };
                match quipu_engine::context(engine, user, &options) {
                    Ok(pack) => {
                        self.given = pack.citations;
                        Ok(PromptMemory { system: pack.text, messages: Vec::new() })
                    }
                    Err(Error::NotFound(_)) => Ok(PromptMemory { system: String::new(), messages: Vec::new() }),
                    Err(error) => Err(error),
                }
            }
            Err(error) => Err(error),
        }
    }

    fn why(&self) -> Result<()> {
        if self.given.is_empty() {
            return self.print("the last prompt had no memory\n");
        }
        let mut text = String::new();
        for id in self.given.iter().take(LISTED_MAX) {
            let words = quipu_engine::words(&self.context.engine, &self.context.user, *id)?;
            let said =
                words.map_or_else(|| "retracted since".to_owned(), |words| render::excerpt(&words, EXCERPT_CHARS));
            text.push_str(&format!("{id}  {said}\n"));
        }
        let more = self.given.len().saturating_sub(LISTED_MAX);
        if more > 0 {
            text.push_str(&format!("and {more} more\n"));
        }
        self.print(&text)
    }

    fn memory(&self) -> Result<()> {
        let (engine, user) = (&self.context.engine, &self.context.user);
        let mut text = String::new();
        let facts = match quipu_engine::facts(engine, user, &FactOptions::default()) {
            Err(Error::NotFound(_)) => Vec::new(),
            facts => facts?,
        };
        for shown in facts.iter().take(LISTED_MAX) {
            text.push_str(&format!("{}  {}\n", shown.fact.id, render::excerpt(&shown.fact.text, EXCERPT_CHARS)));
        }
        if facts.len() > LISTED_MAX {
            text.push_str(&format!("and {} more: `quipu facts`\n", facts.len() - LISTED_MAX));
        }
        if let Ok(state) = quipu_engine::session(engine, user, &self.name, When::Now) {
            for truth in &state.base_truth {
                text.push_str(&format!(
                    "{}  {} (of this session)\n",
                    truth.id,
                    render::excerpt(&truth.text, EXCERPT_CHARS)
                ));
            }
        }
        self.print(if text.is_empty() { "nothing is recorded yet\n" } else { &text })
    }

    fn forget(&self, id: &str) -> Result<()> {
        if id.is_empty() {
            return self.print("usage: /forget ID; /why and /memory show ids\n");
        }
        let (engine, user) = (&self.context.engine, &self.context.user);
        let receipt = quipu_engine::retract(engine, user, id, "the user said so in a chat")?;
        let undo = self.context.command(&["revert", &receipt.seq.to_string()]);
        self.print(&format!("retracted; `{undo}` undoes that\n"))
    }

    /// Reverts the last exchange and everything derived from it, but no later summaries of earlier exchanges.
    fn undo(&mut self) -> Result<()> {
        let Some((before, receipts)) = self.last.take() else { return self.print("nothing to undo\n") };
        let (engine, user) = (&self.context.engine, &self.context.user);
        let items: Vec<String> = receipts.iter().flat_map(|one| &one.items).map(ItemId::to_string).collect();
        let own = |id, reference: Option<&String>| {
            receipts.iter().any(|one| one.event_id == id) || reference.is_some_and(|name| items.contains(name))
        };
        let version = quipu_engine::status(engine, user)?.version;
        let limit = usize::try_from(version.saturating_sub(before)).unwrap_or(usize::MAX);
        let log = quipu_engine::log(engine, user, &LogOptions { before: None, limit, reference: None })?;
        let events: Vec<EventRef> = log
            .iter()
            .filter(|entry| entry.seq > before && own(entry.id, entry.reference.as_ref()))
            .map(|entry| EventRef::Seq(entry.seq))
            .collect();
        let options = RevertOptions { rationale: Some("undone in a chat".to_owned()), probes: Vec::new() };
        let (receipt, _) =
            quipu_engine::revert(engine, user, &Selection::Events(events.clone()), &options, &mut |_| {})?;
        let undo = self.context.command(&["revert", &receipt.seq.to_string()]);
        self.print(&format!("{} events reverted; `{undo}` restores them\n", events.len()))
    }
}

/// The raw window as messages: user and assistant alternate, the user first.
fn window(turns: Vec<quipu_core::session::WindowTurn>) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    for turn in turns {
        let voice = match turn.role {
            Role::User => PromptRole::User,
            Role::Assistant => PromptRole::Assistant,
            Role::System | Role::Tool => continue,
        };
        match messages.last_mut() {
            // Some servers require alternating roles.
            Some(last) if last.voice == voice => last.text = format!("{}\n\n{}", last.text, turn.text),
            None if voice == PromptRole::Assistant => {}
            _ => messages.push(Message { voice, text: turn.text }),
        }
    }
    // The last message has no reply.
    if messages.last().is_some_and(|last| last.voice == PromptRole::User) {
        messages.push(Message::of_assistant("(no answer)"));
    }
    messages
}
