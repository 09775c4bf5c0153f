//! A reply, before it is put into a dialect.

/// How a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The reply is complete.
    Stop,
    /// The length limit was reached.
    Length,
    /// The model refused.
    Refusal,
}

/// The content of a reply.
#[derive(Debug, Clone)]
pub(super) struct ScriptedReply {
    /// The text; `None` for a message without content.
    pub(super) text: Option<String>,
    pub(super) end: End,
    /// The refusal field.
    pub(super) refusal: Option<String>,
    /// Name of a called tool.
    pub(super) tool: Option<&'static str>,
    /// Whether the message is missing altogether.
    pub(super) is_missing: bool,
    pub(super) input_tokens: usize,
    pub(super) output_tokens: usize,
}

impl ScriptedReply {
    pub(super) fn new(prompt: &str, text: String) -> Self {
        Self {
            input_tokens: tokens(prompt),
            output_tokens: tokens(&text),
            text: Some(text),
            end: End::Stop,
            refusal: None,
            tool: None,
            is_missing: false,
        }
    }

    /// The text in the pieces of a stream.
    pub(super) fn pieces(&self) -> Vec<&str> {
        const PIECE_CHARS: usize = 12;
        const PIECES_MAX: usize = 64;
        let text = self.text.as_deref().unwrap_or_default();
        // Longer texts have larger pieces, which bounds their number.
        let size = PIECE_CHARS.max(text.chars().count() / PIECES_MAX);
        let mut starts: Vec<usize> = text.char_indices().step_by(size).map(|(at, _)| at).collect();
        starts.push(text.len());
        starts.windows(2).map(|ends| &text[ends[0]..ends[1]]).collect()
    }
}

/// An estimate of the number of tokens: one for every four bytes, and at least one.
pub(super) fn tokens(text: &str) -> usize {
    text.len().div_ceil(4).max(1)
}

/// One event of a stream.
#[derive(Debug, Clone)]
pub(super) struct StreamEvent {
    pub(super) name: Option<&'static str>,
    pub(super) data: String,
}

impl StreamEvent {
    pub(super) fn data(value: &serde_json::Value) -> Self {
        Self { name: None, data: value.to_string() }
    }

    pub(super) fn named(name: &'static str, value: &serde_json::Value) -> Self {
        Self { name: Some(name), data: value.to_string() }
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let name = self.name.map(|name| format!("event: {name}\n")).unwrap_or_default();
        format!("{name}data: {}\n\n", self.data).into_bytes()
    }
}
