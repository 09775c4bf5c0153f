//! Parses the file of the MCP reference memory server: a graph of entities and relations, one per line.
//!
//! A line is `{"type":"entity","name":…,"entityType":…,"observations":[…]}` or
//! `{"type":"relation","from":…,"to":…,"relationType":…}`. An observation becomes the entry `NAME: observation`, with
//! the entity's type as artifact; a relation becomes `FROM relationType TO`. The file contains no times and no
//! sources.
//!
//! Entries have the role of the assistant, which writes this file with its tool. They are not statements of the user,
//! and a system role would give the file the authority of the operator.

use std::io::BufRead;
use std::sync::Arc;

use quipu_core::id::ItemKind;
use quipu_core::limit::IMPORT_TURNS_PER_EVENT;
use quipu_core::source::{Artifact, Role};
use serde_json::{Map, Value};

use crate::transfer::import::batch::{Filling, Sink};
use crate::transfer::import::draft::Draft;
use crate::transfer::import::fault::{Fault, ParseStop};
use crate::transfer::import::lines::Lines;
use crate::transfer::import::name;

const EXPECTED: &str = "a line is {\"type\":\"entity\",\"name\":…,\"entityType\":…,\"observations\":[…]} or \
                        {\"type\":\"relation\",\"from\":…,\"to\":…,\"relationType\":…}";

type Object = Map<String, Value>;

/// Reads line by line. A line that is not JSON ends the import; one that is neither entity nor relation is skipped.
pub(in crate::transfer::import) fn read(
    input: &mut dyn BufRead,
    name: &Arc<str>,
    sink: &mut Sink<'_>,
) -> Result<(), ParseStop> {
    let mut filling = Filling::new(name);
    let outcome = read_lines(&mut Lines::new(input), &mut filling, sink);
    filling.flush(sink)?;
    outcome
}

fn read_lines(lines: &mut Lines<'_>, filling: &mut Filling, sink: &mut Sink<'_>) -> Result<(), ParseStop> {
    while let Some((number, line)) = lines.next()? {
        if line.trim().is_empty() {
            continue;
        }
        let place = format!("line {number}");
        let parsed: Value = serde_json::from_str(line).map_err(|error| {
            let reason = if error.is_eof() {
                format!("it breaks off after {} bytes, in the middle of its JSON", line.len())
            } else {
                format!("it is not JSON at byte {}", error.column())
            };
            Fault::invalid(&*place, format!("{reason}; {EXPECTED}"))
        })?;
        let drafts = parsed.as_object().map(|line| match text(line, "type") {
            Some("entity") => entity(line, &place, sink),
            Some("relation") => relation(line, &place).into_iter().collect(),
            _ => Vec::new(),
        });
        let drafts = drafts.unwrap_or_default();
        if drafts.is_empty() && !is_bare_entity(&parsed) {
            sink.report.notice(place, format!("it is neither an entity nor a relation; it was skipped; {EXPECTED}"));
            sink.report.leave_out("lines that are neither an entity nor a relation", 1);
        }
        for draft in drafts {
            filling.push(draft, sink);
            if filling.len() >= IMPORT_TURNS_PER_EVENT {
                filling.flush(sink)?;
            }
        }
    }
    Ok(())
}

fn entry(place: &str, topic: Option<Arc<str>>, text: String) -> Draft {
    Draft { topic, role: Role::Assistant, text, ..Draft::new(ItemKind::Entry, None, place.to_owned()) }
}

fn entity(line: &Object, place: &str, sink: &mut Sink<'_>) -> Vec<Draft> {
    let Some(name) = text(line, "name") else { return Vec::new() };
    let observations = line.get("observations").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let kind = text(line, "entityType").map(|kind| Artifact {
        kind: "entity_type".to_owned(),
        name: None,
        text: kind.to_owned(),
    });
    if observations.is_empty() {
        sink.report.leave_out("entities without observations", 1);
    }
    let topic = name::label(sink.report, place, "the entity's name", name);
    let mut drafts = Vec::new();
    for observation in observations {
        match observation.as_str() {
            Some(words) if !words.trim().is_empty() => {
                let mut draft = entry(place, topic.clone(), format!("{name}: {words}"));
                draft.artifacts.extend(kind.clone());
                drafts.push(draft);
            }
            _ => {
                sink.report.notice(place, "an observation is empty or not text; it was skipped");
                sink.report.leave_out("observations without text", 1);
            }
        }
    }
    drafts
}

fn relation(line: &Object, place: &str) -> Option<Draft> {
    let [from, how, to] = ["from", "relationType", "to"].map(|key| text(line, key));
    Some(entry(place, None, format!("{} {} {}", from?, how?, to?)))
}

/// Returns true for an entity with a name. Its other faults were reported already.
fn is_bare_entity(line: &Value) -> bool {
    line.as_object().is_some_and(|line| text(line, "type") == Some("entity") && text(line, "name").is_some())
}

fn text<'a>(line: &'a Object, key: &str) -> Option<&'a str> {
    line.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}
