//! Tests of the rules: one line per claim, `stance subject relation object qualifier=value`; "holds" is omitted.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::predicate::Predicates;

mod strangers;

const EN: &str = include_str!("../../../quipu-models/rules/en.toml");

#[expect(clippy::expect_used, reason = "every test here needs the rules")]
static RULES: LazyLock<LanguageRules> = LazyLock::new(|| LanguageRules::parse(EN).expect("the rules are well formed"));

/// Saturday.
const SAID_AT: &str = "2026-03-14T09:00:00Z";

fn reading(text: &str) -> Reading<'_> {
    Reading::of_user(text, SAID_AT.parse().ok())
}

fn line(fact: &FactCandidate) -> String {
    let stance = match &fact.stance {
        Stance::Holds => String::new(),
        Stance::Corrects { not: Some(not) } => format!("corrects({not}) "),
        Stance::Corrects { not: None } => "corrects ".to_owned(),
        other => format!("{other:?} ").to_lowercase(),
    };
    let mut line = format!("{stance}{} {} {}", fact.subject, fact.predicate, fact.object);
    fact.qualifiers.iter().for_each(|(name, value)| line.push_str(&format!(" {name}={value}")));
    line
}

fn task_line(task: &TaskCandidate) -> String {
    let news = match &task.news {
        TaskNews::Tried { approach, successful, .. } => format!("tried({approach}, {successful:?})"),
        other => format!("{other:?}").to_lowercase(),
    };
    format!("{} {news} {}", format!("{:?}", task.kind).to_lowercase(), task.title)
}

fn lines(read: &Extraction) -> Vec<String> {
    read.facts.iter().map(line).chain(read.tasks.iter().map(task_line)).collect()
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(lines(&RULES.read(&reading(text))), expected, "{text}");
}

/// Asserts that nothing is read and that the text is skipped for this reason.
#[track_caller]
fn check_aside(text: &str, reason: &str) {
    let read = RULES.read(&reading(text));
    assert_eq!(lines(&read), Vec::<String>::new(), "{text}");
    assert!(read.passed_over.iter().any(|passed| passed.reason == reason), "{text}: {:?}", read.passed_over);
}

#[test]
fn a_sentence_without_an_end_is_not_read_and_the_next_one_is() {
    let endless = "I live in Porto and ".repeat(crate::limit::SENTENCE_BYTES_MAX / 16);
    check_aside(&endless, "too long");
    check(&format!("I like tea.\n{endless}\nI work at Acme."), &["user likes_food tea", "user works_at Acme"]);
}

#[test]
fn a_source_makes_so_many_claims_and_no_more() {
    let most = crate::limit::CANDIDATES_PER_SOURCE_MAX;
    let text: String = (0..most * 2).map(|number| format!("I like Tea{number}.\n")).collect();
    let read = RULES.read(&reading(&text));
    assert_eq!(read.facts.len(), most);
    assert!(read.passed_over.iter().any(|passed| passed.reason == "too many claims"), "{:?}", read.passed_over);
}

#[test]
fn what_precedes_a_time_is_found_however_long_its_clause() {
    let clause = format!("I was with {} until June 2024", "Ana and ".repeat(100));
    let times = RULES.when.times(&clause);
    let found: Vec<&str> = times.iter().map(|time| &clause[time.range.clone()]).collect();
    assert_eq!(found, ["until June 2024"]);
}

#[test]
fn the_examples_of_the_rules_hold() {
    let read = |text: &str| lines(&RULES.read(&reading(text)));
    let wrong = RULES.examples().filter(|(text, expected)| read(text) != *expected);
    let wrong: Vec<_> = wrong.map(|(text, expected)| (text, read(text), expected)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(RULES.examples().count() > 100);
}

/// Formats an update as in its examples.
fn news(update: &UpdateCandidate) -> String {
    let day = update.day.map(|day| day.strftime(" %Y-%m-%d").to_string()).unwrap_or_default();
    match &update.news {
        UpdateNews::Over => format!("over {}", update.what),
        UpdateNews::Allowed => format!("allowed {}", update.what),
        UpdateNews::Moved => format!("moved {}{day}", update.what),
        UpdateNews::Begins => format!("begins{day}"),
        UpdateNews::Kept => format!("kept {}", update.what),
        UpdateNews::Instead { not, is, corrects: true } => format!("corrected {not} {is}"),
        UpdateNews::Instead { not, is, corrects: false } => format!("changed {not} {is}"),
        UpdateNews::Done { did } => format!("done {}: {}", update.what, did.join(" ")),
        UpdateNews::Reading { value } => format!("reading {value}"),
    }
}

#[test]
fn the_examples_of_news_and_statements_hold() {
    let read = |text: &str, expected: &[String], is_news: bool| {
        let read = RULES.read(&reading(text));
        // What ends something may also be a task that is done.
        let is_meant = |update: &&UpdateCandidate| {
            !matches!(update.news, UpdateNews::Done { .. }) || expected.iter().any(|line| line.starts_with("done"))
        };
        if is_news { read.updates.iter().filter(is_meant).map(news).collect() } else { lines(&read) }
    };
    for (number, (text, expected)) in RULES.more_examples().enumerate() {
        let is_news = RULES.updates.examples().count() > number;
        assert_eq!(read(text, expected, is_news), expected, "{text}");
    }
}

#[test]
fn what_is_said_twice_in_a_text_is_read_once() {
    for text in [
        "My sister Anna lives in Oslo and works as a nurse at the children's hospital.",
        "User's sister is Anna.\nAnna works as a nurse.\nAnna works at children's hospital.",
        "I live in Lyon with two cats, an old piano and far too many plants.",
        "I used to work at Globex, and since March 2022 I have worked at Acme.",
        "I'm allergic to peanuts, so please keep that in mind for every recipe.",
    ] {
        let once = lines(&RULES.read(&reading(text)));
        assert!(!once.is_empty(), "{text}");
        let twice = format!("{text}\n{text}");
        assert_eq!(lines(&RULES.read(&reading(&twice))), once, "{text}");
    }
}

#[test]
fn casual_spelling_is_read_as_if_it_were_careful() {
    check(
        "my sister maya is allergic to nuts",
        &["user sibling Maya relation=sister", "Maya allergic_to nuts kind=food"],
    );
    check("im allergic to penicillin", &["user allergic_to penicillin kind=medication"]);
    check("my sister hates it", &[]);
    let read = RULES.read(&reading("hey! dont know if i said but im allergic to nuts"));
    assert!(read.facts.iter().all(|fact| fact.span.end <= "hey! dont know if i said but im allergic to nuts".len()));
}

#[test]
fn every_pattern_can_be_compiled() {
    assert_eq!(LanguageRules::check_all(EN).err().map(|refusal| refusal.to_string()), None);
    let broken = EN.replace("(?:works?|working) in (?P<object>.+)", "(?:works?|working in (?P<object>.+)");
    let refusal = LanguageRules::check_all(&broken).err().map(|refusal| refusal.to_string());
    assert!(refusal.as_ref().is_some_and(|message| message.contains("works_in")), "{refusal:?}");
}

#[test]
fn every_relation_is_in_the_registry() {
    let registry = Predicates::default_registry();
    let unknown: BTreeSet<&str> = RULES.predicates().into_iter().filter(|name| !registry.has(name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn a_flat_summary_is_about_the_user() {
    check(
        "User has type 2 diabetes, diagnosed in 2018. Takes Metformin. Likes Greek yogurt but dislikes kale. \
         Tries to walk daily.",
        &[
            "user has_condition type 2 diabetes since=2018",
            "user takes_medication Metformin",
            "user likes_food Greek yogurt",
            "user dislikes_food kale",
            "user exercises walking frequency=daily",
        ],
    );
    check(
        "I started yoga three times a week for stress.",
        &["changed user exercises yoga frequency=three times weekly", "user manages_stress_with yoga"],
    );
}

#[test]
fn what_changed_and_what_ended() {
    check(
        "I don't live in Lyon anymore, I moved to Porto.",
        &["ended user lives_in Lyon", "changed user lives_in Porto"],
    );
    check("I used to work as a baker.", &["held user works_as baker"]);
    check("I was a teacher and I play the harp.", &["held user works_as teacher", "user plays harp"]);
    check("I'm staying in Rome for a week.", &[]);
}

#[test]
fn corrections_name_the_wrong_value() {
    check("Actually I live in Porto, not in Lyon.", &["corrects(Lyon) user lives_in Porto"]);
    check(
        "Oh, and a correction: actually my sister's name is Marta, not Maria.",
        &["corrects(Maria) user sibling Marta relation=sister"],
    );
    check("I live in Lyon. Sorry, I meant Porto.", &["corrects(Lyon) user lives_in Porto"]);
    check("No wait, I'm 41, not 40.", &["corrects(40) user age 41"]);
    // A standing statement is read before its clause, which does not correct it.
    check("Actually, I'm pescatarian, not vegetarian.", &["corrects(vegetarian) user diet pescatarian"]);
    check("Actually, I'm vegan.", &["corrects user diet vegan"]);
    check("Wait, I'm vegan.", &["user diet vegan"]);
    check("I live in Lyon. Actually, Porto.", &["corrects(Lyon) user lives_in Porto"]);
}

#[test]
fn several_things_are_several_claims() {
    check(
        "I like big cities, good coffee and mac and cheese.",
        &["user likes big cities", "user likes_food good coffee", "user likes_food mac and cheese"],
    );
    check("I enjoy spending time with friends and family.", &["user likes spending time with friends and family"]);
    check("I loved \"Becoming Nicole\" by Amy Nutt.", &["user likes Becoming Nicole"]);
    check("I love it. I love the colours. I like that.", &[]);
}

#[test]
fn whom_a_clause_is_about_may_be_told_elsewhere() {
    check("She's a lawyer, my cousin Elena.", &["Elena works_as lawyer", "user relative Elena relation=cousin"]);
    check("As someone who lives in Valparaíso, I know those stairs.", &["user lives_in Valparaíso"]);
    check("Lena, my wife, is a midwife.", &["user partner Lena relation=wife", "Lena works_as midwife"]);
    check("My brother James, a pilot, is away.", &["user sibling James relation=brother", "James works_as pilot"]);
}

#[test]
fn what_is_no_claim_is_passed_over() {
    check_aside("Do you live in Oslo?", "question");
    check_aside("I live in Oslo, right?", "question");
    check_aside("If I lived in Norway I'd ski every day.", "hypothetical");
    check_aside("I wish I had a brother.", "hypothetical");
    check_aside("He sang \"I live in a house of glass\".", "quoted");
    check_aside("I own a castle. Just kidding!", "joke");
    check_aside("He said that I like kale.", "reported");
    check_aside("Maybe I'll move to Lisbon.", "hedged");
    check("Love your ideas! Got your back.", &[]);
    check("> I live in Oslo\n```\nI like tea\n```\nThanks, Mel!", &[]);
}

#[test]
fn people_are_told_apart() {
    check(
        "My sister Anna lives in Oslo. She works as a nurse.",
        &["user sibling Anna relation=sister", "Anna lives_in Oslo", "Anna works_as nurse"],
    );
    check("My kids like pancakes.", &["user's kids likes_food pancakes"]);
    let read = RULES.read(&Reading { speaker: "Nils", addressee: Some("Bea"), ..reading("You live in Oslo.") });
    assert_eq!(lines(&read), ["Bea lives_in Oslo"]);
    check("You live in Oslo.", &[]);
    // She is unknown and not the speaker.
    check("She has two kids, Rui and Marta.", &[]);
    check("He was born in Rome.", &[]);
    check("They have a dog, Leo.", &[]);
    check("My mum lives in Hull. She's got a cat called Mr Darcy.", &["user's mum lives_in Hull"]);
    check("I think she's got a cat called Leo.", &[]);
    check("Beth's got a new job, and she's started seeing a guy called Jamal.", &[]);
    check("mum is moving in with Tomek when she gets out", &[]);
    check(
        "My fiancé's brother Luke is a pilot. He lives in Gatwick.",
        &["Luke works_as pilot", "Luke lives_in Gatwick"],
    );
    check(
        "My brother Owen has a girlfriend. Her name is Saskia and she's Dutch.",
        &["user sibling Owen relation=brother", "Saskia nationality Dutch"],
    );
    check("Dog is called Bruno.", &["user pet Bruno species=dog"]);
    check("She's from Trondal, my new boss.", &["user's boss from Trondal"]);
}

#[test]
fn who_is_what_to_the_user() {
    check("My wife is Anna.", &["user partner Anna relation=wife"]);
    check("my partner is Joanne", &["user partner Joanne relation=partner"]);
    check("My boss is American.", &["user's boss nationality American"]);
    check("My accountant is Nigel Firth.", &["user colleague Nigel Firth relation=accountant"]);
}

#[test]
fn who_has_died() {
    check("My dad died in 2016.", &["user's dad died died"]);
    let died = RULES.read(&reading("My dad died in 2016."));
    assert_eq!(died.facts[0].valid_from, "2016-01-01T00:00:00Z".parse().ok());
}

#[test]
fn what_is_over_is_over() {
    check("I live in Leeds. Previously I lived in York.", &["user lives_in Leeds", "held user lives_in York"]);
    check("I'm a nurse; formerly I worked as a cook.", &["user works_as nurse", "held user works_as cook"]);
    check("I taught at St. Anne's for six years.", &["held user works_at St. Anne's"]);
    check("We moved here from Braga last year.", &["ended user lives_in Braga"]);
    check("Kasia works at Bolt now, not at Acme.", &["changed Kasia works_at Bolt"]);
}

#[test]
fn what_has_a_name_is_called_by_it() {
    check("We got a kitten on Sunday. Named her Biscuit.", &["user pet Biscuit species=cat"]);
    check("I have a dog, Leo.", &["user pet Leo species=dog"]);
    check("Actually, my dog is called Muffin, not Biscuit.", &["corrects(Biscuit) user pet Muffin species=dog"]);
}

#[test]
fn dates_resolve_against_the_day_it_was_said() {
    let from = |text: &str| {
        let read = RULES.read(&reading(text));
        read.facts.first().and_then(|fact| fact.valid_from).map(|time| time.to_string())
    };
    for (text, expected) in [
        ("I moved to Porto last Friday.", "2026-03-13T00:00:00Z"),
        ("We go to Rome on the 3. of May.", "2026-05-03T00:00:00Z"),
        ("I moved to Porto in May 2019.", "2019-05-01T00:00:00Z"),
        ("I moved to Porto in October.", "2025-10-01T00:00:00Z"),
        ("I moved to Porto two weeks ago.", "2026-02-23T00:00:00Z"),
        ("I moved to Porto on 29 February 2024.", "2024-02-29T00:00:00Z"),
        ("I've lived in Porto since 2018.", "2018-01-01T00:00:00Z"),
        ("I'm flying to Lisbon on Friday.", "2026-03-20T00:00:00Z"),
    ] {
        assert_eq!(from(text).as_deref(), Some(expected), "{text}");
    }
    for text in
        ["I moved to Porto 100000 years ago.", "I moved to Porto on 29 February 2023.", "I moved to Porto in 0000."]
    {
        assert_eq!(from(text), None, "{text}");
    }
    let undated = RULES.read(&Reading { said_at: None, ..reading("I moved to Porto last Friday.") });
    assert_eq!(undated.facts[0].valid_from, None);
}

#[test]
fn tasks_and_problems() {
    check("I have to renew my passport by Friday.", &["task opened renew my passport"]);
    let due = |text: &str| RULES.read(&reading(text)).tasks[0].due.map(|due| due.to_string());
    assert_eq!(due("I need to finish my portfolio by the end of the month.").as_deref(), Some("2026-03-31T00:00:00Z"));
    let due = RULES.read(&reading("I have to renew my passport by Friday.")).tasks[0].due;
    assert_eq!(due.map(|due| due.to_string()).as_deref(), Some("2026-03-20T00:00:00Z"));
    check(
        "Cutting out caffeine did nothing for my headaches.",
        &["problem tried(Cutting out caffeine, Some(false)) headaches"],
    );
}

#[test]
fn a_sentence_is_read_with_the_one_before_it() {
    check("Horror films? Love them. Olives? Fine.", &["user likes Horror films"]);
    check("My birthday? 29 February, of all days.", &["user born_on 29 February"]);
    check("I live in Lyon. No wait, Porto.", &["corrects(Lyon) user lives_in Porto"]);
    check("I live in Lyon. No wait, later.", &["user lives_in Lyon"]);
    let due = RULES.read(&reading("Still haven't filed the tax return. Deadline: 30 April.")).tasks[0].due;
    assert_eq!(due.map(|due| due.to_string()).as_deref(), Some("2026-04-30T00:00:00Z"));
}

#[test]
fn an_attempt_belongs_to_the_problem_before_it() {
    check("I tried magnesium, but it didn't help.", &["problem tried(magnesium, Some(false)) magnesium"]);
    check(
        "My knee keeps swelling. I tried ice, but no luck.",
        &["problem opened knee keeps swelling", "problem tried(ice, Some(false)) knee keeps swelling"],
    );
    check("I tried drops for my tinnitus. No effect.", &["problem tried(drops, Some(false)) tinnitus"]);
    check("I tried that and it works now.", &[]);
}

#[test]
fn who_is_who_holds_in_hearsay() {
    check("My sister Anna says I'm a bad cook.", &["user sibling Anna relation=sister"]);
    check("My aunt, a vet in Cork, thinks it's fleas.", &["user's aunt works_as vet"]);
    check(
        "My parents, Ivo and Mia, run a flower shop.",
        &["user parent Ivo relation=parent", "user parent Mia relation=parent", "user's parents owns flower shop"],
    );
}

#[test]
fn lines_of_a_list_are_tasks_only_among_their_like() {
    check("- water the ferns\n- call Ida", &["task opened water the ferns", "task opened call Ida"]);
    check("- water the ferns", &[]);
    check("- two eggs\n- flour", &[]);
}

#[test]
fn nothing_is_read_after_the_opening_of_a_story() {
    check("Chapter 3. I am a lighthouse keeper. I live in Oslo.", &[]);
    check("Please translate this:\nI live in Oslo.", &[]);
    check("// my name is Mud\nI live in Oslo.", &["user lives_in Oslo"]);
    check("Bo Li went to Oslo in 1812.", &[]);
}

#[test]
fn much_may_stand_before_the_speaker() {
    check("In my spare time I restore old clocks.", &["user hobby restore old clocks"]);
    check("When I was a kid we lived in Oslo.", &["held user lives_in Oslo"]);
    check("My mother, Gudrun, is a midwife.", &["user parent Gudrun relation=mother", "Gudrun works_as midwife"]);
}

#[test]
fn a_list_ends_where_the_next_verb_begins() {
    check("I love long trains and hate flying.", &["user likes long trains", "user dislikes flying"]);
    check(
        "I'm allergic to eggs and, weirdly, kiwi.",
        &["user allergic_to eggs kind=food", "user allergic_to kiwi kind=food"],
    );
    check("I love anything with leek in it.", &["user likes_food leek"]);
}

#[test]
fn adjectives_before_a_noun_are_no_things() {
    check("I hate loud, crowded places.", &["user dislikes loud, crowded places"]);
    check("I love old and dusty bookshops and jazz.", &["user likes old and dusty bookshops", "user likes jazz"]);
    check("I like jazz and dark chocolate.", &["user likes jazz", "user likes_food dark chocolate"]);
}

#[test]
fn a_wrong_file_names_its_rule() {
    for (was, is, named) in [
        ("id = \"works_in\"\npredicate = \"works_in\"", "id = \"works_in\"\npredicate = \"Works in\"", "works_in"),
        ("object = \"field\"", "object = \"fields\"", "works_in"),
        ("(?:works?|working) in (?P<object>.+)", "(?:works?|working) in {nowhere} (?P<object>.+)", "works_in"),
        ("id = \"works_in\"", "id = \"works_as\"", "works_as"),
    ] {
        assert!(EN.contains(was), "{was}");
        let refusal = LanguageRules::parse(&EN.replace(was, is)).err().map(|refusal| refusal.to_string());
        assert!(refusal.as_ref().is_some_and(|message| message.contains(named)), "{is}: {refusal:?}");
    }
}

fn sound(text: &str) {
    let read = RULES.read(&reading(text));
    let facts = read.facts.iter().map(|fact| &fact.span);
    let spans = facts.chain(read.tasks.iter().map(|task| &task.span)).chain(read.passed_over.iter().map(|p| &p.span));
    for span in spans {
        assert!(text.get(span.clone()).is_some(), "{span:?} of {text:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_text_is_read_without_panic(text in "\\PC{0,120}") {
        sound(&text);
    }

    #[test]
    fn any_words_in_any_order_are_read_without_panic(words in prop::collection::vec(prop::sample::select(vec![
        "I", "live", "in", "Porto", ",", "not", "since", "2018", "my", "sister", "Anna", "’s", "“", "”", "\"", "ı", "İ", "é",
        "100000", "years", "ago", "moved", "to", "and", ". ", "?", "last", "Friday", "on", "the", "31st", "of", "February",
        "0000", "don't", "like", "tea", "\n", "`", "```\n", "> ", "for", "three times a week", "🎵", "for", "to", "\u{1}",
    ]), 0..30)) {
        sound(&words.join(" "));
        sound(&words.concat());
    }
}
