//! Reads the assistant's reply from the bytes of a response as they pass.

use serde_json::Value;

use super::wire::Dialect;

/// Maximum length of a line of a stream, or of a response that is not a stream.
const PIECE_BYTES_MAX: usize = 16 << 20;

/// A reply.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) words: String,
    /// True if the response was marked as complete.
    pub(crate) is_whole: bool,
    /// Id of the response.
    pub(crate) id: Option<String>,
    /// True if the text exceeded the limit and was cut.
    pub(crate) is_cut: bool,
}

/// Parses a response incrementally.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    dialect: Dialect,
    is_stream: bool,
    words_max: usize,
    /// An incomplete line of a stream, or an incomplete response.
    held: Vec<u8>,
    /// The response is too long; the rest is ignored.
    is_over: bool,
    data: String,
    reply: Reply,
}

impl Reader {
    /// `is_stream`: whether the response is an event stream; `words_max`: limit of the text, in bytes.
    pub(crate) fn new(dialect: Dialect, is_stream: bool, words_max: usize) -> Self {
        Self {
            dialect,
            is_stream,
            words_max,
            held: Vec::new(),
            is_over: false,
            data: String::new(),
            reply: Reply::default(),
        }
    }

    /// Processes bytes of the response.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        if !self.is_stream {
            self.hold(bytes);
            return;
        }
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            self.hold(&rest[..end]);
            let line = std::mem::take(&mut self.held);
            self.line(line.strip_suffix(b"\r").unwrap_or(&line));
            self.is_over = false;
            rest = &rest[end + 1..];
        }
        self.hold(rest);
    }

    /// True if the response is an event stream, which clients read incrementally.
    pub(crate) fn is_stream(&self) -> bool {
        self.is_stream
    }

    /// True once a stream has marked the reply as complete; more bytes may follow.
    pub(crate) fn has_ended(&self) -> bool {
        self.is_stream && self.reply.is_whole
    }

    /// The reply so far.
    pub(crate) fn so_far(&self) -> Reply {
        self.clone().finish()
    }

    /// The reply, as far as it arrived.
    pub(crate) fn finish(mut self) -> Reply {
        if self.is_stream {
            let last = std::mem::take(&mut self.held);
            self.line(&last);
        } else if let Ok(answer) = serde_json::from_slice::<Value>(&self.held) {
            self.answer(&answer);
        }
        let kept: String = quipu_core::guard::strip_packs(&self.reply.words)
            .into_iter()
            .filter_map(|range| self.reply.words.get(range))
            .collect();
        self.reply.words = without_thoughts(&kept).trim().to_owned();
        self.reply
    }

    fn hold(&mut self, bytes: &[u8]) {
        if self.held.len() + bytes.len() > PIECE_BYTES_MAX {
            self.is_over = true;
            self.held.clear();
        }
        if !self.is_over {
            self.held.extend_from_slice(bytes);
        }
    }

    fn line(&mut self, line: &[u8]) {
        if line.is_empty() {
            // An unterminated event is not an event.
            self.data.clear();
            return;
        }
        let Some(data) = line.strip_prefix(b"data:") else { return };
        let Ok(data) = std::str::from_utf8(data) else { return };
        if !self.data.is_empty() {
            self.data.push('\n');
        }
        self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
        // Clients that read line by line accept an event here, before the empty line.
        self.event();
    }

    /// Processes the event if it is complete.
    fn event(&mut self) {
        if self.data == "[DONE]" {
            self.reply.is_whole = true;
            self.data.clear();
            return;
        }
        let Ok(event) = serde_json::from_str::<Value>(&self.data) else { return };
        self.data.clear();
        match self.dialect {
            Dialect::Chat => self.chat_event(&event),
            Dialect::Responses => self.response_event(&event),
            Dialect::Messages => self.message_event(&event),
        }
    }

    fn chat_event(&mut self, event: &Value) {
        self.name(&event["id"]);
        for choice in event["choices"].as_array().into_iter().flatten() {
            if choice["index"].as_u64().unwrap_or(0) != 0 {
                continue;
            }
            self.say(choice["delta"]["content"].as_str());
            // Some servers send an empty reason with every chunk.
            self.reply.is_whole |= choice["finish_reason"].as_str().is_some_and(|reason| !reason.is_empty());
        }
    }

    fn response_event(&mut self, event: &Value) {
        match event["type"].as_str().unwrap_or_default() {
            "response.output_text.delta" => self.say(event["delta"].as_str()),
            // The texts of one response are paragraphs.
            "response.content_part.added" => self.part(),
            "response.completed" | "response.incomplete" => self.reply.is_whole = true,
            _ => {}
        }
        self.name(&event["response"]["id"]);
    }

    fn message_event(&mut self, event: &Value) {
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => self.name(&event["message"]["id"]),
            "content_block_start" if event["content_block"]["type"] == "text" => {
                self.part();
                self.say(event["content_block"]["text"].as_str());
            }
            "content_block_delta" if event["delta"]["type"] == "text_delta" => {
                self.say(event["delta"]["text"].as_str());
            }
            "message_stop" => self.reply.is_whole = true,
            _ => {}
        }
    }

    /// Processes a response that is not a stream.
    fn answer(&mut self, answer: &Value) {
        self.name(&answer["id"]);
        match self.dialect {
            Dialect::Chat => {
                let choice = &answer["choices"][0];
                self.contents(&choice["message"]["content"], "text");
                self.reply.is_whole = choice["message"].is_object();
            }
            Dialect::Responses => {
                for item in answer["output"].as_array().into_iter().flatten() {
                    self.contents(&item["content"], "output_text");
                }
                self.reply.is_whole = answer["output"].is_array();
            }
            Dialect::Messages => {
                self.contents(&answer["content"], "text");
                self.reply.is_whole = answer["content"].is_array();
            }
        }
    }

    /// Reads a content that is a text, or a list with parts of type `kind`.
    fn contents(&mut self, content: &Value, kind: &str) {
        self.say(content.as_str());
        for part in content.as_array().into_iter().flatten().filter(|part| part["type"] == kind) {
            self.part();
            self.say(part["text"].as_str());
        }
    }

    fn name(&mut self, id: &Value) {
        if self.reply.id.is_none() {
            self.reply.id = id.as_str().map(str::to_owned);
        }
    }

    /// Begins a new paragraph.
    fn part(&mut self) {
        if !self.reply.words.is_empty() && !self.reply.words.ends_with('\n') {
            self.reply.words.push('\n');
        }
    }

    fn say(&mut self, words: Option<&str>) {
        let words = words.unwrap_or_default();
        let room = self.words_max.saturating_sub(self.reply.words.len());
        let fits = &words[..words.floor_char_boundary(room)];
        self.reply.is_cut |= fits.len() < words.len();
        self.reply.words.push_str(fits);
    }
}

/// A reply without the model's thoughts before it.
fn without_thoughts(words: &str) -> &str {
    match words.trim_start().strip_prefix("<think>") {
        Some(rest) => rest.split_once("</think>").map_or("", |(_, said)| said),
        None => words,
    }
}

#[cfg(test)]
mod tests;
