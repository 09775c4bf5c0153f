//! What can be typed: every command, flag and default.

pub(crate) mod clients;
mod eval;
pub(crate) mod evolve;
pub(crate) mod growing;
pub(crate) mod hook;
mod keeping;
pub(crate) mod keys;
pub(crate) mod models;
pub(crate) mod people;
mod read;
mod serve;
pub(crate) mod sessions;
pub(crate) mod vault;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use quipu_engine::import::{DateOrder, Zone};
use quipu_engine::versions::When;

pub(crate) use eval::{Conversations, Dataset, Eval, Kind};
pub(crate) use keeping::{Backup, Erase, Restore, Verify};
pub(crate) use read::{Context, Recall, Time};
pub(crate) use serve::{Level, Serve};

/// Long-term memory for assistants and agents: one binary, one folder, no account.
#[derive(Debug, Parser)]
#[command(name = "quipu", version, propagate_version = true, disable_help_subcommand = true)]
#[command(after_help = "Start with `quipu demo`. Data go to stdout, progress and messages to stderr.")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags every command takes.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Whose memory [default: me]
    #[arg(short, long, global = true, env = "QUIPU_USER", value_name = "ID")]
    pub(crate) user: Option<String>,
    /// Only this conversation
    #[arg(long, global = true, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// The folder that holds everything [default: the platform's data folder]
    #[arg(long, global = true, env = "QUIPU_DATA_DIR", value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Tune recall by this profile of weights [default: the one weights.yaml says]
    #[arg(long, global = true, env = "QUIPU_PROFILE", value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// How to print
    #[arg(short, long, global = true, value_enum, value_name = "FORM")]
    pub(crate) output: Option<Form>,
    /// The same as -o json
    #[arg(long, global = true, conflicts_with = "output")]
    pub(crate) json: bool,
    /// No progress and no hints
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Do not ask
    #[arg(short, long, global = true)]
    pub(crate) yes: bool,
    /// Take this time (RFC 3339) for now, to try things out
    #[arg(long, global = true, value_name = "TIME")]
    pub(crate) now: Option<jiff::Timestamp>,
}

/// How to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// For people.
    Text,
    /// For programs: stable, with a schema_version.
    Json,
    /// Columns, where a list allows it.
    Table,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Tell a month of someone's life, ask about it, change it, undo it, verify it
    Demo,
    /// Remember something
    Add(Add),
    /// Import conversations, chats, memories and notes
    Import(Import),
    /// Find what was said
    Recall(Recall),
    /// Make a block of memory to put into a prompt
    Context(Context),
    /// Show one item
    Get(Name),
    /// List items
    List(List),
    /// Show where an item comes from
    Why(Name),
    /// List what holds: facts with the words they were read from
    Facts(people::Facts),
    /// List tasks, goals and problems with what was tried
    Tasks(people::All),
    /// List episodes: the stories of conversations
    Episodes,
    /// List notes
    Notes,
    /// List the lines of the self-model
    Tenets(people::All),
    /// List values that cannot both hold
    Conflicts,
    /// Show or decide what waits for you
    Review(people::Review),
    /// List conversations
    Sessions,
    /// What a conversation knows of itself: show, context, exceptions, summarize, consolidate, end
    Session(sessions::SessionCommand),
    /// Show everything that happened to an item
    History(Name),
    /// Take an item back; it stays in the history
    Retract(people::Retract),
    /// Say until when a fact held
    Close(people::Close),
    /// Make several items one
    Merge(people::Merge),
    /// Give a fact your own score from 0 to 10
    Score(people::Score),
    /// Read everything that was said again, with the rules of today
    Reread(people::Reread),
    /// Write ready-made facts, tasks, notes and tenets from a JSON file, through the same gate
    Write(people::Write),
    /// Turn flat summaries into facts, patches and episodes
    Migrate(people::Migrate),
    /// Show or change the core document
    Core(Core),
    /// Propose categories for what recurs in the core document
    Evolve(evolve::Evolve),
    /// Show the categories of the core document, or promote a pattern to one
    Schema(evolve::SchemaArgs),
    /// Topics: list, show
    Topic(vault::TopicCommand),
    /// Show the memory at a glance: what is not to be forgotten, and what is going on
    Global,
    /// Plain files of a memory: rebuild, verify, restore, watch
    Vault(vault::VaultCommand),
    /// Hand a memory on: as JSON, Markdown, mem0 memories or a signed bundle
    Export(vault::Export),
    /// Keep an item in every pack
    Pin(Name),
    /// No longer keep an item in every pack
    Unpin(Name),
    /// Rate an item from -2 to 2
    Rate(Rate),
    /// List events, newest first
    Log(Log),
    /// Show one event
    Show(Event),
    /// Show who changed a path of the core document, or an item, and when
    Blame(Blame),
    /// Show what differs between two versions
    Diff(Diff),
    /// Read as of an earlier version: at WHEN recall|context|get|list|core
    At(At),
    /// Take events back; nothing is deleted
    Revert(Revert),
    /// Replay chosen events into another memory or a file
    Pick(Pick),
    /// Copy a memory, up to a version, to a new user
    Fork(Fork),
    /// Destroy the payload of events for good
    Erase(Erase),
    /// Prove that the ledger is what was written
    Verify(Verify),
    /// Write a snapshot now
    Snapshot,
    /// Make everything but the ledger again
    Rebuild,
    /// Show what is there
    Status,
    /// Show the profiles of weights there are, or one of them whole, as weights.yaml takes it
    Weights {
        /// The profile
        name: Option<String>,
    },
    /// Check that all is well, and that configured language models answer
    Doctor(models::Doctor),
    /// Do what nobody waited for: let language models read and summarise
    CatchUp(models::CatchUp),
    /// Do everything that is due: read, tell, count, reflect, compact
    #[command(name = "maintain", visible_alias = "tend")]
    Tend(growing::Maintain),
    /// Note what works for you, and propose lines of the self-model
    Reflect(growing::Grow),
    /// Fold duplicates, promote patterns, take what is cold out of the active index
    Compact(growing::Grow),
    /// Talk to the configured chat model, with memory
    Chat(models::Chat),
    /// Copy ledgers into a new folder
    Backup(Backup),
    /// Put ledgers back from a backup
    Restore(Restore),
    /// Measure recall on conversations with known answers
    Eval(Eval),
    /// Give any application of a language model a memory: a proxy on this machine
    Serve(Serve),
    /// Give memory to a client that speaks MCP, over standard input and output
    Mcp(clients::Mcp),
    /// Enter Quipu in a client's settings: claude-desktop, claude-code, cursor, codex, vscode
    Install(clients::Install),
    /// Take Quipu out of a client's settings again
    Uninstall(clients::ClientLocation),
    /// Keys for those who ask a server: create, list, revoke
    Key(keys::KeyArgs),
    /// Memory for a coding agent, at its own events; never in its way
    Hook(hook::Hook),
    /// Measure speed and size on this machine
    Bench(Bench),
    /// Print a completion script
    Completions(Completions),
}

#[derive(Debug, Args)]
pub(crate) struct Add {
    /// The text; `-` or nothing reads it from standard input
    pub(crate) text: Option<String>,
    /// Who spoke: user, assistant, system or tool
    #[arg(long, default_value = "user", value_parser = parse_role)]
    pub(crate) role: quipu_core::source::Role,
    /// Who spoke, by name
    #[arg(long)]
    pub(crate) author: Option<String>,
    /// What it is about
    #[arg(long)]
    pub(crate) topic: Option<String>,
    /// When it was said (RFC 3339) [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) said_at: Option<jiff::Timestamp>,
    /// Every line of standard input is something said; prints a receipt a line
    #[arg(long, conflicts_with = "text")]
    pub(crate) lines: bool,
    /// Adding again with the same key has no second effect
    #[arg(long, value_name = "KEY")]
    pub(crate) idempotency_key: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// chatgpt, claude, whatsapp, telegram, mem0, memory-jsonl, folder, text, markdown, openai, locomo, longmemeval, ledger or
    /// bundle
    pub(crate) format: String,
    /// A file; for chatgpt, claude, whatsapp and telegram also the zip archive or its folder; a folder of notes or texts
    pub(crate) path: PathBuf,
    /// Only report what would be imported
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// What people say in it are your own words: they may say who you are and what you like without a review
    #[arg(long)]
    pub(crate) mine: bool,
    /// Keep the words only; read no facts out of them
    #[arg(long)]
    pub(crate) words_only: bool,
    /// Only this conversation of the file
    #[arg(long, value_name = "NAME")]
    pub(crate) conversation: Option<String>,
    /// For whatsapp and telegram: where local times are from, such as Europe/Lisbon or +02:00 [default: UTC]
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true)]
    pub(crate) timezone: Option<Zone>,
    /// For whatsapp: whether dates start with the day (dmy) or the month (mdy) [default: inferred]
    #[arg(long, value_name = "ORDER")]
    pub(crate) date_order: Option<DateOrder>,
    /// The public key a bundle must be signed with
    #[arg(long, value_name = "HEX")]
    pub(crate) key: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Name {
    /// An item id, the start of one, or its name where it was imported from
    pub(crate) id: String,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only turn, entry, doc or import
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// At most so many
    #[arg(long, default_value_t = 50)]
    pub(crate) limit: usize,
    /// Skip so many
    #[arg(long, default_value_t = 0)]
    pub(crate) offset: usize,
}

#[derive(Debug, Args)]
pub(crate) struct Core {
    #[command(subcommand)]
    pub(crate) action: Option<CoreAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CoreAction {
    /// Print the document, or the part at a JSON pointer
    Show {
        /// Such as /location/city
        pointer: Option<String>,
    },
    /// Put a value at a JSON pointer; the value is JSON, or else text
    Set {
        /// Such as /location/city
        pointer: String,
        /// Such as Porto, 42 or {"name": "Marta"}
        value: String,
        /// Why
        #[arg(long)]
        because: Option<String>,
    },
    /// Take away what is at a JSON pointer
    Unset {
        /// Such as /location/city
        pointer: String,
        /// Why
        #[arg(long)]
        because: Option<String>,
    },
    /// Apply an RFC 6902 patch: JSON, @FILE, or - for standard input
    Patch {
        /// The patch
        patch: String,
        /// Why
        #[arg(long)]
        because: Option<String>,
        /// Patching again with the same key has no second effect
        #[arg(long, value_name = "KEY")]
        idempotency_key: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Rate {
    /// An item id, the start of one, or its name where it was imported from
    pub(crate) id: String,
    /// From -2 to 2; 0 takes a rating back
    #[arg(allow_hyphen_values = true)]
    pub(crate) rating: i8,
}

#[derive(Debug, Args)]
pub(crate) struct Log {
    /// At most so many
    #[arg(short = 'n', long, default_value_t = 20)]
    pub(crate) limit: usize,
    /// Only events before this position
    #[arg(long, value_name = "SEQ")]
    pub(crate) before: Option<u64>,
    /// Only events of this import, file or message
    #[arg(long, value_name = "REF")]
    pub(crate) source: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Event {
    /// Its position or id
    pub(crate) event: String,
}

#[derive(Debug, Args)]
pub(crate) struct Blame {
    /// A path such as /location/city, or an item id
    pub(crate) what: String,
}

#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The earlier version: a position, a date, a time
    pub(crate) from: When,
    /// The later version
    #[arg(default_value = "now")]
    pub(crate) to: When,
}

#[derive(Debug, Args)]
pub(crate) struct At {
    /// A position, a date (its end), a time: as Quipu knew things then
    pub(crate) when: When,
    #[command(subcommand)]
    pub(crate) read: Read,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Read {
    /// Find what was said
    Recall(Recall),
    /// Make a block of memory to put into a prompt
    Context(Context),
    /// Show one item
    Get(Name),
    /// List items
    List(List),
    /// List what held, as far as it was known then
    Facts(people::Facts),
    /// List tasks, goals and problems
    Tasks(people::All),
    /// List episodes
    Episodes,
    /// List notes
    Notes,
    /// List the lines of the self-model
    Tenets(people::All),
    /// List conversations
    Sessions,
    /// Show what a conversation knew of itself
    Session {
        /// The conversation
        id: String,
    },
    /// Show the core document, or the part at a JSON pointer
    Core {
        /// Such as /location/city
        pointer: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Revert {
    /// Positions (`3`, `3-7`) or ids of events
    #[arg(required_unless_present_any = ["source", "since", "session"])]
    pub(crate) events: Vec<String>,
    /// Every event of this import, file or message
    #[arg(long, value_name = "REF", conflicts_with = "events")]
    pub(crate) source: Option<String>,
    /// Every event after this version
    #[arg(long, value_name = "WHEN", conflicts_with_all = ["events", "source"])]
    pub(crate) since: Option<When>,
    /// Only show what it would do
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// With --dry-run: a question to answer before and after
    #[arg(long = "probe", value_name = "QUERY", requires = "dry_run")]
    pub(crate) probes: Vec<String>,
    /// Why
    #[arg(long)]
    pub(crate) because: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Pick {
    /// Positions (`3`, `3-7`) or ids of events
    #[arg(required = true)]
    pub(crate) events: Vec<String>,
    /// A user id, or a file ending in .jsonl
    #[arg(long, value_name = "USER|FILE")]
    pub(crate) into: String,
}

#[derive(Debug, Args)]
pub(crate) struct Fork {
    /// The new user id
    pub(crate) into: String,
    /// Up to this version
    #[arg(long, default_value = "now")]
    pub(crate) at: When,
}

#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Items in the largest memory
    #[arg(long, default_value_t = 100_000)]
    pub(crate) items: usize,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Which shell
    pub(crate) shell: clap_complete::Shell,
}

fn parse_role(text: &str) -> Result<quipu_core::source::Role, String> {
    use quipu_core::source::Role;
    [Role::User, Role::Assistant, Role::System, Role::Tool]
        .into_iter()
        .find(|role| role.as_str() == text)
        .ok_or_else(|| "a role is user, assistant, system or tool".to_owned())
}
