//! A tool: a row with its name, description, types and handler. The list and the calls use the same rows.

use std::sync::{Arc, LazyLock};

use quipu_engine::ports::Scope;
use quipu_engine::{Error, Result};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool as Shown, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::call::Call;
use super::guest::{McpCaller, Toolset};
use super::tools;

/// The result of a tool.
pub(super) struct ToolResult {
    /// The JSON.
    pub(super) value: Value,
    /// A remark beside it, for what the JSON's schema has no field for.
    pub(super) aside: Option<String>,
}

type Verb = Arc<dyn Fn(&Call<'_>, JsonObject) -> Result<ToolResult> + Send + Sync>;

/// One tool.
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) scope: Scope,
    /// Shown only with this toolset.
    pub(super) toolset: Option<Toolset>,
    /// The result is sent as text only, as some clients require.
    is_text_only: bool,
    /// The result is `content` alone, verbatim; `is_error` says whether it is an error.
    is_told: bool,
    shown: Shown,
    verb: Verb,
}

impl Tool {
    /// A tool that changes nothing.
    pub(super) fn reading<I, O>(
        name: &'static str,
        title: &'static str,
        about: &'static str,
        verb: fn(&Call<'_>, I) -> Result<O>,
    ) -> Self
    where
        I: DeserializeOwned + JsonSchema + 'static,
        O: Serialize + JsonSchema + 'static,
    {
        let hints = ToolAnnotations::with_title(title).read_only(true);
        Self::new(name, Scope::Read, (title, about), hints, move |call, given| Ok((verb(call, given)?, None)))
    }

    /// A tool that records something. No tool removes anything; only people do.
    pub(super) fn writing<I, O>(
        name: &'static str,
        title: &'static str,
        about: &'static str,
        verb: fn(&Call<'_>, I) -> Result<O>,
    ) -> Self
    where
        I: DeserializeOwned + JsonSchema + 'static,
        O: Serialize + JsonSchema + 'static,
    {
        Self::remarking(name, title, about, move |call, given| Ok((verb(call, given)?, None)))
    }

    /// A recording tool that returns a remark.
    pub(super) fn remarking<I, O>(
        name: &'static str,
        title: &'static str,
        about: &'static str,
        verb: impl Fn(&Call<'_>, I) -> Result<(O, Option<String>)> + Send + Sync + 'static,
    ) -> Self
    where
        I: DeserializeOwned + JsonSchema + 'static,
        O: Serialize + JsonSchema + 'static,
    {
        let hints = ToolAnnotations::with_title(title).read_only(false).destructive(false).idempotent(false);
        Self::new(name, Scope::Write, (title, about), hints, verb)
    }

    fn new<I, O>(
        name: &'static str,
        scope: Scope,
        (title, about): (&'static str, &'static str),
        hints: ToolAnnotations,
        verb: impl Fn(&Call<'_>, I) -> Result<(O, Option<String>)> + Send + Sync + 'static,
    ) -> Self
    where
        I: DeserializeOwned + JsonSchema + 'static,
        O: Serialize + JsonSchema + 'static,
    {
        let input = Arc::new(plain(schema::<I>()));
        let takes = takes(&input);
        let shown = Shown::new(name, about, input)
            .with_title(title)
            .with_annotations(hints.open_world(false))
            .with_raw_output_schema(Arc::new(schema::<O>()));
        let run = move |call: &Call<'_>, given: JsonObject| {
            let given = serde_path_to_error::deserialize(Value::Object(given)).map_err(|error| {
                let at = error.path().to_string();
                let place = if at == "." { String::new() } else { format!("{at}: ") };
                Error::Invalid(format!("{place}{}. {name} takes {takes}", error.into_inner()))
            })?;
            let (answer, aside) = verb(call, given)?;
            let value = serde_json::to_value(answer)
                .map_err(|error| Error::Bug(format!("cannot write a result as JSON: {error}")))?;
            Ok(ToolResult { value, aside })
        };
        Self { name, scope, toolset: None, is_text_only: false, is_told: false, shown, verb: Arc::new(run) }
    }

    /// Requires another scope.
    pub(super) fn needs(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    /// Shows the tool only with a toolset.
    pub(super) fn of(self, toolset: Toolset) -> Self {
        Self { toolset: Some(toolset), ..self }
    }

    /// Marks the tool as idempotent.
    pub(super) fn idempotent(mut self) -> Self {
        self.shown.annotations = self.shown.annotations.map(|hints| hints.idempotent(true));
        self
    }

    /// Sends the result as text only.
    pub(super) fn text_only(mut self) -> Self {
        self.shown.output_schema = None;
        Self { is_text_only: true, ..self }
    }

    /// Sends the result verbatim, in sentences that models are trained on.
    pub(super) fn telling(mut self) -> Self {
        self.shown.output_schema = None;
        Self { is_told: true, ..self }
    }

    /// True if the caller can see the tool.
    pub(super) fn is_for(&self, guest: &McpCaller) -> bool {
        guest.may(self.scope) && self.toolset.is_none_or(|toolset| guest.toolsets.contains(&toolset))
    }

    pub(super) fn shown(&self) -> Shown {
        self.shown.clone()
    }

    /// Answers a call. Errors are results too, because a model can act on them.
    pub(super) fn answer(&self, call: &Call<'_>, given: JsonObject) -> CallToolResult {
        match (self.verb)(call, given) {
            Ok(ToolResult { value, .. }) if self.is_told => {
                let told = vec![ContentBlock::text(value["content"].as_str().unwrap_or_default())];
                if value["is_error"] == true { CallToolResult::error(told) } else { CallToolResult::success(told) }
            }
            Ok(ToolResult { value, aside }) => {
                let mut content = vec![ContentBlock::text(value.to_string())];
                content.extend(aside.map(ContentBlock::text));
                let mut result = CallToolResult::success(content);
                result.structured_content = (!self.is_text_only).then_some(value);
                result
            }
            Err(error) => fault(&error),
        }
    }
}

/// An error as a result, with advice for the model.
pub(super) fn fault(error: &Error) -> CallToolResult {
    let then = match error {
        Error::Invalid(_) => "Change the arguments and call again.",
        Error::NotFound(_) => "Look it up with search_memories or list_memories first.",
        Error::Refused(_) => "Calling again changes nothing.",
        Error::Conflict(_) | Error::Stale(_) | Error::Unavailable(_) => "It may work later.",
        Error::Corrupt(_) | Error::Bug(_) => "Tell the user.",
    };
    CallToolResult::error(vec![ContentBlock::text(format!("{error}. {then}"))])
}

/// All tools, in the order of the list.
pub(super) fn all() -> &'static [Tool] {
    static ALL: LazyLock<Vec<Tool>> = LazyLock::new(tools::all);
    &ALL
}

fn schema<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    match settings.into_generator().into_root_schema_for::<T>().to_value() {
        Value::Object(mut schema) => {
            schema.remove("title");
            schema
        }
        _ => JsonObject::new(),
    }
}

/// Simplifies an input schema for clients with limited support of JSON Schema: optional fields need not accept null,
/// and number formats are dropped.
fn plain(schema: JsonObject) -> JsonObject {
    fn simpler(value: Value) -> Value {
        match value {
            Value::Object(members) => {
                let mut members: JsonObject = members.into_iter().map(|(name, value)| (name, simpler(value))).collect();
                if let Some(Value::Array(types)) = members.get("type") {
                    let kept: Vec<&Value> = types.iter().filter(|kind| *kind != "null").collect();
                    if let [only] = kept.as_slice() {
                        let only = (*only).clone();
                        members.insert("type".to_owned(), only);
                    }
                }
                if let Some(Value::Array(kinds)) = members.get("anyOf") {
                    let kept: Vec<&Value> = kinds.iter().filter(|kind| kind["type"] != "null").collect();
                    if let [Value::Object(only)] = kept.as_slice() {
                        let only = only.clone();
                        members.remove("anyOf");
                        members.extend(only.into_iter().filter(|(name, _)| name != "description"));
                    }
                }
                if members.get("format").is_some_and(|format| format.as_str().is_some_and(|it| it.starts_with("uint")))
                {
                    members.remove("format");
                }
                if members.get("default") == Some(&Value::Null) {
                    members.remove("default");
                }
                Value::Object(members)
            }
            Value::Array(values) => Value::Array(values.into_iter().map(simpler).collect()),
            other => other,
        }
    }
    match simpler(Value::Object(schema)) {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}

/// Describes a tool's arguments in words.
fn takes(schema: &JsonObject) -> String {
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let names: Vec<String> = schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, _)| if required.contains(&name.as_str()) { format!("{name} (required)") } else { name.clone() })
        .collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}
