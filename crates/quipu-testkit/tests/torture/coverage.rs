//! The table of verbs against the engine's contents page: a verb that is added there is tortured or stands here with a reason.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::verb;

/// Public functions that are not called at random, each with its reason.
const EXCEPTIONS: [(&str, &str); 12] = [
    ("backup::read_manifest", "reads a file; `backup::restore` calls it"),
    ("backup::write_durably", "writes a file; `backup::backup` calls it"),
    ("backup::write_privately", "writes a file; `backup::backup` and the vault call it"),
    ("log::ranges", "prints numbers"),
    ("memories::about", "makes an attachment of a map"),
    ("vault::rebuild_global", "writes pages of a folder that nobody else has; the upgrade of a vault calls it"),
    ("vault::rebuild_pages", "writes pages of a folder that nobody else has; the upgrade of a vault calls it"),
    ("verify::verify_events", "checks a list of events; `bundle::verify_bundle` calls it"),
    ("import::each_given", "opens an archive; `ingest_given` calls it"),
    ("import::each_input", "opens a folder or an archive; `ingest` calls it"),
    ("import::read", "reads a file; `ingest` calls it"),
    ("import::read_with", "reads a file; `ingest` calls it"),
];

fn engine_source(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("quipu-engine/src");
    fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Names in lower case that a file exports with `pub use`, such as `recall` of `pub use recall::{RecallOptions, recall};`.
fn used(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("\npub use ") {
        let statement = &text[at..at + text[at..].find(';').expect("a statement ends")];
        let names = statement.rsplit_once("::{").map_or_else(
            || statement.rsplit("::").next().unwrap_or_default().to_owned(),
            |(_, names)| names.replace("memory::", "").replace("commit::", ""),
        );
        let names = names.split([',', '}']).map(|name| name.trim().rsplit("::").next().unwrap_or_default());
        found.extend(names.filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase())).map(str::to_owned));
    }
    found
}

/// Functions a file declares public.
fn declared(text: &str) -> Vec<String> {
    let rest = text.lines().filter_map(|line| line.strip_prefix("pub fn "));
    rest.map(|rest| rest.split(['(', '<']).next().unwrap_or_default().to_owned()).collect()
}

/// Every public function of the engine, as its contents page exports it.
fn exported() -> BTreeSet<String> {
    let page = engine_source("lib.rs");
    let mut verbs: BTreeSet<String> = used(&page).into_iter().collect();
    let modules = page.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    for module in modules.filter(|module| !["ports", "lock"].contains(module)) {
        let is_folder = ["import", "vault"].contains(&module);
        let text = engine_source(&if is_folder { format!("{module}/mod.rs") } else { format!("{module}.rs") });
        let mut names = declared(&text);
        names.extend(used(&text));
        // One function may be reached by two paths: a module's main verb is exported once more by the page itself.
        let names = names.into_iter().filter(|name| !verbs.contains(name) || is_folder);
        let own: Vec<String> = names.map(|name| format!("{module}::{name}")).collect();
        verbs.extend(own);
    }
    verbs
}

#[test]
fn every_verb_of_the_contents_page_is_in_the_table_once() {
    let mut known = BTreeSet::new();
    let twice: Vec<&str> = verb::all().map(|verb| verb.name).filter(|name| !known.insert((*name).to_owned())).collect();
    assert!(twice.is_empty(), "in the table twice: {twice:?}");
    for (name, _) in EXCEPTIONS {
        assert!(known.insert(name.to_owned()), "{name} is in the table and an exception");
    }
    let exported = exported();
    assert!(exported.len() > 100, "the contents page was not understood: {exported:?}");
    let missing: Vec<&String> = exported.difference(&known).collect();
    assert!(missing.is_empty(), "neither in the table nor an exception: {missing:?}");
    let gone: Vec<&String> = known.difference(&exported).collect();
    assert!(gone.is_empty(), "no longer exported: {gone:?}");
}
