//! Names for proposed categories from a language model. Without a model, or if its name is not valid, the name is
//! derived by rule.

use std::collections::BTreeMap;
use std::time::Duration;

use quipu_core::Memory;
use quipu_core::evolve::{self, Candidate, Suggestion, Survey};
use quipu_core::limit;
use serde_json::Value;

use crate::engine::Engine;
use crate::memory::OpenMemory;
use crate::ports::{NameProposed, ReflectError, Unnamed};

/// The names a model gave, by pattern.
#[derive(Debug, Default)]
pub(crate) struct Names {
    said: BTreeMap<String, Suggestion>,
    /// Id of the model.
    by: String,
    /// Why some patterns have no name.
    pub(crate) faults: Vec<String>,
}

impl Names {
    /// Requests names for due patterns, if a model is configured. The memory is not locked meanwhile.
    pub(crate) fn asked(engine: &Engine, open: &OpenMemory, due: &[&Survey]) -> Self {
        let mut names = Self::default();
        let Some(reflector) = engine.optional.reflector.as_deref() else { return names };
        reflector.id().clone_into(&mut names.by);
        let unnamed: Vec<(Unnamed, Vec<String>)> = {
            let state = open.read();
            due.iter().filter_map(|survey| unnamed(&state.memory, survey)).take(limit::NAMED_MAX).collect()
        };
        for (one, places) in unnamed {
            match reflector.name(&one) {
                Ok(NameProposed { name, description, fields }) => {
                    let place = |(line, field): (usize, String)| Some((places.get(line)?.clone(), field));
                    let fields = fields.into_iter().filter_map(place).collect();
                    names.said.insert(one.key, Suggestion { name, description, fields });
                }
                Err(ReflectError::Malformed(fault)) => names.faults.push(format!("{}: {fault}", one.key)),
                Err(ReflectError::Unavailable(fault)) => {
                    names.faults.push(fault);
                    break;
                }
            }
        }
        names
    }

    /// The name and fields of a pattern, with the id of the model, if the name is valid in this memory.
    pub(crate) fn of(&mut self, engine: &Engine, memory: &Memory, found: &Candidate) -> Option<(Suggestion, &str)> {
        let key = found.key.as_str();
        let said = self.said.get(key)?;
        match evolve::suggested(memory, engine.desk(memory).categories(), found, said) {
            Ok(named) => Some((named, &self.by)),
            Err(refusal) => {
                self.faults.push(format!("{key}: {refusal}"));
                self.said.remove(key);
                None
            }
        }
    }
}

/// The model's input for a pattern, with the pointers of its lines; `None` for a pattern that belongs to an existing
/// category.
fn unnamed(memory: &Memory, survey: &Survey) -> Option<(Unnamed, Vec<String>)> {
    let by_rule = survey.proposed.as_ref()?;
    let taken: Vec<String> = memory.schema().categories().map(|(name, _)| name.to_owned()).collect();
    let shown = |pointer: &String| {
        let value = memory.core().pointer(pointer)?;
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let text: String = text.chars().take(limit::NAMED_CHARS_MAX).collect();
        Some((format!("{pointer}: {text}"), pointer.clone()))
    };
    let members = survey.candidate.members.iter().filter_map(shown).take(limit::NAMED_MEMBERS_MAX);
    let (members, places): (Vec<String>, Vec<String>) = members.unzip();
    let unnamed = |members| Unnamed {
        whose: memory.user().clone(),
        key: survey.candidate.key.clone(),
        members,
        by_rule: by_rule.clone(),
        taken: taken.clone(),
        within: Duration::from_secs(limit::REFLECT_SECONDS_MAX),
    };
    (!taken.contains(&by_rule.name) && memory.core().get(&by_rule.name).is_none_or(Value::is_null))
        .then(|| (unnamed(members), places))
}
