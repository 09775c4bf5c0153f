//! Embeds passages and questions in the form that recall uses.

use quipu_core::recall::{EmbeddingInput, Meaning, QueryTokens, TokenCode, token_codes};

use std::sync::Arc;

use crate::engine::Engine;
use crate::error::Result;
use crate::ports::{Embedder, Token};
use crate::process::deadline::Deadline;

/// The vector of a passage, and the codes of its own tokens; tokens of the preceding passage only provide context.
pub(crate) type Understood = (Vec<f32>, Vec<TokenCode>);

/// Embeds passages.
pub(crate) fn of_passages(embedder: &dyn Embedder, inputs: &[(u32, EmbeddingInput)]) -> Result<Vec<Understood>> {
    let texts: Vec<&str> = inputs.iter().map(|(_, input)| input.text.as_str()).collect();
    let embedded = embedder.embed_tokens(&texts)?;
    // Start and end token are part of the count but not of the list of tokens.
    let apart = embedder.count_tokens("");
    let own = |input: &EmbeddingInput| match input.own {
        0 => 0,
        own => embedder.count_tokens(&input.text[..own]).saturating_sub(apart),
    };
    let codes = |tokens: &[Token], from: usize| token_codes(tokens.iter().skip(from).map(word_and_vector));
    let understood = inputs.iter().zip(embedded);
    Ok(understood.map(|((_, input), made)| (made.vector, codes(&made.tokens, own(input)))).collect())
}

/// Embeds a question and its goal. The error text says why the embedder failed or was late.
pub(crate) fn of_question(
    engine: &Engine,
    text: &str,
    goal: Option<&str>,
    deadline: Deadline,
) -> std::result::Result<Meaning, String> {
    let embedder = Arc::clone(&engine.embedder);
    let texts: Vec<String> = std::iter::once(text).chain(goal).map(str::to_owned).collect();
    let embedded = engine.late.within(deadline, move || {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        embedder.embed_tokens(&texts)
    });
    let embedded = embedded.map_err(|missed| format!("the embedding model {}", missed.words()))?;
    let mut made = embedded.map_err(|error| error.to_string())?.into_iter();
    let (made, goal) = (made.next(), made.next().map(|goal| goal.vector));
    let tokens = made.as_ref().and_then(|made| QueryTokens::new(made.tokens.iter().map(word_and_vector)));
    Ok(Meaning { tokens, vector: made.map(|made| made.vector), goal, is_foreign: false })
}

fn word_and_vector(token: &Token) -> (&str, &[f32]) {
    (&token.word, &token.vector)
}
