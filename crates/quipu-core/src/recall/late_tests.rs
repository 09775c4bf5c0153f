use std::sync::Arc;

use super::*;
use crate::id::{ItemId, ItemKind};
use crate::source::{Role, Source};
use crate::text::tokens;

/// Words of one line are synonyms; any other word has its own meaning.
const SAME: [&[&str]; 3] = [&["dog", "puppy"], &["car", "automobile"], &["colour", "red"]];

/// Vectors of different meanings are far apart.
fn vector(word: &str) -> Vec<f32> {
    let meaning = SAME.iter().find(|words| words.contains(&word)).map_or(word, |words| words[0]);
    let mut bytes = [0; 256];
    blake3::Hasher::new().update(meaning.as_bytes()).finalize_xof().fill(&mut bytes);
    bytes.iter().map(|byte| f32::from(*byte) - 127.5).collect()
}

fn tokens_of(text: &str) -> Vec<(String, Vec<f32>)> {
    tokens::words(text).into_iter().map(|word| (word.lower.clone(), vector(&word.lower))).collect()
}

fn borrowed(tokens: &[(String, Vec<f32>)]) -> impl Iterator<Item = (&str, &[f32])> {
    tokens.iter().map(|(word, vector)| (word.as_str(), vector.as_slice()))
}

/// One conversation; passage vectors carry no information, so that words and tokens alone decide.
fn index(texts: &[&str], with_codes: bool) -> Index {
    let mut index = Index::new(2, "tokens/v1");
    for (number, text) in (0..).zip(texts) {
        index.add(
            number,
            &Source {
                id: ItemId { kind: ItemKind::Turn, bits: u64::from(number) },
                session: Some(Arc::from("s")),
                topic: None,
                role: Role::User,
                author: Some("Ana".into()),
                said_at: None,
                text: (*text).into(),
                artifacts: Vec::new(),
                native_id: None,
            },
        );
        let codes = if with_codes { token_codes(borrowed(&tokens_of(text))) } else { Vec::new() };
        assert!(index.set_vector(number, text, &[1.0, 0.0], &codes));
    }
    index
}

fn ask(index: &Index, question: &str) -> Recall {
    let query =
        Query { text: question.to_owned(), k: 10, now: None, filter: Filter::default(), validity: None, intent: None };
    let plan = QueryPlan::new(index, query).unwrap_or_else(|refusal| panic!("{refusal}"));
    let tokens = QueryTokens::new(borrowed(&tokens_of(&plan.first_person_text)));
    recall(
        index,
        &plan,
        &Meaning { vector: Some(vec![0.0, 1.0]), tokens, ..Meaning::default() },
        &RankOptions::default(),
    )
}

#[test]
fn a_word_is_found_by_its_meaning() {
    let texts = ["The weather is fine.", "We got a puppy for the children.", "They sleep well."];
    let found = ask(&index(&texts, true), "Who has a dog?");
    assert_eq!(found.trace.compared, 3);
    assert_eq!(found.hits[0].ordinal, 1, "{found:#?}");
    let [best, other] = [&found.hits[0].contributions, &found.hits[1].contributions];
    assert!(best.late > 2.0 * other.late && best.n == 0.0, "{found:#?}");
    assert_eq!(found.hits[0].score, found.hits[0].contributions.sum());
}

#[test]
fn neighbours_complete_what_a_passage_covers() {
    let texts =
        ["Tell me of your automobile.", "It is red.", "Bread needs flour.", "Rice needs water.", "Red paint dries."];
    let found = ask(&index(&texts, true), "colour car?");
    let near =
        |ordinal| found.hits.iter().find(|hit| hit.ordinal == ordinal).map_or(0.0, |hit| hit.contributions.late_near);
    // Both words in two neighbours, against one of them alone.
    assert!(near(1) > 1.5 * near(4) && near(0) == near(1), "{found:#?}");
}

#[test]
fn without_tokens_there_is_one_stage() {
    let texts = ["We got a dog.", "They sleep well."];
    for (with_codes, question) in [(false, "Who has a dog?"), (true, "...?")] {
        let found = ask(&index(&texts, with_codes), question);
        assert_eq!(found.trace.compared, 0, "{question}");
        assert!(found.hits.iter().all(|hit| hit.contributions.late == 0.0 && hit.contributions.late_near == 0.0));
    }
}

#[test]
fn only_the_best_of_the_first_stage_are_compared() {
    let texts = vec!["We got a puppy."; 3 * crate::limit::LATE_PASSAGES];
    let found = ask(&index(&texts, true), "Who has a dog?");
    assert_eq!(found.trace.compared, crate::limit::LATE_PASSAGES);
}

#[test]
fn codes_survive_the_image_and_a_new_index() {
    let texts = ["We got a puppy.", "", "They sleep well, all of them, every night."];
    let index = index(&texts, true);
    let image = index.encode();
    assert_eq!(Index::decode(&image).as_ref(), Ok(&index));
    assert_eq!(index.vector(2).map(|vector| vector.codes.len()), Some(4), "they, all, of and them tell nothing");
    assert_eq!(index.vector(1).map(|vector| vector.codes.len()), Some(0));
}
