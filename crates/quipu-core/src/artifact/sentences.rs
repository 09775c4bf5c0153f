//! Builds whole sentences from facts, and shortens texts at sentence ends.

use super::rows::FactRow;
use crate::predicate::normal;

/// Values listed by name; the others are counted.
const NAMED: usize = 4;
/// Most sentences of a summary.
const SENTENCES: usize = 3;

/// Writes facts as whole sentences of at most `most` bytes, in the given order. Values of one relation share a
/// sentence: "User likes jazz, chess and poetry."
pub(super) fn told(facts: &[FactRow], most: usize) -> String {
    let mut shapes: Vec<((&str, &str), Vec<&str>)> = Vec::new();
    for row in facts {
        let (shape, value) = parts(row);
        match shapes.iter_mut().find(|(known, _)| *known == shape && !value.is_empty()) {
            Some((_, values)) if values.iter().any(|known| normal(known) == normal(value)) => {}
            Some((_, values)) => values.push(value),
            None => shapes.push((shape, vec![value])),
        }
    }
    let sentences = shapes.iter().map(|((before, after), values)| {
        let said = format!("{before}{}{after}", listed(values));
        format!("{}.", said.trim().trim_end_matches('.'))
    });
    let mut text = String::new();
    for sentence in sentences.filter(|one| one.len() <= most).take(SENTENCES) {
        let room = if text.is_empty() { 0 } else { 1 };
        if text.len() + room + sentence.len() <= most {
            text.push_str(&" "[..room]);
            text.push_str(&sentence);
        }
    }
    text
}

/// A statement split into the text around its value, and the value. A statement that does not combine well stays whole.
fn parts(row: &FactRow) -> ((&str, &str), &str) {
    let text = row.text.trim();
    let at = text.rfind(row.object.as_str()).filter(|_| !row.object.is_empty());
    let Some(at) = at else { return ((text, ""), "") };
    let (before, after) = (&text[..at], &text[at + row.object.len()..]);
    let alone = before.ends_with(" is ")
        || before.ends_with(": ")
        || before.ends_with('“')
        || !after.trim_matches(['.', ' ']).is_empty();
    if alone || before.trim().is_empty() { ((text, ""), "") } else { ((before, ""), &row.object) }
}

/// `a`, `a and b`, `a, b, c and d`, `a, b, c, d and 3 more`.
pub(super) fn listed(values: &[&str]) -> String {
    let (named, rest) = values.split_at(values.len().min(NAMED));
    match (named, rest.len()) {
        (named, 0) => match named.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, first)) => format!("{} and {last}", first.join(", ")),
            None => String::new(),
        },
        (named, more) => format!("{} and {more} more", named.join(", ")),
    }
}

/// The leading sentences of a text that fit into `most` bytes.
pub(super) fn whole(text: &str, most: usize) -> &str {
    let text = text.trim();
    if text.len() <= most && !text.ends_with('…') {
        return text;
    }
    let mut ends = text.char_indices().filter(|(_, c)| matches!(c, '.' | '!' | '?')).map(|(at, c)| at + c.len_utf8());
    let fits = |end: &usize| *end <= most && text[*end..].starts_with(char::is_whitespace);
    &text[..ends.rfind(fits).unwrap_or(0)]
}

/// True if a summary contains more than these lines.
pub(super) fn says_more<'a>(summary: &str, lines: impl Iterator<Item = &'a str>) -> bool {
    let mut left = format!("{} ", summary.trim());
    for line in lines {
        let sentence = format!("{}. ", line.trim().trim_end_matches('.'));
        left = left.replace(&sentence, "");
    }
    !left.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::super::tests::row;
    use super::*;
    use crate::item::FactType;

    fn said(text: &str, object: &str) -> FactRow {
        FactRow { text: text.to_owned(), object: object.to_owned(), ..row(1, FactType::Preference, 0.5) }
    }

    #[test]
    fn values_of_one_relation_share_a_sentence() {
        let likes: Vec<FactRow> = ["jazz", "chess", "tea", "jazz", "snow", "owls", "rain"]
            .map(|it| said(&format!("User likes {it}"), it))
            .into();
        assert_eq!(told(&likes[..1], 200), "User likes jazz.");
        assert_eq!(told(&likes[..2], 200), "User likes jazz and chess.");
        assert_eq!(told(&likes[..4], 200), "User likes jazz, chess and tea.");
        assert_eq!(told(&likes, 200), "User likes jazz, chess, tea, snow and 2 more.");
        let mixed = [
            said("User's sister is Marta", "Marta"),
            said("User lives in Porto", "Porto"),
            said("User's sister is Ana", "Ana"),
        ];
        assert_eq!(told(&mixed, 200), "User's sister is Marta. User lives in Porto. User's sister is Ana.");
    }

    #[test]
    fn no_sentence_is_cut() {
        let long = "very ".repeat(60);
        let rows = [said(&format!("User likes {long}"), &long), said("User lives in Porto", "Porto")];
        assert_eq!(told(&rows, 200), "User lives in Porto.");
        assert_eq!(told(&rows, 10), "");
        let two = [said("User lives in Porto", "Porto"), said("User speaks Dutch", "Dutch")];
        assert_eq!(told(&two, 25), "User lives in Porto.");
    }

    #[test]
    fn a_text_ends_where_a_sentence_does() {
        let text = "I moved. It cost 3.50 euros! And then we talked about the weather for a long while…";
        assert_eq!(whole(text, 30), "I moved. It cost 3.50 euros!");
        assert_eq!(whole(text, 200), "I moved. It cost 3.50 euros!");
        assert_eq!(whole(text, 12), "I moved.");
        assert_eq!(whole("Once upon a time", 10), "");
        assert_eq!(whole(" Once upon a time ", 20), "Once upon a time");
    }

    #[test]
    fn a_summary_that_only_repeats_lines_says_no_more() {
        let lines = ["User lives in Porto", "User likes tea."];
        assert!(!says_more("User lives in Porto. User likes tea.", lines.into_iter()));
        assert!(!says_more("", lines.into_iter()));
        assert!(says_more("User lives in Porto and Faro.", lines.into_iter()));
        assert!(says_more("User likes tea. User likes owls.", lines.into_iter()));
    }
}
