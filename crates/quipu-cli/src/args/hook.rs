//! How an agent's hook is answered.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Hook {
    /// SessionStart, UserPromptSubmit, Stop, PreCompact or SessionEnd; what happened is JSON on standard input
    pub(crate) event: String,
    /// Ask this server instead of opening the data folder
    #[arg(long, env = "QUIPU_SERVER", value_name = "URL")]
    pub(crate) server: Option<String>,
    /// The key for that server
    #[arg(long, env = "QUIPU_API_KEY", hide_env_values = true, value_name = "KEY")]
    pub(crate) api_key: Option<String>,
    /// Tokens of memory at most
    #[arg(long, default_value_t = 800, value_name = "N")]
    pub(crate) max_tokens: usize,
    /// Give up after so many milliseconds [default: 2000 before an answer, 20000 after]
    #[arg(long, value_name = "MS")]
    pub(crate) within_ms: Option<u64>,
}
