//! Compares the table of operations with the engine's exports: a new function must be tested here or excepted with a
//! reason.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::verb;

/// Public functions that are not called at random, with the reasons.
const EXCEPTIONS: [(&str, &str); 20] = [
    ("backup::read_manifest", "reads a file; `backup::restore` calls it"),
    ("backup::write_durably", "writes a file; `backup::backup` calls it"),
    ("backup::write_privately", "writes a file; `backup::backup` and the vault call it"),
    ("import::locomo", "a module: questions of a benchmark"),
    ("import::longmemeval", "a module: questions of a benchmark"),
    ("log::ranges", "prints numbers"),
    ("memories::about", "makes an attachment of a map"),
    ("files::rebuild_global", "writes pages of a folder that nobody else has; the upgrade of a vault calls it"),
    ("files::rebuild_pages", "writes pages of a folder that nobody else has; the upgrade of a vault calls it"),
    ("verify::verify_events", "checks a list of events; `bundle::verify_bundle` calls it"),
    (
        "verify::verify_headers",
        "works on a ledger of a store, not on an engine; tested in `quipu-encryption/tests/store/loss.rs`",
    ),
    ("import::detect", "looks at a file; the inspector and `quipu import --find` call it"),
    ("import::detect_inside", "looks at names of files; `import::detect` calls it"),
    ("import::each_given", "opens an archive; `ingest_given` calls it"),
    ("import::each_input", "opens a folder or an archive; `ingest` calls it"),
    ("import::read", "reads a file; `ingest` calls it"),
    ("import::read_document", "reads a file; `ingest` calls it"),
    ("import::read_with", "reads a file; `ingest` calls it"),
    ("move_ledgers::move_keys", "works on two stores, not on an engine; tested in `ledger/moving.rs`"),
    ("move_ledgers::move_ledger", "works on two stores, not on an engine; tested in `ledger/moving.rs`"),
];

fn engine() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("quipu-engine/src")
}

fn text_of(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The modules that the engine's `lib.rs` makes public, each with its file: `pub mod lock;`, `pub use history::{erase,
/// log};`.
fn public_modules(page: &str) -> Vec<(String, PathBuf)> {
    let file = |folder: &Path, module: &str| {
        let places = [folder.join(format!("{module}.rs")), folder.join(module).join("mod.rs")];
        places.into_iter().find(|place| place.exists()).unwrap_or_else(|| panic!("no file of {module}"))
    };
    let mut found = Vec::new();
    for line in page.lines() {
        if let Some(module) = line.strip_prefix("pub mod ").and_then(|line| line.strip_suffix(';')) {
            found.push((module.to_owned(), file(&engine(), module)));
        }
        let group = line.strip_prefix("pub use ").and_then(|line| line.strip_suffix(';'));
        let Some((group, names)) = group.and_then(modules_of_group) else { continue };
        found.extend(names.map(|name| (name.to_owned(), file(&engine().join(group), name))));
    }
    found
}

/// Parses `history::{erase, log}` or `read::memories` into a folder and the names of files in it.
fn modules_of_group(statement: &str) -> Option<(&str, impl Iterator<Item = &str>)> {
    let (group, names) = statement.split_once("::")?;
    let only_modules = !names.contains("::") && !names.contains(char::is_uppercase);
    only_modules.then(|| (group, names.trim_matches(['{', '}']).split(", ")))
}

/// Lower-case names that a file exports with `pub use`, such as `recall` in `pub use recall::{RecallOptions,
/// recall};`.
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

/// Public functions declared in a file.
fn declared(text: &str) -> Vec<String> {
    let rest = text.lines().filter_map(|line| line.strip_prefix("pub fn "));
    rest.map(|rest| rest.split(['(', '<']).next().unwrap_or_default().to_owned()).collect()
}

/// Every public function of the engine, by the path that its `lib.rs` exports.
fn exported() -> BTreeSet<String> {
    let page = text_of(&engine().join("lib.rs"));
    let modules = public_modules(&page);
    let items =
        page.lines().filter(|line| line.strip_prefix("pub use ").is_none_or(|line| modules_of_group(line).is_none()));
    let mut verbs: BTreeSet<String> = used(&items.collect::<Vec<_>>().join("\n")).into_iter().collect();
    for (module, path) in modules.iter().filter(|(module, _)| !["ports", "lock"].contains(&module.as_str())) {
        let is_folder = path.ends_with("mod.rs");
        let text = text_of(path);
        let mut names = declared(&text);
        names.extend(used(&text));
        // A function may have two paths, since the main function of a module is also exported at the top level.
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
