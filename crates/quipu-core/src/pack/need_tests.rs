use super::*;

/// The letters encode the other features: `p` for a known person, a digit for the probability in tenths; 0 also
/// sets `unknown`; `a` for a conversation with an assistant.
const TABLE: [(&str, &str, RequestNeed); 128] = [
    // Needs nothing from memory.
    ("hi", "", RequestNeed::Nothing),
    ("Hello there!", "", RequestNeed::Nothing),
    ("good morning, how are you today?", "", RequestNeed::Nothing),
    ("thanks so much", "", RequestNeed::Nothing),
    ("ok cool, bye", "", RequestNeed::Nothing),
    ("good night, see you tomorrow", "", RequestNeed::Nothing),
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
fn a_task_names_its_matter() {
    for (query, expected) in [
        ("Please suggest a restaurant for tonight", "restaurant"),
        ("what should I cook for my sister's birthday?", "sister's birthday"),
        ("plan my saturday", "saturday"),
        ("Can you help me plan the move?", "move"),
        ("any good ideas?", ""),
    ] {
        assert_eq!(matter(query), expected, "{query:?}");
    }
}

#[test]
fn an_intent_to_plan_is_a_task() {
    let known = RequestFacts { intent: Intent::Plan, probability: 0.9, ..RequestFacts::default() };
    assert_eq!(need("my week", known), RequestNeed::Task);
    assert_eq!(need("why do I sleep badly?", RequestFacts { intent: Intent::Reflect, ..known }), RequestNeed::Memory);
}

#[test]
fn preferences_limits_and_plans_bear_on_tasks() {
    assert!(bears("I can't stand seafood") && bears("We're going to Rome on Friday") && bears("My favourite is ramen"));
    assert!(!bears("The tram was late again"));
}
