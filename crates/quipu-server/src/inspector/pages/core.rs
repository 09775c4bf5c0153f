//! The core document: as a tree, as a difference of two versions, and with the history of each path.

use std::fmt::Write;

use askama::Template;
use quipu_core::core_document::Patch;
use quipu_engine::ports::Scope;
use quipu_engine::versions::{When, core_at};
use quipu_engine::{CoreEdit, Error, PatchOptions, blame, diff, edit_core};
use serde_json::{Value, json};

use super::super::fields::encoded;
use super::super::frame::{Frame, Page, PageContext, PageResult, base, page, parsed};
use super::super::shown;
use crate::http::Fault;

/// Most paths shown of one document; a larger one is cut, and the page says so.
const PLACES_MAX: usize = 3000;

pub(super) fn pages() -> Vec<Page> {
    vec![
        Page::get("/ui/u/{user_id}/core", Scope::Read, document),
        Page::post("/ui/u/{user_id}/core", Scope::Write, edit),
    ]
}

/// A change of a path.
pub(super) struct Change {
    pub(super) path: String,
    pub(super) look: &'static str,
    pub(super) sign: &'static str,
    pub(super) before: String,
    pub(super) after: String,
}

struct Step {
    seq: u64,
    at: String,
    who: &'static str,
    source: &'static str,
    why: String,
    before: String,
    after: String,
}

#[derive(Template)]
#[template(path = "core.html")]
struct Core {
    f: Frame,
    tree: String,
    is_cut: bool,
    is_empty: bool,
    at: u64,
    known: String,
    path: String,
    /// The path in words.
    place: String,
    value: String,
    steps: Vec<Step>,
    never: bool,
    from: u64,
    to: u64,
    changes: Option<Vec<Change>>,
}

/// The change of a path from one value to another.
pub(super) fn change(path: &str, before: Option<&Value>, after: Option<&Value>) -> Change {
    let (look, sign) = match (before, after) {
        (None, _) => ("add", "+"),
        (_, None) => ("gone", "−"),
        _ => ("change", "~"),
    };
    Change { path: path.to_owned(), look, sign, before: shown::maybe_value(before), after: shown::maybe_value(after) }
}

/// A document as nested lists.
struct Tree<'a> {
    base: &'a str,
    at: String,
    chosen: &'a str,
    html: String,
    left: usize,
}

fn escaped(text: &str) -> String {
    askama::filters::escape(text, askama::filters::Html).map_or_else(|_| String::new(), |safe| safe.to_string())
}

/// A leaf: texts without quotation marks, empty lists and objects as words.
fn shown_value(value: &Value) -> String {
    match value {
        Value::Array(_) | Value::Object(_) => "empty".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Null => "unknown".to_owned(),
        other => shown::value(other),
    }
}

impl Tree<'_> {
    fn link(&self, path: &str, name: &str) -> String {
        let here = if path == self.chosen { " class=\"here\"" } else { "" };
        let (base, at, query) = (self.base, &self.at, encoded(path));
        format!("<a href=\"{base}/core?{at}path={query}\" title=\"{}\"{here}>{}</a>", escaped(path), escaped(name))
    }

    /// Writes the value at a path; `name` is the last step of the path.
    fn write(&mut self, path: &str, name: &str, value: &Value, depth: usize) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        let name = match name.parse::<usize>() {
            // An entry of a list is called what it is called, if it is called anything.
            Ok(place) => {
                let called = value.get("name").and_then(Value::as_str);
                called.map_or_else(|| format!("{}.", place + 1), str::to_owned)
            }
            Err(_) => shown::label(name),
        };
        let children: Vec<(String, &Value)> = match value {
            Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), value)).collect(),
            Value::Array(entries) => entries.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect(),
            _ => Vec::new(),
        };
        if children.is_empty() {
            let leaf = format!(
                "<div class=\"leaf\">{} <span class=\"v\">{}</span></div>",
                self.link(path, &name),
                escaped(&shown_value(value))
            );
            self.html.push_str(&leaf);
            return;
        }
        let inside = self.chosen.starts_with(path);
        let open = if depth < 2 || inside { " open" } else { "" };
        let count =
            shown::many(children.len(), if value.is_array() { "entry" } else { "field" }).replace("entrys", "entries");
        let link = self.link(path, &name);
        // The name is a link, so it cannot be part of what opens.
        let (of, class) = (escaped(&name), "muted");
        let _ = write!(
            self.html,
            "<div class=\"node\">{link}<details{open}><summary class=\"{class}\"><span class=\"off\">{of}: {count}</span></summary><div class=\"kids\">"
        );
        for (name, value) in children {
            let step = name.replace('~', "~0").replace('/', "~1");
            self.write(&format!("{path}/{step}"), &name, value, depth + 1);
        }
        self.html.push_str("</div></details></div>");
    }
}

fn document(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let f = desk.frame_of(&user, "Core document", "core")?;
    let (at, named) = desk.at()?;
    let core = core_at(desk.engine, &user, at)?;
    let path = desk.asked.get("path").unwrap_or_default().to_owned();
    let in_query = named.map(|named| format!("at={}&", encoded(named))).unwrap_or_default();
    let mut tree = Tree { base: &f.base, at: in_query, chosen: &path, html: String::new(), left: PLACES_MAX };
    let places = core.as_object().into_iter().flatten();
    let (own, meta): (Vec<_>, Vec<_>) = places.partition(|(name, _)| name.as_str() != "_meta");
    for (name, value) in &own {
        tree.write(&format!("/{}", name.replace('~', "~0").replace('/', "~1")), name, value, 0);
    }
    for (name, value) in &meta {
        tree.html.push_str("<details class=\"about\"><summary>About the document</summary>");
        tree.write(&format!("/{name}"), name, value, 1);
        tree.html.push_str("</details>");
    }
    let steps = match path.as_str() {
        "" => Ok(Vec::new()),
        path => blame(desk.engine, &user, path),
    };
    let (steps, never) = match steps {
        Ok(steps) => (steps, false),
        Err(Error::NotFound(_)) => (Vec::new(), true),
        Err(other) => return Err(other.into()),
    };
    let compared = desk.asked.get("from").map(parsed::<u64>).transpose()?;
    let to = desk.asked.get("to").map(parsed::<u64>).transpose()?.unwrap_or(f.version);
    let changes = match compared {
        None => None,
        Some(from) => {
            let difference = diff(desk.engine, &user, When::Seq(from), When::Seq(to))?;
            let one = |found: &quipu_core::core_document::PathChange| {
                change(&found.path, found.before.as_ref(), found.after.as_ref())
            };
            Some(difference.core_changes.iter().map(one).collect())
        }
    };
    let (html, is_cut) = (tree.html, tree.left == 0);
    page(&Core {
        tree: html,
        is_cut,
        is_empty: own.is_empty(),
        at: match at {
            When::Seq(seq) => seq,
            _ => f.version,
        },
        known: super::memories::known_at(desk, &user, at)?,
        value: core.pointer(&path).filter(|_| !path.is_empty()).map(ToString::to_string).unwrap_or_default(),
        place: path.split('/').skip(1).map(shown::label).collect::<Vec<_>>().join(" › "),
        steps: steps
            .iter()
            .rev()
            .map(|step| Step {
                seq: step.event.seq,
                at: shown::moment(step.event.recorded_at),
                who: shown::actor(step.event.actor),
                source: shown::source(step.event.source),
                why: step.event.rationale.clone().unwrap_or_default(),
                before: shown::maybe_value(step.before.as_ref()),
                after: shown::maybe_value(step.after.as_ref()),
            })
            .collect(),
        never,
        from: compared.unwrap_or_else(|| f.version.saturating_sub(10)),
        to,
        changes,
        path,
        f,
    })
}

/// Sets or removes the value at a path.
fn edit(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let path = desk.needs("path", "the path is missing")?.to_owned();
    let options = PatchOptions { rationale: desk.sent.get("rationale").map(str::to_owned), ..PatchOptions::default() };
    let edit = if desk.sent.get("how") == Some("remove") {
        let patch = json!([{"op": "remove", "path": path}]);
        let patch: Patch = serde_json::from_value(patch).map_err(|error| Fault::invalid(error.to_string()))?;
        CoreEdit::Patch(patch)
    } else {
        let text = desk.needs("value", "the value is missing")?;
        // Anything that is not JSON is taken as text.
        CoreEdit::Set(path.clone(), serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned())))
    };
    let receipt = edit_core(desk.engine, &user, &edit, &options)?;
    Ok(PageResult::See(format!("{}/core?path={}&done={}", base(&user), encoded(&path), receipt.seq)))
}
