//! What one engine acknowledges is what the other one sees, at once.

use quipu_core::id::UserId;
use quipu_engine::erase::EraseTarget;
use quipu_engine::versions::When;
use quipu_engine::{
    ContextOptions, Engine, ListOptions, MemoryRef, RecallOptions, RememberOptions, Result, context, erase, list,
    recall,
};

use crate::said::Word;
use crate::verb::{Verb, verb};
use crate::worker::Worker;
use crate::world::user;

/// Only drawn where there are two engines; not a verb of the contents page.
pub(crate) const SEEN_AT_ONCE: Verb = verb("seen at once", 0, seen_at_once);

/// Users to whom only this is done, so that what was acknowledged is there: nobody deletes or reverts.
const CALM: usize = 6;

fn seen_at_once(w: &mut Worker<'_>) -> Result<()> {
    let calm = user(&format!("calm-{}", w.dice.below(CALM)));
    w.about = calm.to_string();
    let durable_only = w.dice.once_in(2);
    let word = w.says(MemoryRef::of(&calm), &RememberOptions { durable_only, ..RememberOptions::default() })?;
    assert!(is_listed(w.other, &calm, &word)?, "{calm}: {} is not listed by the other engine", word.word);
    let found = recall(w.other, &calm, &RecallOptions::of(&word.word))?;
    assert!(found.hits.iter().any(|hit| hit.text.contains(&word.word)), "{calm}: {} is not recalled", word.word);
    if w.dice.once_in(4) {
        w.world.said.register().kept.retain(|kept| kept.item != word.item);
        // Both have shown the words and keep them in mind.
        context(w.engine, &calm, &ContextOptions::of(&word.word))?;
        context(w.other, &calm, &ContextOptions::of(&word.word))?;
        let receipt = erase(w.engine, &calm, &[EraseTarget::Item(word.item)], "asked to", &mut |_| {})?;
        w.lags(receipt.lag.as_deref());
        for engine in [w.other, w.engine] {
            assert!(!is_listed(engine, &calm, &word)?, "{calm}: {} is listed after its erasure", word.word);
            let found = recall(engine, &calm, &RecallOptions::of(&word.word))?;
            assert!(!found.hits.iter().any(|hit| hit.text.contains(&word.word)), "{calm}: {} recalled", word.word);
            let pack = context(engine, &calm, &ContextOptions::of(&word.word))?;
            assert!(!told(&pack.text, &word.word), "{calm}: {} in {}", word.word, pack.text);
        }
        w.world.said.register().erased.push(word);
    }
    Ok(())
}

/// True if a pack tells the word, other than by repeating the question.
fn told(text: &str, word: &str) -> bool {
    text.lines().any(|line| line.contains(word) && line.len() > word.len() + 20)
}

fn is_listed(engine: &Engine, user: &UserId, word: &Word) -> Result<bool> {
    let options = ListOptions { at: When::Now, session: None, kind: None, offset: 0, limit: usize::MAX };
    let page = list(engine, user, &options)?;
    Ok(page.items.iter().any(|item| item.text.contains(&word.word)))
}
