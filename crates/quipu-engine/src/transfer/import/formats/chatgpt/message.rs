//! Parses a message of a ChatGPT conversation: text and attachments.

use quipu_core::id::ItemKind;
use quipu_core::source::{Artifact, Role};
use serde_json::Value;

use super::marks::without_marks;
use crate::transfer::import::draft::Draft;
use crate::transfer::import::report::Report;
use crate::transfer::import::{fence, name, when};

/// The parts of a message that are held with its conversation.
pub(super) struct Message {
    id: Option<String>,
    role: Option<Role>,
    /// The role as written in the export.
    role_word: String,
    author: String,
    pub(super) create_time: Value,
    pub(super) hidden: bool,
    /// Why the content is not imported, if so.
    pub(super) unread: Option<&'static str>,
    content_type: String,
    text: String,
    artifacts: Vec<Artifact>,
}

impl From<Value> for Message {
    fn from(mut raw: Value) -> Self {
        let word = |pointer: &str| raw.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let role_word = word("/author/role");
        let role = match role_word.as_str() {
            "user" => Some(Role::User),
            "assistant" => Some(Role::Assistant),
            "system" | "developer" => Some(Role::System),
            "tool" | "function" => Some(Role::Tool),
            _ => None,
        };
        let flag = |pointer: &str| raw.pointer(pointer) == Some(&Value::Bool(true));
        let content_type = word("/content/content_type");
        let mut message = Self {
            id: Some(word("/id")).filter(|id| !id.is_empty()),
            author: word("/author/name"),
            hidden: flag("/metadata/is_visually_hidden_from_conversation"),
            unread: None,
            text: String::new(),
            artifacts: attachments(&raw),
            create_time: raw.get_mut("create_time").map(Value::take).unwrap_or_default(),
            role,
            role_word,
            content_type,
        };
        message.read(raw.get("content").unwrap_or(&Value::Null));
        if message.role == Some(Role::Assistant) {
            message.text = without_marks(&message.text);
        }
        if message.role.is_none() && message.unread.is_none() {
            message.unread = Some("messages of an unknown role");
        }
        message
    }
}

impl Message {
    /// Returns true if it contains nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.artifacts.is_empty()
    }

    /// Returns true if the message has an unknown role or content type.
    pub(super) fn is_surprising(&self) -> bool {
        self.unread.is_some_and(|reason| reason.contains("unknown"))
    }

    pub(super) fn surprise(&self) -> String {
        match self.role {
            None => format!("the role {} is not known", name::quote(&self.role_word)),
            Some(_) => format!("the content type {} is not known", name::quote(&self.content_type)),
        }
    }

    /// Converts it into a draft without a session.
    pub(super) fn into_draft(mut self, key: &str, place: String, report: &mut Report) -> Option<Draft> {
        // Some exports write an unknown time as zero.
        let known = self.create_time.as_f64() != Some(0.0);
        let said_at = if known { when::json(&self.create_time) } else { Ok(None) };
        let said_at = said_at.unwrap_or_else(|reason| {
            report.notice(&place, format!("{reason}; it was kept without a time"));
            None
        });
        if self.content_type != "code" {
            self.artifacts.extend(fence::fenced(&self.text).into_iter().map(|(_, code)| code));
        }
        Some(Draft {
            role: self.role?,
            author: name::label(report, &place, "the author's name", &self.author),
            said_at,
            text: self.text,
            artifacts: self.artifacts,
            native_id: Some(self.id.unwrap_or_else(|| key.to_owned())),
            ..Draft::new(ItemKind::Turn, None, place)
        })
    }

    fn read(&mut self, content: &Value) {
        let word = |key: &str| content.get(key).and_then(Value::as_str).unwrap_or_default();
        match self.content_type.as_str() {
            "text" | "multimodal_text" => self.read_parts(content),
            "code" => {
                self.text = word("text").to_owned();
                let language = Some(word("language")).filter(|language| !matches!(*language, "" | "unknown"));
                if !self.text.trim().is_empty() {
                    self.artifacts.push(artifact("code", language, &self.text));
                }
            }
            "execution_output" | "system_error" | "tether_quote" | "sonic_webpage" => {
                self.text = word("text").to_owned();
                if !word("url").is_empty() {
                    self.artifacts.push(artifact("link", Some(word("url")), word("title")));
                }
            }
            "tether_browsing_display" => self.text = word("result").to_owned(),
            "user_editable_context" => {
                let said = [word("user_profile"), word("user_instructions")];
                self.text = said.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
            }
            "thoughts" | "reasoning_recap" => self.unread = Some("messages of hidden reasoning"),
            "model_editable_context" => self.unread = Some("contexts the model wrote for itself"),
            _ if content.get("parts").is_some() => self.read_parts(content),
            _ if !word("text").is_empty() => self.text = word("text").to_owned(),
            _ => self.unread = Some("messages of an unknown content type"),
        }
    }

    fn read_parts(&mut self, content: &Value) {
        let mut texts = Vec::new();
        for part in content.get("parts").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default() {
            let word = |pointer: &str| part.pointer(pointer).and_then(Value::as_str);
            match (part.as_str(), word("/content_type").unwrap_or_default()) {
                (Some(text), _) => texts.push(text),
                (None, "audio_transcription") => texts.extend(word("/text")),
                (None, "image_asset_pointer") => {
                    let shows = word("/metadata/dalle/prompt").unwrap_or_default();
                    self.artifacts.push(artifact("image", word("/asset_pointer"), shows));
                }
                (None, kind) if kind.contains("audio") || kind.contains("video") => {
                    let kind = if kind.contains("video") { "video" } else { "audio" };
                    self.artifacts.push(artifact(kind, word("/asset_pointer"), ""));
                }
                (None, _) => match (word("/text"), word("/asset_pointer")) {
                    (Some(text), _) => texts.push(text),
                    (None, pointer) if part.is_object() => self.artifacts.push(artifact("file", pointer, "")),
                    _ => {}
                },
            }
        }
        texts.retain(|text| !text.is_empty());
        self.text = texts.join("\n");
    }
}

/// The names of attached files; their content is elsewhere in the export.
fn attachments(raw: &Value) -> Vec<Artifact> {
    let list = raw.pointer("/metadata/attachments").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let name = |file: &Value| ["name", "id"].iter().find_map(|key| file.get(*key)?.as_str().map(str::to_owned));
    list.iter().filter_map(name).map(|name| artifact("file", Some(&name), "")).collect()
}

fn artifact(kind: &str, name: Option<&str>, text: &str) -> Artifact {
    Artifact { kind: kind.to_owned(), name: name.map(str::to_owned), text: text.to_owned() }
}
