//! Parses JSON exports of Telegram: one chat, or all of them under `chats.list`.
//!
//! A message becomes a turn of the session `telegram:<id of the chat>`, with the chat's name as topic. Its time is
//! `date_unixtime`, or the local `date` in older exports. Service messages (joins, calls) are counted and left out. One
//! message is held at a time.

use std::collections::BTreeSet;
use std::fmt;
use std::io::BufRead;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::DateTime;
use quipu_core::id::ItemKind;
use quipu_core::limit::{IMPORT_ELEMENT_BYTES_MAX, IMPORT_TURNS_PER_EVENT};
use quipu_core::source::Artifact;
use serde::Deserializer;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::transfer::import::batch::{Filling, Sink};
use crate::transfer::import::draft::Draft;
use crate::transfer::import::fault::ParseStop;
use crate::transfer::import::options::{ChatFile, Clock};
use crate::transfer::import::report::Report;
use crate::transfer::import::stream::{self, Shape, Walked};
use crate::transfer::import::{name, when};

const SHAPE: Shape = Shape {
    file: "result.json",
    element: "message",
    elements: "messages",
    expected: "result.json is an object with \"messages\", or with \"chats\" that hold a \"list\" of such objects",
    lists: &[],
    bytes_max: IMPORT_ELEMENT_BYTES_MAX,
};

/// Reads one message after the other. Truncated input ends the import; an unreadable message is skipped.
pub(in crate::transfer::import) fn read(
    input: &mut dyn BufRead,
    ChatFile { start, name, options }: ChatFile<'_>,
    sink: &mut Sink<'_>,
) -> Result<(), ParseStop> {
    let walked = Walked::new(start);
    let mut run = Run {
        sink,
        walked: &walked,
        clock: Clock::new(options),
        name,
        filling: Filling::new(name),
        chat: Chat::default(),
        spoken: BTreeSet::new(),
    };
    let outcome = stream::walk(input, &SHAPE, &walked, ChatOrAll { run: &mut run });
    let Run { mut filling, sink, .. } = run;
    filling.flush(sink)?;
    outcome
}

/// The chat whose messages are being read.
#[derive(Default)]
struct Chat {
    name: Value,
    id: Value,
    session: Option<Arc<str>>,
    topic: Option<Arc<str>>,
}

struct Run<'a, 's> {
    sink: &'a mut Sink<'s>,
    walked: &'a Walked,
    clock: Clock<'a>,
    name: &'a Arc<str>,
    filling: Filling,
    chat: Chat,
    /// Names of chats so far, to report chats of the same name.
    spoken: BTreeSet<String>,
}

impl Run<'_, '_> {
    /// Sets the session of the messages that follow.
    fn begin(&mut self) -> Result<(), ParseStop> {
        self.filling.flush(self.sink)?;
        let id = match &self.chat.id {
            Value::Number(id) => Some(id.to_string()),
            Value::String(id) => Some(id.clone()),
            _ => None,
        };
        let called = self.chat.name.as_str().unwrap_or_default();
        let place = format!("chat {}", name::quote(called));
        let session = id.as_ref().map_or_else(|| self.name.to_string(), |id| format!("telegram:{id}"));
        if id.is_none() {
            self.sink.report.notice(&place, "it has no id before its messages; it is named like the input");
        }
        self.chat.session = name::session(self.sink.report, &place, &session);
        self.chat.topic = name::label(self.sink.report, &place, "the chat's name", called);
        let conversation = self.chat.topic.clone().or_else(|| self.chat.session.clone());
        let conversation = conversation.unwrap_or_else(|| self.name.clone());
        if !self.spoken.insert(conversation.to_string()) {
            self.sink.report.notice(&place, "another chat has the same name; they are counted as one");
        }
        self.filling = Filling::new(&conversation);
        Ok(())
    }

    fn message(&mut self, message: &Value) -> Result<(), ParseStop> {
        let number = self.walked.element();
        let id = message.get("id").filter(|id| id.is_number() || id.is_string());
        let id = id.map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned));
        let place = match &id {
            Some(id) => format!("message {number}, id {}", name::quote(id)),
            None => format!("message {number}"),
        };
        match word(message, "type") {
            "message" => {}
            "service" => {
                self.sink.report.leave_out("messages of the service", 1);
                return Ok(());
            }
            other => {
                let reason = format!("the type {} is neither message nor service; it was skipped", name::quote(other));
                self.sink.report.notice(place, reason);
                self.sink.report.leave_out("messages of an unknown type", 1);
                return Ok(());
            }
        }
        let (text, mut artifacts) = words(message);
        artifacts.extend(attached(message));
        if text.trim().is_empty() && artifacts.is_empty() {
            self.sink.report.leave_out("messages without text", 1);
            return Ok(());
        }
        let who = [word(message, "from"), word(message, "from_id")].into_iter().find(|who| !who.trim().is_empty());
        let draft = Draft {
            topic: self.chat.topic.clone(),
            author: name::label(self.sink.report, &place, "the author's name", who.unwrap_or_default()),
            said_at: said_at(message, &place, &mut self.clock, self.sink.report),
            text,
            artifacts,
            native_id: id,
            ..Draft::new(ItemKind::Turn, self.chat.session.clone(), place)
        };
        self.filling.push(draft, self.sink);
        if self.filling.len() >= IMPORT_TURNS_PER_EVENT { self.filling.flush(self.sink) } else { Ok(()) }
    }
}

fn word<'a>(object: &'a Value, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn said_at(message: &Value, place: &str, clock: &mut Clock<'_>, report: &mut Report) -> Option<Timestamp> {
    let time = match (message.get("date_unixtime"), message.get("date")) {
        (Some(seconds), _) => when::json(seconds),
        (None, Some(Value::String(local))) => match local.parse::<DateTime>() {
            Ok(local) => Ok(clock.utc(local, report)),
            Err(_) => Err(format!("{} is not a time Quipu can read", name::quote(local))),
        },
        (None, Some(_)) => Err("the time is not text".to_owned()),
        (None, None) => Err("it has no date".to_owned()),
    };
    time.unwrap_or_else(|reason| {
        report.notice(place, format!("{reason}; it was kept without a time"));
        None
    })
}

/// The text, which may consist of pieces with markup. Code and links also become artifacts.
fn words(message: &Value) -> (String, Vec<Artifact>) {
    let mut text = String::new();
    let mut artifacts = Vec::new();
    let pieces = message.get("text").map(|text| text.as_array().map_or(std::slice::from_ref(text), Vec::as_slice));
    for piece in pieces.unwrap_or_default() {
        let words = piece.as_str().unwrap_or_else(|| word(piece, "text"));
        text.push_str(words);
        match word(piece, "type") {
            "pre" | "code" if words.contains('\n') => artifacts.push(artifact("code", word(piece, "language"), words)),
            "text_link" => artifacts.push(artifact("link", word(piece, "href"), words)),
            _ => {}
        }
    }
    if let Some(poll) = message.get("poll") {
        let answers = poll.get("answers").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for line in std::iter::once(word(poll, "question")).chain(answers.iter().map(|answer| word(answer, "text"))) {
            text.push_str(if text.is_empty() { "" } else { "\n" });
            text.push_str(line);
        }
    }
    (text, artifacts)
}

/// Attachments by name, and the author of a forwarded message.
fn attached(message: &Value) -> Vec<Artifact> {
    let mut found = Vec::new();
    // In an export without files, a remark in brackets replaces the path.
    let path = |key: &str| Some(word(message, key)).filter(|path| !path.starts_with('(')).unwrap_or_default();
    if message.get("photo").is_some() {
        found.push(artifact("image", path("photo"), ""));
    }
    if message.get("file").is_some() {
        let kind = match word(message, "media_type") {
            "voice_message" | "audio_file" => "audio",
            "video_message" | "video_file" | "animation" => "video",
            "sticker" => "sticker",
            _ => "file",
        };
        let called = [path("file_name"), path("file")].into_iter().find(|name| !name.is_empty()).unwrap_or_default();
        found.push(artifact(kind, called, word(message, "sticker_emoji")));
    }
    if !word(message, "forwarded_from").is_empty() {
        found.push(artifact("forwarded_from", "", word(message, "forwarded_from")));
    }
    if let Some(at) = message.get("location_information") {
        let [latitude, longitude] =
            ["latitude", "longitude"].map(|key| at.get(key).map(Value::to_string).unwrap_or_default());
        found.push(artifact("location", "", &format!("{latitude}, {longitude}")));
    }
    found
}

fn artifact(kind: &str, name: &str, text: &str) -> Artifact {
    let name = (!name.is_empty()).then(|| name.to_owned());
    Artifact { kind: kind.to_owned(), name, text: text.to_owned() }
}

/// Visits a chat, or an object that contains chats.
struct ChatOrAll<'a, 'r, 's> {
    run: &'a mut Run<'r, 's>,
}

impl<'de> Visitor<'de> for ChatOrAll<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a chat or an export of chats")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let run = self.run;
        run.chat = Chat::default();
        let mut found = false;
        while let Some(key) = entries.next_key::<String>()? {
            match key.as_str() {
                "name" => run.chat.name = entries.next_value()?,
                "id" => run.chat.id = entries.next_value()?,
                "messages" => {
                    found = true;
                    run.begin().map_err(|stop| run.walked.stop(stop))?;
                    entries.next_value_seed(List { run, of: ExportScope::Messages })?;
                }
                "chats" | "left_chats" => {
                    found = true;
                    entries.next_value_seed(Chats { run })?;
                }
                "contacts" | "frequent_contacts" | "sessions" | "web_sessions" | "stories" | "other_data" => {
                    run.sink.report.leave_out("sections without messages", 1);
                    entries.next_value::<IgnoredAny>()?;
                }
                _ => _ = entries.next_value::<IgnoredAny>()?,
            }
        }
        if found { Ok(()) } else { Err(A::Error::custom("there are neither messages nor chats")) }
    }
}

impl<'de> DeserializeSeed<'de> for ChatOrAll<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, chat: D) -> Result<(), D::Error> {
        chat.deserialize_map(self)
    }
}

/// Visits the object around a list of chats.
struct Chats<'a, 'r, 's> {
    run: &'a mut Run<'r, 's>,
}

impl<'de> Visitor<'de> for Chats<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a list of chats")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(key) = entries.next_key::<String>()? {
            if key == "list" {
                entries.next_value_seed(List { run: &mut *self.run, of: ExportScope::Chats })?;
            } else {
                entries.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Chats<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, chats: D) -> Result<(), D::Error> {
        chats.deserialize_map(self)
    }
}

enum ExportScope {
    Messages,
    Chats,
}

/// Visits a list, element by element.
struct List<'a, 'r, 's> {
    run: &'a mut Run<'r, 's>,
    of: ExportScope,
}

impl<'de> Visitor<'de> for List<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let run = self.run;
        match self.of {
            ExportScope::Chats => while elements.next_element_seed(ChatOrAll { run: &mut *run })?.is_some() {},
            ExportScope::Messages => {
                while let Some(message) = elements.next_element::<Value>()? {
                    run.message(&message).map_err(|stop| run.walked.stop(stop))?;
                }
            }
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for List<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, list: D) -> Result<(), D::Error> {
        list.deserialize_seq(self)
    }
}
