//! Settings of language models: one table a role, which inherits from `[models.default]`. Only roles with a table of
//! their own have a model.

use std::collections::BTreeMap;
use std::time::Duration;

use quipu_core::limit;
use quipu_engine::{Error, Result};
use quipu_models::language::{Allowance, ApiKey, Endpoint, Limits, Prices, Provider};
use serde::Deserialize;

/// The role of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ModelRole {
    /// Defaults of the other roles; not a model of its own.
    Default,
    /// Extracts facts from messages.
    Extractor,
    /// Summarises sessions.
    Summarizer,
    /// Proposes notes.
    Reflector,
    /// Judges answers in evaluations.
    Judge,
    /// Replies in `quipu chat`.
    Chat,
}

impl ModelRole {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Extractor => "extractor",
            Self::Summarizer => "summarizer",
            Self::Reflector => "reflector",
            Self::Judge => "judge",
            Self::Chat => "chat",
        }
    }
}

/// One table of the settings file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    provider: Option<String>,
    base_url: Option<String>,
    model: Option<String>,
    api_key_env: Option<String>,
    deadline_ms: Option<u64>,
    idle_ms: Option<u64>,
    tokens_per_day: Option<u64>,
    money_per_day: Option<f64>,
    input_price_per_million: Option<f64>,
    output_price_per_million: Option<f64>,
}

/// A configured model.
#[derive(Debug, Clone)]
pub(crate) struct ModelSettings {
    pub(crate) role: ModelRole,
    pub(crate) endpoint: Endpoint,
    /// A problem of the configuration, found without a request.
    pub(crate) trouble: Option<String>,
}

/// Reads the tables. `variable` looks up an environment variable.
pub(super) fn read(
    tables: &BTreeMap<ModelRole, Table>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<ModelSettings>> {
    let default = tables.get(&ModelRole::Default).cloned().unwrap_or_default();
    let own = tables.iter().filter(|(role, _)| **role != ModelRole::Default);
    own.map(|(role, table)| one(*role, table.over(&default), variable)).collect()
}

impl Table {
    fn over(&self, other: &Self) -> Self {
        let (own, other) = (self.clone(), other.clone());
        // Another provider has another address, another key and other models.
        let same = own.provider.is_none() || own.provider == other.provider;
        Self {
            provider: own.provider.or(other.provider),
            base_url: own.base_url.or(other.base_url.filter(|_| same)),
            model: own.model.or(other.model.filter(|_| same)),
            api_key_env: own.api_key_env.or(other.api_key_env.filter(|_| same)),
            deadline_ms: own.deadline_ms.or(other.deadline_ms),
            idle_ms: own.idle_ms.or(other.idle_ms),
            tokens_per_day: own.tokens_per_day.or(other.tokens_per_day),
            money_per_day: own.money_per_day.or(other.money_per_day),
            input_price_per_million: own.input_price_per_million.or(other.input_price_per_million),
            output_price_per_million: own.output_price_per_million.or(other.output_price_per_million),
        }
    }
}

fn one(role: ModelRole, table: Table, variable: &dyn Fn(&str) -> Option<String>) -> Result<ModelSettings> {
    let wrong = |why: String| Error::Invalid(format!("[models.{}]: {why}", role.as_str()));
    let word = table.provider.unwrap_or_else(|| "openai".to_owned());
    let provider = Provider::named(&word)
        .ok_or_else(|| wrong(format!("provider is openai, anthropic or ollama, not {word:?}")))?;
    // Defaults are the variables that OpenAI clients read.
    let usual = |name: &str| variable(name).filter(|_| provider == Provider::OpenAi);
    let model = table.model.or_else(|| usual("OPENAI_MODEL")).ok_or_else(|| wrong("model is not set".to_owned()))?;
    let key_name = table.api_key_env.or_else(|| match provider {
        Provider::OpenAi => Some("OPENAI_API_KEY".to_owned()),
        Provider::Anthropic => Some("ANTHROPIC_API_KEY".to_owned()),
        Provider::Ollama => None,
    });
    let mut endpoint = Endpoint::new(provider, model);
    if let Some(base_url) = table.base_url.or_else(|| usual("OPENAI_BASE_URL")) {
        endpoint.base_url = base_url.trim_end_matches('/').to_owned();
    }
    endpoint.key = key_name.as_deref().and_then(variable).map(ApiKey::new);
    let trouble = match &key_name {
        Some(name) if endpoint.key.is_none() && provider.needs_key(&endpoint.base_url) => {
            Some(format!("{name} is not set in the environment: no key is sent"))
        }
        _ => None,
    };
    let positive = |what: &str, number: Option<f64>| match number {
        Some(number) if !(number.is_finite() && number >= 0.0) => Err(wrong(format!("{what} must be a number from 0"))),
        other => Ok(other),
    };
    endpoint.prices = Prices {
        input_per_million: positive("input_price_per_million", table.input_price_per_million)?.unwrap_or(0.0),
        output_per_million: positive("output_price_per_million", table.output_price_per_million)?.unwrap_or(0.0),
    };
    let money_per_day = positive("money_per_day", table.money_per_day)?;
    if money_per_day.is_some() && endpoint.prices == Prices::default() {
        return Err(wrong(
            "money_per_day bounds nothing without input_price_per_million and \
                          output_price_per_million"
                .to_owned(),
        ));
    }
    endpoint.allowance = Allowance { tokens_per_day: table.tokens_per_day, money_per_day };
    let mut usual = Limits::default();
    if role == ModelRole::Summarizer {
        usual.total = Duration::from_secs(limit::SUMMARY_SECONDS);
    }
    let millis = |given: Option<u64>, usual: Duration| given.map_or(usual, Duration::from_millis);
    endpoint.limits =
        Limits { total: millis(table.deadline_ms, usual.total), idle: millis(table.idle_ms, usual.idle), ..usual };
    Ok(ModelSettings { role, endpoint, trouble })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests {
    use super::*;

    fn parse(text: &str, variables: &[(&str, &str)]) -> Result<Vec<ModelSettings>> {
        let tables: BTreeMap<ModelRole, Table> =
            toml::from_str(text).map_err(|error| Error::Invalid(error.to_string()))?;
        let variable =
            |name: &str| variables.iter().find(|(held, _)| *held == name).map(|(_, value)| (*value).to_owned());
        read(&tables, &variable)
    }

    #[test]
    fn a_model_exists_only_where_it_is_named_and_inherits() {
        let default = "[default]\nprovider = \"ollama\"\nmodel = \"qwen3\"\ntokens_per_day = 5\n";
        assert_eq!(parse(default, &[("OPENAI_API_KEY", "sk")]).unwrap().len(), 0, "a default is no model");
        let all =
            parse(&format!("{default}[summarizer]\n[chat]\nprovider = \"openai\"\nmodel = \"m\"\n"), &[]).unwrap();
        assert_eq!(all.iter().map(|one| one.role.as_str()).collect::<Vec<_>>(), ["summarizer", "chat"]);
        let first = &all[0].endpoint;
        assert_eq!((first.model.as_str(), first.base_url.as_str()), ("qwen3", "http://127.0.0.1:11434/v1"));
        assert_eq!((first.limits.total, first.allowance.tokens_per_day), (Duration::from_secs(8), Some(5)));
        assert!(all[0].trouble.is_none());
        let patient = parse(&format!("{default}[summarizer]\ndeadline_ms = 90000\n"), &[]).unwrap();
        assert_eq!(patient[0].endpoint.limits.total, Duration::from_secs(90), "nobody waits for it: it may be slow");
        assert_eq!(all[1].endpoint.base_url, "https://api.openai.com/v1", "another provider is another place");
        assert!(all[1].trouble.as_ref().is_some_and(|why| why.contains("OPENAI_API_KEY")));
    }

    #[test]
    fn the_usual_variables_fill_in_for_a_model_that_is_named() {
        let variables =
            [("OPENAI_API_KEY", "sk-x"), ("OPENAI_BASE_URL", "http://box:8080/v1/"), ("OPENAI_MODEL", "big")];
        let all = parse("[chat]\n", &variables).unwrap();
        assert_eq!((all[0].endpoint.model.as_str(), all[0].endpoint.base_url.as_str()), ("big", "http://box:8080/v1"));
        assert!(all[0].endpoint.key.is_some() && !format!("{all:?}").contains("sk-x"), "the key is shown");
        assert_eq!(parse("", &variables).unwrap().len(), 0);
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (text, piece) in [
            ("[chat]\nprovider = \"x\"\nmodel = \"m\"", "provider is"),
            ("[chat]\n", "model is not set"),
            ("[chat]\nmodel = \"m\"\nmoney_per_day = 1.0", "bounds nothing"),
            ("[chat]\nmodel = \"m\"\nmoney_per_day = -1.0", "from 0"),
            ("[chat]\nmodel = \"m\"\napi_key = \"sk\"", "api_key"),
            ("[poet]\nmodel = \"m\"", "poet"),
        ] {
            let error = parse(text, &[]).unwrap_err().to_string();
            assert!(error.contains(piece), "{text}: {error}");
        }
    }
}
