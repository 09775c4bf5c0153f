//! Assigns questions to memories, and records whether the memory answers them.

use quipu_engine::{Error, Result};

use super::super::corpus::{Corpus, CorpusKind, PreparedMemory};

/// A question and the memory it is put to.
pub(super) struct Put<'a> {
    pub(super) id: String,
    /// The conversation of the question; a fit on it is not tested with the question.
    pub(super) conversation: &'a str,
    pub(super) to: &'a PreparedMemory<'a>,
    pub(super) question: String,
    pub(super) answerable: bool,
}

/// All questions of a file. LoCoMo has no unanswerable questions of its own here, so each of its questions is put to
/// its own conversation, which answers it, and, with names replaced, to another one, which does not.
///
/// # Errors
/// `Invalid` for a LoCoMo file with a single conversation.
pub(super) fn put<'a>(corpus: &Corpus, subjects: &'a [PreparedMemory<'a>]) -> Result<Vec<Put<'a>>> {
    let mut all = Vec::new();
    if corpus.kind == CorpusKind::Locomo && subjects.len() < 2 {
        let advice = "a question is put to another conversation, and what is fitted on one is judged on another";
        return Err(Error::Invalid(format!("the file has fewer than two conversations: {advice}")));
    }
    for (place, own) in subjects.iter().enumerate() {
        let conversation = own.told.user.as_str();
        for asked in own.told.asked.iter().filter(|asked| corpus.kind != CorpusKind::Locomo || !asked.gold.is_empty()) {
            let (id, question, answerable) = (asked.id.clone(), asked.question.clone(), asked.answerable);
            all.push(Put { id, conversation, to: own, question, answerable });
            if corpus.kind == CorpusKind::Locomo {
                // All other conversations get an equal share, and either speaker may replace the other.
                let other = &subjects[(place + 1 + asked.number % (subjects.len() - 1)) % subjects.len()];
                let speakers = [&own.heard.speakers[..], &other.heard.speakers];
                all.push(Put {
                    id: format!("{} to {}", asked.id, other.told.user),
                    conversation,
                    to: other,
                    question: renamed(&asked.question, speakers, asked.number % 2),
                    answerable: false,
                });
            }
        }
    }
    Ok(all)
}

/// Replaces the names of one conversation in a question by those of another.
fn renamed(question: &str, [from, to]: [&[String]; 2], turn: usize) -> String {
    let mut text = question.to_owned();
    // In two steps, so that a name common to both conversations is not replaced twice.
    let mark = |at: usize| format!("\u{0}{at}\u{0}");
    for (at, name) in from.iter().enumerate() {
        text = text.replace(name.as_str(), &mark(at));
    }
    for at in 0..from.len() {
        let name = to.get((at + turn) % to.len().max(1)).map_or("they", String::as_str);
        text = text.replace(&mark(at), name);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_change_places_at_once() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let (from, to) = (names(&["Ana", "Ben"]), names(&["Ben", "Cleo"]));
        assert_eq!(renamed("Did Ana meet Ben's aunt?", [&from, &to], 0), "Did Ben meet Cleo's aunt?");
        assert_eq!(renamed("Did Ana meet Ben's aunt?", [&from, &to], 1), "Did Cleo meet Ben's aunt?");
    }
}
