//! Port for language models that extract from a window of a conversation.

use quipu_core::extract::window::{ModelReply, Window};
use quipu_core::id::UserId;

use super::ExtractError;

/// Proposes what a window of a conversation states and changes. The engine checks proposals against the text, and then
/// processes them like those of the rule-based extractor.
pub trait WindowReader: Send + Sync {
    /// Name with the versions of model and prompt, recorded with everything it extracted.
    fn id(&self) -> &str;

    /// Reads a window. The user's budget is charged.
    ///
    /// # Errors
    /// `Unavailable` if a retry may help; `Run` if this window cannot be read. The sources are durable in any case.
    fn read(&self, user: &UserId, window: &Window) -> Result<ModelReply, ExtractError>;

    /// The complete prompt for a window, to estimate the cost. By default the messages and the known facts.
    fn prompt(&self, window: &Window) -> String {
        let messages = window.messages.iter().map(|message| message.text.as_str());
        messages.chain(window.known.iter().map(|known| known.text.as_str())).collect::<Vec<_>>().join("\n")
    }
}
