//! A rule for every statement of the crate.

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn statements(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(statements(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// Statements about transactions, the schema and the register of servers, which concern no user's rows.
pub(crate) const WITHOUT_USER: [&str; 3] = ["transaction", "schema", "servers"];
/// Statements that list rows of all users: they read names and nothing else.
pub(crate) const OF_ALL_USERS: [&str; 3] = ["users.sql", "abandoned.sql", "any_user.sql"];

#[test]
fn every_statement_names_the_user() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sql");
    let mut wrong = Vec::new();
    let mut checked = 0;
    for path in statements(&root) {
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        if WITHOUT_USER.iter().any(|folder| name.starts_with(folder)) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let code: String =
            text.lines().map(|line| line.split("--").next().unwrap_or("")).collect::<Vec<_>>().join("\n");
        checked += 1;
        if !code.contains("user_id") {
            wrong.push(format!("{name} does not name user_id"));
        }
        // Outside the statements of the whole store, each use of a table is bound to the user of the transaction.
        let whole_store =
            name.starts_with("migrations") || name.starts_with("keys/") || OF_ALL_USERS.contains(&name.as_str());
        let tables = code.matches("quipu.").count();
        let bound = code.matches("user_id = $1").count() + code.matches("(user_id,").count();
        // A conflict clause names the key once more than there are tables, which does not make up for a missing condition.
        let bound = bound - code.matches("ON CONFLICT (user_id,").count();
        if !whole_store && bound < tables {
            wrong.push(format!("{name} uses {tables} tables and names the user {bound} times"));
        }
    }
    assert!(checked > 40, "only {checked} statements were found");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn statements_without_a_user_touch_no_table_of_users() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sql");
    for path in statements(&root.join("servers")) {
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches("quipu.").count(), text.matches("quipu.servers").count(), "{}", path.display());
    }
    for name in OF_ALL_USERS {
        let text = fs::read_to_string(root.join(name)).unwrap();
        let writes = ["INSERT", "UPDATE", "DELETE"].iter().any(|word| text.contains(word));
        assert!(!writes, "{name} writes to rows of all users");
    }
}

#[test]
fn statements_are_in_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for path in statements(&root).into_iter().filter(|path| path.extension().is_some_and(|end| end == "rs")) {
        let text = fs::read_to_string(&path).unwrap();
        let words =
            ["SELECT ", "INSERT INTO", "UPDATE quipu", "DELETE FROM", "CREATE TABLE", "LISTEN ", "pg_advisory_lock"];
        wrong.extend(
            words.iter().filter(|word| text.contains(**word)).map(|word| format!("{}: {word}", path.display())),
        );
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn nothing_depends_on_a_session() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sql");
    let banned = ["pg_advisory_lock", "LISTEN", "TEMP ", "TEMPORARY", "PREPARE ", "DECLARE CURSOR", ", false)"];
    let mut wrong = Vec::new();
    for path in statements(&root) {
        let text = fs::read_to_string(&path).unwrap();
        wrong.extend(
            banned.iter().filter(|word| text.contains(**word)).map(|word| format!("{}: {word}", path.display())),
        );
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
