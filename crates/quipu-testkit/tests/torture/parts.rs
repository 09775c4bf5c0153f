//! The ports of the engines under test, apart from the store.

use quipu_core::extract::Reading;
use quipu_core::extract::window::{ModelReply, Operation, Window};
use quipu_core::growth::NoteProposed;
use quipu_core::id::UserId;
use quipu_engine::ports::{
    ExtractError, Extractor, Looked, NameProposed, ReflectError, Reflector, Unnamed, WindowReader,
};
use quipu_models::RuleExtractor;

/// Reads windows by rules instead of a language model.
pub(crate) struct SecondReader(pub(crate) RuleExtractor);

impl WindowReader for SecondReader {
    fn id(&self) -> &str {
        "second reader/v1"
    }

    fn read(&self, _: &UserId, window: &Window) -> Result<ModelReply, ExtractError> {
        // Lets other threads run, as during a call of a model.
        std::thread::yield_now();
        let mut answer = ModelReply::default();
        for message in window.messages.iter().filter(|message| message.is_new) {
            let reading = Reading::of_user(&message.text, message.said_at);
            let found = self.0.read(&reading)?;
            answer.operations.extend(found.facts.into_iter().map(|fact| Operation {
                about: fact.subject,
                sentence: format!("{} {}", fact.predicate, fact.object),
                relation: fact.predicate,
                value: fact.object,
                message: message.mark.clone(),
                quote: message.text[fact.span].to_owned(),
                ..Operation::default()
            }));
        }
        Ok(answer)
    }
}

/// Proposes a note on the first two messages.
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
