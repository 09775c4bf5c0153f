//! mem0's filter language: `{"AND": [{"user_id": "a"}, {"created_at": {"gte": "2026-01-01"}}]}`.

use quipu_core::calendar::read as time;
use serde_json::{Map, Value};

use super::super::super::fault::Fault;
use super::whose::Ids;

/// Maximum nesting depth of conditions.
const DEPTH_MAX: usize = 16;
/// Matches any value.
const ANY: &str = "*";

/// A condition on memories.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Filter {
    All(Vec<Self>),
    Any(Vec<Self>),
    None(Vec<Self>),
    Is { field: String, how: Comparison, value: Value },
}

/// A comparison of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Unequal,
    In,
    AtLeast,
    AtMost,
    Above,
    Below,
    Contains,
    ContainsFolded,
}

impl Filter {
    /// Parses a filter; an absent one matches everything.
    pub(super) fn read(sent: Option<&Value>) -> Result<Self, Fault> {
        match sent {
            None | Some(Value::Null) => Ok(Self::All(Vec::new())),
            Some(sent) => of(sent, 0),
        }
    }

    /// True if a memory matches.
    pub(super) fn admits(&self, memory: &Map<String, Value>) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.admits(memory)),
            Self::Any(parts) => parts.iter().any(|part| part.admits(memory)),
            Self::None(parts) => !parts.iter().any(|part| part.admits(memory)),
            Self::Is { field, how, value } => holds(&found(memory, field), *how, value),
        }
    }

    /// True if everything matches.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::All(parts) if parts.is_empty())
    }

    /// The combinations of entities the filter selects, without duplicates.
    pub(super) fn entities(&self) -> Vec<Ids> {
        let mut users = Vec::new();
        let mut others = Ids::default();
        self.mention(&mut users, &mut others);
        if users.is_empty() {
            return if others == Ids::default() { Vec::new() } else { vec![others] };
        }
        users.sort();
        users.dedup();
        users.into_iter().map(|user| Ids { user_id: Some(user), ..others.clone() }).collect()
    }

    fn mention(&self, users: &mut Vec<String>, others: &mut Ids) {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.mention(users, others)),
            Self::None(_) => {}
            Self::Is { field, how: Comparison::Equal | Comparison::In, value } => {
                let texts = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
                for text in texts.iter().filter_map(Value::as_str).filter(|text| *text != ANY) {
                    match field.as_str() {
                        "user_id" => users.push(text.to_owned()),
                        "agent_id" => others.agent_id = Some(text.to_owned()),
                        "app_id" => others.app_id = Some(text.to_owned()),
                        "run_id" => others.run_id = Some(text.to_owned()),
                        _ => {}
                    }
                }
            }
            Self::Is { .. } => {}
        }
    }
}

fn wrong(message: impl Into<String>) -> Fault {
    Fault::invalid(message).at("filters")
}

fn of(sent: &Value, depth: usize) -> Result<Filter, Fault> {
    if depth > DEPTH_MAX {
        return Err(wrong(format!("conditions are nested deeper than {DEPTH_MAX}")));
    }
    let members = sent.as_object().ok_or_else(|| wrong("a condition is an object, such as {\"user_id\": \"ines\"}"))?;
    let mut parts = Vec::new();
    for (name, value) in members {
        let several = || -> Result<Vec<Filter>, Fault> {
            match value {
                Value::Array(list) => list.iter().map(|one| of(one, depth + 1)).collect(),
                one => Ok(vec![of(one, depth + 1)?]),
            }
        };
        match name.to_ascii_uppercase().as_str() {
            "AND" => parts.push(Filter::All(several()?)),
            "OR" => parts.push(Filter::Any(several()?)),
            "NOT" => parts.push(Filter::None(several()?)),
            _ => parts.extend(conditions(name, value)?),
        }
    }
    Ok(if parts.len() == 1 { parts.remove(0) } else { Filter::All(parts) })
}

fn conditions(field: &str, value: &Value) -> Result<Vec<Filter>, Fault> {
    let is = |how, value: &Value| Filter::Is { field: field.to_owned(), how, value: value.clone() };
    match value {
        // `{"metadata": {"food": "vegan"}}` compares members of the metadata.
        Value::Object(members) if field == "metadata" => {
            let member = |(name, value): (&String, &Value)| conditions(&format!("metadata.{name}"), value);
            Ok(members.iter().map(member).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
        }
        Value::Object(operators) => operators.iter().map(|(name, value)| Ok(is(how(name)?, value))).collect(),
        Value::Array(_) => Ok(vec![is(Comparison::In, value)]),
        _ => Ok(vec![is(Comparison::Equal, value)]),
    }
}

fn how(name: &str) -> Result<Comparison, Fault> {
    Ok(match name {
        "eq" => Comparison::Equal,
        "ne" => Comparison::Unequal,
        "in" => Comparison::In,
        "gte" => Comparison::AtLeast,
        "lte" => Comparison::AtMost,
        "gt" => Comparison::Above,
        "lt" => Comparison::Below,
        "contains" => Comparison::Contains,
        "icontains" => Comparison::ContainsFolded,
        other => {
            let known = "eq, ne, in, gte, lte, gt, lt, contains and icontains";
            return Err(wrong(format!("there is no operator {other:?}; there are {known}")));
        }
    })
}

/// The value of a field, under its name in filters.
fn found(memory: &Map<String, Value>, field: &str) -> Value {
    if let Some(member) = field.strip_prefix("metadata.") {
        return memory.get("metadata").and_then(|all| all.get(member)).cloned().unwrap_or_default();
    }
    let name = match field {
        "keywords" => "memory",
        "memory_ids" => "id",
        other => other,
    };
    memory.get(name).cloned().unwrap_or_default()
}

fn holds(is: &Value, how: Comparison, wanted: &Value) -> bool {
    let order = || compare(is, wanted);
    let equal = |one: &Value| match is {
        Value::Array(list) => list.contains(one),
        _ => is == one || compare(is, one).is_some_and(std::cmp::Ordering::is_eq),
    };
    match how {
        Comparison::Equal if wanted == ANY => !is.is_null(),
        Comparison::Equal => equal(wanted),
        Comparison::Unequal => !equal(wanted),
        Comparison::In => {
            wanted.as_array().is_some_and(|list| list.iter().any(|one| equal(one) || (one == ANY && !is.is_null())))
        }
        Comparison::AtLeast => order().is_some_and(std::cmp::Ordering::is_ge),
        Comparison::AtMost => order().is_some_and(std::cmp::Ordering::is_le),
        Comparison::Above => order().is_some_and(std::cmp::Ordering::is_gt),
        Comparison::Below => order().is_some_and(std::cmp::Ordering::is_lt),
        Comparison::Contains | Comparison::ContainsFolded => contains(is, wanted, how == Comparison::ContainsFolded),
    }
}

fn contains(is: &Value, wanted: &Value, folded: bool) -> bool {
    let fold = |text: &str| if folded { text.to_lowercase() } else { text.to_owned() };
    match (is, wanted) {
        (Value::String(is), Value::String(wanted)) => fold(is).contains(&fold(wanted)),
        (Value::Array(list), Value::String(wanted)) => {
            list.iter().filter_map(Value::as_str).any(|one| fold(one) == fold(wanted))
        }
        (Value::Array(list), wanted) => list.contains(wanted),
        _ => false,
    }
}

fn compare(is: &Value, wanted: &Value) -> Option<std::cmp::Ordering> {
    match (is, wanted) {
        (Value::Number(is), Value::Number(wanted)) => is.as_f64()?.partial_cmp(&wanted.as_f64()?),
        (Value::String(is), Value::String(wanted)) => Some(match (time(is), time(wanted)) {
            (Some(is), Some(wanted)) => is.cmp(&wanted),
            _ => is.cmp(wanted),
        }),
        _ => None,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn conditions_hold_or_not() {
        let memory = json!({
            "id": "ines~fact_1", "user_id": "ines", "run_id": null, "memory": "Likes Tea", "categories": ["food", "home"],
            "created_at": "2026-03-01T10:00:00Z", "metadata": {"food": "vegan", "stars": 4},
        });
        let memory = memory.as_object().unwrap();
        for (filter, admits) in [
            (json!({}), true),
            (json!({"user_id": "ines"}), true),
            (json!({"user_id": "otto"}), false),
            (json!({"user_id": "*"}), true),
            (json!({"run_id": "*"}), false),
            (json!({"user_id": {"in": ["otto", "ines"]}}), true),
            (json!({"AND": [{"user_id": "ines"}, {"NOT": [{"metadata": {"food": "vegan"}}]}]}), false),
            (json!({"OR": [{"user_id": "otto"}, {"metadata": {"stars": {"gte": 4}}}]}), true),
            (json!({"created_at": {"gte": "2026-03-01", "lt": "2026-03-02"}}), true),
            (json!({"created_at": {"gt": "2026-03-01T10:00:00Z"}}), false),
            (json!({"keywords": {"icontains": "tea"}}), true),
            (json!({"keywords": {"contains": "tea"}}), false),
            (json!({"categories": {"contains": "food"}}), true),
            (json!({"categories": {"in": ["work"]}}), false),
            (json!({"metadata": {"food": {"ne": "meat"}}}), true),
            (json!({"memory_ids": ["ines~fact_1"]}), true),
            (json!({"and": [{"user_id": "ines"}]}), true),
        ] {
            assert_eq!(Filter::read(Some(&filter)).unwrap().admits(memory), admits, "{filter}");
        }
        let deep = (0..40).fold(json!({"user_id": "a"}), |inner, _| json!({"AND": [inner]}));
        for wrong in [json!([]), json!("x"), json!({"AND": "x"}), json!({"user_id": {"near": 1}}), deep] {
            assert!(Filter::read(Some(&wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn it_says_whose_memory_is_meant() {
        let users = |filter: Value| -> Vec<Option<String>> {
            Filter::read(Some(&filter)).unwrap().entities().into_iter().map(|ids| ids.user_id).collect()
        };
        assert_eq!(users(json!({"AND": [{"user_id": "a"}, {"run_id": "r"}]})), [Some("a".to_owned())]);
        assert_eq!(users(json!({"OR": [{"user_id": "b"}, {"user_id": "a"}]})).len(), 2);
        assert_eq!(users(json!({"NOT": [{"user_id": "a"}]})).len(), 0);
        assert_eq!(users(json!({"agent_id": "x"})), [None]);
        assert_eq!(users(json!({"created_at": {"gte": "2026-01-01"}})).len(), 0);
    }
}
