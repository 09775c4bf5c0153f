//! Misreadings found by people who had not seen the rules, with the nearest correct sentences.

use super::*;

#[test]
fn what_others_ask_and_what_is_theirs_is_not_the_users() {
    for text in [
        "My sister asked whether I'm vegetarian.",
        "They wanted to know whether I work at NASA.",
        "Her interview is on Tuesday.",
        "Their wedding is on June 20th.",
        "It's spelt John, with an h.",
        "I'd love a dog.",
        "We said goodbye to Biscuit yesterday.",
        "rent's 1,095 and council tax is 148, so what does that leave out of roughly 2,400 a month?",
    ] {
        let read = RULES.read(&reading(text));
        let own: Vec<String> = read.facts.iter().filter(|fact| fact.subject == USER).map(line).collect();
        assert!(own.iter().all(|claim| claim.contains(" measure ")), "{text}: {own:?}");
    }
}

#[test]
fn numbers_and_names_are_read_whole() {
    check("Our total budget is 58,000 euros.", &["changed user measure 58,000 euros of=total budget"]);
    check("I'm an exhibit builder.", &["user works_as exhibit builder"]);
    check(
        "We have three kids: Tom, Lily and Max.",
        &["user child Tom relation=kid", "user child Lily relation=kid", "user child Max relation=kid"],
    );
    check("I'm Nadia Verhulst.", &["user name Nadia Verhulst"]);
}

#[test]
fn partners_leave_in_many_words() {
    for (text, object) in [
        ("Lou and I broke up.", "Lou"),
        ("My boyfriend and I called it quits last week.", "boyfriend"),
        ("Kofi dumped me last night.", "Kofi"),
        ("My wife walked out on me.", "wife"),
        ("Anna and I are no longer together.", "Anna"),
    ] {
        let read = RULES.read(&reading(text));
        let ended: Vec<&str> = read
            .facts
            .iter()
            .filter(|fact| fact.predicate == "partner" && fact.stance == Stance::Ended)
            .map(|fact| fact.object.as_str())
            .collect();
        assert_eq!(ended, [object], "{text}: {:?}", lines(&read));
        assert!(read.facts.iter().all(|fact| fact.predicate != "partner" || fact.stance == Stance::Ended), "{text}");
    }
    for text in [
        "My wife and I split the chores.",
        "Tom and I are over the moon.",
        "Kofi left me a voicemail.",
        "My husband walked out on stage.",
        "I left Google last year.",
    ] {
        let read = RULES.read(&reading(text));
        let ended = |fact: &&FactCandidate| fact.predicate == "partner" && fact.stance == Stance::Ended;
        assert_eq!(read.facts.iter().find(ended), None, "{text}");
    }
}

/// Asserts the validity of the first claim of a text; today is Saturday, 14 March 2026.
#[track_caller]
fn check_days(text: &str, from: &str, until: &str) {
    let read = RULES.read(&reading(text));
    let day =
        |time: Option<jiff::Timestamp>| time.map(|time| time.strftime("%Y-%m-%d").to_string()).unwrap_or_default();
    let days = read.facts.first().map(|fact| (day(fact.valid_from), day(fact.valid_to)));
    assert_eq!(days, Some((from.to_owned(), until.to_owned())), "{text}: {:?}", read.facts);
}

#[test]
fn what_is_arranged_and_what_begins_may_lie_ahead() {
    check_days("We're flying to Rome on 3 May.", "2026-05-03", "");
    check_days("From May 1st we live in Turin.", "2026-05-01", "");
    check_days("Since May we live in Turin.", "2025-05-01", "");
    for text in ["I live in Lyon and in June I'm visiting Porto.", "I work at Acme and tomorrow I'm off."] {
        assert!(RULES.read(&reading(text)).facts.iter().all(|fact| fact.valid_to.is_none()), "{text}");
    }
}

#[test]
fn a_limit_is_not_what_stands_before_it() {
    for (text, home) in [
        ("I live in Porto and I'm allergic to nuts.", "user lives_in Porto"),
        ("I live in Lyon and I'm allergic to bee stings.", "user lives_in Lyon"),
    ] {
        let read = RULES.read(&reading(text));
        assert!(read.facts.iter().all(|fact| fact.predicate != "restriction"), "{text}: {:?}", read.facts);
        assert!(read.facts.iter().map(line).any(|line| line == home), "{text}");
        assert!(read.facts.iter().any(|fact| fact.predicate == "allergic_to"), "{text}");
    }
}

#[test]
fn news_after_actually_is_no_correction() {
    check("Actually I live in Gaia now.", &["changed user lives_in Gaia"]);
    check("Actually I live in Gaia.", &["corrects user lives_in Gaia"]);
}

#[test]
fn what_is_nobodys_claim_is_not_one() {
    for text in [
        "Dai has found a woman who sings, so we're still four.",
        "I work in millimetres.",
        "been seeing him since feb, hinge",
        "hes got a dog called kevin",
        "I'd rather I did.",
    ] {
        let read = RULES.read(&reading(text));
        assert!(read.facts.is_empty(), "{text}: {:?}", read.facts.iter().map(line).collect::<Vec<_>>());
    }
}

#[test]
fn a_pronoun_is_nobody_of_whom_another_one_was_used() {
    let read = |text: &str| RULES.read(&reading(text)).facts.iter().map(line).collect::<Vec<_>>();
    let of_gareth = |text: &str| read(text).into_iter().filter(|claim| claim.starts_with("Gareth")).collect::<Vec<_>>();
    let told = "Gareth's staying. He's finishing at one on Fridays. ";
    assert!(of_gareth(&format!("{told}She's a veterinary nurse.")).is_empty());
    assert_eq!(of_gareth(&format!("{told}He's a veterinary nurse.")), ["Gareth works_as veterinary nurse"]);
}
