//! What the assistant said, read out of the bytes of an answer as they pass.

use serde_json::Value;

use super::wire::Dialect;

/// Longest line of a stream, and longest answer in one piece, that is read.
const PIECE_BYTES_MAX: usize = 16 << 20;

/// What was said.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) words: String,
    /// True if the answer says of itself that it is complete.
    pub(crate) is_whole: bool,
    /// The answer's own name.
    pub(crate) id: Option<String>,
    /// True if there was more than may be kept.
    pub(crate) is_cut: bool,
}

/// Reads an answer piece by piece.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    dialect: Dialect,
    is_stream: bool,
    words_max: usize,
    /// A line of a stream, or an answer, that is not whole yet.
    held: Vec<u8>,
    /// More came than is read.
    is_over: bool,
    data: String,
    reply: Reply,
}

impl Reader {
    /// `is_stream`: whether the answer is a stream of events.
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

    /// Takes in what passes.
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

    /// True if the answer is a stream of events, which clients read as it comes.
    pub(crate) fn is_stream(&self) -> bool {
        self.is_stream
    }

    /// True once a stream has said that the reply is complete, though more bytes may come.
    pub(crate) fn has_ended(&self) -> bool {
        self.is_stream && self.reply.is_whole
    }

    /// What was said so far.
    pub(crate) fn so_far(&self) -> Reply {
        self.clone().finish()
    }

    /// What was said, as far as it came.
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
            // What is no event by now never will be one.
            self.data.clear();
            return;
        }
        let Some(data) = line.strip_prefix(b"data:") else { return };
        let Ok(data) = std::str::from_utf8(data) else { return };
        if !self.data.is_empty() {
            self.data.push('\n');
        }
        self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
        // Clients that read line by line take an event for whole here, before the empty line.
        self.event();
    }

    /// Takes the event in if it is whole.
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
            // Some servers send an empty reason with every piece.
            self.reply.is_whole |= choice["finish_reason"].as_str().is_some_and(|reason| !reason.is_empty());
        }
    }

    fn response_event(&mut self, event: &Value) {
        match event["type"].as_str().unwrap_or_default() {
            "response.output_text.delta" => self.say(event["delta"].as_str()),
            // Several texts of one answer are paragraphs of it.
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

    /// An answer in one piece.
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

    /// A content that is a text, or a list with parts of a type.
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

    /// Another text begins.
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

/// A reply without what the model thought before it.
fn without_thoughts(words: &str) -> &str {
    match words.trim_start().strip_prefix("<think>") {
        Some(rest) => rest.split_once("</think>").map_or("", |(_, said)| said),
        None => words,
    }
}

#[cfg(test)]
mod tests;
