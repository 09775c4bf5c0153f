//! Commands that keep a memory in order.

mod catch_up;
mod consolidate;
mod doctor;
mod evolve;
pub(crate) mod next;
mod rebuild;
mod reread;
mod schema;
mod status;
mod steps;
mod user_keys;
mod weights;

use std::process::ExitCode;

use clap::Subcommand;
use quipu_engine::Result;

use super::Invocation;

#[derive(Debug, Subcommand)]
pub(crate) enum MaintainCommand {
    /// Show the state of each memory
    Status,
    /// Check the data folder, and that configured language models answer
    Doctor(doctor::DoctorArgs),
    /// Run all maintenance that is due: read, summarise, count, reflect, compact
    #[command(alias = "tend")]
    Maintain(steps::MaintainArgs),
    /// Process pending messages: let language models read and summarise
    CatchUp(catch_up::CatchUpArgs),
    /// Note what works for you, and propose lines of the self-model
    Reflect(consolidate::ConsolidateArgs),
    /// Fold duplicates, promote patterns, remove unused items from the active index
    Compact(consolidate::ConsolidateArgs),
    /// Read all messages again with the current rules
    Reread(reread::RereadArgs),
    /// Propose categories for patterns in the core document
    Evolve(evolve::EvolveArgs),
    /// List the categories of the core document, or promote a pattern to one
    Schema(schema::SchemaArgs),
    /// Manage the keys that encrypt memories: make or change a master key
    UserKeys(user_keys::UserKeysArgs),
    /// Write a snapshot
    Snapshot,
    /// Rebuild everything but the ledger
    Rebuild,
    /// List the profiles of weights, or print one in the form of weights.yaml
    Weights {
        /// The profile
        name: Option<String>,
    },
}

impl MaintainCommand {
    pub(crate) fn run(self, invocation: Invocation<'_>) -> Result<ExitCode> {
        match self {
            Self::Status => invocation.with_engine(status::status),
            Self::Doctor(args) if args.self_test => invocation.with_settings(doctor::self_test),
            Self::Doctor(_) => invocation.with_engine(doctor::doctor),
            Self::UserKeys(args) => {
                invocation.with_settings(|settings, printer| user_keys::run(settings, printer, args.action))
            }
            Self::Maintain(args) => invocation.on_existing(|context| steps::maintain(context, &args)),
            Self::CatchUp(args) => invocation.on_existing(|context| catch_up::catch_up(context, &args)),
            Self::Reflect(args) => invocation.on_existing(|context| consolidate::reflect(context, &args)),
            Self::Compact(args) => invocation.on_existing(|context| consolidate::compact(context, &args)),
            Self::Reread(args) if args.with_model => {
                invocation.on_existing(|context| reread::reread_with_model(context, &args))
            }
            Self::Reread(args) => invocation.on_existing(|context| reread::reread(context, &args)),
            Self::Evolve(args) => invocation.on_existing(|context| evolve::evolve(context, &args)),
            Self::Schema(args) => invocation.on_existing(|context| schema::schema(context, args.action)),
            Self::Snapshot => invocation.on_existing(rebuild::snapshot),
            Self::Rebuild => invocation.on_existing(rebuild::rebuild),
            Self::Weights { name } => {
                invocation.with_settings(|settings, printer| weights::weights(settings, printer, name.as_deref()))
            }
        }
    }
}
