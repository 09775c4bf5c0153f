//! Rules about the structure of the source tree: the size of folders, the names of public types, and import cycles.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::{bare, crates, root, rust_files, short};

/// Source files that may stand beside each other in one folder.
const FILES_MAX: usize = 20;

#[test]
fn no_folder_holds_more_than_twenty_source_files() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for path in crates().iter().flat_map(|krate| rust_files(&krate.join("src"))) {
        *counts.entry(short(path.parent().unwrap())).or_default() += 1;
    }
    let wrong: Vec<_> = counts.iter().filter(|(_, count)| **count > FILES_MAX).collect();
    assert!(wrong.is_empty(), "more than {FILES_MAX} source files: {wrong:#?}");
}

/// Lines of README.md, which is read in two minutes.
const README_LINES_MAX: usize = 150;

#[test]
fn the_readme_is_short() {
    let lines = fs::read_to_string(root().join("README.md")).unwrap().lines().count();
    assert!(lines <= README_LINES_MAX, "README.md has {lines} lines: move what is not needed first to docs/");
}

/// Names of fully public types, with the files that define them.
fn public_types() -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in crates().iter().flat_map(|krate| rust_files(&krate.join("src"))) {
        for line in bare(&fs::read_to_string(&path).unwrap()).lines() {
            let words: Vec<&str> = line.split([' ', '<', '(', '{', ';', ':', '=']).collect();
            if let ["pub", "struct" | "enum" | "trait" | "type" | "union", name, ..] = words[..] {
                found.entry(name.to_owned()).or_default().insert(short(&path));
            }
        }
    }
    found
}

/// Public type names that two places define on purpose.
const SHARED_NAMES: &[&str] = &[
    // The same type for two operating systems.
    "FolderVault",
    // One user's memory: as the fold of events, and as the published crate opens it.
    "Memory",
];

#[test]
fn no_public_type_name_is_used_twice() {
    let twice: Vec<_> = public_types()
        .into_iter()
        .filter(|(name, places)| places.len() > 1 && !SHARED_NAMES.contains(&name.as_str()))
        .collect();
    assert!(twice.is_empty(), "{twice:#?}");
}

/// A module of a crate, as the names on its path.
type Module = Vec<String>;

/// The modules of a crate that are not tests, with the text of each, comments, strings and test modules left out.
fn modules(krate: &Path) -> BTreeMap<Module, String> {
    let source = krate.join("src");
    let mut found = BTreeMap::new();
    for path in rust_files(&source) {
        let place = path.strip_prefix(&source).unwrap().with_extension("");
        let mut module: Module = place.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
            module.pop();
        }
        let is_test = |name: &String| name == "tests" || name.ends_with("_tests");
        if !module.iter().any(is_test) {
            let text = bare(&fs::read_to_string(&path).unwrap());
            let end = text.find("#[cfg(test)]\nmod ").or_else(|| text.find("\nmod tests {")).unwrap_or(text.len());
            found.insert(module, text[..end].to_owned());
        }
    }
    found
}

/// The modules of `all` that paths in a module's text lead to, by the longest name that is a module. A parent that only hands on
/// what its children define is not counted, in either direction.
fn imports(module: &Module, text: &str, all: &BTreeMap<Module, String>) -> BTreeSet<Module> {
    let mut found = BTreeSet::new();
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in text.match_indices(start) {
            if text[..at].ends_with(is_part) {
                continue;
            }
            let rest = &text[at..];
            let path = &rest[..rest.find(|letter: char| !is_part(letter)).unwrap_or(rest.len())];
            let ends: Vec<String> = match path.strip_suffix("::").filter(|_| rest[path.len()..].starts_with('{')) {
                Some(_) => {
                    let list = rest[path.len() + 1..].split('}').next().unwrap_or_default();
                    list.split(',').map(|name| format!("{path}{}", name.trim())).collect()
                }
                None => vec![path.to_owned()],
            };
            found.extend(ends.iter().filter_map(|path| resolved(module, path, all)));
        }
    }
    found.retain(|other| !module.starts_with(other) && !other.starts_with(module));
    found
}

fn resolved(module: &Module, path: &str, all: &BTreeMap<Module, String>) -> Option<Module> {
    let mut parts = path.split("::").peekable();
    let mut place = match parts.next()? {
        "crate" => Module::new(),
        "super" => module[..module.len().saturating_sub(1)].to_vec(),
        _ => module.clone(),
    };
    while parts.next_if_eq(&"super").is_some() {
        place.pop();
    }
    for part in parts {
        place.push(part.to_owned());
        if !all.contains_key(&place) {
            place.pop();
            break;
        }
    }
    all.contains_key(&place).then_some(place)
}

/// Groups of modules that import each other in a circle.
fn cycles(graph: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<BTreeSet<Module>> {
    let reach = |from: &Module| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(module) = next.pop() {
            for other in &graph[&module] {
                if seen.insert(other.clone()) {
                    next.push(other.clone());
                }
            }
        }
        seen
    };
    let reaches: BTreeMap<&Module, BTreeSet<Module>> = graph.keys().map(|module| (module, reach(module))).collect();
    let mut found: BTreeSet<BTreeSet<Module>> = BTreeSet::new();
    for (module, seen) in &reaches {
        if seen.contains(*module) {
            found.insert(seen.iter().filter(|other| reaches[other].contains(*module)).cloned().collect());
        }
    }
    found.into_iter().collect()
}

/// Cycles between files of one folder that are still there, by crate. A cycle leaves the list when it is broken; none joins it.
const CYCLES_INSIDE: &[(&str, usize)] = &[
    ("quipu-cli", 2),
    ("quipu-core", 8),
    ("quipu-engine", 6),
    ("quipu-models", 3),
    ("quipu-server", 7),
    ("quipu-sqlite", 1),
    ("quipu-testkit", 1),
];

#[test]
fn imports_go_in_circles_nowhere_but_where_they_did() {
    let (mut across, mut inside) = (Vec::new(), BTreeMap::new());
    for krate in crates() {
        let all = modules(&krate);
        let graph = all.iter().map(|(module, text)| (module.clone(), imports(module, text, &all))).collect();
        let name = krate.file_name().unwrap().to_string_lossy().into_owned();
        for cycle in cycles(&graph) {
            let folders: BTreeSet<&[String]> = cycle.iter().map(|module| &module[..module.len() - 1]).collect();
            let shown: Vec<String> = cycle.iter().map(|module| module.join("/")).collect();
            if folders.len() > 1 {
                across.push(format!("{name}: {}", shown.join(" ")));
            } else {
                inside.entry(name.clone()).or_insert_with(Vec::new).push(shown.join(" "));
            }
        }
    }
    assert!(across.is_empty(), "cycles across folders: {across:#?}");
    let counts: BTreeMap<&str, usize> = inside.iter().map(|(name, cycles)| (name.as_str(), cycles.len())).collect();
    let known: BTreeMap<&str, usize> = CYCLES_INSIDE.iter().copied().collect();
    assert!(counts == known, "cycles inside folders are {counts:?}, the list says {known:?}: {inside:#?}");
}

#[test]
fn the_finder_of_cycles_finds_one() {
    let module = |name: &str| vec!["folder".to_owned(), name.to_owned()];
    let all: BTreeMap<Module, String> = [
        (vec!["folder".to_owned()], ""),
        (module("a"), "use crate::folder::b::{Thing, other};"),
        (module("b"), "use super::c;"),
        (module("c"), "fn f() { crate::folder::a::g() }"),
        (module("d"), "use super::a;"),
    ]
    .map(|(name, text)| (name, text.to_owned()))
    .into();
    let graph = all.iter().map(|(name, text)| (name.clone(), imports(name, text, &all))).collect();
    assert_eq!(cycles(&graph), [BTreeSet::from([module("a"), module("b"), module("c")])]);
}
