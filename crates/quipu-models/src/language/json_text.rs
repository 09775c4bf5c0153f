//! Extracts JSON from a model's text: strict parsing after one bounded repair.
//!
//! The repair removes what carries no information: a code fence, prose around a single object, trailing commas.
//! Nothing is guessed: two objects, duplicate keys, a missing end, `NaN` and other notations are errors.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Maximum nesting depth.
const DEPTH_MAX: usize = 24;

/// The text after a model's reasoning block; `None` if the block has no end.
pub(super) fn spoken(text: &str) -> Option<&str> {
    let mut rest = text.trim();
    while let Some(thought) = rest.strip_prefix("<think>") {
        rest = thought.split_once("</think>")?.1.trim();
    }
    // Some servers drop the opening tag.
    Some(rest.split_once("</think>").map_or(rest, |(_, after)| after.trim()))
}

/// Parses the single JSON value in a text.
///
/// # Errors
/// A description of the problem that a model can act on.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let text = text.trim();
    let first = match strict(text) {
        Ok(value) => return Ok(value),
        Err(why) => why,
    };
    let Some(start) = text.find('{') else { return Err(format!("there is no JSON object in it ({first})")) };
    let end = start + balanced(&text[start..]).ok_or_else(|| format!("the JSON object has no end ({first})"))?;
    let after = &text[end..];
    let another = after.find('{').is_some_and(|next| {
        let next = &after[next..];
        balanced(next).is_some_and(|end| strict(&next[..end]).is_ok())
    });
    if another {
        return Err("there is more than one JSON object in it".to_owned());
    }
    let object = &text[start..end];
    strict(object).or_else(|_| strict(&without_last_commas(object)))
}

/// Removes invisible characters from all texts of the value: control characters, bidirectional marks, zero-width
/// characters.
pub(super) fn visible(value: Value) -> Value {
    let keep = |c: &char| {
        let unseen =
            matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
        !unseen && (!c.is_control() || matches!(c, '\n' | '\t'))
    };
    match value {
        Value::String(text) => Value::String(text.chars().filter(keep).collect()),
        Value::Array(all) => all.into_iter().map(visible).collect(),
        Value::Object(fields) => fields.into_iter().map(|(key, value)| (key, visible(value))).collect(),
        other => other,
    }
}

fn strict(text: &str) -> Result<Value, String> {
    let Strict(value) = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if depth(&value) > DEPTH_MAX { Err(format!("it is deeper than {DEPTH_MAX} levels")) } else { Ok(value) }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(all) => 1 + all.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// The offset at which the first bracket of a text is closed. Brackets in strings are ignored.
fn balanced(text: &str) -> Option<usize> {
    let (mut open, mut in_string, mut escaped) = (0usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => open += 1,
            b'}' | b']' => {
                open = open.checked_sub(1)?;
                if open == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

fn without_last_commas(text: &str) -> String {
    let (mut kept, mut in_string, mut escaped) = (String::with_capacity(text.len()), false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            ',' if !in_string && text[at + 1..].trim_start().starts_with(['}', ']']) => continue,
            _ => {}
        }
        kept.push(c);
    }
    kept
}

/// A value without duplicate keys in its objects.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number that is none"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Value, A::Error> {
        let mut found = Vec::new();
        while let Some(Strict(one)) = all.next_element()? {
            found.push(one);
        }
        Ok(Value::Array(found))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut found = Map::new();
        while let Some((key, Strict(value))) = fields.next_entry::<String, Strict>()? {
            if found.insert(key.clone(), value).is_some() {
                return Err(A::Error::custom(format!("the key {key:?} stands there twice")));
            }
        }
        Ok(Value::Object(found))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_loses_nothing_is_repaired_and_nothing_else() {
        let good = json!({"a": ["x, }", 1], "b": {}});
        for (text, reads) in [
            (r#"{"a":["x, }",1],"b":{}}"#, true),
            ("```json\n{\"a\":[\"x, }\",1],\"b\":{}}\n```", true),
            ("Sure!\n{\"a\":[\"x, }\",1],\"b\":{}}\nShall I go on with {more}?", true),
            (r#"{"a":["x, }",1,],"b":{},}"#, true),
            (r#"{"a":["x, }",1],"b":{}} {"a":["x, }",1],"b":{}}"#, false),
            (r#"{"a":1,"a":["x, }",1],"b":{}}"#, false),
            (r#"{"a":NaN}"#, false),
            (r#"{'a':['x, }',1],'b':{}}"#, false),
            (r#"{"a":["x, }",1],"b":{"#, false),
            (r#"{"facts":[}"#, false),
            ("I'm sorry, I can't.", false),
        ] {
            assert_eq!(parse(text).is_ok_and(|value| value == good), reads, "{text}");
        }
        assert!(parse(&format!("{}{}", "[".repeat(200), "]".repeat(200))).is_err());
        assert!(parse(&format!("{}1{}", "{\"a\":".repeat(40), "}".repeat(40))).is_err());
    }

    #[test]
    fn every_cut_of_a_good_answer_is_noticed() {
        let good = r#"{"user_summary":"Grüße","diff":{"add":["a"],"remove":[]}}"#;
        for (end, _) in good.char_indices() {
            assert!(parse(&good[..end]).is_err(), "{}", &good[..end]);
        }
    }

    #[test]
    fn thinking_aloud_is_not_said() {
        assert_eq!(spoken("<think>{\"a\":1}</think>\n{}"), Some("{}"));
        assert_eq!(spoken("so?</think> {}"), Some("{}"));
        assert_eq!(spoken("<think>and so on"), None);
        assert_eq!(spoken(" plain "), Some("plain"));
    }
}
