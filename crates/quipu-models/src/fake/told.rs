//! A reply before it is put into a dialect.

/// How a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// All was said.
    Stop,
    /// The length limit.
    Length,
    /// It would not.
    Refusal,
}

/// What a reply consists of.
#[derive(Debug, Clone)]
pub(super) struct ScriptedReply {
    /// The text; `None`: the message has no content.
    pub(super) text: Option<String>,
    pub(super) end: End,
    /// The field for refusals.
    pub(super) refusal: Option<String>,
    /// A call of a tool, by name.
    pub(super) tool: Option<&'static str>,
    /// No message at all.
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

    /// The text in pieces, as a stream brings them.
    pub(super) fn pieces(&self) -> Vec<&str> {
        const PIECE_CHARS: usize = 12;
        const PIECES_MAX: usize = 64;
        let text = self.text.as_deref().unwrap_or_default();
        // A long text comes in bigger pieces: what is tested is the cutting, not the count.
        let size = PIECE_CHARS.max(text.chars().count() / PIECES_MAX);
        let mut starts: Vec<usize> = text.char_indices().step_by(size).map(|(at, _)| at).collect();
        starts.push(text.len());
        starts.windows(2).map(|ends| &text[ends[0]..ends[1]]).collect()
    }
}

/// Four bytes a token, and at least one: near enough, and the same everywhere.
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
