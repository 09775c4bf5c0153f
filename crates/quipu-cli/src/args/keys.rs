//! How to make and take back keys.

use clap::{Args, Subcommand, ValueEnum};
use quipu_engine::ports::Scope;

#[derive(Debug, Args)]
pub(crate) struct KeyArgs {
    #[command(subcommand)]
    pub(crate) action: KeyAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyAction {
    /// Make a key and print it: it is told this once. With -u it opens one user's memory, else everybody's
    Create {
        /// What it is called
        name: String,
        /// What it opens
        #[arg(long = "scope", value_enum, value_delimiter = ',', default_values = ["read", "write"])]
        scopes: Vec<Opens>,
    },
    /// List keys, without their secrets
    List,
    /// Take a key back: from now on it opens nothing
    Revoke {
        /// Its id: what stands between `qp_` and the next `_`
        id: String,
    },
}

/// What a key opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Opens {
    /// To see what is remembered.
    Read,
    /// To have something remembered, and to change it reversibly.
    Write,
    /// To decide what waits for a person.
    Review,
    /// Everything: erasing and keys too.
    Admin,
}

impl From<Opens> for Scope {
    fn from(opens: Opens) -> Self {
        match opens {
            Opens::Read => Self::Read,
            Opens::Write => Self::Write,
            Opens::Review => Self::Review,
            Opens::Admin => Self::Admin,
        }
    }
}
