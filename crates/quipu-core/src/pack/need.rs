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

/// Returns true for greetings, thanks and farewells, including elongated spellings.
fn is_small_talk(words: &[String]) -> bool {
    words.iter().all(|word| {
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
mod tests {
    use super::*;

    /// The letters encode the other features: `p` for a known person, a digit for the probability in tenths; 0 also
    /// sets `unknown`; `a` for a conversation with an assistant.
    const TABLE: [(&str, &str, RequestNeed); 127] = [
        // Needs nothing from memory.
        ("hi", "", RequestNeed::Nothing),
        ("Hello there!", "", RequestNeed::Nothing),
        ("good morning, how are you today?", "", RequestNeed::Nothing),
        ("thanks so much", "", RequestNeed::Nothing),
        ("ok cool, bye", "", RequestNeed::Nothing),
        ("", "", RequestNeed::Nothing),
        ("heyyy", "", RequestNeed::Nothing),
        ("hiya!", "", RequestNeed::Nothing),
        ("helloooo", "", RequestNeed::Nothing),
        ("good morning Gwen here", "p", RequestNeed::Nothing),
        ("Thank you, that's kind", "", RequestNeed::Nothing),
        ("buenos días", "", RequestNeed::Nothing),
        ("guten Morgen", "", RequestNeed::Nothing),
        ("你好", "", RequestNeed::Nothing),
        ("3x4=?", "", RequestNeed::Nothing),
        ("tell me something funny", "", RequestNeed::Nothing),
        ("how do i boil an egg", "6", RequestNeed::Nothing),
        ("how do you prime the pump?", "a6", RequestNeed::Memory),
        ("how do you prime the pump?", "a4", RequestNeed::Nothing),
        ("how do you prime the pump?", "6", RequestNeed::Nothing),
        ("why is the sea salty?", "a6", RequestNeed::Nothing),
        ("why do onions make people cry?", "a4", RequestNeed::Nothing),
        ("why do onions make people cry?", "4", RequestNeed::Memory),
        ("which jerrycan is it?", "a4", RequestNeed::Memory),
        ("which revs are best for cruising", "a5", RequestNeed::Memory),
        ("where does Anna live?", "a4", RequestNeed::Memory),
        ("what did the vet charge?", "a4", RequestNeed::Memory),
        ("17*23", "", RequestNeed::Nothing),
        ("what is 17 * 23?", "", RequestNeed::Nothing),
        ("what's 15 percent of 80", "", RequestNeed::Nothing),
        ("square root of 144", "", RequestNeed::Nothing),
        ("write a haiku about autumn", "", RequestNeed::Nothing),
        ("haiku about rain pls", "", RequestNeed::Nothing),
        ("Could you please write me a poem on the sea?", "", RequestNeed::Nothing),
        ("tell me a joke", "", RequestNeed::Nothing),
        ("I want a limerick about a frog", "", RequestNeed::Nothing),
        ("I need a regex for e-mail addresses", "", RequestNeed::Nothing),
        ("explain what a mutex is", "", RequestNeed::Nothing),
        ("can you explain to me how tides work", "", RequestNeed::Nothing),
        ("translate \"I love my dog\" to French", "", RequestNeed::Nothing),
        ("Translate to German: my sister is ill", "", RequestNeed::Nothing),
        ("translate 'where is my hotel' into Polish", "", RequestNeed::Nothing),
        ("summarize this text: I went home and we ate", "", RequestNeed::Nothing),
        ("fix this code: fn main() { let my = 1 }", "", RequestNeed::Nothing),
        ("What is a monad?", "", RequestNeed::Nothing),
        ("what's the capital of Peru", "", RequestNeed::Nothing),
        ("Who wrote Hamlet?", "", RequestNeed::Nothing),
        ("what does ephemeral mean", "", RequestNeed::Nothing),
        ("How does photosynthesis work?", "", RequestNeed::Nothing),
        ("how do I center a div", "", RequestNeed::Nothing),
        ("how to boil an egg", "", RequestNeed::Nothing),
        ("why is the sky blue?", "", RequestNeed::Nothing),
        ("convert 5 miles to km", "", RequestNeed::Nothing),
        ("what's the difference between a virus and a bacterium", "0", RequestNeed::Nothing),
        ("Define entropy.", "0", RequestNeed::Nothing),
        ("Who won the 1998 world cup?", "0", RequestNeed::Nothing),
        ("Is the moon bigger than Mercury?", "0", RequestNeed::Nothing),
        ("What does 'ephemeral' mean?", "0", RequestNeed::Nothing),
        ("Make a table of the planets.", "0", RequestNeed::Nothing),
        ("Sort these numbers: 5, 2, 9", "0", RequestNeed::Nothing),
        ("Continue", "0", RequestNeed::Nothing),
        ("Explain photosynthesis like I'm five", "", RequestNeed::Nothing),
        ("Who was the first man on the moon?", "0", RequestNeed::Nothing),
        ("How many grams in an ounce?", "0", RequestNeed::Nothing),
        ("Hallo, wie geht's?", "", RequestNeed::Nothing),
        ("Another one please", "0", RequestNeed::Nothing),
        ("and in Rust?", "0", RequestNeed::Nothing),
        ("When does the ferry leave?", "0", RequestNeed::Nothing),
        // Context for a task.
        ("suggest a restaurant for tonight", "", RequestNeed::Task),
        ("Recommend me a book", "", RequestNeed::Task),
        ("plan my saturday", "", RequestNeed::Task),
        ("which film should I watch tonight?", "", RequestNeed::Task),
        ("could you help me pick a gift for Anna", "p", RequestNeed::Task),
        ("what should I cook tonight?", "", RequestNeed::Task),
        ("where should we eat on friday", "", RequestNeed::Task),
        ("dinner ideas for four", "", RequestNeed::Task),
        ("any suggestions for the weekend?", "", RequestNeed::Task),
        ("Find me a hotel in Lisbon", "", RequestNeed::Task),
        ("book a table for two", "0", RequestNeed::Task),
        ("organise a trip to Rome", "", RequestNeed::Task),
        ("pack my bag for the mountains", "", RequestNeed::Task),
        ("order some groceries", "", RequestNeed::Task),
        ("make a 3 day itinerary for Kyoto", "", RequestNeed::Task),
        // A question for memory.
        ("Where do I live?", "", RequestNeed::Memory),
        ("what is my cat called", "", RequestNeed::Memory),
        ("whats my sisters name??", "", RequestNeed::Memory),
        ("Where does Anna work?", "p", RequestNeed::Memory),
        ("When did Caroline go to the support group?", "p", RequestNeed::Memory),
        ("tea", "", RequestNeed::Memory),
        ("how am i doing today?", "", RequestNeed::Memory),
        ("who am I to you, friend?", "", RequestNeed::Memory),
        ("boiler serial number", "", RequestNeed::Memory),
        ("what did you recommend last week?", "", RequestNeed::Memory),
        ("What were your suggestions for the garden?", "", RequestNeed::Memory),
        ("find my note about the boiler", "", RequestNeed::Memory),
        ("do you remember the name of the dentist?", "", RequestNeed::Memory),
        ("remind me what we decided about the roof", "", RequestNeed::Memory),
        ("Which database does the billing service use?", "", RequestNeed::Memory),
        ("who is on call this week", "", RequestNeed::Memory),
        ("What is a good gift for my mother?", "", RequestNeed::Memory),
        ("write an email to my boss about the delay", "", RequestNeed::Memory),
        ("write a poem for my sister's birthday", "", RequestNeed::Memory),
        ("Explain my insurance again", "", RequestNeed::Memory),
        ("what is a mutex", "9", RequestNeed::Memory),
        ("How do I take my coffee?", "", RequestNeed::Memory),
        ("how does Tom feel about the job", "p", RequestNeed::Memory),
        ("tell me about Anna", "p", RequestNeed::Memory),
        ("hello Anna", "p", RequestNeed::Memory),
        ("Am I allergic to anything", "", RequestNeed::Memory),
        ("what do you know about me?", "", RequestNeed::Memory),
        ("did we ever go to Spain", "", RequestNeed::Memory),
        ("I got the job!", "0", RequestNeed::Memory),
        ("My knee hurts again", "0", RequestNeed::Memory),
        ("2019", "", RequestNeed::Memory),
        ("order number of the laptop", "", RequestNeed::Memory),
        ("When does the ferry leave?", "", RequestNeed::Memory),
        ("what did the neurologist say", "0", RequestNeed::Memory),
        ("suggest a name for a boat", "0", RequestNeed::Task),
        ("book that Tom lent me", "p", RequestNeed::Memory),
        // Memory has no answer.
        ("What is my blood type?", "0", RequestNeed::Unknown),
        ("where did I park", "0", RequestNeed::Unknown),
        ("Do I have a brother?", "0", RequestNeed::Unknown),
        ("what car do we drive", "0", RequestNeed::Unknown),
        ("Does Anna play chess?", "p0", RequestNeed::Unknown),
        ("remember the wifi password?", "0", RequestNeed::Unknown),
        ("tell me my shoe size", "0", RequestNeed::Unknown),
        ("How old am I?", "0", RequestNeed::Unknown),
    ];

    #[test]
    fn what_requests_want_of_memory() {
        let mut wrong = Vec::new();
        for (query, beside, expected) in TABLE {
            let tenths = beside.chars().find_map(|c| c.to_digit(10)).unwrap_or(3);
            let probability = f64::from(tenths).max(0.5) / 10.0;
            let (person, unknown) = (beside.contains('p'), tenths == 0);
            let tells_general = beside.contains('a');
            let known = RequestFacts { intent: Intent::Recall, person, probability, unknown, tells_general };
            let found = need(query, known);
            if found != expected {
                wrong.push(format!("{query:?}: {found:?}, not {expected:?}"));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn an_intent_to_plan_is_a_task() {
        let known = RequestFacts { intent: Intent::Plan, probability: 0.9, ..RequestFacts::default() };
        assert_eq!(need("my week", known), RequestNeed::Task);
        assert_eq!(
            need("why do I sleep badly?", RequestFacts { intent: Intent::Reflect, ..known }),
            RequestNeed::Memory
        );
    }

    #[test]
    fn preferences_limits_and_plans_bear_on_tasks() {
        assert!(
            bears("I can't stand seafood") && bears("We're going to Rome on Friday") && bears("My favourite is ramen")
        );
        assert!(!bears("The tram was late again"));
    }
}
