//! Profiles: named sets of all recall parameters.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::UserId;
use crate::recall::answer::calibration::{Calibration, VerdictThresholds};
use crate::recall::answer::reliability::{self, ReliabilityBin};
use crate::recall::rank::score::{Features, Weights};
use crate::refusal::Refusal;

/// How answers are compared with the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Similarity {
    /// The weighted sum of all features as a share of the maximum.
    Match,
    /// The cosine alone.
    Cosine,
}

/// How answers are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// By relevance.
    Relevance,
    /// By relevance times confidence.
    Priority,
}

/// Weights of relevance, a weighted sum of six scores, each 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Relevance {
    /// The [`Similarity`] to the question.
    pub query: f64,
    /// The cosine with the active goal.
    pub goal: f64,
    /// Similarity of the valence of question and answer.
    pub emotion: f64,
    /// `exp(−age / τ)`.
    pub recency: f64,
    /// `1 − exp(−times seen / 3)`.
    pub frequency: f64,
    /// Importance by kind and type.
    pub importance: f64,
}

/// Weights of confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confidence {
    /// Confidence before any question.
    pub base: f64,
    /// The cosine with the question.
    pub similarity: f64,
    /// Number of others that agree.
    pub votes: f64,
    /// Reliability of its source.
    pub source: f64,
}

/// Time constants of recency, in days.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Aging {
    /// τ of episodes and sources.
    pub episodic_days: f64,
    /// τ of facts, notes and tenets.
    pub profile_days: f64,
}

/// A set of parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Weights for finding and matching passages.
    #[serde(rename = "match")]
    pub matching: Weights,
    /// How answers are compared with the question.
    pub similarity: Similarity,
    /// How they are ordered.
    pub order: Order,
    /// Weights of relevance.
    pub relevance: Relevance,
    /// Weights of confidence.
    pub confidence: Confidence,
    /// Time constants of recency.
    pub aging: Aging,
    /// λ of maximal marginal relevance (Carbonell and Goldstein 1998): 1 takes the best, lower values favour diversity.
    pub diversity: f64,
    /// Maps signals to the probability that memory answers, after the token stage.
    pub calibration: Calibration,
    /// The same for a model without tokens.
    pub calibration_without_tokens: Calibration,
    /// The same for memories of conversations with an assistant, after the token stage.
    pub calibration_of_assistant: Calibration,
    /// The measured reliability of `calibration`; empty if not measured.
    pub reliability: Vec<ReliabilityBin>,
    /// Thresholds of the verdicts.
    pub decision: VerdictThresholds,
}

/// Fitted by `quipu eval calibrate` on LoCoMo; docs/benchmarks.md has the command and the curve.
const CALIBRATION: Calibration = Calibration {
    bias: -8.779,
    weights: [-0.153, 0.719, 4.323, 10.289, 3.461, -0.583, 4.395, 9.889, 1.480, 0.032, 2.0],
};
const CALIBRATION_WITHOUT_TOKENS: Calibration =
    Calibration { bias: -5.819, weights: [2.904, 0.890, 7.621, 0.0, 0.0, 0.023, 3.274, -1.841, 1.713, -0.004, 3.484] };
/// Fitted on BEAM's development chats and those of eight invented people: their own questions against those of another
/// chat and near misses. Signals for an answer never have negative weights; the bias assumes that most questions have
/// an answer.
const CALIBRATION_OF_ASSISTANT: Calibration =
    Calibration { bias: -1.878, weights: [0.0, 0.0, 3.139, 0.0, 2.087, 0.0, 1.0, 0.0, 0.796, -0.361, 2.0] };

impl Default for Profile {
    /// Tuned by evaluation: relevance is the match, and the other scores break ties.
    fn default() -> Self {
        Self {
            matching: Weights::default(),
            similarity: Similarity::Match,
            order: Order::Relevance,
            relevance: Relevance {
                query: 1.0,
                goal: 0.01,
                emotion: 0.0,
                recency: 0.004,
                frequency: 0.004,
                importance: 0.004,
            },
            confidence: Confidence { base: 0.40, similarity: 0.20, votes: 0.25, source: 0.15 },
            aging: Aging { episodic_days: 7.0, profile_days: 30.0 },
            diversity: 1.0,
            calibration: CALIBRATION,
            calibration_without_tokens: CALIBRATION_WITHOUT_TOKENS,
            calibration_of_assistant: CALIBRATION_OF_ASSISTANT,
            reliability: reliability::built_in(),
            decision: VerdictThresholds::default(),
        }
    }
}

impl Profile {
    /// The unmodified formula of the original design: nearest vectors, its weights, ordered by priority, diversified.
    pub fn seed() -> Self {
        let cosine = Features { x: 1.0, ..Features::default() };
        Self {
            matching: Weights { first: cosine, late: None, assistant: None, other_language: None },
            similarity: Similarity::Cosine,
            order: Order::Priority,
            relevance: Relevance {
                query: 0.45,
                goal: 0.15,
                emotion: 0.10,
                recency: 0.10,
                frequency: 0.10,
                importance: 0.10,
            },
            diversity: 0.7,
            reliability: Vec::new(),
            ..Self::default()
        }
    }

    /// Drops the reliability curve if the parameters it was measured with have changed.
    fn forget_curve_of(&mut self, base: &Self) {
        let is_as_measured = self.matching == base.matching && self.calibration == base.calibration;
        if !is_as_measured && self.reliability == base.reliability {
            self.reliability.clear();
        }
    }

    fn check(&self, name: &str) -> Result<(), Refusal> {
        let wrong = |what: &str, must: &str| Err(Refusal::invalid(format!("profile `{name}`: {what} must be {must}")));
        let mut value =
            serde_json::to_value(self).map_err(|error| Refusal::invalid(format!("profile `{name}`: {error}")))?;
        if !self.reliability.iter().all(ReliabilityBin::is_sound) {
            return wrong("reliability", "bins with `stated` and `answerable` between 0 and 1 and `questions` above 0");
        }
        // Numbers of questions are not bounded parameters.
        value.as_object_mut().and_then(|members| members.remove("reliability"));
        let mut path = String::new();
        if !all_bounded(&value, &mut path) {
            return wrong(path.trim_start_matches('.'), "a number between −100 and 100");
        }
        if !(0.0..=1.0).contains(&self.diversity) {
            return wrong("diversity", "between 0 and 1");
        }
        if self.aging.episodic_days <= 0.0 || self.aging.profile_days <= 0.0 {
            return wrong("aging", "more than 0 days");
        }
        let VerdictThresholds { abstain_below, answer_from, confident_from } = self.decision;
        if !(0.0..=1.0).contains(&abstain_below) || !(abstain_below..=1.0).contains(&answer_from) {
            return wrong("decision", "0 ≤ abstain_below ≤ answer_from ≤ 1");
        }
        if !(0.0..=1.0).contains(&confident_from) {
            return wrong("decision.confident_from", "between 0 and 1");
        }
        Ok(())
    }
}

/// Maximum absolute value of a parameter: large enough for any weight, and sums do not overflow.
const KNOB_MAX: f64 = 100.0;

/// Returns true if every number in a value is valid; otherwise `path` is that of the first invalid one.
fn all_bounded(value: &Value, path: &mut String) -> bool {
    match value {
        Value::Number(number) => number.as_f64().is_some_and(|number| number.abs() <= KNOB_MAX),
        // Invalid numbers such as NaN are serialised as null; only the optional stages may be null.
        Value::Null => [".late", ".assistant", ".other_language"].iter().any(|stage| path.ends_with(stage)),
        Value::Array(values) => values.iter().all(|value| all_bounded(value, path)),
        Value::Object(members) => members.iter().all(|(name, value)| {
            let length = path.len();
            path.push('.');
            path.push_str(name);
            let fine = all_bounded(value, path);
            if fine {
                path.truncate(length);
            }
            fine
        }),
        Value::String(_) | Value::Bool(_) => true,
    }
}

/// A comparison of two profiles: each user is assigned one, deterministically.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Another name assigns users anew.
    pub name: String,
    /// The profile of the other users.
    pub a: String,
    /// The profile of `share` of the users.
    pub b: String,
    /// 0 to 1.
    pub share: f64,
}

/// The available profiles and their assignment to users.
#[derive(Debug, Clone, PartialEq)]
pub struct Profiles {
    profiles: BTreeMap<String, Profile>,
    used: String,
    experiment: Option<Experiment>,
}

/// The weights file, before profiles are merged with their bases.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    #[serde(rename = "use")]
    used: Option<String>,
    experiment: Option<Experiment>,
    profiles: BTreeMap<String, Value>,
}

impl Default for Profiles {
    fn default() -> Self {
        let profiles = [("default", Profile::default()), ("seed", Profile::seed())];
        let profiles = profiles.into_iter().map(|(name, profile)| (name.to_owned(), profile)).collect();
        Self { profiles, used: "default".to_owned(), experiment: None }
    }
}

impl Profiles {
    /// Parses a weights file: `use` names the profile, `profiles` lists by name the changes of each to its `base`
    /// (default: `default`), `experiment` assigns users to two.
    ///
    /// # Errors
    /// `Invalid`, naming the profile and the parameter: an unknown parameter or profile, or a number out of range.
    pub fn parse(file: Value) -> Result<Self, Refusal> {
        if file.is_null() {
            return Ok(Self::default());
        }
        if !file.is_object() {
            return Err(Refusal::invalid("the weights: expected an object with `use`, `profiles` and `experiment`"));
        }
        let file: File =
            serde_json::from_value(file).map_err(|error| Refusal::invalid(format!("the weights: {error}")))?;
        let mut all = Self::default();
        for (name, mut change) in file.profiles {
            if matches!(name.as_str(), "default" | "seed") {
                return Err(Refusal::invalid(format!("`{name}` is built in: give your profile another name")));
            }
            let base = match change.as_object_mut().and_then(|members| members.remove("base")) {
                None => "default".to_owned(),
                Some(Value::String(base)) => base,
                Some(_) => return Err(Refusal::invalid(format!("profile `{name}`: base must be a name"))),
            };
            let unknown = |error: serde_json::Error| Refusal::invalid(format!("profile `{name}`: {error}"));
            let built_in = Self::default();
            let base = built_in.named(&base)?;
            let mut whole = serde_json::to_value(base).map_err(unknown)?;
            lay_over(&mut whole, change);
            let mut profile: Profile = serde_json::from_value(whole).map_err(unknown)?;
            profile.check(&name)?;
            profile.forget_curve_of(base);
            all.profiles.insert(name, profile);
        }
        if let Some(used) = file.used {
            all.named(&used)?;
            all.used = used;
        }
        if let Some(experiment) = file.experiment {
            all.named(&experiment.a)?;
            all.named(&experiment.b)?;
            if !(0.0..=1.0).contains(&experiment.share) {
                return Err(Refusal::invalid("experiment: share must be between 0 and 1"));
            }
            all.experiment = Some(experiment);
        }
        Ok(all)
    }

    /// The profile of that name.
    ///
    /// # Errors
    /// `NotFound`, with the available names.
    pub fn named(&self, name: &str) -> Result<&Profile, Refusal> {
        let names = || self.profiles.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        self.profiles
            .get(name)
            .ok_or_else(|| Refusal::not_found(format!("there is no profile `{name}`; there are: {}", names())))
    }

    /// Uses one profile for every user.
    ///
    /// # Errors
    /// As [`Profiles::named`].
    pub fn using(self, name: &str) -> Result<Self, Refusal> {
        self.named(name)?;
        Ok(Self { used: name.to_owned(), experiment: None, ..self })
    }

    /// The available names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.profiles.keys().map(String::as_str)
    }

    /// The names of the profiles that some user may be assigned.
    pub fn in_use(&self) -> Vec<&str> {
        match &self.experiment {
            None => vec![&self.used],
            Some(experiment) if experiment.a == experiment.b => vec![&experiment.a],
            Some(experiment) => vec![&experiment.a, &experiment.b],
        }
    }

    /// The name of a user's profile: by the experiment if there is one, always the same.
    pub fn name_for(&self, user: &UserId) -> &str {
        match &self.experiment {
            None => &self.used,
            Some(experiment) if draw(&experiment.name, user) < experiment.share => &experiment.b,
            Some(experiment) => &experiment.a,
        }
    }
}

/// A number in 0 … 1 that depends on the experiment and the user alone.
fn draw(experiment: &str, user: &UserId) -> f64 {
    let mut hasher = blake3::Hasher::new_derive_key("quipu experiment v1");
    hasher.update(&(experiment.len() as u64).to_le_bytes()).update(experiment.as_bytes());
    hasher.update(user.as_str().as_bytes());
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..4]);
    f64::from(u32::from_le_bytes(bytes)) / (f64::from(u32::MAX) + 1.0)
}

fn lay_over(whole: &mut Value, change: Value) {
    match (whole, change) {
        (Value::Object(whole), Value::Object(change)) => {
            for (name, value) in change {
                lay_over(whole.entry(name).or_insert(Value::Null), value);
            }
        }
        (whole, change) => *whole = change,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_file_changes_what_it_names_and_keeps_the_rest() {
        let file = json!({
            "use": "fresh",
            "profiles": {
                "fresh": {"relevance": {"recency": 0.2}, "match": {"first": {"x": 3.0}}},
                "plain": {"base": "seed", "diversity": 1.0},
            },
        });
        let all = Profiles::parse(file).unwrap_or_else(|refusal| panic!("{refusal}"));
        let fresh = all.named("fresh").unwrap_or_else(|refusal| panic!("{refusal}"));
        let mut expected = Profile::default();
        expected.relevance.recency = 0.2;
        expected.matching.first.x = 3.0;
        expected.reliability.clear();
        assert_eq!(*fresh, expected);
        assert_eq!(all.named("plain").map(|plain| plain.similarity), Ok(Similarity::Cosine));
        let user = UserId::parse("ana").unwrap_or_else(|_| panic!());
        assert_eq!(all.name_for(&user), "fresh");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (file, says) in [
            (json!({"profiles": {"a": {"relevence": {}}}}), "relevence"),
            (json!({"profiles": {"a": {"relevance": {"recency": "much"}}}}), "profile `a`"),
            (json!({"profiles": {"a": {"relevance": {"recency": 1e9}}}}), "relevance.recency"),
            (json!({"profiles": {"a": {"relevance": {"recency": null}}}}), "profile `a`"),
            (json!({"profiles": {"a": {"diversity": 2}}}), "diversity"),
            (json!({"profiles": {"a": {"aging": {"episodic_days": 0}}}}), "aging"),
            (json!({"profiles": {"a": {"decision": {"answer_from": 0.1}}}}), "abstain_below ≤ answer_from"),
            (json!({"profiles": {"a": {"base": "b"}}}), "there are: default, seed"),
            (json!({"profiles": {"seed": {}}}), "built in"),
            (
                json!({"profiles": {"a": {"reliability": [{"stated": 2, "answerable": 1, "questions": 3}]}}}),
                "reliability",
            ),
            (json!({"use": "mine"}), "there is no profile `mine`"),
            (json!({"experiment": {"name": "x", "a": "default", "b": "seed", "share": 1.5}}), "share"),
            (json!([]), "the weights"),
        ] {
            let refusal = Profiles::parse(file.clone()).err().map(|refusal| refusal.to_string()).unwrap_or_default();
            assert!(refusal.contains(says), "{file}: {refusal:?} does not say {says:?}");
        }
    }

    #[test]
    fn a_curve_stays_with_the_numbers_it_was_measured_with() {
        let own = json!([{"stated": 0.2, "answerable": 0.3, "questions": 400}]);
        let fitted = json!({"bias": -1.0, "weights": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]});
        let file = json!({"profiles": {
            "fresh": {"relevance": {"recency": 0.2}},
            "matched": {"match": {"first": {"x": 3.0}}},
            "fitted": {"calibration": fitted},
            "measured": {"calibration": fitted, "reliability": own},
            "slow": {"base": "seed"},
        }});
        let all = Profiles::parse(file).unwrap_or_else(|refusal| panic!("{refusal}"));
        let length = |name: &str| all.named(name).map(|profile| profile.reliability.len());
        for (name, stretches) in
            [("default", 10), ("fresh", 10), ("matched", 0), ("fitted", 0), ("measured", 1), ("slow", 0)]
        {
            assert_eq!(length(name), Ok(stretches), "{name}");
        }
        assert_eq!(all.in_use(), ["default"]);
    }

    #[test]
    fn users_are_dealt_by_share_and_stay_where_they_are() {
        let file = json!({"experiment": {"name": "x", "a": "default", "b": "seed", "share": 0.25}});
        let all = Profiles::parse(file).unwrap_or_else(|refusal| panic!("{refusal}"));
        let user = |number: u32| UserId::parse(&format!("user-{number}")).unwrap_or_else(|_| panic!());
        let of_b = (0..2000).filter(|number| all.name_for(&user(*number)) == "seed").count();
        assert!((430..570).contains(&of_b), "{of_b} of 2000");
        assert_eq!(all.name_for(&user(7)), all.clone().name_for(&user(7)));
    }
}
