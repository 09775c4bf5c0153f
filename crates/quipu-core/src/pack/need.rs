//! Classifies what a request needs from memory: nothing, context for a task, or an answer.

use serde::{Deserialize, Serialize};

use super::words::is_one_of;
use crate::recall::{Intent, has_name};

/// What a request needs from memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RequestNeed {
    /// Only the stable part: a greeting, arithmetic, a poem, general knowledge.
    Nothing,
    /// Preferences, limits and plans relevant to a task.
    Task,
    /// An answer from memory.
    Memory,
    /// An answer from memory, which seems to have none.
    Unknown,
}

/// Features of a request besides its words.
#[derive(Debug, Clone, Copy, Default)]
pub struct RequestFacts {
    /// Its intent.
    pub intent: Intent,
    /// True if it names a person known to the memory.
    pub person: bool,
    /// Probability that memory answers it.
    pub probability: f64,
    /// True if memory seems to have nothing about it.
    pub unknown: bool,
    /// True if the probability can tell general questions from those for memory: in conversations with an assistant, if no
    /// part of recall was left out.
    pub tells_general: bool,
}

/// Minimum probability at which memory is used even for questions that look like general knowledge.
const ANSWERS_FROM: f64 = 0.7;
/// The same for questions that refer to something definite: "how do you prime the pump?".
const ANSWERS_DEFINITE_FROM: f64 = 0.45;
/// Questions in general terms, such as "why do onions make people cry?", need nothing below this probability. Of 150 questions
/// by three writers, it was at least .48 for all 75 that memory answers and less for 56 of the 75 others.
const GENERAL_BELOW: f64 = 0.48;

/// Opening words without content.
const POLITE: &str = "\
    please can could would will you hey hi hello ok okay so now kindly just thanks quickly then";

/// Words of greetings, thanks and farewells.
const SMALL_TALK: &str = "\
    hi hello hey there yo good morning afternoon evening night day thanks thank you so much very a lot how are is it \
    going doing today what's up whats bye goodbye see later soon ok okay cool great nice perfect awesome yes no yep \
    nope sure lol haha got that that's all for now welcome sorry please cheers well again the help hiya heya howdy sup \
    wassup greetings yeah yay wow kind lovely brilliant wonderful fantastic amazing excellent appreciate appreciated helpful ta \
    np worries problem hehe hah mate thx ty tysm thankyou hallo hola bonjour salut ciao ola olá oi namaste salaam salam merhaba guten tag morgen abend moin servus \
    grüß gott hej hei hoi czesc cześć dzień dobry привет здравствуйте buenos buenas buen días dias día tardes noches bom \
    boa dia tarde noite bonsoir buongiorno buonasera gracias merci danke obrigado obrigada grazie dank arigato tak tack \
    wie geht's gehts geht es ihnen como estás ça va bem stai \
    spasibo спасибо 你好 您好 谢谢 こんにちは おはよう おはようございます こんばんは ありがとう ありがとうございます 안녕 안녕하세요 감사합니다 \
    مرحبا السلام عليكم شكرا שלום नमस्ते धन्यवाद xin chào kamusta selamat pagi";

/// Words of arithmetic beside the numbers.
const SUM: &str = "\
    what what's whats is the of and by times plus minus divided multiplied percent calculate compute sum square root \
    equals x sqrt";

/// Verbs for working on a text or on general knowledge; the content follows.
const OF_TEXT: &str = "\
    explain define translate convert calculate compute solve prove summarise summarize rewrite rephrase paraphrase \
    proofread fix debug refactor implement code spell conjugate describe simplify list";

/// Verbs for creating something, combined with the things of [`MADE`].
const MAKE: &str = "write compose generate create make draft tell give show sing draw invent need want";

const MADE: &str = "\
    haiku poem limerick sonnet joke jokes pun riddle story song lyrics rap function script regex program class query \
    sql essay test tests html css json ascii fact trivia quote synonyms synonym palindrome funny";

/// Verbs for a proposal or a plan, as the first word.
const TASK: &str = "\
    suggest recommend plan organise organize schedule book find pick choose help design prepare order arrange propose \
    brainstorm cook reserve pack";

/// Words of [`TASK`] that are also nouns, and the words that follow them as verbs.
const THINGS: &str = "book order pack plan schedule cook design";
const DONE_TO: &str = "a an the my our some me us this next something two three dinner";

/// Nouns for proposals, anywhere in the request.
const PROPOSALS: &str = "ideas suggestions recommendations recommendation suggestion itinerary";

/// Phrases for proposals.
const TASK_PHRASES: &str = "\
    what should i, what should we, where should i, where should we, what could i, what can i cook, what can i make, \
    what to cook, which should i, what shall we, which * should i, which * should we, which * shall we, any good, got any, \
    what movie should, what film should, what book should, what wine should, what gift should, what can we cook, what can we do";

/// Openings of general knowledge questions. `*` is any one word.
const GENERAL: &str = "\
    what is a, what is an, what's a, what's an, what is the capital, what's the capital, what is the meaning, \
    what's the meaning, what is the difference, what's the difference, what is the population, what is the square, \
    what is the formula, what is the speed, what is the weather, what's the weather, what time is it, \
    what does * mean, who wrote, who invented, who painted, who discovered, who directed, who composed, \
    how does * work, how do * work, how does a, how does an, how do you, how do i, how can i, how to, how far is, \
    how tall is, how many * in a, how many * are in a, why is the, why are the, why do cats, is it true";

/// Words that refer to earlier conversation.
const OF_TALK: &str = "\
    you we us said say says told tell mentioned mention recommended suggested discussed decided talked agreed planned \
    earlier yesterday remember remind recall last";

/// Openings of requests to continue the model's last reply.
const GOES_ON: &str = "\
    continue, go on, go ahead, keep going, another one, another, one more, more please, more, next, try again, once more, \
    shorter, longer, and in *, same in *, same for *, make it";

/// First words of a question.
const ASKING: &str = "\
    what what's whats who who's whose whom which where where's when when's why how do does did is are was were have \
    has had am can could should will would tell remind remember recall";

/// Words before a "me" that does not make a request personal.
const TO_ME: &str = "tell show remind give let help ask to for teach find get make write";

/// Classifies a request. Defaults to a question for memory.
pub fn need(query: &str, known: RequestFacts) -> RequestNeed {
    let text = without_matter(query);
    let words = words(&text);
    let opening = words.iter().take_while(|word| is_one_of(POLITE, word)).count();
    let asked = &words[opening..];
    let personal = known.person || is_personal(&words);
    if is_small_talk(&words) && !known.person || names_the_speaker(&words) || is_sum(query, &words) {
        return RequestNeed::Nothing;
    }
    let first = asked.first().map_or("", String::as_str);
    let makes = words.iter().any(|word| is_one_of(MAKE, word)) && words.iter().any(|word| is_one_of(MADE, word));
    let is_general = is_one_of(OF_TEXT, first)
        || makes
        || is_one_of(MADE, first)
        || GENERAL.split(", ").any(|phrase| begins(&words, phrase));
    let is_definite = known.tells_general && words.first().is_some_and(|first| first == "how") && names_a_thing(&words);
    let answers_from = if is_definite { ANSWERS_DEFINITE_FROM } else { ANSWERS_FROM };
    if is_general && !personal && known.probability < answers_from {
        return RequestNeed::Nothing;
    }
    if is_task_of(&words, asked, first) || matches!(known.intent, Intent::Plan | Intent::Nudge) {
        return RequestNeed::Task;
    }
    // Neither the user nor the conversation is meant, and memory seems to have nothing.
    let goes_on = GOES_ON.split(", ").any(|phrase| begins(asked, phrase));
    let of_talk = words.iter().any(|word| is_one_of(OF_TALK, word));
    if !personal && known.unknown && (goes_on || !of_talk) {
        return RequestNeed::Nothing;
    }
    let asks = query.contains('?') || asked.first().or(words.first()).is_some_and(|word| is_one_of(ASKING, word));
    let is_in_general_terms = !personal && !of_talk && !refers(&words) && !names_a_thing(&words) && !has_name(&text);
    if known.tells_general && asks && is_in_general_terms && known.probability < GENERAL_BELOW {
        return RequestNeed::Nothing;
    }
    if personal && asks && known.unknown { RequestNeed::Unknown } else { RequestNeed::Memory }
}

/// Words of a request for a task that say nothing about its matter.
const OF_NO_MATTER: &str = "\
    a an the some any something anything someone somewhere me us my our i we you your it to for with of on in at from by \
    about and or is are be do does get got have has need needs want wants like good best better nice new great fun cool \
    what which where who when how should shall today tonight tomorrow now this that next week weekend day evening morning \
    afternoon night time please help thing things way ways make give show tell let's lets go going";

/// The words of a request for a task that name its matter: "restaurant" of "please suggest a restaurant for tonight".
pub fn matter(query: &str) -> String {
    let words = words(&without_matter(query));
    let lists = [OF_NO_MATTER, POLITE, TASK, PROPOSALS];
    words.into_iter().filter(|word| !lists.iter().any(|list| is_one_of(list, word))).collect::<Vec<_>>().join(" ")
}

/// Words that point to something known to both, or to the past.
const REFERRING: &str = "\
    this that these those it its he she they his her their him them here there now again still today tonight tomorrow \
    did was were had been";

fn refers(words: &[String]) -> bool {
    words.iter().any(|word| is_one_of(REFERRING, word))
}

/// Returns true for a definite thing: "the pump", but not "the capital of Peru" or "the difference between …".
fn names_a_thing(words: &[String]) -> bool {
    let follows = |at: usize| words.get(at).map_or("", String::as_str);
    (0..words.len())
        .any(|at| words[at] == "the" && !matches!(follows(at + 2), "of" | "between" | "for") && at + 1 < words.len())
}

/// Returns true for a request to propose, plan or order something.
fn is_task_of(words: &[String], asked: &[String], first: &str) -> bool {
    // "Find my note about the boiler" asks for something said before.
    let looks_up = first == "find" && asked.iter().any(|word| word == "my" || word == "our");
    let is_thing = is_one_of(THINGS, first) && !asked.get(1).is_some_and(|next| is_one_of(DONE_TO, next));
    is_one_of(TASK, first) && !looks_up && !is_thing
        || words.iter().any(|word| is_one_of(PROPOSALS, word)) && !tells_of_past(words)
        || TASK_PHRASES.split(", ").any(|phrase| (0..words.len()).any(|at| begins(&words[at..], phrase)))
}

/// Words of the time after "see you".
const UNTIL: &str = "\
    later soon again then tomorrow tonight next this on in at the week month weekend morning afternoon evening night \
    monday tuesday wednesday thursday friday saturday sunday";

/// Returns true for greetings, thanks and farewells, including elongated spellings.
fn is_small_talk(words: &[String]) -> bool {
    let parting = words.windows(2).position(|pair| pair[0] == "see" && matches!(pair[1].as_str(), "you" | "ya" | "u"));
    let until = parting.map_or(words.len(), |at| at + 2);
    words[until..].iter().all(|word| is_one_of(UNTIL, word))
        && words[..until].iter().all(|word| {
            [word.clone(), without_runs(word, 3), without_runs(word, 2)].iter().any(|word| is_one_of(SMALL_TALK, word))
        })
}

/// Returns true for a greeting with the speaker's name: "Good morning, Gwen here".
fn names_the_speaker(words: &[String]) -> bool {
    match words {
        [greeting @ .., _, last] if last == "here" || last == "speaking" => {
            !greeting.is_empty() && is_small_talk(greeting)
        }
        _ => false,
    }
}

/// Collapses runs of at least `least` equal letters to one.
fn without_runs(word: &str, least: usize) -> String {
    let letters: Vec<char> = word.chars().collect();
    let runs = letters.chunk_by(|a, b| a == b);
    runs.flat_map(|run| if run.len() >= least { &run[..1] } else { run }).collect()
}

/// Lower-case phrases for a simple explanation, which say nothing about the user.
const PLAINLY: [&str; 6] =
    [" like i'm five", " like i'm 5", " like i’m five", " like i’m 5", " like i am five", " as if i were five"];

/// The request without quotations, and without the text after the colon of "translate this:".
fn without_matter(query: &str) -> String {
    let mut plain = String::new();
    let lower = query.to_lowercase();
    let plainly = PLAINLY.iter().find_map(|plainly| lower.find(plainly)).filter(|_| lower.len() == query.len());
    let query = plainly.and_then(|end| query.get(..end)).unwrap_or(query);
    for (at, part) in query.split(['"', '“', '”', '`', '«', '»']).enumerate() {
        plain.push_str(if at % 2 == 0 { part } else { " " });
    }
    // A single quotation mark before a word opens a quotation; after one it may be an apostrophe.
    if let Some(open) = plain.find(" '") {
        let rest = &plain[open + 2..];
        let close = rest.rfind('\'').map(|close| open + 2 + close + 1);
        plain = format!("{} {}", &plain[..open], close.map_or("", |close| &plain[close..]));
    }
    match plain.split_once(':') {
        Some((before, _)) if words(before).iter().any(|word| is_one_of(OF_TEXT, word)) => before.to_owned(),
        _ => plain,
    }
}

fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase().replace('’', "'");
    let parts = lower.split(|c: char| !c.is_alphanumeric() && c != '\'').map(|word| word.trim_matches('\''));
    parts.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn begins(words: &[String], with: &str) -> bool {
    let mut words = words.iter();
    with.split(' ').all(|wanted| words.next().is_some_and(|word| wanted == "*" || word == wanted))
}

/// Returns true for arithmetic: numbers and no other words.
fn is_sum(query: &str, words: &[String]) -> bool {
    let is_number = |word: &String| {
        word.chars().all(|c| c.is_ascii_digit() || c == 'x') && word.starts_with(|c: char| c.is_ascii_digit())
    };
    let numbers = words.iter().filter(|word| is_number(word)).count();
    let only = words.iter().all(|word| is_number(word) || is_one_of(SUM, word));
    let has_sign = query.contains(['+', '*', '/', '=', '^', '%', '×', '÷', '−']) || query.contains(" - ");
    only && numbers > 0 && (has_sign || words.len() > numbers && numbers > 1 || words.iter().any(|word| word == "root"))
}

/// Returns true if the request refers to the user's life ("I", "my", "we") or to something to remember.
fn is_personal(words: &[String]) -> bool {
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    (0..words.len()).any(|at| match word(at) {
        "my" | "mine" | "myself" | "our" | "ours" | "i've" | "i'm" | "we've" | "we're" | "remember" | "user" => true,
        "me" => at == 0 || !is_one_of(TO_ME, word(at - 1)),
        "us" => at > 0 && word(at - 1) != "let",
        // "How do I sort a list?" and "I need a regex" are not about the user.
        "i" | "we" => {
            let how =
                at >= 2 && word(at - 2) == "how" && matches!(word(at - 1), "do" | "can" | "could" | "should" | "would");
            let wants = matches!(word(at + 1), "need" | "want" | "would") && (at == 0 || word(at - 1) != "do");
            let wishes =
                at > 0 && matches!(word(at - 1), "can" | "could" | "may") && matches!(word(at + 1), "have" | "get");
            !how && !wants && !wishes
        }
        "i'd" => at > 0,
        _ => false,
    })
}

/// "What were your recommendations?" asks for something said before.
fn tells_of_past(words: &[String]) -> bool {
    words.iter().any(|word| matches!(word.as_str(), "did" | "were" | "was" | "had" | "gave" | "made" | "said" | "told"))
}

/// Words of preferences, limits and plans.
const BEARS: &str = "\
    like likes love loves hate hates enjoy enjoys prefer prefers favourite favorite can't cannot never always avoid \
    avoids allergic allergy vegan vegetarian diet budget must plan plans planning going booked appointment meeting \
    want wants hope intolerant afraid dislike dislikes stand";

/// Returns true if a line states a preference, a limit or a plan of its speaker.
pub fn bears(text: &str) -> bool {
    words(text).iter().any(|word| is_one_of(BEARS, word))
}

#[cfg(test)]
#[path = "need_tests.rs"]
mod tests;
