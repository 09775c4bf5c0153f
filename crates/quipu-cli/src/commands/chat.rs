//! A conversation with the configured model, with memory. What was said is durable before the model is asked; what nobody
//! waits for (summaries, a second reading) is done beside the conversation, and what is left of it at its end.

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
use quipu_engine::ports::{CompletionRequest, LanguageModel, Message, ModelError, PromptRole, Purpose};
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::{EventRef, When};
use quipu_engine::{
    Budget, ContextOptions, Error, FactOptions, Processed, Receipt, RememberOptions, Result, SessionContextOptions,
    Until, Utterance,
};
use quipu_models::language::RemoteModel;
use signal_hook::consts::SIGINT;
use signal_hook::flag;

use super::CommandContext;
use crate::app;
use crate::args::models::Chat;
use crate::settings::{ModelRole, Settings};

/// What a shell expects of a process that was interrupted.
const EXIT_INTERRUPTED: i32 = 130;
/// How freely the model writes.
const TEMPERATURE: f32 = 0.7;
/// Items that `/why` and `/memory` list.
const LISTED_MAX: usize = 20;
/// Longest piece of an item in a list, in characters.
const EXCERPT_CHARS: usize = 160;

const HELP: &str = "\
/why        the memories the last answer was given, with their ids
/memory     what is known of you, and of this conversation
/forget ID  take a statement back (it stays in the history; `quipu erase` destroys)
/undo       take the last exchange back, with all that was understood of it
/help       this
/quit       end; Ctrl-C while an answer is written ends the answer

";

const NOT_CONFIGURED: &str =
    "no chat model is configured. In quipu/config.toml of your configuration folder, for example:

  [models.chat]
  provider = \"ollama\"              # or \"openai\" (and everything that speaks like it), \"anthropic\"
  model = \"qwen3:8b\"
  # base_url = \"http://127.0.0.1:11434/v1\"
  # api_key_env = \"OPENAI_API_KEY\"  # the name of the variable, never the key

`quipu doctor` then says whether it answers";

/// What is known of the conversation at this terminal.
struct Talk<'a> {
    session: &'a CommandContext<'a>,
    model: Arc<RemoteModel>,
    args: &'a Chat,
    /// The conversation's name.
    name: String,
    /// What the last answer was given.
    given: Vec<ItemId>,
    /// The last exchange: the version before it, and what was recorded of it.
    last: Option<(Seq, Vec<Receipt>)>,
    interrupt: Interrupt,
}

/// Ctrl-C: while an answer is written it ends the answer, and a second one the process; else it ends the process at once.
struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    fn listen() -> Result<Self> {
        let came = Arc::new(AtomicBool::new(true));
        // The order matters: the first looks at what the second sets.
        flag::register_conditional_shutdown(SIGINT, EXIT_INTERRUPTED, came.clone())
            .and_then(|_| flag::register(SIGINT, came.clone()))
            .map_err(|error| Error::Unavailable(format!("Ctrl-C cannot be listened for: {error}")))?;
        Ok(Self(came))
    }

    fn stops_the_answer(&self) {
        self.0.store(false, Ordering::SeqCst);
    }

    fn ends_the_process(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn came(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// The memory of a prompt.
struct PromptMemory {
    system: String,
    messages: Vec<Message>,
}

pub(super) fn chat(session: &CommandContext<'_>, settings: &Settings, args: &Chat) -> Result<()> {
    let book = app::book(&settings.data_dir, settings);
    let Some(model) = app::model(settings, &book, ModelRole::Chat)? else {
        return Err(Error::Invalid(NOT_CONFIGURED.to_owned()));
    };
    let name = match &session.only_session {
        Some(name) => name.clone(),
        None => {
            format!("chat-{}", quipu_engine::ports::Clock::now(&quipu::system::SystemClock { fixed: settings.now }))
        }
    };
    let interrupt = Interrupt::listen()?;
    let mut talk = Talk { session, model, args, name, given: Vec::new(), last: None, interrupt };
    let hint = |text: &str| session.printer.hint(text);
    hint(&format!("{} with the memory of {}, in session {}; /help", talk.model.id(), session.user, talk.name));
    std::thread::scope(|scope| {
        let mut beside: Option<ScopedJoinHandle<'_, Result<Processed>>> = None;
        let outcome = loop {
            prompt();
            let Some(line) = read_line()? else { break Ok(()) };
            let line = line.trim();
            let done = match line.split_once(' ').unwrap_or((line, "")) {
                ("", _) => Ok(()),
                ("/quit" | "/exit", _) => break Ok(()),
                ("/help", _) => talk.print(HELP),
                ("/why", _) => talk.why(),
                ("/memory", _) => talk.memory(),
                ("/forget", id) => talk.forget(id.trim()),
                ("/undo", _) => talk.undo(),
                (command, _) if command.starts_with('/') => talk.print(&format!("there is no {command}; /help\n")),
                _ => {
                    let said = talk.exchange(line);
                    if beside.as_ref().is_none_or(ScopedJoinHandle::is_finished) {
                        beside = Some(work_beside(scope, session));
                    }
                    said
                }
            };
            match done {
                // A wrong id or a model that is away ends nothing.
                Err(error @ (Error::NotFound(_) | Error::Refused(_) | Error::Invalid(_) | Error::Conflict(_))) => {
                    hint(&error.to_string());
                }
                Err(error) => break Err(error),
                Ok(()) => {}
            }
        };
        if let Some(beside) = beside {
            if !beside.is_finished() {
                hint("doing what waits; it can be stopped at any time, and `quipu catch-up` goes on");
            }
            let _ = beside.join();
            // What was said since it began.
            let last = quipu_engine::process(&session.engine, &session.user, Until::Everything, &Budget::default());
            let faults: Vec<String> = match &last {
                Ok(report) => report.faults().map(str::to_owned).collect(),
                Err(error) => vec![error.to_string()],
            };
            for fault in faults {
                hint(&format!("it is all recorded; `quipu catch-up` does the rest another time: {fault}"));
            }
        }
        outcome
    })
}

fn prompt() {
    if std::io::stdin().is_terminal() {
        print!("> ");
        // A terminal that is gone is noticed at the next read.
        let _ = std::io::stdout().flush();
    }
}

fn read_line() -> Result<Option<String>> {
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    let read = read.map_err(|error| Error::Unavailable(format!("cannot read what is typed: {error}")))?;
    Ok((read > 0).then_some(line))
}

/// Does what waits while the conversation goes on.
fn work_beside<'scope>(
    scope: &'scope Scope<'scope, '_>,
    session: &'scope CommandContext<'_>,
) -> ScopedJoinHandle<'scope, Result<Processed>> {
    let (engine, user) = (&session.engine, &session.user);
    scope.spawn(move || quipu_engine::process(engine, user, Until::Everything, &Budget::default()))
}

impl Talk<'_> {
    fn print(&self, text: &str) -> Result<()> {
        self.session.printer.out(&escape_for_terminal(text))
    }

    /// One exchange: what is remembered for it, what was said, the answer, piece by piece.
    fn exchange(&mut self, text: &str) -> Result<()> {
        let (engine, user) = (&self.session.engine, &self.session.user);
        let memory = self.remembered(text)?;
        let before = quipu_engine::status(engine, user).map_or(0, |status| status.version);
        let utterance =
            |role, text: &str| Utterance { role, session: Some(self.name.clone()), ..Utterance::of_user(text) };
        let said = quipu_engine::remember(engine, user, &utterance(Role::User, text), &RememberOptions::default())?;
        self.last = Some((before, vec![said]));
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
        self.interrupt.stops_the_answer();
        let outcome = self.model.stream(&request, Duration::MAX, &mut |piece| {
            // No text is stored with this one in it.
            answer.extend(piece.chars().filter(|&c| c != '\0'));
            // Who closed the terminal wants no more of it.
            let goes_on = self.print(piece).is_ok() && !self.interrupt.came();
            if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        self.interrupt.ends_the_process();
        self.print("\n")?;
        let broke_off = match &outcome {
            Ok(done) if done.cut => Some("the answer was cut off at its length limit".to_owned()),
            Ok(_) => None,
            Err(ModelError::Stopped) if !answer.trim().is_empty() => Some("you stopped the answer".to_owned()),
            Err(error) if answer.trim().is_empty() => {
                self.session.printer.hint(&format!("no answer: {error}. What you said is kept"));
                return Ok(());
            }
            Err(error) => Some(format!("the answer broke off: {error}")),
        };
        if let Some(why) = &broke_off {
            self.session.printer.hint(&format!("{why}. What there is of it is kept, marked as a part"));
        }
        if answer.trim().is_empty() {
            self.session.printer.hint("the model said nothing");
            return Ok(());
        }
        let options = RememberOptions { rationale: broke_off, ..RememberOptions::default() };
        let told = quipu_engine::remember(engine, user, &utterance(Role::Assistant, &answer), &options)?;
        if let Some((_, receipts)) = &mut self.last {
            receipts.push(told);
        }
        Ok(())
    }

    /// What goes into the prompt. Before there is a session, or a user, there is only what is recalled, or nothing.
    fn remembered(&mut self, query: &str) -> Result<PromptMemory> {
        let (engine, user) = (&self.session.engine, &self.session.user);
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
            return self.print("the last answer was given no memories\n");
        }
        let mut text = String::new();
        for id in self.given.iter().take(LISTED_MAX) {
            let words = quipu_engine::words(&self.session.engine, &self.session.user, *id)?;
            let said = words.map_or_else(|| "taken back since".to_owned(), |words| excerpt(&words));
            text.push_str(&format!("{id}  {said}\n"));
        }
        let more = self.given.len().saturating_sub(LISTED_MAX);
        if more > 0 {
            text.push_str(&format!("and {more} more\n"));
        }
        self.print(&text)
    }

    fn memory(&self) -> Result<()> {
        let (engine, user) = (&self.session.engine, &self.session.user);
        let mut text = String::new();
        let facts = match quipu_engine::facts(engine, user, &FactOptions::default()) {
            Err(Error::NotFound(_)) => Vec::new(),
            facts => facts?,
        };
        for shown in facts.iter().take(LISTED_MAX) {
            text.push_str(&format!("{}  {}\n", shown.fact.id, excerpt(&shown.fact.text)));
        }
        if facts.len() > LISTED_MAX {
            text.push_str(&format!("and {} more: `quipu facts`\n", facts.len() - LISTED_MAX));
        }
        if let Ok(state) = quipu_engine::session(engine, user, &self.name, When::Now) {
            for truth in &state.base_truth {
                text.push_str(&format!("{}  {} (of this conversation)\n", truth.id, excerpt(&truth.text)));
            }
        }
        self.print(if text.is_empty() { "nothing is known yet\n" } else { &text })
    }

    fn forget(&self, id: &str) -> Result<()> {
        if id.is_empty() {
            return self.print("say which: /forget ID; /why and /memory show ids\n");
        }
        let (engine, user) = (&self.session.engine, &self.session.user);
        let receipt = quipu_engine::retract(engine, user, id, "the user said so in a chat")?;
        self.print(&format!("taken back; `quipu revert {}` undoes that\n", receipt.seq))
    }

    /// Reverts the last exchange and what was read in it, and nothing that was told of earlier ones meanwhile.
    fn undo(&mut self) -> Result<()> {
        let Some((before, receipts)) = self.last.take() else { return self.print("there is nothing to undo\n") };
        let (engine, user) = (&self.session.engine, &self.session.user);
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
        self.print(&format!("{} events taken back; `quipu revert {}` brings them back\n", events.len(), receipt.seq))
    }
}

/// The raw window as a prompt has it: the user's words and the model's in turn, the user's first.
fn window(turns: Vec<quipu_core::session::WindowTurn>) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    for turn in turns {
        let voice = match turn.role {
            Role::User => PromptRole::User,
            Role::Assistant => PromptRole::Assistant,
            Role::System | Role::Tool => continue,
        };
        match messages.last_mut() {
            // Some servers want them in turn.
            Some(last) if last.voice == voice => last.text = format!("{}\n\n{}", last.text, turn.text),
            None if voice == PromptRole::Assistant => {}
            _ => messages.push(Message { voice, text: turn.text }),
        }
    }
    // What was said last got no answer.
    if messages.last().is_some_and(|last| last.voice == PromptRole::User) {
        messages.push(Message::of_assistant("(no answer)"));
    }
    messages
}

fn excerpt(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(EXCERPT_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
