//! Commands about what was drawn from what was said, and about what waits for a person.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use jiff::Timestamp;

#[derive(Debug, Args)]
pub(crate) struct Facts {
    /// Only about this subject: user, or a name
    #[arg(long, value_name = "NAME")]
    pub(crate) subject: Option<String>,
    /// Only this relation, such as lives_in
    #[arg(long, value_name = "RELATION")]
    pub(crate) predicate: Option<String>,
    /// What held at this time: a date or a time
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) valid_at: Option<Timestamp>,
    /// Also what holds no longer, never held, or waits
    #[arg(short, long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct All {
    /// Also what is finished, dropped or outdated
    #[arg(short, long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Review {
    #[command(subcommand)]
    pub(crate) action: Option<ReviewAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ReviewAction {
    /// List what waits
    List {
        /// Also what was decided
        #[arg(short, long)]
        all: bool,
    },
    /// Take it as it is
    Approve(Decide),
    /// Take it with another value
    Edit {
        /// The id of what waits, or of the item it is about
        id: String,
        /// The value that is right
        value: String,
        /// Why
        #[arg(long)]
        because: Option<String>,
    },
    /// Leave it
    Decline(Decide),
    /// Take a decision back
    Undo {
        /// The id of what was decided
        id: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Decide {
    /// The id of what waits, or of the item it is about
    pub(crate) id: String,
    /// Why
    #[arg(long)]
    pub(crate) because: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Retract {
    /// An item id, or the start of one
    pub(crate) id: String,
    /// Why
    #[arg(long, default_value = "taken back by the user")]
    pub(crate) because: String,
}

#[derive(Debug, Args)]
pub(crate) struct Close {
    /// A fact's id, or the start of one
    pub(crate) id: String,
    /// Until when it held: a date or a time
    #[arg(value_parser = parse_time)]
    pub(crate) valid_to: Timestamp,
}

#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// Items that are part of the other one from now on
    #[arg(required = true)]
    pub(crate) from: Vec<String>,
    /// The one that stays
    #[arg(long, value_name = "ID")]
    pub(crate) into: String,
}

#[derive(Debug, Args)]
pub(crate) struct Score {
    /// A fact's id, or the start of one
    pub(crate) id: String,
    /// From 0 to 10
    pub(crate) score: u8,
}

#[derive(Debug, Args)]
pub(crate) struct Reread {
    /// Only what was recorded and never read, because a command was cut short
    #[arg(long)]
    pub(crate) unread: bool,
    /// Let the configured model read everything that was ever said. What it will cost is told first; a run that is cut short
    /// goes on where it stopped
    #[arg(long, conflicts_with = "unread")]
    pub(crate) with_model: bool,
    /// Let the model read at most so many messages now [default: all of them]
    #[arg(long, value_name = "N", requires = "with_model")]
    pub(crate) sources: Option<usize>,
}

/// What the file of `quipu write` looks like.
const WRITE_HELP: &str = r#"A file has one or more of these lists:
  {"facts": [{"subject": "user", "predicate": "lives_in", "object": "Porto",
              "valid_from": "2025-08-08", "topic": "home", "tags": ["move"]}],
   "notes": [{"text": "A short example helps.", "tags": ["style"]}],
   "tasks": [{"title": "Knee pain on stairs", "kind": "problem",
              "status": "active", "priority": 8,  "due": "2026-03-01",
              "attempts": [{"approach": "Ice", "outcome": "less swelling",
                            "successful": true, "date": "2026-01-09"}]}],
   "tenets": [{"kind": "policy", "text": "No meetings before ten."}]}
A task is a task, goal or problem: active, stalled, done or dropped. A tenet is a value, preference,
policy or goal. Facts and tasks may have "links": [{"rel": "about", "to": "fact_…"}].
Times are dates or RFC 3339. A field of an item that has no place is listed as ignored.
Episodes are told from turns, by Quipu."#;

#[derive(Debug, Args)]
#[command(after_help = WRITE_HELP)]
pub(crate) struct Write {
    /// A JSON file with facts, notes, tasks, tenets; `-` reads standard input
    pub(crate) file: PathBuf,
    /// Who wrote it: user, agent, tool, document or web. Only the user may say who the user is without a review
    #[arg(long, default_value = "user", value_parser = parse_writer)]
    pub(crate) from: quipu_core::event::SourceKind,
    /// Sending the same again with the same key has no second effect, and gets the first answer
    #[arg(long, value_name = "KEY")]
    pub(crate) idempotency_key: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Migrate {
    /// A text file with summaries; `-` reads standard input
    pub(crate) file: PathBuf,
    /// When the summaries were written (RFC 3339) [default: unknown]
    #[arg(long, value_name = "TIME")]
    pub(crate) said_at: Option<Timestamp>,
    /// Only show what would come of it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Sending the same again with the same key has no second effect, and gets the first answer
    #[arg(long, value_name = "KEY")]
    pub(crate) idempotency_key: Option<String>,
}

fn parse_writer(text: &str) -> Result<quipu_core::event::SourceKind, String> {
    use quipu_core::event::SourceKind;
    match text {
        "user" => Ok(SourceKind::UserEdited),
        "agent" => Ok(SourceKind::Inferred),
        "tool" => Ok(SourceKind::ToolOutput),
        "document" => Ok(SourceKind::Document),
        "web" => Ok(SourceKind::Web),
        _ => Err("it is user, agent, tool, document or web".to_owned()),
    }
}

/// A date, which is its start, or a time.
pub(super) fn parse_time(text: &str) -> Result<Timestamp, String> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    let date: jiff::civil::Date = text
        .parse()
        .map_err(|_| format!("{text:?} is neither a date (2024-03-01) nor a time (2024-03-01T09:00:00Z)"))?;
    date.to_zoned(jiff::tz::TimeZone::UTC).map(|zoned| zoned.timestamp()).map_err(|error| error.to_string())
}
