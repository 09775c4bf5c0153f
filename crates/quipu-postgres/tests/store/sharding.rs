//! The rules under which the tables can be distributed by user: the catalogue's, and the plans of all statements.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::lint::{OF_ALL_USERS, WITHOUT_USER, statements};
use crate::server::{Admin, database, server};

/// Tables without rows of users, which every machine has a copy of.
const REFERENCE_TABLES: &str = "'schema_version', 'api_keys', 'servers'";

#[test]
fn every_key_starts_with_the_user() {
    let mut admin = Admin::connect(server(), &database());
    let keys = admin.rows(&format!(
        "SELECT kept.relname, made.relname, first.attname FROM pg_index AS index \
         JOIN pg_class AS kept ON kept.oid = index.indrelid JOIN pg_class AS made ON made.oid = index.indexrelid \
         JOIN pg_attribute AS first ON first.attrelid = kept.oid AND first.attnum = index.indkey[0] \
         WHERE kept.relnamespace = 'quipu'::regnamespace AND kept.relkind = 'p' AND kept.relname NOT IN ({REFERENCE_TABLES})"
    ));
    assert!(keys.len() >= 12, "only {} keys were found", keys.len());
    let wrong: Vec<_> = keys.iter().filter(|key| key[2] != "user_id").collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    // No other table has rows of users.
    let loose = admin.rows(&format!(
        "SELECT relname FROM pg_class WHERE relnamespace = 'quipu'::regnamespace AND relkind = 'r' AND NOT relispartition \
         AND relname NOT IN ({REFERENCE_TABLES})"
    ));
    assert!(loose.is_empty(), "{loose:?}");
    let foreign =
        admin.rows("SELECT conname FROM pg_constraint WHERE contype = 'f' AND connamespace = 'quipu'::regnamespace");
    assert!(foreign.is_empty(), "{foreign:?}");
}

/// A value of a type, so that nothing is removed from a plan because it is null.
fn value(number: usize, kind: &str) -> String {
    match (number, kind) {
        (0, "text") => "'me'".to_owned(),
        (_, "text") => "'extract'".to_owned(),
        (_, "uuid") => "'00000000-0000-0000-0000-000000000001'".to_owned(),
        (_, "bytea") => "'\\x00'".to_owned(),
        (_, "boolean") => "true".to_owned(),
        (_, array) if array.ends_with("[]") => "'{}'".to_owned(),
        (_, "integer" | "bigint") => "1".to_owned(),
        (_, other) => panic!("no value of the type {other} is known"),
    }
}

#[test]
fn a_statement_of_a_user_reaches_one_shard() {
    let mut admin = Admin::connect(server(), &database());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sql");
    let (mut checked, mut wrong) = (0, Vec::new());
    for path in statements(&root) {
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        let is_other =
            WITHOUT_USER.iter().chain(&["migrations", "keys/", "user_keys/"]).any(|folder| name.starts_with(folder));
        if is_other || OF_ALL_USERS.contains(&name.as_str()) {
            continue;
        }
        let sql = fs::read_to_string(&path).unwrap();
        admin.run(&format!("PREPARE statement AS {sql}"));
        let kinds =
            admin.rows("SELECT unnest(parameter_types)::text FROM pg_prepared_statements WHERE name = 'statement'");
        let values: Vec<String> = kinds.iter().enumerate().map(|(number, kind)| value(number, &kind[0])).collect();
        let given = if values.is_empty() { String::new() } else { format!("({})", values.join(", ")) };
        let plan = admin.rows(&format!("EXPLAIN (COSTS OFF, VERBOSE) EXECUTE statement{given}"));
        admin.run("DEALLOCATE statement");
        let text: Vec<String> = plan.into_iter().flatten().collect();
        // Partitions are named `quipu.events_07`.
        let shards: BTreeSet<&str> = text
            .iter()
            .flat_map(|line| line.split([' ', '.', '(', ')', ',']))
            .filter_map(|word| word.rsplit_once('_'))
            .filter(|(_, number)| number.len() == 2 && number.bytes().all(|byte| byte.is_ascii_digit()))
            .map(|(_, number)| number)
            .collect();
        checked += usize::from(!shards.is_empty());
        if shards.len() > 1 {
            wrong.push(format!("{name} reaches {} shards", shards.len()));
        }
    }
    assert!(checked > 30, "only {checked} plans name a shard");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
