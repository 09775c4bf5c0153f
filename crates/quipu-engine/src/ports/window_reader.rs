//! Reads a window of a conversation: a language model.

use quipu_core::extract::window::{ModelReply, Window};
use quipu_core::id::UserId;

use super::ExtractError;

/// Says what a window of a conversation tells and changes. It decides nothing: what it answers is checked against the words,
/// and takes the same way into memory as what rules read.
pub trait WindowReader: Send + Sync {
    /// What reads, with model and version of the prompt: recorded with everything that came of it.
    fn id(&self) -> &str;

    /// Reads a window of a user's, at whose cost it is.
    ///
    /// # Errors
    /// `Unavailable` if asking again may help; `Run` if this window cannot be read. The words are durable whatever happens here.
    fn read(&self, user: &UserId, window: &Window) -> Result<ModelReply, ExtractError>;

    /// All that is asked about a window, to tell beforehand what reading costs. Default: the messages and what is known.
    fn prompt(&self, window: &Window) -> String {
        let messages = window.messages.iter().map(|message| message.text.as_str());
        messages.chain(window.known.iter().map(|known| known.text.as_str())).collect::<Vec<_>>().join("\n")
    }
}
