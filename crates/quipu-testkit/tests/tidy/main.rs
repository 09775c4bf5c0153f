//! Checks of the code itself: dependencies between crates, file sizes, vocabulary, and that every test file is
//! compiled.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

mod planted;
mod structure;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// Every file below a folder, sorted, without build output and hidden folders.
fn files(below: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![below.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.starts_with('.') || name == "target" {
                continue;
            }
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

fn rust_files(below: &Path) -> Vec<PathBuf> {
    files(below).into_iter().filter(|path| path.extension().is_some_and(|end| end == "rs")).collect()
}

fn short(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

fn manifest(krate: &Path) -> toml::Table {
    fs::read_to_string(krate.join("Cargo.toml")).unwrap().parse().unwrap()
}

fn crates() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.join("Cargo.toml").exists());
    found.sort();
    found
}

fn table_keys(manifest: &toml::Table, table: &str) -> Vec<String> {
    manifest.get(table).and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::keys).cloned().collect()
}

/// The other crates that each crate may depend on, apart from the testkit in its tests.
const DIRECTIONS: [(&str, &[&str]); 16] = [
    ("quipu-core", &[]),
    ("quipu-faults", &[]),
    ("quipu-engine", &["quipu-core"]),
    ("quipu-sqlite", &["quipu-core", "quipu-engine"]),
    ("quipu-encryption", &["quipu-core", "quipu-engine"]),
    ("quipu-postgres", &["quipu-core", "quipu-engine", "quipu-sqlite"]),
    ("quipu-models", &["quipu-core", "quipu-engine"]),
    ("quipu-fake-model", &["quipu-core", "quipu-engine", "quipu-models"]),
    ("quipu-server", &["quipu-core", "quipu-engine"]),
    ("quipu-files", &["quipu-core", "quipu-engine"]),
    ("quipu-documents", &["quipu-engine"]),
    ("quipu", &["quipu-core", "quipu-encryption", "quipu-engine", "quipu-models", "quipu-sqlite"]),
    ("quipu-python", &["quipu"]),
    ("quipu-eval", &["quipu", "quipu-core", "quipu-engine", "quipu-models"]),
    (
        "quipu-cli",
        &[
            "quipu",
            "quipu-core",
            "quipu-documents",
            "quipu-encryption",
            "quipu-engine",
            "quipu-eval",
            "quipu-fake-model",
            "quipu-sqlite",
            "quipu-postgres",
            "quipu-models",
            "quipu-server",
            "quipu-files",
        ],
    ),
    (
        "quipu-testkit",
        &[
            "quipu-core",
            "quipu-engine",
            "quipu-sqlite",
            "quipu-postgres",
            "quipu-models",
            "quipu-server",
            "quipu-files",
        ],
    ),
];

#[test]
fn dependencies_point_one_way() {
    let directions: BTreeMap<&str, &[&str]> = DIRECTIONS.into();
    let mut wrong = Vec::new();
    for krate in crates() {
        let name = krate.file_name().unwrap().to_string_lossy().into_owned();
        let Some(allowed) = directions.get(name.as_str()) else {
            wrong.push(format!("{name} is not in the list of crates"));
            continue;
        };
        let manifest = manifest(&krate);
        let mut uses = table_keys(&manifest, "dependencies");
        uses.extend(table_keys(&manifest, "build-dependencies"));
        for target in manifest.get("target").and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::values) {
            uses.extend(table_keys(target.as_table().unwrap(), "dependencies"));
        }
        let own = uses.iter().filter(|used| *used == "quipu" || used.starts_with("quipu-"));
        wrong.extend(own.filter(|used| !allowed.contains(&used.as_str())).map(|used| format!("{name} uses {used}")));
        // Tests may use more crates, but the core and the engine are tested without implementations of the ports.
        let tests = table_keys(&manifest, "dev-dependencies");
        let concrete = ["quipu-sqlite", "quipu-postgres", "quipu-server", "quipu-files", "quipu-cli"];
        if ["quipu-core", "quipu-engine"].contains(&name.as_str()) {
            let bad = tests.iter().filter(|used| concrete.contains(&used.as_str()));
            wrong.extend(bad.map(|used| format!("tests of {name} use {used}")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

const LINES_MAX: usize = 500;

#[test]
fn no_file_is_longer_than_five_hundred_lines() {
    let long = |path: &PathBuf| {
        let lines = fs::read_to_string(path).unwrap().lines().count();
        (lines > LINES_MAX).then(|| format!("{}: {lines} lines", short(path)))
    };
    let found: Vec<String> = [root().join("crates"), root().join("fuzz")]
        .iter()
        .flat_map(|below| rust_files(below))
        .filter_map(|path| long(&path))
        .collect();
    assert!(found.is_empty(), "{found:#?}");
}

/// Every path of this repository in backticks.
fn paths_named(page: &str) -> BTreeSet<String> {
    let quoted = page.split('`').skip(1).step_by(2);
    let tops = ["crates/", "docs/", "testdata/", "fuzz/", "examples/", "benches/", "quipu-"];
    let looks = |text: &&str| {
        tops.iter().any(|top| text.starts_with(top)) && !text.contains([' ', '*', '<', '{', '…', ':', '(', '=', '\n'])
    };
    quoted.filter(looks).map(str::to_owned).collect()
}

#[test]
fn the_map_names_folders_that_exist() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).expect_or("ARCHITECTURE.md is missing");
    let named = paths_named(&page);
    assert!(named.len() >= 5, "ARCHITECTURE.md names hardly any folder: {named:?}");
    let there = |name: &String| root().join(name).exists() || root().join("crates").join(name).exists();
    let missing: Vec<&String> = named.iter().filter(|name| !there(name)).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names what does not exist: {missing:?}");
    for krate in crates() {
        let name = krate.file_name().unwrap().to_string_lossy().into_owned();
        assert!(page.contains(&name), "ARCHITECTURE.md does not mention {name}");
    }
}

trait ExpectOr<T> {
    fn expect_or(self, message: &str) -> T;
}

impl<T, E: std::fmt::Display> ExpectOr<T> for Result<T, E> {
    fn expect_or(self, message: &str) -> T {
        self.unwrap_or_else(|error| panic!("{message}: {error}"))
    }
}

/// Removes comments, strings and character literals from code.
fn bare(code: &str) -> String {
    let chars: Vec<char> = code.chars().collect();
    let mut out = String::with_capacity(code.len());
    let mut at = 0;
    while at < chars.len() {
        let rest = &chars[at..];
        match rest {
            ['/', '/', ..] => at += rest.iter().position(|&c| c == '\n').unwrap_or(rest.len()),
            ['/', '*', ..] => {
                at += rest.windows(2).position(|pair| pair == ['*', '/']).map_or(rest.len(), |end| end + 2)
            }
            ['r', '"' | '#', ..]
                if !out.ends_with(|c: char| c.is_alphanumeric() || c == '_') && raw_string(rest).is_some() =>
            {
                at += raw_string(rest).unwrap_or(1);
            }
            ['"', ..] => {
                at += 1;
                while at < chars.len() && chars[at] != '"' {
                    at += if chars[at] == '\\' { 2 } else { 1 };
                }
                at += 1;
            }
            ['\'', '\\', _, ..] => at += 3 + rest[3..].iter().position(|&c| c == '\'').unwrap_or(0) + 1,
            ['\'', _, '\'', ..] => at += 3,
            [c, ..] => {
                out.push(*c);
                at += 1;
            }
            [] => break,
        }
    }
    out
}

/// Length of the raw string that starts here; `None` if none does.
fn raw_string(rest: &[char]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|&&c| c == '#').count();
    (rest.get(1 + hashes) == Some(&'"')).then_some(())?;
    let body = 2 + hashes;
    let ends =
        |at: usize| rest[at] == '"' && rest[at + 1..].iter().take(hashes).filter(|&&c| c == '#').count() == hashes;
    (body..rest.len()).find(|&at| ends(at)).map(|at| at + 1 + hashes)
}

#[test]
fn bare_code_has_no_comments_and_no_strings() {
    for (code, expected) in [
        ("let a = \"manager // no\"; // helper", "let a = ; "),
        ("let r = r#\"a \"utils\" b\"#; x", "let r = ; x"),
        ("let c = '\"'; let d = '\\''; let l: &'static str;", "let c = ; let d = ; let l: &'static str;"),
        ("a /* service\n */ b", "a  b"),
        ("let for_raw = b'x' + r;", "let for_raw = b + r;"),
        ("let u = '\\u{202e}'; y", "let u = ; y"),
    ] {
        assert_eq!(bare(code), expected, "{code}");
    }
}

/// The words of an identifier in snake or camel case.
fn words_of(identifier: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before_lower = false;
    for c in identifier.chars() {
        if c == '_' || (c.is_uppercase() && before_lower) {
            words.push(String::new());
        }
        before_lower = c.is_lowercase() || c.is_ascii_digit();
        if c != '_'
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
    }
    words
}

const BANNED: [&str; 8] = ["manager", "managers", "helper", "helpers", "util", "utils", "service", "services"];

/// Names given by libraries.
const LIBRARIES: [&str; 4] = ["futures_util", "hyper_util", "http_body_util", "NeverSessionManager"];

#[test]
fn nothing_is_named_by_a_word_that_says_nothing() {
    let mut found = BTreeSet::new();
    for path in rust_files(&root().join("crates")) {
        let place = short(&path);
        // Libraries for HTTP and MCP have their own `Service`.
        let is_door = ["/http/", "/mcp/"].iter().any(|folder| place.contains(folder));
        let allowed = |word: &str| word.starts_with("service") && is_door;
        let code = bare(&fs::read_to_string(&path).unwrap());
        let names = code.split(|c: char| !c.is_alphanumeric() && c != '_').chain(place.split(['/', '.', '-']));
        for name in names.filter(|name| !LIBRARIES.contains(name)) {
            let bad = words_of(name).into_iter().find(|word| BANNED.contains(&word.as_str()) && !allowed(word));
            if let Some(word) = bad {
                found.insert(format!("{place}: {name} ({word})"));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// Permitted uses of the system clock and random numbers, with reasons. Entries may only be removed.
const CLOCK_EXCEPTIONS: [(&str, &str, &str); 2] = [
    (
        "crates/quipu-engine/src/read/recall.rs",
        "Instant::now",
        "a recall reports how long it took; nothing is decided by it",
    ),
    (
        "crates/quipu-engine/src/process/deadline.rs",
        "Instant::now",
        "a caller's deadline is a moment; without one nobody looks at a clock",
    ),
];

#[test]
fn core_and_engine_ask_nobody_for_the_time_or_for_randomness() {
    let banned = [
        "SystemTime",
        "Instant::now",
        "Timestamp::now",
        "Zoned::now",
        "thread_rng",
        "getrandom",
        "Uuid::now",
        "Uuid::new_v4",
        "RandomState",
        "env::var",
        "rand::",
    ];
    let mut found = Vec::new();
    for krate in ["quipu-core", "quipu-engine"] {
        for path in rust_files(&root().join("crates").join(krate).join("src")) {
            let (place, code) = (short(&path), bare(&fs::read_to_string(&path).unwrap()));
            let excepted = |call: &str| CLOCK_EXCEPTIONS.iter().any(|(file, what, _)| *file == place && *what == call);
            let calls = banned.iter().filter(|call| code.contains(**call) && !excepted(call));
            found.extend(calls.map(|call| format!("{place}: {call}")));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    for (file, call, reason) in CLOCK_EXCEPTIONS {
        let code = bare(&fs::read_to_string(root().join(file)).unwrap());
        assert!(code.contains(call), "{file} has no {call} any more ({reason}): take it off the list");
    }
}

#[test]
fn core_does_no_input_and_no_output() {
    let banned = [
        "std::fs",
        "std::net",
        "stdin(",
        "stdout(",
        "stderr(",
        "std::process",
        "std::thread",
        "std::env",
        "println!",
        "async fn",
        "tokio",
    ];
    let mut found = Vec::new();
    for path in rust_files(&root().join("crates/quipu-core/src")) {
        let code = bare(&fs::read_to_string(&path).unwrap());
        found
            .extend(banned.iter().filter(|word| code.contains(**word)).map(|word| format!("{}: {word}", short(&path))));
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn nothing_is_left_half_done() {
    let banned = ["todo!(", "unimplemented!(", "dbg!("];
    let comments = ["TODO", "FIXME", "XXX", "HACK"];
    let mut found = Vec::new();
    for path in rust_files(&root().join("crates")) {
        let (place, text) = (short(&path), fs::read_to_string(&path).unwrap());
        let code = bare(&text);
        found.extend(banned.iter().filter(|word| code.contains(**word)).map(|word| format!("{place}: {word}")));
        if !place.ends_with("tests/tidy/main.rs") {
            let marked =
                text.lines().filter(|line| line.contains("//") && comments.iter().any(|word| line.contains(word)));
            found.extend(marked.map(|line| format!("{place}: {}", line.trim())));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// Modules declared in a file: `mod a;` or `pub mod a;`.
fn modules(file: &Path) -> BTreeSet<String> {
    let code = bare(&fs::read_to_string(file).unwrap());
    let named = code.lines().filter_map(|line| {
        let line = line.trim().trim_start_matches("pub ").trim_start_matches("pub(crate) ");
        line.strip_prefix("mod ")?.strip_suffix(';').map(str::to_owned)
    });
    named.collect()
}

#[test]
fn no_test_is_forgotten() {
    let mut forgotten = Vec::new();
    for krate in crates() {
        let manifest = manifest(&krate);
        let package = manifest["package"].as_table().unwrap();
        assert_ne!(
            package.get("autotests").and_then(toml::Value::as_bool),
            Some(false),
            "{} must find its tests",
            short(&krate)
        );
        let tests = krate.join("tests");
        for path in if tests.is_dir() { rust_files(&tests) } else { Vec::new() } {
            let (folder, stem) = (path.parent().unwrap(), path.file_stem().unwrap().to_string_lossy().into_owned());
            if folder == tests || (stem == "main" && folder.parent() == Some(&tests)) {
                continue;
            }
            // A file in a subfolder is a module of the file above it.
            let (owner, name) = if stem == "mod" {
                (folder.parent().unwrap(), folder.file_name().unwrap().to_string_lossy().into_owned())
            } else {
                (folder, stem)
            };
            let mut candidates = vec![owner.join("main.rs"), owner.join("mod.rs"), owner.with_extension("rs")];
            if owner == tests {
                candidates.extend(rust_files(&tests).into_iter().filter(|file| file.parent() == Some(&tests)));
            }
            if !candidates.iter().any(|file| file.is_file() && modules(file).contains(&name)) {
                forgotten.push(short(&path));
            }
        }
    }
    assert!(forgotten.is_empty(), "no target compiles these: {forgotten:#?}");
}

#[test]
fn no_test_is_switched_off() {
    let mut off = Vec::new();
    for path in rust_files(&root().join("crates")) {
        if bare(&fs::read_to_string(&path).unwrap()).contains("#[ignore") {
            off.push(short(&path));
        }
    }
    assert!(off.is_empty(), "{off:?}");
}
