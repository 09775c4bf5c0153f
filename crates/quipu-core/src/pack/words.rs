//! Classifies lines of a conversation: whether they carry content, and what they depend on.

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};
use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use super::excerpt::{Excerpt, LEFT_OUT};
use crate::episode::sentences;
use crate::text::tokens;

/// Words of a conversation without content of their own.
const CHAT: &str = "\
    absolutely agree agreed ah alright amazing awesome aw bet bye cheers congrats congratulations cool course \
    definitely exactly excellent fair fantastic fine glad good got great haha happy hear hello hey hi hmm idea indeed \
    interesting know lol love lovely luck makes nice noted oh ok okay perfect please really right see sense sorry \
    sounds sure thank thanks totally true understand understood wow yeah yes";

/// First-person words.
const FIRST_PERSON: &str = "i i'm i've i'd i'll im my we we're we've our mine me";

/// Pronouns and other references to something mentioned before.
const PRONOUNS: &str = "it it's its there they them he she him her those these he's she's";

/// A longer line usually names its subject.
const LEANING_WORDS_MAX: usize = 14;

/// A longer reply can be understood without its question.
const REPLY_WORDS_MAX: usize = 25;

/// Words that answer a question on their own.
const ANSWERS: &str = "yes yeah yep no nope never sure definitely absolutely exactly indeed totally right true";

/// A longer question is a message of its own.
const QUESTION_WORDS_MAX: usize = 40;

/// A line with fewer content words carries little on its own.
const CONTENT_WORDS_MIN: usize = 3;

/// Returns true if a blank-separated list contains the word.
pub(super) fn is_one_of(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

/// A word of a line, not stemmed.
struct LineWord<'a> {
    lower: &'a str,
    /// Number of terms: 0 for a stop word; one per character in scripts without spaces.
    terms: usize,
    /// True if it is capitalised like a name and does not begin a sentence.
    named: bool,
}

impl LineWord<'_> {
    fn is_number(&self) -> bool {
        self.lower.contains(|c: char| c.is_ascii_digit())
    }

    fn is_chat(&self) -> bool {
        static WORDS: LazyLock<FxHashSet<&'static str>> = LazyLock::new(|| CHAT.split(' ').collect());
        WORDS.contains(self.lower)
    }

    fn is_content(&self) -> bool {
        self.terms > 0 && !self.is_chat()
    }
}

/// Calls `each` with the words of a text until it breaks.
fn for_each_word(text: &str, each: &mut dyn FnMut(LineWord<'_>) -> ControlFlow<()>) {
    let mut opens = true;
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’');
    let mut buffer = String::new();
    for piece in text.split_inclusive(|c: char| !is_part(c)) {
        let raw = piece.trim_end_matches(|c: char| !is_part(c)).trim_matches(['\'', '’']);
        if raw.contains(char::is_alphanumeric) {
            buffer.clear();
            if raw.is_ascii() {
                buffer.push_str(raw);
                buffer.make_ascii_lowercase();
            } else {
                buffer.push_str(&raw.to_lowercase().replace('’', "'"));
            }
            let mut terms = 0;
            tokens::for_each_content_word(&buffer, |_| terms += 1);
            let named = !opens && raw.starts_with(char::is_uppercase) && !is_one_of(FIRST_PERSON, &buffer);
            if each(LineWord { lower: &buffer, terms, named }).is_break() {
                return;
            }
            opens = false;
        }
        opens |= piece.ends_with(['.', '!', '?', '…', '\n', ':']);
    }
}

/// Returns true if a word of the text satisfies the predicate.
fn has_word(text: &str, is_it: &dyn Fn(&LineWord<'_>) -> bool) -> bool {
    let mut found = false;
    for_each_word(text, &mut |word| {
        found = is_it(&word);
        if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found
}

/// The set of terms of a text, used for comparison.
pub fn terms(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    tokens::for_each_term(text, |term| {
        found.insert(term.to_owned());
    });
    found
}

/// Returns true if a line carries no content of its own: "Got it", "Thanks, Maria!", "Are they helping?".
///
/// Such a line has no content words besides politeness and agreement; or it has fewer than three, contains no number or
/// name, and either is a question or has no word of the first person.
pub fn is_backchannel(text: &str) -> bool {
    let (mut content, mut unnamed, mut terms, mut unnamed_terms) = (0, 0, 0, 0);
    let (mut has_chat, mut tells, mut is_own) = (false, false, false);
    for_each_word(text, &mut |word| {
        has_chat |= word.is_chat();
        is_own |= is_one_of(FIRST_PERSON, word.lower);
        if word.is_content() {
            content += 1;
            terms += word.terms;
            tells |= word.named || word.is_number();
            unnamed += usize::from(!word.named);
            unnamed_terms += if word.named { 0 } else { word.terms };
        }
        // Most lines are decided by their first words.
        if unnamed_terms >= CONTENT_WORDS_MIN { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if unnamed_terms >= CONTENT_WORDS_MIN {
        return false;
    }
    let asks = is_question(text);
    if unnamed == 0 && (content == 0 || has_chat && !asks) {
        return true;
    }
    if terms >= CONTENT_WORDS_MIN || tells {
        return false;
    }
    asks || !is_own
}

/// Returns true for a line of mere politeness, without even an answer such as "yes".
pub fn is_politeness(text: &str) -> bool {
    let says = |word: &LineWord<'_>| word.is_content() || is_one_of(ANSWERS, word.lower);
    // A name is content unless it is an address: "Thanks, Maria!".
    !has_word(text, &|word| !word.named && says(word))
        && (!has_word(text, &|word| word.named) || has_word(text, &|word| word.is_chat()))
}

/// Returns true for a line that ends with a question.
pub fn is_question(text: &str) -> bool {
    text.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '?' | '？')).ends_with(['?', '？'])
}

/// Returns true for a question short enough to stand beside its reply.
pub fn is_short_question(text: &str) -> bool {
    is_question(text) && text.split_whitespace().nth(QUESTION_WORDS_MAX).is_none()
}

/// The last run of questions in a line, to which a reply refers. The whole line if it has no question.
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

/// Returns true for a line too short to be understood without the question it replies to.
pub fn needs_its_question(text: &str) -> bool {
    text.split_whitespace().nth(REPLY_WORDS_MAX).is_none()
}

/// Returns true for a short line with a reference such as "it" or "there" to something said before.
pub fn leans_on_before(text: &str) -> bool {
    let (mut words, mut leans) = (0, false);
    for_each_word(text, &mut |word| {
        words += 1;
        leans |= is_one_of(PRONOUNS, word.lower);
        if words > LEANING_WORDS_MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    leans && words <= LEANING_WORDS_MAX
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
