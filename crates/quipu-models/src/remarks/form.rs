//! Features of the form of a piece of text: classes of words, question or statement, length.

/// The words of a text in lower case, with ASCII apostrophes.
pub(super) fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase().replace('\u{2019}', "'");
    lower
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

const I: [&str; 12] = ["i", "i'm", "im", "i've", "ive", "i'd", "i'll", "we", "we're", "we've", "me", "us"];
const MY: [&str; 7] = ["my", "our", "mine", "ma", "ours", "myself", "meself"];
const YOU: [&str; 6] = ["you", "your", "u", "ur", "you're", "you've"];
const ASKS: [&str; 29] = [
    "what", "whats", "what's", "how", "hows", "how's", "why", "when", "where", "who", "which", "can", "could",
    "should", "would", "is", "are", "do", "does", "did", "will", "any", "am", "anyone", "whose", "was", "were", "has",
    "whens",
];
const BIDS: [&str; 44] = [
    "please",
    "pls",
    "write",
    "make",
    "give",
    "tell",
    "explain",
    "fix",
    "help",
    "translate",
    "check",
    "draft",
    "list",
    "find",
    "show",
    "suggest",
    "compare",
    "convert",
    "summarise",
    "summarize",
    "rewrite",
    "shorten",
    "add",
    "remove",
    "keep",
    "put",
    "use",
    "calculate",
    "plan",
    "create",
    "turn",
    "call",
    "remind",
    "name",
    "describe",
    "proofread",
    "think",
    "pretend",
    "imagine",
    "let's",
    "lets",
    "look",
    "answer",
    "recommend",
];
const PAST: [&str; 30] = [
    "was", "were", "had", "went", "got", "did", "been", "bought", "sold", "left", "broke", "told", "said", "lost",
    "found", "met", "came", "took", "made", "gave", "saw", "began", "quit", "ran", "won", "fell", "became", "felt",
    "paid", "kept",
];
const TIME: [&str; 58] = [
    "today",
    "tonight",
    "tomorrow",
    "yesterday",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "mon",
    "tue",
    "tues",
    "wed",
    "thu",
    "thurs",
    "fri",
    "sat",
    "sun",
    "week",
    "weeks",
    "month",
    "months",
    "year",
    "years",
    "yr",
    "yrs",
    "january",
    "february",
    "march",
    "april",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "jan",
    "feb",
    "apr",
    "jun",
    "jul",
    "aug",
    "sept",
    "oct",
    "nov",
    "dec",
    "since",
    "until",
    "next",
    "last",
    "ago",
    "summer",
    "winter",
    "spring",
    "christmas",
];
const FAMILY: [&str; 44] = [
    "wife",
    "husband",
    "partner",
    "mum",
    "mom",
    "mam",
    "dad",
    "father",
    "mother",
    "son",
    "daughter",
    "kid",
    "kids",
    "sister",
    "brother",
    "boyfriend",
    "girlfriend",
    "nan",
    "gran",
    "grandma",
    "grandad",
    "aunt",
    "uncle",
    "cousin",
    "friend",
    "mate",
    "boss",
    "dog",
    "cat",
    "baby",
    "fiance",
    "ex",
    "flatmate",
    "roommate",
    "neighbour",
    "neighbor",
    "niece",
    "nephew",
    "colleague",
    "bf",
    "gf",
    "bro",
    "sis",
    "parents",
];
const STANDING: [&str; 10] = ["never", "always", "don't", "dont", "stop", "only", "anymore", "again", "still", "now"];
const SUPPOSES: [&str; 9] =
    ["if", "would", "could", "imagine", "pretend", "suppose", "might", "maybe", "hypothetically"];
const POLITE: [&str; 24] = [
    "thanks", "thank", "thx", "tnx", "cheers", "ok", "okay", "hi", "hey", "hello", "yes", "no", "yeah", "nah", "great",
    "perfect", "ta", "right", "nice", "cool", "sorry", "lol", "haha", "wow",
];

/// The feature vector: whether the piece is a question, whom it is about, its classes of words, its length.
pub(super) fn form(text: &str) -> Vec<f32> {
    let words = words(text);
    let first = words.first().map_or("", String::as_str);
    let count = |list: &[&str]| words.iter().filter(|word| list.contains(&word.as_str())).count();
    let any = |list: &[&str]| f32::from(u8::from(count(list) > 0));
    let starts = |list: &[&str]| f32::from(u8::from(list.contains(&first)));
    let is = |yes: bool| f32::from(u8::from(yes));
    let number = words.len() as f32;
    let in_capitals = text.split_whitespace().skip(1).filter(|word| word.starts_with(char::is_uppercase)).count();
    let regular_past = words.iter().any(|word| word.len() > 4 && word.ends_with("ed"));
    vec![
        is(text.ends_with('?')),
        is(text.contains('?')),
        is(text.ends_with('!')),
        any(&I),
        count(&I).min(4) as f32,
        any(&MY),
        starts(&I),
        starts(&MY),
        any(&YOU),
        starts(&ASKS),
        starts(&BIDS),
        any(&BIDS),
        any(&PAST),
        is(regular_past),
        is(words.iter().any(|word| word.ends_with("ing") && word.len() > 4)),
        is(text.contains(|c: char| c.is_ascii_digit())),
        any(&TIME),
        any(&FAMILY),
        any(&STANDING),
        any(&SUPPOSES),
        starts(&SUPPOSES),
        is(text.contains(['"', '\u{201c}', '\u{201d}', '>'])),
        is(text.contains(['{', '}', '<', '=', ';', '`', '_'])),
        starts(&POLITE),
        is(number <= 2.0),
        is(number <= 4.0),
        number.min(30.0) / 10.0,
        (1.0 + number).ln(),
        in_capitals.min(4) as f32,
    ]
}
