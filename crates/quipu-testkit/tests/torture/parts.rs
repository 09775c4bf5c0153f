//! What the engines of a torture are made of besides the store.

use quipu_core::extract::{Extraction, Reading};
use quipu_core::growth::NoteProposed;
use quipu_engine::ports::{ExtractError, Extractor, Looked, NameProposed, ReflectError, Reflector, Unnamed};
use quipu_models::RuleExtractor;

/// A second reader, in the place of a language model.
pub(crate) struct SecondReader(pub(crate) RuleExtractor);

impl Extractor for SecondReader {
    fn id(&self) -> &str {
        "second reader/v1"
    }

    fn read(&self, reading: &Reading<'_>) -> Result<Extraction, ExtractError> {
        // Others go on meanwhile, as they do while a model is asked.
        std::thread::yield_now();
        self.0.read(reading)
    }
}

/// Proposes a note on the first two things that were said.
pub(crate) struct Reviewer;

impl Reflector for Reviewer {
    fn id(&self) -> &str {
        "reviewer/v1"
    }

    fn reflect(&self, looked: &Looked) -> Result<Vec<NoteProposed>, ReflectError> {
        std::thread::yield_now();
        let evidence: Vec<_> = looked.said.iter().take(2).map(|said| said.id).collect();
        Ok(vec![NoteProposed { text: "The user keeps words about places and tea".to_owned(), evidence }])
    }

    fn name(&self, _: &Unnamed) -> Result<NameProposed, ReflectError> {
        Err(ReflectError::Malformed("it names nothing".to_owned()))
    }
}
