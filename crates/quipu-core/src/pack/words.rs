//! What the words of a line say, as far as a pack has to know it: whether they say anything, and what they lean on.

use std::collections::BTreeSet;
use std::ops::Range;

use super::excerpt::{Excerpt, LEFT_OUT};
use crate::episode::sentences;
use crate::recall::tokens;

/// Words of a conversation that say nothing by themselves.
const CHAT: &str = "\
    absolutely agree agreed ah alright amazing awesome aw bet bye cheers congrats congratulations cool course \
    definitely exactly excellent fair fantastic fine glad good got great haha happy hear hello hey hi hmm idea indeed \
    interesting know lol love lovely luck makes nice noted oh ok okay perfect please really right see sense sorry \
    sounds sure thank thanks totally true understand understood wow yeah yes";

/// What somebody says of themselves with.
const FIRST_PERSON: &str = "i i'm i've i'd i'll im my we we're we've our mine me";

/// What stands for something that was named before.
const PRONOUNS: &str = "it it's its there they them he she him her those these he's she's";

/// A longer line names what it speaks of.
const LEANING_WORDS_MAX: usize = 14;

/// A reply of more words says what it replies to.
const REPLY_WORDS_MAX: usize = 25;

/// Words that answer a question by themselves.
const ANSWERS: &str = "yes yeah yep no nope never sure definitely absolutely exactly indeed totally right true";

/// A question of more words is a message of its own.
const QUESTION_WORDS_MAX: usize = 40;

/// Fewer words that can be searched for say nothing by themselves.
const CONTENT_WORDS_MIN: usize = 3;

/// True for a word of a list whose words are set apart by blanks.
pub(super) fn is_one_of(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

struct Word {
    lower: String,
    /// What it is searched by; none for a stop word.
    term: Option<String>,
    /// How many terms it is: in scripts without spaces each character is one.
    terms: usize,
    /// Written like a name, and not because it opens a sentence.
    named: bool,
}

impl Word {
    fn is_number(&self) -> bool {
        self.lower.contains(|c: char| c.is_ascii_digit())
    }
}

/// The words of a text, read as far as they are asked for.
fn words(text: &str) -> impl Iterator<Item = Word> + '_ {
    let mut opens = true;
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’');
    text.split_inclusive(move |c: char| !is_part(c)).filter_map(move |piece| {
        let mut found = None;
        let raw = piece.trim_end_matches(|c: char| !is_part(c)).trim_matches(['\'', '’']);
        if raw.contains(char::is_alphanumeric) {
            let lower = raw.to_lowercase().replace('’', "'");
            let (mut term, mut terms) = (None, 0);
            tokens::for_each_term(&lower, |one| {
                term = Some(one.to_owned());
                terms += 1;
            });
            let named = !opens && raw.starts_with(char::is_uppercase) && !is_one_of(FIRST_PERSON, &lower);
            found = Some(Word { lower, term, terms, named });
            opens = false;
        }
        opens |= piece.ends_with(['.', '!', '?', '…', '\n', ':']);
        found
    })
}

/// The terms of a text: what it is compared by.
pub fn terms(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    tokens::for_each_term(text, |term| {
        found.insert(term.to_owned());
    });
    found
}

/// True if a line says nothing by itself: "Got it", "Thanks, Maria!", "Are they helping?".
///
/// It has no words to search for but those of politeness and agreement, or fewer than three without a number or a name,
/// and says nothing of the one who speaks.
pub fn is_backchannel(text: &str) -> bool {
    let is_chat = |word: &Word| is_one_of(CHAT, &word.lower);
    let is_content = |word: &Word| word.term.is_some() && !is_chat(word);
    // Most lines say something within their first words.
    let mut counted = 0;
    let says = |word: Word| {
        counted += if is_content(&word) && !word.named { word.terms } else { 0 };
        counted >= CONTENT_WORDS_MIN
    };
    if words(text).any(says) {
        return false;
    }
    let words: Vec<Word> = words(text).collect();
    let content: Vec<&Word> = words.iter().filter(|word| is_content(word)).collect();
    if content.iter().all(|word| word.named) {
        let is_addressed = words.iter().any(is_chat) && !is_question(text);
        if content.is_empty() || is_addressed {
            return true;
        }
    }
    let terms: usize = content.iter().map(|word| word.terms).sum();
    if terms >= CONTENT_WORDS_MIN || content.iter().any(|word| word.named || word.is_number()) {
        return false;
    }
    is_question(text) || !words.iter().any(|word| is_one_of(FIRST_PERSON, &word.lower))
}

/// True for a line of nothing but politeness: not even "yes" to a question.
pub fn is_politeness(text: &str) -> bool {
    let is_chat = |word: &Word| is_one_of(CHAT, &word.lower);
    let says = |word: &Word| word.term.is_some() && !is_chat(word) || is_one_of(ANSWERS, &word.lower);
    // A name says something unless it is addressed: "Thanks, Maria!".
    !words(text).any(|word| !word.named && says(&word))
        && (!words(text).any(|word| word.named) || words(text).any(|word| is_chat(&word)))
}

/// True for a line that asks something.
pub fn is_question(text: &str) -> bool {
    text.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '?' | '？')).ends_with(['?', '？'])
}

/// True for a question short enough to stand beside its reply.
pub fn is_short_question(text: &str) -> bool {
    is_question(text) && text.split_whitespace().nth(QUESTION_WORDS_MAX).is_none()
}

/// The questions a line ends with: what a reply to it replies to. The whole line, if it asks nothing.
pub fn question_in(text: &str) -> Excerpt {
    let sentences = sentences(text);
    let asks = |one: &Range<usize>| is_question(&text[one.clone()]);
    let whole = || Excerpt { text: text.trim().to_owned(), span: 0..text.len(), whole: true };
    let Some(last) = sentences.iter().rposition(asks) else { return whole() };
    let first = sentences[..last].iter().rposition(|one| !asks(one)).map_or(0, |before| before + 1);
    if first == 0 && last + 1 == sentences.len() {
        return whole();
    }
    let span = sentences[first].start..sentences[last].end;
    let before = if first > 0 { format!("{LEFT_OUT} ") } else { String::new() };
    let after = if last + 1 < sentences.len() { format!(" {LEFT_OUT}") } else { String::new() };
    Excerpt { text: format!("{before}{}{after}", &text[span.clone()]), span, whole: false }
}

/// True for a line too short to be understood without the question it replies to.
pub fn needs_its_question(text: &str) -> bool {
    text.split_whitespace().nth(REPLY_WORDS_MAX).is_none()
}

/// True for a short line that speaks of "it" or "there": what is meant was said before.
pub fn leans_on_before(text: &str) -> bool {
    words(text).nth(LEANING_WORDS_MAX).is_none() && words(text).any(|word| is_one_of(PRONOUNS, &word.lower))
}

/// True if the words of a sentence have every content word of a statement. Who "the user" is goes without saying.
pub(super) fn say_all_of(sentence: &BTreeSet<String>, statement: &str) -> bool {
    terms(statement).iter().all(|term| term == "user" || sentence.contains(term))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_nothing_by_itself() {
        for (text, expected) in [
            ("Got it.", true),
            ("Thanks!", true),
            ("Thanks, Maria!", true),
            ("Congratulations!", true),
            ("Are they helping?", true),
            ("That sounds great, good luck!", true),
            ("I see.", true),
            ("I'm so glad to hear that!", true),
            ("Yes, of course", true),
            ("Sounds tasty", true),
            ("👍", true),
            ("", true),
            // negatives
            ("I love sushi", false),
            ("I'm vegetarian.", false),
            ("We moved.", false),
            ("At 7:30", false),
            ("It was in Porto", false),
            ("Her brother plays the cello in an orchestra", false),
            ("Did you see Anna?", false),
            ("The doctor said to rest the knee for weeks", false),
            ("東京に住んでいます", false),
        ] {
            assert_eq!(is_backchannel(text), expected, "{text:?}");
        }
    }

    #[test]
    fn questions_and_what_leans_on_them() {
        assert!(is_question("What is her name? ") && is_question("Really?!") && is_question("(Is it?)"));
        assert!(!is_question("Who knows.") && !is_short_question(&format!("{}?", "word ".repeat(60))));
        let asked = "Lovely! How old is she? And what is her name? Tell me all.";
        let question = question_in(asked);
        assert_eq!(question.text, "… How old is she? And what is her name? …");
        assert_eq!(&asked[question.span], "How old is she? And what is her name?");
        assert!(question_in("Nothing.").whole && question_in("Is it? Really?").whole);
        assert!(is_politeness("Thanks, Maria!") && !is_politeness("Yes, thanks") && !is_politeness("In May."));
        assert!(leans_on_before("It was lovely there.") && leans_on_before("We adopted her in May"));
        assert!(!leans_on_before("I moved to Porto") && !leans_on_before(&format!("it {}", "word ".repeat(20))));
    }
}
