//! Pieces of a message that are worth keeping, from the probabilities of its words.

use std::ops::Range;

use super::wording::is_join;

/// A piece contains a word whose probability of being kept is above this.
const HIGH: f32 = 0.5;
/// A piece consists of words whose probability of being kept is above this.
const LOW: f32 = 0.1;
/// A word whose probability of being a beginning is above this starts a new piece.
const BEGINS: f32 = 0.5;
/// A piece of fewer words is joined with the one that it touches in the same line.
const SHORT: usize = 4;
/// As [`SHORT`], for two pieces in one sentence.
const SHORT_IN_SENTENCE: usize = 3;
/// Minimum number of words of a piece; fewer say too little on their own.
const WORDS_MIN: usize = 4;
/// Length of a piece, in bytes. Longer ones are no single statement.
const BYTES: std::ops::RangeInclusive<usize> = 12..=400;
/// Two words further apart, in bytes, are not of one line: something between them was removed.
const GAP_MAX: usize = 8;

/// A word of a message: a run of characters without whitespace.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Word {
    /// Its position in the message, in bytes.
    pub(super) range: Range<usize>,
    /// The probability that it belongs to something worth keeping.
    pub(super) keep: f32,
    /// The probability that a new statement begins with it.
    pub(super) begin: f32,
}

/// A piece worth keeping.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    /// Its position in the message, in bytes.
    pub(super) range: Range<usize>,
    /// Its words.
    pub(super) words: Range<usize>,
    /// Mean probability of being kept, over its words above [`HIGH`].
    pub(super) probability: f32,
}

/// The ranges of the words of a text.
pub(super) fn words(text: &str) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain(std::iter::once((text.len(), ' '))) {
        match (c.is_whitespace(), start) {
            (false, None) => start = Some(at),
            (true, Some(from)) => {
                all.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    all
}

/// The pieces of a text, in order.
pub(super) fn pieces(text: &str, words: &[Word]) -> Vec<Piece> {
    let mut joined: Vec<Piece> = Vec::new();
    for sentence in sentences(text, words) {
        for run in runs(words, sentence) {
            let piece = piece(words, run);
            match joined.last_mut() {
                Some(last)
                    if last.words.end == piece.words.start
                        && last.words.len().min(piece.words.len()) < SHORT
                        && !breaks(text, words, piece.words.start) =>
                {
                    *last = join(last, &piece);
                }
                _ => joined.push(piece),
            }
        }
    }
    joined.retain(|piece| piece.words.len() >= WORDS_MIN && BYTES.contains(&piece.range.len()));
    joined
}

/// The pieces with what makes them understandable on their own.
///
/// Two adjacent pieces of a sentence are one if the second has no subject of its own ("he has a new post, | starts after
/// Christmas"). A piece that begins with somebody who is named before ("his name's Des") begins with the sentence before
/// it. Words at the end that only lead over to what follows ("… and I", "… so") are left out. Nothing is added from the
/// ranges in `aside`.
pub(super) fn completed(text: &str, words: &[Word], pieces: &[Piece], aside: &[Range<usize>]) -> Vec<Piece> {
    let sentences = sentences(text, words);
    let mut all: Vec<Piece> = Vec::new();
    for piece in pieces {
        let mut piece = piece.clone();
        let own = sentences.iter().position(|sentence| sentence.contains(&piece.words.start));
        let Some(own) = own else { continue };
        let first = first_words(text, words, &piece.words);
        if first.first().is_some_and(|word| refers_back(word)) || first.get(1).is_some_and(|word| refers_back(word)) {
            let before = own.checked_sub(1).map(|before| sentences[before].clone());
            let start = if piece.words.start > sentences[own].start {
                Some(sentences[own].start)
            } else {
                before
                    .filter(|before| before.end == piece.words.start && !breaks(text, words, before.end))
                    .map(|before| before.start)
            };
            if let Some(start) = start {
                let range = words[start].range.start..piece.range.end;
                let touches = |other: &Range<usize>| other.start < range.end && range.start < other.end;
                if range.len() <= WITH_CONTEXT_BYTES_MAX && !aside.iter().any(touches) {
                    piece = Piece { range, words: start..piece.words.end, ..piece };
                }
            }
        }
        trim_end(text, words, &sentences, &mut piece);
        match all.last_mut() {
            Some(last) if last.words.end > piece.words.start => *last = join(last, &piece),
            Some(last)
                if last.words.end == piece.words.start
                    && sentences
                        .iter()
                        .any(|one| one.contains(&last.words.start) && one.contains(&piece.words.start))
                    && !first.first().is_some_and(|word| is_subject(text, words, &piece, word))
                    && last.range.len() + piece.range.len() <= WITH_CONTEXT_BYTES_MAX =>
            {
                *last = join(last, &piece);
            }
            _ => all.push(piece),
        }
    }
    all
}

/// Maximum length of a piece with its context, in bytes.
const WITH_CONTEXT_BYTES_MAX: usize = 240;

/// The first two words in lower case, without punctuation and without words that join ("and", "so").
fn first_words(text: &str, words: &[Word], of: &Range<usize>) -> Vec<String> {
    let lower = words[of.clone()].iter().map(|word| bare(&text[word.range.clone()]));
    lower.skip_while(|word| is_join(word)).take(2).collect()
}

/// A word in lower case, with its apostrophes as ASCII, without other punctuation around it.
fn bare(word: &str) -> String {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    word.replace('\u{2019}', "'")
}

/// True for pronouns that stand for somebody or something said before.
fn refers_back(word: &str) -> bool {
    let stem = word.split('\'').next().unwrap_or(word);
    matches!(
        stem,
        "he" | "she"
            | "they"
            | "his"
            | "her"
            | "their"
            | "him"
            | "them"
            | "hes"
            | "shes"
            | "theyre"
            | "theyve"
            | "theyd"
    )
}

/// True if a piece that begins with the word has its own subject.
fn is_subject(text: &str, words: &[Word], piece: &Piece, word: &str) -> bool {
    let stem = word.split('\'').next().unwrap_or(word);
    let is_name = text[words[piece.words.start].range.clone()].starts_with(char::is_uppercase);
    is_name || SUBJECTS.contains(&stem)
}

/// Beginnings of clauses with a subject of their own.
const SUBJECTS: [&str; 38] = [
    "i", "im", "ive", "id", "ill", "we", "weve", "were", "you", "youre", "my", "our", "your", "the", "a", "an", "this",
    "that", "thats", "these", "those", "there", "theres", "some", "all", "both", "no", "one", "two", "mum", "mom",
    "dad", "everyone", "nobody", "someone", "people", "another", "it",
];

/// Leaves out words at the end that lead over to what follows in the sentence: "… and I", "… so".
fn trim_end(text: &str, words: &[Word], sentences: &[Range<usize>], piece: &mut Piece) {
    let last = piece.words.end - 1;
    let goes_on = sentences.iter().any(|one| one.contains(&last) && one.end > piece.words.end);
    if !goes_on {
        return;
    }
    let from = piece.words.end.saturating_sub(LEADING_OVER_MAX).max(piece.words.start + WORDS_MIN);
    let join = (from..piece.words.end).find(|&at| {
        let word = bare(&text[words[at].range.clone()]);
        matches!(
            word.as_str(),
            "and" | "but" | "so" | "or" | "because" | "cos" | "cause" | "if" | "when" | "which" | "that"
        )
    });
    if let Some(join) = join {
        piece.words.end = join;
        piece.range.end = words[join - 1].range.end;
    }
}

/// Maximum number of words that [`trim_end`] leaves out.
const LEADING_OVER_MAX: usize = 2;

/// True if a line ends before the word.
fn breaks(text: &str, words: &[Word], at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return false };
    let gap = &text[words[before].range.end..words[at].range.start];
    gap.contains('\n') || gap.len() > GAP_MAX
}

/// True for an abbreviation before a name: "Dr." ends no sentence.
fn is_title(word: &str) -> bool {
    ["dr.", "mr.", "mrs.", "ms.", "prof.", "st."].iter().any(|title| word.eq_ignore_ascii_case(title))
}

/// The words of each sentence. A sentence ends with its punctuation or its line.
fn sentences(text: &str, words: &[Word]) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    let mut from = 0;
    for at in 0..words.len() {
        if at > from && breaks(text, words, at) {
            all.push(from..at);
            from = at;
        }
        let word = text[words[at].range.clone()].trim_end_matches(['"', '\'', ')']);
        if word.ends_with(['.', '!', '?', ';']) && !is_title(word) {
            all.push(from..at + 1);
            from = at + 1;
        }
    }
    if from < words.len() {
        all.push(from..words.len());
    }
    all
}

/// The runs of probable words of a sentence.
fn runs(words: &[Word], sentence: Range<usize>) -> Vec<Range<usize>> {
    let is_sure = |run: &Range<usize>| words[run.clone()].iter().any(|word| word.keep > HIGH);
    let mut all: Vec<Range<usize>> = Vec::new();
    let mut run: Option<Range<usize>> = None;
    for at in sentence {
        let word = &words[at];
        run = match run.take() {
            None if word.keep > LOW => Some(at..at + 1),
            None => None,
            Some(run) if word.keep <= LOW => {
                all.push(run);
                None
            }
            Some(run) if word.begin > BEGINS && is_sure(&run) => {
                all.push(run);
                Some(at..at + 1)
            }
            Some(run) => Some(run.start..at + 1),
        };
    }
    all.extend(run);
    all.retain(is_sure);
    // Of two that touch, one that is short belongs to the other.
    let mut merged: Vec<Range<usize>> = Vec::new();
    for run in all {
        match merged.last_mut() {
            Some(last) if last.end == run.start && last.len().min(run.len()) < SHORT_IN_SENTENCE => last.end = run.end,
            _ => merged.push(run),
        }
    }
    merged
}

fn piece(words: &[Word], run: Range<usize>) -> Piece {
    let sure: Vec<f32> = words[run.clone()].iter().map(|word| word.keep).filter(|keep| *keep > HIGH).collect();
    let probability = sure.iter().sum::<f32>() / sure.len().max(1) as f32;
    Piece { range: words[run.start].range.start..words[run.end - 1].range.end, words: run, probability }
}

fn join(a: &Piece, b: &Piece) -> Piece {
    let (of_a, of_b) = (a.words.len() as f32, b.words.len() as f32);
    Piece {
        range: a.range.start..b.range.end,
        words: a.words.start..b.words.end,
        probability: (a.probability * of_a + b.probability * of_b) / (of_a + of_b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Marks of words: `#` sure, `+` possible, `-` not; a capital `B` is sure and begins a statement.
    fn kept(text: &str, marks: &str) -> Vec<String> {
        let ranges = words(text);
        assert_eq!(ranges.len(), marks.chars().count(), "{text}");
        let of = |mark| match mark {
            '#' => (0.9, 0.1),
            'B' => (0.9, 0.9),
            '+' => (0.3, 0.1),
            _ => (0.02, 0.1),
        };
        let word = |(range, mark): (Range<usize>, char)| {
            let (keep, begin) = of(mark);
            Word { range, keep, begin }
        };
        let words: Vec<Word> = ranges.into_iter().zip(marks.chars()).map(word).collect();
        pieces(text, &words).into_iter().map(|piece| text[piece.range].to_owned()).collect()
    }

    #[test]
    fn words_stand_between_blanks() {
        let text = " so,  my sister\n(Ana) ";
        assert_eq!(
            words(text).into_iter().map(|range| &text[range]).collect::<Vec<_>>(),
            ["so,", "my", "sister", "(Ana)"]
        );
        assert_eq!(words(" \n"), Vec::<Range<usize>>::new());
    }

    #[test]
    fn a_piece_has_a_sure_word_and_extends_over_possible_ones() {
        assert_eq!(kept("my knee hurts again, any stretches?", "+##+--"), ["my knee hurts again,"]);
        assert_eq!(kept("my knee hurts again, any stretches?", "++++--"), Vec::<String>::new());
        assert_eq!(kept("so my sister Ana moved to Lyon", "-######"), ["my sister Ana moved to Lyon"]);
    }

    #[test]
    fn a_new_statement_and_a_sentence_begin_a_new_piece() {
        let text = "we sold the old car and bought a second bike";
        assert_eq!(kept(text, "#####B####"), ["we sold the old car", "and bought a second bike"]);
        assert_eq!(
            kept("Ana is a nurse. Bo works in a bank.", "#########"),
            ["Ana is a nurse.", "Bo works in a bank."]
        );
        assert_eq!(kept("Ana is a nurse\nBo works in a bank", "#########"), ["Ana is a nurse", "Bo works in a bank"]);
    }

    #[test]
    fn a_short_piece_joins_its_neighbour_in_the_line_or_is_left_out() {
        assert_eq!(kept("on new tablets. 5mg, every morning.", "B##B##"), ["on new tablets. 5mg, every morning."]);
        assert_eq!(kept("on new tablets.\n5mg, every single morning", "B##B###"), ["5mg, every single morning"]);
        assert_eq!(kept("job hunt status", "###"), Vec::<String>::new());
    }

    /// As [`kept`], completed.
    fn completed_of(text: &str, marks: &str) -> Vec<String> {
        let ranges = words(text);
        assert_eq!(ranges.len(), marks.chars().count(), "{text}");
        let word = |(range, mark): (Range<usize>, char)| {
            let (keep, begin) = match mark {
                '#' => (0.9, 0.1),
                'B' => (0.9, 0.9),
                _ => (0.02, 0.1),
            };
            Word { range, keep, begin }
        };
        let words: Vec<Word> = ranges.into_iter().zip(marks.chars()).map(word).collect();
        let found = completed(text, &words, &pieces(text, &words), &[]);
        found.into_iter().map(|piece| text[piece.range].to_owned()).collect()
    }

    #[test]
    fn a_piece_has_its_subject() {
        // Two pieces of a sentence, the second without a subject
        let text = "he has a new post in Leeds, starts right after Christmas";
        assert_eq!(completed_of(text, "#######B###"), [text]);
        let text = "we sold the old car and my brother bought a bike";
        assert_eq!(completed_of(text, "#####B#####"), ["we sold the old car", "and my brother bought a bike"]);
        // Somebody who is named in the sentence before, whether it is kept or not
        let text = "I must write to a driver. his name's Des and he swaps shifts";
        assert_eq!(completed_of(text, "------#######"), [text]);
        assert_eq!(completed_of(text, "#############"), [text]);
        // Not over the end of a line
        assert_eq!(
            completed_of("I must write to a driver\nhis name is Des now", "------#####"),
            ["his name is Des now"]
        );
        // Nor if it becomes too long
        let long = format!("{} ends. she lives in the south now", "word ".repeat(60).trim_end());
        let marks = format!("{}######", "-".repeat(61));
        assert_eq!(completed_of(&long, &marks), ["she lives in the south now"]);
    }

    #[test]
    fn a_piece_does_not_end_with_words_that_lead_over_to_the_next() {
        let text = "I do the rotas at the depot and I need a polite email";
        assert_eq!(completed_of(text, "#########----"), ["I do the rotas at the depot"]);
        let text = "mum lives in Rhyl so its a big deal";
        assert_eq!(completed_of(text, "#####----"), ["mum lives in Rhyl"]);
        // At the end of a sentence they may say something
        let text = "Leila gets sick on the bus so no.";
        assert_eq!(completed_of(text, "########"), [text]);
    }

    #[test]
    fn what_is_too_long_is_left_out_and_a_wide_gap_is_the_end_of_a_line() {
        let long = format!("we sold {} the car", "x".repeat(500));
        assert_eq!(kept(&long, "#####"), Vec::<String>::new());
        let gap = format!("we sold the car{}and moved to Lyon", " ".repeat(20));
        assert_eq!(kept(&gap, "########"), ["we sold the car", "and moved to Lyon"]);
    }
}
